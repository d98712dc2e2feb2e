// XRC: an initiator and a target of two adapters, shared receive queues named by number, and what nobody may name.
#include <tests/support/catch.hpp>
#include <tests/support/verbs_pair.hpp>

#include <map>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::verbs;
using namespace qps::tests;

namespace {

constexpr std::uint32_t kReceive = 700;  // bytes: three packets of 256

// a asks, b is asked.
struct Extended : VerbsPair {
    dissect::Qpn initiator{}, target{};
    XrcSrq srq{};
    explicit Extended(const QpAttr& more = {}) {
        srq = *b.adapter.create_xrc_srq(b.pd, b.xrcd, b.recv_cq, 16);
        std::tie(initiator, target) = another(more);
    }
    std::pair<dissect::Qpn, dissect::Qpn> another(const QpAttr& more = {}) {
        const dissect::Qpn asks = *a.adapter.create_qp(a.init(QpType::xrc_send)),
                           serves = *b.adapter.create_qp(b.init(QpType::xrc_recv));
        connect(asks, serves, more);
        return {asks, serves};
    }
    void receive(const XrcSrq& into, std::uint64_t id, std::uint64_t offset) {
        const Sge piece = b.piece(offset, kReceive);
        REQUIRE(b.adapter.post_srq_recv(into.handle, {.wr_id = id, .sg_list = {&piece, 1}}));
    }
    void send(dissect::Qpn qp, const XrcSrq& into, std::uint32_t length, SendWr wr = {}) {
        wr.remote_srq = into.number;
        REQUIRE(a.send(qp, 0, length, wr));
    }
    [[nodiscard]] bool arrived(std::uint64_t offset, std::uint32_t length) const {
        return std::equal(a.memory.begin(), a.memory.begin() + length,
                          b.memory.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    WcStatus last_status() {
        const auto done = a.sent();
        REQUIRE(done.size() == 1);
        return done.front().status;
    }
};

// Another protection domain of b, with a region and a shared receive queue of its own.
struct Stranger {
    explicit Stranger(Extended& pair, Xrcd xrcd)
        : pd(*pair.b.adapter.alloc_pd()),
          mr(*pair.b.adapter.reg_mr(pd, memory, kEveryAccess)),
          cq(*pair.b.adapter.create_cq(16)),
          srq(*pair.b.adapter.create_xrc_srq(pd, xrcd, cq, 16)) {}
    std::vector<std::byte> memory = std::vector<std::byte>(4096);
    Pd pd;
    Mr mr;
    Cq cq;
    XrcSrq srq;
};

}  // namespace

TEST_CASE("xrc: every operation of an initiator is carried out for the shared receive queue that it names") {
    Extended pair;
    std::map<dissect::Service, int> seen;
    pair.network = [&](Flying& flown, bool from_a) {
        const dissect::OpcodeRow& row = dissect::info(flown.packet.opcode);
        ++seen[row.service];
        CHECK(row.request == from_a);
        CHECK(flown.packet.srq == (row.request ? std::optional(pair.srq.number) : std::nullopt));
        return true;
    };
    pair.receive(pair.srq, 11, 0x4000);
    pair.receive(pair.srq, 12, 0x5000);
    pair.send(pair.initiator, pair.srq, 600, {.opcode = WrOpcode::send_with_imm, .imm_data = 7});
    pair.send(pair.initiator, pair.srq, 600,
              {.opcode = WrOpcode::rdma_write_with_imm, .imm_data = 8, .remote = at(pair.b, 0x6000)});
    pair.send(pair.initiator, pair.srq, 600, {.opcode = WrOpcode::rdma_write, .remote = at(pair.b, 0x7000)});
    pair.converse();
    CHECK(pair.a.sent().size() == 3);
    const auto received = pair.b.received();
    REQUIRE(received.size() == 2);
    CHECK(received[0].wr_id == 11);
    CHECK(received[0].qp_num == pair.target);
    CHECK(received[0].imm_data == 7);
    CHECK(received[1].wr_id == 12);
    CHECK(received[1].opcode == WcOpcode::recv_rdma_with_imm);
    for (const std::uint64_t place : {0x4000U, 0x6000U, 0x7000U}) CHECK(pair.arrived(place, 600));

    pair.b.set_word(0x100, 40);
    SendWr add{.opcode = WrOpcode::atomic_fetch_and_add,
               .remote = at(pair.b, 0x100),
               .atomic = {.compare_add = 2},
               .remote_srq = pair.srq.number};
    REQUIRE(pair.a.send(pair.initiator, 0x8000, 8, add));
    REQUIRE(pair.a.send(pair.initiator, 0x9000, 600,
                        {.opcode = WrOpcode::rdma_read, .remote = at(pair.b, 0x7000), .remote_srq = pair.srq.number}));
    pair.converse();
    CHECK(pair.a.sent().size() == 2);
    CHECK(pair.a.word(0x8000) == 40);
    CHECK(pair.b.word(0x100) == 42);
    CHECK(std::equal(pair.a.memory.begin() + 0x9000, pair.a.memory.begin() + 0x9000 + 600,
                     pair.b.memory.begin() + 0x7000));
    CHECK(seen.size() == 1);
    CHECK(seen[dissect::Service::xrc] > 10);
}

TEST_CASE("xrc: one target serves every shared receive queue of its domain, and one of them every target") {
    Extended pair;
    Stranger other(pair, pair.b.xrcd);
    const auto [second, second_target] = pair.another();
    const Sge piece{.address = other.mr.address, .length = kReceive, .lkey = other.mr.lkey};
    REQUIRE(pair.b.adapter.post_srq_recv(other.srq.handle, {.wr_id = 1, .sg_list = {&piece, 1}}));
    pair.receive(pair.srq, 2, 0x4000);
    pair.receive(pair.srq, 3, 0x5000);
    pair.send(pair.initiator, other.srq, 600);
    pair.send(pair.initiator, pair.srq, 600);
    pair.send(second, pair.srq, 600);
    pair.converse();
    const auto its = pair.b.poll(other.cq);
    REQUIRE(its.size() == 1);
    CHECK(its[0].qp_num == pair.target);
    CHECK(std::equal(pair.a.memory.begin(), pair.a.memory.begin() + 600, other.memory.begin()));
    auto ours = pair.b.received();
    REQUIRE(ours.size() == 2);
    std::ranges::sort(ours, {}, &Wc::qp_num);
    CHECK(ours[0].qp_num == pair.target);
    CHECK(ours[1].qp_num == second_target);
    // What a request may reach is what the queue that it names may.
    REQUIRE(pair.a.send(
        pair.initiator, 0, 8,
        {.opcode = WrOpcode::rdma_write, .remote = {other.mr.address, other.mr.rkey}, .remote_srq = other.srq.number}));
    pair.converse();
    CHECK(pair.a.sent().size() == 4);
    REQUIRE(pair.a.send(
        pair.initiator, 0, 8,
        {.opcode = WrOpcode::rdma_write, .remote = {other.mr.address, other.mr.rkey}, .remote_srq = pair.srq.number}));
    pair.converse();
    CHECK(pair.last_status() == WcStatus::rem_access_err);
    CHECK(pair.b.state(pair.target) == QpState::err);
    CHECK(pair.b.state(second_target) == QpState::rts);
}

TEST_CASE("xrc: who names what its target does not serve has made an invalid request") {
    Extended pair;
    XrcSrq named{.number = Srqn{0x123456}};
    SECTION("no shared receive queue") {}
    SECTION("one of another domain") {
        named = *pair.b.adapter.create_xrc_srq(pair.b.pd, *pair.b.adapter.open_xrcd(), pair.b.recv_cq, 4);
    }
    SECTION("one of RC queue pairs") {
        named.number = Srqn{std::to_underlying(*pair.b.adapter.create_srq(pair.b.pd, 4))};
    }
    SECTION("one that is gone") {
        named = pair.srq;
        REQUIRE(pair.b.adapter.destroy_srq(pair.srq.handle));
    }
    pair.send(pair.initiator, named, 8, {.opcode = WrOpcode::rdma_write, .remote = at(pair.b, 0x4000)});
    pair.converse();
    CHECK(pair.last_status() == WcStatus::rem_inv_req_err);
    CHECK(pair.b.state(pair.target) == QpState::err);
    CHECK(pair.b.word(0x4000) == 0);
    const auto events = pair.b.adapter.take_async_events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].type == AsyncEventType::qp_req_err);
}

