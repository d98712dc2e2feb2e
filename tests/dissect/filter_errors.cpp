// Wrong filters: what is said, about which column, and what is suggested.
#include <dissect/filter/filter.hpp>
#include <dissect/filter/lexer.hpp>
#include <dissect/filter/parser.hpp>
#include <tests/dissect/filter_packets.hpp>
#include <tests/support/catch.hpp>

#include <array>
#include <random>
#include <string>

using namespace qps::test;

namespace {

struct WrongFilter {
    std::string_view filter;
    std::string_view complaint;
};

// The golden list: a filter, "column: message; did you mean suggestion?".
constexpr std::array kWrong{
    // names
    WrongFilter{"infiniband.bth.dstqp == 1", "1: there is no field \"infiniband.bth.dstqp\"; did you mean infiniband.bth.destqp?"},
    WrongFilter{"udp and infiniband.bth.psm", "9: there is no field \"infiniband.bth.psm\"; did you mean infiniband.bth.psn?"},
    WrongFilter{"INFINIBAND.bth.psn", "1: there is no field \"INFINIBAND.bth.psn\"; did you mean infiniband.bth.psn?"},
    WrongFilter{"bth.psn == 5", "1: there is no field \"bth.psn\"; did you mean infiniband.bth.psn?"},
    WrongFilter{"infiniband.bth.dest == 5", "1: there is no field \"infiniband.bth.dest\"; did you mean infiniband.bth.destqp?"},
    WrongFilter{"rocev2", "1: there is no field \"rocev2\"; did you mean rdma.encapsulation == RoCEv2?"},
    WrongFilter{"ip.ecn == CE", "1: there is no field \"ip.ecn\"; did you mean ip.dsfield.ecn?"},
    WrongFilter{"zzzzzzzz", "1: there is no field \"zzzzzzzz\""},
    WrongFilter{"5 == infiniband.bth.psn", "1: a test begins with the name of a field; \"5\" is a value"},
    WrongFilter{"\"udp\"", "1: a test begins with the name of a field"},
    WrongFilter{"len(ip.src) == 4", "1: there are no functions in filters"},
    // grammar
    WrongFilter{"udp and", "8: the filter ends where a test should be"},
    WrongFilter{"!", "2: the filter ends where a test should be"},
    WrongFilter{"(udp", "1: this parenthesis is not closed"},
    WrongFilter{"udp)", "4: no parenthesis is open here"},
    WrongFilter{"()", "2: a test should be here, not \")\""},
    WrongFilter{"and udp", "1: a test should be here, not \"and\""},
    WrongFilter{"udp ip", "5: \"ip\" does not belong here; join tests with \"and\" or \"or\""},
    WrongFilter{"udp | tcp", "5: \"|\" means nothing here; did you mean ||?"},
    WrongFilter{"udp & tcp", "7: \"&\" takes a mask; tests are joined with \"&&\""},
    WrongFilter{"infiniband.bth.psn = 5", "20: \"=\" means nothing here; did you mean ==?"},
    WrongFilter{"infiniband.bth.psn ==", "22: the filter ends where a value should be"},
    WrongFilter{"infiniband.bth.psn == and", "23: a value should be here, not \"and\""},
    WrongFilter{"infiniband.bth.psn <> 5", "21: a value should be here, not \">\""},
    WrongFilter{"ip.ttl == 5 == 6", "13: a comparison ends before this; join two of them with \"and\""},
    WrongFilter{"ip.ttl + 1 == 5", "8: \"+\" means nothing here"},
    WrongFilter{"any udp", "8: \"any\" and \"all\" stand before a comparison"},
    WrongFilter{"ip.src#0 == 1.1.1.1", "8: \"#\" takes the number of a layer, from 1"},
    WrongFilter{"ip.src# == 1.1.1.1", "9: \"#\" takes the number of a layer, from 1"},
    WrongFilter{"udp\x01", "4: byte 0x01 means nothing here"},
    // sets
    WrongFilter{"ip.ttl in 5", "11: \"in\" is followed by values in braces: {1, 3, 5..8}"},
    WrongFilter{"ip.ttl in {}", "12: a value should be here, not \"}\""},
    WrongFilter{"ip.ttl in {1,}", "14: a value should be here, not \"}\""},
    WrongFilter{"ip.ttl in {1", "11: this brace is not closed"},
    WrongFilter{"ip.ttl in {9..3}", "15: this range ends before it begins"},
    WrongFilter{"ip.ttl in {3..999}", "15: ip.ttl is at most 255; 999 is larger"},
    WrongFilter{"ip.ttl in {3, abc}", "15: ip.ttl is a number; \"abc\" is not"},
    // numbers
    WrongFilter{"infiniband.bth.psn == 10.0.0.1", "23: infiniband.bth.psn is a number; \"10.0.0.1\" is not"},
    WrongFilter{"infiniband.bth.psn == 0x1000000", "23: infiniband.bth.psn is at most 16777215; 0x1000000 is larger"},
    WrongFilter{"infiniband.bth.psn == 99999999999999999999", "23: infiniband.bth.psn is at most 16777215; 99999999999999999999 is larger"},
    WrongFilter{"ip.hdr_len == 61", "15: ip.hdr_len is at most 60; 61 is larger"},
    WrongFilter{"infiniband.bth.psn == -1", "23: infiniband.bth.psn is never negative"},
    WrongFilter{"infiniband.bth.psn == \"5\"", "23: a number is written without quotes; did you mean 5?"},
    WrongFilter{"infiniband.bth.psn == 09", "23: a number that begins with 0 is octal; did you mean 9?"},
    WrongFilter{"infiniband.bth.psn == 0x", "23: infiniband.bth.psn is a number; \"0x\" is not"},
    WrongFilter{"infiniband.bth.psn & x", "22: \"x\" is no mask for infiniband.bth.psn"},
    WrongFilter{"ip.flags.df & 1", "15: ip.flags.df is true or false and takes no mask"},
    WrongFilter{"infiniband.bth.a == maybe", "21: infiniband.bth.a is true or false; \"maybe\" is not"},
    WrongFilter{"frame.time_relative > 1.1234567891",
                "23: frame.time_relative is a number with at most 9 decimals; \"1.1234567891\" is not"},
    WrongFilter{"frame.time_relative > 1e0", "23: frame.time_relative is a number with at most 9 decimals; \"1e0\" is not"},
    // names of values
    WrongFilter{"infiniband.bth.opcode == RC_SEND_ONLI",
                "26: \"RC_SEND_ONLI\" is no value of infiniband.bth.opcode; did you mean RC_SEND_ONLY?"},
    WrongFilter{"rdma.icrc.status == wrong", "21: \"wrong\" is no value of rdma.icrc.status (not_applicable, good, bad, not_checkable)"},
    WrongFilter{"rdma.icrc.status == god",
                "21: \"god\" is no value of rdma.icrc.status (not_applicable, good, bad, not_checkable); did you mean good?"},
    // addresses
    WrongFilter{"ip.src == 10.0.0.256", "11: ip.src is an IPv4 address; \"10.0.0.256\" is not"},
    WrongFilter{"ip.src == 10.0.0.0/33", "11: ip.src is an IPv4 address; \"10.0.0.0/33\" is not"},
    WrongFilter{"ip.src == 10.0.0", "11: ip.src is an IPv4 address; \"10.0.0\" is not"},
    WrongFilter{"ip.src matches \"10\"", "16: ip.src is an IPv4 address; only texts, bytes and names of values are searched"},
    WrongFilter{"ip.src contains \"10\"", "17: ip.src is an IPv4 address; only texts, bytes and names of values are searched"},
    WrongFilter{"ipv6.src == 10.0.0.1", "13: ipv6.src is an IPv6 address; \"10.0.0.1\" is not"},
    WrongFilter{"ipv6.src == fe80:::1", "13: ipv6.src is an IPv6 address; \"fe80:::1\" is not"},
    WrongFilter{"ipv6.src == fe80::/129", "13: ipv6.src is an IPv6 address; \"fe80::/129\" is not"},
    WrongFilter{"eth.src == 00:11", "12: eth.src is a MAC address; \"00:11\" is not"},
    WrongFilter{"eth.src == 00:11-22:33-44:55", "12: eth.src is a MAC address; \"00:11-22:33-44:55\" is not"},
    // bytes and texts
    WrongFilter{"ip.ttl[0] == 40", "7: ip.ttl is a number and has no slices; its bits are tested with &"},
    WrongFilter{"ip.ttl contains \"6\"", "17: ip.ttl is a number; only texts, bytes and names of values are searched"},
    WrongFilter{"infiniband.payload contains 0xdeadbeef",
                "29: several bytes are written in the order of the wire; did you mean de:ad:be:ef?"},
    WrongFilter{"infiniband.payload contains xyz", "29: \"xyz\" is no byte string; one is written 0a:0b:0c or \"text\""},
    WrongFilter{"infiniband.payload contains \"abc", "29: the closing quote is missing"},
    WrongFilter{"infiniband.payload contains \"a\\q\"", "31: unknown escape; r\"...\" takes backslashes as they are; did you mean \\\\?"},
    WrongFilter{"infiniband.payload contains \"\\x", "30: unknown escape; r\"...\" takes backslashes as they are; did you mean \\\\?"},
    WrongFilter{"infiniband.payload matches \"(\"", "28: this is no regular expression: missing ): ("},
    WrongFilter{"infiniband.payload[0 == 1", "19: this bracket is not closed"},
    WrongFilter{"infiniband.payload[a] == 1", "19: a slice is [first:length], [first-last], [first], [:length] or [first:]"},
    WrongFilter{"infiniband.payload[] == 1", "19: a slice is [first:length], [first-last], [first], [:length] or [first:]"},
    WrongFilter{"infiniband.payload[0:0] == 1", "19: a slice is [first:length], [first-last], [first], [:length] or [first:]"},
    WrongFilter{"infiniband.payload[3-1] == 1", "19: a slice is [first:length], [first-last], [first], [:length] or [first:]"},
    WrongFilter{"infiniband.payload[99999999999] == 1", "19: a slice is [first:length], [first-last], [first], [:length] or [first:]"},
    WrongFilter{"infiniband.payload[0:3] == 00:11", "28: the slice has 3 bytes, this has 2"},
    WrongFilter{"infiniband.payload & 0f", "22: a mask needs a slice of as many bytes before it"},
    WrongFilter{"rdma contains \"x\"", "15: rdma has no bytes; name one of its fields"},
    // fields with fields
    WrongFilter{"ip.ttl == ip.src", "11: ip.ttl is a number, ip.src is an IPv4 address: they cannot be compared"},
    WrongFilter{"frame.time_relative < frame.len",
                "23: frame.time_relative is a number with decimals, frame.len is a number: they cannot be compared"},
};

}  // namespace

