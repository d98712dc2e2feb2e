// The rows of a sheet for Qt: texts, what they sort by, their bars.
#pragma once

#include <gui/tables/sheet.hpp>

#include <QAbstractTableModel>

namespace qps::gui {

class SheetModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Role { SortRole = Qt::UserRole, ShareRole, FigureRole };

    SheetModel(std::vector<Heading> headings, QObject* parent)
        : QAbstractTableModel(parent), m_headings(std::move(headings)) {}
    void setRows(std::vector<SheetRow> rows);
    [[nodiscard]] const std::vector<SheetRow>& rows() const { return m_rows; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int role = Qt::DisplayRole) const override;

private:
    std::vector<Heading> m_headings;
    std::vector<SheetRow> m_rows;
};

}  // namespace qps::gui
