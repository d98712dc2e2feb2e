// Reading of cases: any bytes are a file, lines are cleaned, counters pair.
#include <tests/case/case_folder.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/completion_status.hpp>
#include <transport-replay/casework/counter_changes.hpp>

using namespace qps;
using namespace qps::casework;

namespace {

Case read(std::initializer_list<std::pair<std::string, std::string>> files) {
    CaseReader reader;
    for (const auto& [name, bytes] : files) reader.read(name, bytes);
    return reader.end();
}

constexpr auto kLine =
    "w9:1:2 [0] net_ib.cc:9 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129";

}  // namespace

TEST_CASE("a line is read through colours, quoting of mails and prefixes of launchers") {
    for (const std::string& line : {std::string(kLine), "\x1b[31m" + std::string(kLine) + "\x1b[0m\r",
                                    "> > " + std::string(kLine), "[1,3]<stderr>:" + std::string(kLine)}) {
        const Case found = read({{"x.log", line}});
        INFO(line);
        REQUIRE(found.events.size() == 1);
        CHECK(found.events[0].status == 12U);
        CHECK(found.events[0].vendor == 129U);
        CHECK(found.events[0].host == "w9");
    }
}

TEST_CASE("UTF-16 is read, binaries and captures are named") {
    std::string wide = "\xff\xfe";
    for (const char* c = kLine; *c != 0; ++c) wide += *c, wide += '\0';
    CHECK(read({{"x.log", wide}}).events.size() == 1);
    CHECK(read({{"x.bin", std::string("ab\0cd", 5)}}).files[0].binary);
    CHECK(read({{"x.pcap", std::string("\xd4\xc3\xb2\xa1\x02\0\x04\0", 8)}}).files[0].capture);
}

TEST_CASE("vendor errors keep the base that their producer prints") {
    const Case nccl = read(
        {{"a.log", "a:1:2 [0] x.cc:1 NCCL WARN NET/IB : Got completion with error 4, opcode 1, len 8, vendor err 81"}});
    REQUIRE(nccl.events.size() == 1);
    CHECK(nccl.events[0].vendor == 0x51U);
    const Case ucx =
        read({{"a.log", "[a:1:0:1] ib.c:1 Local protection error on mlx5_0:1/RoCE (synd 0x4 vend 0x51 hw_synd 0/2)"}});
    REQUIRE(ucx.events.size() == 1);
    CHECK(ucx.events[0].vendor == 0x51U);
    CHECK(ucx.events[0].status == 4U);
}

TEST_CASE("UCX's receive-no-ready is status 13, whatever else its words are") {
    const Case found = read(
        {{"a.log",
          "[a:1:0:1] ib.c:1 Receive-no-ready retry count exceeded on mlx5_0:1/RoCE (synd 0x16 vend 0x87 hw_synd 0/0)"}});
    REQUIRE(found.events.size() == 1);
    CHECK(found.events[0].status == 13U);
}

TEST_CASE("what mlx5's kernel driver calls the syndrome of an event is mapped back") {
    CHECK(status_of_kernel_event("fatal error") == 10U);
    CHECK(status_of_kernel_event("invalid EE context state") == 9U);
    CHECK(status_of_kernel_event("general error") == 12U);
    CHECK(status_of_kernel_event("local protection error") == 4U);
}

TEST_CASE("two dumps are before and after, by name or by growth; 32 bits wrap, smaller values are a reset") {
    const std::string path = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/";
    const auto one = [&](const std::string& a, const std::string& b, const std::string& from, const std::string& to) {
        return counter_changes(read({{a, path + "out_of_sequence:" + from}, {b, path + "out_of_sequence:" + to}}));
    };
    auto changes = one("h.before", "h.after", "7", "19");
    REQUIRE(changes.size() == 1);
    CHECK((changes[0].paired && changes[0].grown == 12));
    changes = one("h.cnt.1", "h.cnt.2", "19", "7");  // growth tells the order
    REQUIRE(changes.size() == 1);
    CHECK((changes[0].paired && changes[0].grown == 12));
    changes = one("h.before", "h.after", "4294967290", "4");
    REQUIRE(changes.size() == 1);
    CHECK((changes[0].wrapped && changes[0].grown == 10));
    changes = one("h.before", "h.after", "900", "4");
    REQUIRE(changes.size() == 1);
    CHECK((changes[0].reset && changes[0].grown == 0));
}

TEST_CASE("a tree of counters is read as grep prints it") {
    const Case found = read({{"n1/before/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", "5\n"},
                             {"n1/after/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", "8\n"}});
    REQUIRE(found.counters.size() == 2);
    const auto changes = counter_changes(found);
    REQUIRE(changes.size() == 1);
    CHECK((changes[0].paired && changes[0].grown == 3));
}

TEST_CASE("a line of any length, and any bytes, are read to their end") {
    std::string bytes;
    for (int i = 1; i < 256; ++i) bytes += static_cast<char>(i);
    for (int i = 0; i < 300; ++i)
        bytes +=
            "NCCL WARN Got completion with error " + std::string(static_cast<std::size_t>(i) * 50, '9') + ", opcode";
    CHECK(read({{"x", bytes}}).files.size() == 1);
    CHECK(testing::judged({{"x", bytes}}).party == "undecided");
    CHECK(testing::judged({}).party == "undecided");
}

TEST_CASE("a list of queue pairs in JSON is read to its end, however long its line is") {
    std::string list = "[";
    for (int i = 0; i < 1000; ++i)
        list += std::string(i == 0 ? "" : ",") +
                "{\"ifindex\":0,\"ifname\":\"mlx5_0\",\"port\":1,\"lqpn\":" + std::to_string(i) +
                ",\"rqpn\":9,\"type\":\"RC\",\"state\":\"RTS\",\"pid\":5,\"comm\":\"x\"}";
    const Case found = read({{"n1.rdma_qp", list + "]\n" + kLine}});
    CHECK(found.settings.size() == 3000);
    CHECK(found.counters.empty());
    CHECK(found.files[0].lines == 2);
    REQUIRE(found.events.size() == 1);
    CHECK(found.events[0].place.line == 2);
}
