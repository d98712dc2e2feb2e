// What views keep beside rows and analysis: made captures drive every row of kViewRows far past the bounds of what is
// in it; what it takes stays below the row, what there was no room for is told, and none of it takes long.
#include <dissect/capture/writer.hpp>
#include <tests/series/rows.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/heap_watch.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/sanitized.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/index/followed_messages.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/connection_figures.hpp>
#include <transport-replay/series/fabric_layout.hpp>
#include <transport-replay/series/host_matrix.hpp>
#include <transport-replay/series/io_graph.hpp>
#include <transport-replay/series/ladder.hpp>
#include <transport-replay/series/packet_order.hpp>
#include <transport-replay/series/run_comparison.hpp>
#include <transport-replay/series/statistics.hpp>
#include <transport-replay/series/throughput.hpp>
#include <transport-replay/series/view_memory.hpp>

#include <algorithm>
#include <array>
#include <mutex>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

std::uint32_t low(std::uint64_t i) { return static_cast<std::uint32_t>(i); }
Address host(std::uint64_t number) { return {{0, std::uint64_t{0xffff0a000000} | number}, AddressSpace::roce_v2}; }

// A RoCEv2 packet whose parts are written over: nobody looks at its checksums.
class Template {
public:
    explicit Template(std::uint8_t opcode) : bytes_(build(transport_packet(Opcode{opcode}, Network::roce_v2_ipv4))) {}
    Template& source(std::uint32_t address) { return put(26, 4, address); }
    Template& destination(std::uint32_t address) { return put(30, 4, address); }
    Template& port(std::uint16_t port) { return put(34, 2, port); }
    Template& queue_pair(std::uint32_t number) { return put(47, 3, number); }
    [[nodiscard]] Frame frame() const {
        Frame frame;
        frame.bytes = bytes_;
        frame.wire_length = low(bytes_.size());
        frame.link = LinkType::ethernet;
        return frame;
    }

private:
    Template& put(std::size_t at, unsigned length, std::uint64_t value) {
        write_bits(bytes_, static_cast<unsigned>(at * 8), length * 8, value);
        return *this;
    }
    std::vector<std::byte> bytes_;
};

// Pairs of hosts, source ports and queue pairs without end; most packets are of a few pairs, which have all of both.
bool many_ports(HeapWatch& peak) {
    Statistics sum;
    Template one(0x04);
    Packet packet;
    constexpr std::size_t kSideBySide = 8;  // parts of threads that wait for those before them
    const std::uint64_t times = share(40 * RowSet::kPieceRows);
    std::vector<Statistics> parts;
    const auto add_parts = [&] {
        peak.look();
        for (Statistics& part : parts) sum.add(std::move(part));
        peak.look();
        parts.clear();
    };
    for (std::uint64_t i = 0; i < times; ++i) {
        if (i % RowSet::kPieceRows == 0) {
            if (parts.size() == kSideBySide) add_parts();
            parts.emplace_back();
        }
        one.source(0x0a000000 + low(i % 4 == 0 ? i / 4 : i % 400))
            .port(static_cast<std::uint16_t>(mix(i)))
            .queue_pair(low(i & 0xffffffU));
        decode(one.frame(), packet);
        parts.back().count(packet);
    }
    add_parts();
    CHECK(sum.census.packets == times);
    CHECK(sum.ports.size() == Statistics::kMostPairs);
    const auto told = [&](auto of) {
        return std::ranges::any_of(sum.ports, of, [](const auto& pair) -> const HostsPorts& { return pair.second; });
    };
    std::size_t ports = 0, queue_pairs = 0;
    for (const auto& [hosts, pair] : sum.ports) {
        ports += pair.packets.size();
        queue_pairs += pair.queue_pairs.size();
    }
    CHECK(ports <= Statistics::kMostPorts);
    CHECK(queue_pairs <= Statistics::kMostQueuePairs);
    const bool all_told = told([](const HostsPorts& pair) { return pair.untold != 0; }) &&
                          told([](const HostsPorts& pair) { return pair.more_queue_pairs; });
    return sum.untold_pairs != 0 && (kSanitized || all_told);
}

