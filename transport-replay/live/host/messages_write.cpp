// Frames out of messages.
#include <transport-replay/evidence/internet_checksum.hpp>
#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/host/messages.hpp>

#include <algorithm>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::uint8_t kOwnHops = 1;          // IGMP and MLD never leave the link
constexpr std::uint8_t kNeighbourHops = 255;  // RFC 4861, 7.1: proves that no router passed it on
constexpr std::uint8_t kEchoHops = 64;

// Bytes that grow by headers of known length.
template <std::size_t N> std::span<std::byte, N> append(FrameBytes& frame) {
    frame.resize(frame.size() + N);
    return std::span<std::byte, N>(frame.data() + frame.size() - N, N);
}

FrameBytes link_header(const LinkEnds& link, std::uint64_t type) {
    FrameBytes frame;
    const auto ethernet = append<kEthernetLength>(frame);
    put<place(kEthernetFields, "eth.dst")>(ethernet, std::to_underlying(link.destination));
    put<place(kEthernetFields, "eth.src")>(ethernet, std::to_underlying(link.source));
    put<place(kEthernetFields, "eth.type")>(ethernet, link.vlan ? number_of(kEtherTypes, "VLAN") : type);
    if (!link.vlan) return frame;
    const auto tag = append<kVlanLength>(frame);
    put<place(kVlanFields, "vlan.priority")>(tag, *link.vlan >> 13U);
    put<place(kVlanFields, "vlan.dei")>(tag, *link.vlan >> 12U);
    put<place(kVlanFields, "vlan.id")>(tag, *link.vlan);
    put<place(kVlanFields, "vlan.etype")>(tag, type);
    return frame;
}

FrameBytes padded(FrameBytes frame) {
    frame.resize(std::max(frame.size(), kShortestFrame));
    return frame;
}

struct IpShape {
    std::uint64_t protocol = 0;
    std::uint8_t hops = 0;
    bool router_alert = false;
};

void append_ipv4(FrameBytes& frame, const DatagramEnds& ends, const IpShape& shape, std::size_t payload) {
    const std::size_t start = frame.size();
    const std::size_t options = shape.router_alert ? kIpv4RouterAlert.size() : 0;
    const auto ip = append<kIpv4Length>(frame);
    put<place(kIpv4Fields, "ip.version")>(ip, 4);
    put<place(kIpv4Fields, "ip.hdr_len")>(ip, kIpv4Length + options);
    put<place(kIpv4Fields, "ip.len")>(ip, kIpv4Length + options + payload);
    put<place(kIpv4Fields, "ip.flags.df")>(ip, 1);
    put<place(kIpv4Fields, "ip.ttl")>(ip, shape.hops);
    put<place(kIpv4Fields, "ip.proto")>(ip, shape.protocol);
    put<place(kIpv4Fields, "ip.src")>(ip, ipv4_bits(ends.source));
    put<place(kIpv4Fields, "ip.dst")>(ip, ipv4_bits(ends.destination));
    if (shape.router_alert) frame.insert(frame.end(), kIpv4RouterAlert.begin(), kIpv4RouterAlert.end());
    const std::uint16_t checksum = checksum_of(word_sum(Bytes(frame).subspan(start)));
    put<place(kIpv4Fields, "ip.checksum")>(std::span<std::byte, kIpv4Length>(frame.data() + start, kIpv4Length),
                                           checksum);
}

void append_ipv6(FrameBytes& frame, const DatagramEnds& ends, const IpShape& shape, std::size_t payload) {
    constexpr std::size_t kHopByHop = 2;
    const std::size_t extension = shape.router_alert ? kHopByHop + kIpv6RouterAlert.size() : 0;
    const auto ip = append<kIpv6Length>(frame);
    put<place(kIpv6Fields, "ipv6.version")>(ip, 6);
    put<place(kIpv6Fields, "ipv6.plen")>(ip, extension + payload);
    put<place(kIpv6Fields, "ipv6.nxt")>(
        ip, shape.router_alert ? std::to_underlying(IpProtocol::hop_by_hop) : shape.protocol);
    put<place(kIpv6Fields, "ipv6.hlim")>(ip, shape.hops);
    put_wide<place(kIpv6Fields, "ipv6.src")>(ip, ends.source.bits);
    put_wide<place(kIpv6Fields, "ipv6.dst")>(ip, ends.destination.bits);
    if (!shape.router_alert) return;
    const auto options = append<kHopByHop>(frame);
    put<place(kHopByHopFields, "ipv6.hopopts.nxt")>(options, shape.protocol);
    put<place(kHopByHopFields, "ipv6.hopopts.len")>(options, extension / 8 - 1);
    frame.insert(frame.end(), kIpv6RouterAlert.begin(), kIpv6RouterAlert.end());
}

