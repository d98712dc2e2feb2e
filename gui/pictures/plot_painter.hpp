// Paints a plot: ground, grid, axes, legend and layers; and what lies over them: the range, the packet in question, the
// crosshair. The same for the screen, an image and an SVG.
#pragma once

#include <gui/pictures/plot_layout.hpp>

#include <QPainter>
#include <QPalette>
#include <optional>

namespace qps::gui {

struct PlotStyle {
    QPalette palette;
    QFont font;
    double deviceRatio = 1;  // pixels of the device for one of ours
};

struct Overlay {
    std::optional<TimeSpan> range;       // the shared time range
    std::optional<std::int64_t> packet;  // when the packet in question was
    std::optional<QPointF> crosshair;
    std::optional<QRectF> rubber;  // that will be zoomed to
};

void paintPlot(QPainter& painter, const PlotData& data, const PlotLayout& layout, const Hidden& hidden,
               const PlotStyle& style);
void paintOverlay(QPainter& painter, const PlotLayout& layout, const Overlay& overlay, const PlotStyle& style);
// Where there is nothing to draw: a sentence in the middle.
void paintNotice(QPainter& painter, const QRectF& bounds, const QString& text, const PlotStyle& style);

}  // namespace qps::gui
