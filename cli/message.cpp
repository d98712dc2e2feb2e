#include <cli/message.hpp>
#include <dissect/packet/render_value.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace qps::cli {

namespace {

bool quiet_now = false;  // of the process: set before anything is said

}  // namespace

void set_quiet(bool quiet) { quiet_now = quiet; }
bool is_quiet() { return quiet_now; }

std::string cannot_read(std::string_view file) {
    const int error = errno;
    return cannot_read(file, std::generic_category().message(error));
}

std::string cannot_read(std::string_view file, std::string_view why) {
    return fmt::format("cannot read {}: {}", file, why);
}

std::string printable_lines(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        dissect::append_printable(shown, text.substr(0, end));
        if (end == text.size()) break;
        shown += '\n';
        text.remove_prefix(end + 1);
    }
    return shown;
}

void say_text(std::string_view text) {
    const std::string shown = printable_lines(text);
    std::fwrite(shown.data(), 1, shown.size(), stderr);
}

}  // namespace qps::cli
