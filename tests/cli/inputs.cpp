// What the program says and how it ends for inputs that are cut, odd, none or somewhere else; and for outputs that fail.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace qps::dissect;
using namespace qps::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

// One sentence that names the program and the input, and nothing on standard output.
void check_unreadable(const std::string& path, const std::string& why) {
    for (const char* command : {"info", "packets", "show"}) {
        const Ending ending = qpscope({command, "-f", "ndjson", path});
        CHECK(ending.code == kUnreadable);
        CHECK(ending.out.empty());
        CHECK(lines_of(ending.err).size() == 1);
        CHECK_THAT(ending.err, StartsWith("qpscope: " + path + ": "));
        CHECK_THAT(ending.err, Contains(why));
    }
}

std::vector<std::byte> beginning(std::vector<std::byte> bytes, std::size_t length) {
    bytes.resize(length);
    return bytes;
}

}  // namespace

TEST_CASE("a missing file is unreadable") { check_unreadable("no/such.pcap", "No such file"); }

TEST_CASE("a directory is unreadable") {
    const TemporaryFolder folder;
    check_unreadable(folder.path(), "directory");
}

TEST_CASE("an empty file is no capture") {
    const TemporaryFolder folder;
    check_unreadable(folder.write("empty", {}), "empty");
}

TEST_CASE("junk is no capture, and its first bytes are shown") {
    const TemporaryFolder folder;
    const std::vector<std::byte> junk(100, std::byte{0x21});
    check_unreadable(folder.write("junk", junk), "21 21 21 21");
}

TEST_CASE("a header that is cut is no capture") {
    const TemporaryFolder folder;
    check_unreadable(folder.write("cut", beginning(Pcap().bytes(), 10)), "10 bytes");
}

TEST_CASE("a capture without packets is sound") {
    const TemporaryFolder folder;
    const Ending ending = qpscope({"packets", "-f", "tsv", "-e", "frame.number", folder.write("header", Pcap().bytes())});
    CHECK(ending.code == kDone);
    CHECK(ending.out == "frame.number\n");
    CHECK(ending.err.empty());
}

TEST_CASE("of a capture that is cut everything before the cut is printed, and where it is cut") {
    const TemporaryFolder folder;
    const std::string path = folder.write("cut", beginning(read_file(sample("rds")), 1000));
    for (const char* jobs : {"1", "2"}) {
        const Ending cut = qpscope({"packets", "-f", "tsv", "-j", jobs, path});
        const Ending whole = qpscope({"packets", "-f", "tsv", sample("rds")});
        CHECK(cut.code == kDamaged);
        CHECK(lines_of(cut.out).size() == 7);
        CHECK_THAT(whole.out, StartsWith(cut.out));
        CHECK(lines_of(cut.err).size() == 1);
        CHECK_THAT(cut.err, StartsWith("qpscope: " + path + ": truncated record of frame 7"));
        CHECK_THAT(cut.err, Contains("at offset 812"));
    }
}

// Who reads what is written waits while the input is truncated: no packet is made of what is gone.
TEST_CASE("of a capture that is truncated while its packets are written those are written that were there") {
    const TemporaryFolder folder;
    const std::vector<std::byte> bytes = read_file(sample("write_8k"));
    constexpr std::size_t kHeader = 24, kCopies = 100, kLeft = 2000;
    std::vector<std::byte> many = bytes;
    for (std::size_t i = 1; i < kCopies; ++i) many.insert(many.end(), bytes.begin() + kHeader, bytes.end());
    const auto counts_of = [](const std::string& path) { return nlohmann::json::parse(qpscope({"info", "-f", "json", path}).out); };
    struct Written {
        const char* command;
        const char* to;
    };
    for (const auto& [command, to] : {Written{"packets", "-w"}, Written{"anonymize", "-o"}}) {
        const std::string shrinks = folder.write("shrinks.pcap", many);
        const std::string all = folder.file("all.pcapng");
        REQUIRE(qpscope({command, "-q", to, all, shrinks}).code == kDone);
        const auto whole = counts_of(all);
        const std::string said = folder.file("said");
        FILE* pipe = ::popen(fmt::format("{} {} {} - {} 2>{}", QPSCOPE_PROGRAM, command, to, shrinks, said).c_str(), "r");
        REQUIRE(pipe != nullptr);
        std::vector<std::byte> written(2 * many.size());
        std::size_t filled = std::fread(written.data(), 1, 1, pipe);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it has filled the pipe, and its buffer
        std::filesystem::resize_file(shrinks, kLeft);
        filled += std::fread(written.data() + filled, 1, written.size() - filled, pipe);
        const int status = ::pclose(pipe);
        written.resize(filled);
        CHECK(WEXITSTATUS(status) == kDamaged);
        const std::vector<std::byte> words = read_file(said);
        CHECK_THAT(std::string(reinterpret_cast<const char*>(words.data()), words.size()),
                   Contains("the file was truncated while it was read (at offset 2000)"));
        const auto there = counts_of(folder.write("written.pcapng", written));
        CHECK(there["packets"] > 100);
        CHECK(there["packets"] < whole["packets"]);
        CHECK(there["faults"] == whole["faults"]);
        CHECK(there["icrc"]["bad"] == whole["icrc"]["bad"]);
        for (const auto& [kind, count] : there["other"].items()) CHECK((whole["other"].contains(kind) ? "" : kind) == "");
    }
}

