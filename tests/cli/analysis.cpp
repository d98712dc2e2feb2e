// The commands that reconstruct, as a whole: one capture gives one result however it comes, whatever reads it, and
// every format of every command can be read back.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/sanitized.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/casework/claim_rows.hpp>
#include <transport-replay/findings/findings.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

using namespace qps::dissect;
using namespace qps::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

namespace {

const std::vector<Words> kCommands{{"connections"},
                                   {"messages"},
                                   {"findings"},
                                   {"cm"},
                                   {"fabric"},
                                   {"timeline", "--interval", "10ms"},
                                   {"series", "waterfall"},
                                   {"series", "losses"},
                                   {"series", "incast"},
                                   {"series", "heat-map", "--of", "bytes"}};
const std::vector<std::string> kSamples =
    qps::tests::kSanitized ? std::vector<std::string>{"loss_read", "ucmatose", "nvme_rdma"}
                           : std::vector<std::string>{"rping_v4", "loss_write", "loss_read",    "err_rnr",
                                                      "ucmatose", "nvme_rdma",  "corrupt_send", "fabric_sweep"};

std::uint32_t little_endian(const std::vector<std::byte>& bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 4; i-- > 0;) number = number << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
    return number;
}

// A little-endian pcap as several files of so many packets, as a recorder that rotates them would have written it.
std::vector<std::vector<std::byte>> rotated(const std::vector<std::byte>& pcap, std::size_t packets_each) {
    constexpr std::ptrdiff_t kFileHeader = 24;
    constexpr std::size_t kRecordHeader = 16;
    std::vector<std::vector<std::byte>> files;
    std::size_t packets = 0;
    for (std::size_t at = kFileHeader; at < pcap.size(); ++packets) {
        if (packets % packets_each == 0) files.emplace_back(pcap.begin(), pcap.begin() + kFileHeader);
        const std::size_t end = at + kRecordHeader + little_endian(pcap, at + 8);
        files.back().insert(files.back().end(), pcap.begin() + static_cast<std::ptrdiff_t>(at),
                            pcap.begin() + static_cast<std::ptrdiff_t>(end));
        at = end;
    }
    return files;
}

// Everything but the names of the files.
Json report(const Words& words, const Surroundings& surroundings = {}) {
    const Ending ending = qpscope(Words{"analyze", "-f", "json"} + words, surroundings);
    CHECK(ending.code == kDone);
    Json json = Json::parse(ending.out);
    json["capture"].erase("files");
    return json;
}

}  // namespace

TEST_CASE("any number of threads reconstructs the same") {
    for (const std::string& name : kSamples) {
        INFO(name);
        const Json one = report({"-j", "1", sample(name)});
        for (const char* jobs : {"2", "8"}) CHECK(report({"-j", jobs, sample(name)}) == one);
        for (const Words& command : kCommands) {
            const Ending expected = qpscope(command + Words{"-j", "1", sample(name)});
            for (const char* jobs : {"2", "8"})
                CHECK(qpscope(command + Words{"-j", jobs, sample(name)}).out == expected.out);
        }
    }
}

TEST_CASE("rotated files are one capture, with frames numbered on") {
    for (const std::string& name : kSamples) {
        const auto whole = read_file(sample(name));
        const Json expected = report({sample(name)});
        for (const std::size_t packets : {std::size_t{20}, std::size_t{31}, std::size_t{1000}}) {
            INFO(fmt::format("{} in files of {} packets", name, packets));
            const TemporaryFolder folder;
            Words files;
            for (const auto& content : rotated(whole, packets))
                files.push_back(folder.write(fmt::format("{:03}.pcap", files.size()), content));
            CHECK(report(files) == expected);
            CHECK(report(Words{"-j", "2"} + files) == expected);
            for (const Words& command : kCommands)
                CHECK(qpscope(command + Words{"-f", "tsv"} + files).out ==
                      qpscope(command + Words{"-f", "tsv", sample(name)}).out);
        }
    }
}

TEST_CASE("a pipe is reconstructed like the file") {
    for (const std::string& name : kSamples) {
        INFO(name);
        const auto bytes = read_file(sample(name));
        const Surroundings piped{.input = Bytes(bytes)};
        CHECK(report({"-"}, piped) == report({sample(name)}));
        for (const Words& command : kCommands)
            CHECK(qpscope(command + Words{"-"}, piped).out == qpscope(command + Words{sample(name)}).out);
    }
}

