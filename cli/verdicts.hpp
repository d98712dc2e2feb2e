// What commands that give verdicts have in common: what a user measures by, the report in any format, packets as
// evidence.
//
// What an attacker could feed: a profile, an earlier report. Both are read with bounds on their length, before the
// sandbox, and parsed by the library, in it.
#pragma once

#include <cli/exit_code.hpp>
#include <cli/options/check_options.hpp>
#include <cli/options/output_options.hpp>
#include <cli/output.hpp>
#include <dissect/capture/saved_capture.hpp>
#include <transport-replay/checks/profile.hpp>
#include <transport-replay/checks/report/comparison.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace qps::cli {

// What the device declares of itself; what was before.
struct Measures {
    transport::conformance::Profile profile;
    std::optional<transport::conformance::EarlierReport> earlier;
};
// Their bytes, as --profile and --compare have them.
struct MeasureFiles {
    std::string profile;
    std::string compare;
};
// All three print what is wrong, and return nothing then.
[[nodiscard]] std::optional<MeasureFiles> read_measure_files(const CheckOptions& options);
[[nodiscard]] std::optional<Measures> measures_of(const CheckOptions& options, const MeasureFiles& files);
// Both at once, of commands on a wire, which have no sandbox.
[[nodiscard]] std::optional<Measures> read_measures(const CheckOptions& options);

// By its own name or that of its family.
[[nodiscard]] bool is_wanted_check(const CheckOptions& options, const transport::conformance::CheckRow& check);

// In the format that the options want. The exit code is that of --fail-on.
[[nodiscard]] ExitCode write_report(const CheckOptions& options, ColorMode color,
                                    const transport::conformance::Report& report, const Measures& measures,
                                    Output& output);

// NAME.pcapng in the folder of --evidence, which is made where it is not there. Prints what goes wrong.
using FillCapture = std::function<std::expected<void, dissect::OutputProblem>(dissect::SavedCapture& capture)>;
[[nodiscard]] ExitCode write_evidence(const std::string& folder, std::string_view name,
                                      std::span<const std::string> inputs, const FillCapture& fill);

}  // namespace qps::cli
