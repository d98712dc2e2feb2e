// Host: an address on a wire: what an operating system does for a network adapter below RDMA, sans I/O.
//
//   Host host({.mac = Mac{0x020000000001}, .addresses = {{ipv4_address(0xc0000201), 24}}}, now);
//   const HostArrival arrived = host.process(frame, now);                        // ARP, ping, ... is answered; RoCE is
//   handed on if (host.complete(route, 0, now) == Reach::ready) write_frame(...);      // next hop, MAC addresses, VLAN
//   tag while (const auto length = host.poll(now, device.reserve(now))) device.commit(length, now);
//
// It knows ARP, neighbour discovery, ping, IGMP and MLD, and which frames are for us. The address may be the operating
// system's on the same interface (AddressOwner::system): then that answers, and we only ask and learn.
//
// Everything that arrives is a stranger's. What is not right or not for us is counted and forgotten; answers wait in a
// queue of kMaxQueued frames, and what does not fit is not said; what a stranger can make us believe is written in
// neighbours.hpp.
#pragma once

#include <transport-replay/live/host/memberships.hpp>
#include <transport-replay/live/host/messages.hpp>
#include <transport-replay/live/host/neighbours.hpp>
#include <transport-replay/live/host/own_addresses.hpp>

#include <array>
#include <deque>
#include <string_view>

namespace qps::transport::live {

inline constexpr std::size_t kMaxQueued = 64;  // frames of our own that wait: a batch of a device

// Who answers for our addresses.
enum class AddressOwner : std::uint8_t {
    us,      // nobody else does: the host probes, announces, answers
    system,  // the operating system has them on that interface: we ask and learn
    device,  // the device finds the way by IP addresses (a UDP socket): nothing is asked or answered
};

struct AddressSetting {
    Address address;
    std::uint8_t prefix = 0;
};

struct HostSettings {
    Mac mac{};
    std::vector<AddressSetting> addresses{};
    std::optional<Address> gateway_ipv4{};
    std::optional<Address> gateway_ipv6{};
    std::size_t mtu = 1500;               // of the interface: the longest IP packet
    std::optional<std::uint16_t> vlan{};  // VLAN identifier, 1 to 4094; frames of others are not for us
    AddressOwner owner = AddressOwner::us;
    bool link_local = true;  // fe80:: out of the MAC address too; the system's addresses are those it has
    bool detect_duplicates = true;
};

// What became of a frame. From not_to_our_mac on: nothing.
enum class FrameDisposition : std::uint8_t {
    roce,      // handed on
    consumed,  // the host's own business
    not_to_our_mac,
    other_vlan,
    not_to_our_address,
    unreadable,      // cut, malformed, a fragment, in a tunnel
    not_understood,  // for us, and nothing we speak
};
inline constexpr std::array<std::string_view, 7> kFrameDispositions{
    "roce", "consumed", "not_to_our_mac", "other_vlan", "not_to_our_address", "unreadable", "not_understood",
};

struct HostArrival {
    FrameDisposition disposition = FrameDisposition::unreadable;
    // Of RoCE: the decoded packet, borrowed until the next process(), and how it came.
    const dissect::Packet* packet = nullptr;
    Address source{};
    Address destination{};
    Mac source_mac{};
    Ecn ecn = Ecn::not_capable;
    std::uint8_t hops = 0;
};

enum class Reach : std::uint8_t {
    ready,
    resolving,    // asked for: try again
    unreachable,  // nobody answers
    no_source,    // no address of ours is of that family and ready
    no_gateway,   // not on the link, and no gateway is known
    no_such,      // an address that nobody can have: unspecified, a broadcast, native InfiniBand
};
inline constexpr std::array<std::string_view, 6> kReaches{"ready",     "resolving",  "unreachable",
                                                          "no_source", "no_gateway", "no_such"};

struct HostCounts {
    std::array<std::uint64_t, kFrameDispositions.size()> frames{};  // by disposition
    std::uint64_t answered = 0;                                     // ARP requests and solicitations for us
    std::uint64_t echoed = 0;                                       // pings
    std::uint64_t unreachable = 0;  // somebody reported that what we sent did not arrive
    std::uint64_t conflicts = 0;    // another claimed an address of ours
    std::uint64_t dropped = 0;      // own frames that found the queue full, or no room
};

struct Gid {
    Address address;  // in the space of its network
    dissect::Network network = dissect::Network::roce_v2_ipv6;
};

class Host {
public:
    // Addresses that are none (groups, loopback, too many) are left out: addresses() has what there is.
    Host(const HostSettings& settings, dissect::Instant now);

