// The characters of the filter language.
//
// Input is anything a person can type or a file can hold: every byte is looked at once, and no byte is trusted.
#include <dissect/filter/lexer.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

namespace qps::dissect::filter_language {

namespace {

struct Spelling {
    std::string_view text;
    TokenKind kind;
};

// Longer ones first: "===" is not "==" and "=".
constexpr std::array kSymbols{
    Spelling{"===", TokenKind::all_equal},    Spelling{"!==", TokenKind::any_not_equal},
    Spelling{"==", TokenKind::any_equal},     Spelling{"!=", TokenKind::all_not_equal},
    Spelling{"~=", TokenKind::any_not_equal}, Spelling{">=", TokenKind::greater_equal},
    Spelling{"<=", TokenKind::less_equal},    Spelling{"&&", TokenKind::logical_and},
    Spelling{"||", TokenKind::logical_or},    Spelling{"^^", TokenKind::logical_xor},
    Spelling{"..", TokenKind::dots},          Spelling{">", TokenKind::greater},
    Spelling{"<", TokenKind::less},           Spelling{"&", TokenKind::bit_and},
    Spelling{"!", TokenKind::logical_not},    Spelling{"~", TokenKind::matches},
    Spelling{"(", TokenKind::open},           Spelling{")", TokenKind::close},
    Spelling{"{", TokenKind::open_set},       Spelling{"}", TokenKind::close_set},
    Spelling{",", TokenKind::comma},          Spelling{"#", TokenKind::hash},
};

constexpr std::array kWords{
    Spelling{"and", TokenKind::logical_and},
    Spelling{"AND", TokenKind::logical_and},
    Spelling{"or", TokenKind::logical_or},
    Spelling{"OR", TokenKind::logical_or},
    Spelling{"xor", TokenKind::logical_xor},
    Spelling{"XOR", TokenKind::logical_xor},
    Spelling{"not", TokenKind::logical_not},
    Spelling{"NOT", TokenKind::logical_not},
    Spelling{"eq", TokenKind::any_equal},
    Spelling{"any_eq", TokenKind::any_equal},
    Spelling{"ne", TokenKind::all_not_equal},
    Spelling{"all_ne", TokenKind::all_not_equal},
    Spelling{"all_eq", TokenKind::all_equal},
    Spelling{"any_ne", TokenKind::any_not_equal},
    Spelling{"gt", TokenKind::greater},
    Spelling{"ge", TokenKind::greater_equal},
    Spelling{"lt", TokenKind::less},
    Spelling{"le", TokenKind::less_equal},
    Spelling{"in", TokenKind::in},
    Spelling{"contains", TokenKind::contains},
    Spelling{"matches", TokenKind::matches},
    Spelling{"bitwise_and", TokenKind::bit_and},
};

// What hands type that means nothing here, and what they mean by it.
struct Slip {
    std::string_view typed;
    std::string_view meant;
};
constexpr std::array kSlips{Slip{"=", "=="}, Slip{"|", "||"}, Slip{"^", "^^"}, Slip{"]", ""}, Slip{"\\", ""}};

struct Escape {
    char letter;
    char meaning;
};
constexpr std::array kEscapes{Escape{'"', '"'},  Escape{'\'', '\''}, Escape{'\\', '\\'}, Escape{'a', '\a'},
                              Escape{'b', '\b'}, Escape{'f', '\f'},  Escape{'n', '\n'},  Escape{'r', '\r'},
                              Escape{'t', '\t'}, Escape{'v', '\v'}};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::optional<unsigned> digit(char c, unsigned base) {
    unsigned value = 99;
    if (c >= '0' && c <= '9') value = static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') value = static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') value = static_cast<unsigned>(c - 'A') + 10;
    return value < base ? std::optional(value) : std::nullopt;
}

FilterError error_at(std::size_t offset, std::size_t length, std::string message, std::string_view suggestion = {}) {
    return {offset + 1, length, std::move(message), std::string(suggestion)};
}

class Lexer {
public:
    explicit Lexer(std::string_view filter) : filter_(filter) {}

