// Frames read again by the place of their record are the frames that were delivered.
#include <dissect/capture/frame_reader.hpp>
#include <tests/dissect/capture_bytes.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/temporary_file.hpp>

#include <atomic>
#include <random>
#include <set>
#include <thread>

using namespace qps::dissect;
using namespace qps::test;

namespace {

struct Delivered {
    std::vector<Frame> frames;  // with an index and an elapsed time that the reader does not know
    std::vector<Content> bytes;
    std::vector<Content> options;
    CaptureLayout layout;
};

Content copy(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

Delivered read_through(const std::string& path) {
    auto file = CaptureFile::open(path);
    REQUIRE(file.has_value());
    Delivered delivered;
    Batch batch;
    while (file->read(batch))
        for (const Frame& frame : batch.frames) {
            delivered.frames.push_back(frame);
            delivered.bytes.push_back(copy(frame.bytes));
            delivered.options.push_back(copy(frame.options));
        }
    delivered.layout = file->layout();
    return delivered;
}

bool same(const Delivered& delivered, std::size_t i, const Frame& b) {
    const Frame& a = delivered.frames[i];
    return delivered.bytes[i] == copy(b.bytes) && delivered.options[i] == copy(b.options) &&
           a.wire_length == b.wire_length && a.link == b.link && a.time == b.time && a.has_time == b.has_time &&
           a.interface == b.interface && a.link_speed == b.link_speed && a.file_offset == b.file_offset &&
           a.options_order == b.options_order;
}

// How many of the frames come again as they were, asked for forwards or backwards.
std::size_t found_again(const FrameReader& reader, const Delivered& delivered, bool forwards) {
    FrameBuffer buffer;
    std::size_t good = 0;
    for (std::size_t i = 0; i < delivered.frames.size(); ++i) {
        const std::size_t which = forwards ? i : delivered.frames.size() - 1 - i;
        const auto frame = reader.at(delivered.layout, delivered.frames[which].file_offset, buffer);
        if (frame && same(delivered, which, *frame)) ++good;
    }
    return good;
}

// Several sections in both byte orders, with interfaces of their own clocks, simple and obsolete packets, options.
Content many_sections() {
    Content file;
    unsigned seed = 0;
    for (const ByteOrder order : {ByteOrder::big, ByteOrder::little, ByteOrder::little, ByteOrder::big}) {
        Maker out(order);
        section(out);
        interface_block(out, {.link = 1, .snap_length = 8});
        packet_block(out, 0, 1'000'000, frame_bytes(5, ++seed), 5);
        Maker options(order);
        options.option(9, Content{std::byte{9}}).option(8, Maker(order).u64(100'000'000'000).content()).u32(0);
        interface_block(out, {.link = 247, .options = options.content()});
        Maker comment(order);
        comment.option(1, Maker().text("a comment").content()).u32(0);
        packet_block(out, 1, 2'000'000'007, frame_bytes(6, ++seed), 60, comment.content());
        out.block(3, Maker(order).u32(20).add(frame_bytes(8, ++seed)).content());
        out.block(2,
                  Maker(order).u16(1).u16(0).u32(0).u32(77).u32(3).u32(3).add(frame_bytes(3, ++seed)).pad().content());
        file = joined(file, out.content());
    }
    return file;
}

void check_all_again(const std::string& path) {
    INFO(path);
    const Delivered delivered = read_through(path);
    const auto reader = FrameReader::open(path);
    REQUIRE(reader.has_value());
    CHECK(found_again(*reader, delivered, true) == delivered.frames.size());
    CHECK(found_again(*reader, delivered, false) == delivered.frames.size());
}

}  // namespace

TEST_CASE("every frame of every sample is found again at its place") {
    std::size_t plain = 0;
    for (const std::string& path : qps::tests::sample_captures()) {
        const auto file = CaptureFile::open(path);
        REQUIRE(file.has_value());
        if (file->compression() == Compression::none) {
            check_all_again(path);
            ++plain;
        } else {
            CHECK(FrameReader::open(path).error().kind == InputProblemKind::not_a_capture);
        }
    }
    CHECK(plain > 30);
}

TEST_CASE("frames are found again in every format, both byte orders and many sections") {
    const TemporaryFolder folder;
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        check_all_again(folder.write("micro", small_pcap(order)));
        check_all_again(folder.write("nano", small_pcap(order, kPcapNanosecondMagic)));
        check_all_again(folder.write("ng", small_pcapng(order)));
        Maker modified(order);
        pcap_header(modified, kPcapModifiedMagic);
        modified.u32(7).u32(8).u32(5).u32(60).u64(0).add(frame_bytes(5, 1));
        check_all_again(folder.write("modified", modified.content()));
    }
    const std::string sections = folder.write("sections", many_sections());
    CHECK(read_through(sections).frames.size() == 16);
    CHECK(read_through(sections).layout.sections.size() == 4);
    check_all_again(sections);

    Maker long_one;
    pcap_header(long_one);
    pcap_record(long_one, 1, 0, frame_bytes(3 * kReadAhead, 1), 3 * kReadAhead);
    pcap_record(long_one, 2, 0, frame_bytes(9, 2), 9);
    check_all_again(folder.write("long", long_one.content()));
}

TEST_CASE("where no record starts there is no frame, or one within the file") {
    const TemporaryFolder folder;
    const std::string path = folder.write("sections", many_sections());
    const Delivered delivered = read_through(path);
    const auto reader = FrameReader::open(path);
    REQUIRE(reader.has_value());
    std::set<std::uint64_t> places;
    for (const Frame& frame : delivered.frames) places.insert(frame.file_offset);
    FrameBuffer buffer;
    for (std::uint64_t offset = 0; offset < delivered.layout.known_to + 100; ++offset)
        CHECK(reader->at(delivered.layout, offset, buffer).has_value() == places.contains(offset));
    for (const std::uint64_t far : {std::uint64_t{1} << 40, std::uint64_t{1} << 63, ~std::uint64_t{0}})
        CHECK_FALSE(reader->at(delivered.layout, far, buffer));
    CaptureLayout boundless = delivered.layout;
    boundless.known_to = ~std::uint64_t{0};
    for (const std::uint64_t far : {std::uint64_t{1} << 40, std::uint64_t{1} << 63, ~std::uint64_t{0} - 1})
        CHECK_FALSE(reader->at(boundless, far, buffer));
    CHECK_FALSE(reader->at({}, 0, buffer));
}

TEST_CASE("what is beyond the layout is not read with the interfaces of another section") {
    const TemporaryFolder folder;
    const std::string path = folder.write("sections", many_sections());
    const Delivered delivered = read_through(path);
    const auto reader = FrameReader::open(path);
    REQUIRE(reader.has_value());
    CaptureLayout early = delivered.layout;
    early.known_to = early.sections[1].start;
    early.origins.resize(early.sections[1].first_interface);
    early.sections.resize(1);
    FrameBuffer buffer;
    for (std::size_t i = 0; i < delivered.frames.size(); ++i)
        CHECK(reader->at(early, delivered.frames[i].file_offset, buffer).has_value() == (i < 4));
}

TEST_CASE("a file that grows, shrinks or becomes another gives frames, fewer frames or none") {
    const TemporaryFolder folder;
    const Content whole = small_pcap();
    const std::string path = folder.write("growing", prefix(whole, 24 + 26));
    const auto reader = FrameReader::open(path);
    REQUIRE(reader.has_value());
    FrameBuffer buffer;
    const Delivered first = read_through(path);
    REQUIRE(first.frames.size() == 1);
    CHECK(found_again(*reader, first, true) == 1);
    CHECK(reader->at(first.layout, 24, buffer).has_value());

    static_cast<void>(folder.write("growing", whole));
    const Delivered grown = read_through(path);
    REQUIRE(grown.frames.size() == 3);
    CHECK(reader->at(grown.layout, grown.frames[2].file_offset, buffer).has_value());  // the buffer ended before it
    CHECK(found_again(*reader, grown, true) == 3);

    static_cast<void>(folder.write("growing", prefix(whole, 24 + 26 + 16)));
    CHECK(found_again(*reader, grown, true) == 2);
    static_cast<void>(folder.write("growing", Content(whole.size(), std::byte{0xff})));
    CHECK(found_again(*reader, grown, true) == 0);
}

TEST_CASE("a layout taken while reading describes the frames delivered so far") {
    const TemporaryFolder folder;
    Maker out;
    pcap_header(out);
    for (unsigned i = 0; i < 3 * kBatchFrames; ++i) pcap_record(out, i, 0, frame_bytes(4, i), 4);
    const std::string path = folder.write("long", out.content());
    auto file = CaptureFile::open(path);
    const auto reader = FrameReader::open(path);
    REQUIRE((file.has_value() && reader.has_value()));
    Batch batch;
    FrameBuffer buffer;
    REQUIRE(file->read(batch));
    const CaptureLayout layout = file->layout();
    CHECK(reader->at(layout, batch.frames.back().file_offset, buffer).has_value());
    REQUIRE(file->read(batch));
    CHECK_FALSE(reader->at(layout, batch.frames.front().file_offset, buffer));
    CHECK(reader->at(file->layout(), batch.frames.front().file_offset, buffer).has_value());
}

TEST_CASE("sections beyond the bound are read, but their frames not again") {
    const TemporaryFolder folder;
    Content one = small_pcapng();
    Maker header;
    section(header);
    Content file;
    for (std::size_t i = 0; i < kMaxSections; ++i)
        file.insert(file.end(), header.content().begin(), header.content().end());
    const std::uint64_t last = file.size();
    file = joined(file, one);
    const std::string path = folder.write("sections", file);
    const Delivered delivered = read_through(path);
    CHECK(delivered.frames.size() == 3);
    CHECK(delivered.layout.sections.size() == kMaxSections);
    CHECK(delivered.layout.known_to == last);
    const auto reader = FrameReader::open(path);
    REQUIRE(reader.has_value());
    CHECK(found_again(*reader, delivered, true) == 0);
}

TEST_CASE("threads share a reader") {
    const TemporaryFolder folder;
    const std::string path = folder.write("sections", many_sections());
    const Delivered delivered = read_through(path);
    const auto reader = FrameReader::open(path);
    REQUIRE(reader.has_value());
    std::atomic<std::size_t> good = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&, i] {
                for (int round = 0; round < 50; ++round) good += found_again(*reader, delivered, i % 2 == 0);
            });
    }
    CHECK(good == 4 * 50 * delivered.frames.size());
}

