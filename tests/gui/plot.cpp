// The plot: where things lie, what is under the pointer, what keys and mouse do, and what a repaint costs.
#include <gui/pictures/plot.hpp>
#include <tests/support/catch.hpp>

#include <QSignalSpy>
#include <QTest>
#include <chrono>
#include <iostream>

#include "application.hpp"
#include "plot_samples.hpp"

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;

namespace {

constexpr std::int64_t kOrigin = 1'700'000'000'000'000'000;

struct ShownPlot : WithApplication {
    ShownPlot() {
        plot.resize(900, 600);
        plot.setData(samplePlot(kOrigin), true);
    }
    QPointF placeOf(std::size_t panel, std::int64_t time, double value) const {
        return {plot.layoutNow().time.pixel(time), plot.layoutNow().panels[panel].scale.pixel(value)};
    }
    Plot plot;
};

PlotLayout laidOut(const PlotData& data, QSizeF size) {
    const Viewport view{data.whole, std::vector<std::optional<ValueSpan>>(data.panels.size())};
    return layOut(data, view, {}, QRectF(QPointF(0, 0), size), QFontMetricsF(QFont()));
}

void drag(Plot& plot, QPointF from, QPointF to, Qt::MouseButton button, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mousePress(&plot, button, modifiers, from.toPoint());
    for (const double part : {0.5, 1.0}) {
        const QPointF at = from + (to - from) * part;
        QMouseEvent move(QEvent::MouseMove, at, plot.mapToGlobal(at), Qt::NoButton, button, modifiers);
        QApplication::sendEvent(&plot, &move);
    }
    QTest::mouseRelease(&plot, button, modifiers, to.toPoint());
}

}  // namespace

TEST_CASE("panels, axes and legend of a plot lie apart, inside the widget") {
    needApplication();
    const QSizeF size = GENERATE(QSizeF(300, 260), QSizeF(900, 600), QSizeF(2500, 400));
    const PlotLayout layout = laidOut(samplePlot(), size);
    const QRectF all(QPointF(0, 0), size);
    REQUIRE(layout.panels.size() == 2);
    CHECK(layout.panels[0].area.bottom() < layout.panels[1].title.top());
    CHECK(layout.panels[1].area.bottom() <= layout.timeLabels.top());
    CHECK(layout.panels[0].area.height() > layout.panels[1].area.height());
    for (const PanelBox& box : layout.panels) {
        CHECK(all.contains(box.area));
        CHECK(all.contains(box.title));
        for (const ValueTick& tick : box.ticks)
            CHECK(QFontMetricsF(QFont()).horizontalAdvance(tick.label) < box.area.left());
    }
    for (std::size_t i = 0; i < layout.legend.size(); ++i) {
        CHECK(all.contains(layout.legend[i].box));
        CHECK(!layout.legend[i].box.intersects(layout.panels[0].area));
        for (std::size_t j = 0; j < i; ++j) CHECK(!layout.legend[i].box.intersects(layout.legend[j].box));
    }
    CHECK(layout.legend.size() == 3);
}

TEST_CASE("what lies under the pointer has its packet") {
    const ShownPlot shown;
    const auto hit =
        hitAt(shown.plot.data(), shown.plot.layoutNow(), {}, shown.placeOf(0, 500'000'000, 1400) + QPointF(2, 2), 10);
    REQUIRE(hit);
    CHECK(hit->frame == FrameIndex{77});
    CHECK(describe(shown.plot.data(), *hit) == QStringLiteral("NAK: PSN 1400, at 500 ms, packet 77"));
    CHECK(!hitAt(shown.plot.data(), shown.plot.layoutNow(), {}, shown.placeOf(0, 100'000'000, 1900), 10));
    CHECK(!hitAt(shown.plot.data(), shown.plot.layoutNow(), {{0, 2}}, shown.placeOf(0, 500'000'000, 1400),
                 10));  // hidden
    const auto band = hitAt(shown.plot.data(), shown.plot.layoutNow(), {}, shown.placeOf(1, 250'000'000, 0.5), 10);
    REQUIRE(band);
    CHECK(describe(shown.plot.data(), *band) == QStringLiteral("priority 3: 100 ms, at 200 ms, packet 5"));
}

