// pcap files that are as they should be, or odd but readable.
#include <tests/dissect/capture_bytes.hpp>
#include <tests/support/catch.hpp>

using namespace qps::dissect;
using namespace qps::test;

namespace {

constexpr std::uint32_t kMicroseconds = 0xa1b2c3d4;
constexpr std::uint32_t kNanoseconds = 0xa1b23c4d;

}  // namespace

TEST_CASE("A pcap file gives the same frames in both byte orders") {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        const Reading reading = read_bytes(small_pcap(order));
        CHECK(reading.problem.kind == InputProblemKind::none);
        REQUIRE(reading.frames.size() == 3);
        const Seen& first = reading.frames[0];
        CHECK(first.bytes == frame_bytes(10, 1));
        CHECK(first.frame.wire_length == 60);
        CHECK(first.frame.cut());
        CHECK(first.frame.link == LinkType::ethernet);
        CHECK(first.frame.index == FrameIndex{1});
        CHECK(first.time() == 1'700'000'000'000'005'000);
        CHECK(first.elapsed() == 0);
        CHECK(first.frame.interface == InterfaceId{0});
        CHECK(first.frame.link_speed == BitsPerSecond{0});
        CHECK(first.frame.file_offset == 24);
        CHECK(first.options.empty());
        CHECK(reading.frames[1].elapsed() == 999'995'000);
        CHECK(reading.frames[1].frame.file_offset == 24 + 16 + 10);
        CHECK(reading.frames[2].frame.index == FrameIndex{3});
        CHECK_FALSE(reading.frames[2].frame.cut());
    }
}

TEST_CASE("A frame before the first one has a negative elapsed time") {
    const Reading reading = read_bytes(small_pcap());
    REQUIRE(reading.frames.size() == 3);
    CHECK(reading.frames[2].elapsed() == -1000);
}

TEST_CASE("The magic of a pcap file says what its fractions of a second are") {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        const Content micro = small_pcap(order, kMicroseconds);
        const Content nano = small_pcap(order, kNanoseconds);
        CHECK(CaptureFile::from_memory(micro, "")->format() == CaptureFormat::pcap);
        CHECK(CaptureFile::from_memory(nano, "")->format() == CaptureFormat::pcap_nanosecond);
        REQUIRE(read_bytes(nano).frames.size() == 3);
        CHECK(read_bytes(nano).frames[0].time() == 1'700'000'000'000'000'005);
        CHECK(read_bytes(nano).interfaces[0].resolution == 9);
    }
}

