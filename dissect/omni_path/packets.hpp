// Field tables of Omni-Path's 9B packets, the format that carries InfiniBand's transport: what a capture card says of
// them, their link header, and the headers of the transport, which have two bits and eight of the PSN that InfiniBand
// has not.
#pragma once

#include <dissect/omni_path/psm.hpp>

#include <array>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind opa_snc = kind_in(LayerFamily::omni_path, 0);
inline constexpr LayerKind opa_9b = kind_in(LayerFamily::omni_path, 1);
inline constexpr LayerKind opa_grh = kind_in(LayerFamily::omni_path, 2);
inline constexpr LayerKind opa_bth = kind_in(LayerFamily::omni_path, 3);
inline constexpr LayerKind opa_deth = kind_in(LayerFamily::omni_path, 4);
inline constexpr LayerKind opa_icrc = kind_in(LayerFamily::omni_path, 5);
inline constexpr LayerKind opa_undecoded = kind_in(LayerFamily::omni_path, 6);
}  // namespace kind

inline constexpr std::array kSncDirections{
    ValueName{0, "Outbound"},
    ValueName{1, "Inbound"},
};
// Before the packet in records of type 28: the host adapter's own notes, of which only place and length are decoded.
inline constexpr std::array kOpaSncFields{
    row::decimal("opa.snc.portnumber", "Port number", at(0), 8),
    row::decimal("opa.snc.direction", "Direction", at(1), 8).named(kSncDirections),
    row::hex("opa.snc.reserved16", "Reserved", at(2), 16),
    row::hex("opa.snc.reserved32", "Reserved", at(4), 32),
    row::bytes("opa.snc.notes", "Flags of the host adapter: receive header, or control of a packet that is sent", at(8),
               64),
};
static_assert(tiles(kOpaSncFields, 16));

inline constexpr std::array kOpaLinkNextHeaders{
    ValueName{2, "BTH"},
    ValueName{3, "GRH"},
};
inline constexpr std::array kOpa9bFields{
    row::decimal("opa.9b.sc", "Service channel, without its highest bit", at(0), 4),
    row::decimal("opa.9b.linkversion", "Link version", at(0, 4), 4),
    row::decimal("opa.9b.sl", "Service level", at(1), 4),
    row::hex("opa.9b.reserved2", "Reserved", at(1, 4), 2),
    row::decimal("opa.9b.lnh", "Link next header", at(1, 6), 2).named(kOpaLinkNextHeaders),
    row::decimal("opa.9b.dlid", "Destination LID", at(2), 16),
    row::hex("opa.9b.reserved3", "Reserved", at(4), 4),
    row::decimal("opa.length", "Packet length, in 4 bytes", at(4, 4), 12),
    row::decimal("opa.9b.slid", "Source LID", at(6), 16),
};
static_assert(tiles(kOpa9bFields, 8));

inline constexpr std::array kOpaGrhFields{
    row::decimal("opa.grh.ipver", "IP version", at(0), 4),
    row::decimal("opa.grh.tclass", "Traffic class", at(0, 4), 8),
    row::hex("opa.grh.flowlabel", "Flow label", at(1, 4), 20),
    row::decimal("opa.grh.paylen", "Payload length", at(4), 16).in("bytes"),
    row::decimal("opa.grh.nxthdr", "Next header", at(6), 8),
    row::decimal("opa.grh.hoplmt", "Hop limit", at(7), 8),
    row::ipv6("opa.grh.sgid", "Source GID", at(8)),
    row::ipv6("opa.grh.dgid", "Destination GID", at(24)),
};
static_assert(tiles(kOpaGrhFields, 40));

// Those of PSM2 stand where InfiniBand leaves opcodes to manufacturers.
inline constexpr auto kOpaOpcodeNames = [] {
    constexpr std::span<const ValueName> kInfiniband = named(kBthFields, "infiniband.bth.opcode").names;
    std::array<ValueName, kPsmOpcodes.size() + kInfiniband.size()> names{};
    std::size_t next = 0;
    for (const ValueName& row : kPsmOpcodes) names[next++] = row;
    for (const ValueName& row : kInfiniband) names[next++] = row;
    return names;
}();
inline constexpr std::array kOpaBthFields{
    row::hex("opa.bth.opcode", "Opcode", at(0), 8).named(kOpaOpcodeNames),
    row::flag("opa.bth.se", "Solicited event", at(1)),
    row::flag("opa.bth.m", "Migrated", at(1, 1)),
    row::decimal("opa.bth.padcnt", "Pad count", at(1, 2), 2),
    row::decimal("opa.bth.tver", "Header version", at(1, 4), 4),
    row::hex("opa.bth.p_key", "P_Key", at(2), 16),
    row::flag("opa.bth.fcn", "Forward congestion notification", at(4)),
    row::flag("opa.bth.bcn", "Backward congestion notification", at(4, 1)),
    row::hex("opa.bth.reserved8a", "Reserved", at(4, 2), 6),
    row::decimal("opa.bth.destqp", "Destination QP", at(5), 24),
    row::flag("opa.bth.a", "Acknowledge request", at(8)),
    row::decimal("opa.bth.psn", "PSN", at(8, 1), 31),
};
static_assert(tiles(kOpaBthFields, 12));

inline constexpr std::array kOpaDethFields{
    row::hex("opa.deth.q_key", "Q_Key", at(0), 32),
    row::hex("opa.deth.reserved", "Reserved", at(4), 8),
    row::decimal("opa.deth.srcqp", "Source QP", at(5), 24),
};
static_assert(tiles(kOpaDethFields, 8));

inline constexpr std::array kOpaIcrcFields{
    row::hex("opa.9b.icrc", "Invariant CRC, which is not checked", at(0), 32),
};
static_assert(tiles(kOpaIcrcFields, 4));

// Payload of other operations, attributes that are only named, what follows the tables of those that are decoded.
inline constexpr std::array kOpaUndecodedFields{
    row::bytes("opa.undecoded.bytes", "Bytes", at(0), kToEnd),
};
static_assert(tiles(kOpaUndecodedFields, 0));

inline constexpr std::array kOpaPacketHeaders{
    Header{kind::opa_snc, "opa.snc", "Omni-Path Snoop and Capture Header", 16, kOpaSncFields},
    Header{kind::opa_9b, "opa.9b", "Omni-Path 9B Header", 8, kOpa9bFields},
    Header{kind::opa_grh, "opa.grh", "Global Route Header, Omni-Path", 40, kOpaGrhFields},
    Header{kind::opa_bth, "opa.bth", "Base Transport Header, Omni-Path", 12, kOpaBthFields},
    Header{kind::opa_deth, "opa.deth", "Datagram Extended Transport Header, Omni-Path", 8, kOpaDethFields},
    Header{kind::opa_icrc, "opa.icrc", "Invariant CRC, Omni-Path", 4, kOpaIcrcFields},
    Header{kind::opa_undecoded, "opa.undecoded", "Omni-Path Data", 0, kOpaUndecodedFields},
};

}  // namespace qps::dissect