TEST_CASE("the next point and the one before are found from where the crosshair stands") {
    const ShownPlot shown;
    const QPointF at = shown.placeOf(0, 500'200'000, 1500);
    const auto& layout = shown.plot.layoutNow();
    const auto after =
        neighbour(shown.plot.data(), layout, {{0, 0}, {0, 1}}, shown.placeOf(0, 100'000'000, 1500), true);
    REQUIRE(after);
    CHECK(after->frame == FrameIndex{77});
    CHECK(!neighbour(shown.plot.data(), layout, {{0, 0}, {0, 1}}, shown.placeOf(0, 600'000'000, 1500), true));
    const auto before = neighbour(shown.plot.data(), layout, {}, at, false);
    REQUIRE(before);
    CHECK(shown.plot.data().timeOf(before->time) < 500'200'000);
}

TEST_CASE("values follow what is seen of the data") {
    const PlotData data = samplePlot();
    const ValueSpan part = automaticSpan(data, 0, {600'000'000, 700'000'000}, {});
    CHECK(part.from > 1500);
    CHECK(part.to < 1750);
    const ValueSpan withoutRequests = automaticSpan(data, 0, data.whole, {{0, 0}});
    CHECK(withoutRequests.from < 990);
    CHECK(withoutRequests.to > 1970);
}

TEST_CASE("the time of the data is that of its points and bands, with a little room, inside the whole") {
    PlotData data = samplePlot(kOrigin);
    data.whole = {-10'000'000'000, 10'000'000'000};
    const TimeSpan extent = extentOf(data);
    CHECK((extent.from < 0 && extent.from > -50'000'000));
    CHECK((extent.to > 1'030'000'000 && extent.to < 1'080'000'000));
    data.whole = {0, 500};
    CHECK(extentOf(data) == data.whole);
    CHECK(extentOf(PlotData{}) == PlotData{}.whole);
}

TEST_CASE("PSNs that were counted on are told as the packet has them") {
    PlotData data = samplePlot(kOrigin);
    const Hit hit{{0, 0}, data.origin, (1 << 24) + 5, FrameIndex{9}, {}, {}, 0};
    CHECK(describe(data, hit) == QStringLiteral("request: PSN 5, at 0 ns, packet 9"));
}

TEST_CASE("a click selects the packet under it") {
    ShownPlot shown;
    QSignalSpy chosen(&shown.plot, &Plot::packetChosen);
    QTest::mouseClick(&shown.plot, Qt::LeftButton, {}, shown.placeOf(0, 500'000'000, 1400).toPoint());
    REQUIRE(chosen.size() == 1);
    CHECK(chosen.first().first().value<Hit>().frame == FrameIndex{77});
    QTest::mouseClick(&shown.plot, Qt::LeftButton, {}, shown.placeOf(0, 100'000'000, 1900).toPoint());
    CHECK(chosen.size() == 1);
}

