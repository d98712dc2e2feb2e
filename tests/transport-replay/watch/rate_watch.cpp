// What the rate of a sender follows: models of congestion control that share a queue with others are told by name, and
// what only looks like one is not.
#include <tests/simulator/rate_models.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/rates.hpp>
#include <transport-replay/tracking/tracker.hpp>
#include <transport-replay/watch/rate_watch.hpp>

#include <algorithm>
#include <array>
#include <string>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

// Of who sends the data; what a way has that is not watched where it is not.
RateControl sender_of(const std::vector<RateControl>& rates) {
    const auto found = std::ranges::find_if(rates, [](const RateControl& rate) { return rate.packets != 0; });
    return found == rates.end() ? RateControl{} : *found;
}

// By a tracker alone, since an analysis takes longer to begin than to follow so few packets.
RateControl watched(const std::vector<Observation>& seen) {
    Tracker tracker(false);
    RateWatch watch;
    for (const Observation& one : seen) {
        PacketRecord record;
        tracker.observe(one, Repetition::none, {}, record);
        (void)watch.observe(one, record);
        tracker.ended().clear();
    }
    return sender_of(watch.finish());
}

RateVerdict verdict_of(const RateScenario& scenario) { return judge(watched(simulate_rate(scenario))); }

struct Told {
    std::size_t right = 0;
    std::size_t wrong = 0;
    std::size_t undecided = 0;
};

Told told(RateModel model, RateFollows truth, std::uint64_t seeds, RateTap tap = RateTap::sender,
          std::uint32_t packets = 20'000) {
    Told sum;
    for (std::uint64_t seed = 1; seed <= qps::tests::share(seeds); ++seed) {
        const RateVerdict verdict = verdict_of({.model = model, .seed = seed, .packets = packets, .tap = tap});
        INFO(kRateModelNames[static_cast<std::size_t>(model)]
             << ", seed " << seed << ": " << kRateFollowsNames[static_cast<std::size_t>(verdict.follows)]);
        const bool undecided = verdict.follows == RateFollows::undecided;
        CHECK(undecided == (verdict.certainty == 0));
        CHECK(undecided == !verdict.why.empty());
        CHECK(verdict.certainty <= 100);
        ++(undecided ? sum.undecided : verdict.follows == truth ? sum.right : sum.wrong);
    }
    return sum;
}

RateControl with(RateSteps at, RateSteps before, RateSteps rise, RateSteps quiet) {
    RateControl rate;
    rate.packets = 10'000;
    rate.round_trips = 1'000;
    rate.steps = 1'000;
    rate.cnps = at.steps;
    rate.at_cnp = at;
    rate.before_cnp = before;
    rate.after_rise = rise;
    rate.quiet = quiet;
    rate.slowest = 1e9;
    rate.fastest = 1.2e9;
    return rate;
}

}  // namespace

TEST_CASE("five models of congestion control over 500 seeds: 95 % of the names are right, and many are named") {
    struct Row {
        RateModel model;
        RateFollows truth;
        std::size_t fewest;  // named rightly, of 100
    };
    constexpr std::array kRows{
        Row{RateModel::dcqcn, RateFollows::notifications, 60}, Row{RateModel::timely, RateFollows::round_trips, 25},
        Row{RateModel::swift, RateFollows::round_trips, 25}, Row{RateModel::quota, RateFollows::grants, 90},
        Row{RateModel::fixed_rate, RateFollows::nothing, 35}};
    std::size_t right = 0, wrong = 0;
    for (const Row& row : kRows) {
        const Told sum = told(row.model, row.truth, 100);
        INFO(kRateModelNames[static_cast<std::size_t>(row.model)] << ": " << sum.right << " right, " << sum.wrong
                                                                  << " wrong, " << sum.undecided << " undecided");
        CHECK(sum.right >= qps::tests::share(row.fewest));
        CHECK(sum.wrong * 20 <= sum.right + sum.wrong);
        right += sum.right;
        wrong += sum.wrong;
    }
    CHECK(wrong * 20 <= right + wrong);
}

