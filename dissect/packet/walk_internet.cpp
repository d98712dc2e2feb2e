// The walk over IPv4, IPv6 and UDP, down to port 4791 or what the user says, to Ultra Ethernet, ICMP and tunnels, and
// over TCP's header.
#include <dissect/base/walk.hpp>
#include <dissect/headers/grid_ftp.hpp>
#include <dissect/headers/internet.hpp>
#include <dissect/headers/roce_ports.hpp>
#include <dissect/headers/segment_routing.hpp>
#include <dissect/ultra_ethernet/native.hpp>
#include <dissect/ultra_ethernet/ultra_ethernet.hpp>

#include <algorithm>

namespace qps::dissect {

namespace {

constexpr std::size_t kIpv4Length = 20;
constexpr std::size_t kIpv6Length = 40;
constexpr std::size_t kUdpLength = 8;
constexpr std::size_t kTcpLength = 20;

// A length field contradicts the packet: nothing that follows from it can be relied on.
void distrust_length(Walk& walk) {
    if (walk.doubt != CrcReason::none) return;
    walk.doubt = CrcReason::bad_length;
    mark(walk.packet, Fault::bad_length);
}

// Ends the datagram at `end`. An end beyond the IP datagram around it is a lie.
void narrow(Walk& walk, std::size_t end) {
    if (end <= walk.end) walk.end = end;
    else distrust_length(walk);
}

// Whether UDP follows, at the walk's place, and says another length than the IP header does, which ends it at `end`.
bool udp_contradicts(const Walk& walk, IpProtocol next, std::size_t end) {
    constexpr std::size_t kLengthAt = 4;
    const Bytes udp = walk.header();
    return next == IpProtocol::udp && udp.size() >= kUdpLength && walk.left() >= kUdpLength &&
           read_be<std::uint16_t>(udp, kLengthAt) != end - walk.offset;
}

// The IP header ends the datagram at `end`. Beyond what encloses it: who mirrors frames and cuts them leaves their
// lengths as they were, so that IP and UDP agree on more than there is. Where a mirror does not say so, lengths that
// contradict each other are a lie.
void end_datagram(Walk& walk, std::size_t end, IpProtocol next, bool fragment) {
    if (end <= walk.end) [[likely]]
        walk.end = end;
    else if (walk.truncated || fragment || !udp_contradicts(walk, next, end)) lengthen(walk, end);
    else distrust_length(walk);
}

// Another version than the one announced: what follows is anybody's guess.
void refuse_version(const Walk& walk) {
    mark(walk.packet, Fault::bad_version);
    add_data(walk);
}

void walk_udp(Walk& walk, std::uint8_t network_layer) {
    const std::size_t start = walk.offset;
    const Bytes header = enter(walk, LayerKind::udp, kUdpLength);
    if (header.empty()) return;
    const auto length = read_be<std::uint16_t>(header, 4);
    const auto port = read_be<std::uint16_t>(header, 2);
    if (port == kUltraPort && (length == 0 || length >= kUdpLength) &&
        walk_ultra_ethernet(walk, length == 0 ? walk.end : start + length, read_be<std::uint16_t>(header, 0)))
        return;
    // Nothing in it, as IP says too: who looks for open ports sends such, and the port alone makes no RDMA of it.
    if (length == kUdpLength && walk.end == start + kUdpLength) return add_data(walk);
    if (length >= kUdpLength && walk.doubt == CrcReason::fragment && start + length > walk.end) {
        lengthen(walk, start + length);  // of the whole datagram, which goes on in other fragments
    } else if (length >= kUdpLength) {
        narrow(walk, start + length);
    } else if (length != 0) {  // zero: a jumbogram or an offloading sender
        distrust_length(walk);
    }
    switch (port) {
        case kRocePort: return walk_transport(walk, Encapsulation::roce_v2, network_layer);
        case kVxlanPort: return walk_vxlan(walk);
        case kGenevePort: return walk_geneve(walk);
        default:
            return is_roce_port(port) ? walk_transport(walk, Encapsulation::roce_v2, network_layer) : add_data(walk);
    }
}

void walk_tcp(Walk& walk) {
    const std::size_t length = std::size_t{read_be<std::uint8_t>(walk.header(), 12)} / 16 * 4;
    const Bytes header = enter(walk, LayerKind::tcp, std::max(length, kTcpLength));
    if (header.empty()) return;
    if (length < kTcpLength) return mark(walk.packet, Fault::bad_length);
    if (read_be<std::uint16_t>(header, 0) == kGridFtpPort || read_be<std::uint16_t>(header, 2) == kGridFtpPort) {
        const std::size_t line = grid_ftp_line(walk.header().first(std::min(walk.header().size(), walk.left())));
        if (line != 0 && enter(walk, kind::grid_ftp, line).empty()) return;
    }
    add_data(walk);
}

// ICMP is of the IP that it is about: in the other it is nobody's (RFC 8200 and 4443 have no protocol 1, RFC 792 no
// 58).
void walk_payload(Walk& walk, IpProtocol protocol, std::uint8_t network_layer) {
    const bool version_6 = walk.packet.layer_storage[network_layer].kind == LayerKind::ipv6;
    switch (protocol) {
        case IpProtocol::icmp: return version_6 ? add_data(walk) : walk_icmp(walk);
        case IpProtocol::icmpv6: return version_6 ? walk_icmpv6(walk) : add_data(walk);
        case IpProtocol::udp: return walk_udp(walk, network_layer);
        case IpProtocol::tcp: return walk_tcp(walk);
        case IpProtocol::gre: return walk_gre(walk);
        case IpProtocol::mpls: return walk_mpls(walk);
        case IpProtocol::ipv4: return walk_ipv4(walk);
        case IpProtocol::ipv6: return walk_ipv6(walk);
        default:
            if (!is_uet_protocol(static_cast<std::uint8_t>(protocol)) || !walk_native_ultra_ethernet(walk))
                add_data(walk);
    }
}

// Notes that the packet is a fragment; whether it is not the first, so that what follows is the middle of something.
bool is_later_fragment(Walk& walk, bool more, std::uint16_t offset) {
    if (!more && offset == 0) return false;
    mark(walk.packet, Fault::fragment);
    walk.doubt = CrcReason::fragment;
    return offset != 0;
}

// A routing header of that length: the path of SRv6 where its list fits, else one of whatever type. Its bytes.
Bytes enter_routing(Walk& walk, std::size_t length) {
    const Bytes routing = slice(walk.header(), 0, length);
    const std::size_t end = segments_end(routing, length);
    if (end == 0) {
        const Bytes entered = enter(walk, LayerKind::ipv6_routing, length);
        if (!entered.empty() && read_be<std::uint8_t>(entered, 2) == kSegmentRoutingType)
            mark(walk.packet, Fault::bad_length);
        return entered;
    }
    const Bytes segments = enter(walk, kind::segment_routing, end);
    if (segments.empty() || end == length) return segments;
    return enter(walk, kind::segment_routing_tlvs, length - end).empty() ? Bytes{} : segments;
}

void walk_ipv6_extensions(Walk& walk, IpProtocol next, std::uint8_t network_layer) {
    constexpr std::size_t kFragmentLength = 8;
    constexpr std::uint16_t kMore = 1;
    constexpr std::uint16_t kOffset = 0xfff8;
    for (;;) {
        LayerKind kind{};
        std::size_t length = (std::size_t{read_be<std::uint8_t>(walk.header(), 1)} + 1) * 8;
        switch (next) {
            case IpProtocol::hop_by_hop: kind = LayerKind::ipv6_hop_by_hop; break;
            case IpProtocol::routing: kind = LayerKind::ipv6_routing; break;
            case IpProtocol::destination: kind = LayerKind::ipv6_destination; break;
            case IpProtocol::fragment:
                kind = LayerKind::ipv6_fragment;
                length = kFragmentLength;
                break;
            default: return walk_payload(walk, next, network_layer);
        }
        const Bytes header = next == IpProtocol::routing ? enter_routing(walk, length) : enter(walk, kind, length);
        if (header.empty()) return;
        if (next == IpProtocol::fragment) {  // an atomic fragment (RFC 6946) is whole
            const auto fragment = read_be<std::uint16_t>(header, 2);
            if (is_later_fragment(walk, (fragment & kMore) != 0, fragment & kOffset)) return add_data(walk);
        }
        next = static_cast<IpProtocol>(header[0]);
    }
}

}  // namespace

void walk_ipv4(Walk& walk) {
    const std::uint8_t network_layer = walk.packet.layer_count;
    const std::size_t start = walk.offset;
    const std::size_t length = std::size_t{read_be<std::uint8_t>(walk.header(), 0) & 15U} * 4;
    const Bytes header = enter(walk, LayerKind::ipv4, std::max(length, kIpv4Length));
    if (header.empty()) return;
    if ((header[0] >> 4) != std::byte{4}) return refuse_version(walk);
    if (length < kIpv4Length) {
        mark(walk.packet, Fault::bad_length);
        return add_data(walk);
    }
    constexpr std::uint16_t kMoreFragments = 0x2000;
    constexpr std::uint16_t kOffset = 0x1fff;
    const auto fragment = read_be<std::uint16_t>(header, 6);
    const auto total = read_be<std::uint16_t>(header, 2);
    if (total >= length) {
        end_datagram(walk, start + total, static_cast<IpProtocol>(header[9]),
                     (fragment & (kMoreFragments | kOffset)) != 0);
    } else if (total != 0) {  // zero: an offloading sender leaves it out
        distrust_length(walk);
    }
    if (is_later_fragment(walk, (fragment & kMoreFragments) != 0, fragment & kOffset)) return add_data(walk);
    walk_payload(walk, static_cast<IpProtocol>(header[9]), network_layer);
}

void walk_ipv6(Walk& walk) {
    const std::uint8_t network_layer = walk.packet.layer_count;
    const Bytes header = enter(walk, LayerKind::ipv6, kIpv6Length);
    if (header.empty()) return;
    if ((header[0] >> 4) != std::byte{6}) return refuse_version(walk);
    if (const auto length = read_be<std::uint16_t>(header, 4); length != 0)  // zero: a jumbogram (RFC 2675)
        end_datagram(walk, walk.offset + length, static_cast<IpProtocol>(header[6]), false);
    walk_ipv6_extensions(walk, static_cast<IpProtocol>(header[6]), network_layer);
}

void walk_ip(Walk& walk) {
    const Bytes header = walk.header();
    switch (read_be<std::uint8_t>(header, 0) >> 4) {
        case 4: return walk_ipv4(walk);
        case 6: return walk_ipv6(walk);
        default:
            add_data(walk);
            if (!header.empty()) mark(walk.packet, Fault::bad_version);
    }
}

}  // namespace qps::dissect
