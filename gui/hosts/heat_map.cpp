#include <gui/base/look.hpp>
#include <gui/base/plain_tip.hpp>
#include <gui/hosts/heat_map.hpp>

#include <QAccessible>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace qps::gui {

namespace {

constexpr double kLeastShown = 4;  // cells on a side, zoomed in
constexpr double kZoomStep = 1.25;
constexpr int kNameCharacters = 22;  // room for a name
constexpr double kFaintest = 0.25;   // share of the ink of the least value: what is there can be told from what is not

// Shades of values above 0, made once for a picture: a million pixels of different values want one each. The bits of
// such floats grow with them, about as their logarithms do, so that values find their shade by their bits.
class Shades {
public:
    Shades(double least, double most, const std::function<QRgb(double)>& shade)
        : m_least(bitsOf(least)), m_step(std::max<std::uint32_t>(1, (bitsOf(most) - m_least) / kCount + 1)) {
        for (std::uint32_t i = 0; i < kCount; ++i)
            m_shades[i] =
                shade(std::clamp(static_cast<double>(std::bit_cast<float>(m_least + i * m_step)), least, most));
    }
    [[nodiscard]] QRgb of(float value) const {
        const std::uint32_t bits = std::max(std::bit_cast<std::uint32_t>(value), m_least);
        return m_shades[std::min((bits - m_least) / m_step, kCount - 1)];
    }

private:
    static constexpr std::uint32_t kCount = 1024;  // more than an eye tells apart
    static std::uint32_t bitsOf(double value) {
        return std::bit_cast<std::uint32_t>(std::clamp(static_cast<float>(value), std::numeric_limits<float>::min(),
                                                       std::numeric_limits<float>::max() / 2));
    }

    std::uint32_t m_least;
    std::uint32_t m_step;
    std::array<QRgb, kCount> m_shades{};
};

}  // namespace

HeatMap::HeatMap(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(200, 150);
}

void HeatMap::show(HeatData heat, Describe describe, Legend legend) {
    const bool others = heat.names != m_data.names;
    m_data = std::move(heat);
    m_describe = std::move(describe);
    m_legend = std::move(legend);
    m_least = m_most = 0;
    for (const HeatCell& cell : m_data.cells) {
        if (cell.value <= 0) continue;
        m_least = m_least == 0 ? cell.value : std::min(m_least, cell.value);
        m_most = std::max(m_most, cell.value);
    }
    if (others) {
        m_current.reset();
        showAll();
        Q_EMIT currentChanged();
    }
    m_image = {};
    update();
    tell();
}

void HeatMap::showAll() {
    m_origin = {0, 0};
    m_shown = std::max(1, count());
    m_image = {};
    update();
}

void HeatMap::setCurrent(std::optional<QPoint> cell) {
    if (cell == m_current || (cell && !QRect(0, 0, count(), count()).contains(*cell))) return;
    m_current = cell;
    if (m_current) {
        const auto into = [this](double origin, int place) {
            return place < origin ? place : place + 1 > origin + m_shown ? place + 1 - m_shown : origin;
        };
        const QPointF origin(into(m_origin.x(), m_current->x()), into(m_origin.y(), m_current->y()));
        if (origin != m_origin) {
            m_origin = origin;
            keepInside();
            m_image = {};
        }
    }
    update();
    tell();
    Q_EMIT currentChanged();
}

// To screen readers.
void HeatMap::tell() {
    setAccessibleDescription(m_current && m_describe ? m_describe(m_current->x(), m_current->y())
                                                     : tr("No cell is selected"));
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
}

QRectF HeatMap::area() const {
    const double left = fontMetrics().averageCharWidth() * kNameCharacters;
    const double top = fontMetrics().height() * 1.5;
    const double legend = fontMetrics().height() * 2.5;
    const double side =
        std::max(10.0, std::min(width() - left - fontMetrics().averageCharWidth() * 2.0, height() - top - legend));
    return {left, top, side, side};
}

double HeatMap::cellSize() const { return area().width() / m_shown; }

std::optional<QPoint> HeatMap::cellAt(const QPointF& at) const {
    if (count() == 0 || !area().contains(at)) return std::nullopt;
    const QPointF cell = m_origin + (at - area().topLeft()) / cellSize();
    return QPoint(std::clamp(static_cast<int>(cell.x()), 0, count() - 1),
                  std::clamp(static_cast<int>(cell.y()), 0, count() - 1));
}

QRectF HeatMap::cellRect(const QPoint& cell) const {
    const double size = cellSize();
    return {area().left() + (cell.x() - m_origin.x()) * size, area().top() + (cell.y() - m_origin.y()) * size, size,
            size};
}

QColor HeatMap::shade(double value) const {
    const QColor ground = palette().color(QPalette::Base);
    if (value <= 0) return mixed(ground, palette().color(QPalette::Text), 0.08);
    const double span = std::log(m_most) - std::log(m_least);
    const double share = span <= 0 ? 1 : (std::log(value) - std::log(m_least)) / span;
    return mixed(ground, color(Ink::Retransmission, palette()), kFaintest + (1 - kFaintest) * share);
}

