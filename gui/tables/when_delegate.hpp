// Draws the life of a row as a bar on the time axis of the capture, or how much it carried over time, its moments of
// trouble as ticks.
#pragma once

#include <gui/tables/when.hpp>

#include <QStyledItemDelegate>
#include <functional>

namespace qps::gui {

class WhenDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    // `axis`: what is shown; `whole`: what the heights of rows are of.
    WhenDelegate(std::function<TimeRange()> axis, std::function<TimeRange()> whole, QObject* parent)
        : QStyledItemDelegate(parent), m_axis(std::move(axis)), m_whole(std::move(whole)) {}
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    std::function<TimeRange()> m_axis;
    std::function<TimeRange()> m_whole;
};

}  // namespace qps::gui
