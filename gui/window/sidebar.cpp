#include <gui/base/look.hpp>
#include <gui/window/sidebar.hpp>

#include <QEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>

namespace qps::gui {

namespace {

constexpr int kId = Qt::UserRole;
constexpr int kCount = Qt::UserRole + 1;
constexpr int kSeparated = Qt::UserRole + 2;
constexpr int kLack = Qt::UserRole + 3;
constexpr int kTip = Qt::UserRole + 4;
constexpr double kRowHeight = 1.7;  // of the font's: all views are in sight at 1180 x 760
constexpr int kRoomForCount = 11;   // characters: ten million with its separators

int margin(const QFontMetrics& metrics) { return metrics.height() * 2 / 3; }

// The name on the left, the count on the right and fainter.
class RowPainter : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const int separation = index.data(kSeparated).toBool() ? option.fontMetrics.height() / 2 : 0;
        return {option.fontMetrics.horizontalAdvance(index.data().toString()),
                static_cast<int>(option.fontMetrics.height() * kRowHeight) + separation};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const bool chosen = option.state.testFlag(QStyle::State_Selected);
        const QPalette& palette = option.palette;
        QRect row = option.rect;
        if (index.data(kSeparated).toBool()) {
            const int separation = option.fontMetrics.height() / 2;
            painter->setPen(mixed(palette.color(QPalette::Base), palette.color(QPalette::Text), 0.2));
            painter->drawLine(row.left() + margin(option.fontMetrics), row.top() + separation / 2,
                              row.right() - margin(option.fontMetrics), row.top() + separation / 2);
            row.setTop(row.top() + separation);
        }
        if (chosen) painter->fillRect(row, palette.highlight());
        else if (option.state.testFlag(QStyle::State_MouseOver))
            painter->fillRect(row, mixed(palette.color(QPalette::Base), palette.color(QPalette::Highlight), 0.15));
        const QRect text = row.adjusted(margin(option.fontMetrics), 0, -margin(option.fontMetrics), 0);
        const bool lacks = !index.data(kLack).toString().isEmpty();
        const QColor ink = palette.color(chosen  ? QPalette::HighlightedText
                                         : lacks ? QPalette::PlaceholderText
                                                 : QPalette::Text);
        painter->setPen(ink);
        painter->drawText(text, Qt::AlignLeft | Qt::AlignVCenter, index.data().toString());
        painter->setPen(chosen ? ink : palette.color(QPalette::PlaceholderText));
        painter->drawText(text, Qt::AlignRight | Qt::AlignVCenter, index.data(kCount).toString());
        if (option.state.testFlag(QStyle::State_HasFocus) && option.state.testFlag(QStyle::State_KeyboardFocusChange)) {
            painter->setPen(QPen(ink, 1, Qt::DotLine));
            painter->drawRect(row.adjusted(1, 1, -2, -2));
        }
    }
};

}  // namespace

Sidebar::Sidebar(QWidget* parent) : QListWidget(parent) {
    setAccessibleName(tr("Views"));
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
    setItemDelegate(new RowPainter(this));
    setMouseTracking(true);
}

void Sidebar::add(const QString& id, const QString& title, const QString& tip, bool separated) {
    auto* item = new QListWidgetItem(title, this);
    item->setToolTip(tip);
    item->setData(kTip, tip);
    item->setData(kId, id);
    item->setData(kSeparated, separated);
    updateGeometry();
}

void Sidebar::setCount(int row, std::optional<std::uint64_t> count) {
    const QString text = count && *count != 0 ? tr("%L1").arg(*count) : QString();
    QListWidgetItem* entry = item(row);
    if (entry->data(kCount).toString() == text) return;
    entry->setData(kCount, text);
    describe(*entry);
}

void Sidebar::setLack(int row, const QString& why) {
    QListWidgetItem* entry = item(row);
    if (entry->data(kLack).toString() == why) return;
    entry->setData(kLack, why);
    const QString tip = entry->data(kTip).toString();
    entry->setToolTip(why.isEmpty() ? tip : tr("%1. %2.").arg(tip, why));
    describe(*entry);
}

// For a screen reader: what the eye sees beside the name.
void Sidebar::describe(QListWidgetItem& entry) {
    QStringList parts{entry.text(), entry.data(kCount).toString(), entry.data(kLack).toString()};
    parts.removeAll(QString());
    entry.setData(Qt::AccessibleTextRole, parts.join(QStringLiteral(", ")));
}

QString Sidebar::id(int row) const { return row < 0 || row >= count() ? QString() : item(row)->data(kId).toString(); }

int Sidebar::rowOf(const QString& id) const {
    for (int row = 0; row < count(); ++row)
        if (this->id(row) == id) return row;
    return -1;
}

QSize Sidebar::sizeHint() const {
    const QFontMetrics metrics = fontMetrics();
    int widest = 0;
    for (int row = 0; row < count(); ++row) widest = std::max(widest, metrics.horizontalAdvance(item(row)->text()));
    return {widest + metrics.averageCharWidth() * kRoomForCount + 2 * margin(metrics), metrics.height() * 10};
}

void Sidebar::changeEvent(QEvent* event) {
    QListWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        updateGeometry();
        scheduleDelayedItemsLayout();
    }
}

}  // namespace qps::gui
