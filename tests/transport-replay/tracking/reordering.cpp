// Reordering against the truth: packets that were only late are never called lost, by any tap, whether the ends go back
// N or repeat selectively; and what was lost among them is not called late.
#include <tests/support/analysed.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <set>
#include <string>

using namespace qps::transport;
using namespace qps::dissect;
using qps::tests::analysed;

namespace {

constexpr std::uint64_t kReorderingSeeds = qps::tests::share(400);
constexpr std::uint64_t kLossSeeds = 100;

// A scenario that the seed alone decides.
Scenario reordering_scenario(std::uint64_t seed, double loss, bool identified) {
    Draws draws(seed * 7919 + 11);
    Scenario scenario;
    scenario.seed = seed;
    scenario.counts_identifications = identified;
    scenario.network = identified || draws.chance(0.5) ? Network::roce_v2_ipv4
                       : draws.chance(0.5)             ? Network::roce_v2_ipv6
                                                       : Network::roce_v1;
    const std::uint64_t messages = 10 + draws.below(40);
    for (std::uint64_t i = 0; i < messages; ++i)
        scenario.messages.push_back({.kind = draws.chance(0.5) ? WorkKind::write : WorkKind::send,
                                     .bytes = static_cast<std::uint32_t>(draws.below(9000)),
                                     .from = draws.chance(0.8) ? End::a : End::b});
    if (draws.chance(0.3)) scenario.first_psn_a = Psn(static_cast<std::uint32_t>(0x1000000 - draws.below(60)));
    scenario.selective_repeat = draws.chance(0.4);
    scenario.queue_pairs = static_cast<std::uint32_t>(1 + draws.below(3));
    scenario.window = static_cast<std::uint32_t>(8 + draws.below(100));
    scenario.between_posts = draws.chance(0.5) ? microseconds(static_cast<std::int64_t>(draws.below(60))) : Duration{};
    scenario.link.reorder_delay =
        microseconds(static_cast<std::int64_t>(1 + draws.below(draws.chance(0.5) ? 20 : 400)));
    for (LinkFaults* faults : {&scenario.link.a_to_b, &scenario.link.b_to_a})
        *faults = {.loss = draws.unit() * loss, .reordering = draws.unit() * 0.1};
    scenario.tap.place = static_cast<TapPlace>(draws.below(3));
    return scenario;
}

// What the network did to the requests of a way.
struct RequestsTruth {
    std::set<std::uint32_t> lost;  // PSNs of which a transmission was
    std::uint64_t reordered = 0;   // transmissions
};
RequestsTruth requests_truth(const FlowTruth& flow) {
    RequestsTruth truth;
    for (const Transmission& sent : flow.requests) {
        if (!sent.disposition.delivered()) truth.lost.insert(sent.psn.value());
        if (sent.disposition.reordered) ++truth.reordered;
    }
    return truth;
}

const Connection* connection_of(const Timeline& timeline, const FlowTruth& flow, Network network, End& from) {
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            if (connection.end(end).address != address_of(flow.from, network)) continue;
            if (connection.end(other(end)).qpn != flow.responder_qp) continue;
            from = end;
            return &connection;
        }
    return nullptr;
}

std::string findings_text(const Timeline& timeline) {
    std::string out;
    for (const Finding& finding : timeline.findings) out += std::string(finding.id) + ": " + finding.summary + "\n";
    return out;
}

bool claims_loss(NakCause cause) {
    return cause == NakCause::lost_before_tap || cause == NakCause::discarded_lost || cause == NakCause::corrupt;
}

// What was seen over all seeds: a test in which nothing happens proves nothing.
struct NaksSeen {
    std::uint64_t naks = 0;
    std::uint64_t of_order = 0;
    std::uint64_t lost = 0;
    std::uint64_t undecided = 0;
};

