// The suite of `conform` against a device that is a peer of ours, `qpscope peer agent`, over UDP on the loopback: the
// table word for word, its other formats, what it keeps, how it ends; a device that dies; coverage and the list of
// scripts.
#include <cli/exit_code.hpp>
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/temporary_file.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

using namespace qps::test;
using Catch::Matchers::Contains;

namespace {

// A port that other runs of this test do not use.
std::string port() { return std::to_string(20'000 + getpid() % 10'000); }

// It serves until so many testers have come and gone, or the time is over.
class DeviceUnderTest {
public:
    explicit DeviceUnderTest(const std::string& clients, std::vector<std::string> more = {}) {
        std::vector<std::string> words{"peer", "--via", "udp",       "-a",    loopback(1), "--seed",   "1",
                                       "-p",   port(),  "--clients", clients, "--tcp",     loopback(1)};
        if (std::ranges::find(more, "--for") == more.end()) more.insert(more.end(), {"--for", "60s"});
        words.insert(words.end(), more.begin(), more.end());
        words.emplace_back("agent");
        device_ = std::thread([words] { static_cast<void>(qpscope(words)); });
        usleep(500'000);  // it has to listen
    }
    ~DeviceUnderTest() { device_.join(); }
    DeviceUnderTest(const DeviceUnderTest&) = delete;
    DeviceUnderTest& operator=(const DeviceUnderTest&) = delete;

    [[nodiscard]] Ending ask(std::vector<std::string> words) const {
        words.insert(words.begin(), {"conform", "--via", "udp", "-a", loopback(2), "--seed", "1", "--dut", loopback(1),
                                     "--agent", fmt::format("{}:{}", loopback(1), port())});
        return qpscope(words);
    }

private:
    std::thread device_;
};

std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Addresses and times are others in each run.
std::string without_times(std::string text) {
    text = std::regex_replace(text, std::regex(loopback(1)), "DUT");
    return std::regex_replace(text, std::regex("[ ]*[0-9.]+ (s|ms|us|ns)\\b"), " TIME");
}

}  // namespace

TEST_CASE("the suite over UDP: table, JSON, JUnit, HTML, evidence, what changed") {
    const TemporaryFolder folder;
    const DeviceUnderTest device("5");
    const std::string only = "RSP-01,RSP-05,CM-05,FMT-20,FMT-25,ERR-04";
    const Ending table = device.ask({"--only", only, "--evidence", folder.file("packets")});
    INFO(table.err << table.out);
    CHECK(table.code == kDone);
    qps::tests::check_golden("cli/golden/conform_suite.txt", without_times(table.out));
    qps::tests::check_golden("cli/golden/conform_progress.txt", without_times(table.err));
    std::set<std::string> kept;
    for (const auto& each : std::filesystem::directory_iterator(folder.file("packets")))
        kept.insert(each.path().filename().string());
    CHECK(kept == std::set<std::string>{"RSP-01.pcapng", "RSP-05.pcapng", "CM-05.pcapng"});
    CHECK_THAT(qpscope({"packets", folder.file("packets") + "/RSP-05.pcapng"}).out, Contains("nak=PSN_SEQUENCE_ERROR"));
    CHECK_THAT(qpscope({"packets", folder.file("packets") + "/CM-05.pcapng"}).out, !Contains("nak="));

    const std::string before = folder.file("before.json");
    const Ending json = device.ask({"--only", only, "-f", "json", "-o", before, "-q"});
    CHECK(json.code == kDone);
    CHECK(json.err.empty());
    const auto report = nlohmann::json::parse(content(before));
    CHECK(report["subject"] == loopback(1));
    CHECK(report["facts"]["agent"] == "qpscope");
    for (const char* fact : {"made", "program", "command", "tester", "seed", "duration"})
        CHECK(!report["facts"].value(fact, "").empty());
    CHECK_THAT(report["facts"]["command"].get<std::string>(), Contains("qpscope conform --") && Contains("--only"));
    REQUIRE(report["checks"].size() == 6);
    for (const auto& each : report["checks"]) {
        const std::string id = each["id"];
        CHECK(each["verdict"] == (id == "RSP-01" || id == "RSP-05" || id == "CM-05" ? "pass" : "not applicable"));
    }

    std::string earlier = content(before);
    earlier = std::regex_replace(earlier, std::regex("(\"id\": \"RSP-05\"[^}]*\"verdict\": )\"pass\""), "$1\"fail\"");
    std::ofstream(folder.file("earlier.json")) << earlier;
    const Ending compared =
        device.ask({"--only", "RSP", "--only", "CM-05", "--compare", folder.file("earlier.json"), "-f", "html", "-q"});
    CHECK_THAT(compared.out,
               Contains("<!doctype html>") && Contains("Changed since") && Contains("qpscope conformance report"));
    const Ending mended = device.ask({"--only", "RSP-05,CM-05", "--compare", folder.file("earlier.json"), "-q"});
    CHECK_THAT(mended.out, Contains("RSP-05  fail -> pass") && Contains("1 verdict unchanged"));
    const Ending alone = qpscope(
        {"conform", "--via", "udp", "-a", loopback(2), "--seed", "1", "--dut", loopback(1), "--only", "RSP-05,CM-05"});
    CHECK(alone.code == static_cast<int>(qps::cli::ExitCode::unjudged));
    CHECK_THAT(
        alone.err,
        Contains(
            "qpscope: 1 of 2 checks have a verdict; without an agent beside the device (--agent), 1 cannot be asked\n"));
    CHECK_THAT(alone.out, Contains("2 checks: 1 passed, 0 failed, 0 inconclusive, 0 declared, 1 not applicable"));
    const Ending nobody = qpscope({"conform", "--via", "udp", "-a", loopback(2), "--dut", loopback(1), "--agent",
                                   loopback(3), "--only", "RSP-05", "-q"});
    CHECK(nobody.code == static_cast<int>(qps::cli::ExitCode::unreadable));
    CHECK_THAT(nobody.out, Contains("to start it there: qpscope-agent --device"));
    const Ending junit = device.ask({"--only", "RSP-05,FMT-16", "-f", "junit", "-q"});
    CHECK_THAT(junit.out, Contains("<testcase classname=\"qpscope.RSP\" name=\"RSP-05 ") &&
                              Contains("the way to the device is a UDP socket (--via udp), whose ports are its own"));
    CHECK(junit.code == kDone);
}

TEST_CASE("the suite over UDP: a device that says everything twice fails, and its profile explains some of it") {
    const TemporaryFolder folder;
    const DeviceUnderTest device("2", {"--fault", "out:duplicate=100%"});
    const Ending failed = device.ask({"--only", "RSP-05,FMT-23"});
    INFO(failed.err << failed.out);
    CHECK(failed.code == kFindings);
    // What of the doubled packets came before the failure is chance: two processes.
    CHECK_THAT(failed.out, Contains("RSP-05  rsp-05.script:10: psn is +0") &&
                               Contains("nak: expected PSN_SEQUENCE_ERROR, received an ACK") &&
                               Contains("so far, since the start of the script:") &&
                               Contains("2 checks: 1 passed, 1 failed, 0 inconclusive, 0 declared, 0 not applicable"));
    const std::string profile = folder.file("twice.profile");
    std::ofstream(profile) << "deviation RSP-05 = it stutters\n";
    const Ending declared = device.ask({"--only", "RSP-05", "--profile", profile});
    CHECK(declared.code == kDone);
    CHECK_THAT(declared.out, Contains("DECLARED DEVIATIONS") && Contains("it stutters"));
}

TEST_CASE("the suite over UDP: a device that goes away is told of, and what was not played is open") {
    const DeviceUnderTest device("9", {"--for", "3s"});
    const Ending ending =
        device.ask({"--only", "FMT-05,FMT-07,FMT-13,FMT-23,REQ", "--recovery-time", "1s", "-f", "json"});
    INFO(ending.err << ending.out);
    CHECK(ending.code == kFindings);
    CHECK_THAT(ending.err,
               Contains("the device no longer answers: ") && Contains("the device did not come back after "));
    const auto report = nlohmann::json::parse(ending.out);
    CHECK(report["counts"]["fail"] == 1);
    CHECK(report["counts"]["inconclusive"] > 0);
    CHECK(report["counts"]["pass"] > 0);
    const Ending nobody = device.ask({"--only", "FMT-05"});
    CHECK(nobody.code == kUnreadable);
    CHECK_THAT(nobody.err, Contains("did not answer before the first check"));
}

TEST_CASE("conform says who decides each check, lists its scripts, and takes a script by its name") {
    const Ending table = qpscope({"conform", "--coverage", "--only", "FMT-01,FMT-03,RSP-50,ERR-04"});
    CHECK(table.code == kDone);
    qps::tests::check_golden("cli/golden/conform_coverage.txt", table.out);
    const auto json = nlohmann::json::parse(qpscope({"conform", "--coverage", "-f", "json"}).out);
    CHECK(json["checks"].size() == 321);
    const Ending list = qpscope({"conform", "--list"});
    CHECK_THAT(list.out, Contains("RSP-05  a gap in the PSNs") && Contains("dangerous: has brought devices down"));
    CHECK(list.out.find("ERR-01") > list.out.find("CNP-02"));  // dangerous: last
    CHECK_THAT(qpscope({"conform", "--list", "--only", "CM-05"}).out, !Contains("RSP-05"));
    CHECK_THAT(qpscope({"conform", "--list", "--script", "rsp-05"}).out, Contains("RSP-05") && !Contains("RSP-06"));
    CHECK(qpscope({"conform", "--coverage", "-f", "junit"}).code == kUsage);
    CHECK(qpscope({"conform", "--script", "rsp-05", "-f", "junit", "--dut", "127.0.0.1"}).code == kUsage);
    CHECK(qpscope({"conform", "--dut", "127.0.0.1", "--only", "RSP-99"}).code == kUsage);
    CHECK(qpscope({"conform", "--dut", "127.0.0.1", "--profile", "/nowhere"}).code == kUsage);
}

TEST_CASE("conform --iwarp where nobody listens: one sentence, no verdict") {
    for (const char* format : {"table", "json"}) {
        const Ending nobody = qpscope({"conform", "--iwarp", "--dut", loopback(1), "--port", "9", "-f", format});
        CHECK(nobody.code == kUnreadable);
        CHECK(nobody.out.empty());
        CHECK(nobody.err == fmt::format("qpscope: nothing listens at {}:9: Connection refused\n", loopback(1)));
    }
}

TEST_CASE("conform --iwarp: what fails a check decides the exit code, although nothing could be asked") {
    const auto ask = [](bool echoes, std::vector<std::string> more) {
        const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in place{};
        place.sin_family = AF_INET;
        place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof place;
        REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&place), length) == 0);
        REQUIRE(::listen(listener, 1) == 0);
        REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&place), &length) == 0);
        std::thread service([listener, echoes] {
            const int taken = ::accept(listener, nullptr, nullptr);
            std::array<char, 4096> heard{};
            for (ssize_t got = ::read(taken, heard.data(), heard.size()); got > 0;
                 got = ::read(taken, heard.data(), heard.size()))
                if (echoes && ::write(taken, heard.data(), static_cast<std::size_t>(got)) < 0) break;
            ::close(taken);
        });
        std::vector<std::string> words{"conform",   "--iwarp", "--dut",
                                       "127.0.0.1", "--port",  std::to_string(ntohs(place.sin_port)),
                                       "--timeout", "300ms"};
        words.insert(words.end(), more.begin(), more.end());
        Ending ending = qpscope(words);
        service.join();
        ::close(listener);
        return ending;
    };
    const Ending echo = ask(true, {});
    INFO(echo.err << echo.out);
    CHECK(echo.code == kFindings);
    CHECK_THAT(echo.out, Contains("MPA-01") && Contains("not asked: "));
    CHECK(ask(true, {"--fail-on", "never"}).code == kUnreadable);
    const Ending mute = ask(false, {});
    CHECK(mute.code == kUnreadable);
    CHECK_THAT(mute.out, Contains("not asked: no answer within 300 ms") && !Contains("0 of 1"));
}

