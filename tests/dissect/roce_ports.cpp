// UDP ports beside 4791: what goes to them is decoded as RoCEv2 once they are said, and as what it was before once they
// are not.
#include <dissect/headers/internet.hpp>
#include <dissect/headers/roce_ports.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>

#include <algorithm>

using namespace qps::dissect;
using qps::tests::Decoded;

namespace {

constexpr Opcode kWriteOnly{0x0a};

struct WithPorts {
    explicit WithPorts(const std::vector<std::uint16_t>& ports) { set_roce_ports(ports); }
    ~WithPorts() { set_roce_ports({}); }
    WithPorts(const WithPorts&) = delete;
    WithPorts& operator=(const WithPorts&) = delete;
};

}  // namespace

TEST_CASE("datagrams to another port are RoCEv2 as long as somebody says so") {
    for (const Network network : {Network::roce_v2_ipv4, Network::roce_v2_ipv6}) {
        PacketSpec spec = transport_packet(kWriteOnly, network);
        const std::string usual = Decoded(spec).layers();
        REQUIRE(set(spec, "udp.dstport", 4800));
        const std::string before = Decoded(spec).layers();
        CHECK(before.ends_with("udp data"));
        {
            const WithPorts ports({17, 4800});
            const Decoded decoded(spec);
            CHECK(decoded.layers() == usual);
            CHECK(decoded.packet.icrc.status == CrcStatus::good);
            CHECK(decoded.number("udp.dstport") == 4800U);
            CHECK(roce_ports() == std::vector<std::uint16_t>{17, 4800});
            REQUIRE(set(spec, "udp.dstport", 4791));
            CHECK(Decoded(spec).layers() == usual);
            REQUIRE(set(spec, "udp.dstport", 4801));
            CHECK(Decoded(spec).layers() == before);
            REQUIRE(set(spec, "udp.dstport", 4800));
        }
        CHECK(Decoded(spec).layers() == before);
    }
}

TEST_CASE("RoCE ports are read as people write them, and what is none is said") {
    CHECK(*read_roce_ports("") == std::vector<std::uint16_t>{});
    CHECK(*read_roce_ports("4800, 4801,4800,4791") == std::vector<std::uint16_t>{4800, 4801});
    CHECK(roce_ports_text(std::vector<std::uint16_t>{4800, 4801}) == "4800,4801");
    CHECK(read_roce_ports("0").error() == "invalid RoCE port '0': expected 1 to 65535");
    CHECK(read_roce_ports("65536").error() == "invalid RoCE port '65536': expected 1 to 65535");
    CHECK(read_roce_ports("4800;4801").error() == "invalid RoCE port '4800;4801': expected 1 to 65535");
    CHECK(read_roce_ports("4800,,4801").error() == "invalid RoCE port '': expected 1 to 65535");
    CHECK(read_roce_ports(" ").error() == "invalid RoCE port '': expected 1 to 65535");
    CHECK(read_roce_ports("4789").error() == "invalid RoCE port '4789': it is VXLAN's");
    CHECK(read_roce_ports("1,2,3,4,5,6,7,8").has_value());
    CHECK(read_roce_ports("1,2,3,4,5,6,7,8,9").error() == "too many RoCE ports (9): expected at most 8");
}
