// Archives of a case: their members are files of it, and what is hostile or damaged in one is said and harms nothing.
#include <tests/case/case_folder.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/casework/archive_reader.hpp>
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/case_report.hpp>

#include <fmt/format.h>

using namespace qps;
using namespace qps::casework;

namespace {

constexpr std::size_t kBlock = 512;

struct Entry {
    std::string name;
    std::string bytes;
    char type = '0';
    std::string size = {};  // the field, where it is not that of the bytes
    std::string prefix = {};
};

std::string header_of(const Entry& entry) {
    std::string header(kBlock, '\0');
    const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
    put(0, entry.name.substr(0, 100));
    put(124, entry.size.empty() ? fmt::format("{:011o}", entry.bytes.size()) : entry.size);
    header[156] = entry.type;
    put(257, std::string("ustar\0", 6) + "00");
    put(345, entry.prefix);
    put(148, std::string(8, ' '));
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    put(148, fmt::format("{:06o}", sum));
    return header;
}

std::string tar_of(const std::vector<Entry>& entries) {
    std::string tar;
    for (const Entry& entry : entries) {
        tar += header_of(entry) + entry.bytes;
        tar.append((kBlock - entry.bytes.size() % kBlock) % kBlock, '\0');
    }
    return tar + std::string(2 * kBlock, '\0');
}

std::string pax_of(const std::string& key_and_value) {
    return fmt::format("{} {}\n", key_and_value.size() + 4, key_and_value);  // lengths of two digits
}

Case read_tar(const std::string& bytes, const std::string& name = "x.tar", CaseMemory memory = CaseMemory{}) {
    CaseReader reader(memory);
    reader.read(name, bytes);
    return reader.end();
}

std::vector<std::string> said(const Case& found) {
    std::vector<std::string> rows;
    for (const CaseFile& file : found.files) rows.push_back(file.name + ": " + kinds_text(file));
    return rows;
}
using Rows = std::vector<std::string>;

const std::string kMemberLine =
    "w9:1:2 [0] net_ib.cc:9 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129\n";

}  // namespace

TEST_CASE("every case gets the same verdict from an archive of its files") {
    for (const testing::CaseFolder& folder : testing::case_folders()) {
        std::vector<Entry> entries{{"./", "", '5'}};
        for (const auto& [name, bytes] : folder.files) entries.push_back({"./" + name, bytes});
        INFO(folder.name);
        CHECK(testing::judged({{"case.tar", tar_of(entries)}}).party == folder.party);
    }
}

TEST_CASE("names of members: ustar's prefix, GNU's and pax's long ones") {
    const std::string name = std::string(120, 'n') + "/w9.log";
    const Case found = read_tar(tar_of({{"w9.log", kMemberLine, '0', "", "hosts/rack-1"},
                                        {"././@LongLink", name + '\0', 'L'},
                                        {"cut", kMemberLine},
                                        {"pax", pax_of("path=r2/w9.log"), 'x'},
                                        {"cut", kMemberLine},
                                        {"plain", kMemberLine}}));
    CHECK(found.events.size() == 4);
    CHECK(said(found) == Rows{"x.tar: archive: 4 members", "x.tar/hosts/rack-1/w9.log: NCCL log (1)",
                              "x.tar/" + name + ": NCCL log (1)", "x.tar/r2/w9.log: NCCL log (1)",
                              "x.tar/plain: NCCL log (1)"});
}

TEST_CASE("an archive is no host; the host whose archive it is, is one") {
    const std::string limits = "max locked memory (kbytes, -l) 64\n";
    CHECK(read_tar(tar_of({{"limits", limits}}), "qpscope-node-7-20261129-101112.tar").files[1].host == "node-7");
    CHECK(read_tar(tar_of({{"limits", limits}}), "n3.tar.gz").files[1].host == "n3");
    CHECK(read_tar(tar_of({{"limits", limits}}), "bundle.tar").files[1].host.empty());
    CHECK(read_tar(tar_of({{"n4.limits", limits}}), "bundle.tar").files[1].host == "n4");
}

