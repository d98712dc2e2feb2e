// Connection attempts of a timeline as a table, each a row; the messages of one are a ladder beside it.
#pragma once

#include <gui/tables/core_columns.hpp>

#include <memory>

namespace qps::transport {
struct CmAttempt;
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

class CmModel : public TableModel {
    Q_OBJECT

public:
    // An attempt and the beginning of its capture.
    struct Attempt {
        const transport::CmAttempt& attempt;
        dissect::Instant start{};
    };

    explicit CmModel(QObject* parent = nullptr);
    // A newer one of the same capture keeps what is selected; `other_capture`: everything begins anew.
    void setTimeline(std::shared_ptr<const transport::Timeline> timeline, bool other_capture = false);
    [[nodiscard]] const transport::CmAttempt& attempt(Row row) const;
    [[nodiscard]] const std::shared_ptr<const transport::Timeline>& timeline() const { return m_timeline; }

    [[nodiscard]] Row sources() const override;
    [[nodiscard]] RowPlace place(Row row) const override;
    [[nodiscard]] std::optional<Row> rowOfPacket(dissect::FrameIndex frame) const override;
    [[nodiscard]] std::optional<Row> rowOfConnection(transport::ConnectionId connection) const override;
    [[nodiscard]] QString filter(Row row) const override;

protected:
    [[nodiscard]] QString text(Row row, int column) const override;
    [[nodiscard]] transport::Cell value(Row row, int column) const override;
    [[nodiscard]] transport::Tone tone(Row row) const override;
    [[nodiscard]] std::optional<TimeRange> life(Row row) const override;
    [[nodiscard]] std::vector<Moment> moments(Row row) const override;

private:
    using Columns = CoreColumns<Attempt>;
    CmModel(Columns columns, QObject* parent);
    [[nodiscard]] Attempt at(Row row) const { return {attempt(row), axis().from}; }

    Columns m_columns;
    std::shared_ptr<const transport::Timeline> m_timeline;
};

}  // namespace qps::gui
