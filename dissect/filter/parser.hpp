// Parser: the grammar of the filter language, and what each construction compiles to.
//
//   filter  := [ or ]
//   or      := xor { ("or" | "||") xor }
//   xor     := and { ("xor" | "^^") and }
//   and     := not { ("and" | "&&") not }
//   not     := { "not" | "!" } ( "(" or ")" | test )
//   test    := SET [ ( "==" | "!=" ) VALUE ]
//            | [ "any" | "all" ] operand [ comparison ( operand | VALUE ) | [ "not" ] "in" set
//                                        | "contains" VALUE | ( "matches" | "~" ) PATTERN ]
//   operand := NAME [ "#" N ] [ "[" slice "]" ] [ "&" MASK ]
//   set     := "{" item { [ "," ] item } "}"      item := VALUE [ ".." VALUE ]
#pragma once

#include <dissect/filter/filter_error.hpp>
#include <dissect/filter/named_set.hpp>
#include <dissect/filter/program.hpp>

#include <expected>
#include <string_view>

namespace qps::dissect::filter_language {

// Parentheses within parentheses. Per level evaluate() puts aside a flag and two sides, and the parser calls itself
// once.
inline constexpr std::size_t kMaxNesting = 48;

// Each holds a compiled automaton of up to kRegexMemory bytes.
inline constexpr std::size_t kMaxRegexes = 32;
inline constexpr std::int64_t kRegexMemory = std::int64_t{1} << 20;

[[nodiscard]] std::expected<Program, FilterError> parse(std::string_view filter, const SetReader& sets);

}  // namespace qps::dissect::filter_language
