// Timers that packets name by a code.
#pragma once

#include <dissect/base/types.hpp>

#include <array>
#include <cstdint>

namespace qps::dissect {

inline constexpr std::uint8_t kMostTimeoutCode = 31;  // 5 bits

// 4.096 us * 2^code: local ACK timeout (9.7.6.1.3, where 0 means none), CM response timeout, packet lifetime (12.7).
[[nodiscard]] constexpr Duration timeout_of(std::uint8_t code) {
    constexpr std::int64_t kUnit = 4096;  // ns
    return Duration{kUnit << (code < kMostTimeoutCode ? code : kMostTimeoutCode)};
}

// RNR timer code -> hundredths of a millisecond (9.7.5.2.8; Linux rdmavt ib_rvt_rnr_table). Code 0 is the longest.
inline constexpr std::array<std::uint32_t, 32> kRnrTimer{
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

// How long an RNR NAK with that code makes a requester wait, at least.
[[nodiscard]] constexpr Duration rnr_wait(std::uint8_t code) {
    constexpr std::int64_t kHundredthOfMillisecond = 10'000;  // ns
    return Duration{kRnrTimer[code & 31U] * kHundredthOfMillisecond};
}

}  // namespace qps::dissect
