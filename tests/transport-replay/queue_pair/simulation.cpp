#include <tests/simulator/simulation.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>

using namespace qps::transport;
using namespace qps::dissect;

namespace {

constexpr std::array kAllKinds{WorkKind::send,      WorkKind::send_with_immediate,  WorkKind::send_with_invalidate,
                               WorkKind::write,     WorkKind::write_with_immediate, WorkKind::read,
                               WorkKind::fetch_add, WorkKind::compare_swap};

// A scenario that the seed alone decides: kinds, sizes, both ways, start near the wrap now and then.
Scenario mixed(std::uint64_t seed, double worst_fault) {
    Draws draws(seed * 7919 + 1);
    Scenario scenario;
    scenario.seed = seed;
    scenario.mtu = static_cast<PathMtu>(1 + draws.below(3));
    const std::uint64_t messages = 3 + draws.below(15);
    for (std::uint64_t i = 0; i < messages; ++i)
        scenario.messages.push_back(
            {.kind = kAllKinds[draws.below(kAllKinds.size())],
             .bytes = static_cast<std::uint32_t>(draws.below(4) == 0 ? draws.below(3) : draws.below(6000)),
             .from = draws.chance(0.7) ? End::a : End::b,
             .fence = draws.chance(0.1)});
    if (draws.chance(0.5)) scenario.first_psn_a = Psn(static_cast<std::uint32_t>(0x1000000 - draws.below(40)));
    scenario.network = kNetworks[draws.below(3)];
    scenario.same_numbers = draws.chance(0.3);
    scenario.queue_pairs = static_cast<std::uint32_t>(1 + draws.below(3));
    scenario.ack_every = static_cast<std::uint32_t>(draws.below(5));
    scenario.window = static_cast<std::uint32_t>(2 + draws.below(60));
    for (LinkFaults* faults : {&scenario.link.a_to_b, &scenario.link.b_to_a}) {
        faults->loss = draws.unit() * worst_fault;
        faults->duplication = draws.unit() * worst_fault;
        faults->reordering = draws.unit() * worst_fault;
        faults->corruption = draws.unit() * worst_fault / 4;
        faults->marking = draws.unit() * worst_fault;
    }
    return scenario;
}

bool all_right(const Truth& truth) {
    return truth.complete && std::ranges::all_of(truth.flows, [](const FlowTruth& flow) {
               return flow.executed == flow.messages.size() &&
                      std::ranges::all_of(flow.messages, [](const MessageTruth& message) {
                          return message.status == CompletionStatus::success && message.content_right;
                      });
           });
}

Scenario sends(std::uint32_t count, std::uint32_t bytes) {
    Scenario scenario;
    scenario.messages.assign(count, {.kind = WorkKind::send, .bytes = bytes});
    return scenario;
}

}  // namespace

TEST_CASE("simulation: without faults everything is sent once, and the tap sees all of it") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Simulated simulated = simulate(mixed(seed, 0));
        INFO("seed " << seed);
        CHECK(all_right(simulated.truth));
        for (const FlowTruth& flow : simulated.truth.flows) {
            CHECK(flow.sent.retransmitted == 0);
            CHECK(flow.sent.sequence_naks == 0);
            CHECK(flow.sent == flow.seen);
        }
    }
}

TEST_CASE("simulation: whatever the network does, every message is executed once and is right") {
    std::uint64_t retransmitted = 0;
    std::uint64_t failed = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Simulated simulated = simulate(mixed(seed, 0.12));
        INFO("seed " << seed);
        // Seven retries may not be enough: then the requester says so, and nothing was executed twice all the same.
        bool exceeded = false;
        for (const FlowTruth& flow : simulated.truth.flows) {
            retransmitted += flow.sent.retransmitted;
            for (const MessageTruth& message : flow.messages) {
                exceeded = exceeded || message.status == CompletionStatus::retry_exceeded;
                CHECK((!message.executed || message.content_right));
            }
            CHECK(flow.executed <= flow.messages.size());
        }
        failed += exceeded ? 1 : 0;
        CHECK((exceeded || all_right(simulated.truth)));
        CHECK(simulated.truth.complete);
    }
    CHECK(retransmitted > 1000);
    CHECK(failed < 10);
}

