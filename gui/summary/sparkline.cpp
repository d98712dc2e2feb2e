#include <gui/base/look.hpp>
#include <gui/base/text.hpp>
#include <gui/summary/sparkline.hpp>
#include <transport-replay/report/figures.hpp>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStyleOptionFocusRect>
#include <algorithm>

namespace qps::gui {

using transport::series::Amount;

namespace {

bool troubled(const Amount& amount) { return amount.retransmitted != 0 || amount.naks != 0 || amount.rnr_naks != 0; }

}  // namespace

Sparkline::Sparkline(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Throughput"));
    show({});
}

void Sparkline::show(Bars bars) {
    m_bars = std::move(bars);
    m_most = 0;
    std::size_t marked = 0;
    double peak = 0;
    for (const auto& bar : m_bars) {
        m_most = std::max(m_most, bar.amount.bytes);
        peak = std::max(peak, 8 * transport::per_second(bar.amount.bytes, bar.width));
        if (troubled(bar.amount)) ++marked;
    }
    const QString words = m_bars.empty() ? tr("not known yet")
                                         : tr("peak %1; errors in %2 of %3 intervals")
                                               .arg(shown(transport::rate_text(peak)))
                                               .arg(marked)
                                               .arg(m_bars.size());
    setAccessibleDescription(words);
    setToolTip(tr("Bytes on the wire over time: %1. Click to open the throughput graph.").arg(words));
    update();
}

QSize Sparkline::sizeHint() const { return {fontMetrics().averageCharWidth() * 60, fontMetrics().height() * 4}; }
QSize Sparkline::minimumSizeHint() const { return {fontMetrics().averageCharWidth() * 20, fontMetrics().height() * 4}; }

void Sparkline::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const int strip = std::max(3, fontMetrics().height() / 4);  // below: the marks
    const QRect plot = rect().adjusted(0, 0, 0, -strip - 1);
    painter.fillRect(QRect(0, plot.bottom(), width(), 1),
                     mixed(palette().color(QPalette::Base), palette().color(QPalette::Text), 0.4));
    const auto count = static_cast<int>(m_bars.size());
    for (int at = 0; at < count && m_most != 0; ++at) {
        const Amount& amount = m_bars[static_cast<std::size_t>(at)].amount;
        const int left = static_cast<int>(static_cast<std::int64_t>(at) * width() / count);
        const int right = std::max(left + 1, static_cast<int>(static_cast<std::int64_t>(at + 1) * width() / count));
        const int tall =
            static_cast<int>(static_cast<double>(amount.bytes) / static_cast<double>(m_most) * plot.height());
        const int least = amount.bytes == 0 ? 0 : 1;
        painter.fillRect(QRect(left, plot.bottom() - std::max(tall, least), right - left, std::max(tall, least)),
                         color(Ink::Request, palette()));
        if (!troubled(amount)) continue;
        const Ink ink = amount.naks + amount.rnr_naks != 0 ? Ink::NegativeAcknowledgment : Ink::Retransmission;
        painter.fillRect(QRect(left, height() - strip, std::max(right - left, 2), strip), color(ink, palette()));
    }
    if (!hasFocus()) return;
    QStyleOptionFocusRect focus;
    focus.initFrom(this);
    style()->drawPrimitive(QStyle::PE_FrameFocusRect, &focus, &painter, this);
}

void Sparkline::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && rect().contains(event->pos())) Q_EMIT activated();
}

void Sparkline::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space)
        Q_EMIT activated();
    else QWidget::keyPressEvent(event);
}

}  // namespace qps::gui
