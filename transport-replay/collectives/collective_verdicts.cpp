#include <transport-replay/collectives/collective_verdicts.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kFewestJudged = 5;    // steps
constexpr std::uint64_t kMostlyPercent = 70;  // of the steps it is the same rank
constexpr std::int64_t kNoticeable = 20;      // a wait of a twentieth of the step and more
constexpr std::uint8_t kLeastShare = 5;       // percent of the time of all steps
constexpr double kChance = 1e-3;              // that it happens among equals

// That one of `ranks` equals is the last in at least `times` of `of` steps.
double chance(std::uint64_t times, std::uint64_t of, std::size_t ranks) {
    const double p = 1.0 / static_cast<double>(ranks);
    double sum = 0;
    for (std::uint64_t k = times; k <= of; ++k) {
        const auto n = static_cast<double>(of), hits = static_cast<double>(k);
        const double ways = std::lgamma(n + 1) - std::lgamma(hits + 1) - std::lgamma(n - hits + 1);
        sum += std::exp(ways + hits * std::log(p) + (n - hits) * std::log1p(-p));
    }
    return std::min(1.0, sum * static_cast<double>(ranks));
}

struct Latest {
    std::uint32_t rank = 0;
    Duration ahead{};  // of the last but one
};

// Who was the last, if all were there.
std::optional<Latest> latest_of(const std::vector<std::optional<Instant>>& times) {
    Instant last{INT64_MIN}, before{INT64_MIN};
    Latest latest;
    for (std::uint32_t rank = 0; rank < times.size(); ++rank) {
        if (!times[rank]) return std::nullopt;
        if (*times[rank] > last) {
            before = last;
            last = *times[rank];
            latest.rank = rank;
        } else {
            before = std::max(before, *times[rank]);
        }
    }
    latest.ahead = last - before;
    return latest;
}

// Whether it sent on when all others had ended. One that only began then may as well be the first of the next step,
// which a pause inside of that one divides from the rest of it.
bool went_on(const RankTimes& times, const Latest& latest) {
    return *times.last_burst[latest.rank] <= *times.last[latest.rank] - latest.ahead;
}

// What was counted of one end of the steps.
struct Tally {
    std::vector<std::uint64_t> times;
    std::vector<Duration> waited;
    std::vector<std::vector<FrameIndex>> frames;
    std::uint64_t judged = 0;
    Duration length{};

    explicit Tally(std::size_t ranks) : times(ranks), waited(ranks), frames(ranks) {}
    void add(const CollectiveStep& step, const Latest& latest) {
        ++times[latest.rank];
        waited[latest.rank] = waited[latest.rank] + latest.ahead;
        if (frames[latest.rank].size() < kMaxCollectiveFrames) frames[latest.rank].push_back(step.frame);
    }
};

bool noticeable(const Latest& latest, const CollectiveStep& step) {
    return std::to_underlying(latest.ahead) >= std::to_underlying(step.length) / kNoticeable &&
           latest.ahead > Duration{};
}

std::optional<CollectiveStraggler> straggler_of(const Tally& tally, CollectiveDelay delay) {
    const auto most = std::ranges::max_element(tally.times);
    const auto rank = static_cast<std::uint32_t>(most - tally.times.begin());
    if (tally.judged < kFewestJudged || *most * 100 < tally.judged * kMostlyPercent) return std::nullopt;
    if (chance(*most, tally.judged, tally.times.size()) > kChance) return std::nullopt;
    const double share = 100 * static_cast<double>(std::to_underlying(tally.waited[rank])) /
                         static_cast<double>(std::max<std::int64_t>(1, std::to_underlying(tally.length)));
    CollectiveStraggler straggler{
        .rank = rank,
        .delay = delay,
        .steps = *most,
        .of = tally.judged,
        .waited = tally.waited[rank],
        .share = static_cast<std::uint8_t>(std::clamp(share, 0.0, 100.0)),
        .confidence = static_cast<std::uint8_t>(std::min<std::uint64_t>(99, *most * 100 / tally.judged)),
        .frames = tally.frames[rank]};
    if (straggler.share < kLeastShare) return std::nullopt;
    return straggler;
}

// Who has more to send than the others ends last, and nobody waits for it.
bool sends_no_more(const Collective& collective, std::uint32_t rank) {
    std::uint64_t all = 0;
    for (const CollectiveRank& one : collective.ranks) all += one.sent;
    return collective.ranks[rank].sent * collective.ranks.size() * 2 <= all * 3;
}

bool begins_together(CollectivePattern pattern) {
    return pattern == CollectivePattern::ring || pattern == CollectivePattern::ring_both_ways ||
           pattern == CollectivePattern::all_to_all || pattern == CollectivePattern::recursive_doubling;
}

// One whose packets take much longer than those of all others, who are alike. The time it cost: what it sent, at its
// own rate and at the others'.
std::optional<CollectiveStraggler> slow_sender(const Collective& collective) {
    constexpr double kMuchSlower = 0.6, kAlike = 0.75;  // of the next slower, of the median
    std::vector<std::pair<double, std::uint32_t>> rates;
    for (std::uint32_t rank = 0; rank < collective.ranks.size(); ++rank) {
        if (collective.ranks[rank].rate <= 0) return std::nullopt;
        rates.emplace_back(collective.ranks[rank].rate, rank);
    }
    std::ranges::sort(rates);
    constexpr std::size_t kFewestRanks = 3;
    if (rates.size() < kFewestRanks || collective.steps.size() < kFewestJudged) return std::nullopt;
    const double slowest = rates[0].first, next = rates[1].first, median = rates[rates.size() / 2].first;
    if (slowest > kMuchSlower * next || next < kAlike * median) return std::nullopt;
    const std::uint32_t rank = rates[0].second;
    std::int64_t length = 0;
    for (const CollectiveStep& step : collective.steps) length += std::to_underlying(step.length);
    const double bits = 8 * static_cast<double>(collective.ranks[rank].sent);
    const double cost = std::min(1e9 * (bits / slowest - bits / median), static_cast<double>(length));
    CollectiveStraggler straggler{
        .rank = rank,
        .delay = CollectiveDelay::sends,
        .steps = collective.steps.size(),
        .of = collective.steps.size(),
        .waited = Duration{static_cast<std::int64_t>(cost)},
        .share = static_cast<std::uint8_t>(100 * cost / static_cast<double>(std::max<std::int64_t>(1, length))),
        .confidence = static_cast<std::uint8_t>(100 * (1 - slowest / next / 2)),
        .frames = {collective.steps.front().frame}};
    if (straggler.share < kLeastShare) return std::nullopt;
    return straggler;
}

