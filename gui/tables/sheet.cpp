#include <gui/base/look.hpp>
#include <gui/base/plain_tip.hpp>
#include <gui/base/text.hpp>
#include <gui/tables/sheet_model.hpp>
#include <transport-replay/report/figures.hpp>

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <algorithm>
#include <cmath>

namespace qps::gui {

namespace {

constexpr int kMostSheetWidth = 60;  // characters that a column has at first at most
constexpr int kBarWidth = 24;        // of one with bars, at least

// A bar behind the text, as long as its share of the cell.
class ShareDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const QVariant share = index.data(SheetModel::ShareRole);
        if (share.isValid() && !(option.state & QStyle::State_Selected)) {
            QRectF bar = QRectF(option.rect).adjusted(1, 2, -1, -2);
            bar.setWidth(std::max(1.0, bar.width() * std::clamp(share.toDouble(), 0.0, 1.0)));
            painter->fillRect(bar,
                              mixed(option.palette.color(QPalette::Base), color(Ink::Request, option.palette), 0.3));
        }
        QStyledItemDelegate::paint(painter, option, index);
    }
};

}  // namespace

SheetCell textCell(std::string_view text) { return {shown(text), {}, {}}; }

SheetCell countCell(std::uint64_t count) { return {shown(transport::grouped(count)), static_cast<double>(count), {}}; }

SheetCell shareCell(double share) { return {QStringLiteral("%1 %").arg(100 * share, 0, 'f', 1), share, share}; }

void SheetModel::setRows(std::vector<SheetRow> rows) {
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

int SheetModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int SheetModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_headings.size());
}

QVariant SheetModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const SheetRow& row = m_rows[static_cast<std::size_t>(index.row())];
    const auto column = static_cast<std::size_t>(index.column());
    if (column >= row.cells.size()) return {};
    const SheetCell& cell = row.cells[column];
    switch (role) {
        case Qt::DisplayRole:
        case Qt::AccessibleTextRole: return cell.text;
        case Qt::ToolTipRole: return plainTip(cell.text);
        case SortRole: return cell.number ? QVariant(*cell.number) : QVariant(cell.text);
        case ShareRole: return cell.share ? QVariant(*cell.share) : QVariant();
        case Qt::TextAlignmentRole:
            return static_cast<int>((m_headings[column].right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        case Qt::BackgroundRole:
            if (row.tone == transport::Tone::plain) return {};
            return rowColor(
                row.tone == transport::Tone::error ? transport::Severity::error : transport::Severity::warning,
                QApplication::palette());
        default: return {};
    }
}

QVariant SheetModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section >= static_cast<int>(m_headings.size())) return {};
    const Heading& heading = m_headings[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole)
        return heading.text.left(1).toUpper() + heading.text.mid(1);  // the core's are small
    if (role == SheetModel::FigureRole) return heading.right;
    if (role == Qt::ToolTipRole) return heading.meaning.isEmpty() ? heading.text : heading.meaning;
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((heading.right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
}

Sheet::Sheet(const QString& name, std::vector<Heading> headings, QWidget* parent)
    : QTableView(parent), m_rows(new SheetModel(std::move(headings), this)), m_sorted(new QSortFilterProxyModel(this)) {
    setAccessibleName(name);
    m_sorted->setSourceModel(m_rows);
    m_sorted->setSortRole(SheetModel::SortRole);
    m_sorted->setSortCaseSensitivity(Qt::CaseInsensitive);
    setModel(m_sorted);
    setItemDelegate(new ShareDelegate(this));
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setAlternatingRowColors(false);
    setShowGrid(false);
    setWordWrap(false);
    setTabKeyNavigation(false);
    setCornerButtonEnabled(false);
    verticalHeader()->hide();
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionsMovable(true);
    // Figures stand where their heading is, not at the far end.
    horizontalHeader()->setStretchLastSection(
        !m_rows->headerData(m_rows->columnCount() - 1, Qt::Horizontal, SheetModel::FigureRole).toBool());
    horizontalHeader()->setSortIndicatorClearable(true);
    horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
    setSortingEnabled(true);
    m_sorted->sort(-1);
    connect(this, &QAbstractItemView::activated, this, &Sheet::rowActivated);
    connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
        if (now.isValid()) Q_EMIT rowReached();
    });
    fitSheet();
}

