#include <dissect/packet/render_value.hpp>
#include <transport-replay/conformance/script/script_error.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance::script {

std::string explain(const ScriptError& error) {
    std::string text;
    dissect::append_printable(text, error.file);
    if (error.line > 0) text += fmt::format(":{}:{}", error.line, error.column);
    text += ": ";
    dissect::append_printable(text, error.message);
    if (!error.suggestion.empty()) text += fmt::format("; did you mean {}?", error.suggestion);
    if (error.line == 0) return text;
    constexpr std::size_t kShown = 160;  // a longer line is shown from near the error on
    std::size_t first = 0;
    const std::size_t at = error.column - 1;
    if (error.source_line.size() > kShown && at > kShown / 2) first = at - kShown / 2;
    const std::string_view line =
        std::string_view(error.source_line).substr(std::min(first, error.source_line.size()), kShown);
    text += "\n    ";
    for (const char each : line) text += each >= ' ' && each < 0x7f ? each : each == '\t' ? ' ' : '?';
    text += "\n    ";
    text.append(std::min(at - std::min(at, first), kShown), ' ');
    text.append(std::clamp<std::size_t>(error.length, 1, kShown), '^');
    return text;
}

}  // namespace qps::transport::conformance::script
