// Packets that nobody should act on: each is refused by its name, and changes nothing.
#include <tests/support/catch.hpp>
#include <tests/support/verbs_pair.hpp>

#include <random>
#include <set>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::verbs;
using namespace qps::tests;

namespace {

// The first packet a sends for a SEND of eight bytes, not delivered.
Flying request_of(VerbsPair& pair, dissect::Qpn qa) {
    REQUIRE(pair.a.send(qa, 0, 8, {}));
    const auto out = pair.a.adapter.poll(pair.now);
    REQUIRE(out);
    return flying(*out);
}

std::uint64_t all_refused(const VerbsEnd& end) {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : end.adapter.counts().refused) sum += count;
    return sum;
}

}  // namespace

TEST_CASE("every refusal has a name of its own") {
    CHECK(std::set<std::string_view>(kRefusalNames.begin(), kRefusalNames.end()).size() == kRefusalNames.size());
    for (const std::string_view name : kRefusalNames) CHECK_FALSE(name.empty());
}

TEST_CASE("a request with one thing wrong is refused for that, and the right one after it is taken") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.b.receive(qb, 1, 0, 64));
    const Flying right = request_of(pair, qa);
    IncomingPacket in = arrival_of(right);
    Refusal expected{};
    SECTION("version") { in.transport_version = 1, expected = Refusal::transport_version; }
    SECTION("opcode") { in.packet.opcode = dissect::Opcode{0x1f}, expected = Refusal::undefined_opcode; }
    SECTION("management") { in.packet.dest_qp = dissect::kSmiQpn, expected = Refusal::management_qp; }
    SECTION("destination") { in.destination = v4(77), expected = Refusal::destination; }
    SECTION("destination of another kind") {
        in.destination.space = AddressSpace::roce_v1, expected = Refusal::destination;
    }
    SECTION("queue pair") { in.packet.dest_qp = dissect::Qpn{0x5555}, expected = Refusal::unknown_qp; }
    SECTION("service") { in.packet.opcode = dissect::Opcode{0x24}, expected = Refusal::service; }
    SECTION("P_Key") { in.packet.pkey = dissect::Pkey{0x8001}, expected = Refusal::pkey; }
    SECTION("P_Key 0") { in.packet.pkey = dissect::Pkey{0x8000}, expected = Refusal::pkey; }
    SECTION("source") { in.source = v4(66), expected = Refusal::source; }
    SECTION("group") { in.packet.dest_qp = dissect::kMulticastQpn, expected = Refusal::multicast_service; }
    pair.b.adapter.process(in, pair.now);
    CHECK(pair.b.refused(expected) == 1);
    CHECK(all_refused(pair.b) == 1);
    CHECK_FALSE(pair.b.adapter.poll(pair.now));
    CHECK(pair.b.received().empty());
    pair.b.adapter.process(arrival_of(right), pair.now);
    CHECK(pair.b.received().size() == 1);
    CHECK(all_refused(pair.b) == 1);
}

TEST_CASE("limited members speak with full ones") {
    AdapterSettings limited;
    limited.pkeys = {dissect::Pkey{0x7fff}, dissect::Pkey{0xffff}};
    VerbsPair pair(limited, limited);
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.b.receive(qb, 1, 0, 64));
    const Flying right = request_of(pair, qa);
    IncomingPacket in = arrival_of(right);
    in.packet.pkey = dissect::Pkey{0x7fff};
    pair.b.adapter.process(in, pair.now);
    CHECK(pair.b.received().size() == 1);
}

TEST_CASE("queue pairs that are not ready take nothing") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    const Flying right = request_of(pair, qa);
    const auto fresh = *pair.b.adapter.create_qp(pair.b.init());
    IncomingPacket in = arrival_of(right);
    in.packet.dest_qp = fresh;
    pair.b.adapter.process(in, pair.now);
    REQUIRE(pair.b.adapter.modify_qp(fresh,
                                     {.qp_state = QpState::init, .pkey = dissect::Pkey{0xffff}, .access = Access{}}));
    pair.b.adapter.process(in, pair.now);
    REQUIRE(pair.b.adapter.modify_qp(qb, {.qp_state = QpState::err}));
    pair.b.adapter.process(arrival_of(right), pair.now);
    CHECK(pair.b.refused(Refusal::qp_state) == 3);
    CHECK_FALSE(pair.b.adapter.poll(pair.now));
}