// As many nodes, ports and links as a map has, of which no end has a GUID: what they are called is looked up by LID.
bool whole_fabric(HeapWatch& peak) {
    ManagementReport report;
    constexpr std::size_t kPorts = kMaxFabricPorts / kMaxFabricNodes;
    for (std::size_t i = 0; i < kMaxFabricNodes; ++i) {
        FabricNode& node = report.fabric.nodes.emplace_back();
        node.guid = NodeGuid{0x1000 + i};
        node.type = i % 4 == 0 ? 1 : 2;
        node.description = std::string(64, 'a');
        for (std::size_t port = 1; port <= kPorts; ++port)
            node.ports[static_cast<std::uint8_t>(port)] = {.number = static_cast<std::uint8_t>(port),
                                                           .lid = Lid{static_cast<std::uint16_t>(1 + i)}};
    }
    for (std::size_t i = 0; i < kMaxFabricLinks; ++i) {
        const auto node = [](std::uint64_t number) {
            return Lid{static_cast<std::uint16_t>(1 + number % kMaxFabricNodes)};
        };
        report.fabric.links.push_back(
            {{{}, node(i), static_cast<std::uint8_t>(1 + i / kMaxFabricNodes)}, {{}, node(mix(i)), 1}, false, {}});
    }
    HeapWatch of_map;
    const FabricLayout layout = lay_out(report);
    of_map.look();
    peak = of_map;
    CHECK(layout.wires.size() == kMaxFabricLinks);
    report.fabric.links.push_back({{{}, Lid{0xbfff}, 1}, {{}, Lid{1}, 1}, false, {}});
    return lay_out(report).without_nodes == 1;
}

// Connections, each between other hosts.
Timeline many_hosts(std::size_t connections) {
    Timeline timeline;
    for (std::size_t i = 0; i < connections; ++i) {
        Connection& connection = timeline.connections.emplace_back();
        connection.uid = ConnectionId{low(i + 1)};
        connection.ends[0].address = host(2 * i);
        connection.ends[1].address = host(2 * i + 1);
        connection.ways[0].bytes = i;
    }
    return timeline;
}

bool two_runs(HeapWatch& peak) {
    const Timeline timeline = many_hosts(4 * kMostRunPairs);
    const CaptureIndex index;
    peak = {};
    const auto before = run_of(index, timeline, MemoryBudget(std::uint64_t{64} << 20));
    const auto after = run_of(index, timeline, MemoryBudget(std::uint64_t{64} << 20));
    peak.look();
    REQUIRE(before);
    REQUIRE(after);
    CHECK(before->pairs.size() == kMostRunPairs);
    return before->more_pairs == 3 * kMostRunPairs;
}

bool matrix_of_hosts(HeapWatch& peak) {
    const Timeline timeline = many_hosts(16 * HostMatrix::kMostHosts);
    const ConnectionTimes times;
    peak = {};
    const HostMatrix matrix(timeline, times);
    peak.look();
    CHECK(matrix.hosts().size() == HostMatrix::kMostHosts);
    return matrix.left_out() == 31 * HostMatrix::kMostHosts;
}

