// Connections have one number: what had another one until it was known whose other way it is, is named by its
// connection where the end of the capture is known.
#include <dissect/capture/capture_file.hpp>
#include <tests/support/late_pairs.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/analysis/annotator.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/numbering.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <vector>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

using Numbered = std::vector<std::pair<std::uint32_t, End>>;  // of each packet; 0: none

// What an analysis in so many lanes says of each packet that was told the numbers.
Numbered numbered(const std::string& path, std::size_t lanes, const FinalNumbers& numbers, Timeline& timeline) {
    ShardedAnalysis analysis({.numbers = numbers}, lanes, true);
    ShardedBatch batch(lanes);
    Numbered all;
    const auto take = [&](const Observation&, const PacketRecord& record, std::size_t) {
        all.emplace_back(std::to_underlying(record.connection.value_or(ConnectionId{})), record.from);
        return true;
    };
    qps::tests::for_each_packet(path, [&](const Packet& packet) {
        batch.clear();
        batch.add(packet);
        analysis.gate(batch);
        for (std::size_t lane = 0; lane < lanes; ++lane) analysis.follow(batch, lane);
        analysis.visit(batch, take);
    });
    timeline = analysis.finish();
    return all;
}

}  // namespace

TEST_CASE("connections count without the flows that became a part of others") {
    // 2 became a part of 1, 4 of 3; 5 is no connection.
    const std::vector<JoinedFlow> parts{
        {ConnectionId{4}, ConnectionId{3}}, {ConnectionId{2}, ConnectionId{1}}, {ConnectionId{5}, {}}};
    const auto settled = [](const FinalNumbers& numbers, std::uint32_t given) {
        ConnectionId connection{given};
        End end = End::a;
        numbers.settle(connection, end);
        return std::pair(std::to_underlying(connection), end);
    };
    const FinalNumbers dense = number_connections(parts, ConnectionId{9}, Numbering::dense);
    CHECK(settled(dense, 1) == std::pair(1U, End::a));
    CHECK(settled(dense, 2) == std::pair(1U, End::b));
    CHECK(settled(dense, 3) == std::pair(2U, End::a));
    CHECK(settled(dense, 4) == std::pair(2U, End::b));
    CHECK(settled(dense, 5).first == 0);
    CHECK(settled(dense, 6) == std::pair(3U, End::a));
    CHECK(settled(dense, 9) == std::pair(6U, End::a));
    for (const std::uint32_t given : {1U, 3U, 6U, 7U, 8U, 9U}) CHECK_FALSE(dense.is_part(ConnectionId{given}));
    for (const std::uint32_t given : {2U, 4U, 5U}) CHECK(dense.is_part(ConnectionId{given}));
    CHECK(given_numbers(dense, ConnectionId{6}) == std::vector{ConnectionId{0}, ConnectionId{1}, ConnectionId{3},
                                                               ConnectionId{6}, ConnectionId{7}, ConnectionId{8},
                                                               ConnectionId{9}});
    // Who has shown the numbers that were given keeps them.
    const FinalNumbers kept = number_connections(parts, ConnectionId{9}, Numbering::kept);
    CHECK(settled(kept, 4) == std::pair(3U, End::b));
    CHECK(settled(kept, 6) == std::pair(6U, End::a));
    CHECK(given_numbers(kept, ConnectionId{3}) ==
          std::vector{ConnectionId{0}, ConnectionId{1}, ConnectionId{2}, ConnectionId{3}});
    CHECK_FALSE(number_connections({}, ConnectionId{9}, Numbering::dense).any());
}

TEST_CASE("what is known so far has the numbers that packets were given") {
    const qps::test::TemporaryFolder folder;
    const std::string path = folder.file("late.pcap");
    qps::tests::write_late_pairs(path, qps::tests::ThirdPair::yes);
    Analysis analysis;
    Observation observation;
    qps::tests::for_each_packet(path, [&](const Packet& packet) {
        observe(packet, observation);
        static_cast<void>(analysis.observe(observation));
    });
    CHECK(analysis.so_far().connections.back().uid == ConnectionId{5});
    CHECK(analysis.finish().connections.back().uid == ConnectionId{3});
}

TEST_CASE("a flow of answers that was paired late has the number of its connection where the end is known") {
    const qps::test::TemporaryFolder folder;
    const std::string path = folder.file("late.pcap");
    qps::tests::write_late_pairs(path, qps::tests::ThirdPair::yes);
    Timeline timeline;
    const Numbered provisional = numbered(path, 1, {}, timeline);
    REQUIRE(timeline.connections.size() == qps::tests::kLatePairs + 1);
    REQUIRE(provisional.size() == qps::tests::kLatePackets + qps::tests::kPacketsOfThird);
    CHECK(std::ranges::count(provisional, 3U, &Numbered::value_type::first) != 0);
    CHECK(std::ranges::count(provisional, 5U, &Numbered::value_type::first) != 0);
    CHECK(timeline.numbers.any());
    for (std::uint32_t number = 1; number <= timeline.connections.size(); ++number)
        CHECK(timeline.connections[number - 1].uid == ConnectionId{number});

    Numbered expected;
    for (std::uint32_t packet = 0; packet < 12; ++packet)
        expected.emplace_back(packet % 2 + 1, packet < 6 ? End::a : End::b);
    expected.emplace_back(2, End::a);
    expected.emplace_back(2, End::b);
    for (std::uint32_t packet = 0; packet < qps::tests::kPacketsOfThird; ++packet)
        expected.emplace_back(3, packet % 2 == 0 ? End::a : End::b);
    for (const std::size_t lanes : {1U, 2U, 3U}) {
        Timeline again;
        CHECK(numbered(path, lanes, timeline.numbers, again) == expected);
    }
    SECTION("an annotator") {
        Annotator annotator({.numbers = timeline.numbers});
        std::size_t at = 0;
        qps::tests::for_each_packet(path, [&](Packet& packet) {
            annotator.annotate(packet);
            CHECK(packet.annotation->connection == expected[at].first);
            CHECK(std::to_underlying(*packet.annotation->from) == std::to_underlying(expected[at].second));
            ++at;
        });
    }
    SECTION("an index") {
        const ReadIndex read = read_index({.files = {path}, .jobs = {2}, .spool_folder = folder.path()}, {});
        for (std::size_t at = 0; at < expected.size(); ++at) {
            const PacketRow& row = read.index->packets[at];
            CHECK(row.connection() == ConnectionId{expected[at].first});
            CHECK(row.from() == expected[at].second);
        }
        // Of each way, as many packets as the connection counts.
        for (const Connection& connection : read.outcome.timeline.connections)
            for (const End end : {End::a, End::b})
                CHECK(static_cast<std::uint64_t>(
                          std::ranges::count(expected, std::pair(std::to_underlying(connection.uid), end))) ==
                      connection.way(end).packets);
    }
}
