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
    WrongFilter{"infiniband.bth.dstqp == 1",
                "1: unknown field 'infiniband.bth.dstqp'; did you mean infiniband.bth.destqp?"},
    WrongFilter{"udp and infiniband.bth.psm",
                "9: unknown field 'infiniband.bth.psm'; did you mean infiniband.bth.psn?"},
    WrongFilter{"INFINIBAND.bth.psn", "1: unknown field 'INFINIBAND.bth.psn'; did you mean infiniband.bth.psn?"},
    WrongFilter{"bth.psn == 5", "1: unknown field 'bth.psn'; did you mean infiniband.bth.psn?"},
    WrongFilter{"infiniband.bth.dest == 5",
                "1: unknown field 'infiniband.bth.dest'; did you mean infiniband.bth.destqp?"},
    WrongFilter{"rocev2", "1: unknown field 'rocev2'; did you mean rdma.encapsulation == RoCEv2?"},
    WrongFilter{"ip.ecn == CE", "1: unknown field 'ip.ecn'; did you mean ip.dsfield.ecn?"},
    WrongFilter{"zzzzzzzz", "1: unknown field 'zzzzzzzz'"},
    WrongFilter{"5 == infiniband.bth.psn", "1: a test must start with a field name: '5' is a value"},
    WrongFilter{"\"udp\"", "1: a test must start with a field name"},
    WrongFilter{"len(ip.src) == 4",
                "1: filters have no functions: lengths are fields: frame.len, ip.len, udp.length, rdma.payload_bytes"},
    WrongFilter{"max(ip.ttl) == 4", "1: filters have no functions"},
    // grammar
    WrongFilter{"udp and", "8: missing test"},
    WrongFilter{"!", "2: missing test"},
    WrongFilter{"(udp", "1: unclosed parenthesis"},
    WrongFilter{"udp)", "4: unmatched closing parenthesis"},
    WrongFilter{"()", "2: expected a test, found ')'"},
    WrongFilter{"and udp", "1: expected a test, found 'and'"},
    WrongFilter{"udp ip", "5: unexpected 'ip': join tests with \"and\" or \"or\""},
    WrongFilter{"udp | tcp", "5: unexpected '|'; did you mean ||?"},
    WrongFilter{"udp & tcp", "7: \"&\" takes a mask: join tests with \"&&\""},
    WrongFilter{"infiniband.bth.psn = 5", "20: unexpected '='; did you mean ==?"},
    WrongFilter{"infiniband.bth.psn ==", "22: missing value"},
    WrongFilter{"infiniband.bth.psn == and", "23: expected a value, found 'and'"},
    WrongFilter{"infiniband.bth.psn <> 5", "21: expected a value, found '>'"},
    WrongFilter{"ip.ttl == 5 == 6", "13: unexpected second comparison: join comparisons with \"and\""},
    WrongFilter{"ip.ttl + 1 == 5", "8: unexpected '+'"},
    WrongFilter{"any udp", "8: \"any\" and \"all\" apply to comparisons only"},
    WrongFilter{"ip.src#0 == 1.1.1.1", "8: \"#\" takes a layer number, from 1"},
    WrongFilter{"ip.src# == 1.1.1.1", "9: \"#\" takes a layer number, from 1"},
    WrongFilter{"udp\x01", "4: unexpected byte 0x01"},
    // sets
    WrongFilter{"ip.ttl in 5", "11: \"in\" takes values in braces: {1, 3, 5..8}"},
    WrongFilter{"ip.ttl in {}", "12: expected a value, found '}'"},
    WrongFilter{"ip.ttl in {1,}", "14: expected a value, found '}'"},
    WrongFilter{"ip.ttl in {1", "11: unclosed brace"},
    WrongFilter{"ip.ttl in {9..3}", "15: empty range: its end is below its start"},
    WrongFilter{"ip.ttl in {3..999}", "15: value 999 out of range: ip.ttl is at most 255"},
    WrongFilter{"ip.ttl in {3, abc}", "15: invalid value 'abc': ip.ttl is a number"},
    // numbers
    WrongFilter{"infiniband.bth.psn == 10.0.0.1", "23: invalid value '10.0.0.1': infiniband.bth.psn is a number"},
    WrongFilter{"infiniband.bth.psn == 0x1000000",
                "23: value 0x1000000 out of range: infiniband.bth.psn is at most 16777215"},
    WrongFilter{"infiniband.bth.psn == 99999999999999999999",
                "23: value 99999999999999999999 out of range: infiniband.bth.psn is at most 16777215"},
    WrongFilter{"ip.hdr_len == 61", "15: value 61 out of range: ip.hdr_len is at most 60"},
    WrongFilter{"infiniband.bth.psn == -1", "23: infiniband.bth.psn cannot be negative"},
    WrongFilter{"infiniband.bth.psn == \"5\"", "23: numbers are written without quotes; did you mean 5?"},
    WrongFilter{"infiniband.bth.psn == 09", "23: a number with a leading 0 is octal; did you mean 9?"},
    WrongFilter{"infiniband.bth.psn == 0x", "23: invalid value '0x': infiniband.bth.psn is a number"},
    WrongFilter{"infiniband.bth.psn & x", "22: 'x' is not a mask for infiniband.bth.psn"},
    WrongFilter{"ip.flags.df & 1", "15: ip.flags.df is true or false and takes no mask"},
    WrongFilter{"infiniband.bth.a == maybe", "21: invalid value 'maybe': infiniband.bth.a is true or false"},
    WrongFilter{"frame.time_relative > 1.1234567891",
                "23: invalid value '1.1234567891': frame.time_relative is a number with at most 9 decimals"},
    WrongFilter{"frame.time_relative > 5min",
                "23: invalid value '5min': frame.time_relative is a number with at most 9 decimals"},
    WrongFilter{"frame.len > 5ms", "13: invalid value '5ms': frame.len is a number"},
    WrongFilter{"frame.time > \"2026-02-30\"",
                "14: invalid value '2026-02-30': frame.time_epoch is a number with at most 9 decimals, or a time such "
                "as \"2026-11-21 01:14:08.5\" (UTC)"},
    WrongFilter{"frame.time_relative > 1e0",
                "23: invalid value '1e0': frame.time_relative is a number with at most 9 decimals"},
    // names of values
    WrongFilter{"infiniband.bth.opcode == RC_SEND_ONLI",
                "26: 'RC_SEND_ONLI' is not a value of infiniband.bth.opcode; did you mean RC_SEND_ONLY?"},
    WrongFilter{"rdma.icrc.status == wrong",
                "21: 'wrong' is not a value of rdma.icrc.status (not_applicable, good, bad, not_checkable)"},
    WrongFilter{
        "rdma.icrc.status == god",
        "21: 'god' is not a value of rdma.icrc.status (not_applicable, good, bad, not_checkable); did you mean good?"},
    // addresses
    WrongFilter{"ip.src == 10.0.0.256", "11: invalid value '10.0.0.256': ip.src is an IPv4 address"},
    WrongFilter{"ip.src == 10.0.0.0/33", "11: invalid value '10.0.0.0/33': ip.src is an IPv4 address"},
    WrongFilter{"ip.src == 10.0.0", "11: invalid value '10.0.0': ip.src is an IPv4 address"},
    WrongFilter{"ip.src matches \"10\"",
                "16: ip.src is an IPv4 address: only texts, bytes and value names can be searched"},
    WrongFilter{"ip.src contains \"10\"",
                "17: ip.src is an IPv4 address: only texts, bytes and value names can be searched"},
    WrongFilter{"ipv6.src == 10.0.0.1", "13: invalid value '10.0.0.1': ipv6.src is an IPv6 address"},
    WrongFilter{"ipv6.src == fe80:::1", "13: invalid value 'fe80:::1': ipv6.src is an IPv6 address"},
    WrongFilter{"ipv6.src == fe80::/129", "13: invalid value 'fe80::/129': ipv6.src is an IPv6 address"},
    WrongFilter{"eth.src == 00:11", "12: invalid value '00:11': eth.src is a MAC address"},
    WrongFilter{"eth.src == 00:11-22:33-44:55", "12: invalid value '00:11-22:33-44:55': eth.src is a MAC address"},
    // bytes and texts
    WrongFilter{"ip.ttl[0] == 40", "7: ip.ttl is a number and has no slices: test its bits with &"},
    WrongFilter{"ip.ttl contains \"6\"", "17: ip.ttl is a number: only texts, bytes and value names can be searched"},
    WrongFilter{"infiniband.payload contains 0xdeadbeef",
                "29: write several bytes in wire order; did you mean de:ad:be:ef?"},
    WrongFilter{"infiniband.payload contains xyz", "29: invalid byte string 'xyz': expected 0a:0b:0c or \"text\""},
    WrongFilter{"infiniband.payload contains \"abc", "29: missing closing quote"},
    WrongFilter{"infiniband.payload contains \"a\\q\"",
                "31: unknown escape: r\"...\" takes backslashes literally; did you mean \\\\?"},
    WrongFilter{"infiniband.payload contains \"\\x",
                "30: unknown escape: r\"...\" takes backslashes literally; did you mean \\\\?"},
    WrongFilter{"infiniband.payload matches \"(\"", "28: invalid regular expression: missing ): ("},
    WrongFilter{"infiniband.payload[0 == 1", "19: unclosed bracket"},
    WrongFilter{"infiniband.payload[a] == 1",
                "19: invalid slice: expected [first:length], [first-last], [first], [:length] or [first:]"},
    WrongFilter{"infiniband.payload[] == 1",
                "19: invalid slice: expected [first:length], [first-last], [first], [:length] or [first:]"},
    WrongFilter{"infiniband.payload[0:0] == 1",
                "19: invalid slice: expected [first:length], [first-last], [first], [:length] or [first:]"},
    WrongFilter{"infiniband.payload[3-1] == 1",
                "19: invalid slice: expected [first:length], [first-last], [first], [:length] or [first:]"},
    WrongFilter{"infiniband.payload[99999999999] == 1",
                "19: invalid slice: expected [first:length], [first-last], [first], [:length] or [first:]"},
    WrongFilter{"infiniband.payload[0:3] == 00:11", "28: lengths differ: slice of 3 bytes, value of 2"},
    WrongFilter{"infiniband.payload & 0f", "22: a mask needs a slice of the same length before it"},
    WrongFilter{"rdma contains \"x\"", "15: rdma has no bytes: name one of its fields"},
    // fields with fields
    WrongFilter{"ip.ttl == ip.src", "11: cannot compare: ip.ttl is a number, ip.src is an IPv4 address"},
    WrongFilter{"frame.time_relative < frame.len",
                "23: cannot compare: frame.time_relative is a number with decimals, frame.len is a number"},
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
          "unknown field 'infiniband.bth.dstqp'; did you mean infiniband.bth.destqp?");
    CHECK(passed("udp and ") == "udp and \n        ^\nmissing test");
}

