// Several files read in the order of their times, each clock with its offset: packets that were shared out among files
// come together as they were, from mapped files and from streams; packets are found again where they lie; offsets alone
// move times.
#include <dissect/capture/capture_file.hpp>
#include <dissect/capture/time_merge.hpp>
#include <dissect/capture/writer.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <limits>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

constexpr Duration kWrongClock{5'000'000'123};

std::string sample(const std::string& name) { return std::string(QPSCOPE_SOURCE_DIR) + "/captures/" + name; }

// The packets of a capture shared out among files in turns; the clock of the second file is wrong.
std::vector<std::string> shared_out(const std::string& path, std::size_t files,
                                    const qps::test::TemporaryFolder& folder) {
    std::vector<std::string> paths;
    std::vector<CaptureWriter> writers;
    for (std::size_t i = 0; i < files; ++i) {
        paths.push_back(folder.file("part" + std::to_string(i) + ".pcap"));
        auto writer = CaptureWriter::open(paths.back(), WriterFormat::pcap);
        REQUIRE(writer);
        writers.push_back(std::move(*writer));
    }
    auto capture = CaptureFile::open(path);
    REQUIRE(capture);
    Batch batch;
    std::size_t number = 0;
    while (capture->read(batch))
        for (Frame frame : batch.frames) {
            const std::size_t file = number++ / 3 % files;
            if (file == 1) frame.time = moved(frame.time, kWrongClock);
            REQUIRE(writers[file].write(frame));
        }
    for (CaptureWriter& writer : writers) REQUIRE(writer.close());
    return paths;
}

std::vector<Instant> times_of(const CaptureIndex& index) {
    std::vector<Instant> times;
    for (std::uint64_t at = 0; at < index.packets.size(); ++at) times.push_back(index.packets[at].time());
    return times;
}

Frame at_time(std::int64_t time, bool has_time = true) {
    Frame frame;
    frame.time = Instant{time};
    frame.has_time = has_time;
    return frame;
}

}  // namespace

TEST_CASE("packets shared out among files are merged by time as they were", "[index]") {
    const std::string whole = sample("loss_write/capture.pcap");
    const qps::test::TemporaryFolder folder;
    const std::vector<std::string> parts = shared_out(whole, 3, folder);
    CaptureIndex alone;
    const Indexed expected = build_index(alone, {.files = {whole}, .jobs = {2}, .spool_folder = folder.path()}, {});
    for (const std::size_t jobs : {1U, 3U}) {
        auto merged = std::make_shared<CaptureIndex>();
        const Indexed outcome = build_index(*merged,
                                            {.files = parts,
                                             .jobs = {jobs},
                                             .spool_folder = folder.path(),
                                             .by_time = true,
                                             .offsets = {Duration{}, Duration{-std::to_underlying(kWrongClock)}}},
                                            {});
        CHECK(outcome.problems.empty());
        REQUIRE(merged->packets.size() == alone.packets.size());
        CHECK(times_of(*merged) == times_of(alone));
        CHECK(merged->messages.size() == alone.messages.size());
        CHECK(outcome.timeline.connections.size() == expected.timeline.connections.size());
        CHECK(outcome.timeline.findings.size() == expected.timeline.findings.size());
        // Each packet lies in its own file, and has the time of the merge.
        FrameBuffer here, there;
        for (std::uint64_t at = 0; at < merged->packets.size(); ++at) {
            const FrameIndex number{at + 1};
            CHECK(merged->row(number).file() == at / 3 % 3);
            const auto one = merged->frame(number, here);
            const auto other = alone.frame(number, there);
            REQUIRE((one && other));
            REQUIRE(std::ranges::equal(one->bytes, other->bytes));
            REQUIRE(one->time == other->time);
        }
    }
}

TEST_CASE("streams and files are merged by time, and their packets are read again", "[index]") {
    const qps::test::TemporaryFolder folder;
    const std::vector<std::string> files{sample("rping_v6_gzip/capture.pcap.gz"), sample("loss_write/capture.pcap")};
    std::uint64_t each = 0;
    for (const std::string& file : files) {
        CaptureIndex alone;
        CHECK(build_index(alone, {.files = {file}, .jobs = {1}, .spool_folder = folder.path()}, {}).problems.empty());
        each += alone.packets.size();
    }
    CaptureIndex merged;
    CHECK(build_index(merged, {.files = files, .jobs = {3}, .spool_folder = folder.path(), .by_time = true}, {})
              .problems.empty());
    CHECK(merged.packets.size() == each);
    const auto times = times_of(merged);
    CHECK(std::ranges::is_sorted(times));
    FrameBuffer buffer;
    for (std::uint64_t at = 0; at < merged.packets.size(); ++at) REQUIRE(merged.frame(FrameIndex{at + 1}, buffer));
}

