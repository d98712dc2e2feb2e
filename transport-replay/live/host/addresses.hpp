// What addresses say of themselves: families, prefixes, MAC addresses of groups, link-local addresses out of a MAC
// address, and the path MTU of an interface. Arithmetic alone; any bits are an address.
#pragma once

#include <transport-replay/live/field_place.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>

#include <algorithm>
#include <optional>

namespace qps::transport::live {

enum class Mac : std::uint64_t {};  // 48 bits, the first byte on the wire the most significant

inline constexpr Mac kBroadcastMac{0xffff'ffff'ffff};
// The lowest bit of the first byte: to several (802.3, 3.2.3).
[[nodiscard]] constexpr bool is_group(Mac mac) { return (std::to_underlying(mac) >> 40U & 1U) != 0; }
// Of one interface: what a neighbour may say is its own.
[[nodiscard]] constexpr bool is_individual(Mac mac) { return mac != Mac{} && !is_group(mac); }

enum class Family : std::uint8_t { ipv4, ipv6 };

inline constexpr std::uint64_t kMapped = 0xffff'0000'0000;  // of the second half of ::ffff:a.b.c.d

[[nodiscard]] constexpr Address ipv4_address(std::uint32_t bits) {
    return {{0, kMapped | bits}, AddressSpace::roce_v2};
}
[[nodiscard]] constexpr Address ipv6_address(std::uint64_t high, std::uint64_t low) {
    return {{high, low}, AddressSpace::roce_v2};
}

[[nodiscard]] constexpr Family family_of(const Address& address) {
    return address.bits[0] == 0 && address.bits[1] >> 32U == 0xffff ? Family::ipv4 : Family::ipv6;
}
[[nodiscard]] constexpr std::uint32_t ipv4_bits(const Address& address) {
    return static_cast<std::uint32_t>(address.bits[1]);
}

// The same address as a GID of RoCEv1 and as an address of RoCEv2: caches and tables of the host know the latter only.
[[nodiscard]] constexpr Address in_space(Address address, AddressSpace space) {
    address.space = space;
    return address;
}

[[nodiscard]] constexpr bool is_unspecified(const Address& address) {
    return address.bits[0] == 0 && (address.bits[1] == 0 || address.bits[1] == kMapped);
}
[[nodiscard]] constexpr bool is_multicast_group(const Address& address) {
    return family_of(address) == Family::ipv4 ? ipv4_bits(address) >> 28U == 0xe : address.bits[0] >> 56U == 0xff;
}
[[nodiscard]] constexpr bool is_link_local(const Address& address) {
    return family_of(address) == Family::ipv4 ? ipv4_bits(address) >> 16U == 0xa9fe
                                              : address.bits[0] >> 54U == 0xfe80U >> 6U;
}
// 127.0.0.0/8, ::1: never on a wire.
[[nodiscard]] constexpr bool is_loopback(const Address& address) {
    return family_of(address) == Family::ipv4 ? ipv4_bits(address) >> 24U == 127
                                              : address.bits[0] == 0 && address.bits[1] == 1;
}

// Whether the first `length` bits are the same; of IPv4, of the 32 bits it has.
[[nodiscard]] constexpr bool same_prefix(const Address& a, const Address& b, std::uint8_t length) {
    if (family_of(a) != family_of(b)) return false;
    const unsigned bits = std::min(128U, family_of(a) == Family::ipv4 ? length + 96U : length);
    const auto differ = [](std::uint64_t x, std::uint64_t y, unsigned first) {
        return first != 0 && ((x ^ y) >> (64 - first)) != 0;
    };
    return !differ(a.bits[0], b.bits[0], std::min(bits, 64U)) &&
           !differ(a.bits[1], b.bits[1], bits > 64 ? bits - 64 : 0);
}

// The address that means every host of the subnet (RFC 919), and 255.255.255.255.
[[nodiscard]] constexpr bool is_broadcast(const Address& address, const Address& own, std::uint8_t length) {
    if (family_of(address) != Family::ipv4) return false;
    if (ipv4_bits(address) == 0xffff'ffff) return true;
    if (length >= 31 || !same_prefix(address, own, length)) return false;  // RFC 3021: a /31 has none
    const std::uint32_t hosts = 0xffff'ffffU >> length;
    return (ipv4_bits(address) & hosts) == hosts;
}

// Where frames to a group go (RFC 1112, 6.4; RFC 2464, 7). A17 has GIDs mapped the same way.
[[nodiscard]] constexpr Mac group_mac(const Address& group) {
    if (family_of(group) == Family::ipv4) return Mac{std::uint64_t{0x0100'5e00'0000} | (ipv4_bits(group) & 0x7f'ffffU)};
    return Mac{std::uint64_t{0x3333'0000'0000} | (group.bits[1] & 0xffff'ffffU)};
}

// The group that is asked for the MAC address of an IPv6 address (RFC 4291, 2.7.1).
[[nodiscard]] constexpr Address solicited_node(const Address& address) {
    return ipv6_address(0xff02'0000'0000'0000, 0x0000'0001'ff00'0000 | (address.bits[1] & 0xff'ffffU));
}

inline constexpr Address kAllNodes = ipv6_address(0xff02'0000'0000'0000, 1);
inline constexpr Address kAllRouters = ipv6_address(0xff02'0000'0000'0000, 2);
inline constexpr Address kAllMldRouters = ipv6_address(0xff02'0000'0000'0000, 0x16);
inline constexpr Address kAllHosts4 = ipv4_address(0xe000'0001);
inline constexpr Address kAllRouters4 = ipv4_address(0xe000'0002);
inline constexpr Address kAllIgmpRouters4 = ipv4_address(0xe000'0016);

// fe80::/64 with the modified EUI-64 (RFC 4291, appendix A); as a GID the first of every RoCE port (A16, A17).
[[nodiscard]] constexpr Address link_local_of(Mac mac) {
    const std::uint64_t bits = std::to_underlying(mac);
    const std::uint64_t eui = (bits >> 24U) << 40U | 0xff'fe00'0000 | (bits & 0xff'ffffU);
    return ipv6_address(0xfe80'0000'0000'0000, eui ^ 0x0200'0000'0000'0000);
}
// The MAC address in a link-local address that was made of one; nothing where it was not.
[[nodiscard]] constexpr std::optional<Mac> mac_in(const Address& address) {
    if (family_of(address) != Family::ipv6 || !is_link_local(address) || (address.bits[1] >> 24U & 0xffff) != 0xfffe)
        return std::nullopt;
    const std::uint64_t eui = address.bits[1] ^ 0x0200'0000'0000'0000;
    return Mac{(eui >> 40U) << 24U | (eui & 0xff'ffffU)};
}

// The largest path MTU whose packets fit into the interface's MTU with the longest headers there are: as IPv6 (or GRH),
// with UDP, BTH, XRCETH, AtomicETH and ICRC, so that both ends of a link find the same (Linux reckons so too). Nothing
// where not even 256 bytes fit.
[[nodiscard]] constexpr std::optional<PathMtu> path_mtu_of(std::size_t interface_mtu) {
    constexpr auto length = [](dissect::LayerKind kind) {
        return std::size_t{dissect::kTransportLengths[std::to_underlying(kind)]};
    };
    constexpr std::size_t overhead = kIpv6Length + kUdpLength + kBthLength + length(dissect::LayerKind::xrceth) +
                                     length(dissect::LayerKind::atomiceth) + kIcrcLength;
    for (const PathMtu mtu :
         {PathMtu::bytes_4096, PathMtu::bytes_2048, PathMtu::bytes_1024, PathMtu::bytes_512, PathMtu::bytes_256})
        if (interface_mtu >= overhead + bytes_of(mtu)) return mtu;
    return std::nullopt;
}

}  // namespace qps::transport::live
