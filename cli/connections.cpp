// `connections`: a row each; with --match those that a line of a log may be about.
#include <cli/analyzing.hpp>
#include <cli/command.hpp>
#include <cli/decoding.hpp>
#include <cli/latencies.hpp>
#include <cli/message.hpp>
#include <cli/sheet.hpp>
#include <transport-replay/logs/log_candidates.hpp>
#include <transport-replay/logs/log_line.hpp>
#include <transport-replay/logs/log_time.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/cm.hpp>
#include <transport-replay/report/connection_times.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/series/host_matrix.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::cli {

using namespace transport;

namespace {

using Columns = std::span<const TableColumn<ConnectionRow>>;

Columns shown_columns(const Options& options) {
    if (options.format != OutputFormat::table) return connection_columns();
    return connection_columns(options.performance ? ConnectionColumns::performance : ConnectionColumns::brief);
}

// By heading or name, whatever its case; nullptr: there is none.
const TableColumn<ConnectionRow>* column_called(std::string_view name) {
    const auto same = [](std::string_view a, std::string_view b) {
        return std::ranges::equal(
            a, b, {}, [](unsigned char c) { return std::tolower(c); }, [](unsigned char c) { return std::tolower(c); });
    };
    for (const auto& column : connection_columns())
        if (same(column.name, name) || same(column.heading, name)) return &column;
    return nullptr;
}

bool may_sort(const Options& options) {
    if (options.sort.empty() || column_called(options.sort) != nullptr) return true;
    std::vector<std::string_view> headings;
    for (const auto& column : connection_columns())
        if (!column.heading.empty()) headings.push_back(column.heading);
    say("qpscope: --sort: no column '{}': expected one of {}\n", options.sort, fmt::join(headings, ", "));
    return false;
}

ConnectionRow row_of(const Connection& connection, const transport::Timeline& timeline,
                     const std::set<ConnectionId>& over, const ConnectionTimes& times, std::string match = {}) {
    return {connection,
            over.contains(connection.uid),
            std::move(match),
            timeline.ulp.find(connection.uid),
            times.find(connection.uid),
            &timeline.congestion};
}

// When the line was written, if it says so.
std::optional<LineMoment> moment_of_line(const Options& options, const transport::Timeline& timeline) {
    const auto time = read_log_time(options.log_line, timeline.first.value_or(dissect::Instant{}));
    if (!time) return std::nullopt;
    const auto moment = moment_of(*time, timeline);
    if (options.quiet) return moment;
    if (moment) say("qpscope: recognised time: {}\n", text(*moment, timeline));
    else if (time->clock == LogClock::boot) say("qpscope: time since boot: not used\n");
    else say("qpscope: time: more than an hour from this capture, not used\n");
    return moment;
}

using Attempts = std::vector<AttemptCandidate>;
const CmAttempt& attempt_of(const AttemptCandidate& candidate, const transport::Timeline& timeline) {
    return *std::ranges::find(timeline.cm.attempts, candidate.attempt, &CmAttempt::uid);
}

bool is_json(const Options& options) {
    return options.format == OutputFormat::json || options.format == OutputFormat::ndjson;
}

// Attempts have no row among connections: in a table a line each before them; JSON has a list of them, of other formats
// they are said.
void show_attempts(const Options& options, const transport::Timeline& timeline, const Attempts& attempts,
                   Output& output) {
    if (is_json(options)) return;
    for (const AttemptCandidate& candidate : attempts) {
        const CmAttempt& attempt = attempt_of(candidate, timeline);
        const std::string shown =
            fmt::format("{}, frames {} to {}: {}", title_text(attempt), std::to_underlying(attempt.first_frame),
                        std::to_underlying(attempt.last_frame), candidate.reasons);
        if (options.format == OutputFormat::table) output.write(shown + "\n");
        else say("qpscope: {}\n", shown);
    }
}

struct AttemptRow {
    const CmAttempt& attempt;
    const std::string& match;
};
using AttemptColumn = TableColumn<AttemptRow>;
constexpr std::array kAttemptColumns{
    AttemptColumn{"attempt", "", Side::right, [](const AttemptRow& row) { return number(row.attempt.uid); }},
    AttemptColumn{"outcome", "", Side::left,
                  [](const AttemptRow& row) { return text_cell(name(row.attempt.outcome)); }},
    AttemptColumn{
        "reject_reason", "", Side::right,
        [](const AttemptRow& row) { return row.attempt.rejection ? number(row.attempt.rejection->reason) : Cell{}; }},
    AttemptColumn{"active_address", "", Side::left,
                  [](const AttemptRow& row) { return text_cell(text(row.attempt.active.address)); }},
    AttemptColumn{"passive_address", "", Side::left,
                  [](const AttemptRow& row) { return text_cell(text(row.attempt.passive.address)); }},
    AttemptColumn{"service", "", Side::left,
                  [](const AttemptRow& row) { return text_cell(service_text(row.attempt)); }},
    AttemptColumn{"first_frame", "", Side::right,
                  [](const AttemptRow& row) { return number(std::to_underlying(row.attempt.first_frame)); }},
    AttemptColumn{"last_frame", "", Side::right,
                  [](const AttemptRow& row) { return number(std::to_underlying(row.attempt.last_frame)); }},
    AttemptColumn{"match", "", Side::left, [](const AttemptRow& row) { return text_cell(row.match); }},
};

void list_attempts(const transport::Timeline& timeline, const Attempts& attempts, Sheet& sheet) {
    std::vector<SheetHead> heads;
    for (const AttemptColumn& column : kAttemptColumns) heads.push_back({column.name, column.heading, column.side});
    sheet.begin_list("attempts", std::move(heads));
    const std::span<const AttemptColumn> columns(kAttemptColumns);
    for (const AttemptCandidate& candidate : attempts)
        sheet.add(columns, AttemptRow{attempt_of(candidate, timeline), candidate.reasons});
}

// Candidates, best first, with the reasons under each; how many.
std::size_t show_candidates(const Options& options, const transport::Timeline& timeline, const ConnectionTimes& times,
                            const LogLine& line, Sheet& sheet, Output& output) {
    if (!options.quiet)
        for (const std::string& each : recognised(line)) say("qpscope: recognised {}\n", each);
    const auto moment = moment_of_line(options, timeline);
    const Attempts attempts = options.connections.empty() ? attempt_candidates_for(line, timeline, moment) : Attempts{};
    show_attempts(options, timeline, attempts, output);
    const auto over = given_up(timeline);
    for (const Candidate& candidate : candidates_for(line, timeline, moment)) {
        if (!wanted(options, candidate.connection)) continue;
        const ConnectionRow row =
            row_of(*timeline.find(candidate.connection), timeline, over, times, candidate.reasons);
        sheet.add(shown_columns(options), row, tone_of(row));
        sheet.remark(fmt::format("   {}", candidate.reasons));
    }
    const std::size_t shown = sheet.rows() + attempts.size();
    if (is_json(options)) list_attempts(timeline, attempts, sheet);
    if (shown == 0 && !options.quiet)
        say("qpscope: no connection matches that line{}\n",
            line.empty() ? ": no address, queue pair or error found in it" : "");
    return shown;
}

void show_all(const Options& options, const transport::Timeline& timeline, const ConnectionTimes& times, Sheet& sheet) {
    const auto over = given_up(timeline);
    std::vector<const Connection*> shown;
    for (const Connection& connection : timeline.connections)
        if (wanted(options, connection.uid)) shown.push_back(&connection);
    if (const auto* column = options.sort.empty() ? nullptr : column_called(options.sort)) {
        std::vector<std::pair<Cell, const Connection*>> keyed;
        for (const Connection* each : shown)
            keyed.emplace_back(column->value(row_of(*each, timeline, over, times)), each);
        std::ranges::stable_sort(keyed, std::greater{}, &std::pair<Cell, const Connection*>::first);
        std::ranges::transform(keyed, shown.begin(), &std::pair<Cell, const Connection*>::second);
    }
    for (const Connection* each : shown) {
        const ConnectionRow row = row_of(*each, timeline, over, times);
        sheet.add(shown_columns(options), row, tone_of(row));
    }
    if (timeline.connections.empty()) report_none(options, "connections");
}

// Adds up the connections of two hosts, each direction by itself.
struct HostRow {
    const series::HostMatrix& matrix;
    const series::HostPair& pair;
};

using HostColumn = TableColumn<HostRow>;
constexpr std::array kHostColumns{
    HostColumn{"from", "from", Side::left,
               [](const HostRow& row) { return text_cell(text(row.matrix.hosts()[row.pair.from])); }},
    HostColumn{"to", "to", Side::left,
               [](const HostRow& row) { return text_cell(text(row.matrix.hosts()[row.pair.to])); }},
    HostColumn{"connections", "connections", Side::right,
               [](const HostRow& row) { return number(row.pair.connections); }},
    HostColumn{"bytes", "bytes", Side::right, [](const HostRow& row) { return number(row.pair.bytes); }},
    HostColumn{"lost_packets", "lost", Side::right, [](const HostRow& row) { return number(row.pair.lost); }},
    HostColumn{"stalled_ns", "stalled", Side::right, [](const HostRow& row) { return number(row.pair.stalled); },
               [](const HostRow& row) {
                   return row.pair.stalled == dissect::Duration{} ? std::string() : duration_text(row.pair.stalled);
               }},
    HostColumn{"latency_p99_ns", "p99", Side::right,
               [](const HostRow& row) { return row.pair.p99 == dissect::Duration{} ? Cell{} : number(row.pair.p99); },
               [](const HostRow& row) {
                   return row.pair.p99 == dissect::Duration{} ? std::string() : duration_text(row.pair.p99);
               }},
};

// The busiest first.
void show_hosts(const Options& options, const transport::Timeline& timeline, const ConnectionTimes& times,
                Output& output) {
    const series::HostMatrix matrix(timeline, times);
    std::vector<const series::HostPair*> pairs;
    for (const series::HostPair& pair : matrix.pairs()) pairs.push_back(&pair);
    std::ranges::stable_sort(pairs, std::greater{}, &series::HostPair::bytes);
    const std::span<const HostColumn> columns(kHostColumns);
    Sheet sheet(options, output, "host_pairs", columns);
    for (const series::HostPair* pair : pairs) sheet.add(columns, HostRow{matrix, *pair});
    sheet.end();
    if (pairs.empty()) report_none(options, "connections");
    if (matrix.left_out() != 0 && !options.quiet)
        say("qpscope: {} left out: those with fewest bytes\n", counted(matrix.left_out(), "host"));
}

}  // namespace

ExitCode run_connections(const Options& options) {
    const auto filter = compile_filter(options, FilterSets::taken);
    if (!filter || !may_sort(options)) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    ConnectionTimes times(options.memory);
    const auto message = [&](ConnectionId connection, End requester, const Message& ended) {
        if (ended.answer_frame != dissect::FrameIndex{})
            times.add(connection, requester, ended.outcome, ended.first_time, ended.answer_time);
    };
    const Analyzed analyzed = analyze(leave_room_for_latencies(options), *filter, output,
                                      {.message = message, .again = [&] { times = ConnectionTimes(options.memory); }});
    say_unknown_latencies(options, times);
    bool matched = true;
    if (analyzed.any && options.by_host) {
        show_hosts(options, analyzed.timeline, times, output);
    } else if (analyzed.any) {
        Sheet sheet(options, output, "connections", shown_columns(options));
        if (options.log_line.empty()) show_all(options, analyzed.timeline, times, sheet);
        else
            matched =
                show_candidates(options, analyzed.timeline, times, read_log_line(options.log_line), sheet, output) != 0;
        sheet.end();
    }
    const ExitCode code = finish(options, analyzed, output);
    return matched ? code : worse(code, ExitCode::findings);
}

}  // namespace qps::cli
