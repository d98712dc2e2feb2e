// Captures that are cut, contradict themselves or are none: nothing readable is lost, and the problem is told.
#include <tests/dissect/capture_bytes.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>

#include <sys/stat.h>
#include <unistd.h>

using namespace qps::dissect;
using namespace qps::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

// Every prefix of `whole` gives the frames that are whole in it, and a problem where it ends inside a record. Records
// start at `starts`, the last of which is the end; the frames of the file are at those in `frame_starts`.
void check_prefixes(const Content& whole, const std::vector<std::size_t>& starts) {
    const Reading all = read_bytes(whole);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        INFO("cut after " << length << " bytes");
        // A copy of its own, so that AddressSanitizer sees a read beyond its end.
        const Content cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        const Reading mapped = read_bytes(cut);
        const Reading streamed = read_bytes(cut, 5);
        CHECK(mapped.frames == streamed.frames);
        CHECK(mapped.problem.kind == streamed.problem.kind);
        CHECK(mapped.problem.offset == streamed.problem.offset);
        CHECK(mapped.problem.sentence == streamed.problem.sentence);
        if (length < 24) {
            CHECK(mapped.frames.empty());
            CHECK(mapped.problem.kind == InputProblemKind::not_a_capture);
            continue;
        }
        const auto next = std::ranges::upper_bound(starts, length);
        const std::size_t record = next == starts.begin() ? 0 : *(next - 1);
        const auto expected = static_cast<std::size_t>(
            std::ranges::count_if(all.frames, [&](const Seen& seen) { return seen.frame.file_offset < record; }));
        REQUIRE(mapped.frames.size() == expected);
        CHECK(std::equal(mapped.frames.begin(), mapped.frames.end(), all.frames.begin()));
        if (record == length) {
            CHECK(mapped.problem.kind == InputProblemKind::none);
            CHECK(mapped.problem.sentence.empty());
        } else {
            CHECK(mapped.problem.kind == InputProblemKind::damaged);
            CHECK(mapped.problem.offset == record);
            CHECK_THAT(mapped.problem.sentence, StartsWith("truncated "));
        }
    }
}

// What comes of a sound frame followed by `rest`.
Reading after_a_frame(const Content& rest) {
    Maker out;
    section(out);
    interface_block(out);
    packet_block(out, 0, 0, frame_bytes(4, 0), 4);
    out.add(rest);
    const Reading reading = read_bytes(out.content());
    CHECK(reading.frames.size() == 1);
    CHECK(reading.problem.kind == InputProblemKind::damaged);
    CHECK(reading.problem.offset == 28 + 20 + 36);
    const Reading streamed = read_bytes(out.content(), 7);
    CHECK(streamed.frames == reading.frames);
    CHECK(streamed.problem.sentence == reading.problem.sentence);
    return reading;
}

}  // namespace

TEST_CASE("A pcap file cut at any byte gives the frames before the cut") {
    check_prefixes(small_pcap(), {24, 24 + 26, 24 + 26 + 16, 24 + 26 + 16 + 23});
    check_prefixes(small_pcap(ByteOrder::big, 0xa1b23c4d), {24, 24 + 26, 24 + 26 + 16, 24 + 26 + 16 + 23});
}

TEST_CASE("A pcapng file cut at any byte gives the frames before the cut") {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
        check_prefixes(small_pcapng(order), {0, 28, 48, 48 + 44, 48 + 44 + 32, 48 + 44 + 32 + 40});
}

TEST_CASE("The sentence about a cut says what is there and what is not") {
    const Content whole = small_pcap();
    CHECK(read_bytes(prefix(whole, 31)).problem.sentence == "truncated record header of frame 1: 7 of 16 bytes");
    CHECK(read_bytes(prefix(whole, 43)).problem.sentence == "truncated record of frame 1: 3 of 10 captured bytes");
    const Content blocks = small_pcapng();
    CHECK(read_bytes(prefix(blocks, 53)).problem.sentence == "truncated block header: 5 of 12 bytes");
    CHECK(read_bytes(prefix(blocks, 68)).problem.sentence == "truncated block: 20 of 44 bytes");
}

