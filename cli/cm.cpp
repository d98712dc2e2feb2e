// `cm`: how connections were set up and taken down: a ladder of messages for each attempt.
#include <cli/analyzing.hpp>
#include <cli/cm_text.hpp>
#include <cli/command.hpp>
#include <cli/decoding.hpp>
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
std::vector<const CmAttempt*> chosen(const Options& options, const transport::Timeline& timeline) {
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

void write_table(const Options& options, const transport::Timeline& timeline, Output& output) {
    const bool color = wants_color(options, output);
    const dissect::Instant start = timeline.first.value_or(dissect::Instant{});
    std::string out;
    for (const CmAttempt* attempt : chosen(options, timeline)) {
        append_attempt(out, *attempt, start, color);
        out += '\n';
        output.write(out);
        out.clear();
    }
    if (options.connections.empty()) append_joins(out, timeline.cm, start);
    if (timeline.cm.attempts.empty() && timeline.cm.joins.empty()) report_none(options, "connection attempts");
    output.write(out);
}

void write_json(const Options& options, const transport::Timeline& timeline, Output& output) {
    const bool lines = options.format == OutputFormat::ndjson;
    std::string out;
    Document document(options.format, out);
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
    for (const CmAttempt* attempt : chosen(options, timeline))
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

void show_cm(const Options& options, const transport::Timeline& timeline, Output& output) {
    switch (options.format) {
        case OutputFormat::table: write_table(options, timeline, output); break;
        case OutputFormat::json:
        case OutputFormat::ndjson: write_json(options, timeline, output); break;
        case OutputFormat::csv:
        case OutputFormat::tsv: {
            Sheet sheet(options, output, "messages", cm_columns());
            for (const CmAttempt* attempt : chosen(options, timeline))
                for (const CmRung& rung : attempt->ladder) sheet.add(cm_columns(), CmRow{*attempt, rung});
            sheet.end();
        }
    }
}

ExitCode run_cm(const Options& options) {
    const auto filter = compile_filter(options, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    const Analyzed analyzed = analyze(options, *filter, output, {});
    if (analyzed.any) show_cm(options, analyzed.timeline, output);
    return finish(options, analyzed, output);
}

}  // namespace qps::cli
