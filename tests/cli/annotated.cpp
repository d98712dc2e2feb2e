// Fields that tell of a packet what those before it say: in filters and columns, from files, pipes and pieces of a
// capture.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

using namespace qps::dissect;
using namespace qps::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

namespace {

std::vector<std::string> numbers_of(const std::string& filter, const std::string& path) {
    const Ending ending = qpscope({"packets", "-f", "tsv", "-e", "frame.number", "-Y", filter, path});
    INFO(ending.err);
    CHECK(ending.code == kDone);
    auto lines = lines_of(ending.out);
    lines.erase(lines.begin());
    return lines;
}

// Frames of requests whose sender, queue pair and PSN had been there before, found without following any connection.
std::vector<std::string> repeated_requests(const std::string& path) {
    const std::vector<std::string> words{"packets",
                                         "-f",
                                         "tsv",
                                         "-e",
                                         "ip.src",
                                         "-e",
                                         "infiniband.bth.destqp",
                                         "-e",
                                         "infiniband.bth.psn",
                                         "-e",
                                         "frame.number",
                                         "-Y",
                                         "rdma.request == 1",
                                         path};
    auto lines = lines_of(qpscope(words).out);
    lines.erase(lines.begin());
    std::set<std::string> seen;
    std::vector<std::string> repeated;
    for (const std::string& line : lines)
        if (const std::size_t frame = line.rfind('\t'); !seen.insert(line.substr(0, frame)).second)
            repeated.push_back(line.substr(frame + 1));
    return repeated;
}

// A pcap in two, cut between records: the header of the whole, then the first `records` of it, or the others.
std::vector<std::byte> piece(const std::vector<std::byte>& whole, std::size_t records, bool others) {
    constexpr std::size_t kHeader = 24;
    constexpr std::size_t kRecord = 16;
    std::size_t cut = kHeader;
    for (std::size_t i = 0; i < records; ++i) cut += kRecord + read_le<std::uint32_t>(whole, cut + 8);
    const auto at = [&](std::size_t offset) { return whole.begin() + static_cast<std::ptrdiff_t>(offset); };
    std::vector<std::byte> bytes(at(0), others ? at(kHeader) : at(cut));
    if (others) bytes.insert(bytes.end(), at(cut), whole.end());
    return bytes;
}

}  // namespace

TEST_CASE("retransmissions are the requests whose PSN had been there before") {
    for (const char* name : {"loss_write", "dup_write"}) {
        INFO(name);
        const auto expected = repeated_requests(sample(name));
        CHECK_FALSE(expected.empty());
        CHECK(numbers_of("rdma.retransmission", sample(name)) == expected);
        CHECK(numbers_of("rdma.arrival == repeated", sample(name)) == expected);
    }
}

TEST_CASE("a packet that the network doubled is told from one that was sent again") {
    CHECK(numbers_of("rdma.duplicated", sample("loss_write")).empty());
    const auto doubled = numbers_of("rdma.duplicated", sample("dup_write"));
    CHECK_FALSE(doubled.empty());
    CHECK(numbers_of("rdma.duplicated and rdma.retransmission", sample("dup_write")) == doubled);
}

TEST_CASE("every packet of a connection has its number and end, others have none") {
    const auto lines = lines_of(qpscope({"packets", "-f", "tsv", "-e", "infiniband.bth.destqp", "-e", "rdma.connection",
                                         "-e", "rdma.from", sample("multi_qp")})
                                    .out);
    std::set<std::string> connections;
    std::set<std::string> ends;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const std::string queue_pair = lines[i].substr(0, lines[i].find('\t'));
        const std::string rest = lines[i].substr(queue_pair.size() + 1);
        CHECK((queue_pair.empty() || queue_pair == "1") == (rest == "\t"));
        if (rest == "\t") continue;
        connections.insert(rest.substr(0, rest.find('\t')));
        ends.insert(queue_pair + " of " + rest);
    }
    CHECK(connections.size() > 1);
    CHECK(ends.size() == 2 * connections.size());  // a queue pair is one end of one connection
}

