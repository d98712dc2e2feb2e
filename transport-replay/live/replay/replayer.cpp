#include <transport-replay/live/replay/replayer.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::int64_t kNoRoom = 20'000;  // nanoseconds until a device without room is asked again
constexpr std::int64_t kFarthest = std::numeric_limits<std::int64_t>::max();
constexpr double kFarthestScaled = 9e18;  // nanoseconds that fit an instant

std::int64_t count(Instant time) { return static_cast<std::int64_t>(time); }

// From one instant to the other, divided by the speed; hostile times stop at the ends of the range.
std::int64_t scaled(Instant from, Instant to, double speed) {
    std::int64_t between = 0;
    if (__builtin_sub_overflow(count(to), count(from), &between)) between = to > from ? kFarthest : -kFarthest;
    if (speed == 1.0) return between;
    return static_cast<std::int64_t>(
        std::clamp(std::round(static_cast<double>(between) / speed), -kFarthestScaled, kFarthestScaled));
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
    std::int64_t total = 0;
    if (__builtin_add_overflow(a, b, &total))
        return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
    return total;
}

}  // namespace

Replayer::Replayer(Device device, const Pace& pace, Rewriter rewriter)
    : device_(std::move(device)), pace_(pace), rewriter_(std::move(rewriter)), longest_(device_.limits().frame_bytes) {
    pace_.speed = std::isfinite(pace.speed) ? std::clamp(pace.speed, kSlowest, kFastest) : 1.0;
}

Instant Replayer::due(Instant recorded, Instant now) {
    if (!origin_) origin_ = Origin{recorded, now};
    return Instant{sum(count(origin_->replayed), scaled(origin_->recorded, recorded, pace_.speed))};
}

bool Replayer::goes(const Frame& frame) {
    if (frame.link != LinkType::ethernet) ++counts_.foreign;
    else if (frame.cut()) ++counts_.cut;
    else if (frame.bytes.size() < kEthernetHeader || frame.bytes.size() > longest_) ++counts_.misfits;
    else return true;
    return false;
}

bool Replayer::offer(const Frame& frame, Instant now) {
    next_ = kAtOnce;
    std::int64_t behind = 0;
    if (!pace_.fast && frame.has_time) {
        const Instant at = due(frame.time, now);
        if (at > now) {
            next_ = at;
            return false;
        }
        behind = scaled(at, now, 1.0);
    }
    if (!goes(frame)) return true;
    const MutableBytes room = device_.reserve(now);
    if (room.size() < frame.bytes.size()) {
        next_ = Instant{sum(count(now), kNoRoom)};
        return false;
    }
    std::memcpy(room.data(), frame.bytes.data(), frame.bytes.size());
    const std::size_t length = rewriter_.idle() ? frame.bytes.size() : rewriter_.apply(room, frame.bytes.size());
    if (length == 0) {
        ++counts_.misfits;
        return true;
    }
    device_.commit(length, now);
    ++counts_.frames;
    counts_.bytes += length;
    if (behind >= static_cast<std::int64_t>(kLate)) ++counts_.late;
    counts_.latest = std::max(counts_.latest, Duration{behind});
    return true;
}

}  // namespace qps::transport::live
