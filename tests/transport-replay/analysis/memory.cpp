// One budget for all that an analysis keeps: made traffic drives every share of it to its bound, and far past it; what
// the process has on its heap stays below the budget, and the report is whole.
#include <tests/support/analysed_wire.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/rpc_messages.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/watch/rate_watch.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include <malloc.h>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

constexpr MemoryBudget kBudget{std::uint64_t{96} << 20};  // half of it is shared out
constexpr std::size_t kFar = 4;                           // times the bound

std::size_t heap() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

// A segment of TCP without options.
void segment(AnalysedWire& wire, std::uint32_t host, std::uint16_t port, std::uint32_t sequence, Bytes data) {
    constexpr std::size_t kHeader = 20;
    std::vector<std::byte> bytes(kHeader);
    write_bits(bytes, 0, 16, port);
    write_bits(bytes, 16, 16, 5000);
    write_bits(bytes, 32, 32, sequence);
    bytes[12] = std::byte{0x50};
    bytes[13] = std::byte{0x10};
    bytes.insert(bytes.end(), data.begin(), data.end());
    Observation made;
    made.kind = ObservationKind::stream;
    made.frame = FrameIndex{++wire.clock};
    made.time = Instant{static_cast<std::int64_t>(wire.clock * 1000)};
    made.flow = {AnalysedWire::host(host), AnalysedWire::host(2), Qpn{5000}, Qpn{port}};
    made.flow_hash = mix(std::uint64_t{host} << 16 | port);
    made.packet_hash = mix(wire.clock);
    made.wire_length = static_cast<std::uint32_t>(bytes.size());
    made.payload = bytes;
    made.payload_length = static_cast<std::uint32_t>(data.size());
    wire.analysis.observe(made);
}

// MPA's request: key, flags, revision, no private data (RFC 5044 7.1).
void begin_stream(AnalysedWire& wire, std::uint32_t host, std::uint16_t port) {
    std::vector<std::byte> request = bytes_of("MPA ID Req Frame");
    for (const int byte : {0x40, 0x01, 0x00, 0x00}) request.push_back(static_cast<std::byte>(byte));
    segment(wire, host, port, 1, request);
}

void request_connection(AnalysedWire& wire, std::uint64_t i) {
    std::vector<std::byte> datagram(256);
    write_bits(datagram, 0, 32, 0x01070203);
    write_bits(datagram, 128, 16, 0x10);
    write_bits(datagram, 192, 32, i + 1);
    Observation made;
    made.kind = ObservationKind::transport;
    made.management = made.datagram = true;
    made.frame = FrameIndex{++wire.clock};
    made.time = Instant{static_cast<std::int64_t>(wire.clock * 1000)};
    made.flow = {AnalysedWire::host(1), AnalysedWire::host(2), Qpn{1}, Qpn{1}};
    made.flow_hash = FlowHash{}(made.flow);
    made.packet_hash = mix(wire.clock);
    made.opcode = Opcode{0x64};
    made.payload = datagram;
    made.payload_length = 256;
    wire.analysis.observe(made);
}

void call(AnalysedWire& wire, std::uint32_t queue_pair, std::uint32_t xid, std::uint32_t psn) {
    MessageWriter message = rpc_messages::inline_message(xid, 64);
    message.add(rpc_messages::call(xid, rpc_messages::kNfs, 4, 1).bytes());
    wire.payload = message.bytes();
    wire.payload_length = static_cast<std::uint32_t>(message.bytes().size());
    wire.packet(1, 2, queue_pair, kRcSendOnly, psn);
    wire.payload = {};
    wire.payload_length = 16;
}

