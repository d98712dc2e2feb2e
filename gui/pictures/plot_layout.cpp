#include <gui/pictures/plot_layout.hpp>

#include <QCoreApplication>
#include <algorithm>
#include <numeric>

namespace qps::gui {

namespace {

constexpr double kAbovePanel = 0.25;    // of a line, between the title and the data
constexpr double kBelowPanel = 0.65;    // half a label of the values reaches down
constexpr double kSideShare = 0.14;     // of the width, for bars beside the data
constexpr double kRoomOfExtent = 0.02;  // before the first and after the last point
constexpr double kBoldWider = 1.2;      // than the plain letters that are measured
constexpr double kMostOfWidth = 0.25;   // that names of lanes may take

double widthOf(const QFontMetricsF& font, const QString& text) { return font.horizontalAdvance(text); }

bool has(const Hidden& hidden, std::size_t panel, std::size_t layer) { return hidden.contains({panel, layer}); }

// Positions of the points that a part of the time shows: those inside, and for lines and steps the one before and the
// one after.
std::pair<std::size_t, std::size_t> shownPoints(const Layer& layer, const transport::series::Range& range) {
    std::size_t first = layer.points->lower_bound(range.from, 0);
    std::size_t end = layer.points->lower_bound(range.to, first);
    if (layer.shape != Shape::Marks && first > 0) --first;
    if (layer.shape == Shape::Line && end < layer.points->points().size()) ++end;
    return {first, end};
}

std::optional<ValueSpan> extremesOf(const Panel& panel, std::size_t number, const transport::series::Range& range,
                                    const Hidden& hidden) {
    std::optional<ValueSpan> all;
    for (std::size_t i = 0; i < panel.layers.size(); ++i) {
        const Layer& layer = panel.layers[i];
        if (layer.empty() || layer.stretches() || has(hidden, number, i)) continue;
        const auto [first, end] = shownPoints(layer, range);
        if (first >= end) continue;
        const auto extremes = layer.points->extremes(first, end);
        const ValueSpan span{static_cast<double>(extremes.least), static_cast<double>(extremes.most)};
        all = all ? ValueSpan{std::min(all->from, span.from), std::max(all->to, span.to)} : span;
    }
    return all;
}

// Puts the title and the legend of a panel in rows above it; returns the height they take.
class HeaderRows {
public:
    HeaderRows(const QRectF& bounds, const QFontMetricsF& font) : bounds_(bounds), font_(font) {}