TEST_CASE("every format of every command can be read back") {
    auto commands = kCommands;
    commands.insert(commands.end(), {{"analyze"}, {"follow", "1"}});
    // Starting costs more than reading: every sample by every command as JSON, and in one of the other formats in turn.
    std::size_t turn = 0;
    for (const std::string& name : all_samples()) {
        INFO(name);
        ++turn;
        for (std::size_t at = 0; at < commands.size(); ++at) {
            const Words& command = commands[at];
            INFO(command[0]);
            const Ending json = qpscope(command + Words{"-f", "json", sample(name)});
            const bool none = command[0] == "follow" && json.err.find("no such connection 1") != std::string::npos;
            CHECK(json.code == (none ? kUsage : kDone));
            CHECK(Json::parse(json.out)["schema"] == 2);
            const std::size_t format = (turn + at) % 3;
            if (format == 0 || command[0] == "follow")
                for (const std::string& line : lines_of(qpscope(command + Words{"-f", "ndjson", sample(name)}).out))
                    CHECK(Json::parse(line).is_object());
            if (format == 1) CHECK(qpscope(command + Words{sample(name)}).code == json.code);
            if (format != 2 || command[0] == "follow") continue;
            const auto rows = lines_of(qpscope(command + Words{"-f", "tsv", sample(name)}).out);
            REQUIRE(!rows.empty());
            for (const std::string& row : rows)
                CHECK(std::ranges::count(row, '\t') == std::ranges::count(rows[0], '\t'));
            CHECK(lines_of(qpscope(command + Words{"-f", "csv", sample(name)}).out).size() == rows.size());
        }
    }
}

TEST_CASE("a report of one line an object says the type of each") {
    std::vector<std::string> types;
    for (const std::string& line : lines_of(qpscope({"analyze", "-f", "ndjson", sample("ucmatose")}).out))
        types.push_back(Json::parse(line)["type"]);
    CHECK(std::ranges::count(types, "connection") == 4);
    for (const char* type : {"capture", "icrc", "messages", "totals", "cm", "congestion", "left_out"})
        CHECK(std::ranges::count(types, type) == 1);
}

TEST_CASE("the sums of the connections are the totals") {
    for (const std::string& name : kSamples) {
        INFO(name);
        const Json json = report({sample(name)});
        for (const char* key :
             {"retransmitted_packets", "sequence_naks", "rnr_naks", "fatal_naks", "acks", "timeouts"}) {
            std::uint64_t sum = 0;
            for (const Json& connection : json["connections"]) sum += connection[key].get<std::uint64_t>();
            CHECK(json["totals"][key] == sum);
        }
        const auto messages = lines_of(qpscope({"messages", "-f", "ndjson", sample(name)}).out);
        std::uint64_t counted = 0;
        for (const auto& [kind, count] : json["messages"].items()) counted += count.get<std::uint64_t>();
        CHECK(messages.size() == counted);
    }
}

TEST_CASE("the intervals of a timeline add up to the capture, whatever their length") {
    for (const std::string& name : kSamples) {
        const Json json = report({sample(name)});
        for (const char* interval : {"1us", "1ms", "1s", "3600s"}) {
            INFO(fmt::format("{} {}", name, interval));
            std::map<std::string, std::uint64_t> sums;
            std::int64_t last = 0;
            for (const std::string& line :
                 lines_of(qpscope({"timeline", "-f", "ndjson", "--interval", interval, sample(name)}).out)) {
                const Json row = Json::parse(line);
                for (const auto& [key, value] : row.items())
                    if (key != "round_trip_mean_ns") sums[key] += value.get<std::uint64_t>();  // a mean, or nothing
                CHECK(row["start_ns"].get<std::int64_t>() > last);
                last = row["start_ns"];
            }
            CHECK(sums["packets"] == json["capture"]["packets"]);
            CHECK(sums["bytes"] == json["capture"]["bytes"]);
            for (const char* key : {"retransmitted_packets", "sequence_naks", "rnr_naks", "ce_marked"})
                CHECK(sums[key] == json["totals"][key]);
        }
    }
}

