#include <dissect/base/types.hpp>
#include <gui/base/names.hpp>
#include <gui/tables/cm_model.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/cm.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <utility>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;

namespace {

using Attempt = CmModel::Attempt;
using Column = TableColumn<Attempt>;

Cell began(const Attempt& row) { return row.attempt.ladder.empty() ? Cell{} : number(row.attempt.ladder.front().time); }
std::string beganText(const Attempt& row) {
    return row.attempt.ladder.empty() ? std::string() : seconds_text(row.attempt.ladder.front().time - row.start);
}
std::string serviceName(const Attempt& row) {
    return row.attempt.service ? std::string(name(*row.attempt.service)) : std::string();
}
std::string remarks(const Attempt& row) {
    std::string rejected = rejection_text(row.attempt);
    const std::string more = remarks_text(row.attempt);
    if (!rejected.empty() && !more.empty()) rejected += "; ";
    return rejected + more;
}
std::string setup(const Attempt& row) {
    const auto time = row.attempt.setup_time();
    return time ? duration_text(*time) : std::string();
}

constexpr std::array kColumns{
    Column{"attempt", "#", Side::right, [](const Attempt& row) { return number(row.attempt.uid); }},
    Column{"", "time", Side::right, began, beganText},
    Column{"active", "active", Side::left,
           [](const Attempt& row) { return text_cell(text(row.attempt.active.address)); }},
    Column{"passive", "passive", Side::left,
           [](const Attempt& row) { return text_cell(text(row.attempt.passive.address)); }},
    Column{"", "svc", Side::left, [](const Attempt& row) { return text_cell(serviceName(row)); }},
    Column{"service", "service", Side::left, [](const Attempt& row) { return text_cell(service_text(row.attempt)); }},
    Column{"outcome", "outcome", Side::left, [](const Attempt& row) { return text_cell(name(row.attempt.outcome)); }},
    Column{"setup_ns", "setup", Side::right, [](const Attempt& row) { return number(row.attempt.setup_time()); },
           setup},
    Column{"messages", "messages", Side::right, [](const Attempt& row) { return number(row.attempt.ladder.size()); }},
    Column{"", "remarks", Side::left, [](const Attempt& row) { return text_cell(remarks(row)); }},
};

constexpr std::array kCmMeanings{
    Meaning{"#", "Number of the attempt, in order of first message"},
    Meaning{"time", "Time of the first message, in seconds since the start of the capture"},
    Meaning{"active", "Active side: sends the REQ"},
    Meaning{"passive", "Passive side: receives the REQ"},
    Meaning{"svc", "Transport service"},
    Meaning{"service", "Service that was asked for: service ID or port"},
    Meaning{"outcome", "Established, rejected with its reason (IBA 12.6.7), or not answered"},
    Meaning{"messages", "Messages of the attempt, with retries"},
    Meaning{"remarks", "What was unusual: retries, duplicates, missing messages"},
    Meaning{"setup", "From the request to the message that confirmed or rejected it"},
};

}  // namespace

CmModel::CmModel(QObject* parent) : CmModel(Columns(std::span<const Column>(kColumns)), parent) {}

CmModel::CmModel(Columns columns, QObject* parent)
    : TableModel(columns.headings(kCmMeanings), parent),
      m_columns(std::move(columns)),
      m_timeline(std::make_shared<Timeline>()) {}

void CmModel::setTimeline(std::shared_ptr<const Timeline> timeline, bool other_capture) {
    const bool anew = other_capture || timeline->cm.attempts.size() < m_timeline->cm.attempts.size();
    const bool more = timeline->cm.attempts.size() > m_timeline->cm.attempts.size();
    if (anew) beginReplace();
    m_timeline = std::move(timeline);
    setAxis({m_timeline->first.value_or(dissect::Instant{}), m_timeline->last.value_or(dissect::Instant{})});
    if (anew) return endReplace();
    if (more) rowsAdded();
    rowsChanged();
}

const transport::CmAttempt& CmModel::attempt(Row row) const { return m_timeline->cm.attempts[row]; }

CmModel::Row CmModel::sources() const { return static_cast<Row>(m_timeline->cm.attempts.size()); }

RowPlace CmModel::place(Row row) const {
    const CmAttempt& of = attempt(row);
    std::optional<ConnectionId> connection;
    const auto set_up = std::ranges::find(m_timeline->connections, of.uid, &Connection::cm_attempt);
    if (set_up != m_timeline->connections.end()) connection = set_up->uid;
    return {connection, of.first_frame, of.first_frame, of.last_frame};
}

std::optional<TableModel::Row> CmModel::rowOfPacket(FrameIndex frame) const {
    const auto has = [frame](const CmAttempt& of) {
        return std::ranges::find(of.ladder, frame, &CmRung::frame) != of.ladder.end();
    };
    const auto found = std::ranges::find_if(m_timeline->cm.attempts, has);
    if (found == m_timeline->cm.attempts.end()) return std::nullopt;
    return static_cast<Row>(found - m_timeline->cm.attempts.begin());
}

std::optional<TableModel::Row> CmModel::rowOfConnection(ConnectionId connection) const {
    const Connection* found = m_timeline->find(connection);
    const auto attempt = found != nullptr ? found->cm_attempt : std::nullopt;
    return attempt < sources() ? attempt : std::nullopt;
}

QString CmModel::filter(Row row) const {
    QStringList frames;
    for (const CmRung& rung : attempt(row).ladder) frames.append(QString::number(std::to_underlying(rung.frame)));
    return frames.isEmpty() ? QString() : QStringLiteral("frame.number in {%1}").arg(frames.join(QStringLiteral(", ")));
}

QString CmModel::text(Row row, int column) const {
    const std::string_view heading = m_columns.at(column).heading;
    if (names() == nullptr || (heading != "active" && heading != "passive")) return m_columns.text(at(row), column);
    const CmAttempt& of = attempt(row);
    return names()->named(shown(transport::text((heading == "active" ? of.active : of.passive).address)));
}

Cell CmModel::value(Row row, int column) const {
    const std::string_view heading = m_columns.at(column).heading;
    if (names() == nullptr || (heading != "active" && heading != "passive")) return m_columns.value(at(row), column);
    return text_cell(text(row, column).toStdString());
}

Tone CmModel::tone(Row row) const { return tone_of(attempt(row)); }

std::optional<TimeRange> CmModel::life(Row row) const {
    const auto& ladder = attempt(row).ladder;
    if (ladder.empty()) return std::nullopt;
    const auto [least, most] = std::ranges::minmax(ladder, {}, &CmRung::time);
    return TimeRange{least.time, most.time};
}

std::vector<Moment> CmModel::moments(Row row) const {
    std::vector<Moment> all;
    for (const CmRung& rung : attempt(row).ladder) {
        if (rung.duplicate) all.push_back({rung.time, Trouble::Resent});
        if (rung.message == CmMessage::rej) all.push_back({rung.time, Trouble::Refused});
    }
    return all;
}

}  // namespace qps::gui
