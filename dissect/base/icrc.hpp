// Invariant and variant CRC (7.8; A17.3 and its masking rules for RoCE).
//
// The ICRC is a CRC-32 over everything that no switch or router may change; the fields they may change count as ones.
// What is masked, by encapsulation:
//   native, no GRH   LRH.VL; BTH byte 4 (FECN, BECN, reserved)
//   native + GRH     the whole LRH; GRH traffic class, flow label, hop limit; BTH byte 4
//   RoCEv1           eight bytes of ones for the missing LRH; then as GRH
//   RoCEv2, IPv4     the same eight; TOS, TTL, header checksum; UDP checksum; BTH byte 4
//   RoCEv2, IPv6     the same eight; traffic class, flow label, hop limit; UDP checksum; BTH byte 4
// Values are integers whose most significant byte is the first on the wire (the CRC goes out least significant first).
#pragma once

#include <dissect/base/bytes.hpp>

#include <cstdint>

namespace qps::dissect {

enum class IcrcCoverage : std::uint8_t { native_local, grh, roce_v2_ipv4, roce_v2_ipv6 };

// Where the BTH lies behind the start of a coverage; a packet with anything between is not covered by the rules.
[[nodiscard]] constexpr std::size_t bth_offset(IcrcCoverage coverage) {
    switch (coverage) {
        case IcrcCoverage::native_local: return 8;  // LRH
        case IcrcCoverage::grh: return 40;
        case IcrcCoverage::roce_v2_ipv4: return 28;  // IPv4 without options, UDP
        case IcrcCoverage::roce_v2_ipv6: return 48;
    }
    return 0;
}

// The ICRC of a packet. `covered` runs from the first byte of the network header (LRH, GRH, IPv4 or IPv6) to the last
// byte before the ICRC. Returns 0 where covered is too short to hold a BTH.
[[nodiscard]] std::uint32_t invariant_crc(IcrcCoverage coverage, Bytes covered);

// The CRC-32 that an ICRC is, its bytes the other way round: of the first `count` bytes of a coverage of at least 64,
// for who combines it with that of the rest (crc_shift.hpp). And of bytes that no mask covers.
[[nodiscard]] std::uint32_t crc_of_head(IcrcCoverage coverage, Bytes covered, std::size_t count);
[[nodiscard]] std::uint32_t crc_of(Bytes bytes);
inline constexpr std::size_t kMostHead = 128;  // bytes of a head

// The VCRC of a native packet: `covered` runs from the LRH to the ICRC, both included.
[[nodiscard]] std::uint16_t variant_crc(Bytes covered);

}  // namespace qps::dissect
