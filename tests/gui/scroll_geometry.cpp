// Every row can be reached, the last one is whole at the lower end, and the bar never runs against the rows.
#include <gui/packets/frame_ranges.hpp>
#include <gui/packets/scroll_geometry.hpp>
#include <tests/support/catch.hpp>

using namespace qps::gui;
using qps::dissect::FrameIndex;

namespace {

std::vector<std::uint64_t> someRows(std::uint64_t rows) {
    std::vector<std::uint64_t> some;
    for (std::uint64_t step = 0; step < 200 && step < rows; ++step) {
        some.push_back(step);
        some.push_back(rows - 1 - step);
        some.push_back(rows / 200 * step);
    }
    return some;
}

}  // namespace

TEST_CASE("of any number of rows each can be brought into sight, and the last is whole") {
    const std::uint64_t rows =
        GENERATE(0ULL, 1ULL, 39ULL, 40ULL, 41ULL, 100ULL, 100'000'000ULL, 1ULL << 31, 4'000'000'000ULL, 1ULL << 62);
    const ScrollGeometry geometry{rows, 40};
    CAPTURE(rows);
    CHECK(geometry.lastTop() == (rows > 40 ? rows - 40 : 0));
    for (const std::uint64_t row : someRows(rows))
        for (const std::uint64_t from : {std::uint64_t{0}, rows / 2, geometry.lastTop()}) {
            const std::uint64_t top = geometry.showing(row, from);
            REQUIRE(top <= row);
            REQUIRE(row - top < 40);
            REQUIRE(top <= geometry.lastTop());
            const std::uint64_t centred = geometry.jumpingTo(row);
            REQUIRE((centred <= row && (row - centred <= 13 || centred == geometry.lastTop())));
        }
}

TEST_CASE("the bar has its ends at the ends of the rows and is monotone between") {
    const std::uint64_t rows = GENERATE(0ULL, 1ULL, 100ULL, 100'000'000ULL, 1ULL << 31, 4'000'000'000ULL, 1ULL << 62);
    const ScrollGeometry geometry{rows, 40};
    const int most = geometry.barMost();
    CAPTURE(rows, most);
    CHECK(geometry.topAt(0) == 0);
    CHECK(geometry.topAt(most) == geometry.lastTop());
    CHECK(geometry.barValue(0) == 0);
    CHECK(geometry.barValue(geometry.lastTop()) == most);
    CHECK((geometry.barPage() >= 1 && geometry.barPage() <= ScrollGeometry::kBarSteps));
    std::uint64_t before = 0;
    for (int step = 0; step <= 1000; ++step) {
        const int value = static_cast<int>(static_cast<std::int64_t>(most) * step / 1000);
        const std::uint64_t top = geometry.topAt(value);
        REQUIRE(top >= before);
        REQUIRE(top <= geometry.lastTop());
        REQUIRE(geometry.barValue(top) == value);  // what was dragged to stays there
        before = top;
    }
    if (rows == 100) {
        for (int value = 0; value <= most; ++value) CHECK(geometry.topAt(value) == static_cast<std::uint64_t>(value));
    }
}

TEST_CASE("rows go by one where a step of the bar is many") {
    const ScrollGeometry geometry{4'000'000'000, 40};
    CHECK(geometry.moved(1'999'999'999, 1) == 2'000'000'000);
    CHECK(geometry.moved(0, -1) == 0);
    CHECK(geometry.moved(5, -3) == 2);
    CHECK(geometry.moved(5, INT64_MIN) == 0);
    CHECK(geometry.moved(5, INT64_MAX) == geometry.lastTop());
    CHECK(geometry.moved(geometry.lastTop(), 1) == geometry.lastTop());
    CHECK(ScrollGeometry{10, 0}.lastTop() == 9);  // a list too low for a row shows one nevertheless
}

TEST_CASE("ranges of frames join, split and are found") {
    const auto frame = [](std::uint64_t number) { return FrameIndex{number}; };
    FrameRanges ranges;
    ranges.add(frame(10), frame(5));
    ranges.add(frame(20), frame(30));
    CHECK(ranges.ranges() == std::vector<FrameRange>{{frame(5), frame(10)}, {frame(20), frame(30)}});
    CHECK((ranges.contains(frame(5)) && ranges.contains(frame(10)) && !ranges.contains(frame(11)) &&
           !ranges.contains(frame(4))));
    ranges.remove(frame(25));
    CHECK(ranges.ranges() ==
          std::vector<FrameRange>{{frame(5), frame(10)}, {frame(20), frame(24)}, {frame(26), frame(30)}});
    ranges.remove(frame(5));
    ranges.add(frame(25), frame(25));
    CHECK(ranges.ranges() == std::vector<FrameRange>{{frame(6), frame(10)}, {frame(20), frame(30)}});
    ranges.add(frame(11), frame(19));
    CHECK(ranges.ranges() == std::vector<FrameRange>{{frame(6), frame(30)}});
}
