// Marks and notifications, whom they hit, and pauses.
#include <tests/series/rows.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/congestion_series.hpp>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

FrameIndex marked(Rows& rows, std::int64_t time) {
    Observation made = rows.observation(time, kSendOnly, 1);
    made.congestion_experienced = true;
    return rows.add(made, rows.record(End::a));
}

}  // namespace

TEST_CASE("Marks and CNPs hit the way that they slow down", "[series][congestion]") {
    Rows rows;
    rows.request(5, 1);
    const FrameIndex first = marked(rows, 10);
    rows.notification(20);
    rows.connection = kTwo;
    marked(rows, 30);
    PacketRecord nobody;
    rows.add(rows.observation(40, kCnp, 0), nobody);
    marked(rows, 99);
    const auto made = congestion_series(rows.index, {}, {Instant{0}, Instant{99}});
    REQUIRE(made);
    CHECK(made->marks == std::vector<Point>{{Instant{10}, 1074, first}, {Instant{30}, 1074, FrameIndex{4}}});
    CHECK(made->notifications.size() == 2);
    CHECK(made->unnamed == 1);
    REQUIRE(made->hits.size() == 2);
    CHECK(made->hits[0].connection == kOne);
    CHECK(made->hits[0].from == End::a);
    CHECK(made->hits[0].marked == 1);
    CHECK(made->hits[0].cnps == 1);
    CHECK(made->hits[0].first == first);
    CHECK(made->hits[1].connection == kTwo);
    CHECK_FALSE(congestion_series(rows.index, {}, {Instant{0}, Instant{99}}, [] { return true; }));
}

TEST_CASE("The ways that are hit hardest are kept, the others counted", "[series][congestion]") {
    Rows rows;
    for (std::uint32_t i = 1; i <= kMaxHits + 5; ++i) {
        rows.connection = ConnectionId{i};
        marked(rows, 10);
    }
    marked(rows, 11);
    const auto made = congestion_series(rows.index, {}, {Instant{0}, Instant{99}});
    REQUIRE(made->hits.size() == kMaxHits);
    CHECK(made->hits_left_out == 5);
    CHECK(made->hits[0].marked == 2);
}

TEST_CASE("Whom pauses can have held up", "[series][congestion]") {
    PausePeriod early;
    early.start = Instant{100};
    early.end = Instant{450};
    early.priority = 3;

    Timeline timeline;
    Way& way = add_connection(timeline).ways[0];
    way.pcps = {};
    way.first_time = Instant{400};
    way.pcps.add(4);
    CHECK(hit_by(early, way) == PauseHit::no);
    way.pcps.add(kNoPcp);
    CHECK(hit_by(early, way) == PauseHit::perhaps);
    way.pcps.add(3);
    CHECK(hit_by(early, way) == PauseHit::yes);
    way.first_time = Instant{451};
    CHECK(hit_by(early, way) == PauseHit::no);
    early.end = Instant{451};
    way.pcps = {};
    CHECK(hit_by(early, way) == PauseHit::no);
    early.priority = kWholeLink;
    CHECK(hit_by(early, way) == PauseHit::yes);
}
