// `connections`: a row each; with --match those that a line of a log may be about.
#include <transport-replay/instant.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <cstdio>
#include <set>

#include "analyzing.hpp"
#include "command.hpp"
#include "decoding.hpp"
#include "log_line.hpp"
#include "matching.hpp"
#include "sheet.hpp"
#include "tone.hpp"
#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

// A connection, and why a log line may be about it.
struct Row {
    const Connection& connection;
    bool gave_up = false;
    std::string reasons;
};

// Both ways together.
template <class Of>
std::uint64_t both(const Connection& connection, Of of) {
    return std::uint64_t{of(connection.ways[0])} + of(connection.ways[1]);
}
std::uint64_t timeouts(const Way& way) { return way.recovery(RecoveryKind::timeout).triggers; }
std::uint64_t lost_by_network(const Way& way) { return way.gaps.network + way.response_gaps.network; }
std::uint64_t lost_by_tap(const Way& way) { return way.gaps.tap + way.response_gaps.tap; }

std::uint32_t path_mtu(const Connection& connection) {
    const std::uint32_t seen = std::max(connection.ways[0].path_mtu, connection.ways[1].path_mtu);
    return seen != 0 ? seen : connection.cm_path_mtu.value_or(0);
}

// Whose requester sent again until its retries were used up: as the findings say, so that a table and a report agree.
std::set<ConnectionId> given_up(const transport::Timeline& timeline) {
    std::set<ConnectionId> uids;
    for (const Finding& finding : timeline.findings)
        if (finding.connection && (finding.id == "transport-retries-exceeded" || finding.id == "rnr-retries-exceeded"))
            uids.insert(*finding.connection);
    return uids;
}

std::string_view state(const Row& row) {
    const Connection& connection = row.connection;
    if (connection.failed) return "failed";
    if (row.gave_up) return "gave up";
    if (connection.released) return "released";
    return connection.one_way() && connection.reliable() ? "one way" : "open";
}

Cell qpn(const Endpoint& end) { return end.qpn ? number(*end.qpn) : Cell{}; }

// Counts of three kinds in one column, empty where all are 0: most rows are, and trouble then stands out.
std::string triple(std::uint64_t a, std::uint64_t b, std::uint64_t c) { return a + b + c == 0 ? "" : fmt::format("{}/{}/{}", a, b, c); }
std::string unless_zero(std::uint64_t count) { return count == 0 ? "" : grouped(count); }

