// The sub-commands of qpscope-live: one function each, and the table of them.
#pragma once

#include <cli/commands.hpp>
#include <cli/exit_code.hpp>

#include <span>
#include <string>

namespace qps::cli {

struct Options;

[[nodiscard]] ExitCode run_conform(const Options& options);
[[nodiscard]] ExitCode run_peer(const Options& options);
[[nodiscard]] ExitCode run_pingpong(const Options& options);
[[nodiscard]] ExitCode run_replay(const Options& options);
[[nodiscard]] ExitCode run_replay_conversation(const Options& options);  // replay --as
[[nodiscard]] ExitCode run_send(const Options& given);
[[nodiscard]] ExitCode write_script_of(const Options& given);  // conform --script-of

[[nodiscard]] std::span<const Command> wire_commands();

// The programs of `peer`, a line each.
[[nodiscard]] std::string program_list();

// The whole program. Exit code of the process.
[[nodiscard]] int run_live(int argc, char** argv);

}  // namespace qps::cli
