// What `conform` does with a device under test, whether it plays scripts or the suite.
#pragma once

#include <cli/live/driving.hpp>
#include <cli/live/options/conform_options.hpp>
#include <cli/options/check_options.hpp>
#include <cli/options/filter_options.hpp>
#include <cli/options/input_options.hpp>
#include <cli/options/output_options.hpp>
#include <transport-replay/conformance/stage/stage.hpp>

namespace qps::cli {

// Names of the variables that the options define.
[[nodiscard]] std::vector<std::string> defined_names(const ConformOptions& options);
// Of --dut and all that belongs to it; --dut is there.
[[nodiscard]] transport::conformance::stage::StageSettings stage_settings(const ConformOptions& conform,
                                                                          const WireOptions& wire);
[[nodiscard]] std::uint16_t agent_port(const ConformOptions& options);

// An endpoint as the options say; the program acts there until it is done, and the capture (-w) takes its name. The
// exit code is done, or what ended it: said.
[[nodiscard]] ExitCode act(const WireOptions& options, transport::live::Program& program);
// The same with an endpoint that is there.
[[nodiscard]] ExitCode act(const WireOptions& options, transport::live::Program& program, OpenEndpoint& opened,
                           const SteadyTime& clock);

// What was played, as NAME.pcapng of that folder.
[[nodiscard]] ExitCode write_frames(const std::string& folder, std::string_view name,
                                    const transport::conformance::stage::ScriptOutcome& outcome);

[[nodiscard]] std::string joined(const std::vector<std::string>& words, std::string_view between);
// What a script shows and needs, for people.
void append_listed(std::string& out, const transport::conformance::script::Script& script);

// What `conform` takes.
struct ConformingOptions {
    ConformOptions conform;
    FilterOptions filter;  // of --script-of
    InputOptions input;    // likewise
    WireOptions wire;
    CheckOptions check;
    OutputOptions output;
    std::vector<std::string> command_line;  // of the report

    void add(OptionTable& table);
};

[[nodiscard]] ExitCode run_suite(ConformingOptions options);               // conform without a script
[[nodiscard]] ExitCode list_suite(const ConformingOptions& options);       // conform --list
[[nodiscard]] ExitCode run_iwarp_suite(const ConformingOptions& options);  // conform --iwarp
[[nodiscard]] ExitCode show_coverage(const ConformingOptions& options);    // conform --coverage
[[nodiscard]] ExitCode write_script_of(const ConformingOptions& given);    // conform --script-of

}  // namespace qps::cli