void Sheet::setRows(std::vector<SheetRow> rows) {
    if (rows.empty() && m_rows->rows().empty()) return;
    const SheetRow* before = currentRow();
    const QString key = before != nullptr && !before->cells.empty() ? before->cells.front().text : QString();
    const int column = std::max(0, currentIndex().column());
    m_rows->setRows(std::move(rows));
    const auto& now = m_rows->rows();
    if (!m_wasFitted && !now.empty()) {
        m_wasFitted = true;
        fitSheet();
    }
    if (key.isEmpty()) return;
    const auto found = std::ranges::find_if(
        now, [&](const SheetRow& row) { return !row.cells.empty() && row.cells.front().text == key; });
    if (found == now.end()) return;
    const QSignalBlocker quiet(selectionModel());
    setCurrentIndex(m_sorted->mapFromSource(m_rows->index(static_cast<int>(found - now.begin()), column)));
}

const std::vector<SheetRow>& Sheet::sheetRows() const { return m_rows->rows(); }

const SheetRow* Sheet::currentRow() const {
    const QModelIndex at = m_sorted->mapToSource(currentIndex());
    return at.isValid() ? &m_rows->rows()[static_cast<std::size_t>(at.row())] : nullptr;
}

void Sheet::showRow(const QString& key) {
    const auto& now = m_rows->rows();
    const auto found = std::ranges::find_if(
        now, [&](const SheetRow& row) { return !row.cells.empty() && row.cells.front().text == key; });
    if (found == now.end()) return;
    const QModelIndex at = m_sorted->mapFromSource(
        m_rows->index(static_cast<int>(found - now.begin()), std::max(0, currentIndex().column())));
    setCurrentIndex(at);
    scrollTo(at, QAbstractItemView::PositionAtCenter);
}

void Sheet::setEmptyText(const QString& text) {
    m_empty = text;
    setAccessibleDescription(text);
    viewport()->update();
}

QModelIndexList Sheet::chosenRows() const { return selectionModel()->selectedRows(); }

QString Sheet::sheetText(TextFormat format, bool onlySelected) const {
    std::vector<int> rows, columns;
    if (onlySelected)
        for (const QModelIndex& each : chosenRows()) rows.push_back(each.row());
    else
        for (int row = 0; row < m_sorted->rowCount(); ++row) rows.push_back(row);
    std::ranges::sort(rows);
    for (int at = 0; at < horizontalHeader()->count(); ++at) columns.push_back(horizontalHeader()->logicalIndex(at));
    return tableText(*m_sorted, rows, columns, format);
}

void Sheet::copy() const { QApplication::clipboard()->setText(sheetText(TextFormat::Tsv, !chosenRows().isEmpty())); }

void Sheet::contextMenuEvent(QContextMenuEvent* event) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (const SheetRow* row = currentRow(); row != nullptr) Q_EMIT filterMenuWanted(menu, row->filter);
    if (!menu->isEmpty()) menu->addSeparator();
    const auto copies = [&](const QString& text, TextFormat format) {
        connect(menu->addAction(text), &QAction::triggered, this,
                [this, format] { QApplication::clipboard()->setText(sheetText(format, !chosenRows().isEmpty())); });
    };
    copies(tr("&Copy"), TextFormat::Tsv);
    copies(tr("Copy as C&SV"), TextFormat::Csv);
    copies(tr("Copy as &Markdown"), TextFormat::Markdown);
    menu->popup(event->globalPos());
}

// Enter is the same as a double click, whatever the desktop takes for it; letters belong to the window.
void Sheet::keyPressEvent(QKeyEvent* event) {
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && currentRow() != nullptr)
        Q_EMIT rowActivated();
    else if (event->text().isEmpty() || !event->text()[0].isPrint()) QTableView::keyPressEvent(event);
    else event->ignore();
}

void Sheet::paintEvent(QPaintEvent* event) {
    QTableView::paintEvent(event);
    if (m_sorted->rowCount() != 0 || m_empty.isEmpty()) return;
    QPainter painter(viewport());
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(viewport()->rect().adjusted(8, 8, -8, -8), static_cast<int>(Qt::AlignCenter) | Qt::TextWordWrap,
                     m_empty);
}

void Sheet::changeEvent(QEvent* event) {
    QTableView::changeEvent(event);
    if (event->type() == QEvent::FontChange) fitSheet();
}

void Sheet::fitSheet() {
    const int height = fontMetrics().height();
    verticalHeader()->setMinimumSectionSize(height);
    verticalHeader()->setDefaultSectionSize(height + height / 3);
    resizeColumnsToContents();
    const int character = fontMetrics().averageCharWidth();
    for (int column = 0; column < m_rows->columnCount(); ++column) {
        const bool bars = !m_rows->rows().empty() && m_rows->index(0, column).data(SheetModel::ShareRole).isValid();
        const int wanted = std::max(columnWidth(column) + height, bars ? character * kBarWidth : 0);
        setColumnWidth(column, std::min(wanted, character * kMostSheetWidth));
    }
}

}  // namespace qps::gui
