// CrcShift: the CRC-32 of the end of some bytes, from that of all of them and that of their beginning, without reading
// the end. What an ICRC covers is a head and a payload: who verified it knows the CRC of the payload for the price of
// the head's.
//
// CRC(head, end) = CRC(head) x^(8 n) + CRC(end) modulo the polynomial, for an end of n bytes (as zlib's
// crc32_combine()). Multiplying by one power is eight look-ups in a table; tables of the lengths that come often are
// kept, since payloads have few lengths.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace qps::dissect {

class CrcShift {
public:
    // `both`: of all bytes, `head`: of those before the last `length`. Nothing where the length did not come often: the
    // table would cost more than the bytes.
    [[nodiscard]] std::optional<std::uint32_t> end_of(std::uint32_t both, std::uint32_t head, std::size_t length);

private:
    static constexpr std::size_t kLengths = 16;  // kept
    static constexpr std::uint32_t kOften = 4;   // in a row, of those that have one place
    static constexpr std::size_t kDigits = 8, kValues = 16;
    struct Table {
        std::size_t length = SIZE_MAX;
        std::size_t next = SIZE_MAX;  // a length that would have the place
        std::uint32_t met = 0;
        std::array<std::array<std::uint32_t, kValues>, kDigits> shifted{};
    };
    static void make(Table& table);

    std::unique_ptr<std::array<Table, kLengths>> tables_;
};

}  // namespace qps::dissect
