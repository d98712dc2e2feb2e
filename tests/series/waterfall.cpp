// Where the time of messages went: their parts, and which of them a part of the time shows.
#include <tests/series/rows.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/series/waterfall.hpp>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

PartSpan part(MessagePart which, std::int64_t from, std::int64_t to, FrameIndex frame) {
    return {which, Instant{from}, Instant{to}, frame};
}
std::vector<std::uint64_t> messages(const Waterfall::Chosen& chosen) {
    std::vector<std::uint64_t> all;
    for (const Waterfall::Extent& extent : chosen.extents) all.push_back(extent.message);
    return all;
}
constexpr Range kAlways{Instant{0}, Instant{1'000'000}};

}  // namespace

TEST_CASE("A message sent again has its waits and both sendings", "[series][waterfall]") {
    Rows rows;
    const FrameIndex first = rows.request(10, 0, kSendFirst);
    rows.request(20, 1, kSendMiddle);
    rows.request(30, 2, kSendLast);
    rows.answer(45, 1, kSequenceNak);
    const FrameIndex again = rows.retransmission(60, 1, kSendMiddle);
    rows.retransmission(70, 2, kSendLast);
    const FrameIndex once_more = rows.retransmission(85, 1, kSendMiddle);
    const FrameIndex rest = rows.retransmission(90, 2, kSendLast);
    const FrameIndex answer = rows.answer(100, 2);
    rows.message({first, rest, answer}, Verb::send, 3, 3000);

    const auto made = waterfall(rows.index, {});
    REQUIRE(made);
    const auto chosen = made->choose(kAlways, WaterfallOrder::time, 10);
    REQUIRE(chosen.extents.size() == 1);
    const WaterfallRow row = made->row(rows.index, chosen.extents[0]);
    CHECK(row.time == Range{Instant{10}, Instant{100}});
    CHECK_FALSE(row.cut);
    CHECK(row.parts == std::vector{part(MessagePart::request, 10, 30, first), part(MessagePart::wait, 30, 60, again),
                                   part(MessagePart::retransmission, 60, 70, again),
                                   part(MessagePart::wait, 70, 85, once_more),
                                   part(MessagePart::retransmission, 85, 90, once_more),
                                   part(MessagePart::responder, 90, 100, answer)});
    CHECK_FALSE(waterfall(rows.index, {}, [] { return true; }));
}

TEST_CASE("A READ waits for its responder until the first response", "[series][waterfall]") {
    Rows rows;
    const FrameIndex first = rows.request(10, 0, kReadRequest);
    const FrameIndex response = rows.answer(50, 0, kAck, kReadOnly);
    const FrameIndex answer = rows.answer(80, 1, kAck, kReadOnly);
    rows.message({first, first, answer}, Verb::read_request, 2, 2000);
    const auto made = waterfall(rows.index, {});
    REQUIRE(made);
    const WaterfallRow row = made->row(rows.index, made->choose(kAlways, WaterfallOrder::time, 1).extents.at(0));
    CHECK(row.parts == std::vector{part(MessagePart::request, 10, 10, first),
                                   part(MessagePart::response, 50, 80, response),
                                   part(MessagePart::responder, 10, 50, answer)});
}

TEST_CASE("A part of the time shows the messages on their way in it, or the longest of them", "[series][waterfall]") {
    Rows rows;
    for (std::uint32_t i = 0; i < 6; ++i) {  // from 100 i on, i longest
        const FrameIndex first = rows.request(100 * i, i);
        const FrameIndex answer = rows.answer(100 * i + 10 * (i + 1), i);
        rows.message({first, first, answer}, Verb::send, 1, 10);
    }
    const auto made = waterfall(rows.index, {});
    REQUIRE(made);
    CHECK(messages(made->choose(kAlways, WaterfallOrder::time, 3)) == std::vector<std::uint64_t>{0, 1, 2});
    CHECK(messages(made->choose(kAlways, WaterfallOrder::latency, 3)) == std::vector<std::uint64_t>{5, 4, 3});
    CHECK(made->choose(kAlways, WaterfallOrder::latency, 3).all == 6);
    const Range part{Instant{215}, Instant{301}};
    CHECK(messages(made->choose(part, WaterfallOrder::time, 10)) == std::vector<std::uint64_t>{2, 3});
    CHECK(made->choose(part, WaterfallOrder::latency, 0).all == 2);
    Scope other;
    other.add(kTwo);
    CHECK(waterfall(rows.index, other)->empty());
}

TEST_CASE("Of a message as long as the capture so many packets are looked at", "[series][waterfall]") {
    Rows rows;
    const FrameIndex first = rows.request(0, 0, kSendFirst);
    FrameIndex last{};
    const auto psns = static_cast<std::uint32_t>(Waterfall::kMostLooked + 10);
    for (std::uint32_t i = 1; i < psns; ++i) last = rows.request(i, i, kSendMiddle);
    rows.message({first, last, {}}, Verb::send, psns, 100, Outcome::open);
    const auto made = waterfall(rows.index, {});
    REQUIRE(made);
    const WaterfallRow row = made->row(rows.index, made->choose(kAlways, WaterfallOrder::time, 1).extents.at(0));
    CHECK(row.cut);
    CHECK(row.time.to == Instant{static_cast<std::int64_t>(Waterfall::kMostLooked) - 1});
}
