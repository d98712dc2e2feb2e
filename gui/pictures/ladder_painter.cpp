#include <gui/base/look.hpp>
#include <gui/pictures/ladder_painter.hpp>
#include <transport-replay/report/figures.hpp>

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

namespace qps::gui {

using namespace transport::series;
using dissect::Duration;
using dissect::Instant;
using transport::End;

namespace {

QColor colorOf(LadderTone tone, const QPalette& palette) {
    switch (tone) {
        case LadderTone::request: return color(Ink::Request, palette);
        case LadderTone::response: return color(Ink::Response, palette);
        case LadderTone::acknowledgment: return color(Ink::Acknowledgment, palette);
        case LadderTone::retransmission: return color(Ink::Retransmission, palette);
        case LadderTone::nak: return color(Ink::NegativeAcknowledgment, palette);
        case LadderTone::notification: return color(Ink::Notification, palette);
    }
    return color(Ink::Other, palette);
}

QString durationText(Duration length) { return QString::fromStdString(transport::duration_text(length)); }

// The parts of the picture, back to front.
class Brush {
public:
    Brush(QPainter& painter, const LadderGeometry& geometry, const LadderStyle& style)
        : painter_(painter), geometry_(geometry), style_(style), metrics_(style.font) {
        nanoseconds_ = style.start && needsNanoseconds(geometry.ladder, *style.start);
    }

    void body() {
        painter_.save();
        painter_.setClipRect(geometry_.lanes.body());
        painter_.setFont(style_.font);
        for (std::size_t i = 0; i < geometry_.ladder.lines.size(); ++i)
            if (geometry_.visible(i)) arrows_.push_back(geometry_.arrow(i));
        range();
        highlight();
        lanes();
        for (std::size_t i = 0; i < geometry_.layout.breaks().size(); ++i) silence(i);
        for (std::size_t i = 0; i < geometry_.ladder.waits.size(); ++i) wait(i);
        for (std::size_t i = 0; i < geometry_.ladder.lines.size(); ++i)
            if (geometry_.visible(i)) arrow(i);
        marks();
        for (std::size_t i = 0; i < geometry_.ladder.lines.size(); ++i)
            if (geometry_.visible(i)) texts(i);
        painter_.restore();
    }

    void heading() {
        painter_.save();
        const LadderLanes& lanes = geometry_.lanes;
        const QRectF area(lanes.area.topLeft(), QSizeF(lanes.area.width(), lanes.header));
        painter_.fillRect(area, style_.palette.color(QPalette::Window));
        painter_.setPen(style_.palette.color(QPalette::Mid));
        painter_.drawLine(area.bottomLeft(), area.bottomRight());
        painter_.setPen(style_.palette.color(QPalette::WindowText));
        painter_.setFont(style_.font);
        const double margin = metrics_.averageCharWidth();
        painter_.drawText(QRectF(area.left() + margin, area.top(), lanes.a - area.left(), area.height() / 2),
                          Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("Time (s)"));
        scaleMark(QRectF(area.left() + margin, area.center().y(), lanes.a - area.left() - margin, area.height() / 2));
        QFont bold = style_.font;
        bold.setBold(true);
        painter_.setFont(bold);
        const double half = (lanes.b - lanes.a) / 2 - margin;
        name(End::a, QRectF(lanes.a, area.top(), half, area.height()), Qt::AlignLeft | Qt::AlignVCenter,
             QFontMetricsF(bold));
        name(End::b, QRectF(lanes.b - half, area.top(), half, area.height()), Qt::AlignRight | Qt::AlignVCenter,
             QFontMetricsF(bold));
        painter_.restore();
    }

private:
    void name(End end, const QRectF& place, Qt::Alignment alignment, const QFontMetricsF& metrics) {
        const QString text =
            metrics.elidedText(style_.ends[static_cast<std::size_t>(end)], Qt::ElideMiddle, place.width());
        painter_.drawText(place, static_cast<int>(alignment), text);
    }

    // How long a line of text is in time, as a little ruler of a round length.
    void scaleMark(const QRectF& place) {
        if (style_.scale <= 0) return;
        const double fits = place.width() * 0.4 / style_.scale;
        const double power = std::pow(10.0, std::floor(std::log10(std::max(fits, 1.0))));
        const double length = fits >= 5 * power ? 5 * power : fits >= 2 * power ? 2 * power : power;
        const double width = length * style_.scale;
        if (width > place.width()) return;
        const double tick = metrics_.height() / 5;
        const double y = place.center().y();
        painter_.drawLine(QPointF(place.left(), y), QPointF(place.left() + width, y));
        painter_.drawLine(QPointF(place.left(), y - tick), QPointF(place.left(), y + tick));
        painter_.drawLine(QPointF(place.left() + width, y - tick), QPointF(place.left() + width, y + tick));
        const QRectF text = place.adjusted(width + metrics_.averageCharWidth(), 0, 0, 0);
        painter_.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                          durationText(Duration{static_cast<std::int64_t>(length)}));
    }

