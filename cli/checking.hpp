// The passive suite beside the analysis of a command: what it must hear of the packets, and what it says at the end.
#pragma once

#include <cli/analyzing.hpp>
#include <cli/verdicts.hpp>
#include <transport-replay/analysis/lane_suites.hpp>

namespace qps::cli {

// All that the suites must hear. They outlive the listening.
[[nodiscard]] Listening listening_of(transport::LaneSuites& suites);

// What the suite says of a capture whose files are those of the options, written as the options want it. The exit code
// is that of --fail-on and of a device that is not there.
struct Verdicts {
    transport::conformance::Report report;
    ExitCode code = ExitCode::done;
};
[[nodiscard]] Verdicts write_verdicts(const ListingOptions& options, const CheckOptions& check,
                                      const Measures& measures, const transport::Timeline& timeline,
                                      const transport::conformance::PassiveRecord& record, Output& output);

}  // namespace qps::cli
