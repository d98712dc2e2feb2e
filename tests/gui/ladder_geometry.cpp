// Where the parts of a ladder lie, and what a pointer hits.
#include <gui/pictures/ladder_painter.hpp>
#include <tests/support/catch.hpp>

using namespace qps::gui;
using namespace qps::transport::series;
using qps::dissect::Duration;
using qps::dissect::FrameIndex;
using qps::dissect::Instant;
using qps::transport::End;

namespace {

const LadderType kType{20, 8, 80};

LadderLine line(std::int64_t begins, std::int64_t ends, End from = End::a, bool collapsed = false) {
    LadderLine made;
    made.begins = Instant{begins};
    made.ends = Instant{ends};
    made.from = from;
    made.collapsed = collapsed;
    made.entry = 0;
    return made;
}

// A request that lasts 4000 ns, its answer, silence, another request of end b.
struct Drawn {
    Ladder ladder;
    LadderLayout layout;
    LadderGeometry geometry;
    Drawn()
        : ladder{{line(0, 4000, End::a, true), line(6000, 6000, End::b), line(900'000, 900'000, End::b, true)},
                 {{End::a, Instant{2000}, FrameIndex{2}, LadderTone::request}},
                 {{End::a, Instant{0}, Instant{6000}, {}, FrameIndex{1}, {}, "wait"}},
                 0},
          layout(ladder, {.scale = 0.02, .line = 20, .longest_gap = 200, .broken_gap = 70}),
          geometry{ladder, layout, LadderLanes::of({0, 0, 600, 400}, kType), 20, 0} {}
};

}  // namespace

TEST_CASE("Lanes keep their order in any area", "[gui][ladder]") {
    for (const double width : {0.0, 10.0, 100.0, 300.0, 2000.0}) {
        const LadderLanes lanes = LadderLanes::of({50, 10, width, 300}, kType);
        CHECK(lanes.a < lanes.b);
        CHECK(lanes.a >= 50);
        if (width >= 300) CHECK(lanes.b < 50 + width);
        CHECK(lanes.body().top() == Approx(50));
    }
}

TEST_CASE("A mark stands beside the lane of who sent its packet, at its time", "[gui][ladder]") {
    const Drawn drawn;
    const QLineF tick = drawn.geometry.tick(0);
    CHECK(tick.x1() == Approx(drawn.geometry.lanes.a));
    CHECK(tick.x2() > tick.x1());
    CHECK(tick.y1() == Approx(drawn.geometry.screen(40)));
    CHECK(drawn.geometry.markAt(tick.center()) == 0U);
    CHECK_FALSE(drawn.geometry.markAt(tick.center() + QPointF(0, 20)));
    CHECK_FALSE(drawn.geometry.markAt(QPointF(drawn.geometry.lanes.b, tick.y1())));
}

TEST_CASE("Arrows lead from lane to lane, and the box stands outside where they begin", "[gui][ladder]") {
    const Drawn drawn;
    const LadderGeometry& here = drawn.geometry;
    CHECK(here.arrow(0).x1() == Approx(here.lanes.a));
    CHECK(here.arrow(0).x2() == Approx(here.lanes.b));
    CHECK(here.arrow(0).dy() == Approx(80));
    CHECK(here.arrow(1).x1() == Approx(here.lanes.b));
    CHECK(here.arrow(1).dy() == Approx(0));
    CHECK(here.box(0).right() < here.lanes.a);
    CHECK(here.box(2).left() > here.lanes.b);
    CHECK(here.box(2).right() < 600);
    CHECK(here.bracket(0).x1() < here.box(0).left());
    CHECK(here.bracket(0).x1() - here.line >= kType.time + kType.character);  // its name covers no time
    CHECK(here.bracket(0).length() == Approx(120));
}

