// `merge`: parts of an analysis become the whole, and that is printed as the command would that --as names.
#include <cli/checking.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/held_inputs.hpp>
#include <cli/message.hpp>
#include <cli/options/check_options.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/shown.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/parts/part.hpp>
#include <transport-replay/report/figures.hpp>

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;

namespace {

// What is made of the parts that were joined: what the command of that name prints of a capture, or a part again.
enum class MergedAs { analyze, findings, cm, fabric, check, part };
constexpr std::array kProducts{NamedValue{"analyze", MergedAs::analyze}, NamedValue{"findings", MergedAs::findings},
                               NamedValue{"cm", MergedAs::cm},           NamedValue{"fabric", MergedAs::fabric},
                               NamedValue{"check", MergedAs::check},     NamedValue{"part", MergedAs::part}};

// The files are parts.
struct MergeOptions {
    ListingOptions listing;
    CheckOptions check;
    MergedAs as = MergedAs::analyze;

    void add(OptionTable& table) {
        auto& [reading, output] = listing;
        table.add("files", "", reading.input.files, "Parts, as analyze --part wrote them, in any order")
            .is(PathUse::capture);
        add_choice(
            table.under(headings::kOutput), "--as", as, kProducts,
            "Print what this command prints of the capture: analyze, findings, cm, fabric, or check (of parts made with --checks); part: write the parts as one to -o (default: analyze)",
            "COMMAND");
        reading.analysis.add_connections(table);
        reading.analysis.add_knowledge(table);
        add_words(table);
        check.add(table, Judged::parts);
        reading.analysis.add_memory(table);
        output.add_color(table);
        listing.end(table);
    }

private:
    // They are those of the command that it prints as. Options are read in the order of their rows: --as is known.
    void add_words(OptionTable& table) {
        table.under(headings::kOutput);
        table.add(
            "--fail-on", "WORD",
            [this](const std::string& word) {
                if (as == MergedAs::check) check.take_level(word);
                else listing.reading.analysis.take_fail_on(word);
            },
            "Exit with 1 on findings this severe or worse: note, warning or error; with --as check as check does");
        table.add(
            "-f,--format", "WORD",
            [this](const std::string& word) {
                if (as == MergedAs::check) check.take_format(word);
                else listing.output.take_format(word);
            },
            "Print as table, json, ndjson, csv or tsv; with --as check as table, json, junit or html (default: table)");
    }
};

ExitCode refuse_part(const std::string& name, std::string_view why, ExitCode code) {
    say("qpscope: {}: {}\n", name, why);
    return code;
}

// All of them, joined; says of every file what is wrong with it.
std::expected<AnalysisPart, ExitCode> read_parts(const InputOptions& input, const MemoryBudget& memory) {
    HeldInputs& held = HeldInputs::of(input);
    PartRoom room(memory.bytes());
    JoinedParts joined;
    std::optional<PartProblem> apart;  // they do not belong together
    ExitCode code = ExitCode::done;
    for (const std::string& name : input.files) {
        const auto bytes = held.contents(name, memory.bytes(), begins_as_part);
        if (!bytes) {
            code = worse(code, refuse_part(name, bytes.error(), ExitCode::unreadable));
            continue;
        }
        if (bytes->size() > memory.bytes()) {
            room.refuse(bytes->size());
            continue;
        }
        auto part = read_part(*bytes, QPSCOPE_VERSION, room);
        if (!part) {
            if (part.error().no_room) joined = {};
            else
                code = worse(code, refuse_part(name, part.error().sentence,
                                               part.error().damaged ? ExitCode::damaged : ExitCode::unreadable));
        } else if (!apart) {
            apart = joined.add(std::move(*part));
            room.keep(joined.built());
        }
    }
    if (room.exceeded())
        code = worse(code, refuse_part(input.files.size() == 1 ? input.files.front() : "joining the parts",
                                       room.sentence(), ExitCode::unreadable));
    if (code != ExitCode::done) return std::unexpected(code);
    auto whole = apart ? std::unexpected(std::move(*apart)) : joined.finish();
    if (whole) return std::move(*whole);
    say("qpscope: the parts do not belong together: {}\n", whole.error().sentence);
    return std::unexpected(ExitCode::unreadable);
}

void show(MergedAs as, const ListingOptions& options, const transport::Timeline& timeline, Output& output) {
    switch (as) {
        case MergedAs::analyze: return show_analysis(options, timeline, output);
        case MergedAs::findings: return show_findings(options, timeline, output);
        case MergedAs::cm: return show_cm(options, timeline, output);
        case MergedAs::fabric: return show_fabric(options, timeline, output);
        case MergedAs::check:
        case MergedAs::part: return;
    }
}

std::string listed(const std::vector<std::uint32_t>& numbers) {
    constexpr std::size_t kMost = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(numbers.size(), kMost); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i]);
    return numbers.size() > kMost ? text + ", ..." : text;
}

// Says what parts of which captures are not there; whether any.
bool say_missing(const AnalysisPart& part) {
    bool any = false;
    for (const CapturePart& capture : part.captures) {
        const auto lacking = missing(capture);
        if (lacking.empty()) continue;
        any = true;
        const std::string host =
            capture.origin.host.empty() ? "" : fmt::format(" of host {}", dissect::printable(capture.origin.host));
        say("qpscope: {} of {}{} missing: {}\n",
            lacking.size() == 1 ? "a part" : fmt::format("{} parts", lacking.size()), capture.origin.of, host,
            listed(lacking));
    }
    return any;
}

