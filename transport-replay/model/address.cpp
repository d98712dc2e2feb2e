#include <dissect/base/bytes.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/model/address.hpp>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kMappedPrefix = 0xffff;  // of the second half of ::ffff:a.b.c.d

}  // namespace

std::string text(NetworkId network) {
    const auto number = std::to_underlying(network);
    if (number == 0) return {};
    return number < kIsVni ? fmt::format("VLAN {}", number) : fmt::format("VNI {}", number - kIsVni);
}

std::string text(const Address& address) {
    if (address.space == AddressSpace::infiniband_lid) return fmt::format("lid {}", address.bits[1]);
    std::string out;
    if (address.space == AddressSpace::ethernet) {
        append_plain(out, row::mac("", "", 0), {address.bits[1], {}});
        return out;
    }
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

}  // namespace qps::transport
