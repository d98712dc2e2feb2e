// `merge`: parts of an analysis become the whole, and that is printed as the command would that --as names.
#include <cli/checking.hpp>
#include <cli/command.hpp>
#include <cli/decoding.hpp>
#include <cli/held_inputs.hpp>
#include <cli/message.hpp>
#include <cli/shown.hpp>
#include <dissect/capture/descriptor.hpp>
#include <dissect/render_value.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/parts/part.hpp>
#include <transport-replay/report/figures.hpp>

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;

namespace {

ExitCode refuse_part(const std::string& name, std::string_view why, ExitCode code) {
    say("qpscope: {}: {}\n", name, why);
    return code;
}

// All bytes of a file, of which there are at most `most`.
std::expected<std::string, std::string> bytes_of(const std::string& name, HeldInputs& held, std::size_t most) {
    std::optional<dissect::Descriptor> own;
    int number = -1;
    if (const auto file = held.file(name)) {
        if (file->descriptor < 0) return std::unexpected(std::string(std::strerror(file->error)));
        number = file->descriptor;
        if (lseek(number, 0, SEEK_SET) < 0) return std::unexpected(std::string(std::strerror(errno)));  // named twice: read before
    } else if (name == "-") {
        number = STDIN_FILENO;
    } else {
        own.emplace(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY), true);
        number = own->number();
    }
    std::string bytes;
    std::array<char, 1 << 16> piece{};
    for (;;) {
        const ssize_t got = ::read(number, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::unexpected(std::string(std::strerror(errno)));
        if (got == 0) return bytes;
        bytes.append(piece.data(), static_cast<std::size_t>(got));
        if (bytes.size() > most) return std::unexpected(std::string("larger than --memory allows"));
    }
}

// Says of every file what is wrong with it.
std::expected<std::vector<AnalysisPart>, ExitCode> read_parts(const Options& options) {
    HeldInputs& held = HeldInputs::of(options);
    const std::size_t most = options.memory.bytes();
    std::vector<AnalysisPart> parts;
    ExitCode code = ExitCode::done;
    for (const std::string& name : options.files) {
        const auto bytes = bytes_of(name, held, most);
        if (!bytes) {
            code = worse(code, refuse_part(name, bytes.error(), ExitCode::unreadable));
            continue;
        }
        auto part = read_part(*bytes, QPSCOPE_VERSION, most);
        if (part) parts.push_back(std::move(*part));
        else code = worse(code, refuse_part(name, part.error().sentence, part.error().damaged ? ExitCode::damaged : ExitCode::unreadable));
    }
    if (code != ExitCode::done) return std::unexpected(code);
    return parts;
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
    for (std::size_t i = 0; i < std::min(numbers.size(), kMost); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i]);
    return numbers.size() > kMost ? text + ", ..." : text;
}

// Says what parts of which captures are not there; whether any.
bool say_missing(const AnalysisPart& part) {
    bool any = false;
    for (const CapturePart& capture : part.captures) {
        const auto lacking = missing(capture);
        if (lacking.empty()) continue;
        any = true;
        const std::string host = capture.origin.host.empty() ? "" : fmt::format(" of host {}", dissect::printable(capture.origin.host));
        say("qpscope: {} of {}{} missing: {}\n", lacking.size() == 1 ? "a part" : fmt::format("{} parts", lacking.size()), capture.origin.of, host,
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
ExitCode merge_checks(const Options& options, const Measures& measures, AnalysisPart&& joined, ExitCode code, Output& output) {
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
    auto log = read_nccl_log_of(options);
    if (!log) return log.error();
    const auto measures = read_measures(options.check);
    if (!measures) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    auto parts = read_parts(options);
    if (!parts) return worse(parts.error(), finish(output, false));
    auto joined = join(std::move(*parts));
    if (!joined) {
        say("qpscope: the parts do not belong together: {}\n", joined.error().sentence);
        return worse(ExitCode::unreadable, finish(output, false));
    }
    const ExitCode code = joined->damaged() ? ExitCode::damaged : ExitCode::done;
    if (options.part.as == MergedAs::part) {
        output.write(write_part(*joined, QPSCOPE_VERSION));
        return worse(code, finish(output));
    }
    if (say_missing(*joined)) return worse(ExitCode::unreadable, finish(output, false));
    Options shown = options;
    shown.files.clear();
    for (const CapturePart& capture : joined->captures) shown.files.insert(shown.files.end(), capture.origin.inputs.begin(), capture.origin.inputs.end());
    if (options.part.as == MergedAs::check) return merge_checks(shown, *measures, std::move(*joined), code, output);
    Analyzed analyzed{.timeline = conclude(std::move(*joined), *log, std::vector(options.unordered)), .code = code, .frames = 0, .any = true, .known = {}};
    show(shown, analyzed.timeline, output);
    return finish(options, analyzed, output);
}

}  // namespace qps::cli
