// `connections`: a row each; with --match those that a line of a log may be about.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/latencies.hpp>
#include <cli/message.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/sheet.hpp>
#include <transport-replay/logs/log_candidates.hpp>
#include <transport-replay/logs/log_line.hpp>
#include <transport-replay/logs/log_time.hpp>
#include <transport-replay/model/numbering.hpp>
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

struct ConnectionsOptions {
    ListingOptions listing;
    std::string log_line;      // candidates for what it complains of
    std::string sort;          // by the values of that column, the largest first
    bool performance = false;  // latencies, goodput, stalls and congestion in the table
    bool by_host = false;      // summed up by pairs of hosts

    void add(OptionTable& table) {
        listing.begin(table);
        table
            .add("--match", "LINE", log_line,
                 "List connections that this log line (NCCL, UCX, verbs, kernel) may be about, best match first")
            .checked(
                [](const std::string& text) { return text.empty() ? std::string("missing log line") : std::string(); });
        table.under(headings::kOutput);
        table.add("--sort", "COLUMN", sort, "Sort by this column of the table, or of TSV, largest first");
        table.flag("--performance", performance,
                   "Show latency, goodput, depth, stalls and congestion of each connection in the table");
        table.flag("--by-host", by_host, "Sum up connections by the two hosts: who sent how much to whom")
            .not_with("--match --sort --performance");
        listing.known(table);
        listing.output.add_format(table);
        listing.end(table);
    }
};

using Columns = std::span<const TableColumn<ConnectionRow>>;

