// Bursts of CNPs that go on: a sender that keeps its rate through one is named, and one that follows DCQCN never is.
#include <tests/simulator/rate_models.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/congested_wire.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

// Data for twelve milliseconds at 100 packets each, half as many behind the sixth where the sender reacts; the same
// number of CNPs a millisecond.
Timeline long_burst(bool reacts, int cnps, bool marked = true) {
    constexpr std::int64_t kStep = 10 * kMicrosecond;
    CongestedWire w;
    for (std::int64_t step = 0; step < 1200; ++step) {
        const std::int64_t time = step * kStep;
        if (!reacts || step < 600 || step % 2 == 0) w.data(time, marked || step == 0, 0x22, 2048);
        if (step % (100 / cnps) == 1) w.cnp(time + 1);
    }
    Timeline timeline;
    timeline.congestion = w.tracker.finish();
    draw_findings(timeline);
    return timeline;
}
bool kept_its_rate(const Timeline& timeline) {
    return std::ranges::any_of(timeline.findings,
                               [](const Finding& finding) { return finding.id == "cnp-without-effect"; });
}

}  // namespace

TEST_CASE("a sender that goes on at its rate through a long burst of CNPs") {
    const Timeline timeline = long_burst(false, 20);
    const Reaction& reaction = timeline.congestion.flows.at(0).reaction;
    CHECK(reaction.long_bursts == 1);
    CHECK(reaction.bytes_first == reaction.bytes_then);
    CHECK(kept_its_rate(timeline));
    CHECK_FALSE(kept_its_rate(long_burst(true, 20)));
    CHECK_FALSE(kept_its_rate(long_burst(false, 5)));          // a rate may be in balance with those
    CHECK_FALSE(kept_its_rate(long_burst(false, 20, false)));  // and with few marks
}

TEST_CASE("a sender of DCQCN is never said to ignore its CNPs") {
    for (std::uint64_t seed = 1; seed <= share(40); ++seed) {
        CongestionTracker tracker;
        for (const Observation& one : simulate_rate({.model = RateModel::dcqcn, .seed = seed})) tracker.observe(one);
        Timeline timeline;
        timeline.congestion = tracker.finish(Instant{1LL << 60});
        draw_findings(timeline);
        INFO("seed " << seed);
        CHECK_FALSE(kept_its_rate(timeline));
    }
}