TEST_CASE("Lengths of pcap records that lie end the reading, not the program") {
    for (const std::uint32_t lie : {0xffffffffU, 0x80000000U, static_cast<std::uint32_t>(kMaxRecord + 1)}) {
        Maker out;
        pcap_header(out);
        pcap_record(out, 0, 0, frame_bytes(4, 0), 4);
        out.u32(0).u32(0).u32(lie).u32(4).add(frame_bytes(64, 0));
        for (const std::size_t piece : {0U, 6U}) {
            const Reading reading = read_bytes(out.content(), piece);
            CHECK(reading.frames.size() == 1);
            CHECK(reading.problem.kind == InputProblemKind::damaged);
            CHECK(reading.problem.offset == 24 + 20);
            CHECK_THAT(reading.problem.sentence,
                       Contains("invalid record of frame 2: " + std::to_string(lie) + " captured bytes"));
        }
    }
}

TEST_CASE("A length that lies within the bound costs no memory that the file does not fill") {
    Maker out;
    pcap_header(out);
    out.u32(0).u32(0).u32(kMaxRecord).u32(4).add(frame_bytes(64, 0));
    const Reading reading = read_bytes(out.content(), 10);
    CHECK(reading.problem.kind == InputProblemKind::damaged);
    CHECK(reading.problem.offset == 24);
    CHECK(reading.largest_storage <= kBatchBytes);
}

TEST_CASE("Lengths of pcapng blocks that lie end the reading, not the program") {
    for (const std::uint32_t lie :
         {0xffffffffU, 0xfffffffcU, 0x80000000U, static_cast<std::uint32_t>(kMaxRecord + 4)}) {
        const Reading reading = after_a_frame(Maker().u32(6).u32(lie).add(Content(64)).content());
        CHECK_THAT(reading.problem.sentence,
                   Contains("invalid block of type 0x6: " + std::to_string(lie) + " bytes, at most"));
    }
    for (const std::uint32_t lie : {0U, 4U, 8U, 12U, 28U}) {
        const Reading reading = after_a_frame(Maker().u32(6).u32(lie).add(Content(64)).content());
        CHECK_THAT(reading.problem.sentence, Contains("too short"));
    }
    for (const std::uint32_t lie : {1U, 33U, 34U, 47U}) {
        const Reading reading = after_a_frame(Maker().u32(6).u32(lie).add(Content(64)).content());
        CHECK_THAT(reading.problem.sentence, Contains("not a multiple of 4"));
    }
    CHECK_THAT(after_a_frame(Maker().u32(6).u32(4096).add(Content(64)).content()).problem.sentence,
               StartsWith("truncated block"));
}

TEST_CASE("A block whose two lengths differ is damage") {
    const Reading reading = after_a_frame(Maker().u32(77).u32(16).u32(0).u32(20).content());
    CHECK(reading.problem.sentence == "invalid block of type 0x4d: length 16 at its start, 20 at its end");
}

TEST_CASE("A captured length that does not fit its block is damage") {
    const Reading reading =
        after_a_frame(Maker().block(6, Maker().u32(0).u64(0).u32(9).u32(9).add(Content(8)).content()).content());
    CHECK(reading.problem.sentence == "frame 2 claims 9 captured bytes, but its block has room for 8");
    after_a_frame(Maker().block(6, Maker().u32(0).u64(0).u32(0xffffffff).u32(9).add(Content(8)).content()).content());
    after_a_frame(Maker().block(3, Maker().u32(9).add(Content(8)).content()).content());
    after_a_frame(Maker().block(2, Maker().u32(0).u64(0).u32(9).u32(9).add(Content(8)).content()).content());
}

TEST_CASE("A frame from an interface that its section does not describe is damage") {
    Maker other;
    packet_block(other, 1, 0, {}, 0);
    CHECK(after_a_frame(other.content()).problem.sentence ==
          "frame 2 is from interface 1, which the section does not describe");

    for (const std::uint32_t type : {2U, 3U, 6U}) {
        Maker out;
        section(out);
        interface_block(out);
        section(out);  // has no interface of its own
        out.block(type, Content(20));
        const Reading reading = read_bytes(out.content());
        CHECK(reading.problem.kind == InputProblemKind::damaged);
        CHECK(reading.problem.sentence == "frame 1 is from interface 0, which the section does not describe");
    }
}

TEST_CASE("A later section that is none, or of another version, is damage") {
    CHECK_THAT(after_a_frame(Maker().block(0x0a0d0d0a, Content(16)).content()).problem.sentence,
               Contains("byte-order magic"));
    const Content version = Maker().block(0x0a0d0d0a, Maker().u32(0x1a2b3c4d).u16(2).u16(0).u64(0).content()).content();
    CHECK_THAT(after_a_frame(version).problem.sentence, Contains("version 2"));
}

