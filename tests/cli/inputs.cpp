// What the program says and how it ends for inputs that are cut, odd, none or somewhere else; and for outputs that
// fail.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/other_port.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>
#include <utility>

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
    const Ending ending =
        qpscope({"packets", "-f", "tsv", "-e", "frame.number", folder.write("header", Pcap().bytes())});
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
    const auto counts_of = [](const std::string& path) {
        return nlohmann::json::parse(qpscope({"info", "-f", "json", path}).out);
    };
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
        FILE* pipe =
            ::popen(fmt::format("{} {} {} - {} 2>{}", QPSCOPE_PROGRAM, command, to, shrinks, said).c_str(), "r");
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
        for (const auto& [kind, count] : there["other"].items())
            CHECK((whole["other"].contains(kind) ? "" : kind) == "");
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
    const Ending ending = qpscope(
        {"packets", "-f", "tsv", "-e", "frame.len", folder.write("long", pcap.record(5000, 5000, 100).bytes())});
    CHECK(ending.code == kDamaged);
    CHECK(ending.out == "frame.len\n60\n");
    CHECK_THAT(ending.err, Contains("100 of 5000") && Contains("at offset " + where));
}

TEST_CASE("a record longer than any packet is damage, not memory") {
    const TemporaryFolder folder;
    Pcap pcap;
    const Ending ending = qpscope({"packets", "-f", "tsv", "-e", "frame.len",
                                   folder.write("huge", pcap.record(60).record(0xfffffff0, 60, 100).bytes())});
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
    const Ending ending =
        qpscope({"packets", "-f", "tsv", "-e", "frame.cap_len", folder.write("snap", Pcap(0).record(60).bytes())});
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
        CHECK(qpscope({"packets", "-f", "tsv", "-"}, {.input = Bytes(bytes)}).out ==
              qpscope({"packets", "-f", "tsv", sample(plain)}).out);
    };
    check("rping_v6", "rping_v6_gzip");
    check("ucmatose", "ucmatose_zstd");
    check("err_rnr", "err_rnr_pcapng");
    check("err_bad_rkey", "err_bad_rkey_big_endian");
}

TEST_CASE("the comment of a packet is a field") {
    const Ending ending = qpscope({"packets", "-f", "tsv", "-e", "frame.comment", "-c", "2", sample("err_rnr_pcapng")});
    CHECK(ending.out ==
          "frame.comment\nFirst packet of the TCP connection over which the programs exchange queue pair numbers\n\n");
}

TEST_CASE("of several inputs the readable ones are reported, and the worst counts") {
    const Ending ending = qpscope(
        {"packets", "-f", "tsv", "-e", "frame.number", sample("cm_reject_noport"), "no/such.pcap", sample("rds")});
    CHECK(ending.code == kUnreadable);
    CHECK(lines_of(ending.out).size() == 1 + 4 + 43);
    CHECK_THAT(ending.err, StartsWith("qpscope: no/such.pcap: "));
    CHECK(lines_of(ending.err).size() == 1);
}

TEST_CASE("packets of a link type that is not decoded are said to be left out, in which file and from where on") {
    const TemporaryFolder folder;
    constexpr std::size_t kLinkType = 20;
    std::vector<std::byte> odd = Pcap().record(40).record(40).bytes();
    odd[kLinkType] = std::byte{242};
    const std::string path = folder.write("odd.pcap", odd);
    const std::string sentence = fmt::format(
        "qpscope: {}: 2 packets from frame 1 on have link type 242, which is not decoded, and were not judged\n", path);
    for (const char* command : {"analyze", "findings", "check", "connections", "messages", "info"}) {
        INFO(command);
        const Ending ending = qpscope({command, path});
        CHECK(ending.code == kUnjudged);
        CHECK_THAT(ending.err, Contains(sentence));
        CHECK_THAT(ending.err, !Contains("no RDMA packet"));
    }
    const Ending both = qpscope({"findings", sample("send_8k"), path});
    CHECK(both.code == kUnjudged);
    CHECK_THAT(both.out, Contains("incomplete: " + path));
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
        const Ending ending =
            qpscope({command, sample("loss_write"), sample("loss_read"), sample("nvme_rdma")}, {.lines = 1});
        CHECK(ending.code == kDone);
        CHECK(ending.err.empty());
        CHECK(lines_of(ending.out).size() == 1);
    }
}

