// The send queue beyond packets: local work requests in their order, draining, flushing, and thousands of requests.
#include <tests/support/catch.hpp>
#include <tests/support/peers.hpp>

using namespace qps::tests;
using namespace qps::transport;
using qps::dissect::Psn;
using qps::dissect::Rkey;
using Lines = std::vector<std::string>;

namespace {

bool invalidate(Peers& peers, bool fence = false) {
    return peers.requester.post({.id = 77, .kind = WorkKind::local_invalidate, .invalidate = kWindow, .fence = fence});
}

}  // namespace

TEST_CASE("send queue: a local request is due when what was before it is sent, and holds back what is after it") {
    Peers peers = connected_pair();
    REQUIRE(peers.send(300));
    REQUIRE(invalidate(peers));
    REQUIRE(peers.send(8));
    CHECK(peers.requester.local_due() == nullptr);
    CHECK(lines(peers.requests()) == Lines{"SEND_FIRST 100", "SEND_LAST 101!"});
    REQUIRE(peers.requester.local_due() != nullptr);
    CHECK(peers.requester.local_due()->invalidate == kWindow);
    CHECK(peers.requester.poll_at() < peers.now);
    peers.requester.done_locally(kSuccess, peers.now);
    CHECK(peers.requester.local_due() == nullptr);
    CHECK(lines(peers.requests()) == Lines{"SEND_ONLY 102!"});
    CHECK(statuses(peers.requester).empty());  // in order: after the first SEND
    peers.wait(nanoseconds(100'000'000));      // all of it once more, but for the local request
    CHECK(lines(peers.requests()) == Lines{"SEND_FIRST 100", "SEND_LAST 101!", "SEND_ONLY 102!"});
    CHECK(peers.requester.local_due() == nullptr);
    TransportPacket ack;
    ack.opcode = qps::dissect::Opcode::rc_acknowledge;
    ack.psn = Psn{101};
    ack.acknowledgment = Acknowledgment{0x1f, {}};
    peers.requester.process(ack, peers.now);
    CHECK(statuses(peers.requester) == std::vector{kSuccess, kSuccess});
    ack.psn = Psn{102};
    peers.requester.process(ack, peers.now);
    CHECK(statuses(peers.requester) == std::vector{kSuccess});
    CHECK(peers.requester.state() == RequesterState::idle);
}

TEST_CASE("send queue: alone, a local request completes at once, fenced, it waits for READs") {
    Peers peers = connected_pair();
    REQUIRE(invalidate(peers));
    REQUIRE(peers.requester.local_due() != nullptr);
    peers.requester.done_locally(kSuccess, peers.now);
    CHECK(peers.requester.state() == RequesterState::idle);
    const auto done = peers.requester.take_completions();
    REQUIRE(done.size() == 1);
    CHECK(done[0].id == 77);
    REQUIRE(peers.read(8));
    REQUIRE(invalidate(peers, true));
    const auto read = peers.requests();
    CHECK(peers.requester.local_due() == nullptr);
    CHECK(peers.arrives(read.at(0)) == ResponderVerdict::accept);
    peers.answer(peers.responses());
    CHECK(peers.requester.local_due() != nullptr);
}

TEST_CASE("send queue: a local request that fails does so when its turn comes, and flushes the rest") {
    Peers peers = connected_pair();
    REQUIRE(peers.send(8));
    REQUIRE(peers.requester.post({.kind = WorkKind::bind_window, .window = MemoryWindow{.key = kWindow}}));
    REQUIRE(peers.send(8));
    const auto sent = peers.requests();
    peers.requester.done_locally(CompletionStatus::window_bind_error, peers.now);
    CHECK(peers.requester.local_due() == nullptr);
    CHECK(peers.requests().empty());
    CHECK(peers.requester.state() == RequesterState::active);
    CHECK(peers.arrives(sent.at(0)) == ResponderVerdict::accept);
    peers.answer(peers.responses());
    CHECK(peers.requester.poll_at() < peers.now);
    CHECK(peers.requests().empty());
    CHECK(statuses(peers.requester) ==
          std::vector{kSuccess, CompletionStatus::window_bind_error, CompletionStatus::flushed});
    CHECK(peers.requester.state() == RequesterState::error);
    CHECK_FALSE(peers.requester.post({.kind = WorkKind::bind_window}));
}

TEST_CASE("send queue: segments that lie nowhere fail when their turn comes") {
    Peers peers = connected_pair();
    REQUIRE(peers.send(8));
    REQUIRE(peers.requester.post({.kind = WorkKind::write, .remote = {kMemoryBase, kKey, 8}, .unusable = true}));
    static_cast<void>(peers.converse());
    CHECK(statuses(peers.requester) == std::vector{kSuccess, CompletionStatus::local_protection_error});
    CHECK(peers.responder.expected() == Psn{101});  // nothing of it was sent
}

