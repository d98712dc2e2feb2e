// Commands that read a file name each packet, message and row by the connection that `connections` lists, also what
// was paired late; of a pipe the number is the one that was known.
#include <tests/cli/qpscope.hpp>
#include <tests/support/late_pairs.hpp>
#include <tests/support/temporary_file.hpp>

#include <set>

#include <nlohmann/json.hpp>

using namespace qps::test;
using Json = nlohmann::json;

namespace {

std::multiset<unsigned> numbers(const std::string& lines, const std::string& name) {
    std::multiset<unsigned> all;
    for (const std::string& line : lines_of(lines))
        if (const Json row = Json::parse(line); row.contains(name) && row[name].is_number())
            all.insert(row[name].get<unsigned>());
    return all;
}

}  // namespace

TEST_CASE("a connection has one number in all commands that read a file, also where it was paired late") {
    const TemporaryFolder folder;
    const std::string path = folder.file("late.pcap");
    qps::tests::write_late_pairs(path, qps::tests::ThirdPair::yes);
    const std::multiset<unsigned> packets{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3};
    const std::vector<std::string> by_number{"packets", "-f", "ndjson", "-e", "rdma.connection"};
    CHECK(numbers(qpscope({"connections", "-f", "ndjson", path}).out, "uid") == std::multiset<unsigned>{1, 2, 3});
    CHECK(numbers(qpscope(by_number + std::vector{path}).out, "rdma.connection") == packets);
    CHECK(lines_of(qpscope({"packets", "-f", "ndjson", "-Y", "rdma.connection == 2 && rdma.from == b", path}).out)
              .size() == 4);
    CHECK(numbers(qpscope({"messages", "-f", "ndjson", path}).out, "connection") ==
          std::multiset<unsigned>{1, 1, 1, 2, 2, 2, 2, 3, 3});
    CHECK(lines_of(qpscope({"show", "-f", "ndjson", "-Y", "rdma.connection == 1", path}).out).size() == 6);
    CHECK(numbers(qpscope({"timeline", "-f", "ndjson", "-C", "1", "--interval", "1s", path}).out, "packets") ==
          std::multiset<unsigned>{6});
    const std::string slice = folder.file("slice.pcapng");
    REQUIRE(qpscope({"extract", "-C", "1", "-o", slice, path}).code == kDone);
    CHECK(lines_of(qpscope({"packets", "-f", "ndjson", slice}).out).size() == 6);
    const std::string tables = folder.file("tables");
    REQUIRE(qpscope({"export", "-f", "ndjson", "--packets", "-o", tables, path}).code == kDone);
    const std::vector<std::byte> table = read_file(tables + "/packets.ndjson");
    CHECK(numbers({reinterpret_cast<const char*>(table.data()), table.size()}, "connection") == packets);
    // What comes by a pipe passes once.
    const std::vector<std::byte> bytes = read_file(path);
    const auto piped =
        numbers(qpscope(by_number + std::vector<std::string>{"-"}, {.input = bytes}).out, "rdma.connection");
    CHECK(piped.size() == packets.size());
    CHECK(piped.count(5) != 0);
    // What was named on the way keeps its number at the end.
    const std::string of_pipe = folder.file("of_pipe");
    REQUIRE(qpscope({"export", "-f", "ndjson", "--packets", "-o", of_pipe, "-"}, {.input = bytes}).code == kDone);
    const std::vector<std::byte> listed = read_file(of_pipe + "/connections.ndjson");
    CHECK(numbers({reinterpret_cast<const char*>(listed.data()), listed.size()}, "uid") ==
          std::multiset<unsigned>{1, 2, 5});
    CHECK(numbers(qpscope({"connections", "-f", "ndjson", "-"}, {.input = bytes}).out, "uid") ==
          std::multiset<unsigned>{1, 2, 3});
}

TEST_CASE("--decode-as names a connection by the number that it is listed with") {
    const TemporaryFolder folder;
    const std::string path = folder.file("late.pcap");
    qps::tests::write_late_pairs(path, qps::tests::ThirdPair::yes);
    const std::string listed = qpscope({"analyze", "-f", "json", "--decode-as", "3=nvme", path}).out;
    const Json conversations = Json::parse(listed)["conversations"];
    REQUIRE(conversations.size() == 1);
    CHECK(conversations[0]["connection"] == 3);
}