TEST_CASE("bytes that lie give no frame beyond them") {
    const TemporaryFolder folder;
    std::mt19937 random(4711);
    std::size_t frames = 0;
    for (int round = 0; round < 60; ++round) {
        Content content =
            round % 2 == 0 ? many_sections() : small_pcap(round % 4 == 1 ? ByteOrder::little : ByteOrder::big);
        const std::string path = folder.write("lies", content);
        CaptureLayout layout = read_through(path).layout;
        if (round % 3 == 0) layout.known_to = ~std::uint64_t{0};
        for (int i = 0; i < 20; ++i) content[random() % content.size()] = static_cast<std::byte>(random());
        std::copy_n(small_pcap().begin(), 24, content.begin());  // whatever else, it begins as a capture
        static_cast<void>(folder.write("lies", content));
        const auto reader = FrameReader::open(path);
        REQUIRE(reader.has_value());
        FrameBuffer buffer;
        for (int i = 0; i < 400; ++i) {
            const auto frame = reader->at(layout, random() % (content.size() + 8), buffer);
            if (!frame) continue;
            ++frames;
            const Bytes held(buffer.storage);
            const bool inside =
                frame->bytes.empty() || (frame->bytes.data() >= held.data() &&
                                         frame->bytes.data() + frame->bytes.size() <= held.data() + buffer.filled);
            CHECK(inside);
            volatile unsigned sum = 0;
            for (const std::byte byte : frame->bytes) sum = sum + std::to_integer<unsigned>(byte);
            for (const std::byte byte : frame->options) sum = sum + std::to_integer<unsigned>(byte);
        }
    }
    CHECK(frames > 100);
}

TEST_CASE("what cannot be read again is refused") {
    const TemporaryFolder folder;
    CHECK(FrameReader::open(folder.file("missing")).error().kind == InputProblemKind::unreadable);
    CHECK(FrameReader::open(folder.path()).error().kind == InputProblemKind::unreadable);
    CHECK(FrameReader::open(folder.fifo("fifo")).error().kind == InputProblemKind::unreadable);
    CHECK(FrameReader::open(folder.write("gz", gzipped(small_pcap()))).error().kind == InputProblemKind::not_a_capture);
    CHECK(FrameReader::open(folder.write("short", Content(5))).error().kind == InputProblemKind::not_a_capture);
}
