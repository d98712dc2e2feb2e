// Text to a point in time, as people type it: "2026-11-21 01:14:08.25", "2026-11-21T01:14Z", "2026-11-21
// 02:14:08+01:00", "2026-11-21".
#pragma once

#include <dissect/base/types.hpp>

#include <optional>
#include <string_view>

namespace qps::dissect {

// A date of the Gregorian calendar, or a date and a time of day with at most nine decimals of a second, T or a space
// between; UTC unless an offset (Z, +01:00, -0530) follows. Taken whole or not at all; from 1970 to 2261, what an
// Instant can hold.
[[nodiscard]] std::optional<Instant> parse_instant(std::string_view text);

}  // namespace qps::dissect
