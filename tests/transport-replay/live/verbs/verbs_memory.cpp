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
    static_cast<void>(pair.a.send(
        qa, 0, 8, {.opcode = WrOpcode::rdma_write, .remote = {.address = pair.b.mr.address + offset, .rkey = key}}));
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
        CHECK(pair.b.adapter
                  .post_send(qb, {.opcode = WrOpcode::bind_mw, .bind = part_of(pair.b, window, next_rkey(*key))})
                  .error() == VerbsError::unsupported);
    }
}

TEST_CASE("type 2 windows: bound by a work request, to one queue pair, until invalidated") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    const Window window = *pair.b.adapter.alloc_mw(pair.b.pd, MwType::type_2);
    const dissect::Rkey key = next_rkey(window.rkey);
    REQUIRE(pair.b.adapter.post_send(qb, {.wr_id = 1,
                                          .opcode = WrOpcode::bind_mw,
                                          .send_flags = {.signaled = true},
                                          .bind = part_of(pair.b, window, key)}));
    pair.converse();
    REQUIRE(pair.b.sent().size() == 1);
    CHECK(write_through(pair, qa, 0x1000, key) == WcStatus::success);

    SECTION("not through another queue pair") {
        const auto [other_a, other_b] = pair.pair();
        CHECK(write_through(pair, other_a, 0x1000, key) == WcStatus::rem_access_err);
    }
    SECTION("local_inv") {
        REQUIRE(pair.b.adapter.post_send(
            qb, {.opcode = WrOpcode::local_inv, .send_flags = {.signaled = true}, .invalidate_rkey = key}));
        pair.converse();
        const auto done = pair.b.sent();
        REQUIRE(done.size() == 1);
        CHECK(done[0].opcode == WcOpcode::local_inv);
        CHECK(done[0].status == WcStatus::success);
        SECTION("then the key is dead") { CHECK(write_through(pair, qa, 0x1000, key) == WcStatus::rem_access_err); }
        SECTION("and it can be bound again") {
            const dissect::Rkey newer = next_rkey(key);
            REQUIRE(
                pair.b.adapter.post_send(qb, {.opcode = WrOpcode::bind_mw, .bind = part_of(pair.b, window, newer)}));
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
        REQUIRE(pair.b.adapter.post_send(
            qb, {.opcode = WrOpcode::bind_mw, .bind = part_of(pair.b, window, next_rkey(key))}));
        pair.converse();
        const auto done = pair.b.sent();
        REQUIRE(done.size() == 1);
        CHECK(done[0].status == WcStatus::mw_bind_err);
        CHECK(pair.b.state(qb) == QpState::err);
    }
    SECTION("a key of another index is refused") {
        CHECK(
            pair.b.adapter.post_send(qb, {.opcode = WrOpcode::bind_mw, .bind = part_of(pair.b, window, pair.b.mr.rkey)})
                .error() == VerbsError::invalid_request);
    }
}

namespace {

constexpr std::uint64_t kFastAddress = 0x7000'0000;

// A region of b that work requests register, and what is posted for it.
struct FastRegion {
    explicit FastRegion(VerbsPair& pair) : end(&pair.b), key(pair.b.adapter.alloc_mr(pair.b.pd, 4096)->lkey) {}
    [[nodiscard]] SendWr registration(dissect::Rkey to,
                                      Access access = {
                                          .local_write = true, .remote_write = true, .remote_read = true}) {
        return {.wr_id = 5,
                .opcode = WrOpcode::reg_mr,
                .send_flags = {.signaled = true},
                .reg = {.lkey = key, .key = to, .bytes = memory, .address = kFastAddress, .access = access}};
    }
    // Posted, with what it completes as.
    WcStatus register_as(VerbsPair& pair, dissect::Qpn qp, dissect::Rkey to) {
        REQUIRE(end->adapter.post_send(qp, registration(to)));
        pair.converse();
        const auto done = end->sent();
        REQUIRE(done.size() == 1);
        if (done[0].status == WcStatus::success) {
            CHECK(done[0].opcode == WcOpcode::reg_mr);
            CHECK(done[0].wr_id == 5);
            key = to;
        }
        return done[0].status;
    }
    VerbsEnd* end;
    dissect::Rkey key;
    std::vector<std::byte> memory = std::vector<std::byte>(4096);
};

// A WRITE of eight bytes to the region, through a fresh pair of queue pairs.
WcStatus write_fast(VerbsPair& pair, dissect::Rkey key, std::uint64_t offset = 0) {
    const auto [qa, qb] = pair.pair();
    return write_through(pair, qa, kFastAddress - pair.b.mr.address + offset, key);
}

}  // namespace

