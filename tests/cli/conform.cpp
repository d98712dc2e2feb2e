// `conform` between two processes over UDP on the loopback, without any right: with nobody beside the device but its
// manager of connections, with a server that listens, with an agent; and words that are wrong.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace qps::test;
using Catch::Matchers::Contains;

namespace {

std::string script(const std::string& name) {
    return std::string(QPSCOPE_SOURCE_DIR) + "/transport-replay/conformance/scripts/" + name + ".script";
}

struct Tested {
    Ending tester;
    Ending device;
};

// The device is a peer of ours that runs `program` as long as the tester needs it.
Tested test_peer(std::vector<std::string> program, std::vector<std::string> words) {
    Tested met;
    program.insert(program.begin(), {"peer", "--via", "udp", "-a", loopback(1), "--for", "8s"});
    std::thread device([&] { met.device = qpscope(program); });
    usleep(500'000);  // it has to listen
    words.insert(words.begin(), {"conform", "--via", "udp", "-a", loopback(2), "--dut", loopback(1)});
    met.tester = qpscope(words);
    device.join();
    return met;
}

}  // namespace

TEST_CASE("conform over UDP: the manager of connections alone answers, and what takes an agent is not applicable") {
    const TemporaryFolder folder;
    const std::string capture = folder.file("conform.pcapng");
    const Tested met =
        test_peer({"sink"}, {"-f", "json", "--script", script("cm-05"), "--script", script("rsp-05"), "-w", capture});
    INFO(met.tester.err << met.tester.out);
    REQUIRE(met.tester.code == kDone);
    const auto json = nlohmann::json::parse(met.tester.out);
    REQUIRE(json["scripts"].size() == 2);
    CHECK(json["scripts"][0]["checks"][0] == "CM-05");
    CHECK(json["scripts"][0]["verdict"] == "pass");
    CHECK(json["scripts"][1]["verdict"] == "not applicable");
    const Ending made = qpscope({"conform", "--script-of", capture});
    CHECK_THAT(made.out, Contains("> gsi REQ") && Contains("< gsi REJ") && Contains("reason=8"));
    const Ending seen = qpscope({"packets", capture});
    CHECK_THAT(seen.out, Contains("attr=REJ"));
}

TEST_CASE("conform over UDP: our half is connected with a server, and its responder judged") {
    const TemporaryFolder folder;
    const std::string file = folder.file("connected.script");
    std::ofstream(file) << "title \"a server acknowledges what it got\"\n"
                           "needs cm\n"
                           "qp a rc cm mtu=1024\n"
                           "allow a RC_ACKNOWLEDGE psn=-1\n"
                           "> a RC_SEND_ONLY psn=+0 len=64 ackreq\n"
                           "< a RC_ACKNOWLEDGE psn=+0 msn=+1\n"
                           "allow a RC_ACKNOWLEDGE psn=+0\n"
                           "> a RC_SEND_ONLY psn=+3 len=64 ackreq\n"
                           "< a RC_ACKNOWLEDGE psn=+1 nak=PSN_SEQUENCE_ERROR\n"
                           "alive a\n"
                           "alive\n";
    const Tested met = test_peer({"sink"}, {"--script", file, "--port", "7472"});
    INFO(met.tester.err << met.tester.out << met.device.err << met.device.out);
    CHECK(met.tester.code == kDone);
    CHECK_THAT(met.tester.out, Contains("pass"));
}

TEST_CASE("conform over UDP: every script that our agent serves passes") {
    const std::string port = std::to_string(20'000 + getpid() % 20'000);  // another agent may be on this machine
    const Tested met =
        test_peer({"agent", "--tcp", loopback(1), "--port", port},
                  {"-f", "json", "--agent", loopback(1) + ":" + port, "--script", script("rsp-01"), "--script",
                   script("rsp-05"), "--script", script("rsp-09"), "--script", script("req-18")});
    INFO(met.tester.err << met.tester.out << met.device.err << met.device.out);
    REQUIRE(met.tester.code == kDone);
    for (const auto& each : nlohmann::json::parse(met.tester.out)["scripts"]) CHECK(each["verdict"] == "pass");
}

TEST_CASE("conform says what is wrong with its words, and lists scripts") {
    CHECK(qpscope({"conform"}).code == kUsage);
    CHECK_THAT(qpscope({"conform", "--script", script("rsp-05")}).err, Contains("--dut"));
    CHECK(qpscope({"conform", "--script", "/nowhere.script", "--dut", "127.0.0.1"}).code == kUnreadable);
    const Ending list = qpscope({"conform", "--list", "--script", script("rsp-05")});
    CHECK(list.code == kDone);
    CHECK_THAT(list.out, Contains("RSP-05") && Contains("needs agent"));
    const TemporaryFolder folder;
    const std::string file = folder.file("wrong.script");
    std::ofstream(file) << "chekc RSP-05\n";
    const Ending wrong = qpscope({"conform", "--script", file, "--dut", "127.0.0.1"});
    CHECK(wrong.code == kUsage);
    CHECK_THAT(wrong.err, Contains("did you mean check?"));
}

TEST_CASE("what a script says does nothing to a terminal") {
    const TemporaryFolder folder;
    const std::string file = folder.file("title.script");
    std::ofstream(file) << "title \"\x1b]0;PWN\x07 \xc2\x9b"
                           "31m \xe2\x80\xae"
                           "moc\"\n";
    const std::string out = qpscope({"conform", "--list", "--script", file}).out;
    CHECK_THAT(out, Contains("PWN"));
    CHECK(out.find_first_of("\x1b\x07") == std::string::npos);
    CHECK(out.find("\xc2\x9b") == std::string::npos);
    CHECK(out.find("\xe2\x80\xae") == std::string::npos);
    const Ending played =
        qpscope({"conform", "--script", file, "--dut", loopback(1), "--via", "udp", "-a", loopback(2)});
    INFO(played.err);
    CHECK_THAT(played.out, Contains("PWN"));
    CHECK(played.out.find_first_of("\x1b\x07") == std::string::npos);
}

TEST_CASE("a script includes files of its own folder alone") {
    const TemporaryFolder folder;
    const std::string inner = folder.path() + "/inner";
    std::filesystem::create_directories(inner + "/below");
    for (const char* place : {"/beside.script", "/below/more.script", "/../outside.script"})
        std::ofstream(inner + place) << "wait 1ms\n";
    std::filesystem::create_symlink("../outside.script", inner + "/leaves");
    std::filesystem::create_symlink("beside.script", inner + "/stays");
    const auto listed = [&](const std::string& name) {
        std::ofstream(inner + "/main.script") << "title \"whole\"\ninclude \"" << name << "\"\n";
        return qpscope({"conform", "--list", "--script", inner + "/main.script"});
    };
    for (const char* good : {"beside.script", "below/more.script", "stays", "./beside.script"}) {
        const Ending ending = listed(good);
        INFO(good << ": " << ending.err);
        CHECK(ending.code == kDone);
    }
    for (const std::string& bad :
         {std::string("/etc/passwd"), std::string("../outside.script"), std::string("below/../../outside.script"),
          std::string("leaves"), inner + "/beside.script"}) {
        const Ending ending = listed(bad);
        INFO(bad << ": " << ending.err);
        CHECK(ending.code == kUsage);
        CHECK_THAT(ending.err, Contains("it is not in the folder of the script") && !Contains("root:"));
    }
}
