// THE table of sub-commands: what each is called, is for and takes. Help, completion and the documents derive from it.
#pragma once

#include <cli/exit_code.hpp>

#include <array>
#include <span>
#include <string_view>

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
    bool tables = false;     // of a database
    bool divided = false;    // into parts
    bool parts = false;      // reads parts, no captures
    bool sandbox = false;    // only reads captures, so it gives up all else (held_inputs.hpp)
};

// The headings of --help: commands by purpose.
inline constexpr std::string_view kAnalyse = "Analyse a capture";
inline constexpr std::string_view kLookAt = "Inspect packets";
inline constexpr std::string_view kHandOn = "Share a capture";
inline constexpr std::string_view kOnAWire = "Live traffic";

// A command as --help lists it.
struct CommandName {
    std::string_view name;
    std::string_view group;
    std::string_view summary;
};

// Those that speak on a wire. They are of another program, qpscope-live, which qpscope executes for them, so that what
// reads captures of strangers has no code that sends, and is built without it.
inline constexpr std::array kWireCommands{
    CommandName{"peer", kOnAWire, "Run a live endpoint: serve or call rping, perftest and others"},
    CommandName{"pingpong", kOnAWire, "Measure round-trip times of a live peer and their CPU cost, beside TCP and UDP"},
    CommandName{"replay", kOnAWire,
                "Send a capture's frames, or play one end of a recorded connection against a live peer"},
    CommandName{"send", kOnAWire,
                "Send single packets, written as lines or changed from a capture, and show what comes back"},
    CommandName{"conform", kOnAWire, "Test a device for conformance with the suite or with scripts"},
};

struct Command {
    std::string_view name;
    std::string_view group;
    std::string_view summary;
    std::string_view examples;
    Takes takes;
    ExitCode (*run)(const Options&);
};

// Those that read captures, and doctor.
[[nodiscard]] std::span<const Command> commands();

// The command for a line that names files only.
inline constexpr std::string_view kDefaultCommand = "analyze";

}  // namespace qps::cli
