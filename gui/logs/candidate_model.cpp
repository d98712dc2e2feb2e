#include <gui/base/names.hpp>
#include <gui/base/text.hpp>
#include <gui/logs/candidate_model.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

namespace qps::gui {

using namespace transport;

namespace {

enum CandidateColumn { UidColumn, EndsColumn, StateColumn, ReasonsColumn };

std::vector<Heading> headingsOfCandidates() {
    return {{QStringLiteral("#"), CandidateModel::tr("Number of the connection"), true},
            {CandidateModel::tr("endpoints"), CandidateModel::tr("Address and queue pair of both ends"), false},
            {CandidateModel::tr("state"),
             CandidateModel::tr("How far the connection came: established, released, failed (IBA 9.7.5.2.1)"), false},
            {CandidateModel::tr("reasons"),
             CandidateModel::tr("What of the line fits the connection, and what does not"), false}};
}

}  // namespace

CandidateModel::CandidateModel(QObject* parent)
    : TableModel(headingsOfCandidates(), parent), m_timeline(std::make_shared<Timeline>()) {}

void CandidateModel::show(const LogLine& line, std::shared_ptr<const Timeline> timeline) {
    beginReplace();
    m_timeline = std::move(timeline);
    m_candidates = candidates_for(line, *m_timeline);
    m_given_up = given_up(*m_timeline);
    setAxis({m_timeline->first.value_or(dissect::Instant{}), m_timeline->last.value_or(dissect::Instant{})});
    endReplace();
}

const Connection& CandidateModel::of(Row row) const { return *m_timeline->find(connection(row)); }

RowPlace CandidateModel::place(Row row) const {
    const Connection& found = of(row);
    return {found.uid, found.first_frame(), found.first_frame(),
            std::max(found.ways[0].last_frame, found.ways[1].last_frame)};
}

std::optional<TableModel::Row> CandidateModel::rowOfConnection(ConnectionId connection) const {
    const auto found = std::ranges::find(m_candidates, connection, &Candidate::connection);
    return found == m_candidates.end() ? std::nullopt : std::optional(static_cast<Row>(found - m_candidates.begin()));
}

QString CandidateModel::identity(Row row) const { return QString::number(std::to_underlying(connection(row))); }

QString CandidateModel::filter(Row row) const { return QStringLiteral("rdma.connection == %1").arg(identity(row)); }

QString CandidateModel::text(Row row, int column) const { return shown(plain_text(value(row, column))); }

Cell CandidateModel::value(Row row, int column) const {
    switch (column) {
        case UidColumn: return number(connection(row));
        case EndsColumn: return text_cell(endsText(names(), of(row)).toStdString());
        case StateColumn: return text_cell(state_of({of(row), m_given_up.contains(connection(row))}));
        default: return text_cell(m_candidates[row].reasons);
    }
}

Tone CandidateModel::tone(Row row) const {
    return tone_of(ConnectionRow{of(row), m_given_up.contains(connection(row))});
}

std::optional<TimeRange> CandidateModel::life(Row row) const {
    if (of(row).packets() == 0) return std::nullopt;
    return TimeRange{of(row).first_time(), of(row).last_time()};
}

}  // namespace qps::gui
