// Text to value: what is taken, what is refused, and that it is the inverse of what we print.
#include <dissect/base/parse_value.hpp>
#include <tests/support/catch.hpp>

#include <limits>

using namespace qps::dissect;

TEST_CASE("numbers are digits alone, hexadecimal where 0x says so") {
    CHECK(parse_decimal("0") == 0);
    CHECK(parse_decimal("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
    CHECK(parse_number("0x11") == 17);
    CHECK(parse_number("0Xff", 255) == 255);
    CHECK(parse_number("17") == 17);
    for (const char* text : {"", "0x", "-1", "+1", " 1", "1 ", "1x", "0x1g", "18446744073709551616", "0b1"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_number(text));
    }
    CHECK_FALSE(parse_decimal("0x11"));
    CHECK_FALSE(parse_number("256", 255));
}

TEST_CASE("times have a unit") {
    CHECK(parse_duration("10ms") == Duration{10'000'000});
    CHECK(parse_duration("1.5s") == Duration{1'500'000'000});
    CHECK(parse_duration("0.25us") == Duration{250});
    CHECK(parse_duration("0") == Duration{});
    for (const char* text : {"", "10", "ms", "-1ms", "1 ms", "1m", "1e3s", "nan", "inf", "99999999999s"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_duration(text));
    }
}

TEST_CASE("addresses of both families, and of Ethernet") {
    const auto four = parse_ip("10.0.0.1");
    REQUIRE(four);
    CHECK(four->ipv4);
    CHECK(four->bytes[0] == std::byte{10});
    CHECK(four->bytes[3] == std::byte{1});
    const auto six = parse_ip("fd00::12");
    REQUIRE(six);
    CHECK_FALSE(six->ipv4);
    CHECK(six->bytes[15] == std::byte{0x12});
    for (const char* text : {"", "10.0.0", "10.0.0.1/24", "10.0.0.256", "::1%lo",
                             "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_ip(text));
    }
    CHECK_FALSE(parse_ip(std::string_view("10.0.0.1\0x", 10)));
    CHECK(parse_mac("02:00:00:00:0a:Ff") == 0x0200'0000'0aff);
    CHECK(parse_mac("02-00-00-00-0a-ff") == 0x0200'0000'0aff);
    for (const char* text :
         {"", "02:00:00:00:0a", "02:00:00:00:0a:fg", "02:00:00:00:0a:ff:", "0200:00:00:0a:ff00", "2:0:0:0:a:f"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_mac(text));
    }
}

TEST_CASE("bytes are written in groups") {
    CHECK(parse_hex_bytes("0a:0b") == std::string("\x0a\x0b"));
    CHECK(parse_hex_bytes("0a0b.0c0d") == std::string("\x0a\x0b\x0c\x0d"));
    CHECK(parse_hex_bytes("a") == std::string("\x0a"));
    for (const char* text : {"0a:", "0a:0b-0c", "abc", "0g", ":"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_hex_bytes(text));
    }
}
