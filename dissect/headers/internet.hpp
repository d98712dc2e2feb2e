// Field tables of the Internet protocols: IPv4 (RFC 791), IPv6 (RFC 8200), UDP (RFC 768), TCP (RFC 9293).
#pragma once

#include <dissect/base/field.hpp>

namespace qps::dissect {

enum class IpProtocol : std::uint8_t {
    hop_by_hop = 0,
    icmp = 1,
    ipv4 = 4,
    tcp = 6,
    udp = 17,
    infiniband = 27,
    ipv6 = 41,
    routing = 43,
    fragment = 44,
    gre = 47,
    icmpv6 = 58,
    none = 59,
    destination = 60,
    mpls = 137,
};

inline constexpr std::array kIpProtocols{
    ValueName{0, "HOP_BY_HOP"},  ValueName{1, "ICMP"},
    ValueName{2, "IGMP"},        ValueName{4, "IPv4"},
    ValueName{6, "TCP"},         ValueName{17, "UDP"},
    ValueName{27, "InfiniBand"}, ValueName{41, "IPv6"},
    ValueName{43, "ROUTING"},    ValueName{44, "FRAGMENT"},
    ValueName{47, "GRE"},        ValueName{58, "ICMPv6"},
    ValueName{59, "NONE"},       ValueName{60, "DESTINATION_OPTIONS"},
    ValueName{137, "MPLS"},
};

// RFC 3168
inline constexpr std::array kEcnNames{ValueName{0, "Not-ECT"}, ValueName{1, "ECT(1)"}, ValueName{2, "ECT(0)"},
                                      ValueName{3, "CE"}};

inline constexpr std::array kIpv4Fields{
    row::decimal("ip.version", "Version", at(0), 4),
    row::decimal("ip.hdr_len", "Header length", at(0, 4), 4).times(4).in("bytes"),
    row::hex("ip.dsfield", "Differentiated services field", at(1), 8),
    row::decimal("ip.dsfield.dscp", "Differentiated services code point", at(1), 6).part(),
    row::decimal("ip.dsfield.ecn", "Explicit congestion notification", at(1, 6), 2).named(kEcnNames).part(),
    row::decimal("ip.len", "Total length", at(2), 16).in("bytes"),
    row::hex("ip.id", "Identification", at(4), 16),
    row::hex("ip.flags", "Flags", at(6), 3),
    row::flag("ip.flags.rb", "Reserved bit", at(6)).part(),
    row::flag("ip.flags.df", "Don't fragment", at(6, 1)).part(),
    row::flag("ip.flags.mf", "More fragments", at(6, 2)).part(),
    row::decimal("ip.frag_offset", "Fragment offset", at(6, 3), 13).times(8).in("bytes"),
    row::decimal("ip.ttl", "Time to live", at(8), 8),
    row::decimal("ip.proto", "Protocol", at(9), 8).named(kIpProtocols),
    row::hex("ip.checksum", "Header checksum", at(10), 16),
    row::ipv4("ip.src", "Source address", at(12)),
    row::ipv4("ip.dst", "Destination address", at(16)),
    row::bytes("rdma.ip.options", "Options", at(20), kToEnd),
};
static_assert(tiles(kIpv4Fields, 20));

inline constexpr std::array kIpv6Fields{
    row::decimal("ipv6.version", "Version", at(0), 4),
    row::decimal("ip.version", "Version of the Internet Protocol", at(0), 4)
        .part(),  // so that ip.version == 6 finds it
    row::hex("ipv6.tclass", "Traffic class", at(0, 4), 8),
    row::decimal("ipv6.tclass.dscp", "Differentiated services code point", at(0, 4), 6).part(),
    row::decimal("ipv6.tclass.ecn", "Explicit congestion notification", at(1, 2), 2).named(kEcnNames).part(),
    row::hex("ipv6.flow", "Flow label", at(1, 4), 20),
    row::decimal("ipv6.plen", "Payload length", at(4), 16).in("bytes"),
    row::decimal("ipv6.nxt", "Next header", at(6), 8).named(kIpProtocols),
    row::decimal("ipv6.hlim", "Hop limit", at(7), 8),
    row::ipv6("ipv6.src", "Source address", at(8)),
    row::ipv6("ipv6.dst", "Destination address", at(24)),
};
static_assert(tiles(kIpv6Fields, 40));

inline constexpr std::array kHopByHopFields{
    row::decimal("ipv6.hopopts.nxt", "Next header", at(0), 8).named(kIpProtocols),
    row::decimal("ipv6.hopopts.len", "Length in units of 8 bytes after the first 8", at(1), 8),
    row::bytes("rdma.ipv6.hopopts.options", "Options", at(2), kToEnd),
};
static_assert(tiles(kHopByHopFields, 2));

inline constexpr std::array kRoutingFields{
    row::decimal("ipv6.routing.nxt", "Next header", at(0), 8).named(kIpProtocols),
    row::decimal("ipv6.routing.len", "Length in units of 8 bytes after the first 8", at(1), 8),
    row::decimal("ipv6.routing.type", "Routing type", at(2), 8),
    row::decimal("ipv6.routing.segleft", "Segments left", at(3), 8),
    row::bytes("rdma.ipv6.routing.data", "Type-specific data", at(4), kToEnd),
};
static_assert(tiles(kRoutingFields, 4));

inline constexpr std::array kFragmentFields{
    row::decimal("ipv6.fraghdr.nxt", "Next header", at(0), 8).named(kIpProtocols),
    row::hex("ipv6.fraghdr.reserved_octet", "Reserved", at(1), 8),
    row::decimal("ipv6.fraghdr.offset", "Fragment offset in units of 8 bytes", at(2), 13),
    row::decimal("ipv6.fraghdr.reserved_bits", "Reserved", at(3, 5), 2),
    row::flag("ipv6.fraghdr.more", "More fragments", at(3, 7)),
    row::hex("ipv6.fraghdr.ident", "Identification", at(4), 32),
};
static_assert(tiles(kFragmentFields, 8));

inline constexpr std::array kDestinationFields{
    row::decimal("ipv6.dstopts.nxt", "Next header", at(0), 8).named(kIpProtocols),
    row::decimal("ipv6.dstopts.len", "Length in units of 8 bytes after the first 8", at(1), 8),
    row::bytes("rdma.ipv6.dstopts.options", "Options", at(2), kToEnd),
};
static_assert(tiles(kDestinationFields, 2));

inline constexpr std::uint16_t kRocePort = 4791;    // A17.9 / IANA
inline constexpr std::uint16_t kUltraPort = 4793;   // IANA: ultra-ethernet
inline constexpr std::uint16_t kVxlanPort = 4789;   // RFC 7348
inline constexpr std::uint16_t kGenevePort = 6081;  // RFC 8926

inline constexpr std::array kUdpFields{
    row::decimal("udp.srcport", "Source port", at(0), 16),
    row::decimal("udp.dstport", "Destination port", at(2), 16),
    row::decimal("udp.length", "Length with this header", at(4), 16).in("bytes"),
    row::hex("udp.checksum", "Checksum", at(6), 16),
};
static_assert(tiles(kUdpFields, 8));

inline constexpr std::array kTcpFields{
    row::decimal("tcp.srcport", "Source port", at(0), 16),
    row::decimal("tcp.dstport", "Destination port", at(2), 16),
    row::decimal("tcp.seq_raw", "Sequence number", at(4), 32),
    row::decimal("tcp.ack_raw", "Acknowledgment number", at(8), 32),
    row::decimal("tcp.hdr_len", "Header length", at(12), 4).times(4).in("bytes"),
    row::hex("tcp.flags", "Flags", at(12, 4), 12),
    row::flag("tcp.flags.ack", "ACK set", at(13, 3)).part(),
    row::flag("tcp.flags.push", "PSH set", at(13, 4)).part(),
    row::flag("tcp.flags.reset", "RST set", at(13, 5)).part(),
    row::flag("tcp.flags.syn", "SYN set", at(13, 6)).part(),
    row::flag("tcp.flags.fin", "FIN set", at(13, 7)).part(),
    row::decimal("tcp.window_size_value", "Window", at(14), 16),
    row::hex("tcp.checksum", "Checksum", at(16), 16),
    row::decimal("tcp.urgent_pointer", "Urgent pointer", at(18), 16),
    row::bytes("tcp.options", "Options", at(20), kToEnd),
};
static_assert(tiles(kTcpFields, 20));

inline constexpr std::array kInternetHeaders{
    Header{LayerKind::ipv4, "ip", "Internet Protocol version 4", 20, kIpv4Fields},
    Header{LayerKind::ipv6, "ipv6", "Internet Protocol version 6", 40, kIpv6Fields},
    Header{LayerKind::ipv6_hop_by_hop, "ipv6.hopopts", "IPv6 hop-by-hop options", 2, kHopByHopFields},
    Header{LayerKind::ipv6_routing, "ipv6.routing", "IPv6 routing header", 4, kRoutingFields},
    Header{LayerKind::ipv6_fragment, "ipv6.fraghdr", "IPv6 fragment header", 8, kFragmentFields},
    Header{LayerKind::ipv6_destination, "ipv6.dstopts", "IPv6 destination options", 2, kDestinationFields},
    Header{LayerKind::udp, "udp", "User Datagram Protocol", 8, kUdpFields},
    Header{LayerKind::tcp, "tcp", "Transmission Control Protocol", 20, kTcpFields},
};

}  // namespace qps::dissect
