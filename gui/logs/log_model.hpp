// LogModel: the lines of the logs that are open beside a capture as a table, in the order of their times, each with the
// packet that came next.
#pragma once

#include <gui/logs/log_text.hpp>
#include <gui/tables/table_model.hpp>
#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/logs/log_candidates.hpp>

#include <memory>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

class LogModel : public TableModel {
    Q_OBJECT

public:
    static constexpr std::size_t kMostLogs = 16;

    explicit LogModel(QObject* parent = nullptr);
    void setCapture(std::shared_ptr<const transport::Timeline> timeline,
                    std::shared_ptr<const transport::CaptureIndex> index);
    // False: there are as many as there may be.
    bool add(LogText log);
    void clear();
    [[nodiscard]] std::size_t logs() const { return m_logs.size(); }
    [[nodiscard]] const LogText& log(std::size_t at) const { return m_logs[at].text; }
    // By how much the times of a log are moved; nothing where they count from boot and nobody has said when that was.
    [[nodiscard]] std::optional<dissect::Duration> shift(std::size_t log) const { return m_logs[log].shift; }
    // Moves the times of the log that a line is of, so that the line was at that time. False: it has no time.
    bool align(Row row, dissect::Instant with);
    void unalign();

    [[nodiscard]] std::string_view line(Row row) const { return m_logs[m_rows[row].log].text.line(m_rows[row].entry); }
    // When it was, on the clock of the capture.
    [[nodiscard]] std::optional<dissect::Instant> time(Row row) const { return m_rows[row].time; }

    [[nodiscard]] Row sources() const override { return static_cast<Row>(m_rows.size()); }
    [[nodiscard]] RowPlace place(Row row) const override;
    [[nodiscard]] std::optional<Row> rowOfPacket(dissect::FrameIndex frame) const override;
    [[nodiscard]] std::optional<Row> rowOfConnection(transport::ConnectionId) const override { return std::nullopt; }
    [[nodiscard]] QString identity(Row row) const override;
    [[nodiscard]] QString filter(Row row) const override;

protected:
    [[nodiscard]] QString text(Row row, int column) const override;
    [[nodiscard]] transport::Cell value(Row row, int column) const override;
    [[nodiscard]] transport::Tone tone(Row row) const override;
    [[nodiscard]] std::optional<TimeRange> life(Row row) const override;
    [[nodiscard]] std::vector<Moment> moments(Row) const override { return {}; }

private:
    struct Log {
        LogText text;
        std::optional<dissect::Duration> shift;
    };
    struct Placed {
        std::uint32_t log = 0;
        std::uint32_t entry = 0;
        std::optional<dissect::Instant> time;
    };
    void placeRows();
    [[nodiscard]] std::optional<dissect::FrameIndex> nextPacket(Row row) const;

    std::vector<Log> m_logs;
    std::vector<Placed> m_rows;  // by time, those without one behind
    std::shared_ptr<const transport::Timeline> m_timeline;
    std::shared_ptr<const transport::CaptureIndex> m_index;
};

}  // namespace qps::gui
