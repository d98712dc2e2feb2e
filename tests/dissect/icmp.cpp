// ICMP, ICMPv6 and neighbour discovery: their fields, what errors quote, which is no packet of the traffic, options and
// records that lie.
#include <dissect/filter/filter.hpp>
#include <dissect/headers/icmp.hpp>
#include <dissect/headers/roce_ports.hpp>
#include <dissect/packet/census.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>

using namespace qps::dissect;
using namespace qps::tests;

namespace {

const std::string kIp = "45000400000140004011b6ea c0000201 c0000202", kUdp = "c12312b703ec0000",
                  kBth = "0440ffff00000011800000aa";
const std::string kIp6 = "6000000003ec11ff 20010db8000000000000000000000001 20010db8000000000000000000000002";
const std::string kMac = "525400770011";

// Ethernet and IP in front of a message given in digits.
std::vector<std::byte> message(bool version_6, const std::string& digits) {
    PacketSpec spec = transport_packet(Opcode{0x04}, version_6 ? Network::roce_v2_ipv6 : Network::roce_v2_ipv4);
    spec.headers.resize(2);
    set(spec, version_6 ? "ipv6.nxt" : "ip.proto", version_6 ? 58 : 1);
    spec.payload = hex(digits);
    return build(spec);
}
Decoded icmp(const std::string& digits) { return Decoded(message(false, digits), LinkType::ethernet); }
Decoded icmpv6(const std::string& digits) { return Decoded(message(true, digits), LinkType::ethernet); }

bool matches(const Packet& packet, std::string_view text) {
    const auto filter = Filter::compile(text);
    REQUIRE(filter);
    return filter->matches(packet);
}

void check_sound(const Decoded& decoded) {
    INFO(decoded.line());
    for (const Layer& layer : decoded.packet.layers()) CHECK(layer.fault == Fault::none);
}

}  // namespace

TEST_CASE("ICMP: echo, and types that nobody knows") {
    const Decoded echo = icmp("0800abcd1234000570696e67");
    check_sound(echo);
    CHECK(echo.layers() == "eth ip icmp data");
    CHECK(echo.number("icmp.type") == 8);
    CHECK(echo.number("icmp.checksum") == 0xabcd);
    CHECK(echo.number("icmp.ident") == 0x1234);
    CHECK(echo.number("icmp.seq") == 5);
    CHECK(echo.line() == "ICMP type=Echo_request seq=5 len=4");
    CHECK(icmp("0d00abcd1234000500000001").line() == "ICMP type=Timestamp_request len=4");
    CHECK(icmp("ff00abcd12340005").line() == "ICMP type=255");
    CHECK(icmp("0800ab").layers() == "eth ip data");  // no message
    CHECK(icmp("").layers() == "eth ip");
}

TEST_CASE("ICMP: an error with what it quotes of a RoCE packet, which is no RoCE packet") {
    const Decoded error = icmp("0303abcd00000000" + kIp + kUdp + kBth + "0102030405");
    check_sound(error);
    CHECK(error.layers() == "eth ip icmp rdma.quoted.ip rdma.quoted.udp rdma.quoted.infiniband.bth data");
    CHECK(
        error.line() ==
        "ICMP type=Destination_unreachable code=Port_unreachable quoted_src=192.0.2.1 quoted_dst=192.0.2.2 quoted_port=4791 "
        "quoted_op=RC_SEND_ONLY quoted_qp=17 quoted_psn=170 len=5");
    CHECK(error.plain("rdma.quoted.ip.dst") == "192.0.2.2");
    CHECK(error.number("rdma.quoted.udp.srcport") == 0xc123);
    CHECK(error.number("rdma.quoted.infiniband.bth.psn") == 170);
    CHECK(error.number("rdma.quoted.ip.len") == 1024);
    CHECK_FALSE(error.number("icmp.mtu"));
    // Nobody who looks for RDMA finds it.
    CHECK_FALSE(error.packet.has_transport());
    CHECK(error.packet.encapsulation == Encapsulation::none);
    CHECK(error.packet.icrc.status == CrcStatus::not_applicable);
    for (const std::string_view name : {"udp.dstport", "infiniband.bth.psn", "rdma.service"})
        CHECK_FALSE(error.number(name));
    for (const char* filter : {"infiniband", "infiniband.bth", "udp", "udp.dstport == 4791", "ip.dst == 192.0.2.77"})
        CHECK_FALSE(matches(error.packet, filter));
    for (const char* filter : {"icmp", "icmp.type == 3", "icmp.code == 3", "rdma.quoted.infiniband.bth",
                               "rdma.quoted.infiniband.bth.destqp == 17", "rdma.quoted.ip.src == 192.0.2.1"})
        CHECK(matches(error.packet, filter));
}

