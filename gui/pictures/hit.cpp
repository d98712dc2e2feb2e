#include <gui/pictures/hit.hpp>

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <cmath>

namespace qps::gui {

using transport::series::Range;

namespace {

QString words(const char* text) { return QCoreApplication::translate("Plot", text); }

Hit hitOf(const PlotData& data, const PlotLayout& layout, LayerId id, std::size_t position) {
    const Panel& panel = data.panels[id.panel];
    const PanelBox& box = layout.panels[id.panel];
    const auto& point = panel.layers[id.layer].points->points()[position];
    const double y = panel.lanes ? box.laneOf(id.layer).center().y() : box.scale.pixel(static_cast<double>(point.y));
    Hit hit{id,
            point.time,
            ownValue(panel, id.layer, position),
            point.frame,
            QPointF(layout.time.pixel(data.timeOf(point.time)), y),
            {},
            position};
    if (panel.lanes) hit.value.reset();
    return hit;
}

Range rangeAround(const PlotData& data, const PlotLayout& layout, double x, double radius) {
    return data.range({layout.time.time(x - radius), layout.time.time(x + radius)});
}

std::int64_t wholeValue(double value) {
    constexpr double kFarthest = 9.2e18;  // inside 64 bits
    return static_cast<std::int64_t>(std::clamp(value, -kFarthest, kFarthest));
}

std::optional<Hit> pointNear(const PlotData& data, const PlotLayout& layout, LayerId id, QPointF at, double radius) {
    const Panel& panel = data.panels[id.panel];
    const Layer& layer = panel.layers[id.layer];
    const PanelBox& box = layout.panels[id.panel];
    std::int64_t least = INT64_MIN;
    std::int64_t most = INT64_MAX;
    if (panel.lanes) {
        if (!box.laneOf(id.layer).contains(at)) return std::nullopt;
    } else {
        least = wholeValue(std::floor(box.scale.value(at.y() + radius)));
        most = wholeValue(std::ceil(box.scale.value(at.y() - radius)));
    }
    const auto position = layer.points->nearest(rangeAround(data, layout, at.x(), radius),
                                                data.instant(layout.time.time(at.x())), least, most);
    return position ? std::optional(hitOf(data, layout, id, *position)) : std::nullopt;
}

std::optional<Hit> bandAt(const PlotData& data, const PlotLayout& layout, LayerId id, QPointF at, double radius) {
    const Panel& panel = data.panels[id.panel];
    if (panel.lanes && !layout.panels[id.panel].laneOf(id.layer).contains(at)) return std::nullopt;
    const Band* band = panel.layers[id.layer].bands->at(rangeAround(data, layout, at.x(), std::min(radius, 2.0)));
    if (band == nullptr) return std::nullopt;
    return Hit{id, band->from, std::nullopt, band->frame, at, panel.layers[id.layer].textOf(*band), 0};
}

// The shortest span under the pointer: what lies over longer ones is meant. One narrower than a pixel or two has its
// width all the same.
void spanAt(const PlotData& data, const PlotLayout& layout, LayerId id, QPointF at, std::optional<Hit>& best) {
    const Layer& layer = data.panels[id.panel].layers[id.layer];
    const PanelBox& box = layout.panels[id.panel];
    const Range near = rangeAround(data, layout, at.x(), kLeastSpan);
    for (const Band& span : layer.bands->all()) {
        if (span.from >= near.to) break;
        if (span.to < near.from || !box.rowOf(span.row).contains(at)) continue;
        const dissect::Duration length = span.to - span.from;
        if (best && best->length && *best->length < length) continue;
        best = Hit{id, span.from, std::nullopt, span.frame, at, layer.textOf(span), 0, length};
    }
}

// Every visible layer of a panel that has something.
template <class Visit> void eachLayer(const PlotData& data, const Hidden& hidden, std::size_t panel, Visit visit) {
    for (std::size_t i = 0; i < data.panels[panel].layers.size(); ++i)
        if (!hidden.contains({panel, i}) && !data.panels[panel].layers[i].empty())
            visit(LayerId{panel, i}, data.panels[panel].layers[i]);
}

double distance(QPointF a, QPointF b) { return std::hypot(a.x() - b.x(), a.y() - b.y()); }

}  // namespace

std::optional<Hit> hitAt(const PlotData& data, const PlotLayout& layout, const Hidden& hidden, QPointF at,
                         double radius) {
    const auto panel = layout.panelAt(at);
    if (!panel) return std::nullopt;
    std::optional<Hit> best;
    // Near ones first: what is looked for is what the pointer is on.
    for (const double reach : std::array{radius / 4, radius / 2, radius}) {
        eachLayer(data, hidden, *panel, [&](LayerId id, const Layer& layer) {
            if (layer.stretches()) return;
            const auto hit = pointNear(data, layout, id, at, reach);
            if (hit && (!best || distance(hit->at, at) < distance(best->at, at))) best = hit;
        });
        if (best) return best;
    }
    eachLayer(data, hidden, *panel, [&](LayerId id, const Layer& layer) {
        if (layer.shape == Shape::Spans) spanAt(data, layout, id, at, best);
        else if (!best && layer.shape == Shape::Bands) best = bandAt(data, layout, id, at, radius);
    });
    return best;
}

std::optional<Hit> neighbour(const PlotData& data, const PlotLayout& layout, const Hidden& hidden, QPointF from,
                             bool forward) {
    const auto panel = layout.panelAt(from);
    if (!panel) return std::nullopt;
    const double pixel = 0.5;  // what lies under the crosshair already is not next
    std::optional<Hit> best;
    eachLayer(data, hidden, *panel, [&](LayerId id, const Layer& layer) {
        if (layer.stretches()) return;
        const auto& points = layer.points->points();
        const auto edge = data.instant(layout.time.time(from.x() + (forward ? pixel : -pixel)));
        const std::size_t at = layer.points->lower_bound(edge, 0);
        if (forward ? at == points.size() : at == 0) return;
        const Hit hit = hitOf(data, layout, id, forward ? at : at - 1);
        if (!best || (forward ? hit.time < best->time : hit.time > best->time)) best = hit;
    });
    return best;
}

std::optional<QString> sideAt(const PlotData& data, const PlotLayout& layout, QPointF at) {
    for (std::size_t i = 0; i < layout.panels.size(); ++i) {
        const PanelBox& box = layout.panels[i];
        if (!box.side.contains(at)) continue;
        const double value = box.scale.value(at.y());
        for (const SideBar& bar : data.panels[i].side)
            if (bar.from <= value && value < bar.to)
                return words("%1: %2 to %3")
                    .arg(bar.count)
                    .arg(valueText(bar.from, data.panels[i].quantity), valueText(bar.to, data.panels[i].quantity));
    }
    return std::nullopt;
}

namespace {

// Numbers that wrap are counted on, so that lines do not break; the packet has what is left of them.
QString numberText(std::int64_t value, Quantity quantity) {
    if (quantity == Quantity::Psn) return words("PSN %1").arg(value & dissect::Psn::kMask);
    if (quantity == Quantity::TcpSequence) return words("sequence number %1").arg(value & UINT32_MAX);
    return valueText(static_cast<double>(value), quantity);
}

}  // namespace

QString describe(const PlotData& data, const Hit& hit) {
    const Panel& panel = data.panels[hit.id.panel];
    QString text = panel.layers[hit.id.layer].name;
    if (hit.value) {
        text += QLatin1String(": ") + numberText(*hit.value, panel.quantity);
    } else if (!hit.text.isEmpty()) {
        text += QLatin1String(": ") + hit.text;
    }
    const Shape shape = panel.layers[hit.id.layer].shape;
    if (panel.bin > 0 && (shape == Shape::Steps || shape == Shape::Area))
        text += words(" in a bin of %1").arg(exactTimeText(panel.bin));
    text += words(", at %1").arg(exactTimeText(data.timeOf(hit.time)));
    if (hit.frame != dissect::FrameIndex{}) text += words(", packet %1").arg(std::to_underlying(hit.frame));
    return text;
}

}  // namespace qps::gui
