// Gives the lines of one text to the table of readers.
#pragma once

#include <transport-replay/casework/evidence.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace qps::casework {

// `file`: which of the case it is; what is found becomes part of the case.
void read_lines(Case& found, std::uint32_t file, std::string_view bytes);

}  // namespace qps::casework
