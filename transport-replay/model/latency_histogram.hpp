// LatencyHistogram: how long things took, in a fixed number of bins that grow with the value, so that percentiles of any number
// of operations cost the same memory and are right within an eighth.
#pragma once

#include <dissect/types.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

namespace qps::transport {

class LatencyHistogram {
public:
    // Negative durations (clocks that jump) count as none.
    void add(dissect::Duration value) {
        ++bins_[bin_of(value)];
        ++count_;
    }
    void add(const LatencyHistogram& others) {
        for (std::size_t bin = 0; bin < kBins; ++bin) bins_[bin] += others.bins_[bin];
        count_ += others.count_;
    }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    // By nearest rank, `percent` 0 to 100: the upper end of the bin that holds it. Nothing of none: zero.
    [[nodiscard]] dissect::Duration percentile(double percent) const;

private:
    friend struct PrivateMembers;  // parts/private_members.hpp
    static constexpr std::size_t kParts = 8;           // of each doubling
    static constexpr std::size_t kBins = 44 * kParts;  // up to 2^46 ns, which is 19 hours; what is longer counts in the last
    static std::size_t bin_of(dissect::Duration value) {
        const auto ns = std::to_underlying(value) < 0 ? 0 : static_cast<std::uint64_t>(std::to_underlying(value));
        if (ns < kParts) return ns;
        const auto doubling = static_cast<std::size_t>(std::bit_width(ns)) - 4;  // of values from 8 on, 0 is 8..15
        const std::size_t bin = (doubling + 1) * kParts + (ns >> doubling) - kParts;
        return bin < kBins ? bin : kBins - 1;
    }
    static dissect::Duration end_of(std::size_t bin);

    std::array<std::uint32_t, kBins> bins_{};
    std::uint64_t count_ = 0;
};

}  // namespace qps::transport
