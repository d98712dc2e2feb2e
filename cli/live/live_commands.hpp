// The sub-commands of qpscope-live: each stands in the source that has its name.
#pragma once

#include <cli/commands.hpp>

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>

namespace qps::cli {

// A command with the row that `name` has in kWireCommands; there must be one.
consteval Command wire_command(std::string_view name, std::string_view examples,
                               std::function<ExitCode()> (*prepare)(OptionTable& table)) {
    const CommandName& row = *std::ranges::find(kWireCommands, name, &CommandName::name);
    return {row.name, row.group, row.summary, examples, prepare};
}

extern const Command kPeerCommand, kPingpongCommand, kReplayCommand, kSendCommand, kConformCommand;

[[nodiscard]] std::span<const Command* const> wire_commands();

// The whole program. Exit code of the process.
[[nodiscard]] int run_live(int argc, char** argv);

}  // namespace qps::cli
