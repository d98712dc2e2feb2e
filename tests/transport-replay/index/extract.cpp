// Packets of an index as a capture of their own: what is read back is what was there, and nothing that was there before
// is lost.
#include <dissect/capture/saved_capture.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/index/extract.hpp>
#include <transport-replay/index/indexer.hpp>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/resource.h>

using namespace qps::dissect;
using namespace qps::transport;
using Catch::Matchers::Contains;
using qps::test::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

const std::string kLoss = QPSCOPE_SOURCE_DIR "/captures/loss_write/capture.pcap";
const std::string kRnr = QPSCOPE_SOURCE_DIR "/captures/err_rnr_pcapng/capture.pcapng";

void fill(CaptureIndex& index, const std::vector<std::string>& files, const std::string& spool) {
    CHECK(build_index(index, {.files = files, .jobs = {2}, .spool_folder = spool}, {}).problems.empty());
}

// A packet that outlives its capture.
struct Kept {
    std::vector<std::byte> bytes;
    std::uint32_t wire_length;
    Instant time;
    LinkType link;
    BitsPerSecond speed;
    std::string interface;
    std::uint32_t number;  // of the interface
    std::vector<std::string> comments;
    bool operator==(const Kept&) const = default;
};

std::vector<Kept> kept(const std::string& path) {
    auto file = CaptureFile::open(path);
    REQUIRE(file.has_value());
    std::vector<Kept> all;
    Batch batch;
    while (file->read(batch))
        for (const Frame& frame : batch.frames) {
            const auto interfaces = file->interfaces();
            const auto number = std::to_underlying(frame.interface);
            all.push_back({{frame.bytes.begin(), frame.bytes.end()},
                           frame.wire_length,
                           frame.time,
                           frame.link,
                           frame.link_speed,
                           number < interfaces.size() ? interfaces[number].name : "",
                           number,
                           {}});
            OptionReader options(frame.options, frame.options_order);
            for (Option option; options.next(option);)
                if (option.code == kOptionComment)
                    all.back().comments.emplace_back(reinterpret_cast<const char*>(option.value.data()),
                                                     option.value.size());
        }
    CHECK(file->problem().kind == InputProblemKind::none);
    return all;
}

// Three interfaces, of which the packets use the last two, the third first; the second packet has two comments.
std::string several_interfaces(const TemporaryFolder& folder) {
    const std::string path = folder.file("interfaces.pcapng");
    auto writer = CaptureWriter::open(path, WriterFormat::pcapng);
    REQUIRE(writer);
    for (std::uint32_t i = 0; i < 3; ++i) {
        writer->name_interface(InterfaceId{i}, fmt::format("roce{}", i));
        REQUIRE(writer->describe_interface(InterfaceId{i}, LinkType::ethernet, BitsPerSecond{100 + i}));
    }
    const std::vector<std::byte> bytes(70, std::byte{7});
    const std::vector<std::byte> options{std::byte{1},   {}, std::byte{3}, {}, std::byte{'o'}, std::byte{'l'},
                                         std::byte{'d'}, {}};
    for (std::uint32_t i = 1; i <= 4; ++i) {
        Frame frame;
        frame.bytes = bytes;
        frame.wire_length = 90;
        frame.index = FrameIndex{i};
        frame.time = Instant{1'700'000'000'000'000'000 + i};
        frame.interface = InterfaceId{i % 2 == 0 ? 1U : 2U};
        frame.link_speed = BitsPerSecond{100 + std::to_underlying(frame.interface)};
        if (i == 2) frame.options = options;
        REQUIRE(writer->write(frame, i == 2 ? "first" : ""));
    }
    REQUIRE(writer->close());
    return path;
}

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const std::string& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator{}));
}

}  // namespace

