// Timely: how fast one queue pair may send, by how long its round trips take. A value; time is an argument.
//
// The algorithm is TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015):
// short round trips raise the rate in steps, long ones cut it, and between the two it follows the gradient: the sooner
// they grow, the deeper the cut. What is ours, because the ends here are software on processors that others use, and
// networks that lose:
// * `low` and `high` are counted from the shortest round trip that was seen, and what is compared is the shorter of the
// last two: a queue
//   makes all of them long, a busy processor one now and then.
// * The gradient is divided by the round trip at `low`, where the paper has the shortest: that of software is far below
// the usual ones, and
//   their jitter alone would be growth (measured on a veth: 34 us at best, 232 us in the middle, 324 us at the 95th
//   percentile).
// * A loss halves the rate, once in a round trip: what is sent again is not measured, so a queue that overflows would
// tell nothing.
// * The first cut begins at the rate that was really sent, not at that of the line, which may be a hundred times as
// much. Integers alone, so that every machine computes the same.
//
//   Timely rate(TimelySettings{.line_rate = dissect::BitsPerSecond{25'000'000'000}});
//   rate.on_round_trip(microseconds(700), now);
//   if (now >= rate.next_send()) { send(frame); rate.on_sent(frame.size(), now); }
//
// Invariant: min_rate <= rate() <= line_rate. At line rate nothing is paced. A peer decides how long a round trip
// takes, and can do no more by that than have us send at min_rate.
#pragma once

#include <transport-replay/live/verbs/rate_pacing.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>

#include <optional>

namespace qps::transport::verbs {

struct TimelySettings {
    dissect::BitsPerSecond line_rate{25'000'000'000};
    dissect::BitsPerSecond min_rate{10'000'000};
    dissect::BitsPerSecond additive{10'000'000};  // delta of the paper
    dissect::Duration low = microseconds(200);    // above the shortest round trip: T_low
    dissect::Duration high = microseconds(1000);  // T_high
    std::uint32_t hyper_after = 5;  // round trips in a row that do not grow; then steps are so many times as large (N)
    dissect::Duration burst = microseconds(10);  // credit that silence saves at most
};

class Timely {
public:
    Timely() : Timely(TimelySettings{}) {}
    explicit Timely(const TimelySettings& settings);

    // From a request to its acknowledgment, of what was sent once.
    void on_round_trip(dissect::Duration took, dissect::Instant now);
    // Something was lost, as a NAK says.
    void on_loss(dissect::Instant now);
    // Bytes of a frame that went out.
    void on_sent(std::uint64_t bytes, dissect::Instant now) {
        if (limited_) pacing_.on_sent(bytes, rate_, settings_.burst, now);
        else sent_ += bytes;
    }

    [[nodiscard]] bool limited() const { return limited_; }
    [[nodiscard]] dissect::BitsPerSecond rate() const { return dissect::BitsPerSecond{rate_}; }
    [[nodiscard]] dissect::Instant next_send() const { return pacing_.next(); }
    [[nodiscard]] dissect::Duration shortest() const { return dissect::Duration{shortest_}; }  // 0: none yet

private:
    void raise(std::uint64_t steps);
    void cut(std::uint64_t part, dissect::Instant now);
    void measure(dissect::Instant now);

    TimelySettings settings_;
    bool limited_ = false;
    std::uint64_t rate_ = 0;
    std::int64_t shortest_ = 0;    // nanoseconds, as what follows
    std::int64_t raw_ = 0;         // the last one
    std::int64_t last_ = 0;        // the shorter of the last two
    std::int64_t difference_ = 0;  // of one round trip to the next, smoothed
    std::uint32_t falling_ = 0;    // round trips in a row that did not grow
    std::uint64_t sent_ = 0;       // bytes since then, while nothing limits
    dissect::Instant since_{};
    std::uint64_t sending_ = 0;               // bits per second, of the last round trip; 0: not known
    std::optional<dissect::Instant> lost_{};  // when the last loss cut
    RatePacing pacing_;
};

}  // namespace qps::transport::verbs
