// Formats of state dumps and journals: what each says, and hostile ones.
#include <tests/case/case_folder.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/journal_line.hpp>
#include <transport-replay/casework/pickle_reader.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace qps;
using namespace qps::casework;
using namespace qps::testing;

namespace {

Case dump_of(std::initializer_list<std::pair<std::string, std::string>> files) {
    CaseReader reader;
    for (const auto& [name, bytes] : files) reader.read(name, bytes);
    return reader.end();
}

// Pickle as PyTorch writes it.
std::string text(std::string_view word) {
    std::string made = "X";
    for (unsigned i = 0; i < 4; ++i) made += static_cast<char>(word.size() >> 8 * i & 0xffU);
    return made + std::string(word) + "q" + '\x01';
}
std::string number(unsigned value) { return std::string("K") + static_cast<char>(value); }
std::string entry(unsigned sequence, std::string_view state, unsigned elements) {
    return "}q\x02(" + text("record_id") + number(sequence) + text("process_group") + "(" + text("0") +
           text("default_pg") + "t" + text("collective_seq_id") + number(sequence) + text("profiling_name") +
           text("nccl:all_reduce") + text("input_sizes") + "](](" + number(elements) + "ee" + text("state") +
           text(state) + text("is_p2p") + '\x89' + "u";
}
std::string recorder(unsigned sequence, unsigned elements) {
    const std::string none("N", 1);
    return std::string("\x80\x02}q\x03(", 6) + text("version") + text("2.4") + text("pg_status") + "}(" + text("0") +
           "}(" + text("last_enqueued_collective") + number(sequence) + text("last_completed_collective") +
           number(sequence - 1) + "uu" + text("entries") + "](" + entry(sequence - 1, "completed", 8) +
           entry(sequence, "started", elements) + "eu.";
}

}  // namespace

TEST_CASE("a flight recorder as pickle says what one in JSON says") {
    const Unpacked json = json_of_pickle(recorder(9, 32), 1U << 20U);
    INFO(json.bytes);
    CHECK(json.problem.empty());
    CHECK_FALSE(json.cut);
    const auto document = nlohmann::json::parse(json.bytes);
    CHECK(document["entries"].size() == 2);
    CHECK(document["pg_status"]["0"]["last_enqueued_collective"] == 9);
    const Judged said = judged({{"nccl_trace_rank_0", recorder(9, 32)}, {"nccl_trace_rank_1", recorder(9, 16)}});
    CHECK(said.party == "application");
    CHECK(said.text.contains("32 elements on rank 0"));
    CHECK(said.text.contains("16 elements on rank 1"));
}

TEST_CASE("a pickle that wants to run something is refused, and nothing is run") {
    const std::string evil =
        std::string("\x80\x02}q\x03(", 6) + text("version") + "cos\nsystem\n(" + text("touch x") + "tR";
    const Unpacked json = json_of_pickle(evil, 1U << 20U);
    CHECK(json.problem.contains("opcode 0x63"));
    const Case found = dump_of({{"rank_0", evil}});
    CHECK(found.files[0].problem.contains("nothing of it is done"));
}

TEST_CASE("cut, deep and self-containing pickles end within bounds") {
    const std::string whole = recorder(9, 32);
    for (std::size_t size = 0; size <= whole.size(); ++size)
        REQUIRE(json_of_pickle(whole.substr(0, size), 1U << 16U).bytes.size() < (1U << 17U));
    const std::string itself = std::string("\x80\x02]q\x00h\x00", 7) + "a.";
    CHECK(json_of_pickle(itself, 1U << 16U).cut);
    std::string laughs("\x80\x02]q\x00", 5);
    for (char i = 0; i < 40; ++i) laughs += std::string("](h") + i + "h" + i + "eq" + static_cast<char>(i + 1);
    CHECK(json_of_pickle(laughs + ".", 1U << 16U).bytes.size() < (1U << 17U));
    std::string deep("\x80\x02", 2);
    deep.append(1U << 20U, '(');
    CHECK_FALSE(json_of_pickle(deep, 1U << 16U).problem.empty());
}

