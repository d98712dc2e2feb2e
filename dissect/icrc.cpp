#include <dissect/icrc.hpp>

#include <algorithm>
#include <array>
#include <bit>

#include <boost/crc.hpp>
#include <isa-l/crc.h>

namespace qps::dissect {

namespace {

constexpr std::size_t kBthLength = 12;
constexpr std::size_t kHeadLength = kMaxNetworkHeaders + kBthLength;

// Packets up to this length are copied whole behind their masked headers: one call of the CRC costs less than two.
constexpr std::size_t kOneCall = 256;

// CRC-32 of the eight bytes of ones that stand for the LRH (its register is then 0xDEBB20E3).
constexpr std::uint32_t kAfterOnes = 0x2144df1c;

std::uint32_t crc32(std::uint32_t before, Bytes bytes) {
    return crc32_gzip_refl(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

void set_ones(std::byte* head, std::initializer_list<std::size_t> places) {
    for (const std::size_t place : places) head[place] = std::byte{0xff};
}

void mask(IcrcCoverage coverage, std::byte* head, std::size_t bth) {
    switch (coverage) {
        case IcrcCoverage::native_local: head[0] |= std::byte{0xf0}; break;  // VL
        case IcrcCoverage::roce_v2_ipv4: set_ones(head, {1, 8, 10, 11, 26, 27}); break;
        case IcrcCoverage::roce_v2_ipv6: set_ones(head, {46, 47}); [[fallthrough]];
        case IcrcCoverage::grh:
            head[0] |= std::byte{0x0f};
            set_ones(head, {1, 2, 3, 7});
            break;
    }
    head[bth + 4] = std::byte{0xff};
}

// Offset of the BTH that the coverage needs for its masked bytes to exist.
constexpr std::size_t least_bth(IcrcCoverage coverage) {
    switch (coverage) {
        case IcrcCoverage::native_local: return 8;
        case IcrcCoverage::grh: return 40;
        case IcrcCoverage::roce_v2_ipv4: return 28;
        case IcrcCoverage::roce_v2_ipv6: return 48;
    }
    return kMaxNetworkHeaders;
}

}  // namespace

std::uint32_t invariant_crc(IcrcCoverage coverage, Bytes covered, std::size_t bth) {
    if (bth < least_bth(coverage) || bth > kMaxNetworkHeaders || covered.size() < bth + kBthLength) return 0;
    const std::uint32_t before = coverage == IcrcCoverage::native_local ? 0 : kAfterOnes;
    std::array<std::byte, kOneCall> buffer;
    static_assert(kOneCall >= kHeadLength);
    const std::size_t head = covered.size() <= kOneCall ? covered.size() : bth + kBthLength;
    std::copy_n(covered.data(), head, buffer.data());
    mask(coverage, buffer.data(), bth);
    std::uint32_t crc = crc32(before, Bytes(buffer.data(), head));
    if (head < covered.size()) crc = crc32(crc, covered.subspan(head));
    return std::byteswap(crc);
}

std::uint16_t variant_crc(Bytes covered) {
    boost::crc_optimal<16, 0x100B, 0xFFFF, 0xFFFF, true, true> crc;
    crc.process_bytes(covered.data(), covered.size());
    return std::byteswap(static_cast<std::uint16_t>(crc.checksum()));
}

}  // namespace qps::dissect
