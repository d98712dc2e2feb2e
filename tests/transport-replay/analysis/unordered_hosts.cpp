// Hosts that accept packets in any order, as text: what is read is written the same, and what is no host is told.
#include <tests/support/catch.hpp>
#include <transport-replay/analysis/unordered_hosts.hpp>

#include <string>

using namespace qps::transport;

TEST_CASE("hosts that accept any order are read and written") {
    const auto hosts = read_unordered_hosts(" 10.0.0.1,fd00::1 ,::ffff:10.0.0.1,10.0.0.2");
    REQUIRE(hosts);
    CHECK(unordered_hosts_text(*hosts) == "10.0.0.1, fd00::1, 10.0.0.2");
    CHECK(read_unordered_hosts("")->empty());
    for (const char* none : {"10.0.0", "10.0.0.1/24", "10.0.0.1,,10.0.0.2", ",", "lid 4", "host"}) {
        CAPTURE(none);
        CHECK_FALSE(read_unordered_hosts(none));
    }
    CHECK(read_unordered_hosts("10.0.0.1, x").error() == "invalid host 'x': expected an IP address");
}

TEST_CASE("hosts that accept any order are no more than the most") {
    std::string text;
    for (std::size_t i = 0; i < kMostUnorderedHosts; ++i)
        text += "10.1." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ",";
    const auto full = read_unordered_hosts(text + "10.1.0.0");
    REQUIRE(full);
    CHECK(full->size() == kMostUnorderedHosts);
    CHECK_FALSE(read_unordered_hosts(text + "10.2.0.0"));
}
