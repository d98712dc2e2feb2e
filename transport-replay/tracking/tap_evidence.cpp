#include <transport-replay/tracking/tap_evidence.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr double kWorstClock = 1e-3;  // of its time; crystals are off by 1e-4 at worst

Duration middle_of(std::vector<Duration>& all, std::size_t nth_of_16 = 8) {
    const auto place = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size() - 1, all.size() * nth_of_16 / 16));
    std::ranges::nth_element(all, place);
    return *place;
}

}  // namespace

ClockOffset offset_of(std::vector<TimedOffset> pairs) {
    ClockOffset found;
    if (pairs.empty()) return found;
    std::ranges::sort(pairs, {}, &TimedOffset::time);
    const std::size_t parts = std::clamp<std::size_t>(pairs.size() / kFewestPerPart, 1, ClockOffset::kMostParts);
    for (std::size_t i = 0; i < parts; ++i) {
        const auto from = pairs.size() * i / parts, to = pairs.size() * (i + 1) / parts;
        std::vector<Duration> offsets;
        for (std::size_t k = from; k < to; ++k) offsets.push_back(pairs[k].offset);
        found.parts[found.used++] = {pairs[(from + to) / 2].time, middle_of(offsets)};
    }
    std::vector<Duration> distances;
    for (const TimedOffset& pair : pairs) distances.push_back(magnitude(pair.offset - found.at(pair.time)));
    constexpr std::size_t kMostOf16 = 15;
    const Duration most = middle_of(distances, kMostOf16);
    found.tolerance = std::max(kLeastTolerance, most + most + most);
    return found;
}

// Beyond the first and the last part as between the two that are next to it.
Duration ClockOffset::at(Instant time) const {
    if (used == 0) return {};
    if (used == 1) return parts[0].offset;
    std::size_t right = 1;
    while (right + 1 < used && parts[right].time <= time) ++right;
    const Part& from = parts[right - 1];
    const Part& to = parts[right];
    const auto length = static_cast<double>(to.time - from.time);
    if (length <= 0) return from.offset;
    double slope = static_cast<double>(to.offset - from.offset) / length;
    if (time < from.time || time > to.time) slope = std::clamp(slope, -kWorstClock, kWorstClock);
    return from.offset + Duration{static_cast<std::int64_t>(slope * static_cast<double>(time - from.time))};
}

}  // namespace qps::transport
