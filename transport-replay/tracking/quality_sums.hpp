// What of the quality of a capture adds up: counted of a batch by any thread, before its turn, and appended in the
// order of the capture.
#pragma once

#include <transport-replay/model/observation.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace qps::transport {

inline constexpr std::int64_t kCoarsestClock = 1'000'000'000;  // what we ask for: a second

// What the packets of a capture are, whichever tap they are from.
struct ContentSums {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;  // on the wire
    std::uint64_t cut = 0;
    std::uint64_t rdma_packets = 0;
    std::uint64_t unreadable = 0;
    std::uint64_t icrc_good = 0, icrc_bad = 0, icrc_not_checkable = 0;
    std::uint32_t longest_whole = 0;  // in bytes
    std::uint32_t shortest_cut = 0;   // 0: none

    void add(const Observation& observation);
    void append(const ContentSums& later);
};

// How times follow each other.
struct ClockSums {
    bool any = false;
    dissect::Instant first{}, last{};
    std::uint64_t backwards = 0;  // before the packet before
    dissect::Duration largest_step_back{};
    dissect::FrameIndex largest_step_frame{};
    std::int64_t resolution =
        kCoarsestClock;  // the greatest power of ten, in nanoseconds, that all times are multiples of

    // `other_clock`: nothing follows from how it stands to the packet before.
    void add(const Observation& observation, bool other_clock = false);
    // `start`: the frame with which `later` began.
    void append(const ClockSums& later, dissect::FrameIndex start);

private:
    void step(dissect::Instant to, dissect::FrameIndex frame);
};

// Two hosts, and which of them was heard.
struct HeardPair {
    std::uint32_t hash = 0;  // Observation::hosts_hash
    Address first;           // who was heard first
    Address second;
    std::array<std::uint64_t, 2> packets{};  // from the first, from the second
    bool reliable = false;                   // RC or XRC: there must be answers

    // Nothing of packets to a group: nobody answers from its address.
    [[nodiscard]] static bool is_told_of(const Observation& observation);
    [[nodiscard]] bool is_of(const Observation& observation) const;
    void add(const Observation& observation);
    // The same hosts, perhaps the other way round.
    [[nodiscard]] bool is_same(const HeardPair& other) const;
    void append(const HeardPair& later);
};

// The pairs of a batch, in the order in which they were first heard.
class HeardPairs {
public:
    static constexpr std::size_t kMost = 2048;
    void clear();
    // False where there are too many of them.
    [[nodiscard]] bool add(const Observation& observation);
    [[nodiscard]] const std::vector<HeardPair>& pairs() const { return pairs_; }

private:
    static constexpr std::size_t kPlaces = 4 * kMost;  // a power of two
    std::vector<HeardPair> pairs_;
    std::vector<std::uint16_t> places_ = std::vector<std::uint16_t>(kPlaces);  // by hash: number of a pair, from 1 on
};

}  // namespace qps::transport
