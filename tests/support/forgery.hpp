// Frames as an attacker makes them of real ones: changed anywhere, and made right again where they would give
// themselves away. Of Ethernet, IPv4 without options, UDP, BTH: what a session over IPv4 consists of.
#pragma once

#include <dissect/base/icrc.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>
#include <transport-replay/live/faults.hpp>

#include <algorithm>
#include <vector>

namespace qps::tests {

inline constexpr std::size_t kIpAt = 14, kUdpAt = 34, kBthAt = 42, kDethAt = 54, kMadAt = 62, kCmAt = 86;
inline constexpr std::size_t kShortestRoce = kBthAt + 16;  // BTH and ICRC

inline void put_number(std::vector<std::byte>& frame, std::size_t at, std::size_t bytes, std::uint64_t value) {
    for (std::size_t i = 0; i < bytes && at + i < frame.size(); ++i)
        frame[at + i] = static_cast<std::byte>(value >> (8 * (bytes - 1 - i)));
}
[[nodiscard]] inline std::uint64_t number_at(dissect::Bytes frame, std::size_t at, std::size_t bytes) {
    return at + bytes > frame.size() ? 0 : dissect::read_bits(frame, at * 8, bytes * 8);
}

// Lengths, header checksum and ICRC fit the bytes again.
inline void seal(std::vector<std::byte>& frame, bool lengths = true) {
    if (frame.size() < kShortestRoce) return;
    if (lengths) {
        put_number(frame, kIpAt + 2, 2, frame.size() - kIpAt);
        put_number(frame, kUdpAt + 4, 2, frame.size() - kUdpAt);
    }
    transport::seal_ipv4_header(dissect::MutableBytes(frame).subspan(kIpAt));
    const std::size_t end = frame.size() - 4;
    const std::uint32_t icrc =
        dissect::invariant_crc(dissect::IcrcCoverage::roce_v2_ipv4, dissect::Bytes(frame).subspan(kIpAt, end - kIpAt));
    put_number(frame, end, 4, icrc);
}

// Some bytes or fields are others now, or it is longer or shorter; nothing is sealed.
inline void mutate(std::vector<std::byte>& frame, transport::Draws& draws, std::size_t from = kBthAt) {
    constexpr std::array<std::uint64_t, 8> kEdges{0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fff'ffff, 0xffff'ffff'ffff'ffff};
    for (std::uint64_t left = 1 + draws.below(4); left > 0 && frame.size() > from + 4; --left) {
        const std::size_t at =
            from + draws.below(std::min<std::size_t>(frame.size() - from, draws.chance(0.7) ? 48 : 4096));
        switch (draws.below(5)) {
            case 0: frame[at] ^= static_cast<std::byte>(1U << draws.below(8)); break;
            case 1: frame[at] = static_cast<std::byte>(draws.below(256)); break;
            case 2: put_number(frame, at, 1 + draws.below(8), kEdges[draws.below(kEdges.size())]); break;
            case 3: frame.resize(from + 4 + draws.below(frame.size() - from)); break;
            default:
                frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(at), 4 * (1 + draws.below(40)),
                             std::byte{0x33});
        }
    }
}

}  // namespace qps::tests
