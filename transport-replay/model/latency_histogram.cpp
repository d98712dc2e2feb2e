#include <transport-replay/model/latency_histogram.hpp>

#include <algorithm>
#include <cmath>

namespace qps::transport {

using dissect::Duration;

Duration LatencyHistogram::percentile(double percent) const {
    if (count_ == 0) return {};
    const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(percent / 100 * static_cast<double>(count_))));
    std::uint64_t seen = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        seen += bins_[bin];
        if (seen >= rank) return end_of(bin);
    }
    return end_of(kBins - 1);
}

Duration LatencyHistogram::end_of(std::size_t bin) {
    if (bin < kParts) return Duration{static_cast<std::int64_t>(bin)};
    const std::size_t doubling = bin / kParts - 1;
    return Duration{static_cast<std::int64_t>(((bin % kParts + kParts + 1) << doubling) - 1)};
}

}  // namespace qps::transport
