// `case`: a folder of logs, counters and settings becomes one verdict.
//
// Names are listed first, links are not followed; then the process enters the sandbox, in which files are opened one
// after the other, to be read. What is kept of them is bounded by --memory.
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/message.hpp>
#include <cli/options/analysis_options.hpp>
#include <cli/options/output_options.hpp>
#include <cli/output.hpp>
#include <cli/wrapped.hpp>
#include <dissect/capture/descriptor.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/case_report.hpp>
#include <transport-replay/casework/rules.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sandbox/sandbox.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace qps::cli {

namespace {

struct CaseOptions {
    std::vector<std::string> inputs;
    AnalysisOptions analysis;
    OutputOptions output;
    bool no_sandbox = false;

    void add(OptionTable& table) {
        table.under(headings::kInput)
            .add("files", "", inputs,
                 "Folders, files or tar archives: logs, counters before and after, settings, dumps")
            .is(PathUse::read)
            .needed();
        analysis.add_memory(table);
        table.under(headings::kInput)
            .flag("--no-sandbox", no_sandbox, "Keep all system calls: for debuggers and profilers");
        output.add_format(table, "Print as table, json, csv or tsv (default: table)");
        output.add_path(table);
        analysis.add_fail_on(table);
    }
};

// A file to be read, and what it is called in the report.
struct Found {
    std::string path;
    std::string name;
};

// All files below a folder in the order of their names; links are not followed.
void list_folder(const std::string& folder, std::vector<Found>& files) {
    constexpr int kDeepest = 16;
    std::error_code error;
    std::filesystem::recursive_directory_iterator walk(
        folder, std::filesystem::directory_options::skip_permission_denied, error);
    const std::size_t from = files.size();
    for (; !error && walk != std::filesystem::recursive_directory_iterator() && files.size() < casework::kMostFiles;
         walk.increment(error)) {
        if (walk.depth() > kDeepest) walk.disable_recursion_pending();
        std::error_code unknown;
        if (walk->is_symlink(unknown) || !walk->is_regular_file(unknown)) continue;
        const std::string path = walk->path().string();
        files.push_back({path, path.substr(std::min(folder.size() + (folder.ends_with('/') ? 0 : 1), path.size()))});
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(from), files.end(),
              [](const Found& a, const Found& b) { return a.name < b.name; });
}

struct Contents {
    std::string bytes;
    bool cut = false;
};

// At most so many bytes of a regular file.
std::optional<Contents> contents_of(const std::string& path, std::size_t most) {
    const dissect::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), true);
    struct stat status{};
    if (file.number() < 0 || fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    Contents read;
    std::vector<char> piece(1U << 18U);
    for (;;) {
        const ssize_t got = ::read(file.number(), piece.data(), std::min(piece.size(), most - read.bytes.size() + 1));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;
        if (got == 0) return read;
        read.bytes.append(piece.data(), static_cast<std::size_t>(got));
        if (read.bytes.size() <= most) continue;
        read.bytes.resize(most);
        read.cut = true;
        return read;
    }
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
        append_wrapped(out, "  * ", 4, dissect::printable(claims[i].text));
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

// The severity that --fail-on compares: a claim that is shown is an error, a hint is a warning.
transport::Severity worst(const casework::Verdict& verdict) {
    if (verdict.claims.empty()) return transport::Severity::note;
    const casework::Weight weight = verdict.claims.front().weight;
    if (weight >= casework::Weight::shown) return transport::Severity::error;
    return weight == casework::Weight::hint ? transport::Severity::warning : transport::Severity::note;
}

ExitCode run_case(const CaseOptions& options) {
    constexpr std::size_t kColumns = 79;
    Output output(options.output.path, options.inputs);
    if (!output.ok()) return finish(output);
    if (!terminal_width()) set_line_width(kColumns);
    ExitCode code = ExitCode::done;
    std::vector<Found> files;
    for (const std::string& input : options.inputs) {
        struct stat status{};
        if (stat(input.c_str(), &status) != 0) {
            say("qpscope: {}\n", cannot_read(input));
            code = ExitCode::unreadable;
        } else if (S_ISDIR(status.st_mode)) {
            list_folder(input, files);
        } else {
            files.push_back({input, input.substr(input.find_last_of('/') + 1)});
        }
    }
    if (!options.no_sandbox && sandbox::is_possible())
        if (const auto entered = sandbox::enter({.open_to_read = true, .rename = !options.output.path.empty()});
            !entered)
            remark("qpscope: reading without a sandbox: {} (--no-sandbox: do not try)\n", entered.error());
    // One file takes a quarter packed and a quarter unpacked; what the readers keep of it takes about as much again.
    const std::size_t most = options.analysis.memory.bytes() / 4;
    casework::CaseReader reader(most);
    for (const Found& file : files) {
        const auto read = contents_of(file.path, most);
        if (read) {
            reader.read(file.name, read->bytes, read->cut);
            continue;
        }
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
    if (options.output.format == OutputFormat::table) out = text_of(found, verdict);
    else casework::append_document(out, options.output.format, found, verdict);
    if (!out.ends_with('\n')) out += '\n';
    output.write(out);
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
                           "  qpscope case -f json ticket-4711/ | jq .party",
                           prepared<CaseOptions, run_case>};

}  // namespace qps::cli