Columns shown_columns(const ConnectionsOptions& options) {
    if (options.listing.output.format != OutputFormat::table) return connection_columns();
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

bool may_sort(const std::string& name) {
    if (name.empty() || column_called(name) != nullptr) return true;
    std::vector<std::string_view> headings;
    for (const auto& column : connection_columns())
        if (!column.heading.empty()) headings.push_back(column.heading);
    say("qpscope: --sort: no column '{}': expected one of {}\n", name, fmt::join(headings, ", "));
    return false;
}

// What was told by the numbers that connections were given, for who asks by those of the end.
class TimesAtEnd {
public:
    TimesAtEnd(const ConnectionTimes& times, const transport::Timeline& timeline)
        : times_(times),
          given_(given_numbers(timeline.numbers,
                               timeline.connections.empty() ? ConnectionId{} : timeline.connections.back().uid)) {}
    [[nodiscard]] const std::array<WayTimes, 2>* find(ConnectionId connection) const {
        return times_.find(given_[std::to_underlying(connection)]);
    }

private:
    const ConnectionTimes& times_;
    std::vector<ConnectionId> given_;
};

ConnectionRow row_of(const Connection& connection, const transport::Timeline& timeline,
                     const std::set<ConnectionId>& over, const TimesAtEnd& times, std::string match = {}) {
    return {connection,
            over.contains(connection.uid),
            std::move(match),
            timeline.ulp.find(connection.uid),
            times.find(connection.uid),
            &timeline.congestion};
}

// When the line was written, if it says so.
std::optional<LineMoment> moment_of_line(const std::string& line, const transport::Timeline& timeline) {
    const auto time = read_log_time(line, timeline.first.value_or(dissect::Instant{}));
    if (!time) return std::nullopt;
    const auto moment = moment_of(*time, timeline);
    if (moment) remark("qpscope: recognised time: {}\n", text(*moment, timeline));
    else if (time->clock == LogClock::boot) remark("qpscope: time since boot: not used\n");
    else remark("qpscope: time: more than an hour from this capture, not used\n");
    return moment;
}

using Attempts = std::vector<AttemptCandidate>;
const CmAttempt& attempt_of(const AttemptCandidate& candidate, const transport::Timeline& timeline) {
    return *std::ranges::find(timeline.cm.attempts, candidate.attempt, &CmAttempt::uid);
}

bool is_json(OutputFormat format) { return format == OutputFormat::json || format == OutputFormat::ndjson; }

// Attempts have no row among connections: in a table a line each before them; JSON has a list of them, of other formats
// they are said.
void show_attempts(OutputFormat format, const transport::Timeline& timeline, const Attempts& attempts, Output& output) {
    if (is_json(format)) return;
    for (const AttemptCandidate& candidate : attempts) {
        const CmAttempt& attempt = attempt_of(candidate, timeline);
        const std::string shown =
            fmt::format("{}, frames {} to {}: {}", title_text(attempt), std::to_underlying(attempt.first_frame),
                        std::to_underlying(attempt.last_frame), candidate.reasons);
        if (format == OutputFormat::table) output.write(shown + "\n");
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
std::size_t show_candidates(const ConnectionsOptions& options, const transport::Timeline& timeline,
                            const TimesAtEnd& times, const LogLine& line, Sheet& sheet, Output& output) {
    for (const std::string& each : recognised(line)) remark("qpscope: recognised {}\n", each);
    const OutputFormat format = options.listing.output.format;
    const AnalysisOptions& analysis = options.listing.reading.analysis;
    const auto moment = moment_of_line(options.log_line, timeline);
    const Attempts attempts =
        analysis.connections.empty() ? attempt_candidates_for(line, timeline, moment) : Attempts{};
    show_attempts(format, timeline, attempts, output);
    const auto over = given_up(timeline);
    for (const Candidate& candidate : candidates_for(line, timeline, moment)) {
        if (!wanted(analysis, candidate.connection)) continue;
        const ConnectionRow row =
            row_of(*timeline.find(candidate.connection), timeline, over, times, candidate.reasons);
        sheet.add(shown_columns(options), row, tone_of(row));
        sheet.remark(fmt::format("   {}", candidate.reasons));
    }
    const std::size_t shown = sheet.rows() + attempts.size();
    if (is_json(format)) list_attempts(timeline, attempts, sheet);
    if (shown == 0)
        remark("qpscope: no connection matches that line{}\n",
               line.empty() ? ": no address, queue pair or error found in it" : "");
    return shown;
}

void show_all(const ConnectionsOptions& options, const transport::Timeline& timeline, const TimesAtEnd& times,
              Sheet& sheet) {
    const auto over = given_up(timeline);
    std::vector<const Connection*> shown;
    for (const Connection& connection : timeline.connections)
        if (wanted(options.listing.reading.analysis, connection.uid)) shown.push_back(&connection);
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
    if (timeline.connections.empty()) report_none(options.listing.output.format, "connections");
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
void show_hosts(const OutputOptions& options, const transport::Timeline& timeline, const ConnectionTimes& times,
                Output& output) {
    const series::HostMatrix matrix(timeline, times);
    std::vector<const series::HostPair*> pairs;
    for (const series::HostPair& pair : matrix.pairs()) pairs.push_back(&pair);
    std::ranges::stable_sort(pairs, std::greater{}, &series::HostPair::bytes);
    const std::span<const HostColumn> columns(kHostColumns);
    Sheet sheet(options, output, "host_pairs", columns);
    for (const series::HostPair* pair : pairs) sheet.add(columns, HostRow{matrix, *pair});
    sheet.end();
    if (pairs.empty()) report_none(options.format, "connections");
    if (matrix.left_out() != 0)
        remark("qpscope: {} left out: those with fewest bytes\n", counted(matrix.left_out(), "host"));
}

ExitCode run_connections(const ConnectionsOptions& options) {
    const auto& [reading, shown] = options.listing;
    const auto filter = compile_filter(reading.filter, FilterSets::taken);
    if (!filter || !may_sort(options.sort)) return ExitCode::usage;
    Output output(shown.path, reading.input.files);
    if (!output.ok()) return finish(output);
    const MemoryBudget& memory = reading.analysis.memory;
    ConnectionTimes times(memory);
    const auto message = [&](ConnectionId connection, End requester, const Message& ended) {
        if (ended.answer_frame != dissect::FrameIndex{})
            times.add(connection, requester, ended.outcome, ended.first_time, ended.answer_time);
    };
    // Hosts take times by the numbers of the end: of a pipe they are those that were given, of files that have others
    // the messages are told again.
    const bool twice = can_be_read_twice(reading.input);
    const ReadingOptions beside = leave_room_for_latencies(reading);
    const Analyzed analyzed = analyze(
        beside, *filter, output, {.message = message, .names_connections = options.by_host && !twice, .again = [&] {
                                      times = ConnectionTimes(memory);
                                  }});
    if (options.by_host && twice && analyzed.timeline.numbers.any()) {
        times = ConnectionTimes(memory);
        static_cast<void>(analyze_again(beside, *filter, output, {.message = message}, analyzed));
    }
    say_unknown_latencies(times);
    bool matched = true;
    if (analyzed.any && options.by_host) {
        show_hosts(shown, analyzed.timeline, times, output);
    } else if (analyzed.any) {
        Sheet sheet(shown, output, "connections", shown_columns(options));
        const TimesAtEnd at_end(times, analyzed.timeline);
        if (options.log_line.empty()) show_all(options, analyzed.timeline, at_end, sheet);
        else
            matched = show_candidates(options, analyzed.timeline, at_end, read_log_line(options.log_line), sheet,
                                      output) != 0;
        sheet.end();
    }
    const ExitCode seen = analyzed.any ? say_nothing_seen(reading, analyzed.timeline) : ExitCode::done;
    const ExitCode code = worse(seen, finish(reading.analysis, analyzed, output));
    return matched ? code : worse(code, ExitCode::findings);
}

}  // namespace

const Command kConnectionsCommand{
    "connections", kAnalyse,
    "List connections; --performance tells which are slow, --match those that a log line is about",
    "  qpscope connections trace.pcap\n"
    "  qpscope connections --performance --sort p99 trace.pcap    # the slowest first\n"
    "  qpscope connections --by-host trace.pcap                   # who sent how much to whom\n"
    "  qpscope connections --match 'Got completion from peer 10.1.2.3<34543> with status=12 vendor err 129' trace.pcap",
    prepared<ConnectionsOptions, run_connections>};

}  // namespace qps::cli
