#include <cli/live/options/conform_options.hpp>
#include <cli/live/options/conversation_options.hpp>
#include <cli/live/options/number.hpp>
#include <cli/live/options/secret_file.hpp>
#include <cli/options/choice.hpp>
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

// With --iwarp or --nvme: the first option that it would pass over.
std::string beside_other_suites(const OptionTable& table, const ConformOptions& options) {
    for (const OptionRow& row : table.rows()) {
        if (row.typed.empty()) continue;
        const auto is_among = [name = fmt::format(" --{} ", row.long_name())](std::string_view names) {
            return names.contains(name);
        };
        if (options.nvme && is_among(kNotOfNvme)) return fmt::format("--nvme takes no --{}", row.long_name());
        if (options.iwarp && !is_among(kOfIwarp)) return fmt::format("--iwarp takes no --{}", row.long_name());
        if (!options.nvme && is_among(kOfNvmeAlone)) return fmt::format("--{} is of --nvme", row.long_name());
    }
    return {};
}

}  // namespace

void ConformOptions::add(OptionTable& table) {
    table.check([this, &table] { return beside_other_suites(table, *this); });
    table.under(headings::kScripts)
        .add("--script", "FILE", scripts,
             "Play this script (see docs/scripts.md), a file or a built-in one; repeatable")
        .is(PathUse::read);
    add_device(table);
    table.under(headings::kScripts);
    table
        .add(
            "--set", "NAME=NUMBER",
            [this](const std::vector<std::string>& all) {
                for (const std::string& each : all) defined.push_back(read_variable(each));
            },
            "Set a script variable")
        .each();
    table.add("--script-of", "FILE", script_of, "Write a script that replays the dialogue of this capture")
        .is(PathUse::read);
    table.flag("--list", list, "List scripts (default: the built-in ones), what they check and what they need");
    table.flag("--coverage", coverage, "List the checks of the catalogue and what decides each: scripts or a capture");
}

void ConformOptions::add_device(OptionTable& table) {
    table.under("Device under test");
    const auto add = [&](const std::string& names, const std::string& type, const std::string& meaning,
                         auto take) -> OptionRow& { return table.add(names, type, take, meaning).last(); };
    add("--dut", "ADDRESS", "Address of the device under test",
        [this](const std::string& text) { device = read_peer_address(text); });
    add("--agent", "HOST[:PORT]", "Agent on the device's host: qpscope-agent, or qpscope peer agent",
        [this](const std::string& text) { read_agent(text, *this); });
    add("--agent-secret", "FILE", "Secret shared with the agent, in a file that only you can read",
        [this](const std::string& text) { agent_secret = read_secret_file(text); })
        .is(PathUse::read);
    table.flag("--iwarp", iwarp, "Test an iWARP service of the device at --port, over TCP");
    add("--nvme", "ADDRESS", "Test the NVMe over RDMA target of this device, as its host",
        [this](const std::string& text) {
            device = read_peer_address(text);
            nvme = true;
        });
    add("--nqn", "NAME", "Subsystem to connect to, with --nvme (default: discovery)",
        [this](const std::string& text) { subsystem = read_name(text); });
    add("--host-nqn", "NAME", "Name to connect under, with --nvme",
        [this](const std::string& text) { host = read_name(text); });
    add("--port", "NUMBER",
        "rdma_cm port of the device, for --iwarp, --nvme (default: 4420) and for scripts that connect through it",
        [this](const std::string& text) { port = read_port(text); });
    const auto time = [](const std::string& text) { return read_time(text); };
    add("--timeout", "TIME",
        "Wait this long for an expected packet (default: 500ms; with --iwarp, for an answer: 2s; with --nvme: 4s)",
        into(patience, time));
    add("--recovery-time", "TIME", "Wait this long for a device that no longer answers (default: 30s)",
        into(comes_back, time));
}

}  // namespace qps::cli
