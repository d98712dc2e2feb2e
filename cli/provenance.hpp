// Where a report comes from, for who files it: the program and its command line, when and where it ran.
#pragma once

#include <transport-replay/checks/verdict.hpp>

#include <string>
#include <vector>

#include "options.hpp"

namespace qps::cli {

// As a shell takes it again.
[[nodiscard]] std::string command_line_of(int argc, char** argv);

// Before the facts of the device. `made`: when the run began.
[[nodiscard]] std::vector<transport::conformance::ReportFact> provenance(const Options& options, dissect::Instant made);

}  // namespace qps::cli
