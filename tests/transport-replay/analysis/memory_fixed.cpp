// What an analysis keeps beside the shares of its budget: made traffic drives every row of kFixedRows far past the
// bounds of what is in it; what it takes stays below the row, and all rows together below MemoryBudget::kFixed.
#include <tests/support/analysed_wire.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/management/exchanges.hpp>
#include <transport-replay/management/rmpp.hpp>
#include <transport-replay/model/fabric_map.hpp>
#include <transport-replay/model/fixed_memory.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/tracking/copy_filter.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <array>

#include <malloc.h>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

std::size_t heap_in_use() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

std::uint32_t low(std::uint64_t i) { return static_cast<std::uint32_t>(i); }

// A management datagram: where its parts stand is 13.4.2, 14.2.1 and 15.2.1.
struct Mad {
    static constexpr std::size_t kSubnetData = 64, kRmpp = 24, kRecord = 56;
    std::array<std::byte, 256> bytes{};

    Mad(std::uint8_t management_class, std::uint8_t method, std::uint16_t attribute, std::uint64_t transaction) {
        put(0, 1, 1);
        put(1, 1, management_class);
        put(2, 1, management_class == 3 ? 2 : 1);
        put(3, 1, method);
        put(8, 8, transaction);
        put(16, 2, attribute);
    }
    Mad& put(std::size_t at, unsigned length, std::uint64_t value) {
        write_bits(bytes, static_cast<unsigned>(at * 8), length * 8, value);
        return *this;
    }
    void send(AnalysedWire& wire, std::uint32_t from, std::uint32_t to) const {
        Observation made;
        made.kind = ObservationKind::transport;
        made.encapsulation = Encapsulation::roce_v2;
        made.management = made.datagram = true;
        made.frame = FrameIndex{++wire.clock};
        made.time = Instant{static_cast<std::int64_t>(wire.clock * 1000)};
        made.flow = {AnalysedWire::host(from), AnalysedWire::host(to), Qpn{1}, Qpn{1}};
        made.flow_hash = FlowHash{}(made.flow);
        made.packet_hash = mix(wire.clock);
        made.opcode = Opcode{0x64};
        made.payload = bytes;
        made.payload_length = 256;
        wire.analysis.observe(made);
    }
};

constexpr std::uint8_t kSubnet = 1, kAdministration = 3, kPerformance = 4;
constexpr std::uint8_t kGet = 1, kTrap = 5, kGetResponse = 0x81, kTableResponse = 0x92;
constexpr std::uint16_t kNotice = 2, kNodeRecords = 0x11, kPortRecords = 0x12, kKeyTables = 0x16, kLinkRecords = 0x20,
                        kGroupRecords = 0x38;
constexpr std::uint64_t kUnicast = 0xbffe;

void node_record(AnalysedWire& wire, std::uint64_t i) {
    Mad mad(kAdministration, kGetResponse, kNodeRecords, i);
    mad.put(Mad::kRecord, 2, 1 + i % kUnicast);  // LID
    mad.put(Mad::kRecord + 4, 4, 0x01010202)
        .put(Mad::kRecord + 16, 8, 0x1000 + i);  // NodeInfo: a switch of two ports, its GUID
    for (std::size_t at = 44; at < 108; at += 8)
        mad.put(Mad::kRecord + at, 8, 0x6162636465666768);  // a description of 64 letters
    mad.send(wire, 1, 2);
}

void port_record(AnalysedWire& wire, std::uint64_t i) {
    Mad(kAdministration, kGetResponse, kPortRecords, i)
        .put(Mad::kRecord, 2, 1 + i / 200 % kUnicast)
        .put(Mad::kRecord + 2, 1, 1 + i % 200)
        .send(wire, 1, 2);
}

void link_record(AnalysedWire& wire, std::uint64_t i) {
    Mad mad(kAdministration, kGetResponse, kLinkRecords, i);
    mad.put(Mad::kRecord, 2, 1 + i / 250 % kUnicast)
        .put(Mad::kRecord + 2, 1, 1 + i % 250)
        .put(Mad::kRecord + 3, 1, 1)
        .put(Mad::kRecord + 4, 2, 7);
    mad.send(wire, 1, 2);
}

