#include <gui/base/look.hpp>
#include <gui/base/plain_tip.hpp>
#include <gui/base/text.hpp>
#include <gui/pictures/loss_strip.hpp>
#include <transport-replay/report/figures.hpp>

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

namespace qps::gui {

using transport::series::BetweenTaps;
using transport::series::LossRow;
using transport::series::StretchCounts;

namespace {

constexpr double kLinesOfRow =
    4;  // above the line what was lost, below what else happened, below that what nobody knows
constexpr double kLinesOfTaps = 1.2;  // for each pair of taps that tell more
constexpr double kNameShare = 0.17;   // of the width, for each end
constexpr double kThick = 3;          // pixels

QString counted(std::uint64_t number, const char* noun) { return shown(transport::counted(number, noun)); }

QStringList lossesOf(const StretchCounts& counts) {
    QStringList parts;
    if (counts.lost != 0) parts << QObject::tr("%L1 lost").arg(counts.lost);
    if (counts.corrupt != 0) parts << QObject::tr("%L1 corrupt").arg(counts.corrupt);
    return parts;
}
QStringList changesOf(const StretchCounts& counts) {
    QStringList parts;
    if (counts.reordered != 0) parts << QObject::tr("%L1 late").arg(counts.reordered);
    if (counts.marked != 0) parts << counted(counts.marked, "CE mark");
    return parts;
}
QStringList openOf(const LossRow& row) {
    QStringList parts;
    if (row.undecided != 0) parts << QObject::tr("%L1 undecided").arg(row.undecided);
    if (row.by_capture != 0) parts << QObject::tr("%L1 missing in the capture alone").arg(row.by_capture);
    return parts;
}

QString tapName(const LossDrawing& drawing, transport::HostNumber host) {
    const auto number = static_cast<std::size_t>(host);
    return number == 0 || number > drawing.taps.size() ? QObject::tr("another tap") : drawing.taps[number - 1];
}
QString betweenText(const LossDrawing& drawing, const BetweenTaps& between) {
    return QObject::tr("%1 passed the tap of %2, and that of %3 does not have them")
        .arg(counted(between.packets, "packet"), tapName(drawing, between.passed), tapName(drawing, between.missed));
}

// One row in an area; what it needs of the palette at hand.
class RowPainter {
public:
    RowPainter(QPainter& painter, const LossDrawing& drawing, const QRectF& area, const QPalette& palette)
        : m_painter(painter),
          m_drawing(drawing),
          m_area(area),
          m_palette(palette),
          m_line(painter.fontMetrics().height()) {}

