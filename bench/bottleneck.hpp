// One adapter writes to another through a queue that empties slower than it fills, under a virtual clock.
// The worth of rate control shows in the queue: how long packets stand in it, and how much of the line is used all the
// same.
#pragma once

#include <transport-replay/live/verbs/adapter.hpp>

#include <cstdint>

namespace qps::bench {

struct Bottleneck {
    dissect::BitsPerSecond speed{1'000'000'000};           // of the queue; towards it the line is as fast as one likes
    dissect::Duration delay = transport::microseconds(5);  // each way, without the queue
    std::uint64_t marks_above = 100'000;                   // bytes in the queue: more is marked, where it may be
    std::uint64_t most = 8'000'000;                        // bytes: what comes beyond is lost
    std::uint32_t queue_pairs = 4;
    dissect::Duration settles = transport::microseconds(200'000);  // before anything is measured
    dissect::Duration lasts = transport::microseconds(300'000);
};

struct BottleneckFigures {
    double used = 0;          // of the line: 0..1
    dissect::Duration p50{};  // in the queue
    dissect::Duration p99{};
    std::uint64_t lost = 0;
    std::uint64_t marked = 0;
    std::uint64_t cnps = 0;
};

// WRITEs of 16 KiB, as many as there can be. The settings say which rate control, if any.
[[nodiscard]] BottleneckFigures run(const Bottleneck& bottleneck, transport::verbs::AdapterSettings settings);

}  // namespace qps::bench
