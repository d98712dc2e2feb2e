// Flow control packets of InfiniBand's links: in captures of link type 247 and in ERF records; what has their length
// and is none.
#include <dissect/headers/infiniband_link.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>

using namespace qps::dissect;
using namespace qps::tests;

TEST_CASE("flow control: a packet of six bytes has no LRH") {
    const Decoded normal(hex("0123 4456 beef"), LinkType::infiniband);
    CHECK(normal.layers() == "infiniband_link");
    CHECK(normal.number("infiniband_link.op") == 0);
    CHECK(normal.number("infiniband_link.fctbs") == 0x123);
    CHECK(normal.number("infiniband_link.vl") == 4);
    CHECK(normal.number("infiniband_link.fccl") == 0x456);
    CHECK(normal.number("infiniband_link.lpcrc") == 0xbeef);
    CHECK(normal.line() == "FLOW_CONTROL op=NORMAL vl=4 fctbs=291 fccl=1110");
    CHECK(normal.packet.encapsulation == Encapsulation::none);
    CHECK(Decoded(hex("1000 f001 beef"), LinkType::infiniband).number("infiniband_link.op") == 1);
}

TEST_CASE("flow control: what is nearly one") {
    CHECK_FALSE(
        Decoded(hex("2123 4456 beef"), LinkType::infiniband).number("infiniband_link.op"));        // a reserved operand
    CHECK_FALSE(Decoded(hex("0123 4456 be"), LinkType::infiniband).number("infiniband_link.op"));  // too short
    CHECK_FALSE(Decoded(hex("0123 4456 beef 00"), LinkType::infiniband).number("infiniband_link.op"));  // too long
    const PacketSpec spec = transport_packet(Opcode{0x04}, Network::native_local);
    CHECK_FALSE(Decoded(spec, 6).number("infiniband_link.op"));  // cut by the capture
    CHECK(Decoded(spec).packet.has_transport());
}

TEST_CASE("flow control: ERF records of links") {
    PacketSpec spec;
    spec.link = LinkType::erf;
    HeaderSpec record{LayerKind::erf};
    set(record, "erf.types", 25);
    set(record, "erf.wlen", 6);
    spec.headers = {record, {kind::flow_control}};
    set(spec, "infiniband_link.vl", 7);
    set(spec, "infiniband_link.fccl", 99);
    const Decoded decoded(spec);
    CHECK(decoded.layers() == "erf infiniband_link");
    CHECK(decoded.number("infiniband_link.vl") == 7);
    CHECK(decoded.number("infiniband_link.fccl") == 99);
    set(spec, "erf.wlen", 5);
    CHECK_FALSE(Decoded(spec).number("infiniband_link.vl"));
    for (std::size_t length = 0; length < 22; ++length) static_cast<void>(Decoded(spec, length).line());
}