using Column = SheetColumn<Row>;
constexpr std::array kColumns{
    Column{"uid", "#", Side::right, [](const Row& row) { return number(row.connection.uid); }},
    Column{"service", "svc", Side::left, [](const Row& row) -> Cell { return std::string(service_name(row.connection.service)); }},
    Column{"", "ends", Side::left, [](const Row& row) -> Cell { return ends_text(row.connection); }},
    Column{"a_address", "", Side::left, [](const Row& row) -> Cell { return text(row.connection.ends[0].address); }},
    Column{"a_qpn", "", Side::left, [](const Row& row) { return qpn(row.connection.ends[0]); }},
    Column{"b_address", "", Side::left, [](const Row& row) -> Cell { return text(row.connection.ends[1].address); }},
    Column{"b_qpn", "", Side::left, [](const Row& row) { return qpn(row.connection.ends[1]); }},
    Column{"confidence", "joined", Side::left,
           [](const Row& row) -> Cell { return std::string(kConfidenceNames[static_cast<std::size_t>(row.connection.confidence)]); }},
    Column{"packets", "packets", Side::right, [](const Row& row) { return number(row.connection.packets()); }},
    Column{"bytes", "", Side::right, [](const Row& row) { return number(row.connection.bytes()); }},
    Column{"", "bytes", Side::right, [](const Row& row) -> Cell { return bytes_text(row.connection.bytes()); }},
    Column{"messages", "msgs", Side::right,
           [](const Row& row) { return number(both(row.connection, [](const Way& way) { return way.all_messages(); })); }},
    Column{"retransmitted_packets", "", Side::right,
           [](const Row& row) { return number(both(row.connection, [](const Way& way) { return way.retransmitted; })); }},
    Column{"", "resent", Side::right,
           [](const Row& row) -> Cell { return unless_zero(both(row.connection, [](const Way& way) { return way.retransmitted; })); }},
    Column{"sequence_naks", "", Side::right,
           [](const Row& row) { return number(both(row.connection, [](const Way& way) { return way.sequence_naks; })); }},
    Column{"rnr_naks", "", Side::right,
           [](const Row& row) { return number(both(row.connection, [](const Way& way) { return way.rnr_naks; })); }},
    Column{"fatal_naks", "", Side::right,
           [](const Row& row) { return number(both(row.connection, [](const Way& way) { return way.fatal_naks; })); }},
    Column{"", "seq/rnr/fatal", Side::right,
           [](const Row& row) -> Cell {
               return triple(both(row.connection, [](const Way& way) { return way.sequence_naks; }),
                             both(row.connection, [](const Way& way) { return way.rnr_naks; }),
                             both(row.connection, [](const Way& way) { return way.fatal_naks; }));
           }},
    Column{"timeouts", "", Side::right, [](const Row& row) { return number(both(row.connection, timeouts)); }},
    Column{"", "timeouts", Side::right, [](const Row& row) -> Cell { return unless_zero(both(row.connection, timeouts)); }},
    Column{"lost_by_network", "", Side::right, [](const Row& row) { return number(both(row.connection, lost_by_network)); }},
    Column{"lost_by_tap", "", Side::right, [](const Row& row) { return number(both(row.connection, lost_by_tap)); }},
    Column{"", "lost net/tap", Side::right,
           [](const Row& row) -> Cell {
               const std::uint64_t network = both(row.connection, lost_by_network);
               const std::uint64_t tap = both(row.connection, lost_by_tap);
               return network + tap == 0 ? std::string() : fmt::format("{}/{}", network, tap);
           }},
    Column{"ce_marked", "", Side::right,
           [](const Row& row) { return number(both(row.connection, [](const Way& way) { return way.congestion_experienced; })); }},
    Column{"", "CE", Side::right,
           [](const Row& row) -> Cell {
               return unless_zero(both(row.connection, [](const Way& way) { return way.congestion_experienced; }));
           }},
    Column{"path_mtu_bytes", "MTU", Side::right,
           [](const Row& row) { return path_mtu(row.connection) == 0 ? Cell{} : number(path_mtu(row.connection)); }},
    Column{"first_frame", "", Side::right, [](const Row& row) { return number(row.connection.first_frame()); }},
    Column{"first_ns", "", Side::right, [](const Row& row) { return number(row.connection.first_time()); }},
    Column{"last_ns", "", Side::right, [](const Row& row) { return number(row.connection.last_time()); }},
    Column{"", "lasts", Side::right,
           [](const Row& row) -> Cell { return duration_text(elapsed(row.connection.first_time(), row.connection.last_time())); }},
    Column{"state", "state", Side::left, [](const Row& row) -> Cell { return std::string(state(row)); }},
    Column{"match", "", Side::left, [](const Row& row) { return row.reasons.empty() ? Cell{} : Cell{row.reasons}; }},
};

std::string_view tone_of(const Row& row, bool color) {
    if (!color) return {};
    if (row.connection.failed || row.gave_up) return kErrorTone;
    const auto trouble = [](const Way& way) { return way.retransmitted + way.sequence_naks + way.rnr_naks + way.fatal_naks; };
    return both(row.connection, trouble) != 0 ? kWarningTone : std::string_view{};
}

// Candidates, best first, with the reasons under each.
void show_candidates(const Options& options, const transport::Timeline& timeline, const LogLine& line, Sheet& sheet, bool color) {
    if (!options.quiet) fmt::print(stderr, "{}", explain(line));
    const auto over = given_up(timeline);
    for (const Candidate& candidate : candidates_for(line, timeline)) {
        if (!wanted(options, candidate.connection)) continue;
        const Row row{*timeline.find(candidate.connection), over.contains(candidate.connection), candidate.reasons};
        sheet.add(kColumns, row, tone_of(row, color));
        sheet.remark(fmt::format("   {}", candidate.reasons));
    }
    if (sheet.rows() == 0 && !options.quiet)
        fmt::print(stderr, "qpscope: no connection of the capture fits that line{}\n",
                   line.empty() ? ": it names no address, queue pair or error that is known" : "");
}

void show_all(const Options& options, const transport::Timeline& timeline, Sheet& sheet, bool color) {
    const auto over = given_up(timeline);
    for (const Connection& connection : timeline.connections) {
        if (!wanted(options, connection.uid)) continue;
        const Row row{connection, over.contains(connection.uid), {}};
        sheet.add(kColumns, row, tone_of(row, color));
    }
    if (timeline.connections.empty()) tell_none(options, "connections");
}

}  // namespace

ExitCode run_connections(const Options& options) {
    const auto filter = compile_filter(options);
    if (!filter) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    const Analyzed analyzed = analyze(options, *filter, output, {});
    if (analyzed.any) {
        const bool color = options.format == OutputFormat::table && wants_color(options, output);
        Sheet sheet(options, output, "connections", kColumns);
        if (options.log_line.empty()) show_all(options, analyzed.timeline, sheet, color);
        else show_candidates(options, analyzed.timeline, read_log_line(options.log_line), sheet, color);
        sheet.end();
    }
    return finish(options, analyzed, output);
}

}  // namespace qps::cli
