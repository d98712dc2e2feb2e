// End-to-end flow control: what the responder says, and what the requester makes of it (9.7.7.2).
#include <tests/support/catch.hpp>
#include <tests/support/peers.hpp>

using namespace qps::tests;
using namespace qps::transport;
using qps::dissect::kUnlimitedCredits;
using qps::dissect::Msn;
using qps::dissect::Psn;
using Lines = std::vector<std::string>;

namespace {

Peers with_credits(std::uint32_t receives) {
    RequesterSettings asks = connected_pair(0).asks;
    ResponderSettings answers = connected_pair(0).answers;
    asks.end_to_end_credits = answers.credits = true;
    return connected_pair(asks, answers, receives);
}

TransportPacket ack(Psn psn, std::uint8_t credits, std::uint32_t msn) {
    TransportPacket packet;
    packet.opcode = qps::dissect::Opcode::rc_acknowledge;
    packet.psn = psn;
    packet.acknowledgment = Acknowledgment{credits, static_cast<Msn>(msn)};
    return packet;
}

std::size_t done(Requester& requester) { return requester.take_completions().size(); }

}  // namespace

TEST_CASE("credits: the responder rounds the receives down to a code") {
    struct Row {
        std::uint32_t receives;  // before the SEND takes one
        std::uint8_t code;
    };
    for (const Row& row : {Row{1, 0}, Row{2, 1}, Row{5, 4}, Row{6, 4}, Row{7, 5}, Row{8, 5}, Row{9, 6},
                           Row{0x2001, 0x1a}, Row{0x8000, 0x1d}}) {
        Peers peers = with_credits(0);
        for (std::uint32_t i = 0; i < row.receives; ++i) {
            PostedReceive receive;
            receive.segments.push_back(peers.region);
            REQUIRE(peers.receives.post(receive));
        }
        REQUIRE(peers.send(8));
        for (const auto& packet : peers.requests()) CHECK(peers.arrives(packet) == ResponderVerdict::accept);
        const auto said = peers.responses();
        REQUIRE(said.size() == 1);
        CHECK(said[0].acknowledgment->code() == row.code);
    }
}

TEST_CASE("credits: a shared queue promises nothing, nor does who gives none") {
    Peers peers = with_credits(0);
    peers.receives = ReceiveQueue(16, true);
    peers.post_receives(4);
    REQUIRE(peers.send(8));
    for (const auto& packet : peers.requests()) static_cast<void>(peers.arrives(packet));
    CHECK(peers.responses().at(0).acknowledgment->code() == kUnlimitedCredits);
    peers = connected_pair();
    REQUIRE(peers.send(8));
    for (const auto& packet : peers.requests()) static_cast<void>(peers.arrives(packet));
    CHECK(peers.responses().at(0).acknowledgment->code() == kUnlimitedCredits);
}

TEST_CASE("credits: beyond the limit one message sends one packet, which asks for an ACK") {
    Peers peers = with_credits(0);
    REQUIRE(peers.send(600));
    REQUIRE(peers.send(8));
    CHECK(lines(peers.requests()) == Lines{"SEND_FIRST 100!"});
    CHECK(peers.requester.poll_at() != std::nullopt);  // the local ACK timeout
    peers.requester.process(ack(Psn{100}, 0, 0), peers.now);
    CHECK(lines(peers.requests()) == Lines{"SEND_MIDDLE 101", "SEND_LAST 102!"});  // its receive is taken
    peers.requester.process(ack(Psn{102}, 0, 1), peers.now);
    CHECK(lines(peers.requests()) == Lines{"SEND_ONLY 103!"});
    peers.requester.process(ack(Psn{103}, 0, 2), peers.now);
    CHECK(done(peers.requester) == 2);
}

