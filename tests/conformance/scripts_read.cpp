// The language of scripts: what is read, and what is said of what is none.
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/scripts.hpp>

#include <fmt/format.h>

using namespace qps;
using namespace qps::transport::conformance::script;

namespace {

std::string wrong(const std::string& text) {
    const auto script = parse_script("a.script", text, {});
    return script ? "it is right" : explain(script.error());
}

std::uint64_t value(std::string_view text) {
    const auto expression = parse_expression(text);
    REQUIRE(expression);
    const auto result = evaluate(*expression, [](std::string_view name) {
        return name == "x" ? std::optional<std::uint64_t>(7) : std::nullopt;
    });
    REQUIRE(result);
    return *result;
}

}  // namespace

TEST_CASE("expressions bind as in C, times are nanoseconds") {
    CHECK(value("1+2*3") == 7);
    CHECK(value("(1+2)*3 % 4") == 1);
    CHECK(value("$x - 8 + 2") == 1);
    CHECK(value("0x10 << 2 >> 1") == 32);
    CHECK(value("1 < 2 && 2 <= 2 && !(3 != 3) || 0") == 1);
}

TEST_CASE("times and functions of expressions") {
    CHECK(value("10ms") == 10'000'000);
    CHECK(value("1.5s") == 1'500'000'000);
    CHECK(value("rnr(12)") == 640'000);
    CHECK(value("rnr(0)") == 655'360'000);
    CHECK(value("timeout(14)") == 67'108'864);
    CHECK(value("packets(5000, 1024)") == 5);
    CHECK(value("packets(0, 1024)") == 1);
    CHECK(value("pad(5)") == 3);
    CHECK(value("psn(0-1)") == 0xffffff);
    CHECK(value("max(3, $x)") == 7);
    CHECK_FALSE(
        evaluate(*parse_expression("1/($y)"), [](std::string_view) { return std::optional<std::uint64_t>(0); }));
    CHECK_FALSE(evaluate(*parse_expression("$y"), [](std::string_view) { return std::nullopt; }));
}

TEST_CASE("what is wrong with a script is said with its place and what was meant") {
    const std::vector<std::string> texts{
        "chekc RSP-01",
        "check",
        "title \"without an end",
        "> a RC_SEND_ONLY",
        "qp a rc\n> b RC_SEND_ONLY",
        "qp a rc\n> a RC_SEND_OLNY psn=+0",
        "qp a rc\n> a RC_SEND_ONLY pns=+0",
        "qp a rc\n> a RC_SEND_ONLY psn=+0|+1",
        "qp a rc\n> a RC_SEND_ONLY psn=*",
        "qp a rc\n> a RC_SEND_ONLY psn=+$m",
        "let n = 1\nqp a rc\n> a RC_SEND_ONLY psn=+$nn",
        "qp a rc\n< a RC_ACKNOWLEDGE nak=PSN_SEQ",
        "qp a rc\n> a RC_ACKNOWLEDGE credits=5",
        "qp a rc\n> a RC_SEND_ONLY len=10xy",
        "qp a rc\n< a RC_ACKNOWLEDGE within",
        "qp a rc\n< a RC_ACKNOWLEDGE within 50ms psn=+1",
        "qp a rc mtuu=1024",
        "qp a rd",
        "qp dut rc",
        "qp a rc recv=4",
        "qp a rc recv",
        "repeat 5 as i",
        "repeat 5 of i\nend",
        "end",
        "or",
        "qp a rc\neither\n> a RC_SEND_ONLY\nend",
        "let n = 1 +",
        "let n = (1 + 2",
        "let n = rrn(3)",
        "let n = 1 2",
        "include \"other.script\"",
        "qp a rc\ndut a post sned len=3",
        "qp a rc\ndut a completion stauts=success",
        "dut memory m is unchanged",
        "dut mr m len=64\ndut memory m 0..64 is full",
        "qp a rc\n@+10ms < a RC_ACKNOWLEDGE",
        "require 1 == 1",
        "wait ten",
        "dut ask memroy len=3",
        "qp a rc\ndut a event qp_acess_err",
        "qp a rc\ndut a event",
        "dut counter c as 1x",
        "dut counter c as",
        "dut ask mr lenn=3",
        "> gsi REQ private=0g",
        "> gsi any",
        "qp a rc\n> a RC_SEND_ONLY eth.src=1:2",
        "qp a rc\n> a RC_SEND_ONLY le16@2=5",
        "qp a rc\n< a RC_SEND_ONLY le12@2=5",
        "qp a rc\n< a RC_SEND_ONLY le16@5000=5",
        "qp a rc\n< a RC_SEND_ONLY le16@2",
        "qp a rc\n< a RC_SEND_ONLY n:=le16",
        "given\nend",
        "given NVME-52",
    };
    std::string errors;
    for (const std::string& text : texts) errors += wrong(text) + "\n";
    qps::tests::check_golden("conformance/golden/script_errors.txt", errors);
    CHECK(errors.find("it is right") == std::string::npos);
}

TEST_CASE("a queue pair of the device that is known needs its number, and others have none") {
    CHECK(wrong("qp a rc known dut=17 us=23 psn=5\n> a RC_SEND_ONLY ackreq") == "it is right");
    CHECK_THAT(wrong("qp a rc known us=23"), Catch::Matchers::Contains("missing dut=N"));
    CHECK_THAT(wrong("qp a rc dut=17"), Catch::Matchers::Contains("dut= is for a queue pair that is known"));
    CHECK_THAT(wrong("qp a rc cm us=17"), Catch::Matchers::Contains("us= is for a queue pair that is known"));
}

TEST_CASE("numbers of payloads are words of expected packets, and may be kept") {
    CHECK(wrong("qp a rc\n< a RC_SEND_ONLY le16@14=2..|0 le64@0=!5 n:=le32@8\nassert $n != 0 \"it is 0\"") ==
          "it is right");
    CHECK(wrong("< gsi REJ why:=le16@2\nassert $why == 2 \"another\"") == "it is right");
}

TEST_CASE("lines of another check's rule are a block") {
    CHECK(wrong("given RSP-05\nqp a rc cm private=00010203\nend\n> a RC_SEND_ONLY") == "it is right");
    CHECK_THAT(wrong("given RSP-05 RSP-06\nend"), Catch::Matchers::Contains("unexpected word"));
}

TEST_CASE("bounds of scripts hold") {
    std::string deep, many, wide = "let n = 1";
    for (int i = 0; i < 40; ++i) deep += "repeat 2\n";
    CHECK(wrong(deep).find("nested blocks") != std::string::npos);
    for (int i = 0; i < 30'000; ++i) many += "wait 1\n";
    CHECK(wrong(many).find("more than") != std::string::npos);
    for (int i = 0; i < 300; ++i) wide += " + 1";
    CHECK(wrong(wide).find("more than") != std::string::npos);
    CHECK(wrong(std::string(2 << 20, '#')).find("longer") != std::string::npos);
    const auto endless = parse_script(
        "a.script", "include \"a\"",
        {.read = [](std::string_view) -> std::expected<std::string, std::string> { return "include \"a\""; }});
    REQUIRE_FALSE(endless);
    CHECK(explain(endless.error()).find("nested includes") != std::string::npos);
}