// Of each column or row its pixels, none where it is out of view: once for all of its cells.
std::vector<HeatMap::Pixels> HeatMap::pixelsOf(double origin, int side) const {
    std::vector<Pixels> places(static_cast<std::size_t>(count()));
    const double size = side / m_shown;
    const double gap = size > 6 ? 1 : 0;  // between cells that are large enough
    for (int i = 0; i < count(); ++i) {
        const double begin = (i - origin) * size;
        if (begin + size <= 0 || begin >= side) continue;
        const int from = std::max(0, static_cast<int>(begin));
        places[static_cast<std::size_t>(i)] = {
            from, std::min(side, std::max(from + 1, static_cast<int>(begin + size - gap)))};
    }
    return places;
}

// Each pixel of the picture is that of the greatest value that it shows.
void HeatMap::paintCells() {
    const QRectF whole = area();
    const double scale = devicePixelRatioF();
    const int side = std::max(1, static_cast<int>(whole.width() * scale));
    std::vector<float> greatest(static_cast<std::size_t>(side) * static_cast<std::size_t>(side), -1);
    const std::vector<Pixels> across = pixelsOf(m_origin.x(), side);
    const std::vector<Pixels> down = pixelsOf(m_origin.y(), side);
    for (const HeatCell& cell : m_data.cells) {
        const Pixels columns = across[static_cast<std::size_t>(cell.column)];
        const Pixels rows = down[static_cast<std::size_t>(cell.row)];
        const auto value = static_cast<float>(cell.value);
        for (int y = rows.from; y < rows.to; ++y) {
            float* line = greatest.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(side);
            for (int x = columns.from; x < columns.to; ++x) line[x] = std::max(line[x], value);
        }
    }
    m_image = QImage(side, side, QImage::Format_RGB32);
    m_image.setDevicePixelRatio(scale);
    const Shades shades(m_least, m_most, [this](double value) { return shade(value).rgb(); });
    const QRgb nothing = palette().color(QPalette::Base).rgb();
    const QRgb zero = shade(0).rgb();
    for (int y = 0; y < side; ++y) {
        auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(y));
        for (int x = 0; x < side; ++x) {
            const float value =
                greatest[static_cast<std::size_t>(y) * static_cast<std::size_t>(side) + static_cast<std::size_t>(x)];
            line[x] = value < 0 ? nothing : value == 0 ? zero : shades.of(value);
        }
    }
}

void HeatMap::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (count() == 0) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect(), Qt::AlignCenter, tr("No hosts: the capture has no queue pair traffic."));
        return;
    }
    if (m_image.isNull()) paintCells();
    const QRectF whole = area();
    painter.drawImage(whole.topLeft(), m_image);
    painter.setPen(mixed(palette().color(QPalette::Base), palette().color(QPalette::Text), 0.35));
    painter.drawRect(whole);
    paintNames(painter);
    paintLegend(painter);
    if (!m_current) return;
    QRectF cell = cellRect(*m_current);
    const double least = 6;  // of a frame that can be seen
    if (cell.width() < least) cell = QRectF(cell.center() - QPointF(least / 2, least / 2), QSizeF(least, least));
    painter.setClipRect(whole.adjusted(-least, -least, least, least));
    painter.setPen(QPen(palette().color(QPalette::Text), 2));
    painter.drawRect(cell);
}

void HeatMap::paintNames(QPainter& painter) const {
    const QRectF whole = area();
    const double size = cellSize();
    const double height = fontMetrics().height();
    painter.setPen(palette().color(QPalette::Text));
    // As many as have room, at equal distances.
    const int step = std::max(1, static_cast<int>(std::ceil(height / size)));
    for (int row = static_cast<int>(m_origin.y()) / step * step; row < count(); row += step) {
        const double y = whole.top() + (row + 0.5 - m_origin.y()) * size;
        if (y < whole.top() || y > whole.bottom()) continue;
        const QRectF room(0, y - height / 2, whole.left() - fontMetrics().averageCharWidth(), height);
        painter.drawText(room, Qt::AlignRight | Qt::AlignVCenter,
                         fontMetrics().elidedText(m_data.names[row], Qt::ElideMiddle, static_cast<int>(room.width())));
    }
    const double widest = fontMetrics().averageCharWidth() * kNameCharacters * 0.75;
    const int stride = std::max(1, static_cast<int>(std::ceil(widest / size)));
    for (int column = static_cast<int>(m_origin.x()) / stride * stride; column < count(); column += stride) {
        const double x = whole.left() + (column + 0.5 - m_origin.x()) * size;
        if (x < whole.left() || x > whole.right()) continue;
        const QRectF room(x - widest / 2, 0, widest, whole.top() - 2);
        painter.drawText(room, Qt::AlignHCenter | Qt::AlignBottom,
                         fontMetrics().elidedText(m_data.names[column], Qt::ElideMiddle, static_cast<int>(widest)));
    }
}

