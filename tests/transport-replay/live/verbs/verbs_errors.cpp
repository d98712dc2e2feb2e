// Each status a completion can have, made to happen; and what it does to the queue pair.
#include <tests/support/catch.hpp>
#include <tests/support/verbs_pair.hpp>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::verbs;
using namespace qps::tests;

namespace {

// The statuses of the completions, in words.
std::vector<std::string> words(const std::vector<Wc>& completions) {
    std::vector<std::string> text;
    for (const Wc& wc : completions) text.emplace_back(name(wc.status));
    return text;
}
using Words = std::vector<std::string>;

std::vector<AsyncEventType> events(VerbsEnd& end) {
    std::vector<AsyncEventType> types;
    for (const AsyncEvent& event : end.adapter.take_async_events()) types.push_back(event.type);
    return types;
}
using Events = std::vector<AsyncEventType>;

}  // namespace

TEST_CASE("rem_access_err: a wrong key, a range outside, a right missing") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.b.receive(qb, 1, 0, 64));
    std::vector<std::byte> more(64);
    const Mr readable = *pair.b.adapter.reg_mr(pair.b.pd, more, {.remote_read = true});
    Remote target{};
    SECTION("key") { target = {.address = pair.b.mr.address, .rkey = dissect::Rkey{0x99}}; }
    SECTION("range") { target = at(pair.b, (1 << 16) - 7); }
    SECTION("right") { target = {.address = readable.address, .rkey = readable.rkey}; }
    REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 1, .opcode = WrOpcode::rdma_write, .remote = target}));
    REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 2}));
    pair.converse();
    CHECK(words(pair.a.sent()) == Words{"rem_access_err", "wr_flush_err"});
    CHECK(pair.a.state(qa) == QpState::err);
    CHECK(pair.b.state(qb) == QpState::err);
    CHECK(events(pair.b) == Events{AsyncEventType::qp_access_err});
    CHECK(events(pair.a).empty());
    CHECK(words(pair.b.received()) == Words{"wr_flush_err"});
}

TEST_CASE("rem_inv_req_err: an operation the queue pair does not permit") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair(QpType::rc, {.access = Access{.remote_write = true}});
    REQUIRE(pair.a.send(qa, 0, 8, {.opcode = WrOpcode::rdma_read, .remote = at(pair.b, 0)}));
    pair.converse();
    CHECK(words(pair.a.sent()) == Words{"rem_inv_req_err"});
    CHECK(events(pair.b) == Events{AsyncEventType::qp_req_err});
    CHECK(pair.b.state(qb) == QpState::err);
}

TEST_CASE("a message longer than the receive: both sides have a completion with an error") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.b.receive(qb, 1, 0, 100));
    REQUIRE(pair.a.send(qa, 0, 101, {}));
    pair.converse();
    CHECK(words(pair.a.sent()) == Words{"rem_inv_req_err"});
    CHECK(words(pair.b.received()) == Words{"loc_len_err"});
    CHECK(events(pair.b).empty());  // the completion says it
    CHECK(pair.b.state(qb) == QpState::err);
}

TEST_CASE("rem_op_err: the peer's receive cannot be used") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    const Sge wrong{.address = pair.b.mr.address, .length = 64, .lkey = dissect::Rkey{0x123400}};
    REQUIRE(pair.b.adapter.post_recv(qb, {.wr_id = 6, .sg_list = {&wrong, 1}}));
    REQUIRE(pair.a.send(qa, 0, 8, {}));
    pair.converse();
    CHECK(words(pair.a.sent()) == Words{"rem_op_err"});
    CHECK(words(pair.b.received()) == Words{"loc_prot_err"});
    CHECK(pair.b.state(qb) == QpState::err);
}

TEST_CASE("loc_prot_err: pieces outside of every region, of another domain, or not writable") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.b.receive(qb, 1, 0, 64));
    REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 1}));
    std::vector<std::byte> more(64);
    Sge piece{.address = pair.a.mr.address, .length = 8, .lkey = pair.a.mr.lkey};
    WrOpcode opcode = WrOpcode::rdma_write;
    SECTION("key") { piece.lkey = dissect::Rkey{0x7700}; }
    SECTION("range") { piece.length = (1 << 16) + 1; }
    SECTION("domain") {
        const Mr other = *pair.a.adapter.reg_mr(*pair.a.adapter.alloc_pd(), more, kEveryAccess);
        piece = {.address = other.address, .length = 8, .lkey = other.lkey};
    }
    SECTION("right") {
        const Mr fixed = *pair.a.adapter.reg_mr(pair.a.pd, more, {});
        piece = {.address = fixed.address, .length = 8, .lkey = fixed.lkey};
        opcode = WrOpcode::rdma_read;
    }
    REQUIRE(
        pair.a.adapter.post_send(qa, {.wr_id = 2, .sg_list = {&piece, 1}, .opcode = opcode, .remote = at(pair.b, 0)}));
    REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 3}));
    pair.converse();
    CHECK(words(pair.a.sent()) == Words{"success", "loc_prot_err", "wr_flush_err"});
    CHECK(pair.a.state(qa) == QpState::err);
    CHECK(pair.b.state(qb) == QpState::rts);  // nobody told it
}