TEST_CASE("Wrong filters are explained, with their column and a suggestion") {
    for (const WrongFilter& c : kWrong) {
        INFO(c.filter);
        CHECK(complaint(c.filter) == c.complaint);
    }
}

TEST_CASE("An explanation shows the filter, marks the wrong part and says why") {
    CHECK(passed("udp and infiniband.bth.dstqp == 1") ==
          "udp and infiniband.bth.dstqp == 1\n"
          "        ^~~~~~~~~~~~~~~~~~~~\n"
          "there is no field \"infiniband.bth.dstqp\"; did you mean infiniband.bth.destqp?");
    CHECK(passed("udp and ") == "udp and \n        ^\nthe filter ends where a test should be");
}

TEST_CASE("An explanation is three lines whatever the filter holds") {
    CHECK(passed("udp\n\tand\nfoo") == "udp  and foo\n         ^~~\nthere is no field \"foo\"");
    // two bytes a letter: the caret counts letters, the column bytes
    CHECK(passed("frame contains \"\xc3\xa9\xc3\xa9\" and foo") ==
          "frame contains \"\xc3\xa9\xc3\xa9\" and foo\n"
          "                        ^~~\n"
          "there is no field \"foo\"");
    const std::string shown = passed(std::string(300, ' ') + "foo" + std::string(300, ' '));
    CHECK(shown.starts_with("...   "));
    CHECK(shown.contains("foo   "));
    CHECK(std::ranges::count(shown, '\n') == 2);
    CHECK(shown.size() < 400);
    const qps::dissect::FilterError beyond{.column = 99, .length = 99, .message = "m", .suggestion = {}};
    CHECK(explain("udp", beyond) == "udp\n   ^\nm");
    const qps::dissect::FilterError nowhere{.column = 0, .length = 0, .message = "m", .suggestion = "s"};
    CHECK(explain("", nowhere) == "\n^\nm; did you mean s?");
}

