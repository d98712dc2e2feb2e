#include <gui/base/text.hpp>
#include <gui/logs/log_model.hpp>
#include <gui/pictures/plot_picture.hpp>
#include <transport-replay/logs/log_line.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;
using dissect::Instant;

namespace {

enum Column { TimeColumn, NumberColumn, LogColumn, LineColumn };
constexpr std::size_t kMostText = 2000;  // characters of a line that are shown

std::vector<Heading> headingsOfLogs() {
    return {{LogModel::tr("time"), LogModel::tr("Since the first packet, after the shift of the log"), true},
            {LogModel::tr("packet"), LogModel::tr("The first packet at or after that time"), true},
            {LogModel::tr("log"), LogModel::tr("File"), false},
            {LogModel::tr("line"), LogModel::tr("As it stands in the log"), false}};
}

}  // namespace

LogModel::LogModel(QObject* parent) : TableModel(headingsOfLogs(), parent), m_timeline(std::make_shared<Timeline>()) {}

void LogModel::setCapture(std::shared_ptr<const Timeline> timeline, std::shared_ptr<const CaptureIndex> index) {
    m_timeline = std::move(timeline);
    m_index = std::move(index);
    setAxis({m_timeline->first.value_or(Instant{}), m_timeline->last.value_or(Instant{})});
    rowsChanged();
}

bool LogModel::add(LogText log) {
    if (m_logs.size() == kMostLogs) return false;
    const auto shift = log.since_boot ? std::nullopt : std::optional(dissect::Duration{});
    m_logs.push_back({std::move(log), shift});
    placeRows();
    return true;
}

void LogModel::clear() {
    m_logs.clear();
    placeRows();
}

bool LogModel::align(Row row, Instant with) {
    Log& log = m_logs[m_rows[row].log];
    const auto& told = log.text.entries[m_rows[row].entry].time;
    if (!told) return false;
    log.shift = with - *told;
    placeRows();
    return true;
}

void LogModel::unalign() {
    for (Log& log : m_logs) log.shift = log.text.since_boot ? std::nullopt : std::optional(dissect::Duration{});
    placeRows();
}

void LogModel::placeRows() {
    beginReplace();
    m_rows.clear();
    for (std::uint32_t at = 0; at < m_logs.size(); ++at) {
        const Log& log = m_logs[at];
        for (std::uint32_t entry = 0; entry < log.text.entries.size(); ++entry) {
            const auto& told = log.text.entries[entry].time;
            m_rows.push_back({at, entry, told && log.shift ? std::optional(*told + *log.shift) : std::nullopt});
        }
    }
    std::ranges::stable_sort(m_rows,
                             [](const Placed& a, const Placed& b) { return a.time && (!b.time || *a.time < *b.time); });
    endReplace();
}

RowPlace LogModel::place(Row row) const {
    RowPlace place;
    if (const auto candidates = candidates_for(read_log_line(line(row)), *m_timeline); !candidates.empty())
        place.connection = candidates.front().connection;
    place.shown = place.first = place.last = nextPacket(row).value_or(FrameIndex{});
    return place;
}

// Of a line that was before or after the capture there is none.
std::optional<FrameIndex> LogModel::nextPacket(Row row) const {
    const auto time = m_rows[row].time;
    if (!time || m_index == nullptr || !m_timeline->first || *time < axis().from || *time > axis().to)
        return std::nullopt;
    return frameAt(*m_index, *time);
}

std::optional<TableModel::Row> LogModel::rowOfPacket(FrameIndex frame) const {
    if (m_index == nullptr || !m_index->has(frame) || m_index->row(frame).has(Mark::timeless)) return std::nullopt;
    const Instant time = m_index->row(frame).time();
    const auto after =
        std::ranges::partition_point(m_rows, [time](const Placed& row) { return row.time && *row.time <= time; });
    if (after == m_rows.begin()) return std::nullopt;
    return static_cast<Row>(after - m_rows.begin() - 1);
}

QString LogModel::identity(Row row) const {
    return QStringLiteral("%1 %2").arg(m_rows[row].log).arg(m_rows[row].entry);
}

QString LogModel::filter(Row row) const {
    const auto connection = place(row).connection;
    return connection ? QStringLiteral("rdma.connection == %1").arg(std::to_underlying(*connection)) : QString();
}

QString LogModel::text(Row row, int column) const {
    switch (column) {
        case TimeColumn:
            return m_rows[row].time && m_timeline->first ? shown(seconds_text(*m_rows[row].time - *m_timeline->first))
                                                         : QString();
        case NumberColumn: return shown(plain_text(value(row, NumberColumn)));
        case LogColumn: return log(m_rows[row].log).name;
        default: break;
    }
    QString whole = shown(line(row).substr(0, kMostText));
    for (QChar& each : whole)
        if (!each.isPrint()) each = QLatin1Char(' ');
    return whole;
}

Cell LogModel::value(Row row, int column) const {
    switch (column) {
        case TimeColumn: return m_rows[row].time ? number(*m_rows[row].time) : Cell{};
        case NumberColumn: return number(nextPacket(row));
        case LogColumn: return number(m_rows[row].log);
        default: return text_cell(line(row).substr(0, kMostText));
    }
}

Tone LogModel::tone(Row row) const {
    const LogLine read = read_log_line(line(row).substr(0, kMostText));
    if (!read.complaint) return Tone::plain;
    return *read.complaint == Complaint::flushed || *read.complaint == Complaint::local ? Tone::warning : Tone::error;
}

std::optional<TimeRange> LogModel::life(Row row) const {
    const auto time = m_rows[row].time;
    if (!time || *time < axis().from || *time > axis().to) return std::nullopt;
    return TimeRange{*time, *time};
}

}  // namespace qps::gui
