// A line of a script as tokens: words between blanks, "texts" in quotes, without its comment.
//
// Any bytes are normal input; a quote that is not closed is an error.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::conformance::script {

struct Token {
    std::string text;        // without the quotes
    std::size_t offset = 0;  // in the line, of its first byte or quote
    std::size_t length = 0;  // with the quotes
    bool quoted = false;
};

struct SourceLine {
    std::string_view text;   // without the comment and blanks at both ends of it
    std::size_t offset = 0;  // of `text` in the line
    std::vector<Token> tokens;
};

struct LineError {
    std::size_t offset = 0;
    std::size_t length = 0;
    std::string message;
};

[[nodiscard]] std::expected<SourceLine, LineError> split_line(std::string_view line);

}  // namespace qps::transport::conformance::script
