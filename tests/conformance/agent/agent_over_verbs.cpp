// Our own adapter under an agent's orders: every verb, data over good and poor links, waiting, and nothing left behind.
#include <tests/support/agent_walk.hpp>
#include <tests/support/agent_world.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/conformance/agent/agent_connection.hpp>
#include <transport-replay/conformance/agent/agent_program.hpp>
#include <transport-replay/live/peers/program.hpp>

#include <chrono>
#include <random>
#include <set>
#include <thread>

using namespace qps::transport::conformance::agent;
using qps::tests::AgentWalk;
using qps::tests::AgentWorld;
using qps::transport::microseconds;

TEST_CASE("the walk asks every verb of the agent's protocol, and our adapter answers each") {
    AgentWorld world;
    AgentWalk walk{.values = {{"a", "192.0.2.1"}, {"b", "192.0.2.2"}}};
    std::set<Verb> asked;
    const auto wrong = walk.go(qps::tests::agent_walk_text(), [&](char agent, const Request& request) {
        asked.insert(request.verb);
        return world.ask(agent, request);
    });
    for (const std::string& each : wrong) FAIL_CHECK(each);
    for (const VerbRow& row : kVerbs) {
        INFO(row.name);
        CHECK(asked.contains(row.verb));
    }
    CHECK(walk.asked > 150);
    CHECK(world.a.agent.quitting());
    CHECK(world.b.agent.quitting());
}

TEST_CASE("the walk sees an agent that answers otherwise") {
    AgentWorld world;
    AgentWalk walk{.values = {{"a", "192.0.2.1"}, {"b", "192.0.2.2"}}};
    const auto ask = [&](char agent, const Request& request) { return world.ask(agent, request); };
    for (const char* text :
         {"a ping -> error==EINVAL", "a qp_free qp=9", "a mr len=8 -> $v=hash", "a hello -> protocol==2",
          "a hello -> #gid==9", "a counters -> counter~nothing_of_this_name", "a nonsense",
          "a mr len=8 off=9 -> error==ENOENT"}) {
        INFO(text);
        CHECK(walk.go(text, ask).size() == 1);
    }
}

TEST_CASE("agents move data both ways over a poor link, and every byte is right") {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        AgentWorld world({.faults = {.loss = 0.03, .duplication = 0.02, .reordering = 0.02}, .seed = seed});
        const auto am = world.number('a', "mr len=200000 access=write,read", Key::mr);
        const auto bm = world.ask('b', "mr len=200000 access=write,read");
        REQUIRE(bm);
        const auto bmr = *bm->fields.number(Key::mr);
        const auto va = *bm->fields.number(Key::va);
        const auto rkey = *bm->fields.number(Key::rkey);
        const auto aq = world.ask('a', "qp");
        const auto bq = world.ask('b', "qp");
        const auto connect = [&](char which, const auto& own, const char* to, const auto& other, int expects,
                                 int begins) {
            const auto answer = world.ask(
                which, fmt::format("connect qp={} to={} qpn={} rq_psn={} sq_psn={}", *own->fields.number(Key::qp), to,
                                   *other->fields.number(Key::qpn), expects, begins));
            REQUIRE(answer);
            REQUIRE(answer->ok);
        };
        connect('a', aq, "192.0.2.2", bq, 7, 16'777'200);
        connect('b', bq, "192.0.2.1", aq, 16'777'200, 7);
        const auto qp = *aq->fields.number(Key::qp);
        REQUIRE(world.ask('a', fmt::format("fill mr={} len=200000 seed={}", am, seed))->ok);
        REQUIRE(
            world
                .ask('a',
                     fmt::format(
                         "post qp={} op=write mr={} len=20000 va={} rkey={} count=10 step=20000 flags=signaled wr=1",
                         qp, am, va, rkey))
                ->ok);
        const auto done = world.ask('a', fmt::format("poll qp={} least=10 wait=10000", qp));
        REQUIRE(done);
        REQUIRE(done->fields.all().size() == 10);
        for (std::size_t i = 0; i < 10; ++i) {
            const auto completion = parse_completion(done->fields.all()[i].text);
            REQUIRE(completion);
            CHECK(completion->wr == i + 1);
            CHECK(completion->status == kSuccess);
        }
        CHECK(world.number('b', fmt::format("compare mr={} len=200000 seed={}", bmr, seed), Key::wrong) == 0);
        CHECK(world.number('b', fmt::format("hash mr={} len=200000", bmr), Key::hash) ==
              world.number('a', fmt::format("hash mr={} len=200000", am), Key::hash));
        REQUIRE(world.ask('b', fmt::format("fill mr={} len=200000 seed=99", bmr))->ok);
        REQUIRE(world
                    .ask('a', fmt::format("post qp={} op=read mr={} len=200000 va={} rkey={} flags=signaled wr=50", qp,
                                          am, va, rkey))
                    ->ok);
        REQUIRE(world.ask('a', fmt::format("poll qp={} wait=10000", qp))->fields.all().size() == 1);
        CHECK(world.number('a', fmt::format("compare mr={} len=200000 seed=99", am), Key::wrong) == 0);
    }
}

