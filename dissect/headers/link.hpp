// Field tables of link layers: Ethernet (IEEE 802.3), VLAN (802.1Q), MAC control (802.3 annex 31B, 802.1Qbb),
// Linux cooked capture, ERF records, MPLS (RFC 3032), ARP (RFC 826).
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/headers/derived.hpp>

namespace qps::dissect {

inline constexpr std::array kEtherTypes{
    ValueName{0x0800, "IPv4"},           ValueName{0x0806, "ARP"},         ValueName{0x8100, "VLAN"},
    ValueName{0x88a8, "QinQ"},           ValueName{0x86dd, "IPv6"},        ValueName{0x8847, "MPLS"},
    ValueName{0x8848, "MPLS_MULTICAST"}, ValueName{0x8808, "MAC_CONTROL"}, ValueName{0x8915, "RoCE"},
    ValueName{0x88cc, "LLDP"},           ValueName{0x6558, "ETHERNET"},    ValueName{0x88be, "ERSPAN_II"},
    ValueName{0x22eb, "ERSPAN_III"},     ValueName{0x9100, "QinQ_9100"},   ValueName{0x22e7, "CNM"},
};

inline constexpr std::array kEthernetFields{
    row::mac("eth.dst", "Destination MAC address", at(0)),
    row::mac("eth.src", "Source MAC address", at(6)),
    row::hex("eth.type", "EtherType, or length of an 802.3 frame below 1536", at(12), 16).named(kEtherTypes),
};
static_assert(tiles(kEthernetFields, 14));

inline constexpr std::array kVlanFields{
    row::decimal("vlan.priority", "Priority code point (PCP)", at(0), 3),
    row::flag("vlan.dei", "Drop eligible indicator", at(0, 3)),
    row::decimal("vlan.id", "VLAN identifier", at(0, 4), 12),
    row::hex("vlan.etype", "EtherType of what follows", at(2), 16).named(kEtherTypes),
};
static_assert(tiles(kVlanFields, 4));

inline constexpr std::array kCookedPacketTypes{
    ValueName{0, "TO_US"},     ValueName{1, "BROADCAST"}, ValueName{2, "MULTICAST"},
    ValueName{3, "TO_OTHERS"}, ValueName{4, "FROM_US"},
};

inline constexpr std::array kLinuxCookedFields{
    row::decimal("sll.pkttype", "Direction of the packet as the host saw it", at(0), 16).named(kCookedPacketTypes),
    row::decimal("sll.hatype", "ARPHRD type of the device", at(2), 16),
    row::decimal("sll.halen", "Length of the link-layer address", at(4), 16),
    row::bytes("rdma.sll.address", "Link-layer address, zero padded", at(6), 64),
    row::mac("sll.src.eth", "Source MAC address", at(6)).part().only_if(at(4), 16, 6),
    row::hex("sll.etype", "EtherType of what follows", at(14), 16).named(kEtherTypes),
};
static_assert(tiles(kLinuxCookedFields, 16));

inline constexpr std::array kLinuxCooked2Fields{
    row::hex("sll.etype", "EtherType of what follows", at(0), 16).named(kEtherTypes),
    row::reserved(at(2), 16),
    row::decimal("sll.ifindex", "Index of the interface", at(4), 32),
    row::decimal("sll.hatype", "ARPHRD type of the device", at(8), 16),
    row::decimal("sll.pkttype", "Direction of the packet as the host saw it", at(10), 8).named(kCookedPacketTypes),
    row::decimal("sll.halen", "Length of the link-layer address", at(11), 8),
    row::bytes("rdma.sll.address", "Link-layer address, zero padded", at(12), 64),
    row::mac("sll.src.eth", "Source MAC address", at(12)).part().only_if(at(11), 8, 6),
};
static_assert(tiles(kLinuxCooked2Fields, 20));

inline constexpr std::array kNullLoopbackFields{
    row::hex("null.family", "Address family, in the byte order of the capturing host", at(0), 32),
};
static_assert(tiles(kNullLoopbackFields, 4));

inline constexpr std::array kErfTypes{
    ValueName{2, "ETH"},
    ValueName{11, "COLOR_ETH"},
    ValueName{16, "DSM_COLOR_ETH"},
    ValueName{20, "COLOR_HASH_ETH"},
    ValueName{21, "INFINIBAND"},
    ValueName{25, "INFINIBAND_LINK"},
    ValueName{27, "META"},
    ValueName{28, "OPA_SNC"},
    ValueName{29, "OPA_9B"},
};

// Endace "ERF types" reference: the timestamp is little-endian, everything else big-endian.
inline constexpr std::array kErfFields{
    row::reserved(at(0), 64),
    row::hex("erf.types", "Type byte of the record", at(8), 8),
    row::flag("erf.types.ext_header", "Extension headers follow", at(8)).part(),
    row::decimal("erf.types.type", "Type of the record", at(8, 1), 7).named(kErfTypes).part(),
    row::hex("erf.flags", "Flags of the record", at(9), 8),
    row::hex("erf.flags.res", "Reserved", at(9), 2).part(),
    row::flag("erf.flags.dse", "The capture card dropped part of the stream", at(9, 2)).part(),
    row::flag("erf.flags.rxe", "The receiver saw an error", at(9, 3)).part(),
    row::flag("erf.flags.trunc", "The record was cut", at(9, 4)).part(),
    row::flag("erf.flags.vlen", "Records vary in length", at(9, 5)).part(),
    row::decimal("erf.flags.cap", "Capture port", at(9, 6), 2).part(),
    row::decimal("erf.rlen", "Length of the record with its header", at(10), 16).in("bytes"),
    row::decimal("erf.lctr", "Packets lost before this one, or its colour", at(12), 16),
    row::decimal("erf.wlen", "Length on the wire", at(14), 16).in("bytes"),
};
static_assert(tiles(kErfFields, 16));

inline constexpr std::array kErfExtensionFields{
    row::decimal("rdma.erf.extension_type", "Type of the extension header", at(0), 8),
    row::hex("rdma.erf.extension_data", "Content of the extension header", at(1), 56),
};
static_assert(tiles(kErfExtensionFields, 8));

inline constexpr std::array kErfEthernetPadFields{
    row::decimal("erf.eth.off", "Offset", at(0), 8),
    row::hex("erf.eth.pad", "Padding", at(1), 8),
};
static_assert(tiles(kErfEthernetPadFields, 2));

inline constexpr std::array kMplsFields{
    row::decimal("mpls.label", "Label", at(0), 20),
    row::decimal("mpls.exp", "Traffic class", at(2, 4), 3),
    row::flag("mpls.bottom", "Bottom of the label stack", at(2, 7)),
    row::decimal("mpls.ttl", "Time to live", at(3), 8),
};
static_assert(tiles(kMplsFields, 4));

inline constexpr std::array kMplsControlWordFields{
    row::hex("rdma.mpls.control_word", "Pseudo-wire control word (RFC 4385)", at(0), 32),
};
static_assert(tiles(kMplsControlWordFields, 4));

inline constexpr std::array kMacControlOpcodes{ValueName{0x0001, "PAUSE"}, ValueName{0x0101, "PFC"}};

inline constexpr std::array kMacControlFields{
    row::hex("macc.opcode", "MAC control opcode", at(0), 16).named(kMacControlOpcodes),
};
static_assert(tiles(kMacControlFields, 2));

// One pause quantum is 512 bit times of the link (802.3 31B.2), so its time needs the speed of the link.
inline constexpr std::array kMacPauseFields{
    row::decimal("macc.pause_time", "Pause time", at(0), 16).in("quanta"),
    row::computed("rdma.pause.time_us", "Pause time at the speed of the link", Format::fixed_point,
                  derived::pause_time<0>)
        .with_digits(6)
        .in("us"),
};
static_assert(tiles(kMacPauseFields, 2));

inline constexpr std::array kMacPfcFields{
    row::hex("macc.cbfc.enbv", "Priorities to which the timers below apply", at(0), 16),
    row::flag("macc.cbfc.enbv.c7", "Timer of priority 7 counts", at(1, 0)).part(),
    row::flag("macc.cbfc.enbv.c6", "Timer of priority 6 counts", at(1, 1)).part(),
    row::flag("macc.cbfc.enbv.c5", "Timer of priority 5 counts", at(1, 2)).part(),
    row::flag("macc.cbfc.enbv.c4", "Timer of priority 4 counts", at(1, 3)).part(),
    row::flag("macc.cbfc.enbv.c3", "Timer of priority 3 counts", at(1, 4)).part(),
    row::flag("macc.cbfc.enbv.c2", "Timer of priority 2 counts", at(1, 5)).part(),
    row::flag("macc.cbfc.enbv.c1", "Timer of priority 1 counts", at(1, 6)).part(),
    row::flag("macc.cbfc.enbv.c0", "Timer of priority 0 counts", at(1, 7)).part(),
    row::decimal("macc.cbfc.pause_time.c0", "Pause time of priority 0", at(2), 16).in("quanta"),
    row::decimal("macc.cbfc.pause_time.c1", "Pause time of priority 1", at(4), 16).in("quanta"),
    row::decimal("macc.cbfc.pause_time.c2", "Pause time of priority 2", at(6), 16).in("quanta"),
    row::decimal("macc.cbfc.pause_time.c3", "Pause time of priority 3", at(8), 16).in("quanta"),
    row::decimal("macc.cbfc.pause_time.c4", "Pause time of priority 4", at(10), 16).in("quanta"),
    row::decimal("macc.cbfc.pause_time.c5", "Pause time of priority 5", at(12), 16).in("quanta"),
    row::decimal("macc.cbfc.pause_time.c6", "Pause time of priority 6", at(14), 16).in("quanta"),
    row::decimal("macc.cbfc.pause_time.c7", "Pause time of priority 7", at(16), 16).in("quanta"),
    row::computed("rdma.pfc.time_us.c0", "Pause of priority 0 at the speed of the link", Format::fixed_point,
                  derived::pfc_time<0>)
        .with_digits(6)
        .in("us"),
    row::computed("rdma.pfc.time_us.c1", "Pause of priority 1 at the speed of the link", Format::fixed_point,
                  derived::pfc_time<1>)
        .with_digits(6)
        .in("us"),
    row::computed("rdma.pfc.time_us.c2", "Pause of priority 2 at the speed of the link", Format::fixed_point,
                  derived::pfc_time<2>)
        .with_digits(6)
        .in("us"),
    row::computed("rdma.pfc.time_us.c3", "Pause of priority 3 at the speed of the link", Format::fixed_point,
                  derived::pfc_time<3>)
        .with_digits(6)
        .in("us"),
    row::computed("rdma.pfc.time_us.c4", "Pause of priority 4 at the speed of the link", Format::fixed_point,
                  derived::pfc_time<4>)
        .with_digits(6)
        .in("us"),
    row::computed("rdma.pfc.time_us.c5", "Pause of priority 5 at the speed of the link", Format::fixed_point,
                  derived::pfc_time<5>)
        .with_digits(6)
        .in("us"),
    row::computed("rdma.pfc.time_us.c6", "Pause of priority 6 at the speed of the link", Format::fixed_point,
                  derived::pfc_time<6>)
        .with_digits(6)
        .in("us"),
    row::computed("rdma.pfc.time_us.c7", "Pause of priority 7 at the speed of the link", Format::fixed_point,
                  derived::pfc_time<7>)
        .with_digits(6)
        .in("us"),
};
static_assert(tiles(kMacPfcFields, 18));

inline constexpr std::array kArpOpcodes{ValueName{1, "REQUEST"}, ValueName{2, "REPLY"}};

inline constexpr std::array kArpFields{
    row::decimal("arp.hw.type", "Hardware type", at(0), 16),
    row::hex("arp.proto.type", "Protocol type", at(2), 16).named(kEtherTypes),
    row::decimal("arp.hw.size", "Hardware address length", at(4), 8),
    row::decimal("arp.proto.size", "Protocol address length", at(5), 8),
    row::decimal("arp.opcode", "Operation", at(6), 16).named(kArpOpcodes),
    row::mac("arp.src.hw_mac", "Sender MAC address", at(8)),
    row::ipv4("arp.src.proto_ipv4", "Sender IPv4 address", at(14)),
    row::mac("arp.dst.hw_mac", "Target MAC address", at(18)),
    row::ipv4("arp.dst.proto_ipv4", "Target IPv4 address", at(24)),
};
static_assert(tiles(kArpFields, 28));

inline constexpr std::array kLinkHeaders{
    Header{LayerKind::ethernet, "eth", "Ethernet", 14, kEthernetFields},
    Header{LayerKind::vlan, "vlan", "VLAN tag", 4, kVlanFields},
    Header{LayerKind::linux_cooked, "sll", "Linux cooked capture", 16, kLinuxCookedFields},
    Header{LayerKind::linux_cooked_v2, "sll", "Linux cooked capture v2", 20, kLinuxCooked2Fields},
    Header{LayerKind::null_loopback, "null", "Loopback", 4, kNullLoopbackFields},
    Header{LayerKind::erf, "erf", "ERF record", 16, kErfFields},
    Header{LayerKind::erf_extension, "erf.ehdr", "ERF extension header", 8, kErfExtensionFields},
    Header{LayerKind::erf_ethernet_pad, "erf.eth", "ERF Ethernet padding", 2, kErfEthernetPadFields},
    Header{LayerKind::mpls, "mpls", "MPLS label", 4, kMplsFields},
    Header{LayerKind::mpls_control_word, "mpls.control_word", "Pseudo-wire control word", 4, kMplsControlWordFields},
    Header{LayerKind::mac_control, "macc", "MAC control", 2, kMacControlFields},
    Header{LayerKind::mac_pause, "macc.pause", "PAUSE", 2, kMacPauseFields},
    Header{LayerKind::mac_pfc, "macc.cbfc", "Priority flow control (PFC)", 18, kMacPfcFields},
    Header{LayerKind::arp, "arp", "Address Resolution Protocol", 28, kArpFields},
};

}  // namespace qps::dissect
