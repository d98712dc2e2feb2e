// `pingpong` between two processes over UDP on the loopback, without any right; and words that are wrong.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>

#include <algorithm>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace qps::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

struct Measured {
    Ending client;
    Ending server;
};

Measured measure(std::vector<std::string> words) {
    Measured measured;
    // It ends with its client; the time is for where none comes.
    std::thread server([&] {
        measured.server = qpscope({"pingpong", "--via", "udp", "-a", loopback(1), "--clients", "1", "--for", "60s"});
    });
    words.insert(words.begin(), {"pingpong", "--via", "udp", "-a", loopback(2), loopback(1)});
    measured.client = qpscope(words);
    server.join();
    return measured;
}

}  // namespace

TEST_CASE("pingpong over UDP: every row, the best first") {
    const Measured measured = measure({"-n", "40", "-s", "3000", "--depth", "2", "-f", "json", "--for", "50s"});
    INFO(measured.client.err << measured.server.err << measured.server.out);
    CHECK(measured.server.code == kDone);
    REQUIRE(measured.client.code == kDone);
    const auto json = nlohmann::json::parse(measured.client.out);
    CHECK(json["schema"] == 2);
    CHECK(json["size_bytes"] == 3000);
    CHECK(json["depth"] == 2);
    CHECK(json["signaled"] == true);
    CHECK(json["wrong"] == 0);
    CHECK(json["failed"] == 0);
    CHECK(json["left_out"].empty());
    CHECK(json["textbooks"].size() == 8);
    REQUIRE(json["rows"].size() == 12);
    std::vector<std::string> names;
    std::int64_t before = 0;
    for (const auto& row : json["rows"]) {
        names.push_back(row["mode"]);
        CHECK(row["size_bytes"] == 3000);
        CHECK(row["round_trips"].get<int>() + row["lost"].get<int>() == 40);
        for (const char* side : {"local", "peer"}) {
            CHECK(row[side]["cpu_ns"] > 0);
            CHECK(row[side]["cpu_ns"] <= row[side]["duration_ns"]);  // one thread
            CHECK(row[side]["user_ns"].get<std::int64_t>() + row[side]["kernel_ns"].get<std::int64_t>() ==
                  row[side]["cpu_ns"]);
        }
        if (names.back().ends_with("-stream")) {
            CHECK(row["p50_ns"].is_null());
            CHECK(row["bits_per_second"] > 0);
            continue;
        }
        CHECK(row["bits_per_second"].is_null());
        std::int64_t counted = 0;
        for (const auto& bucket : row["histogram"]) counted += bucket["count"].get<std::int64_t>();
        CHECK(counted == row["round_trips"]);
        CHECK(row["min_ns"] > 0);
        CHECK(row["min_ns"] <= row["p50_ns"]);
        CHECK(row["p50_ns"] <= row["p90_ns"]);
        CHECK(row["p90_ns"] <= row["max_ns"]);
        CHECK(row["p99_ns"].is_null());  // of 40
        CHECK(row["p99_9_ns"].is_null());
        CHECK(row["p50_ns"] >= before);
        before = row["p50_ns"];
    }
    std::ranges::sort(names);
    CHECK(names == std::vector<std::string>{"send-notify", "send-poll", "tcp-notify", "tcp-poll", "tcp-stream",
                                            "udp-notify", "udp-poll", "write-notify", "write-poll", "write-read-notify",
                                            "write-read-poll", "write-stream"});
    CHECK_THAT(measured.server.out, Contains("12 rows of pingpong, 224 messages returned"));
}

TEST_CASE("pingpong over UDP: one row for people") {
    const Measured measured = measure({"-n", "20", "--only", "send-notify", "--unsignaled", "--for", "50s"});
    INFO(measured.client.err << measured.server.err);
    CHECK(measured.client.code == kDone);
    CHECK(measured.server.code == kDone);
    const auto lines = lines_of(measured.client.out);
    REQUIRE(lines.size() >= 3);
    CHECK(lines[0] == "depth 1, some SENDs signaled");
    CHECK_THAT(lines[1], Contains("p50") && Contains("peer sys"));
    CHECK_THAT(lines[2], StartsWith("   64      1  send-notify") && Contains(" 20 "));
    qps::tests::check_golden("cli/golden/pingpong_row.txt", without_numbers(measured.client.out));
}

TEST_CASE("pingpong over UDP: a row for each size and mode, as CSV") {
    const Measured measured =
        measure({"-n", "10", "--only", "tcp-notify,send-notify", "--sizes", "8..32", "-f", "csv", "--for", "50s"});
    INFO(measured.client.err << measured.server.err);
    CHECK(measured.client.code == kDone);
    const auto lines = lines_of(measured.client.out);
    REQUIRE(lines.size() == 7);
    CHECK_THAT(
        lines[0],
        StartsWith(
            "size_bytes,place,mode,round_trips,lost,min_ns,p50_ns,p50_low_ns,p50_high_ns,p90_ns,p99_ns,p99_9_ns,max_ns"));
    for (std::size_t i = 1; i < lines.size(); ++i)
        CHECK_THAT(lines[i], StartsWith(fmt::format("{},", 8 << (i - 1) / 2)));
    for (std::size_t i = 1; i < lines.size(); ++i) CHECK_THAT(lines[i], Contains(",,,"));  // no p99 of 10
}

