// Captures of a case are analysed: their findings are claims, lines of logs lead to connections, and a capture of
// something else decides nothing.
#include <tests/case/case_folder.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/casework/case_capture.hpp>
#include <transport-replay/casework/case_reader.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

using namespace qps;
using namespace qps::casework;
using namespace qps::testing;

namespace {

using File = std::pair<std::string, std::string>;

File capture(const std::string& sample, const std::string& name = "tap.pcap") {
    const std::filesystem::path path = QPSCOPE_SOURCE_DIR "/captures/" + sample + "/capture.pcap";
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file.good());
    return {name, {std::istreambuf_iterator<char>(file), {}}};
}

// Of the connection in err_rnr: 10.77.0.11 QP 68 towards 10.77.0.12 QP 66.
const File kOfThisPair{
    "node-a.log",
    "[node-a:77:0] ib_mlx5_log.c:179 UCX  ERROR Receive-no-ready retry count exceeded on mlx5_0:1/RoCE (synd 0x16 vend "
    "0x87 hw_synd 0/0)\n"
    "[node-a:77:0] ib_mlx5_log.c:179 UCX  ERROR RC QP 0x44 wqe[12]: SEND s-- [va 0x7f len 8 lkey 0x1] [rqpn 0x42 "
    "dlid=0 sl=0 port=1 src_path_bits=0 dgid=::ffff:10.77.0.12 flow_label=0x0 sgid_index=3 traffic_class=106]\n"};

Case read_with_captures(const std::vector<File>& files) {
    CaseReader reader;
    for (const auto& [name, bytes] : files) reader.read(name, bytes);
    return reader.end();
}

}  // namespace

TEST_CASE("the findings of a capture are claims, with their frames") {
    const Judged said = judged({capture("err_rnr")});
    CHECK(said.party == "remote host");
    CHECK(said.host == "10.77.0.12");
    CHECK(said.text.contains("\"rnr-retries-exceeded\""));
    CHECK(said.text.contains("\"frame\": 10"));
}

TEST_CASE("a line of a log leads to its connection in the capture") {
    const Case found = read_with_captures({kOfThisPair, capture("err_rnr")});
    REQUIRE(found.captures.size() == 1);
    REQUIRE(found.captures[0]->lines.size() == 1);
    const LineOnWire& line = found.captures[0]->lines[0];
    CHECK(line.line == Place{0, 1});
    CHECK(line.connection == 1);
    CHECK(line.alone);
    CHECK(line.reasons.contains("7 RNR NAKs"));
    CHECK(judged({kOfThisPair, capture("err_rnr")}).party == "remote host");
}

TEST_CASE("a capture of other connections than the complaint decides nothing") {
    const Judged said = judged({kOfThisPair, capture("err_bad_rkey")});
    CHECK(said.text.contains("undecided: whether tap.pcap is of this failure"));
    CHECK(said.host == "node-a");  // by its log alone
    const Judged lost =
        judged({{"b.log",
                 "b:1:2 [0] net.cc:9 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129"},
                capture("err_bad_rkey")});
    CHECK(lost.party == "undecided");
}

TEST_CASE("a capture that shows no fault is said to show none, and no more") {
    const Judged said = judged({capture("rc_pingpong")});
    CHECK(said.party == "undecided");
    CHECK(said.text.contains("its analysis has no warning and no error"));
    CHECK_FALSE(said.text.contains("healthy"));
}

TEST_CASE("counters stand beside what the wire showed") {
    const auto dump = [](std::uint64_t value) {
        return "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/rnr_nak_retry_err:" + std::to_string(value) + "\n";
    };
    const Judged grown = judged({{"a.counters.before", dump(3)}, {"a.counters.after", dump(10)}, capture("err_rnr")});
    CHECK(grown.text.contains("7 RNR NAKs in the capture, while rnr_nak_retry_err grew by 7"));
    const Judged still = judged({{"a.counters.before", dump(3)}, {"a.counters.after", dump(3)}, capture("err_rnr")});
    CHECK(still.text.contains("7 RNR NAKs in the capture, while rnr_nak_retry_err of a did not grow"));
}

TEST_CASE("a capture that is cut or none is named, and never called healthy") {
    File cut = capture("err_rnr");
    cut.second.resize(600);
    const Case found = read_with_captures({cut});
    CHECK_FALSE(found.captures[0]->problem.empty());
    CHECK_FALSE(judged({cut}).text.contains("no warning"));
    for (std::size_t size = 4; size < 2000; size += 61) {
        File part = capture("err_rnr");
        part.second.resize(size);
        REQUIRE(read_with_captures({part}).captures.size() == 1);
    }
}

namespace {

// A pcap file in pieces of so many packets, each with its header, as tcpdump -C and dumpcap -b write them.
std::vector<std::string> pieces_of(const std::string& whole, std::size_t packets) {
    constexpr std::size_t kFileHeader = 24, kRecordHeader = 16;
    std::vector<std::string> pieces;
    std::size_t count = 0;
    for (std::size_t at = kFileHeader; at + kRecordHeader <= whole.size();) {
        std::uint32_t captured = 0;
        std::memcpy(&captured, whole.data() + at + 8, sizeof captured);
        if (count++ % packets == 0) pieces.push_back(whole.substr(0, kFileHeader));
        pieces.back() += whole.substr(at, kRecordHeader + captured);
        at += kRecordHeader + captured;
    }
    return pieces;
}

}  // namespace

TEST_CASE("pieces of a recording that was rotated are one capture") {
    const auto pieces = pieces_of(capture("err_rnr").second, 11);
    REQUIRE(pieces.size() >= 3);
    const Case whole = read_with_captures({capture("err_rnr")});
    const auto name = [](std::size_t i) { return fmt::format("tap_{:05}_202601010000{:02}.pcap", i + 1, i); };
    std::vector<File> files;
    for (std::size_t i = pieces.size(); i-- > 0;) files.emplace_back(name(i), pieces[i]);  // in any order
    const Case joined = read_with_captures(files);
    REQUIRE(joined.captures.size() == 1);
    CHECK(joined.captures[0]->packets == whole.captures[0]->packets);
    CHECK(joined.captures[0]->connections == whole.captures[0]->connections);
    REQUIRE(joined.captures[0]->findings.size() == whole.captures[0]->findings.size());
    for (std::size_t i = 0; i < whole.captures[0]->findings.size(); ++i)
        CHECK(joined.captures[0]->findings[i].id == whole.captures[0]->findings[i].id);
    // The 12th packet is the first of the second piece.
    const Place place = place_of(*joined.captures[0], dissect::FrameIndex{12});
    CHECK(joined.files[place.file].name == name(1));
    CHECK(place.line == 1);
}

TEST_CASE("captures of other names are judged apart, and names tell pieces") {
    const Case apart = read_with_captures({capture("err_rnr", "a.pcap"), capture("err_rnr", "b.pcap")});
    CHECK(apart.captures.size() == 2);
    CHECK(recording_of("x/tap_00003_20260102030405.pcapng") == recording_of("x/tap_00004_20260102030505.pcapng"));
    CHECK(recording_of("tap.pcap") == recording_of("tap.pcap12"));
    CHECK(recording_of("tap.pcap0.gz") == recording_of("tap.pcap1.gz"));
    CHECK(recording_of("a1.pcap") != recording_of("a2.pcap"));
    CHECK(recording_of("node-a.log").empty());
}
