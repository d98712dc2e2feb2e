// `extract`: a slice has the packets that it should have, as they were, and nothing else.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <filesystem>

#include <fmt/format.h>

using namespace qps::test;
using Catch::Matchers::Contains;

namespace {

// One line a packet, with nothing in it that depends on the other packets of the file.
std::vector<std::string> packets_of(const std::string& path, const std::string& filter = {}) {
    std::vector<std::string> words{"packets", "-f", "tsv"};
    for (const char* field : {"frame.time_epoch", "frame.len", "frame.comment", "infiniband.bth.psn",
                              "infiniband.mad.attributeid", "infiniband.payload"})
        words.insert(words.end(), {"-e", field});
    if (!filter.empty()) words.insert(words.end(), {"-Y", filter});
    words.push_back(path);
    const Ending ending = qpscope(words);
    INFO(ending.err);
    REQUIRE(ending.code == kDone);
    return lines_of(ending.out);
}

// Whether all of them are in `all`, in that order.
bool in_order(const std::vector<std::string>& some, const std::vector<std::string>& all) {
    std::size_t at = 0;
    for (const std::string& line : some) {
        while (at < all.size() && all[at] != line) ++at;
        if (at++ == all.size()) return false;
    }
    return true;
}

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    for (const char c : line)
        if (c == '\t') cells.emplace_back();
        else cells.back() += c;
    return cells;
}

// The row of the table of connections less its number and that of its first packet.
std::vector<std::string> row_of(const std::string& path, const std::string& number) {
    const Ending ending = qpscope({"connections", "-f", "tsv", "-C", number, path});
    const std::vector<std::string> lines = lines_of(ending.out);
    REQUIRE(lines.size() == 2);
    const std::vector<std::string> heads = cells_of(lines[0]);
    std::vector<std::string> row;
    const std::vector<std::string> cells = cells_of(lines[1]);
    REQUIRE(cells.size() == heads.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (heads[i] != "uid" && heads[i] != "first_frame") row.push_back(heads[i] + "=" + cells[i]);
    REQUIRE(row.size() + 2 == cells.size());
    return row;
}

}  // namespace

TEST_CASE("a connection is taken out whole, with its set-up") {
    const TemporaryFolder folder;
    const std::string out = folder.file(GENERATE("out.pcapng", "out.pcap")), file = sample("nvme_rdma");
    const std::string jobs = GENERATE("1", "3");
    const Ending ending = qpscope({"extract", "-j", jobs, "-C", "3", "-o", out, file});
    INFO(ending.err);
    CHECK(ending.code == kDone);
    CHECK(ending.out.empty());
    const std::vector<std::string> packets = packets_of(out);
    CHECK(ending.err == fmt::format("qpscope: {} packets written to {} (connection 3)\n", packets.size() - 1, out));
    CHECK(in_order(packets, packets_of(file)));
    // It is in itself what it was among the others, and nobody else is there.
    CHECK(row_of(out, "1") == row_of(file, "3"));
    CHECK(lines_of(qpscope({"connections", "-f", "tsv", out}).out).size() == 2);
    const Ending set_up = qpscope({"cm", "-f", "tsv", out});
    CHECK_THAT(set_up.out, Contains("REQ") && Contains("REP") && Contains("RTU") && Contains("DREQ"));
}

TEST_CASE("what is near a finding is taken out, and the set-up however far away it is") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.pcapng"), file = sample("loss_write");
    CHECK(qpscope({"extract", "-q", "--finding", "ack-timeout", "-o", out, file}).code == kDone);
    const std::size_t all = packets_of(out).size();
    CHECK(qpscope({"extract", "-q", "--finding", "ack-timeout", "--around", "1ms", "-o", out, file}).code == kDone);
    const std::vector<std::string> near = packets_of(out);
    CHECK(near.size() < all);
    CHECK(in_order(near, packets_of(file)));
    // The same finding by its place in the list, and the connection by its number.
    const std::string same = folder.file("same.pcapng");
    CHECK(qpscope({"extract", "-q", "-C", "1", "--finding", "2", "--around", "1ms", "-o", same, file}).code == kDone);
    CHECK(read_file(same) == read_file(out));
    // Set-up: of a connection that was refused there is nothing else.
    const std::string refused = sample("cm_reject_noport");
    CHECK(qpscope({"extract", "-q", "--finding", "1", "-o", out, refused}).code == kDone);
    CHECK(packets_of(out) == packets_of(refused, "infiniband.mad"));
}

