// The exchanges over TCP before RDMA: against what ibv_*_pingpong of rdma-core 44 and perftest 4.5 (its protocol 6.06)
// were heard to say to each other, in both roles, and against strangers.
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <transport-replay/live/exchange/perftest_session.hpp>
#include <transport-replay/live/exchange/pingpong_session.hpp>

#include <bit>
#include <cstring>
#include <random>
#include <sstream>

using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::dissect;

namespace {

using Message = std::vector<std::byte>;

Message with_nul(std::string_view text) {
    Message bytes(text.size() + 1);
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

std::string shown(Bytes bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
        const char c = static_cast<char>(byte);
        if (c >= ' ' && c < 0x7f) text += c;
        else text += fmt::format("\\x{:02x}", std::to_integer<unsigned>(byte));
    }
    return text;
}

// Heard from ib_write_bw -n 10 -s 1024 -q 2.
constexpr std::array kClientKeys{
    std::string_view(
        "0000:0001:000057:dc6b3b:00003de0:000055f2ea393000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:4d:00:0c:00000000:"),
    std::string_view(
        "0000:0001:000058:5c1409:00003de0:000055f2ea394000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:4d:00:0c:00000000:")};
constexpr std::array kServerKeys{
    std::string_view(
        "0000:0001:000059:3b78c0:00003cc2:000055b7a7e86000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:4d:00:0c:00000000:"),
    std::string_view(
        "0000:0001:00005a:9653aa:00003cc2:000055b7a7e87000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:4d:00:0c:00000000:")};
// Heard from ib_send_bw -b: size, iterations, peak, average, message rate.
constexpr std::array<std::uint64_t, 5> kClientReport{0x400, 10, 0x4008'543b'43b5'754a, 0x4031'392f'257a'f1f8,
                                                     0x3f69'82c6'29cd'32d0};

BandwidthReport report_of(const std::array<std::uint64_t, 5>& words) {
    return {words[0], words[1], std::bit_cast<double>(words[2]), std::bit_cast<double>(words[3]),
            std::bit_cast<double>(words[4])};
}

// What a exchange was heard to be, by tokens that both say: "V P L M k0 k1 r done"; a count behind an asterisk.
std::vector<Message> messages_of(std::string_view exchange, std::span<const std::string_view> keys) {
    std::vector<Message> messages;
    std::istringstream words{std::string(exchange)};
    for (std::string word; words >> word;) {
        const std::size_t star = word.find('*');
        const int times = star == std::string::npos ? 1 : std::stoi(word.substr(star + 1));
        const std::string token = word.substr(0, star);
        for (int i = 0; i < times; ++i) {
            if (token == "V") messages.push_back({std::byte{'6'}, std::byte{'.'}, std::byte{'0'}, std::byte{'6'}});
            if (token == "V") messages.back().resize(16);
            if (token == "P") messages.push_back({std::byte{0}, std::byte{0}, std::byte{0x10}, std::byte{0}});
            if (token == "L") messages.push_back({std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0x40}});
            if (token == "M") messages.push_back(with_nul("5"));
            if (token == "k0") messages.push_back(with_nul(keys[0]));
            if (token == "k1") messages.push_back(with_nul(keys[1]));
            if (token == "done") messages.push_back(with_nul("done"));
            if (token != "r") continue;
            for (const std::uint64_t word_of_report : kClientReport) {
                messages.emplace_back(8);
                write_bits(messages.back(), 0, 64, word_of_report);
            }
        }
    }
    return messages;
}

std::vector<QueuePairEnd> ends_of(std::span<const std::string_view> keys, std::size_t count) {
    std::vector<QueuePairEnd> ends;
    for (std::size_t i = 0; i < count; ++i) {
        const auto end = read_perftest_text(with_nul(keys[i]));
        REQUIRE(end);
        ends.push_back(*end);
    }
    return ends;
}

struct Heard {
    std::vector<Message> said;
    std::string stops;
};

template <class Session> void note(Session& session, Heard& heard) {
    for (;;) {
        for (Message message = session.take_output(); !message.empty(); message = session.take_output())
            heard.said.push_back(std::move(message));
        const Awaits awaits = session.awaits();
        if (awaits == Awaits::bytes || awaits == Awaits::nothing) return;
        heard.stops += awaits == Awaits::connect ? "connect " : awaits == Awaits::receives ? "receives " : "traffic ";
        session.proceed();
    }
}

// Lets a session exchange with a recorded peer, whose messages come in pieces of `piece` bytes.
template <class Session> Heard exchange_with(Session& session, const std::vector<Message>& peer, std::size_t piece) {
    Heard heard;
    note(session, heard);
    for (const Message& message : peer) {
        for (std::size_t at = 0; at < message.size(); at += piece) {
            session.process(slice(message, at, piece));
            note(session, heard);
        }
    }
    session.closed();
    return heard;
}

struct RecordedExchange {
    std::string_view name;
    PerftestSettings settings;
    std::string_view exchange;
    std::string_view stops_of_client;
    std::string_view stops_of_server;
};

PerftestSettings settings_for(PerftestTest test) {
    PerftestSettings settings;
    settings.test = test;
    settings.mtu = PathMtu::bytes_4096;
    settings.size = test >= PerftestTest::atomic_bw ? 8 : 1024;
    return settings;
}
template <class Change> PerftestSettings settings_for(PerftestTest test, Change change) {
    PerftestSettings settings = settings_for(test);
    change(settings);
    return settings;
}

const std::vector<RecordedExchange>& recorded_exchanges() {
    using enum PerftestTest;
    const auto two = [](PerftestSettings& s) { s.queue_pairs = 2; };
    const auto both = [](PerftestSettings& s) { s.bidirectional = true; };
    const auto lasting = [](PerftestSettings& s) { s.duration = true; };
    static const std::vector<RecordedExchange> exchanges{
        {"ib_send_bw", settings_for(send_bw), "V P L M k0*5 done", "connect receives traffic ",
         "connect receives traffic "},
        {"ib_send_bw -q 2", settings_for(send_bw, two), "V P L M k0 k1 k0*2 k1 k0*2 done", "connect receives traffic ",
         "connect receives traffic "},
        {"ib_send_bw -b", settings_for(send_bw, both), "V P L M k0*4 r k0 done", "connect receives traffic ",
         "connect receives traffic "},
        {"ib_send_bw -D", settings_for(send_bw, lasting), "V P L M k0*5 done", "connect receives traffic ",
         "connect receives traffic "},
        {"ib_send_lat", settings_for(send_lat), "V P L M k0*5 done", "connect receives traffic ",
         "connect receives traffic "},
        {"ib_write_bw -q 2", settings_for(write_bw, two), "V P L M k0 k1 k0 k1 k0*2 r k0 done", "connect traffic ",
         "connect "},
        {"ib_write_bw -b", settings_for(write_bw, both), "V P L M k0*4 r k0 done", "connect traffic ",
         "connect traffic "},
        {"ib_write_bw -D", settings_for(write_bw, lasting), "V P L M k0*4 r k0 done", "connect traffic ", "connect "},
        {"ib_write_bw -D -b", settings_for(write_bw, [&](auto& s) { both(s), lasting(s); }), "V P L M k0*4 r k0 done",
         "connect traffic ", "connect traffic "},
        {"ib_write_lat", settings_for(write_lat), "V P L M k0*4", "connect traffic ", "connect traffic "},
        {"ib_read_bw -q 2", settings_for(read_bw, two), "V P L M k0 k1 k0 k1 k0*2 r k0 done", "connect traffic ",
         "connect "},
        {"ib_read_bw -b", settings_for(read_bw, both), "V P L M k0*4 r k0 done", "connect traffic ",
         "connect traffic "},
        {"ib_read_lat", settings_for(read_lat), "V P L M k0*5 done", "connect traffic ", "connect "},
        {"ib_atomic_bw -q 2", settings_for(atomic_bw, two), "V P L M k0 k1 k0 k1 k0*2 r k0 done", "connect traffic ",
         "connect "},
        {"ib_atomic_bw -b", settings_for(atomic_bw, both), "V P L M k0*4 r k0 done", "connect traffic ",
         "connect traffic "},
        {"ib_atomic_lat", settings_for(atomic_lat), "V P L M k0*5 done", "connect traffic ", "connect "},
        {"ib_send_bw -D -b", settings_for(send_bw, [&](auto& s) { both(s), lasting(s); }), "V P L M k0*5 done",
         "connect receives traffic ", "connect receives traffic "},
    };
    return exchanges;
}

}  // namespace