    std::expected<std::vector<Token>, FilterError> run() {
        std::vector<Token> tokens;
        while (true) {
            while (at_ < filter_.size() && is_space(filter_[at_])) ++at_;
            auto token = next();
            if (!token) return std::unexpected(std::move(token.error()));
            tokens.push_back(std::move(*token));
            if (tokens.back().kind == TokenKind::end) return tokens;
            at_ = tokens.back().offset + tokens.back().length;
        }
    }

private:
    std::expected<Token, FilterError> next() {
        const std::string_view rest = filter_.substr(at_);
        if (rest.empty()) return Token{TokenKind::end, at_, 0};
        if (rest.starts_with("r\"")) return quoted(2, '"', true);
        if (rest[0] == '"' || rest[0] == '\'') return quoted(1, rest[0], false);
        if (rest[0] == '[') return slice();
        for (const Spelling& symbol : kSymbols)
            if (rest.starts_with(symbol.text)) return Token{symbol.kind, at_, symbol.text.size()};
        if (is_word(rest[0])) return word();
        for (const Slip& slip : kSlips)
            if (rest.starts_with(slip.typed))
                return std::unexpected(error_at(at_, 1, fmt::format("unexpected '{}'", slip.typed), slip.meant));
        const auto code = static_cast<unsigned char>(rest[0]);
        if (code <= ' ' || code == 0x7f)
            return std::unexpected(error_at(at_, 1, fmt::format("unexpected byte 0x{:02x}", code)));
        return std::unexpected(error_at(at_, 1, fmt::format("unexpected '{}'", rest[0])));
    }

    Token word() const {
        const std::string_view rest = filter_.substr(at_);
        std::size_t length = 0;
        while (length < rest.size() && is_word(rest[length]) && !rest.substr(length).starts_with("..")) ++length;
        const std::string_view text = rest.substr(0, length);
        const auto* const keyword = std::ranges::find(kWords, text, &Spelling::text);
        return {keyword != kWords.end() ? keyword->kind : TokenKind::word, at_, length};
    }

    std::expected<Token, FilterError> slice() const {
        const std::size_t end = filter_.find(']', at_);
        if (end == std::string_view::npos) return std::unexpected(error_at(at_, 1, "unclosed bracket"));
        return Token{TokenKind::slice, at_, end + 1 - at_, std::string(filter_.substr(at_ + 1, end - at_ - 1))};
    }

    std::expected<Token, FilterError> quoted(std::size_t opening, char quote, bool raw) const {
        std::string text;
        for (std::size_t i = at_ + opening; i < filter_.size();) {
            if (filter_[i] == quote) return Token{TokenKind::quoted, at_, i + 1 - at_, std::move(text)};
            if (filter_[i] != '\\') {
                text += filter_[i++];
            } else if (raw) {  // a backslash stays, and keeps a quote from ending the text
                text += filter_.substr(i, 2);
                i += 2;
            } else if (const auto escaped = escape(i)) {
                text += escaped->meaning;
                i += escaped->length;
            } else {
                return std::unexpected(error_at(i, std::min<std::size_t>(2, filter_.size() - i),
                                                "unknown escape: r\"...\" takes backslashes literally", "\\\\"));
            }
        }
        return std::unexpected(error_at(at_, opening, "missing closing quote"));
    }

    struct Escaped {
        char meaning;
        std::size_t length;
    };

    // The escape that begins with the backslash at `i`: a letter, \xNN, or one to three octal digits.
    [[nodiscard]] std::optional<Escaped> escape(std::size_t i) const {
        const std::string_view rest = filter_.substr(i + 1, 3);
        if (rest.empty()) return std::nullopt;
        const auto* const named = std::ranges::find(kEscapes, rest[0], &Escape::letter);
        if (named != kEscapes.end()) return Escaped{named->meaning, 2};
        const bool hex = rest[0] == 'x' || rest[0] == 'X';
        const std::string_view digits = hex ? rest.substr(1) : rest;
        unsigned value = 0;
        std::size_t count = 0;
        while (count < digits.size() && digit(digits[count], hex ? 16 : 8)) {
            value = value * (hex ? 16 : 8) + *digit(digits[count], hex ? 16 : 8);
            ++count;
        }
        if (count == 0 || value > 0xff) return std::nullopt;
        return Escaped{static_cast<char>(value), 1 + (hex ? 1 : 0) + count};
    }

    std::string_view filter_;
    std::size_t at_ = 0;
};

}  // namespace

// Letters and digits, what names and addresses have between them, and bytes beyond ASCII: a word with them is no name,
// which is a better message than one about the byte.
bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == ':' || c == '-' || c == '/' || static_cast<unsigned char>(c) >= 0x80;
}

std::expected<std::vector<Token>, FilterError> tokenize(std::string_view filter) {
    if (filter.size() > kMaxFilterLength)
        return std::unexpected(
            error_at(kMaxFilterLength, 1, fmt::format("filter longer than {} bytes", kMaxFilterLength)));
    return Lexer(filter).run();
}

}  // namespace qps::dissect::filter_language
