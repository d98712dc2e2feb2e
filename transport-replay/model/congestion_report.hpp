// Congestion, as a capture shows it: what CongestionTracker (watch/congestion.hpp) reports. Values; bounds are the
// tracker's.
#pragma once

#include <transport-replay/model/address.hpp>
#include <transport-replay/model/kept_packets.hpp>
#include <transport-replay/model/rate_control.hpp>

#include <optional>
#include <vector>

namespace qps::transport {

inline constexpr dissect::Duration kCnpDeadline{1'000'000};  // 1 ms: NICs pace CNPs at 4 to 50 us; later is no answer
inline constexpr dissect::Duration kCnpPacing{
    100'000};  // that pace, and as much again for the ways to the tap and back
inline constexpr dissect::Duration kStormTime{
    100'000'000};  // 100 ms: the shortest detection time of common PFC watchdogs
inline constexpr dissect::BitsPerSecond kSlowestLink{1'000'000'000};      // of links that carry RDMA
inline constexpr dissect::BitsPerSecond kFastestLink{1'600'000'000'000};  // of those that there are
inline constexpr std::uint8_t kWholeLink = 8;                             // the "priority" of 802.3 PAUSE
// A link partner may finish what it is sending, and has that much time to react (IEEE 802.3 31B.3.7: some 400 quanta at
// most); with a jumbo frame at 1 Gbit/s 80 us.
inline constexpr dissect::Duration kPauseGrace{100'000};
inline constexpr std::size_t kMaxSamples = 128;  // of a distribution; then every second goes

// Count, extremes and median of durations. The median is exact up to kMaxSamples, then of every 2nd, 4th, ... value.
class Distribution {
public:
    void add(dissect::Duration value);
    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] dissect::Duration least() const { return least_; }
    [[nodiscard]] dissect::Duration most() const { return most_; }
    [[nodiscard]] std::optional<dissect::Duration> median() const;

private:
    friend struct PrivateMembers;  // parts/private_members.hpp
    std::uint64_t count_ = 0;
    std::uint64_t stride_ = 1;
    dissect::Duration least_{};
    dissect::Duration most_{};
    std::vector<dissect::Duration> samples_;
};

// How a flow's rate changed where a burst of CNPs went to its sender (to any of its queue pairs): bytes on the wire in
// the whole kRateBin bins that were observed before and after, over all bursts.
struct Reaction {
    std::uint32_t bursts = 0;
    std::uint64_t bytes_before = 0;
    std::uint64_t bytes_after = 0;
    std::uint32_t bins_before = 0;
    std::uint32_t bins_after = 0;
    // Of bursts that went on for longer than twice kRateBins bins, which the flow sent in: the CNPs until then, and
    // bytes of the first kRateBins whole bins of each and of those behind them.
    std::uint32_t long_bursts = 0;
    std::uint64_t cnps = 0;
    std::uint64_t bytes_first = 0;
    std::uint64_t bytes_then = 0;
};

struct FlowCongestion {
    FlowKey flow;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;  // on the wire
    std::uint64_t marked = 0;
    dissect::FrameIndex first_marked{};
    dissect::FrameIndex last_marked{};
    dissect::Instant first_marked_time{};
    dissect::Instant last_marked_time{};
    Reaction reaction;
};

// All data of one host to another.
struct PairCongestion {
    Address source;
    Address destination;
    std::uint64_t packets = 0;
    std::uint64_t ce_marked = 0;      // of all packets
    std::uint64_t marked = 0;         // of packets that a CNP should answer: no ACKs, no multicast
    std::uint64_t notifications = 0;  // CNPs the other way
    std::uint64_t answered = 0;       // marks that a CNP followed within kCnpDeadline
    std::uint64_t unanswered = 0;     // marks that none did; says little where other_way_seen is false
    std::uint64_t undecided =
        0;  // the others: within kCnpDeadline of the end of the capture, or within kCnpPacing of a CNP
    std::uint64_t silences = 0;   // how many CNPs the unanswered ones could have brought: those kCnpDeadline apart
    bool other_way_seen = false;  // any packet of the destination to the source
    KeptPackets unanswered_marks{};
};

// CNPs from one host to one queue pair of another.
struct CnpStream {
    FlowKey flow;
    std::uint64_t count = 0;
    std::uint64_t without_mark = 0;  // no mark seen within kCnpDeadline before
    dissect::FrameIndex first_frame{};
    dissect::FrameIndex last_frame{};
    dissect::Instant last_time{};
    Distribution gaps;    // between consecutive CNPs
    Distribution delays;  // since the last mark in the other direction
    dissect::Instant first_time{};
    KeptPackets unmarked{};  // those without a mark
};

enum class PauseEnd : std::uint8_t { resumed, expired, unknown, capture_end };

struct PausePeriod {
    dissect::InterfaceId interface{};
    std::uint8_t priority = 0;  // or kWholeLink
    Address sender;             // of the pause frames: it could not take more
    dissect::FrameIndex frame{};
    dissect::Instant start{};
    dissect::Instant end{};  // where unknown: of the last frame that asked for it
    PauseEnd ended = PauseEnd::unknown;
    std::uint32_t refreshes = 0;
};

// One priority that one end of a link paused.
struct PauseSummary {
    dissect::InterfaceId interface{};
    std::uint8_t priority = 0;
    Address sender;
    std::uint64_t stops = 0;    // XOFF frames
    std::uint64_t resumes = 0;  // XON
    std::uint64_t periods = 0;
    std::uint64_t judged =
        0;  // longer than kPauseGrace, and it is known for how long: late packets would have been seen
    std::uint64_t packets_to_it = 0;  // since its first pause frame, of that priority
    std::uint64_t late = 0;           // of these: while it was paused, more than kPauseGrace after it said so
    dissect::FrameIndex first_late{};
    dissect::Instant first_late_time{};
    // Periods of which it is known how long they were at most, since nobody told the speed of the link: its quanta
    // count as long as they take at the slowest speed that it can have, and until the first packet that they should
    // have stopped.
    std::uint64_t unknown_lengths = 0;
    std::uint64_t storms = 0;    // periods of kStormTime and more, at a known speed or by the traffic that was silent
    dissect::Duration paused{};  // with the unknown ones at their most
    dissect::Duration least_paused{};  // what any speed of the link leaves of it
    dissect::Duration longest{};
    dissect::FrameIndex longest_frame{};
    dissect::Instant longest_start{};
    KeptPackets stop_frames{};               // XOFF
    dissect::BitsPerSecond assumed_speed{};  // where nobody told it: the slowest that the link can have; else 0
    bool speed_shown = false;                // by packets to the sender, which took no longer; else it is kSlowestLink
    // Traffic that it stops was silent from the first frame of its longest period to the last, and went on behind it:
    // of that sender, or to who paused it.
    bool traffic_stopped = false;
    dissect::Duration silence{};
};

struct IncastBurst {
    Address destination;
    dissect::FrameIndex frame{};  // of the first sender
    dissect::Instant start{};
    dissect::Duration length{};
    std::uint32_t senders = 0;
    std::uint64_t bytes = 0;
    std::uint64_t marked = 0;
};

struct CongestionReport {
    std::vector<FlowCongestion> flows;     // between hosts with marks or CNPs; sorted by flow
    std::vector<PairCongestion> pairs;     // with marks or CNPs; sorted by source and destination
    std::vector<CnpStream> notifications;  // sorted by flow
    std::vector<PauseSummary> pauses;      // sorted by interface, priority and sender
    std::vector<PausePeriod> periods;      // in the order they ended
    std::vector<IncastBurst> incasts;      // in the order they ended
    std::vector<RateControl> rates;        // of who sends long messages; by connection and end
    std::uint64_t packets = 0;
    std::uint64_t marked = 0;
    std::uint64_t cnps = 0;
    std::uint64_t packets_dropped = 0;  // of flows, pairs, streams or timers past their bounds
    std::uint64_t periods_dropped = 0;
    std::uint64_t incasts_dropped = 0;
    std::uint64_t rates_left_out = 0;  // times that a sender was not watched
};

}  // namespace qps::transport