TEST_CASE("A pointer hits lines, boxes, waits and broken silences", "[gui][ladder]") {
    const Drawn drawn;
    const LadderGeometry& here = drawn.geometry;
    CHECK(here.lineAt(here.arrow(0).center()) == 0U);
    CHECK(here.lineAt(here.arrow(1).p2() + QPointF(30, -3)) == 1U);
    CHECK(here.lineAt(here.row(2).center()) == 2U);
    CHECK_FALSE(here.lineAt({here.lanes.b - 5, here.arrow(0).y1() + 30}));
    CHECK_FALSE(here.lineAt({here.lanes.a + 5, 5}));  // the heading
    CHECK(here.boxAt(here.box(2).center()) == 2U);
    CHECK_FALSE(here.boxAt(here.box(1).center()));  // nothing to open
    CHECK(here.waitAt(here.bracket(0).center()) == 0U);
    CHECK_FALSE(here.waitAt(here.bracket(0).center() + QPointF(30, 0)));
    CHECK(here.breakAt({200, here.arrow(1).y1() + 35}) == 0U);
    CHECK_FALSE(here.breakAt({200, here.arrow(1).y1() - 5}));
}

TEST_CASE("What is scrolled away is not in sight", "[gui][ladder]") {
    Drawn drawn;
    CHECK(drawn.geometry.visible(0));
    CHECK(drawn.geometry.visible(2));
    drawn.geometry.offset = 180;
    CHECK_FALSE(drawn.geometry.visible(0));
    CHECK(drawn.geometry.visible(2));
    drawn.geometry.lanes.area.setHeight(60);
    drawn.geometry.offset = 0;
    CHECK(drawn.geometry.visible(0));
    CHECK_FALSE(drawn.geometry.visible(2));
}

TEST_CASE("Distances from a line end at its ends", "[gui][ladder]") {
    CHECK(distance({5, 3}, {0, 0, 10, 0}) == Approx(3));
    CHECK(distance({13, 4}, {0, 0, 10, 0}) == Approx(5));
    CHECK(distance({3, 4}, {0, 0, 0, 0}) == Approx(5));
}

TEST_CASE("The natural scale gives half of the lines room", "[gui][ladder]") {
    Ladder ladder;
    CHECK(naturalScale(ladder, 20) > 0);
    for (const std::int64_t time : {0, 0, 100, 1100, 1'001'100}) ladder.lines.push_back(line(time, time));
    CHECK(naturalScale(ladder, 20) == Approx(30.0 / 1000));
}

TEST_CASE("A window of messages holds what is in sight and what surrounds it", "[gui][ladder]") {
    CHECK(LadderWindow::around(0, 10) == LadderWindow{0, 10, 10});
    CHECK(LadderWindow::around(0, 10).whole());
    CHECK(LadderWindow::around(5, 0) == LadderWindow{0, 0, 0});
    for (const std::size_t message : {0U, 1U, 63U, 64U, 500U, 999U, 1000U, 5000U}) {
        const LadderWindow window = LadderWindow::around(message, 1000);
        CHECK(window.first <= window.end);
        CHECK(window.end <= 1000);
        if (message < 1000) {
            CHECK(window.first <= message);
            CHECK(message < window.end);
        }
        CHECK_FALSE(window.leaves(std::min<std::size_t>(message, 999), std::min<std::size_t>(message + 100, 999)));
    }
    const LadderWindow middle = LadderWindow::around(500, 1000);
    CHECK(middle.leaves(middle.first, 500));
    CHECK(middle.leaves(500, middle.end - 1));
    CHECK_FALSE(LadderWindow::around(999, 1000).leaves(990, 999));
}

TEST_CASE("Times are seconds since the start, as fine as they have to be", "[gui][ladder]") {
    CHECK(timeText(Instant{1'500'000'123}, Instant{500'000'000}, false) == QStringLiteral("1.000000"));
    CHECK(timeText(Instant{1'500'000'123}, Instant{500'000'000}, true) == QStringLiteral("1.000000123"));
    CHECK(timeText(Instant{0}, Instant{1500}, true) == QStringLiteral("-0.000001500"));
    Ladder ladder;
    ladder.lines.push_back(line(5000, 5000));
    CHECK_FALSE(needsNanoseconds(ladder, Instant{0}));
    CHECK(needsNanoseconds(ladder, Instant{1}));
}
