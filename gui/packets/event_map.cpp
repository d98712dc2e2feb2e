#include <gui/base/look.hpp>
#include <gui/packets/event_map.hpp>

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <array>

namespace qps::gui {

using transport::series::EventKind;
using transport::series::EventSlot;

namespace {

QColor colorOf(EventKind kind, const QPalette& palette) {
    switch (kind) {
        case EventKind::corrupt: return textColor(transport::Severity::error, palette);
        case EventKind::nak: return color(Ink::NegativeAcknowledgment, palette);
        case EventKind::rnr_nak: return color(Ink::Wait, palette);
        case EventKind::retransmission: return color(Ink::Retransmission, palette);
        case EventKind::gap: return textColor(transport::Severity::warning, palette);
        case EventKind::congestion_mark: return color(Ink::Congestion, palette);
        case EventKind::cnp: return color(Ink::Notification, palette);
        case EventKind::none: break;
    }
    return palette.color(QPalette::Mid);
}

QString titleOf(EventKind kind) {
    const std::string_view title = transport::series::kEventKindTitles[static_cast<std::size_t>(kind)];
    return QString::fromUtf8(title.data(), static_cast<qsizetype>(title.size()));
}

constexpr int kNear = 2;  // pixels around the pointer that count

}  // namespace

EventMap::EventMap(Qt::Orientation orientation, QWidget* parent) : QWidget(parent), m_orientation(orientation) {
    setAccessibleName(flat() ? tr("Events over time") : tr("Events in the list"));
    setSizePolicy(flat() ? QSizePolicy::Expanding : QSizePolicy::Fixed,
                  flat() ? QSizePolicy::Fixed : QSizePolicy::Expanding);
    describe();
}

QSize EventMap::sizeHint() const {
    const int height = fontMetrics().height();
    return flat() ? QSize(200, height * 3 / 2) : QSize(height * 2 / 3, 100);
}

void EventMap::setSlots(Slots all) {
    m_slots = std::move(all);
    m_mostBytes = 1;
    for (const EventSlot& slot : m_slots) m_mostBytes = std::max(m_mostBytes, slot.bytes);
    describe();
    update();
}

// For who cannot see it.
void EventMap::describe() {
    std::array<std::uint64_t, transport::series::kEventKindTitles.size()> slotsOf{};
    std::uint64_t events = 0;
    for (const EventSlot& slot : m_slots) {
        ++slotsOf[static_cast<std::size_t>(slot.worst)];
        events += slot.events;
    }
    QStringList kinds;
    for (std::size_t kind = slotsOf.size() - 1; kind > 0; --kind)
        if (slotsOf[kind] != 0) kinds << titleOf(static_cast<EventKind>(kind));
    setAccessibleDescription(
        kinds.isEmpty()
            ? tr("no events")
            : tr("%L1 events; the worst of each part: %2").arg(events).arg(kinds.join(QStringLiteral(", "))));
}

void EventMap::setView(std::optional<std::pair<double, double>> part) {
    if (part == m_view) return;
    m_view = part;
    update();
}

void EventMap::setPlace(std::optional<double> place) {
    if (place == m_place) return;
    m_place = place;
    update();
}

QRectF EventMap::part(double from, double to) const {
    const double begin = from * length();
    const double size = std::max(1.0, (to - from) * length());
    return flat() ? QRectF(begin, 0, size, height()) : QRectF(0, begin, width(), size);
}

std::pair<std::size_t, std::size_t> EventMap::slotsAt(double from, double to) const {
    const auto count = static_cast<double>(m_slots.size());
    const auto begin = static_cast<std::size_t>(std::clamp(from / length() * count, 0.0, std::max(0.0, count - 1)));
    const auto end = static_cast<std::size_t>(std::clamp(to / length() * count, 0.0, count));
    return {begin, std::max(begin + 1, end)};
}

// A pixel has the colour of the worst that it stands for.
void EventMap::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (m_view)
        painter.fillRect(part(m_view->first, m_view->second),
                         mixed(palette().color(QPalette::Base), palette().color(QPalette::Highlight), 0.3));
    const QColor traffic = mixed(palette().color(QPalette::Base), palette().color(QPalette::Text), 0.25);
    const int pixels = static_cast<int>(length());
    for (int at = 0; at < pixels && !m_slots.empty(); ++at) {
        const auto [begin, end] = slotsAt(at, at + 1.0);
        EventKind worst = EventKind::none;
        std::uint64_t bytes = 0;
        for (std::size_t i = begin; i < std::min(end, m_slots.size()); ++i) {
            worst = std::max(worst, m_slots[i].worst);
            bytes = std::max(bytes, m_slots[i].bytes);
        }
        if (flat() && bytes != 0) {
            const int tall =
                std::max(1, static_cast<int>(static_cast<double>(bytes) / static_cast<double>(m_mostBytes) * height()));
            painter.fillRect(at, height() - tall, 1, tall, traffic);
        }
        if (worst == EventKind::none) continue;
        // The worse the taller, so that a colour is not all that tells them apart.
        const double share = 0.4 + 0.6 * static_cast<double>(worst) / static_cast<double>(EventKind::corrupt);
        if (flat())
            painter.fillRect(QRectF(at, height() * (1 - share), 1, height() * share), colorOf(worst, palette()));
        else painter.fillRect(QRectF(width() * (1 - share), at, width() * share, 1), colorOf(worst, palette()));
    }
    painter.setPen(mixed(palette().color(QPalette::Base), palette().color(QPalette::Text), 0.3));
    if (flat()) painter.drawLine(0, height() - 1, width(), height() - 1);
    if (!m_place) return;
    const double at = std::clamp(*m_place * length(), 1.0, length() - 2);
    painter.setPen(QPen(palette().color(QPalette::Text), 1));
    if (flat()) painter.drawRect(QRectF(at - 1, 0, 2, height() - 1));
    else painter.drawRect(QRectF(0, at - 1, width() - 1, 2));
}

EventSlot EventMap::slotAt(const QPointF& at) const {
    if (m_slots.empty()) return {};
    const double along = flat() ? at.x() : at.y();
    const auto [begin, end] = slotsAt(along - kNear, along + kNear + 1);
    EventSlot found;
    for (std::size_t i = begin; i < std::min(end, m_slots.size()); ++i) {
        const EventSlot& slot = m_slots[i];
        if (slot.first == dissect::FrameIndex{}) continue;
        if (found.first == dissect::FrameIndex{} || slot.worst > found.worst) {
            found.worst = slot.worst;
            found.first = slot.first;
        }
        found.events += slot.events;
    }
    return found;
}

void EventMap::go(const QPointF& at) {
    if (const EventSlot slot = slotAt(at); slot.first != dissect::FrameIndex{})
        Q_EMIT packetWanted(std::to_underlying(slot.first));
}

void EventMap::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) go(event->position());
}

void EventMap::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) go(event->position());
}

bool EventMap::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const EventSlot slot = slotAt(help->pos());
    if (slot.first == dissect::FrameIndex{}) QToolTip::hideText();
    else if (slot.worst == EventKind::none)
        QToolTip::showText(help->globalPos(), tr("Packet %L1").arg(std::to_underlying(slot.first)), this);
    else
        QToolTip::showText(help->globalPos(),
                           tr("%1 at packet %L2; %n event(s) here", nullptr, static_cast<int>(slot.events))
                               .arg(titleOf(slot.worst))
                               .arg(std::to_underlying(slot.first)),
                           this);
    return true;
}

}  // namespace qps::gui