TEST_CASE("a reader of a capture that goes away ends the program as quietly") {
    const Ending ending =
        qpscope({"packets", "-w", "-", sample("loss_write"), sample("loss_read"), sample("nvme_rdma")}, {.lines = 1});
    CHECK(ending.code == kDone);
    CHECK(ending.err.empty());
}

TEST_CASE("two files with the same packets at other times are two taps, two pieces are one capture") {
    for (const char* command : {"analyze", "findings", "messages", "check"}) {
        const Ending once = qpscope({command, "-q", sample("write_8k")});
        const Ending both = qpscope({command, "-q", sample("write_8k"), sample("write_8k")});
        INFO(command << "\n" << both.out);
        CHECK(both.code == once.code);
        CHECK_THAT(both.out,
                   !Contains("retransmitted packet") && !Contains("go-back-n-loss") && !Contains("ack-timeout"));
        if (command == std::string_view("messages")) CHECK(lines_of(both.out).size() == lines_of(once.out).size());
    }
    // At the same times it is the same recording.
    const Ending same = qpscope({"analyze", sample("write_8k"), sample("write_8k")});
    CHECK_THAT(same.out, !Contains("taps"));
    CHECK_THAT(same.err, Contains("packets that several files have: each counts once"));
    const TemporaryFolder folder;
    const std::string other = folder.write("other.pcap", read_file(sample("write_8k")));
    const Ending taps = qpscope({"analyze", "--offset", other + "=3us", sample("write_8k"), other});
    CHECK_THAT(taps.out, Contains("taps of the same packets") && Contains("2 taps, each with a file"));
    CHECK_THAT(taps.out, !Contains("retransmitted packet") && !Contains("ack-timeout"));
}

TEST_CASE("wrong ICRCs are corruption unless they are to be ignored") {
    const Ending judged = qpscope({"findings", sample("corrupt_send")});
    const Ending checked = qpscope({"findings", "--icrc", "check", sample("corrupt_send")});
    const Ending ignored = qpscope({"findings", "--icrc", "ignore", sample("corrupt_send")});
    CHECK_THAT(judged.out, Contains("corrupted on the way"));
    CHECK(checked.out == judged.out);
    CHECK(qpscope({"findings", "--icrc", "auto", sample("corrupt_send")}).out == judged.out);
    CHECK_THAT(ignored.out, Contains("as --icrc ignore says") && !Contains("corrupted on the way"));
    const auto check = [](const char* policy) {
        return qpscope({"check", "--only", "FMT-01,REQ-02", "--all", "--icrc", policy, sample("corrupt_send")}).out;
    };
    CHECK_THAT(check("ignore"), Contains("a wrong ICRC that is not judged: as --icrc ignore says"));
    CHECK_THAT(check("check"), !Contains("not judged"));
    CHECK(check("check") == qpscope({"check", "--only", "FMT-01,REQ-02", "--all", sample("corrupt_send")}).out);
    const Ending wrong = qpscope({"findings", "--icrc", "maybe", sample("corrupt_send")});
    CHECK(wrong.code == kUsage);
    CHECK_THAT(wrong.err, Contains("auto, ignore, check"));
}

TEST_CASE("a capture that is longer than a duration can be is as long as can be said") {
    const TemporaryFolder folder;
    const std::string capture = folder.write(
        "long.pcapng",
        qps::tests::hex(
            "0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000"  // section header
            "010000002c000000010000000000000009000100090000000e000800fc823edafdffffff000000002c000000"  // interface:
                                                                                                        // nanoseconds,
                                                                                                        // from 1677 on
            "0100000020000000010000000000000009000100000000000000000020000000"          // interface: seconds
            "060000002400000000000000000000000000000004000000040000000000000024000000"  // a packet at 0 of the first
            "06000000240000000100000002000000047cc12504000000040000000000000024000000"  // and one in the year 2262
            ));
    const Ending ending = qpscope({"info", "-f", "json", capture});
    CHECK(ending.code == kDone);
    CHECK_THAT(ending.out, Contains("\"duration_ns\": 9223372036854775807"));
}

