// `merge`: parts of an analysis become the whole, and that is printed as the command would that --as names.
#include <cli/checking.hpp>
#include <cli/command.hpp>
#include <cli/decoding.hpp>
#include <cli/held_inputs.hpp>
#include <cli/message.hpp>
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

ExitCode refuse_part(const std::string& name, std::string_view why, ExitCode code) {
    say("qpscope: {}: {}\n", name, why);
    return code;
}

// All of them, joined; says of every file what is wrong with it.
std::expected<AnalysisPart, ExitCode> read_parts(const Options& options) {
    HeldInputs& held = HeldInputs::of(options);
    PartRoom room(options.memory.bytes());
    JoinedParts joined;
    std::optional<PartProblem> apart;  // they do not belong together
    ExitCode code = ExitCode::done;
    for (const std::string& name : options.files) {
        const auto bytes = held.contents(name, options.memory.bytes(), begins_as_part);
        if (!bytes) {
            code = worse(code, refuse_part(name, bytes.error(), ExitCode::unreadable));
            continue;
        }
        if (bytes->size() > options.memory.bytes()) {
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
        code = worse(code, refuse_part(options.files.size() == 1 ? options.files.front() : "joining the parts",
                                       room.sentence(), ExitCode::unreadable));
    if (code != ExitCode::done) return std::unexpected(code);
    auto whole = apart ? std::unexpected(std::move(*apart)) : joined.finish();
    if (whole) return std::move(*whole);
    say("qpscope: the parts do not belong together: {}\n", whole.error().sentence);
    return std::unexpected(ExitCode::unreadable);
}

void show(const Options& options, const transport::Timeline& timeline, Output& output) {
    switch (options.part.as) {
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
std::string_view misplaced_in_merge(const Options& options) {
    const CheckOptions& check = options.check;
    if (options.part.as == MergedAs::check) {
        if (!options.connections.empty()) return "--as check excludes --connection";
        if (!options.nccl_log.empty()) return "--as check excludes --nccl-log";
        return {};
    }
    if (check.device) return "--device goes with --as check";
    if (!check.profile.empty()) return "--profile goes with --as check";
    if (!check.only.empty()) return "--only goes with --as check";
    if (!check.compare.empty()) return "--compare goes with --as check";
    return check.all ? "--all goes with --as check" : std::string_view();
}

// Verdicts on one capture, as `check` has them.
ExitCode merge_checks(const Options& options, const Measures& measures, AnalysisPart&& joined, ExitCode code,
                      Output& output) {
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
    const Verdicts verdicts = write_verdicts(options, measures, analyzed.timeline, record, output);
    return worse(verdicts.code, finish(options, analyzed, output));
}

}  // namespace

ExitCode run_merge(const Options& options) {
    if (options.files.empty()) {
        say("qpscope: missing input: name the parts that analyze --part wrote\n");
        return ExitCode::usage;
    }
    if (options.part.as == MergedAs::part && options.output.empty()) {
        say("qpscope: missing --output: where the part goes\n");
        return ExitCode::usage;
    }
    if (const std::string_view wrong = misplaced_in_merge(options); !wrong.empty()) {
        say("qpscope: {}\n", wrong);
        return ExitCode::usage;
    }
    const auto files = read_measure_files(options.check);
    if (!files) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    static_cast<void>(HeldInputs::of(options));  // the sandbox: from here on, what strangers wrote is read
    auto log = read_nccl_log_of(options);
    if (!log) return log.error();
    const auto measures = measures_of(options.check, *files);
    if (!measures) return ExitCode::usage;
    auto joined = read_parts(options);
    if (!joined) return worse(joined.error(), finish(output, false));
    const ExitCode code = joined->damaged() ? ExitCode::damaged : ExitCode::done;
    if (options.part.as == MergedAs::part) {
        output.write(write_part(*joined, QPSCOPE_VERSION));
        return worse(code, finish(output));
    }
    if (say_missing(*joined)) return worse(ExitCode::unreadable, finish(output, false));
    Options shown = options;
    shown.files.clear();
    for (const CapturePart& capture : joined->captures)
        shown.files.insert(shown.files.end(), capture.origin.inputs.begin(), capture.origin.inputs.end());
    if (options.part.as == MergedAs::check) return merge_checks(shown, *measures, std::move(*joined), code, output);
    std::vector<std::string> incomplete;
    for (const CapturePart& capture : joined->captures)
        if (capture.origin.damaged)
            incomplete.push_back(fmt::format("{}: truncated or damaged: its readable part was analysed",
                                             fmt::join(capture.origin.inputs, ", ")));
    Analyzed analyzed{.timeline = conclude(std::move(*joined), *log, std::vector(options.unordered)),
                      .code = code,
                      .frames = 0,
                      .any = true,
                      .known = {}};
    analyzed.timeline.incomplete = std::move(incomplete);
    say_recordings(options, analyzed.timeline);
    show(shown, analyzed.timeline, output);
    return finish(options, analyzed, output);
}

}  // namespace qps::cli
