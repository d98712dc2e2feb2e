// Messages of an open capture as a table: rows of the index as they are; what only packets have is read from them for the rows
// that are looked at.
#pragma once

#include <gui/tables/core_columns.hpp>
#include <gui/tables/troubles.hpp>
#include <transport-replay/index/restored_message.hpp>
#include <transport-replay/report/messages.hpp>

#include <memory>

namespace qps::gui {

class MessageModel : public TableModel {
    Q_OBJECT

public:
    // Pixels of a view are int: rows of a line of text at twice the usual size end there. The rest is not shown.
    static constexpr Row kMostRows = 40'000'000;

    explicit MessageModel(QObject* parent = nullptr);
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
    using Columns = CoreColumns<transport::ReportedMessage>;
    MessageModel(Columns columns, QObject* parent);
    [[nodiscard]] const transport::MessageRow& at(Row row) const { return m_index->messages[row]; }
    [[nodiscard]] transport::ReportedMessage reported(Row row, bool with_operands) const;
    [[nodiscard]] bool isDetails(int column) const;
    [[nodiscard]] SortKeys keysOfEnds(bool requesters) const;

    Columns m_columns;
    std::shared_ptr<const transport::CaptureIndex> m_index;
    std::shared_ptr<const transport::Timeline> m_timeline;
    Troubles m_troubles;
    Row m_rows = 0;  // of the index, as far as it was told of

    // The row asked for last: a view asks for all columns of one.
    mutable std::unique_ptr<transport::PacketReader> m_reader;
    mutable std::optional<Row> m_last;
    mutable bool m_last_read = false;  // with operands
    mutable transport::Message m_message;
};

}  // namespace qps::gui
