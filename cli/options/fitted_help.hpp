// Help in lines of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qps::cli {

// A text of --help whose lines have at most `width` columns: meanings go on below their beginning, sentences below
// theirs. Of examples the remark goes above the command; a command stays on one line, so that it can be copied.
[[nodiscard]] std::string fitted_help(std::string_view help, std::size_t width);

}  // namespace qps::cli
