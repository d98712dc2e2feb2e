// Every program against its counterpart over a simulated link: all there, every byte right, nothing left behind.
#include <tests/support/catch.hpp>
#include <tests/support/program_pair.hpp>
#include <tests/support/sanitized.hpp>

#include <fmt/format.h>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::live;
using qps::tests::kClientAddress;
using qps::tests::kServerAddress;
using qps::tests::kServerAddress6;
using qps::tests::ProgramPair;

namespace {

struct PairRow {
    std::string_view server;
    std::string_view client;
    ProgramRequest serves{};
    ProgramRequest connects{};
    std::uint64_t messages = 0;  // of the client
    std::uint64_t bytes = 0;
};

// Sizes around packets: nothing, a byte, a packet, a byte more, many packets.
std::vector<PairRow> pairs() {
    return {
        {"rping", "rping", {}, {.count = 3}, 3, 192},
        {"rping", "rping", {}, {.count = 5, .size = 1}, 5, 5},
        {"rping", "rping", {}, {.count = 2, .size = 1U << 20}, 2, 2U << 20},
        {"rping", "rping", {}, {.count = 70, .size = 1025, .connections = 4}, 280, 280 * 1025},
        {"echo", "rdma_client", {}, {}, 1, 16},
        {"rdma_server", "rdma_client", {}, {}, 1, 16},
        {"echo", "echo", {}, {.count = 40, .size = 4096}, 40, 40 * 4096},
        {"echo", "echo", {.depth = 2}, {.count = 40, .size = 0, .depth = 16}, 40, 0},
        {"echo", "echo", {.size = 300'000}, {.count = 9, .size = 300'000, .depth = 3}, 9, 2'700'000},
        {"ucmatose", "ucmatose", {}, {}, 20, 2000},
        {"ucmatose",
         "ucmatose",
         {.count = 300, .size = 5000},
         {.count = 300, .size = 5000, .connections = 2},
         1200,
         6'000'000},
        {"ucmatose", "ucmatose", {.count = 0}, {.count = 0}, 0, 0},
        {"sink", "source", {}, {.count = 200, .size = 3000}, 200, 600'000},
        {"sink", "source", {}, {.count = 50, .size = 0}, 50, 0},
        {"sink", "source-write", {}, {.count = 101, .size = 3000, .depth = 8}, 101, 303'000},
        {"sink", "source-write", {.depth = 1}, {.count = 11, .size = 70'000}, 11, 770'000},
        {"sink", "source-imm", {}, {.count = 101, .size = 3000, .connections = 3}, 303, 909'000},
        {"memory", "memory", {}, {.count = 4}, 4, 4 * (3 * 4096 + 16)},
        {"memory", "memory", {.size = 4096}, {.count = 20, .size = 24, .connections = 5}, 100, 100 * (3 * 24 + 16)},
        {"memory", "memory", {.fast_registration = true}, {.count = 4}, 4, 4 * (3 * 4096 + 16)},
        {"memory",
         "memory",
         {.size = 4096, .fast_registration = true},
         {.count = 20, .size = 24, .connections = 5},
         100,
         100 * (3 * 24 + 16)},
        {"rstream", "rstream", {}, {.count = 100, .size = 1000}, 100, 100'016},
        {"rstream", "rstream", {}, {.count = 3, .size = 1'000'000}, 3, 3'000'016},
        {"rstream", "rstream", {}, {.count = 2000, .size = 7}, 2000, 14'016},
        {"riostream", "riostream", {}, {.count = 100, .size = 1000}, 100, 100'000},
        {"riostream", "riostream", {}, {.count = 5, .size = 300'001}, 5, 1'500'005},
        {"riostream", "riostream", {.count = 3}, {.count = 40, .size = 1}, 40, 40},
    };
}

struct Outcome {
    bool through = false;
    ProgramCounts server;
    ProgramCounts client;
    dissect::Instant end{};
    std::vector<std::string> lines;
    std::size_t left_at_server = 0;
    std::size_t left_at_client = 0;
    [[nodiscard]] std::string text() const {
        return fmt::format("{} {} | {} {} {} {} {} | {} {} {} {} {}\n{}", through, static_cast<std::int64_t>(end),
                           server.connections, server.failed, server.messages, server.bytes, server.wrong,
                           client.connections, client.failed, client.messages, client.bytes, client.wrong,
                           fmt::join(lines, "\n"));
    }
};

Outcome play(const PairRow& row, const qps::tests::PairSettings& settings, const Address& to = kServerAddress) {
    ProgramPair pair(settings);
    ProgramRequest connects = row.connects;
    connects.target = to;
    auto server = find_program(row.server)->make(row.serves);
    auto client = find_program(row.client)->make(connects);
    REQUIRE(server);
    REQUIRE(client);
    Outcome outcome;
    outcome.through = pair.run(*server, *client);
    outcome.server = server->counts();
    outcome.client = client->counts();
    outcome.end = pair.now;
    for (std::string& line : server->take_lines()) outcome.lines.push_back("server: " + line);
    for (std::string& line : client->take_lines()) outcome.lines.push_back("client: " + line);
    outcome.left_at_server = ProgramPair::queue_pairs(pair.server);
    outcome.left_at_client = ProgramPair::queue_pairs(pair.client);
    return outcome;
}

void all_is_right(const PairRow& row, const Outcome& outcome) {
    INFO(row.server << " and " << row.client << ", " << row.connects.size.value_or(0) << " bytes\n" << outcome.text());
    CHECK(outcome.through);
    CHECK(outcome.client.connections == row.connects.connections);
    CHECK(outcome.server.connections == row.connects.connections);
    CHECK(outcome.client.failed == 0);
    CHECK(outcome.server.failed == 0);
    CHECK(outcome.client.wrong == 0);
    CHECK(outcome.server.wrong == 0);
    CHECK(outcome.client.messages == row.messages);
    CHECK(outcome.client.bytes == row.bytes);
    CHECK(outcome.left_at_server == 0);
    CHECK(outcome.left_at_client == 0);
}

constexpr LinkFaults kPoor{.loss = 0.03, .duplication = 0.02, .reordering = 0.02, .corruption = 0.01};

}  // namespace

TEST_CASE("every program and its counterpart come to an end with every byte right") {
    for (const PairRow& row : pairs()) all_is_right(row, play(row, {}));
}

TEST_CASE("programs serve IPv6 as well") {
    for (const PairRow& row : pairs())
        if (row.connects.connections == 1 && row.bytes < 100'000) all_is_right(row, play(row, {}, kServerAddress6));
}

TEST_CASE("programs speak RoCEv1 and with every MTU") {
    for (const PairRow& row : pairs()) {
        if (row.connects.connections != 1 || row.bytes > 300'000) continue;
        all_is_right(row, play(row, {.roce_v1 = true}));
        for (const std::size_t mtu : {600U, 2200U, 9000U}) all_is_right(row, play(row, {.faults = kPoor, .mtu = mtu}));
    }
}

TEST_CASE("a poor link changes nothing of what programs say to each other") {
    for (const PairRow& row : pairs())
        for (std::uint64_t seed = 1; seed <= qps::tests::share(3); ++seed) {
            INFO("seed " << seed);
            all_is_right(row, play(row, {.faults = kPoor, .seed = seed}));
        }
}

TEST_CASE("a connection whose RTU was lost was one, though its server never had anything to do") {
    for (const std::uint64_t seed : {57U, 69U, 103U}) {
        const PairRow row{"memory", "memory", {}, {.count = 4}, 4, std::uint64_t{4} * (3 * 4096 + 16)};
        all_is_right(row, play(row, {.faults = kPoor, .seed = seed}));
    }
}

TEST_CASE("the same seed gives the same run of programs") {
    for (const PairRow& row : pairs()) {
        if (row.bytes > 1'000'000) continue;
        const qps::tests::PairSettings settings{.faults = kPoor, .seed = 11};
        CHECK(play(row, settings).text() == play(row, settings).text());
    }
}

TEST_CASE("memory says what was done to it, each operation once however often it was sent") {
    const PairRow row{"memory", "memory", {}, {.count = 4}};
    for (const LinkFaults& faults : {LinkFaults{}, kPoor}) {
        const Outcome outcome = play(row, {.faults = faults, .seed = 3});
        INFO(outcome.text());
        // A ticket, and four rounds of WRITE, READ, COMPARE SWAP, FETCH ADD, READ.
        CHECK(outcome.server.messages == 1 + 4 * 5);
        REQUIRE_FALSE(outcome.lines.empty());
        CHECK(outcome.lines[0].starts_with("server: 192.0.2.2: 8 READ, 4 WRITE, 4 COMPARE SWAP, 5 FETCH ADD; "));
    }
}

TEST_CASE("datagrams go there and back, and those that are lost are said to be") {
    const PairRow row{"udaddy", "udaddy", {}, {.count = 500, .size = 1000}};
    const Outcome whole = play(row, {});
    INFO(whole.text());
    CHECK(whole.through);
    CHECK(whole.client.failed == 0);
    CHECK(whole.client.wrong == 0);
    CHECK(whole.client.messages == 1000);  // sent and back
    CHECK(whole.left_at_client + whole.left_at_server == 0);
    CHECK(play(row, {.roce_v1 = true}).client.failed == 0);
    const Outcome poor = play(row, {.faults = kPoor, .seed = 5});
    INFO(poor.text());
    CHECK(poor.through);
    CHECK(poor.client.connections == 1);
    CHECK(poor.client.failed == 1);
    CHECK(poor.client.wrong == 0);
    CHECK(poor.client.messages > 900);
    CHECK(poor.client.messages < 1000);
}

TEST_CASE("who sends to a multicast group reaches who receives there, over IPv4, IPv6 and RoCEv1") {
    struct Group {
        Address address;
        bool roce_v1;
    };
    const Address ipv6 = ipv6_address(0xff0e'0000'0000'0000, 0x1234);
    for (const Group& row : {Group{ipv4_address(0xef01'0203), false}, Group{ipv6, false},
                             Group{ipv4_address(0xef01'0203), true}, Group{ipv6, true}}) {
        const Address& group = row.address;
        ProgramPair pair({.roce_v1 = row.roce_v1});
        auto receiver = find_program("mckey")->make({.target = group, .count = 30});
        auto sender = find_program("mckey-sender")->make({.target = group, .count = 30, .size = 900});
        REQUIRE(receiver);
        REQUIRE(sender);
        REQUIRE(receiver->begin(pair.server, pair.now));
        REQUIRE(pair.server.adapter().groups().size() == 1);
        // As rdma_cm maps groups to GIDs.
        const Address gid = pair.server.adapter().groups().front();
        CHECK(gid.space == (row.roce_v1 ? AddressSpace::roce_v1 : AddressSpace::roce_v2));
        CHECK(gid.bits[1] == group.bits[1]);
        CHECK(gid.bits[0] == (row.roce_v1 || family_of(group) == Family::ipv6 ? 0xff0e'0000'0000'0000 : 0));
        REQUIRE(sender->begin(pair.client, pair.now));
        for (int i = 0; i < 10'000 && !(receiver->done() && sender->done()); ++i) (void)pair.turn(&*receiver, &*sender);
        CHECK(receiver->done());
        CHECK(sender->done());
        CHECK(receiver->counts().messages == 30);
        CHECK(receiver->counts().bytes == 30 * 900);
        CHECK(receiver->counts().wrong == 0);
        CHECK(ProgramPair::queue_pairs(pair.server) == 0);
        CHECK(pair.server.adapter().groups().empty());
    }
}

TEST_CASE("a server that is told how many clients to serve ends with the last, and refuses more") {
    ProgramPair pair({});
    auto server = find_program("echo")->make({.clients = 2});
    auto client = find_program("rdma_client")->make({.target = kServerAddress, .connections = 3});
    REQUIRE(server);
    REQUIRE(client);
    REQUIRE(server->begin(pair.server, pair.now));
    REQUIRE(client->begin(pair.client, pair.now));
    for (int i = 0; i < 100'000 && !(server->done() && client->done()); ++i) (void)pair.turn(&*server, &*client);
    CHECK(server->done());
    CHECK(client->done());
    CHECK(server->counts().connections == 2);
    CHECK(client->counts().connections == 2);
    CHECK(client->counts().failed == 1);
}

TEST_CASE("clients say why there is no connection") {
    ProgramPair pair({});
    auto client = find_program("rping")->make({.target = kServerAddress, .count = 1});
    REQUIRE(client);
    REQUIRE(client->begin(pair.client, pair.now));
    for (int i = 0; i < 100'000 && !client->done(); ++i) (void)pair.turn(nullptr, &*client);
    CHECK(client->done());
    CHECK(client->counts().failed == 1);
    const auto lines = client->take_lines();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0] == "192.0.2.1: the peer rejected the connection, reason 8");  // no such service
}

TEST_CASE("requests that no program can do are refused in a sentence") {
    const ProgramRequest to{.target = kServerAddress};
    const auto with = [&](auto change) {
        ProgramRequest request = to;
        change(request);
        return request;
    };
    CHECK_FALSE(find_program("rping")->make(with([](auto& r) { r.size = (1U << 20) + 1; })));
    CHECK_FALSE(find_program("rping")->make(with([](auto& r) { r.size = 0; })));
    CHECK_FALSE(find_program("echo")->make(with([](auto& r) { r.depth = 0; })));
    CHECK_FALSE(find_program("echo")->make(with([](auto& r) { r.depth = 100'000; })));
    CHECK_FALSE(find_program("echo")->make(with([](auto& r) { r.connections = 5000; })));
    CHECK_FALSE(find_program("source")->make(with([](auto& r) { r.count = 0; })));
    CHECK_FALSE(find_program("udaddy")->make(with([](auto& r) { r.size = 5000; })));
    CHECK_FALSE(find_program("mckey")->make(to));
    CHECK_FALSE(find_program("memory")->make(with([](auto& r) { r.size = 4; })));
    CHECK(find_program("no-such") == nullptr);
    for (const ProgramRow& row : programs()) {
        CHECK(find_program(row.name) == &row);
        CHECK((row.serves || row.connects));
    }
}
