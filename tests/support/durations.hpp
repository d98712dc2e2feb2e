// Nanoseconds of what tests count in.
#pragma once

#include <cstdint>

namespace qps::tests {

inline constexpr std::int64_t kMicrosecond = 1'000, kMillisecond = 1'000'000, kSecond = 1'000'000'000;

}  // namespace qps::tests