TEST_CASE("a capture that is cut and compressed is told like one that is not") {
    const TemporaryFolder folder;
    for (const char* name : {"rping_v6_gzip", "ucmatose_zstd"}) {
        const auto bytes = read_file(sample(name));
        const std::string path = folder.write(name, beginning(bytes, bytes.size() - 20));
        const Ending ending = qpscope({"info", "-f", "json", path});
        CHECK((ending.code == kDamaged || ending.code == kUnreadable));
        CHECK(lines_of(ending.err).size() == 1);
        CHECK_THAT(ending.err, StartsWith("qpscope: " + path + ": "));
    }
}

TEST_CASE("a record longer than the file ends it there") {
    const TemporaryFolder folder;
    Pcap pcap;
    pcap.record(60);
    const std::string where = std::to_string(pcap.size());
    const Ending ending = qpscope({"packets", "-f", "tsv", "-e", "frame.len", folder.write("long", pcap.record(5000, 5000, 100).bytes())});
    CHECK(ending.code == kDamaged);
    CHECK(ending.out == "frame.len\n60\n");
    CHECK_THAT(ending.err, Contains("100 of 5000") && Contains("at offset " + where));
}

TEST_CASE("a record longer than any packet is damage, not memory") {
    const TemporaryFolder folder;
    Pcap pcap;
    const Ending ending =
        qpscope({"packets", "-f", "tsv", "-e", "frame.len", folder.write("huge", pcap.record(60).record(0xfffffff0, 60, 100).bytes())});
    CHECK(ending.code == kDamaged);
    CHECK(ending.out == "frame.len\n60\n");
    CHECK(lines_of(ending.err).size() == 1);
}

TEST_CASE("a frame of no bytes is a packet") {
    const TemporaryFolder folder;
    const std::string path = folder.write("zero", Pcap().record(0).record(60).bytes());
    const Ending ending = qpscope({"packets", "-f", "tsv", "-e", "frame.number", "-e", "frame.len", path});
    CHECK(ending.code == kDone);
    CHECK(ending.out == "frame.number\tframe.len\n1\t0\n2\t60\n");
    for (const char* command : {"info", "packets", "show"}) CHECK(qpscope({command, path}).code == kDone);
}

TEST_CASE("a snap length of 0 is no limit") {
    const TemporaryFolder folder;
    const Ending ending = qpscope({"packets", "-f", "tsv", "-e", "frame.cap_len", folder.write("snap", Pcap(0).record(60).bytes())});
    CHECK(ending.code == kDone);
    CHECK(ending.out == "frame.cap_len\n60\n");
}

TEST_CASE("standard input gives what the file gives") {
    const auto bytes = read_file(sample("err_mixed"));
    const Ending file = qpscope({"packets", "-f", "tsv", sample("err_mixed")});
    const Ending piped = qpscope({"packets", "-f", "tsv", "-"}, {.input = Bytes(bytes)});
    CHECK(piped.code == kDone);
    CHECK(piped.err.empty());
    CHECK(piped.out == file.out);
}