TEST_CASE("the ends of queue pairs are written and read as the programs do") {
    const std::string_view said = "0000:000012:1a5136:00000000000000000000ffff0a4d000c";
    const auto end = read_pingpong_text(with_nul(said));
    REQUIRE(end);
    CHECK(end->qpn == Qpn{0x12});
    CHECK(end->psn == Psn(0x1a5136));
    CHECK(end->gid == ipv4_address(0x0a4d000c));
    CHECK(shown(pingpong_text(*end)) == std::string(said) + "\\x00");
    const auto keys = read_perftest_text(with_nul(kClientKeys[0]));
    REQUIRE(keys);
    CHECK(keys->qpn == Qpn{0x57});
    CHECK(keys->out_reads == 1);
    CHECK(keys->rkey == Rkey{0x3de0});
    CHECK(keys->address == 0x55f2'ea39'3000);
    CHECK(keys->gid == ipv4_address(0x0a4d000c));
    CHECK(shown(perftest_text(*keys)) == std::string(kClientKeys[0]) + "\\x00");
    // Every byte that is another, every length that is another: refused, or another value.
    for (std::size_t i = 0; i < kPerftestEndBytes; ++i) {
        Message changed = with_nul(kClientKeys[0]);
        changed[i] = std::byte{'x'};
        CHECK_FALSE(read_perftest_text(changed));
        CHECK_FALSE(read_perftest_text(Bytes(changed).first(i)));
    }
}

