// Both are 24 bits, so only the type tells a packet sequence number from a queue pair number.
// error: (could not convert|cannot convert|no viable conversion|no matching function)
#include <dissect/base/types.hpp>

void takes_qpn(qps::dissect::Qpn);
void passes_psn() { takes_qpn(qps::dissect::Psn{7}); }
