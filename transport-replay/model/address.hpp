// Where a packet comes from and goes to, whatever network carried it, and the one way of traffic to a queue pair.
#pragma once

#include <dissect/base/packet.hpp>

#include <array>
#include <compare>
#include <cstdint>
#include <string>

namespace qps::transport {

// The space in which an address has its meaning. RoCEv1 and RoCEv2 are spaces of their own: a host that sends both is
// misconfigured (users ask for that), and its queue pairs are not the same.
enum class AddressSpace : std::uint8_t { none, roce_v2, roce_v1, infiniband_gid, infiniband_lid, ethernet };

// An IPv6 address, an IPv4 address mapped into one (::ffff:a.b.c.d, as GIDs have it), a GID, a LID in the last two
// bytes, or a MAC address in the last six.
struct Address {
    std::array<std::uint64_t, 2> bits{};  // most significant first, in host order
    AddressSpace space = AddressSpace::none;
    [[nodiscard]] auto operator<=>(const Address&) const = default;
    // Once a packet in every table: no call to compare 16 bytes.
    [[nodiscard]] constexpr bool operator==(const Address& other) const {
        return ((bits[0] ^ other.bits[0]) | (bits[1] ^ other.bits[1])) == 0 && space == other.space;
    }
};

// The virtual network that a packet belongs to: its outermost VNI (VXLAN, Geneve), else its innermost VLAN. Two of them
// may use the same addresses and queue pair numbers.
enum class NetworkId : std::uint32_t {};            // 0: none
inline constexpr std::uint32_t kIsVni = 1U << 24U;  // else a VLAN
[[nodiscard]] constexpr NetworkId network_of_vni(std::uint32_t vni) { return NetworkId{kIsVni | (vni & (kIsVni - 1))}; }

// "VNI 5000", "VLAN 7"; empty of none.
[[nodiscard]] std::string text(NetworkId network);

// "10.0.0.1", "2001:db8::1", "lid 4", "02:00:00:00:00:01".
[[nodiscard]] std::string text(const Address& address);

// One of the two ends of a link or a connection.
enum class End : std::uint8_t { a, b };
[[nodiscard]] constexpr End other(End end) { return end == End::a ? End::b : End::a; }

// One way of traffic: everything from one host to one queue pair of another. Datagrams name the queue pair they come
// from too; connected services do not, and it is 0.
struct FlowKey {
    Address source;
    Address destination;
    dissect::Qpn destination_qp{};
    dissect::Qpn source_qp{};
    [[nodiscard]] auto operator<=>(const FlowKey&) const = default;
};

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input reaches every bit of the output.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

[[nodiscard]] constexpr std::uint64_t hash_of(const Address& address) {
    return mix(address.bits[0] + 0x9e3779b97f4a7c15 * static_cast<std::uint64_t>(address.space)) +
           5 * mix(address.bits[1]);
}

// Mixes all bits, as open-addressing tables want it.
struct FlowHash {
    using is_avalanching = void;
    [[nodiscard]] constexpr std::size_t operator()(const FlowKey& key) const {
        return combine(hash_of(key.source), hash_of(key.destination), key);
    }
    // For who needs the hashes of its addresses too.
    [[nodiscard]] static constexpr std::uint64_t combine(std::uint64_t source, std::uint64_t destination,
                                                         const FlowKey& key) {
        const auto pairs = static_cast<std::uint64_t>(key.destination_qp) ^ static_cast<std::uint64_t>(key.source_qp)
                                                                                << 24;
        return mix(source + 3 * destination + mix(pairs));
    }
};

}  // namespace qps::transport