    void paint(const LossRow& row) {
        const double y = m_area.top() + 1.9 * m_line;
        const double names = m_area.width() * kNameShare;
        const double left = m_area.left() + names;
        const double right = m_area.right() - names;
        const double tap = (left + right) / 2;
        text(QRectF(m_area.left(), y - m_line, names - m_line / 2, 2 * m_line), Qt::AlignRight | Qt::AlignVCenter,
             shown(transport::text(row.from)));
        text(QRectF(right + m_line / 2, y - m_line, names - m_line / 2, 2 * m_line), Qt::AlignLeft | Qt::AlignVCenter,
             shown(transport::text(row.to)));
        stretch(row.before_tap, left, tap, y);
        stretch(row.behind_tap, tap, right, y);
        for (const double x : {left, right}) node(QPointF(x, y));
        node(QPointF(tap, y));
        text(QRectF(tap - 3 * m_line, y - 1.5 * m_line, 6 * m_line, m_line), Qt::AlignHCenter | Qt::AlignTop,
             QObject::tr("tap"));
        text(QRectF(left, y + 1.1 * m_line, right - left, m_line), Qt::AlignCenter,
             openOf(row).join(QStringLiteral(", ")));
        for (std::size_t i = 0; i < row.between.size(); ++i)
            text(QRectF(left, y + (1.1 + kLinesOfTaps * static_cast<double>(i + 1)) * m_line, right - left, m_line),
                 Qt::AlignCenter, betweenText(m_drawing, row.between[i]));
    }

private:
    void node(QPointF at) {
        m_painter.setPen(QPen(m_palette.color(QPalette::Text), 1.5));
        m_painter.setBrush(m_palette.color(QPalette::Base));
        m_painter.drawEllipse(at, m_line * 0.28, m_line * 0.28);
    }
    void text(const QRectF& box, int flags, const QString& words) {
        if (words.isEmpty()) return;
        m_painter.setPen(m_palette.color(QPalette::Text));
        m_painter.drawText(box, flags | Qt::TextSingleLine,
                           m_painter.fontMetrics().elidedText(words, Qt::ElideMiddle, static_cast<int>(box.width())));
    }
    // Told apart without colours too: where something was lost the line is broken and has a cross.
    void stretch(const StretchCounts& counts, double from, double to, double y) {
        const QStringList losses = lossesOf(counts);
        const QColor plain = mixed(m_palette.color(QPalette::Base), m_palette.color(QPalette::Text), 0.45);
        const QColor bad = color(Ink::NegativeAcknowledgment, m_palette);
        m_painter.setPen(losses.isEmpty() ? QPen(plain, 1.5) : QPen(bad, kThick, Qt::DashLine));
        m_painter.drawLine(QLineF(from, y, to, y));
        const QRectF above(from + m_line, y - 1.4 * m_line, to - from - 2 * m_line, m_line);
        const QRectF below(from + m_line, y + 0.2 * m_line, to - from - 2 * m_line, m_line);
        if (!losses.isEmpty()) {
            const QPointF middle((from + to) / 2, y);
            const double arm = m_line * 0.3;
            m_painter.setPen(QPen(bad, kThick));
            m_painter.drawLine(QLineF(middle - QPointF(arm, arm), middle + QPointF(arm, arm)));
            m_painter.drawLine(QLineF(middle - QPointF(arm, -arm), middle + QPointF(arm, -arm)));
            const QFont font = m_painter.font();
            QFont bold = font;
            bold.setBold(true);
            m_painter.setFont(bold);
            text(above, Qt::AlignCenter, losses.join(QStringLiteral(", ")));
            m_painter.setFont(font);
        }
        text(below, Qt::AlignCenter, changesOf(counts).join(QStringLiteral(", ")));
    }

    QPainter& m_painter;
    const LossDrawing& m_drawing;
    QRectF m_area;
    const QPalette& m_palette;
    double m_line;
};

}  // namespace

QString lossText(const LossDrawing& drawing, std::size_t number) {
    const LossRow& row = drawing.places.rows[number];
    QStringList lines{QObject::tr("%1 to %2: %3 of %4")
                          .arg(shown(transport::text(row.from)), shown(transport::text(row.to)),
                               counted(row.packets, "packet"), counted(row.connections, "connection"))};
    const auto add = [&](const QString& where, const StretchCounts& counts) {
        const QStringList all = lossesOf(counts) + changesOf(counts);
        lines << where.arg(all.isEmpty() ? QObject::tr("nothing seen") : all.join(QStringLiteral(", ")));
    };
    add(QObject::tr("from the sender to the tap: %1"), row.before_tap);
    add(QObject::tr("from the tap to the receiver: %1"), row.behind_tap);
    lines << openOf(row);
    for (const BetweenTaps& between : row.between) lines << betweenText(drawing, between);
    return lines.join(QLatin1Char('\n'));
}

LossStrip::LossStrip(QWidget* parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setAutoFillBackground(false);
}

void LossStrip::show(std::shared_ptr<const LossDrawing> drawing, const QString& notice) {
    m_drawing = std::move(drawing);
    m_notice = notice;
    m_current.reset();
    setAccessibleDescription(count() == 0 ? notice : QString());
    measure();
    viewport()->update();
}

double LossStrip::rowHeight(std::size_t row) const {
    const auto taps = static_cast<double>(m_drawing->places.rows[row].between.size());
    return (kLinesOfRow + kLinesOfTaps * taps) * fontMetrics().height();
}

void LossStrip::measure() {
    m_tops.assign(1, 0);
    for (std::size_t i = 0; i < count(); ++i) m_tops.push_back(m_tops.back() + rowHeight(i));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(static_cast<int>(kLinesOfRow * fontMetrics().height()));
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(m_tops.back()) - viewport()->height()));
}

