// `export`: what the analysis found as tables for a database or a data frame: connections, messages, operations,
// findings, counters per interval, and packets where they are asked for.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/export_schema.hpp>
#include <cli/export_sinks.hpp>
#include <cli/intervals.hpp>
#include <cli/latencies.hpp>
#include <cli/message.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/quantity.hpp>
#include <dissect/capture/saved_capture.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/connection_times.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/findings.hpp>
#include <transport-replay/report/known_ends.hpp>
#include <transport-replay/report/messages.hpp>
#include <transport-replay/report/operations.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

struct ExportedPacket {
    const Observation& observation;
    const PacketRecord& record;
};

constexpr bool is_transport(const ExportedPacket& row) { return row.observation.kind == ObservationKind::transport; }
Cell address_cell(const Address& address) { return address == Address{} ? Cell{} : text_cell(text(address)); }

using PacketColumn = TableColumn<ExportedPacket>;
constexpr std::array kExportedColumns{
    PacketColumn{"frame", "", Side::right, [](const ExportedPacket& row) { return number(row.observation.frame); }},
    PacketColumn{
        "time_ns", "", Side::right,
        [](const ExportedPacket& row) { return row.observation.has_time ? number(row.observation.time) : Cell{}; }},
    PacketColumn{"connection", "", Side::right,
                 [](const ExportedPacket& row) { return number(row.record.connection); }},
    PacketColumn{"from_end", "", Side::left,
                 [](const ExportedPacket& row) {
                     return row.record.connection ? text_cell(row.record.from == End::a ? "a" : "b") : Cell{};
                 }},
    PacketColumn{"source", "", Side::left,
                 [](const ExportedPacket& row) { return address_cell(row.observation.flow.source); }},
    PacketColumn{"destination", "", Side::left,
                 [](const ExportedPacket& row) { return address_cell(row.observation.flow.destination); }},
    PacketColumn{"opcode", "", Side::left,
                 [](const ExportedPacket& row) {
                     return is_transport(row) ? text_cell(info(row.observation.opcode).name()) : Cell{};
                 }},
    PacketColumn{"destination_qpn", "", Side::right,
                 [](const ExportedPacket& row) {
                     return is_transport(row) ? number(row.observation.flow.destination_qp) : Cell{};
                 }},
    PacketColumn{
        "psn", "", Side::right,
        [](const ExportedPacket& row) { return is_transport(row) ? number(row.observation.psn.value()) : Cell{}; }},
    PacketColumn{"bytes", "", Side::right,
                 [](const ExportedPacket& row) { return number(row.observation.wire_length); }},
    PacketColumn{"payload_bytes", "", Side::right,
                 [](const ExportedPacket& row) { return number(row.observation.payload_length); }},
    PacketColumn{"retransmission", "", Side::right,
                 [](const ExportedPacket& row) -> Cell { return row.record.retransmission; }},
    PacketColumn{"missing", "", Side::right, [](const ExportedPacket& row) { return number(row.record.missing); }},
    PacketColumn{"corrupt", "", Side::right, [](const ExportedPacket& row) -> Cell { return row.record.corrupt; }},
    PacketColumn{"copy", "", Side::right, [](const ExportedPacket& row) -> Cell { return row.record.mirror_copy; }},
    PacketColumn{"ce", "", Side::right,
                 [](const ExportedPacket& row) -> Cell { return row.observation.congestion_experienced; }},
};

// The cells of a table, by the names of its columns: what the columns of a report have no value for is to be filled in.
template <class Row>
std::vector<Cell> cells_of(const SchemaTable& table, std::span<const TableColumn<Row>> columns, const Row& row) {
    std::vector<Cell> cells;
    for (const SchemaColumn& wanted : table.columns) {
        const auto column = std::ranges::find(columns, wanted.name, &TableColumn<Row>::name);
        cells.push_back(column == columns.end() ? Cell{} : column->value(row));
    }
    return cells;
}

struct ExportOptions {
    ListingOptions listing;
    std::optional<Duration> interval;  // of counters
    std::string sqlite;                // path of the database
    bool packets = false;              // a row each
    bool schema = false;               // what the tables are, instead of them

