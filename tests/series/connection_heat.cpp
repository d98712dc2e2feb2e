// What connections had over time: every event is in one cell of its connection, at every width.
#include <tests/series/rows.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/series/connection_heat.hpp>
#include <transport-replay/series/throughput.hpp>

#include <numeric>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

constexpr Range kFirst{Instant{0}, Instant{1'000'000}};

std::uint64_t sum_of(const std::vector<HeatCell>& cells) {
    return std::accumulate(cells.begin(), cells.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const HeatCell& cell) { return sum + cell.value; });
}

void add_retransmissions(Rows& rows) {
    rows.request(5000, 1);
    rows.retransmission(10'000, 1);
    rows.connection = kTwo;
    rows.retransmission(20'000, 1);
    rows.retransmission(25'000, 2);
    rows.retransmission(999'000, 3);
    rows.retransmission(1'000'000, 4);  // behind the range
}

}  // namespace

TEST_CASE("The connection with most of it stands first, with a cell for each piece of time", "[series][heat]") {
    Rows rows;
    add_retransmissions(rows);
    const auto heat = connection_heat(rows.index, HeatOf::retransmissions, kFirst, Duration{100'000});
    REQUIRE(heat);
    REQUIRE(heat->rows.size() == 2);
    CHECK(heat->rows[0].connection == kTwo);
    CHECK(heat->rows[0].value == 3);
    CHECK(heat->rows[1].connection == kOne);
    CHECK(heat->left_out == 0);
    CHECK(heat->cells ==
          std::vector<HeatCell>{{0, 0, 2, FrameIndex{3}}, {0, 9, 1, FrameIndex{5}}, {1, 0, 1, FrameIndex{2}}});
    CHECK(heat->begin_of(9) == Instant{900'000});
    for (const std::uint32_t fold : {1U, 2U, 3U, 10U, 5000U})
        CHECK(sum_of(heat->folded(fold, HeatOf::retransmissions)) == 4);
    CHECK(heat->folded(10, HeatOf::retransmissions).size() == 2);
}

TEST_CASE("Each measure counts its own packets", "[series][heat]") {
    Rows rows;
    rows.request(1, 1);
    rows.answer(2, 1, kSequenceNak);
    rows.answer(3, 1, kRnrNak);
    rows.notification(4);
    Observation marked = rows.observation(5, kSendOnly, 2);
    marked.congestion_experienced = true;
    rows.add(marked, rows.record(End::a));
    const auto sum = [&](HeatOf of) { return sum_of(connection_heat(rows.index, of, kFirst, Duration{1})->cells); };
    CHECK(sum(HeatOf::naks) == 2);
    CHECK(sum(HeatOf::congestion) == 2);
    CHECK(sum(HeatOf::bytes) == 1074 + 74 + 74 + 74 + 1074);
    CHECK(sum(HeatOf::retransmissions) == 0);
    CHECK(connection_heat(rows.index, HeatOf::retransmissions, kFirst, Duration{1})->rows.empty());
}

TEST_CASE("A cell of latencies is the longest, and leads to its message", "[series][heat]") {
    Rows rows;
    for (const auto& [begin, end] : {std::pair{10'000, 20'000}, std::pair{15'000, 45'000}, std::pair{30'000, 31'000},
                                     std::pair{500'000, 600'000}}) {
        const FrameIndex first = rows.request(begin, 1);
        rows.message({first, first, rows.answer(end, 1)}, Verb::send, 1, 1000);
    }
    const auto heat = connection_heat(rows.index, HeatOf::latency, kFirst, Duration{100'000});
    REQUIRE(heat);
    CHECK(heat->cells == std::vector<HeatCell>{{0, 0, 30'000, FrameIndex{3}}, {0, 5, 100'000, FrameIndex{7}}});
    CHECK(heat->rows[0].value == 100'000);
    CHECK(heat->folded(10, HeatOf::latency) == std::vector<HeatCell>{{0, 0, 100'000, FrameIndex{7}}});
}

TEST_CASE("Centuries and many connections stay within the bounds", "[series][heat]") {
    Rows rows;
    for (std::uint32_t i = 0; i < kMostHeatRows + 5; ++i) {
        rows.connection = ConnectionId{i + 1};
        rows.retransmission(static_cast<std::int64_t>(i), 1);
    }
    const Range ages{Instant{0}, Instant{INT64_MAX}};
    const auto heat = connection_heat(rows.index, HeatOf::retransmissions, ages, Duration{1});
    REQUIRE(heat);
    CHECK(heat->rows.size() == kMostHeatRows);
    CHECK(heat->left_out == 5);
    CHECK(heat->cells.size() == kMostHeatRows);
    CHECK(heat->width >= bin_width(ages.length(), kMostHeatBins));
    CHECK(connection_heat(rows.index, HeatOf::bytes, {Instant{5}, Instant{5}}, Duration{1})->cells.empty());
    CHECK_FALSE(connection_heat(rows.index, HeatOf::bytes, ages, Duration{1}, [] { return true; }));
}
