// Runs the sub-command that a command line names, with the options that it gives.
#pragma once

#include <cli/commands.hpp>

#include <span>
#include <string>
#include <string_view>

// NOLINTNEXTLINE(readability-identifier-naming): the library calls itself so
namespace CLI {
class App;
}

namespace qps::cli {

struct Options;
struct WireOptions;

struct Program {
    std::span<const Command> commands;       // that it runs itself
    std::span<const CommandName> elsewhere;  // of another program, which --help lists too
    std::string_view default_command;        // of a line that names files only; empty: there is none
    // Adds what a command of its own takes.
    void (*add_options)(CLI::App& app, const Command& command, Options& options) = nullptr;
    // Once all options are known: throws CLI11's error where they contradict each other. May be missing.
    void (*check)(const CLI::App& app, const Command& command, const Options& options) = nullptr;
    WireOptions* wire = nullptr;  // of Options
};

// Exit code of the process.
[[nodiscard]] int run_program(const Program& program, int argc, char** argv);

// A command line in one text, quoted so that a shell takes it again.
[[nodiscard]] std::string command_text(std::span<const std::string> words);

// Options that both programs have.
void add_memory(CLI::App& app, Options& options);
void add_format(CLI::App& app, Options& options, const std::string& meaning);
void add_output(CLI::App& app, Options& options);

}  // namespace qps::cli