    void add(OptionTable& table) {
        listing.begin(table, [this] { return !schema; });
        table.under(headings::kOutput)
            .add("--interval", "TIME",
                 into(interval, [](const std::string& text) { return read_time(text, "interval"); }),
                 "Use intervals of this length: 100us, 1s, ... (default: 1ms)");
        listing.reading.analysis.add_knowledge(table);
        listing.known(table);
        listing.output.add_format(table, "Write files of this format, one a table: json, ndjson, csv or tsv");
        table.add("--sqlite", "FILE", sqlite, "Write an SQLite database to FILE, replacing what is there")
            .is(PathUse::written)
            .not_with("--format");
        table.flag("--packets", packets, "Add a row for each packet");
        table.flag("--schema", schema, "Print the tables and columns with their meaning; needs no capture")
            .not_with("files --interface");
        table
            .add("-o,--output", "FOLDER", listing.output.path,
                 "With -f: write the files into FOLDER, which is made where there is none")
            .is(PathUse::folder_written);
        listing.reading.input.add_sandbox(table);
    }
};

class Export {
public:
    Export(const ExportOptions& options, TableSink& sink)
        : options_(options),
          sink_(sink),
          interval_(options.interval.value_or(Duration{1'000'000})),
          times_(options.listing.reading.analysis.memory) {}  // 1 ms

    void packet(const Observation& observation, const PacketRecord& record) {
        if (!start_ && observation.has_time) start_ = observation.time;
        ends_.learn(observation, record);
        if (!wanted(analysis(), record.connection)) return;
        count(observation, record);
        if (options_.packets) add<ExportedPacket>("packets", kExportedColumns, {observation, record});
    }
    void message(ConnectionId connection, End requester, const Message& message) {
        ++messages_;
        if (message.answer_frame != FrameIndex{})
            times_.add(connection, requester, message.outcome, message.first_time, message.answer_time);
        if (!wanted(analysis(), connection)) return;
        add<ReportedMessage>("messages", message_columns(),
                             {connection,
                              requester,
                              ends_.end(connection, requester),
                              ends_.end(connection, other(requester)),
                              message,
                              {},
                              messages_});
    }
    void retired(ConnectionId connection) { ends_.forget(connection); }
    void operation(const UlpOperation& operation) {
        if (!wanted(analysis(), operation.connection)) return;
        const ConnectionId connection = operation.connection;
        add<ReportedOperation>("operations", operation_columns(),
                               {operation,
                                ends_.end(connection, operation.requester),
                                ends_.end(connection, other(operation.requester)),
                                {}});
    }
    void again() {
        ends_ = {};
        times_ = ConnectionTimes(analysis().memory);
        messages_ = 0;
        start_.reset();
        counted_.reset();
        sink_.again();
    }
    [[nodiscard]] const ConnectionTimes& times() const { return times_; }
    void finish(const transport::Timeline& timeline) {
        if (counted_) write(*counted_);
        const auto over = given_up(timeline);
        for (const Connection& connection : timeline.connections)
            if (wanted(analysis(), connection.uid))
                add<ConnectionRow>("connections", connection_columns(),
                                   {connection,
                                    over.contains(connection.uid),
                                    {},
                                    timeline.ulp.find(connection.uid),
                                    times_.find(connection.uid),
                                    &timeline.congestion});
        for (const std::string& each : timeline.incomplete)
            sink_.add(schema_of("incomplete"), std::array<Cell, 1>{text_cell(each)});
        if (!saw_anything(timeline)) sink_.add(schema_of("incomplete"), std::array<Cell, 1>{text_cell(kNothingSeen)});
        std::uint64_t number = 0;
        for (const Finding& finding : timeline.findings) {
            if (!wanted(analysis(), finding.connection)) continue;
            const SchemaTable& table = schema_of("findings");
            std::vector<Cell> cells = cells_of(table, finding_columns(), finding);
            cells.front() = ++number;
            sink_.add(table, cells);
            for (const transport::FindingEvent& event :
                 transport::events_of(finding, timeline, transport::kMaxEvidence))
                sink_.add(
                    schema_of("finding_packets"),
                    std::array<Cell, 4>{number, transport::number(event.frame),
                                        text_cell(transport::kEventRoleNames[static_cast<std::size_t>(event.role)]),
                                        transport::number(event.time)});
            for (const transport::Fact& fact : finding.facts) {
                const Cell value = fact_cell(fact);
                const bool is_text = std::holds_alternative<std::string>(value);
                sink_.add(schema_of("finding_facts"),
                          std::array<Cell, 4>{number, text_cell(transport::json_name(*fact.row)),
                                              is_text ? Cell{} : value, is_text ? value : Cell{}});
            }
        }
        sink_.commit();
    }

private:
    [[nodiscard]] const AnalysisOptions& analysis() const { return options_.listing.reading.analysis; }
    template <class Row> void add(std::string_view name, std::span<const TableColumn<Row>> columns, const Row& row) {
        const SchemaTable& table = schema_of(name);
        sink_.add(table, cells_of(table, columns, row));
    }
    // A packet without a time, or of one before the interval that is being counted, belongs to that one.
    void count(const Observation& observation, const PacketRecord& record) {
        const std::int64_t since = start_ ? std::to_underlying(observation.time - *start_) : 0;
        const std::int64_t length = std::to_underlying(interval_);
        const Instant begins =
            start_.value_or(Instant{}) + Duration{std::max<std::int64_t>(0, since) / length * length};
        if (counted_ && observation.has_time && counted_->start < begins) {
            write(*counted_);
            counted_.reset();
        }
        if (!counted_) counted_.emplace().start = begins;
        count_packet(*counted_, observation, record);
    }
    void write(const Interval& interval) {
        add<IntervalRow>("timeline", interval_columns(), {interval, interval_, start_.value_or(Instant{}), 0});
    }

