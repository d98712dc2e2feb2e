// Times on the command line: filters by the clock, --since and --until, columns of `timeline` by filters, sums of pairs
// of hosts.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace qps::test;
using Catch::Matchers::Contains;

namespace {

std::size_t packets(std::vector<std::string> words) {
    words.insert(words.begin(), {"packets", "-q", "-f", "tsv", "-e", "frame.number"});
    words.push_back(sample("loss_write"));
    const Ending ending = qpscope(words);
    INFO(ending.err);
    REQUIRE(ending.code == kDone);
    return lines_of(ending.out).size() - 1;
}

}  // namespace

TEST_CASE("packets of a time of day") {
    const nlohmann::json info = nlohmann::json::parse(qpscope({"info", "-f", "json", sample("loss_write")}).out);
    const std::size_t all = info["packets"];
    const std::int64_t first = info["first_time_ns"];
    const std::string second = fmt::format("{}.5", first / 1'000'000'000 + 1);
    const std::size_t later = packets({"-Y", "frame.time_epoch >= " + second});
    REQUIRE(later > 0);
    REQUIRE(later < all);
    CHECK(packets({"--since", second}) == later);
    CHECK(packets({"--until", second}) == all - later);
    CHECK(packets({"--since", "1s"}) == packets({"-Y", "frame.time_relative >= 1"}));
    CHECK(packets({"--since", "500ms", "--until", "1s"}) ==
          packets({"-Y", "frame.time_relative >= 500ms && frame.time_relative < 1s"}));
    CHECK(packets({"--since", "500ms", "-Y", "tcp or infiniband"}) ==
          packets({"-Y", "frame.time_relative >= 500ms && (tcp or infiniband)"}));
    CHECK(packets({"--since", "1970-01-01"}) == all);
    CHECK(packets({"--until", "2026-01-01"}) == 0);
}

TEST_CASE("--since is for every command that reads captures, and says what it expects") {
    for (const char* command :
         {"analyze", "findings", "connections", "messages", "timeline", "check", "info", "show"}) {
        INFO(command);
        const Ending none = qpscope({command, "--since", "2100-01-01", sample("loss_write")});
        CHECK(none.out != qpscope({command, sample("loss_write")}).out);
        const Ending wrong = qpscope({command, "--since", "yesterday", sample("loss_write")});
        CHECK(wrong.code == kUsage);
        CHECK_THAT(wrong.err, Contains("invalid --since 'yesterday'") && Contains("2026-11-21 01:14:08"));
    }
    CHECK(qpscope({"analyze", "--until", "01:14:08", sample("loss_write")}).code == kUsage);  // of which day?
}

TEST_CASE("columns of timeline count what matches a filter") {
    const auto sums = [](std::vector<std::string> words) {
        words.insert(words.begin(),
                     {"timeline", "-f", "json", "-e", "infiniband", "-e", "tcp", "-e", "frame.len > 9000"});
        words.push_back(sample("loss_write"));
        std::array<std::size_t, 4> all{};
        const nlohmann::json document = nlohmann::json::parse(qpscope(words).out);
        for (const auto& row : document["intervals"]) {
            all[0] += row["packets"].get<std::size_t>();
            all[1] += row["infiniband"].get<std::size_t>();
            all[2] += row["tcp"].get<std::size_t>();
            all[3] += row["frame.len > 9000"].get<std::size_t>();
        }
        return all;
    };
    const auto whole = sums({});
    CHECK(whole[1] == packets({"-Y", "infiniband"}));
    CHECK(whole[2] == packets({"-Y", "tcp"}));
    CHECK(whole[2] > 0);
    CHECK(whole[3] == 0);
    CHECK(sums({"--interval", "10ms"}) == whole);
    CHECK(sums({"-j", "1"}) == whole);
    CHECK(sums({"-Y", "infiniband"})[2] == 0);
    for (const char* filter : {"rdma.retransmission", "rdma.finding == nak-ignored", "infiniband.bth.pns == 3", "("}) {
        INFO(filter);
        const Ending wrong = qpscope({"timeline", "-e", filter, sample("loss_write")});
        CHECK(wrong.code == kUsage);
        CHECK(wrong.out.empty());
    }
}

TEST_CASE("connections by pairs of hosts are the sums of connections") {
    const nlohmann::json pairs = nlohmann::json::parse(
        qpscope({"connections", "--by-host", "-f", "json", sample("multi_qp")}).out)["host_pairs"];
    const nlohmann::json each =
        nlohmann::json::parse(qpscope({"connections", "-f", "json", sample("multi_qp")}).out)["connections"];
    std::size_t bytes = 0;
    std::size_t most = 0;
    for (const auto& pair : pairs) {
        CHECK(pair["from"] != pair["to"]);
        bytes += pair["bytes"].get<std::size_t>();
        most = std::max(most, pair["connections"].get<std::size_t>());
    }
    std::size_t total = 0;
    for (const auto& connection : each) total += connection["bytes"].get<std::size_t>();
    CHECK(bytes == total);
    CHECK(most == each.size());
    CHECK(pairs.size() == 2);
    CHECK(qpscope({"connections", "--by-host", "--sort", "bytes", sample("multi_qp")}).code == kUsage);
}

TEST_CASE("info tells of rates, order, interfaces and the hash") {
    const nlohmann::json info = nlohmann::json::parse(qpscope({"info", "-f", "json", sample("loss_write")}).out);
    const double seconds = info["duration_ns"].get<double>() / 1e9;
    CHECK(std::abs(info["mean_packets_per_second"].get<double>() - info["packets"].get<double>() / seconds) <= 1);
    CHECK(std::abs(info["mean_bits_per_second"].get<double>() - info["bytes"].get<double>() * 8 / seconds) <= 1);
    CHECK(info["in_order"] == true);
    CHECK(info["interfaces"].size() == 1);
    const std::string sum = run({"sha256sum", sample("loss_write")}).out;
    CHECK(info["sha256"] == sum.substr(0, 64));
    CHECK_THAT(qpscope({"info", sample("loss_write")}).out, Contains("SHA-256     " + sum.substr(0, 64)) &&
                                                                Contains("packets/s on average") &&
                                                                Contains("in order"));
    CHECK(qpscope({"info", "--no-sandbox", "-f", "json", sample("loss_write")}).out ==
          qpscope({"info", "-f", "json", sample("loss_write")}).out);
    CHECK_FALSE(
        nlohmann::json::parse(qpscope({"info", "-f", "json", "-"}, {.input = read_file(sample("loss_write"))}).out)
            .contains("sha256"));
}
