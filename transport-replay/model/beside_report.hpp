// TCP and UDP in the class of RDMA while that was marked, paused or lost: what BesideTracker (watch/beside.hpp)
// reports. Values.
#pragma once

#include <transport-replay/model/address.hpp>

#include <array>
#include <vector>

namespace qps::transport {

inline constexpr dissect::Duration kBesideInterval{1'000'000};  // 1 ms: a queue of some megabytes at 25 Gbit/s
inline constexpr std::size_t kBesideFrames = 8;

// What went to one host in one class, in the intervals that had an event of that class.
struct LossyBeside {
    Address destination;
    std::uint8_t pcp = 0;  // kNoPcp: without a VLAN tag
    std::uint8_t dscp = 0;
    std::uint64_t intervals = 0;  // with an event
    std::uint64_t shared = 0;     // of these: with TCP or UDP, too
    std::uint64_t tcp_bytes = 0;  // on the wire, of all these intervals
    std::uint64_t udp_bytes = 0;
    std::uint64_t rdma_bytes = 0;
    std::uint64_t marks = 0;   // CE, of RDMA
    std::uint64_t naks = 0;    // sequence NAKs of that host: RDMA to it was lost
    std::uint64_t pauses = 0;  // frames by which it, or what is before it, asked for a pause
    std::array<dissect::FrameIndex, kBesideFrames> frames{};  // an event and the TCP or UDP beside it, in turn; 0: none
    std::array<dissect::Instant, kBesideFrames> times{};

    [[nodiscard]] std::uint64_t lossy_bytes() const { return tcp_bytes + udp_bytes; }
    [[nodiscard]] std::uint64_t bytes() const { return lossy_bytes() + rdma_bytes; }
};

}  // namespace qps::transport
