#include <transport-replay/live/pingpong/sample.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace qps::transport::live::pingpong {

using dissect::Duration;

namespace {

constexpr std::size_t kThousand = 1000;

// The time that so many of a thousand do not exceed: the nearest rank.
std::int64_t at(std::span<const std::int64_t> sorted, std::size_t thousandths) {
    const std::size_t rank = (sorted.size() * thousandths + kThousand - 1) / kThousand;
    return sorted.empty() ? 0 : sorted[std::max<std::size_t>(rank, 1) - 1];
}

// None where not even one time may exceed it.
std::optional<Duration> most_at(std::span<const std::int64_t> sorted, std::size_t thousandths) {
    if (sorted.size() * (kThousand - thousandths) < kThousand) return std::nullopt;
    return Duration{at(sorted, thousandths)};
}

std::int64_t median_of(std::span<const std::int64_t> times) {
    std::vector<std::int64_t> sorted(times.begin(), times.end());
    std::ranges::sort(sorted);
    return at(sorted, kThousand / 2);
}

// How many places of the sorted times the median may be off, by the binomial distribution of how many are below
// it: 1.96 times sqrt(n / 4), and one for the half that no place is.
std::size_t doubt_of(std::size_t count) {
    return static_cast<std::size_t>(std::ceil(0.98 * std::sqrt(static_cast<double>(count)))) + 1;
}

// Where the bucket of a time begins and how wide it is: an eighth of the power of two below it.
struct Bounds {
    std::int64_t from = 0;
    std::int64_t width = 1;
};
Bounds bounds_of(std::int64_t time) {
    constexpr unsigned kEighths = 3;
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(time, 0));
    const auto bits = static_cast<unsigned>(std::bit_width(value));
    if (bits <= kEighths + 1) return {.from = static_cast<std::int64_t>(value)};
    const unsigned shift = bits - 1 - kEighths;
    return {.from = static_cast<std::int64_t>(value >> shift << shift), .width = std::int64_t{1} << shift};
}

}  // namespace

std::vector<PingpongBucket> histogram_of(std::span<const std::int64_t> sorted) {
    std::vector<PingpongBucket> buckets;
    for (const std::int64_t time : sorted) {
        const Bounds bounds = bounds_of(time);
        if (buckets.empty() || buckets.back().from != Duration{bounds.from})
            buckets.push_back({.from = Duration{bounds.from}, .below = Duration{bounds.from + bounds.width}});
        ++buckets.back().count;
    }
    return buckets;
}

PingpongRow figures(std::vector<std::int64_t>& times) {
    PingpongRow row{.round_trips = times.size()};
    const std::span<const std::int64_t> all = times;
    const std::int64_t earlier = median_of(all.first(all.size() / 2));
    const std::int64_t later = median_of(all.subspan(all.size() / 2));
    row.drift = Duration{times.size() < 2 ? 0 : std::abs(earlier - later)};
    std::ranges::sort(times);
    row.least = Duration{at(times, 0)};
    row.median = Duration{at(times, 500)};
    if (const std::size_t doubt = doubt_of(times.size()); times.size() >= kFewestJudged) {
        const std::size_t middle = (times.size() - 1) / 2;
        row.median_low = Duration{times[middle - std::min(middle, doubt)]};
        row.median_high = Duration{times[std::min(times.size() - 1, middle + doubt)]};
    }
    row.most_of_ten = most_at(times, 900);
    row.most_of = most_at(times, 990);
    row.most_of_thousand = most_at(times, 999);
    row.longest = Duration{at(times, kThousand)};
    row.histogram = histogram_of(times);
    return row;
}

void Progress::begin(dissect::Instant now) {
    began_ = now;
    step_ = 1;
    marks_.clear();
}

void Progress::note(std::uint64_t messages, dissect::Instant now) {
    if (messages < (marks_.empty() ? 0 : marks_.back().messages) + step_) return;
    marks_.push_back({.messages = messages, .time = now});
    if (marks_.size() < kMostMarks) return;
    // Every other one is enough from here on.
    for (std::size_t i = 0; i < marks_.size() / 2; ++i) marks_[i] = marks_[2 * i + 1];
    marks_.resize(marks_.size() / 2);
    step_ *= 2;
}

Duration Progress::drift(std::uint64_t messages, dissect::Instant end) const {
    const auto half = std::ranges::find_if(marks_, [&](const Mark& mark) { return mark.messages >= messages / 2; });
    if (half == marks_.end() || half->messages >= messages || half->messages == 0) return {};
    const auto each = [](Duration time, std::uint64_t count) {
        return static_cast<double>(std::to_underlying(time)) / static_cast<double>(count);
    };
    const double earlier = each(half->time - began_, half->messages);
    const double later = each(end - half->time, messages - half->messages);
    return Duration{static_cast<std::int64_t>(std::abs(earlier - later))};
}

}  // namespace qps::transport::live::pingpong
