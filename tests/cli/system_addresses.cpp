// Where TCP listens for callers of an endpoint whose address may be its own.
#include <cli/live/system_addresses.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/live/host/addresses.hpp>

#include <vector>

using namespace qps::cli;
using namespace qps::transport;
using qps::transport::live::ipv4_address;
using qps::transport::live::ipv6_address;

namespace {

constexpr Address v4(std::uint32_t last) { return ipv4_address(0x0a4d'0000 | last); }  // 10.77.0.x
constexpr Address kLinkLocal = ipv6_address(0xfe80'0000'0000'0000, 1);
constexpr Address kGlobal = ipv6_address(0xfd00'0000'0000'0000, 1);

}  // namespace

TEST_CASE("TCP listens where callers of the endpoint come from") {
    const std::vector<SystemAddress> systems{{"lo", ipv4_address(0x7f00'0001), 8},
                                             {"br0", v4(1), 24},
                                             {"br0", kLinkLocal, 64},
                                             {"br0", kGlobal, 64},
                                             {"eth1", v4(0x105), 24},
                                             {"eth1", v4(7), 24}};
    CHECK(listening_place(systems, "br0", v4(1), 24) == v4(1));      // the system's address
    CHECK(listening_place(systems, "eth1", v4(9), 24) == v4(7));     // beside it on the interface, before that of br0
    CHECK(listening_place(systems, "port0", v4(101), 24) == v4(1));  // a port of a bridge has none
    CHECK(listening_place(systems, "eth1", ipv4_address(0x0b00'0001), 8) ==
          v4(0x105));  // another network: the first of the interface
    CHECK(listening_place(systems, "br0", ipv6_address(0xfd00'0000'0000'0000, 9), 64) == kGlobal);
}

TEST_CASE("no address of the system is near, or only one that needs the name of its interface") {
    const std::vector<SystemAddress> systems{
        {"lo", ipv4_address(0x7f00'0001), 8}, {"eth1", kLinkLocal, 64}, {"eth2", v4(0x105), 24}};
    CHECK_FALSE(listening_place(systems, "eth1", v4(9), 24));
    CHECK_FALSE(listening_place(systems, "eth1", ipv6_address(0xfe80'0000'0000'0000, 9), 64));
    CHECK_FALSE(listening_place({}, "eth1", v4(9), 24));
    CHECK(listening_place(systems, "eth1", v4(9), 16) == v4(0x105));  // the user says how wide the network is
}
