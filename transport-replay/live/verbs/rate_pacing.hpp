// RatePacing: when the next frame may go out at a rate, for the controls that find one. A value; time is an argument.
#pragma once

#include <dissect/base/types.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace qps::transport::verbs {

// How long so many bytes take, rounded up; the rate is not 0.
[[nodiscard]] constexpr dissect::Duration time_of(std::uint64_t bytes, std::uint64_t bits_per_second) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // bits times nanoseconds stay below 2^63
    const std::uint64_t bits = std::min(bytes, kMostBytes) * 8;
    return dissect::Duration{static_cast<std::int64_t>((bits * kSecond + bits_per_second - 1) / bits_per_second)};
}

class RatePacing {
public:
    // From now on; what was before counts no longer.
    void begin(dissect::Instant now) { next_ = now; }
    void end() { next_ = kLowest; }
    // A frame went out. `burst`: credit that silence saves at most.
    void on_sent(std::uint64_t bytes, std::uint64_t bits_per_second, dissect::Duration burst, dissect::Instant now) {
        const dissect::Instant earliest =
            now + dissect::Duration{-std::max(std::to_underlying(burst), std::int64_t{0})};
        next_ = std::max(next_, earliest) + time_of(bytes, bits_per_second);
    }
    // The lowest instant where nothing limits.
    [[nodiscard]] dissect::Instant next() const { return next_; }

private:
    static constexpr dissect::Instant kLowest{std::numeric_limits<std::int64_t>::min()};
    dissect::Instant next_ = kLowest;
};

}  // namespace qps::transport::verbs
