// Verdicts on a terminal: what failed first, then what is open, then a line of counts.
#pragma once

#include <transport-replay/checks/report/comparison.hpp>

#include <string>

namespace qps::cli {

// `all`: what passed and what does not apply too, each in a line.
void append_verdicts(std::string& out, const transport::conformance::Report& report, bool all, bool color);
void append_comparison(std::string& out, const transport::conformance::Comparison& comparison, bool color);

}  // namespace qps::cli
