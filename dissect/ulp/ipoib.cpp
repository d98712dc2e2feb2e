// The walk over IPoIB: its header, then whatever carries that type elsewhere too.
//
// What an attacker could feed: RoCE in UDP in IPoIB. Its layers are shown, but what the packet says of its own
// transport stays.
#include <dissect/base/ethertypes.hpp>
#include <dissect/base/opcode.hpp>
#include <dissect/ulp/ipoib.hpp>
#include <dissect/ulp/ulp.hpp>
#include <dissect/ulp/walks.hpp>

#include <tuple>

namespace qps::dissect {

namespace {

constexpr std::size_t kIpv4Shortest = 20, kIpv6Header = 40;

bool is_ipv4(Bytes ip, std::uint64_t length) {
    const std::size_t words = read_be<std::uint8_t>(ip, 0) & 15U;
    const std::size_t header_length = words * 4;
    if (read_be<std::uint8_t>(ip, 0) >> 4 != 4 || header_length < kIpv4Shortest || ip.size() < header_length)
        return false;
    if (read_be<std::uint16_t>(ip, 2) != length) return false;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < header_length; i += 2) sum += read_be<std::uint16_t>(ip, i);
    sum = (sum >> 16) + (sum & 0xffff);
    return (sum >> 16) + (sum & 0xffff) == 0xffff;
}

bool is_ipv6(Bytes ip, std::uint64_t length) {
    return ip.size() >= kIpv6Header && read_be<std::uint8_t>(ip, 0) >> 4 == 6 &&
           read_be<std::uint16_t>(ip, 4) + kIpv6Header == length;
}

bool is_arp(Bytes arp) {
    constexpr std::uint32_t kTwentyAndFour = 0x0800'1404;  // IPv4, 20 bytes of hardware and 4 of protocol address
    return arp.size() >= kIpoibArp && read_be<std::uint16_t>(arp, 0) == kArpInfiniband &&
           read_be<std::uint32_t>(arp, 2) == kTwentyAndFour;
}

}  // namespace

bool is_ipoib(Bytes message, std::uint64_t length) {
    if (message.size() < kIpoibHeader || length < kIpoibHeader || read_be<std::uint16_t>(message, 2) != 0) return false;
    const Bytes inside = slice(message, kIpoibHeader);
    switch (read_be<std::uint16_t>(message, 0)) {
        case ethertype::ipv4: return is_ipv4(inside, length - kIpoibHeader);
        case ethertype::ipv6: return is_ipv6(inside, length - kIpoibHeader);
        case ethertype::arp: return is_arp(inside);
        default: return false;
    }
}

namespace ulp {

void walk_ipoib(Walk& walk, const UlpHint&) {
    const Bytes header = enter(walk, kind::ipoib_header, kIpoibHeader);
    if (header.empty()) return;
    const auto type = read_be<std::uint16_t>(header, 0);
    if (type == ethertype::arp && is_arp(walk.header())) {
        static_cast<void>(enter(walk, kind::ipoib_arp, kIpoibArp));
        return add_data(walk);
    }
    Packet& packet = walk.packet;
    const auto transport =
        std::tuple(packet.encapsulation, packet.opcode, packet.dest_qp, packet.psn, packet.ack_request);
    const auto place = std::tuple(packet.network_layer, packet.bth_layer, packet.payload, packet.icrc, packet.vcrc);
    walk_ethertype(walk, type);
    std::tie(packet.encapsulation, packet.opcode, packet.dest_qp, packet.psn, packet.ack_request) = transport;
    std::tie(packet.network_layer, packet.bth_layer, packet.payload, packet.icrc, packet.vcrc) = place;
}

void add_ipoib(Packet& packet) {
    if (packet.encapsulation != Encapsulation::native || !packet.has_transport()) return;
    const OpcodeRow& row = info(packet.opcode);
    if (row.verb != Verb::send || row.place != Place::only || !is_ipoib(packet.payload_bytes(), packet.payload.length))
        return;
    add_ulp_layers(packet, {.protocol = UlpProtocol::ipoib});
}

void walk_ipoib_private(Walk& walk, const UlpHint&, LayerKind) {
    if (walk.left() >= kIpoibConnect) static_cast<void>(enter(walk, kind::ipoib_connect, kIpoibConnect));
}

}  // namespace ulp

}  // namespace qps::dissect
