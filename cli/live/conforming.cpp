#include <cli/live/conforming.hpp>
#include <cli/live/pause_remarks.hpp>
#include <cli/message.hpp>
#include <cli/verdicts.hpp>
#include <transport-replay/conformance/agent/protocol.hpp>
#include <transport-replay/conformance/nvme/nvme_scripts.hpp>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport::conformance;

void ConformingOptions::add(OptionTable& table) {
    command_line = table.command_line();
    conform.add(table);
    filter.add_text(table.under(headings::kScripts),
                    "With --script-of: keep only packets that match this display filter");
    wire.add(table);
    check.add(table, Judged::device);
    output.add_path(table);
    input.confinement.wanted = true;  // of --script-of alone, which only reads
    table.check([this, &table] {
        input.confine(table);
        return std::string();
    });
}

std::vector<std::string> defined_names(const ConformOptions& options) {
    std::vector<std::string> names;
    for (const ConformVariable& each : options.defined) names.push_back(each.name);
    return names;
}

stage::StageSettings stage_settings(const ConformOptions& conform, const WireOptions& wire) {
    stage::StageSettings settings{.device = *conform.device, .roce_v1 = wire.roce_v1};
    if (conform.nvme) {
        settings.patience = nvme::kPatience;
        settings.port = transport::live::IpPort{nvme::kUsualPort};
    }
    settings.patience = conform.patience.value_or(settings.patience);
    settings.seed = wire.seed.value_or(settings.seed);
    if (conform.port) settings.port = transport::live::IpPort{*conform.port};
    for (const ConformVariable& each : conform.defined) settings.defined.push_back({each.name, each.value});
    return settings;
}

std::uint16_t agent_port(const ConformOptions& options) { return options.agent_port.value_or(agent::kAgentPort); }

ExitCode act(const WireOptions& options, transport::live::Program& program) {
    const SteadyTime clock;
    auto opened = open_endpoint(options, clock.now());
    if (!opened) return fail(opened.error());
    return act(options, program, *opened, clock);
}

ExitCode act(const WireOptions& options, transport::live::Program& program, OpenEndpoint& opened,
             const SteadyTime& clock) {
    if (auto settled = settle(opened.endpoint, clock); !settled) return fail(settled.error());
    if (auto begun = program.begin(opened.endpoint, clock.now()); !begun)
        return fail({ExitCode::unreadable, begun.error()});
    PauseRemarks remarks;
    const Ending ending = drive(opened.endpoint, program, options, clock, [&](dissect::Instant now) {
        if (!is_quiet()) remarks.say_new(opened.endpoint, now);
    });
    if (const auto problem = opened.endpoint.device().problem())
        say("qpscope: {}: {}\n", problem->device, problem->sentence);
    if (opened.capture)
        if (auto saved = opened.capture->commit(); !saved)
            return fail({ExitCode::output_failed, fmt::format("{}: {}", saved.error().file, saved.error().sentence)});
    if (ending == Ending::device_gone) return ExitCode::unreadable;
    return ending == Ending::interrupted ? ExitCode::interrupted : ExitCode::done;
}

ExitCode write_frames(const std::string& folder, std::string_view name, const stage::ScriptOutcome& outcome) {
    return write_evidence(
        folder, name, {}, [&](dissect::SavedCapture& saved) -> std::expected<void, dissect::OutputProblem> {
            std::string comment = fmt::format("{}: {}{}{}", name, kVerdictNames[std::to_underlying(outcome.verdict)],
                                              outcome.reason.empty() ? "" : ": ", outcome.reason);
            for (const stage::RecordedFrame& each : outcome.frames) {
                dissect::Frame frame;
                frame.bytes = each.bytes;
                frame.wire_length = static_cast<std::uint32_t>(each.bytes.size());
                frame.time = each.time;
                if (const auto written = saved.write(frame, std::exchange(comment, {})); !written) return written;
            }
            return {};
        });
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
    std::string text;
    for (const std::string& each : words) text += fmt::format("{}{}", text.empty() ? "" : between, each);
    return text;
}

void append_listed(std::string& out, const script::Script& script) {
    out += fmt::format("{}  {}\n", script.checks.empty() ? script.files.front().name : joined(script.checks, " "),
                       script.title);
    if (!script.needs.empty()) out += fmt::format("    needs {}\n", joined(script.needs, ", "));
    if (script.dangerous) out += "    dangerous: has brought devices down\n";
}

}  // namespace qps::cli
