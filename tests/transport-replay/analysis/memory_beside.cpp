// What is kept beside an analysis: made messages drive every row of kBesideRows far past its bound; what the heap has
// more stays within the part of the budget that the row has, and what there was no room for is told.
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/heap_watch.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/index/kept_rows.hpp>
#include <transport-replay/live/replay/conversation_collector.hpp>
#include <transport-replay/live/replay/conversation_part.hpp>
#include <transport-replay/model/address.hpp>
#include <transport-replay/model/memory_beside.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/connection_times.hpp>
#include <transport-replay/report/held_text.hpp>
#include <transport-replay/report/known_ends.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::live;

namespace {

constexpr MemoryBudget kSmallBudget{std::uint64_t{64} << 20};  // of which a part is a megabyte
constexpr std::size_t kWholePacket = 1024;

std::uint32_t narrow(std::uint64_t i) { return static_cast<std::uint32_t>(i); }

// Two messages of each of many connections, then ever other durations.
bool many_connections(HeapWatch& peak) {
    ConnectionTimes times(kSmallBudget);
    for (std::uint32_t i = 0; i < 100'000; ++i) {
        for (std::uint32_t message = 0; message < 2; ++message)
            times.add(ConnectionId{i}, End::a, Outcome::completed, Instant{0},
                      Instant{static_cast<std::int64_t>(mix(2 * i + message) >> 1)});
        if (i % 64 == 0) peak.look();
    }
    CHECK(times.find(ConnectionId{0}) != nullptr);
    CHECK(times.find(ConnectionId{99'999}) == nullptr);
    CHECK(times.bytes() <= bytes_beside(kSmallBudget, Beside::latencies));
    return times.left_out() != 0;
}

// A frame that says that millions went before it is one more packet that is left out.
bool many_packets(HeapWatch& peak) {
    KeptRows kept(kSmallBudget);
    Observation packet;
    packet.has_time = true;
    for (std::uint64_t i = 1; i <= 1'500'000; ++i) {
        packet.frame = FrameIndex{2 * i};
        kept.packet(packet, {});
        if (i % 16 == 0) kept.message(ConnectionId{1}, End::a, {});
        if (i % 64 == 0) peak.look();
    }
    CHECK(kept.index().bytes() <= bytes_beside(kSmallBudget, Beside::rows) + sizeof(MessageRow));
    CHECK(kept.index().packets.size() > 500'000);
    return kept.left_out() != 0;
}

bool many_durations(HeapWatch& peak) {
    constexpr std::uint32_t kConnections = 2000;
    ConnectionTimes times(kSmallBudget);
    for (std::uint32_t i = 0; i < 100 * kConnections; ++i) {
        times.add(ConnectionId{i % kConnections}, End{(i / kConnections) % 2 == 0 ? End::a : End::b},
                  Outcome::completed, Instant{0}, Instant{static_cast<std::int64_t>(mix(i) >> (1 + mix(i) % 63))});
        if (i % 64 == 0) peak.look();
    }
    CHECK(times.bytes() <= bytes_beside(kSmallBudget, Beside::latencies));
    return times.left_out() != 0;
}

bool many_outstanding(HeapWatch& peak) {
    ConnectionTimes times(kSmallBudget);
    constexpr std::int64_t kNever = 1'000'000'000;
    for (std::uint32_t i = 0; i < 400'000; ++i) {
        times.add(ConnectionId{1}, End::a, Outcome::completed, Instant{i}, Instant{kNever + i});
        if (i % 64 == 0) peak.look();
    }
    CHECK(times.find(ConnectionId{1}) == nullptr);  // a part would be no measure of it
    return times.left_out() == 400'000;
}

// A connection of host 1 with host 2, and its packets.
struct Recorded {
    Timeline timeline;
    std::optional<ConversationCollector> collector;
    std::uint64_t frame = 0;

    Recorded() {
        Connection& connection = timeline.connections.emplace_back();
        connection.uid = ConnectionId{1};
        connection.service = Service::rc;
        for (std::uint32_t i = 0; i < 2; ++i) {
            connection.ends[i].address = Address{{0, std::uint64_t{0xffff0a000001} + i}, AddressSpace::roce_v2};
            connection.ends[i].qpn = Qpn{100 + i};
            connection.ways[i].path_mtu = kWholePacket;
        }
        collector.emplace(timeline, ConnectionId{1}, kSmallBudget);
    }
    void packet(std::uint32_t psn, Bytes payload) {
        Observation made;
        made.kind = ObservationKind::transport;
        made.frame = FrameIndex{++frame};
        made.flow = {timeline.connections[0].ends[0].address, timeline.connections[0].ends[1].address, Qpn{101},
                     Qpn{100}};
        made.opcode = Opcode{0x04};
        made.psn = Psn(psn);
        made.payload = payload;
        made.payload_length = narrow(payload.size());
        PacketRecord record;
        record.connection = ConnectionId{1};
        collector->packet(made, record);
    }
    void send(std::uint32_t psn) {
        Message ended;
        ended.verb = Verb::send;
        ended.first = ended.last = Psn(psn);
        ended.starts = ended.ends = true;
        ended.first_frame = ended.last_frame = FrameIndex{frame};
        ended.outcome = Outcome::completed;
        collector->message(ConnectionId{1}, End::a, ended);
    }
};

constexpr std::array<std::byte, kWholePacket> kZeros{};

// Packets of messages that never end.
bool packets_that_wait(HeapWatch& peak, std::size_t payload) {
    Recorded recorded;
    const std::size_t times = 4 * bytes_beside(kSmallBudget, Beside::waiting) / (payload + 64);
    for (std::uint32_t i = 0; i < times; ++i) {
        recorded.packet(i, Bytes(kZeros).first(payload));
        if (i % 64 == 0) peak.look();
    }
    recorded.send(narrow(times) - 1);
    const auto conversation = recorded.collector->finish();
    REQUIRE(conversation.has_value());
    return conversation->gaps.let_go != 0;
}

bool messages_that_end(HeapWatch& peak, std::size_t payload) {
    Recorded recorded;
    for (std::uint32_t i = 0; i < bytes_beside(kSmallBudget, Beside::conversation) / (payload / 4 + 64); ++i) {
        recorded.packet(i, Bytes(kZeros).first(payload));
        recorded.send(i);
        if (i % 64 == 0) peak.look();
    }
    const auto conversation = recorded.collector->finish();
    REQUIRE_FALSE(conversation.has_value());
    CHECK(conversation.error() ==
          "connection 1 carries more than 24 MiB, the part of the memory that holds it: --memory grants more");
    return true;
}

RecordedMessage access(Verb verb, std::uint64_t i, std::uint64_t address, std::uint32_t length, std::byte filled) {
    RecordedMessage recorded;
    recorded.from = End::b;
    recorded.message.verb = verb;
    recorded.message.starts = recorded.message.ends = true;
    recorded.message.outcome = Outcome::completed;
    recorded.message.first_frame = recorded.message.last_frame = FrameIndex{2 * i + 1};
    recorded.message.answer_frame = FrameIndex{2 * i + 2};
    recorded.message.access = RemoteAccess{address, Rkey{7}, length};
    recorded.payload.bytes.assign(verb == Verb::read_request ? length : 0, filled);
    return recorded;
}

constexpr std::uint64_t kMemory = std::uint64_t{1} << 40;

// Ranges that just fit, and what is found there changes with every READ.
bool memory_that_changes(HeapWatch& peak) {
    RecordedConversation conversation;
    const auto size = narrow(bytes_beside(kSmallBudget, Beside::memory) / 4);
    conversation.messages.push_back(access(Verb::write, 0, kMemory, size, {}));
    for (std::uint32_t i = 1; i < 64; ++i)
        conversation.messages.push_back(access(Verb::read_request, i, kMemory, size / 8, std::byte(i)));
    peak = {};  // that is the conversation's
    const auto memory = recorded_memory(conversation, End::a, kSmallBudget);
    peak.look();
    REQUIRE_FALSE(memory.has_value());
    CHECK(
        memory.error() ==
        "the recorded memory and what is put there need more than 28 MiB, their part of the memory: --memory grants more");
    // A third of it is no more than there is room for, and is held until the end of the replay.
    conversation.messages.resize(12);
    const auto part = part_of(conversation, End::a, kSmallBudget);
    peak.look();
    CHECK(part.has_value());
    return true;
}

bool much_memory(HeapWatch& peak) {
    RecordedConversation conversation;
    for (std::uint32_t i = 0; i < 64; ++i)
        conversation.messages.push_back(access(Verb::write, i, kMemory + (std::uint64_t{i} << 30), 1 << 20, {}));
    const auto memory = recorded_memory(conversation, End::a, kSmallBudget);
    peak.look();
    return !memory.has_value();
}

// A READ of two gigabytes that nobody answered: it is not asked for again.
bool a_large_claim(HeapWatch& peak) {
    RecordedConversation conversation;
    RecordedMessage claim = access(Verb::read_request, 1, kMemory, 1U << 31, {});
    claim.payload = {};
    claim.message.outcome = Outcome::open;
    conversation.messages.push_back(claim);
    const auto part = part_of(conversation, End::b, kSmallBudget);
    peak.look();
    REQUIRE(part.has_value());
    REQUIRE(part->posts.size() == 1);
    return !part->posts[0].playable && part->too_long == 1 &&
           part->most_posted == bytes_beside(kSmallBudget, Beside::waiting);
}

// What there was room for is there as it was added; behind that is nothing.
bool many_rows(HeapWatch& peak) {
    HeldText rows(kSmallBudget);
    std::string added;
    added.reserve(2 * bytes_beside(kSmallBudget, Beside::printed));
    peak = {};  // that is the test's
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        const std::string row = fmt::format("{} a row of what a connection did{:>{}}\n", i, "", mix(i) % 40);
        rows.add(row);
        added += row;
        if (i % 64 == 0) peak.look();
    }
    std::string kept;
    for (const std::string& piece : rows.pieces()) kept += piece;
    CHECK(kept.size() > bytes_beside(kSmallBudget, Beside::printed) / 2);
    CHECK(added.starts_with(kept));
    const bool let_go = rows.let_go();
    rows.clear();
    CHECK_FALSE(rows.let_go());
    CHECK(rows.pieces().empty());
    return let_go;
}

struct Trial {
    Beside row{};
    std::string_view name;
    bool (*run)(HeapWatch& peak);  // whether it was told that there is no room for all
};

constexpr std::array kTrials{
    Trial{Beside::latencies, "many connections", many_connections},
    Trial{Beside::latencies, "ever other durations", many_durations},
    Trial{Beside::latencies, "messages that are outstanding for ever", many_outstanding},
    Trial{Beside::printed, "rows without end", many_rows},
    Trial{Beside::rows, "many packets", many_packets},
    Trial{Beside::waiting, "packets of messages that never end",
          [](HeapWatch& peak) { return packets_that_wait(peak, kWholePacket); }},
    Trial{Beside::waiting, "small packets of such", [](HeapWatch& peak) { return packets_that_wait(peak, 1); }},
    Trial{Beside::waiting, "a READ of two gigabytes", a_large_claim},
    Trial{Beside::conversation, "messages", [](HeapWatch& peak) { return messages_that_end(peak, kWholePacket); }},
    Trial{Beside::conversation, "small messages", [](HeapWatch& peak) { return messages_that_end(peak, 1); }},
    Trial{Beside::memory, "memory that changes", memory_that_changes},
    Trial{Beside::memory, "much memory", much_memory},
};

}  // namespace

TEST_CASE(
    "what is kept beside an analysis stays within its part of the memory, far past its bound, and says what it lacks") {
    for (const BesideRow& row : kBesideRows)
        CHECK((std::ranges::count(kTrials, row.what, &Trial::row) >= 1 ? "" : row.name) == "");
    for (const Trial& trial : kTrials) {
        INFO(trial.name);
        HeapWatch peak;
        CHECK(trial.run(peak));
        if (kSanitized) continue;  // whose heap is another
        INFO(peak.most() / 1024 << " KiB");
        CHECK(peak.most() <= bytes_beside(kSmallBudget, trial.row));
    }
}

TEST_CASE("who is at the ends of connections is known as long as their messages are told, and forgotten with them") {
    constexpr MemoryBudget kLittle{std::uint64_t{16} << 20};
    constexpr std::uint32_t kConnections = 20'000;
    KnownEnds ends;
    std::uint64_t messages = 0, unknown = 0, retired = 0;
    AnalysisSettings settings{.memory = kLittle};
    settings.message = [&](ConnectionId connection, End requester, const Message&) {
        ++messages;
        unknown += ends.end(connection, requester).address == Address{} ||
                   ends.end(connection, other(requester)).address == Address{};
    };
    settings.retired = [&](ConnectionId connection) {
        ++retired;
        ends.forget(connection);
    };
    ShardedAnalysis analysis(std::move(settings), 1, true);
    ShardedBatch batch(1);
    std::size_t most = 0;
    std::uint64_t clock = 0;
    const PacketSpec send = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    for (std::uint32_t i = 0; i < kConnections; ++i) {
        PacketSpec spec = send;
        set(spec, "infiniband.bth.destqp", 0x100 + i);
        set(spec, "ip.id", i & 0xffffU);
        const std::vector<std::byte> bytes = build(spec);
        Frame frame;
        frame.bytes = bytes;
        frame.wire_length = narrow(bytes.size());
        frame.link = LinkType::ethernet;
        frame.index = FrameIndex{++clock};
        frame.time = Instant{static_cast<std::int64_t>(clock * 1000)};
        Packet packet;
        decode(frame, packet);
        batch.clear();
        batch.add(packet, 0);
        analysis.gate(batch);
        analysis.follow(batch, 0);
        analysis.visit(batch, [&](const Observation& observation, const PacketRecord& record, std::size_t) {
            ends.learn(observation, record);
            return true;
        });
        most = std::max(most, ends.size());
    }
    const Timeline timeline = analysis.finish();
    CHECK(messages == kConnections);
    CHECK(unknown == 0);
    CHECK(most <= kLittle.items(Share::connections) + 1);
    CHECK(retired + kLittle.items(Share::connections) >= kConnections);
}
