// Where a report comes from, for who files it: the program and its command line, when and where it ran.
#pragma once

#include <cli/options.hpp>
#include <transport-replay/checks/verdict.hpp>

#include <string>
#include <vector>

namespace qps::cli {

// Before the facts of the device. `made`: when the run began.
[[nodiscard]] std::vector<transport::conformance::ReportFact> provenance(const Options& options, dissect::Instant made);

}  // namespace qps::cli
