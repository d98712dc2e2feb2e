#include <gui/base/look.hpp>
#include <gui/base/plain_tip.hpp>
#include <gui/fabric/fabric_map_picture.hpp>

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace qps::gui {

using transport::series::FabricPlace;
using transport::series::FabricWire;

namespace {

constexpr double kLeastUnits = 2;  // zoomed in
constexpr double kStep = 1.25;     // of the zoom
constexpr double kReach = 5;       // pixels from a line that still are on it
constexpr int kMostQuiet = 4000;   // links without trouble that are painted at once: some milliseconds
constexpr double kLeastNamed = 5;  // characters of room that make a name worth painting

}  // namespace

FabricMapPicture::FabricMapPicture(QWidget* parent) : QWidget(parent), m_drawing(std::make_shared<FabricDrawing>()) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(200, 120);
}

void FabricMapPicture::show(std::shared_ptr<const FabricDrawing> drawing) {
    const bool others = drawing->names != m_drawing->names;
    m_drawing = std::move(drawing);
    if (others) {
        m_current.reset();
        showAll();
        Q_EMIT currentChanged();
    }
    update();
    tell();
}

void FabricMapPicture::showAll() {
    m_left = 0;
    m_shown = std::max(1.0, m_drawing->layout.width);
    update();
}

void FabricMapPicture::setCurrent(std::optional<std::size_t> node) {
    if (node == m_current) return;
    m_current = node;
    if (m_current) {
        const double x = m_drawing->layout.places[*m_current].x;
        if (x - 0.5 < m_left || x + 0.5 > m_left + m_shown) m_left = x - m_shown / 2;
        keepInside();
    }
    update();
    tell();
    Q_EMIT currentChanged();
}

void FabricMapPicture::tell() {
    setAccessibleDescription(m_current ? m_drawing->words[static_cast<qsizetype>(*m_current)]
                                       : tr("No node is selected"));
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
}

QSizeF FabricMapPicture::unit() const {
    const auto rows = static_cast<double>(std::max<std::size_t>(1, m_drawing->layout.rows));
    return {width() / m_shown, height() / rows};
}

QPointF FabricMapPicture::middle(std::size_t node) const {
    const FabricPlace& place = m_drawing->layout.places[node];
    const QSizeF size = unit();
    return {(place.x - m_left) * size.width(), (static_cast<double>(place.row) + 0.5) * size.height()};
}

QRectF FabricMapPicture::box(std::size_t node) const {
    const QSizeF size = unit();
    const double most = fontMetrics().averageCharWidth() * 26.0;
    const QSizeF room(std::clamp(size.width() * 0.86, 3.0, most),
                      std::clamp(size.height() * 0.4, 3.0, fontMetrics().height() * 1.8));
    return {middle(node) - QPointF(room.width() / 2, room.height() / 2), room};
}

QLineF FabricMapPicture::line(const FabricWire& wire) const {
    // Several between the same two stand beside each other: 0, 1, -1, 2, -2, ...
    const auto number = static_cast<int>((wire.beside + 1) / 2);
    const double shift = (wire.beside % 2 == 0 ? -number : number) * 6.0;
    const QPointF aside(shift, 0);
    return {middle(wire.a) + aside, middle(wire.b) + aside};
}

std::optional<std::size_t> FabricMapPicture::nodeAt(const QPointF& at) const {
    for (std::size_t node = 0; node < m_drawing->layout.places.size(); ++node)
        if (box(node).adjusted(-1, -1, 1, 1).contains(at)) return node;
    return std::nullopt;
}

std::optional<std::size_t> FabricMapPicture::wireAt(const QPointF& at) const {
    const auto& wires = m_drawing->layout.wires;
    std::optional<std::size_t> best;
    double nearest = kReach;
    for (std::size_t i = 0; i < wires.size(); ++i) {
        const QLineF along = line(wires[i]);
        const QPointF way = along.p2() - along.p1();
        const double length = QPointF::dotProduct(way, way);
        const double share = length == 0 ? 0 : std::clamp(QPointF::dotProduct(at - along.p1(), way) / length, 0.0, 1.0);
        const double distance = QLineF(along.p1() + share * way, at).length();
        if (distance > nearest) continue;
        nearest = distance;
        best = i;
    }
    return best;
}

void FabricMapPicture::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (m_drawing->layout.places.empty()) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap,
                         tr("No nodes: the capture has no management datagrams that tell of the fabric."));
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    paintWires(painter);
    paintNodes(painter);
}

