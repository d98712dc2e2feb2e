// FPDUs as places in a TCP stream: how long they are, where markers stand in them (RFC 5044 4), what may be one.
//
// "Plain" bytes are those without markers. A marker that stands right before an FPDU belongs to it, and its CRC covers
// it.
#pragma once

#include <dissect/base/packet.hpp>

#include <optional>

namespace qps::dissect::mpa {

inline constexpr std::size_t kMarkerLength = 4;
inline constexpr std::size_t kMarkerInterval = 512;  // from the first byte of a marker to that of the next
inline constexpr std::size_t kLengthField = 2;
inline constexpr std::size_t kCrcLength = 4;
inline constexpr std::size_t kTagged = 14, kUntagged = 18;  // DDP headers

// Bytes to the next marker, from 0 on; nothing: the stream has none.
using ToMarker = std::optional<std::size_t>;

[[nodiscard]] constexpr std::size_t padding(std::size_t ulpdu_length) {
    return (4 - (kLengthField + ulpdu_length) % 4) % 4;
}
[[nodiscard]] constexpr std::size_t plain_bytes(std::size_t ulpdu_length) {
    return kLengthField + ulpdu_length + padding(ulpdu_length) + kCrcLength;
}
// Bytes of the stream that hold so many plain ones, from where `to_marker` counts; a marker behind the last of them is
// left out.
[[nodiscard]] constexpr std::size_t stream_bytes(std::size_t plain, ToMarker to_marker) {
    if (!to_marker || plain <= *to_marker) return plain;
    constexpr std::size_t kBetween = kMarkerInterval - kMarkerLength;
    return plain + kMarkerLength * ((plain - *to_marker - 1) / kBetween + 1);
}

// What the first bytes of a ULPDU say.
struct Heading {
    bool tagged = false;
    bool last = false;
    std::uint8_t opcode = 0;  // RdmapOpcode
    [[nodiscard]] std::size_t length() const { return tagged ? kTagged : kUntagged; }
};
inline constexpr std::size_t kToDecide = 10;  // bytes of a ULPDU, up to its queue number

// Nothing where no sender of RDMAP makes such a ULPDU: versions, reserved bits, opcode, queue and length must fit. From
// fewer bytes than kToDecide, at least the first two, it decides as far as they go.
[[nodiscard]] std::optional<Heading> heading(Bytes ulpdu, std::size_t ulpdu_length);

// The bytes that a TCP segment carries, where the packet has one.
struct TcpSegment {
    std::uint8_t layer = 0;      // of the TCP header
    std::size_t offset = 0;      // of what it carries, in the frame
    std::uint32_t captured = 0;  // of that
    std::uint32_t length = 0;    // on the wire
};
[[nodiscard]] std::optional<TcpSegment> tcp_segment(const Packet& packet);

}  // namespace qps::dissect::mpa