TEST_CASE("iWARP is seen without a filter, of files and of pipes") {
    const std::string capture = sample("iwarp_rping_crc");
    const auto bytes = read_file(capture);
    const std::string packets = qpscope({"packets", "-f", "tsv", capture}).out;
    CHECK_THAT(packets, Contains("rdmap=SEND"));
    CHECK(packets == qpscope({"packets", "-f", "tsv", "-Y", "iwarp_mpa.rev or frame.number", capture}).out);
    CHECK(packets == qpscope({"packets", "-f", "tsv", "-"}, {.input = Bytes(bytes)}).out);
    CHECK_THAT(qpscope({"show", "--no-bytes", capture}).out, Contains("RDMAP opcode"));
    CHECK_THAT(qpscope({"show", "--no-bytes", "-"}, {.input = Bytes(bytes)}).out, Contains("RDMAP opcode"));
    CHECK_THAT(qpscope({"info", capture}).out, Contains(" iWARP; ") && Contains("RDMAP_SEND "));
    // TCP that is none stays TCP.
    CHECK_THAT(qpscope({"info", sample("dup_write")}).out, !Contains("iWARP") && Contains(" tcp"));
}

TEST_CASE("standard input that holds nothing is no capture") {
    const Ending ending = qpscope({"info", "-"});
    CHECK(ending.code == kUnreadable);
    CHECK_THAT(ending.err, StartsWith("qpscope: standard input: "));
}

TEST_CASE("compressed, pcapng and big-endian captures give what the plain ones give") {
    const auto check = [](const char* plain, const char* other) {
        INFO(other);
        const Ending expected = qpscope({"packets", sample(plain)});
        CHECK(expected.code == kDone);
        CHECK(qpscope({"packets", sample(other)}).out == expected.out);
        const auto bytes = read_file(sample(other));
        CHECK(qpscope({"packets", "-f", "tsv", "-"}, {.input = Bytes(bytes)}).out == qpscope({"packets", "-f", "tsv", sample(plain)}).out);
    };
    check("rping_v6", "rping_v6_gzip");
    check("ucmatose", "ucmatose_zstd");
    check("err_rnr", "err_rnr_pcapng");
    check("err_bad_rkey", "err_bad_rkey_big_endian");
}

TEST_CASE("the comment of a packet is a field") {
    const Ending ending = qpscope({"packets", "-f", "tsv", "-e", "frame.comment", "-c", "2", sample("err_rnr_pcapng")});
    CHECK(ending.out == "frame.comment\nFirst packet of the TCP connection over which the programs exchange queue pair numbers\n\n");
}

TEST_CASE("of several inputs the readable ones are reported, and the worst counts") {
    const Ending ending =
        qpscope({"packets", "-f", "tsv", "-e", "frame.number", sample("cm_reject_noport"), "no/such.pcap", sample("rds")});
    CHECK(ending.code == kUnreadable);
    CHECK(lines_of(ending.out).size() == 1 + 4 + 43);
    CHECK_THAT(ending.err, StartsWith("qpscope: no/such.pcap: "));
    CHECK(lines_of(ending.err).size() == 1);
}

TEST_CASE("an output that is full is a failure") {
    for (const char* name : {"rds", "loss_write"})
        for (const char* command : {"info", "packets", "show"}) {
            const Ending ending = qpscope({command, sample(name)}, {.output = "/dev/full"});
            CHECK(ending.code == kOutputFailed);
            CHECK_THAT(ending.err, StartsWith("qpscope: cannot write standard output: No space left"));
            CHECK(lines_of(ending.err).size() == 1);
        }
    CHECK(qpscope({"fields"}, {.output = "/dev/full"}).code == kOutputFailed);
}

TEST_CASE("an output file that cannot be opened is a failure") {
    const Ending ending = qpscope({"packets", "-o", "no/such/folder.tsv", sample("rds")});
    CHECK(ending.code == kOutputFailed);
    CHECK(ending.out.empty());
    CHECK_THAT(ending.err, StartsWith("qpscope: cannot write no/such/folder.tsv: "));
}