TEST_CASE("what only looks like congestion control has no name of one") {
    for (const RateTap tap : {RateTap::sender, RateTap::link})
        for (const RateModel model :
             {RateModel::fixed_window, RateModel::idle_gaps, RateModel::losses, RateModel::wandering}) {
            const Told sum = told(model, RateFollows::nothing, 40, tap);
            INFO(kRateModelNames[static_cast<std::size_t>(model)]);
            CHECK(sum.wrong == 0);
        }
}

TEST_CASE("a tap at the receiver sees neither what a CNP does nor the queue: nothing of it is named") {
    for (const RateModel model : {RateModel::dcqcn, RateModel::timely, RateModel::swift, RateModel::fixed_rate})
        CHECK(told(model, RateFollows::undecided, 25, RateTap::receiver).undecided == qps::tests::share(25));
    CHECK(told(RateModel::quota, RateFollows::grants, 25, RateTap::receiver).wrong == 0);
}

TEST_CASE("a short capture, and one of one direction, is not enough") {
    for (const RateModel model :
         {RateModel::dcqcn, RateModel::timely, RateModel::swift, RateModel::quota, RateModel::fixed_rate}) {
        CHECK(told(model, RateFollows::undecided, 25, RateTap::sender, 300).undecided == qps::tests::share(25));
        for (std::uint64_t seed = 1; seed <= 10; ++seed)
            CHECK(verdict_of({.model = model, .seed = seed, .one_direction = true}).follows == RateFollows::undecided);
    }
}

TEST_CASE("a capture that lacks every tenth packet names nothing wrong") {
    for (const RateModel model :
         {RateModel::dcqcn, RateModel::timely, RateModel::swift, RateModel::fixed_rate, RateModel::fixed_window}) {
        std::vector<Observation> seen = simulate_rate({.model = model, .seed = 7});
        std::size_t at = 0;
        std::erase_if(seen, [&](const Observation&) { return ++at % 10 == 0; });
        CHECK(judge(watched(seen)).follows == RateFollows::undecided);
    }
}

