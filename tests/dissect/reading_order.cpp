// Which files are read one behind the other, and which by the times of their packets.
#include <dissect/capture/reading_order.hpp>
#include <dissect/capture/time_merge.hpp>
#include <tests/dissect/capture_bytes.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <limits>

using namespace qps::dissect;
using namespace qps::test;

namespace {

RecordedTimes from_to(std::int64_t first, std::int64_t last) { return {Instant{first}, Instant{last}}; }

std::vector<FileGroup> order_of(std::vector<RecordedTimes> files) {
    const auto order = reading_order(files);
    REQUIRE(order);
    return *order;
}

RecordedTimes times_of(Bytes content, std::size_t piece = 0) {
    auto file = CaptureFile::from_memory(content, "times", piece);
    REQUIRE(file);
    return recorded_times(*file);
}

// By reading all of it.
RecordedTimes expected_of(const std::vector<Seen>& frames) {
    RecordedTimes times;
    for (const Seen& seen : frames) {
        if (!seen.frame.has_time) continue;
        if (!times.first) times.first = seen.frame.time;
        times.last = times.last ? std::max(*times.last, seen.frame.time) : seen.frame.time;
    }
    return times;
}

void check_same(const RecordedTimes& times, const RecordedTimes& expected) {
    CHECK(times.first == expected.first);
    CHECK(times.last == expected.last);
}

// Records of 1 to 1,400 bytes, a microsecond apart: 7 MB, of which 1 MB at the end is looked at.
constexpr unsigned kMany = 10'000;
Content large_pcap() {
    Maker out;
    pcap_header(out);
    for (unsigned i = 0; i < kMany; ++i) pcap_record(out, 1'000, i, frame_bytes(1 + i % 1400, i), 1 + i % 1400);
    return out.content();
}
Content large_pcapng(bool statistics) {
    Maker out;
    section(out);
    interface_block(out);
    for (unsigned i = 0; i < kMany; ++i)
        packet_block(out, 0, 5'000'000 + i, frame_bytes(1 + i % 1400, i), 1 + i % 1400);
    if (statistics) {
        Maker body;
        body.u32(0).u32(0).u32(5'000'000 + kMany);
        out.block(5, body.content());  // Interface Statistics Block
    }
    return out.content();
}

}  // namespace

TEST_CASE("pieces are read in the order of their first packets, those that overlap as one", "[capture]") {
    CHECK(order_of({}).empty());
    CHECK(order_of({from_to(5, 9)}) == std::vector<FileGroup>{{0}});
    CHECK(order_of({from_to(21, 30), from_to(11, 20), from_to(0, 10)}) == std::vector<FileGroup>{{2}, {1}, {0}});
    // A chain is one, also where its ends do not meet; so is one file within another.
    CHECK(order_of({from_to(0, 12), from_to(10, 22), from_to(20, 30), from_to(31, 40)}) ==
          std::vector<FileGroup>{{0, 1, 2}, {3}});
    CHECK(order_of({from_to(0, 100), from_to(10, 20), from_to(50, 60), from_to(101, 110)}) ==
          std::vector<FileGroup>{{0, 1, 2}, {3}});
    // Where one begins as another ends both may have that packet; nobody calls that overlapping.
    const std::vector<RecordedTimes> touching{from_to(0, 10), from_to(10, 20)},
        overlapping{from_to(0, 11), from_to(10, 20)};
    CHECK(order_of(touching) == std::vector<FileGroup>{{0, 1}});
    CHECK_FALSE(overlap(touching, {0, 1}));
    CHECK(overlap(overlapping, {0, 1}));
    // Of files without times, such as those without packets, nobody knows: they break no chain.
    CHECK(order_of({{}, from_to(0, 12), {}, from_to(10, 22), {}}) == std::vector<FileGroup>{{0}, {1, 3}, {2}, {4}});
    CHECK(order_of({from_to(10, 22), {}, from_to(0, 12)}) == std::vector<FileGroup>{{2, 0}, {1}});
}

TEST_CASE("a clock that is moved moves what overlaps", "[capture]") {
    CHECK(from_to(10, 20).moved(Duration{-5}).first == Instant{5});
    CHECK(from_to(10, 20).moved(Duration{-5}).last == Instant{15});
    CHECK_FALSE(RecordedTimes{}.moved(Duration{-5}).first);
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    CHECK(from_to(kMost, kMost).moved(Duration{1}).last == Instant{kMost});
}

TEST_CASE("as many files overlap as can be open at the same time", "[capture]") {
    constexpr auto kMost = static_cast<std::int64_t>(TimeMerge::kMostSources);
    std::vector<RecordedTimes> chain, heap;
    for (std::int64_t i = 0; i < 10 * kMost; ++i) chain.push_back(from_to(10 * i, 10 * i + 12));
    CHECK(order_of(chain).size() == 1);
    for (std::int64_t i = 0; i < kMost; ++i) heap.push_back(from_to(i, 1000));
    CHECK(order_of(heap).size() == 1);
    heap.push_back(from_to(999, 2000));
    const auto order = reading_order(heap);
    REQUIRE_FALSE(order);
    CHECK(order.error() == "65 files overlap in time: at most 64 can be read side by side");
    heap.back() = from_to(1001, 2000);
    CHECK(order_of(heap).size() == 2);
}

TEST_CASE("the times of a file are those of all its packets, whether its end or all of it is read", "[capture]") {
    for (const Content& content : {large_pcap(), large_pcapng(false), large_pcapng(true)}) {
        const RecordedTimes expected = expected_of(read_bytes(content).frames);
        REQUIRE(expected.last);
        check_same(times_of(content), expected);
        check_same(times_of(content, 100'000), expected);  // a stream
    }
    check_same(times_of(small_pcap()), expected_of(read_bytes(small_pcap()).frames));
    check_same(times_of(small_pcapng()), expected_of(read_bytes(small_pcapng()).frames));
    const TemporaryFolder folder;
    auto packed = CaptureFile::open(folder.write("a.pcap.gz", gzipped(large_pcap())));
    REQUIRE(packed);
    check_same(recorded_times(*packed), expected_of(read_bytes(large_pcap()).frames));
}

TEST_CASE("what cannot be read from the end is read from the beginning", "[capture]") {
    // The last record is cut, in the middle of one or behind it.
    for (const std::size_t less : {1U, 15U, 700U}) {
        Content cut = large_pcap();
        cut.resize(cut.size() - less);
        check_same(times_of(cut), expected_of(read_bytes(cut).frames));
    }
    // Names of hosts stand between the last packets: what is behind them cannot be told from the end.
    Maker names;
    section(names);
    interface_block(names);
    for (unsigned i = 0; i < kMany; ++i) {
        packet_block(names, 0, 5'000'000 + i, frame_bytes(700, i), 700);
        if (i + 20 == kMany) names.block(4, Maker().u16(0).u16(0).content());  // Name Resolution Block
    }
    check_same(times_of(names.content()), expected_of(read_bytes(names.content()).frames));
    // The clock goes back at the end.
    Maker back;
    pcap_header(back);
    for (unsigned i = 0; i < kMany; ++i) pcap_record(back, i + 1 == kMany ? 5 : 1'000, i, frame_bytes(700, i), 700);
    check_same(times_of(back.content()), expected_of(read_bytes(back.content()).frames));
    // A capture without packets, and without times.
    Maker none;
    pcap_header(none);
    CHECK_FALSE(times_of(none.content()).first);
    // Who asked no longer wants to know.
    const Content stream = large_pcap();
    auto file = CaptureFile::from_memory(stream, "stopped", 100'000);
    REQUIRE(file);
    CHECK(recorded_times(*file, [] { return true; }).last < expected_of(read_bytes(stream).frames).last);
}

TEST_CASE("a merge reads a file when its first packet is due, and gives its batch back at the end", "[capture]") {
    constexpr std::int64_t kFiles = 1000, kPackets = 20;
    std::vector<TimeMerge::Source> sources;
    std::int64_t open = 0, most = 0;
    for (std::int64_t i = 0; i < kFiles; ++i)
        sources.push_back({.read =
                               [&open, &most, i, sent = std::int64_t{0}](Batch& batch) mutable {
                                   if (sent == kPackets) return --open, false;
                                   if (sent == 0) most = std::max(most, ++open);
                                   Frame frame;
                                   frame.wire_length = static_cast<std::uint32_t>(i);  // of another link each
                                   frame.time = Instant{10 * i + sent++};
                                   batch.frames = {frame};
                                   return true;
                               },
                           .outlive = true,
                           .offset = Duration{5},
                           .first = Instant{10 * i + 5}});
    std::ranges::reverse(sources);
    TimeMerge merge(std::move(sources));
    Batch batch;
    std::vector<std::uint16_t> from;
    Instant before{0};
    std::int64_t seen = 0, wrong = 0;
    while (merge.read(batch, from))
        for (std::size_t i = 0; i < batch.frames.size(); ++i, ++seen) {
            const Instant time = batch.frames[i].time;
            const std::int64_t file = kFiles - 1 - from[i];
            wrong += time < before || time < Instant{10 * file + 5} || time >= Instant{10 * file + 5 + kPackets};
            before = time;
        }
    CHECK(seen == kFiles * kPackets);
    CHECK(wrong == 0);
    CHECK(open == 0);
    CHECK(most <= 3);  // each overlaps with the next one
}

namespace {

using Sent = std::vector<std::pair<std::int64_t, unsigned>>;  // times, and what the packet has in it

TimeMerge::Source source_of(Sent sent) {
    return {.read =
                [sent = std::move(sent), at = std::size_t{0}](Batch& batch) mutable {
                    if (at == sent.size()) return false;
                    const auto [time, what] = sent[at++];
                    batch.storage = frame_bytes(60, what);
                    Frame frame;
                    frame.bytes = batch.storage;
                    frame.wire_length = 60;
                    frame.time = Instant{time};
                    batch.frames = {frame};
                    return true;
                },
            .outlive = false,
            .offset = {}};
}

// How many packets come of each source.
std::vector<std::size_t> merged_counts(const std::vector<Sent>& sent) {
    std::vector<TimeMerge::Source> sources;
    for (const Sent& one : sent) sources.push_back(source_of(one));
    TimeMerge merge(std::move(sources));
    std::vector<std::size_t> counts(sent.size());
    Batch batch;
    std::vector<std::uint16_t> from;
    while (merge.read(batch, from))
        for (const std::uint16_t source : from) ++counts[source];
    return counts;
}

}  // namespace

TEST_CASE("what two recordings have at the same time comes once, as often as one of them has it", "[capture]") {
    Sent link;
    for (unsigned i = 0; i < 40; ++i) link.emplace_back(10 * i, i);
    const Sent first(link.begin(), link.begin() + 30), second(link.begin() + 10, link.end());
    CHECK(merged_counts({first, second}) == std::vector<std::size_t>{30, 10});
    CHECK(merged_counts({first, second, {link.begin() + 20, link.begin() + 35}}) ==
          std::vector<std::size_t>{30, 10, 0});
    // A recorder that lost some of them.
    Sent lost = first;
    lost.erase(lost.begin() + 15);
    lost.erase(lost.begin() + 20);
    CHECK(merged_counts({lost, second}) == std::vector<std::size_t>{28, 12});
    // One that has a packet twice in itself.
    CHECK(merged_counts({{{1, 5}, {2, 6}, {2, 6}, {3, 7}}, {{1, 5}, {2, 6}, {2, 6}, {3, 7}}}) ==
          std::vector<std::size_t>{4, 0});
    CHECK(merged_counts({{{1, 5}, {2, 6}, {3, 7}}, {{1, 5}, {2, 6}, {2, 6}, {3, 7}}}) ==
          std::vector<std::size_t>{3, 1});
    // Another link, another tap with a clock of its own, and one whose times are now and then the same.
    Sent other = link, later = link, sometimes = link;
    for (unsigned i = 0; i < link.size(); ++i) {
        other[i].second += 1000;
        ++later[i].first;
        sometimes[i].first += i % 2 == 0 ? 1 : 0;
    }
    CHECK(merged_counts({link, other}) == std::vector<std::size_t>{40, 40});
    CHECK(merged_counts({link, later}) == std::vector<std::size_t>{40, 40});
    CHECK(merged_counts({link, sometimes}) == std::vector<std::size_t>{40, 40});
}
