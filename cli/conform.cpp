// `conform`: scripts are played with a device, and what came of each is told; or what they show is listed.
#include <transport-replay/conformance/agent/protocol.hpp>
#include <transport-replay/conformance/script/parser.hpp>
#include <transport-replay/conformance/stage/script_program.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "command.hpp"
#include "driving.hpp"
#include "output.hpp"
#include <fmt/format.h>

namespace qps::cli {

using namespace transport::conformance;
using transport::Document;

namespace {

ExitCode fail(const Failure& failure) {
    fmt::print(stderr, "qpscope: {}\n", failure.sentence);
    return failure.code;
}

std::expected<std::string, std::string> text_of_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) return std::unexpected(fmt::format("{} cannot be read", path.string()));
    return text.str();
}

std::vector<std::string> names_of(const ConformOptions& options) {
    std::vector<std::string> names;
    for (const ConformVariable& each : options.defined) names.push_back(each.name);
    return names;
}

// Included files stand beside the one that includes them.
std::expected<std::vector<script::Script>, Failure> read_scripts(const ConformOptions& options) {
    std::vector<script::Script> scripts;
    for (const std::string& name : options.scripts) {
        const auto text = text_of_file(name);
        if (!text) return std::unexpected(Failure{ExitCode::unreadable, text.error()});
        const std::filesystem::path folder = std::filesystem::path(name).parent_path();
        const script::ParseOptions parse{.defined = names_of(options),
                                         .read = [&](std::string_view included) { return text_of_file(folder / std::string(included)); }};
        auto script = parse_script(name, *text, parse);
        if (!script) return std::unexpected(Failure{ExitCode::usage, explain(script.error())});
        scripts.push_back(std::move(*script));
    }
    // What may bring a device down comes last, so that the rest has been seen by then.
    std::ranges::stable_partition(scripts, [](const script::Script& each) { return !each.dangerous; });
    return scripts;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
    std::string text;
    for (const std::string& each : words) text += fmt::format("{}{}", text.empty() ? "" : between, each);
    return text;
}

std::string label_of(const script::Script& script) {
    return script.checks.empty() ? script.files.front().name : joined(script.checks, " ");
}

class Telling {
public:
    Telling(const Options& options, Output& output) : options_(options), output_(output), document_(options.format, text_) {
        if (options_.format == OutputFormat::table) return;
        document_.open();
        document_.add("schema", transport::kSchema);
        document_.open_list("scripts");
    }

    void tell(const script::Script& script, const stage::ScriptOutcome& outcome) {
        counts_[static_cast<std::size_t>(outcome.verdict)] += 1;
        if (options_.format != OutputFormat::table) return tell_programs(script, outcome);
        std::string text = fmt::format("{:<14}  {}  {}\n", name(outcome.verdict), label_of(script), script.title);
        if (!outcome.reason.empty() && outcome.detail.empty()) text += fmt::format("    {}\n", outcome.reason);
        if (!outcome.detail.empty()) text += fmt::format("    {}\n", outcome.detail);
        output_.write(text);
        output_.flush();
    }
    void finish() {
        std::string text;
        if (options_.format == OutputFormat::table) {
            for (std::size_t i = 0; i < counts_.size(); ++i)
                if (counts_[i] > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts_[i], kVerdictNames[i]);
            output_.write(text + "\n");
        } else {
            document_.close_list();
            document_.close();
            output_.write(text_ + "\n");
        }
        output_.flush();
    }
    [[nodiscard]] std::uint64_t count(Verdict verdict) const { return counts_[static_cast<std::size_t>(verdict)]; }

private:
    void tell_programs(const script::Script& script, const stage::ScriptOutcome& outcome) {
        document_.open();
        document_.add("script", std::string_view(script.files.front().name));
        document_.add_texts("checks", script.checks);
        document_.add("title", std::string_view(script.title));
        document_.add("verdict", name(outcome.verdict));
        document_.add("reason", std::string_view(outcome.reason));
        document_.add("detail", std::string_view(outcome.detail));
        document_.add("examined", outcome.examined);
        document_.add("took_ns", static_cast<std::int64_t>(outcome.took));
        document_.close();
    }

