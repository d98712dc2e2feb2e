// Several files on one command line: pieces of a capture, captures apart, and what is said where nothing is judged.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/other_port.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace qps::dissect;
using namespace qps::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("pieces of a capture are read in the order of their first packets, however a shell sorts their names") {
    for (const char* name : {"multi_qp", "send_8k", "rping_v4", "loss_write"}) {
        INFO(name);
        const TemporaryFolder folder;
        const std::string whole = sample(name);
        const std::vector<std::string> pieces = pieces_of(whole, folder, 12);
        const Ending of_whole = qpscope({"findings", "-f", "tsv", whole});
        const Ending of_pieces = qpscope(std::vector<std::string>{"findings", "-f", "tsv"} + pieces);
        CHECK(of_pieces.out == of_whole.out);
        CHECK(of_pieces.code == of_whole.code);
        CHECK_THAT(of_pieces.err, StartsWith("qpscope: 12 files are read in the order of their first packets, "));
        // In that order there is nothing to say, and the user may have his own.
        CHECK_THAT(qpscope({"findings", pieces[0], pieces[1]}).err, !Contains("in the order of their first packets"));
        const std::vector<std::string> columns{"packets", "-f", "tsv", "-e", "frame.time_epoch", "--in-order"};
        const Ending own = qpscope(columns + pieces);
        CHECK(own.out != qpscope({"packets", "-f", "tsv", "-e", "frame.time_epoch", whole}).out);
        CHECK(own.err.empty());
        CHECK_THAT(qpscope({"info", pieces[1], pieces[0]}).err,
                   !Contains("first packets"));  // a row for each, as they are given
    }
}

namespace {

// Frames of a capture from one to before another, parts of a thousand of it.
std::string stretch_of(const std::string& whole, const std::string& name, std::uint64_t from, std::uint64_t to) {
    const std::size_t frames = lines_of(qpscope({"packets", "-f", "tsv", "-e", "frame.number", whole}).out).size() - 1;
    const std::string range =
        fmt::format("frame.number > {} and frame.number <= {}", frames * from / 1000, frames * to / 1000);
    REQUIRE(qpscope({"packets", "-Y", range, "-w", name, whole}).code == kDone);
    return name;
}

}  // namespace

TEST_CASE("recordings of one link that overlap in time are one: what both have counts once") {
    const auto findings_of = [](const std::vector<std::string>& files) {
        return qpscope(std::vector<std::string>{"findings", "-f", "tsv"} + files);
    };
    for (const char* name : {"loss_write", "multi_qp", "err_rnr", "nvme_rdma", "iwarp_write", "congestion", "incast"}) {
        INFO(name);
        const TemporaryFolder folder;
        const std::string whole = sample(name), expected = findings_of({whole}).out;
        const std::string first = stretch_of(whole, folder.file("b.pcapng"), 0, 600),
                          second = stretch_of(whole, folder.file("a.pcapng"), 300, 1000),
                          third = stretch_of(whole, folder.file("c.pcapng"), 500, 800);
        for (const std::vector<std::string>& files :
             {std::vector{first, second}, {second, first}, {third, first, second}}) {
            const Ending ending = findings_of(files);
            CHECK(ending.out == expected);
            CHECK_THAT(ending.err, Contains("files overlap in time, ") &&
                                       Contains("that several files have: each counts once") &&
                                       Contains("(--in-order: one file after the other)"));
        }
    }
}

TEST_CASE("more files than can be read side by side are refused in a sentence") {
    const std::vector<std::string> many(65, sample("err_rnr"));
    const Ending ending = qpscope(std::vector<std::string>{"findings"} + many);
    CHECK(ending.code == kUsage);
    CHECK(ending.out.empty());
    CHECK_THAT(ending.err, Contains("65 files overlap in time: at most 64 can be read side by side (--in-order: one "
                                    "file after the other)"));
    CHECK(qpscope(std::vector<std::string>{"packets", "--in-order", "-c", "1"} + many).code == kDone);
}

