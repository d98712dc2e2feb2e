// The reconstruction against the truth: simulated captures of many seeds, with loss, duplication, reordering,
// corruption, RNR, timeouts, poor taps and half views. Where the tap saw it, the report must equal what happened; where
// it did not, the report must not claim more than was seen.
#include <tests/simulator/simulation.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

#include <map>
#include <set>

using namespace qps::transport;
using namespace qps::dissect;

namespace {

constexpr std::array kKinds{WorkKind::send,      WorkKind::send_with_immediate,  WorkKind::send_with_invalidate,
                            WorkKind::write,     WorkKind::write_with_immediate, WorkKind::read,
                            WorkKind::fetch_add, WorkKind::compare_swap};

MessageKind kind_of(WorkKind kind) {
    switch (kind) {
        case WorkKind::write: return MessageKind::write;
        case WorkKind::write_with_immediate: return MessageKind::write_imm;
        case WorkKind::read: return MessageKind::read;
        case WorkKind::fetch_add:
        case WorkKind::compare_swap: return MessageKind::atomic;
        case WorkKind::flush: return MessageKind::flush;
        case WorkKind::atomic_write: return MessageKind::atomic_write;
        default: return MessageKind::send;
    }
}

struct Wish {
    LinkFaults worst{};
    bool reads = true;
    bool both_ways = true;
    bool flushes = false;  // FLUSH and ATOMIC WRITE, too
};

// A scenario that the seed alone decides.
Scenario scenario_of(std::uint64_t seed, const Wish& wish) {
    Draws draws(seed * 104'729 + 7);
    Scenario scenario;
    scenario.seed = seed;
    scenario.mtu = static_cast<PathMtu>(1 + draws.below(4));
    const std::uint64_t messages = 4 + draws.below(20);
    for (std::uint64_t i = 0; i < messages; ++i) {
        WorkKind kind = kKinds[draws.below(kKinds.size())];
        if (wish.flushes && draws.chance(0.3)) kind = draws.chance(0.5) ? WorkKind::flush : WorkKind::atomic_write;
        if (!wish.reads && kind_of(kind) != MessageKind::write) kind = WorkKind::send;
        scenario.messages.push_back(
            {.kind = kind,
             .bytes = static_cast<std::uint32_t>(draws.below(4) == 0 ? draws.below(3) : draws.below(9000)),
             .from = !wish.both_ways || draws.chance(0.7) ? End::a : End::b});
    }
    if (draws.chance(0.4)) scenario.first_psn_a = Psn(static_cast<std::uint32_t>(0x1000000 - draws.below(60)));
    scenario.network = kNetworks[draws.below(3)];
    scenario.same_numbers = draws.chance(0.3);
    scenario.queue_pairs = static_cast<std::uint32_t>(1 + draws.below(4));
    scenario.ack_every = static_cast<std::uint32_t>(draws.below(5));
    scenario.window = static_cast<std::uint32_t>(2 + draws.below(100));
    scenario.between_posts = draws.chance(0.5) ? microseconds(static_cast<std::int64_t>(draws.below(100))) : Duration{};
    for (LinkFaults* faults : {&scenario.link.a_to_b, &scenario.link.b_to_a})
        *faults = {draws.unit() * wish.worst.loss, draws.unit() * wish.worst.duplication,
                   draws.unit() * wish.worst.reordering, draws.unit() * wish.worst.corruption,
                   draws.unit() * wish.worst.marking};
    scenario.tap.place = static_cast<TapPlace>(draws.below(3));
    return scenario;
}

Timeline analyse(const Simulated& simulated) {
    Analysis analysis;
    Packet packet;
    Observation observation;
    Frame frame;
    std::uint64_t number = 0;
    for (const CapturedFrame& captured : simulated.frames) {
        frame = {};
        frame.index = FrameIndex{++number};
        frame.time = captured.time;
        frame.wire_length = captured.wire_length;
        frame.bytes = captured.bytes;
        frame.link = simulated.link;
        decode(frame, packet);
        observe(packet, observation);
        analysis.observe(observation);
    }
    return analysis.finish();
}

// What the tap has of one way.
struct Seen {
    std::uint64_t requests = 0;
    std::uint64_t repeated = 0;  // requests whose PSN it had before
    std::uint64_t answers = 0;
    std::uint64_t acks = 0, sequence_naks = 0, rnr_naks = 0, fatal_naks = 0;
    std::uint64_t skipped = 0;  // PSNs jumped over, where arrivals are in the order of sending
    std::array<std::uint64_t, kMessageKindNames.size()> messages{};
    std::uint64_t succeeded = 0;
};

Seen seen_of(const FlowTruth& flow, bool mirrored) {
    Seen seen;
    std::set<std::uint32_t> psns, holes;
    std::optional<Psn> next;
    const auto copies = [&](const Transmission& sent) {
        return mirrored ? std::min(sent.disposition.recorded, 1U) : sent.disposition.recorded;
    };
    for (const Transmission& sent : flow.requests) {
        if (copies(sent) == 0) continue;
        seen.requests += copies(sent);
        seen.repeated += copies(sent) - (psns.insert(sent.psn.value()).second ? 1 : 0);
        for (Psn psn = next.value_or(sent.psn); psn.before(sent.psn); psn = psn + 1)
            seen.skipped += holes.insert(psn.value()).second ? 1U : 0U;
        const bool fills = holes.erase(sent.psn.value()) != 0;
        Psn behind = sent.psn + 1;
        for (const MessageTruth& message : flow.messages)
            if (message.kind == WorkKind::read && !sent.psn.before(message.first) && !message.last.before(sent.psn))
                behind = message.last + 1;
        for (Psn psn = sent.psn + 1; fills && psn.before(behind); psn = psn + 1)
            seen.skipped -= holes.erase(psn.value());  // one packet
        if (!next || next->before(behind)) next = behind;
    }
    for (const Transmission& sent : flow.responses) {
        seen.answers += copies(sent);
        if (info(sent.opcode).verb != Verb::acknowledge) continue;
        const Acknowledgment acknowledgment{sent.syndrome, Msn{}};
        if (acknowledgment.type() == 0) seen.acks += copies(sent);
        if (acknowledgment.type() == 1) seen.rnr_naks += copies(sent);
        if (acknowledgment.type() == 3)
            (acknowledgment.code() == 0 ? seen.sequence_naks : seen.fatal_naks) += copies(sent);
    }
    for (const MessageTruth& message : flow.messages) {
        if (!message.status && message.first == Psn{} && message.last == Psn{})
            continue;  // never sent: its PSNs are not set
        const bool there = std::ranges::any_of(
            psns, [&](std::uint32_t psn) { return !Psn(psn).before(message.first) && !message.last.before(Psn(psn)); });
        MessageKind kind = kind_of(message.kind);
        if (kind == MessageKind::write_imm && !psns.contains(message.last.value()))
            kind = MessageKind::write;  // the immediate was not seen
        if (there) ++seen.messages[static_cast<std::size_t>(kind)];
        if (there && message.status == CompletionStatus::success) ++seen.succeeded;
    }
    return seen;
}

// The way of the connection that carries the requests of this flow; nothing where the capture has none of it.
struct Found {
    const Connection* connection = nullptr;
    End from{};
    [[nodiscard]] const Way& requests() const { return connection->way(from); }
    [[nodiscard]] const Way& answers() const { return connection->way(other(from)); }
};

Found find(const Timeline& timeline, const FlowTruth& flow, Network network) {
    for (const Connection& connection : timeline.connections)
        for (const End from : {End::a, End::b}) {
            if (connection.end(from).address != address_of(flow.from, network)) continue;
            if (connection.end(other(from)).address != address_of(other(flow.from), network)) continue;
            if (connection.end(other(from)).qpn == flow.responder_qp) return {&connection, from};
        }
    return {};
}

void check_sums(const Timeline& timeline) {
    std::uint64_t retransmitted = 0;
    for (const Connection& connection : timeline.connections)
        for (const Way& way : connection.ways) {
            retransmitted += way.incidents->retransmitted;
            for (const Gaps& gaps : {way.incidents->gaps, way.incidents->response_gaps})
                CHECK(gaps.skipped == gaps.reordered + gaps.network + gaps.tap + gaps.undecided);
            CHECK(way.all_messages() == way.completed + way.incidents->failed + way.incidents->abandoned + way.open);
        }
    CHECK(retransmitted == timeline.totals.retransmitted_packets);
}

bool worse_than_note(const Finding& finding) { return finding.severity != Severity::note; }

// Everything that holds where the tap has both ways, all of the time, and nothing is corrupt.
void check_whole(const Scenario& scenario, const Simulated& simulated, const Timeline& timeline) {
    check_sums(timeline);
    for (const FlowTruth& flow : simulated.truth.flows) {
        const Seen seen = seen_of(flow, scenario.tap.twice);
        const Found found = find(timeline, flow, scenario.network);
        if (seen.requests == 0) continue;
        REQUIRE(found.connection != nullptr);
        INFO("flow from " << (flow.from == End::a ? 'a' : 'b') << " to qp " << std::to_underlying(flow.responder_qp));
        CHECK(found.requests().requests == seen.requests);
        CHECK(found.requests().incidents->retransmitted + found.requests().incidents->doubled.identified ==
              seen.repeated);
        CHECK(found.answers().acks == seen.acks);
        CHECK(found.answers().incidents->sequence_naks == seen.sequence_naks);
        CHECK(found.answers().incidents->rnr_naks == seen.rnr_naks);
        CHECK(found.answers().incidents->fatal_naks == seen.fatal_naks);
        CHECK(found.requests().messages == seen.messages);
        CHECK(found.requests().incidents->gaps.tap == 0);
        CHECK(found.answers().incidents->response_gaps.tap == 0);
        if (!simulated.truth.complete || scenario.service != Service::rc) continue;
        if (seen.fatal_naks == 0) CHECK(found.requests().completed == seen.succeeded);
        else CHECK(found.requests().completed >= seen.succeeded);  // some were answered while the NAK was on its way
        if (seen.answers == 0) continue;
        CHECK(found.connection->confidence != Confidence::none);
        CHECK(found.connection->end(found.from).qpn == flow.requester_qp);
    }
}

bool tap_at(const Scenario& scenario, End end) {
    return scenario.tap.place == (end == End::a ? TapPlace::end_a : TapPlace::end_b);
}

constexpr std::uint64_t kSeeds = qps::tests::kSanitized ? 20 : 60;  // of each test

template <class Check> void for_seeds(std::uint64_t from, const Wish& wish, const Check& check) {
    for (std::uint64_t seed = from; seed < from + kSeeds; ++seed) {
        INFO("seed " << seed);
        Scenario scenario = scenario_of(seed, wish);
        check(scenario);
    }
}

}  // namespace

TEST_CASE("property: calm traffic is all completed, and nothing is found worse than a note") {
    for_seeds(1000, {}, [](Scenario& scenario) {
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_whole(scenario, simulated, timeline);
        CHECK(timeline.recoveries.empty());
        CHECK(timeline.totals.retransmitted_packets == 0);
        for (const Finding& finding : timeline.findings) {
            INFO(finding.id << ": " << finding.summary);
            CHECK_FALSE(worse_than_note(finding));
        }
    });
}

TEST_CASE("property: loss: every NAK and every timeout is a retransmission episode, every gap is the network's") {
    for_seeds(2000, {.worst = {.loss = 0.08}}, [](Scenario& scenario) {
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_whole(scenario, simulated, timeline);
        for (const FlowTruth& flow : simulated.truth.flows) {
            const Found found = find(timeline, flow, scenario.network);
            if (found.connection == nullptr || !simulated.truth.complete) continue;
            const Gaps& gaps = found.requests().incidents->gaps;
            CHECK(gaps.skipped == seen_of(flow, false).skipped);
            CHECK(gaps.network == gaps.skipped);
            if (tap_at(scenario, flow.from))
                CHECK(found.requests().incidents->recovery(RecoveryKind::timeout).triggers == flow.requester.timeouts);
        }
    });
}

TEST_CASE("property: loss, duplication and reordering together") {
    for_seeds(3000, {.worst = {.loss = 0.06, .duplication = 0.06, .reordering = 0.06, .marking = 0.1}},
              [](Scenario& scenario) {
                  const Simulated simulated = simulate(scenario);
                  check_whole(scenario, simulated, analyse(simulated));
              });
}

TEST_CASE("property: FLUSH and ATOMIC WRITE among the others, with and without loss") {
    for_seeds(3200, {.worst = {.loss = 0.05, .duplication = 0.03}, .flushes = true}, [](Scenario& scenario) {
        if (scenario.seed % 2 == 0) scenario.link.a_to_b = scenario.link.b_to_a = {};
        const Simulated simulated = simulate(scenario);
        check_whole(scenario, simulated, analyse(simulated));
    });
}

TEST_CASE("property: reordering alone is no loss where nobody asked for anything") {
    for_seeds(3500, {.worst = {.duplication = 0.05, .reordering = 0.1}, .reads = false}, [](Scenario& scenario) {
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_whole(scenario, simulated, timeline);
        for (const Connection& connection : timeline.connections)
            for (const End end : {End::a, End::b})
                if (connection.way(other(end)).incidents->sequence_naks == 0 &&
                    connection.way(end).incidents->recovery(RecoveryKind::timeout).episodes == 0)
                    CHECK(connection.way(end).incidents->gaps.network == 0);
    });
}

TEST_CASE("property: a responder without receives") {
    for_seeds(4000, {.worst = {.loss = 0.02}}, [](Scenario& scenario) {
        scenario.receives = {.initial = 2, .refill = 2, .every = microseconds(400), .rnr_timer = 6};
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_whole(scenario, simulated, timeline);
        std::uint64_t triggers_reported = 0;
        for (const Recovery& recovery : timeline.recoveries)
            if (recovery.kind == RecoveryKind::rnr_nak) triggers_reported += recovery.triggers;
        CHECK(triggers_reported == timeline.totals.rnr_naks);
    });
}

TEST_CASE("property: a peer that is gone: retries are counted, and the end of them is told") {
    for_seeds(5000, {.both_ways = false}, [](Scenario& scenario) {
        scenario.link.a_to_b.loss = 1;
        scenario.retries = static_cast<std::uint8_t>(1 + scenario.seed % 7);
        scenario.tap.place = TapPlace::end_a;
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_whole(scenario, simulated, timeline);
        for (const FlowTruth& flow : simulated.truth.flows) {
            if (flow.messages.empty()) continue;
            const Found found = find(timeline, flow, scenario.network);
            REQUIRE(found.connection != nullptr);
            const auto record = std::ranges::find(timeline.recoveries, found.connection->uid, &Recovery::connection);
            REQUIRE(record != timeline.recoveries.end());
            CHECK(record->triggers == scenario.retries);
            CHECK(record->inferred);  // nothing was heard of that host
            REQUIRE(record->interval);
            const auto exponents = timeout_exponents(*record->interval);
            REQUIRE(exponents);
            CHECK(exponents->least <= scenario.ack_timeout);
            CHECK(exponents->most >= scenario.ack_timeout);
        }
    });
}

TEST_CASE("property: requests that are refused for good") {
    for_seeds(6000, {.worst = {.loss = 0.01}, .both_ways = false}, [](Scenario& scenario) {
        constexpr std::array kMistakes{Mistake::wrong_key, Mistake::beyond_region, Mistake::no_right};
        MessagePlan& plan = scenario.messages[scenario.seed % scenario.messages.size()];
        plan = {.kind = scenario.seed % 2 == 0 ? WorkKind::write : WorkKind::read,
                .bytes = 3000,
                .mistake = kMistakes[scenario.seed % 3]};
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_whole(scenario, simulated, timeline);
        std::size_t refused = 0;
        for (const FlowTruth& flow : simulated.truth.flows)
            if (seen_of(flow, false).fatal_naks != 0) ++refused;
        CHECK(timeline.fatalities.size() == refused);
        for (const Fatality& fatality : timeline.fatalities) {
            CHECK(fatality.nak_code == 2);
            if (!fatality.request) continue;
            CHECK(fatality.request->bytes <= 3000);
            REQUIRE(fatality.request->access);
        }
    });
}

TEST_CASE("property: what only the tap lost is never called a loss of the network") {
    for_seeds(7000, {}, [](Scenario& scenario) {
        scenario.tap.loss = 0.02 + 0.001 * static_cast<double>(scenario.seed % 50);
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_sums(timeline);
        for (const FlowTruth& flow : simulated.truth.flows) {
            const Found found = find(timeline, flow, scenario.network);
            if (found.connection == nullptr) continue;
            CHECK(found.requests().incidents->gaps.network == 0);
            CHECK(found.requests().incidents->gaps.reordered == 0);
            CHECK(found.answers().incidents->response_gaps.network == 0);
            CHECK(found.requests().incidents->retransmitted == 0);
            CHECK(found.requests().incidents->recovery(RecoveryKind::timeout).episodes == 0);
        }
        for (const Finding& finding : timeline.findings) {
            INFO(finding.id << ": " << finding.summary);
            CHECK(finding.party != Party::fabric);
            CHECK(finding.severity != Severity::error);
        }
    });
}

TEST_CASE("property: a network that loses and a tap that does: counts of packets stay right") {
    for_seeds(8000, {.worst = {.loss = 0.05}}, [](Scenario& scenario) {
        scenario.tap.loss = 0.03;
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_sums(timeline);
        for (const FlowTruth& flow : simulated.truth.flows) {
            const Seen seen = seen_of(flow, false);
            const Found found = find(timeline, flow, scenario.network);
            if (found.connection == nullptr || seen.requests == 0) continue;
            CHECK(found.requests().requests == seen.requests);
            CHECK(found.answers().incidents->sequence_naks == seen.sequence_naks);
            CHECK(found.requests().incidents->retransmitted + found.requests().incidents->doubled.identified >=
                  seen.repeated);
            CHECK(found.requests().completed <= flow.messages.size());
        }
    });
}

TEST_CASE("property: one way only: nothing is known of answers, and it is said so") {
    for_seeds(9000, {.worst = {.loss = 0.05}, .both_ways = false}, [](Scenario& scenario) {
        scenario.tap.sees_b_to_a = false;
        scenario.tap.place = TapPlace::end_a;
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_sums(timeline);
        for (const FlowTruth& flow : simulated.truth.flows) {
            const Seen seen = seen_of(flow, false);
            const Found found = find(timeline, flow, scenario.network);
            if (seen.requests == 0) continue;
            REQUIRE(found.connection != nullptr);
            CHECK(found.connection->confidence == Confidence::none);
            CHECK(found.requests().incidents->retransmitted + found.requests().incidents->doubled.identified ==
                  seen.repeated);
            CHECK(found.requests().completed == 0);
            // The rest of a READ, asked for again, looks like a READ of its own where nothing told how many PSNs it
            // has.
            constexpr auto kReads = static_cast<std::size_t>(MessageKind::read);
            for (std::size_t kind = 0; kind < seen.messages.size(); ++kind) {
                if (kind == kReads) CHECK(found.requests().messages[kind] >= seen.messages[kind]);
                else CHECK(found.requests().messages[kind] == seen.messages[kind]);
            }
        }
        CHECK(std::ranges::all_of(timeline.recoveries, &Recovery::inferred));
    });
}

TEST_CASE("property: answers only") {
    for_seeds(9500, {.worst = {.loss = 0.05}, .both_ways = false}, [](Scenario& scenario) {
        scenario.tap.sees_a_to_b = false;
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_sums(timeline);
        CHECK(timeline.recoveries.empty());
        CHECK(timeline.totals.retransmitted_packets == 0);
        for (const Connection& connection : timeline.connections) CHECK(connection.ways[0].incidents->gaps == Gaps{});
    });
}

TEST_CASE("property: the copies of a mirror change nothing") {
    for_seeds(10'000, {.worst = {.loss = 0.03}}, [](Scenario& scenario) {
        scenario.network = Network::roce_v2_ipv4;
        const Timeline once = analyse(simulate(scenario));
        scenario.tap.twice = true;
        const Simulated simulated = simulate(scenario);
        const Timeline twice = analyse(simulated);
        check_sums(twice);
        CHECK(twice.connections.size() == once.connections.size());
        CHECK(twice.totals.messages == once.totals.messages);
        CHECK(twice.totals.sequence_naks <= once.totals.sequence_naks + 26);
    });
}

