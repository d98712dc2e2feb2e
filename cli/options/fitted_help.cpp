#include <cli/options/fitted_help.hpp>

#include <algorithm>

namespace qps::cli {

namespace {

// A line as several, each but the first behind `indent` spaces.
std::string folded(std::string_view line, std::size_t indent, std::size_t width) {
    std::string out;
    std::size_t room = width;
    std::size_t least = indent;  // a break before it would leave a line of spaces
    while (line.size() > room) {
        const std::size_t gap = line.rfind(' ', room);
        if (gap == std::string_view::npos || gap <= least) break;  // a word that is longer than a line
        out += line.substr(0, gap);
        out += '\n' + std::string(indent, ' ');
        line.remove_prefix(gap + 1);
        room = width - indent;
        least = 0;
    }
    out += line;
    return out;
}

// Where the meaning of an option or a command begins; 0: the line has none.
std::size_t meaning_of(std::string_view line) {
    const std::size_t word = line.find_first_not_of(' ');
    if (word == std::string_view::npos || word == 0) return 0;
    const std::size_t gap = line.find("  ", word);
    if (gap == std::string_view::npos) return word;  // a line that goes on, or has one column
    return line.find_first_not_of(' ', gap);
}

// An example, with or without a remark behind it; a table among them has a second column.
bool is_command(std::string_view line) {
    if (!line.starts_with("  ")) return false;
    const std::size_t gap = line.find("  ", std::min(line.find_first_not_of(' '), line.size()));
    const std::size_t second = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
    return second == std::string_view::npos || line[second] == '#';
}

void append_example(std::string& out, std::string_view line, std::size_t width) {
    const std::size_t remark = line.find("  # ");
    if (line.size() > width && remark != std::string_view::npos) {
        out += folded("  # " + std::string(line.substr(remark + 4)), 4, width) + '\n';
        line = line.substr(0, line.find_last_not_of(' ', remark) + 1);
    }
    out += line;
}

}  // namespace

std::string fitted_help(std::string_view help, std::size_t width) {
    constexpr std::size_t kLeast = 24;  // columns that a meaning needs to stay beside its option
    std::string out;
    bool examples = false;
    while (!help.empty()) {
        const std::size_t end = std::min(help.find('\n'), help.size());
        const std::string_view line = help.substr(0, end);
        if (line.ends_with(':') && !line.starts_with(' ')) examples = line == "Examples:";
        const bool command = examples && is_command(line);
        if (command) append_example(out, line, width);
        else if (line.size() <= width) out += line;
        else {
            const std::size_t meaning = meaning_of(line);
            out += folded(line, meaning + kLeast <= width ? meaning : 4, width);
        }
        if (end < help.size()) out += '\n';
        help.remove_prefix(std::min(end + 1, help.size()));
    }
    return out;
}

}  // namespace qps::cli