TEST_CASE("Parentheses nest to a bound") {
    const auto nested = [](std::size_t depth) { return std::string(depth, '(') + "udp" + std::string(depth, ')'); };
    using qps::dissect::filter_language::kMaxNesting;
    CHECK(passed(nested(kMaxNesting)) == "WNTS");
    CHECK(complaint(nested(kMaxNesting + 1)).contains("parentheses nest at most"));
    CHECK(complaint(nested(20000)).contains("parentheses nest at most"));
    CHECK(complaint(std::string(60000, '(')).contains("parentheses nest at most"));
    std::string exclusive = "arp";
    for (std::size_t i = 0; i < kMaxNesting; ++i) exclusive = "arp ^^ (" + exclusive + ")";
    CHECK(passed(exclusive) == "A");
}

TEST_CASE("A filter has a longest length and a largest number of regular expressions") {
    using namespace qps::dissect::filter_language;
    CHECK(passed(std::string(kMaxFilterLength - 3, ' ') + "arp") == "A");
    CHECK(complaint(std::string(kMaxFilterLength - 2, ' ') + "arp") == "65537: a filter has at most 65536 bytes");
    std::string filter = "frame ~ \"a\"";
    for (std::size_t i = 1; i < kMaxRegexes; ++i) filter += " or frame ~ \"a\"";
    CHECK(complaint(filter).empty());
    CHECK(complaint(filter + " or frame ~ \"a\"").contains("at most 32 regular expressions"));
    CHECK(complaint("frame ~ \"((a{100}){100}){100}\"").contains("no regular expression"));
}

