#include <gui/base/plain_tip.hpp>
#include <gui/tables/table_model.hpp>

#include <QElapsedTimer>
#include <QGuiApplication>
#include <numeric>
#include <utility>

namespace qps::gui {

namespace {

constexpr int kSearchSlice = 12;     // ms between two looks at what the user does
constexpr int kSettleTime = 1000;    // ms
constexpr std::size_t kStride = 64;  // rows searched between two looks at the clock

std::optional<transport::Severity> severity(transport::Tone tone) {
    switch (tone) {
        case transport::Tone::error: return transport::Severity::error;
        case transport::Tone::warning: return transport::Severity::warning;
        case transport::Tone::plain: break;
    }
    return std::nullopt;
}

QModelIndexList movedTo(const QModelIndexList& indexes, const QAbstractItemModel& model,
                        const std::vector<int>& places) {
    QModelIndexList moved;
    moved.reserve(indexes.size());
    for (const QModelIndex& index : indexes)
        moved.append(model.index(places[static_cast<std::size_t>(index.row())], index.column()));
    return moved;
}

}  // namespace

TableModel::TableModel(std::vector<Heading> headings, QObject* parent)
    : QAbstractTableModel(parent), m_headings(std::move(headings)) {
    m_settle.setSingleShot(true);
    m_settle.setInterval(kSettleTime);
    connect(&m_settle, &QTimer::timeout, this, &TableModel::arrange);
    connect(&m_sieve, &QTimer::timeout, this, [this] { sieve(kSearchSlice); });
}

int TableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
}

int TableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : whenColumn() + 1; }

QVariant TableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Row row = sourceOf(index);
    const bool is_when = index.column() == whenColumn();
    switch (role) {
        case Qt::DisplayRole: return is_when ? QVariant() : text(row, index.column());
        case Qt::ToolTipRole: return is_when ? whenText(when(row), m_axis) : plainTip(text(row, index.column()));
        case Qt::AccessibleTextRole: return is_when ? whenText(when(row), m_axis) : text(row, index.column());
        case Qt::TextAlignmentRole: {
            const bool right = !is_when && m_headings[static_cast<std::size_t>(index.column())].right;
            return QVariant::fromValue(Qt::Alignment(Qt::AlignVCenter | (right ? Qt::AlignRight : Qt::AlignLeft)));
        }
        case Qt::BackgroundRole: {
            const auto shade = severity(tone(row));
            return shade ? QVariant(rowColor(*shade, QGuiApplication::palette())) : QVariant();
        }
        case WhenRole: return is_when ? QVariant::fromValue(when(row)) : QVariant();
        default: return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section > whenColumn()) return {};
    if (section == whenColumn()) {
        if (role == Qt::DisplayRole) return m_range ? tr("Timeline (range)") : tr("Timeline");
        if (role != Qt::ToolTipRole) return {};
        return m_range ? tr("Start and end in the time range that is selected, with errors marked")
                       : tr("Start and end on the time axis of the capture, with errors marked");
    }
    const Heading& heading = m_headings[static_cast<std::size_t>(section)];
    switch (role) {
        case Qt::DisplayRole: return heading.text.left(1).toUpper() + heading.text.mid(1);  // the core's are small
        case Qt::ToolTipRole: return heading.meaning.isEmpty() ? QVariant() : heading.meaning;
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(
                Qt::Alignment(Qt::AlignVCenter | (heading.right ? Qt::AlignRight : Qt::AlignLeft)));
        default: return {};
    }
}

QString TableModel::columnName(int column) const {
    return column == whenColumn() ? QStringLiteral("when") : m_headings[static_cast<std::size_t>(column)].text;
}

void TableModel::sort(int column, Qt::SortOrder order) {
    if (column > whenColumn() || (column == m_sort_column && order == m_sort_order)) return;
    m_sort_column = column;
    m_sort_order = order;
    arrange();
}

void TableModel::setRange(std::optional<TimeRange> range) {
    if (range && range->to <= range->from) range.reset();
    if (m_range == range) return;
    m_range = range;
    if (rowCount() != 0) Q_EMIT dataChanged(index(0, whenColumn()), index(rowCount() - 1, whenColumn()), {WhenRole});
    Q_EMIT headerDataChanged(Qt::Horizontal, whenColumn(), whenColumn());
}

void TableModel::setLimit(Limit limit) {
    if (!limit && !m_limit) return;
    m_limit = std::move(limit);
    arrange();
}

void TableModel::setSearch(const QString& needle) {
    if (needle == m_needle) return;
    m_needle = needle;
    arrange();
}

void TableModel::finishSearch() {
    while (searching()) sieve(-1);
}

int TableModel::rowOf(Row source) const {
    const auto found = std::ranges::find(m_shown, source);
    return found == m_shown.end() ? -1 : static_cast<int>(found - m_shown.begin());
}