NaksSeen check_naks(double loss, bool identified) {
    NaksSeen seen;
    for (std::uint64_t seed = 1; seed <= kReorderingSeeds; ++seed) {
        const Scenario scenario = reordering_scenario(seed, loss, identified);
        const Simulated simulated = simulate(scenario);
        const Timeline timeline = analysed(simulated);
        INFO("seed " << seed << (scenario.selective_repeat ? ", selective" : "") << ", tap "
                     << static_cast<int>(scenario.tap.place) << "\n"
                     << findings_text(timeline));
        bool any_lost = false;
        for (const FlowTruth& flow : simulated.truth.flows) {
            End from{};
            const Connection* connection = connection_of(timeline, flow, scenario.network, from);
            const RequestsTruth truth = requests_truth(flow);
            any_lost = any_lost || !truth.lost.empty();
            if (connection == nullptr) continue;
            const Way& way = connection->way(from);
            CHECK(way.incidents->gaps.network <= truth.lost.size());
            CHECK(way.incidents->ordering->overtaken <= truth.reordered);
            std::uint64_t claims = 0;
            for (std::size_t i = 0; i < kNakCauseNames.size(); ++i) {
                const auto cause = static_cast<NakCause>(i);
                const std::uint64_t count = way.incidents->ordering->naks[i];
                seen.naks += count;
                if (is_of_order(cause)) seen.of_order += count;
                if (claims_loss(cause)) seen.lost += count;
                if (cause == NakCause::undecided) seen.undecided += count;
                if (cause == NakCause::lost_before_tap) claims += count;
            }
            CHECK(claims <= truth.lost.size());
            if (truth.reordered == 0)
                for (const NakCause cause : {NakCause::late, NakCause::late_behind_tap, NakCause::discarded_late})
                    CHECK(way.incidents->ordering->naks_of(cause) == 0);
            for (const Recovery& recovery : timeline.recoveries) {
                if (recovery.connection != connection->uid || recovery.requester != from) continue;
                CHECK(recovery.lost_time() >= Duration{});
                if (recovery.cause == NakCause::lost_before_tap) CHECK(truth.lost.contains(recovery.psn.value()));
                if (claims_loss(recovery.cause)) CHECK(!truth.lost.empty());
            }
        }
        if (!any_lost)
            for (const Finding& finding : timeline.findings) {
                if (finding.id == "go-back-n-loss" || finding.id == "selective-repeat")
                    CHECK(finding.summary.find(" lost between ") == std::string::npos);
            }
    }
    return seen;
}

}  // namespace

TEST_CASE("reordering alone is never called loss where identifications count up, whatever the ends do") {
    const NaksSeen seen = check_naks(0, true);
    INFO(seen.naks << " NAKs, of order " << seen.of_order << ", lost " << seen.lost << ", undecided "
                   << seen.undecided);
    CHECK(seen.lost == 0);
    CHECK(seen.of_order > qps::tests::share(100));
    CHECK(seen.undecided * 2 < seen.naks);
}

TEST_CASE("reordering alone is never called loss where nothing but time tells") {
    const NaksSeen seen = check_naks(0, false);
    INFO(seen.naks << " NAKs, of order " << seen.of_order << ", lost " << seen.lost << ", undecided "
                   << seen.undecided);
    CHECK(seen.lost == 0);
    CHECK(seen.of_order > 0);
}

TEST_CASE("loss among reordering: what is called lost was lost, what is called late was late") {
    const NaksSeen seen = check_naks(0.03, true);
    INFO(seen.naks << " NAKs, of order " << seen.of_order << ", lost " << seen.lost << ", undecided "
                   << seen.undecided);
    CHECK(seen.lost > qps::tests::share(100));
    CHECK(seen.of_order > qps::tests::share(100));
}

TEST_CASE("loss alone, with and without identifications: no NAK is put down to order") {
    for (const bool identified : {true, false}) {
        NaksSeen seen;
        for (std::uint64_t seed = 1; seed <= kLossSeeds; ++seed) {
            Scenario scenario = reordering_scenario(seed, 0.05, identified);
            scenario.link.a_to_b.reordering = scenario.link.b_to_a.reordering = 0;
            const Timeline timeline = analysed(simulate(scenario));
            INFO("seed " << seed << "\n" << findings_text(timeline));
            for (const Connection& connection : timeline.connections)
                for (const Way& way : connection.ways) {
                    seen.lost += way.incidents->ordering->naks_of(NakCause::lost_before_tap) +
                                 way.incidents->ordering->naks_of(NakCause::lost_behind_tap);
                    seen.undecided += way.incidents->ordering->naks_of(NakCause::undecided);
                    CHECK(way.incidents->ordering->overtaken == 0);
                    CHECK(way.incidents->ordering->naks_of(NakCause::late) +
                              way.incidents->ordering->naks_of(NakCause::late_behind_tap) +
                              way.incidents->ordering->naks_of(NakCause::discarded_late) ==
                          0);
                }
        }
        INFO("lost " << seen.lost << ", undecided " << seen.undecided);
        CHECK(seen.lost > 100);
        CHECK(seen.undecided * (identified ? 4 : 3) < seen.lost);  // without, one that is sent again alone is undecided
    }
}
