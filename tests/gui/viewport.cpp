// Zooming and panning: what stands under the cursor stays there, and nothing leaves the whole.
#include <gui/pictures/viewport.hpp>
#include <tests/support/catch.hpp>

using namespace qps::gui;

namespace {
constexpr TimeSpan kWhole{0, 1'000'000};
}

TEST_CASE("zooming keeps the time under the cursor where it is") {
    const TimeSpan part = zoomed({200'000, 600'000}, 300'000, 0.5, kWhole);
    CHECK(part == TimeSpan{250'000, 450'000});
    CHECK(zoomed(part, 300'000, 2, kWhole) == TimeSpan{200'000, 600'000});
    CHECK(zoomed(part, 300'000, 1000, kWhole) == kWhole);
    CHECK(zoomed({0, 20}, 10, 1e-9, kWhole).length() == kLeastTime);
    CHECK(zoomed({0, 400'000}, 0, 2, kWhole) == TimeSpan{0, 800'000});
}

TEST_CASE("panning stops at the ends and keeps the length") {
    CHECK(panned({100'000, 200'000}, 0.5, kWhole) == TimeSpan{150'000, 250'000});
    CHECK(panned({100'000, 200'000}, -5, kWhole) == TimeSpan{0, 100'000});
    CHECK(panned({100'000, 200'000}, 50, kWhole) == TimeSpan{900'000, 1'000'000});
}

TEST_CASE("spans are put in order and inside") {
    CHECK(limited({600, 500}, kWhole) == TimeSpan{500, 600});
    CHECK(limited({5, 5}, kWhole).length() == kLeastTime);
    CHECK(limited({-100, 100}, kWhole) == TimeSpan{0, 200});
    const TimeSpan far{INT64_MIN, INT64_MAX};
    CHECK(limited(far, kWhole) == kWhole);
    CHECK(zoomed({INT64_MAX - 10, INT64_MAX}, INT64_MAX, 3, {0, INT64_MAX}) == TimeSpan{INT64_MAX - 30, INT64_MAX});
}

TEST_CASE("values zoom around the cursor, by decades on a logarithmic axis") {
    CHECK(zoomed(ValueSpan{0, 10}, 5, 0.5, false) == ValueSpan{2.5, 7.5});
    const ValueSpan decades = zoomed(ValueSpan{1, 10000}, 100, 0.5, true);
    CHECK(decades.from == Approx(10));
    CHECK(decades.to == Approx(1000));
    const ValueSpan moved = panned(ValueSpan{1, 100}, 0.5, true);
    CHECK(moved.from == Approx(10));
    CHECK(moved.to == Approx(1000));
    const ValueSpan tight{5, 5 + 1e-9};
    CHECK(zoomed(tight, 5, 0.1, false) == tight);  // doubles end here
}

TEST_CASE("data gets a margin, and room where it is one value") {
    const ValueSpan some = withMargin({10, 20}, false, false);
    CHECK((some.from < 10 && some.to > 20));
    CHECK(withMargin({10, 20}, false, true).from == 0);
    const ValueSpan one = withMargin({7, 7}, false, false);
    CHECK((one.from < 7 && one.to > 7));
    const ValueSpan nothing = withMargin({0, 0}, false, true);
    CHECK(nothing.to > nothing.from);
    const ValueSpan logarithmic = withMargin({0, 5000}, true, false);
    CHECK((logarithmic.from > 0 && logarithmic.from <= 1 && logarithmic.to >= 5000));
}

TEST_CASE("the way back goes step by step, one gesture is one step") {
    ZoomHistory history;
    CHECK(!history.back());
    const Viewport first{{0, 100}, {}};
    const Viewport second{{0, 50}, {}};
    history.remember(first, 1);
    history.remember({{0, 80}, {}}, 1);  // the same wheel still turns
    history.remember(second, 2);
    CHECK(history.back() == second);
    CHECK(history.back() == first);
    CHECK(!history.back());
    for (std::int64_t i = 1; i < 1000; ++i) history.remember({{0, i}, {}}, -1);
    std::size_t steps = 0;
    while (history.back()) ++steps;
    CHECK(steps == kMaxZoomHistory);
}
