// Filter text -> tokens. Words (names, numbers, addresses) are not interpreted here: what they mean depends on the
// field.
#pragma once

#include <dissect/filter/filter_error.hpp>

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace qps::dissect::filter_language {

// Longer than anybody types, long enough for a generated list of some thousand queue pairs.
inline constexpr std::size_t kMaxFilterLength = std::size_t{64} * 1024;

enum class TokenKind : std::uint8_t {
    end,
    word,
    quoted,  // "text" or r"text"
    slice,   // [ ... ]
    open,
    close,
    open_set,
    close_set,
    comma,
    dots,
    hash,
    bit_and,
    logical_and,
    logical_or,
    logical_xor,
    logical_not,
    any_equal,
    all_not_equal,
    all_equal,
    any_not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    in,
    contains,
    matches,
};

struct Token {
    TokenKind kind = TokenKind::end;
    std::size_t offset = 0;  // in the filter
    std::size_t length = 0;
    std::string text{};  // of a quoted token, escapes resolved; of a slice, what stands between the brackets
};

// What names, numbers and addresses are written with.
[[nodiscard]] bool is_word(char c);

// The tokens of a filter, the last of kind `end`. Errors: a character that means nothing, a quote or bracket that is
// not closed, a bad escape, a text longer than kMaxFilterLength.
[[nodiscard]] std::expected<std::vector<Token>, FilterError> tokenize(std::string_view filter);

}  // namespace qps::dissect::filter_language
