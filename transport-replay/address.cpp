#include <dissect/bytes.hpp>
#include <dissect/render_value.hpp>
#include <transport-replay/address.hpp>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kMappedPrefix = 0xffff;  // of the second half of ::ffff:a.b.c.d

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input reaches every bit of the output.
std::uint64_t mix(std::uint64_t value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

}  // namespace

std::string text(const Address& address) {
    if (address.space == AddressSpace::infiniband_lid) return fmt::format("lid {}", address.bits[1]);
    std::string out;
    if (address.bits[0] == 0 && address.bits[1] >> 32 == kMappedPrefix) {
        append_plain(out, row::ipv4("", "", 0), {address.bits[1] & 0xffffffff, {}});
        return out;
    }
    std::array<std::byte, 16> bytes{};
    write_bits(bytes, 0, 64, address.bits[0]);
    write_bits(bytes, 64, 64, address.bits[1]);
    append_plain(out, row::ipv6("", "", 0), {0, bytes});
    return out;
}

std::size_t FlowHash::operator()(const FlowKey& key) const {
    std::uint64_t hash = mix(key.source.bits[0] + 0x9e3779b97f4a7c15 * std::to_underlying(key.source.space));
    hash = mix(hash ^ key.source.bits[1]);
    hash = mix(hash ^ key.destination.bits[0]);
    hash = mix(hash ^ key.destination.bits[1]);
    return mix(hash ^ std::to_underlying(key.destination_qp) ^ static_cast<std::uint64_t>(key.source_qp) << 24);
}

}  // namespace qps::transport
