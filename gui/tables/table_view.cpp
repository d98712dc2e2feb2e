#include <gui/base/text.hpp>
#include <gui/tables/column_widths.hpp>
#include <gui/tables/ends_delegate.hpp>
#include <gui/tables/table_view.hpp>
#include <gui/tables/when_delegate.hpp>
#include <transport-replay/report/figures.hpp>

#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QSettings>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>
#include <utility>

namespace qps::gui {

namespace {

constexpr int kWidestColumn = 50;   // characters at first; the user may have it wider
constexpr int kNarrowestText = 38;  // characters; texts give way to one another down to that
constexpr int kWidestEnds = 110;    // characters: two IPv6 addresses with queue pairs, which are never cut for others
constexpr int kRowsMeasured = 50;   // for widths: the first ones
constexpr int kColumnsVersion = 1;  // of what settings keep

// A table that says why it is empty.
class Table : public QTableView {
public:
    using QTableView::QTableView;
    using QTableView::sizeHintForColumn;
    QString empty_text;
    std::function<QString()> hidden_text;  // why there are rows but none is shown; empty: there are none

protected:
    void paintEvent(QPaintEvent* event) override {
        QTableView::paintEvent(event);
        if (model() == nullptr || model()->rowCount() != 0) return;
        const QString hidden = hidden_text ? hidden_text() : QString();
        QPainter painter(viewport());
        painter.setPen(palette().color(QPalette::PlaceholderText));
        const int margin = fontMetrics().height();
        painter.drawText(viewport()->rect().adjusted(margin, margin, -margin, -margin),
                         Qt::AlignCenter | Qt::TextWordWrap, hidden.isEmpty() ? empty_text : hidden);
    }
};

bool isTyped(const QKeyEvent& key) {
    constexpr auto kCommands = Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier;
    const QString text = key.text();
    return !(key.modifiers() & kCommands) && !text.isEmpty() && text[0].isPrint() && !text[0].isSpace();
}

QString number(std::uint64_t value) { return shown(transport::grouped(value)); }

}  // namespace

TableView::TableView(TableModel* model, const QString& name, QWidget* parent)
    : QWidget(parent), m_model(*model), m_name(name) {
    model->setParent(this);
    m_character = fontMetrics().averageCharWidth();
    buildBar();
    buildTable();
    restoreColumns();
    keepPlaceOverReset();
    connect(&m_model, &TableModel::arranged, this, &TableView::tellCount);
    tellCount();
}

TableView::~TableView() { saveColumns(); }

void TableView::buildBar() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* bar = new QHBoxLayout;
    column->addLayout(bar);
    m_search = new QLineEdit;
    m_search->setPlaceholderText(tr("Search this table"));
    m_search->setAccessibleName(tr("Search this table"));
    m_search->setToolTip(tr("Show only rows that contain this text. Type in the table to search, Esc to end."));
    m_search->setClearButtonEnabled(true);
    m_search->installEventFilter(this);
    bar->addWidget(m_search, 1);
    m_limit = new QCheckBox(tr("Limit to &filter and time range"));
    m_limit->setToolTip(tr("Show only rows with packets in the display filter and time range"));
    bar->addWidget(m_limit);
    m_count = new QLabel;
    m_count->setTextInteractionFlags(Qt::TextSelectableByMouse);
    bar->addWidget(m_count);
    connect(m_search, &QLineEdit::textChanged, &m_model, &TableModel::setSearch);
    connect(m_limit, &QCheckBox::toggled, this, &TableView::limitChanged);
}

