// Sentences in lines of a terminal.
#include <cli/wrapped.hpp>

#include <algorithm>

namespace qps::cli {

void append_wrapped(std::string& out, std::string_view start, std::size_t indent, std::string_view words) {
    out += start;
    std::size_t column = indent;
    bool first = true;
    while (!words.empty()) {
        const std::size_t length = std::min(words.find(' '), words.size());
        if (!first && column + 1 + length > kLineWidth) {
            out += '\n';
            out.append(indent, ' ');
            column = indent;
        } else if (!first) {
            out += ' ';
            ++column;
        }
        out += words.substr(0, length);
        column += length;
        first = false;
        words.remove_prefix(std::min(length + 1, words.size()));
    }
    out += '\n';
}

}  // namespace qps::cli
