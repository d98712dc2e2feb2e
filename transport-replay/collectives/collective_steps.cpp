#include <transport-replay/collectives/collective_steps.hpp>

#include <algorithm>
#include <cmath>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kTries = 16;  // pauses that may be those between steps
constexpr double kSpread = 0.25;    // of the bytes of steps: standard deviation to mean
constexpr double kMostly = 0.8;     // of ways, of steps
constexpr std::int64_t kClearly = 5,
                       kClearlyOf = 4;    // pauses of a class are at most so many times as long as the next shorter one
constexpr std::int64_t kShortest = 1000;  // ns: of pauses that are compared, so that none is zero

// Lists that are full end before the capture does: only what all of them have is looked at.
Instant horizon_of(std::span<const CollectiveFlow> flows) {
    Instant horizon{INT64_MAX};
    for (const CollectiveFlow& flow : flows)
        if (flow.list->full()) horizon = std::min(horizon, flow.list->bursts().back().end);
    return horizon;
}

// When anybody sends, in order.
std::vector<CollectiveStep> pieces_of(std::span<const CollectiveFlow> flows) {
    const Instant horizon = horizon_of(flows);
    std::vector<Burst> all;
    Duration pause{};
    for (const CollectiveFlow& flow : flows) {
        pause = std::max(pause, flow.list->pause());
        for (const Burst& burst : flow.list->bursts())
            if (burst.begin <= horizon) all.push_back(burst);
    }
    std::ranges::sort(all, {}, [](const Burst& burst) { return std::pair(burst.begin, burst.frame); });
    std::vector<CollectiveStep> pieces;
    for (const Burst& burst : all) {
        const Instant end = pieces.empty() ? Instant{} : pieces.back().begin + pieces.back().length;
        if (pieces.empty() || burst.begin - end > pause) {
            pieces.push_back({burst.begin, burst.end - burst.begin, burst.bytes, burst.frame, {}, {}});
            continue;
        }
        pieces.back().length = std::max(pieces.back().length, burst.end - pieces.back().begin);
        pieces.back().bytes += burst.bytes;
    }
    return pieces;
}

Duration pause_behind(const CollectiveStep& step, const CollectiveStep& next) {
    return next.begin - (step.begin + step.length);
}

// Pauses of these lengths divide steps.
struct Pauses {
    std::int64_t least = 0;
    std::int64_t most = INT64_MAX;
    [[nodiscard]] bool alone() const { return most != INT64_MAX; }
};

std::int64_t length_of(Duration pause) { return std::max(kShortest, std::to_underlying(pause)); }

std::vector<CollectiveStep> joined(const std::vector<CollectiveStep>& pieces, const Pauses& pauses) {
    std::vector<CollectiveStep> steps;
    for (const CollectiveStep& piece : pieces) {
        const std::int64_t pause = steps.empty() ? 0 : length_of(pause_behind(steps.back(), piece));
        if (steps.empty() || (pause >= pauses.least && pause <= pauses.most)) {
            steps.push_back(piece);
            continue;
        }
        steps.back().length = piece.begin + piece.length - steps.back().begin;
        steps.back().bytes += piece.bytes;
    }
    return steps;
}

// Which pauses may be those between steps: classes of lengths that are clearly apart, the longest first. Either such a
// class and all longer ones; or it alone, where there is a longer one inside of each step because everybody waits for
// somebody.
std::vector<Pauses> candidates_of(const std::vector<CollectiveStep>& pieces) {
    std::vector<std::int64_t> pauses;
    for (std::size_t i = 1; i < pieces.size(); ++i) pauses.push_back(length_of(pause_behind(pieces[i - 1], pieces[i])));
    std::ranges::sort(pauses, std::greater{});
    std::vector<Pauses> candidates;
    for (std::size_t begin = 0; begin < pauses.size() && candidates.size() < kTries;) {
        std::size_t end = begin + 1;
        while (end < pauses.size() && pauses[end] * kClearly > pauses[end - 1] * kClearlyOf) ++end;
        const auto here = static_cast<double>(end - begin), longer = static_cast<double>(begin);
        if (end >= kFewestSteps - 1) candidates.push_back({pauses[end - 1], INT64_MAX});
        if (end - begin >= kFewestSteps - 1 && longer >= here * kMostly)
            candidates.push_back({pauses[end - 1], pauses[begin]});
        begin = end;
    }
    return candidates;
}

