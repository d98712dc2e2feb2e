// Every operation of the verbs between two adapters, and what both sides are told of it.
#include <tests/support/catch.hpp>
#include <tests/support/verbs_pair.hpp>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::verbs;
using namespace qps::tests;

namespace {

bool same(const VerbsPair& pair, std::size_t from_a, std::size_t to_b, std::size_t length) {
    return std::equal(pair.a.memory.begin() + static_cast<std::ptrdiff_t>(from_a),
                      pair.a.memory.begin() + static_cast<std::ptrdiff_t>(from_a + length),
                      pair.b.memory.begin() + static_cast<std::ptrdiff_t>(to_b));
}

}  // namespace

TEST_CASE("SEND: the message stands in the receive, both sides have a completion") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.b.receive(qb, 7, 0x1000, 2048));
    REQUIRE(pair.a.send(qa, 0, 1000, {.wr_id = 5}));
    pair.converse();
    const auto sent = pair.a.sent();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].wr_id == 5);
    CHECK(sent[0].status == WcStatus::success);
    CHECK(sent[0].opcode == WcOpcode::send);
    CHECK(sent[0].qp_num == qa);
    const auto received = pair.b.received();
    REQUIRE(received.size() == 1);
    CHECK(received[0].wr_id == 7);
    CHECK(received[0].status == WcStatus::success);
    CHECK(received[0].opcode == WcOpcode::recv);
    CHECK(received[0].byte_len == 1000);
    CHECK(received[0].qp_num == qb);
    CHECK_FALSE(received[0].flags.with_imm);
    CHECK(same(pair, 0, 0x1000, 1000));
    CHECK(pair.b.memory[0x1000 + 1000] == std::byte{0});
    CHECK_FALSE(pair.a.adapter.poll_at());
    CHECK_FALSE(pair.b.adapter.poll_at());
}

TEST_CASE("SEND with immediate, of pieces into pieces") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    const std::array into{pair.b.piece(0x2000, 100), pair.b.piece(0x3000, 400), pair.b.piece(0x4000, 400)};
    REQUIRE(pair.b.adapter.post_recv(qb, {.wr_id = 1, .sg_list = into}));
    const std::array from{pair.a.piece(0, 300), pair.a.piece(300, 0), pair.a.piece(1000, 300)};
    REQUIRE(pair.a.adapter.post_send(qa, {.wr_id = 2,
                                          .sg_list = from,
                                          .opcode = WrOpcode::send_with_imm,
                                          .send_flags = {.signaled = true},
                                          .imm_data = 0xdeadbeef}));
    pair.converse();
    const auto received = pair.b.received();
    REQUIRE(received.size() == 1);
    CHECK(received[0].byte_len == 600);
    CHECK(received[0].flags.with_imm);
    CHECK(received[0].imm_data == 0xdeadbeef);
    CHECK(same(pair, 0, 0x2000, 100));
    CHECK(same(pair, 100, 0x3000, 200));
    CHECK(same(pair, 1000, 0x30c8, 200));
    CHECK(same(pair, 1200, 0x4000, 100));
}

TEST_CASE("RDMA WRITE with and without immediate") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.a.send(qa, 0, 1500, {.wr_id = 1, .opcode = WrOpcode::rdma_write, .remote = at(pair.b, 0x100)}));
    pair.converse();
    CHECK(same(pair, 0, 0x100, 1500));
    CHECK(pair.b.received().empty());
    REQUIRE(pair.a.sent().size() == 1);

    REQUIRE(pair.b.receive(qb, 9, 0, 0));
    REQUIRE(pair.a.send(
        qa, 0, 20,
        {.wr_id = 2, .opcode = WrOpcode::rdma_write_with_imm, .imm_data = 77, .remote = at(pair.b, 0x8000)}));
    pair.converse();
    const auto received = pair.b.received();
    REQUIRE(received.size() == 1);
    CHECK(received[0].opcode == WcOpcode::recv_rdma_with_imm);
    CHECK(received[0].byte_len == 20);
    CHECK(received[0].imm_data == 77);
    CHECK(same(pair, 0, 0x8000, 20));
}

