// What several hosts send to one: who receives so, how much each sends, and what came of it.
#include <tests/series/rows.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/series/incast.hpp>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

Address node(std::uint64_t number) { return {{0, number}, AddressSpace::roce_v2}; }

// Connection `uid` from a host to another, with so many bytes each way.
void join(Timeline& timeline, std::uint32_t uid, std::uint64_t from, std::uint64_t to, std::uint64_t bytes,
          std::uint64_t answers) {
    Connection connection;
    connection.uid = ConnectionId{uid};
    connection.ends[0].address = node(from);
    connection.ends[1].address = node(to);
    connection.ways[0].bytes = bytes;
    connection.ways[1].bytes = answers;
    timeline.connections.push_back(connection);
}

constexpr Range kAlways{Instant{0}, Instant{1'000'000}};

}  // namespace

TEST_CASE("A receiver is who two others or more send data to", "[series][incast]") {
    Timeline timeline;
    join(timeline, 1, 1, 9, 1000, 10);  // answers are no data
    join(timeline, 2, 2, 9, 1000, 10);
    join(timeline, 3, 2, 9, 500, 10);  // the same sender once more
    join(timeline, 4, 1, 8, 5000, 4000);
    join(timeline, 5, 2, 8, 5000, 10);
    join(timeline, 6, 3, 8, 5000, 10);
    const auto receivers = incast_receivers(timeline);
    REQUIRE(receivers.size() == 2);
    CHECK(receivers[0].address == node(8));
    CHECK(receivers[0].senders == 3);
    CHECK(receivers[0].bytes == 15'000);
    CHECK(receivers[1].senders == 2);
    CHECK(receivers[1].bytes == 2500);
    timeline.congestion.incasts.emplace_back().destination = node(9);
    CHECK(incast_receivers(timeline)[0].address == node(9));
    CHECK(incast_receivers(timeline)[0].bursts == 1);
    CHECK(incast_receivers({}).empty());
}

TEST_CASE("Each sender has its own sums, and what came of it stands beside", "[series][incast]") {
    Timeline timeline;
    join(timeline, 1, 1, 9, 3000, 10);
    join(timeline, 2, 2, 9, 1000, 10);
    Rows rows;
    rows.request(1000, 1);
    rows.request(2000, 2);
    rows.connection = kTwo;
    const FrameIndex other = rows.request(3000, 7);
    const FrameIndex again = rows.retransmission(4000, 7);
    const FrameIndex nak = rows.answer(5000, 7, kSequenceNak);
    const FrameIndex wait = rows.answer(6000, 7, kRnrNak);
    rows.answer(6500, 7);  // an ACK says nothing of it
    const FrameIndex cnp = rows.notification(7000);
    const auto made = incast(rows.index, timeline, node(9), kAlways);
    REQUIRE(made);
    REQUIRE(made->senders.size() == 2);
    CHECK(made->senders[0].address == node(1));
    CHECK(made->senders[0].throughput.total().packets == 2);
    CHECK(made->senders[1].throughput.total().packets == 3);  // the CNP counts for the way that it slows
    CHECK(made->others == 0);
    CHECK(other != again);
    CHECK(made->retransmissions == std::vector{Point{Instant{4000}, 1, again}});
    CHECK(made->naks == std::vector{Point{Instant{5000}, 1, nak}});
    CHECK(made->rnr_naks == std::vector{Point{Instant{6000}, 1, wait}});
    CHECK(made->notifications == std::vector{Point{Instant{7000}, 1, cnp}});
    CHECK(made->marks.empty());
    CHECK(incast(rows.index, timeline, node(3), kAlways)->senders.empty());
    CHECK_FALSE(incast(rows.index, timeline, node(9), kAlways, [] { return true; }));
}

TEST_CASE("Senders past the bound are one", "[series][incast]") {
    Timeline timeline;
    Rows rows;
    for (std::uint32_t i = 1; i <= 10; ++i) {
        join(timeline, i, i, 99, 100 * i, 0);
        rows.connection = ConnectionId{i};
        rows.request(1000 * i, 1);
    }
    const auto made = incast(rows.index, timeline, node(99), kAlways);
    REQUIRE(made);
    REQUIRE(made->senders.size() == kMostIncastSenders - 1);
    CHECK(made->senders[0].address == node(10));
    CHECK(made->others == 10 - (kMostIncastSenders - 1));
    CHECK(made->rest.total().packets == made->others);
}
