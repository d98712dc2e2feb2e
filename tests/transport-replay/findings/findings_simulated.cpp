// Findings end to end: scenarios of the simulator, whose truth is known, through the whole analysis. Each has its
// finding, and a scenario that is nearly the same has it not; what only the tap did is never blamed on the network.
#include <tests/simulator/simulation.hpp>
#include <tests/support/analysed.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <string>

#include <fmt/format.h>

using namespace qps::dissect;
using namespace qps::transport;
using qps::tests::analysed;

namespace {

std::string text(const Timeline& timeline) {
    std::string out;
    for (const Finding& finding : timeline.findings)
        out += fmt::format("{} {} {} x{}: {}\n", kSeverityNames[std::to_underlying(finding.severity)], finding.id,
                           kPartyNames[std::to_underlying(finding.party)], finding.count, finding.summary);
    return out;
}

Scenario plain(WorkKind kind = WorkKind::write, std::uint32_t count = 40, std::uint32_t bytes = 4096) {
    Scenario scenario;
    scenario.messages.assign(count, {.kind = kind, .bytes = bytes});
    return scenario;
}
// The k-th packet of end a's requests, or of the responses to it.
Scenario with(Scenario scenario, FaultKind kind, std::uint32_t number, bool response = false) {
    scenario.link.exact.push_back(
        {.kind = kind, .from = response ? End::b : End::a, .psn = scenario.first_psn_a + number, .response = response});
    return scenario;
}
template <class Change> Scenario changed(Scenario scenario, Change change) {
    change(scenario);
    return scenario;
}
Scenario tapped_at_b(Scenario scenario) {
    scenario.tap.place = TapPlace::end_b;
    return scenario;
}
Scenario mistaken(Mistake mistake, WorkKind kind = WorkKind::write) {
    Scenario scenario = plain(kind);
    scenario.messages[20].mistake = mistake;
    return scenario;
}

struct Case {
    std::string_view id;
    Party party;
    Scenario harm;
    Scenario near_miss;
};

constexpr auto kLoss = FaultKind::loss;

std::vector<Case> cases() {
    using S = Scenario&;
    const Scenario rnr = changed(plain(WorkKind::send), [](S s) { s.receives = {10, 10, microseconds(500), 14}; });
    const Scenario marked = changed(plain(), [](S s) {
        s.link.a_to_b.marking = 0.5, s.tap.place = TapPlace::end_b, s.between_posts = microseconds(200);
    });
    // A peer whose own requests show that the tap hears it, and that answers nothing.
    const Scenario gone = changed(
        plain(), [](S s) { s.link.a_to_b.loss = 1, s.messages.push_back({.kind = WorkKind::write, .from = End::b}); });
    const Scenario deep = changed(plain(WorkKind::read, 200), [](S s) { s.initiator_depth = 4; });
    return {
        {"transport-retries-exceeded", Party::responder, gone, changed(gone, [](S s) { s.tap.sees_b_to_a = false; })},
        {"rnr-stall", Party::responder, rnr, plain(WorkKind::send)},
        {"go-back-n-loss", Party::fabric, with(plain(), kLoss, 50), changed(plain(), [](S s) { s.tap.loss = 0.1; })},
        {"ack-timeout", Party::undecided, with(plain(), kLoss, 159), with(plain(), kLoss, 50)},
        {"read-response-lost", Party::fabric, with(plain(WorkKind::read), kLoss, 50, true),
         changed(plain(WorkKind::read), [](S s) { s.tap.loss = 0.05; })},
        {"duplicated-by-network", Party::fabric, tapped_at_b(with(plain(), FaultKind::duplication, 50)),
         changed(plain(), [](S s) { s.tap.twice = true; })},
        {"icrc-wrong", Party::fabric, tapped_at_b(with(plain(), FaultKind::corruption, 50)),
         changed(plain(), [](S s) { s.tap.snap_length = 100; })},
        {"remote-access-error", Party::requester, mistaken(Mistake::wrong_key),
         mistaken(Mistake::too_long, WorkKind::send)},
        {"remote-access-error", Party::undecided, mistaken(Mistake::beyond_region, WorkKind::read),
         plain(WorkKind::read)},
        {"remote-invalid-request", Party::application, mistaken(Mistake::too_long, WorkKind::send),
         mistaken(Mistake::no_right)},
        {"remote-invalid-request", Party::requester, mistaken(Mistake::misaligned, WorkKind::fetch_add),
         plain(WorkKind::fetch_add)},
        {"read-depth-limited", Party::requester, deep, plain(WorkKind::read, 20)},
        {"ecn-congestion", Party::congestion, marked, plain()},
        {"ecn-not-answered", Party::responder, changed(marked, [](S s) { s.notifies_congestion = false; }), marked},
        {"capture-lost-packets", Party::capture, changed(plain(), [](S s) { s.tap.loss = 0.1; }),
         with(plain(), kLoss, 50)},
        {"capture-duplicates", Party::capture, changed(plain(), [](S s) { s.tap.twice = true; }), plain()},
        {"capture-truncated", Party::capture, changed(plain(), [](S s) { s.tap.snap_length = 100; }), plain()},
        {"one-way-capture", Party::capture, changed(plain(), [](S s) { s.tap.sees_b_to_a = false; }), plain()},
    };
}

}  // namespace