FrameBytes ip_frame(const LinkEnds& link, const DatagramEnds& ends, const IpShape& shape, Bytes payload) {
    const bool ipv4 = family_of(ends.destination) == Family::ipv4;
    FrameBytes frame = link_header(link, ipv4 ? number_of(kEtherTypes, "IPv4") : number_of(kEtherTypes, "IPv6"));
    if (ipv4) append_ipv4(frame, ends, shape, payload.size());
    else append_ipv6(frame, ends, shape, payload.size());
    frame.insert(frame.end(), payload.begin(), payload.end());
    return padded(std::move(frame));
}

// The checksum of a message whose own is still zero; ICMPv6 covers the addresses too (RFC 8200, 8.1).
void seal(FrameBytes& message, const DatagramEnds& ends) {
    const bool ipv4 = family_of(ends.destination) == Family::ipv4;
    const std::uint64_t before = ipv4 ? 0 : pseudo_header_sum(ends, message.size());
    put<place(kIcmpFields, "icmp.checksum")>(std::span<std::byte, kIcmpLength>(message.data(), kIcmpLength),
                                             checksum_of(word_sum(message, before)));
}

}  // namespace

std::uint64_t pseudo_header_sum(const DatagramEnds& ends, std::size_t length) {
    std::uint64_t sum = length + std::to_underlying(IpProtocol::icmpv6);
    for (const std::uint64_t word :
         {ends.source.bits[0], ends.source.bits[1], ends.destination.bits[0], ends.destination.bits[1]})
        for (unsigned shift = 0; shift < 64; shift += 16) sum += word >> shift & 0xffff;
    return sum;
}

FrameBytes arp_frame(const LinkEnds& link, const ArpMessage& message) {
    constexpr std::uint64_t kEthernetHardware = 1;  // RFC 826
    FrameBytes frame = link_header(link, number_of(kEtherTypes, "ARP"));
    const auto arp = append<kArpLength>(frame);
    put<place(kArpFields, "arp.hw.type")>(arp, kEthernetHardware);
    put<place(kArpFields, "arp.proto.type")>(arp, number_of(kEtherTypes, "IPv4"));
    put<place(kArpFields, "arp.hw.size")>(arp, place(kArpFields, "arp.src.hw_mac").width / 8);
    put<place(kArpFields, "arp.proto.size")>(arp, place(kArpFields, "arp.src.proto_ipv4").width / 8);
    put<place(kArpFields, "arp.opcode")>(arp, std::to_underlying(message.operation));
    put<place(kArpFields, "arp.src.hw_mac")>(arp, std::to_underlying(message.sender_mac));
    put<place(kArpFields, "arp.src.proto_ipv4")>(arp, ipv4_bits(message.sender));
    put<place(kArpFields, "arp.dst.hw_mac")>(arp, std::to_underlying(message.target_mac));
    put<place(kArpFields, "arp.dst.proto_ipv4")>(arp, ipv4_bits(message.target));
    return padded(std::move(frame));
}

FrameBytes neighbour_frame(const LinkEnds& link, const DatagramEnds& ends, const NeighbourMessage& message) {
    const bool solicitation = message.type == Icmpv6Type::neighbour_solicitation;
    FrameBytes body;
    const auto fixed = append<kNeighbourLength>(body);
    put<place(kNeighbourFields, "icmpv6.type")>(fixed, std::to_underlying(message.type));
    put<place(kNeighbourFields, "icmpv6.nd.na.flag.s")>(fixed, message.solicited ? 1 : 0);
    put<place(kNeighbourFields, "icmpv6.nd.na.flag.o")>(fixed, message.overrides ? 1 : 0);
    put_wide<place(kNeighbourFields, "icmpv6.nd.target")>(fixed, message.target.bits);
    if (message.mac) {
        const auto option = append<kMacOptionLength>(body);
        put<place(kMacOptionFields, "icmpv6.opt.type")>(
            option, std::to_underlying(solicitation ? NeighbourOption::source_mac : NeighbourOption::target_mac));
        put<place(kMacOptionFields, "icmpv6.opt.length")>(option, kMacOptionLength);
        put<place(kMacOptionFields, "icmpv6.opt.linkaddr")>(option, std::to_underlying(*message.mac));
    }
    seal(body, ends);
    return ip_frame(link, ends, {std::to_underlying(IpProtocol::icmpv6), kNeighbourHops}, body);
}

