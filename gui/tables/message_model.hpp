// Messages of an open capture as a table: rows of the index as they are; what only packets have is read from them for
// the rows that are looked at.
#pragma once

#include <gui/tables/core_columns.hpp>
#include <gui/tables/index_model.hpp>
#include <transport-replay/index/restored_message.hpp>
#include <transport-replay/report/messages.hpp>

namespace qps::gui {

class MessageModel : public IndexModel {
    Q_OBJECT

public:
    explicit MessageModel(QObject* parent = nullptr);

    [[nodiscard]] RowPlace place(Row row) const override;
    [[nodiscard]] std::optional<Row> rowOfPacket(dissect::FrameIndex frame) const override;

protected:
    [[nodiscard]] std::uint64_t rowsOf(const transport::CaptureIndex& index) const override {
        return index.messages.size();
    }
    void forget() override;
    [[nodiscard]] QString text(Row row, int column) const override;
    [[nodiscard]] transport::Cell value(Row row, int column) const override;
    [[nodiscard]] transport::Tone tone(Row row) const override;
    [[nodiscard]] std::optional<TimeRange> life(Row row) const override;
    [[nodiscard]] std::vector<Moment> moments(Row row) const override;
    [[nodiscard]] SortKeys keys(int column) const override;

private:
    using Columns = CoreColumns<transport::ReportedMessage>;
    MessageModel(Columns columns, QObject* parent);
    [[nodiscard]] const transport::MessageRow& at(Row row) const { return capture()->messages[row]; }
    [[nodiscard]] transport::ReportedMessage reported(Row row, bool with_operands) const;
    [[nodiscard]] bool isDetails(int column) const;
    [[nodiscard]] SortKeys keysOfEnds(bool requesters) const;

    Columns m_columns;

    // The row asked for last: a view asks for all columns of one.
    mutable std::unique_ptr<transport::PacketReader> m_reader;
    mutable std::optional<Row> m_last;
    mutable bool m_last_read = false;  // with operands
    mutable transport::Message m_message;
};

}  // namespace qps::gui