TEST_CASE("simulation: FLUSH and ATOMIC WRITE are executed once among everything else") {
    std::uint64_t retransmitted = 0;
    for (std::uint64_t seed = 500; seed < 600; ++seed) {
        Scenario scenario = mixed(seed, 0.08);
        for (std::size_t i = 0; i < scenario.messages.size(); ++i) {
            if (i % 3 == 1) scenario.messages[i].kind = WorkKind::atomic_write;
            if (i % 3 == 2) scenario.messages[i].kind = WorkKind::flush;
        }
        const Truth truth = simulate(scenario).truth;
        INFO("seed " << seed);
        CHECK(truth.complete);
        bool exceeded = false;
        for (const FlowTruth& flow : truth.flows) {
            retransmitted += flow.sent.retransmitted;
            for (const MessageTruth& message : flow.messages)
                exceeded = exceeded || message.status == CompletionStatus::retry_exceeded;
        }
        CHECK((exceeded || all_right(truth)));
    }
    CHECK(retransmitted > 200);
}

TEST_CASE("simulation: with hardly any credits everything arrives all the same") {
    std::uint64_t rnr_naks = 0;
    for (std::uint64_t seed = 700; seed < 800; ++seed) {
        Scenario scenario = mixed(seed, seed % 2 == 0 ? 0.06 : 0);
        scenario.credits = true;
        const Truth truth = simulate(scenario).truth;
        INFO("seed " << seed);
        CHECK(truth.complete);
        bool exceeded = false;
        for (const FlowTruth& flow : truth.flows) {
            rnr_naks += flow.sent.rnr_naks;
            for (const MessageTruth& message : flow.messages)
                exceeded = exceeded || message.status == CompletionStatus::retry_exceeded;
        }
        CHECK((exceeded || all_right(truth)));
    }
    CHECK(rnr_naks == 0);
}

TEST_CASE("simulation: loss just under a third, too") {
    int right = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Scenario scenario = sends(20, 1500);
        scenario.seed = seed;
        scenario.link.a_to_b.loss = 0.29;
        if (seed % 2 == 0) scenario.link.b_to_a.loss = 0.1;
        const Simulated simulated = simulate(scenario);
        const FlowTruth& flow = simulated.truth.flows[0];
        const bool exceeded = std::ranges::any_of(
            flow.messages, [](const auto& row) { return row.status == CompletionStatus::retry_exceeded; });
        CHECK((exceeded || all_right(simulated.truth)));
        right += exceeded ? 0 : 1;
    }
    CHECK(right >= 38);
}

TEST_CASE("simulation: the same seed makes the same bytes, another one others") {
    const Simulated first = simulate(mixed(5, 0.1));
    CHECK(first.frames == simulate(mixed(5, 0.1)).frames);
    Scenario other = mixed(5, 0.1);
    other.seed = 6;
    CHECK(first.frames != simulate(other).frames);
}

TEST_CASE("simulation: what the tap misses does not change what the network does") {
    Scenario scenario = mixed(11, 0.1);
    const Simulated whole = simulate(scenario);
    scenario.tap.loss = 0.3;
    scenario.tap.sees_b_to_a = false;
    const Simulated part = simulate(scenario);
    CHECK(part.frames.size() < whole.frames.size());
    CHECK(part.truth.tap.missed > 0);
    for (std::size_t i = 0; i < whole.truth.flows.size(); ++i) {
        CHECK(whole.truth.flows[i].sent == part.truth.flows[i].sent);
        CHECK(part.truth.flows[i].seen.requests <= part.truth.flows[i].sent.requests);
    }
    CHECK(part.truth.flows[0].seen.acknowledges == 0);
}

