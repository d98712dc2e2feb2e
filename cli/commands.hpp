// THE table of sub-commands. What each is called, is for and takes stands in the source that has its name; help,
// completion and the documents derive from it.
#pragma once

#include <cli/exit_code.hpp>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace qps::cli {

class OptionTable;

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
    // Writes its options into the table. What it returns runs the command with them, once they are read.
    std::function<ExitCode()> (*prepare)(OptionTable& table);
};

// Of a command whose options are `Options`, made of blocks.
template <class Options, ExitCode (*run)(const Options&)> std::function<ExitCode()> prepared(OptionTable& table) {
    auto options = std::make_shared<Options>();  // rows of the table point into it
    options->add(table);
    return [options] { return run(*options); };
}

// Those that read captures, and doctor.
extern const Command kSeriesCommand, kAnalyzeCommand, kFindingsCommand, kConnectionsCommand, kMessagesCommand,
    kOperationsCommand, kTimelineCommand, kCmCommand, kFabricCommand, kCheckCommand, kExportCommand, kMergeCommand,
    kInfoCommand, kPacketsCommand, kShowCommand, kFollowCommand, kFieldsCommand, kReportCommand, kExtractCommand,
    kAnnotateCommand, kAnonymizeCommand, kCaseCommand, kCollectCommand, kDoctorCommand;

// In the order of --help.
[[nodiscard]] std::span<const Command* const> commands();

// The command for a line that names files only.
inline constexpr std::string_view kDefaultCommand = "analyze";

}  // namespace qps::cli
