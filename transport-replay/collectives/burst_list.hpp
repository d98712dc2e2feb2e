// BurstList: when data went one way between two hosts, as bursts divided by pauses.
//
// Bounded: where bursts are too many, shorter pauses no longer divide; where that would leave next to nothing, the list
// is full and what comes later is only counted. What an attacker could feed: any times in any order; time never goes
// back in here.
#pragma once

#include <dissect/base/types.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace qps::transport {

struct Burst {
    dissect::Instant begin{};
    dissect::Instant end{};
    dissect::FrameIndex frame{};
    std::uint64_t bytes = 0;
};

class BurstList {
public:
    static constexpr std::size_t kMost = 512;   // of 32 bytes
    static constexpr std::size_t kFewest = 16;  // fewer show no rhythm
    static constexpr dissect::Duration kFirstPause{
        20'000};  // 20 us: longer than a sender takes between packets of one message
    static constexpr dissect::Duration kMostPause{1'000'000'000};

    void add(dissect::Instant time, dissect::FrameIndex frame, std::uint64_t bytes) {
        bytes_ += bytes;
        if (!bursts_.empty()) {
            Burst& last = bursts_.back();
            time = std::max(time, last.end);
            if (time - last.end <= pause_) {
                last.end = time;
                last.bytes += bytes;
                return;
            }
        }
        begin(time, frame, bytes);
    }
    [[nodiscard]] const std::vector<Burst>& bursts() const { return bursts_; }
    [[nodiscard]] dissect::Duration pause() const { return pause_; }  // shorter ones divide nothing
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] bool full() const { return full_; }

private:
    friend struct PrivateMembers;  // parts/private_members.hpp
    void begin(dissect::Instant time, dissect::FrameIndex frame, std::uint64_t bytes);
    void coarsen();

    std::vector<Burst> bursts_;
    dissect::Duration pause_ = kFirstPause;
    std::uint64_t bytes_ = 0;
    bool full_ = false;
};

}  // namespace qps::transport
