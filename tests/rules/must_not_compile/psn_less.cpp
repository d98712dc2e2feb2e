// Sequence numbers wrap: which comes first is a question for before(), not for an order of integers.
// error: (no match for 'operator<'|invalid operands to binary expression)
#include <dissect/base/types.hpp>

bool earlier(qps::dissect::Psn a, qps::dissect::Psn b) { return a < b; }
