// A naked integer says nothing of what it counts.
// error: (invalid conversion|could not convert|cannot convert|no viable conversion|no matching function)
#include <dissect/base/types.hpp>

void takes_qpn(qps::dissect::Qpn);
void passes_integer(unsigned number) { takes_qpn(number); }
