// The checksum of the Internet (RFC 1071) and where IPv4 keeps its own.
//
// Whatever is too short to have one is left alone.
#pragma once

#include <dissect/base/bytes.hpp>

namespace qps::transport {

// The sum of 16-bit words, big-endian, an odd byte at the end being the higher half; added to `sum`, not folded. Up to
// 2^40 bytes.
[[nodiscard]] constexpr std::uint64_t word_sum(dissect::Bytes bytes, std::uint64_t sum = 0) {
    std::size_t offset = 0;
    for (; offset + 4 <= bytes.size(); offset += 4) sum += dissect::read_be<std::uint32_t>(bytes, offset);
    for (; offset < bytes.size(); ++offset)
        sum += std::uint64_t{static_cast<std::uint8_t>(bytes[offset])} << (offset % 2 == 0 ? 8 : 0);
    return sum;
}

// What stands in a checksum field whose words have that sum. A 32-bit word counts as its halves: 2^16 is 1 here.
[[nodiscard]] constexpr std::uint16_t checksum_of(std::uint64_t sum) {
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

// Sets the checksum of an IPv4 header, which is as long as it says.
constexpr void seal_ipv4_header(dissect::MutableBytes header) {
    constexpr std::size_t kChecksum = 10, kShortest = 20;
    const auto length = static_cast<std::size_t>(dissect::read_bits(header, 4, 4)) * 4;
    if (length < kShortest || header.size() < length) return;
    header[kChecksum] = header[kChecksum + 1] = std::byte{0};
    const std::uint16_t checksum = checksum_of(word_sum(header.first(length)));
    header[kChecksum] = static_cast<std::byte>(checksum >> 8);
    header[kChecksum + 1] = static_cast<std::byte>(checksum);
}

}  // namespace qps::transport