TEST_CASE("No text makes the compiler fall over") {
    constexpr std::array<std::string_view, 48> kPieces{"infiniband.bth.psn",
                                                       "ip.src",
                                                       "eth.src",
                                                       "infiniband.payload",
                                                       "frame.time_relative",
                                                       "infiniband.bth.a",
                                                       "infiniband",
                                                       "rdma",
                                                       "ipv6.src",
                                                       "frame.comment",
                                                       "udp",
                                                       "infiniband.bth.opcode",
                                                       " ",
                                                       " ",
                                                       " == ",
                                                       " != ",
                                                       "===",
                                                       "!==",
                                                       " > ",
                                                       "<=",
                                                       "&",
                                                       "&&",
                                                       "||",
                                                       "^^",
                                                       "!",
                                                       "(",
                                                       ")",
                                                       "{",
                                                       "}",
                                                       ",",
                                                       "..",
                                                       "#",
                                                       "[0:2]",
                                                       "[-1]",
                                                       "[",
                                                       "]",
                                                       " in ",
                                                       " contains ",
                                                       " matches ",
                                                       "any ",
                                                       "all ",
                                                       "5",
                                                       "0x40",
                                                       "10.0.0.0/8",
                                                       "fd00::1",
                                                       "02:00:00:00:00:01",
                                                       "\"a.c\"",
                                                       "RC_SEND_ONLY"};
    std::mt19937 random(7);
    std::size_t compiled = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        const auto pieces = 1 + random() % 12;
        for (unsigned i = 0; i < pieces; ++i) {
            if (random() % 16 == 0) {
                text += static_cast<char>(random() % 256);
            } else {
                text += kPieces[random() % kPieces.size()];
            }
        }
        const auto filter = qps::dissect::Filter::compile(text);
        if (filter) {
            ++compiled;
            for (const Exhibit& e : exhibits()) static_cast<void>(filter->matches(e.packet));
        } else {
            INFO(text);
            REQUIRE(filter.error().column >= 1);
            REQUIRE(filter.error().column <= text.size() + 1);
            REQUIRE_FALSE(filter.error().message.empty());
            const std::string shown = explain(text, filter.error());
            REQUIRE(std::ranges::count(shown, '\n') == 2);
        }
    }
    CHECK(compiled > 300);
}
