#include <transport-replay/model/latency_bins.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace qps::transport {

using dissect::Duration;

namespace {

// Values below 2^bits have a bin each; then every doubling has 2^bits of them.
std::uint32_t bin_of(std::uint64_t ns, unsigned bits) {
    if (ns >> bits == 0) return static_cast<std::uint32_t>(ns);
    const auto doubling = static_cast<unsigned>(std::bit_width(ns)) - 1 - bits;  // 0: from 2^bits on
    return static_cast<std::uint32_t>((std::uint64_t{doubling} << bits) + (ns >> doubling));
}

std::uint64_t ns_of(Duration value) { return static_cast<std::uint64_t>(std::max<std::int64_t>(std::to_underlying(value), 0)); }

void increase(std::uint32_t& count, std::uint64_t by) {
    count = static_cast<std::uint32_t>(std::min<std::uint64_t>(count + by, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

bool LatencyBins::has_room_for(Duration value) const {
    return bins_.size() < bins_.capacity() || bins_.size() == kMost || std::ranges::binary_search(bins_, bin_of(ns_of(value), bits_), {}, &Bin::number);
}

void LatencyBins::add(Duration value, std::uint64_t times) {
    if (times == 0) return;
    count_ += times;
    for (;;) {
        const std::uint32_t number = bin_of(ns_of(value), bits_);
        const auto at = std::ranges::lower_bound(bins_, number, {}, &Bin::number);
        if (at != bins_.end() && at->number == number) return increase(at->count, times);
        if (bins_.size() < kMost) {
            increase(bins_.insert(at, {number, 0})->count, times);
            return;
        }
        coarsen();
    }
}

void LatencyBins::add(const LatencyBins& more) {
    for (const Bin& bin : more.bins_) add(more.end_of(bin.number), bin.count);
}

// Half as many parts to each doubling.
void LatencyBins::coarsen() {
    std::vector<Bin> coarse;
    coarse.reserve(kMost);
    const unsigned bits = bits_ - 1U;
    for (const Bin& bin : bins_) {
        const std::uint32_t number = bin_of(static_cast<std::uint64_t>(std::to_underlying(end_of(bin.number))), bits);
        if (coarse.empty() || coarse.back().number != number) coarse.push_back({number, 0});
        increase(coarse.back().count, bin.count);
    }
    bits_ = static_cast<std::uint8_t>(bits);
    bins_ = std::move(coarse);
}

Duration LatencyBins::percentile(unsigned percent) const {
    if (count_ == 0) return {};
    const std::uint64_t rank = std::max<std::uint64_t>(1, (count_ / 100 * percent) + (count_ % 100 * percent + 99) / 100);
    std::uint64_t seen = 0;
    for (const Bin& bin : bins_) {
        seen += bin.count;
        if (seen >= rank) return end_of(bin.number);
    }
    return end_of(bins_.back().number);
}

Duration LatencyBins::end_of(std::uint32_t number) const {
    const std::uint64_t parts = std::uint64_t{1} << bits_;
    if (number < parts) return Duration{static_cast<std::int64_t>(number)};
    const std::uint64_t doubling = (number >> bits_) - 1;
    const std::uint64_t part = (number & (parts - 1)) + parts;
    return Duration{static_cast<std::int64_t>(((part + 1) << doubling) - 1)};
}

}  // namespace qps::transport
