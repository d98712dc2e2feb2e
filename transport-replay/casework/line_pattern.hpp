// How readers ask RE2 whether a line has a pattern.
#pragma once

#include <string_view>

#include <re2/re2.h>

namespace qps::casework {

[[nodiscard]] inline re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

template <class... Groups> [[nodiscard]] bool finds(std::string_view line, const RE2& pattern, Groups*... groups) {
    return RE2::PartialMatch(piece(line), pattern, groups...);
}

}  // namespace qps::casework
