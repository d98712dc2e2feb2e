// `findings`: what went wrong, who can act on it and what to do. Where packets arrive as they happen each finding is
// printed once, within about a second. With --list: the table of all findings that there are; with --explain: the
// manual of one.
#include <cli/analyzing.hpp>
#include <cli/command.hpp>
#include <cli/decoding.hpp>
#include <cli/explain_finding.hpp>
#include <cli/report.hpp>
#include <cli/sheet.hpp>
#include <cli/shown.hpp>
#include <cli/tone.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/findings.hpp>
#include <transport-replay/report/json.hpp>
#include <transport-replay/report/ticket.hpp>

#include <array>
#include <set>
#include <span>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;

namespace {

// Findings in the format asked for, each once.
class Findings {
public:
    Findings(const Options& options, Output& output)
        : options_(options), output_(output), color_(wants_color(options, output)), document_(options.format, text_) {
        if (rows()) sheet_.emplace(options, output, "findings", finding_columns());
        if (options.format != OutputFormat::json) return;
        document_.open();
        document_.add("schema", kSchema);
        document_.open_list("findings");
    }

    void print_new(const transport::Timeline& timeline) {
        for (const Finding& finding : timeline.findings) {
            if (!wanted(options_, finding.connection) || !printed_.emplace(finding.id, finding.connection).second)
                continue;
            print(finding, timeline);
        }
        output_.flush();
    }

    // The end: those that were not printed before. Where none was, people get them folded.
    void end(const transport::Timeline& timeline) {
        if (folds()) {
            for (const std::string& each : timeline.incomplete)
                text_ += fmt::format("incomplete: {}\n", dissect::printable(each));
            if (!timeline.incomplete.empty() && !timeline.findings.empty()) text_ += '\n';
        }
        if (folds() && printed_.empty()) {
            append_findings(text_, options_, timeline, color_);
        } else if (printed_.empty()) {
            for (const Finding& finding : timeline.findings)
                if (wanted(options_, finding.connection)) print(finding, timeline);
        } else {
            print_new(timeline);
        }
        if (options_.format == OutputFormat::json) {
            document_.close_list();
            add_extent(document_, timeline);
            document_.close();
            text_ += '\n';
        }
        output_.write(text_);
        text_.clear();
    }

private:
    [[nodiscard]] bool folds() const { return options_.format == OutputFormat::table && !options_.markdown; }
    [[nodiscard]] bool rows() const { return has_rows(options_.format); }

    void print(const Finding& finding, const transport::Timeline& timeline) {
        if (rows()) return sheet_->add(finding_columns(), finding);
        if (options_.format == OutputFormat::table) {
            if (written_++ > 0) text_ += '\n';
            if (options_.markdown) append_ticket(text_, timeline, finding, input_names(options_));
            else append_finding(text_, finding, timeline, color_);
        } else {
            document_.open();
            if (options_.format == OutputFormat::ndjson) document_.add("type", "finding");
            add_finding(document_, finding, timeline);
            document_.close();
            if (options_.format == OutputFormat::ndjson) text_ += '\n';
        }
        output_.write(text_);
        text_.clear();
    }

    const Options& options_;
    Output& output_;
    bool color_;
    std::string text_;
    std::uint64_t written_ = 0;
    Document document_;
    std::optional<Sheet> sheet_;
    std::set<std::pair<std::string_view, std::optional<ConnectionId>>> printed_;
};

constexpr std::array kMeaningColumns{
    TableColumn<FindingRow>{"id", "finding", Side::left, [](const FindingRow& row) { return text_cell(row.id); }},
    TableColumn<FindingRow>{
        "severity", "severity", Side::left,
        [](const FindingRow& row) { return text_cell(kSeverityNames[static_cast<std::size_t>(row.severity)]); }},
    TableColumn<FindingRow>{"meaning", "meaning", Side::left,
                            [](const FindingRow& row) { return text_cell(row.meaning); }},
    TableColumn<FindingRow>{"clause", "clause", Side::left,
                            [](const FindingRow& row) { return text_cell(row.clause); }},
};

ExitCode list_findings(const Options& options) {
    Output output(options);
    if (!output.ok()) return finish(output);
    const std::span<const TableColumn<FindingRow>> columns = kMeaningColumns;
    Sheet sheet(options, output, "findings", columns);
    for (const FindingRow& row : finding_rows()) sheet.add(columns, row, tone_of(row.severity));
    sheet.end();
    return finish(output);
}

}  // namespace

void show_findings(const Options& options, const transport::Timeline& timeline, Output& output) {
    Findings(options, output).end(timeline);
    if (timeline.findings.empty()) report_none(options, "findings");
}

ExitCode run_findings(const Options& options) {
    if (options.list_findings) return list_findings(options);
    if (!options.explained.empty()) return explain_finding(options);
    const auto filter = compile_filter(options, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    std::optional<Findings> findings;
    const auto begin = [&]() -> Findings& { return findings ? *findings : findings.emplace(options, output); };
    Listening listening;
    if (options.format != OutputFormat::json)  // a document is one piece
        listening.meanwhile = [&](const transport::Timeline& so_far) { begin().print_new(so_far); };
    const Analyzed analyzed = analyze(options, *filter, output, listening);
    if (analyzed.any) {
        begin().end(analyzed.timeline);
        output.write(next_step(options, analyzed.timeline, output));
    }
    const ExitCode code = analyzed.any ? say_nothing_seen(options, analyzed.timeline) : ExitCode::done;
    if (code == ExitCode::done && analyzed.any && analyzed.timeline.findings.empty()) report_none(options, "findings");
    return worse(code, finish(options, analyzed, output));
}

}  // namespace qps::cli
