// `replay -w`: what would go onto a wire, as a capture; and words that are wrong.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/temporary_file.hpp>

#include <filesystem>

#include <nlohmann/json.hpp>

using namespace qps::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

std::string column(const std::vector<std::string>& fields, const std::string& path) {
    std::vector<std::string> words{"packets", "-f", "tsv"};
    for (const std::string& field : fields) words.insert(words.end(), {"-e", field});
    words.push_back(path);
    const Ending ending = qpscope(words);
    INFO(ending.err);
    CHECK(ending.code == kDone);
    return ending.out;
}

}  // namespace

TEST_CASE("a replay without a wire keeps frames and times") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.pcapng");
    const std::string name = GENERATE("err_rnr_pcapng", "ucmatose_zstd", "rds");
    const std::string pace = GENERATE("--speed=1", "--fast");
    const Ending ending = qpscope({"replay", pace, "-w", out, sample(name)});
    CHECK(ending.code == kDone);
    CHECK(ending.err.empty());
    const std::vector<std::string> fields{"frame.time_epoch", "frame.len", "eth.src", "line", "rdma.icrc.status"};
    CHECK(column(fields, out) == column(fields, sample(name)));
    CHECK(ending.out == fmt::format("{} frames written to {}\n", lines_of(column({"frame.len"}, out)).size() - 1, out));
}

TEST_CASE("a replay without a wire says what it wrote") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.pcap");
    std::string text = qpscope({"replay", "-w", out, sample("rping_v4")}).out;
    if (const std::size_t at = text.find(out); at != std::string::npos) text.replace(at, out.size(), "FILE");
    qps::tests::check_golden("cli/golden/replay_written.txt", text);
}

TEST_CASE("a replay at twice the speed, in loops, of chosen packets, up to a number") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.pcap");
    const auto times = [](const std::string& path) { return lines_of(column({"frame.time_relative"}, path)); };
    REQUIRE(qpscope({"replay", "-q", "--speed", "2", "-w", out, sample("rping_v4")}).code == kDone);
    const auto before = times(sample("rping_v4")), after = times(out);
    REQUIRE(before.size() == after.size());
    CHECK(std::stod(after.back()) == Approx(std::stod(before.back()) / 2).epsilon(1e-6));

    const Ending looped = qpscope({"replay", "--loop", "3", "-Y", "infiniband.aeth", "-f", "json", "-w", out,
                                   sample("rping_v4"), sample("err_rnr")});
    CHECK(looped.code == kDone);
    const auto json = nlohmann::json::parse(looped.out);
    CHECK(json["loops"] == 3);
    const auto rows = [](const std::string& path) {
        return lines_of(qpscope({"packets", "-f", "tsv", "-Y", "infiniband.aeth", "-e", "line", path}).out).size() - 1;
    };
    CHECK(json["frames"] == 3 * (rows(sample("rping_v4")) + rows(sample("err_rnr"))));
    CHECK(rows(out) == json["frames"]);

    const Ending few = qpscope({"replay", "--loop", "3", "-c", "100", "-w", out, sample("rping_v4")});
    CHECK_THAT(few.out, StartsWith("100 frames written to ") && Contains("; 2 loops"));
}

TEST_CASE("a rewritten capture is analysed like the one it was, under other names") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.pcapng");
    REQUIRE(qpscope({"replay", "-q", "--rewrite", "ip 10.77.0.0/24=192.168.9.0/24", "--rewrite", "psn *+77",
                     "--rewrite", "rkey *=5", "--rewrite", "mac *=02:00:00:00:00:33", "--rewrite", "vlan none=9", "-w",
                     out, sample("rping_v4")})
                .code == kDone);
    CHECK(lines_of(column({"eth.src"}, out)).back() == "02:00:00:00:00:33");
    const auto icrc = [](const std::string& path) {
        return column({"rdma.icrc.status", "infiniband.bth.opcode", "vlan.id"}, path);
    };
    CHECK_THAT(icrc(out), Contains("\t9\n"));
    const auto connections = [](const std::string& path) {
        auto json = nlohmann::json::parse(qpscope({"connections", "-f", "json", path}).out);
        std::string text = json.dump();
        for (std::size_t at = 0; (at = text.find("192.168.9.", at)) != std::string::npos;)
            text.replace(at, 10, "10.77.0.");
        return text;
    };
    CHECK_THAT(connections(out), Contains("10.77.0.11"));
    const auto ladder = [](const std::string& path) { return lines_of(qpscope({"cm", "-q", path}).out).size(); };
    CHECK(ladder(out) == ladder(sample("rping_v4")));
    const auto good = [](const std::string& path) {
        return nlohmann::json::parse(qpscope({"info", "-f", "json", path}).out)["icrc"];
    };
    CHECK(good(out) == good(sample("rping_v4")));
}

TEST_CASE("wrong words of a replay") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.pcap");
    const auto wrong = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "replay");
        const Ending ending = qpscope(words);
        INFO(fmt::format("{}", fmt::join(words, " ")));
        CHECK(ending.code == kUsage);
        CHECK(ending.out.empty());
        CHECK_FALSE(std::filesystem::exists(out));
        return ending.err;
    };
    CHECK_THAT(wrong({"-w", out}), Contains("name a capture file"));
    CHECK_THAT(wrong({sample("rds")}), Contains("-i INTERFACE, or write with -w FILE"));
    CHECK_THAT(wrong({"--loop", "0", "-w", out, sample("rds")}), Contains("without end"));
    CHECK_THAT(wrong({"--via", "udp", "-i", "lo", sample("rds")}), Contains("use ring, xdp or pcap"));
    CHECK_THAT(wrong({"--loop", "2", "-w", out, "-"}), Contains("--loop needs files"));
    CHECK_THAT(wrong({"--speed", "0", "-w", out, sample("rds")}), Contains("invalid speed '0'"));
    CHECK_THAT(wrong({"--speed", "2", "--fast", "-w", out, sample("rds")}), Contains("--fast"));
    CHECK_THAT(wrong({"-f", "csv", "-w", out, sample("rds")}), Contains("table or json"));
    CHECK_THAT(wrong({"--rewrite", "ip 10.0.0.1", "-w", out, sample("rds")}),
               Contains("invalid rewrite rule 'ip 10.0.0.1': invalid mapping '10.0.0.1': expected OLD=NEW"));
    CHECK_THAT(wrong({"-Y", "bogus == 1", "-w", out, sample("rds")}), Contains("bogus"));
    CHECK_THAT(wrong({"-w", sample("rds"), sample("rds")}), Contains(sample("rds")));
    CHECK_THAT(qpscope({"replay", "-i", "no-such-interface", sample("rds")}).err, Contains("no-such-interface"));
    CHECK(qpscope({"replay", "-i", "no-such-interface", sample("rds")}).code == kOutputFailed);
    CHECK(qpscope({"replay", "-w", out, folder.file("nowhere.pcap")}).code == kUnreadable);
}