TEST_CASE("RDMA READ brings the bytes into the pieces") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    for (std::size_t i = 0; i < 2000; ++i) pair.b.memory[0x500 + i] = static_cast<std::byte>(i * 3);
    const std::array into{pair.a.piece(0x9000, 700), pair.a.piece(0xa000, 1300)};
    REQUIRE(pair.a.adapter.post_send(qa, {.wr_id = 3,
                                          .sg_list = into,
                                          .opcode = WrOpcode::rdma_read,
                                          .send_flags = {.signaled = true},
                                          .remote = at(pair.b, 0x500)}));
    pair.converse();
    const auto sent = pair.a.sent();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].status == WcStatus::success);
    CHECK(sent[0].opcode == WcOpcode::rdma_read);
    CHECK(sent[0].byte_len == 2000);
    CHECK(same(pair, 0x9000, 0x500, 700));
    CHECK(same(pair, 0xa000, 0x500 + 700, 1300));
}

TEST_CASE("FETCH ADD and COMPARE SWAP on words in host byte order") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    pair.b.set_word(0x40, 1000);
    REQUIRE(pair.a.send(qa, 0, 8,
                        {.wr_id = 1,
                         .opcode = WrOpcode::atomic_fetch_and_add,
                         .remote = at(pair.b, 0x40),
                         .atomic = {.compare_add = 5}}));
    REQUIRE(pair.a.send(qa, 8, 8,
                        {.wr_id = 2,
                         .opcode = WrOpcode::atomic_cmp_and_swp,
                         .remote = at(pair.b, 0x40),
                         .atomic = {.compare_add = 1005, .swap = 42}}));
    REQUIRE(pair.a.send(qa, 16, 8,
                        {.wr_id = 3,
                         .opcode = WrOpcode::atomic_cmp_and_swp,
                         .remote = at(pair.b, 0x40),
                         .atomic = {.compare_add = 1005, .swap = 43}}));
    pair.converse();
    CHECK(pair.b.word(0x40) == 42);
    CHECK(pair.a.word(0) == 1000);
    CHECK(pair.a.word(8) == 1005);
    CHECK(pair.a.word(16) == 42);
    const auto sent = pair.a.sent();
    REQUIRE(sent.size() == 3);
    CHECK(sent[0].opcode == WcOpcode::fetch_add);
    CHECK(sent[1].opcode == WcOpcode::comp_swap);
    CHECK(sent[2].byte_len == 8);
}

TEST_CASE("ATOMIC WRITE and FLUSH") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    pair.a.set_word(0, 0x0123456789abcdef);
    REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 1, .opcode = WrOpcode::atomic_write, .remote = at(pair.b, 0x200)}));
    REQUIRE(pair.a.adapter.post_send(qa, {.wr_id = 2,
                                          .opcode = WrOpcode::flush,
                                          .send_flags = {.signaled = true},
                                          .remote = at(pair.b, 0x200),
                                          .flush = {.length = 8, .persistent = true}}));
    pair.converse();
    CHECK(pair.b.word(0x200) == 0x0123456789abcdef);
    const auto sent = pair.a.sent();
    REQUIRE(sent.size() == 2);
    CHECK(sent[0].opcode == WcOpcode::atomic_write);
    CHECK(sent[1].opcode == WcOpcode::flush);
    CHECK(sent[1].status == WcStatus::success);
    CHECK(pair.a.adapter.post_send(qa, {.opcode = WrOpcode::flush, .remote = at(pair.b, 0), .flush = {.length = 8}})
              .error() == VerbsError::invalid_request);  // nothing to flush to
}

TEST_CASE("inline data is copied when it is posted") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.b.receive(qb, 1, 0, 64));
    pair.a.set_word(0, 111);
    const Sge piece = pair.a.piece(0, 8);
    REQUIRE(pair.a.adapter.post_send(qa, {.sg_list = {&piece, 1}, .send_flags = {.inline_data = true}}));
    pair.a.set_word(0, 222);
    CHECK(pair.a.adapter.dereg_mr(pair.a.mr.lkey));  // and its memory is free
    pair.converse();
    CHECK(pair.b.word(0) == 111);
    const Sge longer{.address = pair.b.mr.address, .length = 65, .lkey = pair.b.mr.lkey};
    CHECK(pair.b.adapter.post_send(qb, {.sg_list = {&longer, 1}, .send_flags = {.inline_data = true}}).error() ==
          VerbsError::invalid_request);
}

