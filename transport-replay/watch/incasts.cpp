#include <transport-replay/watch/incasts.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

bool is_soon(Instant from, Instant to, Duration time) { return to - from <= time; }

}  // namespace

std::optional<IncastTracker::Index> IncastTracker::pair_of(const Observation& observation) {
    const FlowKey& flow = observation.flow;
    const auto found = pair_index_.find(observation.hosts_hash, [&](Index index) {
        return pairs_[index].source == flow.source &&
               destinations_[pairs_[index].destination].address == flow.destination;
    });
    if (found) return found;
    const auto index = static_cast<Index>(pairs_.size());
    if (pairs_.size() >= most_pairs_ || !pair_index_.insert(observation.hosts_hash, index)) return {};
    const auto [place, is_new] =
        destination_index_.try_emplace(FlowKey{{}, flow.destination, {}, {}}, static_cast<Index>(destinations_.size()));
    if (is_new) destinations_.emplace_back().address = flow.destination;
    pairs_.push_back({.last_data = {}, .destination = place->second, .incast = 0, .source = flow.source});
    return index;
}

void IncastTracker::observe(const Observation& observation, std::uint64_t packet) {
    const auto index = pair_of(observation);
    if (!index) return;
    Pair& pair = pairs_[*index];
    Destination& destination = destinations_[pair.destination];
    const Instant now = observation.time;
    if (destination.burst &&
        (!is_soon(destination.last_time, now, rule_.window) || !is_soon(destination.burst->time, now, rule_.longest)))
        close(destination, packet);
    if (!pair.last_data || !is_soon(*pair.last_data, now, rule_.window)) take_start(observation, *index, destination);
    pair.last_data = now;
    destination.last_time = now;
    destination.bytes += observation.wire_length;
    if (observation.congestion_experienced) ++destination.marked;
}

// A sender that was silent begins to send.
void IncastTracker::take_start(const Observation& observation, Index pair_index, Destination& destination) {
    Pair& pair = pairs_[pair_index];
    const Instant now = observation.time;
    std::erase_if(destination.starts, [&](const Start& start) { return !is_soon(start.time, now, rule_.window); });
    if (destination.starts.size() < rule_.senders)  // once they are enough it has begun
        destination.starts.push_back({now, observation.frame, pair_index, destination.bytes, destination.marked});
    if (!destination.burst && destination.starts.size() >= rule_.senders) {
        destination.burst = destination.starts.front();
        ++destination.burst_number;
        destination.senders = 0;
        for (const Start& start : destination.starts) {
            pairs_[start.pair].incast = destination.burst_number;
            ++destination.senders;
        }
    } else if (destination.burst && pair.incast != destination.burst_number) {
        pair.incast = destination.burst_number;
        ++destination.senders;
    }
}

void IncastTracker::close(Destination& destination, std::uint64_t packet) {
    const Start burst = *destination.burst;
    destination.burst.reset();
    destination.starts.clear();
    const std::uint64_t bytes = destination.bytes - burst.bytes;
    if (bytes < rule_.bytes) return;
    if (ended_.size() >= kMaxIncasts) {
        ++dropped_;
        return;
    }
    const Duration length = destination.last_time - burst.time;
    ended_.push_back({{destination.address, burst.frame, burst.time, length, destination.senders, bytes,
                       destination.marked - burst.marked},
                      packet});
}

std::vector<EndedIncast> IncastTracker::finish() {
    for (Destination& destination : destinations_)
        if (destination.burst) close(destination, UINT64_MAX);
    return std::exchange(ended_, {});
}

void tell_incasts(std::vector<EndedIncast> ended, std::uint64_t dropped, CongestionReport& report) {
    std::ranges::stable_sort(ended, {}, [](const EndedIncast& one) { return std::tuple(one.packet, one.burst.frame); });
    report.incasts_dropped += dropped;
    for (const EndedIncast& one : ended) {
        if (report.incasts.size() < kMaxIncasts) report.incasts.push_back(one.burst);
        else ++report.incasts_dropped;
    }
}

}  // namespace qps::transport
