// Captures that come compressed, through standard input or through a FIFO.
#include <tests/dissect/capture_bytes.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

using namespace qps::dissect;
using namespace qps::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

// Puts another file in the place of standard input for as long as it lives.
class StandardInput {
public:
    explicit StandardInput(int descriptor) : saved_(::dup(STDIN_FILENO)) { ::dup2(descriptor, STDIN_FILENO); }
    StandardInput(const StandardInput&) = delete;
    StandardInput& operator=(const StandardInput&) = delete;
    ~StandardInput() {
        if (saved_ >= 0) {
            ::dup2(saved_, STDIN_FILENO);
            ::close(saved_);
        } else {
            ::close(STDIN_FILENO);
        }
    }

private:
    int saved_;
};

Content many_frames(unsigned count) {
    Maker out;
    pcap_header(out);
    for (unsigned i = 0; i < count; ++i) pcap_record(out, i, 0, frame_bytes(100 + i % 1000, i), 2000);
    return out.content();
}

Content cut_at(const Content& whole, std::size_t length) {
    return {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)};
}

}  // namespace

TEST_CASE("Compressed captures give the frames of the plain one, and say what they are") {
    for (const Content& plain : {small_pcap(), small_pcapng(ByteOrder::big), many_frames(5000)}) {
        const Reading reading = read_bytes(plain);
        REQUIRE_FALSE(reading.frames.empty());
        for (const std::size_t piece : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
            CHECK(read_bytes(gzipped(plain), piece).frames == reading.frames);
            CHECK(read_bytes(gzipped(plain), piece).problem.kind == InputProblemKind::none);
            CHECK(read_bytes(zstd_compressed(plain), piece).frames == reading.frames);
            CHECK(read_bytes(zstd_compressed(plain), piece).problem.kind == InputProblemKind::none);
        }
        CHECK(CaptureFile::from_memory(plain, "")->compression() == Compression::none);
        CHECK(CaptureFile::from_memory(gzipped(plain), "")->compression() == Compression::gzip);
        CHECK(CaptureFile::from_memory(zstd_compressed(plain), "")->compression() == Compression::zstd);
    }
}