TEST_CASE("all packets come back as they were") {
    const TemporaryFolder folder;
    // By number: each round has a folder of its own, and a text generated in the first would lead to that one.
    const std::array paths{kLoss, kRnr, several_interfaces(folder)};
    const std::string& path = paths[static_cast<std::size_t>(GENERATE(0, 1, 2))];
    CaptureIndex index;
    fill(index, {path}, folder.path());
    const std::string out = folder.file("out.pcapng");
    const auto made = extract(index, {out, AllFrames{}, {}});
    REQUIRE(made.has_value());
    CHECK(made->written == index.packets.size());
    CHECK(made->unreadable == 0);
    CHECK(kept(out) == kept(path));
    CHECK_FALSE(fs::exists(out + ".part"));
}

TEST_CASE("interfaces keep numbers, names and speeds through a spool") {
    const TemporaryFolder folder;
    const std::string path = several_interfaces(folder);
    const std::string packed = folder.file("packed.pcapng.gz");
    REQUIRE(std::system(("gzip -c '" + path + "' > '" + packed + "'").c_str()) == 0);
    CaptureIndex index;
    fill(index, {packed}, folder.path());
    const std::string out = folder.file("out.pcapng");
    REQUIRE(extract(index, {out, AllFrames{}, {}}).has_value());
    CHECK(kept(out) == kept(path));
    CHECK(kept(out)[0].interface == "roce2");
    CHECK(kept(out)[0].number == 2);
}

TEST_CASE("marked packets and ranges are those that are written") {
    const TemporaryFolder folder;
    CaptureIndex index;
    fill(index, {kLoss}, folder.path());
    const auto all = kept(kLoss);
    const std::uint64_t last = all.size();
    REQUIRE(last > 20);
    const std::string out = folder.file("out.pcapng");
    RowSet marks;
    for (const std::uint64_t frame : {std::uint64_t{1}, std::uint64_t{7}, last, last + 5})
        marks.set(FrameIndex{frame}, true);
    CHECK(count(marks, index) == 3);
    CHECK(extract(index, {out, marks, {}})->written == 3);
    CHECK(kept(out) == std::vector{all[0], all[6], all[last - 1]});
    const std::vector<FrameRange> ranges{{FrameIndex{5}, FrameIndex{6}},
                                         {FrameIndex{9}, FrameIndex{8}},
                                         {FrameIndex{last}, FrameIndex{~std::uint64_t{0}}}};
    CHECK(count(ranges, index) == 3);
    CHECK(extract(index, {out, ranges, {}})->written == 3);
    CHECK(kept(out) == std::vector{all[4], all[5], all[last - 1]});
}

TEST_CASE("a comment takes the place of the record's first one, is added, or takes it away") {
    const TemporaryFolder folder;
    CaptureIndex index;
    fill(index, {several_interfaces(folder)}, folder.path());
    const std::string out = folder.file("out.pcapng");
    REQUIRE(extract(index, {out, AllFrames{}, {{FrameIndex{1}, "new"}, {FrameIndex{2}, "better"}}}).has_value());
    CHECK(kept(out)[0].comments == std::vector<std::string>{"new"});
    CHECK(kept(out)[1].comments == std::vector<std::string>{"better", "old"});
    CHECK(kept(out)[2].comments.empty());
    REQUIRE(extract(index, {out, AllFrames{}, {{FrameIndex{2}, ""}}}).has_value());
    CHECK(kept(out)[1].comments == std::vector<std::string>{"old"});
    const auto refused = extract(index, {out, AllFrames{}, {{FrameIndex{3}, std::string(kMaxComment + 1, 'x')}}});
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error(), Contains(out + ": comment of frame 3"));
    CHECK(kept(out)[1].comments == std::vector<std::string>{"old"});
}

TEST_CASE("a name in .pcap gives a nanosecond pcap") {
    const TemporaryFolder folder;
    CaptureIndex index;
    fill(index, {kRnr}, folder.path());
    const std::string out = folder.file("out.PCAP");
    REQUIRE(extract(index, {out, AllFrames{}, {}}).has_value());
    CHECK(CaptureFile::open(out)->format() == CaptureFormat::pcap_nanosecond);
    const auto before = kept(kRnr);
    const auto after = kept(out);
    REQUIRE(after.size() == before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
        CHECK(after[i].bytes == before[i].bytes);
        CHECK(after[i].time == before[i].time);
    }
}

