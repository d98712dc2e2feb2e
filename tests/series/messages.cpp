// What messages tell over time: how much is outstanding, how long they take.
#include <tests/series/rows.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/latency.hpp>
#include <transport-replay/series/outstanding.hpp>

#include <random>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

using Steps = std::vector<std::pair<std::int64_t, std::int64_t>>;
Steps steps(const std::vector<Point>& points) {
    Steps found;
    for (const Point& point : points) found.emplace_back(std::to_underlying(point.time), point.y);
    return found;
}

std::vector<LatencyPoint> durations(std::initializer_list<std::int64_t> values) {
    std::vector<LatencyPoint> points;
    for (const std::int64_t value : values) points.push_back({Instant{0}, value});
    return points;
}

}  // namespace

TEST_CASE("Outstanding messages overlap and end", "[series][outstanding]") {
    Rows rows;
    const FrameIndex first = rows.request(10, 1);
    const FrameIndex second = rows.request(20, 2);
    const FrameIndex both = rows.answer(30, 2);
    const FrameIndex datagram = rows.request(40, 3);
    const FrameIndex open = rows.request(50, 4);
    const FrameIndex early = rows.answer(45, 5);  // the clock ran backwards
    rows.message({first, first, both}, Verb::send, 1, 100);
    rows.message({second, second, both}, Verb::send, 1, 200);
    rows.message({datagram, datagram, {}}, Verb::send, 1, 7, Outcome::sent);
    rows.message({open, open, {}}, Verb::send, 1, 50, Outcome::open);
    rows.message({open, open, early}, Verb::send, 1, 9);
    Timeline timeline;
    add_connection(timeline).ways[0].last_time = Instant{900};
    timeline.connections[0].ways[1].last_time = Instant{800};
    const auto made = outstanding(rows.index, timeline, {});
    REQUIRE(made);
    CHECK(steps(made->bytes) == Steps{{10, 100}, {20, 300}, {30, 0}, {50, 50}, {900, 0}});
    CHECK(steps(made->messages) == Steps{{10, 1}, {20, 2}, {30, 0}, {50, 1}, {900, 0}});
    CHECK(made->bytes[1].frame == second);
    Scope other;
    other.add(kOne, End::b);
    CHECK(outstanding(rows.index, timeline, other)->empty());
    CHECK(outstanding(rows.index, timeline, {}, only(MessageKind::read))->empty());
    CHECK(steps(outstanding(rows.index, timeline, {}, only(MessageKind::send))->messages).size() == 5);
    CHECK_FALSE(outstanding(rows.index, timeline, {}, kAllMessageKinds, [] { return true; }));
}

TEST_CASE("Latencies of the messages that completed", "[series][latency]") {
    Rows rows;
    const FrameIndex first = rows.request(100, 1);
    const FrameIndex second = rows.request(200, 2, kReadRequest);
    const FrameIndex answer = rows.answer(700, 2);
    const FrameIndex backwards = rows.request(900, 3);
    rows.message({first, first, answer}, Verb::send, 1, 10);
    rows.message({second, second, answer}, Verb::read_request, 1, 20);
    rows.message({second, second, answer}, Verb::send, 1, 30, Outcome::failed);
    rows.message({backwards, backwards, {}}, Verb::send, 1, 30, Outcome::open);
    const auto made = latencies(rows.index, {});
    REQUIRE(made);
    REQUIRE(made->size() == 2);
    CHECK((*made)[0].y == 600);
    CHECK((*made)[0].time == Instant{100});
    CHECK((*made)[1].y == 500);
    CHECK((*made)[1].bytes == 20);
    CHECK((*made)[1].kind == MessageKind::read);
    CHECK((*made)[1].frame == second);
    CHECK(latencies(rows.index, {}, Range{Instant{150}, Instant{201}})->size() == 1);
    CHECK(latencies(rows.index, {}, {}, only(MessageKind::send))->size() == 1);
    Scope other;
    other.add(kTwo);
    CHECK(latencies(rows.index, other)->empty());
    CHECK_FALSE(latencies(rows.index, {}, {}, kAllMessageKinds, [] { return true; }));
}

TEST_CASE("Percentiles are values that occurred, by nearest rank", "[series][latency]") {
    const Distributed none = distribution(std::vector<LatencyPoint>{});
    CHECK(none.count == 0);
    CHECK(none.most == Duration{0});
    const Distributed four = distribution(durations({40, 10, 30, 20}));
    CHECK(four.median == Duration{20});
    CHECK(four.p90 == Duration{40});
    CHECK(four.mean == Duration{25});
    CHECK(four.least == Duration{10});
    std::vector<LatencyPoint> points;
    for (std::int64_t i = 1; i <= 2000; ++i) points.push_back({Instant{0}, i});
    std::ranges::shuffle(points, std::mt19937(1));
    const Distributed many = distribution(points);
    CHECK(many.median == Duration{1000});
    CHECK(many.p90 == Duration{1800});
    CHECK(many.p99 == Duration{1980});
    CHECK(many.p999 == Duration{1998});
    CHECK(many.most == Duration{2000});
    std::uint64_t sum = 0;
    for (const std::uint64_t bin : many.histogram) sum += bin;
    CHECK(sum == 2000);
    CHECK(distribution(durations({INT64_MAX, INT64_MAX, INT64_MAX})).mean == Duration{INT64_MAX});
}

TEST_CASE("Bins of the histogram follow each other without holes, an eighth of a doubling wide", "[series][latency]") {
    CHECK(latency_bin(-5) == 0);
    CHECK(latency_bin(INT64_MAX) == kLatencyBins - 1);
    CHECK(latency_bin_begin(kLatencyBins) == INT64_MAX);
    for (std::size_t bin = 1; bin < kLatencyBins; ++bin) {
        const std::int64_t begin = latency_bin_begin(bin);
        REQUIRE(latency_bin(begin) == bin);
        REQUIRE(latency_bin(begin - 1) == bin - 1);
    }
    CHECK(latency_bin_begin(latency_bin(1'000'000) + 1) - latency_bin_begin(latency_bin(1'000'000)) <= 1'000'000 / 8);
}
