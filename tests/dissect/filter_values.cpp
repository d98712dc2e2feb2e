// Every operator on every kind of value.
#include <tests/dissect/filter_packets.hpp>
#include <tests/support/catch.hpp>

using namespace qps::test;

namespace {

struct PassingPackets {
    std::string_view filter;
    std::string_view passes;
};

template <std::size_t N> void check(const PassingPackets (&cases)[N]) {
    for (const PassingPackets& c : cases) {
        INFO(c.filter);
        CHECK(passed(c.filter) == c.passes);
    }
}

}  // namespace

TEST_CASE("Numbers compare by every operator, in words too") {
    check({
        {"infiniband.bth.psn == 5", "W"},
        {"infiniband.bth.psn eq 6", "N"},
        {"infiniband.bth.psn != 5", "NS"},
        {"infiniband.bth.psn ne 6", "WS"},
        {"infiniband.bth.psn > 5", "NS"},
        {"infiniband.bth.psn gt 7", ""},
        {"infiniband.bth.psn >= 6", "NS"},
        {"infiniband.bth.psn ge 5", "WNS"},
        {"infiniband.bth.psn < 6", "W"},
        {"infiniband.bth.psn lt 0", ""},
        {"infiniband.bth.psn <= 6", "WN"},
        {"infiniband.bth.psn le 5", "W"},
        {"infiniband.bth.psn === 5", "W"},
        {"infiniband.bth.psn !== 5", "NS"},
        {"infiniband.bth.psn ~= 5", "NS"},
        {"infiniband.bth.psn >= 0", "WNS"},
        {"infiniband.bth.psn < 16777215", "WNS"},
        {"infiniband.reth.va <= 0xffffffffffffffff", "W"},
    });
}

TEST_CASE("Numbers are written in decimal, hexadecimal, binary and octal") {
    check({
        {"infiniband.bth.destqp == 17", "W"},
        {"infiniband.bth.destqp == 0x11", "W"},
        {"infiniband.bth.destqp == 0X11", "W"},
        {"infiniband.bth.destqp == 0b10001", "W"},
        {"infiniband.bth.destqp == 021", "W"},
        {"infiniband.bth.destqp == 0x000011", "W"},
        {"infiniband.reth.va == 0x00007f3a00001000", "W"},
        {"infiniband.reth.va == 139887084834816", "W"},
        {"infiniband.bth.psn == -0", ""},
    });
}

TEST_CASE("A value with a factor counts in its unit") {
    check({{"ip.hdr_len == 20", "WNT"}, {"ip.hdr_len == 5", ""}, {"ip.hdr_len <= 60", "WNT"}});
}

TEST_CASE("Bits of numbers are tested with a mask") {
    check({
        {"infiniband.bth.psn & 1", "WS"},
        {"infiniband.bth.psn & 2", "NS"},
        {"infiniband.bth.psn & 0x6 == 4", "W"},
        {"infiniband.bth.psn & 0x6 != 4", "NS"},
        {"infiniband.bth.psn bitwise_and 3 in {1, 2}", "WN"},
        {"infiniband.bth.psn&1&&ip", "W"},
        {"ip.src & 255.0.0.0 == 10.0.0.0", "WNT"},
        {"eth.src & 01:00:00:00:00:00", ""},
        {"eth.dst & 0x010000000000", "A"},
    });
}

TEST_CASE("Flags are true or false, alone they ask for presence") {
    check({
        {"infiniband.bth.a", "WNS"},
        {"infiniband.bth.a == 1", "W"},
        {"infiniband.bth.a == true", "W"},
        {"infiniband.bth.a == TRUE", "W"},
        {"infiniband.bth.a == 7", "W"},
        {"infiniband.bth.a == False", "NS"},
        {"infiniband.bth.a != true", "NS"},
        {"infiniband.bth.a == 0", "NS"},
        {"ip.flags.df == 1", "W"},
        {"infiniband.bth.a == infiniband.bth.m", "W"},
    });
}

