// Regions, windows, keys: what may be reached, what ends it, what is in use.
#include <tests/support/catch.hpp>
#include <tests/support/verbs_pair.hpp>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::verbs;
using namespace qps::tests;

namespace {

// A window over bytes 0x1000.. of b's region, asked for through queue pair qb.
MwBind part_of(const VerbsEnd& end, const Window& window, dissect::Rkey key, std::uint64_t length = 0x100) {
    return {.mw = window.handle,
            .rkey = key,
            .lkey = end.mr.lkey,
            .address = end.mr.address + 0x1000,
            .length = length,
            .access = {.remote_write = true, .remote_read = true}};
}

// What becomes of a WRITE of eight bytes from a, on a fresh pair of queue pairs where the last one failed.
WcStatus write_through(VerbsPair& pair, dissect::Qpn qa, std::uint64_t offset, dissect::Rkey key) {
    static_cast<void>(
        pair.a.send(qa, 0, 8, {.opcode = WrOpcode::rdma_write, .remote = {.address = pair.b.mr.address + offset, .rkey = key}}));
    pair.converse();
    const auto sent = pair.a.sent();
    REQUIRE(sent.size() == 1);
    return sent[0].status;
}

}  // namespace

TEST_CASE("addresses and keys are given out in order, the same every time") {
    VerbsPair one, two;
    CHECK(one.a.mr.lkey == two.a.mr.lkey);
    CHECK(one.a.mr.address == two.a.mr.address);
    std::vector<std::byte> memory(100);
    const Mr next = *one.a.adapter.reg_mr(one.a.pd, memory, kLocalWrite);
    CHECK(next.address > one.a.mr.address + one.a.mr.length);
    CHECK(next.lkey != one.a.mr.lkey);
    const Mr chosen = *one.a.adapter.reg_mr(one.a.pd, memory, kLocalWrite, 0x4000);
    CHECK(chosen.address == 0x4000);
    CHECK(one.a.adapter.reg_mr(one.a.pd, memory, {.remote_write = true}).error() == VerbsError::invalid_request);
    CHECK(one.a.adapter.reg_mr(one.a.pd, memory, {}, ~std::uint64_t{0} - 10).error() == VerbsError::invalid_request);
    CHECK(one.a.adapter.reg_mr(Pd{99}, memory, {}).error() == VerbsError::unknown_handle);
}

TEST_CASE("a key that was given back finds nothing, also when its place is used again") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    std::vector<std::byte> memory(64);
    const Mr first = *pair.b.adapter.reg_mr(pair.b.pd, memory, kEveryAccess, pair.b.mr.address);
    REQUIRE(pair.b.adapter.dereg_mr(first.lkey));
    CHECK(pair.b.adapter.dereg_mr(first.lkey).error() == VerbsError::unknown_handle);
    const Mr second = *pair.b.adapter.reg_mr(pair.b.pd, memory, kEveryAccess, pair.b.mr.address);
    CHECK(second.rkey != first.rkey);
    CHECK(write_through(pair, qa, 0, second.rkey) == WcStatus::success);
    CHECK(write_through(pair, qa, 0, first.rkey) == WcStatus::rem_access_err);
}

TEST_CASE("what is in use is busy: regions of posted work, domains, completion queues") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.b.receive(qb, 1, 0, 64));
    CHECK(pair.b.adapter.dereg_mr(pair.b.mr.lkey).error() == VerbsError::busy);
    REQUIRE(pair.a.send(qa, 0, 8, {}));
    CHECK(pair.a.adapter.dereg_mr(pair.a.mr.lkey).error() == VerbsError::busy);
    CHECK(pair.a.adapter.dealloc_pd(pair.a.pd).error() == VerbsError::busy);
    CHECK(pair.a.adapter.destroy_cq(pair.a.send_cq).error() == VerbsError::busy);
    pair.converse();
    CHECK(pair.a.adapter.dereg_mr(pair.a.mr.lkey));
    CHECK(pair.b.adapter.dereg_mr(pair.b.mr.lkey));
    CHECK(pair.a.adapter.dealloc_pd(pair.a.pd).error() == VerbsError::busy);
    REQUIRE(pair.a.adapter.destroy_qp(qa));
    CHECK(pair.a.adapter.dealloc_pd(pair.a.pd));
    CHECK(pair.a.adapter.destroy_cq(pair.a.send_cq));
    CHECK(pair.a.adapter.destroy_cq(pair.a.send_cq).error() == VerbsError::unknown_handle);
}

