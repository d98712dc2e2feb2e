#include <tests/support/catch.hpp>
#include <tests/support/peers.hpp>

using namespace qps::tests;
using namespace qps::transport;
using qps::dissect::Psn;
using Lines = std::vector<std::string>;

namespace {

TransportPacket says(Psn psn, std::uint8_t syndrome) {
    TransportPacket packet;
    packet.opcode = qps::dissect::Opcode::rc_acknowledge;
    packet.psn = psn;
    packet.acknowledgment = Acknowledgment{syndrome, {}};
    return packet;
}
constexpr std::uint8_t kAck = 0x1f, kNak = 0x60;

}  // namespace

TEST_CASE("requester: every kind of request completes in order") {
    Peers peers = connected_pair();
    REQUIRE(peers.write(600));
    REQUIRE(peers.send(10));
    REQUIRE(peers.read(300));
    REQUIRE(peers.fetch_add(3, 1024));
    CHECK(peers.converse() == Lines{"> RDMA_WRITE_FIRST 100", "> RDMA_WRITE_MIDDLE 101", "> RDMA_WRITE_LAST 102!",
                                    "> SEND_ONLY 103!", "> RDMA_READ_REQUEST 104!", "> FETCH_ADD 106!",
                                    "< ACKNOWLEDGE 103 ACK msn 2", "< RDMA_READ_RESPONSE_FIRST 104 ACK msn 3",
                                    "< RDMA_READ_RESPONSE_LAST 105 ACK msn 3", "< ATOMIC_ACKNOWLEDGE 106 ACK msn 4"});
    const auto done = peers.requester.take_completions();
    REQUIRE(done.size() == 4);
    CHECK(peers.local[2] == some_bytes(300));  // what the WRITE wrote
    CHECK(done[2].bytes == 300);
    CHECK(peers.cell(peers.local[3]) == 0);
    CHECK(peers.requester.state() == RequesterState::idle);
    CHECK_FALSE(peers.requester.poll_at());
}

TEST_CASE("requester: a sequence NAK acknowledges what was before it and sends the rest again") {
    AfterNak scene = after_nak();
    scene.peers.answer(scene.said);
    CHECK(lines(scene.peers.requests()) == Lines{"SEND_ONLY 100!", "SEND_ONLY 101!", "SEND_ONLY 102!"});
    CHECK(scene.peers.requester.counts().sequence_naks == 1);
    CHECK(scene.peers.requester.counts().retransmitted == 3);
    scene.peers.requester.process(says(Psn{102}, kNak), scene.peers.now);
    CHECK(statuses(scene.peers.requester) == std::vector{kSuccess, kSuccess});
    CHECK(lines(scene.peers.requests()) == Lines{"SEND_ONLY 102!"});
}

TEST_CASE("requester: an ACK past a READ that was not answered is a NAK of the READ") {
    Peers peers = connected_pair();
    REQUIRE(peers.send(8));
    REQUIRE(peers.read(600));
    REQUIRE(peers.send(8));
    for (const auto& packet : peers.requests()) static_cast<void>(peers.arrives(packet));
    const auto said = peers.responses();  // ACK 100, READ 101 102 103, ACK 104
    peers.answer({said[0], said[1], said[3]});
    CHECK(peers.requester.counts().implied_naks == 1);
    peers.answer({said[4]});
    CHECK(peers.requester.counts().implied_naks == 1);  // said already
    const auto again = peers.requests();
    CHECK(lines(again) == Lines{"RDMA_READ_REQUEST 102!", "SEND_ONLY 104!"});
    CHECK(again[0].access->address == kMemoryBase + 256);
    CHECK(again[0].access->length == 600 - 256);
    for (const auto& packet : again) CHECK(peers.arrives(packet) == ResponderVerdict::duplicate);
    peers.answer(peers.responses());
    CHECK(statuses(peers.requester) == std::vector{kSuccess, kSuccess, kSuccess});
}

TEST_CASE("requester: RNR NAK waits at least the time of its code, then goes on from there") {
    Peers peers = connected_pair(0);
    REQUIRE(peers.send(8));
    CHECK(peers.converse() == Lines{"> SEND_ONLY 100!", "< ACKNOWLEDGE 100 RNR_NAK 14 msn 0"});
    CHECK(peers.requester.state() == RequesterState::rnr_wait);
    CHECK(peers.requester.poll_at() == qps::dissect::Instant{} + microseconds(1280));
    peers.post_receives(1);
    peers.wait(microseconds(1279));
    CHECK(peers.converse().empty());
    peers.wait(microseconds(1));
    CHECK(peers.converse() == Lines{"> SEND_ONLY 100!", "< ACKNOWLEDGE 100 ACK msn 1"});
    CHECK(statuses(peers.requester) == std::vector{kSuccess});
}

