// Bits 8 to 15 belong to no field: what lies there would be shown nowhere.
// error: static assertion failed
#include <dissect/base/field.hpp>

#include <array>

using namespace qps::dissect;

constexpr std::array kGap{row::decimal("a", "A", at(0), 8), row::decimal("b", "B", at(2), 16)};
static_assert(tiles(kGap, 4));
