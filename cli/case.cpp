// `case`: a folder of logs, counters and settings becomes one verdict.
//
// Names are listed first, links are not followed; then the process enters the sandbox, in which files are opened one
// after the other, to be read. What is kept of them is bounded by --memory.
#include <cli/anonymize_key.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/message.hpp>
#include <cli/options/analysis_options.hpp>
#include <cli/options/output_options.hpp>
#include <cli/output.hpp>
#include <cli/wrapped.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/casework/archive_writer.hpp>
#include <transport-replay/casework/case_anonymizer.hpp>
#include <transport-replay/casework/case_files.hpp>
#include <transport-replay/casework/case_page.hpp>
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/case_report.hpp>
#include <transport-replay/casework/rules.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sandbox/sandbox.hpp>

namespace qps::cli {

namespace {

struct CaseOptions {
    std::vector<std::string> inputs;
    AnalysisOptions analysis;
    OutputOptions output;
    bool no_sandbox = false;
    bool html = false;
    bool markdown = false;
    std::string anonymized;  // the case under pseudonyms, as a tar archive

    void add(OptionTable& table) {
        table.under(headings::kInput)
            .add("files", "", inputs,
                 "Folders, files or tar archives: logs, counters before and after, settings, dumps, captures")
            .is(PathUse::read)
            .needed();
        analysis.add_memory(table);
        table.under(headings::kInput)
            .flag("--no-sandbox", no_sandbox, "Keep all system calls: for debuggers and profilers");
        output.add_format(table, "Print as table, json, csv or tsv (default: table)");
        table.under(headings::kOutput);
        table.flag("--html", html, "Print one HTML page that needs nothing else").not_with("--format");
        table.flag("--markdown", markdown, "Print a ticket in Markdown").not_with("--format --html");
        table
            .add("--anonymize", "FILE", anonymized,
                 "Write the texts of the case to FILE (tar) with other names, addresses, keys and paths; captures by "
                 "qpscope anonymize with the same QPSCOPE_ANONYMIZE_KEY")
            .is(PathUse::written);
        output.add_path(table);
        analysis.add_fail_on(table);
    }
};

// Gives a file to the reader; false where it cannot be read.
bool read_file(const casework::FoundFile& found, std::size_t most, casework::CaseReader& reader) {
    const casework::Taken taken = casework::take_file(found, most, reader);
    if (taken == casework::Taken::became_shorter) say("qpscope: {}: it became shorter while it was read\n", found.path);
    return taken != casework::Taken::unreadable;
}

void append_heading(std::string& out, std::string_view heading) { out += fmt::format("\n{}\n", heading); }

void append_places(std::string& out, const casework::Case& read, const std::vector<casework::Place>& places) {
    constexpr std::size_t kWidest = 72;  // of a quoted line; the rest is in the file
    for (const casework::Place& place : places) {
        out += fmt::format("      {}\n", dissect::printable(casework::place_text(read, place)));
        const std::string line = dissect::printable(casework::quote(read, place).substr(0, kWidest));
        if (!line.empty()) out += fmt::format("        {}\n", line);
    }
}

void append_claims(std::string& out, const casework::Case& read, std::string_view heading,
                   const std::vector<casework::Claim>& claims, std::size_t most) {
    if (claims.empty()) return;
    append_heading(out, heading);
    for (std::size_t i = 0; i < std::min(claims.size(), most); ++i) {
        append_wrapped(out, "  * ", 4,
                       dissect::printable(claims[i].id.empty() ? claims[i].text
                                                               : fmt::format("[{}] {}", claims[i].id, claims[i].text)));
        append_places(out, read, claims[i].evidence);
    }
    if (claims.size() > most) out += fmt::format("    and {} more (-f json)\n", claims.size() - most);
}

std::string text_of(const casework::Case& read, const casework::Verdict& verdict) {
    std::string out;
    append_wrapped(out, "verdict  ", 9, dissect::printable(casework::head_text(verdict)));
    out += fmt::format("party: {}\n", casework::name(verdict.party));
    append_claims(out, read, "What the material shows", verdict.claims, casework::kShownClaims);
    append_claims(out, read, "What follows from it", verdict.consequences, casework::kShownFollowing);
    append_claims(out, read, "What contradicts", verdict.contradictions, casework::kShownFollowing);
    if (!verdict.undecided.empty()) append_heading(out, "What stays open");
    for (const casework::OpenQuestion& each : verdict.undecided)
        append_wrapped(out, "  * ", 4, dissect::printable(each.text));
    if (!verdict.next.empty()) append_heading(out, "Next");
    for (std::size_t i = 0; i < std::min(verdict.next.size(), casework::kShownSteps); ++i) {
        const casework::NextStep& step = verdict.next[i];
        append_wrapped(
            out, fmt::format("  {}. ", i + 1), 5,
            dissect::printable(step.where.empty() ? step.command : fmt::format("[{}] {}", step.where, step.command)));
        for (const casework::Outcome& outcome : step.outcomes)
            if (!outcome.means.empty())
                append_wrapped(out, "       ", 7,
                               dissect::printable(fmt::format("{}: {}", outcome.seen, outcome.means)));
    }
    append_heading(out, "What was read");
    for (std::size_t i = 0; i < std::min(read.files.size(), casework::kShownFiles); ++i) {
        const casework::CaseFile& file = read.files[i];
        append_wrapped(out, "  ", 4,
                       dissect::printable(fmt::format("{}{}: {}", file.name,
                                                      file.host.empty() ? "" : fmt::format(" [{}]", file.host),
                                                      casework::kinds_text(file))));
    }
    if (read.files.size() > casework::kShownFiles)
        out += fmt::format("  and {} more files\n", read.files.size() - casework::kShownFiles);
    if (read.left_out != 0) out += fmt::format("  {} values beyond the bounds were left out\n", read.left_out);
    return out;
}

// Every text of the case once more, under pseudonyms.
ExitCode write_anonymized(const std::vector<casework::FoundFile>& files, const casework::Case& found,
                          casework::CaseMemory memory, const transport::Pseudonyms::Key& key, Output& tar) {
    constexpr std::size_t kMostPairs = 1U << 16U;  // of each kind that are remembered
    transport::Pseudonyms pseudonyms(key, false, kMostPairs);
    casework::CaseAnonymizer anonymizer(pseudonyms, found);
    const std::size_t most = memory.bytes(casework::CaseShare::at_work);
    casework::CaseReader reader(memory);
    std::string out;
    reader.listen([&](const std::string& name, std::string_view text) {
        out.clear();
        if (text.size() > most / 4) remark("qpscope: {}: only its first {} bytes are handed on\n", name, most / 4);
        casework::append_tar_file(out, anonymizer.file_name(name), anonymizer.text(text.substr(0, most / 4)));
        tar.write(out);
    });
    for (const casework::FoundFile& file : files) (void)read_file(file, most, reader);
    for (const casework::CaseFile& file : found.files)
        if (file.capture || file.binary) remark("qpscope: {}: not handed on: it is no text\n", file.name);
    out.clear();
    casework::append_tar_end(out);
    tar.write(out);
    remark("qpscope: {}; a name that stands nowhere as a host's stays: look before you give it away\n",
           transport::counted(anonymizer.replaced(), "replacement"));
    return finish(tar);
}

// The severity that --fail-on compares: of the heaviest.
transport::Severity worst(const casework::Verdict& verdict) {
    return verdict.claims.empty() ? transport::Severity::note : casework::severity_of(verdict.claims.front().weight);
}

ExitCode run_case(const CaseOptions& options) {
    constexpr std::size_t kColumns = 79;
    Output output(options.output.path, options.inputs);
    if (!output.ok()) return finish(output);
    const auto chosen = chosen_key({}, {});
    if (!options.anonymized.empty() && !chosen) {
        say("qpscope: {}\n", chosen.error());
        return ExitCode::usage;
    }
    std::optional<Output> tar;
    if (!options.anonymized.empty()) tar.emplace(options.anonymized, options.inputs);
    if (tar && !tar->ok()) return finish(*tar);
    const transport::Pseudonyms::Key key = chosen && *chosen ? **chosen : drawn_key();
    if (!terminal_width()) set_line_width(kColumns);
    ExitCode code = ExitCode::done;
    const casework::CaseMemory memory(options.analysis.memory.bytes());
    std::vector<casework::FoundFile> files;
    for (const std::string& input : options.inputs) {
        if (casework::list_input(input, memory.items(casework::CaseShare::files), files)) continue;
        say("qpscope: {}\n", cannot_read(input));
        code = ExitCode::unreadable;
    }
    if (!options.no_sandbox && sandbox::is_possible())
        if (const auto entered =
                sandbox::enter({.open_to_read = true, .rename = !options.output.path.empty() || tar.has_value()});
            !entered)
            remark("qpscope: reading without a sandbox: {} (--no-sandbox: do not try)\n", entered.error());
    casework::CaseReader reader(memory);
    for (const casework::FoundFile& file : files) {
        if (read_file(file, memory.bytes(casework::CaseShare::at_work), reader)) continue;
        say("qpscope: {}\n", cannot_read(file.path));
        code = worse(code, ExitCode::unreadable);
    }
    const casework::Case found = reader.end();
    if (found.files.empty()) {
        if (code == ExitCode::done) say("qpscope: no files in '{}'\n", options.inputs.front());
        return worse(code, ExitCode::unreadable);
    }
    const casework::Verdict verdict = casework::judge(found);
    std::string out;
    if (options.html) casework::append_page(out, found, verdict, QPSCOPE_VERSION);
    else if (options.markdown) casework::append_ticket(out, found, verdict);
    else if (options.output.format == OutputFormat::table) out = text_of(found, verdict);
    else casework::append_document(out, options.output.format, found, verdict);
    if (!out.ends_with('\n')) out += '\n';
    output.write(out);
    if (tar) code = worse(code, write_anonymized(files, found, memory, key, *tar));
    if (options.analysis.fail_on && !verdict.claims.empty() && !verdict.unrelated &&
        worst(verdict) >= *options.analysis.fail_on)
        code = worse(code, ExitCode::findings);
    return worse(code, finish(output));
}

}  // namespace

const Command kCaseCommand{"case", kAnalyse,
                           "Judge a folder of logs, counters and settings: party, evidence, next step",
                           "  qpscope case ticket-4711/                    # one verdict from all files in it\n"
                           "  qpscope case dmesg.txt nccl.log\n"
                           "  qpscope case -f json ticket-4711/ | jq .party\n"
                           "  qpscope case --html -o verdict.html ticket-4711/\n"
                           "  qpscope case --anonymize clean.tar ticket-4711/     # to hand on",
                           prepared<CaseOptions, run_case>};

}  // namespace qps::cli
