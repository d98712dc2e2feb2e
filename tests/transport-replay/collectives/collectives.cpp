// Collectives by shape: rings with and without a straggler, all-to-all, incast; and what is no collective.
#include <tests/support/catch.hpp>
#include <tests/support/collective_traffic.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/collectives/collective_shape.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/json.hpp>

#include <nlohmann/json.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

std::vector<CollectiveEdge> ring_edges(std::uint32_t ranks) {
    std::vector<CollectiveEdge> edges;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) edges.push_back({rank, (rank + 1) % ranks});
    return edges;
}
std::vector<CollectiveEdge> both_ways(std::vector<CollectiveEdge> edges) {
    const std::size_t count = edges.size();
    for (std::size_t i = 0; i < count; ++i) edges.push_back({edges[i].destination, edges[i].source});
    return edges;
}

}  // namespace

TEST_CASE("collectives: shapes by who sends to whom") {
    CHECK(shape_of(2, both_ways({{0, 1}})) == CollectivePattern::pair);
    CHECK(shape_of(4, ring_edges(4)) == CollectivePattern::ring);
    CHECK(shape_of(3, ring_edges(3)) == CollectivePattern::ring);
    CHECK(shape_of(8, both_ways(ring_edges(8))) == CollectivePattern::ring_both_ways);
    std::vector<CollectiveEdge> all, doubling;
    for (std::uint32_t a = 0; a < 8; ++a)
        for (std::uint32_t b = 0; b < 8; ++b) {
            if (a != b) all.push_back({a, b});
            if (std::has_single_bit(a ^ b)) doubling.push_back({a, b});
        }
    CHECK(shape_of(8, all) == CollectivePattern::all_to_all);
    CHECK(shape_of(8, doubling) == CollectivePattern::recursive_doubling);
    CHECK(shape_of(7, both_ways({{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}, {2, 6}})) == CollectivePattern::tree);
    std::vector<CollectiveEdge> star;
    for (std::uint32_t leaf = 1; leaf < 8; ++leaf) star.push_back({0, leaf});
    CHECK_FALSE(shape_of(8, star));
    CHECK_FALSE(shape_of(8, both_ways(star)));
    CHECK_FALSE(shape_of(3, both_ways({{0, 1}, {0, 2}})));
    CHECK(groups_of(5, std::vector<CollectiveEdge>{{3, 1}, {4, 2}}) == std::vector<std::uint32_t>{0, 1, 2, 1, 2});
}

TEST_CASE("collectives: a ring of NCCL, its steps and its rates") {
    for (const unsigned ranks : {4U, 8U}) {
        RingPlan plan{.ranks = ranks};
        CollectiveTraffic traffic = ring_traffic(plan);
        const CollectiveReport report = traffic.report();
        REQUIRE(report.collectives.size() == 1);
        const Collective& ring = report.collectives[0];
        CHECK(ring.pattern == CollectivePattern::ring);
        CHECK(ring.made_by == CollectiveLibrary::nccl);
        CHECK(ring.certainty > 90);
        CHECK(ring.ranks.size() == ranks);
        CHECK(ring.connections == ranks);
        CHECK(ring.steps.size() == plan.steps);
        CHECK(ring.step_bytes == std::uint64_t{plan.chunk} * ranks * 2 * (ranks - 1));
        CHECK(ring.between.mean() > Duration{1'900'000});
        CHECK_FALSE(ring.straggler);
        CHECK_FALSE(ring.incast);
        // chunks of 16 packets of 4 KiB, 400 ns each, and 2 us on the way: about 64 Gbit/s
        CHECK(ring.bus_rate > 40e9);
        CHECK(ring.bus_rate < 82e9);
        const double result = ring.bus_rate * ranks / (2 * (ranks - 1));
        CHECK(ring.algorithm_rate == Approx(result));
    }
}

TEST_CASE("collectives: who begins late, step after step, is the straggler") {
    for (const unsigned ranks : {4U, 8U})
        for (const std::int64_t late_by : {std::int64_t{150'000}, std::int64_t{600'000}, std::int64_t{3'500'000}}) {
            INFO(ranks << " ranks, " << late_by << " ns late");
            CollectiveTraffic traffic = ring_traffic({.ranks = ranks, .late = 2, .late_by = late_by});
            const CollectiveReport report = traffic.report();
            REQUIRE(report.collectives.size() == 1);
            const Collective& ring = report.collectives[0];
            REQUIRE(ring.straggler.has_value());
            CHECK(ring.ranks[ring.straggler->rank].address == host(3));
            CHECK(ring.straggler->delay == CollectiveDelay::starts);
            CHECK(ring.straggler->steps >= 18);
            CHECK(ring.straggler->confidence >= 90);
            CHECK(ring.straggler->share >= 5);
            CHECK_FALSE(ring.straggler->frames.empty());
        }
}