void key_record(AnalysedWire& wire, std::uint64_t i) {
    Mad mad(kAdministration, kGetResponse, kKeyTables, i);
    mad.put(Mad::kRecord, 2, 1 + i % kUnicast).put(Mad::kRecord + 4, 1, 1);
    for (std::size_t key = 0; key < 32; ++key)
        mad.put(Mad::kRecord + 8 + 2 * key, 2, 0x8000 | (1 + (i * 32 + key) % 0x7ffe));
    mad.send(wire, 1, 2);
}

void member_record(AnalysedWire& wire, std::uint64_t i) {
    Mad mad(kAdministration, kGetResponse, kGroupRecords, i);
    mad.put(Mad::kRecord, 8, 0xff12401bffff0000)
        .put(Mad::kRecord + 8, 8, i % 1024)
        .put(Mad::kRecord + 16, 8, 0xfe80000000000000);
    mad.put(Mad::kRecord + 24, 8, i);
    mad.send(wire, 1, 2);
}

constexpr std::size_t kRecords = 5;
void fabric_record(AnalysedWire& wire, std::uint64_t i) {
    constexpr std::array kKinds{node_record, port_record, link_record, key_record, member_record};
    static_assert(kKinds.size() == kRecords);
    kKinds[i % kRecords](wire, i / kRecords);
}

// Half a megabyte of a transfer, then a segment that is too far ahead: it is given up.
void long_transfer(AnalysedWire& wire, std::uint64_t i) {
    constexpr std::uint64_t kSegments = 2500;
    const std::uint64_t number = i % kSegments + 1;
    Mad mad(kAdministration, kTableResponse, kNodeRecords, i / kSegments);
    mad.put(Mad::kRmpp, 4, 0x01010000 | (number == 1 ? 0x0300U : 0x0100U));
    mad.put(Mad::kRmpp + 4, 4, number == kSegments ? number + 1000 : number).put(Mad::kRmpp + 8, 4, 220).put(44, 2, 14);
    mad.send(wire, 1, 2);
}

// Transfers that never end.
void endless_transfer(AnalysedWire& wire, std::uint64_t i) {
    constexpr std::uint64_t kAtATime = 200;
    Mad mad(kAdministration, kTableResponse, kNodeRecords, i % kAtATime);
    mad.put(Mad::kRmpp, 4, 0x01010000 | (i < kAtATime ? 0x0300U : 0x0100U));
    mad.put(Mad::kRmpp + 4, 4, 1 + i / kAtATime).put(Mad::kRmpp + 8, 4, 220).put(44, 2, 14);
    mad.send(wire, 1, 2);
}

// A request, again, and its acknowledgment.
void sent_twice(AnalysedWire& wire, std::uint64_t i) {
    const std::uint32_t queue_pair = low(i % 256);
    const std::uint32_t psn = low(i / 256);
    wire.packet(1, 2, 0x100000 + queue_pair, kRcSendOnly, psn);
    wire.packet(1, 2, 0x100000 + queue_pair, kRcSendOnly, psn);
    wire.packet(2, 1, 0x800000 + queue_pair, kRcAcknowledge, psn);
}

// A way between two hosts has a burst of its own each time.
void far_burst(AnalysedWire& wire, std::uint64_t i) {
    wire.nanoseconds += 100'000;
    wire.payload_length = 1024;  // no control message
    const std::uint32_t way = low(i % CollectiveTracker::kMaxWays);
    wire.packet(way, way + 1, 500, kRcSendOnly, low(i / CollectiveTracker::kMaxWays));
}

AnalysisSettings as_usual() { return {}; }
AnalysisSettings two_taps() {
    AnalysisSettings settings;
    settings.traits.twice.push_back({});
    settings.traits.reach = CopyFilter::kMostWaiting;
    return settings;
}

struct Flood {
    std::string_view row;
    std::string_view name;
    std::size_t times;
    void (*step)(AnalysedWire& wire, std::uint64_t i);
    AnalysisSettings (*settings)() = as_usual;
};

