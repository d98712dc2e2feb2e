// Whose everything is: what the contents of files say of their hosts, then what their names say.
#pragma once

#include <transport-replay/casework/evidence.hpp>

namespace qps::casework {

// Gives every file, and every value without a host, the host that it is of, as far as anything tells.
void tie_hosts(Case& found);

}  // namespace qps::casework