TEST_CASE("files that do not continue each other are judged each by itself") {
    const TemporaryFolder folder;
    const Ending pieces = qpscope(std::vector<std::string>{"analyze"} + pieces_of(sample("write_8k"), folder, 2));
    CHECK_THAT(pieces.out, Contains("as one capture"));
    CHECK_THAT(pieces.err, !Contains("recordings"));
    const Ending both = qpscope({"analyze", sample("write_8k"), sample("read_8k")});  // 1.7 s between them
    CHECK_THAT(both.out, Contains("2 recordings, each judged by itself") && !Contains("taps"));
    CHECK_THAT(both.err, Contains("2 recordings that do not continue each other"));
    CHECK(qpscope({"analyze", "-q", sample("write_8k"), sample("read_8k")}).err.empty());
    CHECK_THAT(qpscope({"analyze", "--by-time", sample("write_8k"), sample("read_8k")}).out, !Contains("recordings"));
    // Each tells what it tells alone: the requester of the first had not given up when its recording ended.
    for (const auto& [one, other] :
         {std::pair("dup_write", "nvme_rdma"), std::pair("err_bad_rkey", "rds"), std::pair("loss_read", "err_mixed")}) {
        INFO(one << " and " << other);
        std::set<std::string> alone, together;
        const auto add = [](std::set<std::string>& ids, const Ending& ending) {
            for (const auto& finding : nlohmann::json::parse(ending.out)["findings"])
                ids.insert(finding["id"].get<std::string>());
        };
        add(alone, qpscope({"findings", "-f", "json", sample(one)}));
        add(alone, qpscope({"findings", "-f", "json", sample(other)}));
        add(together, qpscope({"findings", "-f", "json", sample(other), sample(one)}));
        CHECK(together == alone);
    }
}

TEST_CASE("captures one behind the other keep what each of them shows") {
    const std::vector<std::string> columns{"findings", "-f", "tsv"};
    const Ending both =
        qpscope(columns + std::vector<std::string>{sample("err_bad_qpn"), sample("err_rnr")});  // the later one first
    const std::vector<std::string> lines = lines_of(both.out);
    REQUIRE(lines.size() == 3);
    CHECK_THAT(lines[1], Contains("rnr-retries-exceeded"));
    CHECK_THAT(lines[2], Contains("transport-retries-exceeded"));
}

TEST_CASE("where no RDMA was captured nothing is called healthy") {
    const TemporaryFolder folder;
    const std::string tcp = folder.file("tcp.pcap"), none = folder.file("none.pcap");
    REQUIRE(qpscope({"packets", "-Y", "arp", "-w", tcp, sample("loss_write")}).code == kDone);
    REQUIRE(qpscope({"packets", "-Y", "frame.number > 1000000", "-w", none, sample("loss_write")}).code == kDone);
    for (const std::string& path : {tcp, none}) {
        for (const char* command :
             {"findings", "analyze", "check", "report", "connections", "messages", "operations", "cm"}) {
            INFO(command << ' ' << path);
            const Ending ending = qpscope({command, path});
            CHECK(ending.code == kUnjudged);
            CHECK_THAT(ending.err, Contains("no RDMA packet was captured, so nothing was judged"));
            CHECK_THAT(ending.err, Contains("qpscope doctor"));
            CHECK_THAT(ending.out, !Contains("No problems found"));
        }
        CHECK(qpscope({"check", "--only", "RSP", path}).code == kUnjudged);
        CHECK(qpscope({"findings", "-q", path}).code == kUnjudged);
        const auto json = nlohmann::json::parse(qpscope({"findings", "-f", "json", path}).out);
        CHECK_THAT(json["nothing_judged"].get<std::string>(), Contains("no RDMA packet"));
    }
    const Ending healthy = qpscope({"findings", sample("send_8k")});
    CHECK(healthy.code == kDone);
    CHECK(healthy.err == "qpscope: no findings\n");
    CHECK(
        nlohmann::json::parse(qpscope({"findings", "-f", "json", sample("send_8k")}).out)["nothing_judged"].is_null());
    CHECK(qpscope({"findings", sample("bridging_differs")}).code == kDone);  // LLDP is looked at
}

TEST_CASE("a file that is missing stands in the heading of what was read") {
    const std::string one = sample("err_rnr"), missing = "no/such.pcap: cannot open: No such file or directory";
    const Ending findings = qpscope({"findings", "no/such.pcap", one});
    CHECK(findings.code == kUnreadable);
    CHECK_THAT(findings.out, StartsWith("incomplete: " + missing));
    CHECK_THAT(qpscope({"analyze", "no/such.pcap", one}).out, Contains(missing));
    CHECK_THAT(qpscope({"report", "no/such.pcap", one}).out, Contains(missing));
    const auto json = nlohmann::json::parse(qpscope({"analyze", "-f", "json", "no/such.pcap", one}).out);
    CHECK(json["capture"]["incomplete"] == nlohmann::json({missing}));
    CHECK(nlohmann::json::parse(qpscope({"analyze", "-f", "json", one}).out)["capture"]["incomplete"].empty());
}

TEST_CASE("a message that its requester gave up for has the status of that, where the number of retries proves it") {
    const auto messages = [](const char* name) { return qpscope({"messages", "-f", "tsv", sample(name)}).out; };
    CHECK_THAT(messages("err_rnr"), Contains("failed: RNR retries exceeded (status 13)\t\t13"));
    CHECK_THAT(messages("err_bad_qpn"), Contains("\topen\t") && !Contains("retries exceeded"));
    CHECK_THAT(messages("loss_write"), !Contains("retries exceeded"));
}
