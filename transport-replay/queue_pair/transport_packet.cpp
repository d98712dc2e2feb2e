#include <dissect/headers/infiniband.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kPlacement = named(kFethFields, "infiniband.feth.placement_type");
constexpr Field kSelectivity = named(kFethFields, "infiniband.feth.selectivity_level");
constexpr Field kSrq = named(kXrcethFields, "infiniband.xrceth.xrcsrq");
constexpr std::uint32_t kFlowLabelMask = 0xfffff;
constexpr std::size_t kShortestFrame = 60;  // Ethernet's 64 bytes without the frame check sequence (802.3, 4.2.3.3)

std::array<std::byte, 16> bytes_of(const Address& address) {
    std::array<std::byte, 16> bytes{};
    write_bits(bytes, 0, 64, address.bits[0]);
    write_bits(bytes, 64, 64, address.bits[1]);
    return bytes;
}

void set_network(PacketSpec& spec, const Route& route) {
    const auto source = bytes_of(route.source);
    const auto destination = bytes_of(route.destination);
    const std::uint64_t ecn = std::to_underlying(route.ecn);
    const std::uint64_t services = std::uint64_t{route.dscp & 0x3fU} << 2;
    set(spec, "eth.src", route.source_mac);
    set(spec, "eth.dst", route.destination_mac);
    switch (route.network) {
        case Network::roce_v2_ipv4:
            set(spec, "ip.src", route.source.bits[1] & 0xffff'ffff);
            set(spec, "ip.dst", route.destination.bits[1] & 0xffff'ffff);
            set(spec, "ip.ttl", route.hops);
            set(spec, "ip.id", route.identification);
            set(spec, "ip.dsfield", services | ecn);
            break;
        case Network::roce_v2_ipv6:
            set(spec, "ipv6.src", Bytes(source));
            set(spec, "ipv6.dst", Bytes(destination));
            set(spec, "ipv6.hlim", route.hops);
            set(spec, "ipv6.tclass", services | ecn);
            set(spec, "ipv6.flow", route.flow_label & kFlowLabelMask);
            break;
        case Network::roce_v1:
        case Network::native_global:  // no ECN: congestion of these is told by the BTH
            set(spec, "infiniband.grh.sgid", Bytes(source));
            set(spec, "infiniband.grh.dgid", Bytes(destination));
            set(spec, "infiniband.grh.hoplmt", route.hops);
            set(spec, "infiniband.grh.tclass", services);
            set(spec, "infiniband.grh.flowlabel", route.flow_label & kFlowLabelMask);
            break;
        case Network::native_local:
            set(spec, "infiniband.lrh.slid", route.source.bits[1] & 0xffff);
            set(spec, "infiniband.lrh.dlid", route.destination.bits[1] & 0xffff);
            break;
    }
    set(spec, "udp.srcport", route.udp_source_port);
}

void set_tag(PacketSpec& spec, std::uint16_t control) {
    HeaderSpec tag{LayerKind::vlan};
    set(tag, "vlan.priority", control >> 13U);
    set(tag, "vlan.dei", control >> 12U & 1U);
    set(tag, "vlan.id", control & 0xfffU);
    for (LayerKind network : {LayerKind::ipv4, LayerKind::ipv6, LayerKind::grh})
        if (find(spec, network) != nullptr) return insert_before(spec, network, {tag});
}

// A word of four bytes whose field is shown as bytes.
void set_word(PacketSpec& spec, std::string_view field, std::uint32_t value) {
    std::array<std::byte, 4> bytes{};
    write_bits(bytes, 0, 32, value);
    set(spec, field, Bytes(bytes));
}

void set_extended(PacketSpec& spec, const TransportPacket& packet) {
    if (packet.access) {
        set(spec, "infiniband.reth.va", packet.access->address);
        set(spec, "infiniband.reth.r_key", std::to_underlying(packet.access->key));
        set(spec, "infiniband.reth.dmalen", packet.access->length);
    }
    if (packet.atomic) {
        set(spec, "infiniband.atomiceth.swapdt", packet.atomic->swap_or_add);
        set(spec, "infiniband.atomiceth.cmpdt", packet.atomic->compare);
    }
    if (packet.acknowledgment) {
        set(spec, "infiniband.aeth.syndrome", packet.acknowledgment->syndrome);
        set(spec, "infiniband.aeth.msn", std::to_underlying(packet.acknowledgment->msn));
    }
    if (packet.atomic_result) set(spec, "infiniband.atomicacketh.origremdt", *packet.atomic_result);
    if (packet.immediate) set_word(spec, "infiniband.immdt", *packet.immediate);
    if (packet.invalidate) set_word(spec, "infiniband.ieth", std::to_underlying(*packet.invalidate));
    if (packet.flush) {
        set(spec, "infiniband.feth.placement_type", packet.flush->placement);
        set(spec, "infiniband.feth.selectivity_level", std::to_underlying(packet.flush->selectivity));
    }
    if (packet.srq) set(spec, kSrq.name, std::to_underlying(*packet.srq));
    if (packet.datagram) {
        set(spec, "infiniband.deth.q_key", std::to_underlying(packet.datagram->key));
        set(spec, "infiniband.deth.srcqp", std::to_underlying(packet.datagram->source_qp));
    }
}

bool trustworthy(const Packet& packet) {
    return packet.has_transport() && !packet.frame.cut() && packet.icrc.status == CrcStatus::good &&
           std::ranges::all_of(packet.layers().subspan(packet.bth_layer),
                               [](const Layer& layer) { return layer.fault == Fault::none; });
}

}  // namespace

PacketSpec to_spec(const TransportPacket& packet, const Route& route) {
    PacketSpec spec = transport_packet(packet.opcode, route.network);
    set_network(spec, route);
    if (route.vlan && spec.link == LinkType::ethernet) set_tag(spec, *route.vlan);
    set(spec, "infiniband.bth.m", usual_migreq(packet.opcode) ? 1 : 0);
    set(spec, "infiniband.bth.p_key", std::to_underlying(packet.pkey));
    set(spec, "infiniband.bth.destqp", std::to_underlying(packet.dest_qp));
    set(spec, "infiniband.bth.psn", packet.psn.value());
    set(spec, "infiniband.bth.a", packet.ack_request ? 1 : 0);
    set(spec, "infiniband.bth.se", packet.solicited ? 1 : 0);
    if (packet.opcode == Opcode::cnp) set(spec, "infiniband.bth.becn", 1);  // A17.9.3
    set_extended(spec, packet);
    spec.payload.assign(packet.payload.begin(), packet.payload.end());
    return spec;
}

std::vector<std::byte> to_frame(const TransportPacket& packet, const Route& route) {
    const PacketSpec spec = to_spec(packet, route);
    std::vector<std::byte> bytes = build(spec);
    if (spec.link == LinkType::ethernet && bytes.size() < kShortestFrame) bytes.resize(kShortestFrame);
    return bytes;
}

std::optional<TransportPacket> from_packet(const Packet& packet) {
    if (!trustworthy(packet)) return std::nullopt;
    Observation seen;
    observe(packet, seen);
    TransportPacket result;
    result.opcode = packet.opcode;
    result.pkey = seen.pkey;
    result.dest_qp = packet.dest_qp;
    result.psn = packet.psn;
    result.ack_request = packet.ack_request;
    result.solicited = seen.solicited;
    result.access = seen.access;
    result.atomic = seen.atomic;
    result.acknowledgment = seen.acknowledgment;
    result.atomic_result = seen.atomic_result();
    result.immediate = seen.immediate;
    result.invalidate = seen.invalidate;
    if (const Layer* deth = find(packet, LayerKind::deth); deth != nullptr && seen.datagram)
        result.datagram =
            Datagram{static_cast<Qkey>(read_be<std::uint32_t>(packet.bytes_of(*deth), 0)), seen.flow.source_qp};
    if (const Layer* feth = find(packet, LayerKind::feth); feth != nullptr) {
        const Bytes bytes = packet.bytes_of(*feth);
        result.flush = Flush{static_cast<std::uint8_t>(read(bytes, kPlacement)),
                             static_cast<FlushSelectivity>(read(bytes, kSelectivity))};
    }
    if (const Layer* xrceth = find(packet, LayerKind::xrceth); xrceth != nullptr)
        result.srq = static_cast<Srqn>(read(packet.bytes_of(*xrceth), kSrq));
    result.payload = seen.payload;
    const Layer& network = packet.layer_storage[packet.network_layer];
    if (network.kind != LayerKind::lrh) result.network_header = packet.bytes_of(network);
    return result;
}

}  // namespace qps::transport
