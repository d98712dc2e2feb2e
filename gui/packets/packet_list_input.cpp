// Keys, mouse and menus of the list.
#include <gui/packets/packet_list.hpp>

#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <cmath>
#include <limits>
#include <utility>

namespace qps::gui {

using dissect::FrameIndex;

void PacketList::keyPressEvent(QKeyEvent* event) {
    if (m_rows == nullptr || m_scroll.rows == 0) return event->ignore();
    const bool shift = event->modifiers().testFlag(Qt::ShiftModifier);
    const bool plain = (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == Qt::NoModifier;
    const bool control = (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == Qt::ControlModifier;
    const Select select = shift ? Select::Extend : Select::Only;
    const std::uint64_t last = m_scroll.rows - 1;
    const std::uint64_t at = m_current ? std::min(m_rows->positionOf(*m_current), last) : m_top;
    const std::uint64_t page = std::max<std::uint64_t>(1, m_scroll.page - 1);
    const bool here = currentPosition().has_value();
    if (event->matches(QKeySequence::SelectAll)) return selectAll();
    if (event->matches(QKeySequence::Copy)) return copy(CopyForm::Text);
    if (!plain && !(control && (event->key() == Qt::Key_Home || event->key() == Qt::Key_End))) return event->ignore();
    switch (event->key()) {
        // A packet that the filter hides has the next one that is shown in its place.
        case Qt::Key_Down: return moveTo(here && at < last ? at + 1 : at, select);
        case Qt::Key_Up: return moveTo(at == 0 ? 0 : at - 1, select);
        case Qt::Key_PageDown: return moveTo(last - at < page ? last : at + page, select);
        case Qt::Key_PageUp: return moveTo(at < page ? 0 : at - page, select);
        case Qt::Key_Home: return moveTo(0, select);
        case Qt::Key_End: return moveTo(last, select);
        case Qt::Key_Left: return horizontalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepSub);
        case Qt::Key_Right: return horizontalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepAdd);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (m_current) Q_EMIT packetOpened();
            return;
        case Qt::Key_Menu: {
            QMenu menu(this);
            fillRowMenu(menu, 0);
            menu.exec(viewport()->mapToGlobal(rowRect(at).bottomLeft()));
            return;
        }
        default: event->ignore();
    }
}

void PacketList::mousePressEvent(QMouseEvent* event) {
    const std::optional<std::uint64_t> position = rowAt(event->position().toPoint().y());
    if (!position) return;
    const FrameIndex frame = m_rows->frameAt(*position);
    // A menu is of what is selected, if the row belongs to it.
    if (event->button() == Qt::RightButton && m_selected.contains(frame)) return;
    if (event->button() == Qt::MiddleButton) {
        moveTo(*position, Select::Only);
        return toggleMark();
    }
    Select select = Select::Only;
    if (event->modifiers().testFlag(Qt::ShiftModifier)) select = Select::Extend;
    else if (event->modifiers().testFlag(Qt::ControlModifier)) select = Select::Toggle;
    moveTo(*position, select);
}

// Dragging selects rows; above and below the list it scrolls.
void PacketList::mouseMoveEvent(QMouseEvent* event) {
    if (!event->buttons().testFlag(Qt::LeftButton) || m_rows == nullptr || m_scroll.rows == 0) return;
    const int y = event->position().toPoint().y();
    if (y < 0) return moveTo(m_scroll.moved(m_top, -1), Select::Extend);
    if (y >= viewport()->height()) return moveTo(std::min(m_scroll.rows - 1, m_top + m_scroll.page), Select::Extend);
    if (const std::optional<std::uint64_t> position = rowAt(y); position && m_rows->frameAt(*position) != m_current)
        moveTo(*position, Select::Extend);
}

void PacketList::mouseDoubleClickEvent(QMouseEvent* event) {
    const std::optional<std::uint64_t> position = rowAt(event->position().toPoint().y());
    if (position && event->button() == Qt::LeftButton && m_rows->frameAt(*position) == m_current) Q_EMIT packetOpened();
}

void PacketList::wheelEvent(QWheelEvent* event) {
    if (std::abs(event->angleDelta().x()) > std::abs(event->angleDelta().y()))
        return QAbstractScrollArea::wheelEvent(event);
    constexpr double kNotch = 120;  // eighths of a degree
    constexpr double kLinesANotch = 3;
    m_wheelRest -= event->pixelDelta().isNull() ? event->angleDelta().y() / kNotch * kLinesANotch
                                                : static_cast<double>(event->pixelDelta().y()) / rowHeight();
    const double whole = std::trunc(m_wheelRest);
    m_wheelRest -= whole;
    scrollTo(m_scroll.moved(m_top, static_cast<std::int64_t>(whole)));
    event->accept();
}

bool PacketList::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip && m_rows != nullptr) {
        const auto* help = static_cast<QHelpEvent*>(event);
        QToolTip::showText(help->globalPos(), toolTipAt(help->pos()), viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace qps::gui
