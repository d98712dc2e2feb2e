// Field tables of IP over InfiniBand (RFC 4391, 4755): the header of 4 bytes in front of IP, and ARP with addresses of
// 20 bytes. What follows is IP as anywhere else.
#pragma once

#include <dissect/headers/link.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind ipoib_header = kind_in(LayerFamily::ipoib, 0);
inline constexpr LayerKind ipoib_arp = kind_in(LayerFamily::ipoib, 1);
inline constexpr LayerKind ipoib_connect = kind_in(LayerFamily::ipoib, 2);
}  // namespace kind

inline constexpr std::array kIpoibFields{
    row::hex("ipoib.type", "Type of what follows", at(0), 16).named(kEtherTypes),
    row::hex("ipoib.reserved", "Reserved", at(2), 16),
};
inline constexpr std::size_t kIpoibHeader = 4;
static_assert(tiles(kIpoibFields, kIpoibHeader));

// RFC 4391 9.1.1: a link-layer address is a byte of flags (0x80: reachable by RC, 0x40: by UC, RFC 4755), a QPN and a
// GID.
inline constexpr std::array kIpoibArpFields{
    row::decimal("arp.hw.type", "Hardware type", at(0), 16),
    row::hex("arp.proto.type", "Protocol type", at(2), 16).named(kEtherTypes),
    row::decimal("arp.hw.size", "Hardware address length", at(4), 8),
    row::decimal("arp.proto.size", "Protocol address length", at(5), 8),
    row::decimal("arp.opcode", "Operation", at(6), 16).named(kArpOpcodes),
    row::bytes("arp.src.hw", "Sender hardware address", at(8), 160),
    row::hex("rdma.ipoib.arp.src.flags", "Flags of the sender: 0x80 RC, 0x40 UC", at(8), 8).part(),
    row::hex("rdma.ipoib.arp.src.qpn", "Queue pair of the sender", at(9), 24).part(),
    row::ipv6("rdma.ipoib.arp.src.gid", "GID of the sender", at(12)).part(),
    row::ipv4("arp.src.proto_ipv4", "Sender IPv4 address", at(28)),
    row::bytes("arp.dst.hw", "Target hardware address", at(32), 160),
    row::hex("rdma.ipoib.arp.dst.flags", "Flags of the target: 0x80 RC, 0x40 UC", at(32), 8).part(),
    row::hex("rdma.ipoib.arp.dst.qpn", "Queue pair of the target", at(33), 24).part(),
    row::ipv6("rdma.ipoib.arp.dst.gid", "GID of the target", at(36)).part(),
    row::ipv4("arp.dst.proto_ipv4", "Target IPv4 address", at(52)),
};
inline constexpr std::size_t kIpoibArp = 56;
static_assert(tiles(kIpoibArpFields, kIpoibArp));

// RFC 4755 5: what REQ and REP carry for the connected mode.
inline constexpr std::array kIpoibConnectFields{
    row::reserved(at(0), 8),
    row::hex("rdma.ipoib.connect.qpn", "Queue pair of datagrams of the same interface", at(1), 24),
    row::decimal("rdma.ipoib.connect.mtu", "Longest message taken", at(4), 32).in("bytes"),
};
inline constexpr std::size_t kIpoibConnect = 8;
static_assert(tiles(kIpoibConnectFields, kIpoibConnect));

inline constexpr std::array kIpoibHeaders{
    Header{kind::ipoib_header, "ipoib", "IP over InfiniBand", kIpoibHeader, kIpoibFields},
    Header{kind::ipoib_arp, "rdma.ipoib.arp", "Address Resolution Protocol over InfiniBand", kIpoibArp,
           kIpoibArpFields},
    Header{kind::ipoib_connect, "rdma.ipoib.connect", "IP over InfiniBand, connected mode", kIpoibConnect,
           kIpoibConnectFields},
};

// The hardware type of InfiniBand.
inline constexpr std::uint16_t kArpInfiniband = 32;

// Whether a message begins as IPoIB does, with IP or ARP that agrees with itself and with its length.
[[nodiscard]] bool is_ipoib(Bytes message, std::uint64_t length);

namespace ulp {

// On InfiniBand a SEND that is IPoIB by its own bytes (type, lengths and checksum of what it carries agree) gets its
// layers without anybody who follows its connection.
void add_ipoib(Packet& packet);

}  // namespace ulp

}  // namespace qps::dissect
