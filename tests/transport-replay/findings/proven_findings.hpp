// A finding of each row of the table, drawn from a timeline that has what it is about.
#pragma once

#include <transport-replay/model/finding.hpp>

#include <vector>

namespace qps::tests {

// In the order of the table.
[[nodiscard]] std::vector<transport::Finding> proven_findings();

}  // namespace qps::tests
