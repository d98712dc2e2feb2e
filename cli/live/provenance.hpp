// Where a report comes from, for who files it: the program and its command line, when and where it ran.
#pragma once

#include <cli/live/options/wire_options.hpp>
#include <transport-replay/checks/verdict.hpp>

#include <span>
#include <string>
#include <vector>

namespace qps::cli {

// Before the facts of the device. `made`: when the run began.
[[nodiscard]] std::vector<transport::conformance::ReportFact> provenance(std::span<const std::string> command_line,
                                                                         const WireOptions& wire,
                                                                         dissect::Instant made);

}  // namespace qps::cli
