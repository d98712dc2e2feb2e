// Runs the sub-command that a command line names, with the options that it gives.
#pragma once

#include <cli/commands.hpp>

#include <span>
#include <string>
#include <string_view>

namespace qps::cli {

struct Program {
    std::span<const Command* const> commands;  // that it runs itself
    std::span<const CommandName> elsewhere;    // of another program, which --help lists too
    std::string_view default_command;          // of a line that names files only; empty: there is none
    bool on_a_wire = false;                    // its commands do not look whether an output is one of their captures
};

// Exit code of the process.
[[nodiscard]] int run_program(const Program& program, int argc, char** argv);

// A command line in one text, quoted so that a shell takes it again.
[[nodiscard]] std::string command_text(std::span<const std::string> words);

}  // namespace qps::cli
