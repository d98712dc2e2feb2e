// Fields of headers whose place is looked up by name at compile time: what writes and reads headers on the packet path.
//
// The field tables of dissect/headers stay the one place that knows where a field lies; here a name becomes a constant
// place, and writing becomes a store. A name that no table has, and a field that does not lie in the header it is
// written into, do not compile: headers are spans of fixed length, so nothing is left to check when a packet is
// written.
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/headers/infiniband.hpp>

#include <array>
#include <span>
#include <string_view>

namespace qps::transport::live {

// Bits of a header, as in dissect::Field.
struct FieldBits {
    std::size_t bit = 0;
    std::size_t width = 0;
    std::size_t factor = 1;
};

template <std::size_t N>
[[nodiscard]] consteval FieldBits place(const std::array<dissect::Field, N>& fields, std::string_view name) {
    const dissect::Field field = dissect::named(fields, name);
    return {field.bit, field.width, field.factor};
}

// The number that a table of names has for a name: an EtherType, a protocol.
template <std::size_t N>
[[nodiscard]] consteval std::uint64_t number_of(const std::array<dissect::ValueName, N>& names, std::string_view name) {
    for (const dissect::ValueName& row : names)
        if (row.name == name) return row.value;
    throw "no such name";
}

// The length of a header's fixed part.
template <std::size_t N>
[[nodiscard]] consteval std::size_t length_of(const std::array<dissect::Header, N>& headers, dissect::LayerKind kind) {
    for (const dissect::Header& row : headers)
        if (row.kind == kind) return row.length;
    throw "no such header";
}

inline constexpr std::size_t kEthernetLength = length_of(dissect::kLinkHeaders, dissect::LayerKind::ethernet);
inline constexpr std::size_t kVlanLength = length_of(dissect::kLinkHeaders, dissect::LayerKind::vlan);
inline constexpr std::size_t kArpLength = length_of(dissect::kLinkHeaders, dissect::LayerKind::arp);
inline constexpr std::size_t kIpv4Length = length_of(dissect::kInternetHeaders, dissect::LayerKind::ipv4);
inline constexpr std::size_t kIpv6Length = length_of(dissect::kInternetHeaders, dissect::LayerKind::ipv6);
inline constexpr std::size_t kUdpLength = length_of(dissect::kInternetHeaders, dissect::LayerKind::udp);
inline constexpr std::size_t kGrhLength = length_of(dissect::kInfinibandHeaders, dissect::LayerKind::grh);
inline constexpr std::size_t kBthLength = length_of(dissect::kInfinibandHeaders, dissect::LayerKind::bth);
inline constexpr std::size_t kIcrcLength = length_of(dissect::kInfinibandHeaders, dissect::LayerKind::icrc);

namespace place_detail {
// The last byte that a field touches holds this many bits behind it.
[[nodiscard]] consteval std::size_t bits_behind(FieldBits at) { return (8 - (at.bit + at.width) % 8) % 8; }
[[nodiscard]] consteval std::size_t end_byte(FieldBits at) { return (at.bit + at.width + 7) / 8; }
[[nodiscard]] consteval std::uint64_t mask(FieldBits at) {
    return at.width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << at.width) - 1;
}
}  // namespace place_detail

// Writes the value, of which the field takes the low bits.
template <FieldBits kAt, std::size_t N> constexpr void put(std::span<std::byte, N> header, std::uint64_t value) {
    using namespace place_detail;
    static_assert(kAt.width != 0 && kAt.width + bits_behind(kAt) <= 64 && end_byte(kAt) <= N,
                  "the field lies in the header");
    constexpr std::size_t first = kAt.bit / 8;
    constexpr std::size_t last = end_byte(kAt);
    constexpr std::uint64_t touched = mask(kAt) << bits_behind(kAt);
    const std::uint64_t bits = (value / kAt.factor) << bits_behind(kAt) & touched;
    for (std::size_t i = first; i < last; ++i) {
        const std::size_t shift = (last - 1 - i) * 8;
        if constexpr (kAt.bit % 8 == 0 && bits_behind(kAt) == 0) {
            header[i] = static_cast<std::byte>(bits >> shift);
        } else {
            header[i] = (header[i] & ~static_cast<std::byte>(touched >> shift)) | static_cast<std::byte>(bits >> shift);
        }
    }
}

template <FieldBits kAt, std::size_t N>
[[nodiscard]] constexpr std::uint64_t get(std::span<const std::byte, N> header) {
    using namespace place_detail;
    static_assert(kAt.width != 0 && kAt.width + bits_behind(kAt) <= 64 && end_byte(kAt) <= N,
                  "the field lies in the header");
    std::uint64_t bits = 0;
    for (std::size_t i = kAt.bit / 8; i < end_byte(kAt); ++i) bits = bits << 8 | static_cast<std::uint64_t>(header[i]);
    return (bits >> bits_behind(kAt) & mask(kAt)) * kAt.factor;
}

// 128 bits: an IPv6 address or a GID, as two numbers in host order.
template <FieldBits kAt, std::size_t N>
constexpr void put_wide(std::span<std::byte, N> header, const std::array<std::uint64_t, 2>& value) {
    static_assert(kAt.width == 128);
    put<FieldBits{kAt.bit, 64}>(header, value[0]);
    put<FieldBits{kAt.bit + 64, 64}>(header, value[1]);
}

template <FieldBits kAt, std::size_t N>
[[nodiscard]] constexpr std::array<std::uint64_t, 2> get_wide(std::span<const std::byte, N> header) {
    static_assert(kAt.width == 128);
    return {get<FieldBits{kAt.bit, 64}>(header), get<FieldBits{kAt.bit + 64, 64}>(header)};
}

}  // namespace qps::transport::live
