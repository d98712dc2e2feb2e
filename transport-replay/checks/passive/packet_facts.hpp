// PacketFacts: what passive checks need of one packet beyond its Observation: which rules of the format it breaks, by
// itself, and what tells two packets of one PSN apart. Made by any worker thread from the decoded packet; no
// allocation, no text.
//
// What an attacker could feed: any packet. Only layers that are whole are read. A packet whose ICRC is wrong breaks
// that one rule: what else it says is nobody's word.
#pragma once

#include <dissect/base/crc_shift.hpp>
#include <dissect/base/packet.hpp>
#include <transport-replay/checks/passive/passive_checks.hpp>
#include <transport-replay/model/straight_path.hpp>

namespace qps::transport::conformance {

// What a packet is, as far as it decides which checks look at it: bits of PacketFacts::traits.
enum class PacketTrait : std::uint16_t {
    transport = 1 << 0,   // a BTH, with an ICRC that is not wrong
    checked = 1 << 1,     // its ICRC could be verified, be it right or wrong
    padded = 1 << 2,      // payload that is no multiple of 4
    connected = 1 << 3,   // RC, XRC
    unreliable = 1 << 4,  // UC, UD
    datagram = 1 << 5,    // UD
    solicited = 1 << 6,   // SE
    roce_v2 = 1 << 7,
    ipv4 = 1 << 8,
    roce_v1 = 1 << 9,
    native = 1 << 10,
    to_gsi = 1 << 11,  // UD to queue pair 1
    cnp = 1 << 12,     // of RoCE
    roce = 1 << 13,    // either version
};
inline constexpr std::size_t kTraitSets = 1 << 14;

struct PacketFacts {
    std::uint64_t wrong = 0;   // bits of Passive
    std::uint32_t digest = 0;  // of payload, immediate and R_Key to invalidate; 0: not whole, or no request
    std::uint16_t traits = 0;  // bits of PacketTrait
    std::uint8_t ecn = 0;      // of the IP header; 0: not ECN-capable
    [[nodiscard]] bool operator==(const PacketFacts&) const = default;
};

[[nodiscard]] constexpr bool has(std::uint16_t traits, PacketTrait trait) {
    return (traits & std::to_underlying(trait)) != 0;
}

void look_at(const dissect::Packet& packet, PacketFacts& facts);

// A packet that went the straight path.
struct StraightPacket {
    const dissect::Frame& frame;
    const Observation& observation;  // made of it
    StraightPlaces places;
};
// The same facts of such a one; false: it is to be decoded for them.
[[nodiscard]] bool look_at(const StraightPacket& packet, dissect::CrcShift& shift, PacketFacts& facts);

// Whether a check of the format looks at packets of these traits.
struct FormatRow {
    Passive check;
    PacketTrait trait;
    PacketTrait without;  // but not at those; the same as `trait`: at all of them
};
inline constexpr std::array kFormatRows{
    FormatRow{Passive::fmt_01, PacketTrait::checked, PacketTrait::checked},
    FormatRow{Passive::fmt_02, PacketTrait::padded, PacketTrait::padded},
    FormatRow{Passive::fmt_06, PacketTrait::transport, PacketTrait::transport},
    FormatRow{Passive::fmt_08, PacketTrait::connected, PacketTrait::connected},
    FormatRow{Passive::fmt_09, PacketTrait::unreliable, PacketTrait::unreliable},
    FormatRow{Passive::fmt_10, PacketTrait::solicited, PacketTrait::cnp},
    FormatRow{Passive::fmt_16, PacketTrait::roce_v2, PacketTrait::cnp},
    FormatRow{Passive::fmt_17, PacketTrait::ipv4, PacketTrait::ipv4},
    FormatRow{Passive::fmt_19, PacketTrait::roce_v1, PacketTrait::roce_v1},
    FormatRow{Passive::fmt_20, PacketTrait::native, PacketTrait::native},
    FormatRow{Passive::fmt_21, PacketTrait::roce, PacketTrait::cnp},
    FormatRow{Passive::fmt_22, PacketTrait::to_gsi, PacketTrait::to_gsi},
    FormatRow{Passive::rsp_50, PacketTrait::unreliable, PacketTrait::to_gsi},
    FormatRow{Passive::req_35, PacketTrait::datagram, PacketTrait::datagram},
    FormatRow{Passive::cnp_01, PacketTrait::cnp, PacketTrait::cnp},
};
[[nodiscard]] constexpr bool looks(const FormatRow& row, std::uint16_t traits) {
    return has(traits, row.trait) && (row.trait == row.without || !has(traits, row.without));
}

}  // namespace qps::transport::conformance
