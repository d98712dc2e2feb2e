// A part lies inside the primary field before it, or the tree would highlight the bits of another.
// error: static assertion failed
#include <dissect/base/field.hpp>

#include <array>

using namespace qps::dissect;

constexpr std::array kPart{row::decimal("a", "A", at(0), 8), row::decimal("b", "B", at(1), 8),
                           row::flag("c", "C", at(0, 3)).part()};
static_assert(tiles(kPart, 2));