TEST_CASE("one connection of several can be chosen") {
    for (const char* command : {"connections", "messages"}) {
        const auto rows = lines_of(qpscope({command, "-C", "2,3", "-f", "ndjson", sample("ucmatose")}).out);
        REQUIRE(!rows.empty());
        for (const std::string& row : rows) {
            const Json json = Json::parse(row);
            const int uid = json.value("uid", json.value("connection", 0));
            CHECK((uid == 2 || uid == 3));
        }
    }
    CHECK(Json::parse(qpscope({"cm", "-C", "2", "-f", "json", sample("ucmatose")}).out)["attempts"].size() == 1);
    CHECK(
        Json::parse(qpscope({"connections", "-C", "99", "-f", "json", sample("ucmatose")}).out)["connections"].empty());
}

TEST_CASE("of a capture that is cut the rest is analysed, and the exit code says so") {
    const TemporaryFolder folder;
    auto bytes = read_file(sample("rds"));
    bytes.resize(1000);
    const std::string path = folder.write("cut", bytes);
    for (const char* jobs : {"1", "2"}) {
        const Ending ending = qpscope({"analyze", "-f", "json", "-j", jobs, path});
        CHECK(ending.code == kDamaged);
        CHECK(Json::parse(ending.out)["capture"]["packets"] == 6);
        CHECK_THAT(ending.err, StartsWith("qpscope: " + path + ": truncated record of frame 7"));
    }
}

TEST_CASE("of several files those that can be read are analysed") {
    const Ending ending = qpscope({"analyze", "-f", "json", "no/such.pcap", sample("rds")});
    CHECK(ending.code == kUnreadable);
    CHECK(Json::parse(ending.out)["capture"]["packets"] == 43);
    for (const Words& command : kCommands) {
        const Ending none = qpscope(command + Words{"-f", "json", "no/such.pcap"});
        CHECK(none.code == kUnreadable);
        CHECK(none.out.empty());
    }
}

TEST_CASE("the option -c stops the analysis after so many packets, over several files too") {
    for (const char* jobs : {"1", "2"}) {
        CHECK(report({"-c", "10", "-j", jobs, sample("loss_read")})["capture"]["packets"] == 10);
        CHECK(report({"-c", "50", "-j", jobs, sample("rds"), sample("loss_read")})["capture"]["packets"] == 50);
    }
}

TEST_CASE("a display filter says which packets are analysed") {
    CHECK(report({"-Y", "infiniband", sample("err_rnr")})["capture"]["packets"] == 14);
    CHECK(report({"-Y", "frame.number == 0", sample("rds")})["connections"].empty());
    for (const Words& command : kCommands) CHECK(qpscope(command + Words{"-Y", "(", "no/such.pcap"}).code == kUsage);
}

TEST_CASE("findings decide the exit code where the user says so") {
    const auto code = [](const char* severity, const char* name) {
        return qpscope({"analyze", "--fail-on", severity, sample(name)}).code;
    };
    for (const char* severity : {"note", "warning", "error"}) {
        CHECK(code(severity, "err_rnr") == kFindings);
        CHECK(code(severity, "err_bad_rkey") == kFindings);
    }
    CHECK(code("error", "rping_v4") == kDone);
    CHECK(qpscope({"analyze", sample("err_rnr")}).code == kDone);
    for (const Words& command : kCommands)
        CHECK(qpscope(command + Words{"--fail-on", "error", sample("err_rnr")}).code == kFindings);
}

TEST_CASE("a damaged capture is worse than findings in it") {
    const TemporaryFolder folder;
    auto bytes = read_file(sample("err_rnr"));
    bytes.resize(bytes.size() - 1);
    CHECK(qpscope({"analyze", "--fail-on", "note", folder.write("cut", bytes)}).code == kDamaged);
}

