// The host against a Linux kernel: a bridge with a veth in a network namespace of the test's own. The kernel has the
// bridge's addresses, our host is at the far end of the veth.
#include <tests/support/lan.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>
#include <transport-replay/live/device/packet_ring.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <thread>

#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace qps::tests::lan;

namespace {

constexpr Mac kBridgeMac{0x0200'0000'00bb};

bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

std::string output_of(const std::string& command) {
    std::string text;
    FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
    if (pipe == nullptr) return text;
    std::array<char, 512> piece{};
    while (fgets(piece.data(), piece.size(), pipe) != nullptr) text += piece.data();
    pclose(pipe);
    return text;
}

// A namespace is of a thread, and gone with it and its sockets.
void beside_a_kernel(const std::function<void()>& test) {
    std::exception_ptr thrown;
    bool made = false;
    std::thread([&] {
        made = unshare(CLONE_NEWNET) == 0 &&
               run("ip link add br0 address 02:00:00:00:00:bb type bridge mcast_snooping 1") &&
               run("ip link add vc type veth peer name vd") && run("ip link set vc master br0 up") &&
               run("echo 1 > /proc/sys/net/ipv6/conf/vd/disable_ipv6") && run("ip link set vd up") &&
               run("ip link set br0 up") && run("ip address add 192.0.2.2/24 dev br0") &&
               run("ip address add 2001:db8::b/64 dev br0 nodad");
        if (!made) return;
        try {
            test();
        } catch (...) {
            thrown = std::current_exception();
        }
    }).join();
    if (thrown) std::rethrow_exception(thrown);
    if (!made)
        WARN("SKIPPED: no network namespace with a bridge can be made here (that takes root and the program ip)");
}

Instant clock_now() { return Instant{std::chrono::system_clock::now().time_since_epoch().count()}; }

struct Station {
    Device ring;
    Host host;

    // Lets the host live until `done`, at most for that long.
    bool live(std::int64_t milliseconds, const std::function<bool()>& done = [] { return false; }) {
        const Instant end = clock_now() + microseconds(milliseconds * 1000);
        for (Instant now = clock_now(); now < end; now = clock_now()) {
            for (const ReceivedFrame& frame : ring.receive(now)) last = host.process(frame.bytes, now);
            for (;;) {
                const std::size_t length = host.poll(now, ring.reserve(now));
                if (length == 0) break;
                ring.commit(length, now);
            }
            ring.flush(now);
            if (done()) return true;
            pollfd waiting{ring.descriptor(), POLLIN, 0};
            poll(&waiting, 1, 5);
        }
        return false;
    }

    Reach reach(Network network, const Address& to) {
        Route route = route_over(network, to);
        const Reach reach = host.complete(route, 0, clock_now());
        if (reach == Reach::ready) CHECK(route.destination_mac == std::to_underlying(kBridgeMac));
        return reach;
    }