TEST_CASE("ICMP: as much as is quoted, and no fault where it ends") {
    const std::string whole = kIp + kUdp + kBth;
    const std::size_t ip = 20, udp = 28, bth = 40;
    const auto bytes = hex(whole);
    for (std::size_t length = 0; length <= bytes.size(); ++length) {
        std::string digits = "0303abcd00000000";
        for (std::size_t i = 0; i < length; ++i) {
            constexpr std::string_view kDigits = "0123456789abcdef";
            digits += kDigits[std::to_integer<unsigned>(bytes[i]) >> 4U];
            digits += kDigits[std::to_integer<unsigned>(bytes[i]) & 15U];
        }
        const Decoded error = icmp(digits);
        check_sound(error);
        CHECK((find(error.packet, kind::quoted_ipv4) != nullptr) == (length >= ip));
        CHECK((find(error.packet, kind::quoted_udp) != nullptr) == (length >= udp));
        CHECK((find(error.packet, kind::quoted_bth) != nullptr) == (length >= bth));
    }
    // Behind another port, of another protocol, of a later fragment, of another version: no BTH.
    const auto quotes = [](std::string quoted) { return icmp("0301abcd00000000" + std::move(quoted)); };
    CHECK(find(quotes(kIp + "c123003503ec0000" + kBth).packet, kind::quoted_bth) == nullptr);
    CHECK(find(quotes("45000400000140004006b6ea c0000201 c0000202" + kUdp + kBth).packet, kind::quoted_udp) == nullptr);
    CHECK(find(quotes("45000400000100b94011b6ea c0000201 c0000202" + kUdp + kBth).packet, kind::quoted_udp) == nullptr);
    CHECK(find(quotes("55000400000140004011b6ea c0000201 c0000202" + kUdp + kBth).packet, kind::quoted_ipv4) ==
          nullptr);
    CHECK(find(quotes("43000400000140004011b6ea c0000201 c0000202" + kUdp + kBth).packet, kind::quoted_ipv4) ==
          nullptr);
    // Options of IPv4 are part of its header.
    CHECK(find(quotes("46000400000140004011b6ea c0000201 c0000202 01010101" + kUdp + kBth).packet, kind::quoted_bth) !=
          nullptr);
}

TEST_CASE("ICMP: errors of each kind") {
    const Decoded too_big = icmp("0304abcd000005dc" + kIp + kUdp);
    CHECK(too_big.number("icmp.mtu") == 1500);
    CHECK(
        too_big.line() ==
        "ICMP type=Destination_unreachable code=Fragmentation_needed mtu=1500 quoted_src=192.0.2.1 quoted_dst=192.0.2.2 quoted_port=4791");
    CHECK(icmp("0304abcd002005dc" + kIp).number("icmp.length") == 32);
    CHECK(icmp("0501abcd0a0000fe" + kIp).plain("icmp.redir_gw") == "10.0.0.254");
    CHECK(icmp("0b00abcd00000000" + kIp).line() ==
          "ICMP type=Time_exceeded code=In_transit quoted_src=192.0.2.1 quoted_dst=192.0.2.2");
    CHECK(icmp("0c00abcd14000000" + kIp).number("icmp.pointer") == 20);
    CHECK(icmp("0400abcd00000000" + kIp).plain("rdma.quoted.ip.src") == "192.0.2.1");
    CHECK(icmp("0800abcd00000000" + kIp).layers() == "eth ip icmp data");  // an echo quotes nothing

    const Decoded unreachable = icmpv6("0104abcd00000000" + kIp6 + kUdp + kBth);
    check_sound(unreachable);
    CHECK(
        unreachable.line() ==
        "ICMPv6 type=Destination_unreachable code=Port_unreachable quoted_src=2001:db8::1 quoted_dst=2001:db8::2 quoted_port=4791 "
        "quoted_op=RC_SEND_ONLY quoted_qp=17 quoted_psn=170");
    CHECK_FALSE(unreachable.packet.has_transport());
    CHECK_FALSE(matches(unreachable.packet, "infiniband or udp"));
    CHECK(matches(unreachable.packet, "icmpv6 and rdma.quoted.ipv6.dst == 2001:db8::2"));
    CHECK(icmpv6("0200abcd00000500" + kIp6 + kUdp).number("icmpv6.mtu") == 1280);
    CHECK(icmpv6("0300abcd00000000" + kIp6).number("icmpv6.code") == 0);
    CHECK(icmpv6("0401abcd00000028" + kIp6).number("icmpv6.pointer") == 40);
    CHECK(icmpv6("8000abcd12340005aabb").line() == "ICMPv6 type=Echo_request seq=5 len=2");
    CHECK(icmpv6("c805abcd0000000061").plain("icmpv6.data") == "0000000061");
    CHECK(icmpv6("8700abcd00000000").layers() == "eth ipv6 data");  // too short for its target
    // Each version has its own.
    CHECK(Decoded(
              [] {
                  auto bytes = message(true, "0800abcd12340005");
                  bytes[14 + 6] = std::byte{1};
                  return bytes;
              }(),
              LinkType::ethernet)
              .layers() == "eth ipv6 data");
}