TEST_CASE("a queue pair destroyed with work posted gives everything back") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    for (std::uint64_t i = 0; i < 5; ++i) {
        REQUIRE(pair.b.receive(qb, i, 0, 1024));
        REQUIRE(pair.a.send(qa, 0, 600, {}));
    }
    {
        const auto out = pair.a.adapter.poll(pair.now);  // b has taken a receive, and waits for the rest
        REQUIRE(out);
        pair.carry(flying(*out), true);
    }
    REQUIRE(pair.a.adapter.destroy_qp(qa));
    REQUIRE(pair.b.adapter.destroy_qp(qb));
    CHECK(pair.a.adapter.dereg_mr(pair.a.mr.lkey));
    CHECK(pair.b.adapter.dereg_mr(pair.b.mr.lkey));
    CHECK_FALSE(pair.a.adapter.poll(pair.now));
    CHECK(pair.b.received().empty());
}

TEST_CASE("type 1 windows: bound, bound anew, unbound") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    const Window window = *pair.b.adapter.alloc_mw(pair.b.pd, MwType::type_1);
    const auto key = pair.b.adapter.bind_mw(qb, 1, part_of(pair.b, window, {}), {.signaled = true});
    REQUIRE(key);
    CHECK(pair.b.adapter.dealloc_mw(window.handle).error() == VerbsError::busy);
    pair.converse();
    const auto bound = pair.b.sent();
    REQUIRE(bound.size() == 1);
    CHECK(bound[0].opcode == WcOpcode::bind_mw);
    CHECK(bound[0].status == WcStatus::success);
    CHECK(write_through(pair, qa, 0x1000, *key) == WcStatus::success);
    CHECK(pair.b.adapter.dereg_mr(pair.b.mr.lkey).error() == VerbsError::busy);

    SECTION("beyond its range") { CHECK(write_through(pair, qa, 0x10f9, *key) == WcStatus::rem_access_err); }
    SECTION("the old key after a new bind") {
        const auto newer = pair.b.adapter.bind_mw(qb, 2, part_of(pair.b, window, {}));
        REQUIRE(newer);
        CHECK(*newer != *key);
        pair.converse();
        CHECK(write_through(pair, qa, 0x1000, *newer) == WcStatus::success);
        CHECK(write_through(pair, qa, 0x1000, *key) == WcStatus::rem_access_err);
    }
    SECTION("unbound by length 0") {
        REQUIRE(pair.b.adapter.bind_mw(qb, 2, part_of(pair.b, window, {}, 0)));
        pair.converse();
        CHECK(write_through(pair, qa, 0x1000, *key) == WcStatus::rem_access_err);
    }
    SECTION("given back") {
        REQUIRE(pair.b.adapter.dealloc_mw(window.handle));
        CHECK(pair.b.adapter.dereg_mr(pair.b.mr.lkey));
        CHECK(write_through(pair, qa, 0x1000, *key) == WcStatus::rem_access_err);
    }
    SECTION("not by a work request") {
        CHECK(pair.b.adapter.post_send(qb, {.opcode = WrOpcode::bind_mw, .bind = part_of(pair.b, window, next_rkey(*key))}).error() ==
              VerbsError::unsupported);
    }
}

