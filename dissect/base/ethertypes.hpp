#pragma once

// EtherTypes that frames are read and written by (IANA's registry of IEEE 802 numbers; IBTA Annex A16 for 0x8915). What
// people read of them stands in headers/link.hpp.

#include <cstdint>

namespace qps::dissect::ethertype {

inline constexpr std::uint16_t ipv4 = 0x0800, arp = 0x0806, ipv6 = 0x86dd;
inline constexpr std::uint16_t customer_tag = 0x8100, service_tag = 0x88a8,
                               old_service_tag = 0x9100;  // 802.1Q, 802.1ad, before 802.1ad
inline constexpr std::uint16_t mpls = 0x8847, mpls_upstream = 0x8848, bridged = 0x6558;
inline constexpr std::uint16_t roce1 = 0x8915, mac_control = 0x8808, lldp = 0x88cc, cnm = 0x22e7;

// Is this the type of a VLAN tag that NICs and switches write today?
constexpr bool is_tag(std::uint16_t type) { return type == customer_tag || type == service_tag; }

}  // namespace qps::dissect::ethertype
