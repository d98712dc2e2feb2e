#include <dissect/base/parse_value.hpp>
#include <dissect/base/timers.hpp>
#include <dissect/headers/derived.hpp>
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/conformance/script/expression.hpp>
#include <transport-replay/conformance/script/script_error.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::conformance::script {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

struct OperatorRow {
    std::string_view text;
    Operation operation;
    int strength;  // the higher, the tighter it binds
};
// Longer ones first, so that << is not two times <.
constexpr std::array kOperators{
    OperatorRow{"||", Operation::either, 1},     OperatorRow{"&&", Operation::both, 2},
    OperatorRow{"==", Operation::equal, 3},      OperatorRow{"!=", Operation::not_equal, 3},
    OperatorRow{"<<", Operation::shift_left, 5}, OperatorRow{">>", Operation::shift_right, 5},
    OperatorRow{"<=", Operation::less_equal, 4}, OperatorRow{">=", Operation::greater_equal, 4},
    OperatorRow{"<", Operation::less, 4},        OperatorRow{">", Operation::greater, 4},
    OperatorRow{"+", Operation::add, 6},         OperatorRow{"-", Operation::subtract, 6},
    OperatorRow{"*", Operation::multiply, 7},    OperatorRow{"/", Operation::divide, 7},
    OperatorRow{"%", Operation::remainder, 7},
};
constexpr int kTightest = 8;

using Arguments = std::array<std::uint64_t, 2>;
struct FunctionRow {
    std::string_view name;
    std::size_t arguments;
    std::uint64_t (*call)(const Arguments& of);
};
constexpr std::array kFunctions{
    // How long an RNR NAK with that timer code makes a requester wait (9.7.5.2.8); the table counts hundredths of a
    // millisecond.
    FunctionRow{"rnr", 1,
                [](const Arguments& of) {
                    return static_cast<std::uint64_t>(
                        std::to_underlying(dissect::rnr_wait(static_cast<std::uint8_t>(of[0] & 31U))));
                }},
    // What a timeout code means: 4.096 us * 2^code.
    FunctionRow{"timeout", 1,
                [](const Arguments& of) {
                    return static_cast<std::uint64_t>(
                        std::to_underlying(dissect::timeout_of(static_cast<std::uint8_t>(of[0] & 31U))));
                }},
    // Packets of a message, or of a READ's response: one at least.
    FunctionRow{
        "packets", 2,
        [](const Arguments& of) { return of[0] == 0 || of[1] == 0 ? std::uint64_t{1} : (of[0] - 1) / of[1] + 1; }},
    FunctionRow{"pad", 1, [](const Arguments& of) { return (0 - of[0]) & 3U; }},
    FunctionRow{"psn", 1, [](const Arguments& of) { return of[0] & 0xffffffU; }},
    FunctionRow{"min", 2, [](const Arguments& of) { return std::min(of[0], of[1]); }},
    FunctionRow{"max", 2, [](const Arguments& of) { return std::max(of[0], of[1]); }},
};

class ExpressionParser {
public:
    explicit ExpressionParser(std::string_view text) : text_(text) {}

    std::expected<Expression, ExpressionError> run() {
        if (binary(1)) {
            skip_blanks();
            if (at_ < text_.size())
                fail(at_, text_.size() - at_, fmt::format("unexpected '{}' after the expression", text_.substr(at_)));
        }
        if (error_) return std::unexpected(std::move(*error_));
        return Expression{std::move(terms_), std::string(text_)};
    }

private:
    bool fail(std::size_t offset, std::size_t length, std::string message, std::string suggestion = {}) {
        if (!error_) error_ = ExpressionError{offset, length, std::move(message), std::move(suggestion)};
        return false;
    }
    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    }
    [[nodiscard]] bool next_is(char c) {
        skip_blanks();
        return at_ < text_.size() && text_[at_] == c;
    }
    bool add(Term term) {
        if (terms_.size() >= kMaxTerms) return fail(at_, 0, fmt::format("more than {} terms", kMaxTerms));
        terms_.push_back(std::move(term));
        return true;
    }
    const OperatorRow* operator_here() {
        skip_blanks();
        for (const OperatorRow& row : kOperators)
            if (text_.substr(at_).starts_with(row.text)) return &row;
        return nullptr;
    }

    // Precedence climbing: what binds at least as tight as `strength`.
    bool binary(int strength) {
        if (strength >= kTightest) return unary();
        if (!binary(strength + 1)) return false;
        for (const OperatorRow* row = operator_here(); row != nullptr && row->strength == strength;
             row = operator_here()) {
            at_ += row->text.size();
            if (!binary(strength + 1) || !add({row->operation})) return false;
        }
        return true;
    }

    bool unary() {
        std::vector<Operation> signs;
        while (next_is('-') || next_is('!')) {
            signs.push_back(text_[at_] == '-' ? Operation::negative : Operation::negation);
            if (signs.size() > kMaxTerms) return fail(at_, 1, "too many signs");
            ++at_;
        }
        if (!operand()) return false;
        for (; !signs.empty(); signs.pop_back())
            if (!add({signs.back()})) return false;
        return true;
    }

    bool operand() {
        skip_blanks();
        if (at_ >= text_.size())
            return fail(at_, 0, "missing operand: expected a number, a $variable or a parenthesis");
        const char c = text_[at_];
        if (c == '(') return parenthesis();
        if (c == '$') return variable();
        if (is_digit(c)) return number();
        if (is_letter(c)) return call();
        return fail(at_, 1, fmt::format("unexpected '{}': expected a number, a $variable or a parenthesis", c));
    }

    bool parenthesis() {
        const std::size_t open = at_++;
        if (++depth_ > kMaxParentheses)
            return fail(open, 1, fmt::format("more than {} nested parentheses", kMaxParentheses));
        if (!binary(1)) return false;
        if (!next_is(')')) return fail(open, 1, "unclosed parenthesis");
        ++at_;
        --depth_;
        return true;
    }

    std::string_view take_name() {
        const std::size_t first = at_;
        while (at_ < text_.size() && is_name_part(text_[at_])) {
            if (text_.substr(at_).starts_with("..")) break;  // a range
            ++at_;
        }
        return text_.substr(first, at_ - first);
    }

    bool variable() {
        const std::size_t first = at_++;
        const std::string_view name = take_name();
        if (!is_name(name)) return fail(first, name.size() + 1, "missing variable name after $");
        return add({Operation::variable, 0, std::string(name)});
    }

    bool number() {
        const std::size_t first = at_;
        take_name();
        const std::string_view word = text_.substr(first, at_ - first);
        if (const auto value = dissect::parse_number(word)) return add({Operation::number, *value});
        if (const auto time = read_time(word)) return add({Operation::number, *time});
        return fail(first, word.size(),
                    fmt::format("invalid number '{}': expected up to 64 bits (17, 0x11) or a time (10ms, 1.5s)", word));
    }

    bool call() {
        const std::size_t first = at_;
        const std::string_view name = take_name();
        const auto row = std::ranges::find(kFunctions, name, &FunctionRow::name);
        if (row == kFunctions.end()) {
            std::array<std::string_view, kFunctions.size()> names;
            std::ranges::transform(kFunctions, names.begin(), &FunctionRow::name);
            std::string meant = nearest(name, names);
            return fail(first, name.size(), fmt::format("unknown function '{}'; variables start with $", name),
                        std::move(meant));
        }
        if (!next_is('(')) return fail(at_, 0, fmt::format("missing parentheses around the arguments of {}", name));
        for (std::size_t i = 0; i < row->arguments; ++i) {
            ++at_;  // the parenthesis, the comma
            if (++depth_ > kMaxParentheses || !binary(1)) return fail(first, name.size(), "too many parentheses");
            --depth_;
            const bool last = i + 1 == row->arguments;
            if (!next_is(last ? ')' : ','))
                return fail(at_, 0, fmt::format("{} takes {} argument(s)", name, row->arguments));
        }
        ++at_;
        return add({Operation::call, static_cast<std::uint64_t>(row - kFunctions.begin())});
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    std::vector<Term> terms_;
    std::optional<ExpressionError> error_;
};

