#include <dissect/headers/icmp.hpp>
#include <dissect/lldp/tlvs.hpp>
#include <dissect/packet/census.hpp>
#include <dissect/ulp/fpdu.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <dissect/ultra_ethernet/pds.hpp>
#include <dissect/ultra_ethernet/ses.hpp>

#include <algorithm>
#include <utility>

namespace qps::dissect {

namespace {

bool congestion_experienced(const Packet& packet) {
    const Layer& network = packet.layer_storage[packet.network_layer];
    const auto second = read_be<std::uint8_t>(packet.bytes_of(network), 1);
    if (network.kind == LayerKind::ipv4) return (second & 3) == 3;
    return network.kind == LayerKind::ipv6 && (second >> 4 & 3) == 3;
}

template <std::size_t N> void add_each(std::array<std::uint64_t, N>& to, const std::array<std::uint64_t, N>& from) {
    for (std::size_t i = 0; i < N; ++i) to[i] += from[i];
}

void count_time(Census& census, Instant time) {
    if (!census.time) {
        census.time = TimeRange{time, time};
        census.initial = time;
    } else {
        if (time < census.previous) ++census.backwards;
        census.time->first = std::min(census.time->first, time);
        census.time->last = std::max(census.time->last, time);
    }
    census.previous = time;
}

void count_fault(Census& census, const Packet& packet) {
    for (const Layer& layer : packet.layers()) {
        if (layer.fault == Fault::none) continue;
        ++census.faults[static_cast<std::size_t>(layer.fault)];
        return;
    }
}

// The payload of an FPDU is counted where it begins, whole.
std::uint64_t fpdu_payload(Bytes fpdu, std::uint8_t opcode, bool tagged) {
    switch (static_cast<RdmapOpcode>(opcode)) {
        case RdmapOpcode::read_request:
        case RdmapOpcode::terminate:
        case RdmapOpcode::atomic_request:
        case RdmapOpcode::atomic_response: return 0;
        default: break;
    }
    const std::size_t length = read_be<std::uint16_t>(fpdu, 0), own = tagged ? mpa::kTagged : mpa::kUntagged;
    return length > own ? length - own : 0;
}

// Whether the packet has any iWARP.
bool count_iwarp(Census& census, const Packet& packet) {
    bool any = false;
    Bytes fpdu;
    bool tagged = false;
    for (const Layer& layer : packet.layers()) {
        if (!is_of(layer.kind, LayerFamily::iwarp)) continue;
        any = true;
        const Bytes bytes = packet.bytes_of(layer);
        if (layer.kind == kind::mpa_fpdu) fpdu = bytes;
        if (layer.kind == kind::ddp_tagged || layer.kind == kind::ddp_untagged) tagged = layer.kind == kind::ddp_tagged;
        if (layer.kind == kind::rdmap || layer.kind == kind::rdmap_invalidate) {
            const auto opcode = static_cast<std::uint8_t>(read(bytes, rdmap_rows::kOpcode));
            ++census.rdmap[opcode];
            census.payload_bytes += fpdu_payload(fpdu, opcode, tagged);
        }
        if (layer.kind == kind::mpa_crc)
            if (const auto verdict = iwarp::crc_status(packet, layer)) ++census.fpdu_crc[verdict->number];
    }
    if (any) ++census.iwarp;
    return any;
}

// Whether the packet is one of Ultra Ethernet: its type is in the first byte of its first header.
bool count_ultra_ethernet(Census& census, const Packet& packet) {
    const auto is_ours = [](const Layer& layer) { return is_of(layer.kind, LayerFamily::ultra_ethernet); };
    const auto first = std::ranges::find_if(packet.layers(), is_ours);
    if (first == packet.layers().end()) return false;
    const std::uint64_t type = read_bits(packet.bytes_of(*first), kUetType.bit, kUetType.width);
    ++census.ultra_ethernet[type % census.ultra_ethernet.size()];
    if (const Layer* crc = find(packet, kind::uet_crc))
        if (const auto verdict = uet_computed::crc_status(packet, *crc)) ++census.ultra_ethernet_crc[verdict->number];
    return true;
}

// One name, whichever message it is and whatever it quotes.
LayerKind icmp_protocol(std::span<const Layer> layers) {
    const auto first =
        std::ranges::find_if(layers, [](const Layer& layer) { return is_of(layer.kind, LayerFamily::icmp); });
    return first->kind < kind::icmpv6 ? kind::icmp : kind::icmpv6;
}

}  // namespace

void count(Census& census, const Packet& packet) {
    ++census.packets;
    census.bytes += packet.frame.wire_bytes();
    census.captured_bytes += packet.frame.captured_bytes();
    // The rest of a fragmented datagram is in other frames.
    const bool cut_before = packet.layers().back().fault == Fault::cut && packet.icrc.reason != CrcReason::fragment;
    if (packet.frame.cut() || cut_before) ++census.cut;
    if (packet.frame.has_time) count_time(census, packet.frame.time);
    else ++census.without_time;
    count_fault(census, packet);
    ++census.encapsulations[std::to_underlying(packet.encapsulation)];
    ++census.icrc[std::to_underlying(packet.icrc.status)];
    ++census.vcrc[std::to_underlying(packet.vcrc.status)];
    if (packet.icrc.status == CrcStatus::not_checkable) ++census.icrc_reasons[std::to_underlying(packet.icrc.reason)];
    if (packet.encapsulation != Encapsulation::none) {
        if (packet.has_transport()) ++census.opcodes[std::to_underlying(packet.opcode)];
        census.payload_bytes += packet.payload.length;
        if (congestion_experienced(packet)) ++census.congestion_experienced;
    } else if (!count_iwarp(census, packet) && !count_ultra_ethernet(census, packet)) {
        // What is concluded of a packet, and what no header explains, are no protocols.
        auto layers = packet.layers();
        for (const LayerKind kind : {LayerKind::rdma, LayerKind::data})
            if (layers.size() > 1 && layers.back().kind == kind) layers = layers.first(layers.size() - 1);
        LayerKind last = layers.back().kind;
        if (is_of(last, LayerFamily::lldp) && last != kind::cnm)
            last = kind::lldp_end;  // one name, whichever TLV is the last
        if (is_of(last, LayerFamily::icmp)) last = icmp_protocol(packet.layers());
        ++census.innermost[static_cast<std::size_t>(last)];
    }
}

void add(Census& census, const Census& next) {
    census.packets += next.packets;
    census.bytes += next.bytes;
    census.captured_bytes += next.captured_bytes;
    census.cut += next.cut;
    census.backwards += next.backwards;
    census.without_time += next.without_time;
    census.congestion_experienced += next.congestion_experienced;
    census.payload_bytes += next.payload_bytes;
    add_each(census.encapsulations, next.encapsulations);
    add_each(census.opcodes, next.opcodes);
    census.iwarp += next.iwarp;
    add_each(census.rdmap, next.rdmap);
    add_each(census.fpdu_crc, next.fpdu_crc);
    add_each(census.ultra_ethernet, next.ultra_ethernet);
    add_each(census.ultra_ethernet_crc, next.ultra_ethernet_crc);
    add_each(census.icrc, next.icrc);
    add_each(census.vcrc, next.vcrc);
    add_each(census.icrc_reasons, next.icrc_reasons);
    add_each(census.faults, next.faults);
    add_each(census.innermost, next.innermost);
    if (!next.time) return;
    if (!census.time) {
        census.time = next.time;
        census.initial = next.initial;
    } else {
        if (next.initial < census.previous) ++census.backwards;
        census.time->first = std::min(census.time->first, next.time->first);
        census.time->last = std::max(census.time->last, next.time->last);
    }
    census.previous = next.previous;
}

}  // namespace qps::dissect
