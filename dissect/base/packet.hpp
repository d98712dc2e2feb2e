// Packet: the fixed-size summary that decode() fills in one pass, without allocation and without text.
//
// A list of layers (where each header lies) plus what the transport machines need of every packet. Everything
// else (names, trees, JSON, columns) is derived later, from the field tables, for the packets somebody looks at.
#pragma once

#include <dissect/base/annotation.hpp>
#include <dissect/base/field.hpp>
#include <dissect/base/frame.hpp>
#include <dissect/base/opcode.hpp>

#include <array>

namespace qps::dissect {

// How the transport packet travelled.
enum class Encapsulation : std::uint8_t { none, native, roce_v1, roce_v2 };

enum class CrcStatus : std::uint8_t { not_applicable, good, bad, not_checkable };

enum class CrcReason : std::uint8_t {
    none,
    cut,           // the capture does not hold all bytes the CRC covers
    fragment,      // the packet is an IP fragment
    bad_length,    // the lengths contradict each other, so nobody knows where the CRC is
    ip_options,    // IPv4 options or IPv6 extension headers: the specification defines no coverage for them (A17.3)
    too_deep,      // the headers before it are more than are followed
    not_captured,  // the capture format leaves the CRC out (ERF and link type 247 may omit the VCRC)
};

struct CrcVerdict {
    CrcStatus status = CrcStatus::not_applicable;
    CrcReason reason = CrcReason::none;
    std::uint32_t found = 0;     // as an integer whose most significant byte is the first on the wire
    std::uint32_t expected = 0;  // same notation
};

// What the message carries, without pad. `offset` and `captured` bound what can be read, `length` is the wire's.
struct Payload {
    std::uint32_t offset = 0;
    std::uint32_t captured = 0;
    std::uint32_t length = 0;
    std::uint8_t pad = 0;
};

inline constexpr std::uint8_t kNoLayer = 0xff;

struct Packet {
    Frame frame;
    std::array<Layer, kMaxLayers> layer_storage;  // only the first layer_count are meaningful
    std::uint8_t layer_count = 0;

    // Only meaningful where encapsulation is not none and bth_layer is not kNoLayer:
    Encapsulation encapsulation = Encapsulation::none;
    Opcode opcode{};
    Qpn dest_qp{};
    Psn psn{};
    bool ack_request = false;
    std::uint8_t network_layer = kNoLayer;  // index of the innermost IPv4, IPv6, GRH or (native, local) LRH
    std::uint8_t bth_layer = kNoLayer;
    Payload payload;
    CrcVerdict icrc;
    CrcVerdict vcrc;
    const Annotation* annotation = nullptr;  // borrowed; decode() leaves none

    [[nodiscard]] std::span<const Layer> layers() const { return {layer_storage.data(), layer_count}; }
    [[nodiscard]] bool has_transport() const { return bth_layer != kNoLayer; }
    [[nodiscard]] Bytes bytes_of(const Layer& layer) const { return slice(frame.bytes, layer.offset, layer.length); }
    [[nodiscard]] Bytes payload_bytes() const { return slice(frame.bytes, payload.offset, payload.captured); }
};

// The first layer of that kind, or nullptr.
[[nodiscard]] inline const Layer* find(const Packet& packet, LayerKind kind) {
    for (const Layer& layer : packet.layers())
        if (layer.kind == kind) return &layer;
    return nullptr;
}

// Decodes one frame into `packet`, overwriting it. Never fails: what cannot be decoded is a data layer, what is
// wrong is a fault of its layer. `packet` borrows the frame's bytes.
void decode(const Frame& frame, Packet& packet);

}  // namespace qps::dissect
