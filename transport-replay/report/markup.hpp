// Text in HTML, SVG and XML.
#pragma once

#include <string>
#include <string_view>

namespace qps::transport {

// Between tags, or in quotes: what has a meaning there is written as an entity, and what is not printable ASCII as '?'.
[[nodiscard]] std::string markup_text(std::string_view text);

}  // namespace qps::transport
