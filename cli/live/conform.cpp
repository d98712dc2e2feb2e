// `conform --script`: scripts are played with a device, and what came of each is told; or what they show is listed.
#include <cli/decoding.hpp>
#include <cli/live/conforming.hpp>
#include <cli/live/live_commands.hpp>
#include <cli/live/options/wire_options.hpp>
#include <cli/message.hpp>
#include <cli/options/check_options.hpp>
#include <transport-replay/conformance/stage/script_program.hpp>
#include <transport-replay/conformance/suite/builtin_scripts.hpp>
#include <transport-replay/report/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport::conformance;
using transport::Document;

namespace {

std::expected<std::string, std::string> text_of_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) return std::unexpected(cannot_read(path.string()));
    return text.str();
}

// A file, or, where there is none, what the program has under that name.
std::expected<std::string, std::string> text_of_script(const std::filesystem::path& path) {
    std::error_code error;
    const BuiltinScript* builtin = std::filesystem::exists(path, error) ? nullptr : find_builtin_script(path.string());
    if (builtin != nullptr) return std::string(builtin->text);
    return text_of_file(path);
}

// Whether the file is in that folder or below it, links followed.
bool stays_in(const std::filesystem::path& folder, const std::filesystem::path& file) {
    std::error_code error;
    const std::filesystem::path home = std::filesystem::weakly_canonical(folder.empty() ? "." : folder, error);
    const std::filesystem::path real = std::filesystem::weakly_canonical(file, error);
    return !error && std::ranges::mismatch(home, real).in1 == home.end();
}

// A script is handed on, and what it includes is read, and quoted where it is no script: so it may be a file beside it
// alone.
std::expected<std::string, std::string> text_of_included(const std::filesystem::path& folder,
                                                         const std::filesystem::path& name) {
    const std::filesystem::path file = folder / name;
    if (name.is_absolute() ||
        std::ranges::any_of(name, [](const std::filesystem::path& each) { return each == ".."; }) ||
        !stays_in(folder, file))
        return std::unexpected(fmt::format("cannot include {}: it is not in the folder of the script", name.string()));
    return text_of_script(file);
}

// Included files stand beside the one that includes them.
std::expected<std::vector<script::Script>, Failure> read_scripts(const ConformOptions& options) {
    std::vector<script::Script> scripts;
    for (const std::string& name : options.scripts) {
        const auto text = text_of_script(name);
        if (!text) return std::unexpected(Failure{ExitCode::unreadable, text.error()});
        const std::filesystem::path folder = std::filesystem::path(name).parent_path();
        const script::ParseOptions parse{.defined = defined_names(options), .read = [&](std::string_view included) {
                                             return text_of_included(folder, std::string(included));
                                         }};
        auto script = parse_script(name, *text, parse);
        if (!script) return std::unexpected(Failure{ExitCode::usage, explain(script.error())});
        scripts.push_back(std::move(*script));
    }
    // What may bring a device down comes last, so that the rest has been seen by then.
    std::ranges::stable_partition(scripts, [](const script::Script& each) { return !each.dangerous; });
    return scripts;
}

std::string label_of(const script::Script& script) {
    return script.checks.empty() ? script.files.front().name : joined(script.checks, " ");
}

class OutcomePrinter {
public:
    OutcomePrinter(const ConformingOptions& options, Output& output)
        : table_(options.check.format == CheckFormat::table), output_(output), document_(OutputFormat::json, text_) {
        if (table_) return;
        document_.open();
        document_.add("schema", transport::kSchema);
        document_.open_list("scripts");
    }

