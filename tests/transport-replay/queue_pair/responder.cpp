#include <tests/support/catch.hpp>
#include <tests/support/peers.hpp>

using namespace qps::tests;
using namespace qps::transport;
using qps::dissect::Opcode;
using qps::dissect::Place;
using qps::dissect::Psn;
using qps::dissect::Rkey;
using qps::dissect::Service;
using Lines = std::vector<std::string>;

namespace {

TransportPacket request(WorkKind kind, Place place, Psn psn, std::uint32_t bytes) {
    TransportPacket packet;
    packet.opcode = request_opcode(Service::rc, kind, place);
    packet.psn = psn;
    packet.ack_request = true;
    static const std::vector<std::byte> kPayload = some_bytes(0x2000);
    packet.payload = qps::dissect::slice(kPayload, 0, bytes);
    if (kind == WorkKind::write && (begins_message(place))) packet.access = {kMemoryBase, kKey, bytes};
    return packet;
}
TransportPacket read_request(Psn psn, std::uint32_t bytes, std::uint64_t offset = 0) {
    TransportPacket packet = request(WorkKind::read, Place::only, psn, 0);
    packet.access = {kMemoryBase + offset, kKey, bytes};
    return packet;
}
TransportPacket fetch_add(Psn psn, std::uint64_t value) {
    TransportPacket packet = request(WorkKind::fetch_add, Place::only, psn, 0);
    packet.access = {kMemoryBase, kKey, 8};
    packet.atomic = {value, 0};
    return packet;
}

}  // namespace

TEST_CASE("responder: a SEND in three packets is received and acknowledged once") {
    Peers peers = connected_pair();
    REQUIRE(peers.send(600));
    const auto packets = peers.requests();
    CHECK(lines(packets) == Lines{"SEND_FIRST 100", "SEND_MIDDLE 101", "SEND_LAST 102!"});
    ResponderSettings settings = peers.answers;
    settings.ack_every = 0;
    Peers other = connected_pair(peers.asks, settings);
    for (const auto& packet : packets) CHECK(other.arrives(packet) == ResponderVerdict::accept);
    CHECK(lines(other.responses()) == Lines{"ACKNOWLEDGE 102 ACK msn 1"});
    REQUIRE(other.received.size() == 1);
    CHECK(other.bytes_of(other.received[0]) == some_bytes(600));
}

TEST_CASE("responder: a gap is refused once, until the expected PSN arrives") {
    AfterNak scene = after_nak();
    CHECK(lines(scene.said) == Lines{"ACKNOWLEDGE 100 NAK 0 msn 0"});
    CHECK(scene.peers.arrives(scene.sent[2]) == ResponderVerdict::gap_ignored);
    CHECK(scene.peers.arrives(scene.sent[0]) == ResponderVerdict::accept);
    CHECK(scene.peers.arrives(scene.sent[2]) == ResponderVerdict::gap);
    CHECK(lines(scene.peers.responses()) == Lines{"ACKNOWLEDGE 100 ACK msn 1", "ACKNOWLEDGE 101 NAK 0 msn 1"});
}

TEST_CASE("responder: without a posted receive a SEND waits, a WRITE does not") {
    Peers peers = connected_pair(0);
    CHECK(peers.arrives(request(WorkKind::write, Place::only, Psn{100}, 10)) == ResponderVerdict::accept);
    CHECK(peers.arrives(request(WorkKind::send, Place::only, Psn{101}, 10)) == ResponderVerdict::not_ready);
    CHECK(peers.arrives(request(WorkKind::send, Place::only, Psn{102}, 10)) == ResponderVerdict::gap_ignored);
    CHECK(lines(peers.responses()) == Lines{"ACKNOWLEDGE 100 ACK msn 1", "ACKNOWLEDGE 101 RNR_NAK 14 msn 1"});
    peers.post_receives(1);
    CHECK(peers.arrives(request(WorkKind::send, Place::only, Psn{101}, 10)) == ResponderVerdict::accept);
    CHECK(peers.receives.size() == 0);
}