TEST_CASE("the grid of a pingpong's exchange") {
    qps::tests::check_golden("transport-replay/golden/pingpong_session.txt", grid(kPingPongMachine));
}

TEST_CASE("a pingpong's exchange, in both roles, in pieces of any size") {
    const auto client = with_nul("0000:000012:1a5136:00000000000000000000ffff0a4d000c");
    const auto server = with_nul("0000:000011:21a17c:00000000000000000000ffff0a4d000c");
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
        PingPongSession as_server(ExchangeRole::server, {*read_pingpong_text(server)});
        const Heard at_server = exchange_with(as_server, {client, with_nul("done")}, piece);
        REQUIRE(at_server.said.size() == 1);
        CHECK(at_server.said[0] == server);
        CHECK(at_server.stops == "connect traffic ");
        CHECK(as_server.awaits() == Awaits::nothing);
        CHECK(as_server.problem().empty());
        CHECK(as_server.remote()[0].qpn == Qpn{0x12});
        PingPongSession as_client(ExchangeRole::client, {*read_pingpong_text(client)});
        const Heard at_client = exchange_with(as_client, {server}, piece);
        REQUIRE(at_client.said.size() == 2);
        CHECK(at_client.said[0] == client);
        CHECK(shown(at_client.said[1]) == "done\\x00");
        CHECK(at_client.stops == "connect traffic ");
        CHECK(as_client.remote()[0].qpn == Qpn{0x11});
    }
}