void TableModel::setNames(std::shared_ptr<const Names> names) {
    if (names == m_names) return;
    m_names = std::move(names);
    rowsChanged();
}

void TableModel::rowsAdded() {
    if (!natural()) {
        if (!m_settle.isActive()) m_settle.start();
        return;
    }
    Rows added(std::max<std::size_t>(sources(), m_shown.size()) - m_shown.size());
    std::iota(added.begin(), added.end(), static_cast<Row>(m_shown.size()));
    append(added);
}

void TableModel::rowsChanged() {
    if (natural()) arrange();
    else if (!m_settle.isActive()) m_settle.start();
    if (!m_shown.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, whenColumn()));
}

void TableModel::endReplace() {
    m_sieve.stop();
    m_settle.stop();
    m_shown = ordered();
    if (!m_needle.isEmpty()) std::erase_if(m_shown, [this](Row row) { return !matches(row); });
    endResetModel();
    Q_EMIT arranged();
}

// All rows that the limit lets through, by the chosen column.
TableModel::Rows TableModel::ordered() const {
    Rows rows(sources());
    std::iota(rows.begin(), rows.end(), Row{0});
    if (m_limit) std::erase_if(rows, [this](Row row) { return !m_limit(row); });
    if (m_sort_column < 0) return rows;
    sortRows(rows, keys(m_sort_column), m_sort_order == Qt::DescendingOrder);
    return rows;
}

SortKeys TableModel::keys(int column) const {
    if (column != whenColumn()) return sortKeys(sources(), [&](Row row) { return value(row, column); });
    return sortKeys(sources(), [this](Row row) {
        const auto lived = life(row);
        return lived ? transport::number(lived->from) : transport::Cell{};
    });
}

bool TableModel::matches(Row row) const {
    for (int column = 0; column < whenColumn(); ++column)
        if (text(row, column).contains(m_needle, Qt::CaseInsensitive)) return true;
    return false;
}

void TableModel::arrange() {
    m_settle.stop();
    m_sieve.stop();
    if (m_needle.isEmpty()) return show(ordered());
    m_candidates = ordered();
    m_found.clear();
    m_asked = 0;
    m_sieve.start(0);
    sieve(kSearchSlice);  // short tables know at once
}

// Asks candidates for so long; a negative time: all of them. What is found is shown at the end, so that rows do not
// vanish and come back while the user looks at them.
void TableModel::sieve(int milliseconds) {
    QElapsedTimer clock;
    clock.start();
    while (m_asked < m_candidates.size()) {
        if (m_asked % kStride == 0 && milliseconds >= 0 && clock.elapsed() >= milliseconds) return;
        const Row row = m_candidates[m_asked++];
        if (matches(row)) m_found.push_back(row);
    }
    m_sieve.stop();
    m_candidates = {};
    show(std::exchange(m_found, {}));
}

// From what is shown to other rows in the three steps that a view can follow: what is new comes to the end, all is put
// in order with what goes at the end, and that is removed.
void TableModel::show(const Rows& rows) {
    std::vector<bool> was(sources());
    for (const Row row : m_shown) was[row] = true;
    Rows target = m_shown;
    for (const Row row : rows)
        if (!was[row]) target.push_back(row);
    append(std::span(target).subspan(m_shown.size()));

    std::vector<bool> stays(sources());
    for (const Row row : rows) stays[row] = true;
    target = rows;
    for (const Row row : m_shown)
        if (!stays[row]) target.push_back(row);
    if (target != m_shown) permute(std::move(target));

    if (rows.size() < m_shown.size()) {
        beginRemoveRows({}, static_cast<int>(rows.size()), rowCount() - 1);
        m_shown.resize(rows.size());
        endRemoveRows();
    }
    Q_EMIT arranged();
}

// More rows behind those that are shown.
void TableModel::append(std::span<const Row> rows) {
    if (rows.empty()) return;
    beginInsertRows({}, rowCount(), rowCount() + static_cast<int>(rows.size()) - 1);
    m_shown.insert(m_shown.end(), rows.begin(), rows.end());
    endInsertRows();
    Q_EMIT arranged();
}

// The same rows in another order. Selections follow them.
void TableModel::permute(Rows rows) {
    Q_EMIT layoutAboutToBeChanged({}, VerticalSortHint);
    const QModelIndexList before = persistentIndexList();
    std::vector<int> place_of(sources());
    for (std::size_t i = 0; i < rows.size(); ++i) place_of[rows[i]] = static_cast<int>(i);
    std::vector<int> places(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) places[i] = place_of[m_shown[i]];
    m_shown = std::move(rows);
    changePersistentIndexList(before, movedTo(before, *this, places));
    Q_EMIT layoutChanged({}, VerticalSortHint);
}

}  // namespace qps::gui