    HostArrival last{};
};

Station station(const HostSettings& settings) {
    auto ring = open_packet_ring({.interface = "vd", .filter = {}});
    if (!ring) FAIL(ring.error().sentence);
    return {std::move(*ring), Host(settings, clock_now())};
}

// What ping(8) does: an echo request through the kernel, until its answer is there.
bool ping(Station& station, int family, std::uint8_t request, std::uint8_t reply, const sockaddr* to,
          socklen_t length) {
    const int out = socket(family, SOCK_RAW | SOCK_NONBLOCK,
                           family == AF_INET ? static_cast<int>(IPPROTO_ICMP) : static_cast<int>(IPPROTO_ICMPV6));
    REQUIRE(out >= 0);
    std::array<std::byte, 64> message{};
    message[0] = std::byte{request};
    message[5] = std::byte{77};
    const std::uint16_t checksum = checksum_of(word_sum(message));  // of IPv6 the kernel's business
    write_bits(message, 16, 16, checksum);
    REQUIRE(sendto(out, message.data(), message.size(), 0, to, length) == static_cast<ssize_t>(message.size()));
    const bool answered = station.live(2000, [&] {
        std::array<std::byte, 256> room{};
        const ssize_t got = recv(out, room.data(), room.size(), 0);
        const std::size_t at = family == AF_INET ? 20 : 0;  // raw IPv4 sockets show the IP header
        return got == static_cast<ssize_t>(at + message.size()) && room[at] == std::byte{reply} &&
               room[at + 5] == std::byte{77};
    });
    close(out);
    return answered;
}

bool ping4(Station& station, std::uint32_t to) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(to);
    return ping(station, AF_INET, 8, 0, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

bool ping6(Station& station, const Address& to) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    const MutableBytes bytes = std::as_writable_bytes(std::span(address.sin6_addr.s6_addr));
    write_bits(bytes, 0, 64, to.bits[0]);
    write_bits(bytes, 64, 64, to.bits[1]);
    return ping(station, AF_INET6, 128, 129, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

}  // namespace

TEST_CASE("a Linux kernel finds the host, pings it, and is found", "[wire]") {
    beside_a_kernel([] {
        Station us = station(settings_of(kMacA, kA, kA6));
        REQUIRE(us.live(3000, [&] { return us.host.settled(); }));
        for (const OwnAddress& own : us.host.addresses()) CHECK(own.state == AddressState::ready);
        CHECK(ping4(us, ipv4_bits(kA)));
        CHECK(ping6(us, kA6));
        CHECK_FALSE(ping4(us, 0xc0000263));
        CHECK(us.host.counts().echoed == 2);
        CHECK(output_of("ip -4 neigh show 192.0.2.1").find("02:00:00:00:00:aa") != std::string::npos);
        CHECK(output_of("ip -6 neigh show 2001:db8::a").find("02:00:00:00:00:aa") != std::string::npos);
        CHECK(us.live(2000, [&] { return us.reach(Network::roce_v2_ipv4, kB) == Reach::ready; }));
        CHECK(us.live(2000, [&] { return us.reach(Network::roce_v2_ipv6, kB6) == Reach::ready; }));
        CHECK(
            us.live(2000, [&] { return us.reach(Network::roce_v2_ipv6, link_local_of(kBridgeMac)) == Reach::ready; }));
        CHECK(us.live(4500,
                      [&] { return us.reach(Network::roce_v2_ipv4, ipv4_address(0xc0000263)) == Reach::unreachable; }));
        CHECK(us.host.counts().conflicts == 0);
    });
}

TEST_CASE("an address that a Linux kernel has is not taken", "[wire]") {
    beside_a_kernel([] {
        Station us = station(settings_of(kMacA, kB, kB6));
        REQUIRE(us.live(3000, [&] { return us.host.settled(); }));
        std::size_t duplicates = 0;
        for (const OwnAddress& own : us.host.addresses()) duplicates += own.state == AddressState::duplicate ? 1 : 0;
        CHECK(duplicates == 2);
        CHECK(us.host.counts().conflicts >= 2);
    });
}

TEST_CASE("a Linux kernel does not take an address that the host has", "[wire]") {
    beside_a_kernel([] {
        Station us = station(settings_of(kMacA, kA, kA6));
        REQUIRE(us.live(3000, [&] { return us.host.settled(); }));
        REQUIRE(run("ip address add 2001:db8::a/64 dev br0"));
        CHECK(us.live(4000,
                      [&] { return output_of("ip -6 address show dev br0").find("dadfailed") != std::string::npos; }));
    });
}

TEST_CASE("a snooping bridge of Linux learns of our groups, and of their end", "[wire]") {
    beside_a_kernel([] {
        if (!run("bridge mdb show")) {
            WARN("SKIPPED: there is no bridge(8)");
            return;
        }
        Station us = station(settings_of(kMacA, kA, kA6));
        REQUIRE(us.live(3000, [&] { return us.host.settled(); }));
        const auto knows = [](std::string_view group) {
            return output_of("bridge mdb show dev br0").find(group) != std::string::npos;
        };
        REQUIRE(us.host.join(kGroup, clock_now()));
        REQUIRE(us.host.join(kGroup6, clock_now()));
        CHECK(us.live(3000, [&] { return knows("239.1.2.3") && knows("ff0e::1234:5678"); }));
        CHECK(knows("ff02::1:ff00:a"));  // where solicitations for our address go
        run("ip link set vc type bridge_slave fastleave on");
        us.host.leave(kGroup, clock_now());
        us.host.leave(kGroup6, clock_now());
        CHECK(us.live(5000, [&] { return !knows("239.1.2.3") && !knows("ff0e::1234:5678"); }));
    });
}
