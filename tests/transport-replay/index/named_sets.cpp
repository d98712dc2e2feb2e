// Sets of packets by name in display filters: what is taken, what is refused and where, and which packets they have.
#include <tests/support/catch.hpp>
#include <tests/support/set_frames.hpp>
#include <transport-replay/index/event_frames.hpp>
#include <transport-replay/index/named_sets.hpp>
#include <transport-replay/model/timeline.hpp>

using namespace qps::transport;
using qps::dissect::Filter;
using qps::dissect::FrameIndex;
using qps::tests::frames_of;
using Frames = std::vector<std::uint64_t>;

namespace {

bool names_sets(std::string_view text) {
    const auto filter = Filter::compile(text, set_names());
    REQUIRE(filter);
    return !filter->sets().empty();
}

}  // namespace

TEST_CASE("filters name sets, and only where they do") {
    CHECK(names_sets("rdma.message == 3"));
    CHECK(names_sets("ip and (rdma.finding)"));
    CHECK_FALSE(names_sets("rdma.message.completed == 1"));
    CHECK_FALSE(names_sets("infiniband.payload contains \"rdma.message == 3\""));
    CHECK_FALSE(Filter::compile("xrdma.message == 3", set_names()));
    CHECK_FALSE(Filter::compile("rdma.finding"));
    CHECK_FALSE(names_sets("rdma.message"));
    CHECK_FALSE(names_sets("rdma.message > 3"));
    CHECK(names_sets("rdma.message > 3 and rdma.message != 5"));
    CHECK_FALSE(names_sets(""));
}

TEST_CASE("sets are written as values are, with or without blanks and quotes") {
    const CaptureIndex index;
    const Timeline timeline;
    for (const std::string text : {"rdma.message == 3", "rdma.message==12 and ip", "not (rdma.finding)",
                                   "rdma.finding != ack-timeout or tcp", "rdma.finding == \"go-back-n-loss\"",
                                   "rdma.message eq 0x10", "rdma.message ne 1 && rdma.finding eq ack-timeout"}) {
        INFO(text);
        CHECK(names_sets(text));
        CHECK(Filter::compile(text, sets_of(index, timeline)).has_value());
    }
}

TEST_CASE("what is no member of a set is refused at its place") {
    struct Wrong {
        std::string text;
        std::size_t column;
        std::string message;
    };
    for (const Wrong& wrong :
         {Wrong{"rdma.message == ", 17, "missing value"}, Wrong{"ip and rdma.message == x", 24, "expected the number"},
          Wrong{"rdma.finding == nobody", 17, "no finding is called 'nobody'"},
          Wrong{"rdma.finding == \"\"", 17, "no finding is called ''"}}) {
        INFO(wrong.text);
        const auto filter = Filter::compile(wrong.text, set_names());
        REQUIRE_FALSE(filter);
        CHECK(filter.error().column == wrong.column);
        CHECK(filter.error().message.find(wrong.message) != std::string::npos);
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
    const CaptureIndex index;
    const auto sets = sets_of(index, timeline);
    CHECK(frames_of("rdma.finding == cm-rejected", sets) == Frames{7, 9});
    CHECK(frames_of("rdma.finding", sets) == Frames{7, 9});
    CHECK(frames_of("rdma.finding != cm-rejected and frame.number < 10", sets) == Frames{1, 2, 3, 4, 5, 6, 8});
    CHECK(frames_of("rdma.message == 1", sets).empty());
    CHECK(frames_of("rdma.message != 1 and frame.number < 3", sets) == Frames{1, 2});
}

TEST_CASE("a set is as large as it is, whatever its numbers would take as text") {
    Timeline timeline;
    Finding& finding = timeline.findings.emplace_back();
    finding.id = "cm-rejected";
    for (std::uint64_t frame = 2; frame <= 100'000; frame += 2) finding.events.push_back({FrameIndex{frame}});
    const CaptureIndex index;
    CHECK(frames_of("rdma.finding == cm-rejected", sets_of(index, timeline)) == Frames{2, 4, 6, 8, 10, 12});
}
