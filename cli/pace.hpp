// How often a live view shows what is known: at most once a second, only where something came since, and never so often
// that it takes more than a twentieth of the time, however many connections there are to look at.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace qps::cli {

class Pace {
public:
    using Clock = std::chrono::steady_clock;

    explicit Pace(Clock::time_point now) : next_(now + kBetween) {}

    // `packets`: that came so far.
    [[nodiscard]] bool due(Clock::time_point now, std::uint64_t packets) const {
        return packets != shown_ && now >= next_;
    }
    // It was shown, which took from `begun` to `now`.
    void shown(Clock::time_point begun, Clock::time_point now, std::uint64_t packets) {
        shown_ = packets;
        next_ = now + std::max<Clock::duration>(kBetween, kPart * (now - begun));
    }

private:
    static constexpr std::chrono::seconds kBetween{1};
    static constexpr int kPart = 20;
    Clock::time_point next_;
    std::uint64_t shown_ = 0;
};

}  // namespace qps::cli
