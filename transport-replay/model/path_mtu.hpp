// The path MTU, and how many packets a message takes because of it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace qps::transport {

// By its code: how much payload a packet carries at most.
enum class PathMtu : std::uint8_t { bytes_256 = 1, bytes_512, bytes_1024, bytes_2048, bytes_4096 };
[[nodiscard]] constexpr std::uint32_t bytes_of(PathMtu mtu) { return 128U << (static_cast<unsigned>(mtu) & 7U); }

// Packets, and so PSNs, that a message or the response of a READ takes (9.7.3.1), `pmtu` in bytes, not 0: one at least.
// A message has 2 GiB at most (9.7.4.1.6, C9-93); a request that claims more, which only a hostile one does, is taken
// for one of these.
[[nodiscard]] constexpr std::uint32_t packets_of(std::uint32_t length, std::uint32_t pmtu) {
    constexpr std::uint32_t kMost = 1U << 23;  // 2 GiB at the smallest path MTU, and half of all PSNs
    return length == 0 ? 1 : std::min((length - 1) / pmtu + 1, kMost);
}
[[nodiscard]] constexpr std::uint32_t packets_of(std::uint32_t length, PathMtu pmtu) {
    return packets_of(length, bytes_of(pmtu));
}

}  // namespace qps::transport
