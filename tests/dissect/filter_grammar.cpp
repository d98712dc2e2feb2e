// The grammar: precedence, sets, several values of one name.
#include <dissect/filter/filter.hpp>
#include <tests/dissect/filter_packets.hpp>
#include <tests/support/catch.hpp>

#include <string>

using namespace qps::test;

TEST_CASE("The empty filter lets everything through") {
    CHECK(passed("") == "WNTSAG");
    CHECK(passed(" \t\n") == "WNTSAG");
    CHECK(qps::dissect::Filter().matches(exhibits().front().packet));
}

TEST_CASE("A name alone asks whether the packet has it") {
    CHECK(passed("infiniband.bth") == "WNS");
    CHECK(passed("infiniband.reth") == "W");
    CHECK(passed("infiniband") == "WNSG");
    CHECK(passed("rdma") == "WNS");
    CHECK(passed("udp") == "WNTS");
    CHECK(passed("ip") == "WNT");
    CHECK(passed("vxlan") == "T");
    CHECK(passed("arp") == "A");
    CHECK(passed("infiniband.aeth.msn") == "N");
    CHECK(passed("frame") == "WNTSAG");
}

TEST_CASE("A field under a condition is there only where the condition holds") {
    CHECK(passed("infiniband.aeth.syndrome.error_code") == "N");
    CHECK(passed("infiniband.aeth.syndrome.credit_count").empty());
}

TEST_CASE("Not binds before and, and before xor, xor before or") {
    CHECK(passed("infiniband.reth or infiniband.aeth and arp") == "W");
    CHECK(passed("(infiniband.reth or infiniband.aeth) and arp").empty());
    CHECK(passed("not infiniband.reth and udp") == "NTS");
    CHECK(passed("not (infiniband.reth and udp)") == "NTSAG");
    CHECK(passed("udp xor ip") == "S");
    CHECK(passed("udp ^^ ip ^^ ipv6").empty());
    CHECK(passed("arp or udp xor ip and vxlan") == "WNSA");
    CHECK(passed("udp xor ip or arp") == "SA");
    CHECK(passed("arp ^^ (udp ^^ (ip ^^ vxlan))") == "TSA");
}

TEST_CASE("Operators have a symbol and a word") {
    CHECK(passed("udp && ip || arp") == "WNTA");
    CHECK(passed("udp and ip or arp") == "WNTA");
    CHECK(passed("udp AND ip OR arp") == "WNTA");
    CHECK(passed("!udp") == "AG");
    CHECK(passed("! ! udp") == "WNTS");
    CHECK(passed("not not not udp") == "AG");
    CHECK(passed("!infiniband.bth.psn==5&&infiniband.bth") == "NS");
}

TEST_CASE("Of several values any may be equal, all must differ") {
    CHECK(passed("ip.src == 192.168.0.1") == "T");
    CHECK(passed("ip.src != 192.168.0.1") == "WN");
    CHECK(passed("!(ip.src == 192.168.0.1)") == "WNSAG");
    CHECK(passed("ip.src === 192.168.0.1").empty());
    CHECK(passed("ip.src !== 192.168.0.1") == "WNT");
    CHECK(passed("ip.addr === 10.0.0.0/8") == "WN");
    CHECK(passed("ip.addr == 10.0.0.1") == "WN");
    CHECK(passed("ip.addr != 10.0.0.1") == "T");
    CHECK(passed("udp.port > 50000") == "T");
    CHECK(passed("udp.port < 4791") == "T");
    CHECK(passed("ip.ttl all_eq 64") == "WN");
    CHECK(passed("ip.ttl any_ne 32") == "WNT");
    CHECK(passed("ip.ttl all_ne 32") == "WN");
    CHECK(passed("ip.ttl any_eq 32") == "T");
}

TEST_CASE("Any and all turn a comparison") {
    CHECK(passed("any ip.addr > 192.0.0.0") == "T");
    CHECK(passed("all ip.addr > 10.0.0.2") == "T");
    CHECK(passed("all ip.ttl > 16") == "WN");
    CHECK(passed("any ip.src != 192.168.0.1") == "WNT");
    CHECK(passed("all udp.port in {4096, 8192, 4791, 49152, 49153}") == "WN");
}

TEST_CASE("A number picks a layer from several of a kind") {
    CHECK(passed("ip.src#1 == 10.1.0.1") == "T");
    CHECK(passed("ip.src#2 == 10.1.0.1").empty());
    CHECK(passed("ip.src#2 == 192.168.0.1") == "T");
    CHECK(passed("ip.addr#2") == "T");
    CHECK(passed("udp#2") == "T");
    CHECK(passed("udp#2[0:2] == 10:00") == "T");
    CHECK(passed("udp#3").empty());
}

TEST_CASE("Sets hold values and ranges, with commas or spaces") {
    CHECK(passed("infiniband.bth.psn in {5,7}") == "WS");
    CHECK(passed("infiniband.bth.psn in {5 7}") == "WS");
    CHECK(passed("infiniband.bth.psn in { 5 .. 6 }") == "WN");
    CHECK(passed("infiniband.bth.psn in {5..6, 7}") == "WNS");
    CHECK(passed("infiniband.bth.psn in {0 1 2 3 4 6..6 8 10 12 14 16 18 20 22}") == "N");
    CHECK(passed("infiniband.bth.psn not in {5}") == "NTSAG");
    CHECK(passed("not infiniband.bth.psn in {5}") == "NTSAG");
    CHECK(passed("udp.port in {8192}") == "T");
}

TEST_CASE("Long lists and long chains are nothing special") {
    std::string list = "infiniband.bth.destqp in {18";
    std::string chain = "infiniband.bth.destqp == 18";
    for (int i = 0; i < 2000; ++i) {
        list += ',';
        list += std::to_string(1000 + 3 * i);
        chain += " or infiniband.bth.psn == ";
        chain += std::to_string(1000 + i);
    }
    CHECK(passed(list + "}") == "N");
    CHECK(passed(chain.substr(0, 60000).substr(0, chain.substr(0, 60000).rfind(" or"))) == "N");
    CHECK(passed(std::string(10001, '!').append("udp")) == "AG");
}

TEST_CASE("Texts know escapes, raw texts know none") {
    CHECK(passed(R"(frame contains "\x4eVM\145")") == "W");
    CHECK(passed(R"(frame.comment == "first\x20look")") == "W");
    CHECK(passed(R"(frame.comment contains "\"")").empty());
    CHECK(passed(R"(frame.comment matches r"\s")") == "W");
    CHECK(passed(R"(frame.comment matches "\\s")") == "W");
    CHECK(passed("frame.comment == 'first look'") == "W");
}

TEST_CASE("A filter is copied cheaply and moved") {
    auto compiled = qps::dissect::Filter::compile("infiniband.bth.psn == 5");
    REQUIRE(compiled);
    const qps::dissect::Filter copy = *compiled;
    const qps::dissect::Filter moved = std::move(*compiled);
    CHECK(copy.matches(exhibits()[0].packet));
    CHECK(moved.matches(exhibits()[0].packet));
    CHECK_FALSE(moved.matches(exhibits()[1].packet));
}
