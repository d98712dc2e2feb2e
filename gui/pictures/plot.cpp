// What a plot shows. plot_input.cpp has what mouse and keys do to it.
#include <gui/base/plain_tip.hpp>
#include <gui/pictures/plot.hpp>

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <utility>

namespace qps::gui {

Plot::Plot(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setCursor(Qt::CrossCursor);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(tr("Plot"));
}

void Plot::setData(PlotData data, bool anew) {
    const bool sawAll = m_view.time == m_data.home || m_data.panels.empty();
    const bool otherPanels = data.panels.size() != m_data.panels.size();
    m_data = std::move(data);
    if (anew || otherPanels) m_view.values.assign(m_data.panels.size(), std::nullopt);
    if (anew || otherPanels) m_history.clear();
    m_view.time = anew ? m_data.entry.value_or(m_data.home) : sawAll ? m_data.home : limited(m_view.time, m_data.whole);
    if (anew) setCrosshair(std::nullopt);
    invalidate();
    Q_EMIT viewChanged();
}

void Plot::setNotice(const QString& text) {
    m_notice = text;
    setAccessibleDescription(m_data.empty() ? text : QString());
    invalidate();
}

void Plot::setRange(std::optional<TimeSpan> range) {
    if (m_range == range) return;
    m_range = range;
    if (m_data.refine) invalidate();
    update();
}

void Plot::setPacketTime(std::optional<std::int64_t> time) {
    m_packetTime = time;
    update();
}

void Plot::changeView(Viewport view, Gesture gesture) {
    if (view == m_view) return;
    m_history.remember(m_view, gesture);
    m_view = std::move(view);
    invalidate();
    Q_EMIT viewChanged();
}

void Plot::setTime(TimeSpan time) {
    Viewport view = m_view;
    view.time = limited(time, m_data.whole);
    changeView(std::move(view), Single);
}

void Plot::zoomTime(double factor, std::optional<double> x) {
    const TimeScale& scale = layoutNow().time;
    const double around = x ? *x : m_crosshair ? m_crosshair->x() : scale.left + scale.width / 2;
    Viewport view = m_view;
    view.time = zoomed(view.time, scale.time(around), factor, m_data.whole);
    changeView(std::move(view), Wheel);
}

std::size_t Plot::panelOfCrosshair() const { return m_crosshair ? layoutNow().panelAt(*m_crosshair).value_or(0) : 0; }

ValueSpan Plot::valuesOf(std::size_t panel) const { return layoutNow().panels[panel].scale.span; }

void Plot::zoomValues(double factor, std::optional<QPointF> around) {
    if (m_data.panels.empty()) return;
    const std::size_t panel = around ? layoutNow().panelAt(*around).value_or(panelOfCrosshair()) : panelOfCrosshair();
    if (m_data.panels[panel].named()) return;
    const PanelBox& box = layoutNow().panels[panel];
    const double y = around                                           ? around->y()
                     : m_crosshair && box.area.contains(*m_crosshair) ? m_crosshair->y()
                                                                      : box.area.center().y();
    Viewport view = m_view;
    view.values[panel] = zoomed(valuesOf(panel), box.scale.value(y), factor, m_data.panels[panel].logarithmic);
    changeView(std::move(view), Wheel);
}

void Plot::pan(double timeShare, double valueShare) {
    Viewport view = m_view;
    view.time = panned(view.time, timeShare, m_data.whole);
    const std::size_t panel = panelOfCrosshair();
    if (valueShare != 0 && panel < m_data.panels.size() && !m_data.panels[panel].named())
        view.values[panel] = panned(valuesOf(panel), valueShare, m_data.panels[panel].logarithmic);
    changeView(std::move(view), Key);
}

void Plot::showAll() { changeView({m_data.home, std::vector<std::optional<ValueSpan>>(m_data.panels.size())}, Single); }

void Plot::goBack() {
    const auto before = m_history.back();
    if (!before || before->values.size() != m_data.panels.size()) return;
    m_view = *before;
    m_view.time = limited(m_view.time, m_data.whole);
    invalidate();
    Q_EMIT viewChanged();
}

void Plot::setDragZooms(bool zooms) {
    if (zooms == m_dragZooms) return;
    m_dragZooms = zooms;
    Q_EMIT dragZoomsChanged(zooms);
}

void Plot::setLayerVisible(LayerId id, bool visible) {
    if (visible) m_hidden.erase(id);
    else m_hidden.insert(id);
    invalidate();
}

const PlotData& Plot::data() const {
    if (!m_refined && m_data.refine)
        m_data.refine(m_data, {m_data.range(m_view.time), static_cast<std::size_t>(std::max(1, width())),
                               m_range ? std::optional(m_data.range(*m_range)) : std::nullopt});
    m_refined = true;
    return m_data;
}

void Plot::invalidate() {
    m_refined = false;
    m_layout.reset();
    m_canvas = QImage();
    update();
}

PlotStyle Plot::style(double deviceRatio) const { return {palette(), font(), deviceRatio}; }

const PlotLayout& Plot::layoutNow() const {
    if (!m_layout) m_layout = layOut(data(), m_view, m_hidden, rect(), QFontMetricsF(font()));
    return *m_layout;
}

void Plot::render(QPainter& painter, const QRectF& bounds, double deviceRatio, const QPalette& palette) const {
    const PlotStyle style{palette, font(), deviceRatio};
    if (m_data.empty()) {
        paintNotice(painter, bounds, m_notice, style);
        return;
    }
    const PlotLayout layout = layOut(data(), m_view, m_hidden, bounds, QFontMetricsF(font()));
    paintPlot(painter, m_data, layout, m_hidden, style);
    paintOverlay(painter, layout, {m_range, m_packetTime, std::nullopt, std::nullopt}, style);
}

bool Plot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto entry = m_data.empty() ? std::nullopt : layoutNow().legendAt(help->pos());
    const QString tip = entry ? m_data.panels[entry->panel].layers[entry->layer].tip : QString();
    if (tip.isEmpty()) QToolTip::hideText();
    else QToolTip::showText(help->globalPos(), plainTip(tip), this);
    return true;
}

void Plot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const double ratio = devicePixelRatioF();
    if (m_data.empty()) {
        paintNotice(painter, rect(), m_notice, style(ratio));
        return;
    }
    if (m_canvas.isNull() || m_canvas.devicePixelRatio() != ratio) {
        m_canvas = QImage((QSizeF(size()) * ratio).toSize(), QImage::Format_RGB32);
        m_canvas.setDevicePixelRatio(ratio);
        QPainter canvas(&m_canvas);
        paintPlot(canvas, data(), layoutNow(), m_hidden, style(ratio));
    }
    painter.drawImage(QPointF(0, 0), m_canvas);
    paintOverlay(painter, layoutNow(), {m_range, m_packetTime, m_crosshair, m_rubber}, style(ratio));
    if (hasFocus()) {
        painter.setPen(palette().color(QPalette::Highlight));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void Plot::resizeEvent(QResizeEvent*) {
    setCrosshair(std::nullopt);
    invalidate();
}

void Plot::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange ||
        event->type() == QEvent::StyleChange)
        invalidate();
}

QSize Plot::sizeHint() const { return QSize(80, 30) * fontMetrics().height() / 2; }

QSize Plot::minimumSizeHint() const { return QSize(20, 10) * fontMetrics().height(); }

}  // namespace qps::gui