TEST_CASE("links, devices and names that lead elsewhere are named and not followed") {
    const Case found = read_tar(tar_of({{"../up.log", kMemberLine},
                                        {"a/../../up.log", kMemberLine},
                                        {"/etc/passwd", kMemberLine},
                                        {"soft", "", '2'},
                                        {"hard", "", '1', "77777777777"},
                                        {"disk", "", '4'},
                                        {"odd", kMemberLine, 'Z'},
                                        {"", kMemberLine},
                                        {"good..log", kMemberLine}}));
    CHECK(found.events.size() == 1);
    CHECK(said(found) == Rows{"x.tar: archive: 9 members",
                              "x.tar/../up.log: its name leads out of the archive: not read",
                              "x.tar/a/../../up.log: its name leads out of the archive: not read",
                              "x.tar//etc/passwd: its name leads out of the archive: not read",
                              "x.tar/soft: a link: not followed", "x.tar/hard: a link: not followed",
                              "x.tar/disk: a device: not read", "x.tar/odd: of an unknown type: not read",
                              "x.tar/: without a name: not read", "x.tar/good..log: NCCL log (1)"});
}

TEST_CASE("of a cut archive, what is there is read") {
    const std::string tar =
        tar_of({{"a.log", kMemberLine}, {"b.log", kMemberLine + std::string(600, 'x') + "\n" + kMemberLine}});
    Case found = read_tar(tar.substr(0, 3 * kBlock + 200));
    CHECK(found.events.size() == 2);
    CHECK(said(found)[0] == fmt::format("x.tar: archive: 2 members, damaged: it ends inside a member of {} bytes, of "
                                        "which 200 are there",
                                        2 * kMemberLine.size() + 601));
    CHECK(found.files[2].cut);
    found = read_tar(tar.substr(0, 2 * kBlock));
    CHECK(said(found)[0] == "x.tar: archive: 1 members, damaged: it has no end mark and may be cut");
    std::string broken = tar;
    broken[2 * kBlock + 130] = '9';
    CHECK(said(read_tar(broken)) ==
          Rows{"x.tar: archive: 1 members, damaged: no header at byte 1024, nothing is read from there on",
               "x.tar/a.log: NCCL log (1)"});
    for (std::size_t size = 0; size < tar.size(); size += 7) REQUIRE(read_tar(tar.substr(0, size)).events.size() <= 3);
}

TEST_CASE("a member has no more bytes than are there, whatever its size says") {
    const std::string huge = '\x80' + std::string(11, '\xff');
    for (const std::string& size : {std::string("77777777777"), huge}) {
        const Case found = read_tar(tar_of({{"a.log", kMemberLine, '0', size}}).substr(0, kBlock + kMemberLine.size()));
        CHECK(found.events.size() == 1);
        CHECK(found.files[0].problem.starts_with("damaged: it ends inside a member"));
    }
    const std::string tar = tar_of({{"pax", pax_of("size=99999999999"), 'x'}, {"a.log", kMemberLine}});
    const Case pax = read_tar(tar.substr(0, 3 * kBlock + kMemberLine.size()));
    CHECK(pax.events.size() == 1);
    CHECK(pax.files[0].problem.starts_with("damaged: it ends inside a member of 99999999999 bytes"));
    CHECK(read_tar(tar_of({{"pax", "99 path=x", 'x'}, {"b.log", kMemberLine}})).files[1].name == "x.tar/b.log");
}

TEST_CASE("members that are binary, a capture or an archive are named") {
    const Case found = read_tar(tar_of({{"core", std::string("ab\0cd", 5)},
                                        {"x.pcap", std::string("\xd4\xc3\xb2\xa1\x02\0\x04\0", 8)},
                                        {"in.tar", tar_of({{"a.log", kMemberLine}})}}));
    CHECK(found.events.empty());
    CHECK(said(found) == Rows{"x.tar: archive: 3 members", "x.tar/core: no text",
                              "x.tar/x.pcap: capture, not a capture: 8 bytes, shorter than a file header of 24; first "
                              "bytes d4 c3 b2 a1 02 00 04 00 \"........\"",
                              "x.tar/in.tar: no text"});
}

TEST_CASE("compressed archives and logs are read up to a bound; damage is said") {
    // gzip of "w9:1:2 [0] x.cc:1 NCCL WARN hello\n" in one stored block: its bytes are kept as they are.
    const std::string text = "w9:1:2 [0] x.cc:1 NCCL WARN hello\n";
    const char size = static_cast<char>(text.size());
    const std::string head("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
    const std::string stored = std::string("\x01") + size + '\0' + static_cast<char>(~size) + '\xff' + text;
    const Case cut = read_tar(head + stored, "n.log.gz");  // without its checksum
    CHECK(said(cut) == Rows{"n.log.gz: NCCL log (1), damaged: the compressed data ends early"});
    CHECK(said(read_tar(head + stored, "n.log.gz", CaseMemory(50)))[0].ends_with(", cut"));
    CHECK(said(read_tar(head + "\x07rubbish", "n.log.gz"))[0].starts_with("n.log.gz: damaged: "));
}
