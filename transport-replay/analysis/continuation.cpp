#include <dissect/base/packet.hpp>
#include <transport-replay/analysis/continuation.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Duration kBetweenPieces{1'000'000'000};
constexpr std::size_t kLookedAt = 4096;  // packets

}  // namespace

bool continues(const ShardedAnalysis& analysis, const std::function<bool(Batch& batch)>& read) {
    if (!analysis.last()) return true;
    Batch batch;
    Packet packet;
    Observation observation;
    bool late = false;
    for (std::size_t seen = 0; seen < kLookedAt && read(batch);)
        for (const Frame& frame : batch.frames) {
            if (++seen > kLookedAt) break;
            if (!late && frame.has_time) {
                if (frame.time - *analysis.last() <= kBetweenPieces) return true;
                late = true;
            }
            decode(frame, packet);
            observe(packet, observation);
            if (analysis.continues(observation)) return true;
        }
    return !late;
}

}  // namespace qps::transport