TEST_CASE("a line of a log finds the connection it is about") {
    const auto candidates = [](const std::string& line, const char* name) {
        std::vector<std::pair<int, std::string>> found;
        const Ending ending = qpscope({"connections", "-f", "ndjson", "--match", line, sample(name)});
        CHECK(ending.code == (ending.out.empty() ? kFindings : kDone));  // as grep
        for (const std::string& row : lines_of(ending.out))
            found.emplace_back(Json::parse(row)["uid"], Json::parse(row)["match"]);
        return found;
    };
    const auto by_qp = candidates("UCX ERROR RC QP 0x23 wqe[0]: SEND", "ucmatose");
    REQUIRE(by_qp.size() == 1);
    CHECK(by_qp[0].first == 2);
    const auto by_hosts = candidates("peer 10.77.0.11<4711> localGid ::ffff:10.77.0.12 qp_num 36", "ucmatose");
    REQUIRE(by_hosts.size() == 4);
    CHECK(by_hosts[0].first == 3);
    CHECK_THAT(by_hosts[0].second, StartsWith("both hosts; QP 36 of "));
    CHECK(by_hosts[1].second == "both hosts");
    const auto by_error = candidates("NET/IB : Got completion with status=13 opcode=0", "err_rnr");
    REQUIRE(by_error.size() == 1);
    CHECK_THAT(by_error[0].second, Contains("7 RNR NAKs"));
    CHECK_THAT(candidates("10.77.0.12: remote access error", "err_bad_rkey").at(0).second,
               Contains("refused: remote access error"));
    CHECK_THAT(candidates("status=12 from 10.77.0.12", "rping_v4").at(0).second,
               Contains("but that error was not captured"));
    CHECK(candidates("10.1.2.3 status=12", "rping_v4").empty());
    CHECK_THAT(qpscope({"connections", "--match", "hello", sample("rping_v4")}).err,
               Contains("no address, queue pair or error"));
    CHECK(qpscope({"connections", "--match", "hello", sample("rping_v4")}).code == kFindings);
}

TEST_CASE("a line about a rejected connection finds the attempt, a line of another reason does not") {
    const Ending found =
        qpscope({"connections", "--match", "nvme nvme0: Connect rejected: status 8 (invalid service ID).",
                 sample("cm_reject_noport")});
    CHECK(found.code == kDone);
    CHECK_THAT(found.out, Contains("rejected by the passive side: Invalid service ID (8)"));
    CHECK(qpscope({"connections", "--match", "nvme nvme0: Connect rejected: status 10 (stale connection).",
                   sample("cm_reject_noport")})
              .code == kFindings);
}

TEST_CASE("packets of a link type that is not read are said to be so, not to lack RDMA") {
    const TemporaryFolder folder;
    auto bytes = read_file(sample("rds"));
    bytes[20] = decltype(bytes)::value_type{242};
    const std::string foreign = folder.write("foreign", bytes);
    const Ending table = qpscope({"info", foreign});
    CHECK_THAT(table.out, Contains("link type 242") && Contains("not decoded"));
    CHECK_THAT(table.out, !Contains("none: no RoCE"));
    CHECK(Json::parse(qpscope({"info", "-f", "json", foreign}).out)["interfaces"][0]["link_type"] == "link type 242");
}

TEST_CASE("JSON has the attempts that a line may be about beside the connections") {
    const auto matched = [](const char* format, const std::string& line) {
        return qpscope({"connections", "-f", format, "--match", line, sample("cm_reject_noport")});
    };
    const std::string right = "rdma connection rejected: status 8", wrong = "rdma connection rejected: status 10";
    const Json document = Json::parse(matched("json", right).out);
    CHECK(document["connections"].empty());
    REQUIRE(document["attempts"].size() == 1);
    const Json& attempt = document["attempts"][0];
    CHECK(attempt["outcome"] == "rejected");
    CHECK(attempt["reject_reason"] == 8);
    CHECK(attempt["active_address"] == "10.77.0.11");
    CHECK(attempt["match"] == "rejected by the passive side: Invalid service ID (8)");
    CHECK(Json::parse(matched("json", wrong).out)["attempts"].empty());
    const Ending rows = matched("ndjson", right);
    REQUIRE(lines_of(rows.out).size() == 1);
    CHECK(Json::parse(lines_of(rows.out)[0]) == attempt);
}

TEST_CASE("a table without rows says so, and only a table") {
    for (const char* command : {"connections", "messages", "findings", "cm", "fabric"}) {
        const Ending table = qpscope({command, "-Y", "frame.number == 0", sample("rds")});
        CHECK(table.code == kDone);
        CHECK(table.out.empty());
        CHECK_THAT(table.err, StartsWith("qpscope: no "));
        CHECK(qpscope({command, "-q", "-Y", "frame.number == 0", sample("rds")}).err.empty());
        CHECK(qpscope({command, "-f", "csv", "-Y", "frame.number == 0", sample("rds")}).err.empty());
    }
}

