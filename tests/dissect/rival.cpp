// Ordinary RDMA traffic that Wireshark 4.0 to 4.6 gets wrong: here it is right.
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>

using namespace qps::dissect;
using qps::tests::Decoded;
using qps::tests::hex;

TEST_CASE("a congestion notification packet is named, with its BECN and its queue pair") {
    PacketSpec spec = transport_packet(Opcode::cnp, Network::roce_v2_ipv4);
    set(spec, "infiniband.bth.becn", 1);
    set(spec, "infiniband.bth.destqp", 0xd2);
    const Decoded cnp(spec);
    CHECK(cnp.line() == "CNP qp=210 psn=0 becn");
    CHECK(cnp.number("infiniband.bth.becn") == 1);
    CHECK(cnp.number("infiniband.bth.fecn") == 0);
    CHECK(cnp.plain("infiniband.cnp.reserved") == "00000000000000000000000000000000");
    CHECK(cnp.packet.payload.length == 0);
    CHECK(Decoded(transport_packet(Opcode::cnp_native, Network::native_local)).line().starts_with("CNP_NATIVE"));
}

TEST_CASE("XRC packets have their XRCETH, RETH, AETH, payload and ICRC") {
    PacketSpec write = transport_packet(Opcode{0xaa}, Network::roce_v2_ipv4);
    set(write, "infiniband.xrceth.xrcsrq", 77);
    set(write, "infiniband.reth.dmalen", 4);
    write.payload = hex("cafebabe");
    const Decoded decoded(write);
    CHECK(decoded.line() ==
          "XRC_RDMA_WRITE_ONLY qp=0 psn=0 srq=77 va=0x0000000000000000 rkey=0x00000000 dmalen=4 len=4");
    CHECK(decoded.plain("infiniband.payload") == "cafebabe");
    CHECK(decoded.packet.icrc.status == CrcStatus::good);
    PacketSpec acknowledge = transport_packet(Opcode{0xb1}, Network::roce_v2_ipv4);
    set(acknowledge, "infiniband.aeth.msn", 9);
    CHECK(Decoded(acknowledge).number("infiniband.aeth.msn") == 9);
    CHECK_FALSE(Decoded(acknowledge).value("infiniband.xrceth.xrcsrq"));
}

TEST_CASE("pad bytes are no payload") {
    PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    spec.payload = hex("0102030405");
    const Decoded decoded(spec);
    CHECK(decoded.plain("infiniband.payload") == "0102030405");
    CHECK(decoded.plain("infiniband.pad") == "000000");
    CHECK(decoded.number("infiniband.bth.padcnt") == 3);
    CHECK(decoded.number("rdma.payload_bytes") == 5);
}

TEST_CASE("FECN and BECN are fields, apart from the reserved bits") {
    PacketSpec spec = transport_packet(Opcode{0x04}, Network::native_local);
    set(spec, "infiniband.bth.fecn", 1);
    set(spec, "infiniband.bth.reserved6", 0x15);
    const Decoded decoded(spec);
    CHECK(decoded.number("infiniband.bth.fecn") == 1);
    CHECK(decoded.number("infiniband.bth.becn") == 0);
    CHECK(decoded.number("infiniband.bth.reserved6") == 0x15);
    CHECK(decoded.packet.icrc.status == CrcStatus::good);
}

TEST_CASE("the partition key is split into membership and partition") {
    PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    set(spec, "infiniband.bth.p_key", 0x7001);
    const Decoded decoded(spec);
    CHECK(decoded.number("infiniband.bth.p_key.full_member") == 0);
    CHECK(decoded.number("infiniband.bth.p_key.base") == 0x7001);
    CHECK(decoded.line().find("pkey=0x7001") != std::string::npos);
}

