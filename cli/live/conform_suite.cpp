// `conform` without a script, or as host of an NVMe target (--nvme): every active check against a device, who decides
// which check, and which scripts there are.
#include <cli/decoding.hpp>
#include <cli/live/conforming.hpp>
#include <cli/live/provenance.hpp>
#include <cli/message.hpp>
#include <cli/verdicts.hpp>
#include <cli/wrapped.hpp>
#include <transport-replay/checks/report/counts.hpp>
#include <transport-replay/conformance/nvme/nvme_scripts.hpp>
#include <transport-replay/conformance/suite/builtin_scripts.hpp>
#include <transport-replay/conformance/suite/coverage.hpp>
#include <transport-replay/conformance/suite/suite_program.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/json.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport::conformance;
using transport::Document;
using transport::duration_text;

namespace {

nvme::Names names_of(const ConformOptions& conform) {
    nvme::Names names;
    if (!conform.subsystem.empty()) names.subsystem = conform.subsystem;
    if (!conform.host.empty()) names.host = conform.host;
    return names;
}

std::expected<std::vector<script::Script>, Failure> builtin(const ConformingOptions& options) {
    if (options.conform.nvme) return nvme::scripts(names_of(options.conform));
    auto scripts = parse_builtin_scripts(defined_names(options.conform));
    if (!scripts) return std::unexpected(Failure{ExitCode::usage, explain(scripts.error())});
    return std::move(*scripts);
}

bool is_wanted(const ConformingOptions& options, const script::Script& script) {
    return std::ranges::any_of(script.checks, [&](const std::string& id) {
        const CheckRow* check = find_check(id);
        return check != nullptr && is_wanted_check(options.check, *check);
    });
}

// Tells what happens as it happens, and keeps the packets of each check.
class Watching {
public:
    explicit Watching(const ConformingOptions& options) : options_(options) {}

    void see(const SuiteEvent& event) {
        if (event.kind == SuiteEventKind::died) died_ = true;
        if (options_.conform.nvme && event.kind == SuiteEventKind::given_up && event.script == nullptr)
            return;  // words_on_silence() say it
        if (event.outcome != nullptr && !options_.check.evidence.empty() && !event.outcome->frames.empty())
            for (const std::string& id : event.script->checks) keep(id, event);
        remark("{}\n", line_of(event));
    }
    [[nodiscard]] bool died() const { return died_; }
    [[nodiscard]] ExitCode code() const { return code_; }

private:
    [[nodiscard]] std::string line_of(const SuiteEvent& event) const {
        if (event.outcome != nullptr)
            return fmt::format("{:>3}/{}  {:<14}  {:<7} {}, {}", event.number, event.of, name(event.outcome->verdict),
                               joined(event.script->checks, " "), event.script->title,
                               duration_text(event.outcome->took));
        if (event.script == nullptr) return fmt::format("         {}", event.sentence);
        return fmt::format("         {}: {}{}", joined(event.script->checks, " "), event.sentence,
                           event.kind == SuiteEventKind::died ? "; waiting for it" : "");
    }
    // A second script of the same check has its own name.
    void keep(const std::string& id, const SuiteEvent& event) {
        const std::string& file = event.script->files.front().name;
        const std::string name =
            kept_.insert(id).second ? id : fmt::format("{}.{}", id, file.substr(0, file.find('.')));
        code_ = worse(code_, write_frames(options_.check.evidence, name, *event.outcome));
    }