TEST_CASE("Fractions above a second are carried, and seconds reach to 2106") {
    Maker out;
    pcap_header(out);
    pcap_record(out, 1, 0xffffffff, {}, 0);
    pcap_record(out, 0xffffffff, 999'999, {}, 0);
    const Reading reading = read_bytes(out.content());
    REQUIRE(reading.frames.size() == 2);
    CHECK(reading.frames[0].time() == 1'000'000'000 + 4'294'967'295'000);
    CHECK(reading.frames[1].time() == 4'294'967'295'999'999'000);
}

TEST_CASE("The modified pcap format has longer record headers") {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        Maker out(order);
        pcap_header(out, 0xa1b2cd34);
        for (unsigned i = 0; i < 3; ++i)
            out.u32(100 + i).u32(7).u32(20).u32(20).u32(2).u16(0x0800).u16(0).add(frame_bytes(20, i));
        const Reading reading = read_bytes(out.content());
        CHECK(reading.problem.kind == InputProblemKind::none);
        REQUIRE(reading.frames.size() == 3);
        CHECK(reading.frames[2].bytes == frame_bytes(20, 2));
        CHECK(reading.frames[2].time() == 102'000'007'000);
        CHECK(CaptureFile::from_memory(out.content(), "")->format() == CaptureFormat::pcap_modified);
    }
}

TEST_CASE("The upper bits of the link type, which may hold the length of the FCS, are left out") {
    Maker out;
    pcap_header(out, kMicroseconds, 0x24000000 | 247);
    pcap_record(out, 0, 0, frame_bytes(4, 0), 4);
    CHECK(read_bytes(out.content()).frames.at(0).frame.link == LinkType::infiniband);
}

TEST_CASE("All numbers of raw IP are the same link type") {
    for (const std::uint32_t number : {12U, 14U, 101U}) {
        Maker out;
        pcap_header(out, kMicroseconds, number);
        pcap_record(out, 0, 0, frame_bytes(4, 0), 4);
        CHECK(read_bytes(out.content()).frames.at(0).frame.link == LinkType::raw_ip);
    }
}

TEST_CASE("A snap length of zero or one shorter than the frames changes nothing") {
    for (const std::uint32_t snap_length : {0U, 3U}) {
        Maker out;
        pcap_header(out, kMicroseconds, 1, snap_length);
        pcap_record(out, 0, 0, frame_bytes(100, 0), 100);
        const Reading reading = read_bytes(out.content());
        CHECK(reading.problem.kind == InputProblemKind::none);
        REQUIRE(reading.frames.size() == 1);
        CHECK(reading.frames[0].bytes.size() == 100);
        CHECK(reading.interfaces.at(0).snap_length == snap_length);
    }
}

TEST_CASE("A record may hold more bytes than it says the wire had") {
    Maker out;
    pcap_header(out);
    pcap_record(out, 0, 0, frame_bytes(100, 0), 64);
    const Reading reading = read_bytes(out.content());
    REQUIRE(reading.frames.size() == 1);
    CHECK(reading.frames[0].bytes.size() == 100);
    CHECK(reading.frames[0].frame.wire_length == 100);
    CHECK_FALSE(reading.frames[0].frame.cut());
}

TEST_CASE("A pcap file of a header alone is an empty capture") {
    Maker out;
    pcap_header(out);
    for (const std::size_t piece : {0U, 1U}) {
        const Reading reading = read_bytes(out.content(), piece);
        CHECK(reading.frames.empty());
        CHECK(reading.problem.kind == InputProblemKind::none);
        CHECK(reading.problem.file == "made by hand");
    }
}

TEST_CASE("The longest record is read, mapped and streamed") {
    Maker out;
    pcap_header(out);
    pcap_record(out, 0, 0, frame_bytes(60, 1), 60);
    pcap_record(out, 0, 0, frame_bytes(kMaxRecord, 2), kMaxRecord);
    pcap_record(out, 0, 0, frame_bytes(60, 3), 60);
    for (const std::size_t piece : {std::size_t{0}, std::size_t{100'000}}) {
        const Reading reading = read_bytes(out.content(), piece);
        CHECK(reading.problem.kind == InputProblemKind::none);
        REQUIRE(reading.frames.size() == 3);
        CHECK(reading.frames[1].bytes.size() == kMaxRecord);
        CHECK(reading.frames[1].bytes.back() == frame_bytes(kMaxRecord, 2).back());
        CHECK(reading.largest_storage <= kMaxRecord + 24);
    }
}

TEST_CASE("Batches end at their bounds and no frame is lost between them") {
    Maker out;
    pcap_header(out);
    constexpr unsigned kFrames = 10'000;
    for (unsigned i = 0; i < kFrames; ++i) pcap_record(out, i, 0, frame_bytes(i % 500, i), 500);
    for (const std::size_t piece : {std::size_t{0}, std::size_t{1460}, std::size_t{1} << 20}) {
        auto file = CaptureFile::from_memory(out.content(), "", piece);
        REQUIRE(file);
        CHECK(file->mapped() == (piece == 0));
        Batch batch;
        unsigned frames = 0;
        unsigned wrong = 0;
        while (file->read(batch)) {
            CHECK(batch.frames.size() <= kBatchFrames);
            CHECK(batch.frames.capacity() == kBatchFrames);
            for (const Frame& frame : batch.frames) {
                const Content expected = frame_bytes(frames % 500, frames);
                ++frames;
                const bool same = std::equal(expected.begin(), expected.end(), frame.bytes.begin(), frame.bytes.end());
                if (!same || frame.index != FrameIndex{frames} ||
                    frame.elapsed != Duration{(frames - 1) * 1'000'000'000LL})
                    ++wrong;
            }
        }
        CHECK(frames == kFrames);
        CHECK(wrong == 0);
        CHECK(batch.storage.capacity() <= kBatchBytes);
        CHECK(file->bytes_read() == out.content().size());
        CHECK(file->size() == out.content().size());
        CHECK_FALSE(file->read(batch));
        CHECK(batch.frames.empty());
    }
}

TEST_CASE("The wire carried at least what was captured") {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        Maker out(order);
        pcap_header(out);
        pcap_record(out, 1, 0, frame_bytes(60, 1), 1);
        pcap_record(out, 1, 1, frame_bytes(60, 1), 90);
        const Reading reading = read_bytes(out.content());
        REQUIRE(reading.frames.size() == 2);
        CHECK(reading.frames[0].frame.wire_length == 60);
        CHECK_FALSE(reading.frames[0].frame.cut());
        CHECK(reading.frames[1].frame.wire_length == 90);
    }
}

TEST_CASE("Fractions that no second of microseconds has are nanoseconds") {
    const auto reading_of = [](std::initializer_list<std::uint32_t> fractions, std::size_t piece = 0) {
        Maker out;
        pcap_header(out);
        for (const std::uint32_t fraction : fractions) pcap_record(out, 1, fraction, frame_bytes(60, 1), 60);
        auto file = CaptureFile::from_memory(out.content(), "", piece);
        std::vector<std::int64_t> times;
        Batch batch;
        while (file->read(batch))
            for (const Frame& frame : batch.frames) times.push_back(std::to_underlying(frame.time));
        return std::pair(times, file->format() == CaptureFormat::pcap_nanosecond);
    };
    using Times = std::vector<std::int64_t>;
    for (const std::size_t piece : {0U, 1U, 100U}) {
        CHECK(reading_of({875'294'208, 875'305'000, 875'316'000}, piece) ==
              std::pair(Times{1'875'294'208, 1'875'305'000, 1'875'316'000}, true));
        CHECK(reading_of({5, 999'999, 7}, piece) ==
              std::pair(Times{1'000'005'000, 1'999'999'000, 1'000'007'000}, false));
        // A recorder that forgets to carry now and then.
        CHECK(reading_of({5, 6, 7, 8, 1'000'012}, piece).second == false);
    }
}
