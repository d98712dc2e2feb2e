// RateControl: how the rate of one end of a connection went with what could have told it to slow down: CNPs, round-trip
// times, grants of the receiver. A value of counts; judge() says which kind of congestion control they fit, and how
// surely.
//
// Rates are those within messages: between two packets of one message its sender has something to send, so what passes
// there is the pace of its sender, and an application that has nothing to send does not look like one that was slowed
// down.
//
// CNPs: a sender that obeys them slows down when one comes, and not sooner; what else makes it slow, a queue that grows
// say, did so before the CNP too. So the pace of a few packets before a CNP and of a few soon after it are compared,
// and as a control those before it with others so much earlier. Only where the tap is near the sender does it show.
//
// Round-trip times: from a packet to the acknowledgment of that very PSN, as the tap saw both. They are compared over
// steps, each about a round-trip time and kPacketsOfStep packets long: how they change from step to step is the
// gradient that TIMELY (Mittal et al., SIGCOMM 2015) goes by; Swift (Kumar et al., SIGCOMM 2020) goes by how far they
// are above a target. From outside these look alike. A step is compared with two before it and two after it, and not
// with the one just before: what a sender itself did to the queue is in there.
//
// Credits: who waits for the next one of its receiver (IBA 9.7.7.2) begins a message when that comes.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace qps::transport {

inline constexpr std::uint32_t kPacketsOfStep = 8;  // that a step has at least, at the rate of the beginning
inline constexpr double kFall = 0.94;    // of the rate: slower than that part is a fall; pacing of NICs is steadier
inline constexpr double kRise = 1.3;     // of the round-trip time: more than that part is a rise
inline constexpr double kNoRise = 1.05;  // and up to that part none

// Steps alike, and how many of them the rate fell at.
struct RateSteps {
    std::uint64_t steps = 0;
    std::uint64_t falls = 0;
    void add(bool fell) {
        ++steps;
        falls += fell ? 1 : 0;
    }
    [[nodiscard]] bool operator==(const RateSteps&) const = default;
};
[[nodiscard]] inline RateSteps operator+(RateSteps a, RateSteps b) { return {a.steps + b.steps, a.falls + b.falls}; }

struct RateControl {
    ConnectionId connection{};
    End from{};
    dissect::FrameIndex first_frame{};
    dissect::FrameIndex last_frame{};
    std::uint64_t packets = 0;  // that followed another of their message
    dissect::Duration step{};   // 0: too little for one
    std::uint64_t steps = 0;    // compared with those around them
    double slowest = 0;         // of two steps in a row, bits per second
    double fastest = 0;

    std::uint64_t round_trips = 0;  // measured
    dissect::Duration least_round_trip{};
    dissect::Duration most_round_trip{};
    dissect::Duration all_round_trips{};  // their sum

    std::uint64_t cnps = 0;
    RateSteps at_cnp;      // the first for a while
    RateSteps before_cnp;  // the same packets with those so much earlier
    RateSteps quiet;       // no CNP near, and no rise of the round-trip time
    RateSteps after_rise;  // of the round-trip time, no CNP near
    RateSteps after_both;  // with CNPs near
    std::uint64_t window_kept =
        0;  // of the falls after a rise alone: as many packets were under way before it as after it
    std::uint64_t disturbed = 0;  // times that packets were lost, late or sent again

    std::uint64_t granted = 0;  // SENDs that began after a credit for which their sender had waited
    std::uint64_t unasked = 0;  // that began without such a wait
    std::uint64_t beyond = 0;   // that began without a credit
};

// What made the rate fall.
enum class RateFollows : std::uint8_t { undecided, nothing, notifications, round_trips, grants };
inline constexpr std::array<std::string_view, 5> kRateFollowsNames{"undecided", "nothing", "cnps", "round_trips",
                                                                   "grants"};

struct RateVerdict {
    RateFollows follows{};
    std::uint8_t certainty = 0;  // percent; 0 where undecided
    std::string_view why;        // of static storage: what is missing where undecided, else empty
};
[[nodiscard]] RateVerdict judge(const RateControl& control);

}  // namespace qps::transport