bool lines_of_connections(HeapWatch& peak) {
    const CaptureIndex index;
    const auto lines = activity_lines(index, Range{Instant{0}, Instant{1'000'000'000}}, 4 * ActivityLines::kMostLines);
    peak.look();
    REQUIRE(lines);
    CHECK_FALSE(lines->of(ConnectionId{1}).empty());
    return lines->of(ConnectionId{low(ActivityLines::kMostLines)}).empty();
}

// A message that never ends, of more bytes than may wait.
bool endless_message(HeapWatch& peak) {
    constexpr std::size_t kPackets = 60'000;
    const qps::test::TemporaryFolder folder;
    const std::string path = folder.file("endless.pcap");
    const auto packet = [](std::uint8_t opcode) {
        PacketSpec spec = transport_packet(Opcode{opcode}, Network::roce_v2_ipv4);
        spec.payload.assign(1024, std::byte{0x55});
        return spec;
    };
    PacketSpec first = packet(0x00), middle = packet(0x01);
    auto writer = CaptureWriter::open(path, WriterFormat::pcap);
    REQUIRE(writer);
    for (std::size_t i = 0; i < share(kPackets); ++i) {
        PacketSpec& spec = i == 0 ? first : middle;
        set(spec, "infiniband.bth.psn", i);
        set(spec, "ip.id", i & 0xffffU);
        const std::vector<std::byte> bytes = build(spec);
        Frame frame;
        frame.bytes = bytes;
        frame.wire_length = low(bytes.size());
        frame.link = LinkType::ethernet;
        frame.time = Instant{static_cast<std::int64_t>(1000 * i)};
        REQUIRE(writer->write(frame));
    }
    REQUIRE(writer->close());
    auto index = std::make_shared<CaptureIndex>();
    REQUIRE(build_index(*index, {.files = {path}, .jobs = {1}, .spool_folder = ""}, {}).problems.empty());
    REQUIRE(index->messages.size() == 1);
    peak = {};
    const auto part = follow(index, ConnectionId{1}, 1, 1000, 1 << 18);
    peak.look();
    REQUIRE(part);
    CHECK(part->followed.size() == 1);
    return kSanitized || part->let_go != 0;
}

// As many packets as can be sorted by text, with as many texts as there is room for, and then one more.
bool sorted_packets(HeapWatch& peak) {
    const std::uint64_t most = most_sorted_by_text(kUsualSortMemory) / 4 * 3;
    const std::uint64_t packets = kSanitized ? most / 20 : most;
    std::mutex looking;
    const auto by_text = [&](std::uint64_t different) {
        return OrderBy{.text = [&, different] {
            return [&, different](FrameIndex frame, std::string& text) {
                if (std::to_underlying(frame) % RowSet::kPieceRows == 0) {
                    const std::lock_guard lock(looking);
                    peak.look();
                }
                text = std::string(100, 'a') + "tail";
                const std::string number = std::to_string(mix(std::to_underlying(frame)) % different);
                text.replace(0, number.size(), number);
            };
        }};
    };
    peak = {};
    const auto order = order_packets(packets, nullptr, by_text(200), {});
    peak.look();
    REQUIRE(order);
    CHECK(order->size() == packets);
    const auto none = order_packets(packets, nullptr, by_text(UINT64_MAX), {});
    peak.look();
    return kSanitized || (!none && none.error() == NoOrder::too_many_texts);
}

// Two packets, centuries apart: bins are as fine as there is room for, and no finer.
constexpr Range kCenturies{Instant{0}, Instant{kLongestTime}};
bool throughput_of_centuries(HeapWatch& peak) {
    Rows rows;
    rows.request(0, 1);
    rows.request(kLongestTime - 1, 2);
    peak = {};
    const auto made = throughput(rows.index, {}, kCenturies);
    peak.look();
    REQUIRE(made);
    CHECK(made->bins() <= kMaxBins);
    CHECK(made->total().packets == 2);
    return made->width() > kFinestBin;
}

bool graph_of_centuries(HeapWatch& peak) {
    auto index = std::make_shared<CaptureIndex>();
    const Rows rows;
    for (const std::int64_t time : {std::int64_t{0}, kLongestTime - 1})
        REQUIRE(index->packets.append(PacketRow(0, 0, rows.observation(time, kSendOnly, 1), rows.record(End::a))));
    const std::vector<GraphSeries> asked(kMostSeries, GraphSeries{{}, Measure::bytes, {}});
    peak = {};
    const auto made = io_graph(index, 2, asked, kCenturies, Duration{1});
    peak.look();
    REQUIRE(made);
    CHECK(made->bins() <= kMostGraphBins);
    CHECK(made->lines.back().packets == 2);
    return made->width > Duration{1};
}

// A message of more packets than are drawn.
bool ladder_of_a_message(HeapWatch& peak) {
    Rows rows;
    const std::uint32_t packets = 4 * kMaxMessagePackets;
    const FrameIndex first = rows.request(0, 0, kSendFirst);
    for (std::uint32_t i = 1; i + 1 < packets; ++i) rows.request(i * 1000, i, kSendMiddle);
    const FrameIndex last = rows.request(packets * 1000, packets - 1, kSendLast);
    rows.message({first, last, rows.answer(packets * 1001, packets - 1)}, Verb::send, packets,
                 std::uint64_t{packets} * 1000);
    peak = {};
    const auto entries = LadderEntries::of(rows.index, kOne);
    REQUIRE(entries);
    const auto made = ladder(rows.index, {}, *entries, 0, 1, {0});
    peak.look();
    REQUIRE(made);
    CHECK(made->lines.size() >= kMaxMessagePackets);
    return made->lines.size() <= kMaxMessagePackets + 2;
}

// A connection of more packets than are kept: the last one, which is of no message, is all the same.
bool ladder_of_a_connection(HeapWatch& peak) {
    Rows rows;
    const auto packets = low(share(LadderEntries::kMostPackets + 10'000));
    const FrameIndex first = rows.request(0, 0, kSendFirst);
    for (std::uint32_t i = 1; i < packets; ++i) rows.request(i, i & 0xffU, kSendMiddle);
    rows.message({first, FrameIndex{packets}, rows.answer(packets, 255)}, Verb::send, 256, packets);
    const FrameIndex refused = rows.answer(packets + 1, 0x1000, kAccessNak);
    peak = {};
    const auto entries = LadderEntries::of(rows.index, kOne);
    peak.look();
    REQUIRE(entries);
    CHECK(entries->size() == 2);
    CHECK(entries->entry_of(rows.index, refused) == 1U);
    CHECK(entries->entry_of(rows.index, FrameIndex{packets}) == 0U);
    return kSanitized || entries->left_out() != 0;
}

struct Trial {
    std::string_view row;
    bool (*run)(HeapWatch& peak);  // true: it said what there was no room for
};

constexpr std::array kTrials{
    Trial{"statistics", many_ports},
    Trial{"fabric map", whole_fabric},
    Trial{"two runs compared", two_runs},
    Trial{"payload of messages", endless_message},
    Trial{"pairs of hosts", matrix_of_hosts},
    Trial{"figures of connections", lines_of_connections},
    Trial{"sorted packets", sorted_packets},
    Trial{"throughput", throughput_of_centuries},
    Trial{"bins of an I/O graph", graph_of_centuries},
    Trial{"ladder of a message", ladder_of_a_message},
    Trial{"ladder of a connection", ladder_of_a_connection},
};

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

}  // namespace

TEST_CASE("What views keep stays below their bounds, whatever a capture has, and says what it lacks",
          "[series][memory]") {
    for (const ViewRow& row : kViewRows)
        CHECK((std::ranges::count(kTrials, row.name, &Trial::row) >= 1 ? "" : row.name) == "");
    for (const Trial& trial : kTrials) {
        INFO(trial.row);
        const auto row = std::ranges::find(kViewRows, trial.row, &ViewRow::name);
        REQUIRE(row != kViewRows.end());
        HeapWatch peak;
        CHECK(trial.run(peak));
        if (kSanitized) continue;  // whose heap is another
        INFO(peak.most() / 1024 << " KiB");
        CHECK(peak.most() <= row->megabytes * kMegabyte);
    }
}