void TableView::buildTable() {
    auto* table = new Table;
    table->hidden_text = [this] { return whyHidden(); };
    m_table = table;
    layout()->addWidget(m_table);
    setFocusProxy(m_table);
    m_table->installEventFilter(this);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setTabKeyNavigation(false);
    m_table->setWordWrap(false);
    m_table->setShowGrid(false);
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    fitRows();

    QHeaderView* header = m_table->horizontalHeader();
    header->setSectionsMovable(true);
    header->setHighlightSections(false);
    header->setSortIndicatorClearable(true);
    header->setSortIndicator(-1, Qt::AscendingOrder);
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    header->setStretchLastSection(true);
    m_table->setModel(&m_model);
    m_table->setSortingEnabled(true);
    m_table->setItemDelegateForColumn(
        m_model.whenColumn(),
        new WhenDelegate([this] { return m_model.shownAxis(); }, [this] { return m_model.axis(); }, m_table));

    for (int column = 0; column < m_model.whenColumn(); ++column)
        if (const QString name = m_model.columnName(column);
            name == QLatin1String("endpoints") || name == QLatin1String("from") || name == QLatin1String("to") ||
            name == QLatin1String("connection"))
            m_table->setItemDelegateForColumn(column, new EndsDelegate(m_table));

    const auto touched = [this] {
        stretchLast();
        if (!m_fitting) m_is_own = false;
    };
    connect(header, &QHeaderView::sectionResized, this, [this, header, touched](int column, int before, int now) {
        // The last one takes what room is left, without the user's doing. Hiding is said by who chooses columns.
        if (before == 0 || now == 0) stretchLast();
        else if (column != header->logicalIndex(header->count() - 1)) touched();
    });
    connect(header, &QHeaderView::sectionMoved, this, touched);
    connect(header, &QHeaderView::customContextMenuRequested, this, &TableView::chooseColumns);
    connect(m_table, &QWidget::customContextMenuRequested, this, [this](const QPoint& where) {
        if (QMenu* menu = makeMenu()) menu->popup(m_table->viewport()->mapToGlobal(where));
    });
    connect(m_table, &QAbstractItemView::activated, this,
            [this](const QModelIndex& index) { activate(m_model.sourceOf(index)); });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &TableView::cursorMoved);
}

void TableView::fitRows() {
    const int height = fontMetrics().height();
    m_table->verticalHeader()->setMinimumSectionSize(height);
    m_table->verticalHeader()->setDefaultSectionSize(height + height / 3);
}

std::optional<TableModel::Row> TableView::current() const {
    const QModelIndex index = m_table->currentIndex();
    return index.isValid() ? std::optional(m_model.sourceOf(index)) : std::nullopt;
}

void TableView::follow(TableModel::Row row) {
    if (current() == row) return;
    m_following = true;
    select(row);
    m_following = false;
}

void TableView::select(TableModel::Row row) {
    const int at = m_model.rowOf(row);
    if (at < 0) return;
    const int column = std::max(0, m_table->currentIndex().column());
    putCursor(m_model.index(at, column));
}

