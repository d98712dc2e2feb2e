// The three lines that show where a filter is wrong.
//
// The text comes from a user or a file: control characters are shown as spaces, so that nothing moves the caret.
#include <dissect/filter/filter_error.hpp>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

constexpr std::size_t kWidth =
    120;  // columns of the filter that are shown: what fits a terminal with a prompt before it
constexpr std::size_t kBefore = 60;  // of them before the error

// Bytes that begin a character: carets count characters, columns count bytes.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

}  // namespace

std::string explain(std::string_view filter_text, const FilterError& error) {
    const std::size_t at = std::min(error.column == 0 ? 0 : error.column - 1, filter_text.size());
    const std::size_t length = std::min(error.length, filter_text.size() - at);
    std::size_t first = filter_text.size() > kWidth && at > kBefore ? at - kBefore : 0;
    while (first > 0 && !begins_character(filter_text[first])) --first;
    std::size_t last = std::min(filter_text.size(), first + kWidth);
    while (last < filter_text.size() && !begins_character(filter_text[last])) ++last;

    std::string shown = first > 0 ? "..." : "";
    const std::size_t indent = shown.size() + characters(filter_text.substr(first, at - first));
    std::ranges::transform(filter_text.substr(first, last - first), std::back_inserter(shown),
                           [](char c) { return is_control(c) ? ' ' : c; });
    if (last < filter_text.size()) shown += "...";

    const std::size_t marked = std::min(length, last - std::min(at, last));
    const std::size_t waves = std::max<std::size_t>(1, characters(filter_text.substr(at, marked))) - 1;
    std::string message = error.message;
    if (!error.suggestion.empty()) message += fmt::format("; did you mean {}?", error.suggestion);
    std::ranges::replace_if(message, is_control, ' ');
    return fmt::format("{}\n{:{}}^{:~>{}}\n{}", shown, "", indent, "", waves, message);
}

}  // namespace qps::dissect
