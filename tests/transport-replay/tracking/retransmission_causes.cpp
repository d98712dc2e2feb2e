// What made a requester go back, judged over the whole connection: reactions to NAKs, waits for the timer, what lies
// between.
#include <tests/support/catch.hpp>
#include <tests/support/durations.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr Duration ms(double milliseconds) { return Duration{static_cast<std::int64_t>(milliseconds * 1e6)}; }

Timeline without_cm() {
    Timeline timeline = healthy();
    timeline.connections[0].cm_attempt.reset();
    return timeline;
}

// A go-back so long after a NAK of its PSN, after so much silence.
Recovery& after_nak(Timeline& timeline, double waited, double silence) {
    Recovery& episode = add_recovery(timeline, RecoveryKind::sequence_nak);
    episode.evidence.add(RoundEvidence::asked);
    episode.triggers = episode.rounds = 1;
    episode.waited = episode.timer_ran = ms(waited);
    episode.silence = ms(silence);
    return episode;
}
// A go-back that no NAK asked for.
Recovery& unasked(Timeline& timeline, double silence) {
    Recovery& episode = add_recovery(timeline, RecoveryKind::timeout);
    episode.evidence.add(RoundEvidence::unasked);
    episode.triggers = episode.rounds = 1;
    episode.timer_ran = episode.silence = ms(silence);
    episode.interval = ms(silence);
    return episode;
}

// The sums are what judge_causes() makes.
Way& judged(Timeline& timeline) {
    timeline.connections[0].ways[0].incidents.made().recoveries.clear();
    judge_causes(timeline);
    return timeline.connections[0].ways[0];
}

}  // namespace

// The go-backs of soft-RoCE at a loss of 3 %, as a tap saw them: milliseconds after the NAK, and of silence.
TEST_CASE("reactions to NAKs and waits for the timer are two groups, and what lies between is undecided") {
    Timeline timeline = without_cm();
    for (const auto& [waited, silence] : {std::pair{1.4, 0.009},
                                          {2.3, 0.5},
                                          {4.1, 0.45},
                                          {2.2, 2.2},
                                          {2.1, 2.1},
                                          {9.5, 0.004},
                                          {14.4, 6.0},
                                          {6.4, 1.0},
                                          {0.3, 0.1},
                                          {0.2, 0.2},
                                          {0.4, 0.2},
                                          {0.7, 0.7}})
        after_nak(timeline, waited, silence);
    for (const auto& [waited, silence] :
         {std::pair{69.0, 66.8}, {121.9, 103.0}, {68.2, 61.1}, {68.0, 64.3}, {83.0, 59.2}, {97.7, 86.4}, {66.8, 63.5}})
        after_nak(timeline, waited, silence);
    after_nak(timeline, 43.9, 27.4);
    after_nak(timeline, 21.8, 15.9);
    const Way& way = judged(timeline);
    CHECK(way.incidents->recovery(RecoveryKind::sequence_nak).episodes == 12);
    CHECK(way.incidents->recovery(RecoveryKind::timeout).episodes == 7);
    CHECK(way.incidents->recovery(RecoveryKind::undecided).episodes == 2);
    CHECK(std::ranges::count_if(timeline.recoveries, &Recovery::ignored_nak) == 7);
    REQUIRE(way.incidents->ack_timer);
    CHECK(way.incidents->ack_timer->exponent == 14);
    CHECK(way.incidents->ack_timer->waits == 4);
}

TEST_CASE("reactions alone show no timer, however alike they are") {
    Timeline timeline = without_cm();
    for (const double waited : {2.0, 2.05, 2.1, 2.09, 2.11}) after_nak(timeline, waited, waited);
    const Way& way = judged(timeline);
    CHECK_FALSE(way.incidents->ack_timer);
    CHECK(way.incidents->recovery(RecoveryKind::sequence_nak).episodes == 5);
}

TEST_CASE("one wait after a NAK is undecided, unless CM announced the timer") {
    Timeline timeline = without_cm();
    after_nak(timeline, 68, 61);
    CHECK(judged(timeline).incidents->recovery(RecoveryKind::undecided).episodes == 1);
    CHECK_FALSE(timeline.connections[0].ways[0].incidents->ack_timer);

    for (const auto& [waited, kind] :
         {std::pair{68.0, RecoveryKind::timeout}, {5.0, RecoveryKind::sequence_nak}, {40.0, RecoveryKind::undecided}}) {
        Timeline announced = healthy();  // exponent 14
        after_nak(announced, waited, waited - 1);
        INFO(waited);
        CHECK(judged(announced).incidents->recovery(kind).episodes == 1);
    }
}

TEST_CASE("waits that do not agree show no timer") {
    Timeline timeline = without_cm();
    for (const double silence : {31.0, 47.0, 90.0}) unasked(timeline, silence);
    const Way& way = judged(timeline);
    CHECK_FALSE(way.incidents->ack_timer);
    CHECK(way.incidents->recovery(RecoveryKind::timeout).episodes == 3);
}

TEST_CASE("a go-back that no NAK asked for is not the timer's where the timer cannot have run out") {
    Timeline timeline = without_cm();
    for (const double silence : {67.2, 67.5, 68.0, 3.0}) unasked(timeline, silence);
    const Way& way = judged(timeline);
    REQUIRE(way.incidents->ack_timer);
    CHECK(way.incidents->ack_timer->exponent == 14);
    CHECK(way.incidents->recovery(RecoveryKind::timeout).episodes == 3);
    CHECK(way.incidents->recovery(RecoveryKind::undecided).episodes == 1);
}

TEST_CASE("where the capture lacks packets, a NAK may be among them") {
    Timeline timeline = without_cm();
    unasked(timeline, 5);
    CHECK(judged(timeline).incidents->recovery(RecoveryKind::timeout).episodes == 1);
    timeline.recoveries.clear();
    unasked(timeline, 5);
    timeline.connections[0].ways[1].incidents.made().response_gaps = {.skipped = 1, .tap = 1};
    CHECK(judged(timeline).incidents->recovery(RecoveryKind::undecided).episodes == 1);
}

TEST_CASE("where answers were not captured nothing is decided, and nobody gave up") {
    Timeline timeline = without_cm();
    for (const RecoveryKind kind : {RecoveryKind::sequence_nak, RecoveryKind::timeout, RecoveryKind::read_retry}) {
        Recovery& episode = add_recovery(timeline, kind, RecoveryEnd::gave_up);
        episode.inferred = true;
    }
    const Way& way = judged(timeline);
    CHECK(way.incidents->recovery(RecoveryKind::undecided).episodes == 3);
    CHECK(std::ranges::all_of(timeline.recoveries,
                              [](const Recovery& episode) { return episode.end == RecoveryEnd::open; }));
}
