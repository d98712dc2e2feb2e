// Packets that findings show one by one: the first of many, and the last one.
#pragma once

#include <dissect/base/types.hpp>

#include <vector>

namespace qps::transport {

struct TimedFrame {
    dissect::FrameIndex frame{};  // 0: none
    dissect::Instant time{};
};

struct KeptPackets {
    static constexpr std::size_t kMost = 64;
    std::vector<TimedFrame> first{};  // at most kMost
    TimedFrame last{};

    void add(TimedFrame packet) {
        if (first.size() < kMost) first.push_back(packet);
        last = packet;
    }
};

}  // namespace qps::transport