TEST_CASE("an output file has what standard output would have") {
    const TemporaryFolder folder;
    const std::string path = folder.file("out.tsv");
    const Ending ending = qpscope({"packets", "-f", "tsv", "-o", path, sample("rds")});
    CHECK(ending.code == kDone);
    CHECK(ending.out.empty());
    const auto written = read_file(path);
    const std::string expected = qpscope({"packets", "-f", "tsv", sample("rds")}).out;
    CHECK(std::ranges::equal(written, expected, {}, {}, [](char c) { return static_cast<std::byte>(c); }));
}

TEST_CASE("a reader that goes away ends the program quietly") {
    for (const char* command : {"packets", "show", "info"}) {
        const Ending ending = qpscope({command, sample("loss_read"), sample("loss_write"), sample("loss_read")}, {.lines = 1});
        CHECK(ending.code == kDone);
        CHECK(ending.err.empty());
        CHECK(lines_of(ending.out).size() == 1);
    }
}

TEST_CASE("a reader of a capture that goes away ends the program as quietly") {
    const Ending ending = qpscope({"packets", "-w", "-", sample("loss_read"), sample("loss_write"), sample("loss_read")}, {.lines = 1});
    CHECK(ending.code == kDone);
    CHECK(ending.err.empty());
}

TEST_CASE("two files with the same packets are two taps, two pieces are one capture") {
    for (const char* command : {"analyze", "findings", "messages", "check"}) {
        const Ending once = qpscope({command, "-q", sample("write_8k")});
        const Ending both = qpscope({command, "-q", sample("write_8k"), sample("write_8k")});
        INFO(command << "\n" << both.out);
        CHECK(both.code == once.code);
        CHECK_THAT(both.out, !Contains("retransmitted packet") && !Contains("go-back-n-loss") && !Contains("ack-timeout"));
        if (command == std::string_view("messages")) CHECK(lines_of(both.out).size() == lines_of(once.out).size());
    }
    const Ending taps = qpscope({"analyze", sample("write_8k"), sample("write_8k")});
    CHECK_THAT(taps.out, Contains("taps of the same packets") && Contains("2 taps, each with a file"));
    const Ending pieces = qpscope({"analyze", sample("write_8k"), sample("read_8k")});
    CHECK_THAT(pieces.out, Contains("as one capture") && !Contains("taps"));
}

TEST_CASE("wrong ICRCs are corruption unless they are to be ignored") {
    const Ending judged = qpscope({"findings", sample("corrupt_send")});
    const Ending checked = qpscope({"findings", "--icrc", "check", sample("corrupt_send")});
    const Ending ignored = qpscope({"findings", "--icrc", "ignore", sample("corrupt_send")});
    CHECK_THAT(judged.out, Contains("corrupted on the way"));
    CHECK(checked.out == judged.out);
    CHECK_THAT(ignored.out, Contains("as --icrc ignore says") && !Contains("corrupted on the way"));
    const auto check = [](const char* policy) { return qpscope({"check", "--only", "FMT-01,REQ-02", "--all", "--icrc", policy, sample("corrupt_send")}).out; };
    CHECK_THAT(check("ignore"), Contains("a wrong ICRC that is not judged: as --icrc ignore says"));
    CHECK_THAT(check("check"), !Contains("not judged"));
    CHECK(check("check") == qpscope({"check", "--only", "FMT-01,REQ-02", "--all", sample("corrupt_send")}).out);
    const Ending wrong = qpscope({"findings", "--icrc", "maybe", sample("corrupt_send")});
    CHECK(wrong.code == kUsage);
    CHECK_THAT(wrong.err, Contains("ignore, check"));
}

TEST_CASE("a capture that is longer than a duration can be is as long as can be said") {
    const TemporaryFolder folder;
    const std::string capture = folder.write("long.pcapng", qps::tests::hex(
        "0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000"  // section header
        "010000002c000000010000000000000009000100090000000e000800fc823edafdffffff000000002c000000"  // interface: nanoseconds, from 1677 on
        "0100000020000000010000000000000009000100000000000000000020000000"  // interface: seconds
        "060000002400000000000000000000000000000004000000040000000000000024000000"  // a packet at 0 of the first
        "06000000240000000100000002000000047cc12504000000040000000000000024000000"  // and one in the year 2262
        ));
    const Ending ending = qpscope({"info", "-f", "json", capture});
    CHECK(ending.code == kDone);
    CHECK_THAT(ending.out, Contains("\"duration_ns\": 9223372036854775807"));
}