TEST_CASE("round-trip times are those of single packets, and every ACK tells its own") {
    const std::vector<Observation> seen = simulate_rate({.model = RateModel::fixed_rate, .seed = 3, .packets = 2'000});
    Analysis analysis;
    std::uint64_t measured = 0;
    std::int64_t sum = 0, least = INT64_MAX;
    for (const Observation& one : seen) {
        const PacketRecord record = analysis.observe(one);
        if (!record.round_trip) continue;
        const auto request = std::ranges::find_if(
            seen, [&](const Observation& other) { return other.psn == one.psn && other.payload_length != 0; });
        REQUIRE(request != seen.end());
        CHECK(*record.round_trip == one.time - request->time);
        ++measured;
        sum += std::to_underlying(*record.round_trip);
        least = std::min(least, std::to_underlying(*record.round_trip));
    }
    const RateControl rate = sender_of(analysis.finish().congestion.rates);
    CHECK(measured > 100);
    CHECK(rate.round_trips == measured);
    CHECK(rate.least_round_trip == Duration{least});
    CHECK(rate.all_round_trips == Duration{sum});
}

TEST_CASE("an analysis names what makes a sender slow down, with the counts that prove it") {
    Analysis analysis;
    for (const Observation& one : simulate_rate({.model = RateModel::dcqcn, .seed = 1})) analysis.observe(one);
    const Timeline timeline = analysis.finish();
    REQUIRE(timeline.congestion.rates.size() == 1);
    const RateControl& rate = timeline.congestion.rates[0];
    CHECK(rate.connection == timeline.connections[0].uid);
    CHECK(find_rate(timeline.congestion, rate.connection, rate.from) == &rate);
    CHECK(find_rate(timeline.congestion, rate.connection, other(rate.from)) == nullptr);
    const RateVerdict verdict = judge(rate);
    CHECK(verdict.follows == RateFollows::notifications);
    CHECK(rate.at_cnp.falls * 2 > rate.at_cnp.steps);
    CHECK(rate.cnps >= rate.at_cnp.steps);
    CHECK(follows_text(rate, verdict).starts_with("slows down at CNPs, as DCQCN does: at "));
    CHECK(sender_text(rate, timeline).starts_with("10.0.0.1 to 10.0.0.2:34 (#1)"));
}

TEST_CASE("who has no signal rests, and a CNP wakes it") {
    RateWatch watch;
    std::int64_t now = 0;
    const auto observe = [&](std::uint8_t opcode, std::uint32_t psn, bool data) {
        Observation packet;
        packet.kind = ObservationKind::transport;
        packet.time = Instant{now};
        packet.opcode = Opcode{opcode};
        packet.psn = Psn(psn);
        packet.wire_length = 1082;
        packet.payload_length = data ? 1024 : 0;
        if (opcode == 0x11) packet.acknowledgment = Acknowledgment{31, Msn{1}};
        PacketRecord record;
        record.connection = ConnectionId{1};
        record.from = data ? End::a : End::b;
        if (data) record.arrival = Arrival::in_order;
        (void)watch.observe(packet, record);
    };
    const auto pass = [&](std::uint32_t from, std::uint32_t to) {
        constexpr std::uint32_t kMessage = 64;
        for (std::uint32_t psn = from; psn < to; ++psn, now += 500) {
            const std::uint32_t place = psn % kMessage;
            observe(place == 0 ? 0x00 : place == kMessage - 1 ? 0x02 : 0x01, psn, true);
            if (place == 20 && psn > kMessage) observe(0x11, psn - 21, false);  // the message before it
        }
    };
    pass(0, 2 * RateWatch::kRest);
    RateWatch copy = watch;
    const std::vector<RateControl> rested = copy.finish();
    REQUIRE(rested.size() == 1);
    CHECK(rested[0].packets > RateWatch::kStretch);
    CHECK(rested[0].packets < 3 * RateWatch::kStretch);
    pass(2 * RateWatch::kRest + 1, 2 * RateWatch::kRest + 1000);
    CHECK(RateWatch(watch).finish()[0].packets == rested[0].packets);
    observe(0x81, 0, false);
    pass(2 * RateWatch::kRest + 1000, 2 * RateWatch::kRest + 2000);
    CHECK(watch.finish()[0].packets > rested[0].packets + 900);
}

TEST_CASE("a verdict needs enough of both kinds, and says what it lacks") {
    const auto follows = [](const RateControl& rate) { return judge(rate).follows; };
    CHECK(follows(with({12, 12}, {12, 0}, {}, {40, 0})) == RateFollows::notifications);
    CHECK(follows(with({11, 11}, {11, 0}, {}, {40, 0})) == RateFollows::undecided);
    CHECK(follows(with({40, 40}, {40, 8}, {}, {40, 0})) == RateFollows::undecided);  // it fell before the CNPs too
    CHECK(follows(with({40, 40}, {40, 0}, {}, {40, 8})) == RateFollows::undecided);  // and without any
    CHECK(follows(with({40, 40}, {40, 0}, {40, 40}, {40, 0})) == RateFollows::undecided);
    CHECK(follows(with({}, {}, {12, 12}, {12, 0})) == RateFollows::round_trips);
    CHECK(follows(with({}, {}, {12, 12}, {11, 0})) == RateFollows::undecided);
    CHECK(follows(with({}, {}, {12, 6}, {40, 0})) == RateFollows::undecided);
    CHECK(follows(with({40, 1}, {40, 0}, {40, 1}, {40, 0})) == RateFollows::nothing);
    CHECK(follows(with({40, 1}, {40, 0}, {}, {40, 0})) == RateFollows::undecided);
    RateControl kept = with({}, {}, {12, 12}, {12, 0});
    kept.window_kept = 12;
    CHECK(follows(kept) == RateFollows::undecided);
    RateControl varied = with({40, 1}, {40, 0}, {40, 1}, {40, 0});
    varied.fastest = 2 * varied.slowest;
    CHECK(follows(varied) == RateFollows::undecided);
    RateControl granted;
    granted.granted = 24;
    CHECK(follows(granted) == RateFollows::grants);
    granted.beyond = 2;
    CHECK(follows(granted) == RateFollows::undecided);
    CHECK(judge(RateControl{}).why == "too few packets of long messages");
    CHECK(follows_text(granted, judge(granted)).starts_with("undecided: "));
}
