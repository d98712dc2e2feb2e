// TableView: a table of the window as all of them are: a line to search in it, a switch that narrows it to what is
// shown, the table itself with columns that can be sorted, moved and hidden, and the menu of a row. It talks to nobody:
// what the user wants it says by signals.
#pragma once

#include <gui/tables/table_model.hpp>
#include <gui/tables/table_text.hpp>

#include <QWidget>

class QCheckBox;
class QLabel;
class QLineEdit;
class QMenu;
class QTableView;

namespace qps::gui {

// What becomes of the filter of a row. Prepared ones come into the filter bar without being applied.
enum class FilterUse { Replace, Exclude, And, Or };

class TableView : public QWidget {
    Q_OBJECT

public:
    static constexpr std::size_t kMostCopied = 200'000;  // rows: some 40 MB of text

    // `name` stands for it in settings. The model becomes its child.
    TableView(TableModel* model, const QString& name, QWidget* parent = nullptr);
    ~TableView() override;

    [[nodiscard]] TableModel& model() const { return m_model; }
    [[nodiscard]] QTableView& table() const { return *m_table; }
    [[nodiscard]] QLineEdit& searchLine() const { return *m_search; }
    // The row that has the cursor.
    [[nodiscard]] std::optional<TableModel::Row> current() const;
    // Puts the cursor there without taking the focus or telling anybody.
    void follow(TableModel::Row row);
    void select(TableModel::Row row);

    [[nodiscard]] bool isLimited() const;
    // Where the bars stand among the columns, as long as the user has them nowhere else. Called once.
    void putBarsAt(int place);
    // Which columns come first, by their headings, as long as the user has them elsewhere. Called once, before
    // putBarsAt().
    void putFirst(const QStringList& headings);
    // Not shown, until the user wants it. Called once.
    void hideAtFirst(const QString& heading);
    // Widens columns to their texts, unless the user gave them widths.
    void fitColumns();
    // One row always has the cursor, the first unless there is a reason for another: a pane shows what it is.
    void keepOneChosen();
    // Said in place of rows where there are none.
    void setEmptyText(const QString& text);
    // Said instead of that while there is no packet; empty: there are some.
    void setNothingRead(const QString& text);
    // What is said where no row is shown; empty where one is.
    [[nodiscard]] QString emptyText() const;
    // The selected rows, columns as they are shown.
    [[nodiscard]] QString selectedText(TextFormat format) const;
    void copy(TextFormat format) const;
    // The menu of the current row.
    [[nodiscard]] QMenu* makeMenu();
    // What a view adds to the menu of a row.
    using MoreOfRow = std::function<void(QMenu& menu, TableModel::Row row)>;
    void addToMenus(MoreOfRow more) { m_more = std::move(more); }

Q_SIGNALS:
    void currentChanged();                                // also by follow()
    void rowReached(qps::gui::TableModel::Row row);       // by the user
    void rowChosen(transport::ConnectionId connection);   // by the user: the cursor came to a row of that connection
    void rowOffered(transport::ConnectionId connection);  // the cursor stands there because it must stand somewhere
    // A FrameIndex; Qt 6.4 carries no enumeration of 64 bits in signals.
    void packetWanted(quint64 frame, bool in_list);
    void filterWanted(const QString& filter, qps::gui::FilterUse use, bool apply);
    void limitChanged();
    void viewRequested(const QString& id);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void buildBar();
    void buildTable();
    void fitRows();
    void stretchLast();
    [[nodiscard]] int columnOf(const QString& heading) const;  // -1: there is none
    void restoreColumns();
    void saveColumns() const;
    void keepPlaceOverReset();
    void tellCount();
    [[nodiscard]] QString whyHidden() const;
    void cursorMoved();
    void chooseFirst();
    void putCursor(const QModelIndex& index);
    void activate(TableModel::Row row);
    void chooseColumns(const QPoint& where);
    void addFilters(QMenu& menu, const QString& title, const QString& filter, bool apply);
    void startSearch(const QString& text);

    TableModel& m_model;
    QString m_name;
    MoreOfRow m_more;
    QString m_nothing_read;
    QLineEdit* m_search = nullptr;
    QCheckBox* m_limit = nullptr;
    QLabel* m_count = nullptr;
    QTableView* m_table = nullptr;
    bool m_following = false;
    bool m_is_own = true;  // columns stand as we put them: the user changed none
    bool m_was_fitted = false;
    bool m_keeps_one = false;
    bool m_fitting = false;  // we change columns, not the user
    int m_character = 0;     // width of one, by which the user's columns grow and shrink
};

// A view of two halves: the table, and below it what tells more of the row that is chosen. The table has the keyboard.
void layOut(QWidget& view, TableView& table, QWidget& pane);

}  // namespace qps::gui