TEST_CASE("forged responses: from elsewhere refused, to nothing outstanding ignored") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.b.receive(qb, 1, 0, 64));
    static_cast<void>(request_of(pair, qa));
    IncomingPacket forged{.source = v4(2), .destination = v4(1)};
    forged.packet.opcode = dissect::Opcode::rc_acknowledge;
    forged.packet.dest_qp = qa;
    forged.packet.psn = dissect::Psn(100);
    forged.packet.acknowledgment = Acknowledgment{.syndrome = 0x1f, .msn = dissect::Msn{1}};
    SECTION("from another host") {
        forged.source = v4(3);
        pair.a.adapter.process(forged, pair.now);
        CHECK(pair.a.refused(Refusal::source) == 1);
        CHECK(pair.a.sent().empty());
    }
    SECTION("for what was never sent") {
        forged.packet.psn = dissect::Psn(101);
        pair.a.adapter.process(forged, pair.now);
        forged.packet.psn = dissect::Psn(99);
        pair.a.adapter.process(forged, pair.now);
        CHECK(pair.a.adapter.query_qp(qa)->counts.ghosts == 2);
        CHECK(pair.a.sent().empty());
    }
    SECTION("to a queue pair that cannot have asked") {
        const auto rtr = *pair.a.adapter.create_qp(pair.a.init());
        forged.packet.dest_qp = rtr;
        pair.a.adapter.process(forged, pair.now);
        CHECK(pair.a.refused(Refusal::qp_state) == 1);
    }
    SECTION("a READ response where a SEND was sent writes nowhere") {
        const std::vector<std::byte> evil(256, std::byte{0xee});
        const std::vector<std::byte> before = pair.a.memory;
        forged.packet.opcode = dissect::Opcode{0x10};
        forged.packet.payload = evil;
        pair.a.adapter.process(forged, pair.now);
        CHECK(pair.a.memory == before);
        CHECK(pair.a.state(qa) == QpState::err);
    }
}

TEST_CASE("datagrams to QP 1: others than management datagrams are refused, more than fit too") {
    VerbsPair pair;
    const std::vector<std::byte> bytes(256);
    IncomingPacket in{.source = v4(2), .destination = v4(1)};
    in.packet.opcode = dissect::Opcode::ud_send_only;
    in.packet.dest_qp = dissect::kGsiQpn;
    in.packet.datagram = Datagram{.key = dissect::Qkey{0x80010000}, .source_qp = dissect::kGsiQpn};
    in.packet.payload = bytes;
    const auto with = [&](auto change) {
        IncomingPacket changed = in;
        change(changed);
        pair.a.adapter.process(changed, pair.now);
    };
    with([](IncomingPacket& arrival) { arrival.packet.opcode = dissect::Opcode{4}; });
    CHECK(pair.a.refused(Refusal::service) == 1);
    with([](IncomingPacket& arrival) { arrival.packet.datagram->key = dissect::Qkey{}; });
    with([](IncomingPacket& arrival) { arrival.packet.datagram.reset(); });
    CHECK(pair.a.refused(Refusal::qkey) == 2);
    with([](IncomingPacket& arrival) { arrival.packet.payload = arrival.packet.payload.first(255); });
    CHECK(pair.a.refused(Refusal::datagram_length) == 1);
    with([](IncomingPacket& arrival) { arrival.packet.pkey = dissect::Pkey{0x8001}; });
    CHECK(pair.a.refused(Refusal::pkey) == 1);
    for (std::size_t i = 0; i < kMaxDatagrams + 3; ++i) pair.a.adapter.process(in, pair.now);
    CHECK(pair.a.refused(Refusal::datagram_queue) == 3);
}

TEST_CASE("a peer that makes queue pairs fail cannot make events grow without end") {
    VerbsPair pair;
    for (std::size_t i = 0; i < kMaxAsyncEvents + 10; ++i) {
        const auto qb = *pair.b.adapter.create_qp(pair.b.init());
        VerbsPair::connect_one(pair.b, qb, v4(1), dissect::Qpn{0x100}, 200, 100, {});
        IncomingPacket in{.source = v4(1), .destination = v4(2)};
        in.packet.opcode = dissect::Opcode{0x0c};
        in.packet.dest_qp = qb;
        in.packet.psn = dissect::Psn(100);
        in.packet.access = RemoteAccess{.address = 0, .key = dissect::Rkey{1}, .length = 8};
        pair.b.adapter.process(in, pair.now);
        while (pair.b.adapter.poll(pair.now)) continue;
        REQUIRE(pair.b.state(qb) == QpState::err);
        REQUIRE(pair.b.adapter.destroy_qp(qb));
    }
    CHECK(pair.b.adapter.take_async_events().size() == kMaxAsyncEvents);
    CHECK(pair.b.adapter.counts().events_lost == 10);
}

