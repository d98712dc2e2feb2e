// Operations of upper protocols in an open capture as a table: rows of the index as they are.
#pragma once

#include <gui/tables/core_columns.hpp>
#include <gui/tables/troubles.hpp>
#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/report/operations.hpp>

#include <memory>

namespace qps::gui {

class OperationModel : public TableModel {
    Q_OBJECT

public:
    // As many as messages: see MessageModel.
    static constexpr Row kMostRows = 40'000'000;

    explicit OperationModel(QObject* parent = nullptr);
    // Another capture.
    void setIndex(std::shared_ptr<const transport::CaptureIndex> index);
    // Takes in what the index has more.
    void update();
    // A newer one of that capture: who the ends are, where trouble was.
    void setTimeline(std::shared_ptr<const transport::Timeline> timeline);

    [[nodiscard]] Row sources() const override { return m_rows; }
    [[nodiscard]] RowPlace place(Row row) const override;
    [[nodiscard]] std::optional<Row> rowOfPacket(dissect::FrameIndex frame) const override;
    [[nodiscard]] std::optional<Row> rowOfConnection(transport::ConnectionId) const override { return std::nullopt; }
    [[nodiscard]] QString filter(Row row) const override;

protected:
    [[nodiscard]] QString text(Row row, int column) const override;
    [[nodiscard]] transport::Cell value(Row row, int column) const override;
    [[nodiscard]] transport::Tone tone(Row row) const override;
    [[nodiscard]] std::optional<TimeRange> life(Row row) const override;
    [[nodiscard]] std::vector<Moment> moments(Row row) const override;
    [[nodiscard]] SortKeys keys(int column) const override;

private:
    using Columns = CoreColumns<transport::ReportedOperation>;
    OperationModel(Columns columns, QObject* parent);
    [[nodiscard]] const transport::OperationRow& at(Row row) const { return m_index->operations[row]; }
    [[nodiscard]] transport::ReportedOperation reported(Row row) const;

    Columns m_columns;
    std::shared_ptr<const transport::CaptureIndex> m_index;
    std::shared_ptr<const transport::Timeline> m_timeline;
    Troubles m_troubles;
    Row m_rows = 0;  // of the index, as far as it was told of

    // The row asked for last: a view asks for all columns of one.
    mutable std::optional<Row> m_last;
    mutable transport::UlpOperation m_operation;
};

}  // namespace qps::gui
