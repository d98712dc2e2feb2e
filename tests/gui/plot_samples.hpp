// Plots to order for tests: a few points whose places are known, and ten million.
#pragma once

#include <gui/pictures/plot_data.hpp>

#include <cmath>

namespace qps::gui::tests {

using transport::series::Point;

inline Point pointAt(std::int64_t nanoseconds, std::int64_t value, std::uint64_t frame) {
    return {dissect::Instant{nanoseconds}, value, dissect::FrameIndex{frame}};
}

inline std::shared_ptr<const Points> shared(std::vector<Point> points) {
    return std::make_shared<const Points>(std::move(points));
}

// `count` points, `step` nanoseconds apart from `origin` on.
template <class Value>
std::shared_ptr<const Points> pointSeries(std::int64_t origin, std::size_t count, std::int64_t step, Value value) {
    std::vector<Point> points;
    points.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        points.push_back(
            pointAt(origin + static_cast<std::int64_t>(i) * step, static_cast<std::int64_t>(value(i)), i + 1));
    return shared(std::move(points));
}

// A second of capture that began at `origin`: a panel of values with a line and marks, one of rows.
inline PlotData samplePlot(std::int64_t origin = 1'700'000'000'000'000'000, std::size_t count = 1000) {
    const auto step = static_cast<std::int64_t>(1'000'000'000 / count);
    PlotData data;
    data.origin = dissect::Instant{origin};
    data.whole = {0, 1'000'000'000};
    data.home = data.whole;
    Panel values{.title = QStringLiteral("PSN"), .quantity = Quantity::Psn, .weight = 3};
    values.layers.push_back({.name = QStringLiteral("request"),
                             .ink = Ink::Request,
                             .shape = Shape::Marks,
                             .mark = MarkShape::Stroke,
                             .points = pointSeries(origin, count, step, [](std::size_t i) { return 1000 + i; })});
    values.layers.push_back({.name = QStringLiteral("acknowledged"),
                             .ink = Ink::Acknowledgment,
                             .shape = Shape::Steps,
                             .mark = MarkShape::Dot,
                             .points = pointSeries(origin + 40'000'000, count / 10, 10 * step,
                                                   [](std::size_t i) { return 990 + 10 * i; })});
    values.layers.push_back({.name = QStringLiteral("NAK"),
                             .ink = Ink::NegativeAcknowledgment,
                             .shape = Shape::Marks,
                             .mark = MarkShape::Cross,
                             .points = shared({pointAt(origin + 500'000'000, 1400, 77)})});
    Panel rows{.title = QStringLiteral("Pauses"), .lanes = true};
    rows.layers.push_back({.name = QStringLiteral("priority 3"),
                           .ink = Ink::Pause,
                           .shape = Shape::Bands,
                           .bands = std::make_shared<const Bands>(std::vector<Band>{
                               {dissect::Instant{origin + 200'000'000}, dissect::Instant{origin + 300'000'000},
                                dissect::FrameIndex{5}, QStringLiteral("100 ms")}})});
    data.panels = {values, rows};
    return data;
}

}  // namespace qps::gui::tests
