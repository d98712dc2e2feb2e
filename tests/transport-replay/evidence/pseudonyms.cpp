// Pseudonyms: the published values of Crypto-PAn; permutations that keep what they promise.
#include <dissect/base/parse_value.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/evidence/pseudonyms.hpp>

#include <bit>
#include <random>
#include <set>

using namespace qps;
using namespace qps::transport;

namespace {

// The key and pairs of the sample that comes with the authors' implementation (sample_trace_raw.dat,
// sample_trace_sanitized.dat).
constexpr std::array<unsigned char, 32> kSampleKey{21,  34, 23,  141, 51, 164, 207, 128, 19,  10,  91,
                                                   22,  73, 144, 125, 16, 216, 152, 143, 131, 121, 121,
                                                   101, 39, 98,  87,  76, 45,  42,  132, 34,  2};
constexpr std::size_t kMany = 100'000;

Pseudonyms::Key key_of(const std::array<unsigned char, 32>& bytes) {
    Pseudonyms::Key key{};
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = std::byte{bytes[i]};
    return key;
}

std::uint32_t ip(std::string_view text) { return dissect::read_be<std::uint32_t>(dissect::parse_ip(text)->bytes, 0); }

std::string renamed(Pseudonyms& pseudonyms, std::string text) {
    pseudonyms.name(std::as_writable_bytes(std::span(text)));
    return text;
}

}  // namespace

TEST_CASE("as it was published, Crypto-PAn gives the pairs of its authors") {
    Pseudonyms pseudonyms(key_of(kSampleKey), false, kMany);
    for (const auto& [original, expected] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
             {"128.11.68.132", "135.242.180.132"},
             {"129.118.74.4", "134.136.186.123"},
             {"130.132.252.244", "133.68.164.234"},
             {"141.223.7.43", "141.167.8.160"},
             {"141.233.145.108", "141.129.237.235"},
             {"152.163.225.39", "151.140.114.167"},
             {"156.29.3.236", "147.225.12.42"},
             {"165.247.96.84", "162.9.99.234"},
             {"166.107.77.190", "160.132.178.185"},
             {"24.0.250.221", "100.15.198.226"},
         })
        CHECK(pseudonyms.published(ip(original)) == ip(expected));
}

