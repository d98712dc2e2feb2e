// Borrowed bytes and bounded reads of them.
//
// The only place that turns bytes into integers. Every read is checked: one that would leave the span
// yields zero, so no length on the wire, however wrong, makes us touch memory that is not the frame's.
// Callers that must tell "zero" from "not there" compare sizes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace qps::dissect {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// The part of `bytes` that starts at `offset`, at most `length` long; empty where the span ends before.
[[nodiscard]] constexpr Bytes slice(Bytes bytes, std::size_t offset, std::size_t length = std::dynamic_extent) {
    if (offset >= bytes.size()) return {};
    const std::size_t left = bytes.size() - offset;
    return bytes.subspan(offset, length < left ? length : left);
}

// Unsigned big-endian integer of `sizeof(T)` bytes at `offset`; zero where the span ends before it.
template <class T> [[nodiscard]] constexpr T read_be(Bytes bytes, std::size_t offset) {
    if (bytes.size() < sizeof(T) || offset > bytes.size() - sizeof(T)) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value = value << 8 | static_cast<std::uint64_t>(bytes[offset + i]);
    return static_cast<T>(value);
}

// The same, least significant byte first (capture file headers, ERF timestamps, CRCs on the wire).
template <class T> [[nodiscard]] constexpr T read_le(Bytes bytes, std::size_t offset) {
    if (bytes.size() < sizeof(T) || offset > bytes.size() - sizeof(T)) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) value = value << 8 | static_cast<std::uint64_t>(bytes[offset + i]);
    return static_cast<T>(value);
}

// `width` bits (1..64), the first being bit `bit` counted from the most significant bit of byte 0,
// as the specification draws headers. Zero where the span ends before the last of them.
[[nodiscard]] constexpr std::uint64_t read_bits(Bytes bytes, std::size_t bit, std::size_t width) {
    const std::size_t first = bit / 8;
    const std::size_t last = (bit + width + 7) / 8;  // one past the last byte touched
    if (width == 0 || width > 64 || last > bytes.size()) return 0;
    std::uint64_t value = static_cast<std::uint64_t>(bytes[first]) & (0xffU >> (bit % 8));
    std::size_t have = 8 - bit % 8;
    for (std::size_t i = first + 1; i < last; ++i) {
        const auto byte = static_cast<std::uint64_t>(bytes[i]);
        const std::size_t want = width - have < 8 ? width - have : 8;
        value = value << want | byte >> (8 - want);
        have += want;
    }
    return have > width ? value >> (have - width) : value;
}

// The same for headers that are little-endian: bits are counted from the least significant bit of byte 0 on, through
// the bytes.
[[nodiscard]] constexpr std::uint64_t read_bits_le(Bytes bytes, std::size_t bit, std::size_t width) {
    const std::size_t first = bit / 8;
    const std::size_t last = (bit + width + 7) / 8;  // one past the last byte touched
    if (width == 0 || width > 64 || last > bytes.size()) return 0;
    std::uint64_t value = static_cast<std::uint64_t>(bytes[first]) >> (bit % 8);
    std::size_t have = 8 - bit % 8;
    for (std::size_t i = first + 1; i < last; ++i, have += 8) value |= static_cast<std::uint64_t>(bytes[i]) << have;
    return width < 64 ? value & ((std::uint64_t{1} << width) - 1) : value;
}

// Writes the low `width` bits of `value` where read_bits() reads them; writes nothing where they do not fit.
constexpr void write_bits(MutableBytes bytes, std::size_t bit, std::size_t width, std::uint64_t value) {
    if (width == 0 || width > 64 || (bit + width + 7) / 8 > bytes.size()) return;
    for (std::size_t i = 0; i < width; ++i) {
        const std::size_t at = bit + i;
        const auto mask = static_cast<std::byte>(0x80U >> (at % 8));
        const bool one = (value >> (width - 1 - i) & 1U) != 0;
        bytes[at / 8] = one ? bytes[at / 8] | mask : bytes[at / 8] & ~mask;
    }
}

// Likewise for read_bits_le().
constexpr void write_bits_le(MutableBytes bytes, std::size_t bit, std::size_t width, std::uint64_t value) {
    if (width == 0 || width > 64 || (bit + width + 7) / 8 > bytes.size()) return;
    for (std::size_t i = 0; i < width; ++i) {
        const std::size_t at = bit + i;
        const auto mask = static_cast<std::byte>(1U << (at % 8));
        bytes[at / 8] = (value >> i & 1U) != 0 ? bytes[at / 8] | mask : bytes[at / 8] & ~mask;
    }
}

}  // namespace qps::dissect
