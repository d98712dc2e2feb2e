// PSNs over time, of conversations whose picture is known.
#include <tests/series/rows.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/psn_series.hpp>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

PsnSeries drawn(const CaptureIndex& index, const Timeline& timeline = {}) {
    auto made = psn_series(index, timeline, kOne, End::a);
    REQUIRE(made);
    return std::move(*made);
}

std::vector<std::int64_t> heights(const PsnSeries& series, PsnMark mark) {
    std::vector<std::int64_t> found;
    for (const PsnPoint& point : series.of(mark)) found.push_back(point.y);
    return found;
}

using Heights = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("PSNs go on past their wrap, and back over it", "[series][psn]") {
    PsnCounter counter;
    CHECK(counter.take(Psn(0xfffffe)) == 0xfffffe);
    CHECK(counter.take(Psn(1)) == 0x1000001);
    CHECK(counter.near(Psn(0xffffff)) == 0xffffff);
    CHECK(counter.take(Psn(0xfffffd)) == 0xfffffd);
    PsnCounter low;
    CHECK(low.take(Psn(1)) == 1);
    CHECK(low.take(Psn(0xffffff)) == -1);
    CHECK(low.take(Psn(0xfffffe)) == -2);
    CHECK(low.take(Psn(0)) == 0);
}

TEST_CASE("Requests, what acknowledges them, and what was sent again", "[series][psn]") {
    Rows rows;
    rows.request(10, 0xffffff);
    rows.request(20, 0);
    rows.request(30, 2);
    rows.answer(40, 0);
    rows.answer(50, 1, kSequenceNak);
    rows.retransmission(60, 1);
    rows.answer(70, 2);
    rows.answer(80, 1);  // an older one tells nothing new
    rows.connection = kTwo;
    rows.request(90, 5);
    const PsnSeries series = drawn(rows.index);
    constexpr std::int64_t kWrap = 0x1000000;
    CHECK(heights(series, PsnMark::request) == Heights{0xffffff, kWrap, kWrap + 2});
    CHECK(heights(series, PsnMark::retransmission) == Heights{kWrap + 1});
    CHECK(heights(series, PsnMark::sequence_nak) == Heights{kWrap + 1});
    CHECK(heights(series, PsnMark::acknowledged) == Heights{kWrap, kWrap + 2});
    CHECK(series.of(PsnMark::acknowledged)[1].frame == FrameIndex{7});
    CHECK(series.of(PsnMark::acknowledged)[1].time == Instant{70});
}

TEST_CASE("A NAK acknowledges what lies before it, kinds are told apart", "[series][psn]") {
    Rows rows;
    for (std::uint32_t psn = 5; psn < 10; ++psn) rows.request(psn, psn);
    rows.answer(20, 7, kRnrNak);
    rows.answer(30, 9, kAccessNak);
    const PsnSeries series = drawn(rows.index);
    CHECK(heights(series, PsnMark::rnr_nak) == Heights{7});
    CHECK(heights(series, PsnMark::fatal_nak) == Heights{9});
    CHECK(heights(series, PsnMark::sequence_nak).empty());
    CHECK(heights(series, PsnMark::acknowledged) == Heights{6, 8});
}

TEST_CASE("A READ covers the PSNs of its responses, one asked for again what is left of it", "[series][psn]") {
    Rows rows;
    const FrameIndex read = rows.request(10, 100, kReadRequest);
    rows.answer(20, 100, kAck, kReadOnly);
    rows.retransmission(30, 103, kReadRequest);
    const FrameIndex answer = rows.answer(40, 107, kAck, kReadOnly);
    rows.message({read, read, answer}, Verb::read_request, 8, 8000);
    const PsnSeries series = drawn(rows.index);
    REQUIRE(series.of(PsnMark::request).size() == 1);
    CHECK(series.of(PsnMark::request)[0].psns == 8);
    REQUIRE(series.of(PsnMark::retransmission).size() == 1);
    CHECK(series.of(PsnMark::retransmission)[0].psns == 5);
    CHECK(heights(series, PsnMark::response) == Heights{100, 107});
    CHECK(heights(series, PsnMark::acknowledged) == Heights{100, 107});
}

TEST_CASE("Waits stand at the PSN that was waited for, also behind a wrap", "[series][psn]") {
    Rows rows;
    rows.request(10, 0xffffff);
    rows.request(20, 0);
    const FrameIndex nak = rows.answer(30, 0, kRnrNak);
    const FrameIndex again = rows.retransmission(500, 0);
    Timeline timeline;
    Recovery rnr;
    rnr.connection = kOne;
    rnr.requester = End::a;
    rnr.kind = RecoveryKind::rnr_nak;
    rnr.psn = Psn(0);
    rnr.trigger = nak;
    rnr.resumed = again;
    rnr.time = OrderedSpan{Instant{30}};
    rnr.resumed_time = Instant{500};
    rnr.time.end_at(Instant{520});  // all of it was answered
    Recovery never = rnr;
    never.kind = RecoveryKind::timeout;
    never.trigger = FrameIndex{99};  // past what was indexed so far
    never.resumed = FrameIndex{};
    never.time.end_at(Instant{700});
    Recovery of_other = rnr;
    of_other.requester = End::b;
    timeline.recoveries = {rnr, never, of_other};
    const PsnSeries series = drawn(rows.index, timeline);
    REQUIRE(series.waits.size() == 2);
    CHECK(series.waits[0].from == Instant{30});
    CHECK(series.waits[0].to == Instant{520});
    CHECK(series.waits[0].y == 0x1000000);
    CHECK(series.waits[1].to == Instant{700});
    CHECK(series.waits[1].kind == RecoveryKind::timeout);
}

TEST_CASE("What is not followed is not drawn, and gaps are", "[series][psn]") {
    Rows rows;
    Observation corrupt = rows.observation(10, kSendOnly, 0x800000);
    corrupt.icrc = CrcStatus::bad;
    rows.add(corrupt, rows.record(End::a));
    PacketRecord copy = rows.record(End::a);
    copy.mirror_copy = true;
    rows.add(rows.observation(11, kSendOnly, 3), copy);
    PacketRecord behind = rows.record(End::a);
    behind.missing = 2;
    rows.add(rows.observation(12, kSendOnly, 7), behind);
    PacketRecord unasked = rows.record(End::b);
    unasked.unmatched = true;
    Observation ack = rows.observation(13, kAcknowledge, 12);
    ack.acknowledgment = Acknowledgment{};
    rows.add(ack, unasked);
    rows.notification(14);
    const PsnSeries series = drawn(rows.index);
    CHECK(heights(series, PsnMark::request) == Heights{7});
    CHECK(heights(series, PsnMark::gap) == Heights{7});
    CHECK(series.of(PsnMark::acknowledged).empty());
    CHECK_FALSE(psn_series(rows.index, {}, kOne, End::a, [] { return true; }));
    CHECK(heights(drawn(Rows().index), PsnMark::request).empty());
}
