// Sets of packets by name in display filters: what is taken, what is refused and where, and what stands in their place.
#include <dissect/filter/filter.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/index/event_frames.hpp>
#include <transport-replay/index/named_sets.hpp>
#include <transport-replay/model/timeline.hpp>

using namespace qps::transport;
using qps::dissect::Filter;
using qps::dissect::FrameIndex;

TEST_CASE("filters name sets, and only where they do") {
    CHECK(names_sets("rdma.message == 3"));
    CHECK(names_sets("ip and (rdma.finding)"));
    CHECK_FALSE(names_sets("rdma.message.completed == 1"));
    CHECK_FALSE(names_sets("infiniband.payload contains \"rdma.message == 3\""));
    CHECK_FALSE(names_sets("xrdma.message == 3"));
    CHECK_FALSE(names_sets("rdma.message"));
    CHECK_FALSE(names_sets("rdma.message > 3"));
    CHECK(names_sets("rdma.message > 3 and rdma.message != 5"));
    CHECK_FALSE(names_sets(""));
}

TEST_CASE("without its sets a filter compiles, with every character in its place") {
    for (const std::string text : {"rdma.message == 3", "rdma.message==12 and ip", "not (rdma.finding)",
                                   "rdma.finding != ack-timeout or tcp", "rdma.finding == \"go-back-n-loss\"",
                                   "rdma.message eq 0x10", "rdma.message ne 1 && rdma.finding eq ack-timeout"}) {
        INFO(text);
        const auto plain = without_sets(text);
        REQUIRE(plain);
        CHECK(plain->size() == text.size());
        CHECK(Filter::compile(*plain).has_value());
        CHECK(Filter::compile(with_frames(text, CaptureIndex{}, Timeline{})).has_value());
    }
}

TEST_CASE("what is no member of a set is refused at its place") {
    struct Wrong {
        std::string text;
        std::size_t column;
        std::string message;
    };
    for (const Wrong& wrong : {Wrong{"rdma.message == ", 17, "a message is compared"},
                               Wrong{"ip and rdma.message == x", 24, "expected the number"},
                               Wrong{"rdma.finding == nobody", 17, "no finding is called 'nobody'"},
                               Wrong{"rdma.finding == ", 17, "no finding is called ''"}}) {
        INFO(wrong.text);
        const auto plain = without_sets(wrong.text);
        REQUIRE_FALSE(plain);
        CHECK(plain.error().column == wrong.column);
        CHECK(plain.error().message.find(wrong.message) != std::string::npos);
    }
}

TEST_CASE("the events of a finding are its episodes when they were noticed, its marked packets, else its own events") {
    Timeline timeline;
    for (const std::uint64_t trigger : {30U, 10U, 20U})
        timeline.recoveries.emplace_back().trigger = FrameIndex{trigger};
    Finding finding;
    finding.id = "go-back-n-loss";
    finding.connection = ConnectionId{1};
    finding.episodes = {0, 1};
    finding.events = {{FrameIndex{7}}};
    CHECK(event_frames(finding, timeline, CaptureIndex{}) == std::vector{FrameIndex{10}, FrameIndex{30}});
    finding.id = "cm-rejected";
    finding.episodes = {};
    finding.events = {{FrameIndex{9}}, {FrameIndex{7}}, {FrameIndex{}}, {FrameIndex{9}}};
    CHECK(event_frames(finding, timeline, CaptureIndex{}) == std::vector{FrameIndex{7}, FrameIndex{9}});
    timeline.findings = {finding};
    CHECK(with_frames("ip and rdma.finding == cm-rejected", CaptureIndex{}, timeline) ==
          "ip and (frame.number in {7, 9})");
    CHECK(with_frames("rdma.finding != cm-rejected", CaptureIndex{}, timeline) == "(not frame.number in {7, 9})");
    CHECK(with_frames("rdma.message == 1", CaptureIndex{}, timeline) == "(frame.number == 0)");
}
