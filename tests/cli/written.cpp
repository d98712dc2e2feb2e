// `packets -w`: the packets that a filter lets through, as a capture.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <filesystem>

using namespace qps::test;
using Catch::Matchers::Contains;

namespace {

// Times, bytes and what else of packets can be printed.
std::string columns(const std::vector<std::string>& filter, const std::string& path) {
    std::vector<std::string> words{"packets", "-f", "tsv"};
    for (const char* field : {"frame.time_epoch", "frame.len", "frame.cap_len", "frame.comment", "infiniband.bth.psn",
                              "infiniband.payload"})
        words.insert(words.end(), {"-e", field});
    words.insert(words.end(), filter.begin(), filter.end());
    words.push_back(path);
    const Ending ending = qpscope(words);
    INFO(ending.err);
    CHECK(ending.code == kDone);
    return ending.out;
}

}  // namespace

TEST_CASE("packets that a filter lets through are written as they were, whatever the number of threads") {
    const TemporaryFolder folder;
    const std::string name = GENERATE("err_rnr_pcapng", "loss_write", "rping_v6_gzip", "ucmatose_zstd");
    const std::string out = folder.file(GENERATE("out.pcapng", "out.pcap"));
    const std::string jobs = GENERATE("1", "3");
    const Ending ending = qpscope({"packets", "-j", jobs, "-Y", "infiniband.bth", "-w", out, sample(name)});
    CHECK(ending.code == kDone);
    CHECK(ending.out.empty());
    CHECK(ending.err == fmt::format("qpscope: {} packets written to {}\n", lines_of(columns({}, out)).size() - 1, out));
    CHECK(columns({}, out) == columns({"-Y", "infiniband.bth"}, sample(name)));
}

TEST_CASE("packets that only the reconstruction knows can be written, up to a number") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.pcapng");
    const std::vector<std::string> chosen{"-c", "3", "-Y", "rdma.retransmission"};
    CHECK(qpscope({"packets", "-q", "-c", "3", "-Y", "rdma.retransmission", "-w", out, sample("loss_write")})
              .err.empty());
    CHECK(columns({}, out) == columns(chosen, sample("loss_write")));
    CHECK(lines_of(columns({}, out)).size() == 4);
}

TEST_CASE("several captures become one") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.pcapng");
    CHECK(qpscope({"packets", "-q", "-w", out, sample("err_rnr"), sample("rds")}).code == kDone);
    const auto rows = [](const std::string& path) { return lines_of(columns({}, path)).size() - 1; };
    CHECK(rows(out) == rows(sample("err_rnr")) + rows(sample("rds")));
}

TEST_CASE("a capture goes through standard input and output") {
    const std::vector<std::byte> input = read_file(sample("err_rnr_pcapng"));
    const TemporaryFolder folder;
    const std::string out = folder.write("out", {});
    const Ending ending = qpscope({"packets", "-w", "-", "-"}, {.input = input, .output = out});
    CHECK(ending.code == kDone);
    CHECK(ending.err.empty());
    CHECK(columns({}, out) == columns({}, sample("err_rnr_pcapng")));
}

TEST_CASE("an input is not written over, and what cannot be written is told") {
    const TemporaryFolder folder;
    const std::string path = folder.write("trace.pcap", read_file(sample("rds")));
    const Ending refused = qpscope({"packets", "-w", path, path});
    CHECK(refused.code == kUsage);
    CHECK_THAT(refused.err, Contains("would be overwritten"));
    const std::string redirected = fmt::format("'{0}' packets -w '{1}' - < '{1}'", QPSCOPE_PROGRAM, path);
    CHECK(run({"sh", "-c", redirected}).code == kUsage);
    CHECK(read_file(path) == read_file(sample("rds")));
    const Ending full = qpscope({"packets", "-w", "/dev/full", path});
    CHECK(full.code == kOutputFailed);
    CHECK_THAT(full.err, Contains("/dev/full: cannot write"));
    const std::string kept = folder.write("kept.pcapng", read_file(sample("err_rnr_pcapng")));
    CHECK(qpscope({"packets", "-w", kept, folder.file("none.pcap")}).code == kUnreadable);
    CHECK(read_file(kept) == read_file(sample("err_rnr_pcapng")));
    CHECK_FALSE(std::filesystem::exists(kept + ".part"));
}

TEST_CASE("packets are written or printed, not both") {
    for (const std::vector<std::string>& other :
         {std::vector<std::string>{"-e", "frame.number"}, {"-f", "tsv"}, {"-o", "rows.txt"}}) {
        std::vector<std::string> words{"packets", "-w", "out.pcapng"};
        words.insert(words.end(), other.begin(), other.end());
        words.push_back(sample("rds"));
        const Ending ending = qpscope(words);
        CHECK(ending.code == kUsage);
        CHECK_THAT(ending.err, Contains("--write"));
        CHECK_FALSE(std::filesystem::exists("out.pcapng"));
    }
}
