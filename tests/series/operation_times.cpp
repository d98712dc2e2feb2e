// How long operations took, and where the time of those that moved data went.
#include <tests/series/rows.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/series/operation_times.hpp>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

struct Asked {
    FrameIndex frame{};
    std::int64_t at = 0;
    std::int64_t data = 0;  // 0: none moved
    std::int64_t data_end = 0;
    std::int64_t answered = 0;  // 0: never
};
void add(Rows& rows, const Asked& asked, std::uint64_t bytes = 4096) {
    UlpOperation operation;
    operation.connection = rows.connection;
    operation.protocol = UlpProtocol::nvme;
    operation.asked = Instant{asked.at};
    operation.asked_frame = asked.frame;
    operation.read = bytes;
    if (asked.data != 0) {
        operation.data_first = Instant{asked.data};
        operation.data_last = Instant{asked.data_end};
        operation.data_frame = FrameIndex{std::to_underlying(asked.frame) + 1};
    }
    if (asked.answered != 0) {
        operation.answered = Instant{asked.answered};
        operation.answered_frame = FrameIndex{std::to_underlying(asked.frame) + 2};
        operation.outcome = OperationOutcome::done;
    }
    REQUIRE(rows.index.operations.append(OperationRow(operation)));
}

}  // namespace

TEST_CASE("Operations that were answered are points, by the time they were asked", "[series][operations]") {
    Rows rows;
    std::vector<FrameIndex> frames;
    for (std::uint32_t i = 0; i < 12; ++i) frames.push_back(rows.request(100 * (i + 1), i));
    add(rows, {frames[3], 400, 450, 480, 600});
    add(rows, {frames[0], 100, 110, 120, 200}, 100'000);  // ended later, asked earlier
    add(rows, {frames[6], 700, 0, 0, 790});               // moved nothing
    add(rows, {frames[9], 1000});                         // never answered
    const auto times = operation_times(rows.index, {});
    REQUIRE(times);
    REQUIRE(times->points.size() == 3);
    CHECK(times->points[0].time == Instant{100});
    CHECK(times->points[0].y == 100);
    CHECK(times->points[0].bytes == 100'000);
    CHECK(times->points[1].frame == frames[3]);
    CHECK(times->points[2].y == 90);
    REQUIRE(times->parts.size() == 2);
    const auto all = times->mean({Instant{0}, Instant{2000}});
    CHECK(all.operations == 2);
    CHECK(all.parts == std::array<std::int64_t, 3>{(10 + 50) / 2, (10 + 30) / 2, (80 + 120) / 2});
    const auto second = times->mean({Instant{101}, Instant{2000}});
    CHECK(second.operations == 1);
    CHECK(second.parts == std::array<std::int64_t, 3>{50, 30, 120});
    CHECK(times->mean({Instant{101}, Instant{102}}).operations == 0);
    Scope other;
    other.add(kTwo);
    CHECK(operation_times(rows.index, other)->points.empty());
    CHECK_FALSE(operation_times(rows.index, {}, [] { return true; }));
}