TEST_CASE("retry_exc_err: nobody answers") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair(QpType::rc, {.retry_cnt = 2});
    pair.network = [](Flying&, bool) { return false; };
    for (int i = 0; i < 2; ++i)
        REQUIRE(pair.a.send(qa, 0, 8, {.opcode = WrOpcode::rdma_write, .remote = at(pair.b, 0)}));
    pair.converse_for(microseconds(1'000'000));
    CHECK(words(pair.a.sent()) == Words{"retry_exc_err", "wr_flush_err"});
    CHECK(pair.a.state(qa) == QpState::err);
    CHECK(pair.a.adapter.query_qp(qa)->counts.timeouts == 3);
    CHECK(pair.a.adapter.query_qp(qa)->counts.packets_sent == 6);
    CHECK_FALSE(pair.a.adapter.poll_at());
}

TEST_CASE("rnr_retry_exc_err: nothing is posted there, with a receive in time it is delivered") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair(QpType::rc, {.rnr_retry = 2});
    REQUIRE(pair.a.send(qa, 0, 8, {}));
    SECTION("never") {
        pair.converse_for(microseconds(1'000'000));
        CHECK(words(pair.a.sent()) == Words{"rnr_retry_exc_err"});
        CHECK(pair.a.state(qa) == QpState::err);
        CHECK(pair.b.state(qb) == QpState::rts);
    }
    SECTION("in time") {
        pair.converse();
        REQUIRE(pair.b.receive(qb, 1, 0, 64));
        pair.converse_for(microseconds(1'000'000));
        CHECK(words(pair.a.sent()) == Words{"success"});
        CHECK(pair.a.adapter.query_qp(qa)->counts.rnr_naks >= 1);
    }
}

TEST_CASE("lost packets are sent again, and nobody is told") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    int passed = 0;
    pair.network = [&](Flying&, bool) { return ++passed % 5 != 0; };
    for (std::uint64_t i = 0; i < 20; ++i) {
        REQUIRE(pair.b.receive(qb, i, 0, 2048));
        REQUIRE(pair.a.send(qa, 0, 1800, {.wr_id = i}));
    }
    pair.converse_for(microseconds(60'000'000));
    const auto sent = pair.a.sent();
    REQUIRE(sent.size() == 20);
    for (const Wc& wc : sent) CHECK(wc.status == WcStatus::success);
    CHECK(pair.b.received().size() == 20);
    CHECK(pair.a.adapter.query_qp(qa)->counts.retransmitted > 0);
}

TEST_CASE("bad_resp_err and loc_len_err: responses that cannot be") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.a.send(qa, 0, 8, {.opcode = WrOpcode::rdma_read, .remote = at(pair.b, 0)}));
    Words expected;
    SECTION("shorter than was asked for") {
        pair.network = [](Flying& flown, bool from_a) {
            if (!from_a) flown.payload.resize(4);
            return true;
        };
        expected = {"loc_len_err"};
    }
    SECTION("of an atomic") {
        pair.network = [](Flying& flown, bool from_a) {
            if (!from_a) {
                flown.packet.opcode = dissect::Opcode{0x12};
                flown.packet.atomic_result = 1;
                flown.payload.clear();
            }
            return true;
        };
        expected = {"bad_resp_err"};
    }
    pair.converse();
    CHECK(words(pair.a.sent()) == expected);
    CHECK(pair.a.state(qa) == QpState::err);
}

TEST_CASE("what cannot be posted is refused by name, and changes nothing") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    const std::vector<Sge> many(5, pair.a.piece(0, 8));
    CHECK(pair.a.adapter.post_send(qa, {.sg_list = many}).error() == VerbsError::invalid_request);
    CHECK(pair.a.adapter.post_recv(qa, {.sg_list = many}).error() == VerbsError::invalid_request);
    CHECK(pair.a.send(qa, 0, 7, {.opcode = WrOpcode::atomic_fetch_and_add, .remote = at(pair.b, 0)}).error() ==
          VerbsError::invalid_request);
    CHECK(pair.a.send(qa, 0, 16, {.opcode = WrOpcode::atomic_write, .remote = at(pair.b, 0)}).error() ==
          VerbsError::invalid_request);
    CHECK(pair.a.send(dissect::Qpn{0x999}, 0, 8, {}).error() == VerbsError::unknown_handle);
    for (int i = 0; i < 128; ++i) REQUIRE(pair.a.send(qa, 0, 8, {}));
    CHECK(pair.a.send(qa, 0, 8, {}).error() == VerbsError::queue_full);
    for (std::uint64_t i = 0; i < 128; ++i) REQUIRE(pair.a.receive(qa, i, 0, 8));
    CHECK(pair.a.receive(qa, 129, 0, 8).error() == VerbsError::queue_full);
    CHECK(pair.a.adapter.query_qp(qa)->sends == 128);
    CHECK(pair.a.adapter.query_qp(qa)->receives == 128);
    CHECK(pair.a.sent().empty());
}