    void print(const script::Script& script, const stage::ScriptOutcome& outcome) {
        counts_[static_cast<std::size_t>(outcome.verdict)] += 1;
        if (!table_) return print_json(script, outcome);
        std::string text = fmt::format("{:<14}  {}  {}\n", name(outcome.verdict), label_of(script), script.title);
        if (!outcome.reason.empty() && outcome.detail.empty()) text += fmt::format("    {}\n", outcome.reason);
        if (!outcome.detail.empty()) text += fmt::format("    {}\n", outcome.detail);
        output_.write(printable_lines(text));
        output_.flush();
    }
    void finish() {
        std::string text;
        if (table_) {
            for (std::size_t i = 0; i < counts_.size(); ++i)
                if (counts_[i] > 0)
                    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts_[i], kVerdictNames[i]);
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
    void print_json(const script::Script& script, const stage::ScriptOutcome& outcome) {
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

    bool table_;
    Output& output_;
    std::string text_;
    Document document_;
    std::array<std::uint64_t, kVerdictNames.size()> counts_{};
};

ExitCode list(const std::vector<script::Script>& scripts, Output& output) {
    std::string text;
    for (const script::Script& script : scripts) append_listed(text, script);
    output.write(printable_lines(text));
    return finish(output);
}

ExitCode run_scripts(const ConformingOptions& options, const std::vector<script::Script>& scripts, Output& output) {
    OutcomePrinter printer(options, output);
    ExitCode kept = ExitCode::done;
    const auto print = [&](const script::Script& script, const stage::ScriptOutcome& outcome) {
        printer.print(script, outcome);
        if (options.check.evidence.empty() || outcome.frames.empty()) return;
        const std::string name = std::filesystem::path(script.files.front().name).stem().string();
        kept = worse(kept, write_frames(options.check.evidence, name, outcome));
    };
    stage::ScriptProgramSettings settings{.stage = stage_settings(options.conform, options.wire),
                                          .scripts = {},
                                          .agent_host = options.conform.agent_host,
                                          .agent_port = agent_port(options.conform),
                                          .agent_secret = options.conform.agent_secret,
                                          .on_outcome = print};
    for (const script::Script& each : scripts) settings.scripts.push_back(&each);
    auto program = stage::make_script_program(std::move(settings));
    if (!program) return fail({ExitCode::unreadable, program.error()});
    const ExitCode acted = act(options.wire, *program);
    printer.finish();
    const bool bad = printer.count(Verdict::fail) + printer.count(Verdict::inconclusive) > 0;
    const bool any = acted == ExitCode::done || acted == ExitCode::interrupted;
    return worse(worse(acted, kept), worse(bad ? ExitCode::findings : ExitCode::done, finish(output, any)));
}

ExitCode run_conform(const ConformingOptions& options) {
    const ConformOptions& conform = options.conform;
    if (!conform.script_of.empty()) return write_script_of(options);
    if (conform.coverage) return show_coverage(options);
    if (conform.iwarp) return run_iwarp_suite(options);
    if (conform.scripts.empty()) return conform.list ? list_suite(options) : run_suite(options);
    const CheckOptions& check = options.check;
    if (check.format != CheckFormat::table && check.format != CheckFormat::json)
        return fail({ExitCode::usage, "results of scripts are a table or json: use -f table or -f json"});
    if (!check.only.empty() || !check.profile.empty() || !check.compare.empty())
        return fail({ExitCode::usage, "--only, --profile and --compare apply to the suite: omit --script"});
    const auto scripts = read_scripts(conform);
    if (!scripts) return fail(scripts.error());
    Output output(options.output.path);
    if (!output.ok()) return finish(output);
    if (conform.list) return list(*scripts, output);
    if (!conform.device) return fail({ExitCode::usage, "missing --dut: name the device under test"});
    return run_scripts(options, *scripts, output);
}

}  // namespace

const Command kConformCommand = wire_command(
    "conform",
    "  qpscope conform --dut 10.77.0.11 -i eth1 --agent 10.77.0.11 --agent-secret lab.secret   # the suite\n"
    "  qpscope conform --dut 10.77.0.11 -i eth1 --agent 10.77.0.11 --agent-secret lab.secret --only RSP --profile nic.profile\n"
    "  qpscope conform ... --recovery-time 3m --evidence packets -f html -o report.html\n"
    "  qpscope conform ... -f json -o new.json --compare old.json                        # between two firmwares\n"
    "  qpscope conform --iwarp --dut 10.77.0.11 --port 7174                              # an iWARP service: rping -s, ...\n"
    "  qpscope conform --nvme 10.77.0.11 -i eth1                                         # an NVMe over RDMA target\n"
    "  qpscope conform --coverage\n"
    "  qpscope conform --script rsp-05.script --dut 10.77.0.11 -i eth1 --agent 10.77.0.11 --agent-secret lab.secret\n"
    "  qpscope conform --script cm-05.script --dut 127.0.0.1 --via udp -a 127.0.0.2      # without root or agent\n"
    "  qpscope conform --list --script rsp-05.script\n"
    "  qpscope conform --script-of trace.pcapng -Y 'infiniband.bth.destqp in {17, 18}' -o again.script",
    prepared<ConformingOptions, run_conform>);

}  // namespace qps::cli