TEST_CASE("fast registration: a region opens with its work request, and closes when it is invalidated") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    FastRegion region(pair);
    const dissect::Rkey first = region.key, second = next_rkey(first), third = next_rkey(second);
    CHECK(write_fast(pair, first) == WcStatus::rem_access_err);
    REQUIRE(region.register_as(pair, qb, second) == WcStatus::success);
    CHECK(write_fast(pair, second) == WcStatus::success);
    CHECK(std::ranges::equal(std::span(region.memory).first(8), std::span(pair.a.memory).first(8)));
    CHECK(write_fast(pair, first) == WcStatus::rem_access_err);

    SECTION("its end is that of its bytes") {
        CHECK(write_fast(pair, second, 4088) == WcStatus::success);
        CHECK(write_fast(pair, second, 4089) == WcStatus::rem_access_err);
    }
    SECTION("local_inv, then again under another key") {
        REQUIRE(pair.b.adapter.post_send(qb, {.opcode = WrOpcode::local_inv, .invalidate_rkey = second}));
        pair.converse();
        CHECK(write_fast(pair, second) == WcStatus::rem_access_err);
        REQUIRE(region.register_as(pair, qb, third) == WcStatus::success);
        CHECK(write_fast(pair, third) == WcStatus::success);
        CHECK(write_fast(pair, second) == WcStatus::rem_access_err);
    }
    SECTION("SEND with invalidate, then again under the same key") {
        REQUIRE(pair.b.receive(qb, 3, 0, 64));
        REQUIRE(pair.a.send(qa, 0, 8, {.opcode = WrOpcode::send_with_inv, .invalidate_rkey = second}));
        pair.converse();
        const auto received = pair.b.received();
        REQUIRE(received.size() == 1);
        CHECK(received[0].flags.with_inv);
        CHECK(received[0].invalidated_rkey == second);
        CHECK(pair.a.sent().size() == 1);
        CHECK(write_fast(pair, second) == WcStatus::rem_access_err);
        REQUIRE(region.register_as(pair, qb, second) == WcStatus::success);
        CHECK(write_fast(pair, second) == WcStatus::success);
    }
    SECTION("registered while it is valid: an error of the queue pair, and it stays as it was") {
        CHECK(region.register_as(pair, qb, third) == WcStatus::loc_qp_op_err);
        CHECK(pair.b.state(qb) == QpState::err);
        CHECK(write_fast(pair, second) == WcStatus::success);
        CHECK(write_fast(pair, third) == WcStatus::rem_access_err);
    }
    SECTION("invalidated twice") {
        for (int i = 0; i < 2; ++i)
            REQUIRE(pair.b.adapter.post_send(
                qb, {.opcode = WrOpcode::local_inv, .send_flags = {.signaled = true}, .invalidate_rkey = second}));
        pair.converse();
        const auto done = pair.b.sent();
        REQUIRE(done.size() == 2);
        CHECK(done[0].status == WcStatus::success);
        CHECK(done[1].status == WcStatus::loc_qp_op_err);
    }
    SECTION("its key is that of local memory too, while it is valid") {
        const dissect::Qpn other_b = pair.pair().second;
        const Sge piece{.address = kFastAddress, .length = 16, .lkey = second};
        const SendWr write{.sg_list = {&piece, 1},
                           .opcode = WrOpcode::rdma_write,
                           .send_flags = {.signaled = true},
                           .remote = at(pair.a, 0x4000)};
        REQUIRE(pair.b.adapter.post_send(other_b, write));
        pair.converse();
        CHECK(pair.b.sent()[0].status == WcStatus::success);
        REQUIRE(pair.b.adapter.post_send(qb, {.opcode = WrOpcode::local_inv, .invalidate_rkey = second}));
        pair.converse();
        REQUIRE(pair.b.adapter.post_send(other_b, write));
        pair.converse();
        CHECK(pair.b.sent()[0].status == WcStatus::loc_prot_err);
    }
    SECTION("a window on it goes first") {
        REQUIRE(pair.b.adapter.post_send(qb, {.opcode = WrOpcode::local_inv, .invalidate_rkey = second}));
        pair.converse();
        REQUIRE(pair.b.adapter.post_send(qb, region.registration(third, {.local_write = true, .mw_bind = true})));
        const Window window = *pair.b.adapter.alloc_mw(pair.b.pd, MwType::type_2);
        const MwBind bind{.mw = window.handle,
                          .rkey = next_rkey(window.rkey),
                          .lkey = third,
                          .address = kFastAddress + 64,
                          .length = 64,
                          .access = {.remote_write = true}};
        REQUIRE(pair.b.adapter.post_send(qb, {.opcode = WrOpcode::bind_mw, .bind = bind}));
        pair.converse();
        static_cast<void>(pair.b.sent());
        CHECK(write_through(pair, qa, kFastAddress - pair.b.mr.address + 64, bind.rkey) == WcStatus::success);
        REQUIRE(pair.b.adapter.post_send(
            qb, {.opcode = WrOpcode::local_inv, .send_flags = {.signaled = true}, .invalidate_rkey = third}));
        pair.converse();
        CHECK(pair.b.sent()[0].status == WcStatus::loc_qp_op_err);
    }
}

