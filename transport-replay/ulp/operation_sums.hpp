// Operations summed up by what was asked for.
#pragma once

#include <transport-replay/model/ulp_report.hpp>

#include <vector>

namespace qps::transport {

// An operation that ended, or never will, into the sum of its protocol and code. Past kMaxOperationSums a code that is new has none.
void add(std::vector<OperationSum>& sums, const UlpOperation& operation);

}  // namespace qps::transport
