// A field asked for by a name that its table does not have, misspelt as a rule.
// error: .*(constant expression|consteval)
#include <dissect/base/field.hpp>

#include <array>

using namespace qps::dissect;

constexpr std::array kFields{row::decimal("a", "A", at(0), 8)};
constexpr Field kMisspelt = named(kFields, "aa");
