// Links of InfiniBand, from frames to findings: packets that wait for credits, GIDs with which two ports send, and what
// nearly is either.
#include <dissect/filter/filter.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/credited_link.hpp>
#include <tests/support/durations.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/gids.hpp>
#include <transport-replay/watch/link_credits.hpp>

#include <algorithm>
#include <functional>
#include <random>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr std::uint64_t kLinkLocal = 0xfe80000000000000, kSite = 0x20010db800000000;

struct LinkAnalysis {
    Analysis analysis;
    std::uint64_t frames = 0;
    std::vector<std::optional<std::uint16_t>> credits;  // of flow control packets

    void put(const LinkFrame& made, LinkType link = LinkType::erf) {
        Frame frame;
        frame.bytes = std::as_bytes(std::span(made.octets));
        frame.wire_length = static_cast<std::uint32_t>(made.octets.size());
        frame.link = link;
        frame.index = FrameIndex{++frames};
        frame.time = Instant{made.time};
        Packet packet;
        decode(frame, packet);
        Observation observation;
        observe(packet, observation);
        const PacketRecord record = analysis.observe(observation);
        if (observation.kind == ObservationKind::credits) credits.push_back(record.link_credits);
    }
    void put(const CreditedLink& link) {
        for (const LinkFrame& frame : link.frames) put(frame);
    }
};

Timeline analysed(const CreditedLink& link) {
    LinkAnalysis made;
    made.put(link);
    return made.analysis.finish();
}
std::vector<CreditStarvation> starved(const CreditedLink& link) { return analysed(link).credits.starved; }

bool has_finding(const Timeline& timeline, std::string_view id) {
    return std::ranges::find(timeline.findings, id, &Finding::id) != timeline.findings.end();
}

// A circle of the counters and more, a wait of 3 ms, and more packets.
CreditedLink waiting(const std::function<void(CreditedLink&)>& wait) {
    CreditedLink link;
    link.busy(150);
    wait(link);
    link.busy(20);
    return link;
}

}  // namespace

TEST_CASE("credits: a packet that waits for them, and leaves with them") {
    const Timeline timeline = analysed(waiting([](CreditedLink& link) { link.starve(5, 30); }));
    REQUIRE(timeline.credits.starved.size() == 1);
    const CreditStarvation& one = timeline.credits.starved[0];
    CHECK(one.waits == 1);
    CHECK(one.lane == 3);
    CHECK(one.port == 0);
    CHECK(one.granter == 1);
    CHECK(one.credits == 5);
    CHECK(one.needed == 33);
    CHECK(one.grants == 30);
    CHECK(one.longest == Duration{29 * 101 * kMicrosecond});
    CHECK(one.followed == Duration{5 * kMicrosecond});
    const auto finding = std::ranges::find(timeline.findings, "credit-starvation", &Finding::id);
    REQUIRE(finding != timeline.findings.end());
    CHECK(
        finding->summary ==
        "Packets of virtual lane 3 on capture port 0 waited once for credits; the longest wait was 2.929 ms: the flow control packets on "
        "port 1 left at most 5 blocks of 64 bytes, and a packet of 33 followed 5 us after the first that left enough.");
    CHECK(finding->packets.size() == 4);
    // The other way round, without credits at all, more than once.
    CreditedLink link;
    std::swap(link.sender, link.granter);
    link.busy(150);
    for (int i = 0; i < 4; ++i) link.starve(0, 20 + 10 * (i == 2)), link.busy(2);
    const auto turned = starved(link);
    REQUIRE(turned.size() == 1);
    CHECK(turned[0].waits == 4);
    CHECK(turned[0].port == 1);
    CHECK(turned[0].credits == 0);
    CHECK(turned[0].grants == 30);
    CHECK(turned[0].total == Duration{(3 * 19 + 29) * 101 * kMicrosecond});
}

