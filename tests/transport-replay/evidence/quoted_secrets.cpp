// What ICMP errors quote, and neighbour discovery names, is as secret as in a packet; checksums that were right stay
// so.
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>
#include <transport-replay/evidence/anonymizer.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>

using namespace qps;
using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

Pseudonyms& some_pseudonyms() {
    static Pseudonyms pseudonyms(Pseudonyms::Key{std::byte{7}}, false, 1000);
    return pseudonyms;
}

// Ethernet and IP in front of a message whose checksum is right.
std::vector<std::byte> message(bool version_6, const std::string& digits) {
    PacketSpec spec = transport_packet(Opcode{0x04}, version_6 ? Network::roce_v2_ipv6 : Network::roce_v2_ipv4);
    spec.headers.resize(2);
    set(spec, version_6 ? "ipv6.nxt" : "ip.proto", version_6 ? 58 : 1);
    spec.payload = hex(digits);
    std::vector<std::byte> frame = build(spec);
    const std::size_t start = version_6 ? 54 : 34;
    std::uint64_t sum = word_sum(Bytes(frame).subspan(start));
    if (version_6) sum = word_sum(Bytes(frame).subspan(22, 32), sum + (frame.size() - start) + 58);
    write_bits(frame, (start + 2) * 8, 16, checksum_of(sum));
    return frame;
}

Decoded anonymized(const std::vector<std::byte>& bytes) {
    Frame frame;
    frame.bytes = bytes;
    frame.wire_length = static_cast<std::uint32_t>(bytes.size());
    frame.link = LinkType::ethernet;
    Anonymizer anonymizer(some_pseudonyms(), PayloadMode::zero);
    const Frame made = anonymizer.anonymize(frame, {}, {});
    return Decoded({made.bytes.begin(), made.bytes.end()}, LinkType::ethernet);
}

}  // namespace

TEST_CASE("an ICMP error that somebody anonymizes quotes the same packet of other hosts") {
    const std::string quoted =
        "4500 0400 0001 4000 4011 b2e8 c0000201 c0000202 c123 12b7 03ec 0000 0440 8001 00000011 800000aa 01020304";
    const auto bytes = message(false, "0303000000000000" + quoted);
    const Decoded before(bytes, LinkType::ethernet), after = anonymized(bytes);
    CHECK(after.layers() == before.layers());
    CHECK(after.plain("rdma.quoted.ip.dst") == after.plain("ip.dst"));  // as before: 192.0.2.2
    CHECK(after.plain("rdma.quoted.ip.src") == after.plain("ip.src"));
    CHECK(after.plain("ip.dst") != before.plain("ip.dst"));
    CHECK(after.number("rdma.quoted.infiniband.bth.p_key") == some_pseudonyms().pkey(0x8001));
    for (const char* name : {"icmp.type", "icmp.code", "rdma.quoted.udp.srcport", "rdma.quoted.infiniband.bth.psn",
                             "rdma.quoted.infiniband.bth.destqp"})
        CHECK(after.number(name) == before.number(name));
    const Bytes made = after.packet.frame.bytes;
    CHECK(checksum_of(word_sum(made.subspan(34))) == 0);
    REQUIRE(checksum_of(word_sum(Bytes(bytes).subspan(42, 20))) == 0);
    CHECK(checksum_of(word_sum(made.subspan(42, 20))) == 0);
    CHECK(made.back() == std::byte{0});  // what is quoted of the payload
}

TEST_CASE("neighbour discovery that somebody anonymizes names other addresses") {
    const auto bytes = message(true, "8800 0000 60000000 20010db8000000000000000000000002 0201 525400770011");
    const Decoded before(bytes, LinkType::ethernet), after = anonymized(bytes);
    CHECK(after.layers() == before.layers());
    CHECK(after.plain("icmpv6.nd.na.target_address") == after.plain("ipv6.dst"));
    CHECK(after.plain("ipv6.dst") != before.plain("ipv6.dst"));
    CHECK(after.number("icmpv6.opt.linkaddr") == some_pseudonyms().mac(0x525400770011));
    CHECK(after.number("icmpv6.nd.na.flag.s") == 1);
    const Bytes made = after.packet.frame.bytes;
    CHECK(checksum_of(word_sum(made.subspan(22, 32), word_sum(made.subspan(54)) + (made.size() - 54) + 58)) == 0);
}