// A packet of Ultra Ethernet that opens a context, of 2^16 - 1 between any two hosts.
void open_context(AnalysedWire& wire, std::uint64_t i) {
    std::array<std::byte, 12> bytes{std::byte{0x10}, std::byte{0x04}};  // RUD_REQ with SYN
    const auto id = static_cast<std::uint16_t>(1 + i % UINT16_MAX);
    write_bits(bytes, 32, 32, mix(i) & UINT32_MAX);
    write_bits(bytes, 64, 16, id);
    Observation made;
    made.kind = ObservationKind::ultra_ethernet;
    made.frame = FrameIndex{++wire.clock};
    made.time = Instant{static_cast<std::int64_t>(wire.clock * 1000)};
    made.flow = {
        AnalysedWire::host(1 + static_cast<std::uint32_t>(i / UINT16_MAX)), AnalysedWire::host(9999), Qpn{id}, {}};
    made.flow_hash = made.packet_hash = mix(wire.clock);
    made.wire_length = static_cast<std::uint32_t>(bytes.size());
    made.payload = bytes;
    wire.analysis.observe(made);
}

struct Attack {
    std::string_view name;
    Share share;
    std::size_t times;  // of step()
    void (*step)(AnalysedWire& wire, std::uint64_t i);
};

std::uint32_t number(std::uint64_t i) { return static_cast<std::uint32_t>(i); }

constexpr std::size_t kPiece = 4096;
constexpr std::size_t kSegment = 1400;
constexpr std::array<std::byte, kPiece> kData{};

constexpr std::array kAttacks{
    Attack{"requests that nobody answers, each of another queue pair", Share::connections,
           kFar* kBudget.items(Share::connections),
           [](AnalysedWire& wire, std::uint64_t i) { wire.packet(1, 2, number(i), kRcSendOnly, number(mix(i))); }},
    Attack{"connections that are refused", Share::retired,
           kFar*(kBudget.items(Share::connections) + kBudget.items(Share::retired)),
           [](AnalysedWire& wire, std::uint64_t i) { wire.exchange(number(i), number(mix(i)), kAccessError); }},
    Attack{"many messages under way on each of many queue pairs", Share::messages,
           128 * kBudget.items(Share::connections),
           [](AnalysedWire& wire, std::uint64_t i) { wire.packet(1, 2, number(i / 64), kRcSendOnly, number(i % 64)); }},
    Attack{"every second PSN missing", Share::messages, 128 * kBudget.items(Share::connections),
           [](AnalysedWire& wire, std::uint64_t i) {
               wire.packet(1, 2, number(i / 64), kRcSendOnly, number(2 * (i % 64)));
           }},
    Attack{"requests for a connection", Share::attempts, kFar* kBudget.items(Share::attempts), request_connection},
    Attack{"a call of RPC on each of many connections", Share::conversations, kFar* kBudget.items(Share::conversations),
           [](AnalysedWire& wire, std::uint64_t i) { call(wire, number(i), number(i), number(mix(i))); }},
    Attack{"calls of RPC that nobody answers", Share::operations, kFar* kBudget.bytes(Share::operations) / 512,
           [](AnalysedWire& wire, std::uint64_t i) { call(wire, number(i % 64), number(i), number(i / 64)); }},
    Attack{"SENDs that never end", Share::payload, kFar* kBudget.bytes(Share::payload) / kPiece,
           [](AnalysedWire& wire, std::uint64_t i) {
               constexpr std::uint64_t kOfEach = 256;
               wire.payload = kData;
               wire.payload_length = kPiece;
               wire.packet(1, 2, number(i / kOfEach), i % kOfEach == 0 ? kRcSendFirst : kRcSendMiddle,
                           number(i % kOfEach));
           }},
    Attack{"requests of MPA", Share::streams, kFar* kBudget.items(Share::streams),
           [](AnalysedWire& wire, std::uint64_t i) {
               begin_stream(wire, 1000 + number(i >> 14), static_cast<std::uint16_t>(6000 + (i & 0x3fff)));
           }},
    Attack{"segments whose predecessors never come", Share::segments, kFar* kBudget.bytes(Share::segments) / kSegment,
           [](AnalysedWire& wire, std::uint64_t i) {
               constexpr std::uint64_t kOfEach = 200;
               const auto port = static_cast<std::uint16_t>(6000 + i / kOfEach);
               if (i % kOfEach == 0) begin_stream(wire, 1, port);
               segment(wire, 1, port, 10'000 + number(i % kOfEach * kSegment), Bytes(kData).first(kSegment));
           }},
    Attack{"contexts of Ultra Ethernet that are opened", Share::contexts, kFar* kBudget.bytes(Share::contexts) / 512,
           open_context},
    Attack{"flows that congestion is watched of", Share::flows, kFar* kBudget.items(Share::flows),
           [](AnalysedWire& wire, std::uint64_t i) { wire.packet(1, 2, number(i), kRcSendOnly, 7); }},
    Attack{"long messages of many queue pairs", Share::rates, kFar* kBudget.items(Share::rates),
           [](AnalysedWire& wire, std::uint64_t i) { wire.packet(1, 2, number(i), kRcSendMiddle, RateWatch::kEvery); }},
    Attack{"pairs of hosts", Share::pairs, 4 * CollectiveTracker::kMaxWays,
           [](AnalysedWire& wire, std::uint64_t i) { wire.packet(number(i), number(i) + 1, 500, kRcSendOnly, 7); }},
};

struct Peak {
    std::size_t most_of_it = 0;  // until three quarters of the attack
    std::size_t whole = 0;
};

}  // namespace