// How many of these bursts overlap at most.
std::uint32_t overlap(std::vector<std::pair<Instant, int>>& changes) {
    std::ranges::sort(changes, {}, [](const auto& change) { return std::pair(change.first, -change.second); });
    std::int64_t now = 0, most = 0;
    for (const auto& [time, change] : changes) most = std::max(most, now += change);
    return static_cast<std::uint32_t>(most);
}

}  // namespace

void judge_stragglers(Collective& collective, std::span<const CollectiveFlow> flows) {
    const auto ranks = static_cast<std::uint32_t>(collective.ranks.size());
    if (!begins_together(collective.pattern)) return;
    Tally starts(ranks), ends(ranks);
    const std::vector<RankTimes> times = times_of(flows, collective.steps, ranks);
    for (std::size_t i = 0; i < collective.steps.size(); ++i) {
        CollectiveStep& step = collective.steps[i];
        const auto started = latest_of(times[i].first), ended = latest_of(times[i].last);
        if (!started || !ended) continue;
        for (Tally* tally : {&starts, &ends}) {
            ++tally->judged;
            tally->length = tally->length + step.length;
        }
        if (noticeable(*started, step)) {
            starts.add(step, *started);
            step.last = started->rank;
            step.waited = started->ahead;
            ++collective.ranks[started->rank].started_last;
        }
        if (noticeable(*ended, step) && went_on(times[i], *ended)) {
            ends.add(step, *ended);
            ++collective.ranks[ended->rank].ended_last;
        }
    }
    const auto late = straggler_of(starts, CollectiveDelay::starts);
    auto slow = straggler_of(ends, CollectiveDelay::ends);
    if (slow && !sends_no_more(collective, slow->rank)) slow.reset();
    collective.straggler = late && (!slow || late->waited >= slow->waited) ? late : slow;
    if (!late) {
        if (auto slowly = slow_sender(collective)) collective.straggler = std::move(slowly);
    }
}

void judge_waits(Collective& collective) {
    const std::size_t ranks = collective.ranks.size();
    Tally starts(ranks);
    std::vector<double> certain(ranks);
    for (const CollectiveStep& step : collective.steps) {
        if (!step.whole) continue;
        ++starts.judged;
        starts.length = starts.length + std::max(step.length, step.waited);
        if (!step.last) continue;
        starts.add(step, {*step.last, step.waited});
        certain[*step.last] += step.certainty;
        ++collective.ranks[*step.last].started_last;
    }
    if (ranks < 2) return;
    auto late = straggler_of(starts, CollectiveDelay::starts);
    if (!late) return;
    // Of the steps that the capture judges; those in which it was not the last leave a doubt too.
    const double mean = certain[late->rank] / static_cast<double>(late->steps);
    late->confidence = static_cast<std::uint8_t>(std::min(99.0, mean * static_cast<double>(late->confidence) / 99));
    collective.straggler = std::move(late);
}

void judge_incast(Collective& collective, std::span<const CollectiveFlow> flows) {
    std::optional<CollectiveIncast> worst;
    for (std::uint32_t rank = 0; rank < collective.ranks.size(); ++rank) {
        std::vector<std::vector<std::pair<Instant, int>>> changes(collective.steps.size());
        std::vector<std::uint64_t> bytes(collective.steps.size());
        std::uint32_t senders = 0;
        for (const CollectiveFlow& flow : flows) {
            if (flow.edge.destination != rank) continue;
            ++senders;
            for (const Burst& burst : flow.list->bursts()) {
                const auto step = step_at(collective.steps, burst.begin);
                if (!step) continue;
                changes[*step].emplace_back(burst.begin, 1);
                changes[*step].emplace_back(burst.end, -1);
                bytes[*step] += burst.bytes;
            }
        }
        if (senders < kIncastSenders) continue;
        CollectiveIncast incast{
            .rank = rank, .senders = 0, .steps = 0, .of = collective.steps.size(), .bytes = 0, .frames = {}};
        for (std::size_t step = 0; step < collective.steps.size(); ++step) {
            const std::uint32_t at_once = overlap(changes[step]);
            if (at_once < kIncastSenders) continue;
            ++incast.steps;
            incast.bytes += bytes[step];
            incast.senders = std::max(incast.senders, at_once);
            if (incast.frames.size() < kMaxCollectiveFrames) incast.frames.push_back(collective.steps[step].frame);
        }
        if (incast.steps * 2 < incast.of || incast.steps == 0) continue;
        const auto rate = [](const CollectiveIncast& one) { return std::tuple(one.senders, one.steps, one.bytes); };
        if (!worst || rate(incast) > rate(*worst)) worst = std::move(incast);
    }
    collective.incast = std::move(worst);
}

}  // namespace qps::transport
