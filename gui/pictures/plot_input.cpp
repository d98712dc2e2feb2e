// What mouse and keys do to a plot. Every gesture of the mouse has keys that do the same.
#include <gui/base/plain_tip.hpp>
#include <gui/pictures/plot.hpp>

#include <QApplication>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <array>
#include <cmath>

namespace qps::gui {

namespace {

constexpr double kWheelNotch = 120;    // eighths of a degree, as Qt counts
constexpr double kLeastRubber = 4;     // pixels; smaller is a click that trembled
constexpr double kCrosshairStep = 10;  // pixels

QPointF inside(const QRectF& area, QPointF at) {
    return {std::clamp(at.x(), area.left(), area.right() - 1), std::clamp(at.y(), area.top(), area.bottom() - 1)};
}

}  // namespace

double Plot::reach() const { return fontMetrics().height() * 0.6; }

void Plot::describePoint(const std::optional<Hit>& hit) {
    QString words;
    if (hit) {
        words = describe(m_data, *hit);
    } else if (m_crosshair) {
        const PlotLayout& layout = layoutNow();
        words = exactTimeText(layout.time.time(m_crosshair->x()));
        const auto panel = layout.panelAt(*m_crosshair);
        if (panel && !m_data.panels[*panel].named())
            words += QLatin1String(", ") +
                     valueText(layout.panels[*panel].scale.value(m_crosshair->y()), m_data.panels[*panel].quantity);
    }
    setAccessibleDescription(words);
    Q_EMIT pointedAt(words);
}

void Plot::setCrosshair(std::optional<QPointF> at) {
    if (at == m_crosshair) return;
    m_crosshair = at;
    update();
    describePoint(m_crosshair ? hitAt(m_data, layoutNow(), m_hidden, *m_crosshair, reach()) : std::nullopt);
}

void Plot::moveCrosshair(double dx, double dy) {
    const QRectF all = layoutNow().areaOfAll();
    setCrosshair(inside(all, m_crosshair.value_or(all.center()) + QPointF(dx, dy)));
}

std::optional<Hit> Plot::underCrosshair() const {
    if (!m_crosshair) return std::nullopt;
    const PlotLayout& layout = layoutNow();
    if (auto hit = hitAt(m_data, layout, m_hidden, *m_crosshair, reach())) return hit;
    const auto before = neighbour(m_data, layout, m_hidden, *m_crosshair, false);
    const auto after = neighbour(m_data, layout, m_hidden, *m_crosshair, true);
    if (!before || !after) return before ? before : after;
    return m_crosshair->x() - before->at.x() <= after->at.x() - m_crosshair->x() ? before : after;
}

void Plot::goToNeighbour(bool forward) {
    if (m_data.empty()) return;
    if (!m_crosshair) moveCrosshair(0, 0);
    const auto hit = neighbour(m_data, layoutNow(), m_hidden, *m_crosshair, forward);
    if (!hit) return;
    const std::int64_t time = m_data.timeOf(hit->time);
    if (!m_view.time.contains(time)) {
        const auto half = static_cast<std::int64_t>(m_view.time.length() / 2);
        setTime({dissect::saturating::subtract(time, half), dissect::saturating::add(time, half)});
    }
    const PlotLayout& layout = layoutNow();
    setCrosshair(inside(layout.panels[hit->id.panel].area, QPointF(layout.time.pixel(time), hit->at.y())));
    describePoint(hit);
}

void Plot::setRangeEnd(bool end) {
    if (!m_crosshair) return;
    const std::int64_t time = layoutNow().time.time(m_crosshair->x());
    TimeSpan span = m_range.value_or(m_data.whole);
    (end ? span.to : span.from) = time;
    Q_EMIT rangeChosen(limited(span, m_data.whole));
}

// Mouse.

void Plot::mousePressEvent(QMouseEvent* event) {
    if (m_data.empty() || m_drag != Drag::None) return;
    if (const auto id = layoutNow().legendAt(event->position())) {
        if (event->button() == Qt::LeftButton) setLayerVisible(*id, !isLayerVisible(*id));
        return;
    }
    m_button = event->button();
    m_pressed = event->position();
    m_pressedView = m_view;
    m_moved = false;
    const auto modifiers = event->modifiers();
    if (m_button == Qt::RightButton || (m_button == Qt::LeftButton && modifiers.testFlag(Qt::ControlModifier)))
        m_drag = Drag::Range;
    else if (m_button == Qt::LeftButton)
        m_drag = modifiers.testFlag(Qt::ShiftModifier) != m_dragZooms ? Drag::Zoom : Drag::Pan;
    else if (m_button == Qt::MiddleButton) m_drag = Drag::Pan;
}

void Plot::dragTo(QPointF at) {
    const QRectF all = layoutNow().areaOfAll();
    switch (m_drag) {
        case Drag::None: break;
        case Drag::Pan: {
            Viewport view = m_pressedView;
            view.time = panned(view.time, (m_pressed.x() - at.x()) / std::max(1.0, all.width()), m_data.whole);
            const auto panel = layoutNow().panelAt(m_pressed);
            if (panel && view.values[*panel])  // values that follow the data go on following it
                view.values[*panel] =
                    panned(*view.values[*panel],
                           (at.y() - m_pressed.y()) / std::max(1.0, layoutNow().panels[*panel].area.height()),
                           m_data.panels[*panel].logarithmic);
            changeView(std::move(view), Pull);
            break;
        }
        case Drag::Zoom: m_rubber = QRectF(inside(all, m_pressed), inside(all, at)); break;
        case Drag::Range:
            m_rubber =
                QRectF(QPointF(inside(all, m_pressed).x(), all.top()), QPointF(inside(all, at).x(), all.bottom()));
            break;
    }
    update();
}

void Plot::mouseMoveEvent(QMouseEvent* event) {
    if (m_data.empty()) return;
    const QPointF at = event->position();
    if (m_drag != Drag::None) {
        m_moved = m_moved || (at - m_pressed).manhattanLength() >= QApplication::startDragDistance();
        if (m_moved) dragTo(at);
        return;
    }
    const bool overData = layoutNow().panelAt(at).has_value();
    setCursor(overData ? Qt::CrossCursor : layoutNow().legendAt(at) ? Qt::PointingHandCursor : Qt::ArrowCursor);
    setCrosshair(overData ? std::optional(at) : std::nullopt);
    const std::optional<Hit> hit = overData ? hitAt(m_data, layoutNow(), m_hidden, at, reach()) : std::nullopt;
    const auto words = hit ? describe(m_data, *hit) : sideAt(m_data, layoutNow(), at);
    if (words) QToolTip::showText(event->globalPosition().toPoint(), plainTip(*words), this);
    else QToolTip::hideText();
}

void Plot::zoomInto(const QRectF& rubber) {
    const PlotLayout& layout = layoutNow();
    if (rubber.width() < kLeastRubber) return;
    Viewport view = m_view;
    view.time = limited({layout.time.time(rubber.left()), layout.time.time(rubber.right())}, m_data.whole);
    const auto panel = layout.panelAt(rubber.topLeft());
    const bool tall =
        panel && rubber.height() > layout.panels[*panel].area.height() * 0.1;  // a flat one means time alone
    if (tall && !m_data.panels[*panel].named() && layout.panelAt(rubber.bottomRight()) == panel) {
        const ValueScale& scale = layout.panels[*panel].scale;
        view.values[*panel] = ValueSpan{scale.value(rubber.bottom()), scale.value(rubber.top())};
    }
    changeView(std::move(view), Single);
}

void Plot::finishDrag(QPointF at) {
    if (m_drag == Drag::Zoom && m_rubber) zoomInto(m_rubber->normalized());
    if (m_drag == Drag::Range && m_rubber && m_rubber->normalized().width() >= kLeastRubber) {
        const TimeScale& scale = layoutNow().time;
        Q_EMIT rangeChosen(limited({scale.time(m_rubber->left()), scale.time(m_rubber->right())}, m_data.whole));
    }
    setCrosshair(layoutNow().panelAt(at) ? std::optional(at) : std::nullopt);
}

void Plot::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != m_button || m_drag == Drag::None) return;
    if (m_moved) {
        finishDrag(event->position());
    } else if (m_button == Qt::RightButton) {
        Q_EMIT menuWanted(event->globalPosition().toPoint());
    } else if (m_button == Qt::LeftButton) {
        setCrosshair(event->position());
        const auto hit = hitAt(m_data, layoutNow(), m_hidden, event->position(), reach());
        if (hit && hit->frame != dissect::FrameIndex{}) Q_EMIT packetChosen(*hit);
    }
    m_drag = Drag::None;
    m_button = Qt::NoButton;
    m_rubber.reset();
    update();
}