TEST_CASE("requester: RNR retries run out, unless there are seven of them") {
    for (std::uint8_t retries : {std::uint8_t{2}, kInfiniteRnrRetries}) {
        RequesterSettings asks = connected_pair().asks;
        asks.rnr_retries = retries;
        Peers peers = connected_pair(asks, connected_pair().answers, 0);
        REQUIRE(peers.send(8));
        for (int i = 0; i < 20; ++i) {
            static_cast<void>(peers.converse());
            peers.wait(microseconds(1280));
        }
        const bool infinite = retries == kInfiniteRnrRetries;
        CHECK(peers.requester.counts().rnr_naks == (infinite ? 20U : 3U));
        CHECK(statuses(peers.requester).size() == (infinite ? 0U : 1U));
        CHECK((peers.requester.state() == RequesterState::error) == !infinite);
    }
}

TEST_CASE("requester: the local ACK timeout is 4.096 us * 2^n, and after seven retries it is over") {
    CHECK_FALSE(ack_timeout_of(0));
    CHECK(ack_timeout_of(18) == nanoseconds(1'073'741'824));
    RequesterSettings asks = connected_pair().asks;
    asks.ack_timeout = 10;
    Peers peers = connected_pair(asks, connected_pair().answers);
    REQUIRE(peers.send(8));
    REQUIRE(peers.send(8));
    for (int attempt = 0; attempt < 8; ++attempt) {
        CHECK(peers.requests().size() == 2);
        CHECK(peers.requester.poll_at() == peers.now + nanoseconds(4'194'304));
        peers.wait(nanoseconds(4'194'303));
        CHECK(peers.requests().empty());
        peers.wait(nanoseconds(1));
    }
    CHECK(peers.requests().empty());
    CHECK(statuses(peers.requester) == std::vector{CompletionStatus::retry_exceeded, CompletionStatus::flushed});
    CHECK(peers.requester.counts().timeouts == 8);
    CHECK_FALSE(peers.send(8));
}

TEST_CASE("requester: a fatal NAK completes what was before it, fails its own request and flushes the rest") {
    Peers peers = connected_pair();
    for (int i = 0; i < 3; ++i) REQUIRE(peers.send(8));
    static_cast<void>(peers.requests());
    peers.requester.process(says(Psn{101}, kNak | 2), peers.now);
    CHECK(statuses(peers.requester) ==
          std::vector{kSuccess, CompletionStatus::remote_access_error, CompletionStatus::flushed});
    CHECK(peers.requester.state() == RequesterState::error);
}

TEST_CASE("requester: what is not outstanding is a ghost") {
    Peers peers = connected_pair();
    REQUIRE(peers.send(8));
    static_cast<void>(peers.requests());
    for (Psn psn : {Psn{99}, Psn{101}, Psn{0x800000}}) peers.requester.process(says(psn, kAck), peers.now);
    peers.requester.process(says(Psn{100}, kNak | 9), peers.now);  // a reserved code is no success
    peers.requester.process(says(Psn{100}, 0x40), peers.now);
    CHECK(peers.requester.counts().ghosts == 5);
    CHECK(statuses(peers.requester).empty());
    peers.requester.process(says(Psn{100}, kAck), peers.now);
    CHECK(statuses(peers.requester) == std::vector{kSuccess});
}

TEST_CASE("requester: a READ response of the wrong length is an error") {
    Peers peers = connected_pair();
    REQUIRE(peers.read(300));
    for (const auto& packet : peers.requests()) static_cast<void>(peers.arrives(packet));
    auto said = peers.responses();
    said[1].payload = said[1].payload.first(said[1].payload.size() - 1);
    peers.answer(said);
    CHECK(statuses(peers.requester) == std::vector{CompletionStatus::local_length_error});
}

TEST_CASE("requester: the window and the depth of READs bound what is outstanding") {
    RequesterSettings asks = connected_pair().asks;
    asks.window = 4;
    asks.initiator_depth = 2;
    Peers peers = connected_pair(asks, connected_pair().answers);
    REQUIRE(peers.send(256 * 10));
    CHECK(lines(peers.requests()) == Lines{"SEND_FIRST 100", "SEND_MIDDLE 101", "SEND_MIDDLE 102", "SEND_MIDDLE 103!"});
    peers.requester.process(says(Psn{101}, kAck), peers.now);
    CHECK(lines(peers.requests()) == Lines{"SEND_MIDDLE 104", "SEND_MIDDLE 105!"});
    peers = connected_pair(asks, connected_pair().answers);
    for (int i = 0; i < 3; ++i) REQUIRE(peers.read(8));
    CHECK(lines(peers.requests()) == Lines{"RDMA_READ_REQUEST 100!", "RDMA_READ_REQUEST 101!"});
}

TEST_CASE("requester: PSNs wrap in the middle of a message") {
    RequesterSettings asks = connected_pair().asks;
    ResponderSettings answers = connected_pair().answers;
    asks.first = answers.expected = Psn{0xffffff};
    Peers peers = connected_pair(asks, answers);
    REQUIRE(peers.send(512));
    REQUIRE(peers.read(512));
    static_cast<void>(peers.converse());
    CHECK(statuses(peers.requester) == std::vector{kSuccess, kSuccess});
    CHECK(peers.responder.expected() == Psn{3});
}