TEST_CASE("pingpong over UDP: nothing is said of single rounds") {
    const Measured measured = measure({"-n", "1", "--only", "tcp-notify,send-notify", "--for", "50s"});
    INFO(measured.client.err << measured.server.err << measured.client.out);
    CHECK(measured.client.code == kDone);
    CHECK_THAT(measured.client.out, Contains("undecided: too few rounds: "));
}

TEST_CASE("pingpong over UDP: with faults RDMA is not compared with TCP") {
    const Measured measured =
        measure({"-n", "20", "--only", "tcp-notify,send-notify", "--fault", "loss=0.1%,seed=1", "--for", "50s"});
    INFO(measured.client.err << measured.server.err << measured.client.out);
    CHECK(measured.client.code == kDone);
    CHECK_THAT(measured.client.out, Contains("--fault is in the way of RDMA alone") && !Contains("RDMA < TCP"));
}

TEST_CASE("pingpong over UDP: where every row is left out nothing was measured") {
    const bool quiet = GENERATE(false, true);
    std::vector<std::string> words{"-s", "70000", "--only", "udp-notify,udp-poll", "--for", "50s"};
    if (quiet) words.insert(words.begin(), "-q");
    const Measured measured = measure(words);
    INFO(measured.client.err << measured.server.err << measured.client.out);
    CHECK(measured.client.code == 6);
    if (quiet) CHECK(measured.client.err.empty());
    else CHECK_THAT(measured.client.err, Contains("udp-poll, udp-notify left out: "));
}

TEST_CASE("pingpong over UDP: several sizes have one line for each rule of the textbooks") {
    const Measured measured =
        measure({"-n", "30", "--only", "tcp-poll,tcp-notify,tcp-stream", "--sizes", "8,100,1K", "--for", "50s"});
    INFO(measured.client.err << measured.server.err);
    CHECK(measured.client.code == kDone);
    const auto lines = lines_of(measured.client.out);
    REQUIRE(lines.size() > 13);
    CHECK_THAT(lines[1], StartsWith("bytes  place  mode"));
    CHECK_THAT(lines[8], StartsWith("1,024"));
    const auto about =
        std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("polling < events"); });
    REQUIRE(about != lines.end());
    CHECK_THAT(*about,
               StartsWith("polling < events       tcp-poll, tcp-notify             ") && Contains(" of 3 sizes"));
}

TEST_CASE("pingpong over UDP: a row that is cut short is told as far as it came") {
    // Long enough for a request that came before its server to be sent again.
    const Measured measured =
        measure({"--only", "send-notify,tcp-notify", "--seconds", "100", "-f", "json", "--for", "8s"});
    INFO(measured.client.err << measured.server.err << measured.client.out);
    CHECK(measured.client.code == kFindings);
    CHECK_THAT(measured.client.err, Contains("the time was up after 0 of 2 rows"));
    const auto json = nlohmann::json::parse(measured.client.out);
    REQUIRE(json["rows"].size() == 1);
    CHECK(json["rows"][0]["mode"] == "send-notify");
    CHECK(json["rows"][0]["interrupted"] == true);
    CHECK(json["rows"][0]["round_trips"] > 0);
    CHECK(json["rows"][0]["p50_ns"] > 0);
    CHECK(json["textbooks"].empty());
}

TEST_CASE("pingpong with nobody there, and wrong words") {
    const Ending alone = qpscope({"pingpong", "--via", "udp", "-a", loopback(3), loopback(4), "--for", "300ms"});
    CHECK(alone.code == kFindings);
    CHECK_THAT(alone.err, Contains(fmt::format("no answer from {}", loopback(4))));
    const auto wrong = [](std::vector<std::string> words) {
        words.insert(words.begin(), {"pingpong", "--via", "udp"});
        const Ending ending = qpscope(words);
        CHECK(ending.code == kUsage);
        CHECK(ending.out.empty());
        return ending.err;
    };
    CHECK_THAT(wrong({"-a", loopback(3), "--only", "send-quickly", loopback(4)}),
               Contains("invalid mode 'send-quickly': expected one of send-poll"));
    CHECK_THAT(wrong({"-a", loopback(3), "-n", "99999999", loopback(4)}),
               Contains("invalid count 99999999: expected 1 to"));
    CHECK_THAT(wrong({"-a", loopback(3), "--depth", "4096", loopback(4)}),
               Contains("invalid depth 4096: expected at most 1024"));
    CHECK_THAT(wrong({"-a", loopback(3), "--seconds", "many", loopback(4)}),
               Contains("invalid number of seconds 'many'"));
    CHECK_THAT(wrong({"-a", loopback(3), "--sizes", "64..8", loopback(4)}),
               Contains("invalid sizes '64..8': expected FIRST..LAST"));
    CHECK_THAT(wrong({"-a", loopback(3), "--sizes", "8,,9", loopback(4)}), Contains("invalid sizes '8,,9'"));
    CHECK_THAT(wrong({"-a", loopback(3), "--sizes", "2048M", loopback(4)}), Contains("invalid sizes '2048M'"));
    CHECK_THAT(wrong({loopback(4)}), Contains("needs exactly one --address"));
}
