// Expressions of scripts: unsigned numbers of 64 bits that wrap, variables, and times, which are numbers of
// nanoseconds.
//
//   $n + 1     2*($m.va + 4096)     0x7fffff     10ms     1.5s     rnr($code)     packets(5000, $mtu)     $n % 4 == 0
//   && $i < 3
//
// Operators, the loosest first: || && == != < <= > >= << >> + - * / % and in front of an operand - and !. A comparison
// is 1 or 0.
//
// Text -> postfix terms -> number. Any text is normal input: what is none is an error with its place; kMaxTerms bounds
// both the work and the depth; a division by zero and a variable that has no value are errors of the evaluation.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::conformance::script {

inline constexpr std::size_t kMaxTerms =
    256;  // operands and operators of one expression: far above what fits into a line
inline constexpr std::size_t kMaxParentheses = 32;  // open at a time

enum class Operation : std::uint8_t {
    number,
    variable,
    negative,
    negation,
    multiply,
    divide,
    remainder,
    add,
    subtract,
    shift_left,
    shift_right,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    both,
    either,
    call,
};

struct Term {
    Operation operation = Operation::number;
    std::uint64_t number = 0;  // of a call: the row of the table of functions
    std::string name{};        // of a variable
};

struct Expression {
    std::vector<Term> terms;  // postfix; at least one
    std::string text;         // as it was written
    [[nodiscard]] bool operator==(const Expression& other) const { return text == other.text; }
};

struct ExpressionError {
    std::size_t offset = 0;  // in the text
    std::size_t length = 0;
    std::string message;
    std::string suggestion{};
};

[[nodiscard]] std::expected<Expression, ExpressionError> parse_expression(std::string_view text);

// An expression that is that number.
[[nodiscard]] Expression constant(std::uint64_t number);

// The value of a variable; nothing where it has none.
using Lookup = std::function<std::optional<std::uint64_t>(std::string_view name)>;

// Fails with a sentence.
[[nodiscard]] std::expected<std::uint64_t, std::string> evaluate(const Expression& expression, const Lookup& lookup);

// "10ms", "1.5s", "50us", "20ns", "0": nanoseconds. Nothing for anything else.
[[nodiscard]] std::optional<std::uint64_t> read_time(std::string_view text);

// What may stand in names of variables: letters, digits, _ and the dot between a thing and what is its.
[[nodiscard]] bool is_name(std::string_view text);

}  // namespace qps::transport::conformance::script