    // One frame from the wire.
    HostArrival process(dissect::Bytes frame, dissect::Instant now);

    // Completes a route of which the caller knows network, destination and how packets are to travel: source (where
    // none is set), both MAC addresses, the tag with that priority (0..7), the identification. Only a ready one may be
    // used.
    [[nodiscard]] Reach complete(Route& route, std::uint8_t priority, dissect::Instant now);

    // Writes the next frame of the host's own; 0 where there is none. What does not fit into `into` is dropped.
    [[nodiscard]] std::size_t poll(dissect::Instant now, dissect::MutableBytes into);
    // When poll() has something; the lowest instant: now.
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const;

    // Multicast groups of unreliable datagrams. False: not a group, or too many.
    bool join(const Address& group, dissect::Instant now) { return memberships_.join(group, now); }
    void leave(const Address& group, dissect::Instant now) { memberships_.leave(group, now); }
    // What the interface must let through besides our own.
    [[nodiscard]] std::vector<Mac> group_macs() const { return memberships_.macs(); }

    [[nodiscard]] Mac mac() const { return settings_.mac; }
    [[nodiscard]] std::span<const OwnAddress> addresses() const { return own_.all(); }
    // Whether every address is ready or known to be another's.
    [[nodiscard]] bool settled() const;
    // In the order in which adapters list them: the link-local one of the MAC address first, which RoCEv1 has always;
    // each for RoCEv1 and RoCEv2.
    [[nodiscard]] std::vector<Gid> gids() const;
    [[nodiscard]] std::optional<PathMtu> path_mtu() const { return path_mtu_of(settings_.mtu); }
    [[nodiscard]] const HostCounts& counts() const { return counts_; }
    [[nodiscard]] const Neighbours& neighbours() const { return neighbours_; }

private:
    HostArrival classify(dissect::Instant now);
    HostArrival take_roce();
    HostArrival take_datagram(dissect::Instant now);
    FrameDisposition take_arp(const ArpMessage& message, dissect::Instant now);
    FrameDisposition take_neighbour(const IpDatagram& datagram, const NeighbourMessage& message, dissect::Instant now);
    FrameDisposition take_echo(const IpDatagram& datagram);
    [[nodiscard]] bool believable(const Address& address, Mac mac) const;
    [[nodiscard]] bool to_us(const Address& destination, bool roce_v1) const;
    [[nodiscard]] std::optional<std::uint16_t> tag(std::uint8_t priority) const;
    [[nodiscard]] LinkEnds link_to(Mac destination) const { return {settings_.mac, destination, tag(0)}; }
    [[nodiscard]] Reach next_hop(Route& route, dissect::Instant now);
    void queue(FrameBytes frame);
    void collect(dissect::Instant now);
    void announce(const Announcement& announcement);
    void ask(const Question& question);
    void report(const GroupReport& report);

    HostSettings settings_;
    OwnAddresses own_;
    Neighbours neighbours_;
    Memberships memberships_;
    std::deque<FrameBytes> queue_;
    HostCounts counts_;
    std::uint16_t identification_ = 0;
    dissect::Packet packet_;  // of the frame being processed
    Mac frame_source_{};
    Mac frame_destination_{};
};

}  // namespace qps::transport::live
