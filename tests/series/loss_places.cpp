// Where packets were lost: the sums of the connections of a pair of hosts, by stretches.
#include <tests/support/catch.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/loss_places.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

Address machine(std::uint64_t number) { return {{0, number}, AddressSpace::roce_v2}; }

Connection& between(Timeline& timeline, std::uint64_t from, std::uint64_t to) {
    Connection& connection = timeline.connections.emplace_back();
    connection.uid = ConnectionId{static_cast<std::uint32_t>(timeline.connections.size())};
    connection.ends[0].address = machine(from);
    connection.ends[1].address = machine(to);
    connection.ways[0].packets = 100;
    connection.ways[1].packets = 10;
    return connection;
}

}  // namespace

TEST_CASE("Losses stand on their stretch, summed over the connections of a pair", "[series][losses]") {
    Timeline timeline;
    Connection& first = between(timeline, 1, 2);
    first.ways[0].incidents.made().gaps.network = 3;
    first.ways[0].incidents.made().gaps.reordered = 2;
    first.ways[0].incidents.made().congestion_experienced = 7;
    Connection& second = between(timeline, 1, 2);
    second.ways[0].incidents.made().ordering.made().naks_of(NakCause::lost_behind_tap) = 20;
    second.ways[0].incidents.made().gaps.undecided = 5;
    second.ways[0].incidents.made().gaps.tap = 4;
    second.ways[0].incidents.made().corrupt = 1;
    const LossPlaces places = loss_places(timeline);
    REQUIRE(places.rows.size() == 1);
    const LossRow& row = places.rows[0];
    CHECK(row.from == machine(1));
    CHECK(row.connections == 2);
    CHECK(row.packets == 200);
    CHECK(row.before_tap.lost == 3);
    CHECK(row.before_tap.reordered == 2);
    CHECK(row.before_tap.marked == 7);
    CHECK(row.before_tap.corrupt == 1);
    CHECK(row.behind_tap.lost == 20);
    CHECK(row.undecided == 5);
    CHECK(row.by_capture == 4);
    CHECK(row.worst == ConnectionId{2});
    CHECK(places.quiet == 1);  // the answers
}

TEST_CASE("What one tap had and another had not is told of the way it went", "[series][losses]") {
    Timeline timeline;
    between(timeline, 1, 2);
    Recovery recovery;
    recovery.connection = ConnectionId{1};
    recovery.passed = HostNumber{1};
    recovery.missed = HostNumber{2};
    recovery.lost = 3;
    timeline.recoveries = {recovery, recovery};
    recovery.missed_answer = true;
    recovery.lost = 0;  // a timer tells of one
    timeline.recoveries.push_back(recovery);
    recovery.missed = HostNumber{};  // one tap alone tells nothing of a stretch
    timeline.recoveries.push_back(recovery);
    const LossPlaces places = loss_places(timeline);
    REQUIRE(places.rows.size() == 2);
    for (const LossRow& row : places.rows) {
        REQUIRE(row.between.size() == 1);
        CHECK(row.between[0].passed == HostNumber{1});
        CHECK(row.between[0].packets == (row.from == machine(1) ? 6 : 1));
    }
}

TEST_CASE("The worst pairs come first, and no more than the bound", "[series][losses]") {
    Timeline timeline;
    for (std::uint64_t i = 1; i <= kMostLossRows + 5; ++i)
        between(timeline, i, 1'000'000).ways[0].incidents.made().gaps.network = i;
    const LossPlaces places = loss_places(timeline);
    CHECK(places.rows.size() == kMostLossRows);
    CHECK(places.left_out == 5);
    CHECK(places.rows[0].before_tap.lost == kMostLossRows + 5);
    CHECK(loss_places({}).rows.empty());
}
