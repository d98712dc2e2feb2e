// Two primary fields share bits 4 to 7: setting one would change the other.
// error: static assertion failed
#include <dissect/base/field.hpp>

#include <array>

using namespace qps::dissect;

constexpr std::array kOverlap{row::decimal("a", "A", at(0), 8), row::decimal("b", "B", at(0, 4), 8)};
static_assert(tiles(kOverlap, 2));
