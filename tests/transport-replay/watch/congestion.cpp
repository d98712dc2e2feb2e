// CE marks and CNPs, pauses, bursts of many senders.
#include <tests/support/catch.hpp>
#include <tests/support/congested_wire.hpp>
#include <tests/support/durations.hpp>

#include <algorithm>
#include <random>
#include <string>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

std::vector<FrameIndex> kept_frames(const KeptPackets& kept) {
    std::vector<FrameIndex> frames;
    for (const TimedFrame& one : kept.first) frames.push_back(one.frame);
    return frames;
}

}  // namespace

TEST_CASE("a mark is answered by the CNP of its receiver") {
    CongestedWire w;
    w.data(0);
    w.data(10 * kMicrosecond, true);
    w.data(12 * kMicrosecond, true);
    w.cnp(15 * kMicrosecond);
    w.cnp(65 * kMicrosecond);
    w.data(5 * kMillisecond);
    const CongestionReport report = w.tracker.finish();
    REQUIRE(report.pairs.size() == 1);
    CHECK(report.pairs[0].marked == 2);
    CHECK(report.pairs[0].answered == 2);
    CHECK(report.pairs[0].unanswered == 0);
    CHECK(report.pairs[0].unanswered_marks.first.empty());
    REQUIRE(report.notifications.size() == 1);
    const CnpStream& stream = report.notifications[0];
    CHECK(stream.count == 2);
    CHECK(stream.without_mark == 0);
    CHECK(stream.delays.least() == Duration{3 * kMicrosecond});
    CHECK(stream.gaps.median() == Duration{50 * kMicrosecond});
    REQUIRE(report.flows.size() == 1);
    CHECK(report.flows[0].packets == 4);
    CHECK(report.flows[0].marked == 2);
    CHECK(report.flows[0].first_marked == FrameIndex{2});
    CHECK(report.cnps == 2);
}

TEST_CASE("marks without CNP, CNPs without mark, and marks at the end of the capture") {
    CongestedWire w;
    w.data(0, true);
    w.data(1 * kMicrosecond, true);
    w.cnp(2 * kMillisecond);  // too late for either
    w.data(10 * kMillisecond, true);
    const CongestionReport report = w.tracker.finish();
    CHECK(report.pairs[0].unanswered == 2);
    CHECK(report.pairs[0].answered == 0);
    CHECK(report.pairs[0].undecided == 1);
    CHECK(report.pairs[0].other_way_seen);
    CHECK(report.notifications[0].without_mark == 1);
    CHECK(kept_frames(report.pairs[0].unanswered_marks) == std::vector{FrameIndex{1}, FrameIndex{2}});
    CHECK(report.pairs[0].unanswered_marks.last.time == Instant{1 * kMicrosecond});
    CHECK(kept_frames(report.notifications[0].unmarked) == std::vector{FrameIndex{3}});
}

TEST_CASE("of many marks without a CNP the first and the last are kept, and none that was answered") {
    constexpr std::uint64_t kMany = 100;
    CongestedWire w;
    for (std::uint64_t i = 0; i < kMany; ++i) w.data(static_cast<std::int64_t>(i) * 20 * kMicrosecond, true);
    w.data(20 * kMillisecond, true);
    w.cnp(20 * kMillisecond + kMicrosecond);
    const CongestionReport report = w.tracker.finish();
    const KeptPackets& kept = report.pairs[0].unanswered_marks;
    CHECK(report.pairs[0].unanswered == kMany);
    CHECK(kept.first.size() == KeptPackets::kMost);
    CHECK(kept.first.back().frame == FrameIndex{KeptPackets::kMost});
    CHECK(kept.last.frame == FrameIndex{kMany});
}

