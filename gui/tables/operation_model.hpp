// Operations of upper protocols in an open capture as a table: rows of the index as they are.
#pragma once

#include <gui/tables/core_columns.hpp>
#include <gui/tables/index_model.hpp>
#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/report/operations.hpp>

namespace qps::gui {

class OperationModel : public IndexModel {
    Q_OBJECT

public:
    explicit OperationModel(QObject* parent = nullptr);

    [[nodiscard]] RowPlace place(Row row) const override;
    [[nodiscard]] std::optional<Row> rowOfPacket(dissect::FrameIndex frame) const override;

protected:
    [[nodiscard]] std::uint64_t rowsOf(const transport::CaptureIndex& index) const override {
        return index.operations.size();
    }
    void forget() override { m_last.reset(); }
    [[nodiscard]] QString text(Row row, int column) const override;
    [[nodiscard]] transport::Cell value(Row row, int column) const override;
    [[nodiscard]] transport::Tone tone(Row row) const override;
    [[nodiscard]] std::optional<TimeRange> life(Row row) const override;
    [[nodiscard]] std::vector<Moment> moments(Row row) const override;
    [[nodiscard]] SortKeys keys(int column) const override;

private:
    using Columns = CoreColumns<transport::ReportedOperation>;
    OperationModel(Columns columns, QObject* parent);
    [[nodiscard]] const transport::OperationRow& at(Row row) const { return capture()->operations[row]; }
    [[nodiscard]] transport::ReportedOperation reported(Row row) const;

    Columns m_columns;

    // The row asked for last: a view asks for all columns of one.
    mutable std::optional<Row> m_last;
    mutable transport::UlpOperation m_operation;
};

}  // namespace qps::gui
