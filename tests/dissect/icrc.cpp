// The golden vectors of the invariant and variant CRC, and which bytes they must not depend on.
#include <dissect/base/icrc.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>

#include <map>

using namespace qps::dissect;
using qps::tests::Decoded;
using qps::tests::hex;

namespace {

struct Vector {
    const char* what;
    IcrcCoverage coverage;
    const char* covered;  // network header to the last byte before the ICRC
    std::uint32_t icrc;   // first byte on the wire first
};

// The first is the specification's own example (table 29); the others follow from the masking rules (A17.3).
const Vector kVectors[]{
    {"native local packet of the specification", IcrcCoverage::native_local,
     "7012375C000E17D2 0A2024870087B1B3000DEC2A 01710A1C015D400238F27A050000000EBB884D85FD5CFBA4728BC069 0ED40000",
     0x9625b75a},
    {"RC ACK, RoCEv2 over IPv4", IcrcCoverage::roce_v2_ipv4,
     "45020030123440004011a483c0000201c0000202 c12312b7001c0000 1140ffff0000001100123456 1f000001", 0x718e5983},
    {"RC ACK, RoCEv2 over IPv6", IcrcCoverage::roce_v2_ipv6,
     "60212345001c114020010db800000000000000000000000120010db8000000000000000000000002 c12312b7001c0000 1140ffff0000001100123456 1f000001",
     0x6b79ffaa},
    {"RC ACK, RoCEv1", IcrcCoverage::grh,
     "6000000000141b01fe800000000000000000000000000001fe800000000000000000000000000002 1140ffff0000001100123456 1f000001",
     0x62c850c5},
    {"CNP, RoCEv2 over IPv4", IcrcCoverage::roce_v2_ipv4,
     "4502003c123440004011a477c0000201c0000202 c12312b700280000 8100ffff400000d200000000 00000000000000000000000000000000",
     0x1e9ca0d0},
};

}  // namespace

TEST_CASE("the ICRC is that of the golden vectors") {
    for (const Vector& vector : kVectors) {
        INFO(vector.what);
        CHECK(invariant_crc(vector.coverage, hex(vector.covered)) == vector.icrc);
    }
}

TEST_CASE("fields that routers may change do not change the ICRC, all others do") {
    for (const Network network : kNetworks) {
        PacketSpec spec = transport_packet(Opcode{0x0a}, network);
        spec.payload = hex("00112233445566778899");
        const std::vector<std::byte> original = build(spec);
        const Decoded sound(original, spec.link);
        REQUIRE(sound.packet.icrc.status == CrcStatus::good);
        const std::size_t network_start = sound.packet.layer_storage[sound.packet.network_layer].offset;
        const std::size_t bth = sound.packet.layer_storage[sound.packet.bth_layer].offset;
        // Bits that the rules mask, by byte behind the network header. The GRH of a native packet hides its LRH.
        std::map<std::size_t, unsigned> masked{{bth + 4 - network_start, 0xff}};
        switch (network) {
            case Network::roce_v2_ipv4:
                masked.merge(std::map<std::size_t, unsigned>{
                    {1, 0xff}, {8, 0xff}, {10, 0xff}, {11, 0xff}, {26, 0xff}, {27, 0xff}});
                break;
            case Network::roce_v2_ipv6:
                masked.merge(std::map<std::size_t, unsigned>{{46, 0xff}, {47, 0xff}});
                [[fallthrough]];
            case Network::roce_v1:
            case Network::native_global:
                masked.merge(std::map<std::size_t, unsigned>{{0, 0x0f}, {1, 0xff}, {2, 0xff}, {3, 0xff}, {7, 0xff}});
                break;
            case Network::native_local: masked.merge(std::map<std::size_t, unsigned>{{0, 0xf0}}); break;
        }
        const IcrcCoverage coverage = network == Network::roce_v2_ipv4   ? IcrcCoverage::roce_v2_ipv4
                                      : network == Network::roce_v2_ipv6 ? IcrcCoverage::roce_v2_ipv6
                                      : network == Network::native_local ? IcrcCoverage::native_local
                                                                         : IcrcCoverage::grh;
        std::size_t end = original.size() - 4;
        if (spec.link == LinkType::infiniband) end -= 2;
        std::vector<std::byte> covered(original.begin() + static_cast<std::ptrdiff_t>(network_start),
                                       original.begin() + static_cast<std::ptrdiff_t>(end));
        const std::uint32_t right = invariant_crc(coverage, covered);
        CHECK(right == sound.packet.icrc.expected);
        for (std::size_t byte = 0; byte < covered.size(); ++byte) {
            for (unsigned bit = 0; bit < 8; ++bit) {
                covered[byte] ^= static_cast<std::byte>(1U << bit);
                const bool may_change = (masked.contains(byte) ? masked[byte] >> bit & 1U : 0U) != 0;
                INFO("network " << static_cast<int>(network) << " byte " << byte << " bit " << bit);
                CHECK((invariant_crc(coverage, covered) == right) == may_change);
                covered[byte] ^= static_cast<std::byte>(1U << bit);
            }
        }
    }
}

TEST_CASE("a wrong ICRC is bad, with the value that would be right") {
    PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    spec.payload = hex("0102030405060708");
    const Decoded sound(spec);
    spec.icrc = 0xdeadbeef;
    const Decoded wrong(spec);
    CHECK(wrong.packet.icrc.status == CrcStatus::bad);
    CHECK(wrong.packet.icrc.found == 0xdeadbeef);
    CHECK(wrong.packet.icrc.expected == sound.packet.icrc.found);
    CHECK(wrong.plain("rdma.icrc.status") == "2");
    CHECK(wrong.number("rdma.icrc.expected") == sound.packet.icrc.found);
}

TEST_CASE("a packet of any length has the same ICRC in one call or two") {
    for (std::size_t length = 0; length < 600; ++length) {
        PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
        spec.payload.assign(length, std::byte{0x5a});
        const Decoded decoded(spec);
        INFO("payload of " << length);
        CHECK(decoded.packet.icrc.status == CrcStatus::good);
        CHECK(decoded.packet.payload.length == length);
        CHECK(decoded.packet.payload.pad == (4 - length % 4) % 4);
    }
}

TEST_CASE("too little to cover has no ICRC") {
    CHECK(invariant_crc(IcrcCoverage::roce_v2_ipv4, hex("45020030")) == 0);
    CHECK(invariant_crc(IcrcCoverage::grh, hex("45020030")) == 0);
    CHECK(invariant_crc(IcrcCoverage::native_local, {}) == 0);
}

TEST_CASE("the VCRC of native packets is verified, and a wrong one named") {
    for (const Network network : {Network::native_local, Network::native_global}) {
        PacketSpec spec = transport_packet(Opcode{0x04}, network);
        spec.payload = hex("0011223344");
        const Decoded sound(spec);
        CHECK(sound.packet.vcrc.status == CrcStatus::good);
        spec.vcrc = static_cast<std::uint16_t>(~sound.packet.vcrc.found);
        const Decoded wrong(spec);
        CHECK(wrong.packet.vcrc.status == CrcStatus::bad);
        CHECK(wrong.packet.vcrc.expected == sound.packet.vcrc.found);
        CHECK(wrong.packet.icrc.status == CrcStatus::good);
        spec.with_vcrc = false;
        const Decoded without(spec);
        CHECK(without.packet.vcrc.status == CrcStatus::not_checkable);
        CHECK(without.packet.vcrc.reason == CrcReason::not_captured);
        CHECK(without.packet.icrc.status == CrcStatus::good);
    }
}