TEST_CASE("dragging pans, zooms or draws a range") {
    ShownPlot shown;
    Plot& plot = shown.plot;
    QSignalSpy ranges(&plot, &Plot::rangeChosen);
    const QPointF from = shown.placeOf(0, 200'000'000, 1800);
    const QPointF to = shown.placeOf(0, 400'000'000, 1300);

    drag(plot, from, to, Qt::LeftButton, Qt::ControlModifier);
    REQUIRE(ranges.size() == 1);
    const auto range = ranges.first().first().value<std::optional<TimeSpan>>();
    REQUIRE(range);
    CHECK(range->from == Approx(200'000'000).epsilon(0.01));
    CHECK(range->to == Approx(400'000'000).epsilon(0.01));
    drag(plot, to, from, Qt::RightButton);
    CHECK(ranges.size() == 2);
    CHECK(plot.view().time == plot.data().whole);

    drag(plot, from, to, Qt::LeftButton, Qt::ShiftModifier);
    CHECK(plot.view().time.from == Approx(200'000'000).epsilon(0.01));
    CHECK(plot.view().time.to == Approx(400'000'000).epsilon(0.01));
    REQUIRE(plot.view().values[0]);
    CHECK(plot.view().values[0]->from == Approx(1300).epsilon(0.01));
    CHECK(plot.view().values[0]->to == Approx(1800).epsilon(0.01));

    const TimeSpan before = plot.view().time;
    drag(plot, QPointF(400, 200), QPointF(300, 200), Qt::LeftButton);
    CHECK(plot.view().time.from > before.from);
    CHECK(plot.view().time.length() == Approx(before.length()).epsilon(1e-6));
    plot.goBack();
    CHECK(plot.view().time == before);
    plot.goBack();
    CHECK(plot.view().time == plot.data().whole);
    CHECK(!plot.canGoBack());
    CHECK(ranges.size() == 2);
}

TEST_CASE("the wheel zooms around the pointer") {
    ShownPlot shown;
    const QPointF at = shown.placeOf(0, 300'000'000, 1500);
    QWheelEvent event(at, at, {}, QPoint(0, 120), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&shown.plot, &event);
    CHECK(shown.plot.view().time.length() == Approx(1e9 / kZoomStep).epsilon(1e-6));
    CHECK(shown.plot.layoutNow().time.pixel(300'000'000) == Approx(at.x()).margin(1));
}

TEST_CASE("keys alone do all of it") {
    ShownPlot shown;
    Plot& plot = shown.plot;
    QSignalSpy wanted(&plot, &Plot::packetWanted);
    QSignalSpy ranges(&plot, &Plot::rangeChosen);
    QSignalSpy words(&plot, &Plot::pointedAt);

    QTest::keyClick(&plot, Qt::Key_Plus);
    CHECK(plot.view().time.length() == Approx(1e9 / kZoomStep).epsilon(1e-6));
    QTest::keyClick(&plot, Qt::Key_Left);
    QTest::keyClick(&plot, Qt::Key_Y);
    CHECK(plot.view().values[0].has_value());
    QTest::keyClick(&plot, Qt::Key_0);
    CHECK(plot.view().time == plot.data().whole);
    CHECK(!plot.view().values[0].has_value());
    QTest::keyClick(&plot, Qt::Key_Backspace);
    CHECK(plot.view().values[0].has_value());
    QTest::keyClick(&plot, Qt::Key_0);

    QTest::keyClick(&plot, Qt::Key_1);  // requests off
    QTest::keyClick(&plot, Qt::Key_2);
    CHECK(!plot.isLayerVisible({0, 0}));
    QTest::keyClick(&plot, Qt::Key_Left, Qt::ControlModifier);
    REQUIRE(plot.crosshair());
    for (int i = 0; i < 50; ++i) QTest::keyClick(&plot, Qt::Key_Left, Qt::ControlModifier);
    QTest::keyClick(&plot, Qt::Key_BracketLeft);
    QTest::keyClick(&plot, Qt::Key_N);
    CHECK(words.last().first().toString().contains(QStringLiteral("packet 77")));
    QTest::keyClick(&plot, Qt::Key_G);
    REQUIRE(wanted.size() == 1);
    CHECK(wanted.first().first().value<Hit>().frame == FrameIndex{77});
    QTest::keyClick(&plot, Qt::Key_BracketRight);
    REQUIRE(ranges.size() == 2);
    plot.setRange(TimeSpan{1, 1000});
    QTest::keyClick(&plot, Qt::Key_Escape);
    REQUIRE(ranges.size() == 3);
    CHECK(!ranges.last().first().value<std::optional<TimeSpan>>());
    QTest::keyClick(&plot, Qt::Key_Space);
    CHECK(plot.dragZooms());
}