// An option that does not go with what is printed.
std::string_view misplaced_in_merge(const MergeOptions& options) {
    const CheckOptions& check = options.check;
    const AnalysisOptions& analysis = options.listing.reading.analysis;
    if (options.as == MergedAs::check) {
        if (!analysis.connections.empty()) return "--as check excludes --connection";
        if (!analysis.nccl_log.empty()) return "--as check excludes --nccl-log";
        return {};
    }
    if (check.device) return "--device goes with --as check";
    if (!check.profile.empty()) return "--profile goes with --as check";
    if (!check.only.empty()) return "--only goes with --as check";
    if (!check.compare.empty()) return "--compare goes with --as check";
    return check.all ? "--all goes with --as check" : std::string_view();
}

// Verdicts on one capture, as `check` has them.
ExitCode merge_checks(const ListingOptions& options, const CheckOptions& check, const Measures& measures,
                      AnalysisPart&& joined, ExitCode code, Output& output) {
    CapturePart& capture = joined.captures.front();
    if (joined.captures.size() > 1) {
        say("qpscope: --as check judges one capture, and these are parts of {}: merge those of each by themselves\n",
            counted(joined.captures.size(), "host"));
        return worse(ExitCode::unreadable, finish(output, false));
    }
    if (!capture.checks) {
        say("qpscope: the parts are without checks: make them with qpscope analyze --checks\n");
        return worse(ExitCode::unreadable, finish(output, false));
    }
    const conformance::PassiveRecord record = std::move(*capture.checks);
    capture.origin.host.clear();  // alone it is any capture
    Analyzed analyzed{.timeline = conclude(std::move(joined), {}), .code = code, .frames = 0, .any = true, .known = {}};
    const Verdicts verdicts = write_verdicts(options, check, measures, analyzed.timeline, record, output);
    return worse(verdicts.code, finish(options.reading.analysis, analyzed, output));
}

ExitCode run_merge(const MergeOptions& options) {
    const auto& [reading, printed] = options.listing;
    if (reading.input.files.empty()) {
        say("qpscope: missing input: name the parts that analyze --part wrote\n");
        return ExitCode::usage;
    }
    if (options.as == MergedAs::part && printed.path.empty()) {
        say("qpscope: missing --output: where the part goes\n");
        return ExitCode::usage;
    }
    if (const std::string_view wrong = misplaced_in_merge(options); !wrong.empty()) {
        say("qpscope: {}\n", wrong);
        return ExitCode::usage;
    }
    const auto files = read_measure_files(options.check);
    if (!files) return ExitCode::usage;
    Output output(printed.path, reading.input.files);
    if (!output.ok()) return finish(output);
    static_cast<void>(HeldInputs::of(reading.input));  // the sandbox: from here on, what strangers wrote is read
    auto log = read_nccl_log_of(reading);
    if (!log) return log.error();
    const auto measures = measures_of(options.check, *files);
    if (!measures) return ExitCode::usage;
    auto joined = read_parts(reading.input, reading.analysis.memory);
    if (!joined) return worse(joined.error(), finish(output, false));
    const ExitCode code = joined->damaged() ? ExitCode::damaged : ExitCode::done;
    if (options.as == MergedAs::part) {
        output.write(write_part(*joined, QPSCOPE_VERSION));
        return worse(code, finish(output));
    }
    if (say_missing(*joined)) return worse(ExitCode::unreadable, finish(output, false));
    ListingOptions shown = options.listing;
    std::vector<std::string>& names = shown.reading.input.files;
    names.clear();
    for (const CapturePart& capture : joined->captures)
        names.insert(names.end(), capture.origin.inputs.begin(), capture.origin.inputs.end());
    if (options.as == MergedAs::check)
        return merge_checks(shown, options.check, *measures, std::move(*joined), code, output);
    std::vector<std::string> incomplete;
    for (const CapturePart& capture : joined->captures)
        if (capture.origin.damaged)
            incomplete.push_back(fmt::format("{}: truncated or damaged: its readable part was analysed",
                                             fmt::join(capture.origin.inputs, ", ")));
    Analyzed analyzed{.timeline = conclude(std::move(*joined), *log, std::vector(reading.analysis.unordered)),
                      .code = code,
                      .frames = 0,
                      .any = true,
                      .known = {}};
    analyzed.timeline.incomplete = std::move(incomplete);
    say_recordings(analyzed.timeline);
    show(options.as, shown, analyzed.timeline, output);
    return finish(reading.analysis, analyzed, output);
}

}  // namespace

const Command kMergeCommand{
    "merge", kAnalyse,
    "Join the parts of an analysis that several machines made, and print what the whole capture shows",
    "  qpscope analyze --part 1/2 -o part-1.qpp trace.pcap        # on one machine\n"
    "  qpscope analyze --part 2/2 -o part-2.qpp trace.pcap        # on another\n"
    "  qpscope merge part-*.qpp\n"
    "  qpscope merge --as findings --fail-on error -f ndjson part-*.qpp\n"
    "  qpscope merge --as check --device 10.0.0.2 part-*.qpp      # of parts made with analyze --checks\n"
    "  qpscope merge --as part -o half.qpp part-[12].qpp          # of more: joined in steps\n"
    "  qpscope merge node-*.qpp                                   # of hosts: analyze --host node-1 -o node-1.qpp node-1.pcap",
    prepared<MergeOptions, run_merge>};

}  // namespace qps::cli
