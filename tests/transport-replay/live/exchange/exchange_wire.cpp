// The exchanges over real TCP connections of the loopback: both roles, a peer that says nothing sensible, a peer that
// is not there.
#include <tests/support/catch.hpp>
#include <transport-replay/live/exchange/exchange_connection.hpp>

#include <poll.h>

using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::dissect;

namespace {

QueuePairEnd end_of(std::uint32_t qpn) {
    QueuePairEnd end;
    end.qpn = Qpn{qpn};
    end.psn = Psn(qpn * 3);
    end.gid = ipv4_address(0xc0000200 + qpn);
    end.out_reads = 16;
    end.rkey = Rkey{qpn * 5};
    end.address = qpn * 4096;
    return end;
}

ExchangeListener listening() {
    auto listener = ExchangeListener::open("127.0.0.1", 0);
    if (!listener) FAIL(listener.error().sentence);
    REQUIRE(listener->port() != 0);
    return std::move(*listener);
}

void wait_for(int a, int b) {
    std::array<pollfd, 2> waiting{pollfd{a, POLLIN, 0}, pollfd{b, POLLIN, 0}};
    poll(waiting.data(), waiting.size(), 5);
}

template <class Session> void go_on(Session& session) {
    if (session.awaits() != Awaits::bytes && session.awaits() != Awaits::nothing) session.proceed();
}

// Until both are finished, or for about two seconds.
template <class Session> void exchange(Session& client, Session& server) {
    ExchangeListener listener = listening();
    auto out = ExchangeConnection::connect("127.0.0.1", listener.port());
    REQUIRE(out);
    std::optional<ExchangeConnection> in;
    for (int i = 0; i < 400 && !(out->finished() && in && in->finished()); ++i) {
        if (!in) in = listener.accept();
        out->drive(client);
        go_on(client);
        if (in) in->drive(server);
        if (in) go_on(server);
        wait_for(out->descriptor(), in ? in->descriptor() : listener.descriptor());
    }
    REQUIRE(in);
    CHECK(out->finished());
    CHECK(in->finished());
    CHECK(in->peer() == "127.0.0.1");
}

}  // namespace

TEST_CASE("a pingpong's exchange over the loopback") {
    PingPongSession client(ExchangeRole::client, {end_of(17)});
    PingPongSession server(ExchangeRole::server, {end_of(18)});
    exchange(client, server);
    CHECK(client.problem().empty());
    CHECK(server.problem().empty());
    CHECK(client.remote()[0].qpn == Qpn{18});
    CHECK(server.remote()[0].qpn == Qpn{17});
}

TEST_CASE("all ends of ibv_srq_pingpong over the loopback") {
    PingPongSession client(ExchangeRole::client, std::vector<QueuePairEnd>(kSrqPingPongEnds, end_of(17)));
    PingPongSession server(ExchangeRole::server, std::vector<QueuePairEnd>(kSrqPingPongEnds, end_of(18)));
    exchange(client, server);
    CHECK(client.problem().empty());
    CHECK(server.remote().size() == kSrqPingPongEnds);
}

TEST_CASE("perftest's exchange over the loopback") {
    for (const PerftestTest test :
         {PerftestTest::send_bw, PerftestTest::write_bw, PerftestTest::write_lat, PerftestTest::read_lat}) {
        PerftestSettings settings;
        settings.test = test;
        PerftestSession client(ExchangeRole::client, settings, {end_of(17)});
        PerftestSession server(ExchangeRole::server, settings, {end_of(18)});
        client.set_report({1024, 10, 2.5, 1.25, 0.5});
        exchange(client, server);
        INFO(kPerftestPrograms[std::to_underlying(test)]);
        CHECK(client.problem().empty());
        CHECK(server.problem().empty());
        CHECK(client.remote()[0].rkey == Rkey{90});
        CHECK(server.remote()[0].address == 17 * 4096);
        if (test == PerftestTest::write_bw) CHECK(server.remote_report().average == 1.25);
    }
}

TEST_CASE("programs with other options end with a sentence on both sides") {
    PerftestSettings one;
    one.test = PerftestTest::write_bw;
    PerftestSettings two = one;
    two.queue_pairs = 2;
    PerftestSession client(ExchangeRole::client, two, {end_of(17), end_of(19)});
    PerftestSession server(ExchangeRole::server, one, {end_of(18)});
    exchange(client, server);
    CHECK(server.problem() ==
          "the peer's keys have changed: check that it runs the same program with the same options (-q, -a, -b, -D)");
    CHECK_FALSE(client.problem().empty());
}

TEST_CASE("where nobody listens, or nobody can, it is said") {
    std::uint16_t port = 0;
    {
        ExchangeListener gone = listening();
        port = gone.port();
        const auto again = ExchangeListener::open("127.0.0.1", port);
        REQUIRE_FALSE(again);
        CHECK(again.error().sentence.find("cannot listen on port") != std::string::npos);
    }
    auto out = ExchangeConnection::connect("127.0.0.1", port);
    PingPongSession client(ExchangeRole::client, {end_of(17)});
    if (out) {
        for (int i = 0; i < 100 && !out->finished(); ++i) {
            out->drive(client);
            wait_for(out->descriptor(), -1);
        }
        CHECK(out->finished());
        REQUIRE(out->problem());
        CHECK(out->problem()->sentence == "cannot connect: Connection refused");
    }
    CHECK_FALSE(ExchangeConnection::connect("no-such-host.invalid", 1));
    CHECK_FALSE(ExchangeListener::open("192.0.2.1", 0));
}
