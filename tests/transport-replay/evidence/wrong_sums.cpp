// Checksums and CRCs of anonymized packets: right ones are right, 0 stays 0, and from a wrong one nothing follows about
// the packet as it was.
#include <dissect/ulp/ulp.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/iwarp_dialogue.hpp>
#include <tests/support/packets.hpp>
#include <transport-replay/evidence/anonymizer.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>

#include <bit>
#include <set>

using namespace qps;
using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

using Octet = std::vector<std::byte>;

Octet anonymized(Pseudonyms& pseudonyms, const Octet& bytes, LinkType link = LinkType::ethernet,
                 std::uint32_t on_wire = 0, const UlpHint& hint = {}) {
    Frame frame;
    frame.bytes = bytes;
    frame.wire_length = std::max(on_wire, static_cast<std::uint32_t>(bytes.size()));
    frame.link = link;
    Anonymizer anonymizer(pseudonyms, PayloadMode::zero);
    const Frame made = anonymizer.anonymize(frame, {}, hint);
    return {made.bytes.begin(), made.bytes.end()};
}

Pseudonyms& pseudonyms_of_sums() {
    static Pseudonyms pseudonyms(Pseudonyms::Key{std::byte{7}}, false, 1000);
    return pseudonyms;
}

PacketSpec ack(Network network, std::uint32_t number = 0) {
    PacketSpec spec = transport_packet(Opcode{0x11}, network);
    set(spec, "infiniband.bth.psn", number);
    if (network == Network::roce_v2_ipv4) {
        set(spec, "ip.src", 0x0a4d'000b + number * 0x0101);
        set(spec, "ip.dst", 0x0a4d'000c + number * 0x3331);
    }
    return spec;
}

Octet changed(Octet bytes, std::size_t at, std::uint8_t by) {
    bytes[at] ^= std::byte{by};
    return bytes;
}

std::uint32_t icrc_error(const Octet& bytes, LinkType link = LinkType::ethernet) {
    const Decoded decoded(bytes, link);
    return decoded.packet.icrc.found ^ decoded.packet.icrc.expected;
}

constexpr std::size_t kIpChecksum = 24, kUdp = 34, kUdpChecksum = 40;

}  // namespace

TEST_CASE("an ICRC that is 0 stays 0, a right one is right, and every wrong one is wrong by the same") {
    const std::uint64_t difference = pseudonyms_of_sums().difference(32).bits;
    std::set<std::uint32_t> errors;
    for (std::uint32_t i = 0; i < 64; ++i) {
        for (const Network network : kNetworks) {
            PacketSpec spec = ack(network, i);
            const LinkType link = spec.link;
            CHECK(icrc_error(anonymized(pseudonyms_of_sums(), build(spec), link), link) == 0);
            spec.icrc = 0;
            CHECK(Decoded(anonymized(pseudonyms_of_sums(), build(spec), link), link).packet.icrc.found == 0);
            spec.icrc = 0x0102'0304 * (i + 1);
            const Octet made = anonymized(pseudonyms_of_sums(), build(spec), link);
            errors.insert(icrc_error(made, link));
            CHECK(Decoded(made, link).packet.icrc.found != 0);
            // Nothing at all of it is left: another wrong one gives the same bytes.
            spec.icrc = 0xdead'beef + i;
            CHECK(anonymized(pseudonyms_of_sums(), build(spec), link) == made);
        }
    }
    CHECK(errors == std::set<std::uint32_t>{static_cast<std::uint32_t>(difference)});
    Pseudonyms others(Pseudonyms::Key{std::byte{8}}, false, 1000);
    CHECK(others.difference(32).bits != difference);
    CHECK(others.difference(16).bits != pseudonyms_of_sums().difference(16).bits);
}

// With ICRCs of 0, what was written was the CRC of the original bytes: 32 linear equations a packet of the 64 bits of
// two addresses.
TEST_CASE("two acknowledgments with an ICRC of 0 tell nothing of the addresses") {
    for (std::uint32_t i = 0; i < 32; ++i) {
        PacketSpec there = ack(Network::roce_v2_ipv4, i);
        there.icrc = 0;
        const Octet made = anonymized(pseudonyms_of_sums(), build(there));
        // All that is not the anonymized addresses is the same whatever the addresses were.
        PacketSpec other = there;
        set(other, "ip.src", 0xc000'0201);
        set(other, "ip.dst", 0xc000'02fe);
        Octet same = anonymized(pseudonyms_of_sums(), build(other));
        REQUIRE(same.size() == made.size());
        std::ranges::copy(Bytes(made).subspan(kIpChecksum, 10), same.begin() + kIpChecksum);
        CHECK(same == made);
    }
}

TEST_CASE("a VCRC that is wrong tells nothing, and one that is 0 stays 0") {
    PacketSpec spec = ack(Network::native_local);
    const auto found = [&] {
        return Decoded(anonymized(pseudonyms_of_sums(), build(spec), spec.link), spec.link).packet.vcrc;
    };
    CHECK(found().status == CrcStatus::good);
    spec.vcrc = 0;
    CHECK(found().found == 0);
    spec.vcrc = 0x1234;
    const CrcVerdict one = found();
    CHECK((one.found ^ one.expected) == pseudonyms_of_sums().difference(16).bits);
    spec.vcrc = 0x4321;
    CHECK(found().found == one.found);
}

TEST_CASE("checksums of IPv4, UDP and TCP: right, 0 and wrong ones") {
    const auto sum_of_ip = [](const Octet& bytes) { return checksum_of(word_sum(Bytes(bytes).subspan(14, 20))); };
    const auto sum_of_udp = [](const Octet& bytes) {
        const Bytes udp = Bytes(bytes).subspan(kUdp);
        return checksum_of(word_sum(udp, word_sum(Bytes(bytes).subspan(26, 8), 17 + udp.size())));
    };
    PacketSpec spec = ack(Network::roce_v2_ipv4, 5);
    Octet right = build(spec);
    write_bits(right, kUdpChecksum * 8, 16, sum_of_udp(right));
    REQUIRE(sum_of_udp(right) == 0);
    const Octet made = anonymized(pseudonyms_of_sums(), right);
    CHECK(sum_of_ip(made) == 0);
    CHECK(sum_of_udp(made) == 0);
    CHECK(read_be<std::uint16_t>(made, kUdpChecksum) != 0);
    for (const std::size_t at : {kIpChecksum, kUdpChecksum}) {
        Octet zero = right;
        write_bits(zero, at * 8, 16, 0);
        CHECK(read_be<std::uint16_t>(anonymized(pseudonyms_of_sums(), zero), at) == 0);
        const Octet wrong = anonymized(pseudonyms_of_sums(), changed(right, at, 0x55));
        CHECK((at == kIpChecksum ? sum_of_ip(wrong) : sum_of_udp(wrong)) != 0);
        CHECK(read_be<std::uint16_t>(wrong, at) != 0);
        for (const std::uint8_t by : std::initializer_list<std::uint8_t>{0x01, 0x80, 0xfe})
            CHECK(anonymized(pseudonyms_of_sums(), changed(right, at, by)) == wrong);
        CHECK(anonymized(pseudonyms_of_sums(), changed(right, at + 1, 0x11)) == wrong);
    }
}

TEST_CASE("what cannot be checked carries nothing either: cut packets, fragments, options, quoted packets") {
    Octet right = build(ack(Network::roce_v2_ipv4, 9));
    write_bits(right, kUdpChecksum * 8, 16, 0x1234);
    for (const std::size_t cut : {std::size_t{44}, std::size_t{56}, right.size() - 2}) {
        const Octet one =
            anonymized(pseudonyms_of_sums(), Octet(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(cut)),
                       LinkType::ethernet, static_cast<std::uint32_t>(right.size()));
        Octet other(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(cut));
        write_bits(other, kUdpChecksum * 8, 16, 0x4711);
        CHECK(anonymized(pseudonyms_of_sums(), other, LinkType::ethernet, static_cast<std::uint32_t>(right.size())) ==
              one);
        CHECK(read_be<std::uint16_t>(one, kUdpChecksum) != 0);
    }
    // A length of 0, as segmentation offload leaves it; the first of several fragments.
    for (const auto& [at, value] : {std::pair{std::size_t{16}, 0U}, std::pair{std::size_t{20}, 0x2000U}}) {
        Octet odd = right, other = right;
        for (Octet* each : {&odd, &other}) write_bits(*each, at * 8, 16, value);
        write_bits(other, kUdpChecksum * 8, 16, 0x4711);
        CHECK(anonymized(pseudonyms_of_sums(), odd) == anonymized(pseudonyms_of_sums(), other));
    }
    // Options between IPv4 and UDP: the ICRC is not checked.
    PacketSpec with_options = ack(Network::roce_v2_ipv4, 9);
    find(with_options, LayerKind::ipv4)->tail = hex("01010101");
    with_options.icrc = 0x0102'0304;
    const Octet one = anonymized(pseudonyms_of_sums(), build(with_options));
    with_options.icrc = 0x7777'7777;
    CHECK(anonymized(pseudonyms_of_sums(), build(with_options)) == one);
}

TEST_CASE("the CRCs of iWARP: right, 0 and wrong ones") {
    IwarpDialogue dialogue({});
    dialogue.segment(End::a, dialogue.fpdu(End::a, ulpdu::read_request(1, {.length = 8})));
    const Octet right = dialogue.frames.back();
    const UlpHint hint{UlpProtocol::none, true, 0, {.what = IwarpPlace::What::fpdus, .crc = true}};
    const auto status_of = [&](const Octet& bytes) {
        Decoded decoded(bytes, LinkType::ethernet);
        add_ulp_layers(decoded.packet, hint);
        return decoded.number("rdma.iwarp.crc.status");
    };
    REQUIRE(status_of(right) == 1);
    const std::size_t at = right.size() - 4;
    const auto made = [&](std::uint32_t crc) {
        Octet bytes = right;
        write_bits(bytes, at * 8, 32, crc);
        return anonymized(pseudonyms_of_sums(), bytes, LinkType::ethernet, 0, hint);
    };
    CHECK(status_of(anonymized(pseudonyms_of_sums(), right, LinkType::ethernet, 0, hint)) == 1);
    CHECK(read_be<std::uint32_t>(made(0), at) == 0);
    const auto wrong = read_be<std::uint32_t>(made(0x1234'5678), at);
    CHECK(wrong != 0);
    CHECK(status_of(made(0x1234'5678)) == 2);
    CHECK(read_be<std::uint32_t>(made(0x8765'4321), at) == wrong);
}
