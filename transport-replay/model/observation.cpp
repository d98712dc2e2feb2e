#include <dissect/headers/infiniband_link.hpp>
#include <dissect/headers/internet.hpp>
#include <dissect/headers/segment_routing.hpp>
#include <dissect/headers/tunnel.hpp>
#include <dissect/lldp/tlvs.hpp>
#include <dissect/ulp/fpdu.hpp>
#include <dissect/ultra_ethernet/native.hpp>
#include <dissect/ultra_ethernet/pds.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/observation_parts.hpp>
#include <transport-replay/model/uet_packet.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;
using namespace observing;

namespace {

constexpr Field kVni = named(kVxlanFields, "vxlan.vni");
static_assert(kVni.bit == named(kGeneveFields, "geneve.vni").bit &&
              kVni.width == named(kGeneveFields, "geneve.vni").width);
constexpr std::size_t kMacBytes = 6;
constexpr std::size_t kErfFlags = 9;
constexpr unsigned kErfPort = 3;     // erf.flags.cap
constexpr unsigned kBehindMac = 16;  // bits of a word of eight bytes that begins with a MAC address

// Of the Ethernet header right before a layer: a mirror's own headers are not the link that was paused.
Address link_source(const Packet& packet, const Layer& layer) {
    std::uint64_t source = 0;
    for (const Layer& each : packet.layers()) {
        if (&each == &layer) break;
        if (each.kind == LayerKind::ethernet)
            source = read_be<std::uint64_t>(packet.bytes_of(each), kMacBytes) >> kBehindMac;
    }
    return {{0, source}, AddressSpace::ethernet};
}

void take_link(const Packet& packet, const Layer& layer, Observation& observation) {
    switch (layer.kind) {
        case LayerKind::erf:
            observation.capture_port = read_be<std::uint8_t>(packet.bytes_of(layer), kErfFlags) & kErfPort;
            break;
        case LayerKind::lrh: observation.link_destination = read_be<std::uint64_t>(packet.bytes_of(layer), 0); break;
        case LayerKind::ethernet:
            observation.link_destination = read_be<std::uint64_t>(packet.bytes_of(layer), 0) >> kBehindMac;
            break;
        case LayerKind::vlan:
            if (layer.fault == Fault::none) {
                take_tag(read_be<std::uint16_t>(packet.bytes_of(layer), 0), observation);
                if (std::to_underlying(observation.network) < kIsVni) observation.network = NetworkId{observation.vlan};
            }
            break;
        case LayerKind::vxlan:
        case LayerKind::geneve:
            if (layer.fault == Fault::none && std::to_underlying(observation.network) < kIsVni)
                observation.network = network_of_vni(static_cast<std::uint32_t>(read(packet.bytes_of(layer), kVni)));
            break;
        case LayerKind::udp: observation.udp_source_port = read_be<std::uint16_t>(packet.bytes_of(layer), 0); break;
        case LayerKind::mac_pause:
        case LayerKind::mac_pfc:
            observation.kind = layer.kind == LayerKind::mac_pause ? ObservationKind::pause : ObservationKind::pfc;
            observation.payload = packet.bytes_of(layer);
            observation.flow.source = link_source(packet, layer);
            break;
        default:
            if (layer.kind == kind::uet_entropy)
                observation.udp_source_port = read_be<std::uint16_t>(packet.bytes_of(layer), 0);
            if (layer.kind != kind::flow_control) break;
            observation.kind = ObservationKind::credits;
            observation.payload = packet.bytes_of(layer);
    }
}

// Where the path of a segment routing header ends, which is the first of its segments (RFC 8754 2): the address in
// front of it is that of the next hop of the path.
void take_end_of_path(const Packet& packet, Address& destination) {
    for (const Layer& each : packet.layers().subspan(packet.network_layer + 1U)) {
        if (each.kind == LayerKind::udp) break;
        if (each.kind == kind::segment_routing && each.fault == Fault::none)
            destination = address_at(packet.bytes_of(each), kSegmentsAt, AddressSpace::roce_v2);
    }
}

void take_network(const Packet& packet, Observation& observation) {
    const Layer& layer = packet.layer_storage[packet.network_layer];
    const Bytes bytes = packet.bytes_of(layer);
    FlowKey& flow = observation.flow;
    flow.destination_qp = flow.source_qp = {};
    switch (layer.kind) {
        case LayerKind::ipv4: take_ipv4(bytes, observation); break;
        case LayerKind::ipv6:
        case LayerKind::grh: {
            const AddressSpace space = layer.kind == LayerKind::ipv6                    ? AddressSpace::roce_v2
                                       : packet.encapsulation == Encapsulation::roce_v1 ? AddressSpace::roce_v1
                                                                                        : AddressSpace::infiniband_gid;
            flow.source = address_at(bytes, 8, space);
            flow.destination = address_at(bytes, 24, space);
            if (layer.kind == LayerKind::ipv6) take_end_of_path(packet, flow.destination);
            take_traffic_class(bytes, layer.kind == LayerKind::ipv6, observation);
            break;
        }
        default:  // LRH
            flow.source = {{0, read_be<std::uint16_t>(bytes, 6)}, AddressSpace::infiniband_lid};
            flow.destination = {{0, read_be<std::uint16_t>(bytes, 2)}, AddressSpace::infiniband_lid};
    }
}

constexpr Field kSourcePort = named(kTcpFields, "tcp.srcport");
constexpr Field kDestinationPort = named(kTcpFields, "tcp.dstport");

// A TCP segment may carry iWARP: only who follows its connection knows. Both ways have the same hash.
void take_stream(const Packet& packet, Observation& observation) {
    const auto segment = mpa::tcp_segment(packet);
    if (!segment) return;
    const Layer& header = packet.layer_storage[segment->layer];
    observation.kind = ObservationKind::stream;
    observation.payload = slice(packet.frame.bytes, header.offset, header.length + segment->captured);
    observation.payload_length = segment->length;
    FlowKey& flow = observation.flow;
    flow.source_qp = static_cast<Qpn>(read(observation.payload, kSourcePort));
    flow.destination_qp = static_cast<Qpn>(read(observation.payload, kDestinationPort));
    const auto end = [](const Address& address, Qpn port) { return mix(hash_of(address) + std::to_underlying(port)); };
    observation.flow_hash = mix(end(flow.source, flow.source_qp) + end(flow.destination, flow.destination_qp));
    constexpr std::size_t kSequenceNumbers = 4;  // TCP's two
    const std::uint64_t what = std::uint64_t{observation.ip_id} << 48 |
                               std::uint64_t{std::to_underlying(flow.source_qp)} << 32 | segment->length;
    observation.packet_hash =
        mix(observation.flow_hash + mix(read_be<std::uint64_t>(observation.payload, kSequenceNumbers)) + 3 * mix(what));
}

// Behind UDP: its first header says whose it is, both ways alike.
void take_ultra_ethernet(const Packet& packet, const Layer& layer, Observation& observation) {
    constexpr std::size_t kUdpLength = 8, kHashed = 16;
    observation.kind = ObservationKind::ultra_ethernet;
    const Layer* udp = nullptr;
    for (const Layer& each : packet.layers()) {
        if (&each == &layer) break;
        if (each.kind == LayerKind::udp) udp = &each;
        if (each.kind != LayerKind::ipv4 && each.kind != LayerKind::ipv6) continue;
        const Bytes ip = packet.bytes_of(each);
        const auto service = each.kind == LayerKind::ipv4 ? read_be<std::uint8_t>(ip, 1)
                                                          : static_cast<std::uint8_t>(read_bits(ip, 4, 8));
        observation.dscp = service >> 2;
        observation.congestion_experienced = (service & 3) == kCongestionExperienced;
    }
    const Bytes bytes = slice(packet.frame.bytes, layer.offset);
    observation.payload = bytes;
    const bool trimmed = uet_computed::trimmed_bytes(packet, layer).has_value();
    if (trimmed) observation.fault = Fault::trimmed;
    const std::size_t said = udp == nullptr ? 0 : read_be<std::uint16_t>(packet.bytes_of(*udp), 4);
    const std::size_t wire = packet.frame.wire_bytes() - std::min<std::size_t>(packet.frame.wire_bytes(), layer.offset);
    const std::size_t length = said > kUdpLength ? said - kUdpLength : wire;
    std::uint64_t context = 0;
    if (const auto found = uet_packet(bytes)) {
        observation.flow.source_qp = Qpn{found->source};
        observation.flow.destination_qp = Qpn{found->destination};
        observation.psn = Psn(found->is_ack() ? found->answered : found->psn);
        observation.payload_length = trimmed ? 0 : uet_payload_length(*found, bytes, length);
        observation.ack_request = found->is_request();
        context = std::uint64_t{found->source} << 16 | found->destination;
    }
    const std::uint64_t source = hash_of(observation.flow.source), destination = hash_of(observation.flow.destination);
    observation.hosts_hash = static_cast<std::uint32_t>(source + destination);
    observation.flow_hash = mix(source + 3 * destination + context);
    const std::uint64_t what = std::uint64_t{observation.ip_id} << 48 |
                               std::uint64_t{observation.udp_source_port} << 32 | (length & UINT32_MAX);
    observation.packet_hash =
        mix(observation.flow_hash + mix(read_be<std::uint64_t>(bytes, 0)) + 3 * mix(what) +
            5 * mix(read_be<std::uint64_t>(slice(bytes, 0, kHashed), kHashed / 2)) + (trimmed ? 7 : 0));
}

// Not LLDP that passes bridges, nor that of another link in a tunnel.
bool is_of_this_link(const Packet& packet, const Observation& observation) {
    constexpr std::uint64_t kNearestBridge = 0x0180c200000e;
    constexpr std::size_t kBehindEthernet = 2;
    const std::span<const Layer> layers = packet.layers();
    return observation.link_destination == kNearestBridge && layers.size() > kBehindEthernet &&
           layers[1].kind == LayerKind::ethernet && is_of(layers[kBehindEthernet].kind, LayerFamily::lldp) &&
           layers[kBehindEthernet].kind != kind::cnm;
}

void take_bridging(const Packet& packet, Observation& observation) {
    const Layer& first = packet.layers()[2];
    observation.kind = ObservationKind::bridging;
    observation.payload = slice(packet.frame.bytes, first.offset);
    observation.flow.source = link_source(packet, first);
}

// ARP, or IP whose next header is ICMP: who is there, and who cannot be reached.
void take_about_hosts(const Packet& packet, const Layer& layer, std::uint8_t protocol, Observation& observation) {
    constexpr std::uint8_t kIcmp = 1, kIcmp6 = 58;
    const bool about = layer.kind == LayerKind::arp || (layer.kind == LayerKind::ipv4 && protocol == kIcmp) ||
                       (layer.kind == LayerKind::ipv6 && protocol == kIcmp6);
    if (!about) return;
    observation.about_hosts = true;
    observation.payload = slice(packet.frame.bytes, layer.offset);
}

// Of a packet that is no RDMA: who talks to whom, so that silence can be told from a tap that does not hear a host.
void take_hosts(const Packet& packet, Observation& observation) {
    if (is_of_this_link(packet, observation)) return take_bridging(packet, observation);
    for (const Layer& layer : packet.layers()) {
        if (is_of(layer.kind, LayerFamily::ultra_ethernet)) return take_ultra_ethernet(packet, layer, observation);
        if (layer.fault != Fault::none) continue;
        const Bytes bytes = packet.bytes_of(layer);
        if (layer.kind == LayerKind::ipv4) {
            observation.flow.source = {{0, kMapped | read_be<std::uint32_t>(bytes, 12)}, AddressSpace::roce_v2};
            observation.flow.destination = {{0, kMapped | read_be<std::uint32_t>(bytes, 16)}, AddressSpace::roce_v2};
            observation.dscp = read_be<std::uint8_t>(bytes, 1) >> 2;
            observation.hops = read_be<std::uint8_t>(bytes, 8);
            observation.ip_id = read_be<std::uint16_t>(bytes, 4);
            take_about_hosts(packet, layer, read_be<std::uint8_t>(bytes, 9), observation);
        } else if (layer.kind == LayerKind::ipv6) {
            observation.dscp = static_cast<std::uint8_t>(read_bits(bytes, 4, 8)) >> 2;
            observation.hops = read_be<std::uint8_t>(bytes, 7);
            observation.flow.source = address_at(bytes, 8, AddressSpace::roce_v2);
            observation.flow.destination = address_at(bytes, 24, AddressSpace::roce_v2);
            take_about_hosts(packet, layer, read_be<std::uint8_t>(bytes, 6), observation);
        } else if (layer.kind == LayerKind::arp) {
            take_about_hosts(packet, layer, 0, observation);
        } else if (layer.kind == LayerKind::tcp) {
            take_stream(packet, observation);
        }
    }
}

// Of a malformed packet no header says what it shares with a copy: all behind the network header does.
void take_hash_of_bytes(const Packet& packet, Observation& observation) {
    constexpr std::size_t kMostHashed = 512, kWord = 8;
    const Layer& network = packet.layer_storage[packet.network_layer];
    const Bytes bytes = slice(packet.frame.bytes, std::size_t{network.offset} + network.length, kMostHashed);
    const std::uint64_t hosts = hash_of(observation.flow.source) + 3 * hash_of(observation.flow.destination);
    std::uint64_t hash = mix(hosts + observation.ip_id + mix(bytes.size()));
    for (std::size_t at = 0; at < bytes.size(); at += kWord) {
        std::uint64_t word = 0;
        for (const std::byte byte : slice(bytes, at, kWord)) word = word << 8 | std::to_integer<std::uint64_t>(byte);
        hash = mix(hash + word);
    }
    observation.packet_hash = hash;
}

void take_transport(const Packet& packet, Observation& observation) {
    observation.kind = packet.has_transport() ? ObservationKind::transport : ObservationKind::unreadable;
    observation.encapsulation = packet.encapsulation;
    take_network(packet, observation);
    if (!packet.has_transport()) return;
    observation.flow.destination_qp = packet.dest_qp;
    observation.opcode = packet.opcode;
    observation.psn = packet.psn;
    observation.plain_link = packet.layer_storage[1].kind == LayerKind::ethernet &&
                             packet.network_layer == (observation.pcp == kNoPcp ? 2 : 3);
    observation.ack_request = packet.ack_request;
    observation.icrc = packet.icrc.status;
    observation.icrc_found = packet.icrc.found;
    observation.payload_length = packet.payload.length;
    observation.payload = packet.payload_bytes();
    take_bth(packet.bytes_of(packet.layer_storage[packet.bth_layer]), observation);
    for (const Layer& layer : packet.layers().subspan(packet.bth_layer + 1U))
        if (layer.fault == Fault::none) take_header(layer.kind, packet.bytes_of(layer), observation);
    take_hashes(observation);
}

}  // namespace

void observe(const Packet& packet, Observation& observation) {
    clear(observation);
    if (packet.encapsulation == Encapsulation::none) observation.flow = {};  // nothing else may say who sent it
    take_frame(packet.frame, observation);
    for (const Layer& layer : packet.layers()) {
        if (layer.fault != Fault::none && observation.fault == Fault::none) observation.fault = layer.fault;
        take_link(packet, layer, observation);
    }
    if (packet.encapsulation == Encapsulation::none) return take_hosts(packet, observation);
    take_transport(packet, observation);
    // What ends before its own lengths do was cut before it was captured: the name for it is that of packets which a
    // switch cut.
    if (observation.fault == Fault::cut && !observation.cut) [[unlikely]] {
        observation.cut = true;
        observation.fault = Fault::trimmed;
    }
    if (observation.fault != Fault::none && observation.fault != Fault::cut && observation.fault != Fault::trimmed)
        take_hash_of_bytes(packet, observation);
}

}  // namespace qps::transport
