// One pass over bytes finds the lines worth reading: what it passes over says nothing, whatever the number of threads.
#include <tests/support/catch.hpp>
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/line_scan.hpp>
#include <transport-replay/casework/word_finder.hpp>

#include <set>
#include <utility>

#include <fmt/format.h>

using namespace qps::casework;

namespace {

using Found = std::multiset<std::pair<std::size_t, std::size_t>>;  // word, where it ends

Found found_by(const WordFinder& finder, std::string_view text) {
    Found found;
    finder.find(text, [&](WordFinder::Id id, std::size_t end) { found.emplace(id, end); });
    return found;
}

Found looked_up(std::span<const std::string_view> words, std::string_view text) {
    Found found;
    for (std::size_t id = 0; id < words.size(); ++id)
        for (std::size_t at = text.find(words[id]); at != std::string_view::npos; at = text.find(words[id], at + 1))
            found.emplace(id, at + words[id].size());
    return found;
}

// A log of several ranks on two hosts: prefixes that come again, notes that come again, a failure, rows of a dump with
// plain lines between, and lines of others.
std::string log_of(std::size_t rounds) {
    std::string text = "n1:1:2 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n";
    for (std::size_t i = 0; i < rounds; ++i) {
        for (int rank = 0; rank < 6; ++rank) {
            const std::string prefix =
                fmt::format("{}n{}:{}:{} [{}] NCCL INFO ", rank == 5 ? "[2026-02-03 12:00:01] " : "", rank / 3 + 1,
                            100 + rank, 200 + rank, rank);
            text += prefix + fmt::format("Channel {:02}/0 : {} -> {} [send] via NET/IB/0/GDRDMA\n", i % 32, rank, 6);
            text += prefix + fmt::format("Ring {:02} : 0 -> {} -> 2\n", i % 32, rank);
        }
        if (i % 97 == 5) text += "n2:104:204 [1] NCCL INFO net.cc:12 -> 6\n\n> quoted\n";
        if (i % 131 == 7)
            text += "mlx5: n1: got completion with error:\n00000000 00000000 00000000 00000000\n"
                    "n1:100:200 [0] NCCL INFO Ring 00 : 0 -> 1 -> 2\n"
                    "00000000 93005204 0a0019a1 c0921cd2\n";
        if (i == rounds / 2)
            text += "n2:104:204 [1] net.cc:9 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor "
                    "err 129\n";
    }
    return text + "n2:104:204 [1] NCCL INFO the last line has no end";
}

// The same with a colour in each line, so that every one is read.
std::string coloured(const std::string& text) {
    std::string made;
    for (const char c : text) made += c == '\n' ? std::string("\x1b[0m\n") : std::string(1, c);
    return made;
}

Case read_log(const std::string& text) {
    CaseReader reader;
    reader.read("job.log", text);
    return reader.end();
}

void check_same(const Case& a, const Case& b) {
    REQUIRE(a.events.size() == b.events.size());
    for (std::size_t i = 0; i < a.events.size(); ++i) {
        CHECK(a.events[i].kind == b.events[i].kind);
        CHECK(a.events[i].place == b.events[i].place);
        CHECK(a.events[i].host == b.events[i].host);
        CHECK(a.events[i].qpn == b.events[i].qpn);
    }
    REQUIRE(a.settings.size() == b.settings.size());
    for (std::size_t i = 0; i < a.settings.size(); ++i) CHECK(a.settings[i].place == b.settings[i].place);
    CHECK(a.hosts_said == b.hosts_said);
    CHECK(a.files[0].lines == b.files[0].lines);
    CHECK(a.files[0].unrecognised == b.files[0].unrecognised);
    CHECK(a.files[0].host == b.files[0].host);
    CHECK(a.mentions_rdma == b.mentions_rdma);
    const auto kinds = [](const Case& of) {
        std::set<std::pair<std::string_view, std::uint64_t>> all;
        for (const FileKind& kind : of.files[0].kinds) all.emplace(kind.name, kind.lines);
        return all;
    };
    CHECK(kinds(a) == kinds(b));
}

}  // namespace

TEST_CASE("words are found wherever they stand, also within each other") {
    const std::array<std::string_view, 7> words{"he", "she", "his", "hers", "ers", "\n", "he"};
    const WordFinder finder(words);
    for (const std::string_view text : {"", "ushers", "hehershishe", "s\nhe\n\n", "shhershe", "\xff\0he"})
        CHECK(found_by(finder, text) == looked_up(words, text));
    std::string text;
    for (std::uint32_t i = 0, dice = 7; i < 4000; ++i, dice = dice * 1103515245 + 12345)
        text += "hesir\n"[(dice >> 16U) % 6];
    CHECK(found_by(finder, text) == looked_up(words, text));
}

TEST_CASE("lines that are passed over change nothing of what is found") {
    const std::string text = log_of(300);
    const Case scanned = read_log(text);
    CHECK(scanned.events.size() > 5);
    check_same(scanned, read_log(coloured(text)));
    ScannedBlock block;
    scan_block(text, block);
    CHECK(block.count == scanned.files[0].lines);
    CHECK(block.plain > block.count * 9 / 10);
}

TEST_CASE("a text of many blocks is read as one block is, in order") {
    const std::string text = log_of(12'000);  // more than four blocks: by threads
    REQUIRE(text.size() > 5U << 20U);
    check_same(read_log(text), read_log(coloured(text)));
}

TEST_CASE("a line of a megabyte and a text of newlines are read in bounded pieces") {
    const Case lone = read_log(std::string(9U << 20U, 'x'));
    CHECK(lone.files[0].lines == 1);
    CHECK(lone.files[0].unrecognised == 1);
    const Case empty = read_log(std::string(9U << 20U, '\n'));
    CHECK(empty.files[0].lines == 9U << 20U);
    CHECK(empty.files[0].unrecognised == 0);
}
