// Connections as rows.
#include <transport-replay/instant.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/upper.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport {

namespace {

using Row = ConnectionRow;

std::uint64_t messages(const Way& way) { return way.all_messages(); }
std::uint64_t resent(const Way& way) { return way.retransmitted; }
std::uint64_t sequence_naks(const Way& way) { return way.sequence_naks; }
std::uint64_t rnr_naks(const Way& way) { return way.rnr_naks; }
std::uint64_t fatal_naks(const Way& way) { return way.fatal_naks; }
std::uint64_t timeouts(const Way& way) { return way.recovery(RecoveryKind::timeout).triggers; }
std::uint64_t lost_by_network(const Way& way) { return way.gaps.network + way.response_gaps.network; }
std::uint64_t lost_by_tap(const Way& way) { return way.gaps.tap + way.response_gaps.tap; }
std::uint64_t lost(const Way& way) { return lost_by_network(way) + lost_by_tap(way); }
std::uint64_t marked(const Way& way) { return way.congestion_experienced; }
std::uint64_t refusals(const Way& way) { return way.sequence_naks + way.rnr_naks + way.fatal_naks; }

template <std::uint64_t Of(const Way&)>
Cell sum(const Row& row) {
    return number(both(row.connection, Of));
}
// For people: most rows have none, and trouble then stands out.
template <std::uint64_t Of(const Way&)>
std::string sum_unless_zero(const Row& row) {
    const std::uint64_t count = both(row.connection, Of);
    return count == 0 ? "" : grouped(count);
}

std::string refusals_text(const Row& row) {
    if (both(row.connection, refusals) == 0) return {};
    return fmt::format("{}/{}/{}", both(row.connection, sequence_naks), both(row.connection, rnr_naks), both(row.connection, fatal_naks));
}
std::string lost_text(const Row& row) {
    if (both(row.connection, lost) == 0) return {};
    return fmt::format("{}/{}", both(row.connection, lost_by_network), both(row.connection, lost_by_tap));
}

dissect::Duration length_of(const Row& row) { return elapsed(row.connection.first_time(), row.connection.last_time()); }
std::string_view confidence(const Row& row) { return kConfidenceNames[static_cast<std::size_t>(row.connection.confidence)]; }

Cell protocol(const Row& row) { return row.upper == nullptr ? Cell{} : text_cell(info(row.upper->protocol).word); }
std::string protocol_text(const Row& row) { return row.upper == nullptr ? std::string() : spoken_text(*row.upper); }

using Column = TableColumn<Row>;
constexpr std::array kColumns{
    Column{"uid", "#", Side::right, [](const Row& row) { return number(row.connection.uid); }},
    Column{"service", "svc", Side::left, [](const Row& row) { return text_cell(service_name(row.connection.service)); }},
    Column{"", "ends", Side::left, [](const Row& row) { return text_cell(ends_text(row.connection)); }},
    Column{"a_address", "", Side::left, [](const Row& row) { return text_cell(text(row.connection.ends[0].address)); }},
    Column{"a_qpn", "", Side::left, [](const Row& row) { return number(row.connection.ends[0].qpn); }},
    Column{"b_address", "", Side::left, [](const Row& row) { return text_cell(text(row.connection.ends[1].address)); }},
    Column{"b_qpn", "", Side::left, [](const Row& row) { return number(row.connection.ends[1].qpn); }},
    Column{"confidence", "", Side::left, [](const Row& row) { return text_cell(confidence(row)); }},
    Column{"", "joined", Side::left, [](const Row& row) { return number(row.connection.confidence); },
           [](const Row& row) { return std::string(confidence(row)); }},
    Column{"protocol", "protocol", Side::left, protocol, protocol_text},
    Column{"protocol_basis", "", Side::left,
           [](const Row& row) {
               return row.upper == nullptr ? Cell{} : text_cell(kUpperBasisNames[static_cast<std::size_t>(row.upper->basis)]);
           }},
    Column{"protocol_certainty_percent", "", Side::right,
           [](const Row& row) { return row.upper == nullptr ? Cell{} : number(row.upper->certainty); }},
    Column{"packets", "packets", Side::right, [](const Row& row) { return number(row.connection.packets()); }},
    Column{"bytes", "bytes", Side::right, [](const Row& row) { return number(row.connection.bytes()); },
           [](const Row& row) { return bytes_text(row.connection.bytes()); }},
    Column{"messages", "msgs", Side::right, sum<messages>},
    Column{"retransmitted_packets", "resent", Side::right, sum<resent>, sum_unless_zero<resent>},
    Column{"sequence_naks", "", Side::right, sum<sequence_naks>},
    Column{"rnr_naks", "", Side::right, sum<rnr_naks>},
    Column{"fatal_naks", "", Side::right, sum<fatal_naks>},
    Column{"", "seq/rnr/fatal", Side::right, sum<refusals>, refusals_text},
    Column{"timeouts", "timeouts", Side::right, sum<timeouts>, sum_unless_zero<timeouts>},
    Column{"lost_by_network", "", Side::right, sum<lost_by_network>},
    Column{"lost_by_tap", "", Side::right, sum<lost_by_tap>},
    Column{"", "lost net/tap", Side::right, sum<lost>, lost_text},
    Column{"ce_marked", "CE", Side::right, sum<marked>, sum_unless_zero<marked>},
    Column{"path_mtu_bytes", "MTU", Side::right,
           [](const Row& row) { return path_mtu(row.connection) == 0 ? Cell{} : number(path_mtu(row.connection)); }},
    Column{"first_frame", "", Side::right, [](const Row& row) { return number(row.connection.first_frame()); }},
    Column{"first_ns", "", Side::right, [](const Row& row) { return number(row.connection.first_time()); }},
    Column{"last_ns", "", Side::right, [](const Row& row) { return number(row.connection.last_time()); }},
    Column{"", "lasts", Side::right, [](const Row& row) { return number(length_of(row)); },
           [](const Row& row) { return duration_text(length_of(row)); }},
    Column{"state", "state", Side::left, [](const Row& row) { return text_cell(state_of(row)); }},
    Column{"match", "", Side::left, [](const Row& row) { return row.match.empty() ? Cell{} : text_cell(row.match); }},
};

}  // namespace

std::span<const TableColumn<ConnectionRow>> connection_columns() { return kColumns; }

std::set<ConnectionId> given_up(const Timeline& timeline) {
    std::set<ConnectionId> uids;
    for (const Finding& finding : timeline.findings)
        if (finding.connection && (finding.id == "transport-retries-exceeded" || finding.id == "rnr-retries-exceeded"))
            uids.insert(*finding.connection);
    return uids;
}

std::string_view state_of(const ConnectionRow& row) {
    const Connection& connection = row.connection;
    if (connection.failed) return "failed";
    if (row.gave_up) return "gave up";
    if (connection.released) return "released";
    return connection.one_way() && connection.reliable() ? "one way" : "open";
}

Tone tone_of(const ConnectionRow& row) {
    if (row.connection.failed || row.gave_up) return Tone::error;
    return both(row.connection, resent) + both(row.connection, refusals) != 0 ? Tone::warning : Tone::plain;
}

bool is_wanted(std::span<const ConnectionId> connections, std::optional<ConnectionId> connection) {
    return connections.empty() || (connection && std::ranges::find(connections, *connection) != connections.end());
}

std::uint32_t path_mtu(const Connection& connection) {
    const std::uint32_t seen = std::max(connection.ways[0].path_mtu, connection.ways[1].path_mtu);
    return seen != 0 ? seen : connection.cm_path_mtu.value_or(0);
}

}  // namespace qps::transport
