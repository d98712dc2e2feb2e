// What is to be told of PAUSE and PFC frames that hold an endpoint back: while it lasts, and at the end.
#pragma once

#include <transport-replay/live/endpoint.hpp>

#include <array>
#include <string>
#include <vector>

namespace qps::cli {

inline constexpr dissect::Duration kLongPause{100'000'000};  // far beyond what a frame can ask for: somebody renews it

class PauseRemarks {
public:
    // A pause that lasts for kLongPause is told, from then on once a second, and its end.
    [[nodiscard]] std::vector<std::string> take(const transport::live::Endpoint& endpoint, dissect::Instant now);
    // The same on standard error.
    void say_new(const transport::live::Endpoint& endpoint, dissect::Instant now);

private:
    struct Told {
        dissect::Instant since{};  // of the pause that is told
        dissect::Instant next{};
        bool told = false;
    };
    std::array<Told, transport::live::kPauseTimers> told_{};
    bool any_ = false;
};

// "PFC for priority 3", "PAUSE".
[[nodiscard]] std::string pause_name(std::size_t timer);
// "PFC for priority 3: 12 frames, paused for 3.4 ms in 2 periods, 1.2 ms at worst", of each timer that anything was
// asked of.
[[nodiscard]] std::vector<std::string> pause_sums(const transport::live::LinkPauses& pauses, dissect::Instant now);

}  // namespace qps::cli
