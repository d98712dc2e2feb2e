// Golden files: text that must stay as it is. QPSCOPE_REWRITE_GOLDEN=1 rewrites them; look at the difference then.
#pragma once

#include <string>

namespace qps::tests {

// Compares `text` with tests/<name>, and says in which line they differ.
void check_golden(const std::string& name, const std::string& text);

}  // namespace qps::tests
