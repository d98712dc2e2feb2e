// What is wrong with a filter, and where: for a person who is typing it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qps::dissect {

struct FilterError {
    std::size_t column = 1;  // of the first wrong byte, from 1; one past the last where something is missing at the end
    std::size_t length = 0;  // of the wrong part, in bytes; 0 where something is missing
    std::string message;     // one sentence without a full stop
    std::string suggestion;  // what was probably meant; empty where nobody knows
};

// Three lines: the filter (the part of it around the error, where it is long), a caret line under the wrong part,
// and the message with its suggestion. No newline at the end.
[[nodiscard]] std::string explain(std::string_view filter_text, const FilterError& error);

}  // namespace qps::dissect