    const ExportOptions& options_;
    TableSink& sink_;
    Duration interval_;
    KnownEnds ends_;
    ConnectionTimes times_;
    std::uint64_t messages_ = 0;
    std::optional<Instant> start_;
    std::optional<Interval> counted_;
};

std::unique_ptr<TableSink> sink_for(const ExportOptions& options) {
    std::string problem;
    auto sink =
        options.sqlite.empty() ? folder_sink(options.listing.output, problem) : sqlite_sink(options.sqlite, problem);
    if (!sink) say("qpscope: {}\n", problem);
    return sink;
}

ExitCode run_export(const ExportOptions& options) {
    const auto& [reading, shown] = options.listing;
    if (options.schema) {
        Output output(shown.path);
        output.write(schema_page());
        return finish(output);
    }
    const bool folder = shown.format != OutputFormat::table && !shown.path.empty();
    if (options.sqlite.empty() == !folder) {
        say("qpscope: missing output: name a database with --sqlite FILE, or a format and a folder with -f csv -o FOLDER\n");
        return ExitCode::usage;
    }
    if (is_one_of(options.sqlite, reading.input.files)) {
        say("qpscope: {} is also an input and would be overwritten: name another file\n", options.sqlite);
        return ExitCode::usage;
    }
    const auto filter = compile_filter(reading.filter);
    if (!filter) return ExitCode::usage;
    const auto sink = sink_for(options);
    if (!sink) return ExitCode::output_failed;
    Output output("");  // nothing goes there
    Export tables(options, *sink);
    const Analyzed analyzed =
        analyze(leave_room_for_latencies(reading), *filter, output,
                {.packet = [&](const Observation& observation,
                               const PacketRecord& record) { tables.packet(observation, record); },
                 .message = [&](ConnectionId connection, End requester,
                                const Message& message) { tables.message(connection, requester, message); },
                 .operation = [&](const UlpOperation& operation) { tables.operation(operation); },
                 .retired = [&](ConnectionId connection) { tables.retired(connection); },
                 .names_connections = true,
                 .again = [&] { tables.again(); }});
    if (!analyzed.any) return analyzed.code;
    say_unknown_latencies(tables.times());
    tables.finish(analyzed.timeline);
    if (const auto problem = sink->problem()) {
        say("qpscope: {}\n", *problem);
        return ExitCode::output_failed;
    }
    return finish(reading.analysis, analyzed, output);
}

}  // namespace

const Command kExportCommand{
    "export", kAnalyse, "Write connections, messages, operations, findings and counters as tables: SQLite, CSV, NDJSON",
    "  qpscope export --sqlite out.db trace.pcap\n"
    "  qpscope export --sqlite out.db --packets trace.pcap        # with a row for each packet\n"
    "  qpscope export -f csv -o tables trace.pcap                 # tables/connections.csv, tables/messages.csv, ...\n"
    "  qpscope export --schema                                    # the tables and columns, and what they mean",
    prepared<ExportOptions, run_export>};

}  // namespace qps::cli