TEST_CASE("a request that waits ends when its time is over, not before, and those behind it keep their order") {
    AgentWorld world;
    const auto cq = world.number('a', "cq depth=4", Key::cq);
    const auto before = world.pair.now;
    const auto waits = world.a.client.ask({Verb::poll, Fields{}.add(Key::cq, cq).add(Key::wait, 50)});
    const auto behind = world.a.client.ask({Verb::ping, {}});
    while (!world.a.client.take_answer(waits)) {
        CHECK_FALSE(world.a.client.take_answer(behind));
        REQUIRE(world.turn());
    }
    CHECK(world.pair.now - before == microseconds(50'000));
    CHECK(world.a.client.take_answer(behind));
    CHECK(*world.ask('a', "event wait=20")->fields.number(Key::event) == static_cast<std::uint64_t>(AsyncWord::none));
    CHECK(*world.ask('a', "cm_event wait=20")->fields.number(Key::cm_event) ==
          static_cast<std::uint64_t>(CmWord::none));
    CHECK(world.pair.now - before == microseconds(90'000));
}

TEST_CASE("nothing of a client stays after reset, and its numbers find nothing") {
    AgentWorld world;
    for (int round = 0; round < 3; ++round) {
        const auto pd = world.number('a', "pd", Key::pd);
        const auto mr = world.number('a', fmt::format("mr len=4096 access=write,bind pd={}", pd), Key::mr);
        const auto srq = world.number('a', fmt::format("srq receives=4 pd={}", pd), Key::srq);
        const auto qp = world.number('a', fmt::format("qp srq={} pd={}", srq, pd), Key::qp);
        REQUIRE(pd * mr * srq * qp != 0);
        REQUIRE(world.ask('a', fmt::format("recv srq={} mr={} len=64 count=4", srq, mr))->ok);
        REQUIRE(world.number('a', fmt::format("mw pd={}", pd), Key::mw) != 0);
        REQUIRE(world.number('a', "listen port=7000", Key::cm) != 0);
        CHECK(world.ask('a', fmt::format("pd_free pd={}", pd))->error == "EBUSY");
        REQUIRE(world.ask('a', "reset")->ok);
        CHECK(world.ask('a', fmt::format("qp_state qp={}", qp))->error == "ENOENT");
        CHECK(world.ask('a', fmt::format("mr_free mr={}", mr))->error == "ENOENT");
        CHECK(qps::tests::ProgramPair::queue_pairs(world.pair.server) == 0);
    }
}

TEST_CASE("what a client may make of an agent is bounded") {
    AgentWorld world;
    for (std::uint64_t i = 0; i < kMostObjects; ++i) REQUIRE(world.number('a', "pd", Key::pd) != 0);
    CHECK(world.ask('a', "pd")->error == "ENOSPC");
    std::uint64_t regions = 0;
    while (world.number('a', fmt::format("mr len={}", kMostLength), Key::mr) != 0) ++regions;
    CHECK(regions == kMostMemory / kMostLength);
    CHECK(world.ask('a', "mr len=1")->error == "ENOMEM");
    for (std::size_t i = 0; i < kMostWaiting + 10; ++i)
        world.a.agent.hear("1 event wait=10000", world.pair.server, world.pair.now);
    CHECK(world.a.agent.quitting());
    CHECK(world.a.agent.take_output().starts_with("0 error line"));
}

TEST_CASE("whatever a client says in whatever order, the agent answers a line for a line") {
    std::mt19937 draw(11);
    for (int round = 0; round < 60; ++round) {
        AgentWorld world;
        std::size_t said = 0;
        std::size_t answered = 0;
        for (int i = 0; i < 120; ++i) {
            const Request request = qps::tests::drawn_request(draw, "192.0.2.2");
            world.a.agent.hear(write_request(static_cast<std::uint32_t>(i + 1), request), world.pair.server,
                               world.pair.now);
            ++said;
            for (int turns = 0; turns < 3; ++turns) {
                world.pair.server.poll(world.pair.now);
                world.a.agent.poll(world.pair.server, world.pair.now);
                world.pair.client.poll(world.pair.now);
                const std::string out = world.a.agent.take_output();
                answered += static_cast<std::size_t>(std::ranges::count(out, '\n'));
                world.pair.now = world.pair.now + microseconds(1000);
            }
        }
        CHECK(said == answered);
        world.a.agent.reset(world.pair.server, world.pair.now);
        CHECK(qps::tests::ProgramPair::queue_pairs(world.pair.server) == 0);
    }
}

TEST_CASE("the peer that is an agent serves one client at a time over TCP, and forgets it when it goes") {
    using namespace qps::transport::live;
    const std::uint16_t port = ExchangeListener::open("127.0.0.1", 0)->port();  // that nobody has
    qps::tests::ProgramPair pair({});
    auto program = agent_program().make({.port = IpPort{port}, .clients = 2, .exchange = {.tcp = "127.0.0.1"}});
    REQUIRE(program);
    REQUIRE(program->begin(pair.server, pair.now));
    const auto ask = [&](AgentConnection& agent, const Request& request) -> std::optional<ParsedAnswer> {
        const std::uint32_t sequence = agent.client().ask(request);
        for (int turns = 0; turns < 500; ++turns) {
            agent.drive();
            pair.server.poll(pair.now);  // its clock stands still: silent clients are given up
            program->poll(pair.server, pair.now);
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            if (auto answer = agent.client().take_answer(sequence)) return answer;
            if (agent.finished()) break;
        }
        return std::nullopt;
    };
    for (int round = 0; round < 2; ++round) {
        auto first = AgentConnection::connect("127.0.0.1", port);
        REQUIRE(first);
        const auto hello = ask(*first, {Verb::hello, {}});
        REQUIRE(hello);
        CHECK(hello->fields.text(Key::agent) == "qpscope");
        CHECK(ask(*first, {Verb::qp, {}})->ok);
        auto second = AgentConnection::connect("127.0.0.1", port);
        REQUIRE(second);
        CHECK_FALSE(ask(*second, {Verb::ping, {}}));
        CHECK(second->finished());
        CHECK(qps::tests::ProgramPair::queue_pairs(pair.server) == 1);
        if (round == 0) CHECK(ask(*first, {Verb::quit, {}}));
        else first = std::unexpected(Problem{});  // it just goes
        for (int turns = 0; turns < 500 && qps::tests::ProgramPair::queue_pairs(pair.server) > 0; ++turns)
            pair.turn(&*program, nullptr);
        CHECK(qps::tests::ProgramPair::queue_pairs(pair.server) == 0);
    }
    for (int turns = 0; turns < 500 && !program->done(); ++turns) pair.turn(&*program, nullptr);
    CHECK(program->done());
}
