#include <dissect/base/parse_value.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/report/format.hpp>

#include <algorithm>

namespace qps::transport {

namespace {

// A spreadsheet takes it for a formula: it begins like one, behind space that some of them cut off, and is no
// number.
bool looks_like_formula(std::string_view text) {
    constexpr std::string_view kBegins = "=+-@";
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (text.size() < 2 || kBegins.find(text[0]) == std::string_view::npos) return false;
    const auto number = text[0] == '+' || text[0] == '-' ? dissect::parse_real(text.substr(1)) : std::nullopt;
    return !number || !number->second.empty();
}

}  // namespace

void append_cell(std::string& out, OutputFormat format, std::string_view text) {
    std::string cell = looks_like_formula(text) ? "'" : "";
    const bool lines = format == OutputFormat::csv;  // within quotes they are part of the cell
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find_first_of(lines ? "\n\t" : "\n\t\r\\", begin), text.size());
        dissect::append_printable(cell, text.substr(begin, end - begin));
        if (end == text.size()) break;
        const char c = text[end];
        if (lines) cell += c;
        else cell += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : "\\\\";
        begin = end + 1;
    }
    if (!lines || cell.find_first_of(",\"\n\t") == std::string::npos) {
        out += cell;
        return;
    }
    out += '"';
    for (const char c : cell) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

}  // namespace qps::transport
