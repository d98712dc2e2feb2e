// A sample capture in which a packet overtook the one before it.
#pragma once

#include <dissect/base/bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace qps::tests {

// Of a classic little-endian pcap whose packets `number` (counted from 1) and the next one are of one size: they change
// places, and their times do not.
inline std::vector<std::byte> with_late_packet(std::vector<std::byte> pcap, std::uint64_t number) {
    constexpr std::size_t kFileHeader = 24;
    constexpr std::size_t kRecordHeader = 16;
    const auto length = [&](std::size_t at) {
        std::size_t value = 0;
        for (std::size_t i = 4; i-- > 0;) value = value << 8U | std::to_integer<std::size_t>(pcap[at + 8 + i]);
        return value;
    };
    std::size_t at = kFileHeader;
    for (std::uint64_t i = 1; i < number; ++i) at += kRecordHeader + length(at);
    const std::size_t next = at + kRecordHeader + length(at);
    const auto begin = pcap.begin();
    const auto of = [&](std::size_t place) { return begin + static_cast<std::ptrdiff_t>(place); };
    std::swap_ranges(of(at + kRecordHeader), of(next), of(next + kRecordHeader));
    return pcap;
}

}  // namespace qps::tests
