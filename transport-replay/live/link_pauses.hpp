// LinkPauses: which priorities an end of a link may not send, because PAUSE and PFC frames asked it to stop, and until
// when.
//
// A timer for each priority and one for the whole link. A frame sets its timers anew, whatever they were: to its quanta
// from now, to nothing where they are 0. Times are exact: quanta times 512 bit times at the speed of the link, rounded
// up to nanoseconds, so that nothing goes early. Time is an argument.
//
// What an attacker could feed: any number of frames. What is kept is of fixed size. A storm can hold an end back for as
// long as it lasts; timers() says since when and by whom, for who has to tell.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/live/device/pause_frame.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace qps::transport::live {

inline constexpr std::size_t kPauseTimers = kPriorities + 1;  // the last is PAUSE, of the whole link
inline constexpr std::uint64_t kBitsPerQuantum = 512;         // 802.3, annex 31B
inline constexpr dissect::BitsPerSecond kUsualLinkSpeed{
    10'000'000'000};  // where neither the interface nor the user says one

struct PauseTimer {
    std::uint64_t stops = 0;      // frames that asked for a pause
    std::uint64_t resumes = 0;    // that ended one, or asked for none
    std::uint64_t periods = 0;    // pauses without interruption, the running one included
    dissect::Duration paused{};   // of those that ended
    dissect::Duration longest{};  // of those that ended
    std::uint64_t source = 0;     // MAC address of who sent the last frame
    bool running = false;
    dissect::Instant since{};  // of the running pause
    dissect::Instant until{};
};

[[nodiscard]] constexpr dissect::Duration running_for(const PauseTimer& timer, dissect::Instant now) {
    return timer.running ? (now < timer.until ? now : timer.until) - timer.since : dissect::Duration{};
}

class LinkPauses {
public:
    explicit LinkPauses(dissect::BitsPerSecond speed)
        : speed_(speed == dissect::BitsPerSecond{} ? kUsualLinkSpeed : speed) {}

    // A MAC control frame that arrived.
    void take(dissect::Bytes frame, std::uint64_t mac, dissect::Instant now);

    // Whether any timer was running when it was last looked at: the one question of the packet path.
    [[nodiscard]] bool running() const { return running_ != 0; }
    // Bit n: nothing of priority n may be sent now.
    [[nodiscard]] std::uint8_t stopped(dissect::Instant now);
    // When the first running timer ends.
    [[nodiscard]] std::optional<dissect::Instant> ends_at() const;

    // By priority, then that of the whole link.
    [[nodiscard]] std::span<const PauseTimer, kPauseTimers> timers() const { return timers_; }
    // For how long sending was held back so far, by all timers.
    [[nodiscard]] dissect::Duration paused(dissect::Instant now) const;
    [[nodiscard]] std::uint64_t frames() const { return frames_; }    // that were for us
    [[nodiscard]] std::uint64_t ignored() const { return ignored_; }  // MAC control frames that ask us for nothing
    [[nodiscard]] dissect::BitsPerSecond speed() const { return speed_; }

private:
    void set(std::size_t which, std::uint16_t quanta, std::uint64_t source, dissect::Instant now);
    void expire(dissect::Instant now);
    void close(std::size_t which, dissect::Instant end);

    dissect::BitsPerSecond speed_;
    std::array<PauseTimer, kPauseTimers> timers_{};
    std::uint16_t running_ = 0;  // bit n: timer n
    std::uint64_t frames_ = 0;
    std::uint64_t ignored_ = 0;
};

// Quanta at that speed.
[[nodiscard]] constexpr dissect::Duration pause_time(std::uint16_t quanta, dissect::BitsPerSecond speed) {
    const auto bits_per_second = static_cast<std::uint64_t>(speed);
    if (bits_per_second == 0) return {};
    const std::uint64_t bits = quanta * kBitsPerQuantum * static_cast<std::uint64_t>(dissect::kNanosecondsPerSecond);
    return dissect::Duration{static_cast<std::int64_t>(bits / bits_per_second + (bits % bits_per_second != 0 ? 1 : 0))};
}

}  // namespace qps::transport::live