    double place(const PlotData& data, std::size_t number, double top, PlotLayout& layout) {
        const Panel& panel = data.panels[number];
        PanelBox& box = layout.panels[number];
        const double row = font_.height() * 1.3;
        const double space = widthOf(font_, QStringLiteral("0")) * 1.5;
        double left = bounds_.left() + space / 2;
        box.titleText = font_.elidedText(panel.title + panel.note + panel.subject, Qt::ElideRight,
                                         bounds_.width() / kBoldWider - space);
        box.title = QRectF(left, top, widthOf(font_, box.titleText) * kBoldWider, row);
        left = box.title.right() + 2 * space;
        const double sign = font_.height() * 0.8;
        for (std::size_t i = 0; i < panel.layers.size() && !panel.lanes; ++i) {
            const QString name =
                font_.elidedText(panel.layers[i].name, Qt::ElideRight, bounds_.width() - sign - 2 * space);
            const double width = sign + space / 2 + widthOf(font_, name) + space;
            if (left + width > bounds_.right() && left > bounds_.left() + space) {
                left = bounds_.left() + space / 2;
                top += row;
            }
            layout.legend.push_back(
                {{number, i}, QRectF(left, top, width, row), QRectF(left, top + (row - sign) / 2, sign, sign), name});
            left += width;
        }
        return top + row;
    }

private:
    QRectF bounds_;
    QFontMetricsF font_;
};

void placeLanes(const Panel& panel, std::size_t number, const Hidden& hidden, const QFontMetricsF& font, double widest,
                PanelBox& box) {
    box.lanes.resize(panel.layers.size());
    for (std::size_t i = 0; i < panel.layers.size(); ++i) {
        if (has(hidden, number, i)) continue;
        const bool shares = panel.layers[i].sharesLane && i != 0 && box.lanes[i - 1];
        box.lanes[i] = shares ? box.lanes[i - 1] : box.laneCount++;
    }
    box.scale.span = {0, static_cast<double>(std::max<std::size_t>(1, box.laneCount))};
    const bool fits = box.area.height() >= font.height() * static_cast<double>(box.laneCount);
    for (std::size_t i = 0; i < panel.layers.size() && fits; ++i) {
        if (!box.lanes[i] || (i != 0 && box.lanes[i] == box.lanes[i - 1])) continue;
        const double middle = static_cast<double>(box.laneCount) - static_cast<double>(*box.lanes[i]) - 0.5;
        box.ticks.push_back({middle, font.elidedText(panel.layers[i].name, Qt::ElideRight, widest)});
    }
}

// Of rows that are too narrow for a name each, only so many have one as there is room for.
void placeRows(const Panel& panel, const QFontMetricsF& font, double widest, PanelBox& box) {
    box.laneCount = panel.rows.size();
    box.scale.span = {0, static_cast<double>(box.laneCount)};
    const double fit = std::max(1.0, std::floor(box.area.height() / font.height()));
    const auto step = static_cast<std::size_t>(std::ceil(static_cast<double>(box.laneCount) / fit));
    for (std::size_t i = 0; i < box.laneCount; i += step)
        box.ticks.push_back(
            {static_cast<double>(box.laneCount - i) - 0.5, font.elidedText(panel.rows[i], Qt::ElideRight, widest)});
}

std::vector<double> headers(const PlotData& data, const QRectF& bounds, const QFontMetricsF& font) {
    // The heights alone: placed for good when the heights of the panels are known.
    std::vector<double> heights;
    PlotLayout trial;
    trial.panels.resize(data.panels.size());
    for (std::size_t i = 0; i < data.panels.size(); ++i)
        heights.push_back(HeaderRows(bounds, font).place(data, i, 0, trial));
    return heights;
}

}  // namespace

QRectF PanelBox::laneOf(std::size_t layer) const {
    return layer < lanes.size() && lanes[layer] ? rowOf(*lanes[layer]) : area;
}

QRectF PanelBox::rowOf(std::size_t row) const {
    if (laneCount == 0) return area;
    const double height = area.height() / static_cast<double>(laneCount);
    return {area.left(), area.top() + height * static_cast<double>(row) + height * 0.1, area.width(), height * 0.8};
}

QRectF PlotLayout::areaOfAll() const {
    return panels.empty() ? bounds : QRectF(panels.front().area.topLeft(), panels.back().area.bottomRight());
}

std::optional<std::size_t> PlotLayout::panelAt(QPointF point) const {
    for (std::size_t i = 0; i < panels.size(); ++i)
        if (panels[i].area.contains(point)) return i;
    return std::nullopt;
}

std::optional<LayerId> PlotLayout::legendAt(QPointF point) const {
    for (const LegendEntry& entry : legend)
        if (entry.box.contains(point)) return entry.id;
    return std::nullopt;
}

TimeSpan extentOf(const PlotData& data) {
    std::optional<TimeSpan> all;
    const auto add = [&](dissect::Instant from, dissect::Instant to) {
        const TimeSpan span{data.timeOf(from), data.timeOf(to)};
        all = all ? TimeSpan{std::min(all->from, span.from), std::max(all->to, span.to)} : span;
    };
    for (const Panel& panel : data.panels) {
        for (const Layer& layer : panel.layers) {
            if (layer.empty()) continue;
            if (!layer.stretches()) add(layer.points->points().front().time, layer.points->points().back().time);
            else
                for (const Band& band : layer.bands->all()) add(band.from, band.to);
        }
    }
    if (!all) return data.whole;
    const auto room = static_cast<std::int64_t>(all->length() * kRoomOfExtent);
    return limited({std::max(data.whole.from, dissect::saturating::subtract(all->from, room)),
                    std::min(data.whole.to, dissect::saturating::add(all->to, room))},
                   data.whole);
}

std::int64_t ownValue(const Panel& panel, std::size_t layer, std::size_t position) {
    const std::int64_t value = panel.layers[layer].points->points()[position].y;
    if (!panel.layers[layer].stacked || layer + 1 == panel.layers.size()) return value;
    const Layer& below = panel.layers[layer + 1];
    if (!below.stacked || below.empty() || position >= below.points->points().size()) return value;
    return value - below.points->points()[position].y;
}

ValueSpan automaticSpan(const PlotData& data, std::size_t panel, TimeSpan time, const Hidden& hidden) {
    const Panel& of = data.panels[panel];
    auto span = extremesOf(of, panel, data.range(time), hidden);
    if (!span) span = extremesOf(of, panel, data.range(data.whole), hidden);
    if (!span) span = ValueSpan{of.logarithmic ? 1.0 : 0.0, of.logarithmic ? 10.0 : 1.0};
    return withMargin(*span, of.logarithmic, of.fromZero);
}

PlotLayout layOut(const PlotData& data, const Viewport& view, const Hidden& hidden, const QRectF& bounds,
                  const QFontMetricsF& font) {
    PlotLayout layout;
    layout.bounds = bounds;
    layout.panels.resize(data.panels.size());
    const double line = font.height();
    const double digit = widthOf(font, QStringLiteral("0"));
    const double laneWidth = bounds.width() * kMostOfWidth;

    const std::vector<double> above = headers(data, bounds, font);
    const double below = line * 2.6;  // labels and the title of the time
    const int weights = std::accumulate(data.panels.begin(), data.panels.end(), 0,
                                        [](int sum, const Panel& panel) { return sum + panel.weight; });
    const double gaps =
        line * (kAbovePanel + kBelowPanel) * static_cast<double>(std::max<std::size_t>(1, data.panels.size()));
    const double height =
        std::max(0.0, bounds.height() - below - gaps - std::accumulate(above.begin(), above.end(), 0.0));

    // First from top to bottom: the labels of the values tell how far to the right the data begins.
    double top = bounds.top();
    double widest = digit * 4;
    for (std::size_t i = 0; i < data.panels.size(); ++i) {
        const Panel& panel = data.panels[i];
        PanelBox& box = layout.panels[i];
        top = HeaderRows(bounds, font).place(data, i, top, layout) + line * kAbovePanel;
        const double own = height * panel.weight / std::max(1, weights);
        box.area = QRectF(bounds.left(), top, bounds.width(), own);
        top += own + line * kBelowPanel;
        box.scale = {{0, 1}, panel.logarithmic && !panel.named(), box.area.bottom(), std::max(1.0, own)};
        if (panel.lanes) {
            placeLanes(panel, i, hidden, font, laneWidth, box);
        } else if (!panel.rows.empty()) {
            placeRows(panel, font, laneWidth, box);
        } else {
            const bool chosen = i < view.values.size() && view.values[i];
            box.scale.span = chosen ? *view.values[i] : automaticSpan(data, i, view.time, hidden);
            box.ticks = valueTicks(box.scale, panel.quantity, [line](const QString&) { return line * 1.1; });
        }
        for (const ValueTick& tick : box.ticks) widest = std::max(widest, widthOf(font, tick.label));
    }

    const double left = std::min(bounds.left() + widest + digit * 1.5, bounds.right() - 1);
    const bool beside = std::ranges::any_of(data.panels, [](const Panel& panel) { return !panel.side.empty(); });
    const double end = std::max(left + 1, bounds.right() - digit * 1.5);
    const double right = beside ? std::max(left + 1, end - (end - left) * kSideShare) : end;
    for (std::size_t i = 0; i < layout.panels.size(); ++i) {
        QRectF& area = layout.panels[i].area;
        area.setLeft(left);
        area.setRight(right);
        if (!data.panels[i].side.empty())
            layout.panels[i].side = QRectF(QPointF(right + digit, area.top()), QPointF(end, area.bottom()));
    }
    layout.time = {view.time, left, right - left};
    // Labels may reach out under the labels of the values.
    const auto extent = [&](const QString& label) { return widthOf(font, label) + 2 * digit; };
    layout.timeTicks = timeTicks(layout.time, extent, left - bounds.left() + digit, bounds.right() - right + digit);
    layout.timeLabels = QRectF(bounds.left(), bounds.bottom() - below + line * 0.15, bounds.width(), line * 1.1);
    layout.timeTitle = QRectF(left, bounds.bottom() - line * 1.2, right - left, line * 1.1);
    return layout;
}

}  // namespace qps::gui
