// How much each interface has to do: packets a second, from the counters of the kernel, and the small picture of them.
//
// The counters are those of /proc/net/dev, which any user may read. What an RDMA adapter moves past the kernel is not
// in them.
#pragma once

#include <QHash>
#include <QList>
#include <QPolygonF>
#include <QRectF>
#include <QString>
#include <QStyledItemDelegate>

namespace qps::gui {

// Packets in and out of each interface since the machine began, from the text of /proc/net/dev. Other lines are left
// out.
[[nodiscard]] QHash<QString, quint64> packetCounters(const QByteArray& table);

inline constexpr qsizetype kTrafficMoments = 40;

// Rates of one interface, oldest first; at most kTrafficMoments.
class TrafficHistory {
public:
    // A counter that went back (the interface began anew) counts as nothing.
    void add(quint64 counter, double seconds);
    [[nodiscard]] const QList<double>& rates() const { return m_rates; }

private:
    quint64 m_last = 0;
    bool m_begun = false;
    QList<double> m_rates;
};

// "0", "17/s", "12.3 k/s".
[[nodiscard]] QString rateText(double rate);
// The rates as a line from left to right in the area, the newest at its right edge; 0 at the bottom, the greatest at
// the top.
[[nodiscard]] QPolygonF sparkline(const QList<double>& rates, const QRectF& area);

// Draws a cell whose kRates is a list of rates: the line, and the newest rate as text.
class TrafficDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    static constexpr int kRates = Qt::UserRole + 1;

    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace qps::gui
