// The table of sub-commands that speak on a wire: names and summaries are those that qpscope lists.
#include <cli/live/live_commands.hpp>
#include <cli/message.hpp>
#include <cli/options/command_line.hpp>
#include <cli/wire_program.hpp>

#include <array>
#include <string>

#include <fmt/format.h>

namespace qps::cli {

namespace {

constexpr std::array kCommands{&kPeerCommand, &kPingpongCommand, &kReplayCommand, &kSendCommand, &kConformCommand};
static_assert(kCommands.size() == kWireCommands.size());

}  // namespace

std::span<const Command* const> wire_commands() { return kCommands; }

int run_live(int argc, char** argv) {
    const std::string_view word = argc > 1 ? argv[1] : "";
    if (!word.starts_with('-') && !names_wire_command(argc, argv)) {
        std::string names;
        for (const CommandName& command : kWireCommands)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", command.name);
        say("qpscope-live: {}: expected {}; run qpscope for all other commands\n",
            word.empty() ? "missing command" : fmt::format("not a command on a wire '{}'", word), names);
        return static_cast<int>(ExitCode::usage);
    }
    return run_program({.commands = wire_commands(), .elsewhere = {}, .default_command = {}, .on_a_wire = true}, argc,
                       argv);
}

}  // namespace qps::cli
