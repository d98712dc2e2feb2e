// `analyze --part` and `merge`: parts on disk, joined in any order and in steps, print what the whole capture does;
// what is wrong with them is said in one sentence and an exit code.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

using namespace qps::test;
using Catch::Matchers::Contains;
using qps::test::TemporaryFolder;

namespace {

// All parts of a capture, in a folder of their own.
std::vector<std::string> parts_of(const std::vector<std::string>& analysis, int count, const std::string& folder) {
    std::vector<std::string> paths;
    for (int number = 1; number <= count; ++number) {
        paths.push_back(fmt::format("{}/part-{}.qpp", folder, number));
        const Ending ending = qpscope(
            std::vector<std::string>{"analyze", "--part", fmt::format("{}/{}", number, count), "-o", paths.back()} +
            analysis);
        INFO(ending.err);
        REQUIRE(ending.code == kDone);
        CHECK(ending.out.empty());
    }
    return paths;
}

void check_merged(const std::string& as, const std::string& format, const std::vector<std::string>& capture,
                  const std::vector<std::string>& parts) {
    INFO(as << " as " << format);
    const Ending whole = qpscope(std::vector<std::string>{as, "-f", format} + capture);
    const Ending merged = qpscope(std::vector<std::string>{"merge", "--as", as, "-f", format} + parts);
    CHECK(merged.out == whole.out);
    CHECK(merged.err == whole.err);
    CHECK(merged.code == whole.code);
}

// The verdicts on a capture and on its parts, with the options of both.
Ending check_verdicts(const std::string& capture, const std::vector<std::string>& options,
                      const std::vector<std::string>& parts) {
    INFO(fmt::format("{} {}", capture, fmt::join(options, " ")));
    const Ending whole = qpscope(std::vector<std::string>{"check"} + options + std::vector<std::string>{capture});
    const Ending merged = qpscope(std::vector<std::string>{"merge", "--as", "check"} + options + parts);
    CHECK(merged.out == whole.out);
    CHECK(merged.err == whole.err);
    CHECK(merged.code == whole.code);
    return merged;
}

Ending wrong(const std::vector<std::string>& words, int code) {
    Ending ending = qpscope(words);
    INFO(fmt::format("{}", fmt::join(words, " ")));
    CHECK(ending.code == code);
    CHECK(ending.out.empty());
    CHECK(lines_of(ending.err).size() == (code == kUsage ? 2 : 1));  // with a hint
    return ending;
}

}  // namespace

TEST_CASE("merged parts print what the whole capture does") {
    const TemporaryFolder folder;
    for (const char* name : {"loss_write", "multi_qp", "fabric_sweep", "cm_reject_noport", "nvme_rdma", "iwarp_rping",
                             "congestion", "libfabric_reliable"}) {
        INFO(name);
        const std::vector<std::string> parts = parts_of({sample(name)}, 3, folder.path());
        for (const char* as : {"analyze", "findings", "cm", "fabric"})
            for (const char* format : {"table", "json", "ndjson", "csv"})
                check_merged(as, format, {sample(name)}, {parts[2], parts[0], parts[1]});
    }
    const std::vector<std::string> several{sample("rping_v4"), sample("loss_read")};
    check_merged("analyze", "json", several, parts_of(several, 2, folder.path()));
}

TEST_CASE("parts are joined in steps") {
    const TemporaryFolder folder;
    const std::vector<std::string> parts = parts_of({sample("multi_qp")}, 4, folder.path());
    const std::string first = folder.path() + "/first.qpp", last = folder.path() + "/last.qpp";
    CHECK(qpscope({"merge", "--as", "part", "-o", first, parts[3], parts[1]}).code == kDone);
    CHECK(qpscope({"merge", "--as", "part", "-o", last, parts[0], first}).code == kDone);
    CHECK_THAT(wrong({"merge", first, parts[0]}, kUnreadable).err, Contains("a part of 4 missing: 3"));
    check_merged("analyze", "json", {sample("multi_qp")}, {parts[2], last});
}

TEST_CASE("what a merge decides is decided of the whole") {
    const TemporaryFolder folder;
    const std::vector<std::string> parts = parts_of({sample("err_bad_rkey")}, 2, folder.path());
    CHECK(qpscope(std::vector<std::string>{"merge", "--fail-on", "error"} + parts).code == kFindings);
    CHECK(qpscope(std::vector<std::string>{"merge", "-C", "99"} + parts).code == kUsage);
    CHECK_THAT(qpscope(std::vector<std::string>{"merge", "--as", "findings", "-f", "tsv"} + parts).out,
               Contains("remote-access-error"));
    CHECK(qpscope(std::vector<std::string>{"merge"} + parts, {.output = "/dev/full"}).code == kOutputFailed);
}

