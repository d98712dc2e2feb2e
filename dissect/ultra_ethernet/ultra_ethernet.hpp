// Ultra Ethernet Transport behind UDP port 4793: what makes a datagram one of its packets, and the walk over it.
// Internal to dissect/.
//
// A port proves nothing: a datagram is claimed where its header holds together, or its CRC is right. The same for what
// is cut: a datagram that is shorter than its UDP header says was trimmed by a switch, which is no fault of its sender.
#pragma once

#include <dissect/base/walk.hpp>
#include <dissect/ultra_ethernet/names.hpp>

namespace qps::dissect {

namespace uet {

inline constexpr std::size_t kCrcLength = 4;
inline constexpr std::size_t kIcvLength = 16;

// A packet from its first header on: what was captured of it, how long it is on the wire, and who sent it to the port.
struct Datagram {
    Bytes captured;
    std::size_t length = 0;
    bool trimmed = false;
    std::uint16_t source_port = 0;
};

struct PdsShape {
    PdsType type;
    std::uint8_t length;    // of the header, without what documents place differently
    std::uint8_t reserved;  // flags
    std::uint8_t forms;     // of the semantic sublayer that may follow: a bit for each SesForm
};

// That of a type; nullptr where there is none.
[[nodiscard]] const PdsShape* pds_shape(std::uint64_t type);
// How long a semantic header is, without extensions; 0 of none and of forms that are not assigned.
[[nodiscard]] std::size_t length_of(SesForm form);

// Whether a header of that form can begin there: nothing contradicts it.
[[nodiscard]] bool holds(SesForm form, Bytes header);
// Whether a datagram is a packet of Ultra Ethernet, as far as its bytes can tell.
[[nodiscard]] bool holds(const Datagram& datagram);

// Whether the four bytes at `crc` are a CRC of what begins at `first`, in one of the ways that documents have: with the
// addresses and the UDP header or without, in either order of bytes.
[[nodiscard]] bool crc_fits(const Packet& packet, std::size_t first, std::size_t crc);

}  // namespace uet

// The walk stands behind the UDP header, or behind the entropy of native packets; `end` is where the sender says that
// the packet ends. False where it is none of Ultra Ethernet, and nothing was done.
[[nodiscard]] bool walk_ultra_ethernet(Walk& walk, std::size_t end, std::uint16_t source_port);

}  // namespace qps::dissect
