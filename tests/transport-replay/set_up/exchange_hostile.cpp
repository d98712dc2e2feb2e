// Exchanges over TCP that nearly prove something: cut anywhere, out of step, with PSNs that nobody drew, of queue pairs
// that are used anew.
#include <tests/support/catch.hpp>
#include <tests/support/told_programs.hpp>
#include <transport-replay/model/timeline.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

std::string text_of(std::uint32_t host, std::uint32_t qpn, std::uint32_t psn) {
    return fmt::format("0000:{:06x}:{:06x}:00000000000000000000ffff0a{:06x}", qpn, psn, host) + '\0';
}

void tell(Programs& programs, std::uint32_t a, std::uint32_t psn_a, std::uint32_t b, std::uint32_t psn_b) {
    programs.say(0, text_of(1, a, psn_a));
    programs.say(1, text_of(2, b, psn_b));
}
constexpr std::uint32_t kPsnA = 0x123456, kPsnB = 0xabcdef;

}  // namespace

TEST_CASE("texts that segments cut anywhere are put together") {
    const std::string all = text_of(1, 17, kPsnA) + text_of(1, 18, kPsnA + 5000);
    for (std::size_t cut = 20; cut < all.size(); ++cut) {
        INFO("cut at " << cut);
        Programs programs;
        programs.say(0, all.substr(0, cut));
        programs.say(0, all.substr(cut));
        programs.say(1, text_of(2, 33, kPsnB));
        programs.say(1, text_of(2, 34, kPsnB + 5000));
        programs.send(17, 33, kPsnA);
        programs.send(18, 34, kPsnA + 5000);
        CHECK(host_pairs(programs.finish()) == HostPairNames{"17-33 exchange", "18-34 exchange"});
    }
}

TEST_CASE("what is sent again with more behind it brings what is new") {
    Programs programs;
    const std::string first = text_of(1, 17, kPsnA), second = text_of(1, 18, kPsnA + 5000);
    programs.say(0, first);
    programs.segment(0, programs.seq[0] - static_cast<std::uint32_t>(first.size()), first + second);
    programs.say(1, text_of(2, 33, kPsnB) + text_of(2, 34, kPsnB + 5000));
    programs.send(17, 33, kPsnA);
    programs.send(18, 34, kPsnA + 5000);
    CHECK(host_pairs(programs.finish()) == HostPairNames{"17-33 exchange", "18-34 exchange"});
}

TEST_CASE("ends that are out of step, with PSNs that nobody drew, prove nothing") {
    for (const std::uint32_t psn : {0U, 1U, 0xfffU, 0x123456U}) {
        INFO("PSN " << psn);
        Programs programs;
        programs.skip(0, text_of(1, 17, psn).size());  // the capture begins behind it
        programs.say(1, text_of(2, 33, psn));
        for (std::uint32_t i = 1; i < 4; ++i) tell(programs, 17 + i, psn, 33 + i, psn);
        for (std::uint32_t i = 0; i < 4; ++i) programs.send(17 + i, 33 + i, psn);
        CHECK(host_pairs(programs.finish()) ==
              HostPairNames{"17-33 traffic", "18-34 traffic", "19-35 traffic", "20-36 traffic"});
    }
}

TEST_CASE("ends that are out of step with PSNs that were drawn are not joined by what they told") {
    Programs programs;
    programs.skip(0, text_of(1, 17, kPsnA).size());
    programs.say(1, text_of(2, 33, kPsnB));
    for (std::uint32_t i = 1; i < 4; ++i) tell(programs, 17 + i, kPsnA + 5000 * i, 33 + i, kPsnB + 5000 * i);
    for (std::uint32_t i = 0; i < 4; ++i) programs.send(17 + i, 33 + i, kPsnA + 5000 * i);
    CHECK(host_pairs(programs.finish()) ==
          HostPairNames{"17-33 traffic", "18-34 traffic", "19-35 traffic", "20-36 traffic"});
}

TEST_CASE("a queue pair whose program tells of it anew begins anew") {
    SECTION("with another peer, after one request") {
        Programs programs;
        tell(programs, 17, kPsnA, 34, kPsnB);
        programs.wire.packet(1, 2, 34, kRcSendOnly, kPsnA);
        programs.segment(0, programs.seq[0], "", Programs::kFin | Programs::kAck);
        tell(programs, 18, kPsnA + 70000, 34, kPsnB + 70000);
        programs.send(18, 34, kPsnA + 70000);
        CHECK(host_pairs(programs.finish()) == HostPairNames{"17-34 exchange", "18-34 exchange"});
    }
    SECTION("with the same numbers and other PSNs") {
        Programs programs;
        for (std::uint32_t run = 0; run < 5; ++run) {
            tell(programs, 17, kPsnA + 70000 * run, 34, kPsnB + 70000 * run);
            programs.send(17, 34, kPsnA + 70000 * run);
        }
        CHECK(host_pairs(programs.finish()) == HostPairNames(5, "17-34 exchange"));
    }
    SECTION("but not who tells the same once more, between runs and behind them") {
        Programs programs;
        for (std::uint32_t run = 0; run < 3; ++run) {
            tell(programs, 17, kPsnA, 34, kPsnB);
            programs.send(17, 34, kPsnA + 8 * run);
        }
        tell(programs, 17, kPsnA, 34, kPsnB);
        const Timeline timeline = programs.finish();
        CHECK(host_pairs(timeline) == HostPairNames{"17-34 exchange"});
        CHECK(timeline.connections[0].packets() == 48);
    }
    SECTION("nor where the capture began in the middle of a run") {
        Programs programs;
        programs.send(17, 34, kPsnA + 100);
        tell(programs, 17, kPsnA, 34, kPsnB);
        programs.send(17, 34, kPsnA + 108);
        CHECK(host_pairs(programs.finish()) == HostPairNames{"17-34 traffic"});
    }
}

TEST_CASE("a connection that begins anew without an exchange is certain no longer") {
    for (const bool anew : {false, true}) {
        Programs programs;
        tell(programs, 17, kPsnA, 34, kPsnB);
        programs.send(17, 34, kPsnA);
        if (anew) programs.send(17, 34, kPsnB);
        const Timeline timeline = programs.finish();
        REQUIRE(timeline.connections.size() == 1);
        CHECK(timeline.connections[0].confidence == (anew ? Confidence::strong : Confidence::certain));
    }
}

TEST_CASE("two programs that tell of the same queue pair: the last one counts, and only for its PSN") {
    Programs programs;
    tell(programs, 17, kPsnA, 34, kPsnB);
    tell(programs, 18, kPsnA, 34, kPsnB + 5000);
    programs.send(17, 34, kPsnA);
    CHECK(host_pairs(programs.finish()) == HostPairNames{"17-34 traffic"});
}

TEST_CASE("exchanges without end are forgotten, and cost no more than they may") {
    Programs programs;
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        tell(programs, 1000 + i, kPsnA + i, 100'000 + i, kPsnB + i);
        if (i % 7 == 0) programs.segment(0, programs.seq[0], "", Programs::kSyn);
    }
    tell(programs, 17, kPsnA, 34, kPsnB);
    programs.send(17, 34, kPsnA);
    CHECK(programs.finish().connections.size() == 1);
}
