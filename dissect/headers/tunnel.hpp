// Field tables of tunnels: VXLAN (RFC 7348), GENEVE (RFC 8926), GRE (RFC 2784, 2890), ERSPAN II and III
// (draft-foschiano-erspan).
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/headers/link.hpp>

namespace qps::dissect {

inline constexpr std::array kVxlanFields{
    row::hex("vxlan.flags", "Flags", at(0), 16),
    row::flag("vxlan.flag_g", "Group policy extension", at(0)).part(),
    row::flag("vxlan.flag_i", "The network identifier is valid", at(0, 4)).part(),
    row::decimal("vxlan.gbp", "Group policy identifier", at(2), 16),
    row::decimal("vxlan.vni", "VXLAN network identifier", at(4), 24),
    row::hex("vxlan.reserved8", "Reserved", at(7), 8),
};
static_assert(tiles(kVxlanFields, 8));

inline constexpr std::array kGeneveFields{
    row::decimal("geneve.version", "Version", at(0), 2),
    row::decimal("rdma.geneve.options_length", "Length of the options", at(0, 2), 6).times(4).in("bytes"),
    row::hex("geneve.flags", "Flags", at(1), 8),
    row::flag("geneve.flags.oam", "Control packet", at(1)).part(),
    row::flag("geneve.flags.critical", "Critical options present", at(1, 1)).part(),
    row::hex("geneve.proto_type", "Protocol type", at(2), 16).named(kEtherTypes),
    row::decimal("geneve.vni", "Virtual network identifier", at(4), 24),
    row::hex("geneve.reserved", "Reserved", at(7), 8),
    row::bytes("rdma.geneve.options", "Options", at(8), kToEnd),
};
static_assert(tiles(kGeneveFields, 8));

inline constexpr std::array kGreFields{
    row::hex("gre.flags_and_version", "Flags and version", at(0), 16),
    row::flag("gre.flags.checksum", "Checksum present", at(0)).part(),
    row::flag("gre.flags.routing", "Routing present", at(0, 1)).part(),
    row::flag("gre.flags.key", "Key present", at(0, 2)).part(),
    row::flag("gre.flags.sequence_number", "Sequence number present", at(0, 3)).part(),
    row::decimal("gre.flags.version", "Version", at(1, 5), 3).part(),
    row::hex("gre.proto", "Protocol type", at(2), 16).named(kEtherTypes),
};
static_assert(tiles(kGreFields, 4));

inline constexpr std::array kGreChecksumFields{
    row::hex("gre.checksum", "Checksum", at(0), 16),
    row::decimal("gre.offset", "Offset", at(2), 16),
};
static_assert(tiles(kGreChecksumFields, 4));

inline constexpr std::array kGreKeyFields{row::hex("gre.key", "Key", at(0), 32)};
static_assert(tiles(kGreKeyFields, 4));

inline constexpr std::array kGreSequenceFields{row::decimal("gre.sequence_number", "Sequence number", at(0), 32)};
static_assert(tiles(kGreSequenceFields, 4));

inline constexpr std::array kErspan2Fields{
    row::decimal("erspan.version", "Version (1 is type II)", at(0), 4),
    row::decimal("erspan.vlan", "VLAN of the mirrored frame", at(0, 4), 12),
    row::decimal("erspan.cos", "Class of service of the mirrored frame", at(2), 3),
    row::decimal("erspan.encap", "How the VLAN tag was encapsulated", at(2, 3), 2),
    row::decimal("erspan.truncated", "The mirror cut the frame", at(2, 5), 1),
    row::decimal("erspan.spanid", "Session", at(2, 6), 10),
    row::decimal("erspan.reserved", "Reserved", at(4), 12),
    row::decimal("erspan.index", "Port index", at(5, 4), 20),
};
static_assert(tiles(kErspan2Fields, 8));

inline constexpr std::array kErspan3Fields{
    row::decimal("erspan.version", "Version (2 is type III)", at(0), 4),
    row::decimal("erspan.vlan", "VLAN of the mirrored frame", at(0, 4), 12),
    row::decimal("erspan.cos", "Class of service of the mirrored frame", at(2), 3),
    row::decimal("erspan.bso", "Bad, short or oversized", at(2, 3), 2),
    row::decimal("erspan.truncated", "The mirror cut the frame", at(2, 5), 1),
    row::decimal("erspan.spanid", "Session", at(2, 6), 10),
    row::decimal("erspan.timestamp", "Timestamp of the mirror", at(4), 32),
    row::decimal("erspan.sgt", "Security group tag", at(8), 16),
    row::decimal("erspan.p", "The frame is an Ethernet protocol frame", at(10), 1),
    row::decimal("erspan.ft", "Frame type: 0 Ethernet, 2 IP", at(10, 1), 5),
    row::decimal("erspan.hw", "Hardware identifier", at(10, 6), 6),
    row::flag("erspan.direction", "Mirrored on the way out", at(11, 4)),
    row::decimal("erspan.gra", "Timestamp granularity", at(11, 5), 2),
    row::decimal("erspan.o", "A platform subheader follows", at(11, 7), 1),
};
static_assert(tiles(kErspan3Fields, 12));

inline constexpr std::array kErspan3PlatformFields{
    row::decimal("erspan.platid", "Platform", at(0), 6),
    row::hex("rdma.erspan.platform_info", "Platform information", at(0, 6), 58),
};
static_assert(tiles(kErspan3PlatformFields, 8));

inline constexpr std::array kTunnelHeaders{
    Header{LayerKind::vxlan, "vxlan", "VXLAN", 8, kVxlanFields},
    Header{LayerKind::geneve, "geneve", "GENEVE", 8, kGeneveFields},
    Header{LayerKind::gre, "gre", "Generic Routing Encapsulation", 4, kGreFields},
    Header{LayerKind::gre_checksum, "gre.checksum_present", "GRE checksum", 4, kGreChecksumFields},
    Header{LayerKind::gre_key, "gre.key_present", "GRE key", 4, kGreKeyFields},
    Header{LayerKind::gre_sequence, "gre.sequence_present", "GRE sequence number", 4, kGreSequenceFields},
    Header{LayerKind::erspan2, "erspan", "ERSPAN type II", 8, kErspan2Fields},
    Header{LayerKind::erspan3, "erspan", "ERSPAN type III", 12, kErspan3Fields},
    Header{LayerKind::erspan3_platform, "erspan.platform", "ERSPAN platform subheader", 8, kErspan3PlatformFields},
};

}  // namespace qps::dissect
