// Field tables of InfiniBand network and transport headers (chapters 7 to 9, A14 XRC, A17 RoCE, A19 FLUSH and ATOMIC
// WRITE): LRH to ICRC and VCRC. Management datagrams are in dissect/mad/.
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/base/opcode.hpp>
#include <dissect/base/timers.hpp>
#include <dissect/headers/derived.hpp>
#include <dissect/headers/internet.hpp>
#include <dissect/headers/link.hpp>

namespace qps::dissect {

// Link next header of the LRH (7.7.5).
enum class LinkNextHeader : std::uint8_t { raw = 0, ipv6 = 1, transport = 2, grh = 3 };

inline constexpr std::array kLinkNextHeaders{
    ValueName{0, "RAW"},
    ValueName{1, "IPv6"},
    ValueName{2, "BTH"},
    ValueName{3, "GRH"},
};

inline constexpr std::array kLrhFields{
    row::decimal("infiniband.lrh.vl", "Virtual lane", at(0), 4),
    row::decimal("infiniband.lrh.lver", "Link version", at(0, 4), 4),
    row::decimal("infiniband.lrh.sl", "Service level", at(1), 4),
    row::decimal("infiniband.lrh.reserved2", "Reserved", at(1, 4), 2),
    row::decimal("infiniband.lrh.lnh", "Link next header", at(1, 6), 2).named(kLinkNextHeaders),
    row::decimal("infiniband.lrh.dlid", "Destination local identifier", at(2), 16),
    row::decimal("infiniband.lrh.reserved5", "Reserved", at(4), 5),
    row::decimal("infiniband.lrh.pktlen", "Packet length from LRH to ICRC, in units of 4 bytes", at(4, 5), 11),
    row::decimal("infiniband.lrh.slid", "Source local identifier", at(6), 16),
};
static_assert(tiles(kLrhFields, 8));

inline constexpr std::array kGrhFields{
    row::decimal("infiniband.grh.ipver", "IP version, 6", at(0), 4),
    row::decimal("infiniband.grh.tclass", "Traffic class", at(0, 4), 8),
    row::decimal("infiniband.grh.flowlabel", "Flow label", at(1, 4), 20),
    row::decimal("infiniband.grh.paylen", "Payload length, BTH to ICRC", at(4), 16).in("bytes"),
    row::decimal("infiniband.grh.nxthdr", "Next header, 27 (0x1B) for the BTH", at(6), 8).named(kIpProtocols),
    row::decimal("infiniband.grh.hoplmt", "Hop limit", at(7), 8),
    row::ipv6("infiniband.grh.sgid", "Source GID", at(8)),
    row::ipv6("infiniband.grh.dgid", "Destination GID", at(24)),
};
static_assert(tiles(kGrhFields, 40));

inline constexpr std::array kRwhFields{
    row::reserved(at(0), 16),
    row::hex("infiniband.rwh.etype", "EtherType of the raw packet", at(2), 16).named(kEtherTypes),
};
static_assert(tiles(kRwhFields, 4));

inline constexpr std::array kBthFields{
    row::decimal("infiniband.bth.opcode", "Opcode: service and operation", at(0), 8).named(kOpcodeNames),
    row::flag("infiniband.bth.se", "Solicited event", at(1)),
    row::flag("infiniband.bth.m", "Migration state (MigReq): set when migrated", at(1, 1)),
    row::decimal("infiniband.bth.padcnt", "Pad count", at(1, 2), 2).in("bytes"),
    row::decimal("infiniband.bth.tver", "Transport header version, 0", at(1, 4), 4),
    row::hex("infiniband.bth.p_key", "Partition key", at(2), 16),
    row::flag("infiniband.bth.p_key.full_member", "Full member of the partition", at(2)).part(),
    row::hex("infiniband.bth.p_key.base", "Partition, without membership", at(2, 1), 15).part(),
    row::flag("infiniband.bth.fecn", "Forward explicit congestion notification", at(4)),
    row::flag("infiniband.bth.becn", "Backward explicit congestion notification", at(4, 1)),
    row::hex("infiniband.bth.reserved6", "Reserved", at(4, 2), 6),
    row::decimal("infiniband.bth.destqp", "Destination queue pair", at(5), 24),
    row::flag("infiniband.bth.a", "Acknowledge request", at(8)),
    row::decimal("infiniband.bth.reserved7", "Reserved", at(8, 1), 7),
    row::decimal("infiniband.bth.psn", "Packet sequence number", at(9), 24),
};
static_assert(tiles(kBthFields, 12));

inline constexpr std::array kRdethFields{
    row::reserved(at(0), 8),
    row::decimal("infiniband.rdeth.eecnxt", "End-to-end context", at(1), 24),
};
static_assert(tiles(kRdethFields, 4));

inline constexpr std::array kXrcethFields{
    row::reserved(at(0), 8),
    row::decimal("infiniband.xrceth.xrcsrq", "XRC shared receive queue", at(1), 24),
};
static_assert(tiles(kXrcethFields, 4));

inline constexpr std::array kDethFields{
    row::hex("infiniband.deth.q_key", "Queue key", at(0), 32),
    row::reserved(at(4), 8),
    row::decimal("infiniband.deth.srcqp", "Source queue pair", at(5), 24),
};
static_assert(tiles(kDethFields, 8));

inline constexpr std::array kRethFields{
    row::hex("infiniband.reth.va", "Virtual address", at(0), 64),
    row::hex("infiniband.reth.r_key", "Remote key", at(8), 32),
    row::decimal("infiniband.reth.dmalen", "DMA length", at(12), 32).in("bytes"),
};
static_assert(tiles(kRethFields, 16));

// Address and key have the RETH's names, as in Wireshark: one filter finds every access to an address.
inline constexpr std::array kAtomicethFields{
    row::hex("infiniband.reth.va", "Virtual address", at(0), 64),
    row::hex("infiniband.reth.r_key", "Remote key", at(8), 32),
    row::decimal("infiniband.atomiceth.swapdt", "Swap (or add) data", at(12), 64),
    row::decimal("infiniband.atomiceth.cmpdt", "Compare data", at(20), 64),
};
static_assert(tiles(kAtomicethFields, 28));

enum class SyndromeType : std::uint8_t { ack = 0, rnr_nak = 1, reserved = 2, nak = 3 };

inline constexpr std::array kSyndromeTypes{
    ValueName{0, "ACK"},
    ValueName{1, "RNR_NAK"},
    ValueName{2, "RESERVED"},
    ValueName{3, "NAK"},
};

// Table 45 / 9.7.5.2.x
inline constexpr std::array kNakCodes{
    ValueName{0, "PSN_SEQUENCE_ERROR"},       ValueName{1, "INVALID_REQUEST"},    ValueName{2, "REMOTE_ACCESS_ERROR"},
    ValueName{3, "REMOTE_OPERATIONAL_ERROR"}, ValueName{4, "INVALID_RD_REQUEST"},
};

inline constexpr std::array kAethFields{
    row::hex("infiniband.aeth.syndrome", "Syndrome", at(0), 8),
    row::decimal("infiniband.aeth.syndrome.reserved", "Reserved", at(0), 1).part(),
    row::decimal("infiniband.aeth.syndrome.opcode", "Kind of acknowledgment", at(0, 1), 2).named(kSyndromeTypes).part(),
    row::decimal("infiniband.aeth.syndrome.credit_count", "Credit code", at(0, 3), 5).only_if(at(0, 1), 2, 0).part(),
    row::decimal("infiniband.aeth.syndrome.timer", "RNR timer code", at(0, 3), 5).only_if(at(0, 1), 2, 1).part(),
    row::decimal("infiniband.aeth.syndrome.reserved_value", "Reserved value", at(0, 3), 5)
        .only_if(at(0, 1), 2, 2)
        .part(),
    row::decimal("infiniband.aeth.syndrome.error_code", "NAK code", at(0, 3), 5)
        .named(kNakCodes)
        .only_if(at(0, 1), 2, 3)
        .part(),
    row::decimal("infiniband.aeth.msn", "Message sequence number", at(1), 24),
    row::computed("rdma.aeth.credits", "Receive credits the code stands for (9.7.7.2)", Format::decimal,
                  derived::credits),
    row::computed("rdma.aeth.unlimited_credits", "The responder does not limit requests by credits", Format::flag,
                  derived::unlimited_credits),
    row::computed("rdma.aeth.rnr_timer_ms", "How long the requester must wait", Format::fixed_point,
                  derived::rnr_timer_ms)
        .with_digits(2)
        .in("ms"),
};
static_assert(tiles(kAethFields, 4));

// Credit code -> receive credits; 31 means no limit (9.7.7.2; Linux rdmavt credit_table).
inline constexpr std::uint8_t kUnlimitedCredits = 31;
inline constexpr std::array<std::uint16_t, 31> kCredits{
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

inline constexpr std::array kAtomicacketh{
    row::decimal("infiniband.atomicacketh.origremdt", "Original remote data", at(0), 64)};
static_assert(tiles(kAtomicacketh, 8));

inline constexpr std::array kImmdtFields{row::bytes("infiniband.immdt", "Immediate data", at(0), 32)};
static_assert(tiles(kImmdtFields, 4));

inline constexpr std::array kIethFields{row::bytes("infiniband.ieth", "Remote key to invalidate", at(0), 32)};
static_assert(tiles(kIethFields, 4));

// A19: what a FLUSH covers, and how far it goes.
inline constexpr std::array kSelectivityLevels{ValueName{0, "MEMORY_RANGE"}, ValueName{1, "MEMORY_REGION"}};
inline constexpr std::array kFethFields{
    row::reserved(at(0), 26),
    row::decimal("infiniband.feth.selectivity_level", "Selectivity level", at(3, 2), 2).named(kSelectivityLevels),
    row::hex("infiniband.feth.placement_type", "Placement type", at(3, 4), 4),
    row::flag("infiniband.feth.placement_type.persistence", "Persistence requested", at(3, 6)).part(),
    row::flag("infiniband.feth.placement_type.visibility", "Global visibility requested", at(3, 7)).part(),
};
static_assert(tiles(kFethFields, 4));

inline constexpr std::array kCnpReservedFields{row::bytes("infiniband.cnp.reserved", "Reserved, zero", at(0), 128)};
static_assert(tiles(kCnpReservedFields, 16));

inline constexpr std::array kPayloadFields{row::bytes("infiniband.payload", "Payload without pad", at(0), kToEnd)};
inline constexpr std::array kPadFields{row::bytes("infiniband.pad", "Pad bytes, zero", at(0), kToEnd)};

inline constexpr std::array kIcrcFields{row::hex("infiniband.invariant.crc", "Invariant CRC", at(0), 32)};
static_assert(tiles(kIcrcFields, 4));

inline constexpr std::array kVcrcFields{row::hex("infiniband.variant.crc", "Variant CRC", at(0), 16)};
static_assert(tiles(kVcrcFields, 2));

inline constexpr std::array kDataFields{row::bytes("data.data", "Undecoded bytes", at(0), kToEnd)};

inline constexpr std::array kInfinibandHeaders{
    Header{LayerKind::lrh, "infiniband.lrh", "Local Route Header", 8, kLrhFields},
    Header{LayerKind::grh, "infiniband.grh", "Global Route Header", 40, kGrhFields},
    Header{LayerKind::rwh, "infiniband.rwh", "Raw Header", 4, kRwhFields},
    Header{LayerKind::bth, "infiniband.bth", "Base Transport Header", 12, kBthFields},
    Header{LayerKind::rdeth, "infiniband.rdeth", "Reliable Datagram Extended Transport Header", 4, kRdethFields},
    Header{LayerKind::xrceth, "infiniband.xrceth", "XRC Extended Transport Header", 4, kXrcethFields},
    Header{LayerKind::deth, "infiniband.deth", "Datagram Extended Transport Header", 8, kDethFields},
    Header{LayerKind::reth, "infiniband.reth", "RDMA Extended Transport Header", 16, kRethFields},
    Header{LayerKind::atomiceth, "infiniband.atomiceth", "Atomic Extended Transport Header", 28, kAtomicethFields},
    Header{LayerKind::aeth, "infiniband.aeth", "ACK Extended Transport Header", 4, kAethFields},
    Header{LayerKind::atomicacketh, "infiniband.atomicacketh", "Atomic ACK Extended Transport Header", 8,
           kAtomicacketh},
    Header{LayerKind::immdt, "infiniband.immdt", "Immediate Data", 4, kImmdtFields},
    Header{LayerKind::ieth, "infiniband.ieth", "Invalidate Extended Transport Header", 4, kIethFields},
    Header{LayerKind::feth, "infiniband.feth", "FLUSH Extended Transport Header", 4, kFethFields},
    Header{LayerKind::cnp_reserved, "infiniband.cnp", "Congestion Notification Packet", 16, kCnpReservedFields},
    Header{LayerKind::payload, "infiniband.payload", "Payload", 0, kPayloadFields},
    Header{LayerKind::pad, "infiniband.pad", "Pad", 0, kPadFields},
    Header{LayerKind::icrc, "infiniband.invariant", "Invariant CRC", 4, kIcrcFields},
    Header{LayerKind::vcrc, "infiniband.variant", "Variant CRC", 2, kVcrcFields},
    Header{LayerKind::data, "data", "Data", 0, kDataFields},
};

// Length of a header of the transport, known at compile time for the packet path; 0 for anything else.
inline constexpr auto kTransportLengths = [] {
    std::array<std::uint8_t, kLayerKinds> lengths{};
    for (const Header& row : kInfinibandHeaders)
        lengths[static_cast<std::size_t>(row.kind)] = static_cast<std::uint8_t>(row.length);
    return lengths;
}();

}  // namespace qps::dissect
