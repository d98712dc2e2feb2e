// Programs that exchange their queue pairs over TCP, against each other: TCP over the loopback, RDMA over a simulated
// link.
#include <tests/support/catch.hpp>
#include <tests/support/program_pair.hpp>
#include <transport-replay/live/exchange/exchange_connection.hpp>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/in.h>
#include <sys/socket.h>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::live;
using dissect::Service;
using qps::tests::kServerAddress;
using qps::tests::kServerAddress6;
using qps::tests::PairSettings;
using qps::tests::ProgramPair;

namespace {

struct Row {
    std::string_view name;
    ProgramRequest server{};
    ProgramRequest client{};
    std::uint64_t client_messages = 0;
    std::uint64_t server_messages = 0;
    std::uint64_t size = 0;  // bytes of a message
};

ProgramRequest with(ExchangeOptions options, ProgramRequest request = {}) {
    request.exchange = std::move(options);
    return request;
}

struct Outcome {
    bool through = false;
    ProgramCounts server;
    ProgramCounts client;
    std::vector<std::string> lines;
    std::size_t left = 0;
    [[nodiscard]] std::string text() const {
        return fmt::format("{} | {} {} {} {} {} | {} {} {} {} {}\n{}", through, server.connections, server.failed,
                           server.messages, server.bytes, server.wrong, client.connections, client.failed,
                           client.messages, client.bytes, client.wrong, fmt::join(lines, "\n"));
    }
};

// A port of the loopback that nobody has.
IpPort free_port() {
    const auto listener = ExchangeListener::open("127.0.0.1", 0);
    REQUIRE(listener);
    return IpPort{listener->port()};
}

Outcome play(const Row& row, const PairSettings& settings = {}, const Address& to = kServerAddress) {
    ProgramPair pair(settings);
    const IpPort port = free_port();
    ProgramRequest serves = row.server;
    ProgramRequest connects = row.client;
    serves.exchange.tcp = connects.exchange.tcp = "127.0.0.1";
    serves.port = connects.port = port;
    serves.clients = 1;
    connects.target = to;
    auto server = find_program(row.name)->make(serves);
    auto client = find_program(row.name)->make(connects);
    INFO(row.name);
    REQUIRE(server);
    REQUIRE(client);
    Outcome outcome;
    outcome.through = pair.run(*server, *client);
    outcome.server = server->counts();
    outcome.client = client->counts();
    for (std::string& line : server->take_lines()) outcome.lines.push_back("server: " + line);
    for (std::string& line : client->take_lines()) outcome.lines.push_back("client: " + line);
    outcome.left = ProgramPair::queue_pairs(pair.server) + ProgramPair::queue_pairs(pair.client);
    return outcome;
}

void all_is_right(const Row& row, const Outcome& outcome) {
    INFO(row.name << ", " << row.size << " bytes\n" << outcome.text());
    CHECK(outcome.through);
    CHECK(outcome.client.connections == 1);
    CHECK(outcome.server.connections == 1);
    CHECK(outcome.client.failed == 0);
    CHECK(outcome.server.failed == 0);
    CHECK(outcome.client.wrong == 0);
    CHECK(outcome.server.wrong == 0);
    CHECK(outcome.client.messages == row.client_messages);
    CHECK(outcome.client.bytes == row.client_messages * row.size);
    CHECK(outcome.server.messages == row.server_messages);
    CHECK(outcome.server.bytes == row.server_messages * row.size);
    CHECK(outcome.left == 0);
}

std::vector<Row> pingpongs() {
    return {
        {"ibv_rc_pingpong", {}, {}, 2000, 2000, 4096},
        {"ibv_rc_pingpong", {.count = 7, .size = 1}, {.count = 7, .size = 1}, 14, 14, 1},
        {"ibv_rc_pingpong", {.size = 70'001}, {.count = 3, .size = 70'001}, 6, 6, 70'001},  // the server is not told
                                                                                            // how many
        {"ibv_uc_pingpong", {}, {.count = 10}, 20, 20, 4096},
        {"ibv_ud_pingpong", {.size = 1024}, {.count = 10, .size = 1024}, 20, 20, 1024},
        {"ibv_srq_pingpong", with({.queue_pairs = 1}), with({.queue_pairs = 16}, {.count = 9}), 18, 18,
         4096},  // what both have
        {"ibv_xsrq_pingpong", {}, {}, 10, 10, 4096},
        {"ibv_xsrq_pingpong", {.count = 300, .size = 70'001}, {.count = 300, .size = 70'001}, 600, 600, 70'001},
    };
}

std::vector<Row> perftests() {
    const ExchangeOptions uc{.service = Service::uc};
    const ExchangeOptions ud{.service = Service::ud};
    const ExchangeOptions both{.queue_pairs = 3, .both_ways = true};
    return {
        {"ib_send_bw", {}, {.count = 40}, 40, 40, 65'536},
        {"ib_send_bw", {.size = 1}, {.count = 40, .size = 1}, 40, 40, 1},
        {"ib_send_bw", with({.queue_pairs = 4}, {.count = 10, .size = 1025}),
         with({.queue_pairs = 4}, {.count = 10, .size = 1025}), 40, 40, 1025},
        {"ib_send_bw", with(uc), with(uc, {.count = 20}), 20, 20, 65'536},
        {"ib_send_bw", with(ud, {.size = 256}), with(ud, {.count = 20, .size = 256}), 20, 20, 256},
        {"ib_send_bw", with(both, {.count = 20, .size = 5000}), with(both, {.count = 20, .size = 5000}), 120, 120,
         5000},
        {"ib_send_lat", {}, {.count = 50}, 100, 100, 2},
        {"ib_send_lat", {.count = 50, .size = 65'536}, {.count = 50, .size = 65'536}, 100, 100, 65'536},
        {"ib_send_lat", with(uc), with(uc, {.count = 50}), 100, 100, 2},
        {"ib_send_lat", with(ud, {.size = 64}), with(ud, {.count = 50, .size = 64}), 100, 100, 64},
        {"ib_send_bw", with(uc), with({.service = Service::uc, .gap = microseconds(700)}, {.count = 20}), 20, 20,
         65'536},
        {"ib_write_bw", {}, {.count = 40}, 40, 40, 65'536},
        {"ib_write_bw", with(uc, {.size = 333}), with(uc, {.count = 40, .size = 333}), 40, 40, 333},
        {"ib_write_bw", with(both, {.count = 20, .size = 5000}), with(both, {.count = 20, .size = 5000}), 60, 60, 5000},
        {"ib_write_lat", {.count = 300}, {.count = 300}, 600, 600, 2},
        {"ib_write_lat", with(uc, {.count = 30, .size = 9001}), with(uc, {.count = 30, .size = 9001}), 60, 60, 9001},
        {"ib_read_bw", {}, {.count = 40}, 40, 40, 65'536},
        {"ib_read_bw", with(both, {.count = 20, .size = 5000}), with(both, {.count = 20, .size = 5000}), 60, 60, 5000},
        {"ib_read_lat", {.size = 7}, {.count = 40, .size = 7}, 40, 0, 7},
        {"ib_atomic_bw", {}, {.count = 40}, 40, 40, 8},
        {"ib_atomic_bw", with(both, {.count = 20}), with(both, {.count = 20}), 60, 60, 8},
        {"ib_atomic_lat", {}, {.count = 40}, 40, 0, 8},
        {"ib_atomic_lat", with({.compare_swap = true}), with({.compare_swap = true}, {.count = 40}), 40, 0, 8},
    };
}

}  // namespace

TEST_CASE("pingpongs over TCP and a simulated link come to an end with every byte right") {
    for (const Row& row : pingpongs()) all_is_right(row, play(row));
}

TEST_CASE("several queue pairs of ibv_srq_pingpong ping, each by itself") {
    const ProgramRequest request{.count = 100};
    const Outcome outcome = play({"ibv_srq_pingpong", request, request});
    INFO(outcome.text());
    CHECK(outcome.through);
    CHECK(outcome.client.failed + outcome.server.failed == 0);
    CHECK(outcome.client.wrong + outcome.server.wrong == 0);
    CHECK(outcome.client.messages >= 200);  // so many went and came on all of them; some are under way still
    CHECK(outcome.left == 0);
}

TEST_CASE("programs of perftest come to an end with every byte right") {
    for (const Row& row : perftests()) all_is_right(row, play(row));
}

TEST_CASE("a poor link changes nothing for reliable exchanged programs") {
    constexpr LinkFaults kPoor{.loss = 0.03, .duplication = 0.02, .reordering = 0.02, .corruption = 0.01};
    const auto reliable = [](const Row& row) {
        return row.client.exchange.service.value_or(Service::rc) == Service::rc;
    };
    for (const Row& row : perftests())
        if (reliable(row)) all_is_right(row, play(row, {.faults = kPoor, .seed = 5}));
    all_is_right(pingpongs()[1], play(pingpongs()[1], {.faults = kPoor, .seed = 5}));
}

TEST_CASE("exchanged programs run over IPv6") {
    // A server is at the first of its addresses, so the kinds differ: that is said, not hung upon.
    const Outcome outcome = play({"ibv_rc_pingpong", {}, {.count = 3}}, {}, kServerAddress6);
    INFO(outcome.text());
    CHECK(outcome.through);
    CHECK(outcome.server.failed == 1);
    CHECK(outcome.text().find("are of different families") != std::string::npos);
}

TEST_CASE("all sizes of perftest, one after another") {
    const ProgramRequest request = with({.all_sizes = true}, {.count = 2});
    const ProgramRequest datagrams =
        with({.mtu = PathMtu::bytes_256, .service = Service::ud, .all_sizes = true}, {.count = 2});
    for (const auto& [name, asked, sizes] :
         {std::tuple{"ib_send_lat", datagrams, 8}, {"ib_send_bw", datagrams, 8}, {"ib_write_lat", request, 23}}) {
        const Outcome outcome = play({name, asked, asked});
        INFO(name << "\n" << outcome.text());
        CHECK(outcome.through);
        CHECK(outcome.client.failed + outcome.server.failed == 0);
        CHECK(outcome.client.wrong + outcome.server.wrong == 0);
        CHECK(std::ranges::count_if(outcome.lines,
                                    [](const std::string& line) { return line.starts_with("client"); }) == sizes);
    }
}

TEST_CASE("perftest for a duration ends by the clock") {
    for (const std::string_view name :
         {"ib_send_bw", "ib_send_lat", "ib_write_bw", "ib_write_lat", "ib_read_bw", "ib_atomic_lat"}) {
        const ProgramRequest request =
            with({.duration = microseconds(3000)}, {.size = name.starts_with("ib_atomic") ? 8 : 64});
        const Outcome outcome = play({name, request, request});
        INFO(name << "\n" << outcome.text());
        CHECK(outcome.through);
        CHECK(outcome.client.failed + outcome.server.failed == 0);
        CHECK(outcome.client.wrong + outcome.server.wrong == 0);
        CHECK(outcome.client.messages > 10);
    }
}

TEST_CASE("who was given other options than the peer is told so") {
    const Outcome sizes = play({"ibv_rc_pingpong", {.size = 100}, {.count = 3, .size = 50}});
    INFO(sizes.text());
    CHECK(sizes.through);
    CHECK(sizes.server.failed == 1);
    CHECK(sizes.text().find("sends messages of 50 bytes, expected 100 (option -s)") != std::string::npos);
    const Outcome pairs = play({"ib_send_bw", with({.queue_pairs = 2}), with({.queue_pairs = 1}, {.count = 3})});
    INFO(pairs.text());
    CHECK(pairs.through);
    CHECK(pairs.server.failed + pairs.client.failed >= 1);
}

TEST_CASE("lost datagrams of a pingpong are said to be") {
    const Outcome outcome =
        play({"ibv_ud_pingpong", {.size = 64}, {.count = 1000, .size = 64}}, {.faults = {.loss = 0.1}, .seed = 3});
    INFO(outcome.text());
    CHECK(outcome.through);
    CHECK(outcome.client.failed == 1);
    CHECK(outcome.text().find("no more messages") != std::string::npos);
}

TEST_CASE("what exchanged programs cannot be asked for is refused") {
    const auto refused = [](std::string_view name, const ProgramRequest& request) {
        const auto made = find_program(name)->make(request);
        return made ? std::string("made") : made.error();
    };
    CHECK(refused("ib_write_bw", with({.service = Service::ud})) == "ib_write_bw does not work over UD");
    CHECK(refused("ib_send_bw", with({.duration = microseconds(5)}, {.count = 5})) ==
          "--count and --duration exclude each other");
    CHECK(refused("ib_send_bw", with({.compare_swap = true})) == "--compare-swap applies to ib_atomic_* only");
    CHECK(refused("ibv_rc_pingpong", with({.both_ways = true})) ==
          "ibv_*_pingpong programs have one service, one size and a number of messages");
    CHECK(refused("ibv_rc_pingpong", with({.queue_pairs = 2})) == "it uses at most 1 queue pair");
    CHECK(refused("ib_read_lat", {.size = 0}).find("invalid size 0") == 0);
}

TEST_CASE("strangers on TCP end their own exchange and nobody else's") {
    ProgramPair pair({});
    ProgramRequest serves{.port = free_port(), .clients = 3};
    serves.exchange.tcp = "127.0.0.1";
    auto server = find_program("ibv_rc_pingpong")->make(serves);
    REQUIRE(server);
    REQUIRE(server->begin(pair.server, pair.now));
    const auto connect = [&] { return ExchangeConnection::connect("127.0.0.1", std::to_underlying(*serves.port)); };
    auto silent = connect();
    auto rude = connect();
    auto liar = connect();  // its address is no host's
    REQUIRE((silent && rude && liar));
    struct Says {  // a session that says one thing
        std::string text;
        void process(dissect::Bytes /*heard*/) {}
        void closed() {}
        std::vector<std::byte> take_output() {
            const dissect::Bytes bytes = std::as_bytes(std::span(text));
            std::vector<std::byte> message(bytes.begin(), bytes.end());
            text.clear();
            return message;
        }
        [[nodiscard]] static Awaits awaits() { return Awaits::bytes; }
    };
    Says nonsense{"GET / HTTP/1.1 and so on and so on and so on until 52"};
    Says group{std::string("0000:000012:1a5136:00000000000000000000ffffe0000001") + '\0'};
    std::vector<std::string> lines;
    for (int i = 0; i < 400 && !server->done(); ++i) {
        rude->drive(nonsense);
        liar->drive(group);
        pair.turn(&*server, nullptr);
        for (std::string& line : server->take_lines()) lines.push_back(std::move(line));
    }
    INFO(fmt::format("{}", fmt::join(lines, "\n")));
    CHECK(server->done());
    CHECK(server->counts().failed == 3);
    CHECK(server->counts().connections == 0);
    const auto said = [&](std::string_view what) {
        return std::ranges::any_of(lines,
                                   [&](const std::string& line) { return line.find(what) != std::string::npos; });
    };
    CHECK(said("is not in the format of ibv_*_pingpong"));
    CHECK(said("224.0.0.1 is not a valid peer address"));
    CHECK(said("it does not announce its queue pairs"));
    CHECK(ProgramPair::queue_pairs(pair.server) == 0);
}

TEST_CASE("silent connections of one address leave a server of exchanges open to others") {
    constexpr std::size_t kSessions = 64;
    ProgramPair pair({});
    ProgramRequest serves{.port = free_port()};
    serves.exchange.tcp = "127.0.0.1";
    auto server = find_program("ibv_rc_pingpong")->make(serves);
    REQUIRE(server);
    REQUIRE(server->begin(pair.server, pair.now));
    // From one of the addresses of the loopback.
    const auto connect = [&](std::uint32_t from) {
        OwnedDescriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in name{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(from)}, .sin_zero = {}};
        REQUIRE(bind(made.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
        name.sin_port = htons(std::to_underlying(*serves.port));
        name.sin_addr = {htonl(INADDR_LOOPBACK)};
        REQUIRE(::connect(made.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
        return made;
    };
    const auto closed = [](const OwnedDescriptor& one) {
        char byte = 0;
        const ssize_t got = recv(one.get(), &byte, 1, MSG_DONTWAIT);
        return got == 0 || (got < 0 && errno == ECONNRESET);
    };
    std::vector<OwnedDescriptor> silent;
    constexpr std::size_t kMore = 50;  // that wait to be accepted
    for (std::size_t i = 0; i < kSessions + kMore; ++i) silent.push_back(connect(INADDR_LOOPBACK));
    const auto gone = [&] { return static_cast<std::size_t>(std::ranges::count_if(silent, closed)); };
    for (int i = 0; i < 10; ++i) server->poll(pair.server, pair.now);
    const OwnedDescriptor other = connect(INADDR_LOOPBACK + 1);
    for (int i = 0; i < 10; ++i) server->poll(pair.server, pair.now);
    CHECK(gone() == 0);  // they have just come, and all others wait
    pair.now = pair.now + microseconds(1'500'000);
    for (int i = 0; i < 10; ++i) server->poll(pair.server, pair.now);
    CHECK(gone() == kMore + 1);  // one for the other address; those that waited before it had more than their share
    CHECK_FALSE(closed(other));
    CHECK(server->counts().failed == 1);
    const auto lines = server->take_lines();
    REQUIRE(lines.size() == 1);
    CHECK(lines.front() == "127.0.0.1: silent: makes room for another client");
    server->stop(pair.server, pair.now);
    CHECK(ProgramPair::queue_pairs(pair.server) == 0);
}
