// Allows a browser the style and the script of our page, and nothing else, whatever was captured stands in it.
#pragma once

#include <string>
#include <string_view>

namespace qps::transport {

// The line of the head, before everything that it speaks of. `style`, `script`: what stands between the tags, to the
// byte; no script: none.
[[nodiscard]] std::string policy_line(std::string_view style, std::string_view script = {});

}  // namespace qps::transport
