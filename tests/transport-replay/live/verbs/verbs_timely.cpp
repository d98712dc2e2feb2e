// TIMELY: a rate by round trips; and what either rate control does to a queue that empties slower than it fills.
#include <tests/support/catch.hpp>
#include <tests/support/verbs_pair.hpp>
#include <transport-replay/queue_pair/requester.hpp>

#include <cmath>
#include <limits>
#include <random>

#include <bench/bottleneck.hpp>

using namespace qps;
using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::verbs;
using namespace qps::bench;
using namespace qps::tests;

namespace {

constexpr TimelySettings kSettings{.line_rate = BitsPerSecond{10'000'000'000}, .additive = BitsPerSecond{100'000'000}};
std::uint64_t rate_of(const Timely& timely) { return std::to_underlying(timely.rate()); }
bool is_about(std::uint64_t rate, double expected) {
    return std::abs(static_cast<double>(rate) / expected - 1) < 0.001;
}

struct Feed {
    Timely timely{kSettings};
    Instant now{1'000};
    void trips(int count, Duration took) {
        for (int i = 0; i < count; ++i) timely.on_round_trip(took, now = now + microseconds(10));
    }
};

}  // namespace

TEST_CASE("timely: round trips that stay short limit nothing") {
    Feed feed;
    feed.trips(100, microseconds(20));
    feed.trips(100, microseconds(219));  // less than 200 us above the shortest
    CHECK_FALSE(feed.timely.limited());
    CHECK(feed.timely.shortest() == microseconds(20));
}

TEST_CASE("timely: long round trips cut the rate, the longer the deeper") {
    Feed feed, worse;
    feed.trips(1, microseconds(20));
    worse.trips(1, microseconds(20));
    feed.trips(2, microseconds(1500));  // above 1020 us: 0.8 of (1 - 1020/1500)
    worse.trips(2, microseconds(6000));
    CHECK(is_about(rate_of(feed.timely), 10e9 * (1 - 0.8 * (1 - 1020.0 / 1500))));
    CHECK(is_about(rate_of(worse.timely), 10e9 * (1 - 0.8 * (1 - 1020.0 / 6000))));
    worse.trips(1000, microseconds(6000));
    CHECK(worse.timely.rate() == kSettings.min_rate);
}

TEST_CASE("timely: one long round trip among short ones is a busy processor, and cuts nothing") {
    Feed feed;
    for (int i = 0; i < 100; ++i) {
        feed.trips(1, microseconds(20));
        feed.trips(1, microseconds(20'000));
    }
    CHECK_FALSE(feed.timely.limited());
    feed.trips(1, microseconds(20'000));
    CHECK(feed.timely.limited());
}

TEST_CASE("timely: round trips that jitter around one length starve nobody") {
    Feed feed;
    std::mt19937_64 draw(11);
    feed.trips(1, microseconds(34));  // as on a veth: 34 us at best, 232 us in the middle
    feed.trips(2, microseconds(6000));
    for (int i = 0; i < 5000; ++i) feed.trips(1, microseconds(static_cast<std::int64_t>(150 + draw() % 170)));
    CHECK(rate_of(feed.timely) > 5 * 100'000'000);  // fifty times what it may be at least
}

TEST_CASE("timely: between the bounds the gradient decides, and what has fallen for long rises fast") {
    Feed feed;
    feed.trips(1, microseconds(20));
    feed.trips(2, microseconds(320));
    const std::uint64_t cut = rate_of(feed.timely);
    CHECK(is_about(cut, 10e9 * 0.2));  // it grew by more than the round trip at `low`
    feed.trips(1, microseconds(270));  // by now the smoothed difference is below zero
    const std::uint64_t slow = rate_of(feed.timely);
    CHECK(slow == cut + 100'000'000);
    feed.trips(20, microseconds(268));
    CHECK(rate_of(feed.timely) > slow + 20 * 100'000'000);  // five steps at a time
    feed.trips(100, microseconds(30));
    CHECK_FALSE(feed.timely.limited());
    CHECK(feed.timely.rate() == kSettings.line_rate);
}

TEST_CASE("timely: a loss halves the rate, those of one round trip once") {
    Feed feed;
    feed.trips(5, microseconds(20));
    feed.timely.on_loss(feed.now);
    CHECK(is_about(rate_of(feed.timely), 5e9));
    feed.timely.on_loss(feed.now + microseconds(19));
    CHECK(is_about(rate_of(feed.timely), 5e9));
    feed.timely.on_loss(feed.now + microseconds(20));
    CHECK(is_about(rate_of(feed.timely), 2.5e9));
}

TEST_CASE("timely: the first cut begins at the rate that was sent, not at that of the line") {
    for (const std::uint64_t bytes : {12'500U, 10U}) {
        Timely timely(kSettings);
        const Instant begin{1'000'000};
        timely.on_round_trip(microseconds(20), begin);
        for (int i = 0; i < 100; ++i) timely.on_sent(bytes, begin);
        const Instant later = begin + microseconds(10'000);
        timely.on_round_trip(microseconds(6000), later);
        CHECK_FALSE(timely.limited());
        timely.on_round_trip(microseconds(6000), later + microseconds(10));
        // 1 Gbit/s was sent, and twice as much may be; next to nothing, and ten steps may be.
        CHECK(is_about(rate_of(timely), (bytes == 10 ? 1e9 : 2e9) * (1 - 0.8 * (1 - 1020.0 / 6000))));
    }
}

TEST_CASE("timely: frames leave at the rate") {
    Feed feed;
    feed.trips(1, microseconds(20));
    feed.trips(1000, microseconds(6000));
    const Instant before = feed.now;
    for (int i = 0; i < 10; ++i) feed.timely.on_sent(1250, before);  // 10 Mbit/s: a millisecond each
    CHECK(feed.timely.next_send() - before >= microseconds(9'990));
    CHECK(feed.timely.next_send() - before <= microseconds(10'000));
}

TEST_CASE("timely: no round trip and no setting breaks its bounds") {
    std::mt19937_64 draw(7);
    for (const TimelySettings& settings :
         {kSettings, TimelySettings{.line_rate = BitsPerSecond{0}, .min_rate = BitsPerSecond{0}},
          TimelySettings{.line_rate = BitsPerSecond{UINT64_MAX},
                         .min_rate = BitsPerSecond{UINT64_MAX},
                         .additive = BitsPerSecond{UINT64_MAX}},
          TimelySettings{.low = Duration{INT64_MAX}, .high = Duration{INT64_MIN}, .hyper_after = UINT32_MAX}}) {
        Timely timely(settings);
        const std::uint64_t line = rate_of(timely);
        for (int i = 0; i < 2000; ++i) {
            const std::array trips{std::int64_t{0}, std::int64_t{-5}, std::numeric_limits<std::int64_t>::max(),
                                   std::numeric_limits<std::int64_t>::min(),
                                   static_cast<std::int64_t>(draw() % 10'000'000)};
            timely.on_round_trip(Duration{trips[draw() % trips.size()]}, Instant{i});
            timely.on_sent(draw() % 5000, Instant{i});
            if (draw() % 8 == 0) timely.on_loss(Instant{i});
            CHECK(rate_of(timely) <= line);
            CHECK(rate_of(timely) >= 1);
        }
    }
}

TEST_CASE("a round trip is measured from a request to its acknowledgment, and not of what was sent again") {
    Requester requester({.peer = Qpn{1}, .first = Psn(10), .ack_timeout = 14});
    const auto ack = [](std::uint32_t psn) {
        TransportPacket packet;
        packet.opcode = Opcode::rc_acknowledge;
        packet.psn = Psn(psn);
        packet.acknowledgment = Acknowledgment{.syndrome = 0x1f};
        return packet;
    };
    const auto post = [&] { REQUIRE(requester.post({.kind = WorkKind::send})); };
    post();
    REQUIRE(requester.poll(Instant{1'000}));
    requester.process(ack(10), Instant{5'000});
    CHECK(requester.take_round_trip() == std::optional(Duration{4'000}));
    CHECK_FALSE(requester.take_round_trip());
    post();
    post();  // one acknowledgment for two: the first one is measured
    REQUIRE(requester.poll(Instant{10'000}));
    REQUIRE(requester.poll(Instant{12'000}));
    requester.process(ack(12), Instant{15'000});
    CHECK(requester.take_round_trip() == std::optional(Duration{5'000}));
    post();
    REQUIRE(requester.poll(Instant{20'000}));
    const Instant late = Instant{20'000} + *ack_timeout_of(14);
    REQUIRE(requester.poll(late));  // again
    requester.process(ack(13), late + microseconds(3));
    CHECK_FALSE(requester.take_round_trip());
    post();
    REQUIRE(requester.poll(late + microseconds(10)));
    requester.process(ack(14), late + microseconds(12));
    CHECK(requester.take_round_trip() == std::optional(microseconds(2)));
}

TEST_CASE("both rate controls keep a queue short that is long without, and use the line") {
    const Bottleneck line;
    const BottleneckFigures without = run(line, {});
    const BottleneckFigures dcqcn = run(line, {.dcqcn = DcqcnSettings{}});
    const BottleneckFigures timely = run(line, {.timely = TimelySettings{}});
    INFO("used " << without.used << ' ' << dcqcn.used << ' ' << timely.used << ", p50 in ns "
                 << std::to_underlying(without.p50) << ' ' << std::to_underlying(dcqcn.p50) << ' '
                 << std::to_underlying(timely.p50));
    CHECK(without.used > 0.9);
    CHECK(without.lost == 0);
    CHECK(dcqcn.used > 0.5);
    CHECK(timely.used > 0.5);
    CHECK(dcqcn.p50 < without.p50);
    CHECK(timely.p50 < without.p50);
    CHECK(dcqcn.cnps > 0);
    Bottleneck blind = line;  // marks nothing: who reacts to CNPs gets none, who measures needs none
    blind.marks_above = blind.most;
    CHECK(run(blind, {.dcqcn = DcqcnSettings{}}).p50 == without.p50);
    CHECK(run(blind, {.timely = TimelySettings{}}).p50 < without.p50);
}
