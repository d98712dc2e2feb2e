#include <transport-replay/collectives/burst_list.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

// The list as it were if shorter pauses divided nothing.
std::vector<Burst> merged(const std::vector<Burst>& bursts, Duration pause) {
    std::vector<Burst> some;
    for (const Burst& burst : bursts) {
        if (some.empty() || burst.begin - some.back().end > pause) {
            some.push_back(burst);
            continue;
        }
        some.back().end = burst.end;
        some.back().bytes += burst.bytes;
    }
    return some;
}

}  // namespace

void BurstList::begin(Instant time, FrameIndex frame, std::uint64_t bytes) {
    if (full_) return;
    if (bursts_.size() == kMost) coarsen();
    if (!full_) bursts_.push_back({time, time, frame, bytes});
}

void BurstList::coarsen() {
    for (Duration pause = pause_; pause < kMostPause;) {
        pause = pause + pause;
        std::vector<Burst> fewer = merged(bursts_, pause);
        if (fewer.size() < kFewest) break;
        if (fewer.size() > kMost / 2) continue;
        bursts_ = std::move(fewer);
        pause_ = pause;
        return;
    }
    full_ = true;
}

}  // namespace qps::transport
