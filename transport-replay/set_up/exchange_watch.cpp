#include <transport-replay/iwarp/iwarp_tracker.hpp>
#include <transport-replay/iwarp/tcp_stream.hpp>
#include <transport-replay/set_up/exchange_watch.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <tuple>

namespace qps::transport {

using namespace dissect;

namespace {

// From the end that comes first, of the two ways.
End from_of(const FlowKey& flow) {
    return std::tie(flow.source, flow.source_qp) < std::tie(flow.destination, flow.destination_qp) ? End::a : End::b;
}
FlowKey key_of(const FlowKey& flow) {
    return from_of(flow) == End::a ? flow : FlowKey{flow.destination, flow.source, flow.source_qp, flow.destination_qp};
}

}  // namespace

void ExchangeWatch::observe(const Observation& observation, Tracker& tracker) {
    if (exchanges_.empty() && observation.payload_length < kShortestExchange) return;
    const TcpSegmentView segment = tcp_view(observation);
    if (exchanges_.empty() && !read_exchange(segment.data)) return;
    const FlowKey key = key_of(observation.flow);
    const auto found = exchanges_.find(key);
    if (found == exchanges_.end()) {
        if (!read_exchange(segment.data)) return;
        if (exchanges_.size() == kMostConnections) exchanges_.clear();
        Exchange& begun = exchanges_[key];
        most_ = std::max(most_, exchanges_.size());
        return take(begun, from_of(observation.flow), observation, segment.seq, segment.data, segment.length, tracker);
    }
    if (segment.syn && !segment.has_ack) return void(exchanges_.erase(found));  // its ports are used anew
    if (segment.length != 0) take(found->second, from_of(observation.flow), observation, segment.seq, segment.data, segment.length, tracker);
}

void ExchangeWatch::take(Exchange& exchange, End from, const Observation& observation, std::uint32_t seq, Bytes data, std::uint32_t length,
                         Tracker& tracker) {
    Side& side = exchange.sides[static_cast<std::size_t>(from)];
    Side& peer = exchange.sides[static_cast<std::size_t>(other(from))];
    if (exchange.lost || (side.began && is_before(seq, side.next))) return;  // sent again
    exchange.lost = (side.began && seq != side.next) || data.size() < length;
    side.began = true;
    side.next = seq + length;
    while (!exchange.lost) {
        const auto text = read_exchange(data);
        if (!text) return;
        data = data.subspan(text->size);
        side.waiting.push_back(text->end);
        exchange.lost = side.waiting.size() > kMostWaiting;
        if (peer.waiting.empty()) continue;
        const ToldEnd mine = side.waiting.front(), theirs = peer.waiting.front();
        side.waiting.erase(side.waiting.begin());
        peer.waiting.erase(peer.waiting.begin());
        if (mine.address == observation.flow.source && theirs.address == observation.flow.destination) tracker.tell(mine, theirs);
    }
}

// Of one bound with what else is asked of TCP connections: as many as if each were so many of those.
void ExchangeWatch::add_peaks(Peaks& peaks) const {
    constexpr std::size_t kEach = IwarpTracker::kMaxCandidates / kMostConnections;
    static_assert(kEach * kMostConnections == IwarpTracker::kMaxCandidates && ToldPairs::kMost == IwarpTracker::kMaxCandidates);
    peaks.add(Need::candidates, most_ * kEach, IwarpTracker::kMaxCandidates);
}

}  // namespace qps::transport
