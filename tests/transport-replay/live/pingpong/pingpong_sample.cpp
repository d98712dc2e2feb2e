// What times come to, and what textbooks say of rows: figures by hand.
#include <tests/support/catch.hpp>
#include <transport-replay/live/pingpong/sample.hpp>
#include <transport-replay/live/pingpong/textbook.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::live;
using dissect::Duration;

namespace {

PingpongRow measured(std::string_view name, std::int64_t median, std::int64_t drift = 0, std::uint32_t size = 64,
                     std::int64_t doubt = 0) {
    const auto mode = std::ranges::find(kPingpongModes, name, &PingpongMode::name);
    REQUIRE(mode != kPingpongModes.end());
    return {.mode = static_cast<std::size_t>(mode - kPingpongModes.begin()),
            .size = size,
            .round_trips = 100,
            .median = microseconds(median),
            .median_low = microseconds(median - doubt),
            .median_high = microseconds(median + doubt),
            .drift = microseconds(drift)};
}

TextbookVerdict only_verdict(const std::vector<PingpongRow>& rows) {
    const auto all = compared_with_textbooks(rows);
    REQUIRE(all.size() == 1);
    return all[0].verdict;
}

}  // namespace

TEST_CASE("pingpong figures: percentiles of a thousand and one times") {
    std::vector<std::int64_t> times(1001);
    std::iota(times.begin(), times.end(), 1000);
    std::ranges::reverse(times);
    const PingpongRow row = pingpong::figures(times);
    CHECK(row.round_trips == 1001);
    CHECK(row.least == Duration{1000});
    CHECK(row.median == Duration{1500});
    CHECK(row.most_of_ten == Duration{1900});
    CHECK(row.most_of == Duration{1990});
    CHECK(row.most_of_thousand == Duration{1999});
    CHECK(row.longest == Duration{2000});
    CHECK(row.median_low == Duration{1467});  // 500 places of 1000, less and more 32 and 1
    CHECK(row.median_high == Duration{1533});
    CHECK(row.drift == Duration{500});  // medians 1750 and 1250
    std::vector<std::int64_t> none;
    CHECK(pingpong::figures(none).median == Duration{});
    CHECK(pingpong::figures(none).histogram.empty());
    std::vector<std::int64_t> one{7};
    CHECK(pingpong::figures(one).drift == Duration{});
    CHECK(pingpong::figures(one).longest == Duration{7});
    CHECK(pingpong::figures(one).median == Duration{7});
}

TEST_CASE("pingpong figures: the nearest rank, and none where there are too few times for it") {
    const auto of = [](std::int64_t count) {
        std::vector<std::int64_t> times(static_cast<std::size_t>(count));
        std::iota(times.begin(), times.end(), 1);
        return pingpong::figures(times);
    };
    CHECK_FALSE(of(9).most_of_ten);
    CHECK(of(10).most_of_ten == Duration{9});
    CHECK(of(11).most_of_ten == Duration{10});
    CHECK(of(20).most_of_ten == Duration{18});
    CHECK_FALSE(of(99).most_of);
    CHECK(of(100).most_of == Duration{99});
    CHECK(of(101).most_of == Duration{100});
    CHECK_FALSE(of(999).most_of_thousand);
    CHECK(of(1000).most_of_thousand == Duration{999});
    CHECK(of(1001).most_of_thousand == Duration{1000});
    CHECK(of(1).median == Duration{1});
    CHECK(of(4).median == Duration{2});
    CHECK(of(5).median == Duration{3});
    // Of five times the least and the most have the median between them in 15 of 16 rows: no 95 of 100.
    CHECK_FALSE(of(5).median_low);
    CHECK_FALSE(of(5).median_high);
    CHECK(of(6).median_low == Duration{1});
    CHECK(of(6).median_high == Duration{6});
}

