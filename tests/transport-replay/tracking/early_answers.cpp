// Answers that were recorded before their requests: what goes there and what comes back have clocks that are apart, or
// queues of their own.
#include <tests/support/analysed_wire.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/durations.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr std::uint32_t kRequester = 0x800000, kResponder = 0x100000;  // queue pairs

struct OnTheClock {
    std::int64_t time = 0;
    bool answer = false;
    std::uint32_t psn = 0;
};

// SENDs 50 us apart, each answered after 10 us; requests are recorded `late`. The first ones are in order: who answers
// whom is known.
std::vector<OnTheClock> by_two_clocks(std::int64_t late, std::uint32_t messages) {
    std::vector<OnTheClock> all;
    for (std::uint32_t psn = 0; psn < messages; ++psn) {
        const std::int64_t sent = kSecond + 50 * kMicrosecond * psn;
        const bool before = psn < 2;
        all.push_back({before ? sent - 20 * kMillisecond : sent + late, false, psn});
        all.push_back({(before ? sent - 20 * kMillisecond : sent) + 10 * kMicrosecond, true, psn});
    }
    std::ranges::stable_sort(all, {}, &OnTheClock::time);
    return all;
}

Timeline followed(const std::vector<OnTheClock>& all) {
    AnalysedWire wire;
    for (const OnTheClock& one : all) {
        wire.nanoseconds = static_cast<std::uint64_t>(one.time);
        if (one.answer) wire.packet(2, 1, kRequester, kRcAcknowledge, one.psn);
        else wire.packet(1, 2, kResponder, kRcSendOnly, one.psn);
    }
    return wire.analysis.finish();
}

// What it says of the capture; packets without a partition say more.
std::vector<std::string_view> said_of(const Timeline& timeline) {
    std::vector<std::string_view> ids;
    for (const Finding& finding : timeline.findings)
        if (finding.id != "pkey-mismatch") ids.push_back(finding.id);
    return ids;
}

}  // namespace

TEST_CASE("answers that stand before their requests wait for them, and clocks are told to be apart") {
    for (const std::int64_t late : {30 * kMicrosecond, 200 * kMicrosecond, 2 * kMillisecond, 4900 * kMicrosecond}) {
        INFO(late);
        const Timeline timeline = followed(by_two_clocks(late, 400));
        REQUIRE(timeline.connections.size() == 1);
        const Connection& connection = timeline.connections[0];
        CHECK(connection.ways[0].completed == 400);
        CHECK(connection.ways[0].incidents->retransmitted == 0);
        CHECK(connection.ways[0].incidents->gaps == Gaps{});
        CHECK(connection.ways[1].incidents->unmatched == 0);
        CHECK(connection.ways[1].incidents->early_answers == 398);
        CHECK(connection.ways[1].incidents->earliest_answer == Duration{late - 10 * kMicrosecond});
        CHECK(said_of(timeline) == std::vector<std::string_view>{"clock-offset"});
    }
}

TEST_CASE("answers in order are early for nobody") {
    const Timeline timeline = followed(by_two_clocks(0, 400));
    CHECK(said_of(timeline).empty());
    CHECK(timeline.connections.at(0).ways[1].incidents->early_answers == 0);
}

TEST_CASE("an answer whose request never comes tells that the capture lacks it") {
    std::vector<OnTheClock> all = by_two_clocks(0, 20'000);  // a second, after which nothing is left undecided
    std::erase_if(all, [](const OnTheClock& one) { return !one.answer && one.psn == 15'000; });
    const Timeline timeline = followed(all);
    const Connection& connection = timeline.connections.at(0);
    CHECK(connection.ways[0].incidents->gaps.tap == 1);
    CHECK(connection.ways[1].incidents->early_answers == 0);
    CHECK(said_of(timeline) == std::vector<std::string_view>{"capture-lost-packets"});
}

TEST_CASE("the last answers wait for nobody when the capture ends") {
    std::vector<OnTheClock> all = by_two_clocks(2 * kMillisecond, 400);
    std::erase_if(all, [](const OnTheClock& one) { return one.time > kSecond + 15 * kMillisecond; });
    const Timeline timeline = followed(all);
    const Connection& connection = timeline.connections.at(0);
    CHECK(connection.ways[1].acks == static_cast<std::uint64_t>(std::ranges::count_if(all, &OnTheClock::answer)));
    CHECK(connection.ways[0].open == 0);
    CHECK(connection.ways[0].incidents->retransmitted == 0);
}

TEST_CASE("more answers than may wait are taken as those that lack their requests") {
    std::vector<OnTheClock> all = by_two_clocks(0, 4);
    for (std::uint32_t psn = 4; psn < 10'004; ++psn) all.push_back({kSecond + kMillisecond + psn, true, psn});
    const Timeline timeline = followed(all);
    const Connection& connection = timeline.connections.at(0);
    CHECK(connection.ways[1].acks == 10'004);
    CHECK(connection.ways[0].incidents->gaps.tap + connection.ways[0].incidents->gaps.undecided == 10'000);
}
