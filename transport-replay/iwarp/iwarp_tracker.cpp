#include <transport-replay/iwarp/iwarp_tracker.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

std::pair<Address, Qpn> source(const FlowKey& flow) { return {flow.source, flow.source_qp}; }
std::pair<Address, Qpn> destination(const FlowKey& flow) { return {flow.destination, flow.destination_qp}; }
FlowKey turned(const FlowKey& flow) { return {flow.destination, flow.source, flow.source_qp, flow.destination_qp}; }
// The same for both ways.
FlowKey key_of(const FlowKey& flow) { return source(flow) < destination(flow) ? flow : turned(flow); }

Endpoint endpoint(const std::pair<Address, Qpn>& end) {
    return {.address = end.first, .qpn = end.second, .is_port = true};
}

// FPDUs fill the segment, and the CRC of the last is zero: what senders leave there that were told not to make CRCs.
bool is_filled_without_crc(const TcpSegmentView& segment) {
    if (segment.data.size() < segment.length || segment.length < mpa::kCrcLength) return false;
    return read_be<std::uint32_t>(segment.data, segment.length - mpa::kCrcLength) == 0 &&
           begins_fpdu(segment.data, segment.length, Framing{}, segment.seq);
}

}  // namespace

void IwarpTracker::remember_none(std::uint64_t hash) {
    if (none_.size() == kRemembered) none_.clear();
    none_.insert(hash);
    most_none_ = std::max(most_none_, none_.size());
}

void IwarpTracker::add_peaks(Peaks& peaks) const {
    peaks.add(Need::streams, connections_.size() + ended_.size(), most_);
    peaks.add(Need::candidates, most_candidates_, kMaxCandidates);
    peaks.add(Need::no_streams, most_none_, kRemembered);
    peaks.add(Need::segments, longest_held_, most_held_);
}

void IwarpTracker::observe(const Observation& observation, const IwarpListeners& listeners, PacketRecord& record) {
    const bool known_none = none_.contains(observation.flow_hash);
    const TcpSegmentView segment = tcp_view(observation);
    if (known_none && !segment.syn && !may_be_set_up(segment.data)) return;
    if (known_none) none_.erase(observation.flow_hash);
    const FlowKey key = key_of(observation.flow);
    const auto found = followed_.find(key);
    if (found == followed_.end()) {
        if (segment.length > 0) ask(observation, segment, key, listeners, record);
        return;
    }
    const auto request = segment.syn && !segment.has_ack;
    if (!request) return follow(*connections_[found->second], observation, segment, listeners, record);
    end(found->second, listeners);  // its ports are used anew
}

// The connection is brought to its end, and its place is free.
void IwarpTracker::end(Index index, const IwarpListeners& listeners) {
    IwarpConnection& connection = *connections_[index];
    held_ -= connection.held_bytes();
    const ConnectionId uid = connection.uid();
    followed_.erase(key_of(connection.flow()));
    IwarpConversation conversation = connection.finish(listeners);
    if (ended_.size() < most_) ended_.push_back(std::move(conversation));
    else if (!conversation.is_quiet()) ++ended_left_out_;
    connections_[index].reset();
    free_.push_back(index);
    listeners.tracker.end_stream(uid);
}

// Where all places are taken, of a few, drawn from all, that of the connection that is silent for longest.
std::optional<IwarpTracker::Index> IwarpTracker::place_for_one(const IwarpListeners& listeners) {
    if (free_.empty() && connections_.size() == most_) {
        constexpr std::size_t kLookedAt = 32;
        std::optional<Index> found;
        Instant least{};
        for (std::size_t i = 0; i < kLookedAt; ++i) {
            const auto index = static_cast<Index>(mix(++drawn_) % most_);
            const Instant last = listeners.tracker.stream(connections_[index]->uid()).last_time();
            if (found && last >= least) continue;
            found = index;
            least = last;
        }
        if (!found) return {};
        end(*found, listeners);
    }
    if (free_.empty()) {
        free_.push_back(static_cast<Index>(connections_.size()));
        connections_.emplace_back();
    }
    const Index index = free_.back();
    free_.pop_back();
    return index;
}

void IwarpTracker::follow(IwarpConnection& connection, const Observation& observation, const TcpSegmentView& segment,
                          const IwarpListeners& listeners, PacketRecord& record) {
    const End from = source(observation.flow) == source(connection.flow()) ? End::a : End::b;
    held_ -= connection.held_bytes();
    connection.observe(observation, segment, from, listeners, record);
    if (held_ + connection.held_bytes() > most_held_) connection.give_up_gaps();
    held_ += connection.held_bytes();
    longest_held_ = std::max(longest_held_, held_);
}

IwarpConnection* IwarpTracker::begin(const FlowKey& flow, const FlowKey& key, const IwarpListeners& listeners) {
    const auto place = place_for_one(listeners);
    const auto uid =
        place ? listeners.tracker.begin_stream(endpoint(source(flow)), endpoint(destination(flow)), Service::iwarp)
              : std::nullopt;
    if (!uid) {
        if (place) free_.push_back(*place);
        listeners.tracker.leave_out_packet();
        return nullptr;
    }
    candidates_.erase(key);
    followed_[key] = *place;
    return &connections_[*place].emplace(*uid, flow);
}

// A segment with data of a connection that is not known.
void IwarpTracker::ask(const Observation& observation, const TcpSegmentView& segment, const FlowKey& key,
                       const IwarpListeners& listeners, PacketRecord& record) {
    if (const auto frame = may_be_set_up(segment.data) ? set_up_frame(segment.data) : std::nullopt) {
        IwarpConnection* begun = begin(frame->reply ? turned(observation.flow) : observation.flow, key, listeners);
        if (begun != nullptr) follow(*begun, observation, segment, listeners, record);
        return;
    }
    constexpr Framing kChecked{.crc = true};
    const bool checked =
        segment.data.size() == segment.length && begins_fpdu(segment.data, segment.length, kChecked, segment.seq);
    if (!checked && candidates_.size() >= kMaxCandidates) candidates_.clear();
    bool found = checked;
    if (!checked) {
        Candidate& candidate = candidates_[key];
        most_candidates_ = std::max(most_candidates_, candidates_.size());
        if (is_filled_without_crc(segment)) found = ++candidate.unchecked == kUncheckedRuns;
        else ++candidate.tries;
        if (candidate.tries == kTries) {
            candidates_.erase(key);
            remember_none(observation.flow_hash);
            return;
        }
    }
    if (!found) return;
    IwarpConnection* begun = begin(observation.flow, key, listeners);
    if (begun == nullptr) return;
    begun->join(Framing{.crc = checked});
    follow(*begun, observation, segment, listeners, record);
}

IwarpReport IwarpTracker::finish(const IwarpListeners& listeners) {
    IwarpReport report;
    report.conversations = std::move(ended_);
    std::vector<Index> open;
    for (const auto& [key, index] : followed_) open.push_back(index);
    std::ranges::sort(open, {}, [&](Index index) { return connections_[index]->uid(); });
    for (const Index index : open) report.conversations.push_back(connections_[index]->finish(listeners));
    report.left_out = ended_left_out_;
    std::ranges::sort(report.conversations, {}, &IwarpConversation::connection);
    return report;
}

}  // namespace qps::transport