TEST_CASE("credits: what takes no receive is not held back, but counts") {
    Peers peers = with_credits(0);
    REQUIRE(peers.write(600));
    REQUIRE(peers.read(8));
    REQUIRE(peers.send(8));  // the third message
    CHECK(lines(peers.requests()) ==
          Lines{"RDMA_WRITE_FIRST 100", "RDMA_WRITE_MIDDLE 101", "RDMA_WRITE_LAST 102!", "RDMA_READ_REQUEST 103!"});
    peers.requester.process(ack(Psn{102}, 1, 1), peers.now);
    CHECK(lines(peers.requests()) == Lines{"SEND_ONLY 104!"});  // SSN 3 is one beyond LSN 2
}

TEST_CASE("credits: the limit is LSN = MSN + credits, and only rises") {
    Peers peers = with_credits(0);
    for (int i = 0; i < 12; ++i) REQUIRE(peers.send(8));
    CHECK(peers.requests().size() == 1);
    peers.requester.process(ack(Psn{100}, 4, 1), peers.now);
    CHECK(peers.requests().size() == 5);                      // up to 5, and one beyond
    peers.requester.process(ack(Psn{101}, 0, 2), peers.now);  // older than what it knows: takes nothing back
    CHECK(peers.requests().empty());
    peers.requester.process(ack(Psn{102}, 6, 3), peers.now);  // code 6: 8 credits, LSN 11
    CHECK(peers.requests().size() == 6);
}

TEST_CASE("credits: an ACK of what is acknowledged already brings new ones") {
    Peers peers = with_credits(0);
    for (int i = 0; i < 4; ++i) REQUIRE(peers.send(8));
    CHECK(peers.requests().size() == 1);
    peers.requester.process(ack(Psn{100}, 0, 1), peers.now);
    CHECK(peers.requests().size() == 1);
    CHECK(peers.requests().empty());
    peers.requester.process(ack(Psn{100}, 2, 1), peers.now);
    CHECK(peers.requester.counts().ghosts == 1);
    CHECK(peers.requests().size() == 2);  // LSN 3, and one beyond
    peers.requester.process(ack(Psn{0x700000}, kUnlimitedCredits, 1), peers.now);
    CHECK(peers.requests().empty());  // outside of everything: believed by nobody
}

TEST_CASE("credits: code 31 lifts the limit for good") {
    Peers peers = with_credits(0);
    for (int i = 0; i < 40; ++i) REQUIRE(peers.send(8));
    CHECK(peers.requests().size() == 1);
    peers.requester.process(ack(Psn{100}, kUnlimitedCredits, 1), peers.now);
    peers.requester.process(ack(Psn{100}, 0, 1), peers.now);
    CHECK(peers.requests().size() == 39);
}

TEST_CASE("credits: a queue that was empty says so when it is filled") {
    Peers peers = with_credits(1);
    REQUIRE(peers.send(8));
    CHECK(peers.converse() == Lines{"> SEND_ONLY 100!", "< ACKNOWLEDGE 100 ACK msn 1"});
    peers.responder.advertise(peers.receives);
    CHECK_FALSE(peers.responder.pending());  // nothing to say yet
    peers.post_receives(8);
    peers.responder.advertise(peers.receives);
    peers.responder.advertise(peers.receives);
    const auto said = peers.responses();
    REQUIRE(lines(said) == Lines{"ACKNOWLEDGE 100 ACK msn 1"});
    CHECK(said[0].acknowledgment->code() == 6);
    peers.answer(said);
    for (int i = 0; i < 12; ++i) REQUIRE(peers.send(8));
    CHECK(peers.requests().size() == 9);
}

TEST_CASE("credits: both ends together, with fewer receives than messages") {
    Peers peers = with_credits(3);
    for (int i = 0; i < 30; ++i) REQUIRE(peers.send(700));
    for (int round = 0; round < 60 && peers.requester.open() > 0; ++round) {
        static_cast<void>(peers.converse());
        peers.post_receives(1);
        peers.responder.advertise(peers.receives);
        peers.wait(microseconds(2000));
    }
    CHECK(done(peers.requester) == 30);
    CHECK(peers.received.size() == 30);
    CHECK(peers.requester.counts().timeouts == 0);
    for (const ReceivedMessage& message : peers.received) CHECK(peers.bytes_of(message) == some_bytes(700));
}