    // The time range that all views share.
    void range() {
        if (!style_.range) return;
        const QRectF body = geometry_.lanes.body();
        const double top = geometry_.screen(geometry_.layout.y_of(style_.range->first)) - geometry_.line / 2;
        const double bottom = geometry_.screen(geometry_.layout.y_of(style_.range->second)) + geometry_.line / 2;
        const QColor base = style_.palette.color(QPalette::Base);
        painter_.fillRect(QRectF(body.left(), top, body.width(), bottom - top) & body,
                          mixed(base, style_.palette.color(QPalette::Highlight), 0.12));
    }

    void highlight() {
        if (!style_.current || *style_.current >= geometry_.ladder.lines.size()) return;
        const QColor base = style_.palette.color(QPalette::Base);
        const QColor chosen =
            style_.palette.color(style_.focused ? QPalette::Active : QPalette::Inactive, QPalette::Highlight);
        painter_.fillRect(geometry_.row(*style_.current), mixed(base, chosen, style_.focused ? 0.35 : 0.2));
    }

    void lanes() {
        painter_.setPen(QPen(style_.palette.color(QPalette::Text), 1.5));
        const QRectF body = geometry_.lanes.body();
        const double bottom = std::min(body.bottom(), geometry_.screen(geometry_.layout.height()) + geometry_.line);
        for (const double x : {geometry_.lanes.a, geometry_.lanes.b})
            painter_.drawLine(QPointF(x, body.top()), QPointF(x, bottom));
    }

    // A wait that lasts as long as a silence gives it its name.
    [[nodiscard]] QString nameOf(const LadderBreak& silence) const {
        for (std::size_t i = 0; i < geometry_.ladder.waits.size(); ++i) {
            const LadderLayout::Extent& extent = geometry_.layout.waits()[i];
            if (extent.top <= silence.top && silence.bottom <= extent.bottom)
                return QString::fromStdString(geometry_.ladder.waits[i].label);
        }
        return durationText(silence.length);
    }

    void silence(std::size_t index) {
        const LadderBreak& silence = geometry_.layout.breaks()[index];
        const LadderLanes& lanes = geometry_.lanes;
        // The rows of the lines above and below stay theirs.
        const double top = geometry_.screen(silence.top) + 0.3 * geometry_.line;
        const double bottom = geometry_.screen(silence.bottom) - 0.9 * geometry_.line;
        if (bottom < lanes.body().top() || top > lanes.area.bottom()) return;
        const QColor base = style_.palette.color(QPalette::Base);
        const double wave = geometry_.line / 5;
        for (const double x : {lanes.a, lanes.b}) {
            painter_.fillRect(QRectF(x - 2, top, 4, bottom - top), base);
            QPainterPath path(QPointF(x, top));
            const int waves = std::max(2, static_cast<int>((bottom - top) / wave));
            for (int i = 1; i <= waves; ++i)
                path.lineTo(x + (i == waves ? 0 : i % 2 == 0 ? wave / 2 : -wave / 2), top + (bottom - top) * i / waves);
            painter_.setPen(QPen(style_.palette.color(QPalette::Text), 1));
            painter_.drawPath(path);
        }
        QString name = nameOf(silence);
        if (silence.marks != 0)
            name += QStringLiteral(", ") + QString::fromStdString(transport::counted(silence.marks, "packet"));
        painter_.setPen(mixed(base, style_.palette.color(QPalette::Text), 0.7));
        const QRectF middle(lanes.a, (top + bottom) / 2 - geometry_.line / 2, lanes.b - lanes.a, geometry_.line);
        painter_.drawText(middle, Qt::AlignCenter, metrics_.elidedText(name, Qt::ElideRight, middle.width()));
    }