TEST_CASE("xrc: a message has one shared receive queue from its first packet to its last") {
    Extended pair;
    Stranger other(pair, pair.b.xrcd);
    pair.receive(pair.srq, 5, 0x4000);
    pair.network = [&](Flying& flown, bool from_a) {
        if (from_a && !dissect::info(flown.packet.opcode).begins_message()) flown.packet.srq = other.srq.number;
        return true;
    };
    pair.send(pair.initiator, pair.srq, 600);
    pair.converse();
    CHECK(pair.last_status() == WcStatus::rem_inv_req_err);
    const auto received = pair.b.received();
    REQUIRE(received.size() == 1);
    CHECK(received[0].wr_id == 5);
    CHECK(received[0].status == WcStatus::loc_len_err);
    CHECK(pair.b.adapter.destroy_srq(pair.srq.handle));
}

TEST_CASE("xrc: packets that are lost come again, and receives that are posted late are waited for") {
    Extended pair;
    std::uint32_t packets = 0;
    pair.network = [&](Flying&, bool) { return ++packets % 5 != 0; };
    for (std::uint64_t i = 0; i < 8; ++i) pair.receive(pair.srq, i, 0x4000 + 0x400 * i);
    for (int i = 0; i < 10; ++i) pair.send(pair.initiator, pair.srq, 600);
    pair.converse_for(dissect::Duration{500'000'000});
    CHECK(pair.b.received().size() == 8);
    CHECK(pair.a.adapter.query_qp(pair.initiator)->counts.rnr_naks > 0);
    for (std::uint64_t i = 0; i < 2; ++i) pair.receive(pair.srq, 20 + i, 0x8000 + 0x400 * i);
    pair.converse_for(dissect::Duration{2'000'000'000});
    CHECK(pair.b.received().size() == 2);
    CHECK(pair.a.sent().size() == 10);
    for (std::uint64_t i = 0; i < 8; ++i) CHECK(pair.arrived(0x4000 + 0x400 * i, 600));
}

TEST_CASE("xrc: a READ whose shared receive queue went before its answer is refused") {
    Extended pair;
    REQUIRE(pair.a.send(pair.initiator, 0x9000, 600,
                        {.opcode = WrOpcode::rdma_read, .remote = at(pair.b, 0), .remote_srq = pair.srq.number}));
    const auto asked = pair.a.adapter.poll(pair.now);
    REQUIRE(asked);
    const Flying flown = flying(*asked);
    pair.b.adapter.process(arrival_of(flown), pair.now);
    REQUIRE(pair.b.adapter.destroy_srq(pair.srq.handle));
    pair.converse();
    CHECK(pair.last_status() == WcStatus::rem_access_err);
    CHECK(pair.b.state(pair.target) == QpState::err);
}

TEST_CASE("xrc: what is in use stays, and halves do not do the other's part") {
    Extended pair;
    CHECK(pair.b.adapter.close_xrcd(pair.b.xrcd).error() == VerbsError::busy);
    CHECK(pair.b.adapter.destroy_cq(pair.b.recv_cq).error() == VerbsError::busy);
    QpInitAttr of_rc = pair.b.init();
    of_rc.srq = pair.srq.handle;
    CHECK(pair.b.adapter.create_qp(of_rc).error() == VerbsError::unknown_handle);
    QpInitAttr without = pair.b.init(QpType::xrc_recv);
    without.xrcd.reset();
    CHECK(pair.b.adapter.create_qp(without).error() == VerbsError::unknown_handle);
    CHECK(pair.b.receive(pair.target, 1, 0, 64).error() == VerbsError::unsupported);
    CHECK(pair.a.receive(pair.initiator, 1, 0, 64).error() == VerbsError::unsupported);
    CHECK(pair.b.send(pair.target, 0, 8, {}).error() == VerbsError::unsupported);

    pair.receive(pair.srq, 1, 0x4000);
    pair.send(pair.initiator, pair.srq, 600);
    const auto first = pair.a.adapter.poll(pair.now);
    REQUIRE(first);
    Flying flown = flying(*first);
    pair.b.adapter.process(arrival_of(flown), pair.now);
    CHECK(pair.b.adapter.destroy_srq(pair.srq.handle).error() == VerbsError::busy);  // half a message is in it
    pair.converse();
    CHECK(pair.b.received().size() == 1);

    IncomingPacket to_initiator = arrival_of(flown);  // a request, and an answer to nothing that a target asked
    std::swap(to_initiator.source, to_initiator.destination);
    to_initiator.packet.dest_qp = pair.initiator;
    pair.a.adapter.process(to_initiator, pair.now);
    CHECK(pair.a.refused(Refusal::service) == 1);
    IncomingPacket answer = arrival_of(flown);
    answer.packet.opcode = dissect::Opcode{0xb1};
    answer.packet.acknowledgment = Acknowledgment{};
    pair.b.adapter.process(answer, pair.now);
    CHECK(pair.b.refused(Refusal::service) == 1);

    REQUIRE(pair.b.adapter.destroy_qp(pair.target));
    CHECK(pair.b.adapter.destroy_srq(pair.srq.handle));
    CHECK(pair.b.adapter.close_xrcd(pair.b.xrcd));
    CHECK(pair.b.adapter.destroy_cq(pair.b.recv_cq));
    CHECK(pair.b.adapter.close_xrcd(pair.b.xrcd).error() == VerbsError::unknown_handle);
}