TEST_CASE("Every single changed byte of a file is survived") {
    for (const Content& sound : {small_pcap(), small_pcapng(), small_pcapng(ByteOrder::big), gzipped(small_pcapng()),
                                 zstd_compressed(small_pcapng())}) {
        for (std::size_t at = 0; at < sound.size(); ++at) {
            for (const unsigned value : {0U, 1U, 0x7fU, 0x80U, 0xffU}) {
                Content changed = sound;
                changed[at] = static_cast<std::byte>(value);
                const Reading mapped = read_bytes(changed);
                const Reading streamed = read_bytes(changed, 3);
                const bool same =
                    mapped.frames == streamed.frames && mapped.problem.sentence == streamed.problem.sentence;
                if (!same)
                    FAIL_CHECK("byte " << at << " as " << value << " makes mapping and stream differ: "
                                       << mapped.problem.sentence << "; " << streamed.problem.sentence);
            }
        }
    }
}

TEST_CASE("What is no capture is told by its first bytes") {
    const auto problem = [](std::string_view text) {
        const Content content = Maker().text(text).content();
        const Reading reading = read_bytes(content);
        CHECK(reading.problem.kind == InputProblemKind::not_a_capture);
        CHECK(reading.problem.file == "made by hand");
        CHECK(reading.problem.offset == 0);
        CHECK(read_bytes(content, 1).problem.sentence == reading.problem.sentence);
        return reading.problem.sentence;
    };
    CHECK(problem("") == "empty file");
    CHECK_THAT(
        problem("#include <dissect/base/frame.hpp>"),
        Catch::Matchers::StartsWith("not a pcap or pcapng capture: first bytes 23 69 6e 63 6c 75 64 65 \"#include\""));
    CHECK(problem("TRSNIFF data    \x1a") == "unsupported Sniffer capture: convert it with editcap -F pcapng");
    CHECK(problem("short\n") ==
          "not a capture: 6 bytes, shorter than a file header of 24; first bytes 73 68 6f 72 74 0a \"short.\"");
    CHECK_THAT(problem(std::string_view("\xfd"
                                        "7zXZ\0 and then more of it",
                                        25)),
               Contains("xz"));
    CHECK_THAT(problem("BZh91AY&SY and then more of it"), Contains("bzip2"));
    CHECK_THAT(problem("PK\x03\x04 and then more of it......."), Contains("zip"));
    CHECK_THAT(problem(std::string_view("snoop\0\0\0 and then more of it", 28)), Contains("snoop"));
    CHECK_THAT(problem(std::string_view("\x0a\x0d\x0d\x0a and then no byte-order magic", 33)),
               StartsWith("not a pcap or pcapng capture"));
}

TEST_CASE("Files that cannot be opened are told apart") {
    const TemporaryFolder folder;
    const auto missing = CaptureFile::open(folder.file("missing.pcap"));
    REQUIRE_FALSE(missing);
    CHECK(missing.error().kind == InputProblemKind::unreadable);
    CHECK(missing.error().file == folder.file("missing.pcap"));
    CHECK(missing.error().sentence == "cannot open: No such file or directory");

    const auto directory = CaptureFile::open(folder.path());
    REQUIRE_FALSE(directory);
    CHECK(directory.error().kind == InputProblemKind::unreadable);
    CHECK_THAT(directory.error().sentence, Contains("directory"));

    const auto empty = CaptureFile::open(folder.write("empty.pcap", {}));
    REQUIRE_FALSE(empty);
    CHECK(empty.error().kind == InputProblemKind::not_a_capture);
    CHECK(empty.error().sentence == "empty file");

    const auto device = CaptureFile::open("/dev/null");
    REQUIRE_FALSE(device);
    CHECK(device.error().sentence == "empty file");

    const auto nameless = CaptureFile::open("");
    REQUIRE_FALSE(nameless);
    CHECK(nameless.error().kind == InputProblemKind::unreadable);

    if (::geteuid() != 0) {  // root may read everything
        const std::string secret = folder.write("secret.pcap", small_pcap());
        REQUIRE(::chmod(secret.c_str(), 0) == 0);
        const auto forbidden = CaptureFile::open(secret);
        REQUIRE_FALSE(forbidden);
        CHECK(forbidden.error().kind == InputProblemKind::unreadable);
        CHECK_THAT(forbidden.error().sentence, Contains("Permission denied"));
    }
}
