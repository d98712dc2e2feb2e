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

bool is_hex(std::string_view word) { return word.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

void begin_line(std::string& out, std::size_t indent) {
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
    out.append(indent, ' ');
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

void append_wrapped(std::string& out, std::string_view start, std::size_t indent, std::string_view words,
                    std::size_t width) {
    out += start;
    const std::size_t room = width - std::min(width, indent);
    std::size_t column = indent;
    bool first = true;
    while (!words.empty()) {
        std::size_t length = std::min(words.find(' '), words.size());
        const bool is_longer = length > room && room != 0 && is_hex(words.substr(0, length));
        if (!first && column + 1 + length > width) {
            begin_line(out, indent);
            column = indent;
        } else if (!first) {
            out += ' ';
            ++column;
        }
        if (is_longer) length = width - column;
        out += words.substr(0, length);
        column += length;
        first = is_longer;
        words.remove_prefix(std::min(is_longer ? length : length + 1, words.size()));
        if (is_longer) begin_line(out, indent), column = indent;
    }
    out += '\n';
}

void append_hanging(std::string& out, std::string_view words) {
    constexpr std::size_t kHang = 4;
    append_wrapped(out, words.substr(0, kHang), kHang, words.substr(std::min(kHang, words.size())), table_width());
}

}  // namespace qps::cli
