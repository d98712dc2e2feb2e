#include <dissect/base/icrc.hpp>

#include <array>
#include <bit>
#include <cstring>
#include <initializer_list>

#include <boost/crc.hpp>
#include <isa-l/crc.h>

namespace qps::dissect {

namespace {

constexpr std::size_t kBthLength = 12;

// All masked bytes lie in the first kHead bytes of any coverage.
constexpr std::size_t kHead = 64;
static_assert(kHead >= bth_offset(IcrcCoverage::roce_v2_ipv6) + kBthLength);

// Packets up to this length are copied whole behind their masked headers: one call of the CRC costs less than two.
constexpr std::size_t kOneCall = 256;

// CRC-32 of the eight bytes of ones that stand for the LRH (its register is then 0xDEBB20E3).
constexpr std::uint32_t kAfterOnes = 0x2144df1c;

using Mask = std::array<std::byte, kHead>;

// The bits that count as ones.
constexpr Mask make_mask(IcrcCoverage coverage) {
    Mask mask{};
    const auto ones = [&](std::initializer_list<std::size_t> places) {
        for (const std::size_t place : places) mask[place] = std::byte{0xff};
    };
    switch (coverage) {
        case IcrcCoverage::native_local: mask[0] = std::byte{0xf0}; break;     // VL
        case IcrcCoverage::roce_v2_ipv4: ones({1, 8, 10, 11, 26, 27}); break;  // TOS, TTL, checksums
        case IcrcCoverage::roce_v2_ipv6: ones({46, 47}); [[fallthrough]];      // UDP checksum
        case IcrcCoverage::grh:
            mask[0] = std::byte{0x0f};  // traffic class, flow label, hop limit
            ones({1, 2, 3, 7});
            break;
    }
    ones({bth_offset(coverage) + 4});  // FECN, BECN, reserved
    return mask;
}

constexpr std::array kMasks{make_mask(IcrcCoverage::native_local), make_mask(IcrcCoverage::grh),
                            make_mask(IcrcCoverage::roce_v2_ipv4), make_mask(IcrcCoverage::roce_v2_ipv6)};

std::uint32_t crc32(std::uint32_t before, Bytes bytes) {
    return crc32_gzip_refl(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace

std::uint32_t invariant_crc(IcrcCoverage coverage, Bytes covered) {
    if (covered.size() < bth_offset(coverage) + kBthLength) return 0;
    const std::uint32_t before = coverage == IcrcCoverage::native_local ? 0 : kAfterOnes;
    const Mask& mask = kMasks[static_cast<std::size_t>(coverage)];
    alignas(kHead) std::array<std::byte, kOneCall> buffer;
    if (covered.size() < kHead) {
        for (std::size_t i = 0; i < covered.size(); ++i) buffer[i] = covered[i] | mask[i];
        return std::byteswap(crc32(before, Bytes(buffer.data(), covered.size())));
    }
    // A fixed length, so that whole vectors are written where the CRC reads whole vectors.
    for (std::size_t i = 0; i < kHead; ++i) buffer[i] = covered[i] | mask[i];
    if (covered.size() <= kOneCall) {
        std::memcpy(buffer.data() + kHead, covered.data() + kHead, covered.size() - kHead);
        return std::byteswap(crc32(before, Bytes(buffer.data(), covered.size())));
    }
    return std::byteswap(crc32(crc32(before, Bytes(buffer.data(), kHead)), covered.subspan(kHead)));
}

std::uint32_t crc_of_head(IcrcCoverage coverage, Bytes covered, std::size_t count) {
    if (covered.size() < kHead || count > covered.size() || count > kMostHead) return 0;
    const Mask& mask = kMasks[static_cast<std::size_t>(coverage)];
    alignas(kHead) std::array<std::byte, kMostHead> buffer;
    for (std::size_t i = 0; i < kHead; ++i) buffer[i] = covered[i] | mask[i];
    if (count > kHead) std::memcpy(buffer.data() + kHead, covered.data() + kHead, count - kHead);
    return crc32(coverage == IcrcCoverage::native_local ? 0 : kAfterOnes, Bytes(buffer.data(), count));
}

std::uint32_t crc_of(Bytes bytes) { return bytes.empty() ? 0 : crc32(0, bytes); }

std::uint16_t variant_crc(Bytes covered) {
    boost::crc_optimal<16, 0x100B, 0xFFFF, 0xFFFF, true, true> crc;
    crc.process_bytes(covered.data(), covered.size());
    return std::byteswap(static_cast<std::uint16_t>(crc.checksum()));
}

}  // namespace qps::dissect