TEST_CASE("the exchange of ibv_xsrq_pingpong, in both roles, in pieces of any size") {
    const auto client = with_nul("0000:000012:000013:1a5136:000004:00000000000000000000ffff0a4d000c");
    const auto server = with_nul("0000:000011:000010:21a17c:000003:00000000000000000000ffff0a4d000c");
    REQUIRE(client.size() == kXrcPingPongEndBytes);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
        PingPongSession as_server(ExchangeRole::server, {*read_xrc_pingpong_text(server)}, PingPongFormat::xrc);
        const Heard at_server = exchange_with(as_server, {client, with_nul("END")}, piece);
        REQUIRE(at_server.said.size() == 2);
        CHECK(at_server.said[0] == server);
        CHECK(shown(at_server.said[1]) == "END\\x00");
        CHECK(at_server.stops == "connect traffic ");
        CHECK(as_server.awaits() == Awaits::nothing);
        CHECK(as_server.problem().empty());
        CHECK(as_server.remote()[0].qpn == Qpn{0x12});
        CHECK(as_server.remote()[0].initiator == Qpn{0x13});
        CHECK(as_server.remote()[0].srqn == 4);
        PingPongSession as_client(ExchangeRole::client, {*read_xrc_pingpong_text(client)}, PingPongFormat::xrc);
        const Heard at_client = exchange_with(as_client, {server, with_nul("END")}, piece);
        REQUIRE(at_client.said.size() == 2);
        CHECK(at_client.said[0] == client);
        CHECK(shown(at_client.said[1]) == "END\\x00");
        CHECK(as_client.awaits() == Awaits::nothing);
    }
    const auto session = [&] {
        return PingPongSession(ExchangeRole::server, {*read_xrc_pingpong_text(server)}, PingPongFormat::xrc);
    };
    PingPongSession early = session();  // a client that is through before we are
    early.process(client);
    early.proceed();
    early.process(with_nul("END"));
    CHECK(early.awaits() == Awaits::traffic);
    early.proceed();
    CHECK(early.awaits() == Awaits::nothing);
    CHECK(early.problem().empty());
    PingPongSession rude = session();
    rude.process(client);
    rude.proceed();
    rude.process(with_nul("ENOUGH"));
    CHECK(rude.problem() == "the peer sent something other than \"END\"");
    PingPongSession gone = session();
    gone.process(client);
    gone.proceed();
    gone.proceed();
    gone.closed();
    CHECK(gone.problem() == "the peer closed the connection before it sent \"END\"");
    for (std::size_t i = 0; i < client.size(); ++i) {
        Message changed = client;
        changed[i] = std::byte{'x'};
        CHECK_FALSE(read_xrc_pingpong_text(changed));
        CHECK_FALSE(read_xrc_pingpong_text(Bytes(client).first(i)));
    }
}

TEST_CASE("ibv_srq_pingpong tells all of its ends") {
    std::vector<QueuePairEnd> ends(kSrqPingPongEnds, QueuePairEnd{.gid = ipv4_address(1)});
    for (std::uint32_t i = 0; i < 16; ++i) ends[i].qpn = Qpn{i + 1};
    PingPongSession client(ExchangeRole::client, ends);
    PingPongSession server(ExchangeRole::server, ends);
    std::size_t messages = 0;
    for (bool quiet = false; !quiet;) {
        quiet = true;
        for (auto* pair : {&client, &server}) {
            Message message = pair->take_output();
            if (!message.empty()) {
                quiet = false;
                ++messages;
                (pair == &client ? server : client).process(message);
            }
            if (pair->awaits() == Awaits::connect) {
                pair->proceed();
                quiet = false;
            }
        }
    }
    CHECK(messages == 2 * kSrqPingPongEnds + 1);
    CHECK(client.awaits() == Awaits::traffic);
    CHECK(server.awaits() == Awaits::traffic);
    CHECK(server.remote().size() == kSrqPingPongEnds);
}

TEST_CASE("a pingpong's exchange with strangers ends with a sentence") {
    const auto server = [] {
        return PingPongSession(ExchangeRole::server, {QueuePairEnd{.qpn = Qpn{5}, .gid = ipv4_address(1)}});
    };
    PingPongSession wrong = server();
    wrong.process(with_nul("GET / HTTP/1.1 and so on and so on and so on until 52"));
    CHECK(wrong.problem() == "the peer's announcement of queue pair 1 is not in the format of ibv_*_pingpong");
    CHECK(wrong.awaits() == Awaits::nothing);
    PingPongSession gone = server();
    gone.process(with_nul("0000"));
    gone.closed();
    CHECK(gone.problem() == "the peer closed the connection before it announced its queue pairs");
    PingPongSession hasty = server();
    hasty.process(with_nul("0000:000012:1a5136:00000000000000000000ffff0a4d000c"));
    hasty.process(with_nul("more"));
    CHECK(hasty.problem() == "the peer sends more than ibv_*_pingpong does");
    PingPongSession rude = server();
    rude.process(with_nul("0000:000012:1a5136:00000000000000000000ffff0a4d000c"));
    rude.proceed();
    CHECK(rude.take_output().size() == kPingPongEndBytes);
    rude.process(with_nul("dine"));
    CHECK(rude.problem() == "the peer sent something other than \"done\"");
    CHECK_FALSE(PingPongSession(ExchangeRole::client, {}).problem().empty());
}

