// What the times of a row come to: percentiles, how much its halves differ, how many took how long.
//
// Ours alone: nothing of a peer is read here. The histogram has a bounded number of buckets, whatever the times are.
#pragma once

#include <transport-replay/live/pingpong/pingpong.hpp>

#include <cstdint>
#include <vector>

namespace qps::transport::live::pingpong {

// Nanoseconds in the order in which they were measured; sorted then. Of no time at all everything is 0.
[[nodiscard]] PingpongRow figures(std::vector<std::int64_t>& times);

// From the lowest, which is not negative, to the highest; those that are empty are left out.
[[nodiscard]] std::vector<PingpongBucket> histogram_of(std::span<const std::int64_t> sorted);

}  // namespace qps::transport::live::pingpong
