#include <gui/packets/list_accessible.hpp>
#include <gui/packets/packet_list.hpp>

#include <QAccessible>
#include <QAccessibleWidget>
#include <QHeaderView>
#include <algorithm>
#include <map>
#include <utility>

namespace qps::gui {

namespace {

// Qt counts rows in an int. The rows of the table are those in sight, from 0 at the upper end.
class ListInterface;

class CellInterface : public QAccessibleInterface, public QAccessibleTableCellInterface {
public:
    CellInterface(ListInterface& list, int row, int column) : m_list(list), m_row(row), m_column(column) {}

    bool isValid() const override;
    QObject* object() const override { return nullptr; }
    QWindow* window() const override;
    QAccessibleInterface* parent() const override;
    QAccessibleInterface* child(int) const override { return nullptr; }
    QAccessibleInterface* childAt(int, int) const override { return nullptr; }
    int childCount() const override { return 0; }
    int indexOfChild(const QAccessibleInterface*) const override { return -1; }
    QString text(QAccessible::Text kind) const override;
    void setText(QAccessible::Text, const QString&) override {}
    QRect rect() const override;
    QAccessible::Role role() const override { return QAccessible::Cell; }
    QAccessible::State state() const override;
    void* interface_cast(QAccessible::InterfaceType type) override {
        return type == QAccessible::TableCellInterface ? static_cast<QAccessibleTableCellInterface*>(this) : nullptr;
    }

    bool isSelected() const override;
    QList<QAccessibleInterface*> columnHeaderCells() const override { return {}; }
    QList<QAccessibleInterface*> rowHeaderCells() const override { return {}; }
    int columnIndex() const override { return m_column; }
    int rowIndex() const override { return m_row; }
    int columnExtent() const override { return 1; }
    int rowExtent() const override { return 1; }
    QAccessibleInterface* table() const override { return parent(); }

private:
    ListInterface& m_list;
    int m_row;
    int m_column;  // as on the screen
};

class ListInterface : public QAccessibleWidget, public QAccessibleTableInterface {
public:
    explicit ListInterface(PacketList* list) : QAccessibleWidget(list, QAccessible::Table) {}
    ListInterface(const ListInterface&) = delete;
    ListInterface& operator=(const ListInterface&) = delete;
    ~ListInterface() override {
        for (const auto& [place, id] : m_cells) QAccessible::deleteAccessibleInterface(id);
    }

    PacketList& list() const { return *static_cast<PacketList*>(widget()); }
    int logical(int column) const { return list().header()->logicalIndex(column); }
    std::uint64_t position(int row) const { return list().topRow() + static_cast<std::uint64_t>(row); }
    bool has(int row, int column) const {
        return row >= 0 && row < rowCount() && column >= 0 && column < columnCount();
    }

    void* interface_cast(QAccessible::InterfaceType type) override {
        if (type == QAccessible::TableInterface) return static_cast<QAccessibleTableInterface*>(this);
        return QAccessibleWidget::interface_cast(type);
    }
    int childCount() const override { return rowCount() * columnCount(); }
    QAccessibleInterface* child(int index) const override {
        return index < 0 || columnCount() == 0 ? nullptr : cellAt(index / columnCount(), index % columnCount());
    }
    int indexOfChild(const QAccessibleInterface* child) const override {
        if (child == nullptr || child->role() != QAccessible::Cell) return -1;
        const auto* cell = static_cast<const CellInterface*>(child);
        return cell->rowIndex() * columnCount() + cell->columnIndex();
    }
    QAccessibleInterface* childAt(int x, int y) const override {
        const QPoint at = list().viewport()->mapFromGlobal(QPoint(x, y));
        const auto row = list().rowAt(at.y());
        return row ? cellAt(static_cast<int>(*row - list().topRow()), list().header()->visualIndexAt(at.x())) : nullptr;
    }
    QAccessibleInterface* focusChild() const override {
        const auto row = currentRow();
        return row ? cellAt(*row, 0) : nullptr;
    }
    QString text(QAccessible::Text kind) const override {
        if (kind == QAccessible::Value)
            if (const auto row = currentRow()) return list().spoken(position(*row));
        return QAccessibleWidget::text(kind);
    }

