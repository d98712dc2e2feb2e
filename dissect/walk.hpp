// The walk over a frame: how layers are appended, and where each protocol hands on. Internal to dissect/.
//
// Every step adds a layer before it hands on, and kMaxLayers bounds the layers, so hostile nesting ends. Offsets that
// come from the wire may lie beyond the captured bytes: then layers are empty and marked cut, and reads yield zero.
#pragma once

#include <dissect/packet.hpp>

namespace qps::dissect {

// Where the walk stands: the next header starts at `offset`, the innermost datagram ends at `end`. Both count from the
// start of the frame and speak of the wire; the capture may end before.
struct Walk {
    Packet& packet;
    std::size_t offset = 0;
    std::size_t end = 0;
    CrcReason doubt = CrcReason::none;  // why `end` cannot be relied on: an enclosing fragment or length that lies

    [[nodiscard]] Bytes header() const { return slice(packet.frame.bytes, offset); }
    [[nodiscard]] std::size_t left() const { return end > offset ? end - offset : 0; }
    void skip(std::size_t length) { offset += length; }
    [[nodiscard]] Walk past(std::size_t length) const { return {packet, offset + length, end, doubt}; }
};

// Appends a layer of `length` bytes at `offset`, clipped to the captured bytes. Its fault is cut where the capture
// ends inside it, too_short where `end_on_wire` does. Returns whether the whole header can be read, that is whether
// something may follow.
inline bool add_layer(Packet& packet, LayerKind kind, std::size_t offset, std::size_t length, std::size_t end_on_wire) {
    if (packet.layer_count == kMaxLayers || offset > 0xffff) {
        packet.layer_storage[packet.layer_count - 1].fault = Fault::too_deep;
        return false;
    }
    Layer& layer = packet.layer_storage[packet.layer_count++];
    layer.kind = kind;
    layer.offset = static_cast<std::uint16_t>(offset);
    const std::size_t captured = packet.frame.bytes.size();
    const std::size_t have = offset < captured ? captured - offset : 0;
    const std::size_t wire = offset < end_on_wire ? end_on_wire - offset : 0;
    layer.fault = length > wire ? Fault::too_short : length > have ? Fault::cut : Fault::none;
    layer.length = static_cast<std::uint32_t>(length < have && length < wire ? length : have < wire ? have : wire);
    return layer.fault == Fault::none;
}

inline bool add_layer(const Walk& walk, LayerKind kind, std::size_t length) {
    return add_layer(walk.packet, kind, walk.offset, length, walk.end);
}

// Notes a fault of the last layer, unless it has one.
inline void mark(Packet& packet, Fault fault) {
    Layer& last = packet.layer_storage[packet.layer_count - 1];
    if (last.fault == Fault::none) last.fault = fault;
}

// What nothing explains: the rest of the datagram.
inline void add_data(const Walk& walk) {
    if (walk.left() > 0) add_layer(walk, LayerKind::data, walk.left());
}

void walk_ethernet(Walk walk);
void walk_ethertype(Walk walk, std::uint16_t ethertype);
void walk_erf(Walk walk);
void walk_mac_control(Walk walk);
void walk_mpls(Walk walk);

void walk_ip(Walk walk);  // by the version nibble

void walk_gre(Walk walk);
void walk_vxlan(Walk walk);
void walk_geneve(Walk walk);

void walk_lrh(Walk walk);    // native InfiniBand
void walk_roce1(Walk walk);  // GRH behind EtherType 0x8915
// A transport packet: BTH to ICRC, which ends at walk.end. `network_layer` is the index of the header that the ICRC
// coverage starts with.
void walk_transport(Walk walk, Encapsulation encapsulation, std::uint8_t network_layer);

}  // namespace qps::dissect