TEST_CASE("simulation: one lost packet is one sequence NAK and one go-back") {
    Scenario scenario = sends(4, 4096);
    scenario.link.exact.push_back({.kind = FaultKind::loss, .psn = Psn{1005}});
    scenario.tap.place = TapPlace::end_b;
    const Simulated simulated = simulate(scenario);
    const FlowTruth& flow = simulated.truth.flows[0];
    CHECK(all_right(simulated.truth));
    CHECK(flow.sent.sequence_naks == 1);
    CHECK(flow.requester.sequence_naks == 1);
    CHECK(flow.requester.timeouts == 0);
    CHECK(flow.sent.requests == flow.seen.requests + 1);
    CHECK(std::ranges::count_if(flow.requests, [](const Transmission& row) { return row.disposition.lost; }) == 1);
}

TEST_CASE("simulation: the last packet lost is a timeout, and so is a corrupt one") {
    for (FaultKind kind : {FaultKind::loss, FaultKind::corruption}) {
        Scenario scenario = sends(1, 4096);
        scenario.link.exact.push_back({.kind = kind, .psn = Psn{1003}});
        const Simulated simulated = simulate(scenario);
        CHECK(all_right(simulated.truth));
        CHECK(simulated.truth.flows[0].requester.timeouts == 1);
        CHECK(simulated.truth.flows[0].sent.sequence_naks == 0);
    }
}

TEST_CASE("simulation: a responder without receives says so until it has some") {
    Scenario scenario = sends(8, 100);
    scenario.receives = {.initial = 2, .refill = 2, .every = microseconds(3000)};
    const Simulated simulated = simulate(scenario);
    CHECK(all_right(simulated.truth));
    CHECK(simulated.truth.flows[0].sent.rnr_naks >= 3);
    scenario.receives.refill = 0;
    scenario.rnr_retries = 3;
    const Truth failed = simulate(scenario).truth;
    CHECK(failed.complete);
    CHECK(failed.flows[0].sent.rnr_naks == 4);
    CHECK(failed.flows[0].messages[2].status == CompletionStatus::rnr_retry_exceeded);
    CHECK(failed.flows[0].messages[7].status == CompletionStatus::flushed);
}

TEST_CASE("simulation: mistakes are refused for good") {
    struct Row {
        WorkKind kind;
        Mistake mistake;
        CompletionStatus status;
    };
    for (const Row& row :
         {Row{WorkKind::write, Mistake::wrong_key, CompletionStatus::remote_access_error},
          Row{WorkKind::read, Mistake::beyond_region, CompletionStatus::remote_access_error},
          Row{WorkKind::write, Mistake::no_right, CompletionStatus::remote_access_error},
          Row{WorkKind::fetch_add, Mistake::no_right, CompletionStatus::remote_access_error},
          Row{WorkKind::send, Mistake::too_long, CompletionStatus::remote_invalid_request},
          Row{WorkKind::compare_swap, Mistake::misaligned, CompletionStatus::remote_invalid_request}}) {
        Scenario scenario = sends(1, 100);
        scenario.messages.push_back({.kind = row.kind, .bytes = 8, .mistake = row.mistake});
        scenario.messages.push_back({});
        const Truth truth = simulate(scenario).truth;
        CHECK(truth.complete);
        CHECK(truth.flows[0].messages[0].status == CompletionStatus::success);
        CHECK(truth.flows[0].messages[1].status == row.status);
        CHECK(truth.flows[0].messages[2].status == CompletionStatus::flushed);
        CHECK(truth.flows[0].sent.fatal_naks == 1);
        CHECK(truth.flows[0].executed == 1);
    }
}

