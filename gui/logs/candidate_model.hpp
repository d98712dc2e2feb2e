// CandidateModel: the connections that a line of a log may be about, best first, with the reasons.
#pragma once

#include <gui/tables/table_model.hpp>
#include <transport-replay/logs/log_candidates.hpp>

#include <memory>
#include <set>

namespace qps::transport {
struct Connection;
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

class CandidateModel : public TableModel {
    Q_OBJECT

public:
    explicit CandidateModel(QObject* parent = nullptr);
    void show(const transport::LogLine& line, std::shared_ptr<const transport::Timeline> timeline);
    [[nodiscard]] transport::ConnectionId connection(Row row) const { return m_candidates[row].connection; }

    [[nodiscard]] Row sources() const override { return static_cast<Row>(m_candidates.size()); }
    [[nodiscard]] RowPlace place(Row row) const override;
    [[nodiscard]] std::optional<Row> rowOfPacket(dissect::FrameIndex) const override { return std::nullopt; }
    [[nodiscard]] std::optional<Row> rowOfConnection(transport::ConnectionId connection) const override;
    [[nodiscard]] QString identity(Row row) const override;
    [[nodiscard]] QString filter(Row row) const override;

protected:
    [[nodiscard]] QString text(Row row, int column) const override;
    [[nodiscard]] transport::Cell value(Row row, int column) const override;
    [[nodiscard]] transport::Tone tone(Row row) const override;
    [[nodiscard]] std::optional<TimeRange> life(Row row) const override;
    [[nodiscard]] std::vector<Moment> moments(Row) const override { return {}; }

private:
    [[nodiscard]] const transport::Connection& of(Row row) const;

    std::vector<transport::Candidate> m_candidates;
    std::shared_ptr<const transport::Timeline> m_timeline;
    std::set<transport::ConnectionId> m_given_up;
};

}  // namespace qps::gui