void Plot::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && !layoutNow().legendAt(event->position())) showAll();
}

void Plot::wheelEvent(QWheelEvent* event) {
    const QPoint turned = event->angleDelta();
    if (m_data.empty() || turned.isNull()) return;
    const double notches = (turned.y() != 0 ? turned.y() : turned.x()) / kWheelNotch;
    const double factor = std::pow(kZoomStep, -notches);
    if (turned.y() == 0 || event->modifiers().testFlag(Qt::ShiftModifier)) pan(-notches * kPanStep, 0);
    else if (event->modifiers().testFlag(Qt::ControlModifier)) zoomValues(factor, event->position());
    else zoomTime(factor, event->position().x());
    event->accept();
}

void Plot::leaveEvent(QEvent*) {
    if (m_drag == Drag::None) setCrosshair(std::nullopt);
}

void Plot::contextMenuEvent(QContextMenuEvent* event) {
    // The right button draws ranges: its menu comes when it is let go without.
    if (event->reason() != QContextMenuEvent::Mouse)
        Q_EMIT menuWanted(mapToGlobal(m_crosshair.value_or(rect().center()).toPoint()));
    event->accept();
}

// Keys.

bool Plot::viewKey(int key, Qt::KeyboardModifiers modifiers) {
    const bool shift = modifiers.testFlag(Qt::ShiftModifier);
    const bool control = modifiers.testFlag(Qt::ControlModifier);
    const double step = shift ? 1 : kCrosshairStep;
    const auto arrow = [&](double x, double y) {
        control || shift ? moveCrosshair(x * step, -y * step) : pan(x * kPanStep, y * kPanStep);
    };
    switch (key) {
        case Qt::Key_Plus:
        case Qt::Key_Equal: zoomTime(1 / kZoomStep); return true;
        case Qt::Key_Minus: zoomTime(kZoomStep); return true;
        case Qt::Key_X: zoomTime(shift ? kZoomStep : 1 / kZoomStep); return true;
        case Qt::Key_Y: zoomValues(shift ? kZoomStep : 1 / kZoomStep); return true;
        case Qt::Key_0: showAll(); return true;
        case Qt::Key_Left: arrow(-1, 0); return true;
        case Qt::Key_Right: arrow(1, 0); return true;
        case Qt::Key_Up: arrow(0, 1); return true;
        case Qt::Key_Down: arrow(0, -1); return true;
        case Qt::Key_Home: pan(-1e18, 0); return true;
        case Qt::Key_End: pan(1e18, 0); return true;
        case Qt::Key_Backspace: goBack(); return true;
        case Qt::Key_Space: setDragZooms(!m_dragZooms); return true;
        default: return false;
    }
}