TEST_CASE("ICMP: another port of RoCE is one in what is quoted too") {
    const std::string other = "c12312c003ec0000";  // 4800
    CHECK(find(icmp("0303abcd00000000" + kIp + other + kBth).packet, kind::quoted_bth) == nullptr);
    const std::array<std::uint16_t, 1> ports{4800};
    set_roce_ports(ports);
    const Decoded error = icmp("0303abcd00000000" + kIp + other + kBth);
    set_roce_ports({});
    CHECK(error.number("rdma.quoted.infiniband.bth.destqp") == 17);
}

TEST_CASE("neighbour discovery: who asks, who answers, with options") {
    const std::string target = "20010db8000000000000000000000012";
    const Decoded asks = icmpv6("8700abcd00000000" + target + "0101" + kMac + "0e01010203040506");
    check_sound(asks);
    CHECK(asks.layers() == "eth ipv6 icmpv6 icmpv6.opt icmpv6.opt");
    CHECK(asks.plain("icmpv6.nd.ns.target_address") == "2001:db8::12");
    CHECK(asks.plain("icmpv6.opt.linkaddr") == "52:54:00:77:00:11");
    CHECK(asks.plain("icmpv6.opt.src_linkaddr") == "52:54:00:77:00:11");
    CHECK(asks.plain("icmpv6.opt.target_linkaddr").empty());
    CHECK(asks.plain("icmpv6.opt.nonce") == "010203040506");
    CHECK(asks.line() == "ICMPv6 type=Neighbor_solicitation target=2001:db8::12 mac=52:54:00:77:00:11");
    const Decoded answers = icmpv6("8800abcde0000000" + target + "0201" + kMac);
    check_sound(answers);
    CHECK(answers.number("icmpv6.nd.na.flag.r") == 1);
    CHECK(answers.number("icmpv6.nd.na.flag.s") == 1);
    CHECK(answers.number("icmpv6.nd.na.flag.o") == 1);
    CHECK(answers.plain("icmpv6.opt.target_linkaddr") == "52:54:00:77:00:11");
    CHECK(answers.line() ==
          "ICMPv6 type=Neighbor_advertisement target=2001:db8::12 router solicited override mac=52:54:00:77:00:11");

    const Decoded router =
        icmpv6("8600abcd40c0070800007530000003e8" + std::string("0101") + kMac + "030440e000000e100000070800000000" +
               target + "0501000000001068c802000102030405060708090a0b0c0d");
    check_sound(router);
    CHECK(router.number("icmpv6.nd.ra.cur_hop_limit") == 64);
    CHECK(router.number("icmpv6.nd.ra.flag.m") == 1);
    CHECK(router.number("icmpv6.nd.ra.router_lifetime") == 1800);
    CHECK(router.number("icmpv6.nd.ra.retrans_timer") == 1000);
    CHECK(router.number("icmpv6.opt.prefix.length") == 64);
    CHECK(router.number("icmpv6.opt.prefix.valid_lifetime") == 3600);
    CHECK(router.plain("icmpv6.opt.prefix") == "2001:db8::12");
    CHECK(router.number("icmpv6.opt.mtu") == 4200);
    CHECK(router.plain("icmpv6.data") == "000102030405060708090a0b0c0d");

    const std::string quoted = kIp6 + kUdp;  // 48 bytes
    const Decoded redirect = icmpv6("8900abcd00000000" + target + target + "0407000000000000" + quoted + "0201" + kMac);
    check_sound(redirect);
    CHECK(redirect.layers() == "eth ipv6 icmpv6 icmpv6.opt rdma.quoted.ipv6 rdma.quoted.udp icmpv6.opt");
    CHECK(redirect.plain("icmpv6.rd.na.destination_address") == "2001:db8::12");
    CHECK(redirect.plain("icmpv6.opt.target_linkaddr") == "52:54:00:77:00:11");
}

