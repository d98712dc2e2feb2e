#include <transport-replay/conformance/script/script.hpp>
#include <transport-replay/conformance/script/source_line.hpp>

#include <fmt/format.h>

namespace qps::transport::conformance::script {

namespace {
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
}  // namespace

std::expected<SourceLine, LineError> split_line(std::string_view line) {
    SourceLine result;
    std::size_t end = 0;  // of the last token
    for (std::size_t at = 0; at < line.size();) {
        if (is_blank(line[at])) {
            ++at;
            continue;
        }
        if (line[at] == '#') break;
        if (result.tokens.size() >= kMaxWords)
            return std::unexpected(LineError{at, 1, fmt::format("more than {} words in a line", kMaxWords)});
        Token token{.text = {}, .offset = at, .length = 0, .quoted = line[at] == '"'};
        if (token.quoted) {
            const std::size_t close = line.find('"', at + 1);
            if (close == std::string_view::npos) return std::unexpected(LineError{at, 1, "unclosed quote"});
            token.text = line.substr(at + 1, close - at - 1);
            at = close + 1;
        } else {
            while (at < line.size() && !is_blank(line[at]) && line[at] != '"') ++at;
            token.text = line.substr(token.offset, at - token.offset);
        }
        token.length = at - token.offset;
        end = at;
        if (result.tokens.empty()) result.offset = token.offset;
        result.tokens.push_back(std::move(token));
    }
    if (!result.tokens.empty()) result.text = line.substr(result.offset, end - result.offset);
    return result;
}

}  // namespace qps::transport::conformance::script
