// What the times of a row come to: percentiles, how much its halves differ, how many took how long.
//
// Ours alone: nothing of a peer is read here. The histogram has a bounded number of buckets, whatever the times are.
#pragma once

#include <transport-replay/live/pingpong/pingpong.hpp>

#include <cstdint>
#include <vector>

namespace qps::transport::live::pingpong {

// Nanoseconds in the order in which they were measured; sorted then. Of no time at all everything is 0, or none.
[[nodiscard]] PingpongRow figures(std::vector<std::int64_t>& times);

// From the lowest, which is not negative, to the highest; those that are empty are left out.
[[nodiscard]] std::vector<PingpongBucket> histogram_of(std::span<const std::int64_t> sorted);

// How far a row that pours was at which time, at some places that are spread over all of it however long it gets.
class Progress {
public:
    void begin(dissect::Instant now);
    void note(std::uint64_t messages, dissect::Instant now);
    // Between what a message of the first half took and one of the second; of a row that came to an end with so many.
    [[nodiscard]] dissect::Duration drift(std::uint64_t messages, dissect::Instant end) const;

private:
    struct Mark {
        std::uint64_t messages = 0;
        dissect::Instant time{};
    };
    static constexpr std::size_t kMostMarks = 64;

    dissect::Instant began_{};
    std::uint64_t step_ = 1;  // messages from one mark to the next
    std::vector<Mark> marks_{};
};

}  // namespace qps::transport::live::pingpong
