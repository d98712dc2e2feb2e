// Pingpong's rows over sockets of the system: RDMA over a simulated link, TCP and UDP over the loopback, in real time;
// and strangers.
#include <tests/support/catch.hpp>
#include <tests/support/program_pair.hpp>
#include <transport-replay/live/pingpong/door.hpp>
#include <transport-replay/live/pingpong/pingpong.hpp>
#include <transport-replay/live/pingpong/socket_row.hpp>

#include <chrono>
#include <functional>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::transport::live::pingpong;
using qps::tests::kServerAddress;
using qps::tests::ProgramPair;

namespace {

// An address of the loopback that no other process of these tests has, so that ports are free.
std::string own_loopback(unsigned last) {
    const auto process = static_cast<unsigned>(::getpid());
    return fmt::format("127.{}.{}.{}", 64 + (process >> 8 & 0x3f), process & 0xff, last);
}

constexpr std::uint64_t kToken = 0x0102'0304'0506'0708;
constexpr std::uint16_t kPort = 7474;

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

struct Socketed {
    bool through = false;
    std::vector<PingpongRow> rows;
    std::vector<PingpongLeftOut> left_out;
    std::vector<std::string> server_lines;
    ProgramCounts server;
    ProgramCounts client;
};

// Both ends in turns, with the time of this machine; `meanwhile` happens at every turn.
Socketed play_over_sockets(PingpongSettings settings, const std::function<void()>& meanwhile = {}) {
    ProgramPair pair({});
    Socketed played;
    std::uint64_t draws = 0;
    settings.sockets.draw = [&draws] { return kToken + draws++; };
    const auto start = pair.now;
    const std::int64_t began = now_ns();
    settings.clock = [start, began] { return start + dissect::Duration{now_ns() - began}; };
    settings.on_row = [&](const PingpongRow& row) { played.rows.push_back(row); };
    settings.on_left_out = [&](const PingpongLeftOut& row) { played.left_out.push_back(row); };
    PingpongSettings serves = settings;
    serves.request.clients = 1;
    serves.sockets.addresses = {own_loopback(1)};
    settings.request.target = kServerAddress;
    settings.sockets.addresses = {own_loopback(2)};
    if (settings.sockets.server.empty()) settings.sockets.server = own_loopback(1);
    auto server = make_pingpong(serves);
    auto client = make_pingpong(settings);
    REQUIRE(server);
    REQUIRE(client);
    REQUIRE(server->begin(pair.server, pair.now));
    REQUIRE(client->begin(pair.client, pair.now));
    constexpr std::int64_t kMost = 60'000'000'000;
    while (!(server->done() && client->done()) && now_ns() - began < kMost) {
        pair.now = start + dissect::Duration{now_ns() - began};
        pair.server.poll(pair.now);
        server->poll(pair.server, pair.now);
        pair.client.poll(pair.now);
        client->poll(pair.client, pair.now);
        if (meanwhile) meanwhile();
        for (const std::string& line : server->take_lines()) played.server_lines.push_back(line);
    }
    played.through = server->done() && client->done();
    played.server = server->counts();
    played.client = client->counts();
    return played;
}

PingpongSettings over_sockets_alone(std::uint64_t rounds, std::uint32_t depth) {
    PingpongSettings settings;
    settings.request.count = rounds;
    settings.request.depth = depth;
    settings.modes = {6, 7, 8, 9, 11};
    return settings;
}

KernelSocket caller(SocketKind kind, unsigned from = 3) {
    auto socket = KernelSocket::call(kind, {.from = own_loopback(from), .to = own_loopback(1), .port = kPort});
    REQUIRE(socket);
    return std::move(*socket);
}

// What comes within a second; or the end of it.
Moved await(KernelSocket& socket, dissect::MutableBytes room, const std::function<void()>& meanwhile) {
    const std::int64_t until = now_ns() + 1'000'000'000;
    for (;;) {
        meanwhile();
        const Moved moved = socket.receive(room);
        if (moved.bytes > 0 || moved.ended || moved.error != 0 || now_ns() > until) return moved;
    }
}

Door opened_door(std::span<const std::string> addresses) {
    std::vector<std::string> complaints;
    Door door = Door::open(addresses, kPort, complaints);
    CHECK(complaints.empty());
    REQUIRE(door.listens());
    return door;
}

}  // namespace

