// Operations summed up by what was asked for.
#pragma once

#include <transport-replay/model/ulp_report.hpp>

#include <vector>

namespace qps::transport {

// An operation that ended, or never will, into the sum of its protocol and code. Past kMaxOperationSums a code that is
// new has none.
void add(std::vector<OperationSum>& sums, const UlpOperation& operation);
// Those of single connections become those of all.
void join_connections(std::vector<OperationSum>& sums);
// The sums of another part; then all in the order in which they were first asked for.
void merge(std::vector<OperationSum>& sums, std::vector<OperationSum>&& part);

}  // namespace qps::transport
