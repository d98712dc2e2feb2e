// What could be typed next in a filter: names of fields, operators, names of values, by what stands before the cursor.
//
// The filter is half typed and may be anything; where its beginning is no filter, nothing is offered.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace qps::dissect {

// More than a list beside a line of text shows; the most useful come first.
inline constexpr std::size_t kMaxCompletions = 40;

struct Completion {
    std::string text;     // to be put in the place of what is there
    std::string meaning;  // for people: what the field means, the number of a value
};

struct Completions {
    std::size_t offset = 0;  // the part of the filter that they replace: the word at the cursor
    std::size_t length = 0;
    std::vector<Completion> list;
};

// `cursor` is a place between bytes, from 0. What is typed already is not offered again.
[[nodiscard]] Completions completions(std::string_view filter, std::size_t cursor);

}  // namespace qps::dissect
