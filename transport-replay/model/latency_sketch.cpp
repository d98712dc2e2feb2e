#include <transport-replay/model/latency_sketch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace qps::transport {

using dissect::Duration;

namespace {

constexpr std::uint8_t kMostBits = 6;

// Values below 2^bits have a bin each; then every doubling has 2^bits of them.
std::uint32_t bin_of(std::uint64_t ns, unsigned bits) {
    if (ns >> bits == 0) return static_cast<std::uint32_t>(ns);
    const auto doubling = static_cast<unsigned>(std::bit_width(ns)) - 1 - bits;  // 0: from 2^bits on
    return static_cast<std::uint32_t>((std::uint64_t{doubling} << bits) + (ns >> doubling));
}

struct Ends {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};
Ends ends_of(std::uint32_t number, unsigned bits) {
    const std::uint64_t parts = std::uint64_t{1} << bits;
    if (number < parts) return {number, number};
    const std::uint64_t doubling = (number >> bits) - 1;
    const std::uint64_t part = (number & (parts - 1)) + parts;
    return {part << doubling, ((part + 1) << doubling) - 1};
}

std::uint64_t ns_of(Duration value) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(std::to_underlying(value), 0));
}

void increase(std::uint32_t& count, std::uint64_t by) {
    count = static_cast<std::uint32_t>(std::min<std::uint64_t>(count + by, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

bool LatencySketch::has_room_for(Duration value) const {
    if (bins_.empty()) return count_ < kExact && values_.size() < values_.capacity();
    return bins_.size() < bins_.capacity() || bins_.size() == kMost ||
           std::ranges::binary_search(bins_, bin_of(ns_of(value), bits_), {}, &Bin::number);
}

void LatencySketch::add(Duration value) {
    const std::uint64_t ns = ns_of(value);
    if (count_ < kExact) {
        values_.insert(std::ranges::upper_bound(values_, ns), ns);
        ++count_;
        return;
    }
    for (const std::uint64_t each : std::exchange(values_, {})) count_in_bins(each, 1);
    count_in_bins(ns, 1);
    ++count_;
}

void LatencySketch::add(const LatencySketch& more) {
    if (count_ + more.count_ <= kExact) {
        const auto middle = values_.insert(values_.end(), more.values_.begin(), more.values_.end());
        std::inplace_merge(values_.begin(), middle, values_.end());
    } else {
        for (const std::uint64_t each : std::exchange(values_, {})) count_in_bins(each, 1);
        for (const std::uint64_t each : more.values_) count_in_bins(each, 1);
        while (bits_ > more.bits_) coarsen();
        for (const Bin& bin : more.bins_) count_in_bins(ends_of(bin.number, more.bits_).first, bin.count);
    }
    count_ += more.count_;
}

void LatencySketch::count_in_bins(std::uint64_t ns, std::uint64_t times) {
    for (;;) {
        const std::uint32_t number = bin_of(ns, bits_);
        const auto at = std::ranges::lower_bound(bins_, number, {}, &Bin::number);
        if (at != bins_.end() && at->number == number) return increase(at->count, times);
        if (bins_.size() < kMost) {
            increase(bins_.insert(at, {number, 0})->count, times);
            return;
        }
        coarsen();
    }
}

// Half as many parts to each doubling.
void LatencySketch::coarsen() {
    const unsigned bits = bits_ - 1U;
    std::vector<Bin> coarse;
    coarse.reserve(bins_.capacity());
    for (const Bin& bin : bins_) {
        const std::uint32_t number = bin_of(ends_of(bin.number, bits_).first, bits);
        if (coarse.empty() || coarse.back().number != number) coarse.push_back({number, 0});
        increase(coarse.back().count, bin.count);
    }
    bits_ = static_cast<std::uint8_t>(bits);
    bins_ = std::move(coarse);
}

namespace {

constexpr double kAll = 100;

std::uint64_t rank_of(double rank, std::uint64_t count) {
    return static_cast<std::uint64_t>(std::clamp(std::ceil(rank), 1.0, static_cast<double>(count)));
}

}  // namespace

Duration LatencySketch::at_rank(std::uint64_t rank) const {
    if (bins_.empty()) return Duration{static_cast<std::int64_t>(values_[rank - 1])};
    std::uint64_t seen = 0;
    const auto found = std::ranges::find_if(bins_, [&](const Bin& bin) { return (seen += bin.count) >= rank; });
    const Ends ends = ends_of(found == bins_.end() ? bins_.back().number : found->number, bits_);
    return Duration{static_cast<std::int64_t>(ends.first + (ends.last - ends.first) / 2)};
}

Duration LatencySketch::percentile(double percent) const {
    return count_ == 0 ? Duration{} : at_rank(rank_of(percent / kAll * static_cast<double>(count_), count_));
}

// How many values lie below a percentile is binomial; two standard deviations either way.
std::pair<Duration, Duration> LatencySketch::range_of(double percent) const {
    if (count_ == 0) return {};
    const double share = percent / kAll, count = static_cast<double>(count_);
    const double spread = 2 * std::sqrt(count * share * (1 - share));
    return {at_rank(rank_of(count * share - spread, count_)), at_rank(rank_of(count * share + spread + 1, count_))};
}

bool LatencySketch::is_sound() const {
    constexpr std::uint64_t kLongest = std::numeric_limits<std::int64_t>::max();
    if (bits_ > kMostBits || values_.size() > kExact || bins_.size() > kMost) return false;
    if (bins_.empty())
        return count_ == values_.size() && std::ranges::is_sorted(values_) &&
               (values_.empty() || values_.back() <= kLongest);
    const bool in_order = std::ranges::adjacent_find(bins_, std::ranges::greater_equal{}, &Bin::number) == bins_.end();
    return values_.empty() && count_ > kExact && in_order && bins_.back().number <= bin_of(kLongest, bits_);
}

}  // namespace qps::transport
