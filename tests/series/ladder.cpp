// Ladders of conversations made by hand, and where their lines lie.
#include <tests/series/rows.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/ladder_layout.hpp>
#include <transport-replay/series/psn_series.hpp>

#include <algorithm>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

// Two messages of two packets each that one ACK answers; the second packet of the first one was lost and sent again.
struct Conversation {
    Rows rows;
    Timeline timeline;
    LadderEntries entries;
    Conversation() {
        const FrameIndex first = rows.request(1000, 10, kSendFirst);
        const FrameIndex second = rows.request(2000, 12, kSendFirst);
        rows.connection = kTwo;
        rows.request(2500, 10);
        rows.connection = kOne;
        const FrameIndex nak = rows.answer(3000, 11, kSequenceNak);
        const FrameIndex again = rows.retransmission(9000, 11, kSendLast);
        const FrameIndex last = rows.request(9100, 13, kSendLast);
        const FrameIndex ack = rows.answer(9200, 13);
        rows.message({second, last, ack}, Verb::send, 2, 2000);
        rows.message({first, again, ack}, Verb::send, 2, 2048);
        const FrameIndex lonely = rows.request(20'000, 14);
        rows.message({lonely, lonely, {}}, Verb::send, 1, 0, Outcome::open);
        Recovery& recovery = timeline.recoveries.emplace_back();
        recovery.connection = kOne;
        recovery.requester = End::a;
        recovery.kind = RecoveryKind::sequence_nak;
        recovery.psn = Psn(11);
        recovery.trigger = nak;
        recovery.resumed = again;
        recovery.time = OrderedSpan{Instant{3000}};
        recovery.resumed_time = Instant{9000};
        recovery.time.end_at(Instant{9500});
        entries = LadderEntries::of(rows.index, kOne).value();
    }
    [[nodiscard]] Ladder drawn(std::size_t first, std::size_t end, const std::set<std::size_t>& expanded = {}) const {
        auto made = ladder(rows.index, timeline, entries, first, end, expanded);
        REQUIRE(made);
        return std::move(*made);
    }
};

std::vector<std::string> labels(const Ladder& ladder) {
    std::vector<std::string> found;
    for (const LadderLine& line : ladder.lines) found.push_back(line.label);
    return found;
}

using Labels = std::vector<std::string>;

}  // namespace

TEST_CASE("Messages stand in the order in which they began, each with its packets", "[series][ladder]") {
    const Conversation made;
    REQUIRE(made.entries.size() == 3);
    CHECK(made.entries.first_frame(0) == FrameIndex{1});
    CHECK(made.entries.first_frame(1) == FrameIndex{2});
    CHECK(made.entries.message(0) == 1U);  // it ended after the other
    CHECK(made.entries.position_of(FrameIndex{1}) == 0);
    CHECK(made.entries.position_of(FrameIndex{7}) == 1);
    CHECK(made.entries.position_of(FrameIndex{8}) == 2);
    CHECK(LadderEntries().position_of(FrameIndex{8}) == 0);
    CHECK(made.entries.entry_of(made.rows.index, FrameIndex{4}) == 0U);  // the NAK, of PSN 11
    CHECK(made.entries.entry_of(made.rows.index, FrameIndex{6}) == 1U);
    CHECK_FALSE(made.entries.entry_of(made.rows.index, FrameIndex{3}));  // of another connection
    CHECK_FALSE(made.entries.entry_of(made.rows.index, FrameIndex{99}));
    CHECK_FALSE(LadderEntries::of(made.rows.index, kOne, [] { return true; }));
}

TEST_CASE("What is of no message stands by itself", "[series][ladder]") {
    Rows rows;
    const FrameIndex first = rows.request(1000, 0, kSendFirst);
    const FrameIndex refused = rows.answer(2000, 0, kAccessNak);
    rows.message({first, first, refused}, Verb::send, 2, 1000, Outcome::failed);
    const FrameIndex behind = rows.request(3000, 1, kSendLast);
    const FrameIndex late = rows.answer(4000, 7, kRnrNak);
    const FrameIndex slowed = rows.notification(5000);
    const auto entries = LadderEntries::of(rows.index, kOne).value();
    REQUIRE(entries.size() == 4);
    CHECK(entries.entry_of(rows.index, refused) == 0U);
    CHECK(entries.entry_of(rows.index, behind) == 1U);
    CHECK_FALSE(entries.message(1));
    CHECK(entries.first_frame(2) == late);
    CHECK(entries.entry_of(rows.index, slowed) == 3U);
    const auto drawn = ladder(rows.index, {}, entries, 0, 4, {});
    REQUIRE(drawn);
    CHECK(labels(*drawn) == Labels{"SEND, 1,000 bytes, refused", "NAK, remote access error, PSN 0", "SEND LAST, PSN 1",
                                   "RNR NAK, PSN 7", "CNP"});
    CHECK(drawn->lines[2].single);
    CHECK(drawn->lines[3].tone == LadderTone::nak);
    CHECK(drawn->lines[4].tone == LadderTone::notification);
    CHECK(drawn->marks.empty());
}