TEST_CASE("marks soon after a CNP bring no other, and marks close together one at most") {
    CongestedWire w;
    w.data(0, true);
    w.cnp(5 * kMicrosecond);
    w.data(90 * kMicrosecond, true);  // within the pace of CNPs
    w.data(300 * kMicrosecond, true);
    w.data(400 * kMicrosecond, true);
    w.data(3 * kMillisecond, true);
    w.data(10 * kMillisecond);
    w.cnp(11 * kMillisecond);
    const CongestionReport report = w.tracker.finish();
    REQUIRE(report.pairs.size() == 1);
    CHECK(report.pairs[0].answered == 1);
    CHECK(report.pairs[0].undecided == 1);
    CHECK(report.pairs[0].unanswered == 3);
    CHECK(report.pairs[0].silences == 2);
    CHECK(kept_frames(report.pairs[0].unanswered_marks) == std::vector{FrameIndex{4}, FrameIndex{5}, FrameIndex{6}});
}

TEST_CASE("marks that nobody took need no CNP") {
    CongestedWire w;
    PacketSpec corrupt = CongestedWire::between(0x04, kSender, kReceiver, 0x22);
    set(corrupt, "ip.dsfield.ecn", 3);
    w.data(0);
    w.put(corrupt, 1, true);
    w.cnp(5 * kMicrosecond);
    w.data(5 * kMillisecond);
    const CongestionReport report = w.tracker.finish();
    CHECK(report.marked == 1);
    REQUIRE(report.pairs.size() == 1);
    CHECK(report.pairs[0].marked == 0);
}

TEST_CASE("a mark on an ACK needs no CNP, and silence of the other way says nothing") {
    CongestedWire w;
    PacketSpec ack = CongestedWire::between(0x11, kSender, kReceiver, 0x22);
    set(ack, "ip.dsfield.ecn", 3);
    w.put(ack, 0);
    w.data(1, true);
    w.data(5 * kMillisecond);
    const CongestionReport report = w.tracker.finish();
    CHECK(report.pairs[0].marked == 1);
    CHECK(report.pairs[0].unanswered == 1);
    CHECK_FALSE(report.pairs[0].other_way_seen);
    CHECK(report.flows[0].marked == 2);
}

TEST_CASE("CNPs go to flows by the pairing, or where only one can be meant") {
    CongestedWire w;
    w.data(0, true, 0x22);
    w.cnp(kMicrosecond, 0x21);
    SECTION("one marked flow") {
        const auto rows = attribute(w.tracker.finish(), {});
        REQUIRE(rows.size() == 1);
        CHECK(rows[0].attribution == Attribution::only_flow);
        CHECK(rows[0].flow == 0U);
    }
    SECTION("two") {
        w.data(2 * kMicrosecond, true, 0x32);
        const CongestionReport report = w.tracker.finish();
        CHECK(attribute(report, {})[0].attribution == Attribution::undecided);
        const auto rows = attribute(report, [](const FlowKey& flow) -> std::optional<FlowKey> {
            if (flow.destination_qp != Qpn{0x21}) return {};
            return FlowKey{flow.destination, flow.source, Qpn{0x32}};
        });
        CHECK(rows[0].attribution == Attribution::paired);
        REQUIRE(rows[0].flow);
        CHECK(report.flows[*rows[0].flow].flow.destination_qp == Qpn{0x32});
    }
}

TEST_CASE("the rate before and after a burst of CNPs") {
    CongestedWire w;
    for (std::int64_t i = 0; i < 100; ++i) w.data(i * 100 * kMicrosecond, i == 99);  // 10 packets a millisecond
    w.cnp(10 * kMillisecond);
    w.cnp(10 * kMillisecond + 50 * kMicrosecond);
    for (std::int64_t i = 0; i < 20; ++i) w.data(11 * kMillisecond + i * 500 * kMicrosecond);  // 2 packets
    const CongestionReport report = w.tracker.finish();
    const Reaction& reaction = report.flows[0].reaction;
    CHECK(reaction.bursts == 1);
    CHECK(reaction.bins_before == 4);
    CHECK(reaction.bins_after == 4);
    CHECK(reaction.bytes_before == reaction.bytes_after * 5);
}

