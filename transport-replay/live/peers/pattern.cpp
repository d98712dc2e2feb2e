#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/model/address.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace qps::transport::live::peers {

namespace {

constexpr std::size_t kPatternWord = 8;

// Eight bytes of a message.
std::array<std::byte, kPatternWord> word(std::uint32_t seed, std::uint64_t number, std::uint64_t place) {
    std::uint64_t value = 0;
    if (place == 0) {
        value = std::uint64_t{kMessageMagic} << 32 | seed;
    } else if (place == 1) {
        value = number;
    } else {
        value = mix(number * 0x9e37'79b9'7f4a'7c15 + (std::uint64_t{seed} << 32 | place));
    }
    if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
    return std::bit_cast<std::array<std::byte, kPatternWord>>(value);
}

}  // namespace

void fill(dissect::MutableBytes message, std::uint32_t seed, std::uint64_t number) {
    for (std::size_t at = 0; at < message.size(); at += kPatternWord) {
        const auto bytes = word(seed, number, at / kPatternWord);
        std::memcpy(message.data() + at, bytes.data(), std::min(kPatternWord, message.size() - at));
    }
}

bool is_filled(dissect::Bytes message, std::uint32_t seed, std::uint64_t number) {
    for (std::size_t at = 0; at < message.size(); at += kPatternWord) {
        const auto bytes = word(seed, number, at / kPatternWord);
        if (std::memcmp(message.data() + at, bytes.data(), std::min(kPatternWord, message.size() - at)) != 0)
            return false;
    }
    return true;
}

Content judge(dissect::Bytes message) {
    if (message.size() < kMessageHeader || dissect::read_be<std::uint32_t>(message, 0) != kMessageMagic)
        return Content::foreign;
    const auto seed = dissect::read_be<std::uint32_t>(message, 4);
    return is_filled(message, seed, dissect::read_be<std::uint64_t>(message, 8)) ? Content::right : Content::wrong;
}

}  // namespace qps::transport::live::peers