TEST_CASE("any packet at all: nothing breaks, and every queue pair that is left still works") {
    std::mt19937 numbers(7);
    const auto draw = [&] { return static_cast<std::uint32_t>(numbers()); };
    for (int round = 0; round < 30; ++round) {
        VerbsPair pair;
        const auto [qa, qb] = pair.pair();
        const auto [ua, ub] = pair.pair(QpType::uc);
        const auto [healthy_a, healthy_b] = pair.pair();
        const auto da = VerbsPair::datagram_qp(pair.a, dissect::Qkey{1});
        const std::array targets{qa, ua, da, dissect::kGsiQpn, dissect::kMulticastQpn};
        const std::vector<std::byte> bytes(5000, std::byte{0xab});
        for (std::uint64_t i = 0; i < 20; ++i)
            for (const auto qp : {qa, ua, da}) REQUIRE(pair.a.receive(qp, i, 0x4000, 512));
        for (int i = 0; i < 4; ++i)
            REQUIRE(pair.a.send(
                qa, 0, 700,
                {.opcode = WrOpcode::rdma_read, .remote = {.address = pair.b.mr.address, .rkey = pair.b.mr.rkey}}));
        for (int i = 0; i < 300; ++i) {
            if (draw() % 4 == 0) static_cast<void>(pair.a.adapter.poll(pair.now));
            IncomingPacket in{
                .source = v4(2), .destination = draw() % 8 == 0 ? kGroup : v4(1), .ecn = static_cast<Ecn>(draw() % 4)};
            TransportPacket& packet = in.packet;
            packet.opcode = dissect::Opcode{static_cast<std::uint8_t>(draw() % 0xc0)};
            packet.dest_qp = targets[draw() % targets.size()];
            packet.psn = dissect::Psn(100 + 100 * (draw() % 2) + draw() % 8 - 2);
            packet.ack_request = draw() % 2 == 0;
            if (draw() % 2 == 0)
                packet.access = RemoteAccess{
                    .address = pair.a.mr.address + draw() % 0x10010,
                    .key = draw() % 4 == 0 ? dissect::Rkey{static_cast<std::uint32_t>(draw())} : pair.a.mr.rkey,
                    .length = draw() % 3000};
            if (draw() % 2 == 0) packet.atomic = AtomicOperands{draw(), draw()};
            if (draw() % 2 == 0)
                packet.acknowledgment = Acknowledgment{.syndrome = static_cast<std::uint8_t>(draw()),
                                                       .msn = dissect::Msn{draw() & 0xffffff}};
            if (draw() % 2 == 0) packet.atomic_result = draw();
            if (draw() % 3 == 0) packet.immediate = draw();
            if (draw() % 3 == 0) packet.invalidate = pair.a.mr.rkey;
            if (draw() % 2 == 0)
                packet.datagram =
                    Datagram{.key = dissect::Qkey{draw() % 3}, .source_qp = dissect::Qpn{draw() & 0xffffff}};
            if (draw() % 2 == 0) packet.srq = Srqn{draw() % 3};
            if (draw() % 3 == 0) packet.flush = Flush{.placement = static_cast<std::uint8_t>(draw())};
            const std::array sizes{0U, 8U, 256U, draw() % 5000};
            packet.payload = dissect::Bytes(bytes).first(sizes[draw() % sizes.size()]);
            pair.a.adapter.process(in, pair.now);
        }
        while (pair.a.adapter.poll(pair.now)) continue;
        static_cast<void>(pair.a.received());
        REQUIRE(pair.b.receive(healthy_b, 1, 0, 64));
        REQUIRE(pair.a.send(healthy_a, 0, 8, {}));
        pair.converse();
        CHECK(pair.b.received().size() == 1);
        for (const auto qp : {qa, ua, da, healthy_a}) REQUIRE(pair.a.adapter.destroy_qp(qp));
        CHECK(pair.a.adapter.dereg_mr(pair.a.mr.lkey));  // nothing is borrowed for ever
    }
}

TEST_CASE("what an unreliable service has no use for is counted as that, and the counts add up") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair(QpType::uc);
    REQUIRE(pair.a.send(
        qa, 0, 8,
        {.opcode = WrOpcode::rdma_write, .remote = {.address = pair.b.mr.address, .rkey = dissect::Rkey{0x7777}}}));
    REQUIRE(pair.a.send(
        qa, 0, 8, {.opcode = WrOpcode::rdma_write, .remote = {.address = pair.b.mr.address, .rkey = pair.b.mr.rkey}}));
    pair.converse();
    CHECK(pair.b.refused(Refusal::unusable) == 1);
    CHECK(pair.b.adapter.counts().accepted == 1);
    CHECK(pair.b.adapter.counts().arrivals == 2);
}
