// pcapng files: sections, interfaces, times, comments and the blocks between.
#include <dissect/capture/options.hpp>
#include <tests/dissect/capture_bytes.hpp>
#include <tests/support/catch.hpp>

#include <limits>

using namespace qps::dissect;
using namespace qps::test;

namespace {

constexpr std::uint16_t kName = 2;
constexpr std::uint16_t kSpeed = 8;
constexpr std::uint16_t kResolution = 9;
constexpr std::uint16_t kOffset = 14;

Content text_bytes(std::string_view text) { return Maker().text(text).content(); }

// The time of one frame with `ticks` on an interface of that resolution and offset.
std::int64_t time_with(std::uint8_t resolution, std::uint64_t ticks, std::int64_t offset = 0,
                       ByteOrder order = ByteOrder::little) {
    Maker out(order);
    section(out);
    const Content value = Maker(order).u64(static_cast<std::uint64_t>(offset)).content();
    Maker options(order);
    options.option(kResolution, Content{std::byte{resolution}}).option(kOffset, value).u32(0);
    interface_block(out, {.options = options.content()});
    packet_block(out, 0, ticks, {}, 0);
    return read_bytes(out.content()).frames.at(0).time();
}

void statistics_block(Maker& out, std::uint32_t interface, std::uint64_t received, std::uint64_t dropped,
                      std::uint64_t by_system) {
    Maker body(out.order());
    body.u32(interface).u64(0);
    body.option(4, Maker(out.order()).u64(received).content());
    body.option(5, Maker(out.order()).u64(dropped).content());
    body.option(7, Maker(out.order()).u64(by_system).content());
    out.block(5, body.content());
}

}  // namespace

TEST_CASE("A pcapng file gives the frames of the same pcap file, in both byte orders") {
    const Reading pcap = read_bytes(small_pcap());
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        const Reading reading = read_bytes(small_pcapng(order));
        CHECK(reading.problem.kind == InputProblemKind::none);
        REQUIRE(reading.frames.size() == 3);
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(reading.frames[i].bytes == pcap.frames[i].bytes);
            CHECK(reading.frames[i].frame.wire_length == pcap.frames[i].frame.wire_length);
            CHECK(reading.frames[i].time() == pcap.frames[i].time());
            CHECK(reading.frames[i].elapsed() == pcap.frames[i].elapsed());
            CHECK(reading.frames[i].frame.index == pcap.frames[i].frame.index);
        }
        CHECK(reading.frames[0].frame.file_offset == 28 + 20);
        CHECK(CaptureFile::from_memory(small_pcapng(order), "")->format() == CaptureFormat::pcapng);
    }
}

TEST_CASE("Sections of mixed byte order follow each other, and interfaces are counted over all of them") {
    Content file;
    for (const ByteOrder order : {ByteOrder::big, ByteOrder::little, ByteOrder::little, ByteOrder::big}) {
        Maker out(order);
        section(out);
        interface_block(out, {.link = 1});
        packet_block(out, 0, 1'000'000, frame_bytes(5, 0), 5);
        interface_block(out, {.link = 247});
        packet_block(out, 1, 2'000'000, frame_bytes(6, 1), 6);
        file = joined(file, out.content());
    }
    const Reading reading = read_bytes(file);
    CHECK(reading.problem.kind == InputProblemKind::none);
    REQUIRE(reading.frames.size() == 8);
    REQUIRE(reading.interfaces.size() == 8);
    for (std::size_t i = 0; i < 8; ++i) {
        CHECK(reading.frames[i].frame.interface == InterfaceId{static_cast<std::uint32_t>(i)});
        CHECK(reading.frames[i].frame.link == (i % 2 == 0 ? LinkType::ethernet : LinkType::infiniband));
        CHECK(reading.frames[i].frame.index == FrameIndex{i + 1});
        CHECK(reading.frames[i].time() == (i % 2 == 0 ? 1'000'000'000 : 2'000'000'000));
    }
    CHECK(read_bytes(file, 1).frames == reading.frames);
}