TEST_CASE("send queue: drained when what was begun is done, and nothing else is begun") {
    Peers peers = connected_pair();
    CHECK(peers.requester.drained());
    REQUIRE(peers.send(600));
    REQUIRE(peers.send(8));
    REQUIRE(invalidate(peers));
    auto first = peers.requester.poll(peers.now);
    REQUIRE(first);
    peers.requester.drain(true);
    CHECK_FALSE(peers.requester.drained());
    CHECK(lines(peers.requests()) == Lines{"SEND_MIDDLE 101", "SEND_LAST 102!"});
    CHECK_FALSE(peers.requester.drained());
    peers.wait(nanoseconds(100'000'000));  // lost: begun is begun
    const auto again = peers.requests();
    CHECK(lines(again) == Lines{"SEND_FIRST 100", "SEND_MIDDLE 101", "SEND_LAST 102!"});
    for (const auto& packet : again) static_cast<void>(peers.arrives(packet));
    peers.answer(peers.responses());
    CHECK(peers.requester.drained());
    CHECK(peers.requests().empty());
    CHECK_FALSE(peers.requester.poll_at());
    CHECK(statuses(peers.requester) == std::vector{kSuccess});
    peers.requester.drain(false);
    CHECK_FALSE(peers.converse().empty());
    CHECK(peers.requester.local_due() != nullptr);
    peers.requester.drain(true);
    CHECK(peers.requester.local_due() == nullptr);
    CHECK(peers.requester.drained());
}

TEST_CASE("send queue: depth, retries and rights change while the queue pair runs") {
    Peers peers = connected_pair(0);
    for (int i = 0; i < 4; ++i) REQUIRE(peers.read(8));
    peers.asks.initiator_depth = 2;
    peers.asks.rnr_retries = 0;
    peers.requester.adjust(peers.asks);
    CHECK(peers.requests().size() == 2);
    peers.requester.flush_all();
    Peers other = connected_pair(0);
    other.asks.rnr_retries = 0;
    other.answers.rnr_timer = 3;
    other.answers.allowed.write = false;
    other.requester.adjust(other.asks);
    other.responder.adjust(other.answers);
    REQUIRE(other.send(8));
    CHECK(other.converse() == Lines{"> SEND_ONLY 100!", "< ACKNOWLEDGE 100 RNR_NAK 3 msn 0"});
    CHECK(statuses(other.requester) == std::vector{CompletionStatus::rnr_retry_exceeded});
    Peers third = connected_pair();
    third.responder.adjust(other.answers);
    REQUIRE(third.write(8));
    CHECK(third.arrives(third.requests().at(0)) == ResponderVerdict::invalid_request);
}

TEST_CASE("send queue: flushed, everything is a completion, once") {
    Peers peers = connected_pair();
    for (int i = 0; i < 3; ++i) REQUIRE(peers.send(8));
    static_cast<void>(peers.requester.poll(peers.now));
    peers.requester.flush_all();
    CHECK(statuses(peers.requester) == std::vector(3, CompletionStatus::flushed));
    CHECK(peers.requester.state() == RequesterState::error);
    CHECK_FALSE(peers.requester.poll_at());
    peers.requester.flush_all();
    CHECK(statuses(peers.requester).empty());
    CHECK_FALSE(peers.send(8));
}

TEST_CASE("send queue: the id of a packet's request, and the deepest queue") {
    Peers peers = connected_pair(10);
    for (std::uint64_t id = 0; id < kMaxWork; ++id)
        REQUIRE(peers.requester.post(
            {.id = id, .kind = id % 2 == 0 ? WorkKind::write : WorkKind::read, .remote = {kMemoryBase, kKey, 0}}));
    CHECK_FALSE(peers.requester.post({.kind = WorkKind::write}));
    std::uint64_t done = 0;
    std::uint64_t sent = 0;
    while (peers.requester.open() > 0) {
        while (const auto packet = peers.requester.poll(peers.now)) {
            CHECK(peers.requester.polled() == sent++);
            CHECK(peers.responder.process(*packet, peers.memory, peers.receives).verdict == ResponderVerdict::accept);
        }
        while (const auto packet = peers.responder.poll(peers.memory)) peers.requester.process(*packet, peers.now);
        while (const auto completion = peers.requester.take_completion()) CHECK(completion->id == done++);
    }
    CHECK(sent == kMaxWork);
    CHECK(done == kMaxWork);
}

TEST_CASE("send queue: more PSNs may be queued than may be outstanding") {
    Peers peers = connected_pair();
    for (std::uint64_t id = 0; id < 20; ++id)  // 2^22 packets each: five times around all PSNs
        REQUIRE(peers.requester.post({.id = id, .kind = WorkKind::read, .remote = {kMemoryBase, kKey, 1U << 30}}));
    const auto sent = peers.requests();
    CHECK(sent.size() == 1);  // a READ longer than the window goes alone
    CHECK(peers.requester.next() == kFirstPsn + (1U << 22));
    CHECK_FALSE(peers.requester.post({.kind = WorkKind::read, .remote = {kMemoryBase, kKey, 1U << 31}}));  // 2^23 PSNs
}