    const Options& options_;
    Output& output_;
    std::string text_;
    Document document_;
    std::array<std::uint64_t, kVerdictNames.size()> counts_{};
};

ExitCode list(const std::vector<script::Script>& scripts, Output& output) {
    for (const script::Script& script : scripts) {
        std::string text = fmt::format("{}  {}\n", label_of(script), script.title);
        if (!script.needs.empty()) text += fmt::format("    needs {}\n", joined(script.needs, ", "));
        if (script.dangerous) text += "    dangerous: devices were seen to die of it\n";
        output.write(text);
    }
    output.flush();
    return output.ok() ? ExitCode::done : fail({ExitCode::output_failed, output.problem()});
}

stage::ScriptProgramSettings settings_of(const Options& options, const std::vector<script::Script>& scripts) {
    const ConformOptions& conform = options.conform;
    stage::ScriptProgramSettings settings{.stage = {.device = *conform.device, .roce_v1 = options.live.roce_v1},
                                          .scripts = {},
                                          .agent_host = conform.agent_host,
                                          .agent_port = conform.agent_port.value_or(agent::kAgentPort),
                                          .told = {}};
    settings.stage.patience = conform.patience.value_or(settings.stage.patience);
    settings.stage.seed = options.live.seed.value_or(settings.stage.seed);
    if (conform.port) settings.stage.port = transport::live::IpPort{*conform.port};
    for (const ConformVariable& each : conform.defined) settings.stage.defined.push_back({each.name, each.value});
    for (const script::Script& each : scripts) settings.scripts.push_back(&each);
    return settings;
}

}  // namespace

ExitCode run_conform(const Options& options) {
    const ConformOptions& conform = options.conform;
    if (!conform.script_of.empty()) return write_script_of(options);
    if (conform.scripts.empty()) return fail({ExitCode::usage, "name a script with --script"});
    const auto scripts = read_scripts(conform);
    if (!scripts) return fail(scripts.error());
    Output output(options);
    if (!output.ok()) return fail({ExitCode::output_failed, output.problem()});
    if (conform.list) return list(*scripts, output);
    if (!conform.device) return fail({ExitCode::usage, "name the device under test with --dut"});
    Telling telling(options, output);
    auto settings = settings_of(options, *scripts);
    settings.told = [&](const script::Script& script, const stage::ScriptOutcome& outcome) { telling.tell(script, outcome); };
    const SteadyTime clock;
    auto opened = open_endpoint(options.live, clock.now());
    if (!opened) return fail(opened.error());
    if (auto settled = settle(opened->endpoint, clock); !settled) return fail(settled.error());
    auto program = stage::make_script_program(std::move(settings));
    if (!program) return fail({ExitCode::unreadable, program.error()});
    if (auto begun = program->begin(opened->endpoint, clock.now()); !begun) return fail({ExitCode::unreadable, begun.error()});
    const Ending ending = drive(opened->endpoint, *program, options.live, clock, [](dissect::Instant) {});
    telling.finish();
    if (const auto problem = opened->endpoint.device().problem())
        fmt::print(stderr, "qpscope: {}: {}\n", problem->device, problem->sentence);
    if (opened->capture)
        if (auto saved = opened->capture->commit(); !saved)
            return fail({ExitCode::output_failed, fmt::format("{}: {}", saved.error().file, saved.error().sentence)});
    if (!output.ok()) return fail({ExitCode::output_failed, output.problem()});
    if (ending == Ending::device_gone) return ExitCode::unreadable;
    if (ending == Ending::interrupted) return ExitCode::interrupted;
    return telling.count(Verdict::fail) + telling.count(Verdict::inconclusive) > 0 ? ExitCode::findings : ExitCode::done;
}

}  // namespace qps::cli
