// Outputs take their names when they are whole: what was there stays where a command fails, is killed or runs out of
// room.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace qps::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOld = "what was there\n";

std::string content_of(const std::string& path) {
    const std::vector<std::byte> bytes = read_file(path);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::vector<std::byte> octets(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}
std::size_t files_in(const std::string& folder) {
    return static_cast<std::size_t>(
        std::distance(fs::recursive_directory_iterator(folder), fs::recursive_directory_iterator()));
}
unsigned mode_of(const std::string& path) { return static_cast<unsigned>(fs::status(path).permissions()); }

// The packets of a sample so many times over, as one pcap file.
std::vector<std::byte> repeated(std::string_view name, int times) {
    constexpr std::ptrdiff_t kFileHeader = 24;
    const std::vector<std::byte> one = read_file(sample(name));
    std::vector<std::byte> many(one);
    for (int i = 1; i < times; ++i) many.insert(many.end(), one.begin() + kFileHeader, one.end());
    return many;
}

using Words = std::vector<std::string>;

// Commands with an output, in front of its name and of an input.
const std::vector<Words>& writers() {
    static const std::vector<Words> all{{"analyze", "-o"},
                                        {"analyze", "-f", "json", "-o"},
                                        {"analyze", "--part", "1/1", "-o"},
                                        {"analyze", "--host", "a", "-o"},
                                        {"findings", "-f", "json", "-o"},
                                        {"connections", "-o"},
                                        {"messages", "-f", "csv", "-o"},
                                        {"operations", "-o"},
                                        {"timeline", "-o"},
                                        {"cm", "-o"},
                                        {"fabric", "-o"},
                                        {"check", "-f", "json", "-o"},
                                        {"info", "-f", "json", "-o"},
                                        {"packets", "-o"},
                                        {"packets", "-f", "json", "-o"},
                                        {"packets", "-w"},
                                        {"show", "-f", "json", "-o"},
                                        {"follow", "1", "-o"},
                                        {"report", "-o"},
                                        {"export", "--sqlite"},
                                        {"merge", "-o"},
                                        {"extract", "-C", "1", "-o"},
                                        {"annotate", "-o"},
                                        {"anonymize", "-o"},
                                        {"replay", "-w"},
                                        {"replay", "-w", "/dev/null", "-o"}};
    return all;
}

// A shell in which files become at most half a kilobyte long, as on a full disk.
Ending with_little_room(const Words& words, const std::string& folder) {
    std::string line = "ulimit -f 1; trap '' XFSZ; exec";
    for (const std::string& word : Words{QPSCOPE_PROGRAM} + words) line += " '" + word + "'";
    return run({"sh", "-c", line}, {.folder = folder});
}

}  // namespace

TEST_CASE("a command without a result leaves the file of its output as it was") {
    const Words& words = GENERATE(from_range(writers()));
    const TemporaryFolder folder;
    const std::string kept = folder.write("kept.pcapng", octets(kOld));
    const std::string no_capture = folder.write("text.pcap", octets("no capture at all, and no part"));
    INFO(words.front() + ' ' + words.back());
    for (const std::string& input : {folder.file("none.pcap"), no_capture}) {
        const int code = qpscope(words + Words{kept, input}).code;
        CHECK((code == kUnreadable || code == kUsage));  // what must be read twice is to be a file that is there
        CHECK(content_of(kept) == kOld);
    }
    if (words.front() != "merge") {
        CHECK(qpscope(words + Words{kept, "-Y", "no such field", sample("err_rnr")}).code == kUsage);
        CHECK(content_of(kept) == kOld);
    }
    CHECK(files_in(folder.path()) == 2);
}

TEST_CASE(
    "a capture of which nothing could be read leaves the file of an output, and of another what could be read is written") {
    const TemporaryFolder folder;
    const std::string kept = folder.write("kept.txt", octets(kOld));
    Pcap broken;
    broken.record(60, 60, 3);
    const std::string damaged = folder.write("damaged.pcap", broken.bytes());
    for (const Words& words :
         {Words{"analyze", "-o"}, {"packets", "-o"}, {"packets", "-w"}, {"findings", "-o"}, {"show", "-o"}}) {
        CHECK(qpscope(words + Words{kept, damaged}).code == kDamaged);
        CHECK(content_of(kept) == kOld);
    }
    std::vector<std::byte> cut = read_file(sample("err_rnr"));
    cut.resize(cut.size() - 5);
    const std::string truncated = folder.write("cut.pcap", cut);
    CHECK(qpscope({"analyze", "-o", kept, truncated}).code == kDamaged);
    CHECK(content_of(kept) == qpscope({"analyze", truncated}).out);
    CHECK(files_in(folder.path()) == 3);
}

