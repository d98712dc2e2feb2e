// Dcqcn: how fast one queue pair may send after its peer said that the network is congested. A value; time is an
// argument.
//
// The algorithm is DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015): every CNP
// cuts the rate by alpha / 2; then a timer and a counter of bytes raise it again, first half of the way back to where
// it was (fast recovery), then beyond in steps (additive, at last hyper increase). Integers alone, so that every
// machine computes the same.
//
//   Dcqcn rate(DcqcnSettings{.line_rate = dissect::BitsPerSecond{25'000'000'000}});
//   rate.on_cnp(now);                                   // half the rate
//   if (now >= rate.next_send()) { send(frame); rate.on_sent(frame.size(), now); }
//
// Invariant: min_rate <= rate() <= target <= line_rate. At line rate nothing is computed at all: a queue pair that
// never saw a CNP pays one comparison. A peer can send CNPs as fast as it likes: cut_gap bounds how often they count,
// min_rate how far.
#pragma once

#include <transport-replay/live/verbs/rate_pacing.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>

namespace qps::transport::verbs {

struct DcqcnSettings {
    dissect::BitsPerSecond line_rate{25'000'000'000};
    dissect::BitsPerSecond min_rate{10'000'000};        // below, a queue pair would not send a packet in a millisecond
    dissect::BitsPerSecond additive{40'000'000};        // R_AI of the paper
    dissect::BitsPerSecond hyper{400'000'000};          // R_HAI
    dissect::Duration alpha_period = microseconds(55);  // K: without a CNP, alpha decays
    dissect::Duration rate_period = microseconds(55);   // T: time of one raise
    std::uint64_t bytes_per_raise = 10'000'000;         // B
    std::uint32_t fast_recovery_raises = 5;             // F
    std::uint32_t gain_shift = 8;                       // g = 2^-8, 1..16
    dissect::Duration cut_gap = microseconds(50);       // N: CNPs closer than this to the last cut change nothing
    dissect::Duration burst = microseconds(10);         // credit that silence saves at most
};

class Dcqcn {
public:
    Dcqcn() = default;
    explicit Dcqcn(const DcqcnSettings& settings);

    void on_cnp(dissect::Instant now);
    // Bytes of a frame that went out.
    void on_sent(std::uint64_t bytes, dissect::Instant now);

    // Brings the timers up to `now`; on_cnp() and on_sent() do so themselves.
    void advance(dissect::Instant now);

    [[nodiscard]] bool limited() const { return limited_; }  // below line rate, or paced since the last cut
    [[nodiscard]] dissect::BitsPerSecond rate() const { return dissect::BitsPerSecond{rate_}; }
    [[nodiscard]] dissect::BitsPerSecond target() const { return dissect::BitsPerSecond{target_}; }
    // 0..1 in units of 2^-kAlphaBits.
    [[nodiscard]] std::uint32_t alpha() const { return alpha_; }
    // When the next frame may go out: the lowest instant where nothing limits.
    [[nodiscard]] dissect::Instant next_send() const { return pacing_.next(); }
    [[nodiscard]] std::uint64_t cuts() const { return cuts_; }

    static constexpr std::uint32_t kAlphaBits = 20;
    static constexpr std::uint32_t kAlphaOne = 1U << kAlphaBits;

private:
    void raise(std::uint32_t by_time, std::uint32_t by_bytes);
    void release();

    DcqcnSettings settings_{};
    bool limited_ = false;
    std::uint64_t rate_ = 0;
    std::uint64_t target_ = 0;
    std::uint32_t alpha_ = kAlphaOne;
    std::uint32_t raises_by_time_ = 0;
    std::uint32_t raises_by_bytes_ = 0;
    std::uint64_t bytes_ = 0;  // since the last raise by bytes
    dissect::Instant alpha_due_{};
    dissect::Instant rate_due_{};
    dissect::Instant last_cut_{};
    RatePacing pacing_;
    std::uint64_t cuts_ = 0;
};

// At most one CNP per kCnpGap and queue pair: what a peer marks, or claims was marked, cannot make us flood it.
inline constexpr dissect::Duration kCnpGap = microseconds(50);  // N of the paper

class CnpPacer {
public:
    // Whether a CNP goes out for a mark that arrived at `now`.
    [[nodiscard]] bool allow(dissect::Instant now);

private:
    bool sent_ = false;
    dissect::Instant last_{};
};

}  // namespace qps::transport::verbs
