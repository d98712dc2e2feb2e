#include <dissect/headers/internet.hpp>
#include <transport-replay/checks/passive/iwarp_watch.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

FlowKey turned_flow(const FlowKey& flow) {
    return {flow.destination, flow.source, flow.source_qp, flow.destination_qp};
}
// The same for both ways.
FlowKey key_of_both(const FlowKey& flow) {
    return std::tie(flow.source, flow.source_qp) < std::tie(flow.destination, flow.destination_qp) ? flow
                                                                                                   : turned_flow(flow);
}

// What a SYN announces that its sender takes in a segment (RFC 9293 3.7.1); 0: nothing.
std::uint16_t announced_mss(Bytes segment) {
    constexpr std::size_t kFixed = 20, kOptionLength = 4;
    constexpr std::uint8_t kEnd = 0, kNothing = 1, kMss = 2;
    const std::size_t header = read(segment, named(kTcpFields, "tcp.hdr_len"));
    Bytes left = slice(slice(segment, 0, header), kFixed);
    while (left.size() >= 2) {
        const auto kind = read_be<std::uint8_t>(left, 0);
        const std::size_t length = kind == kNothing ? 1 : read_be<std::uint8_t>(left, 1);
        if (kind == kEnd || length == 0) return 0;
        if (kind == kMss)
            return length == kOptionLength && left.size() >= length ? read_be<std::uint16_t>(left, 2)
                                                                    : std::uint16_t{0};
        left = slice(left, length);
    }
    return 0;
}

}  // namespace

IwarpWatch::IwarpWatch(const MemoryBudget& budget) : most_(most(budget)), most_held_(most_held(budget)) {}

void IwarpWatch::observe(const Observation& packet, const PacketRecord& record, HostTallies& tallies) {
    const TcpSegmentView segment = tcp_view(packet);
    IwarpExchange* exchange = find(packet, segment, record, tallies);
    if (exchange == nullptr) return;
    tallies.packet(packet.flow.source);
    held_ -= exchange->held_bytes();
    exchange->observe(packet, segment, tallies);
    if (held_ + exchange->held_bytes() > most_held_) exchange->give_up_gaps();
    held_ += exchange->held_bytes();
    if (exchange->over()) end(watched_[key_of_both(packet.flow)], tallies);
}

void IwarpWatch::end(std::unique_ptr<IwarpExchange>& exchange, HostTallies& tallies) {
    held_ -= exchange->held_bytes();
    exchange->finish(tallies);
    exchange.reset();
    --live_;
}

IwarpExchange* IwarpWatch::begin(const FlowKey& flow, const FlowKey& key) {
    candidates_.erase(key);
    if (live_ >= most_) {
        ++unwatched_;
        return nullptr;
    }
    if (watched_.size() >= 2 * most_) std::erase_if(watched_, [](const auto& each) { return each.second == nullptr; });
    ++live_;
    return (watched_[key] = std::make_unique<IwarpExchange>(flow)).get();
}

IwarpExchange* IwarpWatch::find(const Observation& packet, const TcpSegmentView& segment, const PacketRecord& record,
                                HostTallies& tallies) {
    const FlowKey key = key_of_both(packet.flow);
    const bool opens = segment.syn && !segment.has_ack;
    const auto found = watched_.find(key);
    if (found != watched_.end()) {
        if (!opens) return found->second.get();
        if (found->second) end(found->second, tallies);  // its ports are used anew
        watched_.erase(found);
    }
    if (opens) {
        if (candidates_.size() >= kMostCandidates) candidates_.clear();
        candidates_.insert_or_assign(
            key, Candidate{.flow = packet.flow, .begins = segment.seq + 1, .mss = {announced_mss(packet.payload)}});
        return nullptr;
    }
    if (segment.syn) {
        const auto asked = candidates_.find(key);
        if (asked != candidates_.end() && packet.flow != asked->second.flow)
            asked->second.mss[1] = announced_mss(packet.payload);
    }
    if (segment.length == 0) return nullptr;
    if (IwarpExchange* begun = ask(packet, segment, key, tallies)) return begun;
    const auto& place = record.ulp.iwarp;
    if (place.what != IwarpPlace::What::fpdus || !place.crc || place.markers) return nullptr;
    IwarpExchange* joined = begin(packet.flow, key);
    if (joined != nullptr) joined->join(Framing{.crc = true});
    return joined;
}

// A segment with data of a connection that is not known. Where the responder answers as one of MPA, what came before
// was a request.
IwarpExchange* IwarpWatch::ask(const Observation& packet, const TcpSegmentView& segment, const FlowKey& key,
                               HostTallies& tallies) {
    const bool request = has_request_key(segment.data);
    const bool reply = has_reply_key(segment.data);
    const auto found = candidates_.find(key);
    if (found != candidates_.end() && !request && !reply) {
        Candidate& candidate = found->second;
        const bool begins = packet.flow == candidate.flow && segment.seq == candidate.begins && !candidate.first;
        if (begins) candidate.first = first_segment(segment, packet.frame);
        else candidates_.erase(found);
        return nullptr;
    }
    if (!request && !reply) return nullptr;
    const std::optional<Candidate> candidate = found == candidates_.end() ? std::nullopt : std::optional(found->second);
    // A key says who sent it, unless who opened the connection is known.
    const bool from_initiator = candidate ? packet.flow == candidate->flow : request;
    IwarpExchange* begun = begin(from_initiator ? packet.flow : turned_flow(packet.flow), key);
    if (begun != nullptr && candidate)
        for (const End end : {End::a, End::b}) begun->announce(end, candidate->mss[static_cast<std::size_t>(end)]);
    if (begun != nullptr && candidate && candidate->first && !from_initiator)
        begun->take_request(*candidate->first, tallies);
    return begun;
}

void IwarpWatch::finish(HostTallies& tallies) {
    std::vector<IwarpExchange*> left;
    for (auto& [key, exchange] : watched_)
        if (exchange) left.push_back(exchange.get());
    std::ranges::sort(left, {}, [](const IwarpExchange* exchange) { return exchange->flow(); });
    for (IwarpExchange* exchange : left) exchange->finish(tallies);
    watched_.clear();
    candidates_.clear();
    live_ = held_ = 0;
}

}  // namespace qps::transport::conformance
