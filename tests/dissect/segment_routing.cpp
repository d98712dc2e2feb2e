// SRv6 under RoCE: the path of segments, what follows it, lists that do not fit, routing headers of other types, cut
// captures.
#include <dissect/headers/segment_routing.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>

using namespace qps::dissect;
using namespace qps::tests;

namespace {

const std::string kPathEnd = "fd000000000000000000000000000012", kPathMiddle = "fc000000000000030000000000000000",
                  kPathFirst = "fc000000000000020000000000000000";

struct Path {
    std::uint64_t left = 1;
    std::uint64_t last = 2;
    std::uint64_t type = 4;
    std::string segments = kPathEnd + kPathMiddle + kPathFirst;
};

PacketSpec routed(const Path& path, Network network = Network::roce_v2_ipv6) {
    PacketSpec spec = transport_packet(Opcode{0x04}, network);
    set(spec, "infiniband.bth.psn", 4711);
    HeaderSpec routing{kind::segment_routing};
    set(routing, "ipv6.routing.type", path.type);
    set(routing, "ipv6.routing.segleft", path.left);
    set(routing, "ipv6.routing.srh.last_entry", path.last);
    set(routing, "ipv6.routing.srh.flags", 0x08);
    routing.tail = hex(path.segments);
    insert_before(spec, LayerKind::udp, {routing});
    return spec;
}

}  // namespace

TEST_CASE("SRv6: a path with its segments, in the order of the header and in that of travel") {
    const Decoded decoded(routed({}));
    CHECK(decoded.layers().starts_with("eth ipv6 ipv6.routing udp rdma infiniband.bth"));
    CHECK(decoded.packet.psn == Psn{4711});
    CHECK(decoded.packet.icrc.reason == CrcReason::ip_options);  // A17.3 defines none
    CHECK(decoded.number("ipv6.routing.type") == 4);
    CHECK(decoded.number("ipv6.routing.segleft") == 1);
    CHECK(decoded.number("ipv6.routing.srh.last_entry") == 2);
    CHECK(decoded.number("ipv6.routing.srh.flags") == 8);
    CHECK(decoded.plain("ipv6.routing.srh.tag") == "0000");
    CHECK(decoded.plain("ipv6.routing.srh.addr") == "fd00::12");
    CHECK(decoded.plain("rdma.srv6.destination") == "fd00::12");
    CHECK(decoded.line().find(" via=fc00:0:0:2::>fc00:0:0:3::>fd00::12 left=1") != std::string::npos);
    CHECK(decoded.line().find('!') == std::string::npos);
}

TEST_CASE("SRv6: type-length-values are no segments") {
    const Decoded decoded(routed({.left = 0, .last = 0, .segments = kPathEnd + "0406000000000000"}));
    CHECK(decoded.layers().starts_with("eth ipv6 ipv6.routing rdma.srv6.tlvs udp"));
    CHECK(decoded.number("rdma.srv6.tlv.type") == 4);
    CHECK(decoded.plain("rdma.srv6.segments") == kPathEnd);
    CHECK(decoded.line().find(" via=fd00::12 left=0") != std::string::npos);
    CHECK(decoded.packet.has_transport());
}

TEST_CASE("SRv6: what nearly is a path is a routing header as any other") {
    for (const std::uint64_t type : {0U, 2U, 3U, 5U, 253U}) {
        const Decoded other(routed({.type = type}));
        CHECK(other.layers().starts_with("eth ipv6 ipv6.routing udp"));
        CHECK_FALSE(other.number("ipv6.routing.srh.last_entry"));
        CHECK(other.line().find("via=") == std::string::npos);
        CHECK(other.line().find('!') == std::string::npos);
    }
    for (const Path& lie : {Path{.left = 1, .last = 3}, Path{.left = 4, .last = 2}, Path{.left = 0, .last = 255}}) {
        const Decoded wrong(routed(lie));
        CHECK_FALSE(wrong.number("ipv6.routing.srh.last_entry"));
        CHECK(wrong.line().find("!ipv6.routing:") != std::string::npos);
        CHECK(wrong.packet.has_transport());
    }
    CHECK(Decoded(routed({.left = 3})).number("ipv6.routing.srh.last_entry") == 2);  // not begun yet
}

TEST_CASE("SRv6: captures that end anywhere in it") {
    const auto bytes = build(routed({}));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        const Decoded decoded(bytes, LinkType::ethernet, length);
        for (const Layer& layer : decoded.packet.layers()) {
            CHECK(std::size_t{layer.offset} + layer.length <= length);
            for (const Field& field : header(layer.kind).fields)
                static_cast<void>(value_of(decoded.packet, layer, field));
        }
        static_cast<void>(decoded.line());
    }
}

TEST_CASE("SRv6: a long path is shown to its end") {
    std::string many;
    for (int i = 0; i < 40; ++i) many += kPathMiddle;
    const Decoded decoded(routed({.left = 5, .last = 39, .segments = many}));
    CHECK(decoded.packet.has_transport());
    CHECK(decoded.line().size() < 600);
    CHECK(decoded.line().find(" left=5") != std::string::npos);
}