TEST_CASE("conform --iwarp refuses each option that it would pass over") {
    const std::vector<std::vector<std::string>> others{{"-i", "lo"},
                                                       {"--vlan", "3"},
                                                       {"--fault", "loss=3%"},
                                                       {"--trace"},
                                                       {"-w", "/dev/null"},
                                                       {"--via", "udp"},
                                                       {"--seed", "3"},
                                                       {"--list"},
                                                       {"--coverage"},
                                                       {"--script", "rsp-05"},
                                                       {"--agent", "10.0.0.1"},
                                                       {"--evidence", "x"},
                                                       {"--recovery-time", "1s"}};
    for (const std::vector<std::string>& other : others) {
        std::vector<std::string> words{"conform", "--iwarp", "--dut", loopback(1), "--port", "9"};
        words.insert(words.end(), other.begin(), other.end());
        const Ending refused = qpscope(words);
        INFO(other.front());
        CHECK(refused.code == kUsage);
        CHECK_THAT(refused.err, Contains("qpscope: --iwarp takes no --"));
    }
    CHECK(qpscope({"conform", "--iwarp", "--dut", loopback(1), "--port", "9", "--only", "MPA", "--timeout", "1s",
                   "--all", "-q"})
              .code == kUnreadable);
}

TEST_CASE("conform --nvme refuses each option that it would pass over, and lists its scripts") {
    const std::vector<std::vector<std::string>> others{
        {"--dut", "10.0.0.1"}, {"--script", "rsp-05"}, {"--agent", "10.0.0.1"}, {"--coverage"}, {"--set", "n=1"}};
    for (const std::vector<std::string>& other : others) {
        std::vector<std::string> words{"conform", "--nvme", "10.77.0.12"};
        words.insert(words.end(), other.begin(), other.end());
        const Ending refused = qpscope(words);
        INFO(other.front());
        CHECK(refused.code == kUsage);
        CHECK_THAT(refused.err, Contains("qpscope: --nvme takes no --"));
    }
    CHECK_THAT(qpscope({"conform", "--nqn", "nqn.x", "--dut", "10.77.0.12"}).err, Contains("--nqn is of --nvme"));
    CHECK(qpscope({"conform", "--nvme", "10.77.0.12", "--nqn", std::string(224, 'n')}).code == kUsage);
    CHECK(qpscope({"conform", "--nvme", "nowhere"}).code == kUsage);
    const Ending listed = qpscope({"conform", "--nvme", "10.77.0.12", "--list"});
    CHECK(listed.code == kDone);
    CHECK_THAT(listed.out, Contains("NVME-51") && !Contains("RSP-05"));
}