TEST_CASE("credits: what nearly is a wait") {
    const auto none = [](const CreditedLink& link) { return starved(link).empty(); };
    CHECK(none(waiting([](CreditedLink& link) {
        link.starve(5, 30, 100 * kMicrosecond, 50 * kMicrosecond);
    })));                                                                                      // it had nothing to send
    CHECK(none(waiting([](CreditedLink& link) { link.starve(33, 30); })));                     // they would do
    CHECK(none(waiting([](CreditedLink& link) { link.starve(5, 9); })));                       // short
    CHECK(none(waiting([](CreditedLink& link) { link.starve(5, 2, 1000 * kMicrosecond); })));  // hardly told
    CHECK(starved(waiting([](CreditedLink& link) { link.starve(32, 30); })).size() == 1);
    CHECK(starved(waiting([](CreditedLink& link) { link.starve(5, 3, 1000 * kMicrosecond); })).size() == 1);

    // Too little traffic to prove that the ports are of one link.
    CreditedLink little;
    little.busy(20);
    little.starve(5, 30);
    little.busy(20);
    CHECK(none(little));
    // The sender says that it sent what the capture lacks: before the wait was over, or with it.
    for (const bool with : {false, true}) {
        CreditedLink link = waiting([&](CreditedLink& one) {
            one.exhaust(5);
            for (int i = 0; i < 30; ++i) {
                one.grants(100 * kMicrosecond);
                if (!with && i == 29) one.sent += 2;
                one.says_sent();
            }
            one.limit = one.sent + 100;
            one.grants(100 * kMicrosecond);
            one.packet(5 * kMicrosecond);
            if (with) one.sent += 10;
            one.says_sent();
        });
        CHECK(none(link));
    }
    // The link starts anew in the wait.
    CHECK(none(waiting([](CreditedLink& one) {
        one.exhaust(5);
        for (int i = 0; i < 30; ++i) one.grants(100 * kMicrosecond), one.says_sent();
        one.put(flow_control(1, 3, 0, 100, true));
        one.limit = one.sent + 100;
        one.grants();
        one.packet(5 * kMicrosecond);
        one.says_sent();
    })));
}

TEST_CASE("credits: other lanes, other ports, one direction, other links") {
    const CreditedLink whole = waiting([](CreditedLink& link) { link.starve(5, 30); });
    const auto only = [&](auto keep) {
        CreditedLink some;
        std::ranges::copy_if(whole.frames, std::back_inserter(some.frames), keep);
        return starved(some);
    };
    const auto port = [](const LinkFrame& frame) { return frame.octets[9] & 3U; };
    CHECK(only([&](const LinkFrame& frame) { return port(frame) == 0; }).empty());
    CHECK(only([&](const LinkFrame& frame) { return port(frame) == 1; }).empty());
    CHECK(only([&](const LinkFrame& frame) { return frame.octets[8] == 25; }).empty());  // no packets
    CHECK(only([&](const LinkFrame& frame) { return frame.octets[8] == 21; }).empty());  // no flow control
    CHECK(only([&](const LinkFrame&) { return true; }).size() == 1);

    // Both ends on one port: nobody knows which says what.
    CreditedLink mixed = whole;
    for (LinkFrame& frame : mixed.frames) frame.octets[9] &= 0xfcU;
    CHECK(starved(mixed).empty());
    // Credits of one lane, packets of another.
    CreditedLink lanes = whole;
    for (LinkFrame& frame : lanes.frames)
        if (frame.octets[8] == 25) frame.octets[18] = static_cast<std::uint8_t>((frame.octets[18] & 15U) | 0x40U);
    CHECK(starved(lanes).empty());
    // A second link, whose counters say other things: each has its own.
    CreditedLink second;
    second.sender = 2, second.granter = 3, second.sent = second.limit = 1000, second.time += kMicrosecond / 2;
    second.busy(400);
    CreditedLink both = whole;
    both.frames.insert(both.frames.end(), second.frames.begin(), second.frames.end());
    std::ranges::stable_sort(both.frames, {}, &LinkFrame::time);
    const auto found = starved(both);
    REQUIRE(found.size() == 1);
    CHECK(found[0].port == 0);
    CHECK(found[0].granter == 1);
    // One whose end grants the same as the other's: it may be either.
    CreditedLink twin = whole;
    for (const LinkFrame& frame : whole.frames)
        if (port(frame) == 1) {
            twin.frames.push_back(frame);
            twin.frames.back().octets[9] |= 2U;
        }
    std::ranges::stable_sort(twin.frames, {}, &LinkFrame::time);
    CHECK(starved(twin).empty());
}

TEST_CASE("credits: what each flow control packet leaves") {
    CreditedLink link;
    link.limit = link.sent + 10;
    link.grants();     // nobody knows what the sender sent
    link.says_sent();  // 500 - 77
    link.grants();
    link.limit += 40;
    link.grants();
    link.packet();
    link.grants();  // less what was seen of it
    LinkAnalysis made;
    made.put(link);
    REQUIRE(made.credits.size() == 5);
    CHECK_FALSE(made.credits[0]);
    CHECK(made.credits[1] == 423);
    CHECK(made.credits[2] == 10);
    CHECK(made.credits[3] == 50);
    CHECK(made.credits[4] == 17);
}

