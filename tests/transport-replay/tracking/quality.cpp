// What is wrong with a capture: copies of a mirror, clocks, cut packets, missing sides.
#include <dissect/capture/capture_file.hpp>
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/durations.hpp>
#include <tests/support/observations.hpp>
#include <transport-replay/tracking/quality.hpp>

#include <random>
#include <string>

#include <fmt/format.h>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

// A packet as a tap sees it.
struct Seen {
    std::uint64_t psn = 0;
    std::int64_t time = 0;
    std::uint64_t ip_id = 7;
    std::uint64_t hops = 64;
    std::uint32_t interface = 0;
    bool tagged = false;
    bool answer = false;
    std::size_t captured = std::dynamic_extent;
    std::uint32_t host = 1;
};

struct Tap {
    QualityTracker tracker;
    std::uint64_t frame = 0;

    Repetition see(const Seen& seen, Network network = Network::roce_v2_ipv4, std::uint8_t opcode = 0x04) {
        PacketSpec spec = transport_packet(Opcode{opcode}, network);
        set(spec, "infiniband.bth.psn", seen.psn);
        set(spec, "ip.id", seen.ip_id);
        set(spec, "ip.ttl", seen.hops);
        set(spec, "ipv6.hlim", seen.hops);
        if (seen.host != 1) set(spec, "ip.src", 0xc0000200 + seen.host * 16);
        if (seen.answer) {
            set(spec, "ip.src", 0xc0000202);
            set(spec, "ip.dst", 0xc0000201);
        }
        if (seen.tagged) insert_before(spec, LayerKind::ipv4, {{LayerKind::vlan}});
        const std::vector<std::byte> bytes = build(spec);
        Frame one = frame_of(spec, bytes, seen.captured);
        one.time = Instant{seen.time};
        one.index = FrameIndex{++frame};
        one.interface = InterfaceId{seen.interface};
        Packet packet;
        decode(one, packet);
        Observation observation;
        observe(packet, observation);
        return tracker.observe(observation);
    }
};

CaptureQuality read(std::string_view sample) {
    QualityTracker tracker;
    const Drops drops =
        qps::tests::for_each_observation(sample, [&](const Observation& observation) { tracker.observe(observation); });
    return tracker.finish(drops);
}

}  // namespace

TEST_CASE("a copy of the tracker goes its own way") {
    Tap tap;
    CHECK(tap.see({.psn = 1, .time = 0}) == Repetition::none);
    Tap copy = tap;
    CHECK(copy.see({.psn = 2, .time = 10}) == Repetition::none);
    CHECK(tap.see({.psn = 2, .time = 20, .hops = 63}) == Repetition::none);
    CHECK(copy.see({.psn = 1, .time = 30, .hops = 63}) == Repetition::other_tap);
    CHECK(tap.see({.psn = 1, .time = 30, .hops = 62}) == Repetition::other_tap);
    CHECK(copy.tracker.finish().packets == 3);
    CHECK(copy.see({.psn = 1, .time = 40, .hops = 63}) == Repetition::none);
}

TEST_CASE("a tracker that handed everything out keeps within the same memory") {
    constexpr std::uint64_t kTwoPairs = 2 * 50 * 1024 * 2;  // half of it is shared out, 2 % of that to pairs of 1 KiB
    Tap tap{.tracker = QualityTracker(MemoryBudget(kTwoPairs))};
    for (int round = 0; round < 2; ++round) {
        for (std::uint32_t host = 1; host <= 5; ++host) CHECK(tap.see({.psn = host, .host = host}) == Repetition::none);
        const CaptureQuality quality = tap.tracker.finish();
        CHECK(quality.host_pairs == 2);
        CHECK(quality.pairs_dropped == 3);
    }
}

TEST_CASE("another tap sees the same transmission") {
    Tap tap;
    CHECK(tap.see({.psn = 1, .time = 0}) == Repetition::none);
    CHECK(tap.see({.psn = 1, .time = 5 * kMicrosecond, .hops = 63}) == Repetition::other_tap);
    CHECK(tap.see({.psn = 2, .time = 6 * kMicrosecond}) == Repetition::none);
    CHECK(tap.see({.psn = 2, .time = 9 * kMicrosecond, .interface = 1, .tagged = true}) == Repetition::other_tap);
    const CaptureQuality quality = tap.tracker.finish();
    CHECK(quality.copies_of_other_taps == 2);
    CHECK(quality.least_copy_distance == Duration{3 * kMicrosecond});
    CHECK(quality.most_copy_distance == Duration{5 * kMicrosecond});
}

TEST_CASE("a retransmission is no copy at the first tap and one at the second") {
    Tap tap;
    for (const std::uint64_t id : {0U, 7U}) {  // identification 0: the retransmission has the same bytes
        const std::int64_t start = id == 0 ? 0 : 10 * kMillisecond;
        CHECK(tap.see({.psn = 1, .time = start, .ip_id = id}) == Repetition::none);
        CHECK(tap.see({.psn = 1, .time = start + 1, .ip_id = id, .hops = 63}) == Repetition::other_tap);
        const std::uint64_t again = id == 0 ? 0 : 8;
        CHECK(tap.see({.psn = 1, .time = start + 100, .ip_id = again}) ==
              (id == 0 ? Repetition::ambiguous : Repetition::none));
        CHECK(tap.see({.psn = 1, .time = start + 101, .ip_id = again, .hops = 63}) == Repetition::other_tap);
    }
}

