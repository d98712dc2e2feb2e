// What messages of ours are filled with, so that a receiver can tell whether every byte of it is right.
//
//   0   4  "QPSm"
//   4   4  seed of the sender
//   8   8  number of the message, from 0
//   16     bytes that follow from seed, number and place alone
//
// Big-endian; a shorter message is the beginning of that. Messages of others do not begin so and are not judged.
#pragma once

#include <dissect/base/bytes.hpp>

#include <cstdint>

namespace qps::transport::live::peers {

inline constexpr std::uint32_t kMessageMagic = 0x5150'536d;
inline constexpr std::size_t kMessageHeader = 16;

void fill(dissect::MutableBytes message, std::uint32_t seed, std::uint64_t number);
[[nodiscard]] bool is_filled(dissect::Bytes message, std::uint32_t seed, std::uint64_t number);

enum class Content : std::uint8_t { right, wrong, foreign };
// By what the message says of itself.
[[nodiscard]] Content judge(dissect::Bytes message);

// Writes the low bytes of `value`, most significant first; nothing where they do not fit.
template <class T> constexpr void write_be(dissect::MutableBytes bytes, std::size_t offset, T value) {
    dissect::write_bits(bytes, offset * 8, sizeof(T) * 8, static_cast<std::uint64_t>(value));
}

}  // namespace qps::transport::live::peers
