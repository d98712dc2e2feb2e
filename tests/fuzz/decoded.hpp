// What fuzzers of single packets share: an input as a frame, and what must hold of it once it is decoded.
//
// The input: a byte that chooses the link type, two bytes that lengthen the packet on the wire, then the frame.
#pragma once

#include <dissect/base/packet.hpp>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

namespace qps::fuzz {

using namespace dissect;

inline constexpr std::size_t kPacketControl = 3;

// It borrows the input; nothing where that is too short.
inline std::optional<Frame> frame_of(const std::uint8_t* data, std::size_t size) {
    if (size < kPacketControl) return std::nullopt;
    const Bytes input = std::as_bytes(std::span(data, size));
    Frame frame;
    frame.link = kLinkTypeNames[data[0] % kLinkTypeNames.size()].link;
    frame.bytes = input.subspan(kPacketControl);
    frame.wire_length = static_cast<std::uint32_t>(frame.bytes.size()) + read_le<std::uint16_t>(input, 1);
    frame.link_speed = BitsPerSecond{100'000'000'000};
    return frame;
}

inline void demand(bool holds) {
    if (!holds) std::abort();
}

// What must hold of any packet, whatever its bytes.
inline void check_decoded(const Packet& packet) {
    demand(packet.layer_count >= 1 && packet.layer_count <= kMaxLayers);
    for (const Layer& layer : packet.layers())
        demand(layer.length == 0 || layer.offset + std::size_t{layer.length} <= packet.frame.bytes.size());
    demand(packet.payload.captured <= packet.payload.length);
    demand(packet.payload_bytes().size() == packet.payload.captured);
    if (packet.icrc.status == CrcStatus::good) demand(packet.icrc.found == packet.icrc.expected);
    if (packet.icrc.status == CrcStatus::bad) demand(packet.icrc.found != packet.icrc.expected);
    demand((packet.icrc.status == CrcStatus::not_checkable) == (packet.icrc.reason != CrcReason::none));
    demand(packet.has_transport() || packet.icrc.status == CrcStatus::not_applicable ||
           packet.icrc.status == CrcStatus::not_checkable);
}

}  // namespace qps::fuzz
