// Walks the opcode table: each opcode is built over each network with a distinct value in every field, and decoded.
#include <dissect/base/opcode.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/packets.hpp>

#include <map>
#include <set>

#include <fmt/format.h>

using namespace qps::dissect;
using qps::tests::Decoded;
using qps::tests::is_bytes;

namespace {

// Settings that would take the packet apart: they decide what follows.
bool structural(const Field& field) {
    static const std::set<std::string_view> names{"infiniband.bth.opcode", "infiniband.bth.padcnt",
                                                  "infiniband.bth.tver", "infiniband.bth.destqp",
                                                  "infiniband.deth.srcqp"};
    return names.contains(field.name);
}

// A value that fits, different for every field.
std::uint64_t distinct(const Field& field, std::uint64_t& seed) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t value = seed >> 7;
    return field.width >= 64 ? value : value & ((std::uint64_t{1} << field.width) - 1);
}

struct Set {
    const Field* field;
    std::uint64_t number;
    std::vector<std::byte> bytes;
};

// Fills every primary field of the transport headers.
std::vector<Set> fill_fields(PacketSpec& spec) {
    std::vector<Set> made;
    std::uint64_t seed = 42;
    for (HeaderSpec& header_spec : spec.headers) {
        if (header_spec.kind < LayerKind::bth) continue;
        for (const Field& field : header(header_spec.kind).fields) {
            if (field.computed() || field.is_part || field.name.empty() || structural(field)) continue;
            Set setting{&field, 0, {}};
            if (is_bytes(field)) {
                for (std::size_t i = 0; i < field.width / 8; ++i)
                    setting.bytes.push_back(static_cast<std::byte>(distinct(field, seed)));
                REQUIRE(set(header_spec, field.name, Bytes(setting.bytes)));
            } else {
                setting.number = distinct(field, seed);
                REQUIRE(set(header_spec, field.name, setting.number));
            }
            made.push_back(std::move(setting));
        }
    }
    return made;
}

std::vector<Opcode> defined_opcodes() {
    std::vector<Opcode> opcodes;
    for (std::size_t code = 0; code < kOpcodes.size(); ++code)
        if (kOpcodes[code].defined) opcodes.push_back(static_cast<Opcode>(code));
    return opcodes;
}

PacketSpec packet_with(Opcode opcode, Network network, std::size_t payload) {
    PacketSpec spec = transport_packet(opcode, network);
    set(spec, "infiniband.bth.destqp", 0x123456);
    set(spec, "infiniband.deth.srcqp", 0x00abcd);
    if (info(opcode).carries_payload) spec.payload.assign(payload, std::byte{0xa5});
    return spec;
}

}  // namespace

TEST_CASE("the opcode table has the specification's opcodes") {
    CHECK(defined_opcodes().size() == 25 + 12 + 24 + 2 + 2 + 25);
    CHECK(info(Opcode{0x00}).name() == "RC_SEND_FIRST");
    CHECK(info(Opcode{0x2b}).name() == "UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE");
    CHECK(info(Opcode{0x55}).name() == "RD_RESYNC");
    CHECK(info(Opcode{0x65}).name() == "UD_SEND_ONLY_WITH_IMMEDIATE");
    CHECK(info(Opcode{0x81}).name() == "CNP");
    CHECK(info(Opcode{0xb7}).name() == "XRC_SEND_ONLY_WITH_INVALIDATE");
    CHECK(info(Opcode{0xbd}).name() == "XRC_ATOMIC_WRITE");
    CHECK_FALSE(info(Opcode{0x15}).defined);  // RESYNC is RD's alone
    CHECK(info(Opcode{0xc7}).name() == "MANUFACTURER");
    std::set<std::string_view> names;
    for (const Opcode opcode : defined_opcodes()) CHECK(names.insert(info(opcode).name()).second);
}