TEST_CASE("responder: a READ is segmented, its PSNs are those of the responses") {
    Peers peers = connected_pair();
    CHECK(peers.arrives(read_request(Psn{100}, 700)) == ResponderVerdict::accept);
    CHECK(peers.responder.expected() == Psn{103});
    const auto said = peers.responses();
    CHECK(lines(said) == Lines{"RDMA_READ_RESPONSE_FIRST 100 ACK msn 1", "RDMA_READ_RESPONSE_MIDDLE 101",
                               "RDMA_READ_RESPONSE_LAST 102 ACK msn 1"});
    CHECK(said[2].payload.size() == 700 - 512);
}

TEST_CASE("responder: responses come in the order of the requests") {
    Peers peers = connected_pair();
    for (const auto& packet : {request(WorkKind::send, Place::only, Psn{100}, 8), read_request(Psn{101}, 300),
                               fetch_add(Psn{103}, 5), request(WorkKind::send, Place::only, Psn{104}, 8)})
        CHECK(peers.arrives(packet) == ResponderVerdict::accept);
    CHECK(lines(peers.responses()) == Lines{"ACKNOWLEDGE 100 ACK msn 1", "RDMA_READ_RESPONSE_FIRST 101 ACK msn 2",
                                            "RDMA_READ_RESPONSE_LAST 102 ACK msn 2", "ATOMIC_ACKNOWLEDGE 103 ACK msn 3",
                                            "ACKNOWLEDGE 104 ACK msn 4"});
}

TEST_CASE("responder: a duplicate SEND is acknowledged again, but not past a READ after it") {
    Peers peers = connected_pair();
    const auto send = request(WorkKind::send, Place::only, Psn{100}, 8);
    CHECK(peers.arrives(send) == ResponderVerdict::accept);
    CHECK(peers.arrives(request(WorkKind::send, Place::only, Psn{101}, 8)) == ResponderVerdict::accept);
    static_cast<void>(peers.responses());
    CHECK(peers.arrives(send) == ResponderVerdict::duplicate);
    CHECK(lines(peers.responses()) == Lines{"ACKNOWLEDGE 101 ACK msn 2"});
    CHECK(peers.arrives(read_request(Psn{102}, 8)) == ResponderVerdict::accept);
    static_cast<void>(peers.responses());
    CHECK(peers.arrives(send) == ResponderVerdict::duplicate);
    CHECK(lines(peers.responses()) == Lines{"ACKNOWLEDGE 101 ACK msn 3"});
    CHECK(peers.received.size() == 2);
}

TEST_CASE("responder: a duplicate READ is read again, whole or from a packet on, anything else is dropped") {
    Peers peers = connected_pair();
    CHECK(peers.arrives(read_request(Psn{100}, 700)) == ResponderVerdict::accept);
    static_cast<void>(peers.responses());
    CHECK(peers.arrives(read_request(Psn{101}, 444, 256)) == ResponderVerdict::duplicate);
    CHECK(lines(peers.responses()) ==
          Lines{"RDMA_READ_RESPONSE_FIRST 101 ACK msn 1", "RDMA_READ_RESPONSE_LAST 102 ACK msn 1"});
    CHECK(peers.arrives(read_request(Psn{101}, 444, 255)) == ResponderVerdict::duplicate_dropped);
    CHECK(peers.arrives(read_request(Psn{101}, 445, 256)) == ResponderVerdict::duplicate_dropped);
    CHECK(peers.arrives(read_request(Psn{99}, 8)) == ResponderVerdict::duplicate_dropped);
    CHECK(peers.responses().empty());
}

