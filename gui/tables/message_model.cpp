#include <gui/tables/message_model.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;

namespace {

constexpr std::array kMessageMeanings{
    Meaning{"#", "Connection"},
    Meaning{"no.", "Number of the message, as rdma.message has it in filters"},
    Meaning{"from", "Requester: address and queue pair"},
    Meaning{"to", "Responder: address and queue pair"},
    Meaning{"time", "Time of the first packet, in seconds since the start of the capture"},
    Meaning{"PSN", "Packet sequence numbers; of a READ, those of its responses (IBA 9.7.3). iWARP has none"},
    Meaning{"bytes", "Payload bytes captured, without retransmissions"},
    Meaning{"retrans", "Retransmitted request packets: their PSN was seen before"},
    Meaning{"latency", "From first request packet to completion or failure"},
    Meaning{"operation", "Upper-layer operation, and whether the message is its request, data or response"},
    Meaning{"message", "Verb of the work request"},
    Meaning{"outcome", "Completed, refused by a NAK (IBA 9.7.5.2.1), given up, or not answered in the capture"},
    Meaning{"details", "Remote address and R_Key, operands, immediate data"},
};
constexpr std::array<std::string_view, 1> kWithout{"packets"};  // the index does not keep how many were captured

FrameIndex lastOf(const MessageRow& row) {
    return std::max(row.last_frame(), row.answer_frame().value_or(FrameIndex{}));
}

}  // namespace

MessageModel::MessageModel(QObject* parent) : MessageModel(Columns(message_columns(), kWithout), parent) {}

MessageModel::MessageModel(Columns columns, QObject* parent)
    : IndexModel(columns.headings(kMessageMeanings), parent), m_columns(std::move(columns)) {}

void MessageModel::forget() {
    m_reader = std::make_unique<PacketReader>(capture());
    m_last.reset();
}

bool MessageModel::isDetails(int column) const { return m_columns.at(column).heading == "details"; }

ReportedMessage MessageModel::reported(Row row, bool with_operands) const {
    if (m_last != row) {
        m_message = restored(*capture(), at(row));
        m_message.ulp = capture()->label(row);
        m_last = row;
        m_last_read = false;
    }
    if (with_operands && !m_last_read) {
        add_operands(m_message, *m_reader);
        m_last_read = true;
    }
    const ConnectionId connection = at(row).connection();
    const End requester = at(row).requester();
    return {connection, requester, endpoint(connection, requester), endpoint(connection, other(requester)),
            m_message,  start(),   row + std::uint64_t{1}};
}

RowPlace MessageModel::place(Row row) const {
    const MessageRow& message = at(row);
    return {message.connection(), message.first_frame(), message.first_frame(), lastOf(message)};
}

// Of several that were under way at that time the one that has its PSN.
std::optional<TableModel::Row> MessageModel::rowOfPacket(FrameIndex frame) const {
    if (capture() == nullptr || !capture()->has(frame)) return std::nullopt;
    const PacketRow& packet = capture()->row(frame);
    const auto connection = packet.connection();
    if (!connection) return std::nullopt;
    std::optional<Row> under_way;
    for (Row row = 0; row < sources(); ++row) {
        const MessageRow& message = at(row);
        if (message.connection() != *connection || frame < message.first_frame() || frame > lastOf(message)) continue;
        const FrameIndex last = capture()->has(message.last_frame()) ? message.last_frame() : message.first_frame();
        if (carries(message, capture()->row(message.first_frame()), capture()->row(last), packet)) return row;
        if (frame == message.answer_frame()) under_way = row;
    }
    return under_way;
}

QString MessageModel::text(Row row, int column) const {
    const std::string_view heading = m_columns.at(column).heading;
    if (names() == nullptr || (heading != "from" && heading != "to"))
        return m_columns.text(reported(row, isDetails(column)), column);
    const auto ends = reported(row, false);
    return ofEnd(heading == "from" ? ends.from : ends.to);
}

Cell MessageModel::value(Row row, int column) const {
    const std::string_view heading = m_columns.at(column).heading;
    if (names() == nullptr || (heading != "from" && heading != "to"))
        return m_columns.value(reported(row, isDetails(column)), column);
    return text_cell(text(row, column).toStdString());
}

Tone MessageModel::tone(Row row) const { return tone_of(reported(row, false).message); }

// What rows of the index have themselves needs no Message: millions are sorted at once.
SortKeys MessageModel::keys(int column) const {
    const auto by = [this](auto of) { return sortKeys(sources(), [&](Row row) { return number(of(at(row))); }); };
    const std::string_view heading = column == whenColumn() ? "time" : m_columns.at(column).heading;
    if (heading == "#") return by([](const MessageRow& row) { return row.connection(); });
    if (heading == "bytes") return by([](const MessageRow& row) { return row.bytes(); });
    if (heading == "retrans") return by([](const MessageRow& row) { return row.retransmissions(); });
    if (heading == "time")
        return by([this](const MessageRow& row) { return capture()->row(row.first_frame()).time(); });
    if (heading == "from" || heading == "to") return keysOfEnds(heading == "from");
    return TableModel::keys(column);
}

// Messages of the same end have the same key: it is made once for each.
SortKeys MessageModel::keysOfEnds(bool requesters) const {
    const auto& connections = timeline().connections;
    const SortKeys ends = sortKeys(static_cast<Row>(2 * connections.size()), [&](Row end) {
        return text_cell(ofEnd(connections[end / 2].ends[end % 2]).toStdString());
    });
    SortKeys keys(sources());
    for (Row row = 0; row < sources(); ++row) {
        const auto found = std::ranges::lower_bound(connections, at(row).connection(), {}, &Connection::uid);
        if (found == connections.end() || found->uid != at(row).connection()) continue;
        const End end = requesters ? at(row).requester() : other(at(row).requester());
        keys[row] = ends[2 * static_cast<std::size_t>(found - connections.begin()) + static_cast<std::size_t>(end)];
    }
    return keys;
}

std::optional<TimeRange> MessageModel::life(Row row) const {
    const Message& message = reported(row, false).message;
    return TimeRange{message.first_time, std::max({message.first_time, message.last_time, message.answer_time})};
}

std::vector<Moment> MessageModel::moments(Row row) const {
    std::vector<Moment> all;
    const MessageRow& message = at(row);
    const bool refused = message.outcome() == Outcome::failed;
    if (message.retransmissions() != 0 || refused)
        all = troubles().of(message.connection(), message.requester(), *life(row));
    return all;
}

}  // namespace qps::gui
