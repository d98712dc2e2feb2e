// Latencies, depth and activity of connections, and sums of pairs of hosts, from messages and rows whose truth is known.
#include <tests/support/catch.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/connection_times.hpp>
#include <transport-replay/series/host_matrix.hpp>

#include <algorithm>
#include <random>

using namespace qps::transport;
using namespace qps::transport::series;
using qps::dissect::Duration;
using qps::dissect::Instant;

TEST_CASE("bins of latencies are right within an eighth, and within twice however wide values spread") {
    std::mt19937_64 random(7);
    for (const unsigned bits : {4U, 20U, 40U, 62U}) {
        LatencyBins bins;
        std::vector<std::int64_t> values;
        for (int i = 0; i < 5000; ++i) {
            values.push_back(static_cast<std::int64_t>(random() >> (64 - bits)) >> (random() % bits));
            bins.add(Duration{values.back()});
        }
        std::ranges::sort(values);
        CHECK(bins.count() == values.size());
        for (const unsigned percent : {1U, 50U, 90U, 99U, 100U}) {
            const std::int64_t exact = values[std::max<std::size_t>(1, (values.size() * percent + 99) / 100) - 1];
            const std::int64_t told = std::to_underlying(bins.percentile(percent));
            CAPTURE(bits, percent, exact, told);
            CHECK(told >= exact);
            CHECK(static_cast<double>(told) <= static_cast<double>(exact) * 2 + 1);
        }
    }
    LatencyBins narrow;
    for (int i = 0; i < 1000; ++i) narrow.add(Duration{100'000 + i * 100});
    CHECK(std::to_underlying(narrow.percentile(50)) >= 149'900);
    CHECK(std::to_underlying(narrow.percentile(50)) <= 149'900 * 9 / 8);
    narrow.add(Duration{-5});
    CHECK(narrow.percentile(0) == Duration{0});
    CHECK(LatencyBins{}.percentile(50) == Duration{});
}

TEST_CASE("bins of latencies add up") {
    LatencyBins one;
    LatencyBins other;
    for (int i = 1; i <= 100; ++i) one.add(Duration{i});
    for (int i = 1; i <= 100; ++i) other.add(Duration{1'000'000});
    one.add(other);
    CHECK(one.count() == 200);
    CHECK(std::to_underlying(one.percentile(25)) <= 56);
    CHECK(std::to_underlying(one.percentile(75)) >= 1'000'000);
    CHECK(std::to_underlying(one.percentile(75)) <= 1'125'000);
}

TEST_CASE("how many messages were outstanding at once") {
    constexpr ConnectionId kId{3};
    const auto depth = [](std::vector<std::pair<int, int>> messages) {
        ConnectionTimes times;
        for (const auto& [first, answer] : messages) times.add(kId, End::b, Outcome::completed, Instant{first}, Instant{answer});
        return (*times.find(kId))[1].depth;
    };
    CHECK(depth({{0, 10}, {10, 20}, {20, 30}}) == 1);              // one after the other
    CHECK(depth({{0, 10}, {1, 11}, {2, 12}, {11, 20}}) == 3);      // three at once, then two
    CHECK(depth({{0, 10}, {1, 10}, {2, 10}, {3, 10}}) == 4);       // an ACK for all
    ConnectionTimes none;
    none.add(kId, End::a, Outcome::open, Instant{0}, Instant{0});
    CHECK(none.find(kId) == nullptr);
    none.add(kId, End::a, Outcome::failed, Instant{0}, Instant{5});
    CHECK((*none.find(kId))[0].latencies.count() == 0);
    CHECK((*none.find(kId))[0].depth == 1);
}

TEST_CASE("pairs of hosts are sums of connections, in the direction of requests") {
    Timeline timeline;
    const auto host = [](std::uint64_t number) { return Address{{0, 0xffff'0a00'0000 + number}, AddressSpace::roce_v2}; };
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