TEST_CASE("responder: a copy of a READ that comes after its region went ends nothing") {
    Peers peers = connected_pair();
    CHECK(peers.arrives(read_request(Psn{100}, 700)) == ResponderVerdict::accept);
    CHECK(peers.responses().size() == 3);
    REQUIRE(peers.memory.remove(kKey));
    CHECK(peers.arrives(read_request(Psn{101}, 444, 256)) == ResponderVerdict::duplicate);
    CHECK(peers.arrives(request(WorkKind::send, Place::only, Psn{103}, 8)) == ResponderVerdict::accept);
    CHECK(lines(peers.responses()) == Lines{"ACKNOWLEDGE 103 ACK msn 2"});
    CHECK(peers.responder.state() == ResponderState::ready);
    // One that is no copy is refused.
    CHECK(peers.arrives(read_request(Psn{104}, 8)) == ResponderVerdict::remote_access_error);
}

TEST_CASE("responder: a duplicate ATOMIC has the saved result and changes nothing") {
    Peers peers = connected_pair();
    CHECK(peers.arrives(fetch_add(Psn{100}, 5)) == ResponderVerdict::accept);
    CHECK(peers.arrives(fetch_add(Psn{101}, 7)) == ResponderVerdict::accept);
    CHECK(peers.arrives(fetch_add(Psn{101}, 7)) == ResponderVerdict::duplicate);
    CHECK(peers.arrives(fetch_add(Psn{101}, 8)) == ResponderVerdict::duplicate_dropped);  // not identical
    const auto said = peers.responses();
    REQUIRE(said.size() == 3);
    CHECK(said[0].atomic_result == 0);
    CHECK(said[1].atomic_result == 5);
    CHECK(said[2].atomic_result == 5);
    CHECK(peers.cell(peers.region) == 12);
}

TEST_CASE("responder: what may not be is refused for good, with the PSN of the request") {
    struct Row {
        TransportPacket packet;
        ResponderVerdict verdict;
        std::string said;
    };
    TransportPacket wrong_key = request(WorkKind::write, Place::only, Psn{100}, 8);
    wrong_key.access->key = Rkey{1};
    TransportPacket beyond = request(WorkKind::write, Place::only, Psn{100}, 8);
    beyond.access->address = kMemoryBase + 0x10000 - 7;
    TransportPacket misaligned = fetch_add(Psn{100}, 1);
    misaligned.access->address += 4;
    TransportPacket lying = request(WorkKind::write, Place::only, Psn{100}, 8);
    lying.access->length = 9;
    const std::string invalid = "ACKNOWLEDGE 100 NAK 1 msn 0";
    const std::string access = "ACKNOWLEDGE 100 NAK 2 msn 0";
    const std::vector<Row> rows{
        {wrong_key, ResponderVerdict::remote_access_error, access},
        {beyond, ResponderVerdict::remote_access_error, access},
        {read_request(Psn{100}, 0x10001), ResponderVerdict::remote_access_error, access},
        {misaligned, ResponderVerdict::invalid_request, invalid},
        {lying, ResponderVerdict::invalid_request, invalid},
        {request(WorkKind::send, Place::middle, Psn{100}, 256), ResponderVerdict::invalid_request, invalid},
        {request(WorkKind::send, Place::last, Psn{100}, 8), ResponderVerdict::invalid_request, invalid},
        {request(WorkKind::send, Place::first, Psn{100}, 255), ResponderVerdict::invalid_request, invalid},
        {request(WorkKind::send, Place::only, Psn{100}, 257), ResponderVerdict::invalid_request, invalid},
    };
    for (const Row& row : rows) {
        Peers peers = connected_pair();
        CHECK(peers.arrives(row.packet) == row.verdict);
        CHECK(lines(peers.responses()) == Lines{row.said});
        CHECK(peers.arrives(request(WorkKind::send, Place::only, Psn{100}, 8)) == ResponderVerdict::dropped);
        CHECK(peers.responder.state() == ResponderState::error);
    }
}

TEST_CASE("responder: an operation that the queue pair does not permit is an invalid request") {
    ResponderSettings answers = connected_pair().answers;
    answers.allowed.read = false;
    Peers peers = connected_pair(connected_pair().asks, answers);
    CHECK(peers.arrives(read_request(Psn{100}, 8)) == ResponderVerdict::invalid_request);
}