    const ConformingOptions& options_;
    std::set<std::string> kept_;
    bool died_ = false;
    ExitCode code_ = ExitCode::done;
};

SuiteProgramSettings settings_of(const ConformingOptions& options, const Measures& measures,
                                 const std::vector<script::Script>& scripts) {
    SuiteProgramSettings settings{.suite = {.stage = stage_settings(options.conform, options.wire), .scripts = {}},
                                  .agent_host = options.conform.agent_host,
                                  .agent_port = agent_port(options.conform),
                                  .agent_secret = options.conform.agent_secret};
    SuiteSettings& suite = settings.suite;
    suite.profile = measures.profile;
    suite.comes_back = options.conform.comes_back.value_or(suite.comes_back);
    for (const script::Script& each : scripts) suite.scripts.push_back(&each);
    if (!options.check.only.empty() || options.check.quick)
        for (const CheckRow& check : checks())
            if (is_wanted_check(options.check, check)) suite.only.push_back(&check);
    return settings;
}

// A check that was not asked, or is undecided, is no pass.
ExitCode say_undecided(const Report& report, const VerdictCounts& counts) {
    const std::uint64_t open = counts[Verdict::not_applicable] + counts[Verdict::inconclusive];
    if (open == 0) return ExitCode::done;
    remark(
        "qpscope: {} of {} {} a verdict; {} had nothing to examine or are undecided (judge a capture of a host at work with qpscope check)\n",
        counts.all() - open, transport::counted(counts.all(), "check"), counts.all() == 1 ? "has" : "have", open);
    const bool asked = std::ranges::none_of(report.results, [](const CheckResult& result) {
        return result.check->active() &&
               (result.verdict == Verdict::inconclusive || result.verdict == Verdict::not_applicable);
    });
    return asked ? ExitCode::done : ExitCode::unjudged;
}

// "10.0.0.1, port 4420, cannot be tested as an NVMe over RDMA target: the connection to port 4420 is rejected, reason 8
// (Invalid service ID)".
std::string words_on_silence(const ConformingOptions& options, std::string_view silence) {
    constexpr std::string_view kLine = "alive:";
    if (silence.starts_with(kLine))
        silence.remove_prefix(std::min(silence.find(": ") + 2, silence.size()));  // the place in a script of ours
    const auto settings = stage_settings(options.conform, options.wire);
    return fmt::format("{}, port {}, cannot be tested as an NVMe over RDMA target: {}",
                       transport::text(settings.device),
                       static_cast<std::uint16_t>(settings.port.value_or(transport::live::IpPort{})), silence);
}

// A check that could not be asked is no pass.
ExitCode say_unasked(const Report& report, const VerdictCounts& counts) {
    const auto unasked = std::ranges::count(report.results, stage::kNoAgent, &CheckResult::reason);
    if (unasked == 0) return ExitCode::done;
    remark("qpscope: {} of {} {} a verdict; without an agent beside the device (--agent), {} cannot be asked\n",
           counts[Verdict::pass] + counts[Verdict::fail] + counts[Verdict::deviation],
           transport::counted(counts.all(), "check"), counts.all() == 1 ? "has" : "have", unasked);
    return ExitCode::unjudged;
}

// The whole in a line, with the exit code in words: "PASS 109, FAIL 2 (low), NOT TESTED 19: exit code 0, success".
std::string verdict_line(const Report& report, ExitCode code) {
    std::uint64_t passed = 0, undecided = 0, declared = 0, untested = 0;
    std::array<std::uint64_t, kCheckSeverityNames.size()> failed{};
    for (const CheckResult& result : report.results) switch (result.verdict) {
            case Verdict::pass: ++passed; break;
            case Verdict::fail: ++failed[std::to_underlying(result.check->severity)]; break;
            case Verdict::deviation: ++declared; break;
            case Verdict::not_applicable: ++untested; break;
            case Verdict::inconclusive: ++(result.reason == stage::kNoAgent ? untested : undecided); break;
        }
    const std::uint64_t all_failed = failed[0] + failed[1] + failed[2];
    std::string severities;
    for (std::size_t i = failed.size(); i-- > 0;) {
        if (failed[i] == 0) continue;
        severities += severities.empty() ? "" : ", ";
        if (failed[i] != all_failed) severities += fmt::format("{} ", failed[i]);
        severities += kCheckSeverityNames[i];
    }
    std::string text = fmt::format("PASS {}, FAIL {}{}", passed, all_failed,
                                   severities.empty() ? "" : fmt::format(" ({})", severities));
    if (undecided != 0) text += fmt::format(", INCONCLUSIVE {}", undecided);
    if (declared != 0) text += fmt::format(", DECLARED {}", declared);
    const auto row = std::ranges::find(kExitCodes, code, &ExitCodeRow::code);
    return fmt::format("{}, NOT TESTED {}: exit code {}{}\n", text, untested, static_cast<int>(code),
                       row == kExitCodes.end() ? "" : fmt::format(", {}", row->meaning));
}

void append_coverage(std::string& out, const std::vector<CoverageRow>& rows) {
    constexpr std::size_t kIndent = 8;
    std::array<std::size_t, 4> counts{};  // by a script, a capture, either, nobody
    for (const CoverageRow& row : rows) {
        std::string by = joined(row.scripts, ", ");
        if (row.probed) by = "--iwarp";
        if (row.probed_nvme) by = "--nvme";
        if (row.passive) by += by.empty() ? "a capture" : ", a capture";
        if (by.empty())
            by = row.check->exempt.empty() ? "not checked" : fmt::format("not checked: {}", row.check->exempt);
        const bool played = row.probed || row.probed_nvme || !row.scripts.empty();
        ++counts[row.passive ? (played ? 2 : 1) : played ? 0 : 3];
        append_wrapped(out, fmt::format("{:<{}}", row.check->id, kIndent), kIndent,
                       fmt::format("{}; {}", by, row.check->stimulus));
    }
    out += fmt::format("{}: {} by scripts and probes, {} by captures, {} by both, {} not checked\n",
                       transport::counted(rows.size(), "check"), counts[0], counts[1], counts[2], counts[3]);
}

void append_coverage_json(std::string& out, const std::vector<CoverageRow>& rows) {
    Document document(OutputFormat::json, out);
    document.open();
    document.add("schema", transport::kSchema);
    document.open_list("checks");
    for (const CoverageRow& row : rows) {
        document.open();
        document.add("id", row.check->id);
        document.add("looks_at", row.check->stimulus);
        document.add_texts("scripts", row.scripts);
        document.add("passive", row.passive);
        document.add("probed", row.probed || row.probed_nvme);
        document.add("exempt", row.check->exempt.empty() ? std::nullopt : std::optional(row.check->exempt));
        document.close();
    }
    document.close_list();
    document.close();
    if (!out.ends_with('\n')) out += '\n';
}

}  // namespace

