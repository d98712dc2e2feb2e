// LatencyBins: how long the messages of one queue pair took, in bins that grow with the value. Only bins that hold something cost
// memory, and there are never more than kMost: where values spread wider, bins become coarser. Percentiles are right within an eighth
// as long as no more than kMost bins are in use, and within a factor of two in any case.
#pragma once

#include <dissect/types.hpp>

#include <cstdint>
#include <vector>

namespace qps::transport {

class LatencyBins {
public:
    static constexpr std::size_t kMost = 64;  // 512 bytes; 64 doublings of one part each always have room

    // Negative durations (clocks that jump) count as none.
    void add(dissect::Duration value) { add(value, 1); }
    void add(const LatencyBins& more);
    // Whether add() of it would take no more memory.
    [[nodiscard]] bool has_room_for(dissect::Duration value) const;
    // On the heap.
    [[nodiscard]] std::size_t bytes() const { return bins_.capacity() * sizeof(Bin); }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    // By nearest rank, `percent` 0 to 100: the upper end of the bin that holds it. Of nothing: zero.
    [[nodiscard]] dissect::Duration percentile(unsigned percent) const;

private:
    struct Bin {
        std::uint32_t number = 0;  // by the parts that doublings have now
        std::uint32_t count = 0;   // stays at its greatest value
    };
    void add(dissect::Duration value, std::uint64_t times);
    void coarsen();
    [[nodiscard]] dissect::Duration end_of(std::uint32_t number) const;

    std::vector<Bin> bins_;  // by number
    std::uint64_t count_ = 0;
    std::uint8_t bits_ = 3;  // a doubling has 2^bits_ parts
};

}  // namespace qps::transport