TEST_CASE("collectives: whose packets take longer than the others' is the straggler") {
    CollectiveTraffic traffic = ring_traffic({.ranks = 8, .slow = 5, .slow_by = 4});
    const CollectiveReport report = traffic.report();
    REQUIRE(report.collectives.size() == 1);
    const Collective& ring = report.collectives[0];
    REQUIRE(ring.straggler.has_value());
    CHECK(ring.ranks[ring.straggler->rank].address == host(6));
    CHECK(ring.straggler->delay == CollectiveDelay::sends);
    CHECK(ring.straggler->share > 50);
    CHECK(ring.ranks[5].rate < 0.3 * ring.ranks[4].rate);
    CHECK(ring.straggler->steps >= 18);
}

TEST_CASE("collectives: jitter makes no straggler, of whichever rank") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CollectiveTraffic traffic = ring_traffic({.ranks = 4, .steps = 40, .jitter = 600'000, .seed = seed});
        const CollectiveReport report = traffic.report();
        REQUIRE(report.collectives.size() == 1);
        INFO("seed " << seed);
        CHECK_FALSE(report.collectives[0].straggler);
    }
}

TEST_CASE(
    "collectives: the whole analysis names the pattern, the straggler and what to do, in words and for programs") {
    CollectiveTraffic traffic = ring_traffic({.ranks = 4, .steps = 12, .late = 1, .late_by = 500'000});
    const Timeline timeline = traffic.timeline();
    CHECK(timeline.connections.size() == 4);
    REQUIRE(timeline.collectives.collectives.size() == 1);
    CHECK(timeline.collectives.collectives[0].made_by == CollectiveLibrary::nccl);
    const auto found = std::ranges::find(timeline.findings, "collective-straggler", &Finding::id);
    REQUIRE(found != timeline.findings.end());
    CHECK(found->summary.find("NCCL ring of 4 ranks") != std::string::npos);
    CHECK(found->summary.find("10.0.0.2 was the last to start") != std::string::npos);

    std::string text;
    write_report(timeline, OutputFormat::json, {}, {}, [&](std::string_view piece) { text += piece; });
    const nlohmann::json collective = nlohmann::json::parse(text)["collectives"][0];
    CHECK(collective["pattern"] == "ring");
    CHECK(collective["library"] == "NCCL");
    CHECK(collective["straggler"]["address"] == "10.0.0.2");
    CHECK(collective["straggler"]["delay"] == "starts");
    CHECK(collective["ranks"].size() == 4);
    CHECK(collective["steps"].size() == 12);
    CHECK(collective["steps"][5]["last_to_start"] == "10.0.0.2");
}

TEST_CASE("collectives: without a library the steps must be alike, and without steps nothing is said") {
    CollectiveTraffic steps = ring_traffic({.ranks = 8, .nccl = false});
    const CollectiveReport report = steps.report();
    REQUIRE(report.collectives.size() == 1);
    CHECK(report.collectives[0].made_by == CollectiveLibrary::unknown);
    CHECK(report.collectives[0].certainty < 90);
    CHECK(report.collectives[0].steps.size() == 20);

    // The same hosts and ways, but each sends when it likes and as much as it likes.
    CollectiveTraffic random;
    Jitter jitter(3);
    for (unsigned rank = 0; rank < 8; ++rank)
        for (std::int64_t time = 0; time < 100'000'000; time += 100'000 + jitter.below(4'000'000))
            random.write(time, rank + 1, (rank + 1) % 8 + 1,
                         static_cast<std::uint32_t>(4096 + jitter.below(1'000'000)));
    CHECK(random.report().collectives.empty());
}

TEST_CASE("collectives: all-to-all, at once with incast and in pairs without") {
    CollectiveTraffic at_once = all_to_all_traffic(8, 12, 65536, true);
    const CollectiveReport report = at_once.report();
    REQUIRE(report.collectives.size() == 1);
    const Collective& all = report.collectives[0];
    CHECK(all.pattern == CollectivePattern::all_to_all);
    CHECK(all.steps.size() == 12);
    CHECK(all.step_bytes == 8 * 7 * 65536);
    CHECK_FALSE(all.straggler);
    REQUIRE(all.incast.has_value());
    CHECK(all.incast->senders == 7);
    CHECK(all.incast->steps == 12);

    CollectiveTraffic in_turn = all_to_all_traffic(8, 12, 65536, false);
    const CollectiveReport pairs = in_turn.report();
    REQUIRE(pairs.collectives.size() == 1);
    CHECK(pairs.collectives[0].pattern == CollectivePattern::all_to_all);
    CHECK_FALSE(pairs.collectives[0].incast);
}

TEST_CASE("collectives: storage and single pairs are none, however regular") {
    CollectiveTraffic star;  // seven clients write to one server in step
    for (int step = 0; step < 30; ++step)
        for (unsigned client = 2; client <= 8; ++client) star.write(step * 2'000'000, client, 1, 131072);
    CHECK(star.report().collectives.empty());

    CollectiveTraffic pair;  // perftest
    for (int step = 0; step < 30; ++step) {
        pair.write(step * 2'000'000, 1, 2, 131072);
        pair.write(step * 2'000'000, 2, 1, 131072);
    }
    CHECK(pair.report().collectives.empty());

    CollectiveTraffic known = ring_traffic({});  // hosts that are each other's storage
    UlpReport ulp;
    for (std::uint32_t uid = 1; uid <= 8; ++uid) ulp.conversations.emplace_back().connection = ConnectionId{uid};
    CHECK(known.report(ulp).collectives.empty());
}

TEST_CASE("collectives: two ranks of NCCL are a pair") {
    CollectiveTraffic traffic;
    for (int step = 0; step < 10; ++step) {
        traffic.nccl(1'000'000 + step * 2'000'000, 1, 2, 262144);
        traffic.nccl(1'000'000 + step * 2'000'000, 2, 1, 262144);
    }
    const CollectiveReport report = traffic.report();
    REQUIRE(report.collectives.size() == 1);
    CHECK(report.collectives[0].pattern == CollectivePattern::pair);
    CHECK(report.collectives[0].made_by == CollectiveLibrary::nccl);
    CHECK(report.collectives[0].steps.size() == 10);
}

TEST_CASE("collectives: libraries by the habits of their messages") {
    const auto packet = [](Opcode opcode, std::initializer_list<int> bytes, std::size_t length) {
        static std::vector<std::byte> held;
        held.assign(length, std::byte{});
        std::ranges::transform(bytes, held.begin(), [](int byte) { return static_cast<std::byte>(byte); });
        Observation observation;
        observation.opcode = opcode;
        observation.payload = held;
        observation.payload_length = static_cast<std::uint32_t>(length);
        return observation;
    };
    constexpr Opcode kSend{0x04}, kRead{0x0c}, kWrite{0x0a};
    TrafficSignature ucx;
    for (int i = 0; i < 5; ++i) {
        ucx.take(packet(kSend, {9}, 60), End::a);
        ucx.take(packet(kRead, {}, 0), End::b);
        ucx.take(packet(kSend, {0x20 | 10}, 17), End::b);  // with a request for credits
    }
    CHECK(ucx.library() == CollectiveLibrary::ucx);
    TrafficSignature sends;  // of a test: zeros, or anything
    for (int i = 0; i < 50; ++i) sends.take(packet(kSend, {}, 64), End::a);
    for (int i = 0; i < 50; ++i) sends.take(packet(kSend, {'a' + i % 26}, 64), End::b);
    CHECK(sends.library() == CollectiveLibrary::unknown);
    TrafficSignature fabric;
    for (int i = 0; i < 5; ++i) {
        Observation observation = packet(kSend, {4, 0}, 200);
        std::vector<std::byte> bytes(observation.payload.begin(), observation.payload.end());
        bytes[32] = std::byte{3};
        bytes[34] = std::byte{1};
        bytes[40] = std::byte{136};
        observation.payload = bytes;
        fabric.take(observation, End::a);
    }
    CHECK(fabric.library() == CollectiveLibrary::libfabric);
    TrafficSignature writes;
    for (int i = 0; i < 50; ++i) writes.take(packet(kWrite, {}, 64), i % 2 == 0 ? End::a : End::b);
    CHECK(writes.library() == CollectiveLibrary::unknown);
}

TEST_CASE("collectives: any number of bursts is bounded, and a rhythm survives") {
    BurstList list;
    for (std::int64_t i = 0; i < 20'000; ++i)  // calls of 14 rounds, 30 us apart, and 1 ms between calls
        list.add(Instant{i / 14 * 1'500'000 + i % 14 * 30'000}, FrameIndex{static_cast<std::uint64_t>(i + 1)}, 1000);
    CHECK(list.bursts().size() <= BurstList::kMost);
    CHECK(list.bursts().size() >= BurstList::kFewest);
    CHECK(list.bytes() == 20'000'000);
    CHECK(list.bursts()[0].bytes == 14'000);
    CHECK(list.bursts()[5].bytes == 14'000);
    BurstList even;
    for (std::int64_t i = 0; i < 2000; ++i) even.add(Instant{i * 100'000}, FrameIndex{}, 1);
    CHECK(even.full());
    CHECK(even.bursts().size() == BurstList::kMost);
}
