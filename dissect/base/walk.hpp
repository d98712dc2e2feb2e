// The walk over a frame: how layers are appended, and where each protocol hands on. Internal to dissect/.
//
// Every step adds a layer before it hands on, and kMaxLayers bounds the layers, so hostile nesting ends. Offsets that
// come from the wire may lie beyond the captured bytes: then layers are empty and marked cut, and reads yield zero.
#pragma once

#include <dissect/base/packet.hpp>

namespace qps::dissect {

// Where the walk stands: the next header starts at `offset`, the innermost datagram ends at `end`. Both count from the
// start of the frame and speak of the wire; the capture may end before. One Walk goes through all layers of a frame.
struct Walk {
    Packet& packet;
    std::size_t offset = 0;
    std::size_t end = 0;
    CrcReason doubt = CrcReason::none;  // why `end` cannot be relied on: an enclosing fragment or length that lies
    bool truncated = false;             // a mirror says that it cut what follows (ERSPAN's T bit)

    [[nodiscard]] Bytes header() const { return slice(packet.frame.bytes, offset); }
    [[nodiscard]] std::size_t left() const { return end > offset ? end - offset : 0; }
};

// Notes a fault of the last layer, unless it has one.
inline void mark(Packet& packet, Fault fault) {
    Layer& last = packet.layer_storage[packet.layer_count - 1];
    if (last.fault == Fault::none) last.fault = fault;
}

// Appends a layer of `length` bytes at `offset`, clipped to the captured bytes. Its fault is cut where the capture
// ends inside it, too_short where `end_on_wire` does. Returns whether the whole header can be read, that is whether
// something may follow.
inline bool add_layer(Packet& packet, LayerKind kind, std::size_t offset, std::size_t length, std::size_t end_on_wire) {
    constexpr std::size_t kLastOffset = 0xffff;  // of Layer::offset
    if (packet.layer_count == kMaxLayers || offset > kLastOffset) {
        mark(packet, Fault::too_deep);
        return false;
    }
    const std::size_t captured = packet.frame.bytes.size();
    const std::size_t stop = offset + length;
    Layer layer{kind, Fault::none, static_cast<std::uint16_t>(offset), static_cast<std::uint32_t>(length)};
    if (stop > end_on_wire || stop > captured) [[unlikely]] {
        layer.fault = stop > end_on_wire ? Fault::too_short : Fault::cut;
        const std::size_t readable = end_on_wire < captured ? end_on_wire : captured;
        layer.length = offset < readable ? static_cast<std::uint32_t>(readable - offset) : 0;
    }
    packet.layer_storage[packet.layer_count++] = layer;
    return layer.fault == Fault::none;
}

// Appends the header that the walk stands at and steps behind it. The header's bytes; empty where it is not whole, and
// nothing may follow.
[[nodiscard]] inline Bytes enter(Walk& walk, LayerKind kind, std::size_t length) {
    const std::size_t offset = walk.offset;
    if (!add_layer(walk.packet, kind, offset, length, walk.end)) return {};
    walk.offset += length;
    return walk.packet.frame.bytes.subspan(offset, length);
}

// The datagram ends at `end`, beyond what encloses it: the rest is not in this frame, and what stands behind the place
// where it was cut (an FCS) is nothing of it. decode() gives the frame its bytes back.
inline void lengthen(Walk& walk, std::size_t end) {
    Bytes& bytes = walk.packet.frame.bytes;
    if (bytes.size() > walk.end) bytes = bytes.first(walk.end);
    walk.end = end;
}

// What nothing explains: the rest of the datagram.
inline void add_data(const Walk& walk) {
    if (walk.left() > 0) add_layer(walk.packet, LayerKind::data, walk.offset, walk.left(), walk.end);
}

void walk_ethernet(Walk& walk);
void walk_ethertype(Walk& walk, std::uint16_t ethertype);
void walk_erf(Walk& walk);
void walk_mac_control(Walk& walk);
void walk_mpls(Walk& walk);

void walk_ip(Walk& walk);  // by the version nibble
void walk_ipv4(Walk& walk);
void walk_ipv6(Walk& walk);

void walk_icmp(Walk& walk);
void walk_icmpv6(Walk& walk);

void walk_gre(Walk& walk);
void walk_vxlan(Walk& walk);
void walk_geneve(Walk& walk);

void walk_lrh(Walk& walk);    // native InfiniBand
void walk_roce1(Walk& walk);  // GRH behind EtherType 0x8915
// A transport packet: BTH to ICRC, which ends at walk.end. `network_layer` is the index of the header that the ICRC
// coverage starts with.
void walk_transport(Walk& walk, Encapsulation encapsulation, std::uint8_t network_layer);

}  // namespace qps::dissect
