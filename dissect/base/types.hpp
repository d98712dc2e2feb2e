// The numbers of the transport as distinct types, so that one cannot be passed for another.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace qps::dissect {

enum class FrameIndex : std::uint64_t {};   // position in the capture, 1 for the first frame (Wireshark's frame.number)
enum class InterfaceId : std::uint32_t {};  // capture interface, counted over all sections of a file from 0
enum class Instant : std::int64_t {};       // nanoseconds since 1970-01-01 UTC, as the capture says
enum class Duration : std::int64_t {};      // nanoseconds
enum class BitsPerSecond : std::uint64_t {};  // link speed; 0 where it is not known

enum class Qpn : std::uint32_t {};   // queue pair number, 24 bits
enum class Lid : std::uint16_t {};   // local identifier of a port in a subnet
enum class Pkey : std::uint16_t {};  // partition key with its membership bit
enum class Qkey : std::uint32_t {};
enum class Rkey : std::uint32_t {};
enum class Msn : std::uint32_t {};  // message sequence number, 24 bits

inline constexpr Qpn kSmiQpn{0};  // subnet management interface: never valid on RoCE (A17)
inline constexpr Qpn kGsiQpn{1};  // general services interface
inline constexpr Qpn kMulticastQpn{0xffffff};

inline constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;  // of an Instant, of a Duration

// Arithmetic of time saturates: a capture may claim any instant that 64 bits of nanoseconds hold, and the difference of
// two needs more. No duration is below -(2^63 - 1), so that every one can be negated.
inline constexpr std::int64_t kLongestTime = std::numeric_limits<std::int64_t>::max();

namespace saturating {
[[nodiscard]] constexpr std::int64_t add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return b > 0 ? kLongestTime : -kLongestTime;
    return sum < -kLongestTime ? -kLongestTime : sum;
}
[[nodiscard]] constexpr std::int64_t subtract(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a, b, &difference)) return b < 0 ? kLongestTime : -kLongestTime;
    return difference < -kLongestTime ? -kLongestTime : difference;
}
}  // namespace saturating

[[nodiscard]] constexpr Duration operator-(Instant to, Instant from) {
    return Duration{saturating::subtract(static_cast<std::int64_t>(to), static_cast<std::int64_t>(from))};
}
[[nodiscard]] constexpr Instant operator+(Instant from, Duration by) {
    return Instant{saturating::add(static_cast<std::int64_t>(from), static_cast<std::int64_t>(by))};
}
[[nodiscard]] constexpr Instant operator-(Instant from, Duration by) {
    return Instant{saturating::subtract(static_cast<std::int64_t>(from), static_cast<std::int64_t>(by))};
}
[[nodiscard]] constexpr Duration operator+(Duration a, Duration b) {
    return Duration{saturating::add(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b))};
}
[[nodiscard]] constexpr Duration operator-(Duration a, Duration b) {
    return Duration{saturating::subtract(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b))};
}
[[nodiscard]] constexpr Duration operator-(Duration a) {
    return Duration{saturating::subtract(0, static_cast<std::int64_t>(a))};
}
constexpr Duration& operator+=(Duration& a, Duration b) { return a = a + b; }
constexpr Duration& operator-=(Duration& a, Duration b) { return a = a - b; }
[[nodiscard]] constexpr Duration magnitude(Duration a) { return a < Duration{} ? -a : a; }

// Packet sequence number: 24 bits that wrap. Ordering is serial: a is before b where the way from a to b is
// the shorter one; half the space (2^23) is the window that may be outstanding (9.7.2).
class Psn {
public:
    static constexpr std::uint32_t kMask = 0xffffff;
    constexpr Psn() = default;
    constexpr explicit Psn(std::uint32_t value) : value_(value & kMask) {}
    [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
    [[nodiscard]] constexpr Psn operator+(std::uint32_t count) const { return Psn(value_ + count); }
    // Signed distance from `other` to this one, -2^23 .. 2^23-1.
    [[nodiscard]] constexpr std::int32_t operator-(Psn other) const {
        return static_cast<std::int32_t>((value_ - other.value_) << 8) >> 8;
    }
    // How many steps up from here to `other`, 0 .. 2^24-1.
    [[nodiscard]] constexpr std::uint32_t steps_to(Psn other) const { return (other.value_ - value_) & kMask; }
    // The one before.
    [[nodiscard]] constexpr Psn previous() const { return Psn(value_ - 1); }
    [[nodiscard]] constexpr bool operator==(const Psn&) const = default;
    [[nodiscard]] constexpr bool before(Psn other) const { return *this - other < 0; }

private:
    std::uint32_t value_ = 0;
};

}  // namespace qps::dissect