TEST_CASE("An explanation is three lines whatever the filter holds") {
    CHECK(passed("udp\n\tand\nfoo") == "udp  and foo\n         ^~~\nunknown field 'foo'");
    // two bytes a letter: the caret counts letters, the column bytes
    CHECK(passed("frame contains \"\xc3\xa9\xc3\xa9\" and foo") == "frame contains \"\xc3\xa9\xc3\xa9\" and foo\n"
                                                                   "                        ^~~\n"
                                                                   "unknown field 'foo'");
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
    CHECK(complaint(nested(kMaxNesting + 1)).contains("nested parentheses"));
    CHECK(complaint(nested(20000)).contains("nested parentheses"));
    CHECK(complaint(std::string(60000, '(')).contains("nested parentheses"));
    std::string exclusive = "arp";
    for (std::size_t i = 0; i < kMaxNesting; ++i) exclusive = "arp ^^ (" + exclusive + ")";
    CHECK(passed(exclusive) == "A");
}

TEST_CASE("A filter has a longest length and a largest number of regular expressions") {
    using namespace qps::dissect::filter_language;
    CHECK(passed(std::string(kMaxFilterLength - 3, ' ') + "arp") == "A");
    CHECK(complaint(std::string(kMaxFilterLength - 2, ' ') + "arp") == "65537: filter longer than 65536 bytes");
    std::string filter = "frame ~ \"a\"";
    for (std::size_t i = 1; i < kMaxRegexes; ++i) filter += " or frame ~ \"a\"";
    CHECK(complaint(filter).empty());
    CHECK(complaint(filter + " or frame ~ \"a\"").contains("more than 32 regular expressions"));
    CHECK(complaint("frame ~ \"((a{100}){100}){100}\"").contains("invalid regular expression"));
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
