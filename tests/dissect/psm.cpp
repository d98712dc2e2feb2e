// PSM2 in 9B packets of Omni-Path: key datagram header and its own; what nearly is PSM2; captures that end in it.
#include <dissect/omni_path/packets.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/omni_path.hpp>
#include <tests/support/packets.hpp>

using namespace qps::dissect;
using namespace qps::tests;

TEST_CASE("PSM2: key datagram header, its own header, data") {
    const Decoded decoded(opa_psm(0xc3));
    CHECK(decoded.layers() == "erf opa.9b opa.bth opa.kdeth opa.psm opa.undecoded opa.icrc");
    CHECK(decoded.number("opa.bth.opcode") == 0xc3);
    CHECK(decoded.number("opa.kdeth.kver") == 1);
    CHECK(decoded.number("opa.kdeth.sh") == 1);
    CHECK(decoded.number("opa.kdeth.tid") == 0x155);
    CHECK(decoded.number("opa.kdeth.offset") == 0x1234);
    CHECK(decoded.number("opa.kdeth.j_key") == 0x20);
    CHECK(decoded.number("opa.psm.flags") == 5);
    CHECK(decoded.number("opa.psm.commidx") == 0x12345);
    CHECK(decoded.number("opa.psm.ackpsn") == 77);
    CHECK(decoded.line().find("op=PSM2_EAGER") != std::string::npos);
}

TEST_CASE("PSM2: every opcode has its name, what is nearly PSM2 has no such headers") {
    for (const ValueName& opcode : kPsmOpcodes) {
        CHECK(Decoded(opa_psm(opcode.value)).number("opa.psm.ackpsn") == 77);
        CHECK(name_in(kOpaOpcodeNames, opcode.value) == opcode.name);
    }
    CHECK(name_in(kOpaOpcodeNames, 0x04) == "RC_SEND_ONLY");
    for (const std::uint64_t opcode : {0xc0U, 0xd5U, 0xe1U, 0x04U})
        CHECK_FALSE(Decoded(opa_psm(opcode)).number("opa.psm.ackpsn"));
    PacketSpec version = opa_psm(0xc3);
    set(version, "opa.kdeth.kver", 2);
    CHECK_FALSE(Decoded(version).number("opa.psm.ackpsn"));
}

TEST_CASE("PSM2: captures that end anywhere in it") {
    const auto bytes = build(opa_psm(0xc1));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        const Decoded decoded(bytes, LinkType::erf, length);
        for (const Layer& layer : decoded.packet.layers()) CHECK(std::size_t{layer.offset} + layer.length <= length);
        static_cast<void>(decoded.line());
    }
}
