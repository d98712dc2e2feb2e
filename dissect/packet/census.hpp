// Census: what a capture consists of, counted packet by packet. Fixed size; two censuses add up, so chunks of a
// capture can be counted side by side.
#pragma once

#include <dissect/base/packet.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace qps::dissect {

struct TimeRange {
    Instant first;
    Instant last;
};

struct Census {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;  // on the wire
    std::uint64_t captured_bytes = 0;
    std::uint64_t cut = 0;                          // packets whose capture is shorter than the wire's
    std::uint64_t backwards = 0;                    // packets older than their predecessor
    std::uint64_t without_time = 0;                 // packets for which the capture has no time
    std::uint64_t congestion_experienced = 0;       // RDMA packets with ECN CE
    std::uint64_t payload_bytes = 0;                // of RDMA packets, without pad
    std::optional<TimeRange> time;                  // of the earliest and the latest packet
    Instant initial{};                              // of the packet counted first, which need not be the earliest
    Instant previous{};                             // of the packet counted last
    std::array<std::uint64_t, 4> encapsulations{};  // by Encapsulation; none: what is no RDMA
    std::array<std::uint64_t, 256> opcodes{};
    std::uint64_t iwarp =
        0;  // TCP segments in which a set-up frame or an FPDU begins, where somebody followed the stream
    std::array<std::uint64_t, 16> rdmap{};           // their FPDUs, by opcode
    std::array<std::uint64_t, 4> fpdu_crc{};         // by CrcStatus; of FPDUs that end in the same segment
    std::array<std::uint64_t, 16> ultra_ethernet{};  // packets of Ultra Ethernet, by type; none of them is RDMA above
    std::array<std::uint64_t, 2> ultra_ethernet_crc{};  // undecided, good; of those whose CRC was captured
    std::array<std::uint64_t, 4> icrc{};                // by CrcStatus
    std::array<std::uint64_t, 4> vcrc{};
    std::array<std::uint64_t, 7> icrc_reasons{};         // by CrcReason, of those not checkable
    std::array<std::uint64_t, kFaults.size()> faults{};  // first fault of each packet
    std::array<std::uint64_t, kLayerKinds> innermost{};  // of packets that are no RDMA: by what they are
};

void count(Census& census, const Packet& packet);

// Adds the census of the chunk that follows.
void add(Census& census, const Census& next);

}  // namespace qps::dissect
