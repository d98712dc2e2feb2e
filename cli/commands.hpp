// THE table of sub-commands: what each is called, is for and takes. Help, completion and the documents derive from it.
#pragma once

#include <span>
#include <string_view>

#include "exit_code.hpp"

namespace qps::cli {

struct Options;

// Which options a command has.
struct Takes {
    bool captures = false;
    bool columns = false;
    bool written = false;
    bool frames = false;
    bool pattern = false;
    bool long_report = false;
    bool analysis = false;
    bool log_line = false;
    bool nccl_log = false;  // names of ranks
    bool interval = false;
    bool followed = false;
    bool tickets = false;
    bool picture = false;
    bool live = false;
    bool program = false;
    bool pingpong = false;
    bool conform = false;
    bool sent = false;  // packets by hand
    bool replayed = false;
    bool verdicts = false;
    bool operations = false;
    bool extracted = false;  // a slice of the capture
    bool anonymized = false;
    bool annotated = false;  // comments
    bool page = false;       // one HTML file: no other format
    bool saved = false;      // the packets go to a capture file, and nothing to standard output
    bool tables = false;   // of a database
    bool divided = false;  // into parts
    bool parts = false;    // reads parts, no captures
    bool sandbox = false;  // only reads captures, so it gives up all else (held_inputs.hpp)
};

struct Command {
    std::string_view name;
    std::string_view group;
    std::string_view summary;
    std::string_view examples;
    Takes takes;
    ExitCode (*run)(const Options&);
};

[[nodiscard]] std::span<const Command> commands();

// The command for a line that names files only.
inline constexpr std::string_view kDefaultCommand = "analyze";

}  // namespace qps::cli