TEST_CASE("A message that stands as one line marks its packets, and shows all that refuse", "[series][ladder]") {
    Rows rows;
    const FrameIndex first = rows.request(1000, 0, kSendFirst);
    const FrameIndex middle = rows.request(2000, 1, kSendMiddle);
    const FrameIndex nak = rows.answer(3000, 1, kRnrNak);
    const FrameIndex again = rows.retransmission(4000, 1, kSendMiddle);
    const FrameIndex another = rows.answer(5000, 1, kRnrNak);
    const FrameIndex last = rows.request(6000, 2, kSendLast);
    const FrameIndex ack = rows.answer(7000, 2);
    rows.message({first, last, ack}, Verb::send, 3, 3000);
    const auto entries = LadderEntries::of(rows.index, kOne).value();
    const auto drawn = ladder(rows.index, {}, entries, 0, 1, {});
    REQUIRE(drawn);
    std::vector<FrameIndex> lines, marks;
    for (const LadderLine& line : drawn->lines) lines.push_back(line.frame);
    for (const LadderMark& mark : drawn->marks) marks.push_back(mark.frame);
    CHECK(lines == std::vector{first, nak, another, ack});
    CHECK(marks == std::vector{middle, again, last});
    CHECK(drawn->marks[1].tone == LadderTone::retransmission);
    CHECK(drawn->unmarked == 0);
    const LadderLayout layout(*drawn, {});
    REQUIRE(layout.marks().size() == 3);
    CHECK(std::ranges::is_sorted(layout.marks()));
    CHECK(layout.marks().front() > layout.lines().front().top);
}

TEST_CASE("A message is a line, what answers several stands once", "[series][ladder]") {
    const Ladder drawn = Conversation().drawn(0, 3);
    CHECK(labels(drawn) == Labels{"SEND, 2 KiB", "SEND, 1.953 KiB", "NAK, PSN sequence error, PSN 11",
                                  "ACK, PSN 13, answers 2 messages", "SEND, not answered"});
    CHECK(drawn.lines[0].ends == Instant{9000});
    CHECK(drawn.lines[0].collapsed);
    CHECK(drawn.lines[0].entry == 0U);
    CHECK(drawn.lines[2].from == End::b);
    CHECK(drawn.lines[2].tone == LadderTone::nak);
    CHECK(drawn.lines[3].tone == LadderTone::acknowledgment);
    CHECK_FALSE(drawn.lines[3].entry);
    REQUIRE(drawn.waits.size() == 1);
    CHECK(drawn.waits[0].from == Instant{3000});
    CHECK(drawn.waits[0].to == Instant{9500});
}

TEST_CASE("A message that is expanded shows its packets, and no others", "[series][ladder]") {
    const Conversation made;
    const Ladder first = made.drawn(0, 1, {0});
    CHECK(labels(first) == Labels{"SEND FIRST, PSN 10", "NAK, PSN sequence error, PSN 11",
                                  "SEND LAST, PSN 11, retransmitted", "ACK, PSN 13"});
    CHECK(first.lines[0].heading);
    CHECK_FALSE(first.lines[0].collapsed);
    CHECK(first.lines[2].tone == LadderTone::retransmission);
    CHECK(first.lines[3].entry == 0U);
    CHECK(made.drawn(2, 9).lines.size() == 1);
    CHECK(made.drawn(3, 9).lines.empty());
    CHECK_FALSE(ladder(made.rows.index, made.timeline, made.entries, 0, 3, {0}, [] { return true; }));
}

TEST_CASE("A message of too many packets says that not all are shown", "[series][ladder]") {
    Rows rows;
    FrameIndex last{};
    for (std::size_t i = 0; i < kMaxMessagePackets + 10; ++i)
        last = rows.retransmission(static_cast<std::int64_t>(i), 5);
    rows.message({FrameIndex{1}, last, last}, Verb::send, 1, 10);
    const auto made = ladder(rows.index, {}, LadderEntries::of(rows.index, kOne).value(), 0, 1, {0});
    REQUIRE(made);
    CHECK(made->lines.size() == kMaxMessagePackets + 1);  // and what answered it
    CHECK(made->lines[0].label.ends_with(", only its first 4,096 packets shown"));
}

