// LatencySketch: how long things took, so that percentiles are order statistics: exact of the first kExact values, then
// within 0.8 %, from bins that grow with the value. Only bins that hold something cost memory; where values spread over
// more than kMost of them (16 doublings at least) bins become coarser. Sketches add up, and what they say does not
// depend on the order of values.
#pragma once

#include <dissect/base/types.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace qps::transport {

class LatencySketch {
public:
    static constexpr std::size_t kExact = 64;   // 512 bytes
    static constexpr std::size_t kMost = 1024;  // 8 KiB

    // Negative durations (clocks that jump) count as none.
    void add(dissect::Duration value);
    void add(const LatencySketch& more);
    // Whether add() of it would take no more memory.
    [[nodiscard]] bool has_room_for(dissect::Duration value) const;
    // On the heap.
    [[nodiscard]] std::size_t bytes() const {
        return values_.capacity() * sizeof(std::uint64_t) + bins_.capacity() * sizeof(Bin);
    }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    // By nearest rank, `percent` 0 to 100; of a bin its middle. Of nothing: zero.
    [[nodiscard]] dissect::Duration percentile(double percent) const;
    // The values at the ranks that hold that percentile with 95 % probability: what another run of the same may give by
    // chance.
    [[nodiscard]] std::pair<dissect::Duration, dissect::Duration> range_of(double percent) const;
    // Whether bins and values can be what add() made of durations.
    [[nodiscard]] bool is_sound() const;

private:
    friend struct PrivateMembers;  // parts/private_members.hpp
    struct Bin {
        std::uint32_t number = 0;  // by the parts that doublings have now
        std::uint32_t count = 0;   // stays at its greatest value
        [[nodiscard]] bool operator==(const Bin&) const = default;
    };
    [[nodiscard]] dissect::Duration at_rank(std::uint64_t rank) const;  // from 1
    void count_in_bins(std::uint64_t ns, std::uint64_t times);
    void coarsen();

    std::vector<std::uint64_t> values_;  // ns, in order; empty once there are bins
    std::vector<Bin> bins_;              // by number
    std::uint64_t count_ = 0;
    std::uint8_t bits_ = 6;  // a doubling has 2^bits_ parts
};

}  // namespace qps::transport
