// The last byte of the header is in no field.
// error: static assertion failed
#include <dissect/base/field.hpp>

#include <array>

using namespace qps::dissect;

constexpr std::array kShort{row::decimal("a", "A", at(0), 24)};
static_assert(tiles(kShort, 4));