TEST_CASE("pingpong figures: a histogram has every time once, in buckets that do not overlap") {
    std::vector<std::int64_t> times{0, 1, 15, 16, 17, 18, 1000, 1023, 1024, 1'000'000, 1'000'000'000'000};
    const auto buckets = pingpong::histogram_of(times);
    std::uint64_t all = 0;
    Duration before{};
    for (const PingpongBucket& bucket : buckets) {
        CHECK(bucket.from >= before);
        CHECK(bucket.below > bucket.from);
        CHECK(std::to_underlying(bucket.below - bucket.from) <=
              std::max<std::int64_t>(1, std::to_underlying(bucket.from) / 8));
        before = bucket.below;
        const auto inside = std::ranges::count_if(
            times, [&](std::int64_t time) { return Duration{time} >= bucket.from && Duration{time} < bucket.below; });
        CHECK(bucket.count == static_cast<std::uint64_t>(inside));
        all += bucket.count;
    }
    CHECK(all == times.size());
    std::vector<std::int64_t> wide(100'000);
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<std::int64_t>(i * i);
    CHECK(pingpong::histogram_of(wide).size() < 300);
}

TEST_CASE("pingpong figures: a row that pours drifts where its halves differ") {
    const dissect::Instant start{1'000'000};
    const auto drift = [&](std::uint64_t messages, const std::function<std::int64_t(std::uint64_t)>& time) {
        pingpong::Progress progress;
        progress.begin(start);
        for (std::uint64_t i = 1; i <= messages; ++i) progress.note(i, start + Duration{time(i)});
        return std::to_underlying(progress.drift(messages, start + Duration{time(messages)}));
    };
    const auto even = [](std::uint64_t i) { return static_cast<std::int64_t>(i * 100); };
    CHECK(drift(0, even) == 0);
    CHECK(drift(1, even) == 0);
    for (const std::uint64_t messages : {2U, 63U, 64U, 1000U, 100'000U}) CHECK(drift(messages, even) == 0);
    // Twice as slow from the middle on: the mark is near the middle, whatever the number.
    const auto slower = [](std::uint64_t i) {
        return static_cast<std::int64_t>(i <= 500 ? i * 100 : 50'000 + (i - 500) * 200);
    };
    CHECK(drift(1000, slower) >= 95);
    CHECK(drift(1000, slower) <= 100);
}

TEST_CASE("textbooks: what holds, what does not, and what nobody can tell") {
    CHECK(only_verdict({measured("send-poll", 20), measured("send-notify", 30)}) == TextbookVerdict::holds);
    CHECK(only_verdict({measured("send-notify", 20), measured("send-poll", 30)}) == TextbookVerdict::fails);
    CHECK(only_verdict({measured("send-poll", 100), measured("send-notify", 104)}) == TextbookVerdict::no_difference);
    CHECK(only_verdict({measured("send-poll", 104), measured("send-notify", 100)}) == TextbookVerdict::no_difference);
    CHECK(only_verdict({measured("send-poll", 106), measured("send-notify", 100)}) == TextbookVerdict::fails);
    // A row that differs from itself by as much says nothing.
    CHECK(only_verdict({measured("send-poll", 20, 11), measured("send-notify", 30)}) == TextbookVerdict::drifted);
    CHECK(only_verdict({measured("send-poll", 20), measured("send-notify", 30, 9)}) == TextbookVerdict::holds);
    CHECK(only_verdict({measured("send-poll", 10, 1500), measured("send-notify", 1300)}) == TextbookVerdict::drifted);
    CHECK(only_verdict({measured("send-poll", 20, 0, 64, 5), measured("send-notify", 30, 2, 64, 5)}) ==
          TextbookVerdict::drifted);
    CHECK(only_verdict({measured("send-poll", 100, 50), measured("send-notify", 104)}) ==
          TextbookVerdict::no_difference);
    // Few times leave a doubt of their median.
    CHECK(only_verdict({measured("send-poll", 20, 0, 64, 5), measured("send-notify", 30, 0, 64, 5)}) ==
          TextbookVerdict::no_difference);
    CHECK(only_verdict({measured("send-poll", 20, 0, 64, 5), measured("send-notify", 30, 0, 64, 4)}) ==
          TextbookVerdict::holds);
    CHECK(only_verdict({measured("write-notify", 20), measured("write-read-notify", 40)}) == TextbookVerdict::holds);
    CHECK(compared_with_textbooks({}).empty());
    const std::vector<PingpongRow> others{measured("send-poll", 20), measured("tcp-notify", 30)};
    CHECK(compared_with_textbooks(others).empty());
    const std::vector<PingpongRow> sizes{measured("send-poll", 20, 0, 8), measured("tcp-poll", 30, 0, 9)};
    CHECK(compared_with_textbooks(sizes).empty());
    std::vector<PingpongRow> empty{measured("send-poll", 20), measured("send-notify", 0)};
    empty[1].round_trips = 0;
    CHECK(compared_with_textbooks(empty).empty());
}

TEST_CASE("textbooks: no verdict on few rounds, nor on who polls without a processor") {
    for (const std::uint64_t rounds : {1U, 5U, 6U}) {
        std::vector<PingpongRow> few{measured("send-poll", 20), measured("send-notify", 2600)};
        few[1].round_trips = rounds;
        CHECK(only_verdict(few) == (rounds < 6 ? TextbookVerdict::too_few : TextbookVerdict::holds));
    }
    std::vector<PingpongRow> streams{measured("write-stream", 0), measured("tcp-stream", 0)};
    for (PingpongRow& row : streams) row.round_trips = 1;
    streams[0].poured = microseconds(100);
    streams[1].poured = microseconds(200);
    CHECK(only_verdict(streams) == TextbookVerdict::too_few);

    const auto with = [](std::int64_t polls_with, std::int64_t waits_with, ProcessorUse PingpongRow::* side) {
        std::vector<PingpongRow> rows{measured("send-poll", 20), measured("send-notify", 30)};
        rows[0].*side = {.worked = microseconds(polls_with), .lasted = microseconds(100)};
        rows[1].*side = {.worked = microseconds(waits_with), .lasted = microseconds(100)};
        return only_verdict(rows);
    };
    for (const auto side : {&PingpongRow::here, &PingpongRow::there}) {
        CHECK(with(89, 100, side) == TextbookVerdict::kept_from_processor);
        CHECK(with(90, 100, side) == TextbookVerdict::holds);
        CHECK(with(100, 10, side) == TextbookVerdict::holds);  // who waits needs none
        CHECK(with(0, 10, side) == TextbookVerdict::holds);    // nobody measured it
    }
}

TEST_CASE("textbooks: faults are in the way of RDMA alone, so that it is not compared with what goes by the system") {
    const std::vector<PingpongRow> rows{measured("send-poll", 20), measured("send-notify", 30),
                                        measured("tcp-poll", 10), measured("tcp-notify", 15)};
    CHECK(compared_with_textbooks(rows).size() == 4);
    const auto all = compared_with_textbooks(rows, true);
    REQUIRE(all.size() == 2);
    for (const TextbookComparison& each : all) CHECK(kTextbookRules[each.rule].rule == "polling < events");
}

TEST_CASE("textbooks: a sentence with both figures") {
    const std::vector<PingpongRow> rows{measured("send-poll", 22), measured("send-notify", 20),
                                        measured("tcp-poll", 40)};
    const auto all = compared_with_textbooks(rows);
    REQUIRE(all.size() == 2);
    CHECK(sentence_of(all[0], rows) == "send-notify was faster than send-poll here: 20 us and 22 us");
    CHECK(all[1].verdict == TextbookVerdict::holds);
    CHECK(ratio_of(all[0], rows) == Approx(20.0 / 22));
    CHECK(ratio_of(all[1], rows) == Approx(40.0 / 22));
    std::vector<PingpongRow> streams{measured("write-stream", 0), measured("tcp-stream", 0)};
    streams[0].poured = microseconds(200);
    streams[1].poured = microseconds(100);
    const auto poured = compared_with_textbooks(streams);
    REQUIRE(poured.size() == 1);
    CHECK(poured[0].verdict == TextbookVerdict::fails);
    CHECK(sentence_of(poured[0], streams) == "tcp-stream was faster than write-stream here: 512 Mbit/s and 256 Mbit/s");
}

TEST_CASE("textbooks: each rule is about two modes of one kind") {
    for (const TextbookRule& rule : kTextbookRules) {
        const auto faster = std::ranges::find(kPingpongModes, rule.faster, &PingpongMode::name);
        const auto slower = std::ranges::find(kPingpongModes, rule.slower, &PingpongMode::name);
        INFO(rule.faster << " " << rule.slower);
        REQUIRE(faster != kPingpongModes.end());
        REQUIRE(slower != kPingpongModes.end());
        CHECK(pours(faster->way) == pours(slower->way));
        CHECK(((faster->wait == slower->wait) != (faster->way == slower->way)));
    }
}