TEST_CASE("fast registration keeps the order of the send queue") {
    VerbsPair pair;
    const dissect::Qpn qb = pair.pair().second;
    FastRegion region(pair);
    const dissect::Rkey key = next_rkey(region.key);
    // READ, registration, WRITE: nothing of it has its turn before what is before it was sent, and the READ may still
    // be open then.
    REQUIRE(pair.b.send(qb, 0, 64, {.wr_id = 1, .opcode = WrOpcode::rdma_read, .remote = at(pair.a, 0)}));
    REQUIRE(pair.b.adapter.post_send(qb, region.registration(key)));
    REQUIRE(pair.b.send(qb, 0, 8, {.wr_id = 2, .opcode = WrOpcode::rdma_write, .remote = at(pair.a, 0x200)}));
    REQUIRE(pair.b.adapter.post_send(qb, {.wr_id = 3,
                                          .opcode = WrOpcode::local_inv,
                                          .send_flags = {.fence = true, .signaled = true},
                                          .invalidate_rkey = key}));
    const auto read = pair.b.adapter.poll(pair.now);
    REQUIRE(read);
    CHECK(dissect::info(read->packet.opcode).verb == dissect::Verb::read_request);
    const Flying asked = flying(*read);
    const auto write = pair.b.adapter.poll(pair.now);
    REQUIRE(write);
    CHECK(dissect::info(write->packet.opcode).verb == dissect::Verb::write);
    const Flying said = flying(*write);
    CHECK_FALSE(pair.b.adapter.poll(pair.now));
    CHECK(pair.b.sent().empty());                       // the READ is before them
    CHECK(write_fast(pair, key) == WcStatus::success);  // registered, and the fence holds the invalidate back
    pair.carry(asked, false);
    pair.carry(said, false);
    pair.converse();
    const auto done = pair.b.sent();
    REQUIRE(done.size() == 4);
    CHECK(done[0].opcode == WcOpcode::rdma_read);
    CHECK(done[1].opcode == WcOpcode::reg_mr);
    CHECK(done[2].wr_id == 2);
    CHECK(done[3].opcode == WcOpcode::local_inv);
    CHECK(write_fast(pair, key) == WcStatus::rem_access_err);
}

TEST_CASE("a fast registration that cannot be is refused when it is posted") {
    VerbsPair pair;
    const dissect::Qpn qb = pair.pair().second;
    FastRegion region(pair);
    const dissect::Rkey key = next_rkey(region.key);
    const auto refused = [&](SendWr wr) {
        const auto posted = pair.b.adapter.post_send(qb, wr);
        return posted ? std::optional<VerbsError>() : posted.error();
    };
    SendWr wr = region.registration(pair.b.mr.lkey);
    CHECK(refused(wr) == VerbsError::invalid_request);  // a key of another region
    wr = region.registration(key, {.remote_write = true});
    CHECK(refused(wr) == VerbsError::invalid_request);
    std::vector<std::byte> more(4097);
    wr = region.registration(key);
    wr.reg.bytes = more;
    CHECK(refused(wr) == VerbsError::invalid_request);
    wr = region.registration(key);
    wr.reg.address = ~std::uint64_t{0} - 100;
    CHECK(refused(wr) == VerbsError::invalid_request);
    wr = region.registration(key);
    wr.reg.lkey = dissect::Rkey{0x00ff'ff00};
    CHECK(refused(wr) == VerbsError::unknown_handle);
    wr = region.registration(pair.b.mr.lkey);
    wr.reg.lkey = pair.b.mr.lkey;
    CHECK(refused(wr) == VerbsError::unsupported);  // registered by reg_mr
    const Pd other = *pair.b.adapter.alloc_pd();
    wr = region.registration(key);
    wr.reg.lkey = pair.b.adapter.alloc_mr(other, 4096)->lkey;
    wr.reg.key = next_rkey(wr.reg.lkey);
    CHECK(refused(wr) == VerbsError::unknown_handle);
    CHECK(pair.b.adapter.alloc_mr(Pd{99}, 1).error() == VerbsError::unknown_handle);
    CHECK(pair.b.adapter.alloc_mr(pair.b.pd, ~std::uint64_t{0}).error() == VerbsError::invalid_request);
    const dissect::Qpn datagrams = VerbsPair::datagram_qp(pair.b, dissect::Qkey{7});
    CHECK(pair.b.adapter.post_send(datagrams, region.registration(key)).error() == VerbsError::unsupported);

    // In use from the post on; given back with the queue pair.
    REQUIRE(pair.b.adapter.post_send(qb, region.registration(key)));
    CHECK(pair.b.adapter.dereg_mr(region.key).error() == VerbsError::busy);
    REQUIRE(pair.b.adapter.destroy_qp(qb));
    CHECK(pair.b.adapter.dereg_mr(region.key));
    CHECK(pair.b.adapter.dereg_mr(region.key).error() == VerbsError::unknown_handle);
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
    REQUIRE(pair.a.send(qa, 0, 0x4000,
                        {.opcode = WrOpcode::rdma_read, .remote = {.address = going.address, .rkey = going.rkey}}));
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
