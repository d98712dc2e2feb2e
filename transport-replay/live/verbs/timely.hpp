// Timely: how fast one queue pair may send, by how long its round trips take. A value; time is an argument.
//
// The algorithm is TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015): short round trips raise
// the rate in steps, long ones cut it, and between the two it follows the gradient: the sooner they grow, the deeper the cut. Two things
// are ours: `low` and `high` are counted from the shortest round trip that was seen, since software ends have longer ones than NICs, and
// the gradient is divided by that, where the paper has a constant. Integers alone, so that every machine computes the same.
//
//   Timely rate(TimelySettings{.line_rate = dissect::BitsPerSecond{25'000'000'000}});
//   rate.on_round_trip(microseconds(700), now);
//   if (now >= rate.next_send()) { send(frame); rate.on_sent(frame.size(), now); }
//
// Invariant: min_rate <= rate() <= line_rate. At line rate nothing is paced. A peer decides how long a round trip takes, and can do no
// more by that than have us send at min_rate.
#pragma once

#include <transport-replay/live/verbs/rate_pacing.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>

namespace qps::transport::verbs {

struct TimelySettings {
    dissect::BitsPerSecond line_rate{25'000'000'000};
    dissect::BitsPerSecond min_rate{10'000'000};
    dissect::BitsPerSecond additive{10'000'000};  // delta of the paper
    dissect::Duration low = microseconds(50);     // above the shortest round trip: T_low
    dissect::Duration high = microseconds(500);   // T_high
    std::uint32_t hyper_after = 5;                // round trips in a row that do not grow; then steps are so many times as large (N)
    dissect::Duration burst = microseconds(10);   // credit that silence saves at most
};

class Timely {
public:
    Timely() : Timely(TimelySettings{}) {}
    explicit Timely(const TimelySettings& settings);

    // From a request to its acknowledgment, of what was sent once.
    void on_round_trip(dissect::Duration took, dissect::Instant now);
    // Bytes of a frame that went out.
    void on_sent(std::uint64_t bytes, dissect::Instant now) {
        if (limited_) pacing_.on_sent(bytes, rate_, settings_.burst, now);
    }

    [[nodiscard]] bool limited() const { return limited_; }
    [[nodiscard]] dissect::BitsPerSecond rate() const { return dissect::BitsPerSecond{rate_}; }
    [[nodiscard]] dissect::Instant next_send() const { return pacing_.next(); }
    [[nodiscard]] dissect::Duration shortest() const { return dissect::Duration{shortest_}; }  // 0: none yet

private:
    void raise(std::uint64_t steps);
    void cut(std::uint64_t part, dissect::Instant now);

    TimelySettings settings_;
    bool limited_ = false;
    std::uint64_t rate_ = 0;
    std::int64_t shortest_ = 0;  // nanoseconds, as what follows
    std::int64_t last_ = 0;
    std::int64_t difference_ = 0;  // of one round trip to the next, smoothed
    std::uint32_t falling_ = 0;    // round trips in a row that did not grow
    RatePacing pacing_;
};

}  // namespace qps::transport::verbs