    QAccessibleInterface* caption() const override { return nullptr; }
    QAccessibleInterface* summary() const override { return nullptr; }
    QAccessibleInterface* cellAt(int row, int column) const override {
        if (!has(row, column)) return nullptr;
        const auto place = std::pair(row, column);
        if (const auto found = m_cells.find(place); found != m_cells.end())
            return QAccessible::accessibleInterface(found->second);
        auto* cell = new CellInterface(const_cast<ListInterface&>(*this), row, column);
        m_cells.emplace(place, QAccessible::registerAccessibleInterface(cell));  // who owns it from now on
        return cell;
    }
    int selectedCellCount() const override { return static_cast<int>(selectedRows().size()) * columnCount(); }
    QList<QAccessibleInterface*> selectedCells() const override {
        QList<QAccessibleInterface*> cells;
        for (const int row : selectedRows())
            for (int column = 0; column < columnCount(); ++column) cells << cellAt(row, column);
        return cells;
    }
    QString columnDescription(int column) const override {
        return column < 0 || column >= columnCount()
                   ? QString()
                   : list().columns()[static_cast<std::size_t>(logical(column))].title;
    }
    QString rowDescription(int row) const override { return has(row, 0) ? list().spoken(position(row)) : QString(); }
    int selectedColumnCount() const override { return 0; }
    int selectedRowCount() const override { return static_cast<int>(selectedRows().size()); }
    int columnCount() const override { return list().header()->count(); }
    int rowCount() const override {
        const ScrollGeometry& rows = list().geometryOfRows();
        return static_cast<int>(std::min(rows.page, rows.rows - std::min(rows.rows, list().topRow())));
    }
    QList<int> selectedColumns() const override { return {}; }
    QList<int> selectedRows() const override {
        QList<int> rows;
        for (int row = 0; row < rowCount(); ++row)
            if (isRowSelected(row)) rows << row;
        return rows;
    }
    bool isColumnSelected(int) const override { return false; }
    bool isRowSelected(int row) const override {
        if (!has(row, 0)) return false;
        const dissect::FrameIndex frame = list().rows()->frameAt(position(row));
        return std::ranges::any_of(list().selectedFrames(), [&](const FrameRange& range) {
            return range.first <= frame && frame <= range.last;
        });
    }
    bool selectRow(int row) override { return has(row, 0) && list().goTo(list().rows()->frameAt(position(row))); }
    bool selectColumn(int) override { return false; }
    bool unselectRow(int) override { return false; }
    bool unselectColumn(int) override { return false; }
    void modelChange(QAccessibleTableModelChangeEvent*) override {}

private:
    std::optional<int> currentRow() const {
        const auto current = list().current();
        if (!current || list().rows() == nullptr || !list().rows()->isShown(*current)) return std::nullopt;
        const std::uint64_t at = list().rows()->positionOf(*current);
        if (at < list().topRow() || at - list().topRow() >= static_cast<std::uint64_t>(rowCount())) return std::nullopt;
        return static_cast<int>(at - list().topRow());
    }

    mutable std::map<std::pair<int, int>, QAccessible::Id>
        m_cells;  // of the places on the screen: as many as fit there
};

bool CellInterface::isValid() const { return m_list.isValid() && m_list.has(m_row, m_column); }
QWindow* CellInterface::window() const { return m_list.window(); }
QAccessibleInterface* CellInterface::parent() const { return &m_list; }
bool CellInterface::isSelected() const { return m_list.isRowSelected(m_row); }

QString CellInterface::text(QAccessible::Text kind) const {
    if (!isValid()) return {};
    if (kind == QAccessible::Description) return m_list.columnDescription(m_column);
    if (kind != QAccessible::Name) return {};
    return m_list.list().textAt(m_list.position(m_row)).cells[static_cast<std::size_t>(m_list.logical(m_column))];
}

QRect CellInterface::rect() const {
    if (!isValid()) return {};
    const QRect cell = m_list.list().cellRect(m_list.position(m_row), m_list.logical(m_column));
    return {m_list.list().viewport()->mapToGlobal(cell.topLeft()), cell.size()};
}

QAccessible::State CellInterface::state() const {
    QAccessible::State state;
    if (!isValid()) {
        state.invalid = true;
        return state;
    }
    state.focusable = state.selectable = state.readOnly = true;
    state.selected = isSelected();
    const auto current = m_list.list().current();
    state.focused = m_list.list().hasFocus() && current == m_list.list().rows()->frameAt(m_list.position(m_row));
    return state;
}

QAccessibleInterface* made(const QString&, QObject* object) {
    auto* list = qobject_cast<PacketList*>(object);
    return list == nullptr ? nullptr : new ListInterface(list);
}

}  // namespace

void installListAccessibility() {
    static const bool installed = [] {
        QAccessible::installFactory(made);
        return true;
    }();
    static_cast<void>(installed);
}

QString PacketList::spoken(std::uint64_t position) {
    if (m_rows == nullptr || position >= m_scroll.rows) return {};
    const RowText& text = m_texts.at(position);
    QStringList parts;
    for (int visual = 0; visual < m_header->count(); ++visual) {
        const int column = m_header->logicalIndex(visual);
        const QString& content = text.cells[static_cast<std::size_t>(column)];
        if (!content.isEmpty()) parts << columns()[static_cast<std::size_t>(column)].title + QLatin1Char(' ') + content;
    }
    if (text.rule != nullptr) parts << text.rule->name;
    if (m_notes.marks.contains(m_rows->frameAt(position))) parts << tr("marked");
    if (!text.comment.isEmpty()) parts << tr("comment: %1").arg(text.comment);
    return parts.join(QStringLiteral(", "));
}

// A new current row, for who cannot see it.
void PacketList::announce() {
    if (!QAccessible::isActive()) return;
    QAccessibleEvent focused(this, QAccessible::Focus);
    if (const auto position = currentPosition(); position && *position >= m_top && *position - m_top < m_scroll.page)
        focused.setChild(static_cast<int>(*position - m_top) * m_header->count());
    QAccessible::updateAccessibility(&focused);
    QAccessibleValueChangeEvent value(this, currentPosition() ? spoken(*currentPosition()) : QString());
    QAccessible::updateAccessibility(&value);
}

}  // namespace qps::gui
