// Bins of an I/O graph: their widths, what they come to, and that it ends when it is told to.
#include <tests/series/rows.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/series/io_graph.hpp>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

TEST_CASE("Widths of an I/O graph are as asked, unless there were too many bins", "[series][io]") {
    CHECK(graph_width(Duration{1'000'000}, Duration{1000}) == Duration{1000});
    CHECK(graph_width(Duration{1'000'000'000}, Duration{1000}) == Duration{20'000});
    for (const std::int64_t range :
         {std::int64_t{0}, std::int64_t{999}, std::int64_t{1'000'000'000}, std::int64_t{INT64_MAX}}) {
        const std::int64_t automatic = std::to_underlying(graph_width(Duration{range}, Duration{}));
        REQUIRE(automatic > 0);
        CHECK(range / automatic <= 500);
        CHECK(range / std::to_underlying(graph_width(Duration{range}, Duration{1})) <
              static_cast<std::int64_t>(kMostGraphBins));
    }
}

TEST_CASE("Packets of rows come to what they are in each bin", "[series][io]") {
    auto index = std::make_shared<CaptureIndex>();
    Rows rows;
    for (const std::int64_t time : {0, 500, 1500, 3999})
        static_cast<void>(
            index->packets.append(PacketRow(0, 0, rows.observation(time, kSendOnly, 1), rows.record(End::a))));
    const std::array<GraphSeries, 4> asked{GraphSeries{{}, Measure::packets, {}}, GraphSeries{{}, Measure::bytes, {}},
                                           GraphSeries{{}, Measure::bits_per_second, {}},
                                           GraphSeries{*Filter::compile("frame.number == 3"), Measure::packets, {}}};
    const Range range{Instant{0}, Instant{4000}};
    const auto graph = io_graph(index, 4, asked, range, Duration{1000});
    REQUIRE(graph);
    REQUIRE(graph->bins() == 4);
    const auto values = [&](std::size_t line) {
        std::vector<double> all;
        for (const GraphBin& bin : graph->lines[line].bins) all.push_back(bin.value);
        return all;
    };
    CHECK(values(0) == std::vector<double>{2, 1, 0, 1});
    CHECK(values(1) == std::vector<double>{2148, 1074, 0, 1074});
    CHECK(values(2).front() == Catch::Detail::Approx(2148 * 8e6));
    CHECK(values(3) == std::vector<double>{0, 1, 0, 0});
    CHECK(graph->lines[3].packets == 1);
    CHECK(graph->begin_of(3) == Instant{3000});
    CHECK_FALSE(io_graph(index, 4, asked, range, Duration{1000}, {[] { return true; }, nullptr}));
}

TEST_CASE("Only fields of numbers can be measured", "[series][io]") {
    for (const char* name : {"frame.len", "infiniband.bth.psn", "rdma.latency", "frame.time_relative"}) {
        const auto field = column(name);
        if (!field) continue;
        CAPTURE(name);
        CHECK(is_numeric(*field));
    }
    CHECK_FALSE(is_numeric(*column("ip.src")));
    CHECK_FALSE(is_numeric(*column("eth.src")));
    CHECK(measure_rows().size() == 9);
    for (std::size_t i = 0; i < measure_rows().size(); ++i)
        CHECK(static_cast<std::size_t>(measure_rows()[i].measure) == i);
}