TEST_CASE("a fabric is the same in every format") {
    const Json map = Json::parse(qpscope({"fabric", "-f", "json", sample("fabric_sweep")}).out);
    CHECK(map["nodes"].size() == 4);
    CHECK(map["links"].size() == 3);
    CHECK(map["groups"][0]["members"].size() == 2);
    CHECK(map["events"].size() == 2);
    std::map<std::string, std::size_t> types;
    for (const std::string& line : lines_of(qpscope({"fabric", "-f", "ndjson", sample("fabric_sweep")}).out))
        ++types[Json::parse(line)["type"].get<std::string>()];
    CHECK(types["node"] == 4);
    CHECK(types["link"] == 3);
    CHECK(types["exchange"] == map["exchanges"].size());
    std::size_t ports = 0;
    for (const Json& node : map["nodes"]) ports += node["ports"].size();
    CHECK(lines_of(qpscope({"fabric", "-f", "tsv", sample("fabric_sweep")}).out).size() == ports + 1);
    CHECK(qpscope({"fabric", "--dot", "-f", "csv", sample("fabric_sweep")}).code == kUsage);
}

TEST_CASE("wrong words of the commands that reconstruct are wrong use") {
    for (const Words& words : std::vector<Words>{{"timeline", "--interval", "0ms"},
                                                 {"timeline", "--interval", "5"},
                                                 {"timeline", "--interval", "5 hours"},
                                                 {"timeline", "--interval", "-1ms"},
                                                 {"analyze", "--fail-on", "bogus"},
                                                 {"connections", "-C", "one"},
                                                 {"follow", "one"},
                                                 {"follow", "1", "-f", "csv"},
                                                 {"follow", "1", "--from", "c"}}) {
        INFO(fmt::format("{}", fmt::join(words, " ")));
        const Ending ending = qpscope(words + Words{sample("rds")});
        CHECK(ending.code == kUsage);
        CHECK(ending.out.empty());
        CHECK_THAT(ending.err, Contains("qpscope: "));
    }
}

TEST_CASE("a connection that the capture does not have is said so, and is wrong use") {
    for (const Words& words : {Words{"follow", "9"}, Words{"analyze", "-C", "9"}, Words{"connections", "-C", "1,9"}}) {
        INFO(words[0]);
        const Ending ending = qpscope(words + Words{sample("err_rnr")});
        CHECK(ending.code == kUsage);
        CHECK_THAT(ending.err, Contains("no such connection 9: this capture has 1 connection\n"));
    }
    CHECK_THAT(qpscope({"follow", sample("err_rnr")}).err, Contains("invalid connection"));
    CHECK(qpscope({"messages", "-C", "1", sample("err_rnr")}).code == kDone);
}

TEST_CASE("the advice of findings in one block is for all their hosts") {
    const TemporaryFolder folder;
    std::vector<std::string> files;
    for (const char digit : {'1', '2', '3', '4', '5'}) {
        files.push_back(folder.file(fmt::format("{}.pcapng", digit)));
        CHECK(qpscope({"anonymize", "-q", "--key", std::string(64, digit), "-o", files.back(), sample("loss_write")})
                  .code == kDone);
    }
    const std::string text = qpscope(Words{"findings"} + files).out;
    const std::string block = text.substr(0, text.find("warning  ack-timeout"));
    CHECK_THAT(block, Contains("go-back-n-loss  fabric, 5 findings"));
    const auto rows = Json::parse(qpscope(Words{"findings", "-f", "json"} + files).out)["findings"];
    std::size_t losses = 0;
    for (const Json& row : rows) {
        if (row["id"] != "go-back-n-loss") continue;
        ++losses;
        const auto advice = row["advice"].get<std::string>();
        const std::string begins = "Find the drops between ";
        const std::string sender = advice.substr(begins.size(), advice.find(' ', begins.size()) - begins.size());
        CHECK_THAT(block.substr(block.find("-> ")), Contains(sender));
    }
    CHECK(losses == 5);
    CHECK_THAT(text, Contains("(likewise for 4 more findings, with their hosts and numbers)"));
    CHECK_THAT(qpscope({"findings", sample("loss_write")}).out, !Contains("likewise"));
}

TEST_CASE("where the capture of the other tap is given too, the advice is to merge them") {
    const auto advice = [](const Words& files) {
        const Json findings = Json::parse(qpscope(Words{"findings", "-q", "-f", "json"} + files).out)["findings"];
        REQUIRE(!findings.empty());
        CHECK(findings[0]["id"] == "go-back-n-loss");
        return findings[0]["advice"].get<std::string>();
    };
    CHECK_THAT(advice({sample("loss_at_sender"), sample("loss_at_receiver")}),
               Contains("merge with the capture of the other tap (capture-duplicates)"));
    CHECK_THAT(advice({sample("loss_at_sender")}), Contains("; capture at the receiver to tell loss"));
}

