// Where bars and ticks of a life lie in a cell, for any times; what trouble a connection had; sentences as rich text.
#include <gui/base/text.hpp>
#include <gui/tables/shown_packets.hpp>
#include <gui/tables/troubles.hpp>
#include <gui/tables/when.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/model/timeline.hpp>

#include <limits>

using namespace qps::gui;
using namespace qps::transport;
using qps::dissect::FrameIndex;
using qps::dissect::Instant;

namespace {

constexpr Instant kLeast{std::numeric_limits<std::int64_t>::min()};
constexpr Instant kMost{std::numeric_limits<std::int64_t>::max()};

}  // namespace

TEST_CASE("a life lies where its times are, within the cell") {
    const TimeRange axis{Instant{0}, Instant{1000}};
    const WhenShape shape = whenShape({TimeRange{Instant{250}, Instant{500}}, {}}, axis, 101, 2);
    CHECK(shape.left == 25);
    CHECK(shape.width == 26);
    const WhenShape end = whenShape({TimeRange{Instant{1000}, Instant{1000}}, {}}, axis, 101, 4);
    CHECK(end.left == 97);  // widened, and still inside
    CHECK(end.width == 4);
    CHECK(whenShape({std::nullopt, {}}, axis, 101, 2).width == 0);
}

TEST_CASE("what lies outside of the time range is not drawn, what reaches into it is cut") {
    const TimeRange range{Instant{400}, Instant{600}};
    CHECK(whenShape({TimeRange{Instant{0}, Instant{399}}, {}}, range, 101, 2).width == 0);
    CHECK(whenShape({TimeRange{Instant{601}, Instant{900}}, {}}, range, 101, 2).width == 0);
    const WhenShape cut = whenShape(
        {TimeRange{Instant{0}, Instant{500}}, {{Instant{450}, Trouble::Resent}, {Instant{10}, Trouble::Refused}}},
        range, 101, 2);
    CHECK(cut.left == 0);
    CHECK(cut.width == 51);
    CHECK(cut.ticks == std::vector{WhenTick{25, Trouble::Resent}});
    const TimeRange whole{Instant{0}, Instant{1000}};
    const std::vector<std::uint8_t> heights{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    CHECK(heightsIn(heights, whole, whole) == heights);
    CHECK(heightsIn(heights, whole, range) == std::vector<std::uint8_t>{4, 4, 4, 4, 4, 5, 5, 5, 5, 5});
    CHECK(heightsIn({}, whole, range).empty());
}

TEST_CASE("times that a file makes up stay in the cell") {
    for (const TimeRange axis : {TimeRange{kLeast, kMost}, TimeRange{kMost, kLeast}, TimeRange{Instant{5}, Instant{5}}})
        for (const Instant time : {kLeast, Instant{0}, kMost}) {
            const WhenShape shape = whenShape({TimeRange{time, kLeast}, {{time, Trouble::Resent}}}, axis, 50, 2);
            CHECK(shape.left >= 0);
            CHECK(shape.left + shape.width <= 50);
            REQUIRE(shape.ticks.size() == 1);
            CHECK((shape.ticks[0].x >= 0 && shape.ticks[0].x < 50));
        }
}

TEST_CASE("of several moments at one pixel the refusal is drawn") {
    const TimeRange axis{Instant{0}, Instant{1000}};
    const WhenShape shape = whenShape(
        {axis, {{Instant{500}, Trouble::Resent}, {Instant{501}, Trouble::Refused}, {Instant{10}, Trouble::Resent}}},
        axis, 11, 2);
    CHECK(shape.ticks == std::vector{WhenTick{0, Trouble::Resent}, WhenTick{5, Trouble::Refused}});
    CHECK(
        whenText({axis, {{Instant{5}, Trouble::Resent}, {Instant{6}, Trouble::Resent}, {Instant{7}, Trouble::Refused}}},
                 axis) == QStringLiteral("start 0.000000 s, duration 1 us; retransmitted 2 times, refused once"));
}

TEST_CASE("trouble is found by its connection, its requester and its time") {
    Timeline timeline = qps::tests::healthy();
    qps::tests::add_connection(timeline, 3, 4);
    qps::tests::add_recovery(timeline, RecoveryKind::sequence_nak).resumed_time = Instant{2'000'000};
    qps::tests::add_recovery(timeline, RecoveryKind::timeout).requester = End::b;
    const Troubles troubles(timeline);
    CHECK(troubles.of(ConnectionId{1}).size() == 3);
    CHECK(troubles.of(ConnectionId{2}).empty());
    CHECK(troubles.of(ConnectionId{1}, End::b, {Instant{0}, kMost}).size() == 1);
    CHECK(troubles.of(ConnectionId{1}, End::a, {Instant{1'000'000}, Instant{1'500'000}}) ==
          std::vector{Moment{Instant{1'000'000}, Trouble::Refused}});
}

TEST_CASE("packets that are shown are found by connection and stretch") {
    CaptureIndex index;
    for (unsigned at = 1; at <= 10; ++at) {
        PacketRecord record;
        if (at != 5) record.connection = ConnectionId{1 + at % 2};
        index.packets.append(PacketRow(0, at, {}, record));
    }
    RowSet hits;
    for (const unsigned at : {1U, 4U, 5U, 8U}) hits.set(FrameIndex{at}, true);
    const ShownPackets shown(index, hits);
    CHECK(shown.any(ConnectionId{1}));  // 4 and 8
    CHECK(shown.any(ConnectionId{2}));  // 1
    CHECK_FALSE(shown.any(ConnectionId{3}));
    CHECK(shown.any(ConnectionId{1}, FrameIndex{4}, FrameIndex{4}));
    CHECK_FALSE(shown.any(ConnectionId{1}, FrameIndex{5}, FrameIndex{7}));
    CHECK_FALSE(shown.any(ConnectionId{2}, FrameIndex{2}, FrameIndex{10}));
    CHECK_FALSE(shown.any(ConnectionId{2}, FrameIndex{}, FrameIndex{10}));
}

TEST_CASE("commands of a sentence are code, and nothing in it is a tag") {
    CHECK(sentence(QStringLiteral("see `a <b>` & c")) == QStringLiteral("see <code>a &lt;b&gt;</code> &amp; c"));
    CHECK(sentence(QStringLiteral("one ` alone")) == QStringLiteral("one ` alone"));
}
