// The checksums of IP, UDP, TCP, ICMP, GRE and RDS in a frame that somebody changes, in one of two ways. restore():
// each changes by what it sums up, so that right ones stay right, wrong ones wrong by as much, and a UDP checksum of 0
// stays "none". reseal(): each is made of what is there now, so that nothing can be concluded from it about what was
// there before.
#pragma once

#include <dissect/base/packet.hpp>

#include <array>

namespace qps::transport {

// What a checksum was before the frame changed. Undecided: a part of what it sums up is not there.
enum class SumState : std::uint8_t { right, wrong, zero, undecided };

// A checksum, what it sums up, and what that sum was.
struct FrameSum {
    std::size_t from = 0, to = 0;                 // bytes covered
    std::size_t addresses = 0, addresses_to = 0;  // of a pseudo header
    std::uint64_t rest_of_pseudo_header = 0;
    std::size_t checksum = 0;
    bool zero_is_none = false;
    bool whole = true;         // all that it sums up is there
    bool changes_with = true;  // by what it sums up: not where somebody on the way changes the addresses that are there
    std::uint64_t before = 0;
    SumState state{};

    [[nodiscard]] std::uint64_t over(dissect::Bytes frame) const;
};

struct FrameSums {
    std::array<FrameSum, dissect::kMaxLayers> rows{};
    std::size_t count = 0;
    void add(dissect::Bytes frame, FrameSum sum);
};

// Checksums from the outermost to the innermost: of IPv4 headers, of what follows IP, and of RDS.
[[nodiscard]] FrameSums sums_of(const dissect::Packet& packet);

// Bytes of a frame, from the first to the one behind the last.
struct FrameStretch {
    std::size_t from = 0, to = 0;
};

// Of checksums whose bytes begin in the stretch, from the innermost out: what is inside another's bytes is right by
// then.
void restore(const FrameSums& sums, dissect::MutableBytes frame, const FrameStretch& stretch);
void restore(const FrameSums& sums, dissect::MutableBytes frame);
// The same order. What was right or undecided is right, what was 0 is 0, what was wrong is wrong by `difference` (1 to
// 0xfffe) and not 0.
void reseal(const FrameSums& sums, dissect::MutableBytes frame, const FrameStretch& stretch, std::uint16_t difference);

}  // namespace qps::transport
