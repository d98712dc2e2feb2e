#include <gui/tables/table_model.hpp>
#include <gui/tables/when_delegate.hpp>

#include <QApplication>
#include <QPainter>

namespace qps::gui {

namespace {

Ink inkOf(Trouble trouble) {
    switch (trouble) {
        case Trouble::Resent: return Ink::Retransmission;
        case Trouble::Refused: return Ink::NegativeAcknowledgment;
        case Trouble::Evidence: break;
    }
    return Ink::Congestion;
}

}  // namespace

void WhenDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem ground = option;
    initStyleOption(&ground, index);
    ground.text.clear();
    const QStyle* style = ground.widget != nullptr ? ground.widget->style() : QApplication::style();
    style->drawControl(QStyle::CE_ItemViewItem, &ground, painter, ground.widget);

    const int unit = std::max(1, option.fontMetrics.height() / 8);
    const QRect track = option.rect.adjusted(2 * unit, unit, -2 * unit, -unit);
    if (track.width() <= 2 * unit) return;
    const auto when = index.data(TableModel::WhenRole).value<When>();
    const TimeRange axis = m_axis();
    const WhenShape shape = whenShape(when, axis, track.width(), 2 * unit);
    if (shape.width == 0) return;

    const QPalette& palette = option.palette;
    const bool selected = (option.state & QStyle::State_Selected) != 0;
    const QColor text = palette.color(selected ? QPalette::HighlightedText : QPalette::Text);
    const QColor back = palette.color(selected ? QPalette::Highlight : QPalette::Base);
    const int middle = track.center().y();
    const int base = when.heights.empty() ? middle : track.bottom();
    painter->fillRect(QRect(track.left(), base, track.width(), 1), mixed(back, text, 0.25));
    const QColor bar = selected ? mixed(back, text, 0.6) : color(Ink::Request, palette);
    const std::vector<std::uint8_t> heights = heightsIn(when.heights, m_whole(), axis);
    if (heights.empty())
        painter->fillRect(QRect(track.left() + shape.left, middle - unit, shape.width, 2 * unit + 1), bar);
    for (std::size_t i = 0; i < heights.size(); ++i) {
        const auto at = [&](std::size_t part) {
            return track.left() + static_cast<int>(part * static_cast<std::size_t>(track.width()) / heights.size());
        };
        const int height = (heights[i] * track.height() + 254) / 255;
        if (height > 0)
            painter->fillRect(QRect(at(i), track.bottom() + 1 - height, std::max(1, at(i + 1) - at(i)), height), bar);
    }
    const int thick = std::max(1, unit / 2);
    for (const WhenTick& tick : shape.ticks)
        painter->fillRect(QRect(track.left() + tick.x, track.top(), thick, track.height()),
                          selected ? text : color(inkOf(tick.trouble), palette));
}

QSize WhenDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
    return {option.fontMetrics.averageCharWidth() * 24, option.fontMetrics.height()};
}

}  // namespace qps::gui