void HeatMap::paintLegend(QPainter& painter) const {
    const QRectF whole = area();
    const double height = fontMetrics().height();
    // Wide enough for both of its ends to be told.
    const double words =
        m_most > 0
            ? QFontMetricsF(font()).horizontalAdvance(m_legend(m_least) + QStringLiteral("    ") + m_legend(m_most))
            : 0;
    const QRectF bar(whole.left(), whole.bottom() + height * 0.6, std::max(whole.width() * 0.4, words), height * 0.6);
    painter.setPen(palette().color(QPalette::Text));
    if (m_most <= 0) {
        painter.drawText(QPointF(bar.left(), bar.bottom()), tr("none"));
        return;
    }
    constexpr int kSteps = 32;
    for (int i = 0; i < kSteps; ++i) {
        const double share = i / (kSteps - 1.0);
        const double value = std::exp(std::log(m_least) + share * (std::log(m_most) - std::log(m_least)));
        painter.fillRect(
            QRectF(bar.left() + bar.width() * i / kSteps, bar.top(), bar.width() / kSteps + 1, bar.height()),
            shade(value));
    }
    painter.drawText(QRectF(bar.left(), bar.bottom(), bar.width() / 2, height), Qt::AlignLeft, m_legend(m_least));
    painter.drawText(QRectF(bar.center().x(), bar.bottom(), bar.width() / 2, height), Qt::AlignRight, m_legend(m_most));
    const double left = bar.right() + height;
    painter.drawText(QRectF(left, bar.top() - height * 0.2, std::max(0.0, width() - left), height),
                     Qt::AlignLeft | Qt::AlignVCenter, tr("rows: who sends; columns: to whom"));
}

void HeatMap::zoom(double by, const QPointF& around) {
    const QPointF cell = m_origin + (around - area().topLeft()) / cellSize();
    const double shown = std::clamp(m_shown / by, std::min<double>(kLeastShown, std::max(1, count())),
                                    static_cast<double>(std::max(1, count())));
    m_origin = cell - (cell - m_origin) * (shown / m_shown);
    m_shown = shown;
    keepInside();
    m_image = {};
    update();
}

void HeatMap::keepInside() {
    const double most = std::max(0.0, count() - m_shown);
    m_origin = {std::clamp(m_origin.x(), 0.0, most), std::clamp(m_origin.y(), 0.0, most)};
}

void HeatMap::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
    if (const auto cell = cellAt(event->position())) setCurrent(cell);
    m_dragged = event->position();
}

void HeatMap::mouseMoveEvent(QMouseEvent* event) {
    if (!(event->buttons() & Qt::LeftButton) || !m_dragged) return;
    const QPointF moved = (event->position() - *m_dragged) / cellSize();
    m_dragged = event->position();
    if (m_shown >= count()) return;
    m_origin -= moved;
    keepInside();
    m_image = {};
    update();
}

void HeatMap::mouseDoubleClickEvent(QMouseEvent* event) {
    if (cellAt(event->position())) Q_EMIT activated();
}

void HeatMap::wheelEvent(QWheelEvent* event) {
    zoom(std::pow(kZoomStep, event->angleDelta().y() / 120.0), event->position());
    event->accept();
}

void HeatMap::keyPressEvent(QKeyEvent* event) {
    if (count() == 0) return QWidget::keyPressEvent(event);
    const QPoint now = m_current.value_or(QPoint(-1, -1));
    const auto move = [&](int columns, int rows) {
        if (!m_current) return setCurrent(QPoint(0, 0));
        setCurrent(QPoint(std::clamp(now.x() + columns, 0, count() - 1), std::clamp(now.y() + rows, 0, count() - 1)));
    };
    switch (event->key()) {
        case Qt::Key_Left: return move(-1, 0);
        case Qt::Key_Right: return move(1, 0);
        case Qt::Key_Up: return move(0, -1);
        case Qt::Key_Down: return move(0, 1);
        case Qt::Key_Home: return setCurrent(QPoint(0, 0));
        case Qt::Key_End: return setCurrent(QPoint(count() - 1, count() - 1));
        case Qt::Key_Escape: return m_current ? setCurrent(std::nullopt) : QWidget::keyPressEvent(event);
        case Qt::Key_Plus:
        case Qt::Key_Equal: return zoom(kZoomStep, m_current ? cellRect(*m_current).center() : area().center());
        case Qt::Key_Minus: return zoom(1 / kZoomStep, area().center());
        case Qt::Key_0: return showAll();
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (m_current) Q_EMIT activated();
            return;
        default: QWidget::keyPressEvent(event);
    }
}

bool HeatMap::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const auto cell = cellAt(help->pos()); cell && m_describe)
        QToolTip::showText(help->globalPos(), plainTip(m_describe(cell->x(), cell->y())), this);
    else QToolTip::hideText();
    return true;
}

void HeatMap::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        m_image = {};
        update();
    }
    QWidget::changeEvent(event);
}

void HeatMap::resizeEvent(QResizeEvent* event) {
    m_image = {};
    QWidget::resizeEvent(event);
}

}  // namespace qps::gui
