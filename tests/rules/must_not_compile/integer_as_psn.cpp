// The constructor of Psn cuts to 24 bits: that is to be asked for.
// error: (could not convert|cannot convert|no viable conversion|no matching function)
#include <dissect/base/types.hpp>

void takes_psn(qps::dissect::Psn);
void passes_integer(unsigned number) { takes_psn(number); }