TEST_CASE("scenarios have the finding that they were made for, and those that nearly are have it not") {
    for (const Case& one : cases()) {
        const Timeline harmed = analysed(simulate(one.harm));
        INFO(one.id << "\n" << text(harmed));
        const auto found = std::ranges::find(harmed.findings, one.id, &Finding::id);
        CHECK(found != harmed.findings.end());
        if (found != harmed.findings.end()) {
            CHECK(found->party == one.party);
            CHECK((found->party == Party::capture || one.id == "icrc-wrong" || !found->packets.empty()));
        }
        const Timeline missed = analysed(simulate(one.near_miss));
        INFO("near miss\n" << text(missed));
        CHECK(std::ranges::count(missed.findings, one.id, &Finding::id) == 0);
    }
}

TEST_CASE("healthy traffic has no finding above a note") {
    for (const Network network : {Network::roce_v2_ipv4, Network::roce_v2_ipv6, Network::roce_v1})
        for (const WorkKind kind :
             {WorkKind::send, WorkKind::write, WorkKind::write_with_immediate, WorkKind::read, WorkKind::fetch_add})
            for (const TapPlace place : {TapPlace::end_a, TapPlace::middle, TapPlace::end_b}) {
                Scenario scenario = plain(kind, 60, 5000);
                scenario.network = network;
                scenario.queue_pairs = 3;
                scenario.tap.place = place;
                const Timeline timeline = analysed(simulate(scenario));
                INFO(text(timeline));
                CHECK(std::ranges::all_of(timeline.findings,
                                          [](const Finding& finding) { return finding.severity == Severity::note; }));
            }
}

TEST_CASE("what only the tap did is blamed on nobody else, whatever it missed, doubled or cut") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Scenario scenario = plain(seed % 3 == 0   ? WorkKind::read
                                  : seed % 3 == 1 ? WorkKind::write
                                                  : WorkKind::send,
                                  60, 3000);
        scenario.seed = seed;
        scenario.queue_pairs = 1 + static_cast<std::uint32_t>(seed % 3);
        scenario.tap.place = static_cast<TapPlace>(seed % 3);
        scenario.tap.loss = seed % 4 == 0 ? 0 : static_cast<double>(seed % 10) * 0.03;
        scenario.tap.twice = seed % 5 == 0;
        scenario.tap.snap_length = seed % 7 == 0 ? 90 : 0;
        scenario.tap.sees_b_to_a = seed % 11 != 0;
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analysed(simulated);
        INFO("seed " << seed << "\n" << text(timeline));
        for (const Finding& finding : timeline.findings) {
            INFO(finding.id);
            CHECK((finding.party == Party::capture || finding.severity == Severity::note));
            CHECK(finding.party != Party::fabric);
        }
    }
}

TEST_CASE("whenever something was sent again, a finding above a note tells why") {
    constexpr std::array<std::string_view, 6> kWhy{"go-back-n-loss",          "ack-timeout",
                                                   "read-response-lost",      "transport-retries-exceeded",
                                                   "spurious-retransmission", "rnr-stall"};
    int lossy = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Scenario scenario = plain(seed % 3 == 0   ? WorkKind::read
                                  : seed % 3 == 1 ? WorkKind::write
                                                  : WorkKind::send,
                                  60, 3000);
        scenario.seed = seed;
        scenario.tap.place = static_cast<TapPlace>(seed % 3);
        scenario.link.a_to_b.loss = scenario.link.b_to_a.loss = static_cast<double>(seed % 5) * 0.01;
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analysed(simulated);
        std::uint64_t again = 0;
        for (const FlowTruth& flow : simulated.truth.flows) again += flow.seen.retransmitted;
        INFO("seed " << seed << ", " << again << " sent again\n" << text(timeline));
        const bool reported = std::ranges::any_of(timeline.findings, [&](const Finding& finding) {
            return finding.severity != Severity::note && std::ranges::find(kWhy, finding.id) != kWhy.end();
        });
        CHECK(reported == (again != 0));
        lossy += again != 0 ? 1 : 0;
    }
    CHECK(lossy > 20);
}