TEST_CASE("whatever grows stays within the budget, far past its bound, and the report is whole") {
    for (const ShareRow& share : kShares)
        CHECK(std::ranges::count(kAttacks, share.share, &Attack::share) >= 1);  // or nobody drives it to its bound
    for (const Attack& attack : kAttacks) {
        INFO(attack.name);
        AnalysisSettings settings;
        settings.memory = kBudget;
        const std::size_t before = heap();
        AnalysedWire wire(std::move(settings));
        const std::size_t times = share(attack.times);
        Peak peak;
        for (std::size_t i = 0; i < times; ++i) {
            attack.step(wire, i);
            if (i % std::max<std::size_t>(times / 64, 1) != 0) continue;
            const std::size_t now = heap() - std::min(heap(), before);
            if (i < times / 4 * 3) peak.most_of_it = std::max(peak.most_of_it, now);
            peak.whole = std::max(peak.whole, now);
        }
        const Timeline timeline = wire.analysis.finish();
        peak.whole = std::max(peak.whole, heap() - std::min(heap(), before));
        CHECK(timeline.packets >= times);
        std::uint64_t followed =
            timeline.retired.packets + timeline.left_out.packets_of_connections + timeline.totals.management;
        for (const Connection& connection : timeline.connections) followed += connection.packets();
        CHECK(followed == timeline.packets);
        if (kSanitized) continue;  // whose heap is another
        CHECK(peak.whole <= kBudget.bytes());
        CHECK(peak.whole <=
              peak.most_of_it + kBudget.bytes() / 20);  // it has reached its bound: that is what bounds it
    }
}

TEST_CASE("all that can grow at once stays within the budget too") {
    AnalysisSettings settings;
    settings.memory = kBudget;
    const std::size_t before = heap();
    AnalysedWire wire(std::move(settings));
    std::size_t most = 0;
    std::uint64_t packets = 0;
    for (const Attack& attack : kAttacks) {
        const std::size_t times = share(attack.times);
        for (std::size_t i = 0; i < times; ++i) {
            attack.step(wire, i);
            if (i % 1024 == 0) most = std::max(most, heap() - std::min(heap(), before));
        }
        packets += times;
    }
    const Timeline timeline = wire.analysis.finish();
    CHECK(timeline.packets >= packets);
    CHECK_FALSE(judged_all(timeline));
    if (!kSanitized) CHECK(std::max(most, heap() - std::min(heap(), before)) <= kBudget.bytes());
}