TEST_CASE("unsignaled sends complete in silence, unless the queue pair signals all or they fail") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    const Sge piece = pair.a.piece(0, 8);
    for (int i = 0; i < 3; ++i)
        REQUIRE(pair.a.adapter.post_send(
            qa, {.sg_list = {&piece, 1}, .opcode = WrOpcode::rdma_write, .remote = at(pair.b, 0)}));
    pair.converse();
    CHECK(pair.a.sent().empty());
    CHECK(pair.a.adapter.query_qp(qa)->sends == 0);

    QpInitAttr all = pair.a.init();
    all.sq_sig_all = true;
    const auto loud = *pair.a.adapter.create_qp(all);
    const auto other = *pair.b.adapter.create_qp(pair.b.init());
    pair.connect(loud, other);
    REQUIRE(pair.a.adapter.post_send(
        loud, {.wr_id = 8, .sg_list = {&piece, 1}, .opcode = WrOpcode::rdma_write, .remote = at(pair.b, 0)}));
    pair.converse();
    CHECK(pair.a.sent().size() == 1);

    REQUIRE(pair.a.adapter.post_send(qa, {.wr_id = 9,
                                          .sg_list = {&piece, 1},
                                          .opcode = WrOpcode::rdma_write,
                                          .remote = {.rkey = dissect::Rkey{0x666}}}));
    pair.converse();
    const auto failed = pair.a.sent();
    REQUIRE(failed.size() == 1);
    CHECK(failed[0].wr_id == 9);
    CHECK(failed[0].status == WcStatus::rem_access_err);
}

TEST_CASE("UC carries SEND and WRITE, and is done when it has sent") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair(QpType::uc);
    REQUIRE(pair.b.receive(qb, 1, 0x1000, 1024));
    REQUIRE(pair.a.send(qa, 0, 600, {.wr_id = 1}));
    REQUIRE(pair.a.send(qa, 0, 600, {.wr_id = 2, .opcode = WrOpcode::rdma_write, .remote = at(pair.b, 0x4000)}));
    CHECK(pair.a.send(qa, 0, 8, {.opcode = WrOpcode::rdma_read, .remote = at(pair.b, 0)}).error() ==
          VerbsError::unsupported);
    CHECK(pair.converse() == 6);
    CHECK(pair.a.sent().size() == 2);
    CHECK(pair.b.received().size() == 1);
    CHECK(same(pair, 0, 0x1000, 600));
    CHECK(same(pair, 0, 0x4000, 600));
}

TEST_CASE("UD: the receive has forty bytes of header, and the completion whom to answer") {
    VerbsPair pair;
    const auto qa = VerbsPair::datagram_qp(pair.a, dissect::Qkey{0x1111}),
               qb = VerbsPair::datagram_qp(pair.b, dissect::Qkey{0x2222});
    REQUIRE(pair.b.receive(qb, 4, 0, 40 + 100));
    SendWr wr{.wr_id = 1, .opcode = WrOpcode::send_with_imm, .imm_data = 5};
    wr.ud = {.ah = handle_to(v4(2)), .remote_qpn = qb, .remote_qkey = dissect::Qkey{0x2222}};
    REQUIRE(pair.a.send(qa, 0, 100, wr));
    pair.converse();
    const auto received = pair.b.received();
    REQUIRE(received.size() == 1);
    CHECK(received[0].byte_len == 140);
    CHECK(received[0].flags.grh);
    CHECK(received[0].src_qp == qa);
    CHECK(received[0].source == v4(1));
    CHECK(received[0].imm_data == 5);
    CHECK(same(pair, 0, 40, 100));
    CHECK(pair.b.memory[20] == std::byte{0x45});

    SECTION("to another queue pair from the next work request, and with its own key where the highest bit says so") {
        const auto second = VerbsPair::datagram_qp(pair.b, dissect::Qkey{0x1111});
        REQUIRE(pair.b.receive(second, 5, 0x1000, 200));
        wr.ud = {.ah = handle_to(v4(2)), .remote_qpn = second, .remote_qkey = dissect::Qkey{0x80000000}};
        REQUIRE(pair.a.send(qa, 0, 100, wr));
        pair.converse();
        CHECK(pair.b.received().size() == 1);
    }
    SECTION("a wrong key, a full queue, a message too long are dropped and counted") {
        wr.ud.remote_qkey = dissect::Qkey{0x3333};
        REQUIRE(pair.a.send(qa, 0, 100, wr));
        wr.ud.remote_qkey = dissect::Qkey{0x2222};
        REQUIRE(pair.a.send(qa, 0, 100, wr));
        pair.converse();
        CHECK(pair.b.refused(Refusal::qkey) == 1);
        CHECK(pair.b.refused(Refusal::no_receive) == 1);
        REQUIRE(pair.b.receive(qb, 6, 0, 139));
        REQUIRE(pair.a.send(qa, 0, 100, wr));
        pair.converse();
        CHECK(pair.b.refused(Refusal::datagram_length) == 1);
        CHECK(pair.b.received().empty());
        CHECK(pair.b.state(qb) == QpState::rts);
    }
    SECTION("what does not fit the port or names nobody is refused at once") {
        CHECK(pair.a.send(qa, 0, 4097, wr).error() == VerbsError::invalid_request);
        wr.ud.ah = {};
        CHECK(pair.a.send(qa, 0, 10, wr).error() == VerbsError::invalid_request);
        wr.ud.ah = handle_to(kGroup);
        CHECK(pair.a.send(qa, 0, 10, wr).error() == VerbsError::invalid_request);  // not to a group's one member
    }
}