TEST_CASE("type 2 windows: bound by a work request, to one queue pair, until invalidated") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    const Window window = *pair.b.adapter.alloc_mw(pair.b.pd, MwType::type_2);
    const dissect::Rkey key = next_rkey(window.rkey);
    REQUIRE(pair.b.adapter.post_send(
        qb, {.wr_id = 1, .opcode = WrOpcode::bind_mw, .send_flags = {.signaled = true}, .bind = part_of(pair.b, window, key)}));
    pair.converse();
    REQUIRE(pair.b.sent().size() == 1);
    CHECK(write_through(pair, qa, 0x1000, key) == WcStatus::success);

    SECTION("not through another queue pair") {
        const auto [other_a, other_b] = pair.pair();
        CHECK(write_through(pair, other_a, 0x1000, key) == WcStatus::rem_access_err);
    }
    SECTION("local_inv") {
        REQUIRE(pair.b.adapter.post_send(qb, {.opcode = WrOpcode::local_inv, .send_flags = {.signaled = true}, .invalidate_rkey = key}));
        pair.converse();
        const auto done = pair.b.sent();
        REQUIRE(done.size() == 1);
        CHECK(done[0].opcode == WcOpcode::local_inv);
        CHECK(done[0].status == WcStatus::success);
        SECTION("then the key is dead") { CHECK(write_through(pair, qa, 0x1000, key) == WcStatus::rem_access_err); }
        SECTION("and it can be bound again") {
            const dissect::Rkey newer = next_rkey(key);
            REQUIRE(pair.b.adapter.post_send(qb, {.opcode = WrOpcode::bind_mw, .bind = part_of(pair.b, window, newer)}));
            pair.converse();
            CHECK(write_through(pair, qa, 0x1000, newer) == WcStatus::success);
        }
    }
    SECTION("SEND with invalidate") {
        REQUIRE(pair.b.receive(qb, 3, 0, 64));
        REQUIRE(pair.a.send(qa, 0, 8, {.opcode = WrOpcode::send_with_inv, .invalidate_rkey = key}));
        pair.converse();
        const auto received = pair.b.received();
        REQUIRE(received.size() == 1);
        CHECK(received[0].flags.with_inv);
        CHECK(received[0].invalidated_rkey == key);
        CHECK(pair.a.sent().size() == 1);
        CHECK(write_through(pair, qa, 0x1000, key) == WcStatus::rem_access_err);
    }
    SECTION("bound twice is an error") {
        REQUIRE(pair.b.adapter.post_send(qb, {.opcode = WrOpcode::bind_mw, .bind = part_of(pair.b, window, next_rkey(key))}));
        pair.converse();
        const auto done = pair.b.sent();
        REQUIRE(done.size() == 1);
        CHECK(done[0].status == WcStatus::mw_bind_err);
        CHECK(pair.b.state(qb) == QpState::err);
    }
    SECTION("a key of another index is refused") {
        CHECK(pair.b.adapter.post_send(qb, {.opcode = WrOpcode::bind_mw, .bind = part_of(pair.b, window, pair.b.mr.rkey)}).error() ==
              VerbsError::invalid_request);
    }
}

TEST_CASE("mw_bind_err: a region that grants no windows") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    std::vector<std::byte> memory(0x2000);
    const Mr plain = *pair.b.adapter.reg_mr(pair.b.pd, memory, {.local_write = true, .remote_write = true});
    const Window window = *pair.b.adapter.alloc_mw(pair.b.pd, MwType::type_1);
    MwBind bind = part_of(pair.b, window, {});
    bind.lkey = plain.lkey;
    bind.address = plain.address;
    REQUIRE(pair.b.adapter.bind_mw(qb, 1, bind));
    pair.converse();
    const auto done = pair.b.sent();
    REQUIRE(done.size() == 1);
    CHECK(done[0].status == WcStatus::mw_bind_err);
}

TEST_CASE("invalidating what cannot be is an error of the side that was to do it") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    SECTION("locally") {
        REQUIRE(pair.b.adapter.post_send(qb, {.opcode = WrOpcode::local_inv, .invalidate_rkey = pair.b.mr.rkey}));
        pair.converse();
        const auto done = pair.b.sent();
        REQUIRE(done.size() == 1);
        CHECK(done[0].status == WcStatus::loc_qp_op_err);
    }
    SECTION("by the peer: no NAK says so") {
        REQUIRE(pair.b.receive(qb, 1, 0, 64));
        REQUIRE(pair.a.send(qa, 0, 8, {.opcode = WrOpcode::send_with_inv, .invalidate_rkey = pair.b.mr.rkey}));
        pair.converse();
        CHECK(pair.b.state(qb) == QpState::err);
        CHECK(pair.b.adapter.dereg_mr(pair.b.mr.rkey));  // the region itself is whole
    }
}

TEST_CASE("the region of a READ that is being answered may go: the peer is told") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    std::vector<std::byte> memory(0x4000);
    const Mr going = *pair.b.adapter.reg_mr(pair.b.pd, memory, kEveryAccess);
    REQUIRE(pair.a.send(qa, 0, 0x4000, {.opcode = WrOpcode::rdma_read, .remote = {.address = going.address, .rkey = going.rkey}}));
    {
        const auto out = pair.a.adapter.poll(pair.now);
        REQUIRE(out);
        pair.carry(flying(*out), true);
    }
    REQUIRE(pair.b.adapter.poll(pair.now));
    REQUIRE(pair.b.adapter.dereg_mr(going.lkey));
    memory = {};
    bool acknowledged = false;
    while (const auto out = pair.b.adapter.poll(pair.now)) {
        acknowledged = acknowledged || out->packet.opcode == dissect::Opcode::rc_acknowledge;
        pair.carry(flying(*out), false);
    }
    CHECK(acknowledged);
    CHECK(pair.b.state(qb) == QpState::err);
}
