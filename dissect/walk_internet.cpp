// The walk over IPv4, IPv6 and UDP, down to port 4791, and over TCP's header.
#include <dissect/headers/internet.hpp>
#include <dissect/walk.hpp>

#include <utility>

namespace qps::dissect {

namespace {

constexpr std::size_t kIpv4Length = 20;
constexpr std::size_t kIpv6Length = 40;
constexpr std::size_t kUdpLength = 8;
constexpr std::size_t kTcpLength = 20;

// Ends the datagram after `length` bytes from here; a length beyond what encloses it is a lie that puts every
// statement about the end in doubt.
void narrow(Walk& walk, std::size_t length) {
    if (walk.offset + length <= walk.end) {
        walk.end = walk.offset + length;
        return;
    }
    if (walk.doubt != CrcReason::none) return;
    walk.doubt = CrcReason::bad_length;
    mark(walk.packet, Fault::bad_length);
}

void walk_udp(Walk walk, std::uint8_t network_layer) {
    if (!add_layer(walk, LayerKind::udp, kUdpLength)) return;
    const Bytes header = walk.header();
    const auto port = read_be<std::uint16_t>(header, 2);
    const auto length = read_be<std::uint16_t>(header, 4);
    if (length >= kUdpLength) {
        narrow(walk, length);
    } else if (length != 0) {  // zero: a jumbogram or an offloading sender
        mark(walk.packet, Fault::bad_length);
        walk.doubt = CrcReason::bad_length;
    }
    walk.skip(kUdpLength);
    switch (port) {
        case kRocePort: return walk_transport(walk, Encapsulation::roce_v2, network_layer);
        case kVxlanPort: return walk_vxlan(walk);
        case kGenevePort: return walk_geneve(walk);
        default: return add_data(walk);
    }
}

void walk_tcp(const Walk& walk) {
    const std::size_t length = static_cast<std::size_t>(read_be<std::uint8_t>(walk.header(), 12) >> 4) * 4;
    if (!add_layer(walk, LayerKind::tcp, length < kTcpLength ? kTcpLength : length)) return;
    if (length < kTcpLength) {
        mark(walk.packet, Fault::bad_length);
        return;
    }
    add_data(walk.past(length));
}

void walk_payload(const Walk& walk, IpProtocol protocol, std::uint8_t network_layer) {
    switch (protocol) {
        case IpProtocol::udp: return walk_udp(walk, network_layer);
        case IpProtocol::tcp: return walk_tcp(walk);
        case IpProtocol::gre: return walk_gre(walk);
        case IpProtocol::mpls: return walk_mpls(walk);
        case IpProtocol::ipv4:
        case IpProtocol::ipv6: return walk_ip(walk);
        default: return add_data(walk);
    }
}

void walk_ipv4(Walk walk) {
    const std::uint8_t network_layer = walk.packet.layer_count;
    const Bytes header = walk.header();
    const std::size_t length = static_cast<std::size_t>(read_be<std::uint8_t>(header, 0) & 15) * 4;
    if (!add_layer(walk, LayerKind::ipv4, length < kIpv4Length ? kIpv4Length : length)) return;
    if (length < kIpv4Length) {
        mark(walk.packet, Fault::bad_length);
        return add_data(walk.past(kIpv4Length));
    }
    const auto total = read_be<std::uint16_t>(header, 2);
    if (total >= length) {
        narrow(walk, total);
    } else if (total != 0) {  // zero: an offloading sender leaves it out
        walk.doubt = CrcReason::bad_length;
        mark(walk.packet, Fault::bad_length);
    }
    constexpr std::uint16_t kMoreFragments = 0x2000;
    constexpr std::uint16_t kOffset = 0x1fff;
    const auto fragment = read_be<std::uint16_t>(header, 6);
    if ((fragment & (kMoreFragments | kOffset)) != 0) {
        mark(walk.packet, Fault::fragment);
        walk.doubt = CrcReason::fragment;
        if ((fragment & kOffset) != 0) return add_data(walk.past(length));
    }
    walk_payload(walk.past(length), static_cast<IpProtocol>(read_be<std::uint8_t>(header, 9)), network_layer);
}

void walk_ipv6_extensions(Walk walk, IpProtocol next, std::uint8_t network_layer) {
    for (;;) {
        const Bytes header = walk.header();
        LayerKind kind{};
        std::size_t length = (std::size_t{read_be<std::uint8_t>(header, 1)} + 1) * 8;
        switch (next) {
            case IpProtocol::hop_by_hop: kind = LayerKind::ipv6_hop_by_hop; break;
            case IpProtocol::routing: kind = LayerKind::ipv6_routing; break;
            case IpProtocol::destination: kind = LayerKind::ipv6_destination; break;
            case IpProtocol::fragment:
                kind = LayerKind::ipv6_fragment;
                length = 8;
                break;
            default: return walk_payload(walk, next, network_layer);
        }
        if (!add_layer(walk, kind, length)) return;
        if (next == IpProtocol::fragment) {
            const auto fragment = read_be<std::uint16_t>(header, 2);
            constexpr std::uint16_t kMore = 1;
            constexpr std::uint16_t kOffset = 0xfff8;
            if ((fragment & (kMore | kOffset)) != 0) {  // an atomic fragment (RFC 6946) is whole
                mark(walk.packet, Fault::fragment);
                walk.doubt = CrcReason::fragment;
                if ((fragment & kOffset) != 0) return add_data(walk.past(length));
            }
        }
        next = static_cast<IpProtocol>(read_be<std::uint8_t>(header, 0));
        walk.skip(length);
    }
}

void walk_ipv6(Walk walk) {
    const std::uint8_t network_layer = walk.packet.layer_count;
    const Bytes header = walk.header();
    if (!add_layer(walk, LayerKind::ipv6, kIpv6Length)) return;
    const auto length = read_be<std::uint16_t>(header, 4);
    const auto next = static_cast<IpProtocol>(read_be<std::uint8_t>(header, 6));
    if (length != 0) narrow(walk, kIpv6Length + length);  // zero: a jumbogram (RFC 2675)
    walk_ipv6_extensions(walk.past(kIpv6Length), next, network_layer);
}

}  // namespace

void walk_ip(Walk walk) {
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
