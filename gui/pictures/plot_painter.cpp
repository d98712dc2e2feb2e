#include <gui/base/look.hpp>
#include <gui/pictures/layer_painter.hpp>
#include <gui/pictures/plot_painter.hpp>

#include <QCoreApplication>
#include <algorithm>

namespace qps::gui {

namespace {

constexpr double kGridShare = 0.10;  // of the text's colour in the ground's
constexpr double kFrameShare = 0.45;
constexpr double kHiddenShare = 0.40;  // of a name in the legend that is switched off
constexpr double kRangeOpacity = 0.18;

QColor between(const PlotStyle& style, double share) {
    return mixed(style.palette.color(QPalette::Base), style.palette.color(QPalette::Text), share);
}

QColor withOpacity(QColor color, double opacity) {
    color.setAlphaF(static_cast<float>(opacity));
    return color;
}

// Lines of one pixel are sharp where they go through its middle.
double sharp(double at) { return std::floor(at) + 0.5; }

void paintTimeAxis(QPainter& painter, const QString& named, const PlotLayout& layout, const PlotStyle& style) {
    const QFontMetricsF font(style.font);
    for (const TimeTick& tick : layout.timeTicks) {
        const double x = sharp(layout.time.pixel(tick.time));
        painter.setPen(between(style, tick.label.isEmpty() ? kGridShare / 2 : kGridShare));
        for (const PanelBox& box : layout.panels) painter.drawLine(QLineF(x, box.area.top(), x, box.area.bottom()));
        if (tick.label.isEmpty()) continue;
        painter.setPen(style.palette.color(QPalette::Text));
        const double width = font.horizontalAdvance(tick.label) + 2;
        painter.drawText(QRectF(x - width / 2, layout.timeLabels.top(), width, layout.timeLabels.height()),
                         Qt::AlignCenter | Qt::TextSingleLine, tick.label);
    }
    const QString title = named.isEmpty() ? QCoreApplication::translate("Plot", "Time since start of capture") : named;
    painter.setPen(between(style, 0.75));
    painter.drawText(layout.timeTitle, Qt::AlignCenter | Qt::TextSingleLine,
                     font.elidedText(title, Qt::ElideRight, layout.timeTitle.width()));
}

void paintValueAxis(QPainter& painter, const PanelBox& box, bool lanes, const PlotStyle& style) {
    const double line = QFontMetricsF(style.font).height();
    const double gap = QFontMetricsF(style.font).horizontalAdvance(QLatin1Char('0')) * 0.5;
    for (const ValueTick& tick : box.ticks) {
        const double y = box.scale.pixel(tick.value);
        if (y < box.area.top() - 1 || y > box.area.bottom() + 1) continue;
        if (!lanes) {
            painter.setPen(between(style, tick.label.isEmpty() ? kGridShare / 2 : kGridShare));
            painter.drawLine(QLineF(box.area.left(), sharp(y), box.area.right(), sharp(y)));
        }
        painter.setPen(style.palette.color(QPalette::Text));
        painter.drawText(QRectF(0, y - line / 2, box.area.left() - gap, line),
                         Qt::AlignRight | Qt::AlignVCenter | Qt::TextSingleLine, tick.label);
    }
}

// A name stands above its line; where the one below it needs that place, further up, with a mark at its line.
void paintGuides(QPainter& painter, const Panel& panel, const PanelBox& box, const PlotStyle& style) {
    const QFontMetricsF font(style.font);
    double free = box.area.bottom() + 1;  // guides come from low to high; their names must not touch
    const QPen pen(between(style, 0.65), 1, Qt::DashLine);
    const auto is_seen = [&](double y) { return y >= box.area.top() && y <= box.area.bottom(); };
    painter.setPen(pen);  // all lines before any name: none goes through the name of another
    for (const Guide& guide : panel.guides)
        if (const double y = box.scale.pixel(guide.value); is_seen(y))
            painter.drawLine(QLineF(box.area.left(), sharp(y), box.area.right(), sharp(y)));
    for (const Guide& guide : panel.guides) {
        const double y = box.scale.pixel(guide.value);
        if (!is_seen(y)) continue;
        const double bottom = std::min(y, free);
        if (bottom - font.height() < box.area.top()) continue;
        const QString text = guide.name + QLatin1String("  ") + valueText(guide.value, panel.quantity);
        const double width = font.horizontalAdvance(text) + font.averageCharWidth();
        const QRectF label(box.area.right() - width, bottom - font.height(), width, font.height());
        QColor ground = style.palette.color(QPalette::Base);
        ground.setAlphaF(0.85F);
        painter.fillRect(label, ground);
        painter.setPen(style.palette.color(QPalette::Text));
        painter.drawText(label, Qt::AlignCenter | Qt::TextSingleLine, text);
        if (bottom < y - 1) {
            painter.setPen(between(style, 0.65));
            painter.drawLine(QLineF(label.left() - 4, sharp(y), label.left(), label.center().y()));
        }
        free = label.top();
    }
}

void paintSide(QPainter& painter, const Panel& panel, const PanelBox& box, const PlotStyle& style) {
    if (box.side.width() < 1) return;
    std::uint64_t most = 1;
    for (const SideBar& bar : panel.side) most = std::max(most, bar.count);
    painter.save();
    painter.setClipRect(box.side);
    const QColor color = between(style, 0.5);
    for (const SideBar& bar : panel.side) {
        const double top = box.scale.pixel(bar.to);
        const double height = std::max(1.0, box.scale.pixel(bar.from) - top - 1);
        const double width =
            std::max(1.0, box.side.width() * static_cast<double>(bar.count) / static_cast<double>(most));
        painter.fillRect(QRectF(box.side.left(), top, width, height), color);
    }
    painter.restore();
}

void paintLegend(QPainter& painter, const PlotData& data, const PlotLayout& layout, const Hidden& hidden,
                 const PlotStyle& style) {
    for (const LegendEntry& entry : layout.legend) {
        const Layer& layer = data.panels[entry.id.panel].layers[entry.id.layer];
        const bool off = hidden.contains(entry.id);
        const QColor ground = style.palette.color(QPalette::Base);
        paintSign(painter, layer, entry.sign,
                  mixed(ground, color(layer.ink, style.palette), off ? kHiddenShare : layer.strength));
        painter.setPen(off ? between(style, kHiddenShare) : style.palette.color(QPalette::Text));
        QFont font = style.font;
        font.setStrikeOut(off);
        painter.setFont(font);
        const double left = entry.sign.right() + entry.sign.width() * 0.4;
        painter.drawText(QRectF(left, entry.box.top(), entry.box.right() - left, entry.box.height()),
                         Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine, entry.name);
    }
    painter.setFont(style.font);
}

void paintLayers(QPainter& painter, const PlotData& data, std::size_t number, const PlotLayout& layout,
                 const Hidden& hidden, const PlotStyle& style) {
    const Panel& panel = data.panels[number];
    const PanelBox& box = layout.panels[number];
    const double mark = std::max(5.0, QFontMetricsF(style.font).height() * 0.5);
    for (const bool behind : {true, false}) {
        for (std::size_t i = 0; i < panel.layers.size(); ++i) {
            const Layer& layer = panel.layers[i];
            const bool isBehind = layer.shape == Shape::Bands || layer.faint;
            if (isBehind != behind || hidden.contains({number, i})) continue;
            const LayerPlace place{panel.lanes ? box.laneOf(i) : box.area,
                                   layout.time,
                                   box.scale,
                                   panel.lanes,
                                   style.deviceRatio,
                                   mark,
                                   style.palette.color(QPalette::Base),
                                   panel.rows.size()};
            paintLayer(painter, data, layer, place, color(layer.ink, style.palette));
        }
    }
}

}  // namespace

void paintPlot(QPainter& painter, const PlotData& data, const PlotLayout& layout, const Hidden& hidden,
               const PlotStyle& style) {
    painter.save();
    painter.setFont(style.font);
    painter.fillRect(layout.bounds, style.palette.color(QPalette::Base));
    paintTimeAxis(painter, data.timeTitle, layout, style);
    for (std::size_t i = 0; i < layout.panels.size(); ++i) {
        const PanelBox& box = layout.panels[i];
        paintValueAxis(painter, box, data.panels[i].named(), style);
        paintLayers(painter, data, i, layout, hidden, style);
        paintGuides(painter, data.panels[i], box, style);
        paintSide(painter, data.panels[i], box, style);
        painter.setPen(between(style, kFrameShare));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(sharp(box.area.left()), sharp(box.area.top()), std::floor(box.area.width()),
                                std::floor(box.area.height())));
        QFont bold = style.font;
        bold.setBold(true);
        painter.setPen(style.palette.color(QPalette::Text));
        painter.setFont(bold);
        painter.drawText(box.title, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine, box.titleText);
        painter.setFont(style.font);
    }
    paintLegend(painter, data, layout, hidden, style);
    painter.restore();
}