// Whatever keys are held: the view itself would toggle the row while Ctrl is.
void TableView::putCursor(const QModelIndex& index) {
    m_table->selectionModel()->setCurrentIndex(index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

bool TableView::isLimited() const { return m_limit->isChecked(); }

void TableView::setEmptyText(const QString& text) {
    static_cast<Table*>(m_table)->empty_text = text;
    m_table->viewport()->update();
}

QString TableView::emptyText() const {
    const QString hidden = whyHidden();
    return m_model.rowCount() != 0 ? QString() : hidden.isEmpty() ? static_cast<Table*>(m_table)->empty_text : hidden;
}

void TableView::setNothingRead(const QString& text) {
    m_nothing_read = text;
    m_table->viewport()->update();
}

QString TableView::whyHidden() const {
    if (!m_nothing_read.isEmpty()) return m_nothing_read;
    if (m_model.sources() == 0) return {};
    if (!m_search->text().isEmpty()) return tr("No row contains '%1'. Esc ends the search.").arg(m_search->text());
    return m_limit->isChecked() ? tr("No row has packets in the display filter and time range.") : QString();
}

void TableView::tellCount() {
    const std::uint64_t shown_rows = static_cast<std::uint64_t>(m_model.rowCount());
    const std::uint64_t all = m_model.sources();
    m_count->setText(shown_rows == all ? number(all) : tr("%1 of %2").arg(number(shown_rows), number(all)));
    m_count->setAccessibleName(tr("%1 of %2 rows shown").arg(number(shown_rows), number(all)));
    if (m_model.rowCount() != 0) fitColumns();
}

void TableView::putBarsAt(int place) {
    QHeaderView* header = m_table->horizontalHeader();
    if (!m_is_own) return;
    m_fitting = true;
    header->moveSection(header->visualIndex(m_model.whenColumn()), place);
    m_fitting = false;
}

int TableView::columnOf(const QString& heading) const {
    for (int column = 0; column < m_model.columnCount(); ++column)
        if (m_model.columnName(column) == heading) return column;
    return -1;
}

void TableView::putFirst(const QStringList& headings) {
    QHeaderView* header = m_table->horizontalHeader();
    if (!m_is_own) return;
    m_fitting = true;
    int place = 0;
    for (const QString& heading : headings)
        if (const int column = columnOf(heading); column >= 0)
            header->moveSection(header->visualIndex(column), place++);
    m_fitting = false;
}

void TableView::hideAtFirst(const QString& heading) {
    if (const int column = columnOf(heading); m_is_own && column >= 0)
        m_table->horizontalHeader()->setSectionHidden(column, true);
}

// A text at the right edge takes what room is left; figures stay beside their neighbours.
void TableView::stretchLast() {
    QHeaderView* header = m_table->horizontalHeader();
    int last = -1;
    for (int at = 0; at < header->count(); ++at)
        if (!header->isSectionHidden(header->logicalIndex(at))) last = header->logicalIndex(at);
    const auto alignment = m_model.headerData(last, Qt::Horizontal, Qt::TextAlignmentRole).toInt();
    header->setStretchLastSection(last == m_model.whenColumn() || (alignment & Qt::AlignRight) == 0);
}

void TableView::fitColumns() {
    stretchLast();
    if (!m_is_own) return;
    m_fitting = true;
    QHeaderView* header = m_table->horizontalHeader();
    header->setResizeContentsPrecision(kRowsMeasured);
    const int character = fontMetrics().averageCharWidth();
    std::vector<int> widths, texts, places;
    int room = m_table->viewport()->width();
    for (int column = 0; column < header->count(); ++column) {
        const int wanted =
            std::max(header->sectionSizeHint(column), static_cast<Table*>(m_table)->sizeHintForColumn(column)) +
            character;
        const bool ends = qobject_cast<EndsDelegate*>(m_table->itemDelegateForColumn(column)) != nullptr;
        widths.push_back(std::min(wanted, (ends ? kWidestEnds : kWidestColumn) * character));
        if (header->isSectionHidden(column)) continue;
        // What tells hosts apart gives no room to others.
        if (ends) room -= widths.back();
        else texts.push_back(widths.back()), places.push_back(column);
    }
    if (isVisible()) shareRoom(texts, room, kNarrowestText * character);
    for (std::size_t i = 0; i < texts.size(); ++i) widths[static_cast<std::size_t>(places[i])] = texts[i];
    for (int column = 0; column < header->count(); ++column) {
        const int width = widths[static_cast<std::size_t>(column)];
        // Narrower again only for the first time: columns that jump while a capture is read disturb.
        if (!m_was_fitted || width > header->sectionSize(column)) header->resizeSection(column, width);
    }
    m_was_fitted = m_model.rowCount() != 0;
    m_fitting = false;
}

void TableView::cursorMoved() {
    Q_EMIT currentChanged();
    const auto row = current();
    if (!row || m_following) return;
    Q_EMIT rowReached(*row);
    if (const auto connection = m_model.place(*row).connection) Q_EMIT rowChosen(*connection);
}

void TableView::keepOneChosen() {
    m_keeps_one = true;
    // Queued: behind what brings the cursor back after a reset.
    connect(&m_model, &TableModel::arranged, this, &TableView::chooseFirst, Qt::QueuedConnection);
}

void TableView::chooseFirst() {
    if (m_model.rowCount() == 0 || m_table->selectionModel()->hasSelection()) return;
    m_following = true;
    putCursor(current() ? m_table->currentIndex() : m_model.index(0, 0));
    m_following = false;
    if (const auto row = current())
        if (const auto connection = m_model.place(*row).connection) Q_EMIT rowOffered(*connection);
}

void TableView::activate(TableModel::Row row) {
    const RowPlace place = m_model.place(row);
    if (place.shown != dissect::FrameIndex{}) Q_EMIT packetWanted(std::to_underlying(place.shown), true);
}

// A model whose rows change their places says so by a reset. Cursor and scroll position come back to the same rows.
void TableView::keepPlaceOverReset() {
    struct Kept {
        QString row;
        int scroll = 0;
    };
    auto kept = std::make_shared<Kept>();
    connect(&m_model, &QAbstractItemModel::modelAboutToBeReset, this, [this, kept] {
        const auto row = current();
        *kept = {row && *row < m_model.sources() ? m_model.identity(*row) : QString(),
                 m_table->verticalScrollBar()->value()};
        m_following = true;
    });
    connect(
        &m_model, &QAbstractItemModel::modelReset, this,
        [this, kept] {
            for (int at = 0; at < m_model.rowCount() && !kept->row.isEmpty(); ++at) {
                const QModelIndex index = m_model.index(at, 0);
                if (m_model.identity(m_model.sourceOf(index)) != kept->row) continue;
                m_table->setCurrentIndex(index);
                m_table->verticalScrollBar()->setValue(kept->scroll);
                break;
            }
            m_following = false;
        },
        Qt::QueuedConnection);  // when the view itself has taken it in
}

void TableView::startSearch(const QString& text) {
    m_search->setFocus(Qt::ShortcutFocusReason);
    m_search->setText(text);
}

bool TableView::eventFilter(QObject* watched, QEvent* event) {
    // Qt would put the cursor on the first cell without selecting its row.
    if (watched == m_table && event->type() == QEvent::FocusIn && m_model.rowCount() != 0 && !current())
        putCursor(m_model.index(0, 0));
    const bool asked = event->type() == QEvent::ShortcutOverride;
    if (!asked && event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    if (asked) {
        // These keys are the table's, also where the window has an action for them.
        if (watched != m_table || !(isTyped(*key) || key->matches(QKeySequence::Copy)))
            return QWidget::eventFilter(watched, event);
        event->accept();
        return true;
    }
    if (watched == m_table) {
        if (key->matches(QKeySequence::Copy)) return copy(TextFormat::Tsv), true;
        if (isTyped(*key)) return startSearch(key->text()), true;
        if (key->key() == Qt::Key_Escape && !m_search->text().isEmpty()) return m_search->clear(), true;
    } else if (key->key() == Qt::Key_Escape || key->key() == Qt::Key_Down || key->key() == Qt::Key_Return ||
               key->key() == Qt::Key_Enter) {
        if (key->key() == Qt::Key_Escape) m_search->clear();
        m_table->setFocus(Qt::OtherFocusReason);
        if (!m_table->currentIndex().isValid() && m_model.rowCount() > 0) m_table->setCurrentIndex(m_model.index(0, 0));
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

// How much room there is for columns is known only now.
void TableView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_was_fitted = false;
    if (m_model.rowCount() != 0) fitColumns();
    if (m_keeps_one) chooseFirst();
}

void TableView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::FontChange || m_table == nullptr) return;
    fitRows();
    const int before = std::exchange(m_character, fontMetrics().averageCharWidth());
    if (m_is_own) {
        m_was_fitted = false;
        if (m_model.rowCount() != 0) fitColumns();
        return;
    }
    // The user's stay as many characters wide.
    QHeaderView* header = m_table->horizontalHeader();
    for (int column = 0; before > 0 && column < header->count(); ++column)
        if (!header->isSectionHidden(column))
            header->resizeSection(column, header->sectionSize(column) * m_character / before);
}

QString TableView::selectedText(TextFormat format) const {
    std::vector<int> rows;
    for (const QItemSelectionRange& range : m_table->selectionModel()->selection())
        for (int row = range.top(); row <= range.bottom() && rows.size() < kMostCopied; ++row) rows.push_back(row);
    std::ranges::sort(rows);
    rows.erase(std::ranges::unique(rows).begin(), rows.end());
    const QHeaderView* header = m_table->horizontalHeader();
    std::vector<int> columns;
    for (int at = 0; at < header->count(); ++at)
        if (!header->isSectionHidden(header->logicalIndex(at))) columns.push_back(header->logicalIndex(at));
    return tableText(m_model, rows, columns, format);
}

void TableView::copy(TextFormat format) const { QGuiApplication::clipboard()->setText(selectedText(format)); }

void TableView::addFilters(QMenu& menu, const QString& title, const QString& filter, bool apply) {
    QMenu* uses = menu.addMenu(title);
    const auto add = [&](const QString& text, FilterUse use) {
        connect(uses->addAction(text), &QAction::triggered, this,
                [this, filter, use, apply] { Q_EMIT filterWanted(filter, use, apply); });
    };
    add(tr("&Selected"), FilterUse::Replace);
    add(tr("&Not selected"), FilterUse::Exclude);
    add(tr("... &and selected"), FilterUse::And);
    add(tr("... &or selected"), FilterUse::Or);
}

QMenu* TableView::makeMenu() {
    const auto row = current();
    if (!row) return nullptr;
    const RowPlace place = m_model.place(*row);
    const QString filter = m_model.filter(*row);
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const auto packet = [&](const QString& text, dissect::FrameIndex frame) {
        QAction* action = menu->addAction(text);
        action->setEnabled(frame != dissect::FrameIndex{});
        connect(action, &QAction::triggered, this,
                [this, frame] { Q_EMIT packetWanted(std::to_underlying(frame), true); });
    };
    packet(tr("&Go to packet"), place.shown);
    packet(tr("&First packet"), place.first);
    packet(tr("&Last packet"), place.last);
    menu->addSeparator();
    if (!filter.isEmpty()) {
        addFilters(*menu, tr("&Apply as filter"), filter, true);
        addFilters(*menu, tr("&Prepare as filter"), filter, false);
        connect(menu->addAction(tr("Fo&llow")), &QAction::triggered, this, [this, filter, place] {
            Q_EMIT filterWanted(filter, FilterUse::Replace, true);
            if (place.first != dissect::FrameIndex{}) Q_EMIT packetWanted(std::to_underlying(place.first), true);
        });
        menu->addSeparator();
    }
    const auto picture = [&](const QString& text, const QString& id) {
        QAction* action = menu->addAction(text);
        action->setEnabled(place.connection.has_value());
        connect(action, &QAction::triggered, this, [this, id, place] {
            Q_EMIT rowChosen(*place.connection);
            Q_EMIT packetWanted(std::to_underlying(place.shown), false);
            Q_EMIT viewRequested(id);
        });
    };
    picture(tr("Show P&SN graph"), QStringLiteral("psn"));
    picture(tr("Show l&adder"), QStringLiteral("ladder"));
    if (m_more) m_more(*menu, *row);
    menu->addSeparator();
    QMenu* copies = menu->addMenu(tr("&Copy rows"));
    connect(copies->addAction(tr("Separated by &tabs\tCtrl+C")), &QAction::triggered, this,
            [this] { copy(TextFormat::Tsv); });
    connect(copies->addAction(tr("As &CSV")), &QAction::triggered, this, [this] { copy(TextFormat::Csv); });
    connect(copies->addAction(tr("As &Markdown")), &QAction::triggered, this, [this] { copy(TextFormat::Markdown); });
    return menu;
}

void TableView::chooseColumns(const QPoint& where) {
    QHeaderView* header = m_table->horizontalHeader();
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const int visible = header->count() - header->hiddenSectionCount();
    for (int column = 0; column < header->count(); ++column) {
        QAction* action = menu->addAction(m_model.headerData(column, Qt::Horizontal).toString());
        action->setCheckable(true);
        action->setChecked(!header->isSectionHidden(column));
        action->setEnabled(visible > 1 || header->isSectionHidden(column));  // one stays, to bring back the others
        connect(action, &QAction::toggled, header, [this, header, column](bool on) {
            header->setSectionHidden(column, !on);
            m_is_own = false;
        });
    }
    menu->popup(header->mapToGlobal(where));
}

// Settings know columns by their names: a program that has others begins anew.
void TableView::restoreColumns() {
    QSettings settings;
    settings.beginGroup(QStringLiteral("tables/") + m_name);
    QStringList names;
    for (int column = 0; column < m_model.columnCount(); ++column) names.append(m_model.columnName(column));
    if (settings.value(QStringLiteral("version")).toInt() != kColumnsVersion) return;
    if (settings.value(QStringLiteral("columns")).toStringList() != names) return;
    m_is_own = !m_table->horizontalHeader()->restoreState(settings.value(QStringLiteral("header")).toByteArray());
}

void TableView::saveColumns() const {
    if (m_is_own) return;
    QSettings settings;
    settings.beginGroup(QStringLiteral("tables/") + m_name);
    QStringList names;
    for (int column = 0; column < m_model.columnCount(); ++column) names.append(m_model.columnName(column));
    settings.setValue(QStringLiteral("version"), kColumnsVersion);
    settings.setValue(QStringLiteral("columns"), names);
    settings.setValue(QStringLiteral("header"), m_table->horizontalHeader()->saveState());
}

void layOut(QWidget& view, TableView& table, QWidget& pane) {
    auto* parts = new QSplitter(Qt::Vertical);
    parts->addWidget(&table);
    parts->addWidget(&pane);
    parts->setChildrenCollapsible(false);
    parts->setSizes({1000, 1000});  // halves, of any height
    view.setFocusProxy(&table);
    (new QVBoxLayout(&view))->addWidget(parts);
}

}  // namespace qps::gui
