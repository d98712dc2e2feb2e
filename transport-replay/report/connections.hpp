// Connections as rows.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/report/connection_times.hpp>
#include <transport-replay/report/table.hpp>

#include <set>
#include <span>

namespace qps::transport {

struct Timeline;
struct UlpConversation;
struct CongestionReport;

struct ConnectionRow {
    const Connection& connection;
    bool gave_up = false;                            // given_up() has it
    std::string match{};                             // why a line of a log may be about it
    const UlpConversation* ulp = nullptr;            // what it was used for, where that is known
    const std::array<WayTimes, 2>* times = nullptr;  // of its messages, where any ended
    const CongestionReport* congestion = nullptr;    // has what its rates follow
};

// all: for programs, and for people whose table scrolls. A terminal has room for what a connection is and what went
// wrong (brief), or for how quick it is and what slows it down (performance).
enum class ConnectionColumns : std::uint8_t { all, brief, performance };
[[nodiscard]] std::span<const TableColumn<ConnectionRow>> connection_columns(
    ConnectionColumns which = ConnectionColumns::all);

// Connections whose requester used up its retries: as the findings say, so that a table and a report agree.
[[nodiscard]] std::set<ConnectionId> given_up(const Timeline& timeline);

// "failed", "gave up", "released", "one way", "open".
[[nodiscard]] std::string_view state_of(const ConnectionRow& row);
[[nodiscard]] Tone tone_of(const ConnectionRow& row);

// Whether one of `connections` is meant: any of them where none is named.
[[nodiscard]] bool is_wanted(std::span<const ConnectionId> connections, std::optional<ConnectionId> connection);

// Bytes: as its packets show it, else as CM agreed on it; 0: neither tells.
[[nodiscard]] std::uint32_t path_mtu(const Connection& connection);

// Both ways together.
template <class Of> [[nodiscard]] std::uint64_t both(const Connection& connection, Of of) {
    return std::uint64_t{of(connection.ways[0])} + of(connection.ways[1]);
}

}  // namespace qps::transport
