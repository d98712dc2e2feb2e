#include <gui/base/names.hpp>
#include <gui/tables/connection_model.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/connections.hpp>

#include <algorithm>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;

namespace {

constexpr std::array kConnectionMeanings{
    Meaning{"#", "Number of the connection, in order of first packet"},
    Meaning{"svc", "Transport service"},
    Meaning{"endpoints", "Address and queue pair of both ends"},
    Meaning{"pairing", "Confidence that the two directions belong together"},
    Meaning{"protocol", "Upper-layer protocol, and how it was identified if not certain"},
    Meaning{"msgs", "Messages: SEND, WRITE, READ, ATOMIC"},
    Meaning{"retrans", "Retransmitted request packets: their PSN was seen before"},
    Meaning{"NAKs", "NAKs by kind: PSN sequence error (IBA 9.7.5.1.2), RNR (9.7.5.2.8), fatal (9.7.5.2.1)"},
    Meaning{"timeouts", "Retransmissions without a NAK: the ACK timeout (IBA 9.7.6.1.3)"},
    Meaning{"lost", "Packets lost before the tap, behind it (at least), and by the capture alone"},
    Meaning{"CE", "Packets with a CE mark (IBA A17.9.3)"},
    Meaning{"MTU", "Path MTU: payload bytes per packet (IBA 9.7.4.1.6)"},
    Meaning{"duration", "From first to last packet"},
    Meaning{"packets", "Packets of both directions"},
    Meaning{"bytes", "Bytes on the wire of both directions, with headers"},
    Meaning{"state", "How far it came: established, released, failed (IBA 9.7.5.2.1)"},
    Meaning{"p50", "Median latency of its messages, first packet to completion, right within an eighth"},
    Meaning{"p99", "99th percentile of the latency of its messages, right within an eighth"},
    Meaning{"max", "Longest latency of its messages"},
    Meaning{"goodput", "Payload of messages, each byte once, over its duration"},
    Meaning{"depth", "Most messages of one end outstanding at once"},
    Meaning{"stalled",
            "Time without progress until it recovered, by cause: ACK timeout, RNR NAK, sequence NAK, READ retry"},
    Meaning{"CNPs", "Congestion notification packets"},
    Meaning{
        "rate by",
        "What makes its senders slow down: CNPs, round-trip times, credits of the receiver, nothing; empty where undecided"},
    Meaning{"DSCP", "Traffic classes of its packets, of both ends where they differ"},
    Meaning{"src ports", "UDP source ports, of both ends where they differ: what ECMP spreads by"},
};

// One that is not seen both ways may have no time.
std::optional<TimeRange> lifeOf(const Connection& connection) {
    if (connection.packets() == 0) return std::nullopt;
    return TimeRange{connection.first_time(), connection.last_time()};
}

bool continues(const Timeline& older, const Timeline& newer) {
    return older.connections.size() <= newer.connections.size() &&
           std::ranges::equal(older.connections.begin(), older.connections.end(), newer.connections.begin(),
                              newer.connections.begin() + static_cast<std::ptrdiff_t>(older.connections.size()), {},
                              &Connection::uid, &Connection::uid);
}

}  // namespace

ConnectionModel::ConnectionModel(QObject* parent)
    : ConnectionModel(CoreColumns<ConnectionRow>(connection_columns()), parent) {}

ConnectionModel::ConnectionModel(CoreColumns<ConnectionRow> columns, QObject* parent)
    : TableModel(columns.headings(kConnectionMeanings), parent),
      m_columns(std::move(columns)),
      m_timeline(std::make_shared<Timeline>()) {}

void ConnectionModel::setTimeline(std::shared_ptr<const Timeline> timeline, bool other_capture) {
    std::vector<std::uint32_t> rows = chosen(*timeline);
    const bool grows = m_rows.size() <= rows.size() && std::equal(m_rows.begin(), m_rows.end(), rows.begin());
    const bool anew = other_capture || !grows || !continues(*m_timeline, *timeline);
    const bool more = rows.size() > m_rows.size();
    if (anew) beginReplace();
    if (other_capture) m_figures.reset();
    m_timeline = std::move(timeline);
    m_rows = std::move(rows);
    m_given_up = given_up(*m_timeline);
    m_troubles = Troubles(*m_timeline);
    setAxis({m_timeline->first.value_or(dissect::Instant{}), m_timeline->last.value_or(dissect::Instant{})});
    if (anew) return endReplace();
    if (more) rowsAdded();
    rowsChanged();
}

void ConnectionModel::setFigures(std::shared_ptr<const series::ConnectionFigures> figures) {
    m_figures = std::move(figures);
    rowsChanged();
}

void ConnectionModel::choose(Choice choice) {
    beginReplace();
    m_choice = std::move(choice);
    m_rows = chosen(*m_timeline);
    endReplace();
}

std::vector<std::uint32_t> ConnectionModel::chosen(const Timeline& timeline) const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t at = 0; at < timeline.connections.size(); ++at)
        if (!m_choice || m_choice(timeline.connections[at])) rows.push_back(at);
    return rows;
}

const Connection& ConnectionModel::connection(Row row) const { return m_timeline->connections[m_rows[row]]; }

ConnectionRow ConnectionModel::at(Row row) const {
    const Connection& told = connection(row);
    return {told,
            m_given_up.contains(told.uid),
            {},
            m_timeline->ulp.find(told.uid),
            m_figures ? m_figures->times.find(told.uid) : nullptr,
            &m_timeline->congestion};
}

TableModel::Row ConnectionModel::sources() const { return static_cast<Row>(m_rows.size()); }

RowPlace ConnectionModel::place(Row row) const {
    const Connection& told = connection(row);
    return {told.uid, told.first_frame(), told.first_frame(),
            std::max(told.ways[0].last_frame, told.ways[1].last_frame)};
}

std::optional<TableModel::Row> ConnectionModel::rowOfPacket(FrameIndex /*frame*/) const { return std::nullopt; }

std::optional<TableModel::Row> ConnectionModel::rowOfConnection(ConnectionId connection) const {
    const auto found = std::ranges::lower_bound(m_rows, connection, {},
                                                [this](std::uint32_t at) { return m_timeline->connections[at].uid; });
    if (found == m_rows.end() || m_timeline->connections[*found].uid != connection) return std::nullopt;
    return static_cast<Row>(found - m_rows.begin());
}

QString ConnectionModel::identity(Row row) const { return QString::number(std::to_underlying(connection(row).uid)); }

QString ConnectionModel::filter(Row row) const { return QStringLiteral("rdma.connection == %1").arg(identity(row)); }

QString ConnectionModel::text(Row row, int column) const {
    if (names() == nullptr || m_columns.at(column).heading != "endpoints") return m_columns.text(at(row), column);
    return endsText(names(), connection(row));
}

Cell ConnectionModel::value(Row row, int column) const {
    if (names() == nullptr || m_columns.at(column).heading != "endpoints") return m_columns.value(at(row), column);
    return text_cell(text(row, column).toStdString());
}
Tone ConnectionModel::tone(Row row) const { return tone_of(at(row)); }
std::optional<TimeRange> ConnectionModel::life(Row row) const { return lifeOf(connection(row)); }
std::vector<Moment> ConnectionModel::moments(Row row) const { return m_troubles.of(connection(row).uid); }

std::vector<std::uint8_t> ConnectionModel::heights(Row row) const {
    if (!m_figures) return {};
    const auto line = m_figures->lines.of(connection(row).uid);
    return {line.begin(), line.end()};
}

}  // namespace qps::gui