TEST_CASE("responder: the key of nothing is not looked at") {
    Peers peers = connected_pair();
    TransportPacket nothing = request(WorkKind::write, Place::only, Psn{100}, 0);
    nothing.access = {1, Rkey{1}, 0};
    CHECK(peers.arrives(nothing) == ResponderVerdict::accept);
    TransportPacket read = read_request(Psn{101}, 0);
    read.access->key = Rkey{1};
    CHECK(peers.arrives(read) == ResponderVerdict::accept);
    CHECK(lines(peers.responses()) == Lines{"ACKNOWLEDGE 100 ACK msn 1", "RDMA_READ_RESPONSE_ONLY 101 ACK msn 2"});
}

TEST_CASE("responder: more READs at a time than it has resources for") {
    ResponderSettings answers = connected_pair().answers;
    answers.resources = 2;
    Peers peers = connected_pair(connected_pair().asks, answers);
    CHECK(peers.arrives(read_request(Psn{100}, 8)) == ResponderVerdict::accept);
    CHECK(peers.arrives(read_request(Psn{101}, 8)) == ResponderVerdict::accept);
    CHECK(peers.arrives(read_request(Psn{102}, 8)) == ResponderVerdict::invalid_request);
}

TEST_CASE("responder: a READ whose region goes away is refused where its next response would be") {
    Peers peers = connected_pair();
    CHECK(peers.arrives(read_request(Psn{100}, 700)) == ResponderVerdict::accept);
    CHECK(line(*peers.responder.poll(peers.memory)) == "RDMA_READ_RESPONSE_FIRST 100 ACK msn 1");
    REQUIRE(peers.memory.invalidate(kKey, kResponderQp));
    CHECK(lines(peers.responses()) == Lines{"ACKNOWLEDGE 101 NAK 2 msn 1"});
    CHECK(peers.responder.state() == ResponderState::error);
}

TEST_CASE("responder: SEND with invalidate takes the key away") {
    Peers peers = connected_pair();
    TransportPacket packet = request(WorkKind::send_with_invalidate, Place::only, Psn{100}, 8);
    packet.invalidate = kKey;
    CHECK(peers.arrives(packet) == ResponderVerdict::accept);
    CHECK(peers.received.at(0).invalidated == kKey);
    packet.psn = Psn{101};
    CHECK(peers.arrives(packet) == ResponderVerdict::invalidate_failed);
    CHECK(lines(peers.responses()) == Lines{"ACKNOWLEDGE 100 ACK msn 1"});
    CHECK(peers.responder.state() == ResponderState::error);
}

TEST_CASE("responder: nothing that floods it makes it grow") {
    Peers peers = connected_pair();
    for (int i = 0; i < 10'000; ++i) static_cast<void>(peers.arrives(fetch_add(Psn{100}, 1)));
    for (int i = 0; i < 10'000; ++i)
        static_cast<void>(peers.arrives(request(WorkKind::send, Place::only, Psn{200}, 8)));
    CHECK(peers.responses().size() <= kMaxResponses + 1);
}

TEST_CASE("responder: UC drops until a message begins, and says nothing") {
    Peers peers = connected_pair();
    ResponderSettings answers = peers.answers;
    answers.service = Service::uc;
    peers = connected_pair(peers.asks, answers);
    const auto uc = [](Place place, Psn psn) {
        TransportPacket packet = request(WorkKind::send, place, psn, place == Place::last ? 8 : 256);
        packet.opcode = request_opcode(Service::uc, WorkKind::send, place);
        return packet;
    };
    CHECK(peers.arrives(uc(Place::first, Psn{100})) == ResponderVerdict::accept);
    CHECK(peers.arrives(uc(Place::last, Psn{102})) == ResponderVerdict::dropped);
    CHECK(peers.arrives(uc(Place::first, Psn{105})) == ResponderVerdict::accept);
    CHECK(peers.arrives(uc(Place::last, Psn{106})) == ResponderVerdict::accept);
    CHECK(peers.responses().empty());
    REQUIRE(peers.received.size() == 1);
    CHECK(peers.received[0].length == 264);
}
