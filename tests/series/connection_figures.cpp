// Latencies, depth and activity of connections, and sums of pairs of hosts, from messages and rows whose truth is
// known.
#include <tests/support/catch.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/connection_times.hpp>
#include <transport-replay/series/host_matrix.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

using namespace qps::transport;
using namespace qps::transport::series;
using qps::dissect::Duration;
using qps::dissect::Instant;

TEST_CASE("percentiles of latencies are order statistics: exact of few values, within 0.8 % of many") {
    std::mt19937_64 random(7);
    struct Spread {
        unsigned bits;
        int values;
        double error;
    };
    // The widest has more bins than are kept, so that they are coarser.
    for (const auto& [bits, count, error] :
         {Spread{40, 64, 0}, Spread{4, 5000, 0}, Spread{16, 5000, 0.008}, Spread{62, 5000, 0.032}}) {
        LatencySketch sketch;
        std::vector<std::int64_t> values;
        for (int i = 0; i < count; ++i) {
            values.push_back(static_cast<std::int64_t>(random() >> (64 - bits)) >> (random() % bits));
            sketch.add(Duration{values.back()});
        }
        std::ranges::sort(values);
        CHECK(sketch.count() == values.size());
        for (const double percent : {1.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
            const auto rank = static_cast<std::size_t>(std::ceil(static_cast<double>(values.size()) * percent / 100));
            const auto exact = static_cast<double>(values[std::max<std::size_t>(1, rank) - 1]);
            const auto said = static_cast<double>(std::to_underlying(sketch.percentile(percent)));
            CAPTURE(bits, percent, exact, said);
            CHECK(std::abs(said - exact) <= exact * error);
        }
    }
    LatencySketch negative;
    negative.add(Duration{-5});
    CHECK(negative.percentile(0) == Duration{0});
    CHECK(LatencySketch{}.percentile(50) == Duration{});
}

TEST_CASE("sketches of latencies add up to what one of all values is, in any order") {
    std::mt19937_64 random(11);
    for (const int count : {10, 60, 65, 130, 4000}) {
        std::vector<Duration> values;
        for (int i = 0; i < count; ++i)
            values.push_back(Duration{static_cast<std::int64_t>(random() >> (20 + random() % 40))});
        LatencySketch whole, reversed;
        std::array<LatencySketch, 3> parts;
        for (const Duration value : values) whole.add(value);
        std::ranges::reverse(values);
        for (const Duration value : values) {
            reversed.add(value);
            parts[random() % parts.size()].add(value);
        }
        LatencySketch sum = parts[2];
        sum.add(parts[0]);
        sum.add(parts[1]);
        CAPTURE(count);
        CHECK((sum.is_sound() && whole.is_sound() && sum.count() == whole.count()));
        for (double percent = 0; percent <= 100; percent += 0.5) {
            CHECK(sum.percentile(percent) == whole.percentile(percent));
            CHECK(reversed.percentile(percent) == whole.percentile(percent));
        }
    }
}

TEST_CASE("how many messages were outstanding at once") {
    constexpr ConnectionId kId{3};
    const auto depth = [](std::vector<std::pair<int, int>> messages) {
        ConnectionTimes times;
        for (const auto& [first, answer] : messages)
            times.add(kId, End::b, Outcome::completed, Instant{first}, Instant{answer});
        return (*times.find(kId))[1].depth;
    };
    CHECK(depth({{0, 10}, {10, 20}, {20, 30}}) == 1);          // one after the other
    CHECK(depth({{0, 10}, {1, 11}, {2, 12}, {11, 20}}) == 3);  // three at once, then two
    CHECK(depth({{0, 10}, {1, 10}, {2, 10}, {3, 10}}) == 4);   // an ACK for all
    ConnectionTimes none;
    none.add(kId, End::a, Outcome::open, Instant{0}, Instant{0});
    CHECK(none.find(kId) == nullptr);
    none.add(kId, End::a, Outcome::failed, Instant{0}, Instant{5});
    CHECK((*none.find(kId))[0].latencies.count() == 0);
    CHECK((*none.find(kId))[0].depth == 1);
}

TEST_CASE("pairs of hosts are sums of connections, in the direction of requests") {
    Timeline timeline;
    const auto host = [](std::uint64_t number) {
        return Address{{0, 0xffff'0a00'0000 + number}, AddressSpace::roce_v2};
    };
    const auto add = [&](std::uint64_t a, std::uint64_t b, std::uint64_t bytes, std::uint64_t lost) {
        Connection& connection = timeline.connections.emplace_back();
        connection.uid = ConnectionId{static_cast<std::uint32_t>(timeline.connections.size())};
        connection.ends[0].address = host(a);
        connection.ends[1].address = host(b);
        connection.ways[0].packets = 1;
        connection.ways[0].bytes = bytes;
        connection.ways[0].incidents.made().gaps.network = lost;
        connection.ways[0].incidents.made().recovery(RecoveryKind::timeout).lost = Duration{7};
    };
    add(2, 1, 100, 3);
    add(2, 1, 50, 1);
    add(1, 3, 10, 0);
    ConnectionTimes times;
    times.add(ConnectionId{1}, End::a, Outcome::completed, Instant{0}, Instant{1000});
    times.add(ConnectionId{2}, End::a, Outcome::completed, Instant{0}, Instant{5000});
    const HostMatrix matrix(timeline, times);
    REQUIRE(matrix.hosts().size() == 3);
    CHECK(matrix.pairs().size() == 2);
    const HostPair* pair = matrix.find(1, 0);
    REQUIRE(pair != nullptr);
    CHECK(pair->connections == 2);
    CHECK(pair->bytes == 150);
    CHECK(pair->lost == 4);
    CHECK(pair->stalled == Duration{14});
    CHECK(pair->p99 == Duration{5000});  // no bin tells more than the longest
    CHECK(matrix.find(0, 1) == nullptr);
    REQUIRE(matrix.find(0, 2) != nullptr);
    CHECK(matrix.find(0, 2)->p99 == Duration{});
    CHECK(matrix.left_out() == 0);
}

TEST_CASE("hosts past the bound are those with the fewest bytes") {
    Timeline timeline;
    for (std::uint32_t i = 0; i < HostMatrix::kMostHosts + 10; ++i) {
        Connection& connection = timeline.connections.emplace_back();
        connection.uid = ConnectionId{i + 1};
        connection.ends[0].address = Address{{1, i}, AddressSpace::roce_v2};
        connection.ends[1].address = Address{{1, i}, AddressSpace::roce_v2};
        connection.ways[0].packets = 1;
        connection.ways[0].bytes = i + 1;
    }
    const HostMatrix matrix(timeline, ConnectionTimes{});
    CHECK(matrix.hosts().size() == HostMatrix::kMostHosts);
    CHECK(matrix.left_out() == 10);
    CHECK(matrix.hosts().front().bits[1] == 10);
}