constexpr dissect::Duration kQuick{120'000'000'000};  // of --quick, unless --for says otherwise

ExitCode run_suite(ConformingOptions options) {
    if (!options.conform.device)
        return fail(
            {ExitCode::usage, "missing --dut: name the device under test (or use --list, --coverage, --script-of)"});
    const auto measures = read_measures(options.check);
    if (!measures) return ExitCode::usage;
    const auto scripts = builtin(options);
    if (!scripts) return fail(scripts.error());
    Output output(options.output.path);
    if (!output.ok()) return finish(output);
    Watching watching(options);
    if (options.check.quick && !options.wire.lasts) options.wire.lasts = kQuick;
    auto settings = settings_of(options, *measures, *scripts);
    const script::Script life = nvme::sign_of_life(names_of(options.conform));
    if (options.conform.nvme) {
        settings.suite.belongs = is_of_storage;
        settings.suite.sign_of_life = &life;
    }
    const std::vector<const CheckRow*>& only = settings.suite.only;
    if (!options.check.only.empty() &&
        std::ranges::none_of(only, [&](const CheckRow* check) { return settings.suite.belongs(check->family); }))
        return fail(
            {ExitCode::usage, fmt::format("--only names no check of this suite: `qpscope conform {}--list` lists them",
                                          options.conform.nvme ? "--nvme ADDRESS " : "")});
    settings.suite.on_event = [&](const SuiteEvent& event) { watching.see(event); };
    auto made = make_suite_program(std::move(settings));
    if (!made) return fail({ExitCode::unreadable, made.error()});
    const dissect::Instant begun = SteadyTime().now();
    const ExitCode acted = act(options.wire, made->program);
    ExitCode code = worse(acted, watching.code());
    if (options.conform.nvme && !made->suite->silence().empty())
        return fail({ExitCode::unreadable, words_on_silence(options, made->suite->silence())});
    Report report = made->suite->take_report();
    std::vector<ReportFact> facts = provenance(options.command_line, options.wire, begun);
    report.facts.insert(report.facts.begin(), std::make_move_iterator(facts.begin()),
                        std::make_move_iterator(facts.end()));
    const VerdictCounts counts = count(report);
    // Nothing was asked of anybody: the wire could not be opened, say.
    if (acted != ExitCode::done && counts[Verdict::not_applicable] == report.results.size()) return code;
    code = worse(code, write_report(options.check, options.output.color, report, *measures, output));
    code = worse(code, options.conform.nvme ? say_undecided(report, counts) : say_unasked(report, counts));
    if (watching.died() && options.check.fail_on) code = worse(code, ExitCode::findings);
    if (made->suite->lost() && counts[Verdict::pass] + counts[Verdict::fail] == 0)
        code = worse(code, ExitCode::unreadable);
    if (options.check.format == CheckFormat::table) output.write(verdict_line(report, code));
    else remark("qpscope: {}", verdict_line(report, code));
    return worse(code, finish(output));
}

ExitCode list_suite(const ConformingOptions& options) {
    const auto scripts = builtin(options);
    if (!scripts) return fail(scripts.error());
    Output output(options.output.path);
    std::string text;
    for (const script::Script& each : *scripts)
        if (is_wanted(options, each)) append_listed(text, each);
    output.write(text);
    return finish(output);
}

ExitCode show_coverage(const ConformingOptions& options) {
    const CheckFormat format = options.check.format;
    if (format != CheckFormat::table && format != CheckFormat::json)
        return fail({ExitCode::usage, "--coverage is a table or json: use -f table or -f json"});
    const auto scripts = builtin(options);
    if (!scripts) return fail(scripts.error());
    auto rows = coverage(*scripts);
    std::erase_if(rows, [&](const CoverageRow& row) { return !is_wanted_check(options.check, *row.check); });
    Output output(options.output.path);
    std::string text;
    if (format == CheckFormat::json) append_coverage_json(text, rows);
    else append_coverage(text, rows);
    output.write(text);
    return finish(output);
}

}  // namespace qps::cli