TEST_CASE("a timeline chooses an interval that gives 20 to 60 rows, and they add up") {
    constexpr std::size_t kFewest = 20, kMost = 60;
    std::size_t several = 0;
    for (const std::string& name : all_samples()) {
        INFO(name);
        std::set<Instant> moments;
        std::uint64_t all = 0;
        qps::tests::for_each_packet(sample(name), [&](const Packet& packet) {
            moments.insert(packet.frame.time);
            ++all;
        });
        const Json intervals = Json::parse(qpscope({"timeline", "-f", "json", sample(name)}).out)["intervals"];
        std::uint64_t packets = 0;
        for (const Json& row : intervals) packets += row["packets"].get<std::uint64_t>();
        CHECK(packets == all);
        CHECK(intervals.size() >= std::min(kFewest, moments.size()));
        CHECK(intervals.size() <= kMost);
        if (moments.size() >= kFewest) ++several;
    }
    CHECK(2 * several > all_samples().size());
}

TEST_CASE("a timeline of a few microseconds has rows of nanoseconds") {
    constexpr std::size_t kPackets = 40, kLength = 60, kHeader = 24, kRecordHeader = 16;
    Pcap pcap;
    for (std::size_t i = 0; i < kPackets; ++i) pcap.record(kLength);
    std::vector<std::byte> bytes = pcap.bytes();
    const auto put = [&](std::size_t at, std::uint32_t number) {
        for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(number >> 8 * i);
    };
    put(0, 0xa1b23c4d);  // nanoseconds
    for (std::size_t i = 0; i < kPackets; ++i)
        put(kHeader + i * (kRecordHeader + kLength) + 4, static_cast<std::uint32_t>(i * 70));
    const TemporaryFolder folder;
    const auto lines = lines_of(qpscope({"timeline", folder.write("close", bytes)}).out);
    REQUIRE(lines.size() > 20);
    CHECK_THAT(lines[1], StartsWith("0.000000000 "));
    CHECK_THAT(lines[2], StartsWith("0.000000100 "));
}

TEST_CASE("a timeline of one connection has the times of the capture") {
    const Json all =
        Json::parse(qpscope({"timeline", "--interval", "1ms", "-f", "json", sample("rds")}).out)["intervals"];
    const Json one = Json::parse(
        qpscope({"timeline", "--interval", "1ms", "-C", "2", "-f", "json", sample("rds")}).out)["intervals"];
    std::set<std::int64_t> starts;
    for (const Json& row : all) starts.insert(row["start_ns"].get<std::int64_t>());
    REQUIRE(!one.empty());
    for (const Json& row : one) CHECK(starts.contains(row["start_ns"].get<std::int64_t>()));
    CHECK(lines_of(qpscope({"timeline", "-C", "2", sample("rds")}).out).at(1).starts_with("9.4"));
}

TEST_CASE("every finding is listed with its meaning in every format, without a capture") {
    const std::size_t count = qps::transport::finding_rows().size() + qps::casework::claim_rows().size();
    const Ending table = qpscope({"findings", "--list"});
    CHECK(table.code == kDone);
    CHECK(table.err.empty());
    CHECK(lines_of(table.out).size() == count + 1);
    for (const auto& row : qps::transport::finding_rows())
        CHECK_THAT(table.out, Contains(std::string(row.id)) && Contains(std::string(row.meaning)));
    for (const char* format : {"csv", "tsv"}) {
        const auto lines = lines_of(qpscope({"findings", "--list", "-f", format}).out);
        CHECK(lines.size() == count + 1);
        CHECK(lines.at(0).starts_with("id"));
    }
    CHECK(lines_of(qpscope({"findings", "--list", "-f", "ndjson"}).out).size() == count);
    const auto json = nlohmann::json::parse(qpscope({"findings", "--list", "-f", "json"}).out);
    REQUIRE(json["findings"].size() == count);
    CHECK(json["findings"][0]["id"] == std::string(qps::transport::finding_rows()[0].id));
    CHECK(json["findings"][0]["severity"] == "error");
    CHECK(qpscope({"findings", "--list", sample("err_rnr")}).code == kUsage);
}