TEST_CASE("neighbour discovery: options whose lengths lie") {
    const std::string asks = "8700abcd0000000020010db8000000000000000000000012";
    for (const char* option : {"0100010203040506", "0104010203040506", "01", "01010203"}) {
        const Decoded wrong = icmpv6(asks + option);
        INFO(wrong.line());
        CHECK(wrong.plain("icmpv6.opt.linkaddr").empty());
        CHECK(wrong.packet.layers().back().fault == Fault::bad_length);
    }
    CHECK(icmpv6(asks + "010252540077001100000000000000ff")
              .plain("icmpv6.opt.linkaddr")
              .empty());  // longer than a MAC address: EUI-64
    std::string many = asks;
    for (int i = 0; i < 100; ++i) many += "c801000000000000";
    CHECK(icmpv6(many).packet.layer_count == kMaxLayers);
}

TEST_CASE("multicast listener discovery: reports with their records") {
    const std::string group = "ff020000000000000000000000000016", source = "20010db8000000000000000000000012";
    const Decoded one = icmpv6("8300abcd00000000" + group);
    check_sound(one);
    CHECK(one.plain("icmpv6.mld.multicast_address") == "ff02::16");
    const Decoded report = icmpv6("8f00abcd00000002" + std::string("04000000") + group + "03000001" + group + source);
    check_sound(report);
    CHECK(report.layers() == "eth ipv6 icmpv6 icmpv6.mldr.mar icmpv6.mldr.mar");
    CHECK(report.number("icmpv6.mldr.nb_mcast_records") == 2);
    CHECK(report.number("icmpv6.mldr.mar.record_type") == 4);
    CHECK(report.plain("icmpv6.mldr.mar.multicast_address") == "ff02::16");
    for (const std::string& lie :
         {std::string("03000002") + group + source, std::string("030000"), std::string("03ff0000") + group}) {
        const Decoded wrong = icmpv6("8f00abcd00000001" + lie);
        CHECK(wrong.packet.layers().back().fault == Fault::bad_length);
        CHECK(wrong.plain("icmpv6.mldr.mar.multicast_address").empty());
    }
    CHECK(icmpv6("8200abcd27100000" + group).number("icmpv6.mld.maximum_response_delay") == 10000);
    CHECK_FALSE(
        icmpv6("8200abcd27100000" + group + "027d0000").number("icmpv6.mld.maximum_response_delay"));  // of version 2
}

TEST_CASE("ICMP: captures that end anywhere in it") {
    const std::string target = "20010db8000000000000000000000012";
    for (const auto& bytes :
         {message(false, "0303abcd00000000" + kIp + kUdp + kBth + "01020304"),
          message(true, "0104abcd00000000" + kIp6 + kUdp + kBth + "01020304"),
          message(true, "8700abcd00000000" + target + "0101" + kMac),
          message(true, "8f00abcd00000001" + std::string("03000001") + target + target),
          message(true, "8900abcd00000000" + target + target + "0407000000000000" + kIp6 + kUdp + "0201" + kMac)})
        for (std::size_t length = 0; length < bytes.size(); ++length) {
            const Decoded decoded(bytes, LinkType::ethernet, length);
            CHECK(decoded.packet.layers().back().fault == Fault::cut);
            CHECK_FALSE(decoded.packet.has_transport());
            for (const Layer& layer : decoded.packet.layers()) {
                CHECK(std::size_t{layer.offset} + layer.length <= length);
                for (const Field& field : header(layer.kind).fields)
                    static_cast<void>(value_of(decoded.packet, layer, field));
            }
            static_cast<void>(decoded.line());
        }
}

TEST_CASE("ICMP is counted under one name") {
    Census census;
    for (const char* digits : {"0800abcd12340005", "0303abcd00000000", "0d00abcd12340005"})
        count(census, icmp(digits).packet);
    count(census, icmp("0303abcd00000000" + kIp + kUdp + kBth).packet);
    count(census, icmpv6("8700abcd0000000020010db80000000000000000000000120101" + kMac).packet);
    CHECK(census.innermost[static_cast<std::size_t>(kind::icmp)] == 4);
    CHECK(census.innermost[static_cast<std::size_t>(kind::icmpv6)] == 1);
    CHECK(census.encapsulations[0] == 5);
    for (const std::uint64_t opcodes : census.opcodes) CHECK(opcodes == 0);
}