TEST_CASE("TCP segments of a connection with iWARP have its number too, in columns and filters") {
    const std::string path = QPSCOPE_SOURCE_DIR "/captures/iwarp_write/capture.pcapng";
    auto lines = lines_of(
        qpscope({"packets", "-f", "tsv", "-e", "tcp.srcport", "-e", "tcp.dstport", "-e", "rdma.connection", path}).out);
    lines.erase(lines.begin());
    std::map<std::string, std::size_t> followed;
    std::map<std::string, std::set<std::string>> ports;  // by connection
    for (const std::string& line : lines) {
        const std::size_t second = line.find('\t');
        const std::size_t third = line.rfind('\t');
        const std::string connection = line.substr(third + 1);
        if (connection.empty()) continue;
        ++followed[connection];
        for (const std::string& port : {line.substr(0, second), line.substr(second + 1, third - second - 1)})
            ports[connection].insert(port);
    }
    REQUIRE(followed.size() == 2);
    for (const auto& [connection, packets] : followed) {
        CHECK(ports[connection].size() == 2);
        CHECK(numbers_of("rdma.connection == " + connection, path).size() == packets);
    }
    CHECK(numbers_of("rdma", path).size() == followed["1"] + followed["2"]);
    CHECK(numbers_of("rdma.icrc.status or rdma.encapsulation", path).empty());
}

TEST_CASE("a message is completed once, by the packet that answers it, after its latency") {
    const auto lines =
        lines_of(qpscope({"packets", "-f", "ndjson", "-e", "rdma.request", "-e", "rdma.message.completed", "-e",
                          "rdma.message.latency", "-Y", "rdma.message.completed", sample("write_8k")})
                     .out);
    REQUIRE_FALSE(lines.empty());
    for (const std::string& line : lines) {
        const Json row = Json::parse(line);
        INFO(line);
        CHECK(row["rdma.request"] == false);
        CHECK(row["rdma.message.completed"] >= 1);
        CHECK(row["rdma.message.latency"] > 0.0);
        CHECK(row["rdma.message.latency"] < 1.0);
    }
}

TEST_CASE("a packet knows its message, all of its frames and the last, as filters number them") {
    const std::string path = sample("write_8k");
    const auto lines = lines_of(qpscope({"packets", "-f", "ndjson", "-e", "frame.number", "-e", "rdma.message", "-e",
                                         "rdma.message.frames", "-e", "rdma.message.first_frame", "-e",
                                         "rdma.message.last_frame", "-e", "rdma.message.completed", path})
                                    .out);
    std::map<std::uint64_t, std::set<std::string>> frames;  // by message, as its packets say
    for (const std::string& line : lines) {
        const Json row = Json::parse(line);
        INFO(line);
        if (row["rdma.message"].is_null()) {
            CHECK(row["rdma.message.frames"].is_null());
            continue;
        }
        CHECK(row["rdma.message.first_frame"] <= row["frame.number"]);
        CHECK(row["rdma.message.last_frame"] >= row["frame.number"]);
        frames[row["rdma.message"]].insert(row["rdma.message.frames"]);
    }
    REQUIRE(frames.size() > 4);
    for (const auto& [message, texts] : frames) {
        CHECK(texts.size() == 1);
        const auto by_frames = lines_of(qpscope({"show", "-f", "ndjson", "-n", *texts.begin(), path}).out).size();
        CHECK(numbers_of("rdma.message == " + std::to_string(message), path).size() == by_frames);
    }
    CHECK(numbers_of("rdma.message.last_frame == frame.number", path).size() >= frames.size() / 2);
    CHECK(numbers_of("rdma.message == 1 and rdma.message.first_frame > 0", path) ==
          numbers_of("rdma.message == 1", path));
}

TEST_CASE("frames and messages of several files have the numbers that they have in the whole") {
    const std::vector<std::string> files{sample("read_8k"), sample("send_8k")};
    // Message 21 is the first of the second file, whose packets follow 247 others.
    const auto of_21 = qpscope({"packets", "-q", "--in-order", "-f", "csv", "-e", "frame.number", "-e", "rdma.message",
                                "-Y", "rdma.message == 21", files[0], files[1]});
    CHECK(of_21.out.starts_with("frame.number,rdma.message\n248,21\n249,21\n"));
    const auto shown = qpscope({"show", "--in-order", "--messages", "-n", "248", files[0], files[1]});
    CHECK(shown.out.find("RC_SEND_FIRST") != std::string::npos);
    const auto other_way =
        qpscope({"packets", "-q", "-f", "csv", "-e", "rdma.message", "-Y", "rdma.message == 1", files[1], files[0]});
    const auto alone =
        qpscope({"packets", "-q", "-f", "csv", "-e", "rdma.message", "-Y", "rdma.message == 1", files[1]});
    CHECK(other_way.out == alone.out);
}