TEST_CASE("conform --nvme where nobody answers, or no target: one sentence, no verdict") {
    const std::string device = loopback(1);
    const Ending silent = qpscope(
        {"conform", "--nvme", device, "--via", "udp", "-a", loopback(2), "-f", "json", "-q", "--timeout", "200ms"});
    INFO(silent.err);
    CHECK(silent.code == kUnreadable);
    CHECK(silent.out.empty());
    CHECK_THAT(silent.err,
               Contains(fmt::format("qpscope: {}, port 4420, cannot be tested as an NVMe over RDMA target: ", device)));
}

TEST_CASE("conform --nvme against a peer that sends everything back: one sentence, no verdict") {
    const std::string device = loopback(1);
    std::thread echo([&] {
        static_cast<void>(qpscope({"peer", "--via", "udp", "-a", device, "-p", port(), "--for", "4s", "-q", "echo"}));
    });
    usleep(500'000);  // it has to listen
    const Ending ending = qpscope(
        {"conform", "--nvme", device, "--port", port(), "--via", "udp", "-a", loopback(2), "--only", "NVME-54"});
    echo.join();
    CHECK(ending.code == kUnreadable);
    CHECK(ending.out.empty());
    CHECK(ending.err ==
          fmt::format(
              "qpscope: {}, port {}, cannot be tested as an NVMe over RDMA target: what it answers to a Connect is no "
              "response capsule, which has 16 bytes\n",
              device, port()));
}

TEST_CASE("conform: checks that are not of the suite are a mistake, not a pass") {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"conform", "--nvme", loopback(1), "--only", "RSP-02"},
          std::vector<std::string>{"conform", "--dut", loopback(1), "--only", "NVME-54"}}) {
        const Ending ending = qpscope(words);
        INFO(ending.err);
        CHECK(ending.code == kUsage);
        CHECK_THAT(ending.err, Contains("--only names no check of this suite"));
    }
}

TEST_CASE("check says where the capture decides none of the chosen checks") {
    const auto judged = [](const char* only) { return qpscope({"check", "--only", only, sample("write_8k")}); };
    for (const char* only : {"MPA", "MPA-18", "RSP-05"}) {
        const Ending none = judged(only);
        CHECK(none.code == static_cast<int>(qps::cli::ExitCode::unjudged));
        CHECK_THAT(none.err, Contains("qpscope: none of the chosen checks (--only) is decided by this capture\n"));
    }
    const Ending some = judged("MPA-18,FMT-01");
    CHECK(some.code == kDone);
    CHECK_THAT(some.err, !Contains("none of the chosen"));
}