TEST_CASE("Lines lie to scale where there is room, and apart where there is not", "[series][ladder]") {
    Ladder drawn;
    for (const std::int64_t time : {0, 5000, 5000, 5100, 9000}) {
        LadderLine& line = drawn.lines.emplace_back();
        line.begins = line.ends = Instant{time};
    }
    drawn.lines[0].ends = Instant{9000};
    const LadderLayout layout(drawn, {.scale = 0.01, .line = 10, .longest_gap = 1000, .broken_gap = 20});
    const auto& lines = layout.lines();
    REQUIRE(lines.size() == 5);
    CHECK(lines[0].top == Approx(0));
    CHECK(lines[1].top == Approx(50));
    CHECK(lines[2].top == Approx(60));
    CHECK(lines[3].top == Approx(70));
    CHECK(lines[4].top == Approx(109));  // 39 below the one before, as the scale has it
    CHECK(lines[0].bottom == Approx(109));
    CHECK(layout.height() == Approx(109));
    CHECK(layout.breaks().empty());
    CHECK(layout.y_of(Instant{2500}) == Approx(25));
    CHECK(layout.y_of(Instant{-5}) == Approx(0));
    CHECK(layout.y_of(Instant{99'999}) == Approx(109));
    CHECK(layout.time_at(25) == Instant{2500});
    CHECK(layout.time_at(-3) == Instant{0});
    CHECK(layout.time_at(500) == Instant{9000});
}

TEST_CASE("Long silences are broken and say how long they are", "[series][ladder]") {
    Ladder drawn;
    for (const std::int64_t time : {0, 1'000'000, 1'000'500}) {
        LadderLine& line = drawn.lines.emplace_back();
        line.begins = line.ends = Instant{time};
    }
    drawn.waits.push_back({End::a, Instant{0}, Instant{1'000'000}, RecoveryKind::timeout, {}, {}, ""});
    const LadderLayout layout(drawn, {.scale = 0.1, .line = 10, .longest_gap = 100, .broken_gap = 30});
    REQUIRE(layout.breaks().size() == 1);
    CHECK(layout.breaks()[0].length == Duration{1'000'000});
    CHECK(layout.breaks()[0].top == Approx(0));
    CHECK(layout.breaks()[0].bottom == Approx(30));
    CHECK(layout.lines()[2].top == Approx(80));
    REQUIRE(layout.waits().size() == 1);
    CHECK(layout.waits()[0].bottom == Approx(30));
}

TEST_CASE("Nothing has no height, and centuries have a little", "[series][ladder]") {
    const LadderLayout nothing(Ladder{}, {});
    CHECK(nothing.height() == Approx(0));
    CHECK(nothing.y_of(Instant{5}) == Approx(0));
    CHECK(nothing.time_at(5) == Instant{0});
    Ladder drawn;
    for (const std::int64_t time : {INT64_MIN, INT64_MAX}) {
        LadderLine& line = drawn.lines.emplace_back();
        line.begins = line.ends = Instant{time};
    }
    const LadderLayout layout(drawn, {});
    CHECK(layout.height() == Approx(LadderMeasure{}.broken_gap));
    CHECK(layout.time_at(20) > Instant{INT64_MIN});
}

TEST_CASE("Whatever the times, no two labels overlap and nothing runs upwards", "[series][ladder]") {
    Ladder drawn;
    std::uint64_t seed = 7;
    for (int i = 0; i < 300; ++i) {
        seed = mix(seed);
        LadderLine& line = drawn.lines.emplace_back();
        line.begins = Instant{static_cast<std::int64_t>(seed % 200'000)};
        line.ends = line.begins + Duration{static_cast<std::int64_t>(seed >> 40 & 0x3fff)};
    }
    std::ranges::stable_sort(drawn.lines, {}, &LadderLine::begins);
    const LadderMeasure measure;
    const LadderLayout layout(drawn, measure);
    for (std::size_t i = 0; i < drawn.lines.size(); ++i) {
        REQUIRE(layout.lines()[i].bottom >= layout.lines()[i].top);
        if (i != 0) REQUIRE(layout.lines()[i].top - layout.lines()[i - 1].top >= measure.line - 1e-9);
    }
}

TEST_CASE("a ladder of Ultra Ethernet names its packets as they are") {
    CaptureIndex index;
    Timeline timeline;
    Indexing indexing;
    indexing.files = {std::string(QPSCOPE_SOURCE_DIR) + "/captures/ultra_ethernet_paths/capture.pcap"};
    timeline = build_index(index, indexing, {}).timeline;
    const auto messages = LadderEntries::of(index, kOne);
    REQUIRE(messages);
    const auto closed = ladder(index, timeline, *messages, 0, 2, {});
    REQUIRE(closed);
    CHECK(closed->lines.front().label == "WRITE, 1 KiB");
    const auto open = ladder(index, timeline, *messages, 0, 2, {0, 1});
    REQUIRE(open);
    const Labels all = labels(*open);
    CHECK(std::ranges::none_of(all, [](const std::string& label) { return label.contains("SEND"); }));
    CHECK(std::ranges::count_if(all, [](const std::string& label) { return label.starts_with("RUD request, PSN "); }) >=
          8);
    CHECK(std::ranges::count_if(all, [](const std::string& label) { return label.ends_with(", retransmitted"); }) >= 1);
    CHECK(std::ranges::count_if(open->lines, [](const LadderLine& line) {
              return line.tone == LadderTone::acknowledgment && line.label.starts_with("ACK, PSN ");
          }) >= 1);

    const auto psns = psn_series(index, timeline, kOne, End::a);
    REQUIRE(psns);
    CHECK(psns->of(PsnMark::retransmission).size() == 11);
    CHECK(psns->of(PsnMark::request).size() + psns->of(PsnMark::retransmission).size() == 107);
    CHECK(psn_series(index, timeline, kOne, End::b)->of(PsnMark::request).empty());
}