TEST_CASE("perftest's exchanges, as they were heard, in both roles") {
    for (const RecordedExchange& exchange : recorded_exchanges()) {
        for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, std::size_t{1000}}) {
            INFO(exchange.name << " in pieces of " << piece);
            const auto client_says = messages_of(exchange.exchange, kClientKeys);
            const auto server_says = messages_of(exchange.exchange, kServerKeys);
            PerftestSession server(ExchangeRole::server, exchange.settings,
                                   ends_of(kServerKeys, exchange.settings.queue_pairs));
            server.set_report(report_of(kClientReport));
            const Heard at_server = exchange_with(server, client_says, piece);
            CHECK(server.problem().empty());
            CHECK(server.awaits() == Awaits::nothing);
            CHECK(at_server.stops == exchange.stops_of_server);
            REQUIRE(at_server.said.size() == server_says.size());
            for (std::size_t i = 0; i < server_says.size(); ++i)
                CHECK(shown(at_server.said[i]) == shown(server_says[i]));
            CHECK(server.remote()[0].qpn == Qpn{0x57});
            CHECK(server.mtu() == PathMtu::bytes_4096);

            PerftestSession client(ExchangeRole::client, exchange.settings,
                                   ends_of(kClientKeys, exchange.settings.queue_pairs));
            client.set_report(report_of(kClientReport));
            const Heard at_client = exchange_with(client, server_says, piece);
            CHECK(client.problem().empty());
            CHECK(at_client.stops == exchange.stops_of_client);
            REQUIRE(at_client.said.size() == client_says.size());
            for (std::size_t i = 0; i < client_says.size(); ++i)
                CHECK(shown(at_client.said[i]) == shown(client_says[i]));
            if (exchange.exchange.find('r') != std::string_view::npos)
                CHECK(client.remote_report() == report_of(kClientReport));
        }
    }
}

TEST_CASE("perftest's exchanges about all sizes") {
    using enum PerftestTest;
    struct Sweep {
        PerftestSettings settings;
        std::string exchange;
        std::size_t sizes;
    };
    const auto all = [](PerftestSettings& s) { s.all_sizes = true; };
    const auto both = [](PerftestSettings& s) { s.all_sizes = s.bidirectional = true; };
    std::string both_write = "V P L M k0*3";  // as heard: a word before and after each size, and the reports
    for (int i = 0; i < 23; ++i) both_write += " k0*2 r";
    const std::array sweeps{
        Sweep{settings_for(send_bw, all), "V P L M k0*3 k0*46 k0 done", 23},
        Sweep{settings_for(send_lat, all), "V P L M k0*3 k0*23 k0 done", 23},
        Sweep{settings_for(write_bw, all), "V P L M k0*4 r k0 done", 23},
        Sweep{settings_for(write_bw, both), both_write + " k0 done", 23},
        Sweep{settings_for(write_lat, all), "V P L M k0*4", 23},
        Sweep{settings_for(read_lat, all), "V P L M k0*5 done", 23},
        Sweep{settings_for(send_bw, [](PerftestSettings& s) { s.all_sizes = true, s.service = Service::ud; }),
              "V P L M k0*3 k0*24 k0 done", 12},
    };
    for (const Sweep& sweep : sweeps) {
        INFO(kPerftestPrograms[std::to_underlying(sweep.settings.test)] << (sweep.settings.bidirectional ? " -b" : ""));
        PerftestSession client(ExchangeRole::client, sweep.settings, ends_of(kClientKeys, 1));
        client.set_report(report_of(kClientReport));
        const auto expected = messages_of(sweep.exchange, kClientKeys);
        const auto peer = messages_of(sweep.exchange, kServerKeys);
        std::vector<std::uint32_t> sizes;
        std::size_t said = 0, heard = 0;
        while (client.awaits() != Awaits::nothing) {
            for (Message message = client.take_output(); !message.empty(); message = client.take_output()) {
                REQUIRE(said < expected.size());
                CHECK(shown(message) == shown(expected[said++]));
            }
            if (client.awaits() == Awaits::traffic) sizes.push_back(client.size());
            if (client.awaits() == Awaits::bytes) {
                REQUIRE(heard < peer.size());
                client.process(peer[heard++]);
            } else {
                client.proceed();
            }
        }
        while (!client.take_output().empty()) ++said;
        CHECK(client.problem().empty());
        CHECK(said == expected.size());
        REQUIRE(sizes.size() == sweep.sizes);
        CHECK(sizes.front() == 2);
        CHECK(sizes.back() == 1U << sweep.sizes);
    }
}

