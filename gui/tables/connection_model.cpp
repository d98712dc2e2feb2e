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
    Meaning{"NAKs", "NAKs by kind: PSN sequence error, RNR, fatal"},
    Meaning{"timeouts", "Retransmissions without a NAK"},
    Meaning{"lost", "PSNs lost in the network (net), and PSNs missing only in the capture (tap)"},
    Meaning{"CE", "Packets with a CE mark"},
    Meaning{"MTU", "Path MTU: payload bytes per packet"},
    Meaning{"duration", "From first to last packet"},
};

// One that is not seen both ways may have no time.
std::optional<TimeRange> lifeOf(const Connection& connection) {
    if (connection.packets() == 0) return std::nullopt;
    return TimeRange{connection.first_time(), connection.last_time()};
}

bool continues(const Timeline& older, const Timeline& newer) {
    return older.connections.size() <= newer.connections.size() &&
           std::ranges::equal(older.connections.begin(), older.connections.end(), newer.connections.begin(),
                              newer.connections.begin() + static_cast<std::ptrdiff_t>(older.connections.size()), {}, &Connection::uid,
                              &Connection::uid);
}

}  // namespace

ConnectionModel::ConnectionModel(QObject* parent) : ConnectionModel(CoreColumns<ConnectionRow>(connection_columns()), parent) {}

ConnectionModel::ConnectionModel(CoreColumns<ConnectionRow> columns, QObject* parent)
    : TableModel(columns.headings(kConnectionMeanings), parent), m_columns(std::move(columns)), m_timeline(std::make_shared<Timeline>()) {}

void ConnectionModel::setTimeline(std::shared_ptr<const Timeline> timeline, bool other_capture) {
    const bool anew = other_capture || !continues(*m_timeline, *timeline);
    const bool more = timeline->connections.size() > m_timeline->connections.size();
    if (anew) beginReplace();
    m_timeline = std::move(timeline);
    m_given_up = given_up(*m_timeline);
    m_troubles = Troubles(*m_timeline);
    setAxis({m_timeline->first.value_or(dissect::Instant{}), m_timeline->last.value_or(dissect::Instant{})});
    if (anew) return endReplace();
    if (more) rowsAdded();
    rowsChanged();
}

ConnectionRow ConnectionModel::at(Row row) const {
    const Connection& connection = m_timeline->connections[row];
    return {connection, m_given_up.contains(connection.uid), {}, m_timeline->ulp.find(connection.uid)};
}

TableModel::Row ConnectionModel::sources() const { return static_cast<Row>(m_timeline->connections.size()); }

RowPlace ConnectionModel::place(Row row) const {
    const Connection& connection = m_timeline->connections[row];
    const FrameIndex last = std::max(connection.ways[0].last_frame, connection.ways[1].last_frame);
    return {connection.uid, connection.first_frame(), connection.first_frame(), last};
}

std::optional<TableModel::Row> ConnectionModel::rowOfPacket(FrameIndex /*frame*/) const { return std::nullopt; }

std::optional<TableModel::Row> ConnectionModel::rowOfConnection(ConnectionId connection) const {
    const auto found = std::ranges::lower_bound(m_timeline->connections, connection, {}, &Connection::uid);
    if (found == m_timeline->connections.end() || found->uid != connection) return std::nullopt;
    return static_cast<Row>(found - m_timeline->connections.begin());
}

QString ConnectionModel::identity(Row row) const { return QString::number(std::to_underlying(m_timeline->connections[row].uid)); }

QString ConnectionModel::filter(Row row) const { return QStringLiteral("rdma.connection == %1").arg(identity(row)); }

QString ConnectionModel::text(Row row, int column) const { return m_columns.text(at(row), column); }
Cell ConnectionModel::value(Row row, int column) const { return m_columns.value(at(row), column); }
Tone ConnectionModel::tone(Row row) const { return tone_of(at(row)); }
std::optional<TimeRange> ConnectionModel::life(Row row) const { return lifeOf(m_timeline->connections[row]); }
std::vector<Moment> ConnectionModel::moments(Row row) const { return m_troubles.of(m_timeline->connections[row].uid); }

}  // namespace qps::gui
