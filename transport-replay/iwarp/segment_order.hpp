// SegmentOrder: whether a TCP segment that comes behind others was sent before them, by its IPv4 identification.
//
// Duplicate acknowledgments ask for what was overtaken as they do for what was lost. What is sent again has an
// identification of its own: behind that of the segment that passed the gap, where the sender counts, as Linux does for
// each connection. An earlier one is the first sending's. A constant, as of IPv6, tells nothing; of identifications
// drawn by chance one in 64 looks earlier.
//
// What an attacker could feed: any numbers. The state is of fixed size; of more segments than it has, the latest count.
#pragma once

#include <transport-replay/iwarp/tcp_stream.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace qps::transport {

class SegmentOrder {
public:
    static constexpr std::size_t kKept = 64;  // a window of 64 KiB in segments of 1 KiB
    static constexpr std::uint16_t kMostStep =
        1024;  // of identifications, between what overtook and what was overtaken

    // Of a segment behind others: one that came before it was sent after it.
    [[nodiscard]] bool is_overtaken(std::uint32_t seq, std::uint16_t id) const;
    // Each segment with data, in the order of the capture.
    void take(std::uint32_t seq, std::uint16_t id) { came_[count_++ % kKept] = {seq, id}; }

private:
    struct Came {
        std::uint32_t seq = 0;
        std::uint16_t id = 0;
    };
    static constexpr bool is_earlier(std::uint16_t id, std::uint16_t other) {
        const auto step = static_cast<std::uint16_t>(other - id);
        return step != 0 && step <= kMostStep;
    }
    std::array<Came, kKept> came_{};
    std::size_t count_ = 0;
};

// Its bytes came by another segment, or a gap was passed where they are missing: the first of these tells.
inline bool SegmentOrder::is_overtaken(std::uint32_t seq, std::uint16_t id) const {
    const Came* passed = nullptr;
    for (std::size_t i = count_ - std::min(count_, kKept); i < count_; ++i) {
        const Came& one = came_[i % kKept];
        if (one.seq == seq) return is_earlier(id, one.id);
        if (passed == nullptr && is_before(seq, one.seq)) passed = &one;
    }
    return passed != nullptr && is_earlier(id, passed->id);
}

}  // namespace qps::transport
