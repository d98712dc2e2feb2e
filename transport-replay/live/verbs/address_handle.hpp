// AddressHandle: where a queue pair's packets go, and how they travel. Values; resolving one to a MAC address is the
// host's.
//
//   const AddressHandle to{.destination = peer, .dscp = 26};      // RoCEv2, over IPv4 or IPv6 as the address is
//   const std::uint16_t port = udp_source_port(to, local_qp, remote_qp);
//
// Ours alone: nothing of it comes from a wire but the addresses that a caller copies from there.
#pragma once

#include <transport-replay/queue_pair/transport_packet.hpp>

namespace qps::transport::verbs {

inline constexpr std::uint16_t kFirstUdpSourcePort =
    0xc000;  // the dynamic ports: two bits one, fourteen of entropy (A17)
inline constexpr std::uint32_t kFlowLabelMask = 0xfffff;

struct AddressHandle {
    Address destination{};
    Address source{};  // none: the adapter's first address of the same kind
    dissect::Network network = dissect::Network::roce_v2_ipv4;
    std::uint8_t dscp = 0;         // 6 bits
    std::uint8_t hop_limit = 64;   // TTL
    std::uint8_t sl = 0;           // service level: the priority of a VLAN tag, 3 bits on Ethernet
    std::uint32_t flow_label = 0;  // 20 bits; 0: computed from both queue pairs
    [[nodiscard]] bool operator==(const AddressHandle&) const = default;
};

[[nodiscard]] constexpr bool is_ipv4(const Address& address) {
    return address.space == AddressSpace::roce_v2 && address.bits[0] == 0 && address.bits[1] >> 32 == 0xffff;
}
// 224.0.0.0/4, ff00::/8, also as a GID. LIDs from 0xc000 on.
[[nodiscard]] constexpr bool is_multicast(const Address& address) {
    if (is_ipv4(address)) return (address.bits[1] >> 28 & 0xf) == 0xe;
    if (address.space == AddressSpace::infiniband_lid) return address.bits[1] >= 0xc000 && address.bits[1] < 0xffff;
    return address.bits[0] >> 56 == 0xff;
}
// The network that carries packets to the address.
[[nodiscard]] constexpr dissect::Network network_of(const Address& address) {
    switch (address.space) {
        case AddressSpace::roce_v1: return dissect::Network::roce_v1;
        case AddressSpace::infiniband_gid: return dissect::Network::native_global;
        case AddressSpace::infiniband_lid: return dissect::Network::native_local;
        case AddressSpace::ethernet:
        case AddressSpace::none:
        case AddressSpace::roce_v2: break;
    }
    return is_ipv4(address) ? dissect::Network::roce_v2_ipv4 : dissect::Network::roce_v2_ipv6;
}
// An address of the network that fits, nothing else set.
[[nodiscard]] constexpr AddressHandle handle_to(const Address& address) {
    return AddressHandle{.destination = address, .network = network_of(address)};
}

// The priority of its frames: that of the VLAN tag; of untagged ones what NICs and switches that trust the DSCP make of
// it, its upper three bits.
[[nodiscard]] constexpr std::uint8_t priority_of(const AddressHandle& to, bool tagged) {
    return tagged ? to.sl & 7U : static_cast<std::uint8_t>(to.dscp >> 3 & 7U);
}

// The label of packets from one queue pair to another, as Linux computes it: the product, folded to 20 bits.
[[nodiscard]] constexpr std::uint32_t flow_label_of(dissect::Qpn local, dissect::Qpn remote) {
    std::uint64_t folded = std::uint64_t{static_cast<std::uint32_t>(local)} * static_cast<std::uint32_t>(remote);
    folded ^= folded >> 20;
    folded ^= folded >> 40;
    return static_cast<std::uint32_t>(folded) & kFlowLabelMask;
}

// One port per direction of a queue pair, so that the network keeps its packets in order: as Linux derives it, from the
// flow label, or where that is 0 from both queue pair numbers.
[[nodiscard]] constexpr std::uint16_t udp_source_port(const AddressHandle& to, dissect::Qpn local,
                                                      dissect::Qpn remote) {
    const std::uint32_t given = to.flow_label & kFlowLabelMask;
    const std::uint32_t label = given != 0 ? given : flow_label_of(local, remote);
    return static_cast<std::uint16_t>(((label ^ label >> 14) & 0x3fff) | kFirstUdpSourcePort);
}

}  // namespace qps::transport::verbs