bool Plot::editKey(int key, Qt::KeyboardModifiers modifiers) {
    switch (key) {
        case Qt::Key_N: goToNeighbour(!modifiers.testFlag(Qt::ShiftModifier)); return true;
        case Qt::Key_BracketLeft: setRangeEnd(false); return true;
        case Qt::Key_BracketRight: setRangeEnd(true); return true;
        case Qt::Key_G:
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (const auto hit = underCrosshair(); hit && hit->frame != dissect::FrameIndex{})
                Q_EMIT packetWanted(*hit);
            return true;
        case Qt::Key_Escape:
            if (m_drag != Drag::None) {
                m_drag = Drag::None;
                m_rubber.reset();
                update();
                return true;
            }
            if (!m_range) return false;
            Q_EMIT rangeChosen(std::nullopt);
            return true;
        default: break;
    }
    if (key < Qt::Key_1 || key > Qt::Key_9) return false;
    const auto number = static_cast<std::size_t>(key - Qt::Key_1);
    if (number < layoutNow().legend.size()) {
        const LayerId id = layoutNow().legend[number].id;
        setLayerVisible(id, !isLayerVisible(id));
    }
    return true;
}

void Plot::keyPressEvent(QKeyEvent* event) {
    const auto modifiers = event->modifiers();
    // Alt, and Ctrl but for the arrows, belong to the window.
    const bool arrow = event->key() >= Qt::Key_Left && event->key() <= Qt::Key_Down;
    const bool ours = !modifiers.testFlag(Qt::AltModifier) && (arrow || !modifiers.testFlag(Qt::ControlModifier));
    if (!ours || m_data.empty() || (!viewKey(event->key(), modifiers) && !editKey(event->key(), modifiers)))
        QWidget::keyPressEvent(event);
}

}  // namespace qps::gui