TEST_CASE("the same datagram twice at one tap") {
    Tap tap;
    CHECK(tap.see({.psn = 1, .time = 0}) == Repetition::none);
    CHECK(tap.see({.psn = 1, .time = 1}) == Repetition::same_bytes);
    CHECK_FALSE(tap.tracker.is_mirror_duplicate(Repetition::same_bytes));
    CHECK(tap.see({.psn = 2, .time = 2}, Network::roce_v2_ipv6) == Repetition::none);
    CHECK(tap.see({.psn = 2, .time = 3}, Network::roce_v2_ipv6) == Repetition::ambiguous);
    CHECK(tap.see({.psn = 1, .time = 3 * kMillisecond}) == Repetition::none);  // too long ago
    const CaptureQuality quality = tap.tracker.finish();
    CHECK(quality.copies_of_same_tap == 1);
    CHECK(quality.ambiguous_repetitions == 1);
    CHECK_FALSE(quality.same_tap_systematic);
}

TEST_CASE("a port that mirrors both its directions doubles everything") {
    Tap tap;
    Repetition last = Repetition::none;
    for (std::uint64_t psn = 0; psn < 64; ++psn)
        for (const std::int64_t copy : {0, 1})
            last = tap.see({.psn = psn, .time = static_cast<std::int64_t>(psn) * 100 + copy, .ip_id = psn + 1});
    CHECK(last == Repetition::same_bytes);
    CHECK(tap.tracker.is_mirror_duplicate(last));
    const CaptureQuality quality = tap.tracker.finish();
    CHECK(quality.copies_of_same_tap == 64);
    CHECK(quality.same_tap_systematic);
}

TEST_CASE("clocks") {
    Tap tap;
    for (std::int64_t i = 0; i < 20; ++i) tap.see({.psn = 1, .time = 1'000'000'000 + i * 3000});
    tap.see({.psn = 1, .time = 1'000'000'000 + 10'000});
    tap.see({.psn = 1, .time = 1'000'000'000 + 9000});
    const CaptureQuality quality = tap.tracker.finish();
    CHECK(quality.clock_resolution == Duration{1000});
    CHECK(quality.backwards == 2);
    CHECK(quality.largest_step_back == Duration{47'000});
    CHECK(quality.largest_step_frame == FrameIndex{21});

    tap.see({.time = 5});
    CHECK_FALSE(tap.tracker.finish().clock_resolution);
}

TEST_CASE("a side that was never heard") {
    Tap tap;
    tap.see({.psn = 1});
    tap.see({.psn = 2}, Network::roce_v2_ipv6, 0x64);
    CaptureQuality quality = tap.tracker.finish();
    REQUIRE(quality.one_way.size() == 2);
    CHECK(text(quality.one_way[0].source) == "192.0.2.1");
    CHECK(quality.one_way[0].reliable);
    CHECK_FALSE(quality.one_way[1].reliable);

    tap.see({.psn = 1});
    tap.see({.psn = 1, .answer = true});
    quality = tap.tracker.finish();
    CHECK(quality.one_way.empty());
    CHECK(quality.host_pairs == 1);
}

TEST_CASE("packets of which the BTH is missing are unreadable") {
    Tap tap;
    tap.see({.captured = 48});
    const CaptureQuality quality = tap.tracker.finish();
    CHECK(quality.unreadable == 1);
    CHECK(quality.cut == 1);
}

TEST_CASE("any packets at any time: nothing breaks and everything is counted") {
    std::mt19937_64 random(4711);
    QualityTracker tracker;
    for (std::uint64_t i = 0; i < 50'000; ++i) {
        Observation observation;
        observation.kind = static_cast<ObservationKind>(random() % 5);
        observation.time = Instant{static_cast<std::int64_t>(random() % 16 == 0 ? random() : i * 700)};
        observation.flow = {
            {{0, random() % 4}, {}}, {{0, random() % 4}, {}}, Qpn{static_cast<std::uint32_t>(random() % 4)}};
        observation.psn = Psn(static_cast<std::uint32_t>(random() % 64));
        observation.hops = static_cast<std::uint8_t>(random() % 8);
        observation.cut = random() % 2 == 0;
        observation.icrc = static_cast<CrcStatus>(1 + random() % 3);
        tracker.observe(observation);
    }
    const CaptureQuality quality = tracker.finish();
    CHECK(quality.packets == 50'000);
    CHECK(quality.icrc_good + quality.icrc_bad + quality.icrc_not_checkable + quality.unreadable ==
          quality.rdma_packets);
    CHECK(quality.clock_resolution == Duration{1});
    CHECK(quality.least_copy_distance <= quality.most_copy_distance);
    CHECK(quality.most_copy_distance <= kMirrorTime);
}

TEST_CASE("sample captures: a sound one") {
    const CaptureQuality quality = read("rping_v4");
    CHECK(quality.packets > 0);
    CHECK(quality.cut == 0);
    CHECK(quality.copies() == 0);
    CHECK(quality.one_way.empty());
    CHECK(quality.icrc_good == quality.rdma_packets);
    CHECK(quality.backwards == 0);
    CHECK(quality.clock_resolution == Duration{1000});
    CHECK_FALSE(quality.drops.known);
}

TEST_CASE("sample captures: cut at 128 bytes") {
    const CaptureQuality quality = read("cut_128");
    CHECK(quality.cut > 0);
    CHECK(quality.longest_whole <= 128);
    CHECK(quality.shortest_cut > 128);
    CHECK(quality.icrc_not_checkable >= quality.cut);
}

TEST_CASE("sample captures: a network that doubles packets, and one that loses them") {
    const CaptureQuality doubled = read("dup_write");
    CHECK(doubled.copies_of_same_tap > 0);
    CHECK(doubled.copies_of_other_taps == 0);
    CHECK_FALSE(doubled.same_tap_systematic);
    const CaptureQuality lossy = read("loss_write");
    CHECK(lossy.copies() == 0);
    CHECK(lossy.ambiguous_repetitions == 0);
}
