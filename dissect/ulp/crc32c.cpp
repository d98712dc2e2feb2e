#include <dissect/ulp/crc32c.hpp>

#include <array>

namespace qps::dissect {

namespace {

constexpr std::size_t kStep = 8;

// kTables[n][byte]: what a byte makes of the register when n more bytes follow it.
constexpr auto kTables = [] {
    constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reflected
    std::array<std::array<std::uint32_t, 256>, kStep> tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) value = (value & 1U) != 0 ? value >> 1 ^ kPolynomial : value >> 1;
        tables[0][byte] = value;
    }
    for (std::size_t n = 1; n < kStep; ++n)
        for (std::size_t byte = 0; byte < 256; ++byte)
            tables[n][byte] = tables[n - 1][byte] >> 8 ^ tables[0][tables[n - 1][byte] & 0xff];
    return tables;
}();

}  // namespace

std::uint32_t crc32c(Bytes covered) {
    std::uint32_t value = ~std::uint32_t{0};
    while (covered.size() >= kStep) {
        const std::uint64_t word = read_le<std::uint64_t>(covered, 0) ^ value;
        value = 0;
        for (std::size_t i = 0; i < kStep; ++i) value ^= kTables[kStep - 1 - i][word >> 8 * i & 0xff];
        covered = covered.subspan(kStep);
    }
    for (const std::byte byte : covered)
        value = value >> 8 ^ kTables[0][(value ^ static_cast<std::uint32_t>(byte)) & 0xff];
    return __builtin_bswap32(~value);
}

}  // namespace qps::dissect
