// `peer` between two processes over UDP on the loopback, without any right: every program against its counterpart, with
// what both say at the end; damage to order; captures of both ends; and words that are wrong.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace qps::test;
using Catch::Matchers::Contains;

namespace {

// Programs that tell of queue pairs over TCP find the other there or fail, as the originals do: the server has to be
// first.
void wait_for_tcp(const std::string& address, unsigned port) {
    in_addr bits{};
    REQUIRE(inet_pton(AF_INET, address.c_str(), &bits) == 1);
    const std::string listens =
        fmt::format(" {:08X}:{:04X} 00000000:0000 0A ", bits.s_addr, port);  // as proc(5) writes it
    for (int attempt = 0; attempt < 1000; ++attempt) {
        std::ifstream table("/proc/net/tcp");
        if (std::string(std::istreambuf_iterator(table), {}).find(listens) != std::string::npos) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

struct Met {
    Ending client;
    Ending server;
};

// The server ends with its client; the time is for where none comes.
Met meet(const std::string& serves, const std::string& calls, const std::vector<std::string>& both,
         std::vector<std::string> of_client = {}, std::vector<std::string> of_server = {}) {
    const auto words = [&](const std::string& own, const std::string& program, const std::vector<std::string>& more) {
        std::vector<std::string> all{"peer", "--via", "udp", "-a", own, "-f", "json", "--for", "50s", program};
        all.insert(all.end(), both.begin(), both.end());
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    Met met;
    of_server.insert(of_server.end(), {"--clients", "1"});
    std::thread server([&] { met.server = qpscope(words(loopback(1), serves, of_server)); });
    if (std::ranges::find(both, "--tcp") != both.end()) wait_for_tcp(loopback(1), 18515);
    of_client.insert(of_client.begin(), loopback(1));
    met.client = qpscope(words(loopback(2), calls, of_client));
    server.join();
    return met;
}

struct Pair {
    const char* serves;
    const char* calls;
    std::vector<std::string> words;
};

}  // namespace

TEST_CASE("peer over UDP: every program and its counterpart") {
    const std::string tcp = loopback(1);
    const std::vector<Pair> pairs{
        {"rping", "rping", {"-n", "5", "-s", "3000"}},
        {"echo", "echo", {"-n", "20", "-s", "5001"}},
        {"rdma_server", "rdma_client", {}},
        {"ucmatose", "ucmatose", {"-n", "5", "-s", "2000"}},
        {"rstream", "rstream", {"-n", "5", "-s", "2000"}},
        {"riostream", "riostream", {"-n", "5", "-s", "2000"}},
        {"sink", "source", {"-n", "20", "-s", "4000"}},
        {"sink", "source-write", {"-n", "20", "-s", "4000"}},
        {"sink", "source-imm", {"-n", "20", "-s", "4000"}},
        {"memory", "memory", {}},
        {"ibv_rc_pingpong", "ibv_rc_pingpong", {"-n", "20", "--tcp", tcp}},
        {"ib_write_bw", "ib_write_bw", {"-n", "20", "-s", "4000", "--tcp", tcp}},
        {"ib_write_bw", "ib_write_bw", {"-R", "-n", "20", "-s", "4000"}},
        {"ib_send_lat", "ib_send_lat", {"-R", "-n", "20"}},
    };
    for (const Pair& pair : pairs) {
        const Met met = meet(pair.serves, pair.calls, pair.words);
        INFO(pair.calls << " calls " << pair.serves << '\n'
                        << met.client.err << met.server.err << met.client.out << met.server.out);
        REQUIRE(met.client.code == kDone);
        REQUIRE(met.server.code == kDone);
        for (const Ending* ending : {&met.client, &met.server}) {
            const auto json = nlohmann::json::parse(ending->out);
            CHECK(json["schema"] == 2);
            CHECK(json["connections"] == 1);
            CHECK(json["failed"] == 0);
            CHECK(json["wrong"] == 0);
        }
        CHECK(nlohmann::json::parse(met.client.out)["messages"] > 0);
    }
}

TEST_CASE("peer over UDP: what people read of both sides") {
    Met met;
    std::thread server([&] {
        met.server = qpscope({"peer", "--via", "udp", "-a", loopback(1), "--for", "50s", "echo", "--clients", "1"});
    });
    met.client = qpscope(
        {"peer", "--via", "udp", "-a", loopback(2), "--for", "50s", "echo", loopback(1), "-n", "20", "-s", "5001"});
    server.join();
    std::string text;
    for (const Ending* ending : {&met.client, &met.server})
        for (const std::string& line : lines_of(without_numbers(ending->out)))
            if (!line.starts_with(" refused") && !line.starts_with(" lost here") &&
                line.find("has not answered for") == std::string::npos)
                text += line + '\n';  // those of a busy machine
    qps::tests::check_golden("cli/golden/peer_echo.txt", text);
}

TEST_CASE("peer over UDP: what is lost is sent again, and both captures tell it") {
    const TemporaryFolder folder;
    const std::string here = folder.file("here.pcapng");
    const Met met = meet("echo", "echo", {"-n", "60", "-s", "6000"},
                         {"--fault", "out:loss=4%,in:duplicate=3%,seed=11", "-w", here});
    INFO(met.client.err << met.server.err);
    REQUIRE(met.client.code == kDone);
    CHECK(nlohmann::json::parse(met.client.out)["messages"] == 60);
    const Ending analyzed = qpscope({"analyze", "-q", "-f", "json", here});
    const auto json = nlohmann::json::parse(analyzed.out);
    CHECK(json["totals"]["retransmitted_packets"] > 0);
    CHECK_THAT(qpscope({"packets", "-q", "-Y", "rdma.icrc.status == bad", here}).out, !Contains("RC_SEND"));
}

// A server still has the connections of a process that was killed. Numbers that began anew would be theirs: REJ, stale
// connection.
TEST_CASE("peer over UDP: a client that is killed and started again is never taken for its predecessor") {
    constexpr int kTimes = 8;
    const TemporaryFolder folder;
    const std::string seen = folder.file("server.pcapng");
    const std::string number = folder.file("server.pid");
    Ending served;
    std::thread server([&] {
        served = run({"sh", "-c", "echo $$ >\"$1\"; shift; exec \"$@\"", "sh", number, QPSCOPE_PROGRAM, "peer", "--via",
                      "udp", "-a", loopback(1), "-f", "json", "--for", "60s", "-w", seen, "echo"});
    });
    for (int i = 0; i < kTimes; ++i)
        CHECK(run({"timeout", "-s", "KILL", "0.4", QPSCOPE_PROGRAM, "peer", "--via", "udp", "-a", loopback(2), "-q",
                   "echo", loopback(1), "-n", "1000000000"})
                  .code != kDone);
    const Ending last = qpscope(
        {"peer", "--via", "udp", "-a", loopback(2), "-f", "json", "--for", "20s", "echo", loopback(1), "-n", "5"});
    pid_t process = 0;
    std::ifstream(number) >> process;
    REQUIRE(process > 0);
    kill(process, SIGINT);
    server.join();
    INFO(last.err << served.err << served.out);
    CHECK(last.code == kDone);
    CHECK(nlohmann::json::parse(last.out)["messages"] == 5);
    const auto attempts = nlohmann::json::parse(qpscope({"cm", "-q", "-f", "json", seen}).out).at("attempts");
    CHECK(std::ranges::none_of(attempts, [](const auto& attempt) { return attempt.at("outcome") == "rejected"; }));
    // On a busy machine one may be killed before it connects.
    CHECK(attempts.size() > kTimes / 2);
    CHECK(nlohmann::json::parse(served.out)["connections"].get<std::size_t>() >= attempts.size() - 1);
}

TEST_CASE("peer with nobody there says so and fails") {
    const Ending alone = qpscope({"peer", "--via", "udp", "-a", loopback(3), "rping", loopback(4), "--for", "3300ms"});
    CHECK(alone.code == kFindings);
    CHECK_THAT(alone.out,
               Contains(fmt::format("{} has not answered for 3 s: packets are sent, none came back", loopback(4))));
    CHECK_THAT(alone.out,
               Contains(fmt::format("no answer: check that {} is on this wire and that rping serves there, port 7174",
                                    loopback(4))));
}

TEST_CASE("peer with wrong words names them") {
    const auto wrong = [](std::vector<std::string> words) {
        words.insert(words.begin(), {"peer", "--via", "udp"});
        const Ending ending = qpscope(words);
        CHECK(ending.code == kUsage);
        CHECK(ending.out.empty());
        return ending.err;
    };
    CHECK_THAT(wrong({"-a", "127.0.0.1", "rpnig"}), Contains("no such program 'rpnig'"));
    CHECK_THAT(wrong({"-a", "127.0.0.1", "sink", "127.0.0.2"}), Contains("sink only serves"));
    CHECK_THAT(wrong({"-a", "127.0.0.1", "source"}), Contains("source only connects: name the address of a peer"));
    CHECK_THAT(wrong({"-a", "127.0.0.1/40", "echo"}), Contains("prefix length"));
    CHECK_THAT(wrong({"-a", "127.0.0.1", "--fault", "los=3%", "echo"}), Contains("los"));
    CHECK_THAT(wrong({"-a", "127.0.0.1", "--mtu", "1500", "echo"}), Contains("256, 512, 1024, 2048 or 4096"));
    CHECK_THAT(wrong({"echo"}), Contains("--address"));
}