TEST_CASE("a journal in JSON is read as its short form") {
    const std::string line =
        R"({"__REALTIME_TIMESTAMP":"1778061600123456","_HOSTNAME":"n7","_TRANSPORT":"kernel","SYSLOG_IDENTIFIER":"kernel","MESSAGE":"mlx5_core 0000:5e:00.0 eth2: Link down"})";
    CHECK(journal_line(line) == "2026-05-06T10:00:00.123456Z n7 kernel: mlx5_core 0000:5e:00.0 eth2: Link down");
    const Case found = dump_of({{"j.json", line + "\n"}});
    REQUIRE(found.events.size() == 1);
    CHECK(found.events[0].kind == EventKind::port_down);
    CHECK(found.events[0].host == "n7");
    CHECK(found.events[0].clock == ClockKind::utc);
    CHECK_FALSE(journal_line("{\"MESSAGE\": \"x\"}"));
    CHECK_FALSE(journal_line(R"({"__REALTIME_TIMESTAMP":"99999999999999999999","MESSAGE":"x"})"));
    CHECK(
        journal_line(R"({"__REALTIME_TIMESTAMP":"1","MESSAGE":"a\u001b[0m\"b\\)")->ends_with("journal: a\x1b[0m\"b\\"));
}

TEST_CASE("RAS in JSON names ranks that do not answer, and blames no rank of one reading") {
    const std::string head =
        R"({"nccl_version": "2.28.9", "communicators_count": 1, "communicators": [{"hash": "0xabc", "size": 3, "ranks": [)";
    const auto rank = [](int number, const char* host, int count) {
        return fmt::format(
            R"({{"rank": {}, "host": "{}", "pid": {}, "cuda_dev": 0, "status": {{"init_state": 0, "async_error": 0}}, "collective_counts": {{"AllReduce": {}}}}})",
            number, host, 100 + number, count);
    };
    const std::string tail = R"(, "ras": {"collection_time_sec": 0.1, "timeouts_count": 0}})";
    const std::string silent =
        head + rank(0, "a1", 7) + ", " + rank(1, "a2", 7) +
        R"(], "missing_ranks": [{"rank": 2, "host": "a3", "pid": 102, "status": {"unresponsive": true, "considered_dead": false}}]}])" +
        tail;
    const Judged said = judged({{"ras.json", silent}});
    CHECK(said.host == "a3");
    CHECK(said.text.contains("process 102 on a3 (rank 2) is unresponsive"));
    const std::string apart =
        head + rank(0, "a1", 8) + ", " + rank(1, "a2", 7) + ", " + rank(2, "a3", 8) + "]}]" + tail;
    const Judged moment = judged({{"ras.json", apart}});
    CHECK(moment.party == "undecided");
    CHECK(moment.text.contains("one reading shows no straggler"));
}

TEST_CASE("mlxlink, ports of a switch and inspectors of NCCL are read") {
    const std::string link = "Operational Info\n----------------\nState                           : Active\n"
                             "Physical state                  : LinkUp\nSpeed                           : 100G\n\n"
                             "Physical Counters and BER Info\n------------------------------\n"
                             "Link Down Counter               : 4\nEffective Physical Errors       : 12\n"
                             "Effective Physical BER          : 15E-255\n";
    const Judged said = judged({{"n1.mlxlink", link}});
    CHECK(said.text.contains("Link Down Counter is 4"));
    CHECK(said.text.contains("Effective Physical Errors is 12"));
    const Judged ports = judged(
        {{"leaf1.status", "  Interface        Lanes    Speed    MTU    FEC    Alias    Vlan    Oper    Admin\n"
                          "-----------  -----------  -------  -----  -----  -------  ------  ------  -------\n"
                          "  Ethernet0  0,1,2,3        100G   9100     rs     etp1  routed    down       up\n"
                          "  Ethernet4  4,5,6,7        100G   9100     rs     etp2  routed    down     down\n"}});
    CHECK(ports.text.contains("the port of Ethernet0 is down"));
    CHECK_FALSE(ports.text.contains("Ethernet4 is down"));
    const Case found = dump_of(
        {{"i.log",
          R"({"header": {"id": "0x1", "rank": 3, "n_ranks": 8, "nnodes": 2}, "metadata": {"hostname": "n5", "pid": 7}, "coll_perf": {"coll": "AllReduce", "coll_sn": 4}})"}});
    CHECK(found.files[0].host == "n5");
    CHECK(found.files[0].kinds[0].name == "NCCL inspector");
}

TEST_CASE("a date on a line of its own dates the dump that follows") {
    const auto dump = [](const char* date, int value) {
        return fmt::format("{}\n/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:{}\n", date, value);
    };
    // Names say one order, dates and counters the other.
    const Judged said = judged({{"w.after", dump("Wed Sep 17 14:05:02 CEST 2025", 5)},
                                {"w.before", dump("Wed Sep 17 14:20:07 CEST 2025", 47)}});
    CHECK(said.text.contains("out_of_sequence grew by 42"));
    CHECK(said.text.contains("in the other order"));
    // A counter that fell while the date went on is not swapped.
    const Judged reset =
        judged({{"w.before", dump("2025-09-17T14:05:02Z", 47)}, {"w.after", dump("2025-09-17T14:20:07Z", 5)}});
    CHECK_FALSE(reset.text.contains("in the other order"));
    CHECK_FALSE(reset.text.contains("grew by"));
    // Dates of two zones say nothing of an order.
    const Judged zones = judged({{"w.after", dump("Wed Sep 17 14:05:02 CEST 2025", 5)},
                                 {"w.before", dump("Wed Sep 17 14:20:07 UTC 2025", 47)}});
    CHECK_FALSE(zones.text.contains("grew by"));
}

TEST_CASE("of two archives of one host the first and the last reading are compared") {
    const auto dump = [](int value) {
        return fmt::format("/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:{}\n", value);
    };
    const Judged said = judged({{"qpscope-n1-20260506-100000.tar/n1.hw_counters.before", dump(10)},
                                {"qpscope-n1-20260506-100000.tar/n1.hw_counters.after", dump(12)},
                                {"qpscope-n1-20260507-100000.tar/n1.hw_counters.before", dump(90)},
                                {"qpscope-n1-20260507-100000.tar/n1.hw_counters.after", dump(91)}});
    CHECK(said.text.contains("out_of_sequence grew by 81 (10 to 91)"));
}

TEST_CASE("what is granted bounds what is kept") {
    std::string log;
    for (int i = 0; i < 20'000; ++i)
        log += fmt::format(
            "n{}:1:2 [0] x.cc:1 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129\n", i);
    CaseReader reader(CaseMemory(std::uint64_t{4} << 20U));
    reader.read("a.log", log);
    const Case found = reader.end();
    CHECK(found.events.size() == found.memory.items(CaseShare::events));
    CHECK(found.left_out == 20'000 - found.events.size());
    CHECK(found.quoted <= found.memory.bytes(CaseShare::quotes));
    CaseReader many(CaseMemory(std::uint64_t{1} << 20U));
    for (int i = 0; i < 1000; ++i) many.read(fmt::format("f{}", i), "x\n");
    const Case files = many.end();
    CHECK(files.files.size() == files.memory.items(CaseShare::files));
    CHECK(files.left_out == 1000 - files.files.size());
}