TEST_CASE("addresses keep the length of their common prefix, and what they are for") {
    Pseudonyms pseudonyms(key_of(kSampleKey), false, kMany);
    std::mt19937_64 random(7);  // NOLINT: the same numbers every time
    for (int i = 0; i < 2000; ++i) {
        const auto a = static_cast<std::uint32_t>(random()),
                   b = a ^ static_cast<std::uint32_t>(random()) >> random() % 32;
        const bool special = a >> 8 == 0xe00000 || b >> 8 == 0xe00000;
        if (!special) CHECK(std::countl_zero(pseudonyms.ipv4(a) ^ pseudonyms.ipv4(b)) == std::countl_zero(a ^ b));
        CHECK((pseudonyms.ipv4(a) >> 28 == 14) == (a >> 28 == 14));  // groups
        const Ipv6Bits first{0x2001'0db8'0000'0000 | random() >> 40, random()},
            second{first.high ^ random() >> random() % 64, first.low};
        if (second.high == first.high || second.high == 0 || second.high >> 56 == 0xff || second.high >> 48 == 0xfe80)
            continue;
        CHECK(std::countl_zero(pseudonyms.ipv6(first).high ^ pseudonyms.ipv6(second).high) ==
              std::countl_zero(first.high ^ second.high));
        CHECK(pseudonyms.ipv6(first).low == pseudonyms.guid(first.low));  // a GID is a prefix and a GUID
    }
    for (const std::uint32_t same : {0U, UINT32_MAX, ip("224.0.0.251")}) CHECK(pseudonyms.ipv4(same) == same);
    const Ipv6Bits mapped{0, 0xffff'0000'0000ULL | ip("10.0.0.1")};
    CHECK(pseudonyms.ipv6(mapped) == Ipv6Bits{0, 0xffff'0000'0000ULL | pseudonyms.ipv4(ip("10.0.0.1"))});
    for (std::uint64_t i = 1; i < 4096; ++i)  // nothing local becomes a group
        CHECK(pseudonyms.ipv6({0xfd00'0000'0000'0000 | i << 40, 1}).high >> 56 == 0xfd);
    CHECK(pseudonyms.ipv6({0xfe80'0000'0000'0000, 1}).high == 0xfe80'0000'0000'0000);
    CHECK(pseudonyms.ipv6({0xff02'0000'0000'0000, 1}) == Ipv6Bits{0xff02'0000'0000'0000, 1});
}

TEST_CASE("no two are the same afterwards, and what everybody has stays") {
    Pseudonyms pseudonyms(key_of(kSampleKey), false, kMany);
    std::set<std::uint64_t> lids, keys, partitions;
    for (std::uint32_t lid = 0; lid < 0x10000; ++lid) {
        const std::uint32_t other = pseudonyms.lid(lid);
        CHECK((other >= 0xc000) == (lid >= 0xc000));
        lids.insert(other);
        partitions.insert(pseudonyms.pkey(static_cast<std::uint16_t>(lid)));
        keys.insert(pseudonyms.key(lid, 32));
    }
    CHECK(lids.size() == 0x10000);
    CHECK(partitions.size() == 0x10000);
    CHECK(keys.size() == 0x10000);
    CHECK(pseudonyms.lid(0) == 0);
    CHECK(pseudonyms.lid(0xffff) == 0xffff);
    CHECK(pseudonyms.pkey(0xffff) == 0xffff);
    CHECK((pseudonyms.pkey(0x8123) & 0x7fff) == pseudonyms.pkey(0x0123));
    CHECK(pseudonyms.qkey(0x8001'0000) == 0x8001'0000);
    CHECK((pseudonyms.qkey(0x1234'5678) & 0x8000'0000) == 0);
    CHECK(pseudonyms.key(17, 64) == pseudonyms.key(17, 32));
    CHECK(pseudonyms.guid(0) == 0);
}

TEST_CASE("MAC addresses keep what kind of address they are, and the vendor where that is asked for") {
    Pseudonyms pseudonyms(key_of(kSampleKey), false, kMany), keeping(key_of(kSampleKey), true, kMany);
    const std::uint64_t mac = 0x5254'0077'0011;
    CHECK(pseudonyms.mac(mac) >> 24 != mac >> 24);
    CHECK((pseudonyms.mac(mac) >> 40 & 3) == (mac >> 40 & 3));
    CHECK(keeping.mac(mac) >> 24 == mac >> 24);
    CHECK(keeping.mac(mac) != mac);
    for (const std::uint64_t same :
         {0ULL, 0xffff'ffff'ffffULL, 0x0180'c200'0001ULL, 0x0100'5e00'0001ULL, 0x3333'0000'0001ULL})
        CHECK(pseudonyms.mac(same) == same);
    CHECK(pseudonyms.mac(0x3333'ff77'0011) >> 32 == 0x3333);
    CHECK(pseudonyms.mac(0x3333'ff77'0011) != 0x3333'ff77'0011);
}

TEST_CASE("what is contiguous in memory stays so") {
    Pseudonyms pseudonyms(key_of(kSampleKey), false, kMany);
    const std::uint64_t begin = 0x7f12'3456'7000;
    CHECK(pseudonyms.memory(begin) != begin);
    CHECK(pseudonyms.memory(begin + 0x12345) - pseudonyms.memory(begin) == 0x12345);
    CHECK(pseudonyms.memory(0xffff'8880'1234'5000) >> 47 == 0xffff'8880'1234'5000 >> 47);
    CHECK(pseudonyms.memory(4096) == 4096);  // an offset
}

TEST_CASE("names become others of the same length and kind, the same for the same, never the same for others") {
    Pseudonyms pseudonyms(key_of(kSampleKey), false, kMany);
    const std::string name = renamed(pseudonyms, "nqn.2026-11.lab:host");
    CHECK(name.starts_with("nqn."));
    CHECK(name.size() == 20);
    CHECK(name != "nqn.2026-11.lab:host");
    CHECK(renamed(pseudonyms, "nqn.2026-11.lab:host") == name);
    CHECK(renamed(pseudonyms, "nqn.2014-08.org.nvmexpress.discovery") == "nqn.2014-08.org.nvmexpress.discovery");
    std::set<std::string> letters;
    for (char c = 'a'; c <= 'z'; ++c) letters.insert(renamed(pseudonyms, std::string(1, c)));
    CHECK(letters.size() >= 20);  // of 26 there are no others left for the last ones
    CHECK(renamed(pseudonyms, "Linux   ").substr(5) == "   ");
    std::string padded("10.0.0.1\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    CHECK(ip(renamed(pseudonyms, padded).c_str()) == pseudonyms.ipv4(ip("10.0.0.1")));
    CHECK(renamed(pseudonyms, std::string("a\0secret", 8)).substr(1) == std::string(7, '\0'));
}

TEST_CASE("a name may have a = in it, wherever it is") {
    Pseudonyms pseudonyms(key_of(kSampleKey), false, kMany);
    for (const std::string name : {"host=db7.acme k=secret", "to=db-prod07", "TargetName=db7", "MaxBurstLength=262144",
                                   "K=Q00000ZZQ", "nqn.2026-11.lab:a=b"}) {
        INFO(name);
        const std::string other = renamed(pseudonyms, name);
        CHECK(other.size() == name.size());
        const std::size_t equals = name.find('=');
        CHECK(other.substr(0, equals) != name.substr(0, equals));
        CHECK(other.substr(equals + 1) != name.substr(equals + 1));
        CHECK(other.find("secret") == std::string::npos);
    }
}

TEST_CASE("of the keys of iSCSI those keep their values that say nothing of anybody, and only such values") {
    Pseudonyms pseudonyms(key_of(kSampleKey), false, kMany);
    const auto other = [&](std::string text) {
        pseudonyms.key_value(std::as_writable_bytes(std::span(text)));
        return text;
    };
    for (const std::string same : {"MaxBurstLength=262144", "InitialR2T=No", "HeaderDigest=CRC32C,None",
                                   "OFMarkInt=2048~8192", "AuthMethod=CHAP,None", "SessionType=Discovery", "CHAP_A=5",
                                   "SendTargets=All", "SendTargets=", "iSERHelloRequired=Yes", "iSCSIProtocolLevel=1",
                                   "MaxConnections=0x10", "RDMAExtensions=Irrelevant"})
        CHECK(other(same) == same);
    CHECK(other("TargetName=iqn.2026-11.lab:disk") == "TargetName=" + renamed(pseudonyms, "iqn.2026-11.lab:disk"));
    for (const std::string naming :
         {"InitiatorName=iqn.2026-11.lab:host", "SendTargets=iqn.2019-06.com.acme", "TargetAlias=db-prod",
          "TargetAddress=10.0.0.1:3260,1", "CHAP_N=admin", "CHAP_R=0x1234abcd", "TargetAlias=All",
          "MaxBurstLength=db-prod", "InitialR2T=No,acme", "MaxConnections=123456789012345678901"}) {
        INFO(naming);
        const std::string made = other(naming);
        const std::size_t value = naming.find('=') + 1;
        CHECK(made.substr(0, value) == naming.substr(0, value));
        CHECK(made.substr(value) != naming.substr(value));
    }
    const std::string vendor = other("X-com.acme.host=db-prod-03.ac");
    CHECK(vendor.find("acme") == std::string::npos);
    CHECK(vendor.find("prod") == std::string::npos);
    const std::size_t key = std::string("X-com.acme.host=").size();
    CHECK(other("X-com.acme.host=NotUnderstood") == vendor.substr(0, key) + "NotUnderstood");
    CHECK(other("a rest without a key").find("rest") == std::string::npos);
}

TEST_CASE("under no key an address stays, or the first byte of it, or what a prefix of IPv6 begins with") {
    std::mt19937_64 random(11);  // NOLINT: the same numbers every time
    std::size_t kept_16 = 0, kept_24 = 0, all = 0;
    for (int i = 0; i < 400; ++i) {
        Pseudonyms::Key key{};
        for (std::byte& byte : key) byte = static_cast<std::byte>(random());
        Pseudonyms pseudonyms(key, false, kMany);
        for (const std::string_view network :
             {"10.77.0.11", "192.168.1.1", "172.16.5.4", "94.76.225.172", "127.0.0.1", "239.1.2.3"}) {
            for (std::uint32_t host = 0; host < 8; ++host) {
                const std::uint32_t before = ip(network) + host, after = pseudonyms.ipv4(before);
                ++all;
                if (after >> 16 == before >> 16) ++kept_16;
                if (((after ^ before) & 0xffffff) == 0) ++kept_24;
                REQUIRE(after >> 24 != before >> 24);
            }
        }
        for (const std::uint64_t prefix : {0x2001'0db8'0000'0000U, 0x2a02'1234'5678'0000U, 0xfd00'1111'2222'3333U})
            REQUIRE(pseudonyms.gid_prefix(prefix) >> 48 != prefix >> 48);
        for (std::uint32_t number = 1; number < 64; ++number) {
            const std::uint64_t guid = 0x0002'c903'0000'0000U + number, mac = 0x5254'0077'0000U + number;
            REQUIRE(pseudonyms.lid(number) != number);
            REQUIRE(pseudonyms.guid(guid) != guid);
            REQUIRE(pseudonyms.mac(mac) != mac);
        }
    }
    CHECK(kept_16 == 0);
    CHECK(kept_24 <= 2);  // what is below the first byte, by chance alone: 2^-24 each
}

// Two decisions that are one and the same would keep runs of bits: (3/4)^n of the addresses instead of (1/2)^n.
TEST_CASE("every bit of an address is decided by itself") {
    std::mt19937_64 random(13);  // NOLINT: the same numbers every time
    constexpr std::size_t kKeys = 4000, kFirst = 8, kBits = 12;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < kKeys; ++i) {
        Pseudonyms::Key key{};
        for (std::byte& byte : key) byte = static_cast<std::byte>(random());
        Pseudonyms pseudonyms(key, false, kMany);
        const std::uint32_t address = ip("10.77.0.11");
        if (((pseudonyms.ipv4(address) ^ address) << kFirst >> (32 - kBits)) == 0) ++kept;
    }
    CHECK(kept <= 8);  // of 4,000 by chance 1
}

TEST_CASE("what is forgotten for want of memory is drawn the same again") {
    Pseudonyms pseudonyms(key_of(kSampleKey), false, 16);
    const std::uint32_t first = pseudonyms.ipv4(ip("10.0.0.1"));
    CHECK(pseudonyms.complete());
    for (std::uint32_t i = 2; i < 100; ++i) static_cast<void>(pseudonyms.ipv4(ip("10.0.0.0") + i));
    CHECK_FALSE(pseudonyms.complete());
    CHECK(pseudonyms.ipv4(ip("10.0.0.1")) == first);
}
