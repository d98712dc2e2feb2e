// What the program says on standard error: the one way there, so that no name of a file, no device and no word of a
// capture acts on the terminal.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace qps::cli {

// "cannot read FILE: No such file or directory", by what errno says now.
[[nodiscard]] std::string cannot_read(std::string_view file);
[[nodiscard]] std::string cannot_read(std::string_view file, std::string_view why);

// Lines of text; what acts in them is written as \xNN.
[[nodiscard]] std::string printable_lines(std::string_view text);
void say_text(std::string_view text);

template <class... Arguments> void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    say_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

// With -q nothing is remarked.
void set_quiet(bool quiet);
[[nodiscard]] bool is_quiet();
// Nor while one of them lives.
class Hush {
public:
    Hush() : before_(is_quiet()) { set_quiet(true); }
    ~Hush() { set_quiet(before_); }
    Hush(const Hush&) = delete;
    Hush& operator=(const Hush&) = delete;

private:
    bool before_;
};

// What people may do without: said unless they want quiet.
template <class... Arguments> void remark(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (!is_quiet()) say_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace qps::cli