TEST_CASE("property: packets that were cut tell the same as whole ones") {
    for_seeds(11'000, {.worst = {.loss = 0.04}}, [](Scenario& scenario) {
        scenario.network =
            Network::roce_v2_ipv4;  // whose identification tells what was sent again from what was doubled
        const Timeline whole = analyse(simulate(scenario));
        scenario.tap.snap_length = 128;
        const Timeline cut = analyse(simulate(scenario));
        CHECK(cut.totals.messages == whole.totals.messages);
        CHECK(cut.totals.message_bytes == whole.totals.message_bytes);
        CHECK(cut.totals.retransmitted_packets == whole.totals.retransmitted_packets);
        CHECK(cut.recoveries.size() == whole.recoveries.size());
        CHECK(cut.connections.size() == whole.connections.size());
    });
}

TEST_CASE("property: a capture that starts in the middle finds the pairs and invents no loss") {
    for_seeds(12'000, {}, [](Scenario& scenario) {
        scenario.between_posts = microseconds(20);
        scenario.tap.starts = microseconds(60);
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_sums(timeline);
        CHECK(timeline.totals.retransmitted_packets == 0);
        CHECK(timeline.recoveries.empty());
        for (const Connection& connection : timeline.connections)
            for (const Way& way : connection.ways) CHECK(way.incidents->gaps.network == 0);
    });
}

