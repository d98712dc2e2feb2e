// Messages: what a host says besides RDMA, as values, and their frames: ARP, neighbour discovery, ICMP echo, IGMP, MLD.
//
// Writing makes whole Ethernet frames, padded; these are few, so they own their memory. Reading takes what decode()
// made of a frame and gives a value or nothing: lengths, checksums, hop limits and options are checked as the RFCs
// demand of a receiver, so what a value says was on the wire, though it may still be a lie.
#pragma once

#include <dissect/base/packet.hpp>
#include <transport-replay/live/host/addresses.hpp>
#include <transport-replay/live/host/headers.hpp>

#include <optional>
#include <vector>

namespace qps::transport::live {

using FrameBytes = std::vector<std::byte>;

// The ends of a frame on the link.
struct LinkEnds {
    Mac source{};
    Mac destination{};
    std::optional<std::uint16_t> vlan{};  // tag control information
};

enum class ArpOperation : std::uint16_t {
    request = number_of(dissect::kArpOpcodes, "REQUEST"),
    reply = number_of(dissect::kArpOpcodes, "REPLY"),
};

struct ArpMessage {
    ArpOperation operation = ArpOperation::request;
    Mac sender_mac{};
    Address sender;  // unspecified: a probe (RFC 5227)
    Mac target_mac{};
    Address target;
};

// A solicitation or an advertisement.
struct NeighbourMessage {
    Icmpv6Type type = Icmpv6Type::neighbour_solicitation;
    bool solicited = false;
    bool overrides = false;
    Address target;
    std::optional<Mac> mac{};  // of the sender (solicitation) or the target (advertisement)
};

struct DatagramEnds {
    Address source;
    Address destination;
};

// A datagram that lies directly in its frame, whole, headers gone.
struct IpDatagram {
    DatagramEnds ends;
    std::uint8_t protocol = 0;
    std::uint8_t hops = 0;
    dissect::Bytes payload;
};

enum class QueryVersion : std::uint8_t { older, current };  // IGMPv2 and MLDv1, IGMPv3 and MLDv2

struct GroupQuery {
    QueryVersion version = QueryVersion::current;
    Address group;  // unspecified: all groups
    dissect::Duration answer_within{};
};

struct GroupReport {
    QueryVersion version = QueryVersion::current;
    GroupRecord record = GroupRecord::is_exclude;
    Address group;
};

[[nodiscard]] FrameBytes arp_frame(const LinkEnds& link, const ArpMessage& message);
[[nodiscard]] FrameBytes neighbour_frame(const LinkEnds& link, const DatagramEnds& ends,
                                         const NeighbourMessage& message);
// The answer to what `request` holds: ends are those of the answer.
[[nodiscard]] FrameBytes echo_reply_frame(const LinkEnds& link, const DatagramEnds& ends, dissect::Bytes request);
// To the group that such reports go to; `source` of the family of the group, unspecified where there is none.
[[nodiscard]] FrameBytes report_frame(Mac source_mac, std::optional<std::uint16_t> vlan, const Address& source,
                                      const GroupReport& report);

[[nodiscard]] std::optional<ArpMessage> read_arp(const dissect::Packet& packet);
[[nodiscard]] std::optional<IpDatagram> read_datagram(const dissect::Packet& packet);
[[nodiscard]] std::optional<NeighbourMessage> read_neighbour(const IpDatagram& datagram);
// Whether it is a request for an echo that is right.
[[nodiscard]] bool is_echo_request(const IpDatagram& datagram);
// Whether somebody reports that something of ours did not arrive; not verified any further.
[[nodiscard]] bool is_unreachable(const IpDatagram& datagram);
[[nodiscard]] std::optional<GroupQuery> read_query(const IpDatagram& datagram);

// What the checksum of ICMPv6 covers besides the message (RFC 8200, 8.1).
[[nodiscard]] std::uint64_t pseudo_header_sum(const DatagramEnds& ends, std::size_t length);

// The layer behind Ethernet and at most one VLAN tag, or nullptr: what lies deeper is not said to us.
[[nodiscard]] const dissect::Layer* first_behind_link(const dissect::Packet& packet);

}  // namespace qps::transport::live