TEST_CASE("a flow that stops altogether has reacted too") {
    CongestedWire w;
    for (std::int64_t i = 0; i < 100; ++i) w.data(i * 100 * kMicrosecond, i == 99);
    w.cnp(10 * kMillisecond);
    w.data(30 * kMillisecond, false, 0x22, 64, kSender + 5);
    const CongestionReport report = w.tracker.finish();
    CHECK(report.flows[0].reaction.bins_after == 4);
    CHECK(report.flows[0].reaction.bytes_after == 0);
    CHECK(report.flows[0].reaction.bytes_before > 0);
}

TEST_CASE("a distribution keeps extremes for ever and its median in bounds") {
    Distribution distribution;
    CHECK_FALSE(distribution.median());
    for (std::int64_t i = 1; i <= 100'001; ++i) distribution.add(Duration{i});
    CHECK(distribution.count() == 100'001);
    CHECK(distribution.least() == Duration{1});
    CHECK(distribution.most() == Duration{100'001});
    const std::int64_t median = std::to_underlying(*distribution.median());
    CHECK(median > 49'000);
    CHECK(median < 51'100);
}

TEST_CASE("pauses end by a resume, by their time, or with the capture") {
    CongestedWire w;
    w.speed = BitsPerSecond{100'000'000'000};
    w.pause(0, 3, 0xffff);  // 335 us at 100 Gbit/s
    w.pause(100 * kMicrosecond, 3, 0xffff);
    w.pause(150 * kMicrosecond, 3, 0);
    w.pause(kMillisecond, 3, 1000);  // 5.12 us
    w.pause(2 * kMillisecond, std::nullopt, 0xffff);
    w.data(2 * kMillisecond + 100 * kMicrosecond);
    const CongestionReport report = w.tracker.finish();
    REQUIRE(report.pauses.size() == 2);
    const PauseSummary& third = report.pauses[0];
    CHECK(third.priority == 3);
    CHECK(third.stops == 3);
    CHECK(third.stop_frames.first.size() == 3);
    CHECK(third.stop_frames.last.frame > third.longest_frame);
    CHECK(third.resumes == 1);
    CHECK(third.periods == 2);
    CHECK(third.paused == Duration{155'120});
    CHECK(third.longest == Duration{150 * kMicrosecond});
    CHECK(third.longest_frame == FrameIndex{1});
    CHECK(third.unknown_lengths == 0);
    CHECK(report.pauses[1].priority == kWholeLink);
    REQUIRE(report.periods.size() == 3);
    CHECK(report.periods[0].ended == PauseEnd::resumed);
    CHECK(report.periods[0].refreshes == 1);
    CHECK(report.periods[1].ended == PauseEnd::expired);
    CHECK(report.periods[2].ended == PauseEnd::capture_end);
    CHECK(report.pauses[1].paused == Duration{100 * kMicrosecond});
}

TEST_CASE("without a link speed quanta count at the slowest that the link can have, and that is no storm") {
    CongestedWire w;
    for (std::int64_t i = 0; i < 300; ++i) w.pause(i * 400 * kMicrosecond, 3, 100);  // 51.2 us at 1 Gbit/s
    for (std::int64_t i = 0; i < 40; ++i) w.pause(200 * kMillisecond + i * 5 * kMillisecond, 4, 0xffff);
    w.pause(400 * kMillisecond, 4, 0);
    const CongestionReport report = w.tracker.finish();
    REQUIRE(report.pauses.size() == 2);
    const PauseSummary& brief = report.pauses[0];
    CHECK(brief.periods == 300);
    CHECK(brief.unknown_lengths == 300);
    CHECK(brief.storms == 0);
    CHECK(brief.longest == Duration{51'200});
    CHECK(brief.paused == Duration{300 * 51'200});
    CHECK(brief.least_paused == Duration{300 * 32});  // at 1.6 Tbit/s
    CHECK(brief.assumed_speed == kSlowestLink);
    CHECK_FALSE(brief.speed_shown);
    const PauseSummary& endless = report.pauses[1];  // at 1 Gbit/s; nothing says that it was
    CHECK(endless.periods == 1);
    CHECK(endless.longest == Duration{200 * kMillisecond});
    CHECK(endless.unknown_lengths == 1);
    CHECK(endless.storms == 0);
    CHECK_FALSE(endless.traffic_stopped);
}

TEST_CASE("a pause of an unknown speed ends with the first packet that it should have stopped") {
    constexpr std::uint64_t kPauser = 0x02'00'00'00'00'99, kStranger = 0x02'00'00'00'00'77;
    struct Case {
        std::uint64_t to;
        std::optional<unsigned> tag;
        std::int64_t longest;  // in us
    };
    for (const Case& one :
         {Case{kPauser, 3, 250}, Case{kPauser, {}, 250},  // without a tag: nobody knows that it is another priority
          Case{kPauser, 4, 10'000}}) {
        CongestedWire w;
        for (std::int64_t i = 0; i < 20; ++i) {
            w.pause(i * 500 * kMicrosecond, 3, 0xffff, kPauser);
            w.tagged(i * 500 * kMicrosecond + 250 * kMicrosecond, one.to, one.tag);
        }
        w.pause(10 * kMillisecond, 3, 0, kPauser);
        const CongestionReport report = w.tracker.finish();
        REQUIRE(report.pauses.size() == 1);
        CHECK(report.pauses[0].longest == Duration{one.longest * kMicrosecond});
        CHECK(report.pauses[0].storms == 0);
    }
    // Of a switch nobody knows the way: as long as all who send go on, it stopped none of them.
    for (const bool goes_on : {true, false}) {
        CongestedWire w;
        w.tagged(0, kStranger, 3);
        for (std::int64_t i = 1; i < 300; ++i) {
            w.pause(i * kMillisecond, 3, 0xffff, kPauser);
            if (goes_on) w.tagged(i * kMillisecond + 84 * kMicrosecond, kStranger, 3);
        }
        const CongestionReport report = w.tracker.finish();
        CHECK((report.pauses[0].longest < Duration{kMillisecond}) == goes_on);
        CHECK(report.pauses[0].storms == 0);
    }
}

TEST_CASE("traffic that stops with the first XOFF and goes on behind the XON is a storm at any speed") {
    constexpr std::uint64_t kSwitch = 0x02'00'00'00'00'99, kGateway = 0x02'00'00'00'00'77;
    struct Case {
        std::int64_t quiet_from, quiet_to;  // in ms
        bool stopped;
        std::uint64_t to = kGateway;
    };
    // Pauses from 10 to 160 ms.
    for (const Case& one :
         {Case{10, 160, true}, Case{10, 160, true, kSwitch}, Case{10, 300, false},  // it began much later
          Case{10, 100, true},                                                      // it went on before it was let go
          Case{-100, 160, false}}) {                                                // it had stopped long before

        CongestedWire w;
        for (std::int64_t i = -200; i < 400; ++i) {
            if (i < one.quiet_from || i >= one.quiet_to) w.tagged(kSecond + i * kMillisecond, one.to, 3);
            if (i >= 10 && i < 160) w.pause(kSecond + i * kMillisecond + 500 * kMicrosecond, 3, 0xffff, kSwitch);
            if (i == 159) w.pause(kSecond + i * kMillisecond + 600 * kMicrosecond, 3, 0, kSwitch);
        }
        const CongestionReport report = w.tracker.finish();
        REQUIRE(report.pauses.size() == 1);
        INFO(one.quiet_from << " to " << one.quiet_to);
        CHECK(report.pauses[0].traffic_stopped == one.stopped);
        CHECK(report.pauses[0].storms == (one.stopped && one.quiet_to == 160 ? 1 : 0));
        CHECK(report.pauses[0].assumed_speed == kSlowestLink);
    }
}

TEST_CASE("packets to who pauses show how slow its link can be") {
    constexpr std::uint64_t kPauser = 0x02'00'00'00'00'99;
    CongestedWire w;
    w.pause(0, 3, 1, kPauser);
    for (std::int64_t i = 0; i < 1000; ++i)
        w.tagged(kMillisecond + i * 300, kPauser, 4, 4096);  // 4 KiB each 300 ns: 110 Gbit/s
    w.pause(10 * kMillisecond, 3, 0xffff, kPauser);
    w.data(20 * kMillisecond);
    const CongestionReport report = w.tracker.finish();
    REQUIRE(report.pauses.size() == 1);
    CHECK(report.pauses[0].assumed_speed == BitsPerSecond{100'000'000'000});  // give or take a fifth
    CHECK(report.pauses[0].speed_shown);
    CHECK(report.pauses[0].longest == Duration{335'539});
}

TEST_CASE("many senders start at once towards one") {
    CongestedWire w;
    const auto volley = [&](std::int64_t time, std::uint64_t senders, std::int64_t step, std::size_t packets) {
        for (std::size_t i = 0; i < packets; ++i)
            for (std::uint64_t s = 0; s < senders; ++s)
                w.data(time + static_cast<std::int64_t>(i * senders + s) * step, i == 3, 0x22, 4096, kNet + 10 + s);
    };
    volley(0, 8, kMicrosecond, 5);                       // 8 senders, 8 * 5 * 4 KiB
    volley(10 * kMillisecond, 3, kMicrosecond, 10);      // too few
    volley(20 * kMillisecond, 8, kMicrosecond, 1);       // too little
    volley(30 * kMillisecond, 8, 60 * kMicrosecond, 5);  // too slow
    const CongestionReport report = w.tracker.finish();
    REQUIRE(report.incasts.size() == 1);
    CHECK(text(report.incasts[0].destination) == "192.0.2.2");
    CHECK(report.incasts[0].frame == FrameIndex{1});
    CHECK(report.incasts[0].senders == 8);
    CHECK(report.incasts[0].bytes >= 40 * 4096);
    CHECK(report.incasts[0].length == Duration{39 * kMicrosecond});
    CHECK(report.incasts[0].marked == 8);
}

TEST_CASE("each end of a link pauses for itself, and PAUSE is not PFC") {
    CongestedWire w;
    w.speed = BitsPerSecond{10'000'000'000};
    constexpr std::uint64_t kOther = 0x02'00'00'00'00'99;
    w.pause(0, 3, 0xffff);  // 3.36 ms at 10 Gbit/s
    w.pause(1000, std::nullopt, 0xffff);
    w.pause(2000, std::nullopt, 0, kOther);
    const CongestionReport report = w.tracker.finish();
    REQUIRE(report.pauses.size() == 3);
    CHECK(report.pauses[0].priority == 3);
    CHECK(report.pauses[1].priority == kWholeLink);
    CHECK(report.pauses[1].stops == 1);
    CHECK(report.pauses[1].resumes == 0);
    CHECK(text(report.pauses[2].sender) == "02:00:00:00:00:99");
    CHECK(report.pauses[2].stops == 0);
    CHECK(report.pauses[2].resumes == 1);
    CHECK(report.pauses[0].sender == report.pauses[1].sender);
    for (const PauseSummary& pause : report.pauses) CHECK(pause.packets_to_it == 0);
}

TEST_CASE("packets to who asked for a pause are late, or traffic stopped") {
    constexpr std::uint64_t kPauser = 0x02'00'00'00'00'99, kStranger = 0x02'00'00'00'00'77;
    struct Case {
        std::int64_t after;
        std::uint64_t to;
        std::uint64_t packets, late;
        BitsPerSecond speed{10'000'000'000};
    };
    constexpr std::int64_t us = kMicrosecond;
    for (const Case& one : {Case{50 * us, kPauser, 1, 0},          // it was on its way
                            Case{200 * us, kPauser, 1, 1},         // it was not
                            Case{200 * us, kStranger, 0, 0},       // another receiver, or the other direction
                            Case{5000 * us, kPauser, 1, 0},        // the time was over
                            Case{200 * us, kPauser, 1, 0, {}}}) {  // nobody knows how long it was
        CongestedWire w;
        w.speed = one.speed;
        w.pause(0, std::nullopt, 0xffff, kPauser);
        PacketSpec spec = CongestedWire::between(0x04, kSender, kReceiver, 0x22);
        set(spec, "eth.dst", one.to);
        w.put(spec, one.after);
        w.pause(10'000 * us, std::nullopt, 0, kPauser);
        const CongestionReport report = w.tracker.finish();
        REQUIRE(report.pauses.size() == 1);
        INFO(one.after << " ns, to " << one.to);
        CHECK(report.pauses[0].packets_to_it == one.packets);
        CHECK(report.pauses[0].late == one.late);
        CHECK(report.pauses[0].judged == (one.speed == BitsPerSecond{} ? 0 : 1));
    }
}

TEST_CASE("any packets at any time: nothing breaks and marks add up") {
    std::mt19937_64 random(4711);
    Watched tracker;
    std::uint64_t marked = 0;
    for (std::uint64_t i = 0; i < 50'000; ++i) {
        Observation observation;
        observation.kind = static_cast<ObservationKind>(random() % 5);
        observation.time = Instant{static_cast<std::int64_t>(random() % 16 == 0 ? random() : i * 700)};
        observation.opcode = static_cast<Opcode>(random() % 8 == 0 ? 0x81 : random() % 256);
        observation.flow = {
            {{0, random() % 4}, {}}, {{0, random() % 4}, {}}, Qpn{static_cast<std::uint32_t>(random() % 4)}};
        observation.congestion_experienced = random() % 4 == 0;
        observation.wire_length = static_cast<std::uint32_t>(random());
        observation.payload_length = static_cast<std::uint32_t>(random() % 2);
        observation.interface = InterfaceId{static_cast<std::uint32_t>(random() % 1000)};
        std::array<std::byte, 18> timers{};  // as PFC has them; PAUSE begins with its one
        write_bits(timers, 8, 8, random());
        for (std::size_t timer = 0; timer < 8; ++timer) write_bits(timers, 16 + 16 * timer, 16, random() % 3 * 1000);
        if (observation.kind == ObservationKind::pause) write_bits(timers, 0, 16, random() % 3 * 1000);
        observation.payload = timers;
        observation.link_speed = BitsPerSecond{random() % 3};
        marked += observation.kind == ObservationKind::transport && observation.congestion_experienced ? 1 : 0;
        tracker.observe(observation);
    }
    const CongestionReport report = tracker.finish();
    CHECK(report.packets == 50'000);
    CHECK(report.marked <= marked);  // marks on CNPs are nobody's
    for (const PairCongestion& pair : report.pairs)
        CHECK(pair.answered + pair.unanswered + pair.undecided == pair.marked);
    CHECK(report.pauses.size() == kMaxPauseTimers);
    CHECK(report.packets_dropped > 0);
    CHECK(report.periods.size() == kMaxPausePeriods);
    CHECK(attribute(report, {}).size() == report.notifications.size());
}

TEST_CASE("the sample capture of congestion adds up") {
    Watched tracker;
    qps::tests::for_each_observation("congestion",
                                     [&](const Observation& observation) { tracker.observe(observation); });
    const CongestionReport report = tracker.finish();
    CHECK(report.packets == 23);
    CHECK(report.marked == 4);
    CHECK(report.cnps == 4);
    CHECK(report.notifications.size() == 2);
    for (const CnpStream& stream : report.notifications) CHECK(stream.gaps.median() == Duration{50 * kMicrosecond});
    for (const PairCongestion& pair : report.pairs)
        CHECK(pair.answered + pair.unanswered + pair.undecided == pair.marked);
    REQUIRE(report.pauses.size() == 2);
    CHECK(report.pauses[0].priority == 3);
    CHECK(report.pauses[0].paused == Duration{10 * kMicrosecond});
    CHECK(report.pauses[1].unknown_lengths == 1);
}
