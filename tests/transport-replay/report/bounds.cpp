// What bounds left out: every row of the table counts what it says, and is said by the report and the finding.
#include <tests/support/catch.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>

#include <algorithm>
#include <array>
#include <string>

using namespace qps::transport;
using namespace qps::tests;

namespace {

struct Reached {
    std::string_view id;
    void (*reach)(Timeline& timeline, std::uint64_t count);
};
using T = Timeline&;
using N = std::uint64_t;

constexpr std::array kReached{
    Reached{"packets_of_connections", [](T t, N n) { t.left_out.packets_of_connections = n; }},
    Reached{"connections_with_problems", [](T t, N n) { t.retired.connections = t.retired.with_problems = n; }},
    Reached{"connections", [](T t, N n) { t.retired.connections = n; }},
    Reached{"messages", [](T t, N n) { t.left_out.messages = n; }},
    Reached{"recoveries", [](T t, N n) { t.left_out.recoveries = n; }},
    Reached{"fatalities", [](T t, N n) { t.left_out.fatalities = n; }},
    Reached{"contradictions", [](T t, N n) { t.left_out.contradictions = n; }},
    Reached{"findings",
            [](T t, N n) {
                t.left_out.findings = {{"ack-timeout", Severity::warning, n - 1}, {"incast", Severity::note, 1}};
            }},
    Reached{"host_pairs", [](T t, N n) { t.quality.pairs_dropped = n; }},
    Reached{"cm_messages", [](T t, N n) { t.cm.messages_dropped = n; }},
    Reached{"multicast_joins", [](T t, N n) { t.cm.joins_dropped = n; }},
    Reached{"cm_unexpected_messages", [](T t, N n) { t.cm.refusals_dropped = n; }},
    Reached{"congestion_packets", [](T t, N n) { t.congestion.packets_dropped = n; }},
    Reached{"rates", [](T t, N n) { t.congestion.rates_left_out = n; }},
    Reached{"bridging", [](T t, N n) { t.bridging.left_out = n; }},
    Reached{"neighbours", [](T t, N n) { t.reachability.left_out = n; }},
    Reached{"link_credits", [](T t, N n) { t.credits.left_out = n; }},
    Reached{"pause_periods", [](T t, N n) { t.congestion.periods_dropped = n; }},
    Reached{"incasts", [](T t, N n) { t.congestion.incasts_dropped = n; }},
    Reached{"conversations", [](T t, N n) { t.ulp.conversations_left_out = n; }},
    Reached{"iwarp_connections", [](T t, N n) { t.iwarp.left_out = n; }},
    Reached{"uet_contexts", [](T t, N n) { t.uet.left_out = n; }},
    Reached{"uet_packets", [](T t, N n) { t.uet.packets_left_out = n; }},
    Reached{"operations", [](T t, N n) { t.ulp.operations_left_out = n; }},
    Reached{"operation_failures", [](T t, N n) { t.ulp.failures_left_out = n; }},
    Reached{"payload", [](T t, N n) { t.ulp.payload_left_out = n; }},
    Reached{"upper_events", [](T t, N n) { t.ulp.events_left_out = n; }},
    Reached{"collective_packets", [](T t, N n) { t.collectives.packets_left_out = n; }},
    Reached{"collectives", [](T t, N n) { t.collectives.left_out = n; }},
    Reached{"exchanges", [](T t, N n) { t.management.exchanges_dropped = n; }},
    Reached{"management_events", [](T t, N n) { t.management.events_dropped = n; }},
    Reached{"counter_ports", [](T t, N n) { t.management.counter_ports_dropped = n; }},
    Reached{"rmpp", [](T t, N n) { t.management.rmpp_dropped = n; }},
    Reached{"fabric_facts", [](T t, N n) { t.management.fabric.left_out = n; }},
};

const Finding* note_of(Timeline& timeline) {
    draw_findings(timeline);
    const auto found = std::ranges::find(timeline.findings, "analysis-bounded", &Finding::id);
    return found == timeline.findings.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("every bound that is reached is counted, said and judged by") {
    Timeline whole = healthy();
    CHECK(judged_all(whole));
    CHECK(left_out_text(whole).empty());
    CHECK(note_of(whole) == nullptr);
    for (const Bound& bound : bounds()) {
        INFO(bound.id);
        const auto row = std::ranges::find(kReached, bound.id, &Reached::id);
        REQUIRE(row != kReached.end());
        CHECK(std::ranges::count(bounds(), bound.id, &Bound::id) == 1);
        Timeline timeline = healthy();
        CHECK(bound.count(timeline) == 0);
        row->reach(timeline, 1234);
        CHECK(bound.count(timeline) == 1234);
        CHECK(judged_all(timeline) != bound.unjudged);
        const std::string text = left_out_text(timeline);
        CHECK(text.starts_with("1,234 " + std::string(bound.noun)));
        CHECK(text.find(bound.what) != std::string::npos);
        if (bound.id == "findings") continue;  // drawing counts them anew
        const Finding* note = note_of(timeline);
        REQUIRE(note != nullptr);
        CHECK(note->count == 1234);
        CHECK(note->summary.find(text) != std::string::npos);
        CHECK((note->summary.find("unnoticed") != std::string::npos) == bound.unjudged);
    }
    CHECK(kReached.size() == bounds().size());
}

TEST_CASE("a packet past several bounds counts once") {
    Timeline timeline = healthy();
    timeline.left_out.packets_of_connections = timeline.congestion.packets_dropped = 1000;
    timeline.left_out.recoveries = 2;
    const Finding* note = note_of(timeline);
    REQUIRE(note != nullptr);
    CHECK(note->count == 1000);
    CHECK(note->summary.find("2 retransmission episodes in sums alone") != std::string::npos);
}

TEST_CASE("of a capture that was read there was nothing to judge; of one that could not be read nobody knows") {
    Timeline nothing;
    CHECK_FALSE(saw_anything(nothing));  // a file without packets
    nothing.packets = 41;
    CHECK_FALSE(saw_anything(nothing));
    nothing.incomplete = {"interrupted after 10 % of the file"};
    CHECK_FALSE(saw_anything(nothing));
    nothing.packets = 0;
    CHECK(saw_anything(nothing));
}