TEST_CASE("parts that do not belong together, and a connection that is not there, leave the file of an output") {
    const TemporaryFolder folder;
    const std::string kept = folder.write("kept.txt", octets(kOld));
    const std::string one = folder.file("1.qpp"), other = folder.file("2.qpp");
    REQUIRE(qpscope({"analyze", "--part", "1/2", "-o", one, sample("err_rnr")}).code == kDone);
    REQUIRE(qpscope({"analyze", "--part", "2/3", "-o", other, sample("err_rnr")}).code == kDone);
    for (const Words& words : {Words{"merge", "-o", kept, one, other},
                               {"merge", "-o", kept, one},
                               {"merge", "--as", "check", "-o", kept, one},
                               {"analyze", "-C", "99", "-o", kept, sample("err_rnr")},
                               {"follow", "99", "-o", kept, sample("err_rnr")}}) {
        CHECK(qpscope(words).code != kDone);
        CHECK(content_of(kept) == kOld);
    }
    CHECK(files_in(folder.path()) == 3);
}

TEST_CASE("where there is no room the file of an output stays, and nothing is left beside it") {
    Words words = GENERATE(from_range(writers()));
    if (words.front() == "merge") return;
    const TemporaryFolder folder;
    const std::string kept = folder.write("kept.pcapng", octets(kOld));
    const Ending ending = with_little_room(words + Words{kept, sample("nvme_rdma")}, folder.path());
    INFO(words.front() + ' ' + words.back() + ": " + ending.err);
    const bool small = ending.code == kDone;  // half a kilobyte is enough for some
    CHECK((small || ending.code == kOutputFailed));
    if (!small) CHECK(content_of(kept) == kOld);
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("tables of a folder stay together where there is no room for one of them, or no input") {
    const TemporaryFolder folder;
    const std::string tables = folder.file("tables"), large = sample("nvme_rdma");
    REQUIRE(qpscope({"export", "-q", "-f", "csv", "-o", tables, sample("err_rnr")}).code == kDone);
    std::vector<std::pair<std::string, std::string>> before;
    for (const auto& entry : fs::directory_iterator(tables))
        before.emplace_back(entry.path(), content_of(entry.path()));
    REQUIRE(before.size() > 5);
    CHECK(with_little_room({"export", "-q", "-f", "csv", "-o", tables, large}, folder.path()).code == kOutputFailed);
    CHECK(qpscope({"export", "-q", "-f", "csv", "-o", tables, folder.file("none.pcap")}).code == kUnreadable);
    CHECK(files_in(tables) == before.size());
    for (const auto& [path, text] : before) CHECK(content_of(path) == text);
    REQUIRE(qpscope({"export", "-q", "-f", "csv", "-o", tables, large}).code == kDone);
    CHECK(files_in(tables) == before.size());
}

TEST_CASE("a command that is killed leaves the file of its output as it was") {
    const TemporaryFolder folder;
    const std::string kept = folder.write("kept.txt", octets(kOld));
    // The input never ends; what it has is more than what is held back.
    const std::string line = fmt::format(
        "{{ cat '{0}'; sleep 60; }} 2>/dev/null | '{1}' packets -q --no-progress -f json -o '{2}' - & "
        "for i in $(seq 600); do [ -s '{2}.part' ] && break; sleep 0.1; done; kill -9 $!; wait $! 2>/dev/null; ls -s '{2}.part'",
        folder.write("large.pcap", repeated("nvme_rdma", 100)), QPSCOPE_PROGRAM, kept);
    const Ending ending = run({"timeout", "-s", "KILL", "90", "bash", "-c", line});
    CHECK_THAT(ending.out, Contains("kept.txt.part"));
    CHECK(content_of(kept) == kOld);
}

TEST_CASE("an interrupt before the first packet is written leaves the capture that was there") {
    const TemporaryFolder folder;
    const std::string kept = folder.write("kept.pcapng", octets(kOld));
    const std::string large = folder.write("large.pcap", repeated("loss_write", 60));
    for (const std::string command : {"annotate", "anonymize", "extract"})
        for (const char* const after : {"0.05", "0.2", "0.5"}) {
            Words words{"timeout", "--preserve-status", "-s", "INT", after, QPSCOPE_PROGRAM, command, "-q", "-o", kept,
                        large};
            if (command == "extract") words.insert(words.end(), {"-C", "1"});
            const Ending ending = run(words);
            INFO(command << ' ' << after << ": " << ending.code << ' ' << ending.err);
            if (content_of(kept) == kOld) continue;
            // It had begun to write: then there are packets.
            CHECK(qpscope({"packets", "-q", "-c", "1", "-f", "tsv", kept}).out.find('\n') != std::string::npos);
            CHECK(read_file(kept).size() > 200);
            static_cast<void>(folder.write("kept.pcapng", octets(kOld)));
        }
}

TEST_CASE("a link leads to the file that is replaced, whose rights stay") {
    const TemporaryFolder folder;
    const std::string kept = folder.write("kept.txt", octets(kOld)), link = folder.file("link.txt");
    fs::create_symlink(kept, link);
    REQUIRE(chmod(kept.c_str(), 0640) == 0);
    CHECK(qpscope({"info", "-o", link, sample("err_rnr")}).code == kDone);
    CHECK(fs::is_symlink(link));
    CHECK(content_of(kept) == qpscope({"info", sample("err_rnr")}).out);
    CHECK(mode_of(kept) == 0640);
    CHECK(qpscope({"export", "--sqlite", link, sample("err_rnr")}).code == kDone);
    CHECK(fs::is_symlink(link));
    CHECK_THAT(content_of(kept), Contains("SQLite format"));
    // What others left beside it is theirs.
    static_cast<void>(folder.write("kept.txt.part", octets(kOld)));
    CHECK(qpscope({"export", "--sqlite", kept, sample("err_rnr")}).code == kDone);
    CHECK(qpscope({"info", "-o", kept, sample("err_rnr")}).code == kDone);
    CHECK(content_of(kept + ".part") == kOld);
}

TEST_CASE("devices, pipes and what is open already are written directly") {
    const TemporaryFolder folder;
    const std::string out = folder.write("out.txt", octets(kOld)), fifo = folder.fifo("fifo");
    const std::string printed = qpscope({"info", sample("err_rnr")}).out;
    for (const std::string name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
        CHECK(run({"sh", "-c",
                   fmt::format(
                       "printf '%s\n' 'what was there' > '{0}'; '{1}' info -o {2} '{3}' >> '{0}'; echo behind >> '{0}'",
                       out, QPSCOPE_PROGRAM, name, sample("err_rnr"))})
                  .code == 0);
        CHECK(content_of(out) == std::string(kOld) + printed + "behind\n");
    }
    CHECK(run({"sh", "-c",
               fmt::format("'{1}' info -o '{0}' '{2}' & cat '{0}'", fifo, QPSCOPE_PROGRAM, sample("err_rnr"))})
              .out == printed);
    CHECK(run({"bash", "-c", fmt::format("'{}' info -o >(cat) '{}' | cat", QPSCOPE_PROGRAM, sample("err_rnr"))}).out ==
          printed);
    CHECK(qpscope({"info", "-o", "/dev/null", sample("err_rnr")}).code == kDone);
    CHECK(fs::is_character_file("/dev/null"));
    CHECK(qpscope({"info", "-o", "/dev/full", sample("err_rnr")}).code == kOutputFailed);
    const Ending refused = qpscope({"export", "--sqlite", "/dev/null", sample("err_rnr")});
    CHECK(refused.code == kOutputFailed);
    CHECK_THAT(refused.err, Contains("a database needs a regular file"));
    CHECK(fs::is_character_file("/dev/null"));
    CHECK_FALSE(fs::exists("/dev/null.part"));
}

TEST_CASE("a file that an option names to be read is never an output") {
    const TemporaryFolder folder;
    const std::string kept = folder.write("kept", octets("10.77.0.11 a-host\n")), link = folder.file("link"),
                      capture = sample("err_rnr");
    fs::create_symlink(kept, link);
    for (const Words& words : {Words{"annotate", "--hosts", kept, "-o"},
                               {"anonymize", "--key-file", kept, "-o"},
                               {"anonymize", "-o", folder.file("clean.pcapng"), "--key-file", kept, "--map"},
                               {"check", "--profile", kept, "-o"},
                               {"check", "--compare", kept, "-o"},
                               {"analyze", "--nccl-log", kept, "-o"}})
        for (const std::string& name : {kept, link}) {
            const Ending refused = qpscope(words + Words{name, capture});
            INFO(words.front() + ' ' + words.back() + ": " + refused.err);
            CHECK(refused.code == kUsage);
            CHECK_THAT(refused.err, Contains(fmt::format("{} is also an input and would be overwritten", name)) &&
                                        Contains(fmt::format("name another file with {}\n", words.back())));
            CHECK(content_of(kept) == "10.77.0.11 a-host\n");
        }
    CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("a command on a wire leaves its captures, and two outputs do not share a file") {
    const TemporaryFolder folder;
    const std::string capture = folder.write("in.pcap", read_file(sample("err_rnr"))), before = content_of(capture),
                      both = folder.file("both.txt");
    for (const Words& words : {Words{"send", "--from", capture, "-w", capture},
                               {"replay", "-w", capture, capture},
                               {"replay", "--as", "requester", "-w", capture, capture},
                               {"conform", "--script-of", capture, "-o", capture}}) {
        INFO(words.front());
        CHECK(qpscope(words).code == kUsage);
        CHECK(content_of(capture) == before);
    }
    const Ending refused = qpscope({"replay", "-w", both, "-o", both, capture});
    CHECK(refused.code == kUsage);
    CHECK_THAT(refused.err, Contains(fmt::format("-w and -o both name {}: name another file with one of them", both)));
    CHECK(qpscope({"packets", "-q", "-o", "/dev/null", capture}).code == kDone);
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("the map of pseudonyms is its owner's alone, and never the capture") {
    const TemporaryFolder folder;
    const std::string capture = folder.file("clean.pcapng"), map = folder.write("map.json", octets(kOld)),
                      fresh = folder.file("fresh.json");
    REQUIRE(chmod(map.c_str(), 0644) == 0);
    for (const std::string& each : {map, fresh}) {
        CHECK(qpscope({"anonymize", "-q", "--map", each, "-o", capture, sample("err_rnr")}).code == kDone);
        CHECK(mode_of(each) == 0600);
        CHECK_THAT(content_of(each), Contains("\"pseudonyms\""));
    }
    const std::string before = content_of(capture), link = folder.file("link.pcapng");
    fs::create_symlink(capture, link);
    for (const std::string& same : {capture, link, folder.path() + "/./clean.pcapng"}) {
        const Ending refused = qpscope({"anonymize", "--map", same, "-o", capture, sample("err_rnr")});
        CHECK(refused.code == kUsage);
        CHECK_THAT(refused.err, Contains(fmt::format(
                                    "qpscope: -o and --map both name {}: name another file with one of them\n", same)));
        CHECK(content_of(capture) == before);
    }
    const std::string none = folder.file("none.pcapng");
    CHECK(qpscope({"anonymize", "--map", none, "-o", none, sample("err_rnr")}).code == kUsage);
    CHECK(qpscope({"anonymize", "--map", "none.pcapng", "-o", "./none.pcapng", sample("err_rnr")},
                  {.folder = folder.path()})
              .code == kUsage);
    CHECK_FALSE(fs::exists(none));
    // Without a capture there is no new map: the old one tells of the old capture.
    const std::string kept = content_of(map);
    CHECK(qpscope({"anonymize", "-q", "--map", map, "-o", capture, folder.file("none.pcap")}).code == kUnreadable);
    CHECK(qpscope({"anonymize", "-q", "--map", map, "-o", "/dev/full", sample("nvme_rdma")}).code == kOutputFailed);
    CHECK(content_of(map) == kept);
}

TEST_CASE("the key of pseudonyms comes from the command line, a file or the environment") {
    const TemporaryFolder folder;
    const std::string key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    const std::string file = folder.write("key", octets(key + "\n")), out = folder.file("out.pcapng");
    const auto made = [&](const Words& words, const std::vector<std::string>& environment = {}) {
        CHECK(qpscope(Words{"anonymize", "-q", "-o", out, sample("err_rnr")} + words, {.environment = environment})
                  .code == kDone);
        return content_of(out);
    };
    const std::string by_option = made({"--key", key});
    CHECK(made({"--key-file", file}) == by_option);
    CHECK(made({}, {"QPSCOPE_ANONYMIZE_KEY=" + key}) == by_option);
    CHECK(made({"--key-file", file}, {"QPSCOPE_ANONYMIZE_KEY=" + std::string(64, 'f')}) == by_option);
    CHECK(made({}, {"QPSCOPE_ANONYMIZE_KEY="}) != by_option);
    const std::string wrong = folder.write("wrong", octets(key + "0"));
    for (const auto& [words, environment, why] : std::initializer_list<std::tuple<Words, Words, std::string>>{
             {{"--key-file", wrong}, {}, wrong + ": invalid key: expected 64 hexadecimal digits"},
             {{"--key-file", folder.file("none")}, {}, "cannot read"},
             {{}, {"QPSCOPE_ANONYMIZE_KEY=12"}, "QPSCOPE_ANONYMIZE_KEY: invalid key: expected 64 hexadecimal digits"},
             {{"--key", key, "--key-file", file}, {}, "--key"}}) {
        const Ending ending =
            qpscope(Words{"anonymize", "-o", out, sample("err_rnr")} + words, {.environment = environment});
        CHECK(ending.code == kUsage);
        CHECK_THAT(ending.err, Contains(why));
    }
}