TEST_CASE("fields of messages are shown where somebody asks for them, and refused where nobody can know them") {
    const std::string path = sample("write_8k");
    CHECK_THAT(qpscope({"show", "-Y", "rdma.message == 1", "-c", "1", "--no-bytes", "--messages", path}).out,
               Contains("All frames of the message"));
    CHECK_THAT(qpscope({"show", "-n", "20", "--no-bytes", path}).out, !Contains("All frames of the message"));
    const std::vector<std::byte> bytes = read_file(path);
    const Ending piped = qpscope({"packets", "-e", "rdma.message", "-"}, {.input = Bytes(bytes)});
    CHECK(piped.code == kUsage);
    CHECK_THAT(piped.err, Contains("expected files that can be read twice"));
    const Ending analysed = qpscope({"messages", "-Y", "rdma.message.last_frame == 9", path});
    CHECK(analysed.code == kUsage);
    CHECK_THAT(analysed.err, Contains("rdma.message == N"));
    CHECK(numbers_of("rdma.message > 1 and rdma.message < 3", path) == numbers_of("rdma.message == 2", path));
    CHECK(qpscope({"messages", "-Y", "rdma.message", path}).code == kUsage);
}

TEST_CASE("what is told does not depend on where the capture comes from, nor on threads") {
    const std::vector<std::string> words{"packets",         "-f", "tsv",          "-e", "frame.len",       "-e",
                                         "rdma.connection", "-e", "rdma.arrival", "-e", "rdma.psn_missing"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), words.begin(), words.end());
        return more;
    };
    const auto bytes = read_file(sample("loss_write"));
    const Ending whole = qpscope(with({sample("loss_write")}));
    CHECK(whole.code == kDone);
    CHECK(qpscope(with({"-"}), {.input = Bytes(bytes)}).out == whole.out);
    CHECK(qpscope(with({"-j", "1", sample("loss_write")})).out == whole.out);
    CHECK(qpscope(with({"-j", "4", sample("loss_write")})).out == whole.out);

    // Files are pieces of one capture.
    const TemporaryFolder folder;
    constexpr std::size_t kCut = 1000;
    const std::string first = folder.write("first.pcap", piece(bytes, kCut, false));
    const std::string second = folder.write("second.pcap", piece(bytes, kCut, true));
    CHECK(qpscope(with({first, second})).out == whole.out);
}

TEST_CASE("every command takes filters that ask what is known of a packet") {
    const std::size_t count = repeated_requests(sample("dup_write")).size();
    CHECK(
        Json::parse(qpscope({"info", "-f", "json", "-Y", "rdma.retransmission", sample("dup_write")}).out)["packets"] ==
        count);
    const Json shown =
        Json::parse(qpscope({"show", "-f", "json", "-Y", "rdma.retransmission", sample("dup_write")}).out);
    REQUIRE(shown["packets"].size() == count);
    for (const Json& packet : shown["packets"])
        for (const Json& layer : packet["layers"])
            if (layer["layer"] == "rdma") CHECK(layer["fields"]["rdma.retransmission"] == true);
    const Json analyzed =
        Json::parse(qpscope({"connections", "-f", "json", "-Y", "rdma.connection == 2", sample("multi_qp")}).out);
    CHECK(analyzed["connections"].size() == 1);
}

TEST_CASE("the time since the frame before is the difference of their times, whichever packets are shown") {
    for (const char* name : {"dup_write", "iser_large", "opcodes_erf"}) {
        INFO(name);
        const auto rows = [&](Words more) {
            auto lines =
                lines_of(qpscope(Words{"packets", "-f", "tsv", "-e", "frame.time_relative", "-e", "frame.time_delta"} +
                                 more + Words{sample(name)})
                             .out);
            lines.erase(lines.begin());
            return lines;
        };
        const auto all = rows({});
        REQUIRE(all.size() > 10);
        CHECK(all.front() == "0.000000000\t0.000000000");
        const auto nanoseconds = [](const std::string& text) { return std::llround(std::stod(text) * 1e9); };
        long long before = 0;
        for (const std::string& line : all) {
            const std::size_t tab = line.find('\t');
            const long long now = nanoseconds(line.substr(0, tab));
            CHECK(nanoseconds(line.substr(tab + 1)) == now - before);
            before = now;
        }
        const auto late = rows({"-Y", "frame.time_delta >= 1ms"});
        std::vector<std::string> expected;
        std::ranges::copy_if(all, std::back_inserter(expected), [&](const std::string& line) {
            return nanoseconds(line.substr(line.find('\t') + 1)) >= 1'000'000;
        });
        CHECK(late == expected);
    }
}

TEST_CASE("where nobody asks, nothing is told") {
    CHECK_THAT(qpscope({"show", "-f", "json", "-c", "50", sample("dup_write")}).out, !Contains("rdma.connection"));
}

TEST_CASE("the list of fields says which are told from the packets before") {
    const auto lines = lines_of(qpscope({"fields", "-f", "tsv", "known from earlier packets"}).out);
    CHECK(lines.size() == 1 + 12);
    for (std::size_t i = 1; i < lines.size(); ++i)
        CHECK((lines[i].starts_with("rdma.") || lines[i].starts_with("frame.time_delta\t")));
}