TEST_CASE("property: corruption: no packet with a wrong ICRC is believed") {
    for_seeds(13'000, {.worst = {.loss = 0.01, .corruption = 0.04}}, [](Scenario& scenario) {
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_sums(timeline);
        std::uint64_t corrupt = 0;
        for (const FlowTruth& flow : simulated.truth.flows)
            for (const auto* sent : {&flow.requests, &flow.responses})
                for (const Transmission& transmission : *sent)
                    if (transmission.disposition.corrupted) corrupt += transmission.disposition.recorded;
        CHECK(timeline.quality.icrc_bad <= corrupt);
        for (const FlowTruth& flow : simulated.truth.flows) {
            const Seen seen = seen_of(flow, false);
            const Found found = find(timeline, flow, scenario.network);
            if (found.connection == nullptr || seen.requests == 0 || !simulated.truth.complete) continue;
            CHECK(found.requests().completed == seen.succeeded);
            const std::uint64_t difference = found.requests().incidents->retransmitted > seen.repeated
                                                 ? found.requests().incidents->retransmitted - seen.repeated
                                                 : seen.repeated - found.requests().incidents->retransmitted;
            CHECK(difference <= timeline.quality.icrc_bad);
        }
    });
}

TEST_CASE("property: UC and UD") {
    for_seeds(14'000, {.worst = {.loss = 0.05}, .reads = false}, [](Scenario& scenario) {
        scenario.service = scenario.seed % 2 == 0 ? Service::uc : Service::ud;
        if (scenario.service == Service::ud)
            for (MessagePlan& plan : scenario.messages)
                plan = {.kind = WorkKind::send, .bytes = plan.bytes % bytes_of(scenario.mtu), .from = plan.from};
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analyse(simulated);
        check_sums(timeline);
        CHECK(timeline.totals.retransmitted_packets == 0);
        CHECK(timeline.recoveries.empty());
        for (const FlowTruth& flow : simulated.truth.flows) {
            const Seen seen = seen_of(flow, false);
            const Found found = find(timeline, flow, scenario.network);
            if (seen.requests == 0) continue;
            REQUIRE(found.connection != nullptr);
            CHECK(found.requests().requests == seen.requests);
            if (scenario.service == Service::ud) CHECK(found.requests().messages == seen.messages);
        }
    });
}
