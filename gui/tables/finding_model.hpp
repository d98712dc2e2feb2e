// Findings of a timeline as a table, worst first. A newer timeline may have them in other places: who shows them finds
// a row again by its identity.
#pragma once

#include <gui/session/selection.hpp>
#include <gui/tables/core_columns.hpp>
#include <transport-replay/index/capture_index.hpp>

#include <memory>

namespace qps::transport {
struct Finding;
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

class FindingModel : public TableModel {
    Q_OBJECT

public:
    explicit FindingModel(QObject* parent = nullptr);
    // The index says when the packets were; without one nothing is known of that.
    void setTimeline(std::shared_ptr<const transport::Timeline> timeline,
                     std::shared_ptr<const transport::CaptureIndex> index);
    [[nodiscard]] const transport::Finding& finding(Row row) const;
    [[nodiscard]] std::optional<Row> rowOfFinding(const FindingKey& key) const;
    [[nodiscard]] const std::shared_ptr<const transport::Timeline>& timeline() const { return m_timeline; }

    [[nodiscard]] Row sources() const override;
    [[nodiscard]] RowPlace place(Row row) const override;
    [[nodiscard]] std::optional<Row> rowOfPacket(dissect::FrameIndex frame) const override;
    [[nodiscard]] std::optional<Row> rowOfConnection(transport::ConnectionId) const override { return std::nullopt; }
    [[nodiscard]] QString identity(Row row) const override;
    [[nodiscard]] QString filter(Row row) const override;

protected:
    [[nodiscard]] QString text(Row row, int column) const override;
    [[nodiscard]] transport::Cell value(Row row, int column) const override {
        return m_columns.value(finding(row), column);
    }
    [[nodiscard]] transport::Tone tone(Row row) const override;
    [[nodiscard]] std::optional<TimeRange> life(Row row) const override;
    [[nodiscard]] std::vector<Moment> moments(Row row) const override;

private:
    using Columns = CoreColumns<transport::Finding>;
    FindingModel(Columns columns, QObject* parent);

    Columns m_columns;
    std::shared_ptr<const transport::Timeline> m_timeline;
    std::shared_ptr<const transport::CaptureIndex> m_index;
};

// "frame.number in {3,17}": the packets that prove it; those of its connection where none does.
[[nodiscard]] QString evidenceFilter(const transport::Finding& finding);
// "rdma.finding == go-back-n-loss and rdma.connection == 1": all packets at which it happened.
[[nodiscard]] QString eventsFilter(const transport::Finding& finding);

}  // namespace qps::gui
