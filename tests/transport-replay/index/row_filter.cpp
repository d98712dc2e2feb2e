// What rows of an index say of a filter is what the packets say; sets of rows count and find as a plain list would.
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/index/row_fields.hpp>
#include <transport-replay/index/row_filter.hpp>

#include <random>
#include <set>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

std::shared_ptr<const CaptureIndex> indexed(const std::string& path) {
    auto index = std::make_shared<CaptureIndex>();
    static_cast<void>(build_index(*index, {.files = {path}, .jobs = {1}, .spool_folder = "/tmp"}, {}));
    return index;
}

// Filters on one indexed field each, in several forms, and some that mix.
std::vector<std::string> filters() {
    std::vector<std::string> texts{
        "infiniband",
        "udp",
        "infiniband.bth.opcode in {0..10} and not ip.src == 10.77.0.11",
        "rdma.connection == 1 && infiniband.reth.va > 0",
        "rdma.retransmission or infiniband.aeth.syndrome.opcode == NAK",
        "!(infiniband.bth.psn > 100) xor frame.len > 200",
        "frame.time_relative > 0.01 && rdma.icrc.status == good",
    };
    for (const IndexedField& field : row_fields()) {
        const std::string name(field.name);
        texts.push_back(name);
        if (name == "infiniband.bth") continue;
        for (const char* form : {" == 1", " != 1", " > 0", " <= 0", " in {0, 1}"}) texts.push_back(name + form);
        texts.push_back("not " + name + " == 1 and ip");
    }
    return texts;
}

}  // namespace

TEST_CASE("rows of every sample say of filters what the packets say") {
    std::vector<Filter> compiled;
    for (const std::string& text : filters()) {
        auto filter = Filter::compile(text);
        CAPTURE(text);
        REQUIRE(filter.has_value());
        compiled.push_back(*filter);
    }
    std::uint64_t decided = 0;
    std::uint64_t asked = 0;
    for (const std::string& path : qps::tests::sample_captures()) {
        const auto index = indexed(path);
        PacketReader reader(index);
        const std::uint64_t packets = std::min<std::uint64_t>(index->packets.size(), 400);
        for (std::size_t i = 0; i < compiled.size(); ++i) {
            const RowFilter filter(index, compiled[i], {});
            for (std::uint64_t number = 1; number <= packets; ++number) {
                const Verdict verdict = filter.judge(FrameIndex{number});
                ++asked;
                if (verdict == Verdict::unknown) continue;
                ++decided;
                if ((verdict == Verdict::yes) != compiled[i].matches(*reader.read(FrameIndex{number})))
                    FAIL_CHECK(path << ", frame " << number << ": " << filters()[i]);
            }
        }
    }
    CHECK(decided >
          asked * 3 /
              4);  // rows know little of TCP and of what upper protocols say, and a third of the samples are of those
}

TEST_CASE("a filter with a time range lets through what lies in both") {
    const auto index = indexed(QPSCOPE_SOURCE_DIR "/captures/loss_write/capture.pcap");
    PacketReader reader(index);
    const std::uint64_t packets = index->packets.size();
    const TimeRange range{index->row(FrameIndex{packets / 4}).time(), index->row(FrameIndex{packets / 2}).time()};
    const std::atomic<bool> stop = false;
    RowSet hits;
    hits.put(RowFilter(index, *Filter::compile("rdma.retransmission"), range).piece(0, reader, stop));
    std::uint64_t expected = 0;
    for (std::uint64_t number = 1; number <= packets; ++number) {
        const PacketRow& row = index->row(FrameIndex{number});
        const bool in = row.has(Mark::retransmission) && range.contains(row.time());
        expected += in;
        REQUIRE(hits.contains(FrameIndex{number}) == in);
    }
    CHECK(expected > 0);
    CHECK(hits.size() == expected);
}

TEST_CASE("a set of rows finds members by position and positions by member") {
    std::mt19937 random(7);
    std::set<std::uint64_t> plain;
    RowSet rows;
    for (int i = 0; i < 3000; ++i) {
        const std::uint64_t frame = 1 + random() % 200'000;
        rows.set(FrameIndex{frame}, true);
        plain.insert(frame);
        if (i % 5 == 0) {
            rows.set(FrameIndex{*plain.begin()}, false);
            plain.erase(plain.begin());
        }
    }
    REQUIRE(rows.size() == plain.size());
    std::uint64_t position = 0;
    for (const std::uint64_t frame : plain) {
        REQUIRE(rows.at(position) == FrameIndex{frame});
        REQUIRE(rows.rank(FrameIndex{frame}) == position);
        const auto after = plain.upper_bound(frame);
        REQUIRE(rows.next(FrameIndex{frame}) ==
                (after == plain.end() ? std::nullopt : std::optional(FrameIndex{*after})));
        REQUIRE(rows.previous(FrameIndex{frame}) ==
                (frame == *plain.begin() ? std::nullopt : std::optional(FrameIndex{*std::prev(plain.find(frame))})));
        ++position;
    }
    CHECK(rows.rank(FrameIndex{1'000'000'000}) == rows.size());
    CHECK_FALSE(rows.contains(FrameIndex{}));
}

TEST_CASE("a piece that comes again replaces the first, whatever the order") {
    RowSet rows;
    RowSet::Piece late{3, std::vector<std::uint64_t>(RowSet::kPieceWords)};
    late.bits[1] = 6;  // rows 65 and 66 of the piece
    rows.put(late);
    CHECK(rows.size() == 2);
    CHECK(rows.at(0) == FrameIndex{3 * RowSet::kPieceRows + 66});
    RowSet::Piece early{0, std::vector<std::uint64_t>(RowSet::kPieceWords)};
    early.bits[0] = 1;
    rows.put(early);
    CHECK(rows.at(0) == FrameIndex{1});
    CHECK(rows.at(1) == FrameIndex{3 * RowSet::kPieceRows + 66});
    late.bits[1] = 0;
    rows.put(late);
    CHECK(rows.size() == 1);
}

TEST_CASE("a growing store keeps rows where they are, across its blocks") {
    GrowingStore<std::uint32_t> store;
    constexpr std::uint32_t kRows = 300'000;  // five blocks
    REQUIRE(store.append(0));
    const std::uint32_t* first = &store[0];
    for (std::uint32_t row = 1; row < kRows; ++row) REQUIRE(store.append(row));
    CHECK(first == &store[0]);
    CHECK(store.size() == kRows);
    std::uint32_t wrong = 0;
    for (std::uint32_t row = 0; row < kRows; ++row) wrong += store[row] != row;
    CHECK(wrong == 0);
}