void FabricMapPicture::paintWires(QPainter& painter) const {
    const QColor quiet = mixed(palette().color(QPalette::Base), palette().color(QPalette::Text), 0.45);
    int painted = 0, left = 0;
    for (const FabricWire& wire : m_drawing->layout.wires) {
        const QLineF along = line(wire);
        if (std::max(along.x1(), along.x2()) < 0 || std::min(along.x1(), along.x2()) > width()) continue;
        const bool chosen = m_current && (*m_current == wire.a || *m_current == wire.b);
        if (!chosen && !wire.errors && !wire.down && ++painted > kMostQuiet) {
            ++left;
            continue;
        }
        // Trouble has a shape beside its colour.
        QPen pen(quiet, chosen ? 2 : 1);
        if (wire.errors) pen = QPen(color(Ink::NegativeAcknowledgment, palette()), chosen ? 4 : 3);
        if (wire.down) pen = QPen(color(Ink::Wait, palette()), chosen ? 3 : 2, Qt::DashLine);
        painter.setPen(pen);
        painter.drawLine(along);
    }
    if (left == 0) return;
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(rect().adjusted(4, 2, -4, -2), Qt::AlignRight | Qt::AlignTop,
                     tr("%L1 links are not drawn: zoom in.").arg(left));
}

void FabricMapPicture::paintNodes(QPainter& painter) const {
    const double least = fontMetrics().averageCharWidth() * kLeastNamed;
    for (std::size_t node = 0; node < m_drawing->layout.places.size(); ++node) {
        const QRectF room = box(node);
        if (room.right() < 0 || room.left() > width()) continue;
        const QColor ink = color(m_drawing->forwards[node] ? Ink::Request : Ink::Response, palette());
        const bool chosen = m_current == node;
        painter.setPen(QPen(chosen ? palette().color(QPalette::Text) : ink, chosen ? 2.5 : 1));
        painter.setBrush(mixed(palette().color(QPalette::Base), ink, 0.22));
        // Switches are square, ends are round.
        const double corner = m_drawing->forwards[node] ? 1 : room.height() / 2;
        painter.drawRoundedRect(room, corner, corner);
        if (room.width() < least || room.height() < fontMetrics().height()) continue;
        painter.setPen(palette().color(QPalette::Text));
        const QRectF inner = room.adjusted(4, 0, -4, 0);
        painter.drawText(inner, Qt::AlignCenter,
                         fontMetrics().elidedText(m_drawing->names[static_cast<qsizetype>(node)], Qt::ElideMiddle,
                                                  static_cast<int>(inner.width())));
    }
}

void FabricMapPicture::keepInside() {
    const double all = std::max(1.0, m_drawing->layout.width);
    m_shown = std::clamp(m_shown, std::min(kLeastUnits, all), all);
    m_left = std::clamp(m_left, 0.0, all - m_shown);
}

void FabricMapPicture::zoom(double by, double around) {
    const double at = m_left + around / unit().width();
    m_shown /= by;
    keepInside();
    m_left = at - around / unit().width();
    keepInside();
    update();
}

void FabricMapPicture::move(double x) {
    m_left += x;
    keepInside();
    update();
}

// To the nearest node so many rows below, or the next one in its row.
void FabricMapPicture::step(int rows, int columns) {
    const auto& places = m_drawing->layout.places;
    if (places.empty()) return;
    if (!m_current) return setCurrent(std::size_t{0});
    const FabricPlace& here = places[*m_current];
    std::optional<std::size_t> best;
    for (std::size_t node = 0; node < places.size(); ++node) {
        const double ahead = (places[node].x - here.x) * columns;
        if (static_cast<double>(places[node].row) != static_cast<double>(here.row) + rows) continue;
        if (columns != 0 && ahead <= 0) continue;
        if (!best || std::abs(places[node].x - here.x) < std::abs(places[*best].x - here.x)) best = node;
    }
    if (best) setCurrent(best);
}

void FabricMapPicture::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Left: return step(0, -1);
        case Qt::Key_Right: return step(0, 1);
        case Qt::Key_Up: return step(-1, 0);
        case Qt::Key_Down: return step(1, 0);
        case Qt::Key_Plus:
        case Qt::Key_Equal: return zoom(kStep, m_current ? middle(*m_current).x() : width() / 2.0);
        case Qt::Key_Minus: return zoom(1 / kStep, width() / 2.0);
        case Qt::Key_0: return showAll();
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (m_current) Q_EMIT activated();
            return;
        default: QWidget::keyPressEvent(event);
    }
}

void FabricMapPicture::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    setCurrent(nodeAt(event->position()));
    m_dragged = event->position().x();
}

void FabricMapPicture::mouseMoveEvent(QMouseEvent* event) {
    if (!m_dragged || !event->buttons().testFlag(Qt::LeftButton)) return m_dragged.reset();
    move((*m_dragged - event->position().x()) / unit().width());
    m_dragged = event->position().x();
}

void FabricMapPicture::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && nodeAt(event->position())) Q_EMIT activated();
}

void FabricMapPicture::wheelEvent(QWheelEvent* event) {
    constexpr double kTurn = 120;
    zoom(std::pow(kStep, event->angleDelta().y() / kTurn), event->position().x());
    event->accept();
}

bool FabricMapPicture::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const auto node = nodeAt(help->pos()))
        QToolTip::showText(help->globalPos(), plainTip(m_drawing->words[static_cast<qsizetype>(*node)]), this);
    else if (const auto wire = wireAt(help->pos()))
        QToolTip::showText(help->globalPos(), plainTip(QString::fromStdString(m_drawing->layout.wires[*wire].words)),
                           this);
    else QToolTip::hideText();
    return true;
}

}  // namespace qps::gui
