// What a device declares of itself: what is understood, and what is told with its line and a caret.
#include <tests/support/catch.hpp>
#include <transport-replay/checks/profile.hpp>

#include <algorithm>

using namespace qps::transport::conformance;

namespace {

ProfileError error_of(std::string_view text) {
    const auto profile = parse_profile(text);
    REQUIRE_FALSE(profile.has_value());
    return profile.error();
}

CheckResult failed(std::string_view id) {
    CheckResult result;
    result.check = find_check(id);
    result.verdict = Verdict::fail;
    result.reason = "3 of 10 packets";
    return result;
}

}  // namespace

TEST_CASE("a profile declares traits and deviations") {
    const auto profile =
        parse_profile("# of the lab\n\nname  My NIC 22.1 \r\n declares ooo no-apm\ndeclares ooo\n"
                      "deviation rsp-47 = firmware 22.1 counts one too few\ndeviation REQ-21=ticket 4711");
    REQUIRE(profile.has_value());
    CHECK(profile->name == "My NIC 22.1");
    CHECK(profile->traits.size() == 2);
    CHECK(declared(*profile, *find_check("RSP-47")) == "firmware 22.1 counts one too few");
    CHECK(declared(*profile, *find_check("REQ-21")) == "ticket 4711");
    CHECK(declared(*profile, *find_check("RSP-05")) == "ooo: accepts packets in any order: a gap triggers no NAK");
    CHECK(declared(*profile, *find_check("FMT-01")).empty());

    CheckResult result = failed("RSP-47");
    apply(*profile, result);
    CHECK(result.verdict == Verdict::deviation);
    CHECK(result.reason == "3 of 10 packets (declared: firmware 22.1 counts one too few)");
    CheckResult other = failed("FMT-01");
    apply(*profile, other);
    CHECK(other.verdict == Verdict::fail);
    CheckResult passed = failed("RSP-47");
    passed.verdict = Verdict::pass;
    apply(*profile, passed);
    CHECK(passed.verdict == Verdict::pass);
}

TEST_CASE("every trait names checks that there are") {
    for (const DeviceTrait& trait : device_traits()) {
        CHECK_FALSE(trait.meaning.empty());
        for (const std::string_view check : trait.checks) CHECK(find_check(check) != nullptr);
    }
    CHECK(device_traits().size() == 7);
}

TEST_CASE("what is wrong in a profile is told with its place") {
    CHECK(text(error_of("name x\ndeviation FMT-99 = no"), "a.profile") ==
          "a.profile:2:11: no such check\n  deviation FMT-99 = no\n            ^\n");
    CHECK(error_of("declares fast").column == 10);
    CHECK(error_of("declares").message == "missing trait: what does the device declare?");
    CHECK(error_of("deviation").message == "missing check id");
    CHECK(error_of("deviation FMT-01 because").message == "expected \"=\" and a reason");
    CHECK(error_of("deviation FMT-01 =  ").message == "missing reason of the deviation");
    CHECK(error_of("deviation FMT-01 = a\ndeviation fmt-01 = b").line == 2);
    CHECK(error_of("name").message == "missing name of the device");
    CHECK(error_of("colour blue").column == 1);
}

TEST_CASE("a hostile profile is an error, never more") {
    CHECK(error_of(std::string(kLongestProfile + 1, 'a')).message == "the profile is too long");
    CHECK(error_of("name " + std::string(kLongestProfileLine, 'a')).message == "the line is too long");
    const ProfileError binary = error_of(std::string("name \x01\x02 x\x7f\n"));
    CHECK(binary.message == "invalid character in the line");
    for (const char letter : text(binary, "p")) CHECK((letter == '\n' || (letter >= ' ' && letter <= '~')));
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    CHECK_FALSE(parse_profile(all).has_value());
    CHECK(parse_profile("").has_value());
    CHECK(parse_profile("\n\n\r\n#").has_value());
}
