// Draws one layer of a plot. What it costs follows from the pixels it covers, not from the points it has.
#pragma once

#include <gui/pictures/plot_layout.hpp>

#include <QPainter>

namespace qps::gui {

struct LayerPlace {
    QRectF area;  // of the panel, or of the layer's row
    TimeScale time;
    ValueScale values;
    bool row = false;        // values do not count: all lies in the middle
    double deviceRatio = 1;  // pixels of the device for one of ours
    double markSize = 5;     // of the longest marks
    QColor ground{};         // that the picture is painted on
    std::size_t rows = 0;    // of the panel, for spans
};

void paintLayer(QPainter& painter, const PlotData& data, const Layer& layer, const LayerPlace& place,
                const QColor& color);
// Its sign in the legend.
void paintSign(QPainter& painter, const Layer& layer, const QRectF& box, const QColor& color);

}  // namespace qps::gui
