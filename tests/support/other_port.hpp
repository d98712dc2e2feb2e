// A sample capture whose RoCEv2 goes to another UDP port, as from a device that was set up with one.
#pragma once

#include <dissect/base/bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace qps::tests {

// Of a classic pcap of Ethernet and IPv4, little-endian: destination port 4791 becomes `port`. Checksums stay as they
// are.
inline std::vector<std::byte> with_roce_port(std::vector<std::byte> pcap, std::uint16_t port) {
    constexpr std::size_t kFileHeader = 24;
    constexpr std::size_t kRecordHeader = 16;
    constexpr std::size_t kDestinationPort = 14 + 20 + 2;
    const auto byte = [&](std::size_t at) { return std::to_integer<std::uint32_t>(pcap[at]); };
    for (std::size_t at = kFileHeader; at + kRecordHeader <= pcap.size();) {
        const std::size_t length = byte(at + 8) | byte(at + 9) << 8U | byte(at + 10) << 16U | byte(at + 11) << 24U;
        const std::size_t place = at + kRecordHeader + kDestinationPort;
        at += kRecordHeader + length;
        if (length <= kDestinationPort + 2 || at > pcap.size() || (byte(place) << 8U | byte(place + 1)) != 4791)
            continue;
        pcap[place] = static_cast<std::byte>(port >> 8U);
        pcap[place + 1] = static_cast<std::byte>(port & 0xffU);
    }
    return pcap;
}

}  // namespace qps::tests