// As commands read them (tests/cli/pieces.cpp).
TEST_CASE("files are read in the order of their first packets, and by time where they overlap", "[index]") {
    const std::string whole = sample("loss_write/capture.pcap");
    const qps::test::TemporaryFolder folder;
    // Frames from one to before another.
    const auto stretch = [&](const char* name, std::uint64_t from, std::uint64_t to) {
        const std::string path = folder.file(name);
        auto writer = CaptureWriter::open(path, WriterFormat::pcap);
        auto capture = CaptureFile::open(whole);
        REQUIRE((writer && capture));
        Batch batch;
        while (capture->read(batch))
            for (const Frame& frame : batch.frames)
                if (const auto at = std::to_underlying(frame.index); at > from && at <= to)
                    REQUIRE(writer->write(frame));
        REQUIRE(writer->close());
        return path;
    };
    CaptureIndex alone;
    const Indexed expected = build_index(alone, {.files = {whole}, .jobs = {2}, .spool_folder = folder.path()}, {});
    const std::uint64_t end = alone.packets.size();
    const std::vector<std::string> apart{stretch("c", 1500, end), stretch("a", 0, 700), stretch("b", 700, 1500)},
        overlap{stretch("e", 600, end), stretch("d", 0, 1200)};
    for (const std::vector<std::string>& files : {apart, overlap}) {
        CaptureIndex index;
        const Indexed outcome = build_index(index, {.files = files, .jobs = {3}, .spool_folder = folder.path()}, {});
        CHECK(outcome.problems.empty());
        CHECK(times_of(index) == times_of(alone));
        CHECK(index.messages.size() == alone.messages.size());
        CHECK(outcome.timeline.findings.size() == expected.timeline.findings.size());
        CHECK(outcome.timeline.quality.copies() == 0);
        FrameBuffer buffer;
        for (std::uint64_t at = 0; at < index.packets.size(); ++at) REQUIRE(index.frame(FrameIndex{at + 1}, buffer));
    }
    CaptureIndex index;
    const Indexed refused = build_index(
        index, {.files = std::vector<std::string>(65, whole), .jobs = {1}, .spool_folder = folder.path()}, {});
    REQUIRE(refused.problems.size() == 1);
    CHECK(refused.problems[0].sentence == "65 files overlap in time: at most 64 can be read side by side");
    // Another recording is judged by itself.
    CaptureIndex two;
    const Indexed both = build_index(two,
                                     {.files = {sample("write_8k/capture.pcap"), sample("read_8k/capture.pcap")},
                                      .jobs = {2},
                                      .spool_folder = folder.path()},
                                     {});
    CHECK(both.timeline.recordings.size() == 1);
}

TEST_CASE("an offset moves the times of a file, and the user's link speed is that of its packets", "[index]") {
    const std::string whole = sample("loss_write/capture.pcap");
    CaptureIndex alone, later;
    CHECK(build_index(alone, {.files = {whole}, .jobs = {2}, .spool_folder = ""}, {}).problems.empty());
    const Indexed outcome = build_index(later,
                                        {.files = {whole},
                                         .jobs = {2},
                                         .spool_folder = "",
                                         .offsets = {kWrongClock},
                                         .link_speed = BitsPerSecond{100'000'000'000}},
                                        {});
    REQUIRE(later.packets.size() == alone.packets.size());
    for (std::uint64_t at = 0; at < alone.packets.size(); ++at)
        REQUIRE(later.packets[at].time() == moved(alone.packets[at].time(), kWrongClock));
    CHECK(later.start() == moved(*alone.start(), kWrongClock));
    CHECK(outcome.timeline.first == later.start());
    FrameBuffer buffer;
    const auto frame = later.frame(FrameIndex{1}, buffer);
    REQUIRE(frame);
    CHECK(frame->link_speed == BitsPerSecond{100'000'000'000});
    CHECK(frame->elapsed == Duration{});
}

TEST_CASE("more files than can be open at once are refused in a sentence", "[index]") {
    CaptureIndex index;
    const Indexed outcome =
        build_index(index,
                    {.files = std::vector<std::string>(kMostFilesByTime + 1, sample("loss_write/capture.pcap")),
                     .jobs = {1},
                     .spool_folder = "",
                     .by_time = true},
                    {});
    REQUIRE(outcome.problems.size() == 1);
    CHECK(outcome.problems[0].sentence.find("at most 64") != std::string::npos);
    CHECK(index.packets.size() == 0);
}

TEST_CASE("a merge keeps the order of each source, and takes the first one where times are the same", "[capture]") {
    std::vector<std::vector<Frame>> sources{
        {at_time(10), at_time(5), at_time(20)}, {at_time(10), at_time(0, false), at_time(15)}, {}};
    std::vector<TimeMerge::Source> read;
    for (std::size_t i = 0; i < sources.size(); ++i)
        read.push_back({.read =
                            [&sources, i, done = std::size_t{0}](Batch& batch) mutable {
                                if (done == sources[i].size()) return false;
                                batch.frames = {sources[i][done++]};
                                return true;
                            },
                        .outlive = i == 0,
                        .offset = {}});
    TimeMerge merge(std::move(read));
    Batch batch;
    std::vector<std::uint16_t> from;
    std::vector<std::pair<std::uint16_t, std::int64_t>> seen;
    while (merge.read(batch, from))
        for (std::size_t i = 0; i < batch.frames.size(); ++i)
            seen.emplace_back(from[i], std::to_underlying(batch.frames[i].time));
    CHECK(seen ==
          std::vector<std::pair<std::uint16_t, std::int64_t>>{{0, 10}, {0, 5}, {1, 10}, {1, 0}, {1, 15}, {0, 20}});
    CHECK(moved(Instant{std::numeric_limits<std::int64_t>::max()}, Duration{1}) ==
          Instant{std::numeric_limits<std::int64_t>::max()});
    CHECK(moved(Instant{std::numeric_limits<std::int64_t>::min()}, Duration{-1}) ==
          Instant{std::numeric_limits<std::int64_t>::min()});
}
