// Sentences in lines of a terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace qps::cli {

inline constexpr std::size_t kLineWidth = 100;  // of reports: what fits beside another window, and into a ticket

// Columns of the terminal that standard output is; nothing where it is none, or does not tell.
[[nodiscard]] std::optional<std::size_t> terminal_width();
// From now on reports have lines of at most so many columns, or kLineWidth if that is fewer. Once, before anything is
// printed.
void set_line_width(std::size_t columns);
[[nodiscard]] std::size_t line_width();
// Tables take the whole width of the terminal; without a terminal nothing limits them.
[[nodiscard]] std::size_t table_width();

// Words in lines of at most `width` columns, each after `indent` spaces; the first line begins with `start` instead,
// which is as wide. A longer word stays whole, but for bytes in hexadecimal digits, which go on in the next line.
void append_wrapped(std::string& out, std::string_view start, std::size_t indent, std::string_view words,
                    std::size_t width = line_width());
// A heading: one line where the terminal is as wide, else the others are indented.
void append_hanging(std::string& out, std::string_view words);

}  // namespace qps::cli
