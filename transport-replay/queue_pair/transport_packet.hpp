// TransportPacket: what a queue pair says, as a value: BTH, extended headers and payload, free of the network that
// carries it. What the transport machines take and give.
//
// It is a specification: to_frame() makes a right packet of it. from_packet() makes one of a decoded packet and refuses
// whatever cannot be trusted (cut, malformed, wrong ICRC), so the machines never see that. Payloads are borrowed: of a
// packet to send, from the memory of a work request or a region, until the machine that gave the packet is called
// again; of a packet received, from the frame. They are bounded by the largest frame a capture or device hands over.
#pragma once

#include <dissect/base/types.hpp>
#include <dissect/packet/build.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/path_mtu.hpp>

#include <optional>
#include <vector>

namespace qps::transport {

[[nodiscard]] constexpr dissect::Duration nanoseconds(std::int64_t count) { return dissect::Duration{count}; }
[[nodiscard]] constexpr dissect::Duration microseconds(std::int64_t count) { return dissect::Duration{count * 1000}; }

inline constexpr std::uint32_t kAtomicLength = 8;  // bytes that an ATOMIC or ATOMIC WRITE acts on

struct Datagram {  // DETH
    dissect::Qkey key{};
    dissect::Qpn source_qp{};
    [[nodiscard]] bool operator==(const Datagram&) const = default;
};

// FETH (A19): what a FLUSH covers, and how far it goes.
enum class FlushSelectivity : std::uint8_t { memory_range = 0, memory_region = 1 };  // others are reserved
inline constexpr std::uint8_t kGlobalVisibility = 1,
                              kPersistence = 2;  // bits of the placement type; others are reserved
struct Flush {
    std::uint8_t placement = kGlobalVisibility;
    FlushSelectivity selectivity = FlushSelectivity::memory_range;
    [[nodiscard]] bool operator==(const Flush&) const = default;
};

enum class Srqn : std::uint32_t {};  // XRCETH: an XRC shared receive queue; 24 bits

// Services whose responder answers (9.7; A14 for XRC).
[[nodiscard]] constexpr bool is_acknowledged(dissect::Service service) {
    return service == dissect::Service::rc || service == dissect::Service::xrc;
}

struct TransportPacket {
    dissect::Opcode opcode{};
    dissect::Pkey pkey{0xffff};
    dissect::Qpn dest_qp{};
    dissect::Psn psn;
    bool ack_request = false;
    bool solicited = false;
    std::optional<RemoteAccess> access;  // RETH; of atomics the address and key of the AtomicETH
    std::optional<AtomicOperands> atomic;
    std::optional<Acknowledgment> acknowledgment;
    std::optional<std::uint64_t> atomic_result;
    std::optional<std::uint32_t> immediate;
    std::optional<dissect::Rkey> invalidate;
    std::optional<Datagram> datagram;
    std::optional<Flush> flush;
    std::optional<Srqn> srq;  // of XRC requests: whose receives and memory they are for
    dissect::Bytes payload{};
    dissect::Bytes network_header{};  // received only: the IPv4 or IPv6 header or the GRH; empty where there is none
};

enum class Ecn : std::uint8_t { not_capable = 0, capable_1 = 1, capable_0 = 2, congestion_experienced = 3 };

// How packets of one way travel. Addresses are of the space of the network: IPv4 mapped into IPv6, IPv6, or GIDs.
struct Route {
    dissect::Network network = dissect::Network::roce_v2_ipv4;
    Address source;
    Address destination;
    std::uint64_t source_mac = 0x0200'0000'0001;  // 48 bits; locally administered
    std::uint64_t destination_mac = 0x0200'0000'0002;
    std::uint16_t udp_source_port = 0xc000;  // 0xc000..0xffff: entropy for the network (A17)
    std::uint16_t identification = 0;        // IPv4; counts packets, so that a copy can be told from a retransmission
    std::uint8_t hops = 64;
    Ecn ecn = Ecn::capable_0;
    std::optional<std::uint16_t> vlan{};  // tag control information: priority 3, DEI 1, VLAN 12 (802.1Q); none: no tag
    std::uint8_t dscp = 0;                // 6 bits; with the ECN the traffic class
    std::uint32_t flow_label = 0;         // 20 bits; IPv6 and GRH
};

// The headers of the packet with every field that the values set; everything else is filled in by build().
[[nodiscard]] dissect::PacketSpec to_spec(const TransportPacket& packet, const Route& route);

// The bytes of the frame, from Ethernet (or the LRH) to the ICRC, padded to what Ethernet sends at least.
[[nodiscard]] std::vector<std::byte> to_frame(const TransportPacket& packet, const Route& route);

// The packet, or nothing where there is none, where the capture does not hold all of it, where a header is malformed or
// the ICRC is wrong: a channel adapter drops those silently (9.6).
[[nodiscard]] std::optional<TransportPacket> from_packet(const dissect::Packet& packet);

}  // namespace qps::transport