TEST_CASE("perftest's smaller path MTU and larger pages count") {
    PerftestSettings settings = settings_for(PerftestTest::send_bw);
    PerftestSession server(ExchangeRole::server, settings, ends_of(kServerKeys, 1));
    Message version = with_nul("6.23");
    version.resize(16);
    server.process(version);
    server.process(Message{std::byte{0}, std::byte{1}, std::byte{0}, std::byte{0}});
    server.process(Message{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{128}});
    server.process(with_nul("3"));
    CHECK(server.remote_version() == "6.23");
    CHECK(server.cycle_buffer() == 65'536);
    CHECK(server.cache_line() == 128);
    CHECK(server.mtu() == PathMtu::bytes_1024);
    std::vector<std::string> said;
    for (Message message = server.take_output(); !message.empty(); message = server.take_output())
        said.push_back(shown(message));
    CHECK(said[1] == "\\x00\\x00\\x10\\x00");  // each says what it is itself
    CHECK(said[3] == "5\\x00");
}

TEST_CASE("perftest's exchange with strangers, and with other options, ends with a sentence") {
    const auto server = [] {
        return PerftestSession(ExchangeRole::server, settings_for(PerftestTest::write_bw), ends_of(kServerKeys, 1));
    };
    const auto problem_after = [&](const std::vector<Message>& said) {
        PerftestSession session = server();
        exchange_with(session, said, 1000);
        return session.problem();
    };
    const auto exchange = messages_of("V P L M k0 k1", kClientKeys);
    Message version(16);
    std::memcpy(version.data(), "4.30", 4);
    CHECK(problem_after({version}) == "the peer has perftest version 4.30: expected at least 5.33");
    CHECK(problem_after({with_nul("GET / HTTP/1.1\r")}) == "the peer announces no perftest version");
    CHECK(problem_after({Message(16)}) == "the peer announces no perftest version");
    CHECK(problem_after({exchange[0], Message(4, std::byte{0xff})}) ==
          "the peer's cycle buffer of 4294967295 bytes is too large");
    CHECK(problem_after({exchange[0], exchange[1], exchange[2], with_nul("9")}) ==
          "the peer announces no valid path MTU");
    CHECK(problem_after({exchange[0], exchange[1], exchange[2], exchange[3], Message(kPerftestEndBytes)}) ==
          "the peer's announcement of queue pair 1 is not in the format of perftest");
    CHECK(problem_after(exchange) ==
          "the peer's keys have changed: check that it runs the same program with the same options (-q, -a, -b, -D)");
    CHECK(problem_after({exchange[0]}) == "the peer closed the connection in the middle of the exchange");
    PerftestSession busy = server();
    for (std::size_t i = 0; i < 5; ++i) busy.process(exchange[i]);
    REQUIRE(busy.awaits() == Awaits::connect);
    busy.process(Message(kMaxHeard));  // before its time
    CHECK(busy.problem().empty());
    busy.process(Message(1));
    CHECK(busy.problem() == "the peer sends more than perftest does");
    Message ipv6 = with_nul(
        "0000:0001:000057:dc6b3b:00003de0:000055f2ea393000:fe:80:00:00:00:00:00:00:00:00:00:00:00:00:00:01:00000000:");
    CHECK(problem_after({exchange[0], exchange[1], exchange[2], exchange[3], ipv6}) ==
          "the peer's GID and ours are of different families, IPv4 and IPv6 (see its option -x)");
}

TEST_CASE("what perftest does not have is refused") {
    using enum PerftestTest;
    const auto refused = [](PerftestTest test, auto change) {
        return refusal(settings_for(test, change)).value_or("");
    };
    CHECK(refused(send_bw, [](PerftestSettings&) {}).empty());
    CHECK(refused(write_bw, [](PerftestSettings& s) { s.service = Service::ud; }) ==
          "ib_write_bw does not work over UD");
    CHECK(refused(read_bw, [](PerftestSettings& s) { s.service = Service::uc; }) == "ib_read_bw works over RC only");
    CHECK(refused(send_bw, [](PerftestSettings& s) { s.service = Service::xrc; }) ==
          "ib_send_bw supports RC, UC and UD only");
    CHECK(refused(send_lat, [](PerftestSettings& s) { s.queue_pairs = 2; }) == "ib_send_lat uses one queue pair");
    CHECK(refused(write_lat, [](PerftestSettings& s) { s.bidirectional = true; }) ==
          "ib_write_lat has no bidirectional mode");
    CHECK(refused(send_bw, [](PerftestSettings& s) { s.queue_pairs = 0; }) ==
          "ib_send_bw supports 1 to 1024 queue pairs");
    CHECK(refused(atomic_bw, [](PerftestSettings& s) { s.size = 16; }) == "ib_atomic_bw has one size, 8 bytes");
    CHECK(refused(send_bw, [](PerftestSettings& s) { s.all_sizes = s.duration = true; }) ==
          "ib_send_bw runs all sizes or for a duration, not both");
    PerftestSettings two = settings_for(send_bw);
    two.queue_pairs = 2;
    PerftestSession session(ExchangeRole::client, two, ends_of(kClientKeys, 1));
    CHECK(session.problem() == "there are 1 queue pairs for -q 2");
    CHECK(session.awaits() == Awaits::nothing);
    CHECK(session.take_output().empty());
}

TEST_CASE("exchanges survive any bytes") {
    std::mt19937 dice(11);
    std::size_t failed = 0, finished = 0;
    for (int round = 0; round < 4000; ++round) {
        const RecordedExchange& exchange = recorded_exchanges()[dice() % recorded_exchanges().size()];
        const bool as_client = dice() % 2 == 0;
        auto peer = messages_of(exchange.exchange, as_client ? kServerKeys : kClientKeys);
        for (std::size_t i = dice() % 4; i > 0; --i) {
            Message& message = peer[dice() % peer.size()];
            if (message.empty()) continue;
            if (dice() % 2 == 0) message[dice() % message.size()] = static_cast<std::byte>(dice());
            else message.resize(dice() % (2 * message.size()));
        }
        PerftestSession session(as_client ? ExchangeRole::client : ExchangeRole::server, exchange.settings,
                                ends_of(as_client ? kClientKeys : kServerKeys, exchange.settings.queue_pairs));
        const Heard heard = exchange_with(session, peer, 1 + dice() % 200);
        CHECK(heard.said.size() <= messages_of(exchange.exchange, kClientKeys).size());
        CHECK(session.awaits() == Awaits::nothing);
        ++(session.problem().empty() ? finished : failed);
        PingPongSession pingpong(as_client ? ExchangeRole::client : ExchangeRole::server,
                                 {QueuePairEnd{.gid = ipv4_address(1)}});
        const auto end = pingpong_text(QueuePairEnd{.gid = ipv4_address(2)});
        std::vector<Message> noise{Message(end.begin(), end.end()), with_nul("done")};
        noise[0][dice() % noise[0].size()] = static_cast<std::byte>(dice());
        exchange_with(pingpong, noise, 1 + dice() % 60);
        CHECK(pingpong.awaits() == Awaits::nothing);
    }
    CHECK(failed > 100);
    CHECK(finished > 100);
}
