// Sentences in lines of a terminal.
#include <cli/wrapped.hpp>

#include <algorithm>

#include <sys/ioctl.h>
#include <unistd.h>

namespace qps::cli {

namespace {

constexpr std::size_t kNarrowest = 40;  // below that, what is indented has no room

std::size_t& width_of_lines() {
    static std::size_t width = kLineWidth;
    return width;
}

std::size_t& width_of_tables() {
    static std::size_t width = std::string_view::npos;
    return width;
}

}  // namespace

std::optional<std::size_t> terminal_width() {
    winsize size{};
    if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return std::nullopt;
    return std::size_t{size.ws_col};
}

void set_line_width(std::size_t columns) {
    width_of_lines() = std::clamp(columns, kNarrowest, kLineWidth);
    width_of_tables() = std::max(columns, kNarrowest);
}
std::size_t line_width() { return width_of_lines(); }
std::size_t table_width() { return width_of_tables(); }

void append_wrapped(std::string& out, std::string_view start, std::size_t indent, std::string_view words) {
    out += start;
    const std::size_t width = line_width();
    std::size_t column = indent;
    bool first = true;
    while (!words.empty()) {
        const std::size_t length = std::min(words.find(' '), words.size());
        if (!first && column + 1 + length > width) {
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