TEST_CASE("Several members of gzip and several frames of zstd are one capture") {
    const Content plain = many_frames(3000);
    const Reading reading = read_bytes(plain);
    const Content first = cut_at(plain, 777'777);
    const Bytes second = Bytes(plain).subspan(777'777);
    for (const std::size_t piece : {std::size_t{0}, std::size_t{1}, std::size_t{4096}}) {
        const Reading gzip = read_bytes(joined(joined(gzipped(first), gzipped({})), gzipped(second)), piece);
        CHECK(gzip.problem.kind == InputProblemKind::none);
        CHECK(gzip.frames == reading.frames);
        const Content skippable = Maker().u32(0x184d2a53).u32(3).text("abc").content();
        const Reading zstd = read_bytes(
            joined(joined(joined(skippable, zstd_compressed(first)), skippable), zstd_compressed(second)), piece);
        CHECK(zstd.problem.kind == InputProblemKind::none);
        CHECK(zstd.frames == reading.frames);
    }
}

TEST_CASE("Zeros behind a gzip stream are padding, anything else is damage after all frames") {
    const Content sound = gzipped(small_pcap());
    CHECK(read_bytes(joined(sound, Content(1000))).problem.kind == InputProblemKind::none);
    const Reading reading = read_bytes(joined(sound, Maker().text("junk").content()));
    CHECK(reading.frames.size() == 3);
    CHECK(reading.problem.kind == InputProblemKind::damaged);
    CHECK(reading.problem.sentence == "trailing data after the gzip stream");
    const Reading zstd = read_bytes(joined(zstd_compressed(small_pcap()), Maker().text("junk").content()));
    CHECK(zstd.frames.size() == 3);
    CHECK(zstd.problem.kind == InputProblemKind::damaged);
}

TEST_CASE("A compressed capture cut at any byte gives what was whole before, and says it is cut") {
    const Content plain = small_pcap();
    const Reading all = read_bytes(plain);
    for (const auto& [whole, what] : {std::pair{gzipped(plain), "gzip"}, std::pair{zstd_compressed(plain), "zstd"}}) {
        std::size_t most = 0;
        for (std::size_t length = 4; length < whole.size(); ++length) {
            INFO(what << " cut after " << length << " bytes");
            const Reading reading = read_bytes(cut_at(whole, length));
            CHECK(reading.frames.size() <= 3);
            CHECK(reading.frames.size() >= most);  // one byte more never means a frame less
            most = reading.frames.size();
            CHECK(std::equal(reading.frames.begin(), reading.frames.end(), all.frames.begin()));
            CHECK(reading.problem.kind != InputProblemKind::none);
            CHECK_THAT(reading.problem.sentence, StartsWith("truncated " + std::string(what) + " stream"));
            if (reading.problem.kind == InputProblemKind::not_a_capture) CHECK(reading.frames.empty());
        }
        CHECK(most == 3);  // only the checksum is missing
    }
}

TEST_CASE("Everything before the damage of a compressed capture is delivered") {
    const Content plain = many_frames(20'000);  // 12 MB: many blocks
    const Reading all = read_bytes(plain);
    for (const auto& [sound, what] : {std::pair{gzipped(plain), "gzip"}, std::pair{zstd_compressed(plain), "zstd"}}) {
        Content broken = sound;
        const std::size_t half = broken.size() / 2;
        std::fill(broken.begin() + static_cast<std::ptrdiff_t>(half),
                  broken.begin() + static_cast<std::ptrdiff_t>(half + 64), std::byte{0xff});
        const Reading damaged = read_bytes(broken);
        CHECK(damaged.problem.kind == InputProblemKind::damaged);
        CHECK_THAT(damaged.problem.sentence, Contains(std::string("damaged ") + what + " stream"));
        // At least what the sound part alone gives.
        const Reading before = read_bytes(cut_at(sound, half));
        CHECK(before.frames.size() > 1000);
        CHECK(damaged.frames.size() >= before.frames.size());
        CHECK(std::equal(before.frames.begin(), before.frames.end(), all.frames.begin()));
        CHECK(damaged.problem.offset >= before.problem.offset);
    }
}

TEST_CASE("A wrong checksum is told after all frames") {
    Content gzip = gzipped(small_pcap());
    gzip[gzip.size() - 6] ^= std::byte{1};
    Content zstd = zstd_compressed(small_pcap());
    zstd.back() ^= std::byte{1};
    for (const Content& content : {gzip, zstd}) {
        const Reading reading = read_bytes(content);
        CHECK(reading.frames.size() == 3);
        CHECK(reading.problem.kind == InputProblemKind::damaged);
        CHECK(reading.problem.offset == small_pcap().size());
    }
}

TEST_CASE("Compressed files that hold no capture say so") {
    CHECK(read_bytes(gzipped({})).problem.sentence == "empty gzip stream");
    CHECK(read_bytes(zstd_compressed({})).problem.sentence == "empty zstd stream");
    CHECK_THAT(read_bytes(gzipped(Maker().text("a letter, and no capture at all").content())).problem.sentence,
               StartsWith("not a pcap or pcapng capture: first bytes 61 20"));
    CHECK_THAT(read_bytes(Maker().u16(0x8b1f).text("but no gzip at all").content()).problem.sentence,
               StartsWith("damaged gzip stream"));
}

TEST_CASE("A file is mapped where it is plain and streamed where it is compressed, whatever its name") {
    const TemporaryFolder folder;
    const Reading reading = read_bytes(small_pcap());
    const auto plain = CaptureFile::open(folder.write("a.pcap.gz", small_pcap()));
    const auto gzip = CaptureFile::open(folder.write("b.pcap", gzipped(small_pcap())));
    const auto zstd = CaptureFile::open(folder.write("c.pcap.gz", zstd_compressed(small_pcap())));
    REQUIRE(plain);
    REQUIRE(gzip);
    REQUIRE(zstd);
    CHECK(plain->mapped());
    CHECK_FALSE(gzip->mapped());
    CHECK(gzip->compression() == Compression::gzip);
    CHECK(gzip->size() == gzipped(small_pcap()).size());
    CHECK(zstd->compression() == Compression::zstd);
    for (const char* name : {"a.pcap.gz", "b.pcap", "c.pcap.gz"})
        CHECK(read_all(CaptureFile::open(folder.file(name))).frames == reading.frames);
}

TEST_CASE("Frames of a mapped file outlive the batch") {
    const TemporaryFolder folder;
    auto file = CaptureFile::open(folder.write("a.pcap", small_pcap()));
    REQUIRE(file);
    Frame first;
    {
        Batch batch;
        REQUIRE(file->read(batch));
        first = batch.frames.at(0);
    }
    const CaptureFile moved = std::move(*file);
    const Content expected = frame_bytes(10, 1);
    CHECK(std::equal(first.bytes.begin(), first.bytes.end(), expected.begin(), expected.end()));
}

TEST_CASE("Standard input is read from a pipe and from a file") {
    const TemporaryFolder folder;
    for (const Content& content :
         {many_frames(3000), small_pcapng(), gzipped(many_frames(3000)), zstd_compressed(small_pcap())}) {
        const Reading expected = read_bytes(content);
        for (const char* path : {"-", "/dev/stdin"}) {
            int ends[2];
            REQUIRE(::pipe(ends) == 0);
            std::jthread writer([&] {
                write_all(ends[1], content);
                ::close(ends[1]);
            });
            const StandardInput input(ends[0]);
            ::close(ends[0]);
            auto file = CaptureFile::open(path);
            REQUIRE(file);
            CHECK_FALSE(file->mapped());
            CHECK(file->size() == std::nullopt);
            CHECK(file->name() == "standard input");
            const Reading reading = read_all(std::move(file));
            CHECK(reading.problem.kind == InputProblemKind::none);
            CHECK(reading.problem.file == "standard input");
            CHECK(reading.frames == expected.frames);
        }
        // From a file, of which somebody has read the beginning already.
        const std::string path = folder.write("input", joined(Maker().text("not for us").content(), content));
        const int descriptor = ::open(path.c_str(), O_RDONLY);
        REQUIRE(::lseek(descriptor, 10, SEEK_SET) == 10);
        const StandardInput input(descriptor);
        ::close(descriptor);
        CHECK(read_all(CaptureFile::open("-")).frames == expected.frames);
    }
}

TEST_CASE("A closed standard input is a problem, not a crash") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const StandardInput input(ends[0]);
    ::close(ends[0]);
    ::close(ends[1]);
    CHECK(read_all(CaptureFile::open("-")).problem.sentence == "empty file");
    ::close(STDIN_FILENO);
    CHECK(read_all(CaptureFile::open("-")).problem.kind == InputProblemKind::unreadable);
}

TEST_CASE("A FIFO gives the frames of the plain file") {
    const TemporaryFolder folder;
    for (const Content& content : {many_frames(3000), gzipped(small_pcapng()), zstd_compressed(many_frames(3000))}) {
        const std::string path = folder.fifo("fifo" + std::to_string(content.size()));
        std::jthread writer([&] {
            const int descriptor = ::open(path.c_str(), O_WRONLY);
            write_all(descriptor, content);
            ::close(descriptor);
        });
        const Reading reading = read_all(CaptureFile::open(path));
        CHECK(reading.problem.kind == InputProblemKind::none);
        CHECK(reading.frames == read_bytes(content).frames);
    }
}

TEST_CASE("A live stream hands over every frame as soon as it is whole") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const StandardInput input(ends[0]);
    ::close(ends[0]);
    const Content content = small_pcap();
    write_all(ends[1], prefix(content, 24));
    auto file = CaptureFile::open("-");
    REQUIRE(file);
    Batch batch;
    write_all(ends[1], Bytes(content).subspan(24, 30));  // frame 1 and a part of frame 2
    REQUIRE(file->read(batch));
    CHECK(batch.frames.size() == 1);
    write_all(ends[1], Bytes(content).subspan(54, 20));
    REQUIRE(file->read(batch));
    CHECK(batch.frames.size() == 1);
    CHECK(batch.frames[0].index == FrameIndex{2});
    write_all(ends[1], Bytes(content).subspan(74));
    ::close(ends[1]);
    REQUIRE(file->read(batch));
    CHECK(batch.frames.size() == 1);
    CHECK_FALSE(file->read(batch));
    CHECK(file->problem().kind == InputProblemKind::none);
}

TEST_CASE("Two hundred megabytes of a compressed stream are read in the memory of one batch") {
    Maker header;
    pcap_header(header);
    Maker records;
    constexpr std::size_t kRecords = 1000;
    constexpr std::size_t kMembers = 200;
    for (unsigned i = 0; i < kRecords; ++i) pcap_record(records, i, 0, frame_bytes(1000, 0), 1000);  // 1 MB
    const Content member = gzipped(records.content());
    Content stream = gzipped(header.content());
    for (std::size_t i = 0; i < kMembers; ++i) stream = joined(stream, member);

    const TemporaryFolder folder;
    auto file = CaptureFile::open(folder.write("large.pcap.gz", stream));
    REQUIRE(file);
    Batch batch;
    std::size_t frames = 0;
    std::size_t bytes = 0;
    while (file->read(batch)) {
        frames += batch.frames.size();
        for (const Frame& frame : batch.frames) bytes += frame.bytes.size();
        REQUIRE(batch.storage.capacity() <= kBatchBytes);
        REQUIRE(batch.frames.capacity() <= kBatchFrames);
    }
    CHECK(file->problem().kind == InputProblemKind::none);
    CHECK(frames == kRecords * kMembers);
    CHECK(bytes == kRecords * kMembers * 1000);
    CHECK(file->bytes_read() == stream.size());
}

TEST_CASE("A file that somebody holds open is read from its beginning, each time anew") {
    const TemporaryFolder folder;
    const Content plain = many_frames(5000);
    const Reading expected = read_bytes(plain);
    for (const Content& content : {plain, gzipped(plain)}) {
        const std::string path = folder.write("held", content);
        const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        REQUIRE(descriptor >= 0);
        ::unlink(path.c_str());
        for (int i = 0; i < 2; ++i) {
            auto file = CaptureFile::open(HeldFile{descriptor, 0}, "its name");
            REQUIRE(file);
            CHECK(file->name() == "its name");
            CHECK(read_all(std::move(file)).frames == expected.frames);
            CHECK(::lseek(descriptor, 1, SEEK_SET) == 1);  // still open, and somewhere else
        }
        ::close(descriptor);
    }
    const auto none = CaptureFile::open(HeldFile{-1, ENOENT}, "its name");
    REQUIRE_FALSE(none);
    CHECK(none.error().file == "its name");
    CHECK(none.error().sentence == CaptureFile::open(folder.file("none")).error().sentence);
}