TEST_CASE("more data keeps the part that one looks at, and all where all was seen") {
    ShownPlot shown;
    PlotData longer = samplePlot(kOrigin);
    longer.whole.to = 2'000'000'000;
    longer.home = longer.whole;
    shown.plot.setData(longer, false);
    CHECK(shown.plot.view().time == longer.whole);
    shown.plot.setTime({100, 100'000});
    longer.whole.to = 3'000'000'000;
    longer.home = longer.whole;
    shown.plot.setData(longer, false);
    CHECK(shown.plot.view().time == TimeSpan{100, 100'000});
    shown.plot.setData(longer, true);
    CHECK(shown.plot.view().time == longer.whole);
}

TEST_CASE("the line of a percentile does not go through the name of another") {
    ShownPlot shown;
    const double low = shown.plot.layoutNow().panels[0].scale.pixel(1500);
    const double close = shown.plot.layoutNow().panels[0].scale.value(low - 5);
    const auto painted = [&](std::vector<Guide> guides) {
        PlotData data = samplePlot(kOrigin);
        data.panels[0].guides = std::move(guides);
        shown.plot.setData(data, true);
        return shown.plot.grab().toImage();
    };
    const QImage one = painted({{QStringLiteral("99 %"), 1500}});
    const QImage both = painted({{QStringLiteral("99 %"), 1500}, {QStringLiteral("99.9 %"), close}});
    const PanelBox box = shown.plot.layoutNow().panels[0];
    const int row = static_cast<int>(box.scale.pixel(close));
    // How much the second line changes the row where it lies: far to the left it is seen, in the name of the first it
    // is a shade.
    const auto change = [&](int from, int to) {
        int most = 0;
        for (int x = from; x < to; ++x)
            for (int y = row - 1; y <= row + 1; ++y)
                most = std::max(most, std::abs(qGray(one.pixel(x, y)) - qGray(both.pixel(x, y))));
        return most;
    };
    const int right = static_cast<int>(box.area.right());
    CHECK(change(static_cast<int>(box.area.left()) + 20, static_cast<int>(box.area.left()) + 60) > 60);
    CHECK(change(right - 40, right - 2) < 50);
}

TEST_CASE("ten million points are painted within a frame of the screen") {
    needApplication();
    constexpr std::size_t kMany = 10'000'000;
    const auto noise = [](std::size_t i) { return static_cast<std::int64_t>((i * 2654435761U) % 1'000'003); };
    PlotData data;
    data.origin = qps::dissect::Instant{kOrigin};
    data.whole = {0, static_cast<std::int64_t>(kMany) * 100};
    const Shape shape = GENERATE(Shape::Marks, Shape::Line, Shape::Steps, Shape::Area);
    Panel panel{.title = QStringLiteral("values")};
    panel.layers.push_back({.name = QStringLiteral("noise"),
                            .ink = Ink::Request,
                            .shape = shape,
                            .points = pointSeries(kOrigin, kMany, 100, noise)});
    data.panels = {panel};

    const QRectF bounds(0, 0, 1600, 900);
    QImage image(1600, 900, QImage::Format_RGB32);
    const PlotStyle style{QPalette(), QFont(), 1};
    double least = 1e9;
    for (int round = 0; round < 5; ++round) {
        const auto begun = processorTime();
        QPainter painter(&image);
        const PlotLayout layout = layOut(data, {data.whole, {std::nullopt}}, {}, bounds, QFontMetricsF(style.font));
        paintPlot(painter, data, layout, {}, style);
        painter.end();
        least = std::min(least, std::chrono::duration<double, std::milli>(processorTime() - begun).count());
    }
    std::cout << "repaint of 10 M points, shape " << static_cast<int>(shape) << ": " << least << " ms\n";
    // Of computing: what is painted is bounded by the pixels, but only time shows whether all points were read for it.
    // 16 ms with optimisation; this may be compiled to be debugged.
    CHECK(least < 160);
}
