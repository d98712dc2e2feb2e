// Sheet: a table of figures that are there as values: sorted by any column, with bars for shares, copied as text. A row
// may have a display filter of what it counts, or a packet that shows it; what becomes of them says who has the sheet.
#pragma once

#include <dissect/base/types.hpp>
#include <gui/tables/table_model.hpp>
#include <gui/tables/table_text.hpp>

#include <QString>
#include <QTableView>
#include <vector>

class QSortFilterProxyModel;

namespace qps::gui {

struct SheetCell {
    QString text{};
    std::optional<double> number{};  // sorts by it; else by the text
    std::optional<double> share{};   // 0 to 1: a bar behind the text
};

struct SheetRow {
    std::vector<SheetCell> cells{};
    QString filter{};              // of the packets it counts
    dissect::FrameIndex packet{};  // to look at; 0: none
    transport::Tone tone = transport::Tone::plain;
};

// A count, and its share of a whole with a bar behind it.
[[nodiscard]] SheetCell textCell(std::string_view text);
[[nodiscard]] SheetCell countCell(std::uint64_t count);
[[nodiscard]] SheetCell shareCell(double share);

class SheetModel;

class Sheet : public QTableView {
    Q_OBJECT

public:
    Sheet(const QString& name, std::vector<Heading> headings, QWidget* parent = nullptr);

    // The row that has the cursor keeps it, if its first cell is still there.
    void setRows(std::vector<SheetRow> rows);
    [[nodiscard]] const std::vector<SheetRow>& sheetRows() const;
    // Of the row that has the cursor; nullptr: none has it.
    [[nodiscard]] const SheetRow* currentRow() const;
    // The cursor to the row with that first cell, which comes into sight; where there is none, nothing.
    void showRow(const QString& key);
    // Said in place of rows where there are none.
    void setEmptyText(const QString& text);
    // All of it, or the rows that are selected.
    [[nodiscard]] QString sheetText(TextFormat format, bool onlySelected) const;
    void copy() const;

Q_SIGNALS:
    void filterMenuWanted(QMenu* menu, const QString& filter);  // a menu of a row with a filter is about to be shown
    void rowActivated();                                        // Enter or double click on the current row
    void rowReached();                                          // the cursor has moved

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void fitSheet();
    [[nodiscard]] QModelIndexList chosenRows() const;

    SheetModel* m_rows;
    QSortFilterProxyModel* m_sorted;
    QString m_empty;
    bool m_wasFitted = false;
};

}  // namespace qps::gui