constexpr std::size_t kFarPast = 3;  // times the bound
constexpr std::array kFloods{
    Flood{"management exchanges", "requests that nobody answers", kFarPast*(kMaxOpenExchanges + kMaxExchanges),
          [](AnalysedWire& wire, std::uint64_t i) { Mad(kSubnet, kGet, kNodeRecords, i).send(wire, 1, 2); }},
    Flood{"management events", "traps, each of its own", kFarPast* kMaxEvents,
          [](AnalysedWire& wire, std::uint64_t i) {
              Mad(kSubnet, kTrap, kNotice, i).put(Mad::kSubnetData + 12, 8, i).send(wire, 1, 2);
          }},
    Flood{"port counters", "counters of ever other ports", kFarPast* kMaxCounterPorts,
          [](AnalysedWire& wire, std::uint64_t i) {
              Mad(kPerformance, kGetResponse, 0x12, i)
                  .put(Mad::kSubnetData + 1, 1, i % 256)
                  .send(wire, 100 + low(i / 256), 2);
          }},
    Flood{"long management transfers", "transfers that are given up", 300 * 2500, long_transfer},
    Flood{"long management transfers", "transfers that never end", 2 * kMaxRmppHeld / 200, endless_transfer},
    Flood{"fabric map", "records of nodes, ports, links, partition keys and members of groups",
          kRecords*(kMaxFabricPorts + kMaxFabricPorts / 4), fabric_record},
    Flood{"retransmission episodes", "requests that are sent twice", kFarPast* kMaxRecoveries, sent_twice},
    Flood{
        "answers without requests", "acknowledgments of flows that nobody knows", kFarPast* kMaxPendingAnswersOfAll,
        [](AnalysedWire& wire, std::uint64_t i) { wire.packet(2, 1, 0x800000 + low(i / 32), kRcAcknowledge, low(i)); }},
    Flood{"collectives", "bursts between ever other hosts", CollectiveTracker::kMaxWays* BurstList::kMost * 9 / 8,
          far_burst},
    Flood{"copies of packets", "a capture of two taps", 100'000,
          [](AnalysedWire& wire, std::uint64_t i) { wire.packet(1, 2, 500, kRcSendOnly, low(i)); }, two_taps},
};

// An analysis with a budget of which nearly nothing is shared out, so that what grows is what is fixed.
constexpr MemoryBudget kLittle{std::uint64_t{16} << 20};
constexpr std::size_t kMegabyte = std::size_t{1} << 20;

}  // namespace

TEST_CASE("what has bounds of its own stays below them, whatever comes") {
    for (const FixedRow& row : kFixedRows)
        CHECK((std::ranges::count(kFloods, row.name, &Flood::row) >= 1 ? "" : row.name) == "");
    std::size_t all = 0;
    std::string_view before_this;
    for (const Flood& flood : kFloods) {
        INFO(flood.row << ": " << flood.name);
        const auto row = std::ranges::find(kFixedRows, flood.row, &FixedRow::name);
        REQUIRE(row != kFixedRows.end());
        const std::size_t before = heap_in_use();
        AnalysisSettings settings = flood.settings();
        settings.memory = kLittle;
        AnalysedWire wire(std::move(settings));
        const std::size_t times = share(flood.times);
        std::size_t most = 0;
        for (std::size_t i = 0; i < times; ++i) {
            flood.step(wire, i);
            if (i % 1024 == 0) most = std::max(most, heap_in_use() - std::min(before, heap_in_use()));
        }
        const Timeline timeline = wire.analysis.finish();
        most = std::max(most, heap_in_use() - std::min(before, heap_in_use()));
        CHECK(timeline.packets >= times);
        if (kSanitized) continue;  // whose heap is another
        INFO(most / 1024 << " KiB");
        CHECK(most <= row->megabytes * kMegabyte + kLittle.bytes() / 2);
        if (before_this != flood.row) all += row->megabytes;
        before_this = flood.row;
    }
    CHECK(all * kMegabyte <= MemoryBudget::kFixed);
}