TEST_CASE("pingpong over TCP and UDP: every row of every size, in both directions and one way") {
    PingpongSettings settings = over_sockets_alone(60, GENERATE(1U, 5U));
    settings.modes = {0, 6, 7, 8, 9, 10, 11};
    settings.sizes = {1, 8, 1000, 40'000};
    const Socketed played = play_over_sockets(settings);
    for (const std::string& line : played.server_lines) UNSCOPED_INFO(line);
    REQUIRE(played.through);
    CHECK(played.left_out.empty());
    CHECK(played.client.wrong + played.client.failed + played.server.failed == 0);
    REQUIRE(played.rows.size() == 28);
    for (const PingpongRow& row : played.rows) {
        INFO(kPingpongModes[row.mode].name << " of " << row.size);
        CHECK(row.round_trips + row.lost == 60);
        CHECK((row.bits_per_second() > 0) == pours(kPingpongModes[row.mode].way));
        if (over_tcp(kPingpongModes[row.mode].way)) CHECK(row.lost == 0);
    }
}

TEST_CASE("pingpong over TCP and UDP: what cannot be sent so is left out") {
    PingpongSettings settings = over_sockets_alone(5, 1);
    settings.sizes = {0, 70'000};
    const Socketed played = play_over_sockets(settings);
    REQUIRE(played.through);
    CHECK(played.client.failed == 0);
    std::vector<std::string> left_out;
    for (const PingpongLeftOut& row : played.left_out)
        left_out.push_back(fmt::format("{} {}", kPingpongModes[row.mode].name, row.size));
    CHECK(left_out ==
          std::vector<std::string>{"tcp-poll 0", "tcp-notify 0", "tcp-stream 0", "udp-poll 70000", "udp-notify 70000"});
    CHECK(played.rows.size() == 5);
}

TEST_CASE("pingpong: a server that no socket reaches costs the rows over sockets, and no more") {
    PingpongSettings settings = over_sockets_alone(5, 1);
    settings.modes = {6, 8, 11, 0};
    settings.sockets.server = own_loopback(9);  // nobody
    const Socketed played = play_over_sockets(settings);
    REQUIRE(played.through);
    CHECK(played.client.failed + played.server.failed == 0);
    REQUIRE(played.rows.size() == 1);
    REQUIRE(played.left_out.size() == 3);
    CHECK_THAT(played.left_out[0].why,
               Catch::Matchers::Contains("TCP port 7474 of " + own_loopback(9) + ": Connection refused"));
    CHECK_THAT(played.left_out[1].why, Catch::Matchers::Contains("UDP port 7474 of " + own_loopback(9)));
}

TEST_CASE("pingpong: a port that is taken costs the rows over sockets, and no more") {
    const auto taken = ExchangeListener::open(own_loopback(1), kPort);
    REQUIRE(taken);
    PingpongSettings settings = over_sockets_alone(5, 1);
    settings.modes = {6, 8, 0};
    const Socketed played = play_over_sockets(settings);
    REQUIRE(played.through);
    CHECK(played.client.failed + played.server.failed == 0);
    CHECK(played.rows.size() == 1);
    REQUIRE(played.left_out.size() == 2);
    CHECK_THAT(played.left_out[0].why, Catch::Matchers::Contains("could not listen"));
    REQUIRE_FALSE(played.server_lines.empty());
    CHECK_THAT(played.server_lines[0], Catch::Matchers::Contains("TCP and UDP are not served"));
}

TEST_CASE("pingpong: strangers at the door change nothing of what is measured") {
    std::vector<KernelSocket> strangers;
    std::uint64_t turns = 0;
    PingpongSettings settings = over_sockets_alone(200, 2);
    settings.sizes = {100};
    const Socketed played = play_over_sockets(settings, [&] {
        if (++turns % 10 != 0 || strangers.size() >= 300) return;
        auto socket = KernelSocket::call(turns % 20 == 0 ? SocketKind::tcp : SocketKind::udp,
                                         {.from = own_loopback(3), .to = own_loopback(1), .port = kPort});
        if (!socket) return;
        const Greeting wrong = greeting_of(turns);
        (void)socket->send(dissect::Bytes(wrong).first(turns % 40 == 0 ? 7 : kGreeting));
        strangers.push_back(std::move(*socket));
    });
    REQUIRE(played.through);
    CHECK(strangers.size() > 10);
    CHECK(played.client.wrong + played.client.failed + played.server.failed == 0);
    CHECK(played.rows.size() == 5);
    std::array<std::byte, 32> room{};
    for (KernelSocket& stranger : strangers) CHECK(stranger.receive(room).bytes == 0);
}

TEST_CASE("the door: who knows the token comes in, and nobody else") {
    const std::array addresses{own_loopback(1)};
    Door door = opened_door(addresses);
    dissect::Instant now{1};
    const auto look = [&] { door.look(now); };
    std::array<std::byte, 64> room{};
    door.expect(kToken);

    KernelSocket right = caller(SocketKind::tcp);
    const Greeting greeting = greeting_of(kToken);
    REQUIRE(right.send(dissect::Bytes(greeting).first(5)).bytes == 5);
    look();
    CHECK_FALSE(door.take_stream(kToken).is_open());
    REQUIRE(right.send(dissect::Bytes(greeting).subspan(5)).bytes == 11);
    CHECK(await(right, room, look).bytes == kGreeting);
    CHECK(read_greeting(dissect::Bytes(room).first(kGreeting)) == kToken);
    CHECK(door.take_stream(kToken).is_open());
    CHECK_FALSE(door.take_stream(kToken).is_open());  // once

    KernelSocket wrong = caller(SocketKind::tcp);
    const Greeting others = greeting_of(kToken + 1);
    REQUIRE(wrong.send(others).bytes == kGreeting);
    const Moved ended = await(wrong, room, look);
    CHECK((ended.ended || ended.error != 0));

    KernelSocket silent = caller(SocketKind::tcp);
    const std::int64_t until = now_ns() + 1'000'000'000;
    while (door.callers().empty() && now_ns() < until) look();
    CHECK(door.callers().size() == 1);
    CHECK(door.due() == now + kGreetingPatience);
    now = now + kGreetingPatience;
    CHECK(await(silent, room, look).ended);
    CHECK(door.callers().empty());

    door.forget(kToken);
    KernelSocket late = caller(SocketKind::tcp);
    REQUIRE(late.send(greeting).bytes == kGreeting);
    const Moved refused = await(late, room, look);
    CHECK((refused.ended || refused.error != 0));
}

TEST_CASE("the door: many who say nothing make room for the next") {
    const std::array addresses{own_loopback(1)};
    Door door = opened_door(addresses);
    door.expect(kToken);
    const auto look = [&] { door.look(dissect::Instant{1}); };
    std::vector<KernelSocket> silent;
    for (std::size_t i = 0; i < 3 * kMostCallers; ++i) {
        silent.push_back(caller(SocketKind::tcp));
        look();
    }
    CHECK(door.callers().size() <= kMostCallers);
    KernelSocket right = caller(SocketKind::tcp);
    REQUIRE(right.send(greeting_of(kToken)).bytes == kGreeting);
    std::array<std::byte, 64> room{};
    CHECK(await(right, room, look).bytes == kGreeting);
    CHECK(await(silent.front(), room, look).ended);
}

TEST_CASE("the door: where no descriptor is left, callers wait and wake nobody") {
    const std::array addresses{own_loopback(1)};
    Door door = opened_door(addresses);
    door.expect(kToken);
    dissect::Instant now{1};
    KernelSocket right = caller(SocketKind::tcp);
    REQUIRE(right.send(greeting_of(kToken)).bytes == kGreeting);
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const int next = dup(right.descriptor());  // the first number that is free: no lower one is
    REQUIRE(next >= 0);
    REQUIRE(::close(next) == 0);
    const rlimit few{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
    const std::int64_t until = now_ns() + 1'000'000'000;
    while (!door.due() && now_ns() < until) door.look(now);
    const auto listeners = door.listeners();
    const auto due = door.due();
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(listeners.empty());
    CHECK(due == now + kRest);
    std::array<std::byte, 64> room{};
    door.look(now);
    CHECK(door.callers().empty());  // it rests still
    now = now + kRest;
    CHECK(await(right, room, [&] { door.look(now); }).bytes == kGreeting);
    CHECK(door.listeners().size() == 1);
}

TEST_CASE("the door: datagrams go back to who greeted, as they came") {
    const std::array addresses{own_loopback(1)};
    Door door = opened_door(addresses);
    door.expect(kToken);
    const auto look = [&] { door.look(dissect::Instant{1}); };
    std::array<std::byte, 2000> room{};
    std::array<std::byte, 1500> datagram{};
    datagram.fill(std::byte{7});

    KernelSocket stranger = caller(SocketKind::udp);
    KernelSocket right = caller(SocketKind::udp);
    REQUIRE(right.send(greeting_of(kToken)).bytes == kGreeting);
    CHECK(await(right, room, look).bytes == kGreeting);
    REQUIRE(stranger.send(datagram).bytes == datagram.size());
    REQUIRE(stranger.send(greeting_of(kToken + 1)).bytes == kGreeting);
    REQUIRE(right.send(datagram).bytes == datagram.size());
    CHECK(await(right, room, look).bytes == datagram.size());
    CHECK(std::ranges::equal(datagram, std::span(room).first(datagram.size())));
    look();
    CHECK(stranger.receive(room).bytes == 0);

    door.forget(kToken);
    REQUIRE(right.send(datagram).bytes == datagram.size());
    look();
    CHECK(right.receive(room).bytes == 0);
}

TEST_CASE("the door: an address that nobody has costs that one alone") {
    const std::array addresses{own_loopback(1), std::string("192.0.2.77"), std::string("no address")};
    std::vector<std::string> complaints;
    const Door door = Door::open(addresses, kPort, complaints);
    CHECK(door.listens());
    CHECK(door.listeners().size() == 1);
    CHECK(door.datagrams().size() == 1);
    REQUIRE(complaints.size() == 2);
    CHECK_THAT(complaints[0], Catch::Matchers::StartsWith("192.0.2.77: cannot listen on port 7474"));
}

TEST_CASE("a caller: a greeting is said again by UDP, and nobody there ends it") {
    Caller alone;
    const Call call{.from = own_loopback(3), .to = own_loopback(8), .port = kPort};
    // Somebody who hears, and does not answer.
    auto deaf = KernelSocket::bind_datagrams(own_loopback(8), kPort);
    REQUIRE(deaf);
    dissect::Instant now{5};
    alone.begin(SocketKind::udp, call, kToken, now);
    std::size_t greetings = 0;
    std::array<std::byte, 64> room{};
    for (std::size_t turn = 0; turn < 100 && alone.state() == Caller::State::calling; ++turn) {
        alone.poll(now);
        while (deaf->receive(room).bytes == kGreeting) ++greetings;
        REQUIRE((alone.state() != Caller::State::calling || alone.due()));
        if (alone.due()) now = *alone.due();
    }
    CHECK(alone.state() == Caller::State::failed);
    CHECK(greetings == 16);  // 3 s, every 200 ms
    CHECK(alone.why() == fmt::format("UDP port 7474 of {}: no answer", own_loopback(8)));
}

TEST_CASE("a number in a message: in as many bytes as there are") {
    for (const std::size_t size : {0U, 1U, 2U, 7U, 8U, 64U}) {
        std::vector<std::byte> message(size);
        for (const std::uint64_t number : {0ULL, 5ULL, 255ULL, 256ULL, 70'000ULL}) {
            write_number(message, number);
            CHECK(number_of(message, number) == number);
            if (size > 0 && number >= 3) CHECK(number_of(message, number - 3) == number);
        }
    }
}

TEST_CASE("a row of datagrams: what comes twice, late, or with another number is nothing") {
    auto there = KernelSocket::bind_datagrams(own_loopback(8), kPort);
    REQUIRE(there);
    auto here = KernelSocket::call(SocketKind::udp, {.from = own_loopback(3), .to = own_loopback(8), .port = kPort});
    REQUIRE(here);
    std::vector<std::byte> memory(3 * 16);
    const Pieces pieces{.bytes = memory, .stride = 16, .slots = 3, .size = 16};
    SocketRow row;
    row.begin(3);
    std::uint64_t returned = 0;
    std::vector<std::uint64_t> taken;
    for (std::uint64_t number = 0; number < 3; ++number) {
        write_number(pieces.of(number), number);
        REQUIRE(row.send_datagram(*here, static_cast<std::uint32_t>(number), pieces.of(number)));
    }
    sockaddr_storage name{};
    socklen_t length = sizeof name;
    std::array<std::byte, 64> room{};
    REQUIRE(recvfrom(there->descriptor(), room.data(), room.size(), 0, reinterpret_cast<sockaddr*>(&name), &length) ==
            16);
    const auto answer = [&](std::uint64_t number, std::size_t size = 16) {
        std::vector<std::byte> message(size);
        write_number(message, number);
        REQUIRE(sendto(there->descriptor(), message.data(), size, 0, reinterpret_cast<sockaddr*>(&name), length) ==
                static_cast<ssize_t>(size));
    };
    const auto receive = [&] {
        row.receive_datagrams(*here, 3, returned, pieces,
                              [&](std::uint64_t number, dissect::Bytes) { taken.push_back(number); });
    };
    answer(2);
    answer(2);
    answer(9);
    receive();
    CHECK(taken == std::vector<std::uint64_t>{2});
    CHECK(returned == 0);
    row.give_up(3, returned);
    CHECK(returned == 1);
    CHECK(row.lost() == 1);
    answer(0);
    answer(1, 15);
    answer(1);
    receive();
    receive();
    CHECK(taken == std::vector<std::uint64_t>{2, 1});
    CHECK(returned == 3);
    CHECK(row.why().empty());
}

namespace {

// Both ends of a TCP connection over the loopback.
struct Connected {
    KernelSocket here;
    KernelSocket there;
};
Connected connected() {
    auto listener = ExchangeListener::open(own_loopback(8), kPort);
    REQUIRE(listener);
    auto here = KernelSocket::call(SocketKind::tcp, {.from = own_loopback(3), .to = own_loopback(8), .port = kPort});
    REQUIRE(here);
    const std::int64_t until = now_ns() + 1'000'000'000;
    auto there = listener->accept();
    while (!there && now_ns() < until) there = listener->accept();
    REQUIRE(there);
    return {.here = std::move(*here), .there = KernelSocket(there->take_socket())};
}

}  // namespace

TEST_CASE("a row of a stream: it is cut by the size of messages, and an early end is said") {
    Connected ends = connected();
    std::vector<std::byte> out(2 * 16, std::byte{5});
    std::vector<std::byte> back(2 * 16);
    const Pieces to_send{.bytes = out, .stride = 16, .slots = 2, .size = 16};
    const Pieces to_receive{.bytes = back, .stride = 16, .slots = 2, .size = 16};
    SocketRow row;
    row.begin(2);
    CHECK(row.wants_to_write(2));
    REQUIRE(row.send(ends.here, 2, to_send));
    CHECK_FALSE(row.wants_to_write(2));
    std::array<std::byte, 64> room{};
    const auto nothing = [] {};
    CHECK(await(ends.there, room, nothing).bytes == 32);

    std::uint64_t returned = 0;
    std::vector<std::uint64_t> taken;
    const auto receive = [&](std::uint64_t posted) {
        row.receive(ends.here, posted, returned, to_receive, [&](std::uint64_t number, dissect::Bytes message) {
            taken.push_back(number);
            CHECK(message.size() == 16);
        });
    };
    REQUIRE(ends.there.send(dissect::Bytes(room).first(10)).bytes == 10);
    receive(2);
    CHECK(returned == 0);
    REQUIRE(ends.there.send(dissect::Bytes(room).first(22)).bytes == 22);
    receive(2);
    CHECK(taken == std::vector<std::uint64_t>{0, 1});
    CHECK(row.why().empty());
    ends.there.close();
    receive(3);
    CHECK(row.why() == "closed by the server");
}

TEST_CASE("a row that pours: it ends when the server has read all, and says nothing else") {
    Connected ends = connected();
    std::vector<std::byte> out(3 * 100);
    const Pieces pieces{.bytes = out, .stride = 100, .slots = 3, .size = 100};
    SocketRow row;
    row.begin(3);
    const bool in_time = GENERATE(true, false);
    const std::uint64_t sent = row.pour(ends.here, 7, !in_time, pieces);
    CHECK(sent == (in_time ? 7 : 0));
    CHECK_FALSE(row.poured());
    std::vector<std::byte> room(4096);
    const auto nothing = [] {};
    if (in_time) CHECK(await(ends.there, room, nothing).bytes == 700);
    CHECK(await(ends.there, room, nothing).ended);
    if (GENERATE(true, false)) {
        ends.there.close();
        for (const std::int64_t until = now_ns() + 1'000'000'000; !row.poured() && now_ns() < until;)
            CHECK(row.pour(ends.here, 7, false, pieces) == sent);
        CHECK(row.poured());
        CHECK(row.why().empty());
    } else {
        REQUIRE(ends.there.send(dissect::Bytes(room).first(1)).bytes == 1);
        (void)row.pour(ends.here, 7, false, pieces);
        CHECK_FALSE(row.poured());
        CHECK(row.why() == "the server sent what was not asked for");
    }
}