TEST_CASE("a file of the index is not written over, under whatever name") {
    const TemporaryFolder folder;
    const std::string path = folder.file("trace.pcap");
    fs::copy_file(kLoss, path);
    fs::create_symlink(path, folder.file("link"));
    fs::create_hard_link(path, folder.file("other"));
    CaptureIndex index;
    fill(index, {path}, folder.path());
    for (const char* name : {"trace.pcap", "./trace.pcap", "link", "other"}) {
        const auto refused = extract(index, {folder.file(name), AllFrames{}, {}});
        REQUIRE_FALSE(refused.has_value());
        CHECK_THAT(refused.error(), Contains("would be overwritten"));
    }
    CHECK(content(path) == content(kLoss));
    CHECK(files_in(folder.path()) == 3);
}

TEST_CASE("what fails or is cancelled leaves what was there, and nothing else") {
    const TemporaryFolder folder;
    CaptureIndex index;
    fill(index, {kLoss}, folder.path());
    const std::string out = folder.file("out.pcapng");
    std::ofstream(out) << "dear to somebody";
    SECTION("cancelled") {
        const auto made = extract(index, {out, AllFrames{}, {}}, {.stopped = [] { return true; }});
        REQUIRE(made.has_value());
        CHECK(made->stopped);
        CHECK(made->written == 0);
    }
    SECTION("no room") {
        rlimit before{};
        REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit small{1000, before.rlim_max};
        REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
        const auto made = extract(index, {out, AllFrames{}, {}});
        REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
        REQUIRE_FALSE(made.has_value());
        CHECK_THAT(made.error(), Contains(out + ": cannot write"));
    }
    SECTION("no such folder") {
        CHECK_FALSE(extract(index, {folder.file("none/out.pcapng"), AllFrames{}, {}}).has_value());
    }
    CHECK(content(out) == "dear to somebody");
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a full disk is told") {
    const TemporaryFolder folder;
    CaptureIndex index;
    fill(index, {kLoss}, folder.path());
    const auto made = extract(index, {"/dev/full", AllFrames{}, {}});
    REQUIRE_FALSE(made.has_value());
    CHECK_THAT(made.error(), Contains("/dev/full: cannot write"));
}

TEST_CASE("packets that are gone are counted, the others are written") {
    const TemporaryFolder folder;
    const std::string path = folder.file("trace.pcap");
    fs::copy_file(kLoss, path);
    CaptureIndex index;
    fill(index, {path}, folder.path());
    fs::resize_file(path, fs::file_size(path) / 2);
    const auto made = extract(index, {folder.file("out.pcapng"), AllFrames{}, {}});
    REQUIRE(made.has_value());
    CHECK(made->written > 0);
    CHECK(made->unreadable > 0);
    CHECK(made->written + made->unreadable == index.packets.size());
    CHECK(kept(folder.file("out.pcapng")).size() == made->written);
}

TEST_CASE("a file left by others beside the name stays as it is, and rights stay those of the file before") {
    const TemporaryFolder folder;
    CaptureIndex index;
    fill(index, {kRnr}, folder.path());
    const std::string out = folder.file("out.pcapng");
    std::ofstream(out + ".part") << "of others";
    std::ofstream(out) << "before";
    fs::permissions(out, fs::perms::owner_read | fs::perms::owner_write);
    std::uint64_t reported = 0;
    REQUIRE(extract(index, {out, AllFrames{}, {}},
                    {.progressed =
                         [&](std::uint64_t done, std::uint64_t all) {
                             CHECK(all == index.packets.size());
                             reported = done;
                         }})
                .has_value());
    CHECK(reported == index.packets.size());
    CHECK(content(out + ".part") == "of others");
    CHECK(fs::status(out).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(kept(out) == kept(kRnr));
}
