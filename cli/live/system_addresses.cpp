#include <cli/live/system_addresses.hpp>
#include <dissect/base/bytes.hpp>
#include <transport-replay/live/host/addresses.hpp>

#include <algorithm>
#include <bit>
#include <memory>

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace qps::cli {

using namespace transport;
using namespace transport::live;

namespace {

std::optional<Address> address_of(const sockaddr* socket_address) {
    if (socket_address == nullptr) return std::nullopt;
    if (socket_address->sa_family == AF_INET)
        return ipv4_address(ntohl(reinterpret_cast<const sockaddr_in*>(socket_address)->sin_addr.s_addr));
    if (socket_address->sa_family != AF_INET6) return std::nullopt;
    const auto& bytes = reinterpret_cast<const sockaddr_in6*>(socket_address)->sin6_addr.s6_addr;
    const dissect::Bytes view = std::as_bytes(std::span(bytes, 16));
    return ipv6_address(dissect::read_be<std::uint64_t>(view, 0), dissect::read_be<std::uint64_t>(view, 8));
}

// Bits of a netmask that are one.
std::uint8_t prefix_length_of(const Address& mask, Family family) {
    const int high = std::popcount(mask.bits[0]);
    const int low = std::popcount(mask.bits[1]);
    return static_cast<std::uint8_t>(family == Family::ipv4 ? std::popcount(ipv4_bits(mask)) : high + low);
}

}  // namespace

std::vector<SystemAddress> system_addresses() {
    std::vector<SystemAddress> found;
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return found;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> held(all, &freeifaddrs);
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
        const auto address = address_of(each->ifa_addr);
        if (!address) continue;
        const auto mask = address_of(each->ifa_netmask);
        const Family family = family_of(*address);
        const std::uint8_t whole = family == Family::ipv4 ? 32 : 128;
        found.push_back({each->ifa_name, *address, mask ? prefix_length_of(*mask, family) : whole});
    }
    return found;
}

std::optional<Address> listening_place(std::span<const SystemAddress> systems, std::string_view interface,
                                       const Address& own, std::uint8_t prefix_length) {
    const auto first = [&](const auto& fits) -> std::optional<Address> {
        const auto found = std::ranges::find_if(systems, fits);
        return found == systems.end() ? std::nullopt : std::optional(found->address);
    };
    const auto here = [&](const SystemAddress& each) { return each.interface == interface; };
    // A link-local address is none without the name of its interface.
    const auto near = [&](const SystemAddress& each) {
        return !is_link_local(each.address) && same_prefix(each.address, own, prefix_length);
    };
    if (const auto same = first([&](const SystemAddress& each) { return each.address == own; })) return same;
    if (const auto beside = first([&](const SystemAddress& each) { return here(each) && near(each); })) return beside;
    if (const auto bridge = first(near)) return bridge;
    return first([&](const SystemAddress& each) { return here(each) && !is_link_local(each.address); });
}

}  // namespace qps::cli
