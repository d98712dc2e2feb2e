// What was meant by a word that the command line does not know: a slip of the keyboard, a word of other programs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qps::cli {

// The one of `names` that differs from `word` in at most two letters, in short words one; the nearest, of equal ones
// the first. Empty: there is none.
[[nodiscard]] std::string_view nearest_of(std::string_view word, std::span<const std::string_view> names);

// The name of a command that `word` may be: by its letters, or by what other programs call it ("stats").
[[nodiscard]] std::string_view command_meant(std::string_view word, std::span<const std::string_view> names);

// Of an option that is none of `options`, what to say behind "unknown option '...'": ": did you mean --format?", what
// tshark's letter is here, or nothing.
[[nodiscard]] std::string option_hint(std::string_view word, std::span<const std::string> options);

// What an option of tshark is here; empty: it is none of those that people type.
[[nodiscard]] std::string_view tshark_hint(std::string_view word);

}  // namespace qps::cli
