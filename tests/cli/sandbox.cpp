// Every command that only reads gives the same output and ends the same way in the sandbox and without it.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sanitized.hpp>
#include <tests/support/temporary_file.hpp>

#include <filesystem>
#include <fstream>

#include <sys/stat.h>

using namespace qps::test;
using Catch::Matchers::Contains;

namespace {

// The commands that enter the sandbox, as their help says.
std::vector<std::string> confined_commands() {
    std::vector<std::string> commands = all_commands();
    std::erase_if(commands, [](const std::string& command) {
        return qpscope({command, "--help"}).out.find("--no-sandbox") == std::string::npos;
    });
    return commands;
}

// Without what a report says of its own making, which no two have alike.
std::string without_making(std::string out) {
    for (const std::string_view fact : {"\n<dt>command</dt>", "\n<dt>made</dt>"})
        if (const std::size_t at = out.find(fact); at != std::string::npos) out.erase(at, out.find('\n', at + 1) - at);
    return out;
}

void check_same(std::vector<std::string> words, const Surroundings& surroundings = {}) {
    std::string line;
    for (const std::string& word : words) line += word + ' ';
    INFO(line);
    const Ending inside = qpscope(words, surroundings);
    words.insert(words.begin() + 1, "--no-sandbox");
    const Ending outside = qpscope(words, surroundings);
    CHECK(inside.code == outside.code);
    CHECK(without_making(inside.out) == without_making(outside.out));
    CHECK(inside.err == outside.err);
    CHECK(inside.code < 128);
}

std::vector<std::string> start_of(const std::string& command) {
    if (command == "follow") return {command, "1"};
    if (command == "series") return {command, "waterfall"};
    if (command == "extract") return {command, "-C", "1"};
    return {command};
}

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("what reads captures is what enters the sandbox") {
    const std::vector<std::string> commands = confined_commands();
    for (const std::string& command : all_commands()) {
        const std::string help = qpscope({command, "--help"}).out;
        // Everything that reads captures, parts of their analysis or what stands beside them, and sends nothing.
        const bool reads = help.find("--roce-port") != std::string::npos ||
                           help.find("analyze --part wrote") != std::string::npos || command == "case";
        CHECK((std::ranges::find(commands, command) != commands.end()) == reads);
    }
    CHECK(commands.size() >= 13);
}

TEST_CASE("every command that reads gives the same in the sandbox") {
    // Who starts slowly starts seldom: a plain file and a compressed one differ in what they ask of the system, on
    // threads too; what the other options ask for is the same for both.
    const std::vector<std::string> names = qps::tests::kSanitized
                                               ? std::vector<std::string>{"ucmatose_zstd"}
                                               : std::vector<std::string>{"loss_read", "nvme_rdma", "ucmatose_zstd"};
    for (const std::string& command : confined_commands())
        for (const std::string& name : names) {
            const std::string file = sample(name);
            for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{}, {"-j", "4"}})
                check_same(start_of(command) + std::vector<std::string>{file} + more);
            if (name != names.front()) continue;
            for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{"-f", "json"},
                                                                                              {"-F", "udp port 4791"},
                                                                                              {"-Y", "infiniband.bth"},
                                                                                              {"-r", file},
                                                                                              {"-r", "missing.pcap"}})
                check_same(start_of(command) + std::vector<std::string>{file} + more);
        }
}

TEST_CASE("streams are read in the sandbox") {
    const std::string bytes = content(sample("loss_read"));
    const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
    for (const std::string& command : confined_commands())
        check_same(start_of(command) + std::vector<std::string>{"-"},
                   {.input = qps::dissect::Bytes(begin, bytes.size())});
}

TEST_CASE("outputs and files beside the capture are opened before the sandbox") {
    const TemporaryFolder folder;
    const std::string file = sample("loss_read"), out = folder.path() + "/out";
    for (const std::string& command : confined_commands()) {
        // Tables go into a database, or a folder.
        const bool tables = command == "export";
        check_same(start_of(command) + std::vector<std::string>{file, tables ? "--sqlite" : "-o", out});
        CHECK(std::filesystem::exists(out) ==
              (command != "merge"));  // to which a capture is no part: there is no result
        std::filesystem::remove(out);
        if (!tables) continue;
        check_same(start_of(command) + std::vector<std::string>{file, "-f", "csv", "-o", out});
        CHECK(std::filesystem::exists(out + "/connections.csv"));
        std::filesystem::remove_all(folder.path() + "/out");
    }
    for (const char* name : {"copy.pcap", "copy.pcapng"}) {
        const std::string copy = folder.path() + "/" + name;
        check_same({"packets", file, "-w", copy});
        check_same({"packets", file, "-w", copy, "-Y", "rdma.retransmission"});
        CHECK(std::filesystem::exists(copy));
        CHECK_FALSE(std::filesystem::exists(copy + ".part"));
    }
    check_same({"packets", "missing.pcap", "-w", folder.path() + "/none.pcap"});
    CHECK_FALSE(std::filesystem::exists(folder.path() + "/none.pcap"));
    CHECK_FALSE(std::filesystem::exists(folder.path() + "/none.pcap.part"));
    std::ofstream(folder.path() + "/profile") << "name My NIC\n";
    std::ofstream(folder.path() + "/nccl.log") << "host:1:2 [0] NCCL INFO Bootstrap\n";
    check_same({"check", file, "--profile", folder.path() + "/profile", "--evidence", folder.path() + "/evidence"});
    check_same({"analyze", file, "--nccl-log", folder.path() + "/nccl.log"});
    check_same({"findings", file, "--nccl-log", folder.path() + "/none.log"});
    // Those that read twice have the log twice.
    check_same({"report", file, "--nccl-log", folder.path() + "/nccl.log"});
    const std::string annotated = folder.path() + "/annotated.pcapng";
    check_same({"annotate", file, "--nccl-log", folder.path() + "/nccl.log", "-o", annotated});
    CHECK_THAT(qpscope({"report", file, "--nccl-log", folder.path() + "/nccl.log"}).out,
               Contains("packets that prove it"));
    std::ofstream(folder.path() + "/hosts") << "10.77.0.11 sender\n";
    check_same({"annotate", file, "--hosts", folder.path() + "/hosts", "-o", annotated});
    CHECK(qpscope({"check", file, "-f", "json", "-o", out}).code < 128);
    check_same({"check", file, "--compare", out});
}

TEST_CASE("names in a capture filter are looked up before the sandbox") {
    check_same({"info", "-F", "udp port domain or ip proto udp or portrange 1-2", sample("loss_read")});
    check_same({"info", "-F", "host no-such-host.invalid", sample("loss_read")});
    check_same({"packets", "-F", "no filter", sample("loss_read"), sample("nvme_rdma")});
}