FrameBytes echo_reply_frame(const LinkEnds& link, const DatagramEnds& ends, Bytes request) {
    FrameBytes body(request.begin(), request.end());
    if (body.size() < kIcmpLength) return {};
    const bool ipv4 = family_of(ends.destination) == Family::ipv4;
    const std::span<std::byte, kIcmpLength> fixed(body.data(), kIcmpLength);
    put<place(kIcmpFields, "icmp.type")>(
        fixed, ipv4 ? std::to_underlying(IcmpType::echo_reply) : std::to_underlying(Icmpv6Type::echo_reply));
    put<place(kIcmpFields, "icmp.checksum")>(fixed, 0);
    seal(body, ends);
    return ip_frame(link, ends, {ipv4 ? kIcmpProtocol : std::to_underlying(IpProtocol::icmpv6), kEchoHops}, body);
}

namespace {

FrameBytes igmp_body(const GroupReport& report) {
    FrameBytes body;
    if (report.version == QueryVersion::current) {
        const auto fixed = append<kReportLength>(body);
        put<place(kReportFields, "report.type")>(fixed, std::to_underlying(IgmpType::report_3));
        put<place(kReportFields, "report.records")>(fixed, 1);
        const auto record = append<kIgmpRecordLength>(body);
        put<place(kIgmpRecordFields, "record.type")>(record, std::to_underlying(report.record));
        put<place(kIgmpRecordFields, "record.group")>(record, ipv4_bits(report.group));
        return body;
    }
    const auto fixed = append<kIgmpLength>(body);
    const bool leaves = report.record == GroupRecord::to_include;
    put<place(kIgmpFields, "igmp.type")>(fixed, std::to_underlying(leaves ? IgmpType::leave_2 : IgmpType::report_2));
    put<place(kIgmpFields, "igmp.maddr")>(fixed, ipv4_bits(report.group));
    return body;
}

FrameBytes mld_body(const GroupReport& report) {
    FrameBytes body;
    if (report.version == QueryVersion::current) {
        const auto fixed = append<kReportLength>(body);
        put<place(kReportFields, "report.type")>(fixed, std::to_underlying(Icmpv6Type::mld2_report));
        put<place(kReportFields, "report.records")>(fixed, 1);
        const auto record = append<kMldRecordLength>(body);
        put<place(kMldRecordFields, "record.type")>(record, std::to_underlying(report.record));
        put_wide<place(kMldRecordFields, "record.group")>(record, report.group.bits);
        return body;
    }
    const auto fixed = append<kMldLength>(body);
    const bool leaves = report.record == GroupRecord::to_include;
    put<place(kMldFields, "mld.type")>(fixed,
                                       std::to_underlying(leaves ? Icmpv6Type::mld_done : Icmpv6Type::mld_report));
    put_wide<place(kMldFields, "mld.maddr")>(fixed, report.group.bits);
    return body;
}

// Who must hear it: routers, and of an older report the members of the group, which then need not report again.
Address audience(const GroupReport& report) {
    const bool ipv4 = family_of(report.group) == Family::ipv4;
    if (report.version == QueryVersion::current) return ipv4 ? kAllIgmpRouters4 : kAllMldRouters;
    if (report.record == GroupRecord::to_include) return ipv4 ? kAllRouters4 : kAllRouters;
    return report.group;
}

}  // namespace

FrameBytes report_frame(Mac source_mac, std::optional<std::uint16_t> vlan, const Address& source,
                        const GroupReport& report) {
    const bool ipv4 = family_of(report.group) == Family::ipv4;
    const DatagramEnds ends{source, audience(report)};
    FrameBytes body = ipv4 ? igmp_body(report) : mld_body(report);
    seal(body, ends);
    const std::uint8_t protocol = ipv4 ? kIgmpProtocol : std::to_underlying(IpProtocol::icmpv6);
    return ip_frame({source_mac, group_mac(ends.destination), vlan}, ends, {protocol, kOwnHops, true}, body);
}

}  // namespace qps::transport::live