TEST_CASE("Speed, name and snap length of an interface are read") {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        Maker out(order);
        section(out);
        Maker options(order);
        options.option(kName, text_bytes("mlx5_0")).option(kSpeed, Maker(order).u64(100'000'000'000).content()).u32(0);
        interface_block(out, {.link = 1, .snap_length = 96, .options = options.content()});
        packet_block(out, 0, 0, frame_bytes(3, 0), 3);
        const Reading reading = read_bytes(out.content());
        REQUIRE(reading.frames.size() == 1);
        CHECK(reading.frames[0].frame.link_speed == BitsPerSecond{100'000'000'000});
        CHECK(reading.interfaces.at(0).name == "mlx5_0");
        CHECK(reading.interfaces.at(0).speed == BitsPerSecond{100'000'000'000});
        CHECK(reading.interfaces.at(0).snap_length == 96);
    }
}

TEST_CASE("The resolution of times is a power of ten or of two") {
    CHECK(time_with(0, 7) == 7'000'000'000);
    CHECK(time_with(3, 1'700'000'000'123) == 1'700'000'000'123'000'000);
    CHECK(time_with(6, 1'700'000'000'123'456) == 1'700'000'000'123'456'000);
    CHECK(time_with(9, 1'700'000'000'123'456'789) == 1'700'000'000'123'456'789);
    CHECK(time_with(9, 1'700'000'000'123'456'789, 0, ByteOrder::big) == 1'700'000'000'123'456'789);
    CHECK(time_with(10, 12'345'678'901) == 1'234'567'890);
    CHECK(time_with(12, 1'999) == 1);
    CHECK(time_with(28, std::numeric_limits<std::uint64_t>::max()) == 1);
    CHECK(time_with(29, std::numeric_limits<std::uint64_t>::max()) == 0);
    CHECK(time_with(127, std::numeric_limits<std::uint64_t>::max()) == 0);
    CHECK(time_with(0x80, 7) == 7'000'000'000);
    CHECK(time_with(0x80 | 10, 1536) == 1'500'000'000);
    CHECK(time_with(0x80 | 20, (std::uint64_t{1'700'000'000} << 20) + (1 << 19)) == 1'700'000'000'500'000'000);
    CHECK(time_with(0x80 | 32, (std::uint64_t{1'700'000'000} << 32) + (std::uint64_t{1} << 30)) ==
          1'700'000'000'250'000'000);
    CHECK(time_with(0x80 | 63, std::uint64_t{1} << 63) == 1'000'000'000);
    CHECK(time_with(0xff, std::numeric_limits<std::uint64_t>::max()) == 0);
}

TEST_CASE("Of two resolutions or offsets that differ none is taken, two that agree are one") {
    for (const std::uint16_t code : {kResolution, kOffset})
        for (const bool differ : {false, true}) {
            Maker out;
            section(out);
            Maker options;
            const auto value = [&](std::uint64_t number) {
                return code == kOffset ? Maker().u64(number).content() : Content{static_cast<std::byte>(number)};
            };
            options.option(code, value(6)).option(code, value(differ ? 9 : 6)).u32(0);
            interface_block(out, {.options = options.content()});
            packet_block(out, 0, 5, {}, 0);
            const Reading reading = read_bytes(out.content());
            CHECK(reading.frames.size() == (differ ? 0 : 1));
            CHECK((reading.problem.kind == InputProblemKind::none) != differ);
        }
}

TEST_CASE("The offset of times is added, in seconds") {
    CHECK(time_with(6, 5, 1'700'000'000) == 1'700'000'000'000'005'000);
    CHECK(time_with(6, 5, -1) == -999'995'000);
}

TEST_CASE("Times that no instant can hold stay at its ends") {
    constexpr auto kLatest = std::numeric_limits<std::int64_t>::max();
    constexpr auto kEarliest = std::numeric_limits<std::int64_t>::min();
    CHECK(time_with(0, std::numeric_limits<std::uint64_t>::max()) == kLatest);
    CHECK(time_with(9, std::numeric_limits<std::uint64_t>::max()) == kLatest);
    CHECK(time_with(9, 1, kLatest) == kLatest);
    CHECK(time_with(9, 0, kEarliest) == kEarliest);

    Maker out;
    section(out);
    interface_block(out, {.options = Maker().option(kOffset, Maker().u64(std::uint64_t{1} << 63).content()).content()});
    interface_block(out, {.options = Maker().option(kResolution, Content{std::byte{0}}).content()});
    packet_block(out, 0, 0, {}, 0);
    packet_block(out, 1, std::numeric_limits<std::uint64_t>::max(), {}, 0);
    CHECK(read_bytes(out.content()).frames.at(1).elapsed() == kLatest);
}

TEST_CASE("Options of a frame are kept and its first comment is found") {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        Maker out(order);
        section(out);
        interface_block(out);
        Maker options(order);
        options.option(2, Maker(order).u32(1).content())
            .option(1, text_bytes("first"))
            .option(1, text_bytes("second"))
            .u32(0);
        packet_block(out, 0, 0, frame_bytes(5, 0), 5, options.content());
        packet_block(out, 0, 0, frame_bytes(5, 0), 5);
        const Reading reading = read_bytes(out.content());
        REQUIRE(reading.frames.size() == 2);
        CHECK(reading.frames[0].options == options.content());
        CHECK(reading.frames[0].frame.options_order == order);
        CHECK(reading.frames[0].comment == "first");
        CHECK(reading.frames[1].options.empty());
        CHECK(reading.frames[1].comment.empty());
    }
}

TEST_CASE("Options whose lengths lie are left at the first lie") {
    Maker out;
    section(out);
    interface_block(out, {.options = Maker().u16(kSpeed).u16(0xffff).u64(1).content()});
    packet_block(out, 0, 0, frame_bytes(5, 0), 5, Maker().u16(1).u16(200).text("lost").content());
    packet_block(out, 0, 0, frame_bytes(5, 0), 5, Maker().option(1, text_bytes("kept")).u16(1).u16(9).content());
    const Reading reading = read_bytes(out.content());
    CHECK(reading.problem.kind == InputProblemKind::none);
    REQUIRE(reading.frames.size() == 2);
    CHECK(reading.frames[0].frame.link_speed == BitsPerSecond{0});
    CHECK(reading.frames[0].comment.empty());
    CHECK(reading.frames[1].comment == "kept");
}

TEST_CASE("A simple packet is from interface 0, has no time, and is as long as the snap length lets it") {
    Maker out;
    section(out);
    interface_block(out, {.link = 101, .snap_length = 20});
    out.block(3, Maker().u32(50).add(frame_bytes(20, 1)).content());
    out.block(3, Maker().u32(6).add(frame_bytes(6, 2)).content());
    packet_block(out, 0, 9'000'000, {}, 0);
    section(out);
    interface_block(out, {.link = 1, .snap_length = 0});
    out.block(3, Maker().u32(50).add(frame_bytes(50, 3)).content());
    const Reading reading = read_bytes(out.content());
    CHECK(reading.problem.kind == InputProblemKind::none);
    REQUIRE(reading.frames.size() == 4);
    CHECK(reading.frames[0].bytes == frame_bytes(20, 1));
    CHECK(reading.frames[0].frame.wire_length == 50);
    CHECK(reading.frames[0].frame.link == LinkType::raw_ip);
    CHECK(reading.frames[0].time() == 0);
    CHECK(reading.frames[1].bytes == frame_bytes(6, 2));
    CHECK(reading.frames[2].elapsed() == 0);
    CHECK(reading.frames[3].bytes == frame_bytes(50, 3));
    CHECK(reading.frames[3].frame.interface == InterfaceId{1});
    CHECK(reading.frames[3].elapsed() == 0);
}

TEST_CASE("The obsolete packet block is read") {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        Maker out(order);
        section(out);
        interface_block(out, {.link = 1});
        interface_block(out, {.link = 247});
        Maker body(order);
        body.u16(1)
            .u16(0xffff)
            .u32(0)
            .u32(1'000'007)
            .u32(5)
            .u32(9)
            .add(frame_bytes(5, 0))
            .pad()
            .option(1, text_bytes("old"));
        out.block(2, body.content());
        const Reading reading = read_bytes(out.content());
        REQUIRE(reading.frames.size() == 1);
        CHECK(reading.frames[0].frame.link == LinkType::infiniband);
        CHECK(reading.frames[0].time() == 1'000'007'000);
        CHECK(reading.frames[0].bytes == frame_bytes(5, 0));
        CHECK(reading.frames[0].frame.wire_length == 9);
        CHECK(reading.frames[0].comment == "old");
    }
}

TEST_CASE("The last statistics of every interface are summed") {
    Content file;
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        Maker out(order);
        section(out);
        interface_block(out);
        interface_block(out);
        statistics_block(out, 0, 50, 1, 2);
        statistics_block(out, 0, 100, 3, 4);
        statistics_block(out, 1, 1000, 30, 40);
        statistics_block(out, 2, 7, 7, 7);  // nobody described this one
        file = joined(file, out.content());
    }
    const Reading reading = read_bytes(file);
    CHECK(reading.problem.kind == InputProblemKind::none);
    CHECK(reading.drops.known);
    CHECK(reading.drops.received == 2200);
    CHECK(reading.drops.dropped == 66);
    CHECK(reading.drops.dropped_by_system == 88);
    CHECK(reading.skipped.unknown == 2);
    CHECK_FALSE(read_bytes(small_pcapng()).drops.known);
    CHECK_FALSE(read_bytes(small_pcap()).drops.known);
}

TEST_CASE("Sums of statistics do not wrap") {
    Maker out;
    section(out);
    interface_block(out);
    interface_block(out);
    statistics_block(out, 0, std::numeric_limits<std::uint64_t>::max(), 0, 0);
    statistics_block(out, 1, 2, 0, 0);
    CHECK(read_bytes(out.content()).drops.received == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("Blocks without frames are passed over and counted") {
    Maker out;
    section(out);
    out.block(4, frame_bytes(8, 0));
    interface_block(out);
    out.block(0x0000000a, frame_bytes(12, 0));
    out.block(0x00000bad, frame_bytes(4, 0));
    packet_block(out, 0, 0, frame_bytes(5, 0), 5);
    out.block(0x40000bad, frame_bytes(4, 0));
    out.block(9, {});
    out.block(0x80001234, frame_bytes(400, 0));
    for (const std::size_t piece : {0U, 3U}) {
        const Reading reading = read_bytes(out.content(), piece);
        CHECK(reading.problem.kind == InputProblemKind::none);
        CHECK(reading.frames.size() == 1);
        CHECK(reading.skipped.names == 1);
        CHECK(reading.skipped.secrets == 1);
        CHECK(reading.skipped.custom == 2);
        CHECK(reading.skipped.unknown == 2);
        CHECK(reading.skipped.total() == 6);
    }
}

TEST_CASE("Megabytes of blocks without frames come between two frames") {
    Maker out;
    section(out);
    interface_block(out);
    packet_block(out, 0, 0, frame_bytes(5, 0), 5);
    for (int i = 0; i < 300; ++i) out.block(0x80001234, Content(10'000));
    out.block(0x80001234, Content(5'000'000));
    packet_block(out, 0, 0, frame_bytes(5, 1), 5);
    for (const std::size_t piece : {std::size_t{0}, std::size_t{50'000}}) {
        const Reading reading = read_bytes(out.content(), piece);
        CHECK(reading.problem.kind == InputProblemKind::none);
        REQUIRE(reading.frames.size() == 2);
        CHECK(reading.frames[1].bytes == frame_bytes(5, 1));
        CHECK(reading.skipped.unknown == 301);
    }
}

TEST_CASE("A pcapng file without packets is an empty capture") {
    Maker out;
    section(out);
    CHECK(read_bytes(out.content()).problem.kind == InputProblemKind::none);
    interface_block(out);
    const Reading reading = read_bytes(out.content());
    CHECK(reading.problem.kind == InputProblemKind::none);
    CHECK(reading.frames.empty());
    CHECK(reading.interfaces.size() == 1);
}

TEST_CASE("A minor version that is new and options of the section change nothing") {
    Maker out;
    out.block(0x0a0d0d0a,
              Maker().u32(0x1a2b3c4d).u16(1).u16(2).u64(77).option(4, text_bytes("some program")).u32(0).content());
    interface_block(out);
    packet_block(out, 0, 0, frame_bytes(5, 0), 5);
    const Reading reading = read_bytes(out.content());
    CHECK(reading.problem.kind == InputProblemKind::none);
    CHECK(reading.frames.size() == 1);
}

TEST_CASE("A packet says what the recorder lost before it") {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        Maker out(order);
        section(out);
        interface_block(out);
        packet_block(out, 0, 0, frame_bytes(5, 0), 5,
                     Maker(order).option(4, Maker(order).u64(17).content()).u32(0).content());
        packet_block(out, 0, 0, frame_bytes(5, 0), 5,
                     Maker(order).option(4, Maker(order).u32(17).content()).u32(0).content());  // of another length
        packet_block(out, 0, 0, frame_bytes(5, 0), 5);
        const Reading reading = read_bytes(out.content());
        REQUIRE(reading.frames.size() == 3);
        const auto dropped = [&](std::size_t at) {
            Frame frame = reading.frames[at].frame;
            frame.options = reading.frames[at].options;
            return dropped_before(frame);
        };
        CHECK(dropped(0) == 17);
        CHECK(dropped(1) == 0);
        CHECK(dropped(2) == 0);
    }
}