TEST_CASE("around a finding everything is taken out where that is asked for") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.pcapng"), whole = folder.file("whole.pcapng"), file = sample("congestion");
    const std::vector<std::string> finding{"extract", "-q", "--finding", "1", "--around", "20us"};
    CHECK(qpscope(finding + std::vector<std::string>{"-o", out, file}).code == kDone);
    CHECK(qpscope(finding + std::vector<std::string>{"--everything", "-o", whole, file}).code == kDone);
    CHECK(packets_of(out).size() <= packets_of(whole).size());
    CHECK(in_order(packets_of(out), packets_of(whole)));
    CHECK(in_order(packets_of(whole), packets_of(file)));
}

TEST_CASE("a slice around a finding says so, and what is analysed of it is said to be incomplete") {
    const TemporaryFolder folder;
    const std::string around = folder.file("around.pcapng"), whole = folder.file("whole.pcapng"),
                      file = sample("loss_write");
    CHECK(qpscope({"extract", "-q", "--finding", "1", "--around", "1ms", "-o", around, file}).code == kDone);
    CHECK(qpscope({"extract", "-q", "--finding", "1", "-o", whole, file}).code == kDone);
    const std::string said = "incomplete: " + around + " is a slice: what it lacks was left out\n";
    CHECK_THAT(qpscope({"findings", around}).out, Contains(said));
    CHECK_THAT(qpscope({"findings", "--by-time", whole, around}).out, Contains(said));
    CHECK_THAT(qpscope({"findings", whole}).out, !Contains("incomplete"));
    CHECK_THAT(qpscope({"findings", file}).out, !Contains("incomplete"));
}

TEST_CASE("rotated files are one capture: the set-up is in another one than the data") {
    const TemporaryFolder folder;
    const std::string first = folder.file("ring_1.pcap"), second = folder.file("ring_2.pcap"),
                      file = sample("nvme_rdma");
    CHECK(qpscope({"packets", "-q", "-Y", "frame.number <= 200", "-w", first, file}).code == kDone);
    CHECK(qpscope({"packets", "-q", "-Y", "frame.number > 200", "-w", second, file}).code == kDone);
    const std::string whole = folder.file("whole.pcap"), parts = folder.file("parts.pcap");
    const std::vector<std::string> asked{"extract", "-q", "-C", "4"};
    CHECK(qpscope(asked + std::vector<std::string>{"-o", whole, file}).code == kDone);
    CHECK(qpscope(asked + std::vector<std::string>{"-o", parts, first, second}).code == kDone);
    CHECK(read_file(parts) == read_file(whole));
}

TEST_CASE("iWARP begins with its TCP handshake") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.pcapng");
    CHECK(qpscope({"extract", "-q", "-C", "1", "-o", out, sample("iwarp_rping")}).code == kDone);
    CHECK(lines_of(qpscope({"packets", "-f", "tsv", "-e", "line", "-Y", "tcp.flags.syn == 1", out}).out).size() == 3);
    CHECK(row_of(out, "1") == row_of(sample("iwarp_rping"), "1"));
}

TEST_CASE("what cannot be extracted is refused, and leaves no file") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.pcapng"), file = sample("loss_write");
    struct Refusal {
        std::vector<std::string> words;
        std::string why;
    };
    for (const Refusal& refusal : std::vector<Refusal>{
             {{"-o", out, file}, "nothing chosen"},
             {{"-C", "1", file}, "missing output"},
             {{"-C", "1", "--around", "1ms", "-o", out, file}, "--around and --everything are about findings"},
             {{"--finding", "1", "--everything", "-o", out, file}, "--everything needs --around"},
             {{"-C", "99", "-o", out, file}, "no such connection 99"},
             {{"--finding", "99", "-o", out, file}, "no such finding '99': this capture has 4"},
             {{"--finding", "no-such", "-o", out, file}, "no such finding 'no-such'"},
             {{"-C", "1", "-o", out, "-"}, "cannot read the input twice"},
             {{"-C", "1", "-o", file, file}, "would be overwritten"},
         }) {
        const Ending ending = qpscope(std::vector<std::string>{"extract"} + refusal.words);
        INFO(ending.err);
        CHECK(ending.code == kUsage);
        CHECK_THAT(ending.err, Contains(refusal.why));
        CHECK_FALSE(std::filesystem::exists(out));
    }
}
