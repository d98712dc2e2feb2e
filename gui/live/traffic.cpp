#include <gui/base/look.hpp>
#include <gui/live/traffic.hpp>

#include <QApplication>
#include <QPainter>
#include <algorithm>

namespace qps::gui {

namespace {

constexpr qsizetype kReceivedPackets = 1;  // columns of /proc/net/dev after the name
constexpr qsizetype kSentPackets = 9;
const QLatin1String kWidestRate("000.0 M/s");

}  // namespace

QHash<QString, quint64> packetCounters(const QByteArray& table) {
    QHash<QString, quint64> counters;
    for (const QByteArray& line : table.split('\n')) {
        const qsizetype colon = line.lastIndexOf(':');  // the name of an alias has one too
        const QList<QByteArray> columns = line.mid(colon + 1).simplified().split(' ');
        if (colon < 0 || columns.size() <= kSentPackets) continue;
        bool received = false;
        bool sent = false;
        const quint64 packets =
            columns[kReceivedPackets].toULongLong(&received) + columns[kSentPackets].toULongLong(&sent);
        if (received && sent) counters.insert(QString::fromUtf8(line.left(colon).trimmed()), packets);
    }
    return counters;
}

void TrafficHistory::add(quint64 counter, double seconds) {
    if (m_begun && seconds > 0)
        m_rates.push_back(counter > m_last ? static_cast<double>(counter - m_last) / seconds : 0.0);
    if (m_rates.size() > kTrafficMoments) m_rates.removeFirst();
    m_last = counter;
    m_begun = true;
}

QString rateText(double rate) {
    constexpr double kThousand = 1000;
    if (rate < 0.5) return QStringLiteral("0");
    if (rate < kThousand) return QStringLiteral("%1/s").arg(rate, 0, 'f', 0);
    if (rate < kThousand * kThousand) return QStringLiteral("%1 k/s").arg(rate / kThousand, 0, 'f', 1);
    return QStringLiteral("%1 M/s").arg(rate / kThousand / kThousand, 0, 'f', 1);
}

QPolygonF sparkline(const QList<double>& rates, const QRectF& area) {
    QPolygonF line;
    const double greatest = rates.isEmpty() ? 0 : std::ranges::max(rates);
    const double step = area.width() / static_cast<double>(kTrafficMoments - 1);
    for (qsizetype i = 0; i < rates.size(); ++i) {
        const double height = greatest > 0 ? rates[i] / greatest * area.height() : 0;
        line << QPointF(area.right() - static_cast<double>(rates.size() - 1 - i) * step, area.bottom() - height);
    }
    return line;
}

void TrafficDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem cell = option;
    initStyleOption(&cell, index);
    cell.text.clear();
    const QStyle* style = cell.widget != nullptr ? cell.widget->style() : QApplication::style();
    style->drawControl(QStyle::CE_ItemViewItem, &cell, painter, cell.widget);

    const auto rates = index.data(kRates).value<QList<double>>();
    if (rates.isEmpty()) return;
    const bool selected = (cell.state & QStyle::State_Selected) != 0;
    const int gap = cell.fontMetrics.averageCharWidth();
    const int textWidth = cell.fontMetrics.horizontalAdvance(kWidestRate);
    QRectF area = QRectF(cell.rect).adjusted(gap, gap / 2.0, -gap, -gap / 2.0);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(cell.palette.color(selected ? QPalette::HighlightedText : QPalette::Text));
    painter->drawText(cell.rect.adjusted(0, 0, -gap, 0), static_cast<int>(Qt::AlignRight | Qt::AlignVCenter),
                      rateText(rates.back()));
    area.setRight(area.right() - textWidth);
    if (area.width() > gap) {
        if (!selected) painter->setPen(QPen(color(Ink::Request, cell.palette), 0));
        painter->drawPolyline(sparkline(rates, area));
    }
    painter->restore();
}

QSize TrafficDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    size.setWidth(option.fontMetrics.horizontalAdvance(kWidestRate) * 2 + 3 * option.fontMetrics.averageCharWidth());
    size.setHeight(option.fontMetrics.lineSpacing() + option.fontMetrics.averageCharWidth());  // room for the line
    return size;
}

}  // namespace qps::gui
