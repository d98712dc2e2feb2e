// Arithmetic of time that cannot overflow: a capture may claim any instant that 64 bits of nanoseconds can hold, and the
// difference of two of them needs more. Results stop at the ends of the range; no duration is below -(2^63 - 1), so that
// every one can be negated.
#pragma once

#include <dissect/types.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace qps::transport {

inline constexpr std::int64_t kLongestTime = std::numeric_limits<std::int64_t>::max();

namespace saturating {
[[nodiscard]] constexpr std::int64_t add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return b > 0 ? kLongestTime : -kLongestTime;
    return std::max(sum, -kLongestTime);
}
[[nodiscard]] constexpr std::int64_t subtract(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a, b, &difference)) return b < 0 ? kLongestTime : -kLongestTime;
    return std::max(difference, -kLongestTime);
}
}  // namespace saturating

// From one instant to another: negative where the other is earlier.
[[nodiscard]] constexpr dissect::Duration elapsed(dissect::Instant from, dissect::Instant to) {
    return dissect::Duration{saturating::subtract(std::to_underlying(to), std::to_underlying(from))};
}
[[nodiscard]] constexpr dissect::Instant later(dissect::Instant from, dissect::Duration by) {
    return dissect::Instant{saturating::add(std::to_underlying(from), std::to_underlying(by))};
}
[[nodiscard]] constexpr dissect::Duration sum(dissect::Duration a, dissect::Duration b) {
    return dissect::Duration{saturating::add(std::to_underlying(a), std::to_underlying(b))};
}
[[nodiscard]] constexpr dissect::Duration magnitude(dissect::Duration duration) {
    return dissect::Duration{duration < dissect::Duration{} ? -std::max(std::to_underlying(duration), -kLongestTime)
                                                            : std::to_underlying(duration)};
}

}  // namespace qps::transport
