// Values of words: text -> Pattern.
#include <dissect/filter/literal.hpp>
#include <transport-replay/conformance/script/packet_words.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance::script {

using namespace dissect;

namespace {

// A piece of a token, with its place in it.
struct Piece {
    std::string_view text;
    std::size_t offset = 0;
};

// At single separators that stand in no parenthesis: `|` but not `||`.
std::vector<Piece> split(Piece piece, char separator) {
    std::vector<Piece> parts;
    std::size_t first = 0;
    int depth = 0;
    for (std::size_t i = 0; i < piece.text.size(); ++i) {
        const char c = piece.text[i];
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c != separator || depth > 0) continue;
        if (piece.text.substr(i).starts_with("||")) {
            ++i;
            continue;
        }
        parts.push_back({piece.text.substr(first, i - first), piece.offset + first});
        first = i + 1;
    }
    parts.push_back({piece.text.substr(first), piece.offset + first});
    return parts;
}

bool is_psn_like(const Field* field) {
    return field != nullptr && (field->name == "infiniband.bth.psn" || field->name == "infiniband.aeth.msn");
}
bool is_bytes(const Field* field) {
    if (field == nullptr) return false;
    const ValueType type = value_type(field->format);
    return type == ValueType::bytes || type == ValueType::text || type == ValueType::ipv6;
}

class PatternParser {
public:
    PatternParser(const Token& token, const Field* field) : token_(token), field_(field) {}

    std::expected<Pattern, WordError> run(Piece piece) {
        Pattern pattern;
        if (piece.text == "*") {
            pattern.any = true;
            return pattern;
        }
        if (piece.text.starts_with('!')) {
            pattern.negated = true;
            piece = {piece.text.substr(1), piece.offset + 1};
        }
        for (const Piece& part : split(piece, '|')) {
            if (pattern.choices.size() >= kMaxAlternatives)
                return fail(part, fmt::format("more than {} alternatives", kMaxAlternatives));
            if (part.text.empty()) return fail(part, "missing value");
            if (auto added = add_choice(part, pattern); !added) return std::unexpected(added.error());
        }
        return pattern;
    }

private:
    using Added = std::expected<void, WordError>;

    [[nodiscard]] std::unexpected<WordError> fail(Piece piece, std::string message, std::string suggestion = {}) const {
        return std::unexpected(
            WordError{token_, piece.offset, piece.text.size(), std::move(message), std::move(suggestion)});
    }

    Added add_choice(Piece piece, Pattern& pattern) {
        if (is_bytes(field_)) return add_bytes(piece, pattern);
        Choice choice;
        if (piece.text.starts_with('+') || piece.text.starts_with('-')) {
            if (!is_psn_like(field_))
                return fail(piece,
                            "only PSNs and MSNs are relative to their start; others count from 0 or from a $variable");
            choice.relative = piece.text.front() == '+' ? Relative::plus : Relative::minus;
            piece = {piece.text.substr(1), piece.offset + 1};
        }
        if (const std::size_t dots = range_in(piece.text); dots != std::string_view::npos)
            return add_range(piece, dots, choice, pattern);
        return add_number(piece, choice, pattern);
    }

    // Addresses have no two dots in a row, times neither.
    static std::size_t range_in(std::string_view text) { return text.find(".."); }

    Added add_range(Piece piece, std::size_t dots, Choice choice, Pattern& pattern) {
        const Piece low{piece.text.substr(0, dots), piece.offset};
        const Piece high{piece.text.substr(dots + 2), piece.offset + dots + 2};
        auto first = number(low);
        if (!first) return std::unexpected(first.error());
        choice.first = std::move(*first);
        choice.to_end = high.text.empty();
        if (!choice.to_end) {
            auto last = number(high.text.starts_with('+') && choice.relative == Relative::plus
                                   ? Piece{high.text.substr(1), high.offset + 1}
                                   : high);
            if (!last) return std::unexpected(last.error());
            choice.last = std::move(*last);
        }
        pattern.choices.push_back(std::move(choice));
        return {};
    }

    Added add_number(Piece piece, Choice choice, Pattern& pattern) {
        // A name may stand for several values; and fractions are not for expressions.
        const bool fraction = field_ != nullptr && value_type(field_->format) == ValueType::fixed_point;
        auto expression = parse_expression(piece.text);
        if (expression && !fraction) {
            choice.first = std::move(*expression);
            pattern.choices.push_back(std::move(choice));
            return {};
        }
        if (field_ == nullptr) return wrong_expression(piece, expression.error());
        const auto meant = filter_language::numbers_meant(*field_, {.text = piece.text, .quoted = false});
        if (!meant) {
            if (piece.text.find_first_of("$(") != std::string_view::npos && !expression)
                return wrong_expression(piece, expression.error());
            return fail(piece, meant.error().message, meant.error().suggestion);
        }
        for (const filter_language::NumberRange& range : *meant) {
            Choice named = choice;
            named.first = constant(range.low ^ filter_language::sign_flip(*field_));
            if (range.low != range.high && field_->format != Format::flag)
                named.last = constant(range.high ^ filter_language::sign_flip(*field_));
            pattern.choices.push_back(std::move(named));
        }
        return {};
    }

    std::expected<Expression, WordError> number(Piece piece) const {
        auto expression = parse_expression(piece.text);
        if (!expression) return wrong_expression(piece, expression.error());
        return std::move(*expression);
    }

    [[nodiscard]] std::unexpected<WordError> wrong_expression(Piece piece, const ExpressionError& error) const {
        return std::unexpected(
            WordError{token_, piece.offset + error.offset, error.length, error.message, error.suggestion});
    }

    Added add_bytes(Piece piece, Pattern& pattern) {
        if (piece.text.starts_with('$')) {
            if (!is_name(piece.text.substr(1))) return fail(piece, "missing variable name after $");
            pattern.choices.push_back({.bytes_of = std::string(piece.text.substr(1))});
            return {};
        }
        const auto meant = filter_language::bytes_meant(field_, false, {.text = piece.text, .quoted = false});
        if (!meant) return fail(piece, meant.error().message, meant.error().suggestion);
        Choice choice;
        std::ranges::transform(meant->low, std::back_inserter(choice.bytes),
                               [](char c) { return static_cast<std::byte>(c); });
        const std::size_t most = field_->width == kToEnd ? kMadLength : field_->width / 8;
        if (choice.bytes.size() > most) return fail(piece, fmt::format("{} has room for {} bytes", field_->name, most));
        pattern.choices.push_back(std::move(choice));
        return {};
    }

    const Token& token_;
    const Field* field_;
};

}  // namespace

std::expected<Pattern, WordError> parse_pattern(const Token& token, std::size_t offset, const Field* field) {
    return PatternParser(token, field)
        .run({std::string_view(token.text).substr(std::min(offset, token.text.size())), offset});
}

}  // namespace qps::transport::conformance::script