TEST_CASE("every opcode decodes to the fields it was built from, over every network") {
    for (const Opcode opcode : defined_opcodes()) {
        for (const Network network : kNetworks) {
            INFO(info(opcode).name() << " network " << static_cast<int>(network));
            PacketSpec spec = packet_with(opcode, network, 37);
            const std::vector<Set> wanted = fill_fields(spec);
            const Decoded decoded(spec);
            CHECK(decoded.packet.opcode == opcode);
            CHECK(decoded.packet.dest_qp == Qpn{0x123456});
            CHECK(decoded.packet.icrc.status == CrcStatus::good);
            CHECK(decoded.packet.payload.length == (info(opcode).carries_payload ? 37U : 0U));
            for (const Layer& layer : decoded.packet.layers()) CHECK(layer.fault == Fault::none);
            for (const Set& setting : wanted) {
                INFO(setting.field->name);
                const auto value = decoded.value(setting.field->name);
                REQUIRE(value);
                if (is_bytes(*setting.field)) CHECK(std::ranges::equal(value->bytes, setting.bytes));
                else CHECK(value->number == setting.number);
            }
        }
    }
}

TEST_CASE("every opcode has its line and its layers") {
    std::string text;
    for (const Opcode opcode : defined_opcodes()) {
        PacketSpec spec = packet_with(opcode, Network::roce_v2_ipv4, 6);
        set(spec, "infiniband.bth.psn", 4711);
        set(spec, "infiniband.reth.va", 0x7f0000001000);
        set(spec, "infiniband.reth.r_key", 0x1234);
        set(spec, "infiniband.reth.dmalen", 6);
        const Decoded decoded(spec);
        text += fmt::format("0x{:02x} {}\n     {}\n", std::to_underlying(opcode), decoded.line(), decoded.layers());
    }
    qps::tests::check_golden("dissect/golden/opcodes.txt", text);
}

TEST_CASE("an opcode nobody defined is shown as such, its body as payload") {
    for (const int number : {0x15, 0x18, 0x3f, 0x66, 0x82, 0xbf, 0xc0, 0xff}) {
        const auto code = static_cast<std::uint8_t>(number);
        PacketSpec spec = transport_packet(Opcode{code}, Network::roce_v2_ipv4);
        spec.payload.assign(20, std::byte{1});
        const Decoded decoded(spec);
        INFO(decoded.line());
        CHECK(decoded.packet.icrc.status == CrcStatus::good);
        CHECK(decoded.packet.payload.length == 20);
        CHECK(decoded.line().find(fmt::format("_0x{:02X}", code)) != std::string::npos);
    }
}

TEST_CASE("an AETH is named in words: credits, RNR timers, NAK codes") {
    const auto acknowledge = [](std::uint64_t syndrome) {
        PacketSpec spec = transport_packet(Opcode::rc_acknowledge, Network::roce_v2_ipv4);
        set(spec, "infiniband.aeth.syndrome", syndrome);
        return Decoded(spec);
    };
    CHECK(acknowledge(0x00).number("rdma.aeth.credits") == 0);
    CHECK(acknowledge(0x0f).number("rdma.aeth.credits") == 192);
    CHECK(acknowledge(0x1e).number("rdma.aeth.credits") == 32768);
    CHECK_FALSE(acknowledge(0x1f).number("rdma.aeth.credits"));
    CHECK(acknowledge(0x1f).number("rdma.aeth.unlimited_credits") == 1);
    CHECK(acknowledge(0x20).plain("rdma.aeth.rnr_timer_ms") == "655.36");
    CHECK(acknowledge(0x21).plain("rdma.aeth.rnr_timer_ms") == "0.01");
    CHECK(acknowledge(0x3f).plain("rdma.aeth.rnr_timer_ms") == "491.52");
    CHECK_FALSE(acknowledge(0x60).value("rdma.aeth.rnr_timer_ms"));
    CHECK(acknowledge(0x60).line().find("nak=PSN_SEQUENCE_ERROR") != std::string::npos);
    CHECK(acknowledge(0x64).line().find("nak=INVALID_RD_REQUEST") != std::string::npos);
    CHECK(acknowledge(0x7f).number("infiniband.aeth.syndrome.error_code") == 31);
    CHECK(acknowledge(0x45).number("infiniband.aeth.syndrome.reserved_value") == 5);
}
