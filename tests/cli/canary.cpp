// Text that acts: a canary of everything that a terminal, a spreadsheet or a reader's eye obeys stands in every text of captures and in the
// names of files, goes through every command and every format, and never comes out as it went in.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <span>

using namespace qps::test;

namespace {

// ESC ]0; BEL (the title of a terminal), CSI in 8 bits, DEL, right-to-left override, line separator, zero width space, no UTF-8.
constexpr std::string_view kCanary = "=\x1b]0;\x07\xc2\x9b\x7f\xe2\x80\xae\xe2\x80\xa8\xe2\x80\x8b\xff";
constexpr std::array<std::string_view, 9> kActing{"\x1b", "\x07", "\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x80\xa8", "\xe2\x80\x8b", "\xff", "\r"};

// Every text of a file, that is every run of letters and the like, has the canary behind its first bytes.
std::size_t infest(std::vector<std::byte>& file) {
    constexpr std::size_t kKept = 5;
    constexpr std::size_t kHeader = 24;  // of a pcap
    const auto is_text = [&](std::size_t i) { return std::isprint(std::to_integer<unsigned char>(file[i])) != 0; };
    std::size_t canaries = 0;
    for (std::size_t i = kHeader; i < file.size();) {
        std::size_t end = i;
        while (end < file.size() && is_text(end)) ++end;
        if (end - i >= kKept + kCanary.size()) {
            for (std::size_t k = 0; k < kCanary.size(); ++k) file[i + kKept + k] = static_cast<std::byte>(kCanary[k]);
            ++canaries;
        }
        i = end + 1;
    }
    return canaries;
}

void check_quiet(const std::vector<std::string>& words, const std::string& out) {
    for (const std::string_view acting : kActing) {
        if (out.find(acting) == std::string::npos) continue;
        std::string command;
        for (const std::string& word : words) command += word + ' ';
        const std::size_t at = out.find(acting);
        FAIL_CHECK("byte " << static_cast<unsigned>(static_cast<unsigned char>(acting[0])) << " at " << at << " of: " << command << "near "
                           << out.substr(at - std::min<std::size_t>(at, 60), 60));
    }
    const bool cells = std::ranges::any_of(words, [](const std::string& word) { return word == "csv" || word == "tsv"; });
    for (const std::string_view formula : {"\n=", ",=", "\t=", ",\"="})
        if (cells) CHECK(out.find(formula) == std::string::npos);
}

// What each command that reads captures needs beside the file.
std::vector<std::string> arguments_of(const std::string& command) {
    if (command == "follow") return {"1", "--decode"};
    if (command == "packets") return {"-e", "line"};
    return {};
}

}  // namespace

TEST_CASE("text that acts comes out of no command and no format as it went in") {
    const TemporaryFolder folder;
    constexpr std::array kNotCaptures{"doctor", "peer", "pingpong", "conform", "replay", "fields"};
    std::size_t canaries = 0;
    bool shown = false;
    for (const char* name : {"nvme_host_not_allowed", "iser_large", "nfs_v3", "rping_v4", "fabric_sweep", "rds"}) {
        INFO(name);
        if (!sample(name).ends_with(".pcap") && !sample(name).ends_with(".pcapng")) FAIL("its texts are compressed");
        std::vector<std::byte> file = read_file(sample(name));
        canaries += infest(file);
        const std::string path = folder.write(std::string(name) + std::string(kCanary.substr(1)), file);
        for (const std::string& command : all_commands()) {
            if (std::ranges::find(kNotCaptures, command) != kNotCaptures.end()) continue;
            for (const char* format : {"table", "json", "ndjson", "csv", "tsv"}) {
                if (command == "follow" && std::string_view(format) != "table") continue;
                std::vector<std::string> words{command};
                for (const std::string& more : arguments_of(command)) words.push_back(more);
                if (command != "follow" && command != "check") words.insert(words.end(), {"-f", format});
                if (command != "info") words.insert(words.end(), {"--icrc", "ignore"});
                words.push_back(path);
                const Ending ending = qpscope(words);
                check_quiet(words, ending.out);
                check_quiet(words, ending.err);
                shown |= ending.out.find("\\x1b") != std::string::npos;
            }
        }
        for (const std::vector<std::string>& words :
             {std::vector<std::string>{"findings", "--markdown", path}, {"fabric", "--dot", path}, {"check", "-f", "json", path},
              {"check", "-f", "junit", path}, {"check", "-f", "html", path}}) {
            const Ending ending = qpscope(words);
            check_quiet(words, ending.out);
            check_quiet(words, ending.err);
        }
    }
    CHECK(canaries > 0);
    CHECK(shown);  // it was there, written out
}

TEST_CASE("what a log or a script says acts as little") {
    const TemporaryFolder folder;
    const std::string canary(kCanary);
    const std::string log = "node" + canary + ":123:456 [0] NCCL INFO NCCL version 2.18" + canary + "\nnode" + canary +
                            ":123:456 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0" + canary + "\nnode" + canary +
                            ":123:456 [0] NCCL WARN NET/IB : Got completion from peer 10.77.0.12<47131>" + canary + " with status=12\n";
    const std::string titled = "check CM-04\ntitle \"a REQ" + canary + "\"\n> rc SEND_ONLY\n";
    const std::string broken = "title \"a" + canary + "\n" + canary + " 1\n";
    const std::string written = folder.write("nccl.log", std::as_bytes(std::span(log)));
    const std::string script = folder.write("x.script", std::as_bytes(std::span(titled)));
    const std::string bad = folder.write("y.script", std::as_bytes(std::span(broken)));
    std::vector<std::vector<std::string>> all{{"conform", "--list", "--script", script}, {"conform", "--list", "--script", bad}};
    for (const char* format : {"table", "json", "ndjson", "csv", "tsv"}) {
        all.push_back({"analyze", "-f", format, "--nccl-log", written, sample("write_bidir_cm")});
        all.push_back({"connections", "-f", format, "--match", "mlx5_0" + canary + ": QP 17 failed, 10.77.0.11 status 12" + canary, sample("multi_qp")});
    }
    for (const std::vector<std::string>& words : all) {
        const Ending ending = qpscope(words);
        check_quiet(words, ending.out);
        check_quiet(words, ending.err);
    }
}

TEST_CASE("names of files and words of the user act as little") {
    const TemporaryFolder folder;
    const std::string gone = folder.file(kCanary);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"info", gone}, {"findings", gone}, {"packets", "-Y", std::string(kCanary), sample("rds")},
          {"packets", "-e", std::string(kCanary), sample("rds")}, {"analyze", "--nccl-log", gone, sample("rds")},
          {"check", "--profile", gone, sample("rds")}, {"conform", "--list", "--script", gone}, {"show", "-n", std::string(kCanary), sample("rds")},
          {"packets", "-w", gone + "/x.pcap", sample("rds")}, {std::string(kCanary)}}) {
        const Ending ending = qpscope(words);
        CHECK(ending.code != 0);
        CHECK_FALSE(ending.err.empty());
        check_quiet(words, ending.err);
        check_quiet(words, ending.out);
    }
}
