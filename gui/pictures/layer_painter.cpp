#include <gui/base/look.hpp>
#include <gui/pictures/layer_painter.hpp>

#include <QImage>
#include <QPaintEngine>
#include <QPolygonF>
#include <QVarLengthArray>
#include <algorithm>
#include <cmath>
#include <optional>

namespace qps::gui {

namespace {

constexpr std::size_t kMarksOfColumn = 24;  // more in two pixels of width show nothing new
constexpr std::size_t kFewPoints = 500;
constexpr std::size_t kGroundPixels = 4;
constexpr std::size_t kManyPoints = 5'000;
constexpr double kLeastDot = 4;                        // pixels; smaller ones look like dust
constexpr double kCrowdedDot = 2;                      // where many would cover one another
constexpr double kLeastStroke = 7;                     // pixels long
constexpr std::array kSizeShares{0.6, 1.0, 1.5, 2.2};  // of marks of several sizes
static_assert(kSizeShares.size() == kMarkSizes);
constexpr double kStrokeWidth = 2;
constexpr double kFillOpacity = 0.25;
constexpr double kBandOpacity = 0.14;
constexpr double kHatched = 3;       // pixels; narrower bands show no pattern
constexpr double kHatchShare = 0.4;  // of the colour: what lies over the bands is looked at first

double xOf(const PlotData& data, const LayerPlace& place, dissect::Instant at) {
    // Far outside the picture painters lose their exactness.
    const double x = place.time.pixel(data.timeOf(at));
    return std::clamp(x, place.area.left() - 10, place.area.right() + 10);
}

double yOf(const LayerPlace& place, std::int64_t value) {
    if (place.row) return place.area.center().y();
    return std::clamp(place.values.pixel(static_cast<double>(value)), place.area.top() - 1e4,
                      place.area.bottom() + 1e4);
}

std::size_t columnsOf(const LayerPlace& place) {
    return static_cast<std::size_t>(
        std::clamp(place.area.width() * place.deviceRatio, 1.0, static_cast<double>(Points::kMaxColumns)));
}

// The way of a line or a staircase through its points: of each column the first, the extremes and the last.
QPolygonF wayOf(const PlotData& data, const Layer& layer, const LayerPlace& place) {
    const Points& points = *layer.points;
    const auto range = data.range(place.time.span);
    const bool steps = layer.shape != Shape::Line;
    QPolygonF way;
    const auto go = [&](double x, double y) {
        if (steps && !way.isEmpty()) way.append(QPointF(x, way.back().y()));
        way.append(QPointF(x, y));
    };
    const std::size_t first = points.lower_bound(range.from, 0);
    if (first > 0) go(xOf(data, place, points.points()[first - 1].time), yOf(place, points.points()[first - 1].y));
    std::size_t next = first;
    for (const auto& column : points.columns(range, columnsOf(place))) {
        const auto& begin = points.points()[column.first];
        const auto& last = points.points()[column.first + column.count - 1];
        const double x = xOf(data, place, begin.time);
        go(x, yOf(place, begin.y));
        if (column.count > 2) {
            way.append(QPointF(x, yOf(place, column.extremes.least)));
            way.append(QPointF(x, yOf(place, column.extremes.most)));
        }
        if (column.count > 1) go(xOf(data, place, last.time), yOf(place, last.y));
        next = column.first + column.count;
    }
    if (next < points.points().size()) {
        const auto& after = points.points()[next];
        go(xOf(data, place, after.time),
           steps ? (way.isEmpty() ? yOf(place, after.y) : way.back().y()) : yOf(place, after.y));
    } else if (steps && !way.isEmpty() && layer.shape == Shape::Steps) {
        go(std::max(way.back().x(), place.area.right()), way.back().y());  // what was said last still holds
    }
    return way;
}

// The way along which the ground below a staircase ends. Where columns are full of points, that is their lowest, a few
// pixels wide: what lies above it the line covers, and narrow upright pieces cost most.
QPolygonF groundOf(const PlotData& data, const Layer& layer, const LayerPlace& place, const QPolygonF& way) {
    const std::size_t columns = columnsOf(place);
    if (static_cast<std::size_t>(way.size()) < 2 * columns) return way;
    QPolygonF lowest;
    const auto range = data.range(place.time.span);
    for (const auto& column : layer.points->columns(range, columns / kGroundPixels + 1)) {
        const double x = xOf(data, place, layer.points->points()[column.first].time);
        lowest.append(QPointF(x, yOf(place, column.extremes.least)));
    }
    if (!way.isEmpty()) lowest.append(way.back());
    return lowest;
}

// Upright pieces, one a step: one polygon of them all would cost the square of its corners. They begin and end between
// pixels of the device and are opaque: painters fill these many times faster, and give what shines through to other
// threads, piece by piece.
void paintGround(QPainter& painter, const QPolygonF& way, const LayerPlace& place, const QColor& color) {
    const auto snapped = [&](double at) { return std::round(at * place.deviceRatio) / place.deviceRatio; };
    const double ground = snapped(std::clamp(place.values.pixel(0), place.area.top(), place.area.bottom()));
    const QColor fill = mixed(place.ground, color, kFillOpacity);
    for (qsizetype i = 0; i + 1 < way.size(); ++i) {
        const double left = snapped(way[i].x());
        const double right = snapped(way[i + 1].x());
        if (right > left)
            painter.fillRect(QRectF(QPointF(left, snapped(way[i].y())), QPointF(right, ground)).normalized(), fill);
    }
}

// Where columns are full of points: of each its extent, joined to the one before. As rectangles of whole pixels, which
// painters fill ten times faster than they draw lines.
void paintFullColumns(QPainter& painter, const PlotData& data, const Layer& layer, const LayerPlace& place,
                      const QColor& color) {
    const double pixel = 1 / place.deviceRatio;
    const auto snapped = [&](double at) { return std::floor(at * place.deviceRatio) / place.deviceRatio; };
    std::optional<QPointF> before;
    const auto upright = [&](double x, double top, double bottom) {
        painter.fillRect(QRectF(x, top, pixel, bottom - top + pixel), color);
    };
    const auto& points = layer.points->points();
    for (const auto& column : layer.points->columns(data.range(place.time.span), columnsOf(place))) {
        const double x = snapped(xOf(data, place, points[column.first].time));
        double top = snapped(yOf(place, column.extremes.most));
        double bottom = snapped(yOf(place, column.extremes.least));
        if (before) {
            if (x > before->x() + pixel)
                painter.fillRect(QRectF(before->x(), before->y(), x - before->x(), pixel), color);
            top = std::min(top, before->y());
            bottom = std::max(bottom, before->y());
        }
        upright(x, std::max(top, place.area.top()), std::min(bottom, place.area.bottom()));
        before = QPointF(x, snapped(yOf(place, points[column.first + column.count - 1].y)));
    }
}

void paintLine(QPainter& painter, const PlotData& data, const Layer& layer, const LayerPlace& place,
               const QColor& color) {
    const QPolygonF way = wayOf(data, layer, place);
    if (layer.shape == Shape::Area) paintGround(painter, groundOf(data, layer, place, way), place, color);
    if (layer.shape != Shape::Line && static_cast<std::size_t>(way.size()) > 3 * columnsOf(place))
        return paintFullColumns(painter, data, layer, place, color);
    // Where columns are full, lines are upright anyway; smoothing them would cost much and show nothing.
    const bool slanted = layer.shape == Shape::Line && static_cast<double>(way.size()) < place.area.width();
    painter.setRenderHint(QPainter::Antialiasing, slanted);
    // Dashes cost much, and are seen only where there is room for them.
    const bool dashed = layer.line != Qt::SolidLine && static_cast<double>(way.size()) < place.area.width() / 2;
    painter.setPen(QPen(color, slanted || dashed ? 1.5 : 1, dashed ? layer.line : Qt::SolidLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(way);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

// One mark for each cell of the picture, so that points that share a place are drawn once.
class Cells {
public:
    Cells(const QRectF& area, double size)
        : area_(area),
          size_(size),
          across_(static_cast<std::size_t>(area.width() / size) + 2),
          taken_(across_ * (static_cast<std::size_t>(area.height() / size) + 2)) {}
    bool take(QPointF at) {
        const auto column = static_cast<std::size_t>((at.x() - area_.left()) / size_);
        const auto row = static_cast<std::size_t>((at.y() - area_.top()) / size_);
        const std::size_t cell = row * across_ + column;
        if (column >= across_ || cell >= taken_.size() || taken_[cell]) return false;
        taken_[cell] = true;
        return true;
    }

private:
    QRectF area_;
    double size_;
    std::size_t across_;
    std::vector<bool> taken_;
};

QRectF strokeAt(QPointF at, double size) { return {at.x() - kStrokeWidth / 2, at.y() - size / 2, kStrokeWidth, size}; }

void paintMark(QPainter& painter, MarkShape shape, QPointF at, double size) {
    const double half = size / 2;
    switch (shape) {
        case MarkShape::Dot:
            painter.fillRect(QRectF(at.x() - half, at.y() - half, size, size), painter.pen().color());
            break;
        case MarkShape::Stroke: painter.fillRect(strokeAt(at, size), painter.pen().color()); break;
        case MarkShape::Square: painter.drawRect(QRectF(at.x() - half, at.y() - half, size, size)); break;
        case MarkShape::Cross:
            painter.drawLine(QLineF(at.x() - half, at.y() - half, at.x() + half, at.y() + half));
            painter.drawLine(QLineF(at.x() - half, at.y() + half, at.x() + half, at.y() - half));
            break;
        case MarkShape::Diamond: {
            const std::array corners{at + QPointF(0, -half), at + QPointF(half, 0), at + QPointF(0, half),
                                     at + QPointF(-half, 0)};
            painter.drawConvexPolygon(corners.data(), static_cast<int>(corners.size()));
            break;
        }
        case MarkShape::Triangle: {
            const std::array corners{at + QPointF(0, -half), at + QPointF(half, half), at + QPointF(-half, half)};
            painter.drawConvexPolygon(corners.data(), static_cast<int>(corners.size()));
            break;
        }
        case MarkShape::Ring: painter.drawEllipse(at, half, half); break;
    }
}

double sizeOf(MarkShape shape, double longest) {
    switch (shape) {
        case MarkShape::Dot: return std::max(kLeastDot, std::floor(longest * 0.5));
        case MarkShape::Stroke: return std::max(kLeastStroke, longest * 0.8);
        default: return longest;
    }
}

void preparePen(QPainter& painter, MarkShape shape, const QColor& color) {
    painter.setPen(QPen(color, 1.5));
    painter.setBrush(shape == MarkShape::Ring || shape == MarkShape::Square ? QBrush(Qt::NoBrush) : QBrush(color));
    painter.setRenderHint(QPainter::Antialiasing, shape != MarkShape::Dot && shape != MarkShape::Stroke);
}

// A mark drawn once, to be put down many times: a smooth outline costs some 3 us, an image a tenth. Only onto pixels:
// what is printed or saved as SVG keeps its outlines.
std::optional<QImage> stampOf(const QPainter& painter, MarkShape shape, double size, double deviceRatio,
                              std::size_t marks) {
    if (marks < kFewPoints || painter.paintEngine()->type() != QPaintEngine::Raster ||
        painter.transform().type() > QTransform::TxTranslate)
        return std::nullopt;
    const int side =
        2 * static_cast<int>(std::ceil((size / 2 + 2) * deviceRatio));  // even: its middle lies between pixels
    QImage stamp(side, side, QImage::Format_ARGB32_Premultiplied);
    stamp.setDevicePixelRatio(deviceRatio);
    stamp.fill(Qt::transparent);
    QPainter once(&stamp);
    once.setPen(painter.pen());
    once.setBrush(painter.brush());
    once.setRenderHint(QPainter::Antialiasing);
    paintMark(once, shape, QPointF(side, side) / (2 * deviceRatio), size);
    return stamp;
}

void paintStamp(QPainter& painter, const QImage& stamp, QPointF at) {
    const double ratio = stamp.devicePixelRatio();
    const auto snapped = [&](double middle) { return (std::round(middle * ratio) - stamp.width() / 2.0) / ratio; };
    painter.drawImage(QPointF(snapped(at.x()), snapped(at.y())), stamp);
}

void paintMarks(QPainter& painter, const PlotData& data, const Layer& layer, const LayerPlace& place,
                const QColor& color) {
    // Few points must be seen, many must not cover one another; strokes in a row are as tall as it.
    const auto range = data.range(place.time.span);
    const std::size_t first = layer.points->lower_bound(range.from, 0);
    const std::size_t inView = layer.points->lower_bound(range.to, first) - first;
    const bool stroke = layer.mark == MarkShape::Stroke;
    const bool crowded = inView > kManyPoints && !stroke && !place.row;
    const bool small = layer.mark == MarkShape::Dot || stroke || crowded;
    const double size = stroke && place.row ? place.area.height()
                        : crowded           ? kCrowdedDot
                                  : sizeOf(layer.mark, place.markSize) + (inView < kFewPoints && !stroke ? 1 : 0);
    const double cell = small ? 1 / place.deviceRatio : std::max(1.0, size / 3);
    const auto columns = static_cast<std::size_t>(std::max(1.0, place.area.width() / (small ? 2 : cell)));
    Cells cells(place.area, cell);
    QList<QRectF> dots;  // and strokes: rectangles are filled ten times faster than lines are drawn
    preparePen(painter, layer.mark, color);
    const auto sizeAt = [&](std::size_t position) {
        return layer.sizes && !crowded ? (*layer.sizes)[position] : std::uint8_t{1};
    };
    std::array<std::optional<QImage>, kMarkSizes> stamps;
    for (std::size_t i = 0; i < stamps.size() && !small; ++i)
        if (i == 1 || layer.sizes)
            stamps[i] = stampOf(painter, layer.mark, size * kSizeShares[i], place.deviceRatio, inView);
    for (const std::size_t position : layer.points->marks(range, columns, place.row ? 3 : kMarksOfColumn)) {
        const auto& point = layer.points->points()[position];
        const QPointF at(xOf(data, place, point.time), yOf(place, point.y));
        if (!place.area.adjusted(0, 0, 1, 1).contains(at) || !cells.take(at)) continue;
        const std::uint8_t which = sizeAt(position);
        const double own = size * kSizeShares[which];
        if (stroke) dots.append(strokeAt(at, size));
        else if (small) dots.append(QRectF(at.x() - own / 2, at.y() - own / 2, own, own));
        else if (stamps[which]) paintStamp(painter, *stamps[which], at);
        else paintMark(painter, layer.mark, at, own);
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    if (small) painter.setRenderHint(QPainter::Antialiasing, false);
    painter.drawRects(dots);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void paintBands(QPainter& painter, const PlotData& data, const Layer& layer, const LayerPlace& place,
                const QColor& color) {
    const std::size_t columns = columnsOf(place);
    const double width = place.area.width() / static_cast<double>(columns);
    QColor ground = color;
    ground.setAlphaF(place.row ? 1.0F : static_cast<float>(kBandOpacity));
    const bool hatched = layer.pattern != Qt::SolidPattern && !place.row;
    const QBrush pattern(mixed(place.ground, color, kHatchShare), layer.pattern);
    const double least = place.row ? 2 : 1;
    for (const auto& shaded : layer.bands->shaded(data.range(place.time.span), columns)) {
        const double left = place.area.left() + static_cast<double>(shaded.first) * width;
        const double across = static_cast<double>(shaded.last - shaded.first + 1) * width;
        const QRectF band(left, place.area.top(), std::max(least, across), place.area.height());
        painter.fillRect(band, ground);
        if (hatched && across > kHatched) painter.fillRect(band, pattern);
    }
}

// Each in its row, at least so wide that it is seen; a pattern where there is room for it.
void paintSpans(QPainter& painter, const PlotData& data, const Layer& layer, const LayerPlace& place,
                const QColor& color) {
    PanelBox box;
    box.area = place.area;
    box.laneCount = place.rows;
    const auto range = data.range(place.time.span);
    const bool plain = layer.pattern == Qt::SolidPattern;
    const QColor solid = mixed(place.ground, color, layer.strength);
    const QColor ground = plain ? solid : mixed(place.ground, color, kFillOpacity);
    for (const Band& span : layer.bands->all()) {
        if (span.from >= range.to) break;
        if (span.to < range.from) continue;
        const double left = xOf(data, place, span.from);
        const QRectF row = box.rowOf(span.row);
        const QRectF bar(left, row.top(), std::max(kLeastSpan, xOf(data, place, span.to) - left),
                         std::max(1.0, row.height()));
        painter.fillRect(bar, bar.width() > kHatched ? ground : solid);
        if (!plain && bar.width() > kHatched) painter.fillRect(bar, QBrush(color, layer.pattern));
    }
}

}  // namespace

void paintLayer(QPainter& painter, const PlotData& data, const Layer& layer, const LayerPlace& place,
                const QColor& color) {
    if (layer.empty() || place.area.width() < 1 || place.area.height() < 1) return;
    painter.save();
    // A mark at an edge, such as one of 0, is seen whole.
    const double out = layer.shape == Shape::Marks ? place.markSize / 2 + 1 : 1;
    painter.setClipRect(place.area.adjusted(-out, -out, out, out));
    switch (layer.shape) {
        case Shape::Bands: paintBands(painter, data, layer, place, color); break;
        case Shape::Spans: paintSpans(painter, data, layer, place, color); break;
        case Shape::Marks: paintMarks(painter, data, layer, place, color); break;
        case Shape::Line:
        case Shape::Steps:
        case Shape::Area: paintLine(painter, data, layer, place, color); break;
    }
    painter.restore();
}

void paintSign(QPainter& painter, const Layer& layer, const QRectF& box, const QColor& color) {
    painter.save();
    const double middle = box.center().y();
    switch (layer.shape) {
        case Shape::Bands: {
            QColor fill = color;
            fill.setAlphaF(static_cast<float>(2 * kBandOpacity));
            painter.fillRect(box, fill);
            painter.fillRect(box, QBrush(color, layer.pattern));
            break;
        }
        case Shape::Spans:
            painter.fillRect(box, layer.pattern == Qt::SolidPattern ? QBrush(color) : QBrush(color, layer.pattern));
            break;
        case Shape::Marks:
            preparePen(painter, layer.mark, color);
            paintMark(painter, layer.mark, box.center(), sizeOf(layer.mark, box.height() * 0.8));
            break;
        case Shape::Area: {
            QColor fill = color;
            fill.setAlphaF(static_cast<float>(kFillOpacity));
            painter.fillRect(QRectF(box.left(), middle, box.width(), box.bottom() - middle), fill);
            [[fallthrough]];
        }
        case Shape::Line:
        case Shape::Steps:
            painter.setPen(QPen(color, 2, layer.line));
            painter.drawLine(QLineF(box.left(), middle, box.right(), middle));
            break;
    }
    painter.restore();
}

}  // namespace qps::gui
