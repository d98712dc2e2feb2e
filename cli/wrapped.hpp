// Sentences in lines of a terminal.
#pragma once

#include <string>
#include <string_view>

namespace qps::cli {

inline constexpr std::size_t kLineWidth = 100;  // of reports: what fits beside another window, and into a ticket

// Words in lines of at most kLineWidth columns, each after `indent` spaces; the first line begins with `start` instead,
// which is as wide.
void append_wrapped(std::string& out, std::string_view start, std::size_t indent, std::string_view words);

}  // namespace qps::cli
