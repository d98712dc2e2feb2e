#include <gui/base/names.hpp>
#include <gui/tables/finding_model.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/findings.hpp>

#include <algorithm>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;

namespace {

constexpr std::array kFindingMeanings{
    Meaning{"party", "Who can act on it"},
    Meaning{"#", "Connection, if it concerns a single one"},
    Meaning{"count", "Number of occurrences"},
    Meaning{"severity", "How bad it is: error, warning or note"},
    Meaning{"finding", "Its name, as reports and filters have it; the pane below names the clause"},
    Meaning{"summary", "What happened, with the numbers"},
    Meaning{"advice", "What to look at or to change"},
};

}  // namespace

FindingModel::FindingModel(QObject* parent) : FindingModel(Columns(finding_columns()), parent) {}

FindingModel::FindingModel(Columns columns, QObject* parent)
    : TableModel(columns.headings(kFindingMeanings), parent),
      m_columns(std::move(columns)),
      m_timeline(std::make_shared<Timeline>()) {}

void FindingModel::setTimeline(std::shared_ptr<const Timeline> timeline, std::shared_ptr<const CaptureIndex> index) {
    beginReplace();
    m_timeline = std::move(timeline);
    m_index = std::move(index);
    setAxis({m_timeline->first.value_or(dissect::Instant{}), m_timeline->last.value_or(dissect::Instant{})});
    endReplace();
}

const transport::Finding& FindingModel::finding(Row row) const { return m_timeline->findings[row]; }

FindingModel::Row FindingModel::sources() const { return static_cast<Row>(m_timeline->findings.size()); }

RowPlace FindingModel::place(Row row) const {
    const Finding& found = finding(row);
    if (found.packets.empty()) return {found.connection, {}, {}, {}};
    return {found.connection, found.packets.front(), found.packets.front(), found.packets.back()};
}

std::optional<TableModel::Row> FindingModel::rowOfPacket(FrameIndex frame) const {
    const auto proves = [frame](const Finding& found) {
        return std::ranges::find(found.packets, frame) != found.packets.end();
    };
    const auto found = std::ranges::find_if(m_timeline->findings, proves);
    if (found == m_timeline->findings.end()) return std::nullopt;
    return static_cast<Row>(found - m_timeline->findings.begin());
}

std::optional<TableModel::Row> FindingModel::rowOfFinding(const FindingKey& key) const {
    const auto found = std::ranges::find(m_timeline->findings, key, keyOf);
    if (found == m_timeline->findings.end()) return std::nullopt;
    return static_cast<Row>(found - m_timeline->findings.begin());
}

QString FindingModel::identity(Row row) const {
    const Finding& found = finding(row);
    return QStringLiteral("%1 %2 %3")
        .arg(shown(found.id), shown(party_name(found)))
        .arg(found.connection ? std::to_underlying(*found.connection) : 0U);
}

QString FindingModel::filter(Row row) const { return evidenceFilter(finding(row)); }

QString FindingModel::text(Row row, int column) const {
    QString text = m_columns.text(finding(row), column);
    const std::string_view heading = m_columns.at(column).heading;
    if (heading == "advice")
        text.remove(QLatin1Char('`'));  // marks of commands, which the pane below sets in their type
    return names() != nullptr && (heading == "summary" || heading == "advice") ? names()->inText(text) : text;
}

Tone FindingModel::tone(Row row) const { return tone_of(finding(row).severity); }

std::optional<TimeRange> FindingModel::life(Row row) const {
    const std::vector<Moment> all = moments(row);
    if (all.empty()) return std::nullopt;
    const auto [least, most] = std::ranges::minmax(all, {}, &Moment::time);
    return TimeRange{least.time, most.time};
}

std::vector<Moment> FindingModel::moments(Row row) const {
    std::vector<Moment> all;
    if (m_index == nullptr) return all;
    for (const FrameIndex frame : finding(row).packets) {
        if (!m_index->has(frame) || m_index->row(frame).has(Mark::timeless)) continue;
        all.push_back({m_index->row(frame).time(), Trouble::Evidence});
    }
    return all;
}

QString eventsFilter(const Finding& finding) {
    QString events = QStringLiteral("rdma.finding == %1").arg(shown(finding.id));
    if (!finding.connection) return events;
    return QStringLiteral("%1 and rdma.connection == %2").arg(events).arg(std::to_underlying(*finding.connection));
}

QString evidenceFilter(const Finding& finding) {
    if (!finding.packets.empty()) return QStringLiteral("frame.number in {%1}").arg(shown(frames_text(finding, ", ")));
    if (finding.connection) return QStringLiteral("rdma.connection == %1").arg(std::to_underlying(*finding.connection));
    return {};
}

}  // namespace qps::gui
