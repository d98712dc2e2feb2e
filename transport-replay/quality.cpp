#include <transport-replay/instant.hpp>
#include <transport-replay/quality.hpp>

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// All that a copy shares with its original, laid over the flow: one hash for everything. Not the length of the frame: a tap
// may see a VLAN tag or a mirror's own headers.
std::uint64_t identity(const Observation& observation) {
    FlowKey key = observation.flow;
    key.source.bits[0] ^= std::uint64_t{observation.psn.value()} << 32 | observation.icrc_found;
    key.destination.bits[0] ^= std::uint64_t{observation.ip_id} << 48 | std::uint64_t{observation.udp_source_port} << 32 |
                               std::uint64_t{std::to_underlying(observation.opcode)} << 24 | (observation.payload_length & 0xffffff);
    return FlowHash{}(key) | 1;  // 0 stands for an empty entry
}

}  // namespace

RepetitionWindow::RepetitionWindow() : entries_(kMirrorSets * kMirrorWays) {}

bool RepetitionWindow::systematic() const { return static_cast<std::uint32_t>(std::popcount(history_)) >= kSystematicShare; }

Repetition RepetitionWindow::observe(const Observation& observation) {
    if (observation.kind != ObservationKind::transport) return Repetition::none;
    const std::uint64_t key = identity(observation);
    const auto interface = std::to_underlying(observation.interface);
    const std::span<Entry> set(&entries_[(key >> 1) % kMirrorSets * kMirrorWays], kMirrorWays);
    const auto fresh = [&](const Entry& entry) {
        return entry.key != 0 && magnitude(elapsed(entry.time, observation.time)) <= kMirrorTime;
    };
    Entry* mine = nullptr;  // of this tap
    const Entry* theirs = nullptr;
    for (Entry& entry : set) {
        if (entry.key != key || !fresh(entry)) continue;
        if (entry.interface == interface && entry.hops == observation.hops) mine = &entry;
        else if (theirs == nullptr || entry.seen > theirs->seen) theirs = &entry;
    }
    const std::uint16_t times = mine != nullptr ? static_cast<std::uint16_t>(mine->seen + (mine->seen < UINT16_MAX ? 1 : 0)) : 1;
    Repetition repetition = Repetition::none;
    if (theirs != nullptr && theirs->seen >= times) repetition = Repetition::other_tap;
    else if (mine != nullptr) repetition = observation.ip_id != 0 ? Repetition::same_bytes : Repetition::ambiguous;
    if (repetition != Repetition::none)
        last_distance_ = elapsed(repetition == Repetition::other_tap ? theirs->time : mine->time, observation.time);
    if (mine == nullptr) {
        const auto oldest = std::ranges::min_element(set, {}, [](const Entry& entry) { return std::tuple(entry.key != 0, entry.time); });
        if (fresh(*oldest)) ++displaced_;
        mine = &*oldest;
    }
    *mine = {key, observation.time, interface, times, observation.hops};
    history_ = history_ << 1 | (repetition == Repetition::same_bytes ? 1U : 0U);
    return repetition;
}

bool RepetitionWindow::is_mirror_duplicate(const Observation& observation) {
    const Repetition repetition = observe(observation);
    return repetition == Repetition::other_tap || (repetition == Repetition::same_bytes && systematic());
}

bool QualityTracker::is_mirror_duplicate(Repetition repetition) const {
    return repetition == Repetition::other_tap || (repetition == Repetition::same_bytes && window_.systematic());
}

Repetition QualityTracker::observe(const Observation& observation) {
    take_time(observation);
    ++quality_.packets;
    if (observation.cut) {
        ++quality_.cut;
        const bool shortest = quality_.shortest_cut == 0 || observation.wire_length < quality_.shortest_cut;
        if (shortest) quality_.shortest_cut = observation.wire_length;
    } else {
        quality_.longest_whole = std::max(quality_.longest_whole, observation.wire_length);
    }
    if (observation.kind != ObservationKind::transport && observation.kind != ObservationKind::unreadable) return Repetition::none;
    ++quality_.rdma_packets;
    if (observation.fault != Fault::none && observation.fault != Fault::cut) ++quality_.faulty;
    if (observation.kind == ObservationKind::unreadable) {
        ++quality_.unreadable;
        return Repetition::none;
    }
    if (observation.icrc == CrcStatus::good) ++quality_.icrc_good;
    if (observation.icrc == CrcStatus::bad) ++quality_.icrc_bad;
    if (observation.icrc == CrcStatus::not_checkable) ++quality_.icrc_not_checkable;
    take_pair(observation);
    const Repetition repetition = window_.observe(observation);
    take_repetition(repetition);
    return repetition;
}

void QualityTracker::take_time(const Observation& observation) {
    const std::int64_t time = std::to_underlying(observation.time);
    while (resolution_ > 1 && time % resolution_ != 0) resolution_ /= 10;
    const Duration step = elapsed(last_, observation.time);
    if (quality_.packets > 0 && step < Duration{}) {
        ++quality_.backwards;
        if (magnitude(step) > quality_.largest_step_back) {
            quality_.largest_step_back = magnitude(step);
            quality_.largest_step_frame = observation.frame;
        }
    }
    last_ = observation.time;
}

void QualityTracker::take_repetition(Repetition repetition) {
    if (repetition == Repetition::none) return;
    if (repetition == Repetition::ambiguous) {
        ++quality_.ambiguous_repetitions;
        return;
    }
    const Duration distance = magnitude(window_.last_distance());
    const bool first = quality_.copies() == 0;
    quality_.least_copy_distance = first ? distance : std::min(quality_.least_copy_distance, distance);
    quality_.most_copy_distance = std::max(quality_.most_copy_distance, distance);
    ++(repetition == Repetition::other_tap ? quality_.copies_of_other_taps : quality_.copies_of_same_tap);
    quality_.same_tap_systematic |= window_.systematic();
}

void QualityTracker::take_pair(const Observation& observation) {
    const FlowKey& flow = observation.flow;
    if (flow.destination_qp == kMulticastQpn) return;  // nobody answers from a group's address
    const bool greater = flow.destination < flow.source;
    const FlowKey key{greater ? flow.destination : flow.source, greater ? flow.source : flow.destination, {}};
    auto found = pairs_.find(key);
    if (found == pairs_.end()) {
        if (pairs_.size() >= kMaxQualityPairs) {
            ++quality_.pairs_dropped;
            return;
        }
        found = pairs_.try_emplace(key).first;
    }
    ++found->second.packets[greater ? 1 : 0];
    if (flow.source == flow.destination) ++found->second.packets[1];  // a host that talks to itself
    const Service service = service_of(observation.opcode);
    if (info(observation.opcode).defined && (service == Service::rc || service == Service::xrc)) found->second.reliable = true;
}

CaptureQuality QualityTracker::finish(const Drops& drops) {
    for (const auto& [key, pair] : pairs_) {
        if (pair.packets[0] != 0 && pair.packets[1] != 0) continue;
        const bool greater = pair.packets[0] == 0;
        quality_.one_way.push_back(
            {greater ? key.destination : key.source, greater ? key.source : key.destination, pair.packets[greater ? 1 : 0], pair.reliable});
    }
    std::ranges::sort(quality_.one_way, {}, [](const OneWay& row) { return std::tie(row.source, row.destination); });
    quality_.host_pairs = pairs_.size();
    quality_.window_displaced = window_.displaced();
    if (quality_.packets >= kClockSamples) quality_.clock_resolution = Duration{resolution_};
    quality_.drops = drops;
    return std::exchange(*this, QualityTracker{}).quality_;
}

}  // namespace qps::transport
