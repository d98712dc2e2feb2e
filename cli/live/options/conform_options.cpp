#include <CLI/CLI.hpp>
#include <cli/live/options/conform_options.hpp>
#include <cli/live/options/conversation_options.hpp>
#include <cli/live/options/live_options.hpp>
#include <cli/options/refuse.hpp>
#include <cli/quantity.hpp>
#include <dissect/base/parse_value.hpp>
#include <transport-replay/conformance/nvme/nvme_scripts.hpp>
#include <transport-replay/conformance/script/expression.hpp>

#include <fmt/format.h>

namespace qps::cli {

namespace {

std::uint16_t read_port(const std::string& text) {
    const auto port = dissect::parse_decimal(text, 65535);
    if (!port || *port == 0) refuse(fmt::format("invalid port '{}': expected 1 to 65535", text));
    return static_cast<std::uint16_t>(*port);
}

// HOST, HOST:PORT, [ADDRESS]:PORT, or an address of IPv6.
void read_agent(const std::string& text, ConformOptions& options) {
    if (const auto named = read_peer_name(text)) {
        options.agent_host = transport::text(named->address);
        if (named->port) options.agent_port = static_cast<std::uint16_t>(*named->port);
        return;
    }
    const std::size_t colon = text.rfind(':');
    options.agent_host = text.substr(0, colon);
    if (colon != std::string::npos) options.agent_port = read_port(text.substr(colon + 1));
    if (options.agent_host.empty()) refuse(fmt::format("invalid agent '{}': expected HOST or HOST:PORT", text));
}

ConformVariable read_variable(const std::string& text) {
    using namespace transport::conformance::script;
    const std::size_t equals = text.find('=');
    const auto expression =
        parse_expression(equals == std::string::npos ? std::string_view{} : std::string_view(text).substr(equals + 1));
    const auto value = expression ? evaluate(*expression, [](std::string_view) { return std::nullopt; })
                                  : std::unexpected(std::string{});
    if (!value || !is_name(std::string_view(text).substr(0, equals)))
        refuse(fmt::format("invalid variable '{}': expected NAME=NUMBER", text));
    return {text.substr(0, equals), *value};
}

// What `--iwarp` heeds; all other options are about frames and scripts, which it has not.
constexpr std::string_view kOfIwarp =
    " --iwarp --dut --port --timeout --profile --only --fail-on --compare --all --format --output --quiet ";

// What `--nvme` passes over: scripts of others, agents, and what says again whom to test.
constexpr std::string_view kNotOfNvme =
    " --dut --iwarp --script --script-of --filter --set --agent --agent-secret --coverage ";
constexpr std::string_view kOfNvmeAlone = " --nqn --host-nqn ";

// An NVMe qualified name, as far as a Connect has room for it (Base 4.5).
std::string read_name(const std::string& text) {
    using transport::conformance::nvme::kMostNqn;
    if (text.empty() || text.size() > kMostNqn)
        refuse(fmt::format("invalid NVMe qualified name '{}': expected 1 to {} bytes", text, kMostNqn));
    return text;
}

}  // namespace

void refuse_beside_other_suites(const CLI::App& app, const ConformOptions& options) {
    for (const CLI::Option* option : app.get_options()) {
        if (option->count() == 0 || option->get_lnames().empty()) continue;
        const std::string& name = option->get_lnames().front();
        const auto is_among = [&](std::string_view names) { return names.contains(fmt::format(" --{} ", name)); };
        if (options.nvme && is_among(kNotOfNvme)) refuse(fmt::format("--nvme takes no --{}", name));
        if (options.iwarp && !is_among(kOfIwarp)) refuse(fmt::format("--iwarp takes no --{}", name));
        if (!options.nvme && is_among(kOfNvmeAlone)) refuse(fmt::format("--{} is of --nvme", name));
    }
}

void add_conform_options(CLI::App& app, ConformOptions& options) {
    const auto add = [&](const std::string& names, const std::string& type, const std::string& meaning, auto take) {
        return app.add_option_function<std::string>(names, take, meaning)
            ->type_name(type)
            ->allow_extra_args(false)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    };
    app.add_option("--script", options.scripts,
                   "Play this script (see docs/scripts.md), a file or a built-in one; repeatable")
        ->type_name("FILE")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    add("--dut", "ADDRESS", "Address of the device under test", [&options](const std::string& text) {
        options.device = read_address(text);
        if (!options.device) refuse(fmt::format("invalid IP address '{}'", text));
    });
    add("--agent", "HOST[:PORT]", "Agent on the device's host: qpscope-agent, or qpscope peer agent",
        [&options](const std::string& text) { read_agent(text, options); });
    add("--agent-secret", "FILE", "Secret shared with the agent, in a file that only you can read",
        [&options](const std::string& text) { options.agent_secret = read_secret_file(text); });
    app.add_flag("--iwarp", options.iwarp, "Test an iWARP service of the device at --port, over TCP");
    add("--nvme", "ADDRESS", "Test the NVMe over RDMA target of this device, as its host",
        [&options](const std::string& text) {
            options.device = read_address(text);
            if (!options.device) refuse(fmt::format("invalid IP address '{}'", text));
            options.nvme = true;
        });
    add("--nqn", "NAME", "Subsystem to connect to, with --nvme (default: discovery)",
        [&options](const std::string& text) { options.subsystem = read_name(text); });
    add("--host-nqn", "NAME", "Name to connect under, with --nvme",
        [&options](const std::string& text) { options.host = read_name(text); });
    add("--port", "NUMBER",
        "rdma_cm port of the device, for --iwarp, --nvme (default: 4420) and for scripts that connect through it",
        [&options](const std::string& text) { options.port = read_port(text); });
    const auto add_time = [&](const std::string& names, std::optional<dissect::Duration>& target,
                              const std::string& meaning) {
        add(names, "TIME", meaning, [&target](const std::string& text) {
            const auto time = read_time(text, "time");
            if (!time) refuse(time.error());
            target = *time;
        });
    };
    add_time(
        "--timeout", options.patience,
        "Wait this long for an expected packet (default: 500ms; with --iwarp, for an answer: 2s; with --nvme: 4s)");
    add_time("--recovery-time", options.comes_back,
             "Wait this long for a device that no longer answers (default: 30s)");
    app.add_option_function<std::vector<std::string>>(
           "--set",
           [&options](const std::vector<std::string>& all) {
               for (const std::string& each : all) options.defined.push_back(read_variable(each));
           },
           "Set a script variable")
        ->type_name("NAME=NUMBER")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--script-of", options.script_of, "Write a script that replays the dialogue of this capture")
        ->type_name("FILE");
    app.add_flag("--list", options.list,
                 "List scripts (default: the built-in ones), what they check and what they need");
    app.add_flag("--coverage", options.coverage,
                 "List the checks of the catalogue and what decides each: scripts or a capture");
}

}  // namespace qps::cli