TEST_CASE("UD multicast reaches every queue pair that is attached, and no other") {
    VerbsPair pair;
    const dissect::Qkey key{0x77};
    const auto qa = VerbsPair::datagram_qp(pair.a, key);
    std::vector<dissect::Qpn> members;
    for (int i = 0; i < 4; ++i) {
        members.push_back(VerbsPair::datagram_qp(pair.b, i == 3 ? dissect::Qkey{0x78} : key));
        REQUIRE(pair.b.receive(members.back(), static_cast<std::uint64_t>(i), 0x1000U * static_cast<std::uint64_t>(i),
                               200));
        if (i != 1) REQUIRE(pair.b.adapter.attach_mcast(members.back(), kGroup));
    }
    CHECK(pair.b.adapter.groups() == std::vector{kGroup});
    SendWr wr{.wr_id = 1, .ud = {.ah = handle_to(kGroup), .remote_qpn = dissect::kMulticastQpn, .remote_qkey = key}};
    REQUIRE(pair.a.send(qa, 0, 64, wr));
    pair.converse();
    const auto received = pair.b.received();
    REQUIRE(received.size() == 2);
    CHECK(received[0].qp_num == members[0]);
    CHECK(received[1].qp_num == members[2]);
    CHECK(same(pair, 0, 40, 64));
    CHECK(same(pair, 0, 0x2000 + 40, 64));
    CHECK(pair.b.refused(Refusal::qkey) == 1);

    CHECK(pair.b.adapter.destroy_qp(members[0]).error() == VerbsError::busy);
    for (const int i : {0, 2, 3}) CHECK(pair.b.adapter.detach_mcast(members[static_cast<std::size_t>(i)], kGroup));
    CHECK(pair.b.adapter.groups().empty());
    CHECK(pair.b.adapter.destroy_qp(members[0]));
    REQUIRE(pair.a.send(qa, 0, 64, wr));
    pair.converse();
    CHECK(pair.b.refused(Refusal::multicast_group) == 1);
    CHECK(pair.b.adapter.attach_mcast(members[1], v4(9)).error() == VerbsError::invalid_request);
}

TEST_CASE("a fence waits for the READ before it") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 1, .opcode = WrOpcode::rdma_read, .remote = at(pair.b, 0)}));
    REQUIRE(pair.a.send(
        qa, 64, 8,
        {.wr_id = 2, .opcode = WrOpcode::rdma_write, .send_flags = {.fence = true}, .remote = at(pair.b, 0)}));
    REQUIRE(pair.a.adapter.poll(pair.now));
    CHECK_FALSE(pair.a.adapter.poll(pair.now));
}

TEST_CASE("source ports are those of Linux: from the label, or from both numbers") {
    CHECK(udp_source_port({.flow_label = 0x12345}, dissect::Qpn{1}, dissect::Qpn{2}) ==
          (((0x12345 & 0x3fff) ^ ((0x12345 & 0xfc000) >> 14)) | 0xc000));
    CHECK(flow_label_of(dissect::Qpn{0x11}, dissect::Qpn{0x22}) == 0x242);
    CHECK(flow_label_of(dissect::Qpn{0xabcdef}, dissect::Qpn{0x123456}) ==
          flow_label_of(dissect::Qpn{0x123456}, dissect::Qpn{0xabcdef}));
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.a.send(qa, 0, 600, {.opcode = WrOpcode::rdma_write, .remote = at(pair.b, 0)}));
    const std::uint16_t port = udp_source_port(handle_to(v4(2)), qa, qb);
    for (int i = 0; i < 3; ++i) {
        const auto out = pair.a.adapter.poll(pair.now);
        REQUIRE(out);
        CHECK(out->udp_source_port == port);
        CHECK(out->ecn == Ecn::capable_0);
        CHECK(route_of(*out).source == v4(1));
        CHECK(route_of(*out).destination == v4(2));
    }
}