TEST_CASE("credits: any order of any flow control packets ends, within its bounds") {
    std::mt19937 random(7);
    LinkAnalysis made;
    std::int64_t time = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto any = [&] { return static_cast<unsigned>(random()); };
        const unsigned draw = any();
        const FrameOctets octets =
            draw % 3 == 0
                ? link_packet({.port = draw >> 8U & 3U, .lane = draw >> 4U & 15U, .words = 7 + (draw >> 12U) % 1000})
                : flow_control(draw >> 8U & 3U, draw >> 4U & 15U, any(), any(), draw % 97 == 1);
        made.put({time += 100, octets});
    }
    CHECK(made.analysis.finish().credits.starved.empty());
}

TEST_CASE("GIDs: two LIDs that send with one, in turn") {
    struct Sent {
        unsigned lid;
        std::int64_t after;  // ms
    };
    const auto conflicts = [&](const std::vector<Sent>& sent, std::uint64_t prefix = kLinkLocal,
                               std::uint64_t to = kLinkLocal) {
        LinkAnalysis made;
        std::int64_t time = 1'700'000'000'000'000'000;
        unsigned psn = 0;
        for (const Sent& one : sent) {
            time += one.after * 1'000'000;
            const LinkPacket packet{.words = 20,
                                    .psn = psn++,
                                    .source = one.lid,
                                    .source_prefix = prefix,
                                    .source_guid = 0x0002c90300a1b2c3,
                                    .destination_prefix = to};
            made.put({time, link_packet(packet)});
        }
        const Timeline timeline = made.analysis.finish();
        CHECK(has_finding(timeline, "gid-conflict") == !timeline.reachability.gids.empty());
        return timeline.reachability.gids;
    };
    const auto found = conflicts({{4, 1}, {4, 1}, {300, 1}, {4, 1}, {300, 1}, {300, 1}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].changes == 3);
    CHECK(found[0].lids[0].bits[1] == 4);
    CHECK(found[0].lids[1].bits[1] == 300);
    CHECK(found[0].frames == std::array{FrameIndex{2}, FrameIndex{3}, FrameIndex{4}, FrameIndex{5}});
    CHECK(found[0].last == FrameIndex{5});
    CHECK(conflicts({{4, 1}, {300, 1}, {4, 1}, {300, 1}}, kSite, kSite).size() == 1);

    CHECK(conflicts({{4, 1}, {4, 1}, {300, 1}, {300, 1}, {300, 1}}).empty());      // a new LID
    CHECK(conflicts({{4, 1}, {300, 1}, {4, 1}, {4, 1}}).empty());                  // and the old one again
    CHECK(conflicts({{4, 1}, {7, 1}, {4, 1}, {7, 1}, {4, 1}}).empty());            // LMC
    CHECK(conflicts({{256, 1}, {383, 1}, {256, 1}, {383, 1}, {256, 1}}).empty());  // LMC 7
    CHECK(conflicts({{127, 1}, {128, 1}, {127, 1}, {128, 1}}).size() == 1);        // no LMC
    CHECK(conflicts({{4, 1}, {300, 11'000}, {4, 11'000}, {300, 11'000}, {4, 11'000}}).empty());  // over hours: moved
    CHECK(conflicts({{4, 1}, {300, 1}, {4, 1}, {300, 1}}, kSite, kLinkLocal)
              .empty());                                                   // of another subnet, by two routers
    CHECK(conflicts({{4, 1}, {0xffff, 1}, {4, 1}, {0xffff, 1}}).empty());  // the permissive LID
    CHECK(conflicts({{4, 1}, {0, 1}, {4, 1}, {0, 1}}).empty());
}

TEST_CASE("GIDs: without a GRH, of two captures, and more than there is room for") {
    LinkAnalysis none;
    std::int64_t time = 1'700'000'000'000'000'000;
    for (const unsigned lid : {4U, 300U, 4U, 300U})
        none.put({time += 1'000'000, link_packet({.words = 20, .source = lid})});
    CHECK(none.analysis.finish().reachability.gids.empty());

    GidTracker tracker;
    Observation observation;
    observation.encapsulation = Encapsulation::native;
    observation.flow.source.space = AddressSpace::infiniband_gid;
    observation.flow.source.bits = {0xfe80000000000000, 1};
    for (std::uint64_t i = 0; i < 8; ++i) {
        observation.link_destination = i % 2 == 0 ? 4 : 300;
        observation.file = static_cast<std::uint16_t>(i % 2);
        observation.time = Instant{static_cast<std::int64_t>(i)};
        tracker.observe(observation);
    }
    for (std::uint64_t i = 0; i < kMaxGids + 5; ++i) {
        observation.flow.source.bits[1] = 2 + i;
        tracker.observe(observation);
    }
    std::uint64_t left_out = 1;
    CHECK(tracker.finish(left_out).empty());
    CHECK(left_out == 1 + 5 + 2);
}
