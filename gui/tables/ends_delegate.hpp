// Shortens ends of connections in a cell: the addresses give way, never the numbers of the queue pairs.
#pragma once

#include <QFontMetrics>
#include <QStyledItemDelegate>

namespace qps::gui {

// "10.77...0.11:17 <-> 10.77...0.12:18", no wider than that; text that names no ends is shortened at its end.
[[nodiscard]] QString shortenedEnds(const QString& text, const QFontMetrics& metrics, int width);

class EndsDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
    mutable bool m_painting = false;  // else the width is asked for that the whole text needs
};

}  // namespace qps::gui
