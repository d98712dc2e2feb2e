#include <gui/tables/ends_delegate.hpp>

#include <QApplication>
#include <QStringList>
#include <algorithm>

namespace qps::gui {

QString shortenedEnds(const QString& text, const QFontMetrics& metrics, int width) {
    if (metrics.horizontalAdvance(text) <= width) return text;
    const QString between = QStringLiteral(" <-> ");
    const QStringList ends = text.split(between);
    QStringList addresses;
    QStringList numbers;
    int taken = metrics.horizontalAdvance(between) * static_cast<int>(ends.size() - 1);
    for (const QString& end : ends) {
        // Of an address or a host ":17", of a queue pair with a name " (17)".
        const qsizetype number =
            end.endsWith(QLatin1Char(')')) ? end.lastIndexOf(QLatin1String(" (")) : end.lastIndexOf(QLatin1Char(':'));
        if (number < 0) return metrics.elidedText(text, Qt::ElideRight, width);
        addresses << end.left(number);
        numbers << end.mid(number);
        taken += metrics.horizontalAdvance(numbers.back());
    }
    const int each = std::max(0, (width - taken) / static_cast<int>(ends.size()));
    QStringList shortened;
    for (qsizetype i = 0; i < ends.size(); ++i)
        shortened << metrics.elidedText(addresses[i], Qt::ElideMiddle, each) + numbers[i];
    return shortened.join(between);
}

void EndsDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    m_painting = true;
    QStyledItemDelegate::paint(painter, option, index);
    m_painting = false;
}

void EndsDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    if (!m_painting) return;
    const QWidget* view = option->widget;
    const int margin = 2 * ((view != nullptr ? view->style() : QApplication::style())
                                ->pixelMetric(QStyle::PM_FocusFrameHMargin, option, view) +
                            1);
    option->text = shortenedEnds(option->text, option->fontMetrics, option->rect.width() - margin);
}

}  // namespace qps::gui
