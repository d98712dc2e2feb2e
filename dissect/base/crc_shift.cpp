#include <dissect/base/crc_shift.hpp>

namespace qps::dissect {

namespace {

// A number here is a polynomial modulo that of the CRC-32; its most significant bit is the coefficient of x^0.
constexpr std::uint32_t kPolynomial = 0xedb8'8320, kOne = 0x8000'0000, kByte = kOne >> 8;
constexpr std::uint32_t kOdd = 0x9e37'79b1;  // spreads lengths over their places

constexpr std::uint32_t times_x(std::uint32_t a) { return (a & 1) != 0 ? a >> 1 ^ kPolynomial : a >> 1; }

constexpr std::uint32_t times(std::uint32_t a, std::uint32_t b) {
    std::uint32_t product = 0;
    for (; a != 0; a <<= 1, b = times_x(b))
        if ((a & kOne) != 0) product ^= b;
    return product;
}

}  // namespace

void CrcShift::make(Table& table) {
    std::uint32_t power = kOne, square = kByte;
    for (std::size_t left = table.length; left != 0; left >>= 1, square = times(square, square))
        if ((left & 1) != 0) power = times(power, square);
    for (std::size_t digit = kDigits; digit-- > 0;) {  // from x^0 on
        auto& values = table.shifted[digit];
        values = {};
        for (std::size_t bit = kValues / 2; bit != 0; bit /= 2, power = times_x(power))
            for (std::size_t value = 0; value < kValues; ++value)
                if ((value & bit) != 0) values[value] ^= power;
    }
}

std::optional<std::uint32_t> CrcShift::end_of(std::uint32_t both, std::uint32_t head, std::size_t length) {
    if (!tables_) tables_ = std::make_unique<std::array<Table, kLengths>>();
    Table& table = (*tables_)[static_cast<std::uint32_t>(length) * kOdd >> 28];
    if (table.length != length) [[unlikely]] {
        table.met = table.next == length ? table.met + 1 : 1;
        table.next = length;
        if (table.met < kOften) return {};
        table.length = length;
        make(table);
    }
    std::uint32_t shifted = 0;
    for (std::size_t digit = 0; digit < kDigits; ++digit) shifted ^= table.shifted[digit][head >> 4 * digit & 15];
    return both ^ shifted;
}

}  // namespace qps::dissect
