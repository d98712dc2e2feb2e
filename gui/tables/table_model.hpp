// TableModel: rows of the core as a table that can be sorted by any column, narrowed and searched without moving a row:
// what is shown is a list of row numbers. Rows may be added and change while they are looked at; selection and scroll
// position stay.
//
// A model says what its rows are by the functions at the end. Every list here has as many entries as there are rows:
// packets, messages and connections are bounded where they are kept.
#pragma once

#include <gui/tables/sort_order.hpp>
#include <gui/tables/when.hpp>
#include <transport-replay/report/table.hpp>

#include <QAbstractTableModel>
#include <QTimer>
#include <functional>
#include <memory>

namespace qps::gui {

class Names;

struct Heading {
    QString text;
    QString meaning;  // a line for a tool tip
    bool right = false;
};

// Where in the capture a row is proved. Frame 0: nowhere.
struct RowPlace {
    std::optional<transport::ConnectionId> connection;
    dissect::FrameIndex shown{};  // the packet to look at
    dissect::FrameIndex first{};
    dissect::FrameIndex last{};
};

class TableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    using Row = std::uint32_t;  // of the source: its place there, whatever is shown
    enum Role { WhenRole = Qt::UserRole };
    // Whether a row is among those that the user narrowed the views to.
    using Limit = std::function<bool(Row)>;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const final;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const final;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const final;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const final;
    // Column -1: as the source has them.
    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) final;

    void setLimit(Limit limit);  // nothing: all rows
    // Shows only rows one of whose texts has `needle`, whatever its case. Long tables are searched while the user goes
    // on.
    void setSearch(const QString& needle);
    [[nodiscard]] bool searching() const { return m_sieve.isActive(); }
    void finishSearch();
    // What rows call hosts and queue pairs; nullptr: by their addresses and numbers.
    void setNames(std::shared_ptr<const Names> names);

    [[nodiscard]] Row sourceOf(const QModelIndex& index) const {
        return m_shown[static_cast<std::size_t>(index.row())];
    }
    [[nodiscard]] int rowOf(Row source) const;  // -1: it is not shown
    [[nodiscard]] TimeRange axis() const { return m_axis; }
    // What the timeline column shows: the time range that is chosen, else the capture.
    [[nodiscard]] TimeRange shownAxis() const { return m_range.value_or(m_axis); }
    void setRange(std::optional<TimeRange> range);
    [[nodiscard]] int whenColumn() const { return static_cast<int>(m_headings.size()); }

    // What rows are.
    [[nodiscard]] virtual Row sources() const = 0;
    [[nodiscard]] virtual RowPlace place(Row row) const = 0;
    // The row that a packet, or a connection, belongs to; nothing where none does.
    [[nodiscard]] virtual std::optional<Row> rowOfPacket(dissect::FrameIndex frame) const = 0;
    [[nodiscard]] virtual std::optional<Row> rowOfConnection(transport::ConnectionId connection) const = 0;
    // The same in two versions of a table whose rows change their places.
    [[nodiscard]] virtual QString identity(Row row) const { return QString::number(row); }
    // A display filter that lets its packets through.
    [[nodiscard]] virtual QString filter(Row row) const = 0;
    // Of a column, for settings; the same in all languages.
    [[nodiscard]] QString columnName(int column) const;

Q_SIGNALS:
    void arranged();  // other rows are shown, or in another order

protected:
    explicit TableModel(std::vector<Heading> headings, QObject* parent);

    [[nodiscard]] virtual QString text(Row row, int column) const = 0;
    [[nodiscard]] virtual transport::Cell value(Row row, int column) const = 0;  // to sort by
    [[nodiscard]] virtual transport::Tone tone(Row row) const = 0;
    [[nodiscard]] virtual std::optional<TimeRange> life(Row row) const = 0;
    [[nodiscard]] virtual std::vector<Moment> moments(Row row) const = 0;
    [[nodiscard]] virtual std::vector<std::uint8_t> heights(Row) const { return {}; }
    // What rows are sorted by. A model may have a faster way than by the values of all rows.
    [[nodiscard]] virtual SortKeys keys(int column) const;

    // The source has more rows, or others in the same places. Cheap where rows are shown as the source has them; else
    // they are put in order again, at most once a second.
    void rowsAdded();
    void rowsChanged();
    // The source is another one: everything begins anew.
    void beginReplace() { beginResetModel(); }
    void endReplace();
    void setAxis(const TimeRange& axis) { m_axis = axis; }
    [[nodiscard]] const Names* names() const { return m_names.get(); }

private:
    using Rows = std::vector<Row>;
    [[nodiscard]] bool natural() const { return m_sort_column < 0 && !m_limit && m_needle.isEmpty(); }
    [[nodiscard]] Rows ordered() const;
    [[nodiscard]] When when(Row row) const { return {life(row), moments(row), heights(row)}; }
    [[nodiscard]] bool matches(Row row) const;
    void arrange();
    void sieve(int milliseconds);
    void show(const Rows& rows);
    void append(std::span<const Row> rows);
    void permute(Rows rows);

    std::vector<Heading> m_headings;
    std::shared_ptr<const Names> m_names;
    TimeRange m_axis;
    std::optional<TimeRange> m_range;
    Rows m_shown;
    int m_sort_column = -1;
    Qt::SortOrder m_sort_order = Qt::AscendingOrder;
    Limit m_limit;
    QString m_needle;
    Rows m_candidates;  // of the search that goes on
    Rows m_found;
    std::size_t m_asked = 0;  // of the candidates
    QTimer m_sieve;           // runs while a search goes on
    QTimer m_settle;          // until rows are put in order again
};

}  // namespace qps::gui
