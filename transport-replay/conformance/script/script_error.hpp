// What is wrong with a script, where, and what was probably meant: for the author.
//
// Everything in it is borrowed from a text that anybody may have written; explain() shows it with control characters
// escaped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace qps::transport::conformance::script {

struct ScriptError {
    std::string file;
    std::uint32_t line = 0;     // from 1; 0: of the file as a whole
    std::uint32_t column = 1;   // of the first wrong byte, from 1
    std::uint32_t length = 0;   // of the wrong part; 0 where something is missing
    std::string message;        // one sentence without a full stop
    std::string suggestion{};   // what was probably meant; empty where nobody knows
    std::string source_line{};  // as it stands in the file
};

// "FILE:LINE:COLUMN: message; did you mean ...?", the line, and carets under what is wrong. No newline at the end.
[[nodiscard]] std::string explain(const ScriptError& error);

// The nearest of the names, where one is near enough to have been meant; else empty.
template <class Names> [[nodiscard]] std::string nearest(std::string_view typed, const Names& names);

}  // namespace qps::transport::conformance::script

#include <dissect/filter/field_index.hpp>

namespace qps::transport::conformance::script {

template <class Names> std::string nearest(std::string_view typed, const Names& names) {
    const std::size_t limit = typed.size() < 4 ? 1 : typed.size() < 9 ? 2 : 3;
    std::string best;
    std::size_t least = limit + 1;
    for (const auto& name : names)
        if (const auto distance = dissect::edit_distance(typed, name, limit); distance && *distance < least) {
            best = std::string(name);
            least = *distance;
        }
    return best;
}

}  // namespace qps::transport::conformance::script