TEST_CASE("simulation: marked packets are answered by CNPs, not more often than the gap allows") {
    Scenario scenario = sends(40, 8192);
    scenario.link.a_to_b.marking = 0.5;
    const Simulated simulated = simulate(scenario);
    const FlowTruth& flow = simulated.truth.flows[0];
    CHECK(all_right(simulated.truth));
    CHECK(flow.sent.marked > 100);
    CHECK(flow.sent.cnps > 1);
    std::vector<Instant> times;
    for (const Transmission& row : flow.responses)
        if (row.opcode == Opcode::cnp) times.push_back(row.time);
    for (std::size_t i = 1; i < times.size(); ++i)
        CHECK(static_cast<std::int64_t>(times[i]) - static_cast<std::int64_t>(times[i - 1]) >= 49'000);
}

TEST_CASE("simulation: UC and UD lose what the network loses") {
    for (Service service : {Service::uc, Service::ud}) {
        Scenario scenario = sends(50, 700);
        scenario.service = service;
        scenario.link.a_to_b.loss = 0.1;
        const Truth truth = simulate(scenario).truth;
        CHECK(truth.complete);
        CHECK(truth.flows[0].executed < 50);
        CHECK(truth.flows[0].executed > 30);
        CHECK(truth.flows[0].responses.empty());
    }
}

TEST_CASE("simulation: taps that cut, copy twice and start late") {
    Scenario scenario = sends(10, 1000);
    const std::size_t frames = simulate(scenario).frames.size();
    scenario.tap.twice = true;
    scenario.tap.snap_length = 96;
    const Simulated twice = simulate(scenario);
    CHECK(twice.frames.size() == 2 * frames);
    CHECK(twice.truth.tap.mirrored == frames);
    CHECK(std::ranges::all_of(twice.frames, [](const CapturedFrame& frame) { return frame.bytes.size() <= 96; }));
    CHECK(std::ranges::is_sorted(twice.frames, {}, &CapturedFrame::time));
    scenario.tap = {.starts = microseconds(4)};
    CHECK(simulate(scenario).frames.size() < frames);
}

TEST_CASE("simulation: the frames are a capture whose ICRCs are good") {
    Scenario scenario = mixed(3, 0.05);
    for (LinkFaults* faults : {&scenario.link.a_to_b, &scenario.link.b_to_a}) faults->corruption = 0;
    scenario.tap.place = TapPlace::end_b;
    for (Network network : kNetworks) {
        scenario.network = network;
        const Simulated simulated = simulate(scenario);
        CHECK(all_right(simulated.truth));
        for (const CapturedFrame& captured : simulated.frames) {
            Frame frame;
            frame.bytes = captured.bytes;
            frame.wire_length = captured.wire_length;
            frame.link = simulated.link;
            Packet packet;
            decode(frame, packet);
            REQUIRE(packet.icrc.status == CrcStatus::good);
        }
        const qps::test::TemporaryFolder folder;
        CHECK(write_capture(simulated, folder.file("x.pcap")).has_value());
        CHECK(qps::test::read_file(folder.file("x.pcap")).size() > simulated.frames.size() * 60);
    }
}

// Behaviour that nobody thought to assert.
TEST_CASE("simulation: what loss costs") {
    std::string table = "loss  bytes  packets  again  sequence_naks  implied_naks  timeouts  microseconds\n";
    for (double loss : {0.0, 0.001, 0.01, 0.1})
        for (std::uint32_t bytes : {64U, 4096U, 65536U}) {
            Scenario scenario = sends(20, bytes);
            scenario.messages.resize(40, {.kind = WorkKind::read, .bytes = bytes});
            scenario.link.a_to_b.loss = scenario.link.b_to_a.loss = loss;
            const Simulated simulated = simulate(scenario);
            const FlowTruth& flow = simulated.truth.flows[0];
            Instant last{};
            for (const MessageTruth& message : flow.messages) last = std::max(last, message.completed);
            const auto took = static_cast<std::int64_t>(last) - static_cast<std::int64_t>(kSimulationStart);
            table += std::to_string(static_cast<int>(loss * 1000)) + "/1000  " + std::to_string(bytes);
            for (std::uint64_t value :
                 {flow.sent.requests, flow.sent.retransmitted, flow.sent.sequence_naks, flow.requester.implied_naks,
                  flow.requester.timeouts, static_cast<std::uint64_t>(took / 1000)})
                table += "  " + std::to_string(value);
            table += '\n';
        }
    qps::tests::check_golden("transport-replay/golden/loss.txt", table);
}