double LossStrip::heightOfAll() const { return m_tops.empty() ? 0 : m_tops.back(); }

std::optional<std::size_t> LossStrip::rowAt(double y) const {
    if (count() == 0 || y < 0 || y >= m_tops.back()) return std::nullopt;
    return static_cast<std::size_t>(std::ranges::upper_bound(m_tops, y) - m_tops.begin()) - 1;
}

void LossStrip::setCurrent(std::size_t row) {
    if (row >= count() || m_current == row) return;
    m_current = row;
    QScrollBar& bar = *verticalScrollBar();
    bar.setValue(std::clamp(bar.value(), static_cast<int>(m_tops[row + 1]) - viewport()->height(),
                            static_cast<int>(m_tops[row])));
    setAccessibleDescription(lossText(*m_drawing, row));
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
    viewport()->update();
    Q_EMIT currentChanged();
}

void LossStrip::paint(QPainter& painter, const QSizeF& size, double from, const QPalette& palette, bool marks) const {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(QRectF(QPointF(0, 0), size), palette.color(QPalette::Base));
    for (std::size_t i = rowAt(from).value_or(0); i < count() && m_tops[i] < from + size.height(); ++i) {
        const QRectF area(0, m_tops[i] - from, size.width(), m_tops[i + 1] - m_tops[i]);
        if (marks && m_current == i) {
            QColor ground = palette.color(QPalette::Highlight);
            ground.setAlphaF(0.18F);
            painter.fillRect(area, ground);
        }
        RowPainter(painter, *m_drawing, area, palette).paint(m_drawing->places.rows[i]);
    }
    painter.restore();
}

void LossStrip::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    painter.setFont(font());
    paint(painter, viewport()->size(), verticalScrollBar()->value(), palette(), true);
    if (count() != 0) return;
    painter.setPen(mixed(palette().color(QPalette::Base), palette().color(QPalette::Text), 0.75));
    const int margin = fontMetrics().height() * 2;
    painter.drawText(viewport()->rect().adjusted(margin, margin, -margin, -margin), Qt::AlignCenter | Qt::TextWordWrap,
                     m_notice);
}

void LossStrip::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    measure();
}

bool LossStrip::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto row = rowAt(help->pos().y() + verticalScrollBar()->value());
    if (row) QToolTip::showText(help->globalPos(), plainTip(lossText(*m_drawing, *row)), this);
    else QToolTip::hideText();
    return true;
}

void LossStrip::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QAbstractScrollArea::mousePressEvent(event);
    if (const auto row = rowAt(event->position().y() + verticalScrollBar()->value())) setCurrent(*row);
}

void LossStrip::mouseDoubleClickEvent(QMouseEvent* event) {
    mousePressEvent(event);
    if (m_current) Q_EMIT activated();
}

void LossStrip::keyPressEvent(QKeyEvent* event) {
    const std::size_t last = count() == 0 ? 0 : count() - 1;
    switch (event->key()) {
        case Qt::Key_Down: return setCurrent(m_current ? std::min(*m_current + 1, last) : 0);
        case Qt::Key_Up: return setCurrent(m_current && *m_current > 0 ? *m_current - 1 : 0);
        case Qt::Key_Home: return setCurrent(0);
        case Qt::Key_End: return setCurrent(last);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (m_current) Q_EMIT activated();
            return;
        default: QAbstractScrollArea::keyPressEvent(event);
    }
}

}  // namespace qps::gui