TEST_CASE("MRA, LAP, APR, SIDR_REQ and SIDR_REP are decoded") {
    struct Case {
        std::uint16_t attribute;
        const char* field;
        std::uint64_t value;
    };
    for (const auto& [attribute, field, value] :
         {Case{0x11, "infiniband.cm.mra.servicetimeout", 24}, Case{0x19, "infiniband.cm.lap.remoteqpneecn", 0x1234},
          Case{0x1a, "infiniband.cm.apr.status", 5}, Case{0x17, "infiniband.cm.sidr_req.serviceid", 0x1061234},
          Case{0x18, "infiniband.cm.sidr_rep.qpn", 99}}) {
        const MadAttribute* row = find_attribute(ManagementClass::communication, attribute);
        REQUIRE(row != nullptr);
        PacketSpec spec = mad_packet(ManagementClass::communication, *row, Network::roce_v2_ipv4);
        INFO(row->name << " " << field);
        REQUIRE(set(spec, field, value));
        CHECK(Decoded(spec).number(field) == value);
    }
}

TEST_CASE("short SENDs are just that, whatever an upper protocol would make of them") {
    for (std::size_t length = 0; length < 16; ++length) {
        for (const std::uint8_t opcode : {std::uint8_t{0x04}, std::uint8_t{0x17}}) {
            PacketSpec spec = transport_packet(Opcode{opcode}, Network::roce_v2_ipv4);
            spec.payload.assign(length, std::byte{1});
            const Decoded decoded(spec);
            CHECK(decoded.packet.payload.length == length);
            CHECK(decoded.packet.icrc.status == CrcStatus::good);
            for (const Layer& layer : decoded.packet.layers()) CHECK(layer.fault == Fault::none);
        }
    }
}

TEST_CASE("payload that looks like IPv4, ARP or IPv6 stays payload") {
    for (const char* start : {"08000000", "08060000", "86dd0000", "81000000", "88470000"}) {
        PacketSpec spec = transport_packet(Opcode{0x0a}, Network::roce_v2_ipv4);
        spec.payload = hex(start);
        spec.payload.resize(64, std::byte{0x45});
        const Decoded decoded(spec);
        CHECK(decoded.layers() ==
              "eth ip udp rdma infiniband.bth infiniband.reth infiniband.payload infiniband.invariant");
        CHECK(decoded.packet.payload.length == 64);
    }
}

TEST_CASE("reliable datagrams are reliable datagrams") {
    PacketSpec send = transport_packet(Opcode{0x44}, Network::native_local);
    set(send, "infiniband.rdeth.eecnxt", 0xabcdef);
    set(send, "infiniband.deth.srcqp", 5);
    send.payload = hex("01020304");
    const Decoded decoded(send);
    CHECK(decoded.line().starts_with("RD_SEND_ONLY qp=0 psn=0 eec=11259375 qkey=0x00000000 srcqp=5"));
    PacketSpec acknowledge = transport_packet(Opcode{0x51}, Network::native_local);
    set(acknowledge, "infiniband.rdeth.eecnxt", 3);
    set(acknowledge, "infiniband.aeth.msn", 4);
    const Decoded answer(acknowledge);
    CHECK(answer.number("infiniband.rdeth.eecnxt") == 3);
    CHECK(answer.number("infiniband.aeth.msn") == 4);
}

TEST_CASE("FLUSH and ATOMIC WRITE are decoded, with levels by name") {
    PacketSpec flush = transport_packet(Opcode{0x1c}, Network::roce_v2_ipv4);
    set(flush, "infiniband.feth.selectivity_level", 1);
    set(flush, "infiniband.feth.placement_type", 3);
    set(flush, "infiniband.reth.dmalen", 4096);
    CHECK(Decoded(flush).line() ==
          "RC_FLUSH qp=0 psn=0 sel=MEMORY_REGION plt=0x3 va=0x0000000000000000 rkey=0x00000000 dmalen=4096");
    PacketSpec write = transport_packet(Opcode{0x1d}, Network::roce_v2_ipv4);
    write.payload = hex("0011223344556677");
    CHECK(Decoded(write).line() == "RC_ATOMIC_WRITE qp=0 psn=0 va=0x0000000000000000 rkey=0x00000000 dmalen=0 len=8");
}