std::uint64_t apply(Operation operation, std::uint64_t a, std::uint64_t b) {
    switch (operation) {
        case Operation::multiply: return a * b;
        case Operation::divide: return a / b;
        case Operation::remainder: return a % b;
        case Operation::add: return a + b;
        case Operation::subtract: return a - b;
        case Operation::shift_left: return b > 63 ? 0 : a << b;
        case Operation::shift_right: return b > 63 ? 0 : a >> b;
        case Operation::less: return a < b ? 1 : 0;
        case Operation::less_equal: return a <= b ? 1 : 0;
        case Operation::greater: return a > b ? 1 : 0;
        case Operation::greater_equal: return a >= b ? 1 : 0;
        case Operation::equal: return a == b ? 1 : 0;
        case Operation::not_equal: return a != b ? 1 : 0;
        case Operation::both: return a != 0 && b != 0 ? 1 : 0;
        case Operation::either: return a != 0 || b != 0 ? 1 : 0;
        default: return 0;
    }
}

}  // namespace

bool is_name(std::string_view text) {
    return !text.empty() && is_letter(text.front()) && text.back() != '.' && std::ranges::all_of(text, is_name_part) &&
           text.find("..") == std::string_view::npos;
}

std::optional<std::uint64_t> read_time(std::string_view text) {
    const auto time = dissect::parse_duration(text);
    return time ? std::optional(static_cast<std::uint64_t>(*time)) : std::nullopt;
}

std::expected<Expression, ExpressionError> parse_expression(std::string_view text) {
    return ExpressionParser(text).run();
}

Expression constant(std::uint64_t number) { return {{{Operation::number, number}}, std::to_string(number)}; }

std::expected<std::uint64_t, std::string> evaluate(const Expression& expression, const Lookup& lookup) {
    std::vector<std::uint64_t> stack;
    const auto take = [&stack] {
        const std::uint64_t value = stack.empty() ? 0 : stack.back();
        if (!stack.empty()) stack.pop_back();
        return value;
    };
    for (const Term& term : expression.terms) {
        switch (term.operation) {
            case Operation::number: stack.push_back(term.number); break;
            case Operation::variable: {
                const auto value = lookup(term.name);
                if (!value) return std::unexpected(fmt::format("${} has no value", term.name));
                stack.push_back(*value);
                break;
            }
            case Operation::negative: stack.push_back(0 - take()); break;
            case Operation::negation: stack.push_back(take() == 0 ? 1 : 0); break;
            case Operation::call: {
                const FunctionRow& row = kFunctions[term.number % kFunctions.size()];
                Arguments arguments{};
                for (std::size_t i = row.arguments; i-- > 0;) arguments[i] = take();
                stack.push_back(row.call(arguments));
                break;
            }
            default: {
                const std::uint64_t second = take();
                const std::uint64_t first = take();
                if (second == 0 && (term.operation == Operation::divide || term.operation == Operation::remainder))
                    return std::unexpected(fmt::format("\"{}\" divides by zero", expression.text));
                stack.push_back(apply(term.operation, first, second));
            }
        }
    }
    return take();
}

}  // namespace qps::transport::conformance::script