    void wait(std::size_t index) {
        const QLineF bracket = geometry_.bracket(index);
        if (bracket.y2() < geometry_.lanes.body().top() || bracket.y1() > geometry_.lanes.area.bottom()) return;
        const End requester = geometry_.ladder.waits[index].requester;
        const double tooth = (requester == End::a ? 1 : -1) * geometry_.lanes.bracket / 3;
        painter_.setPen(QPen(color(Ink::Wait, style_.palette), 2));
        painter_.drawLine(bracket);
        painter_.drawLine(bracket.p1(), bracket.p1() + QPointF(tooth, 0));
        painter_.drawLine(bracket.p2(), bracket.p2() + QPointF(tooth, 0));
        const QString label = QString::fromStdString(geometry_.ladder.waits[index].label);
        if (metrics_.horizontalAdvance(label) > bracket.length()) return;  // the break or the tool tip says it
        painter_.save();
        painter_.translate(bracket.x1(), bracket.center().y());
        painter_.rotate(-90);
        const double side = requester == End::a ? -geometry_.line : 0;
        painter_.drawText(QRectF(-bracket.length() / 2, side, bracket.length(), geometry_.line), Qt::AlignCenter,
                          label);
        painter_.restore();
    }

    void arrow(std::size_t index) {
        const LadderLine& line = geometry_.ladder.lines[index];
        const QLineF arrow = geometry_.arrow(index);
        const QColor ink = colorOf(line.tone, style_.palette);
        painter_.setRenderHint(QPainter::Antialiasing);
        painter_.setPen(QPen(ink, line.collapsed ? 2.0 : 1.2));
        const double head = geometry_.line * 0.4;
        const QLineF unit = arrow.unitVector();
        const QPointF along(unit.dx(), unit.dy());
        const QPointF across(-along.y(), along.x());
        painter_.drawLine(arrow.p1(), arrow.p2() - along * head / 2);
        painter_.setPen(Qt::NoPen);
        painter_.setBrush(ink);
        painter_.drawPolygon(QPolygonF{arrow.p2(), arrow.p2() - along * head + across * head * 0.4,
                                       arrow.p2() - along * head - across * head * 0.4});
        painter_.setBrush(Qt::NoBrush);
        if (line.opens()) box(index, line.collapsed);
        painter_.setRenderHint(QPainter::Antialiasing, false);
    }

    void box(std::size_t index, bool plus) {
        const QRectF box = geometry_.box(index);
        painter_.setPen(QPen(style_.palette.color(QPalette::Text), 1));
        painter_.fillRect(box, style_.palette.color(QPalette::Base));
        painter_.drawRect(box);
        const double arm = box.width() * 0.3;
        painter_.drawLine(box.center() - QPointF(arm, 0), box.center() + QPointF(arm, 0));
        if (plus) painter_.drawLine(box.center() - QPointF(0, arm), box.center() + QPointF(0, arm));
    }

    // Where several share a pixel the one that refuses is seen, else the retransmission.
    void marks() {
        const auto weight = [](LadderTone tone) {
            return tone == LadderTone::nak ? 2 : tone == LadderTone::retransmission ? 1 : 0;
        };
        const QRectF body = geometry_.lanes.body();
        const auto& all = geometry_.layout.marks();
        std::array<std::pair<int, int>, 2> drawn{{{INT_MIN, 0}, {INT_MIN, 0}}};  // of each lane: its pixel and weight
        const auto begin = std::ranges::lower_bound(all, body.top() - geometry_.screen(0));
        for (auto each = begin; each != all.end() && geometry_.screen(*each) <= body.bottom(); ++each) {
            const auto index = static_cast<std::size_t>(each - all.begin());
            const LadderMark& mark = geometry_.ladder.marks[index];
            const QLineF tick = geometry_.tick(index);
            const int pixel = static_cast<int>(tick.y1());
            auto& before = drawn[static_cast<std::size_t>(mark.from)];
            const bool chosen = style_.mark == index;
            if (before.first == pixel && before.second >= weight(mark.tone) && !chosen) continue;
            before = {pixel, weight(mark.tone)};
            painter_.setPen(QPen(colorOf(mark.tone, style_.palette), chosen ? 4.0 : 1.5));
            painter_.drawLine(chosen ? QLineF(tick.p1(), tick.p1() + 2 * (tick.p2() - tick.p1())) : tick);
        }
    }

    // How many arrows run through a label that stands there.
    [[nodiscard]] int crossings(const QRectF& label) const {
        const std::array<QLineF, 4> sides{
            QLineF(label.topLeft(), label.topRight()), QLineF(label.topRight(), label.bottomRight()),
            QLineF(label.bottomRight(), label.bottomLeft()), QLineF(label.bottomLeft(), label.topLeft())};
        int found = 0;
        for (const QLineF& arrow : arrows_) {
            if (std::max(arrow.y1(), arrow.y2()) < label.top() || std::min(arrow.y1(), arrow.y2()) > label.bottom())
                continue;
            found += label.contains(arrow.p1()) || label.contains(arrow.p2()) ||
                     std::ranges::any_of(sides, [&](const QLineF& side) {
                         return side.intersects(arrow, nullptr) == QLineF::BoundedIntersection;
                     });
        }
        return found;
    }

