#include <dissect/capture/descriptor.hpp>
#include <transport-replay/live/device/interface_facts.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#ifdef __linux__
#include <linux/ethtool.h>
#include <linux/sockios.h>
#endif

namespace qps::transport::live {

namespace {

bool same_address(const sockaddr& a, const sockaddr& b) {
    if (a.sa_family != b.sa_family) return false;
    if (a.sa_family == AF_INET)
        return std::memcmp(&reinterpret_cast<const sockaddr_in&>(a).sin_addr,
                           &reinterpret_cast<const sockaddr_in&>(b).sin_addr, 4) == 0;
    if (a.sa_family != AF_INET6) return false;
    const auto &left = reinterpret_cast<const sockaddr_in6&>(a), &right = reinterpret_cast<const sockaddr_in6&>(b);
    return std::memcmp(&left.sin6_addr, &right.sin6_addr, 16) == 0 && left.sin6_scope_id == right.sin6_scope_id;
}

// All of 127.0.0.0/8 is this machine's, though no interface lists it.
bool loopback(const sockaddr& address) {
    constexpr std::uint32_t kNetwork = 127;
    return address.sa_family == AF_INET &&
           ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == kNetwork;
}

// As ethtool asks; 0 where the driver has no answer, or the link is down.
dissect::BitsPerSecond speed_of([[maybe_unused]] int socket, [[maybe_unused]] ifreq request) {
#ifdef __linux__
    ethtool_cmd asked{};
    asked.cmd = ETHTOOL_GSET;
    request.ifr_data = reinterpret_cast<char*>(&asked);
    if (ioctl(socket, SIOCETHTOOL, &request) != 0) return {};
    constexpr std::uint64_t kMegabit = 1'000'000;
    const std::uint32_t speed = ethtool_cmd_speed(&asked);
    if (speed != 0 && speed != static_cast<std::uint32_t>(SPEED_UNKNOWN))
        return dissect::BitsPerSecond{speed * kMegabit};
#endif
    return {};
}

}  // namespace

InterfaceFacts facts_of_interface(const std::string& name) {
    InterfaceFacts facts;
    ifreq request{};
    if (name.empty() || name.size() >= sizeof(request.ifr_name)) return facts;
    name.copy(request.ifr_name, sizeof(request.ifr_name) - 1);
    const dissect::Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), true);
    if (socket.number() < 0) return facts;
    if (ioctl(socket.number(), SIOCGIFMTU, &request) == 0)
        facts.mtu = static_cast<std::size_t>(std::max(request.ifr_mtu, 0));
#ifdef SIOCGIFHWADDR  // of Linux; elsewhere the address is not told
    if (ioctl(socket.number(), SIOCGIFHWADDR, &request) == 0)
        for (int i = 0; i < 6; ++i)
            facts.mac = facts.mac << 8 | static_cast<std::uint8_t>(request.ifr_hwaddr.sa_data[i]);
#endif
    facts.speed = speed_of(socket.number(), request);
    return facts;
}

std::size_t receive_queues_of([[maybe_unused]] const std::string& name) {
#ifdef __linux__
    ifreq request{};
    if (name.empty() || name.size() >= sizeof(request.ifr_name)) return 0;
    name.copy(request.ifr_name, sizeof(request.ifr_name) - 1);
    ethtool_channels asked{};
    asked.cmd = ETHTOOL_GCHANNELS;
    request.ifr_data = reinterpret_cast<char*>(&asked);
    const dissect::Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), true);
    if (socket.number() >= 0 && ioctl(socket.number(), SIOCETHTOOL, &request) == 0)
        return std::size_t{asked.rx_count} + asked.combined_count;
#endif
    return 0;
}

std::string interface_with(const sockaddr& address) {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return {};
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> held(list, &freeifaddrs);
    for (const ifaddrs* row = list; row != nullptr; row = row->ifa_next) {
        if (row->ifa_addr == nullptr) continue;
        if (same_address(*row->ifa_addr, address) || (loopback(address) && loopback(*row->ifa_addr)))
            return row->ifa_name;
    }
    return {};
}

}  // namespace qps::transport::live
