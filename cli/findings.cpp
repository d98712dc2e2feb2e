// `findings`: what went wrong, who can act on it and what to do. Where packets arrive as they happen each finding is
// printed once, within about a second. With --list: the table of all findings that there are; with --explain: the
// manual of one.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/explain_finding.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/report.hpp>
#include <cli/sheet.hpp>
#include <cli/shown.hpp>
#include <cli/tone.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/casework/claim_rows.hpp>
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

struct FindingsOptions {
    ListingOptions listing;
    bool markdown = false;  // each as a ticket
    bool list = false;      // all there are, and what they mean
    std::string explained;  // the section of that id

    void add(OptionTable& table) {
        listing.begin(table, [this] { return !list && explained.empty(); });
        listing.reading.analysis.add_knowledge(table);
        listing.known(table);
        listing.output.add_format(table);
        table.flag("--list", list, "List every finding with its meaning; needs no capture")
            .not_with("files --interface");
        table.under({})
            .add("--explain", "ID", explained,
                 "Print what a finding means, what else looks like it and what to do; needs no capture")
            .not_with("files --interface --list");
        table.under(headings::kOutput);
        table.flag("--markdown", markdown, "Print each finding as a Markdown ticket with evidence and capture quality")
            .not_with("--format --list");
        listing.end(table);
    }
};

// Findings in the format asked for, each once.
class Findings {
public:
    Findings(const ListingOptions& options, bool markdown, Output& output)
        : options_(options.reading),
          format_(options.output.format),
          markdown_(markdown),
          output_(output),
          color_(wants_color(options.output.color, output)),
          document_(format_, text_) {
        if (rows()) sheet_.emplace(options.output, output, "findings", finding_columns());
        if (format_ != OutputFormat::json) return;
        document_.open();
        document_.add("schema", kSchema);
        document_.open_list("findings");
    }

    void print_new(const transport::Timeline& timeline) {
        for (const Finding& finding : timeline.findings) {
            if (!wanted(options_.analysis, finding.connection) ||
                !printed_.emplace(finding.id, finding.connection).second)
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
            append_findings(text_, options_.analysis, timeline, color_);
        } else if (printed_.empty()) {
            for (const Finding& finding : timeline.findings)
                if (wanted(options_.analysis, finding.connection)) print(finding, timeline);
        } else {
            print_new(timeline);
        }
        if (format_ == OutputFormat::json) {
            document_.close_list();
            add_extent(document_, timeline);
            document_.close();
            text_ += '\n';
        }
        output_.write(text_);
        text_.clear();
    }

private:
    [[nodiscard]] bool folds() const { return format_ == OutputFormat::table && !markdown_; }
    [[nodiscard]] bool rows() const { return has_rows(format_); }

    void print(const Finding& finding, const transport::Timeline& timeline) {
        if (rows()) return sheet_->add(finding_columns(), finding);
        if (format_ == OutputFormat::table) {
            if (written_++ > 0) text_ += '\n';
            if (markdown_) append_ticket(text_, timeline, finding, names_as_read(options_.input));
            else append_finding(text_, finding, timeline, color_);
        } else {
            document_.open();
            if (format_ == OutputFormat::ndjson) document_.add("type", "finding");
            add_finding(document_, finding, timeline);
            document_.close();
            if (format_ == OutputFormat::ndjson) text_ += '\n';
        }
        output_.write(text_);
        text_.clear();
    }

    const ReadingOptions& options_;
    OutputFormat format_;
    bool markdown_;
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

ExitCode list_findings(const OutputOptions& options) {
    Output output(options.path);
    if (!output.ok()) return finish(output);
    const std::span<const TableColumn<FindingRow>> columns = kMeaningColumns;
    Sheet sheet(options, output, "findings", columns);
    for (const FindingRow& row : finding_rows()) sheet.add(columns, row, tone_of(row.severity));
    for (const casework::ClaimRow& row : casework::claim_rows())  // of `case`
        sheet.add(columns,
                  FindingRow{.id = row.id, .severity = row.severity, .clause = row.rests_on, .meaning = row.meaning},
                  tone_of(row.severity));
    sheet.end();
    return finish(output);
}

ExitCode run_findings(const FindingsOptions& options) {
    const auto& [reading, shown] = options.listing;
    if (options.list) return list_findings(shown);
    if (!options.explained.empty()) return explain_finding(options.explained, shown);
    const auto filter = compile_filter(reading.filter, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(shown.path, reading.input.files);
    if (!output.ok()) return finish(output);
    std::optional<Findings> findings;
    const auto begin = [&]() -> Findings& {
        return findings ? *findings : findings.emplace(options.listing, options.markdown, output);
    };
    Listening listening;
    if (shown.format != OutputFormat::json)  // a document is one piece
        listening.meanwhile = [&](const transport::Timeline& so_far) { begin().print_new(so_far); };
    const Analyzed analyzed = analyze(reading, *filter, output, listening);
    if (analyzed.any) {
        begin().end(analyzed.timeline);
        if (!options.markdown) output.write(next_step(options.listing, analyzed.timeline, output));
    }
    const ExitCode code = analyzed.any ? say_nothing_seen(reading, analyzed.timeline) : ExitCode::done;
    if (code == ExitCode::done && analyzed.any && analyzed.timeline.findings.empty())
        report_none(shown.format, "findings");
    return worse(code, finish(reading.analysis, analyzed, output));
}

}  // namespace

void show_findings(const ListingOptions& options, const transport::Timeline& timeline, Output& output) {
    Findings(options, false, output).end(timeline);
    if (timeline.findings.empty()) report_none(options.output.format, "findings");
}

const Command kFindingsCommand{
    "findings", kAnalyse, "List what went wrong, with evidence and advice; --list shows all findings known",
    "  qpscope findings trace.pcap\n"
    "  qpscope findings --fail-on warning -f ndjson trace.pcap\n"
    "  qpscope findings --markdown -C 3 trace.pcap > ticket.md    # a ticket for each finding\n"
    "  qpscope findings -i eth0                                   # each as it happens\n"
    "  qpscope findings --list                                    # every finding and what it means",
    prepared<FindingsOptions, run_findings>};

}  // namespace qps::cli
