// The checksums of IP, UDP and TCP in a frame that somebody changes: each changes by what it sums up, so that right ones stay right and
// wrong ones wrong, and a UDP checksum of 0 stays "none".
#pragma once

#include <dissect/packet.hpp>

#include <array>

namespace qps::transport {

// A checksum, what it sums up, and what that sum was: it is to be the same afterwards.
struct FrameSum {
    std::size_t from = 0, to = 0;                 // bytes covered
    std::size_t addresses = 0, addresses_to = 0;  // of a pseudo header
    std::size_t checksum = 0;
    bool zero_is_none = false;
    std::uint64_t before = 0;

    [[nodiscard]] std::uint64_t over(dissect::Bytes frame) const;
};

struct FrameSums {
    std::array<FrameSum, dissect::kMaxLayers> rows{};
    std::size_t count = 0;
    void add(dissect::Bytes frame, FrameSum sum);
};

// Checksums from the outermost to the innermost: of IPv4 headers, and of what follows IP directly.
[[nodiscard]] FrameSums sums_of(const dissect::Packet& packet);

// Bytes of a frame, from the first to the one behind the last.
struct FrameStretch {
    std::size_t from = 0, to = 0;
};

// Of checksums whose bytes begin in the stretch, from the innermost out: what is inside another's bytes is right by then.
void restore(const FrameSums& sums, dissect::MutableBytes frame, const FrameStretch& stretch);
void restore(const FrameSums& sums, dissect::MutableBytes frame);

}  // namespace qps::transport
