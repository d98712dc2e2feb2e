// decode(): one frame into one packet, from the link type on.
#include <dissect/base/walk.hpp>
#include <dissect/ulp/ipoib.hpp>

#include <algorithm>

namespace qps::dissect {

namespace {

constexpr std::size_t kCookedLength = 16;
constexpr std::size_t kCooked2Length = 20;
constexpr std::size_t kNullLength = 4;

void walk_cooked(Walk& walk) {
    const Bytes header = enter(walk, LayerKind::linux_cooked, kCookedLength);
    if (!header.empty()) walk_ethertype(walk, read_be<std::uint16_t>(header, 14));
}

void walk_cooked_v2(Walk& walk) {
    const Bytes header = enter(walk, LayerKind::linux_cooked_v2, kCooked2Length);
    if (!header.empty()) walk_ethertype(walk, read_be<std::uint16_t>(header, 0));
}

void walk_null(Walk& walk) {
    if (!enter(walk, LayerKind::null_loopback, kNullLength).empty()) walk_ip(walk);
}

void reset(Packet& packet) {
    packet.layer_count = 0;
    packet.encapsulation = Encapsulation::none;
    packet.opcode = Opcode{};
    packet.dest_qp = Qpn{};
    packet.psn = Psn{};
    packet.ack_request = false;
    packet.network_layer = kNoLayer;
    packet.bth_layer = kNoLayer;
    packet.payload = {};
    packet.icrc = {};
    packet.vcrc = {};
    packet.annotation = nullptr;
}

void walk_link(Walk& walk, LinkType link) {
    switch (link) {
        case LinkType::ethernet: return walk_ethernet(walk);
        case LinkType::raw_ip:
        case LinkType::ipv4:
        case LinkType::ipv6: return walk_ip(walk);
        case LinkType::linux_cooked: return walk_cooked(walk);
        case LinkType::linux_cooked_v2: return walk_cooked_v2(walk);
        case LinkType::null_loopback: return walk_null(walk);
        case LinkType::erf: walk_erf(walk); return ulp::add_ipoib(walk.packet);
        case LinkType::infiniband: walk_lrh(walk); return ulp::add_ipoib(walk.packet);
    }
    add_data(walk);
}

}  // namespace

void decode(const Frame& frame, Packet& packet) {
    packet.frame = frame;
    reset(packet);
    Walk walk{packet, 0, std::max<std::size_t>(frame.wire_length, frame.bytes.size())};
    add_layer(packet, LayerKind::frame, 0, 0, walk.end);
    walk_link(walk, frame.link);
    packet.frame.bytes = frame.bytes;  // of which the walk leaves out what follows a cut
}

}  // namespace qps::dissect
