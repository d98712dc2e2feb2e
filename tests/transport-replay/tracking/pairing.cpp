// Which flows belong together where it is hard to tell: queue pairs that all begin with the same PSN, numbers that are
// used again, both ends with the same numbers, one host with itself.
#include <tests/support/analysed_wire.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <map>
#include <random>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

// Queue pair i of host 1 is 100 + i, its peer at host 2 is 500 + i.
void check_pairs(const Timeline& timeline, std::size_t pairs) {
    REQUIRE(timeline.connections.size() == pairs);
    for (const Connection& connection : timeline.connections) {
        REQUIRE(connection.ends[0].qpn);
        REQUIRE(connection.ends[1].qpn);
        CHECK(std::to_underlying(*connection.ends[0].qpn) + 400 == std::to_underlying(*connection.ends[1].qpn));
        CHECK(connection.way(End::a).open == 0);
    }
}

}  // namespace

TEST_CASE("queue pairs that all begin with PSN 0 are told apart by when their requests are answered") {
    constexpr std::uint32_t kPairs = 32;
    constexpr std::uint32_t kMessages = 40;
    AnalysedWire wire;
    std::mt19937 random(7);
    std::multimap<std::uint64_t, std::pair<std::uint32_t, bool>> agenda;  // nanoseconds: which pair asks, or answers
    std::vector<std::uint32_t> sent(kPairs), answered(kPairs);
    for (std::uint32_t i = 0; i < kPairs; ++i) {
        std::uint64_t at = 0;
        for (std::uint32_t n = 0; n < kMessages; ++n) {
            at += 1000 + random() % 60'000;
            agenda.emplace(at, std::pair(i, false));
            agenda.emplace(at + 20'000 + random() % 2000, std::pair(i, true));
        }
    }
    for (const auto& [at, event] : agenda) {
        const auto [i, answers] = event;
        wire.nanoseconds = at;
        if (answers) wire.packet(2, 1, 100 + i, kRcAcknowledge, answered[i]++);
        else wire.packet(1, 2, 500 + i, kRcSendOnly, sent[i]++);
    }
    const Timeline timeline = wire.analysis.finish();
    check_pairs(timeline, kPairs);
    CHECK(timeline.totals.acks == kPairs * kMessages);
    CHECK(std::ranges::any_of(timeline.connections,
                              [](const Connection& c) { return c.confidence == Confidence::likely; }));
}

TEST_CASE("queue pairs in lockstep with the same PSNs stay apart rather than be joined at random") {
    constexpr std::uint32_t kPairs = 4;
    AnalysedWire wire;
    for (std::uint32_t psn = 0; psn < 10; ++psn) {
        for (std::uint32_t i = 0; i < kPairs; ++i) wire.packet(1, 2, 500 + i, kRcSendOnly, psn);
        for (std::uint32_t i = 0; i < kPairs; ++i) wire.packet(2, 1, 100 + i, kRcAcknowledge, psn);
    }
    const Timeline timeline = wire.analysis.finish();
    for (const Connection& connection : timeline.connections) {
        const bool joined = connection.ends[0].qpn && connection.ends[1].qpn;
        if (joined)
            CHECK(std::to_underlying(*connection.ends[0].qpn) + 400 == std::to_underlying(*connection.ends[1].qpn));
        else CHECK(connection.confidence == Confidence::none);
    }
    CHECK(timeline.totals.acks == 40);
    CHECK(timeline.totals.messages[0] == 40);
}

TEST_CASE("a queue pair number that is used again far from its last PSN is a new beginning, not a loss") {
    AnalysedWire wire;
    for (std::uint32_t psn = 10; psn < 20; ++psn) {
        wire.packet(1, 2, 500, kRcSendOnly, psn);
        wire.packet(2, 1, 100, kRcAcknowledge, psn);
    }
    for (std::uint32_t psn = 9'000'000; psn < 9'000'010; ++psn) {
        wire.packet(1, 2, 500, kRcSendOnly, psn);
        wire.packet(2, 1, 100, kRcAcknowledge, psn);
    }
    const Timeline timeline = wire.analysis.finish();
    CHECK(timeline.totals.messages[0] == 20);
    CHECK(timeline.totals.retransmitted_packets == 0);
    CHECK(timeline.connections[0].way(End::a).incidents->gaps == Gaps{});
    CHECK(timeline.connections[0].way(End::a).completed == 20);
}

TEST_CASE("a host that talks to itself has connections like any other") {
    AnalysedWire wire;
    for (std::uint32_t psn = 40; psn < 44; ++psn) {
        wire.packet(1, 1, 500, kRcSendOnly, psn);
        wire.packet(1, 1, 100, kRcAcknowledge, psn);
    }
    check_pairs(wire.analysis.finish(), 1);
}

TEST_CASE("two UC flows the other way leave it open which one belongs to a third") {
    AnalysedWire wire;
    wire.packet(1, 2, 500, kUcSendOnly, 1);
    wire.packet(1, 2, 501, kUcSendOnly, 1);
    wire.packet(2, 1, 100, kUcSendOnly, 1);
    CHECK(wire.analysis.finish().connections.size() == 3);
    AnalysedWire clear;
    clear.packet(1, 2, 500, kUcSendOnly, 1);
    clear.packet(2, 1, 100, kUcSendOnly, 1);
    check_pairs(clear.analysis.finish(), 1);
}

TEST_CASE("answers that came before anybody knew whose they are count once it is known") {
    AnalysedWire wire;
    for (std::uint32_t psn = 0; psn < 3; ++psn)
        for (std::uint32_t i = 0; i < 2; ++i) wire.packet(1, 2, 500 + i, kRcSendOnly, psn);
    for (std::uint32_t psn = 0; psn < 3; ++psn)
        for (std::uint32_t i = 0; i < 2; ++i) wire.packet(2, 1, 100 + i, kRcAcknowledge, psn);
    wire.packet(1, 2, 501, kRcSendOnly, 3);  // only the second goes on
    wire.packet(2, 1, 101, kRcAcknowledge, 3);
    const Timeline timeline = wire.analysis.finish();
    check_pairs(timeline, 2);
    CHECK(timeline.totals.acks == 7);
}

TEST_CASE("queue pair numbers that CM sets up anew are another connection, with its own first PSN") {
    // Messages that the responder of the second took: of the three that were due by the first PSN, the tap saw one.
    // Where it took one only, its requester began two PSNs ahead of what CM announced, and nothing is missing.
    const std::uint32_t taken = GENERATE(1U, 3U);
    Tracker tracker(false);
    std::uint64_t clock = 0;
    const auto packet = [&](std::uint32_t from, std::uint32_t to, std::uint32_t qp, std::uint8_t opcode,
                            std::uint32_t psn, std::uint32_t counted = 1) {
        Observation made;
        made.kind = ObservationKind::transport;
        made.frame = FrameIndex{++clock};
        made.time = Instant{static_cast<std::int64_t>(clock) * 1000};
        made.flow = {AnalysedWire::host(from), AnalysedWire::host(to), Qpn{qp}, {}};
        made.flow_hash = FlowHash{}(made.flow);
        made.opcode = static_cast<Opcode>(opcode);
        made.psn = Psn(psn);
        made.payload_length = opcode == kRcAcknowledge ? 0 : 16;
        if (opcode == kRcAcknowledge) made.acknowledgment = Acknowledgment{0, Msn{counted}};
        PacketRecord record;
        tracker.observe(made, Repetition::none, {}, record);
        return record;
    };
    CmAttempt attempt;
    const auto side = [](CmSide& which, std::uint32_t host, std::uint32_t qp, std::uint32_t psn) {
        which.address = AnalysedWire::host(host);
        which.qpn = Qpn{qp};
        which.starting_psn = Psn(psn);
    };
    side(attempt.active, 1, 100, 70);
    side(attempt.passive, 2, 500, 50);  // where the active side is to begin
    attempt.service = CmService::rc;
    tracker.connect(attempt);
    CHECK(packet(1, 2, 500, kRcSendOnly, 50).connection == ConnectionId{1});
    CHECK(packet(2, 1, 100, kRcAcknowledge, 50).connection == ConnectionId{1});
    packet(1, 2, 500, kRcSendOnly, 51);  // never answered: the connection goes down with it
    attempt.uid = 1;
    attempt.passive.starting_psn = Psn(40);  // close to the old one: only CM tells them apart
    tracker.connect(attempt);
    CHECK(packet(1, 2, 500, kRcSendOnly, 42).missing == 2);  // 40 and 41 were due
    CHECK(packet(2, 1, 100, kRcAcknowledge, 42, taken).connection == ConnectionId{2});
    const Tracked tracked = tracker.finish([] {});
    REQUIRE(tracked.connections.size() == 2);
    CHECK(tracked.connections[0].released);
    CHECK(tracked.connections[0].way(End::a).completed == 1);
    CHECK(tracked.connections[0].way(End::a).incidents->abandoned == 1);
    CHECK(tracked.connections[1].way(End::a).incidents->gaps == (taken == 3 ? Gaps{.skipped = 2, .tap = 2} : Gaps{}));
    CHECK(tracked.connections[1].way(End::a).incidents->retransmitted == 0);
}

TEST_CASE(
    "a DREQ ends the connection of the queue pair that it names, though nothing else of the set-up was captured") {
    for (const std::uint32_t named : {100U, 101U}) {
        Tracker tracker(false);
        std::uint64_t clock = 0;
        const auto packet = [&](std::uint32_t from, std::uint32_t to, std::uint32_t qp, std::uint8_t opcode) {
            Observation made;
            made.kind = ObservationKind::transport;
            made.frame = FrameIndex{++clock};
            made.time = Instant{static_cast<std::int64_t>(clock) * 1000};
            made.flow = {AnalysedWire::host(from), AnalysedWire::host(to), Qpn{qp}, {}};
            made.flow_hash = FlowHash{}(made.flow);
            made.opcode = static_cast<Opcode>(opcode);
            made.psn = Psn(50);
            if (opcode == kRcAcknowledge) made.acknowledgment = Acknowledgment{0, Msn{1}};
            PacketRecord record;
            tracker.observe(made, Repetition::none, {}, record);
        };
        packet(1, 2, 500, kRcSendOnly);
        packet(2, 1, 100, kRcAcknowledge);
        CmAttempt attempt;
        attempt.active.address = AnalysedWire::host(1);
        attempt.active.qpn = Qpn{named};
        attempt.passive.address = AnalysedWire::host(2);
        tracker.release(attempt);
        const Tracked tracked = tracker.finish([] {});
        REQUIRE(tracked.connections.size() == 1);
        CHECK(tracked.connections[0].released == (named == 100));
    }
}