void paintOverlay(QPainter& painter, const PlotLayout& layout, const Overlay& overlay, const PlotStyle& style) {
    if (layout.panels.empty()) return;
    painter.save();
    const QRectF all = layout.areaOfAll();
    painter.setClipRect(all);
    const QColor accent = style.palette.color(QPalette::Highlight);
    const auto place = [&](std::int64_t time) {
        return std::clamp(layout.time.pixel(time), all.left() - 10, all.right() + 10);
    };
    if (overlay.range) {
        const QRectF shaded(QPointF(place(overlay.range->from), all.top()),
                            QPointF(place(overlay.range->to), all.bottom()));
        painter.fillRect(shaded, withOpacity(accent, kRangeOpacity));
        painter.setPen(QPen(accent, 1));
        painter.drawLine(QLineF(sharp(shaded.left()), all.top(), sharp(shaded.left()), all.bottom()));
        painter.drawLine(QLineF(sharp(shaded.right()), all.top(), sharp(shaded.right()), all.bottom()));
    }
    if (overlay.packet) {
        painter.setPen(QPen(accent, 2));
        painter.drawLine(QLineF(place(*overlay.packet), all.top(), place(*overlay.packet), all.bottom()));
    }
    if (overlay.crosshair) {
        painter.setPen(QPen(between(style, 0.7), 1, Qt::DotLine));
        painter.drawLine(QLineF(sharp(overlay.crosshair->x()), all.top(), sharp(overlay.crosshair->x()), all.bottom()));
        painter.drawLine(QLineF(all.left(), sharp(overlay.crosshair->y()), all.right(), sharp(overlay.crosshair->y())));
    }
    if (overlay.rubber) {
        painter.setPen(QPen(accent, 1, Qt::DashLine));
        painter.setBrush(withOpacity(accent, kRangeOpacity));
        painter.drawRect(overlay.rubber->normalized());
    }
    painter.restore();
}

void paintNotice(QPainter& painter, const QRectF& bounds, const QString& text, const PlotStyle& style) {
    painter.save();
    painter.setFont(style.font);
    painter.fillRect(bounds, style.palette.color(QPalette::Base));
    painter.setPen(between(style, 0.75));
    const double margin = std::min(bounds.width(), bounds.height()) * 0.08;
    painter.drawText(bounds.adjusted(margin, margin, -margin, -margin), Qt::AlignCenter | Qt::TextWordWrap, text);
    painter.restore();
}

}  // namespace qps::gui
