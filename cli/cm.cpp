// `cm`: how connections were set up and taken down: a ladder of messages for each attempt.
#include <cli/analyzing.hpp>
#include <cli/cm_text.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/report.hpp>
#include <cli/sheet.hpp>
#include <cli/shown.hpp>
#include <cli/tone.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/cm.hpp>
#include <transport-replay/report/json.hpp>

namespace qps::cli {

using namespace transport;

namespace {

// Attempts of the connections that the user wants.
std::vector<const CmAttempt*> chosen(const AnalysisOptions& options, const transport::Timeline& timeline) {
    std::vector<const CmAttempt*> attempts;
    if (options.connections.empty()) {
        for (const CmAttempt& attempt : timeline.cm.attempts) attempts.push_back(&attempt);
        return attempts;
    }
    for (const Connection& connection : timeline.connections) {
        if (!connection.cm_attempt || !wanted(options, connection.uid)) continue;
        for (const CmAttempt& attempt : timeline.cm.attempts)
            if (attempt.uid == *connection.cm_attempt) attempts.push_back(&attempt);
    }
    return attempts;
}

void write_table(const ListingOptions& options, const transport::Timeline& timeline, Output& output) {
    const bool color = wants_color(options.output.color, output);
    const dissect::Instant start = timeline.first.value_or(dissect::Instant{});
    std::string out;
    for (const CmAttempt* attempt : chosen(options.reading.analysis, timeline)) {
        append_attempt(out, *attempt, start, color);
        out += '\n';
        output.write(out);
        out.clear();
    }
    if (options.reading.analysis.connections.empty()) append_joins(out, timeline.cm, start);
    if (timeline.cm.attempts.empty() && timeline.cm.joins.empty())
        report_none(options.output.format, "connection attempts");
    output.write(out);
}

void write_json(const ListingOptions& options, const transport::Timeline& timeline, Output& output) {
    const bool lines = options.output.format == OutputFormat::ndjson;
    std::string out;
    Document document(options.output.format, out);
    const auto each = [&](std::string_view type, const auto& add) {
        document.open();
        if (lines) document.add("type", type);
        add();
        document.close();
        if (lines) out += '\n';
        output.write(out);
        out.clear();
    };
    if (!lines) {
        document.open();
        document.add("schema", kSchema);
        document.open_list("attempts");
    }
    for (const CmAttempt* attempt : chosen(options.reading.analysis, timeline))
        each("attempt", [&] { add_attempt(document, *attempt); });
    if (!lines) {
        document.close_list();
        document.open_list("joins");
    }
    for (const MulticastJoin& join : timeline.cm.joins) each("join", [&] { add_join(document, join); });
    if (!lines) {
        document.close_list();
        document.close();
        out += '\n';
    }
    output.write(out);
}

}  // namespace

void show_cm(const ListingOptions& options, const transport::Timeline& timeline, Output& output) {
    switch (options.output.format) {
        case OutputFormat::table: write_table(options, timeline, output); break;
        case OutputFormat::json:
        case OutputFormat::ndjson: write_json(options, timeline, output); break;
        case OutputFormat::csv:
        case OutputFormat::tsv: {
            Sheet sheet(options.output, output, "messages", cm_columns());
            for (const CmAttempt* attempt : chosen(options.reading.analysis, timeline))
                for (const CmRung& rung : attempt->ladder) sheet.add(cm_columns(), CmRow{*attempt, rung});
            sheet.end();
        }
    }
}

namespace {

ExitCode run_cm(const ListingOptions& options) {
    const ReadingOptions& reading = options.reading;
    const auto filter = compile_filter(reading.filter, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options.output.path, reading.input.files);
    if (!output.ok()) return finish(output);
    const Analyzed analyzed = analyze(reading, *filter, output, {});
    if (analyzed.any) show_cm(options, analyzed.timeline, output);
    const ExitCode seen = analyzed.any ? say_nothing_seen(reading, analyzed.timeline) : ExitCode::done;
    return worse(seen, finish(reading.analysis, analyzed, output));
}

}  // namespace

const Command kCmCommand{"cm", kAnalyse, "Show how connections were set up and torn down",
                         "  qpscope cm trace.pcap\n  qpscope cm -C 3 -f json trace.pcap",
                         prepared<ListingOptions, run_cm>};

}  // namespace qps::cli
