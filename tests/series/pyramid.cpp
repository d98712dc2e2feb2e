// The pyramid answers as somebody would who looks at every point.
#include <tests/support/catch.hpp>
#include <transport-replay/series/pyramid.hpp>

#include <random>
#include <set>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

std::vector<Point> random_points(std::size_t count, std::uint32_t seed, std::int64_t times) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<std::int64_t> time(0, times);
    std::uniform_int_distribution<std::int64_t> y(-1000, 1000);
    std::vector<Point> points;
    for (std::size_t i = 0; i < count; ++i) points.push_back({Instant{time(random)}, y(random), FrameIndex{i + 1}});
    return points;
}

bool is_sorted(const std::vector<Point>& points) {
    return std::ranges::is_sorted(points, {}, [](const Point& p) { return std::pair(p.time, p.frame); });
}

}  // namespace

TEST_CASE("The columns of a pyramid are those of its points", "[series][pyramid]") {
    for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 63U, 64U, 65U, 513U, 5000U})
        for (const std::size_t columns : {1U, 3U, 100U, 1000U}) {
            const Pyramid<Point> pyramid(random_points(count, 7, 3000));
            const auto& points = pyramid.points();
            REQUIRE(is_sorted(points));
            const Range range{Instant{100}, Instant{2500}};
            const auto found = pyramid.columns(range, columns);
            std::size_t next = 0;
            for (std::size_t column = 0; column < columns; ++column) {
                const Range part{column_begin(range, columns, column), column_begin(range, columns, column + 1)};
                std::vector<std::int64_t> inside;
                for (const Point& point : points)
                    if (part.contains(point.time)) inside.push_back(point.y);
                if (inside.empty()) continue;
                REQUIRE(next < found.size());
                REQUIRE(found[next].column == column);
                REQUIRE(found[next].count == inside.size());
                REQUIRE(found[next].extremes.least == *std::ranges::min_element(inside));
                REQUIRE(found[next].extremes.most == *std::ranges::max_element(inside));
                REQUIRE(part.contains(points[found[next].first].time));
                ++next;
            }
            REQUIRE(next == found.size());
        }
}

TEST_CASE("Extremes of any run of points", "[series][pyramid]") {
    const Pyramid<Point> pyramid(random_points(700, 3, 100));
    for (std::size_t first = 0; first < 700; first += 13)
        for (std::size_t end = first + 1; end <= 700; end += 29) {
            const auto begin = pyramid.points().begin();
            const auto [least, most] = std::ranges::minmax_element(
                begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end), {}, &Point::y);
            REQUIRE(pyramid.extremes(first, end).least == least->y);
            REQUIRE(pyramid.extremes(first, end).most == most->y);
        }
}

TEST_CASE("The first point between two values, as a walk would find it", "[series][pyramid]") {
    const Pyramid<Point> pyramid(random_points(2000, 11, 100'000));
    for (std::int64_t least = -1010; least < 1000; least += 37)
        for (std::size_t first : {0U, 1U, 8U, 77U, 1990U}) {
            std::optional<std::size_t> expected;
            for (std::size_t i = first; i < 1999 && !expected; ++i)
                if (least <= pyramid.points()[i].y && pyramid.points()[i].y <= least + 1) expected = i;
            REQUIRE(pyramid.find(first, 1999, least, least + 1) == expected);
        }
}

TEST_CASE("Marks are all points of thin columns and the extremes of thick ones", "[series][pyramid]") {
    const Pyramid<Point> pyramid(random_points(5000, 5, 1000));
    const Range all{Instant{0}, Instant{1001}};
    CHECK(pyramid.marks(all, 10'000, 100).size() == 5000);
    const auto marks = pyramid.marks(all, 20, 6);
    CHECK(marks.size() <= 20 * 6);
    CHECK(std::ranges::is_sorted(marks));
    CHECK(std::set(marks.begin(), marks.end()).size() == marks.size());
    for (const auto& column : pyramid.columns(all, 20)) {
        std::set<std::int64_t> values;
        for (const std::size_t mark : marks)
            if (column.first <= mark && mark < column.first + column.count) values.insert(pyramid.points()[mark].y);
        CHECK(*values.begin() == column.extremes.least);
        CHECK(*values.rbegin() == column.extremes.most);
    }
}

TEST_CASE("A pointer finds the point nearest in time at its height", "[series][pyramid]") {
    std::vector<Point> points;
    for (std::int64_t i = 0; i < 100; ++i)
        points.push_back({Instant{i * 10}, i % 2, FrameIndex{static_cast<std::uint64_t>(i) + 1}});
    const Pyramid<Point> pyramid(std::move(points));
    const Range all{Instant{0}, Instant{1000}};
    CHECK(pyramid.nearest(all, Instant{204}, 0, 0) == 20U);
    CHECK(pyramid.nearest(all, Instant{204}, 1, 1) == 21U);
    CHECK(pyramid.nearest(all, Instant{5000}, 1, 1) == 99U);
    CHECK_FALSE(pyramid.nearest(all, Instant{204}, 2, 3));
    CHECK_FALSE(pyramid.nearest({Instant{204}, Instant{206}}, Instant{205}, 0, 1));
}

TEST_CASE("The widest ranges have columns too", "[series][pyramid]") {
    const Instant least{INT64_MIN}, most{INT64_MAX};
    const Pyramid<Point> pyramid({{most, 1, FrameIndex{1}}, {least, 2, FrameIndex{2}}, {Instant{0}, 3, FrameIndex{3}}});
    const auto found = pyramid.columns({least, most}, 3);
    std::size_t count = 0;
    for (const auto& column : found) count += column.count;
    CHECK(count == 1);  // a range is not longer than 2^63 ns, and its end does not belong to it
    CHECK(pyramid.columns({Instant{5}, Instant{5}}, 3).empty());
    CHECK(pyramid.columns({Instant{0}, Instant{9}}, 0).empty());
}

TEST_CASE("What a pyramid adds to its points is little", "[series][pyramid]") {
    std::vector<Point> points(100'000);
    const Pyramid<Point> pyramid(std::move(points));
    CHECK(pyramid.memory() < 100'000 * sizeof(Point) * 8 / 7);
}
