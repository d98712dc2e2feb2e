// What the writer writes, the reader reads.
#include <dissect/capture/writer.hpp>
#include <tests/dissect/capture_bytes.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

using namespace qps::dissect;
using namespace qps::test;
using Catch::Matchers::Contains;

namespace {

Frame frame_of(const Content& bytes, std::uint64_t index = 1) {
    Frame frame;
    frame.bytes = bytes;
    frame.wire_length = static_cast<std::uint32_t>(bytes.size() + 3);
    frame.index = FrameIndex{index};
    frame.time = Instant{1'700'000'000'123'456'789};
    return frame;
}

}  // namespace

TEST_CASE("Written pcap files keep bytes, lengths, times and link type") {
    const TemporaryFolder folder;
    const std::string path = folder.file("out.pcap");
    auto writer = CaptureWriter::open(path, WriterFormat::pcap, LinkType::infiniband);
    REQUIRE(writer);
    std::vector<Content> contents;
    for (unsigned i = 0; i < 1000; ++i) contents.push_back(frame_bytes(i, i));
    for (unsigned i = 0; i < 1000; ++i) {
        Frame frame = frame_of(contents[i], i + 1);
        frame.link = LinkType::infiniband;
        frame.time = Instant{1'700'000'000'123'456'789 - i * 1'000'000'001LL};
        REQUIRE(writer->write(frame));
    }
    REQUIRE(writer->close());
    CHECK(CaptureFile::open(path)->format() == CaptureFormat::pcap_nanosecond);
    const Reading reading = read_all(CaptureFile::open(path));
    CHECK(reading.problem.kind == InputProblemKind::none);
    REQUIRE(reading.frames.size() == 1000);
    for (unsigned i = 0; i < 1000; ++i) {
        CHECK(reading.frames[i].bytes == contents[i]);
        CHECK(reading.frames[i].frame.wire_length == contents[i].size() + 3);
        CHECK(reading.frames[i].time() == 1'700'000'000'123'456'789 - i * 1'000'000'001LL);
        CHECK(reading.frames[i].frame.link == LinkType::infiniband);
    }
}

TEST_CASE("Written pcapng files keep interfaces, speeds and comments too") {
    const TemporaryFolder folder;
    const std::string path = folder.file("out.pcapng");
    auto writer = CaptureWriter::open(path, WriterFormat::pcapng);
    REQUIRE(writer);
    writer->name_interface(InterfaceId{7}, "roce7");
    const Content bytes = frame_bytes(61, 1);
    Frame frame = frame_of(bytes);
    frame.interface = InterfaceId{7};
    frame.link_speed = BitsPerSecond{400'000'000'000};
    REQUIRE(writer->write(frame, "look here"));
    frame.interface = InterfaceId{2};
    frame.link = LinkType::raw_ip;
    REQUIRE(writer->write(frame));
    frame.interface = InterfaceId{7};
    frame.link = LinkType::ethernet;
    REQUIRE(writer->write(frame, "again"));
    REQUIRE(writer->close());

    const Reading reading = read_all(CaptureFile::open(path));
    CHECK(reading.problem.kind == InputProblemKind::none);
    REQUIRE(reading.frames.size() == 3);
    REQUIRE(reading.interfaces.size() == 2);
    CHECK(reading.interfaces[0].name == "roce7");
    CHECK(reading.interfaces[0].speed == BitsPerSecond{400'000'000'000});
    CHECK(reading.interfaces[1].name.empty());
    CHECK(reading.interfaces[1].link == LinkType::raw_ip);
    CHECK(reading.frames[0].comment == "look here");
    CHECK(reading.frames[1].comment.empty());
    CHECK(reading.frames[1].options.empty());
    CHECK(reading.frames[2].comment == "again");
    CHECK(reading.frames[2].frame.interface == InterfaceId{0});
    for (const Seen& seen : reading.frames) {
        CHECK(seen.bytes == bytes);
        CHECK(seen.time() == 1'700'000'000'123'456'789);
        CHECK(seen.frame.wire_length == 64);
    }
}

TEST_CASE("Statistics of an interface are written, of one without frames too") {
    const TemporaryFolder folder;
    const std::string path = folder.file("out.pcapng");
    auto writer = CaptureWriter::open(path, WriterFormat::pcapng);
    REQUIRE(writer);
    writer->name_interface(InterfaceId{3}, "quiet");
    const Content bytes = frame_bytes(61, 1);
    Frame frame = frame_of(bytes);
    frame.link_speed = BitsPerSecond{100'000'000'000};
    REQUIRE(writer->write(frame));
    REQUIRE(writer->write(InterfaceStatistics{InterfaceId{0}, LinkType::ethernet, frame.time, 1, 0, 0}));
    REQUIRE(writer->write(
        InterfaceStatistics{InterfaceId{0}, LinkType::ethernet, frame.time, 1U << 31U, 20, std::uint64_t{3} << 40}));
    REQUIRE(writer->write(InterfaceStatistics{InterfaceId{3}, LinkType::raw_ip, frame.time, 5, 6, 7}));
    CHECK_THAT(
        writer->write(InterfaceStatistics{InterfaceId{3}, LinkType::raw_ip, Instant{-1}, 0, 0, 0}).error().sentence,
        Contains("before 1970"));
    REQUIRE(writer->close());
    CHECK_FALSE(writer->write(InterfaceStatistics{}));

    const Reading reading = read_all(CaptureFile::open(path));
    CHECK(reading.problem.kind == InputProblemKind::none);
    REQUIRE(reading.frames.size() == 1);
    REQUIRE(reading.interfaces.size() == 2);  // the speed of its frames makes no other interface of the first
    CHECK(reading.interfaces[0].received == 1U << 31U);
    CHECK(reading.interfaces[0].dropped == 20);
    CHECK(reading.interfaces[0].dropped_by_system == std::uint64_t{3} << 40);
    CHECK(reading.interfaces[1].name == "quiet");
    CHECK(reading.interfaces[1].link == LinkType::raw_ip);
    CHECK(reading.interfaces[1].received == 5);
    CHECK(reading.drops.dropped_by_system == (std::uint64_t{3} << 40) + 7);

    auto plain = CaptureWriter::open(folder.file("out.pcap"), WriterFormat::pcap);
    REQUIRE(plain);
    REQUIRE(plain->write(frame_of(bytes)));
    REQUIRE(plain->write(InterfaceStatistics{}));
    REQUIRE(plain->close());
    const Reading without = read_all(CaptureFile::open(folder.file("out.pcap")));
    CHECK(without.problem.kind == InputProblemKind::none);
    CHECK(without.frames.size() == 1);
}

TEST_CASE("Options of a frame pass through the writer, whatever their byte order") {
    const TemporaryFolder folder;
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        Maker in(order);
        section(in);
        interface_block(in);
        Maker options(order);
        options.option(1, Maker().text("old").content()).option(2, Maker(order).u32(0x12345678).content()).u32(0);
        packet_block(in, 0, 1000, frame_bytes(5, 0), 5, options.content());
        const Reading original = read_bytes(in.content());
        const std::string path = folder.file("out.pcapng");
        auto writer = CaptureWriter::open(path, WriterFormat::pcapng);
        REQUIRE(writer);
        REQUIRE(writer->write(original.frames.at(0).frame, "new"));
        REQUIRE(writer->close());
        const Reading reading = read_all(CaptureFile::open(path));
        REQUIRE(reading.frames.size() == 1);
        CHECK(reading.frames[0].comment == "new");
        Maker expected;
        expected.option(1, Maker().text("new").content()).option(1, Maker().text("old").content());
        expected.option(2, Maker().u32(0x12345678).content()).u32(0);
        CHECK(reading.frames[0].options == expected.content());
    }
}

TEST_CASE("A capture without frames is written and read") {
    const TemporaryFolder folder;
    for (const WriterFormat format : {WriterFormat::pcap, WriterFormat::pcapng}) {
        const std::string path = folder.file("empty");
        REQUIRE(CaptureWriter::open(path, format)->close());
        const Reading reading = read_all(CaptureFile::open(path));
        CHECK(reading.problem.kind == InputProblemKind::none);
        CHECK(reading.frames.empty());
    }
}

TEST_CASE("What a format cannot hold is refused, and the next frame is written") {
    const TemporaryFolder folder;
    const Content bytes = frame_bytes(5, 0);
    for (const WriterFormat format : {WriterFormat::pcap, WriterFormat::pcapng}) {
        const std::string path = folder.file("out");
        auto writer = CaptureWriter::open(path, format);
        REQUIRE(writer);
        Frame early = frame_of(bytes, 9);
        early.time = Instant{-1};
        REQUIRE_FALSE(writer->write(early));
        CHECK_THAT(writer->write(early).error().sentence, Contains("frame 9"));
        CHECK(writer->write(early).error().file == path);
        const Content huge(kMaxRecord + 1);
        CHECK_FALSE(writer->write(frame_of(huge)));
        if (format == WriterFormat::pcap) {
            Frame other = frame_of(bytes);
            other.link = LinkType::erf;
            CHECK_THAT(writer->write(other).error().sentence, Contains("link type 197"));
            Frame late = frame_of(bytes);
            late.time = Instant{std::int64_t{1'000'000'000} << 32};
            CHECK_FALSE(writer->write(late));
        } else {
            CHECK_FALSE(writer->write(frame_of(bytes), std::string(kMaxComment + 1, 'x')));
            CHECK(writer->write(frame_of(bytes), std::string(kMaxComment, 'x')));
        }
        REQUIRE(writer->write(frame_of(bytes)));
        REQUIRE(writer->close());
        CHECK(read_all(CaptureFile::open(path)).frames.back().bytes == bytes);
        CHECK(read_all(CaptureFile::open(path)).problem.kind == InputProblemKind::none);
        CHECK_FALSE(writer->write(frame_of(bytes)));
        CHECK_FALSE(writer->close());
    }
}

TEST_CASE("The longest records that are written can be read") {
    const TemporaryFolder folder;
    for (const WriterFormat format : {WriterFormat::pcap, WriterFormat::pcapng}) {
        auto writer = CaptureWriter::open(folder.file("out"), format);
        REQUIRE(writer);
        for (std::size_t less = 0; less <= 64; ++less) {
            const Content bytes(kMaxRecord - less);
            const bool written = writer->write(frame_of(bytes)).has_value();
            if (format == WriterFormat::pcap && less == 0) CHECK(written);
            if (written) break;
        }
        REQUIRE(writer->close());
        const Reading reading = read_all(CaptureFile::open(folder.file("out")));
        CHECK(reading.frames.size() == 1);
        CHECK(reading.problem.kind == InputProblemKind::none);
    }
}

TEST_CASE("Places that cannot be written to are told") {
    const TemporaryFolder folder;
    const auto missing = CaptureWriter::open(folder.file("no/such/folder"), WriterFormat::pcap);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().sentence == "cannot create: No such file or directory");
    const auto directory = CaptureWriter::open(folder.path(), WriterFormat::pcap);
    REQUIRE_FALSE(directory);

    auto full = CaptureWriter::open("/dev/full", WriterFormat::pcapng);
    REQUIRE(full);
    const auto written = full->flush();
    REQUIRE_FALSE(written);
    CHECK(written.error().file == "/dev/full");
    CHECK(written.error().sentence == "cannot write: No space left on device");
    CHECK_FALSE(full->close());
}
