// UD and UC: what nobody answers.
#include <tests/support/catch.hpp>
#include <tests/support/peers.hpp>

#include <algorithm>

using namespace qps::tests;
using namespace qps::transport;
using qps::dissect::Bytes;
using qps::dissect::Place;
using qps::dissect::Psn;
using qps::dissect::Qkey;
using qps::dissect::Qpn;
using qps::dissect::Service;

namespace {

constexpr Qkey kQkey{0x11111111};

Peers datagram_pair(std::size_t receive_bytes, std::uint32_t receives = 4) {
    RequesterSettings asks = connected_pair(0).asks;
    ResponderSettings answers = connected_pair(0).answers;
    asks.service = answers.service = Service::ud;
    asks.datagram = Datagram{kQkey, kRequesterQp};
    answers.qkey = kQkey;
    Peers peers = connected_pair(asks, answers, 0);
    peers.post_receives(receives, receive_bytes);
    return peers;
}

Peers unreliable_pair(std::uint32_t receives) {
    RequesterSettings asks = connected_pair(0).asks;
    ResponderSettings answers = connected_pair(0).answers;
    asks.service = answers.service = Service::uc;
    return connected_pair(asks, answers, receives);
}

}  // namespace

TEST_CASE("datagrams: the network header comes before the message, an IPv4 header in the last twenty bytes") {
    const std::vector<std::byte> header = some_bytes(40);
    for (const std::size_t length : {std::size_t{40}, std::size_t{20}, std::size_t{0}}) {
        Peers peers = datagram_pair(256);
        std::ranges::fill(peers.buffers[0], std::byte{0xee});
        REQUIRE(peers.send(10));
        auto packets = peers.requests();
        packets.at(0).network_header = Bytes(header).first(length);
        CHECK(peers.arrives(packets[0]) == ResponderVerdict::accept);
        REQUIRE(peers.received.size() == 1);
        CHECK(peers.received[0].length == 50);
        CHECK(peers.received[0].source_qp == kRequesterQp);
        CHECK(peers.received[0].has_network_header == (length > 0));
        const Bytes got = peers.buffers[0];
        CHECK(std::ranges::equal(got.subspan(40 - length, length), Bytes(header).first(length)));
        CHECK(std::ranges::all_of(got.first(40 - length), [](std::byte byte) { return byte == std::byte{}; }));
        CHECK(std::ranges::equal(got.subspan(40, 10), some_bytes(10)));
        CHECK(got[50] == std::byte{0xee});
    }
}

TEST_CASE("datagrams: one that does not fit is dropped, and the queue pair goes on") {
    Peers peers = datagram_pair(50);
    REQUIRE(peers.send(11));
    REQUIRE(peers.send(10));
    const auto packets = peers.requests();
    CHECK(peers.arrives(packets.at(0)) == ResponderVerdict::dropped);
    CHECK(peers.receives.size() == 4);  // it took nothing
    CHECK(peers.arrives(packets.at(1)) == ResponderVerdict::accept);
    CHECK(peers.responder.state() == ResponderState::ready);
    CHECK_FALSE(peers.actions.at(0).consumed_with_error);
    CHECK_FALSE(peers.responder.pending());
}

TEST_CASE("datagrams: without a receive, or with another key, they are dropped") {
    Peers peers = datagram_pair(256, 0);
    REQUIRE(peers.send(8));
    const auto packets = peers.requests();
    CHECK(peers.arrives(packets.at(0)) == ResponderVerdict::dropped);
    peers.post_receives(1);
    auto other = packets[0];
    other.datagram->key = Qkey{1};
    CHECK(peers.arrives(other) == ResponderVerdict::dropped);
    other.datagram.reset();
    CHECK(peers.arrives(other) == ResponderVerdict::dropped);
    CHECK(peers.arrives(packets[0]) == ResponderVerdict::accept);
    CHECK_FALSE(peers.responder.pending());
}

TEST_CASE("datagrams: a receive that lies nowhere is used up, and the peer hears nothing") {
    Peers peers = datagram_pair(256, 0);
    REQUIRE(peers.receives.post({.id = 9, .usable = false}));
    REQUIRE(peers.send(8));
    CHECK(peers.arrives(peers.requests().at(0)) == ResponderVerdict::dropped);
    CHECK(peers.actions.at(0).consumed_with_error == 9);
    CHECK(peers.receives.size() == 0);
    CHECK_FALSE(peers.responder.pending());
}

TEST_CASE("datagrams: every work request has its own destination") {
    Peers peers = datagram_pair(256);
    REQUIRE(peers.post({.id = 5, .datagram = DatagramPeer{Qpn{0x77}, Qkey{9}}}, some_bytes(8)));
    REQUIRE(peers.send(8));
    CHECK_FALSE(peers.send(257));  // one packet, no more
    const auto packet = peers.requester.poll(peers.now);
    REQUIRE(packet);
    CHECK(peers.requester.polled() == 5);
    CHECK(packet->dest_qp == Qpn{0x77});
    CHECK(packet->datagram == Datagram{Qkey{9}, kRequesterQp});
    const auto second = peers.requester.poll(peers.now);
    REQUIRE(second);
    CHECK(second->dest_qp == kResponderQp);
    CHECK(second->datagram == Datagram{kQkey, kRequesterQp});
    CHECK(second->psn == Psn{101});
    CHECK(peers.requester.take_completions().size() == 2);
}

TEST_CASE("unreliable connection: a message given up leaves its receive to the next") {
    Peers peers = unreliable_pair(1);
    REQUIRE(peers.send(600));
    REQUIRE(peers.send(300));
    const auto packets = peers.requests();
    for (const auto& packet : packets) CHECK_FALSE(packet.ack_request);
    CHECK(peers.arrives(packets.at(0)) == ResponderVerdict::accept);
    CHECK(peers.arrives(packets.at(2)) == ResponderVerdict::dropped);  // the second was lost
    CHECK(peers.arrives(packets.at(3)) == ResponderVerdict::accept);
    CHECK(peers.arrives(packets.at(4)) == ResponderVerdict::accept);
    REQUIRE(peers.received.size() == 1);
    CHECK(peers.received[0].id == 0);
    CHECK(peers.bytes_of(peers.received[0]) == some_bytes(300));
    CHECK_FALSE(peers.responder.pending());
}

TEST_CASE("unreliable connection: what may not be is dropped without a word") {
    Peers peers = unreliable_pair(0);
    REQUIRE(peers.post({.kind = WorkKind::write, .remote = {kMemoryBase + 0x10000, kKey, 8}}, some_bytes(8)));
    REQUIRE(peers.send(8));
    REQUIRE(peers.write(8));
    const auto packets = peers.requests();
    CHECK(peers.requester.take_completions().size() == 3);
    CHECK(peers.arrives(packets.at(0)) == ResponderVerdict::dropped);
    CHECK(peers.arrives(packets.at(1)) == ResponderVerdict::dropped);  // no receive
    CHECK(peers.arrives(packets.at(2)) == ResponderVerdict::accept);
    CHECK(peers.responder.state() == ResponderState::ready);
    CHECK_FALSE(peers.read(8));
    CHECK_FALSE(peers.fetch_add(1));
}