    // Above the beginning of its arrow; where others cross it there, further along, else where the fewest do.
    [[nodiscard]] QRectF placeOf(std::size_t index, double width) const {
        constexpr std::array kPlaces{0.0, 0.35, 0.7, 1.0, 0.17, 0.52, 0.85};
        const LadderLine& line = geometry_.ladder.lines[index];
        const double pad = metrics_.averageCharWidth();
        const double free = std::max(0.0, geometry_.lanes.b - geometry_.lanes.a - 2 * pad - width);
        const double top = geometry_.arrow(index).y1() - 0.18 * geometry_.line - metrics_.ascent();
        std::optional<QRectF> best;
        int fewest = INT_MAX;
        for (const double place : kPlaces) {
            const double left = geometry_.lanes.a + pad + free * (line.from == End::a ? place : 1 - place);
            const QRectF here(left, top, width, metrics_.ascent());
            const int found = crossings(here);
            if (found >= fewest) continue;
            fewest = found;
            best = here;
            if (found == 0) break;
        }
        return best.value_or(QRectF(geometry_.lanes.a + pad, top, width, metrics_.ascent()));
    }

    // On a ground of its own where arrows cross it all the same.
    void texts(std::size_t index) {
        const LadderLine& line = geometry_.ladder.lines[index];
        const QLineF arrow = geometry_.arrow(index);
        const double pad = metrics_.averageCharWidth();
        const double room = geometry_.lanes.b - geometry_.lanes.a - 2 * pad;
        const QString label = metrics_.elidedText(QString::fromStdString(line.label), Qt::ElideRight, room);
        const double width = metrics_.horizontalAdvance(label);
        const QRectF place = placeOf(index, width);
        const bool chosen = style_.current == index;
        if (!chosen && crossings(place) != 0)
            painter_.fillRect(place.adjusted(-pad / 2, 0, pad / 2, 0), style_.palette.color(QPalette::Base));
        painter_.setPen(style_.palette.color(QPalette::Text));
        painter_.drawText(QPointF(place.left(), place.bottom()), label);
        if (!style_.start) return;
        const QRectF time(geometry_.lanes.area.left() + pad, arrow.y1() - geometry_.line / 2,
                          typeOf(style_.font, nanoseconds_).time, geometry_.line);
        painter_.setPen(
            mixed(style_.palette.color(QPalette::Base), style_.palette.color(QPalette::Text), chosen ? 1 : 0.75));
        painter_.drawText(time, Qt::AlignRight | Qt::AlignVCenter, timeText(line.begins, *style_.start, nanoseconds_));
    }

    QPainter& painter_;
    const LadderGeometry& geometry_;
    const LadderStyle& style_;
    QFontMetricsF metrics_;
    bool nanoseconds_ = false;
    std::vector<QLineF> arrows_;  // that may be seen
};

}  // namespace

LadderType typeOf(const QFont& font, bool nanoseconds) {
    const QFontMetricsF metrics(font);
    const double time =
        metrics.horizontalAdvance(nanoseconds ? QStringLiteral("00000.000000000") : QStringLiteral("00000.000000"));
    return {std::ceil(metrics.height() * 1.3), metrics.averageCharWidth(), time};
}

bool needsNanoseconds(const Ladder& ladder, Instant start) {
    return std::ranges::any_of(
        ladder.lines, [&](const LadderLine& line) { return std::to_underlying(line.begins - start) % 1000 != 0; });
}

QString timeText(Instant time, Instant start, bool nanoseconds) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    const std::int64_t since = std::to_underlying(time - start);
    const std::int64_t size = std::to_underlying(dissect::magnitude(Duration{since}));
    const QString fraction = QString::number(size % kSecond).rightJustified(9, u'0').left(nanoseconds ? 9 : 6);
    return QStringLiteral("%1%2.%3").arg(since < 0 ? QStringLiteral("-") : QString()).arg(size / kSecond).arg(fraction);
}

void paintLadder(QPainter& painter, const LadderGeometry& geometry, const LadderStyle& style) {
    painter.save();
    painter.setClipRect(geometry.lanes.area);
    painter.fillRect(geometry.lanes.area, style.palette.color(QPalette::Base));
    Brush brush(painter, geometry, style);
    brush.body();
    brush.heading();
    painter.restore();
}

}  // namespace qps::gui