TEST_CASE("Names stand for values, whatever their case and hyphens") {
    check({
        {"infiniband.bth.opcode == RC_ACKNOWLEDGE", "N"},
        {"infiniband.bth.opcode == rc-acknowledge", "N"},
        {"infiniband.bth.opcode == \"RC Acknowledge\"", "N"},
        {"infiniband.bth.opcode == 'rc acknowledge'", "N"},
        {"infiniband.bth.opcode != RC_ACKNOWLEDGE", "WS"},
        {"infiniband.bth.opcode in {UD_SEND_ONLY, RC_RDMA_WRITE_ONLY}", "WS"},
        {"infiniband.bth.opcode in {RC_SEND_FIRST..RC_ACKNOWLEDGE}", "WN"},
        {"ip.dsfield.ecn == Not-ECT", "T"},
        {"ip.dsfield.ecn == \"not_ect\"", "T"},
        {"rdma.icrc.status == bad", "WNS"},
        {"infiniband.aeth.syndrome.error_code == PSN_SEQUENCE_ERROR", "N"},
        {"ip.proto == UDP", "WNT"},
        {"arp.opcode == request", "A"},
    });
}

TEST_CASE("Names are searched like text") {
    check({
        {"infiniband.bth.opcode contains WRITE", "W"},
        {"infiniband.bth.opcode contains \"send only\"", "S"},
        {"infiniband.bth.opcode matches \"^RC_\"", "WN"},
        {"infiniband.bth.opcode ~ \"only$\"", "WS"},
        {"infiniband.bth.opcode matches \"(?-i)only\"", ""},
        {"not infiniband.bth.opcode matches \"RC\"", "TSAG"},
    });
}

TEST_CASE("IPv4 addresses compare as numbers and with prefixes") {
    check({
        {"ip.src == 10.0.0.1", "W"},
        {"ip.src == 10.0.0.0/24", "WN"},
        {"ip.src == 10.0.0.77/24", "WN"},
        {"ip.src == 10.0.0.0/8", "WNT"},
        {"ip.src == 0.0.0.0/0", "WNT"},
        {"ip.src == 10.0.0.1/32", "W"},
        {"ip.src != 10.0.0.0/24", "T"},
        {"ip.src > 10.0.0.1", "NT"},
        {"ip.src > 10.0.0.0/24", "T"},
        {"ip.src <= 10.0.0.2", "WN"},
        {"ip.src in {10.0.0.0/30, 10.1.0.1}", "WNT"},
        {"ip.src in {10.0.0.2..10.1.0.0}", "N"},
        {"ip.src[3] == 02", "N"},
        {"ip.src contains 0a:00", "WN"},
        {"arp.src.proto_ipv4 == 10.0.0.1", "A"},
    });
}

TEST_CASE("IPv6 addresses compare with prefixes and by their bytes") {
    check({
        {"ipv6.src == fd00::1", "S"},
        {"ipv6.src == FD00:0:0:0:0:0:0:1", "S"},
        {"ipv6.src == fd00::/8", "S"},
        {"ipv6.src == fe80::/10", ""},
        {"ipv6.src != fe80::/10", "S"},
        {"ipv6.dst > fd00::1", "S"},
        {"ipv6.dst <= fd00::1", ""},
        {"ipv6.dst in {fd00::1..fd00::3}", "S"},
        {"ipv6.dst in {::1, fd00::2}", "S"},
        {"ipv6.src[0:2] == fd:00", "S"},
        {"ipv6.src[-1] == 1", "S"},
        {"ipv6.src contains fd:00", "S"},
        {"ipv6.src < ipv6.dst", "S"},
        {"ipv6.addr == fd00::2", "S"},
        {"ipv6.src == ::/0", "S"},
        {"ipv6.src[0:2] & ff:00 == fd:00", "S"},
    });
}