TEST_CASE("the option --roce-port decodes another UDP port as RoCEv2, and a part remembers it") {
    const TemporaryFolder folder;
    const std::string other =
        folder.write("other.pcap", qps::tests::with_roce_port(read_file(sample("loss_write")), 4800));
    const auto known = [](const Ending& ending) { return lines_of(ending.out).size(); };
    const Ending usual = qpscope({"connections", "-f", "tsv", sample("loss_write")});
    CHECK(known(usual) == 2);
    CHECK(known(qpscope({"connections", "-f", "tsv", other})) == 1);
    CHECK(known(qpscope({"connections", "-f", "tsv", "--roce-port", "4801", other})) == 1);
    const Ending said = qpscope({"connections", "-f", "tsv", "--roce-port", "4801,4800", other});
    CHECK(said.out == usual.out);
    CHECK(qpscope({"connections", "-f", "tsv", "--roce-port", "4801", "--roce-port", "4800", other}).out == usual.out);
    const std::string filter = "infiniband.bth.opcode and udp.dstport == 4800";
    CHECK(lines_of(qpscope({"packets", "-Y", filter, "--roce-port", "4800", other}).out).size() ==
          lines_of(qpscope({"packets", "-Y", "infiniband.bth.opcode", sample("loss_write")}).out).size());
    for (const auto& [ports, sentence] :
         {std::pair{"x", "invalid RoCE port 'x': expected 1 to 65535"},
          std::pair{"4789", "invalid RoCE port '4789': it is VXLAN's"},
          std::pair{"1,2,3,4,5,6,7,8,9", "too many RoCE ports (9): expected at most 8"}}) {
        const Ending ending = qpscope({"packets", "--roce-port", ports, other});
        CHECK(ending.code == kUsage);
        CHECK_THAT(ending.err, Contains(fmt::format("qpscope: {}\n", sentence)));
    }
    const auto part = [&](const char* number, const char* port) {
        const std::string path = folder.file(fmt::format("{}-{}", *number, port));
        CHECK(qpscope({"analyze", "--part", number, "--roce-port", port, "-o", path, other}).code == kDone);
        return path;
    };
    const std::string first = part("1/2", "4800");
    CHECK(qpscope({"merge", "--as", "findings", "-f", "tsv", first, part("2/2", "4800")}).out ==
          qpscope({"findings", "-f", "tsv", "--roce-port", "4800", other}).out);
    CHECK(qpscope({"merge", "--as", "findings", "-f", "tsv", first, part("2/2", "4801")}).code == kUnreadable);
}

TEST_CASE(
    "the option --by-time merges files by their times, each with its offset, and the analysis is that of the whole") {
    const TemporaryFolder folder;
    const std::string whole = sample("loss_write");
    // What each of two hosts sent, as they would have recorded it; the clock of the second is 1.5 ms behind.
    const std::string first = folder.file("first.pcap");
    const std::string second = folder.file("second.pcap");
    const std::string late = folder.file("late.pcap");
    REQUIRE(qpscope({"packets", "-Y", "ip.src == 10.77.0.11", "-w", first, whole}).code == kDone);
    REQUIRE(qpscope({"packets", "-Y", "not ip.src == 10.77.0.11", "-w", second, whole}).code == kDone);
    REQUIRE(qpscope({"packets", "--offset", second + "=-1.5ms", "-w", late, second}).code == kDone);
    const std::vector<std::string> merged{"--by-time", "--offset", late + "=+0.0015", first, late};
    for (const char* command : {"connections", "findings", "messages", "analyze"}) {
        INFO(command);
        const Ending of_whole = qpscope({command, "-f", "tsv", whole});
        const Ending of_merged = qpscope(std::vector<std::string>{command, "-f", "tsv"} + merged);
        if (std::string_view(command) != "analyze") CHECK(of_merged.out == of_whole.out);
        CHECK(of_merged.code == of_whole.code);
        CHECK(of_merged.err == of_whole.err);
    }
    const std::vector<std::string> columns{"packets",
                                           "-f",
                                           "tsv",
                                           "-e",
                                           "frame.number",
                                           "-e",
                                           "frame.time_epoch",
                                           "-e",
                                           "frame.time_relative",
                                           "-e",
                                           "infiniband.bth.psn"};
    CHECK(qpscope(columns + merged).out == qpscope(columns + std::vector<std::string>{whole}).out);
    // Without the offset the halves do not fit each other.
    CHECK(qpscope(columns + std::vector<std::string>{"--by-time", first, late}).out !=
          qpscope(columns + std::vector<std::string>{whole}).out);
    // They overlap, so nobody has to ask for it; --in-order reads one after the other.
    const std::vector<std::string> moved{"--offset", late + "=1.5ms", first, late};
    CHECK(qpscope(columns + moved).out == qpscope(columns + merged).out);
    CHECK(qpscope(columns + std::vector<std::string>{"--in-order"} + moved).out != qpscope(columns + merged).out);
    // Written down it is a capture in that order.
    const std::string written = folder.file("written.pcapng");
    REQUIRE(qpscope(std::vector<std::string>{"packets", "-w", written} + merged).code == kDone);
    CHECK(qpscope({"connections", "-f", "tsv", written}).out == qpscope({"connections", "-f", "tsv", whole}).out);
    // Filters that need the analysis, threads, and parts.
    const std::vector<std::string> by_loss{
        "packets", "-f", "tsv", "-e", "frame.number", "-Y", "rdma.connection == 1 and rdma.missing"};
    CHECK(qpscope(by_loss + merged).out == qpscope(by_loss + std::vector<std::string>{whole}).out);
    CHECK(qpscope(std::vector<std::string>{"findings", "-f", "tsv", "-j", "4"} + merged).out ==
          qpscope({"findings", "-f", "tsv", whole}).out);
}