// Without the first and the last, which the capture may have cut, where there are enough.
std::span<const CollectiveStep> inner(std::span<const CollectiveStep> steps) {
    return steps.size() > kFewestSteps + 1 ? steps.subspan(1, steps.size() - 2) : steps;
}

bool same_bytes(std::span<const CollectiveStep> steps) {
    double sum = 0, squares = 0;
    for (const CollectiveStep& step : inner(steps)) {
        const auto bytes = static_cast<double>(step.bytes);
        sum += bytes;
        squares += bytes * bytes;
    }
    const auto count = static_cast<double>(inner(steps).size());
    const double mean = sum / count;
    return std::sqrt(std::max(0.0, squares / count - mean * mean)) <= kSpread * mean;
}

bool same_ways(std::span<const CollectiveFlow> flows, std::span<const CollectiveStep> steps) {
    std::vector<std::uint32_t> used(steps.size());
    for (const CollectiveFlow& flow : flows) {
        std::optional<std::size_t> counted;
        for (const Burst& burst : flow.list->bursts()) {
            const auto step = step_at(steps, burst.begin);
            if (step && step != counted) ++used[*step];
            if (step) counted = step;
        }
    }
    const auto mostly = static_cast<double>(flows.size()) * kMostly;
    const auto good =
        std::ranges::count_if(used, [&](std::uint32_t ways) { return static_cast<double>(ways) >= mostly; });
    return static_cast<double>(good) >= kMostly * static_cast<double>(steps.size());
}

// How long after the beginning of a step half of the ranks have started, in ns: in a step that is one, most start
// together.
double lateness_of(std::span<const CollectiveFlow> flows, std::span<const CollectiveStep> steps, std::uint32_t ranks) {
    double sum = 0;
    for (std::size_t i = 0; const RankTimes& times : times_of(flows, steps, ranks)) {
        const Instant begin = steps[i++].begin;
        std::vector<std::int64_t> starts;
        for (const auto& first : times.first)
            if (first) starts.push_back(std::to_underlying(*first - begin));
        if (starts.empty()) continue;
        const auto middle = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2);
        std::ranges::nth_element(starts, middle);
        sum += static_cast<double>(*middle);
    }
    return sum / static_cast<double>(steps.size());
}

}  // namespace

std::optional<std::size_t> step_at(std::span<const CollectiveStep> steps, Instant time) {
    const auto behind = std::ranges::upper_bound(steps, time, {}, &CollectiveStep::begin);
    if (behind == steps.begin()) return std::nullopt;
    const auto step = behind - 1;
    if (time - step->begin > step->length) return std::nullopt;
    return static_cast<std::size_t>(step - steps.begin());
}

std::vector<RankTimes> times_of(std::span<const CollectiveFlow> flows, std::span<const CollectiveStep> steps,
                                std::uint32_t ranks) {
    std::vector<RankTimes> all(steps.size());
    for (RankTimes& times : all) {
        times.first.resize(ranks);
        times.last.resize(ranks);
        times.last_burst.resize(ranks);
    }
    for (const CollectiveFlow& flow : flows)
        for (const Burst& burst : flow.list->bursts()) {
            const auto step = step_at(steps, burst.begin);
            if (!step) continue;
            auto& first = all[*step].first[flow.edge.source];
            auto& last = all[*step].last[flow.edge.source];
            first = std::min(first.value_or(burst.begin), burst.begin);
            last = std::max(last.value_or(burst.end), burst.end);
            auto& last_burst = all[*step].last_burst[flow.edge.source];
            last_burst = std::max(last_burst.value_or(burst.begin), burst.begin);
        }
    return all;
}

std::vector<CollectiveStep> steps_of(std::span<const CollectiveFlow> flows, std::uint32_t ranks) {
    const std::vector<CollectiveStep> pieces = pieces_of(flows);
    std::vector<CollectiveStep> best;
    double best_lateness = 0;
    for (const Pauses& pauses : candidates_of(pieces)) {
        if (!best.empty() && !pauses.alone()) continue;  // the longest that divide are the ones
        std::vector<CollectiveStep> steps = joined(pieces, pauses);
        if (steps.size() > kMaxCollectiveSteps) steps.resize(kMaxCollectiveSteps);
        if (steps.size() < kFewestSteps || !same_bytes(steps) || !same_ways(flows, steps)) continue;
        const double lateness = lateness_of(flows, steps, ranks);
        constexpr double kClearlyTogether = 2;
        if (!best.empty() && lateness * kClearlyTogether >= best_lateness) continue;
        best = std::move(steps);
        best_lateness = lateness;
    }
    return best;
}

}  // namespace qps::transport
