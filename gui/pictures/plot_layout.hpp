// PlotLayout: where everything of a plot lies: panels, axes, ticks, legend. No widgets, only the measures of a font.
//
// Invariant: texts lie inside the bounds and do not touch one another; what does not fit is shortened with dots, or
// left out.
#pragma once

#include <gui/pictures/plot_data.hpp>
#include <gui/pictures/viewport.hpp>

#include <QFontMetricsF>
#include <QRectF>
#include <optional>
#include <set>

namespace qps::gui {

using Hidden = std::set<LayerId>;

inline constexpr double kLeastSpan = 2;  // pixels: spans are no narrower

struct LegendEntry {
    LayerId id;
    QRectF box;    // sign and name
    QRectF sign;   // of it
    QString name;  // as it fits
};

struct PanelBox {
    QRectF area;  // of the data
    QRectF side;  // of the bars beside it; empty: it has none
    QRectF title;
    QString titleText;
    ValueScale scale;
    std::vector<ValueTick> ticks;
    std::vector<std::optional<std::size_t>> lanes;         // of each layer: its row; only where the panel has lanes
    std::size_t laneCount = 0;                             // or rows of spans
    [[nodiscard]] QRectF laneOf(std::size_t layer) const;  // its row, or the whole area
    [[nodiscard]] QRectF rowOf(std::size_t row) const;     // of laneCount; the whole area where there are none
};

struct PlotLayout {
    QRectF bounds;
    TimeScale time;
    std::vector<TimeTick> timeTicks;
    QRectF timeLabels;  // the row of their labels
    QRectF timeTitle;
    std::vector<PanelBox> panels;
    std::vector<LegendEntry> legend;

    [[nodiscard]] QRectF areaOfAll() const;
    [[nodiscard]] std::optional<std::size_t> panelAt(QPointF point) const;
    [[nodiscard]] std::optional<LayerId> legendAt(QPointF point) const;
};

// The values that a panel's layers have in a part of the time, with a margin; where they have none, those of all the
// time.
[[nodiscard]] ValueSpan automaticSpan(const PlotData& data, std::size_t panel, TimeSpan time, const Hidden& hidden);

[[nodiscard]] PlotLayout layOut(const PlotData& data, const Viewport& view, const Hidden& hidden, const QRectF& bounds,
                                const QFontMetricsF& font);

}  // namespace qps::gui