TEST_CASE("MAC addresses are written in all the usual ways") {
    check({
        {"eth.src == 02:00:00:00:00:01", "WSA"},
        {"eth.src == 02-00-00-00-00-01", "WSA"},
        {"eth.src == 0200.0000.0001", "WSA"},
        {"eth.src == 020000000001", "WSA"},
        {"eth.dst == ff:ff:ff:ff:ff:ff", "A"},
        {"eth.src[0:3] == 06:00:00", "T"},
        {"eth.src[5] in {1, 02}", "WNTSA"},
        {"eth.dst[0] & 1", "A"},
        {"eth.src > 02:00:00:00:00:01", "NT"},
        {"eth.src contains 04:00", "T"},
        {"eth.src in {04:00:00:00:00:00..04:00:00:00:00:09}", "T"},
        {"eth.src[4:2] == 00:02", "N"},
        {"eth.src[-2:] == 00:02", "N"},
        {"eth.src[4-5] == 00:02", "N"},
    });
}

TEST_CASE("GUIDs are hexadecimal numbers, with colons or without") {
    check({
        {"infiniband.nodeinfo.nodeguid == 0x0002c9030000beef", "G"},
        {"infiniband.nodeinfo.nodeguid == 00:02:c9:03:00:00:be:ef", "G"},
        {"infiniband.nodeinfo.nodeguid == 0002:c903:0000:beef", "G"},
        {"infiniband.nodeinfo.nodeguid == 0002c9030000beef", "G"},
        {"infiniband.nodeinfo.nodeguid[0:3] == 00:02:c9", "G"},
        {"infiniband.nodeinfo.nodeguid != 0", "G"},
        {"infiniband.nodeinfo.nodeguid < infiniband.nodeinfo.portguid", "G"},
    });
}

TEST_CASE("Bytes compare with hexadecimal digits and with text") {
    check({
        {"infiniband.payload == \"Hello,NVMe!\\x00\"", "W"},
        {"infiniband.payload[0:5] == \"Hello\"", "W"},
        {"infiniband.payload[:5] == 48:65:6c:6c:6f", "W"},
        {"infiniband.payload[0:2] == 48-65", "W"},
        {"infiniband.payload[0:2] == 4865", "W"},
        {"infiniband.payload[0:2] == 48.65", "W"},
        {"infiniband.payload[0] == 0x48", "W"},
    });
}

TEST_CASE("Bytes are searched for bytes, text and regular expressions") {
    check({
        {"infiniband.payload contains \"NVMe\"", "W"},
        {"infiniband.payload contains \"nvme\"", ""},
        {"infiniband.payload contains 4e:56", "W"},
        {"infiniband.payload contains 0x4e", "W"},
        {"infiniband.payload contains 01:02:03", "S"},
        {"infiniband.payload matches \"nvme\"", "W"},
        {"infiniband.payload matches \"(?-i)nvme\"", ""},
        {"infiniband.payload ~ r\"^hello,\\w+!\"", "W"},
        {"infiniband.payload matches \"\\x01\\x02\"", "S"},
        {"infiniband.payload[6:4] matches \"^nvme$\"", "W"},
        {"infiniband.payload > \"Hello\"", "W"},
        {"infiniband.payload < 01", "S"},
        {"infiniband.payload >= 00:01", "WS"},
        {"infiniband.payload <= 00:01", ""},
        {"infiniband.payload in {00..01}", "S"},
        {"infiniband.payload != 00", "WS"},
    });
}

TEST_CASE("A slice that the bytes do not have matches nothing") {
    check({
        {"infiniband.payload[0:8]", "WS"},
        {"infiniband.payload[8]", "W"},
        {"infiniband.payload[-12:]", "W"},
        {"infiniband.payload[12]", ""},
        {"infiniband.payload[11:1] != 01", "W"},
        {"infiniband.payload[100:1] != 01", ""},
        {"infiniband.payload[5-7] == 05:06:07", "S"},
        {"infiniband.payload[-2--1] == 06:07", "S"},
        {"infiniband.payload[1--2] == 01:02:03:04:05:06", "S"},
    });
}

TEST_CASE("Bytes are masked byte by byte") {
    check({
        {"infiniband.payload[0] & 40", "W"},
        {"infiniband.payload[0:2] & 0f:0f == 08:05", "W"},
        {"infiniband.payload[1:2] & 00:02", "S"},
        {"infiniband.payload[0] & 0x0f != 8", "S"},
    });
}

