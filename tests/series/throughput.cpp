// Sums of bins are the totals, whatever the bins.
#include <tests/series/rows.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/series/throughput.hpp>

#include <random>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

Throughput all_of(const CaptureIndex& index, const Range& range) {
    const auto made = throughput(index, {}, range);
    REQUIRE(made);
    return *made;
}

}  // namespace

TEST_CASE("Widths are 1, 2 and 5 of powers of ten", "[series][throughput]") {
    CHECK(bin_width(Duration{100'000}, 100) == Duration{1000});
    CHECK(bin_width(Duration{100'001}, 100) == Duration{2000});
    CHECK(bin_width(Duration{1'000'000'000}, 1000) == Duration{1'000'000});
    CHECK(bin_width(Duration{4'500'000'000}, 1000) == Duration{5'000'000});
    CHECK(bin_width(Duration{INT64_MAX}, 1) == Duration{5'000'000'000'000'000'000});
    CHECK(bin_width(Duration{0}, 0) == kFinestBin);
    CHECK(wider(Duration{5000}) == Duration{10'000});
    CHECK(wider(Duration{20}) == Duration{50});
}

TEST_CASE("What each kind of packet adds", "[series][throughput]") {
    Rows rows;
    const auto amount = [&](FrameIndex frame) { return amount_of(rows.index.row(frame)); };
    CHECK(amount(rows.request(0, 1)) == Amount{1074, 1000, 0, 1, 0, 0, 0, 0});
    CHECK(amount(rows.retransmission(0, 1)) == Amount{1074, 0, 1074, 1, 0, 0, 0, 0});
    CHECK(amount(rows.answer(0, 1)) == Amount{74, 0, 0, 1, 0, 0, 0, 0});
    CHECK(amount(rows.answer(0, 1, kSequenceNak)) == Amount{74, 0, 0, 1, 0, 0, 1, 0});
    CHECK(amount(rows.answer(0, 1, kRnrNak)) == Amount{74, 0, 0, 1, 0, 0, 0, 1});
    CHECK(amount(rows.answer(0, 1, kAck, kReadOnly)) == Amount{1074, 1000, 0, 1, 0, 0, 0, 0});
    CHECK(amount(rows.notification(0)) == Amount{74, 0, 0, 1, 0, 1, 0, 0});
    Observation corrupt = rows.observation(0, kSendOnly, 1);
    corrupt.icrc = CrcStatus::bad;
    corrupt.congestion_experienced = true;
    CHECK(amount(rows.add(corrupt, rows.record(End::a))) == Amount{1074, 0, 0, 1, 1, 0, 0, 0});
    PacketRecord copy = rows.record(End::b);
    copy.mirror_copy = true;
    CHECK(amount(rows.add(rows.observation(0, kCnp, 1), copy)) == Amount{74, 0, 0, 1, 0, 0, 0, 0});
    PacketRecord unasked = rows.record(End::b);
    unasked.unmatched = true;
    CHECK(amount(rows.add(rows.observation(0, kReadOnly, 1), unasked)).goodput == 0);
}

TEST_CASE("Sums of bins are the total, at every width", "[series][throughput]") {
    Rows rows;
    std::mt19937 random(1);
    Amount total;
    for (int i = 0; i < 3000; ++i) {
        const auto time = static_cast<std::int64_t>(random() % 3'000'000);
        total +=
            amount_of(rows.index.row(random() % 4 == 0 ? rows.retransmission(time, 1) : rows.answer(time, 1, kRnrNak)));
    }
    const Range range{Instant{0}, Instant{3'000'000}};
    const Throughput made = all_of(rows.index, range);
    CHECK(made.width() == kFinestBin);
    CHECK(made.bins() == 3000);
    CHECK(made.total() == total);
    for (const std::size_t fold : {1U, 2U, 5U, 7U, 1000U, 5000U}) {
        Amount sum;
        Instant next = range.from;
        for (const auto& bar : made.bars(range, fold)) {
            CHECK(bar.from == next);
            next = next + bar.width;
            sum += bar.amount;
        }
        CHECK(next == range.to);
        CHECK(sum == total);
    }
    CHECK(made.fold_for(Duration{3'000'000}, 100) == 50);
    CHECK(made.fold_for(Duration{3'000'000}, 3000) == 1);
    const auto part = made.bars({Instant{1'500'500}, Instant{1'500'600}}, 2);
    REQUIRE(part.size() == 1);
    CHECK(part[0].from == Instant{1'500'000});
}

TEST_CASE("A range, a way, hits: others do not count", "[series][throughput]") {
    Rows rows;
    rows.request(1000, 1);
    rows.answer(2000, 1);
    rows.notification(2500);
    rows.connection = kTwo;
    const FrameIndex hit = rows.request(3000, 1);
    rows.request(9000, 1);
    const Range range{Instant{0}, Instant{9000}};
    CHECK(all_of(rows.index, range).total().packets == 4);
    Scope way;
    way.add(kOne, End::a);
    CHECK(throughput(rows.index, way, range)->total() == Amount{1074 + 74, 1000, 0, 2, 0, 1, 0, 0});
    Scope other_way;
    other_way.add(kOne, End::b);
    CHECK(throughput(rows.index, other_way, range)->total().packets == 1);
    RowSet hits;
    hits.set(hit, true);
    Scope found;
    found.only(&hits);
    CHECK(throughput(rows.index, found, range)->total().packets == 1);
    found.add(kOne);
    CHECK(throughput(rows.index, found, range)->total().packets == 0);
}

TEST_CASE("Nothing, centuries, and somebody who wants it no more", "[series][throughput]") {
    Rows rows;
    CHECK_FALSE(whole(rows.index));
    CHECK(all_of(rows.index, {}).bins() == 0);
    CHECK(all_of(rows.index, {}).bars({Instant{0}, Instant{5}}, 1).empty());
    rows.request(0, 1);
    rows.request(kLongestTime - 1, 2);
    Observation timeless = rows.observation(77, kSendOnly, 1);
    timeless.has_time = false;
    rows.add(timeless, rows.record(End::a));
    const auto range = whole(rows.index);
    REQUIRE(range == Range{Instant{0}, Instant{kLongestTime}});
    const Throughput made = all_of(rows.index, *range);
    CHECK(made.bins() <= kMaxBins);
    CHECK(made.total().packets == 2);
    CHECK(made.bars(*range, made.fold_for(range->length(), 10)).size() <= 10);
    CHECK_FALSE(throughput(rows.index, {}, *range, [] { return true; }));
}
