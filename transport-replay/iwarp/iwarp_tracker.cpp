#include <transport-replay/iwarp/iwarp_tracker.hpp>

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

Endpoint endpoint(const std::pair<Address, Qpn>& end) { return {.address = end.first, .qpn = end.second, .is_port = true}; }

// FPDUs fill the segment, and the CRC of the last is zero: what senders leave there that were told not to make CRCs.
bool is_filled_without_crc(const TcpSegmentView& segment) {
    if (segment.data.size() < segment.length || segment.length < mpa::kCrcLength) return false;
    return read_be<std::uint32_t>(segment.data, segment.length - mpa::kCrcLength) == 0 &&
           begins_fpdu(segment.data, segment.length, Framing{}, segment.seq);
}

}  // namespace

bool IwarpTracker::is_none(std::uint64_t hash) const {
    return !none_.empty() && none_[hash % kRemembered] == static_cast<std::uint32_t>(hash >> 32 | 1);
}

void IwarpTracker::remember_none(std::uint64_t hash, bool none) {
    if (none_.empty()) {
        if (!none) return;
        none_.resize(kRemembered);
    }
    none_[hash % kRemembered] = none ? static_cast<std::uint32_t>(hash >> 32 | 1) : 0;
}

void IwarpTracker::observe(const Observation& observation, const IwarpListeners& listeners, PacketRecord& record) {
    const bool known_none = is_none(observation.flow_hash);
    const TcpSegmentView segment = tcp_view(observation);
    if (known_none && !segment.syn && !may_be_set_up(segment.data)) return;
    if (known_none) remember_none(observation.flow_hash, false);
    const FlowKey key = key_of(observation.flow);
    const auto found = followed_.find(key);
    if (found == followed_.end()) {
        if (segment.length > 0) ask(observation, segment, key, listeners, record);
        return;
    }
    IwarpConnection& connection = connections_[found->second];
    const auto request = segment.syn && !segment.has_ack;
    if (!request) return follow(connection, observation, segment, listeners, record);
    held_ -= connection.held_bytes();
    ended_.push_back(connection.finish(listeners));  // its ports are used anew
    followed_.erase(found);
}

void IwarpTracker::follow(IwarpConnection& connection, const Observation& observation, const TcpSegmentView& segment,
                          const IwarpListeners& listeners, PacketRecord& record) {
    const End from = source(observation.flow) == source(connection.flow()) ? End::a : End::b;
    held_ -= connection.held_bytes();
    connection.observe(observation, segment, from, listeners, record);
    if (held_ + connection.held_bytes() > kMostHeldOfAll) connection.give_up_gaps();
    held_ += connection.held_bytes();
}

IwarpConnection* IwarpTracker::begin(const FlowKey& flow, const FlowKey& key, const IwarpListeners& listeners) {
    const auto uid = listeners.tracker.begin_stream(endpoint(source(flow)), endpoint(destination(flow)));
    if (!uid) {
        listeners.tracker.leave_out_packet();
        return nullptr;
    }
    candidates_.erase(key);
    followed_[key] = static_cast<Index>(connections_.size());
    return &connections_.emplace_back(*uid, flow);
}

// A segment with data of a connection that is not known.
void IwarpTracker::ask(const Observation& observation, const TcpSegmentView& segment, const FlowKey& key, const IwarpListeners& listeners,
                       PacketRecord& record) {
    if (const auto frame = may_be_set_up(segment.data) ? set_up_frame(segment.data) : std::nullopt) {
        IwarpConnection* begun = begin(frame->reply ? turned(observation.flow) : observation.flow, key, listeners);
        if (begun != nullptr) follow(*begun, observation, segment, listeners, record);
        return;
    }
    constexpr Framing kChecked{.crc = true};
    const bool checked = segment.data.size() == segment.length && begins_fpdu(segment.data, segment.length, kChecked, segment.seq);
    if (!checked && candidates_.size() >= kMaxCandidates) candidates_.clear();
    bool found = checked;
    if (!checked) {
        Candidate& candidate = candidates_[key];
        if (is_filled_without_crc(segment)) found = ++candidate.unchecked == kUncheckedRuns;
        else ++candidate.tries;
        if (candidate.tries == kTries) {
            candidates_.erase(key);
            remember_none(observation.flow_hash, true);
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
    for (const auto& [key, index] : followed_) report.conversations.push_back(connections_[index].finish(listeners));
    std::ranges::sort(report.conversations, {}, &IwarpConversation::connection);
    return report;
}

}  // namespace qps::transport