TEST_CASE("Text ends at its first zero") {
    check({
        {"frame.comment == \"first look\"", "W"},
        {"frame.comment != \"first\"", "W"},
        {"frame.comment contains \"look\"", "W"},
        {"frame.comment matches \"^FIRST\"", "W"},
        {"infiniband.nodedescription.nodestring == \"node-7\"", "G"},
        {"infiniband.nodedescription.nodestring == node-7", "G"},
        {"infiniband.nodedescription.nodestring == \"Node-7\"", ""},
        {"infiniband.nodedescription.nodestring matches \"-7$\"", "G"},
        {"infiniband.nodedescription.nodestring[0:4] == \"node\"", "G"},
        {"infiniband.nodedescription.nodestring[6]", ""},
        {"infiniband.nodedescription.nodestring > \"node-6\"", "G"},
        {"infiniband.nodedescription.nodestring in {\"a\", \"node-7\"}", "G"},
        {"infiniband.nodedescription.nodestring contains de-7", "G"},
    });
}

TEST_CASE("Decimal fractions compare in the field's own digits, below zero too") {
    check({
        {"frame.time_relative == 0.5", "T"},
        {"frame.time_relative == 0.500000000", "T"},
        {"frame.time_relative == .5", "T"},
        {"frame.time_relative == 0.5000000000000", "T"},
        {"frame.time_relative == -0.5", "W"},
        {"frame.time_relative < 0", "W"},
        {"frame.time_relative <= 0", "WN"},
        {"frame.time_relative > -1", "WNTSAG"},
        {"frame.time_relative in {-1..0.5}", "WNT"},
        {"frame.time_relative > 1.5", "G"},
        {"frame.time_relative > 1500ms", "G"},
        {"frame.time_relative == 0.5s", "T"},
        {"frame.time_relative == 500ms", "T"},
        {"frame.time_relative <= 500000us", "WNT"},
        {"frame.time_relative in {0s..500ms}", "NT"},
        {"frame.time_relative == 500000001ns", ""},
        {"frame.time == \"1970-01-01\"", "WNTSAG"},
        {"frame.time < \"1970-01-01 00:00:00.000000001\"", "WNTSAG"},
        {"frame.time >= \"2026-11-21 01:14:08\"", ""},
        {"frame.time_epoch < '2026-11-21T01:14:08Z'", "WNTSAG"},
        {"frame.time == \"1970-01-01 01:00:00+01:00\" and arp", "A"},
        {"frame.time", "WNTSAG"},
    });
}

TEST_CASE("Fields compare with fields, each value with each") {
    check({
        {"udp.srcport < udp.dstport", "T"},
        {"udp.srcport == udp.dstport", ""},
        {"frame.len == frame.cap_len", "WNTSAG"},
        {"infiniband.bth.psn < infiniband.bth.destqp", "WNS"},
        {"eth.src != eth.dst", "WNTSA"},
        {"ip.src === ip.dst", ""},
        {"ip.addr == ip.src", "WNT"},
        {"eth.src[0] == eth.dst[0]", "WNTS"},
        {"udp.port & 0xff == udp.dstport", ""},
        {"ip.src == arp.src.proto_ipv4", ""},
        {"infiniband.deth.srcqp < infiniband.bth.destqp", "S"},
    });
}

TEST_CASE("Headers and protocols hold bytes") {
    check({
        {"infiniband.bth[0] == 0a", "W"},
        {"infiniband.bth[9:3] == 00:00:06", "N"},
        {"infiniband.bth[12]", ""},
        {"frame contains \"NVMe\"", "W"},
        {"udp contains \"NVMe\"", "W"},
        {"udp[8] == 11", "N"},
        {"ip[8] == 40", "WN"},
        {"infiniband contains \"NVMe\"", "W"},
        {"infiniband[0] == 0a", "W"},
        {"frame[0:6] == ff:ff:ff:ff:ff:ff", "A"},
        {"frame[-1] & 02", "A"},
        {"eth[12:2] == 86:dd", "S"},
        {"frame matches \"1234$\"", "T"},
    });
}