TEST_CASE(
    "what is wrong with --by-time and --offset is one sentence, and a file that cannot be merged leaves the others") {
    const std::string one = sample("rc_pingpong");
    const auto refused = [&](const std::vector<std::string>& words, const std::string& sentence) {
        const Ending ending = qpscope(std::vector<std::string>{"packets"} + words);
        CHECK(ending.code == kUsage);
        CHECK_THAT(ending.err, Contains("qpscope: " + sentence + "\n"));
        CHECK(ending.out.empty());
    };
    refused({"--offset", "x=1s", one}, "invalid offset of 'x': expected the name of an input file, as it is given");
    refused({"--offset", one, one}, fmt::format("invalid offset '{}': expected FILE=TIME, such as b.pcap=-1.5ms", one));
    refused({"--offset", one + "=soon", one},
            fmt::format("invalid offset '{}=soon': expected FILE=TIME, such as b.pcap=-1.5ms", one));
    refused({"--offset", one + "=", one},
            fmt::format("invalid offset '{}=': expected FILE=TIME, such as b.pcap=-1.5ms", one));
    refused({"--offset", one + "=1", "--offset", one + "=2", one},
            fmt::format("conflicting --offset for '{}': give one time", one));
    refused({"--by-time", "-i", "lo"}, "--by-time and --interface exclude each other");
    refused(std::vector<std::string>{"--by-time"} + std::vector<std::string>(65, one),
            "too many files for --by-time (65): expected at most 64");
    const Ending ending = qpscope({"connections", "-f", "tsv", "--by-time", "no/such.pcap", one});
    CHECK(ending.code == kUnreadable);
    CHECK(ending.err == "qpscope: no/such.pcap: cannot open: No such file or directory\n");
    CHECK(ending.out == qpscope({"connections", "-f", "tsv", one}).out);
    const Ending none = qpscope({"connections", "--by-time", "no/such.pcap", "nor/this.pcap"});
    CHECK(none.code == kUnreadable);
    CHECK(
        none.err ==
        "qpscope: no/such.pcap: cannot open: No such file or directory\nqpscope: nor/this.pcap: cannot open: No such file or directory\n");
}

namespace {

// A capture in as many pieces, named as tcpdump -C names them, and in the order in which a shell expands t.pcap*.
std::vector<std::string> pieces_of(const std::string& whole, const TemporaryFolder& folder, std::size_t count) {
    const std::size_t frames = lines_of(qpscope({"packets", "-f", "tsv", "-e", "frame.number", whole}).out).size() - 1;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
        names.push_back(folder.file(i == 0 ? "t.pcap" : fmt::format("t.pcap{}", i)));
        const std::string range =
            fmt::format("frame.number > {} and frame.number <= {}", frames * i / count, frames * (i + 1) / count);
        REQUIRE(qpscope({"packets", "-Y", range, "-w", names.back(), whole}).code == kDone);
    }
    std::ranges::sort(names);
    return names;
}

}  // namespace