TEST_CASE("a capture that is cut off gives parts that say so") {
    const TemporaryFolder folder;
    const std::string cut = folder.path() + "/cut.pcap";
    std::filesystem::copy_file(sample("loss_write"), cut);
    std::filesystem::resize_file(cut, 100'000);
    std::vector<std::string> parts;
    for (int number = 1; number <= 2; ++number) {
        parts.push_back(fmt::format("{}/{}.qpp", folder.path(), number));
        const Ending ending = qpscope({"analyze", "--part", fmt::format("{}/2", number), "-o", parts.back(), cut});
        CHECK(ending.code == kDamaged);
        CHECK_THAT(ending.err, Contains("cut.pcap"));
    }
    const Ending merged = qpscope(std::vector<std::string>{"merge", "-f", "json"} + parts);
    CHECK(merged.code == kDamaged);
    nlohmann::json of_parts = nlohmann::json::parse(merged.out),
                   whole = nlohmann::json::parse(qpscope({"analyze", "-f", "json", cut}).out);
    CHECK(of_parts["capture"]["incomplete"][0] == cut + ": truncated or damaged: its readable part was analysed");
    CHECK(whole["capture"]["incomplete"].size() == 1);
    of_parts["capture"].erase("incomplete");
    whole["capture"].erase("incomplete");
    CHECK(of_parts == whole);
}

TEST_CASE("what cannot be merged is said in one sentence") {
    const TemporaryFolder folder;
    const std::string other = folder.path() + "/other";
    std::filesystem::create_directory(other);
    const std::vector<std::string> parts = parts_of({sample("loss_read")}, 2, folder.path());
    const std::vector<std::string> others = parts_of({sample("loss_write")}, 2, other);
    CHECK_THAT(wrong({"merge", parts[0]}, kUnreadable).err, Contains("a part of 2 missing: 2"));
    CHECK_THAT(wrong({"merge", parts[0], parts[0]}, kUnreadable).err, Contains("part 1 of 2 is there twice"));
    CHECK_THAT(wrong({"merge", parts[0], others[1]}, kUnreadable).err, Contains("not of the same capture"));
    CHECK_THAT(wrong({"merge", parts[0], sample("loss_read")}, kUnreadable).err,
               Contains("capture.pcap: not a part of an analysis"));
    CHECK_THAT(wrong({"merge", folder.path() + "/none.qpp"}, kUnreadable).err,
               Contains("none.qpp: No such file or directory"));
    CHECK_THAT(wrong({"merge", other}, kUnreadable).err, Contains("Is a directory"));
    CHECK_THAT(wrong({"merge", "--memory", "512MiB", "--no-sandbox", "/dev/zero"}, kUnreadable).err,
               Contains("/dev/zero: not a part of an analysis"));
    CHECK(
        qpscope({"analyze", "-Y", "rdma", "--part", "2/2", "-o", other + "/filtered.qpp", sample("loss_read")}).code ==
        kDone);
    CHECK_THAT(wrong({"merge", parts[0], other + "/filtered.qpp"}, kUnreadable).err,
               Contains("made with other options"));
    std::filesystem::resize_file(parts[1], std::filesystem::file_size(parts[1]) - 1);
    CHECK_THAT(wrong({"merge", parts[0], parts[1]}, kDamaged).err, Contains("part-2.qpp: damaged or cut off"));
}

TEST_CASE("merged parts have the verdicts of the whole capture") {
    const TemporaryFolder folder;
    const std::string profile = folder.path() + "/profile", earlier = folder.path() + "/earlier.json";
    std::ofstream(profile) << "name Soft RoCE\ndeviation FMT-08 = known\n";
    CHECK(qpscope({"check", "-f", "json", "--fail-on", "never", "-o", earlier, sample("loss_write")}).code == kDone);
    for (const char* name : {"loss_write", "multi_qp", "cm_reject_noport", "congestion", "err_bad_rkey", "corrupt_send",
                             "iwarp_rping", "fabric_sweep"}) {
        const std::vector<std::string> parts = parts_of({"--checks", sample(name)}, 3, folder.path());
        for (const char* format : {"table", "json", "junit", "html"})
            check_verdicts(sample(name), {"--all", "-f", format}, {parts[1], parts[2], parts[0]});
    }
    const std::string capture = sample("loss_write"), together = folder.path() + "/together.qpp";
    const std::vector<std::string> parts = parts_of({"--checks", capture}, 4, folder.path());
    CHECK(qpscope({"merge", "--as", "part", "-o", together, parts[3], parts[0], parts[1]}).code == kDone);
    const std::vector<std::string> joined{together, parts[2]};
    CHECK(check_verdicts(capture, {}, joined).code == kDone);
    CHECK(check_verdicts(capture, {"--fail-on", "low"}, joined).code == kFindings);  // FMT-08 of soft RoCE
    check_verdicts(capture, {"--fail-on", "high", "--only", "FMT,REQ-01"}, joined);
    CHECK_THAT(check_verdicts(capture, {"--profile", profile}, joined).out, Contains("DECLARED DEVIATIONS"));
    CHECK_THAT(check_verdicts(capture, {"--compare", earlier}, joined).out, Contains("no changes"));
    for (const char* host : {"10.77.0.11", "10.77.0.12"})
        CHECK_THAT(check_verdicts(capture, {"-f", "json", "--device", host}, joined).out, Contains("alone"));
    CHECK_THAT(check_verdicts(capture, {"--device", "10.77.0.99"}, joined).err, Contains("nothing was judged"));
    // What was made with checks is as good for everything else.
    check_merged("findings", "json", {capture}, joined);
}

TEST_CASE("verdicts of parts that cannot have any are refused") {
    const TemporaryFolder folder;
    const std::string other = folder.path() + "/other";
    std::filesystem::create_directory(other);
    const std::vector<std::string> plain = parts_of({sample("loss_read")}, 2, folder.path());
    const std::vector<std::string> checked = parts_of({"--checks", sample("loss_read")}, 2, other);
    CHECK_THAT(wrong({"merge", "--as", "check", plain[0], plain[1]}, kUnreadable).err,
               Contains("the parts are without checks: make them with qpscope analyze --checks"));
    CHECK_THAT(wrong({"merge", plain[0], checked[1]}, kUnreadable).err,
               Contains("one was made with --checks, another without"));
    CHECK_THAT(wrong({"merge", "--as", "check", checked[0]}, kUnreadable).err, Contains("a part of 2 missing: 2"));
    CHECK_THAT(wrong({"merge", "--as", "check", "-f", "csv", checked[0]}, kUsage).err,
               Contains("expected one of table, json, junit, html"));
    CHECK_THAT(wrong({"merge", "-f", "junit", "--as", "findings", checked[0]}, kUsage).err,
               Contains("expected one of table, json, ndjson, csv, tsv"));
    CHECK_THAT(wrong({"merge", "--fail-on", "error", "--as", "check", checked[0]}, kUsage).err,
               Contains("expected one of high, medium, low, never"));
    CHECK_THAT(qpscope({"merge", "--device", "10.0.0.1", checked[0]}).err, Contains("--device goes with --as check"));
    CHECK_THAT(qpscope({"merge", "--all", checked[0]}).err, Contains("--all goes with --as check"));
    CHECK_THAT(qpscope({"merge", "--as", "check", "-C", "1", checked[0]}).err,
               Contains("--as check excludes --connection"));
    CHECK_THAT(qpscope({"analyze", "--checks", sample("loss_read")}).err,
               Contains("--checks goes with --part or --host"));
    CHECK(qpscope({"analyze", "--checks", sample("loss_read")}).code == kUsage);
    // Of hosts: of one as of any capture, of several not.
    std::vector<std::string> hosts;
    for (const char* host : {"sender", "receiver"}) {
        hosts.push_back(fmt::format("{}/{}.qpp", folder.path(), host));
        CHECK(qpscope(
                  {"analyze", "--checks", "--host", host, "-o", hosts.back(), sample(fmt::format("loss_at_{}", host))})
                  .code == kDone);
    }
    check_verdicts(sample("loss_at_sender"), {"--all", "-f", "json"}, {hosts[0]});
    CHECK_THAT(wrong({"merge", "--as", "check", hosts[0], hosts[1]}, kUnreadable).err,
               Contains("these are parts of 2 hosts"));
    CHECK_THAT(qpscope({"merge", hosts[0], hosts[1]}).out, Contains("captures of 2 hosts"));
}

TEST_CASE("captures of two hosts are told as one") {
    const TemporaryFolder folder;
    std::vector<std::string> parts;
    for (const char* host : {"sender", "receiver"}) {
        parts.push_back(fmt::format("{}/{}.qpp", folder.path(), host));
        const Ending ending =
            qpscope({"analyze", "--host", host, "-o", parts.back(), sample(fmt::format("loss_at_{}", host))});
        REQUIRE(ending.code == kDone);
        CHECK(ending.out.empty());
    }
    const Ending report = qpscope({"merge", parts[0], parts[1]});
    CHECK(report.code == kDone);
    CHECK_THAT(report.out, Contains("captures of 2 hosts") && Contains("1 connection described from another"));
    CHECK_THAT(report.out, Contains("all lost between the tap of\n         sender and the tap of receiver") &&
                               Contains("sender:21"));
    CHECK(qpscope({"merge", "-f", "json", parts[0], parts[1]}).out ==
          qpscope({"merge", "-f", "json", parts[1], parts[0]}).out);
    // Each connection is told once, and the clocks are compared: the receiver's is 1.234567 s ahead.
    CHECK_THAT(qpscope({"merge", "-f", "json", parts[0], parts[1]}).out,
               Contains("\"shared_connections\": 1") && Contains("\"clock_offset_ns\": -1234"));
    // A capture that began late has the end of the same attempt at a connection: it is one all the same, and the loss
    // has one tap.
    const std::string late = folder.path() + "/late.pcapng", late_part = folder.path() + "/late.qpp";
    CHECK(qpscope({"packets", "-q", "-Y", "frame.number > 100", "-w", late, sample("loss_at_sender")}).code == kDone);
    CHECK(qpscope({"analyze", "--host", "sender", "-o", late_part, late}).code == kDone);
    CHECK_THAT(qpscope({"merge", late_part, parts[1]}).out, Contains("1 attempt: 1 disconnected") &&
                                                                Contains("and the tap of receiver") &&
                                                                !Contains("tap of sender"));
    CHECK_THAT(wrong({"merge", parts[0], parts[0]}, kUnreadable).err, Contains("host sender is there twice"));
    const std::string other = folder.path() + "/other.qpp";
    CHECK(qpscope({"analyze", "--part", "1/1", "-o", other, sample("rping_v4")}).code == kDone);
    CHECK_THAT(wrong({"merge", parts[0], other}, kUnreadable).err, Contains("one is of host sender, another of none"));
    CHECK_THAT(wrong({"analyze", "--host", "", "-o", "/dev/null", sample("rping_v4")}, kUsage).err,
               Contains("invalid host ''"));
    CHECK_THAT(qpscope({"analyze", "--host", "a", sample("rping_v4")}).err, Contains("missing --output"));
}

TEST_CASE("a part is asked for in the right words") {
    const std::string capture = sample("rping_v4");
    for (const char* part : {"0/2", "3/2", "1", "1/", "/2", "1/5000", "a/b", "1/2/3"}) {
        INFO(part);
        CHECK_THAT(wrong({"analyze", "--part", part, "-o", "/dev/null", capture}, kUsage).err + "\n",
                   Contains("expected K/N such as 1/4"));
    }
    CHECK_THAT(qpscope({"analyze", "--part", "1/2", capture}).err, Contains("missing --output"));
    CHECK_THAT(qpscope({"analyze", "--part", "1/2", "-o", "/dev/null", "-C", "1", capture}).err,
               Contains("--connection goes with qpscope merge"));
    CHECK_THAT(qpscope({"analyze", "--part", "1/2", "-o", "/dev/null", "--fail-on", "error", capture}).err,
               Contains("--fail-on goes with qpscope merge"));
    CHECK_THAT(qpscope({"analyze", "--part", "1/2", "-o", "/dev/null", "-f", "json", capture}).err,
               Contains("--format goes with qpscope merge"));
    CHECK_THAT(qpscope({"merge", "--as", "packets", "x.qpp"}).err,
               Contains("expected one of analyze, findings, cm, fabric, check, part"));
    CHECK_THAT(qpscope({"merge", "--as", "part", "x.qpp"}).err, Contains("missing --output"));
    CHECK(qpscope({"merge"}).code == kUsage);
}
