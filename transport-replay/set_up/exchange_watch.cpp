#include <transport-replay/iwarp/iwarp_tracker.hpp>
#include <transport-replay/iwarp/tcp_stream.hpp>
#include <transport-replay/set_up/exchange_watch.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

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

void tell(const ExchangeText& mine, const ExchangeText& theirs, Tracker& tracker) {
    if (mine.initiator.has_value() != theirs.initiator.has_value()) return;
    if (!mine.initiator) return tracker.tell(mine.end, theirs.end);
    const auto asking = [](const ExchangeText& text) {
        return ToldEnd{text.end.address, *text.initiator, text.end.psn};
    };
    const auto serving = [](const ExchangeText& text) {
        return ToldEnd{text.end.address, text.end.qpn, text.end.psn, false};
    };
    tracker.tell(asking(mine), serving(theirs));
    tracker.tell(serving(mine), asking(theirs));
}

}  // namespace

void ExchangeWatch::observe(const Observation& observation, Tracker& tracker) {
    if (exchanges_.empty() && observation.payload_length < kNcclMagic) return;
    const TcpSegmentView segment = tcp_view(observation);
    const auto begins = [&] {
        return read_exchange(segment.data) || (segment.data.size() >= kTellingStart && begins_exchange(segment.data)) ||
               begins_nccl(segment.data);
    };
    if (exchanges_.empty() && !begins()) return;
    const FlowKey key = key_of(observation.flow);
    auto found = exchanges_.find(key);
    if (found != exchanges_.end() && (segment.syn || segment.reset)) {  // its ports are used anew, or not any more
        exchanges_.erase(found);
        return;
    }
    if (segment.length == 0) return;
    if (found == exchanges_.end()) {
        if (!begins()) return;
        if (exchanges_.size() == kMostConnections) exchanges_.clear();
        found = exchanges_.try_emplace(key).first;
        if (begins_nccl(segment.data)) found->second.connects = from_of(observation.flow);
        most_ = std::max(most_, exchanges_.size());
    }
    take(found->second, observation, segment, tracker);
    // NCCL keeps its connection open: nothing of interest follows.
    if (segment.fin || (found->second.connects && found->second.lost)) exchanges_.erase(found);
}

void ExchangeWatch::take(Exchange& exchange, const Observation& observation, const TcpSegmentView& segment,
                         Tracker& tracker) {
    const End from = from_of(observation.flow);
    Side& side = exchange.sides[static_cast<std::size_t>(from)];
    const std::uint32_t end = segment.seq + segment.length;
    if (exchange.lost || (side.began && !is_before(side.next, end))) return;  // sent again
    const std::uint32_t known = side.began ? side.next - segment.seq : 0;     // of its bytes
    exchange.lost = (side.began && is_before(side.next, segment.seq)) || segment.data.size() < segment.length;
    side.began = true;
    side.next = end;
    if (exchange.lost) return;
    const Bytes fresh = segment.data.subspan(known, segment.length - known);
    exchange.connects ? take_nccl(exchange, observation.flow, fresh, tracker)
                      : take_texts(exchange, observation.flow, fresh, tracker);
}

void ExchangeWatch::take_texts(Exchange& exchange, const FlowKey& flow, Bytes fresh, Tracker& tracker) {
    const End from = from_of(flow);
    Side& side = exchange.sides[static_cast<std::size_t>(from)];
    Side& peer = exchange.sides[static_cast<std::size_t>(other(from))];
    if (read_exchange(fresh)) side.rest.clear();  // what was before it was something else
    side.rest.insert(side.rest.end(), fresh.begin(), fresh.end());
    Bytes data = side.rest;
    while (const auto text = read_exchange(data)) {
        data = data.subspan(text->size);
        side.waiting.push_back(*text);
        exchange.lost |= side.waiting.size() > kMostWaiting;
        if (peer.waiting.empty()) continue;
        const ExchangeText mine = side.waiting.front(), theirs = peer.waiting.front();
        side.waiting.erase(side.waiting.begin());
        peer.waiting.erase(peer.waiting.begin());
        if (mine.end.address == flow.source && theirs.end.address == flow.destination) tell(mine, theirs, tracker);
    }
    if (!begins_exchange(data)) data = {};
    side.rest = std::vector<std::byte>(data.begin(), data.end());
}

void ExchangeWatch::take_nccl(Exchange& exchange, const FlowKey& flow, Bytes fresh, Tracker& tracker) {
    const End from = from_of(flow);
    Side& side = exchange.sides[static_cast<std::size_t>(from)];
    Side& peer = exchange.sides[static_cast<std::size_t>(other(from))];
    if (!side.offered.empty()) return;
    side.rest.insert(side.rest.end(), fresh.begin(), fresh.end());
    const std::size_t hello = from == *exchange.connects ? kNcclHello : 0;
    exchange.lost =
        side.rest.size() > kLongestNccl || (hello != 0 && side.rest.size() >= kNcclMagic && !begins_nccl(side.rest));
    if (exchange.lost || side.rest.size() < hello) return;
    side.offered = read_nccl(Bytes(side.rest).subspan(hello), flow.source);
    if (side.offered.empty() || peer.offered.empty()) return;
    exchange.lost = true;  // nothing of interest follows
    side.rest = peer.rest = {};
    const bool connects = from == *exchange.connects;
    const Side &sender = connects ? side : peer, &receiver = connects ? peer : side;
    const Address &sends = connects ? flow.source : flow.destination,
                  &receives = connects ? flow.destination : flow.source;
    for (const NcclQueuePair& one : receiver.offered) {
        const auto two = std::ranges::find(sender.offered, one.index, &NcclQueuePair::index);
        if (two == sender.offered.end()) continue;
        // Who receives begins: it writes to the other's memory where it wants data.
        tracker.tell({receives, one.qpn, Psn(0)}, {sends, two->qpn, Psn(0)},
                     {PairProof::By::remote_key, std::to_underlying(two->key)});
    }
}

// Of one bound with what else is asked of TCP connections: as many as if each were so many of those.
void ExchangeWatch::add_peaks(Peaks& peaks) const {
    constexpr std::size_t kEach = IwarpTracker::kMaxCandidates / kMostConnections;
    static_assert(kEach * kMostConnections == IwarpTracker::kMaxCandidates &&
                  ToldPairs::kMost / ToldPairs::kEach == IwarpTracker::kMaxCandidates);
    peaks.add(Need::candidates, most_ * kEach, IwarpTracker::kMaxCandidates);
}

}  // namespace qps::transport
