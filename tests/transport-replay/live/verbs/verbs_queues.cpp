// Completion queues with their notifications and overruns; receives that several queue pairs share.
#include <tests/support/catch.hpp>
#include <tests/support/verbs_pair.hpp>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::verbs;
using namespace qps::tests;

namespace {

void message(VerbsPair& pair, dissect::Qpn qa, SendFlags flags = {}) {
    const Sge piece = pair.a.piece(0, 8);
    REQUIRE(pair.a.adapter.post_send(qa, {.sg_list = {&piece, 1}, .send_flags = flags}));
    pair.converse();
}

}  // namespace

TEST_CASE("a notification is asked for once and comes once") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    for (std::uint64_t i = 0; i < 8; ++i) REQUIRE(pair.b.receive(qb, i, 0, 64));
    message(pair, qa);
    CHECK(pair.b.adapter.take_notifications().empty());
    REQUIRE(pair.b.adapter.req_notify_cq(pair.b.recv_cq));
    CHECK(pair.b.adapter.take_notifications().empty());  // what waits already is no event
    message(pair, qa);
    message(pair, qa);
    CHECK(pair.b.adapter.take_notifications() == std::vector{pair.b.recv_cq});
    message(pair, qa);
    CHECK(pair.b.adapter.take_notifications().empty());
    CHECK(pair.b.adapter.req_notify_cq(Cq{77}).error() == VerbsError::unknown_handle);
}

TEST_CASE("solicited only: those the sender asked for, and failures") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(pair.b.receive(qb, i, 0, 64));
    REQUIRE(pair.b.adapter.req_notify_cq(pair.b.recv_cq, true));
    message(pair, qa);
    CHECK(pair.b.adapter.take_notifications().empty());
    message(pair, qa, {.solicited = true});
    CHECK(pair.b.adapter.take_notifications().size() == 1);
    REQUIRE(pair.b.adapter.req_notify_cq(pair.b.recv_cq, true));
    REQUIRE(pair.b.adapter.modify_qp(qb, {.qp_state = QpState::err}));
    CHECK(pair.b.adapter.take_notifications().size() == 1);
}

TEST_CASE("a completion queue that overruns is an event, and stops its queue pairs") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    const Cq small = *pair.b.adapter.create_cq(2);
    QpInitAttr init = pair.b.init();
    init.recv_cq = small;
    const auto slow = *pair.b.adapter.create_qp(init);
    const auto other = *pair.a.adapter.create_qp(pair.a.init());
    pair.connect(other, slow);
    for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(pair.b.receive(slow, i, 0, 64));
    for (int i = 0; i < 2; ++i) message(pair, other);
    CHECK(pair.b.adapter.take_async_events().empty());
    message(pair, other);
    const auto events = pair.b.adapter.take_async_events();
    REQUIRE(events.size() == 2);
    CHECK(events[0].type == AsyncEventType::cq_err);
    CHECK(events[0].cq == small);
    CHECK(events[1].type == AsyncEventType::qp_fatal);
    CHECK(events[1].qp == slow);
    CHECK(pair.b.state(slow) == QpState::err);
    CHECK(pair.b.poll(small).size() == 2);
    CHECK(pair.b.state(qb) == QpState::rts);
    REQUIRE(pair.b.adapter.destroy_qp(slow));
    CHECK(pair.b.adapter.dereg_mr(pair.b.mr.lkey));
}

TEST_CASE("a completion queue is resized, but not below what waits") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    for (std::uint64_t i = 0; i < 3; ++i) {
        REQUIRE(pair.b.receive(qb, i, 0, 64));
        message(pair, qa);
    }
    CHECK(pair.b.adapter.resize_cq(pair.b.recv_cq, 2).error() == VerbsError::busy);
    CHECK(pair.b.adapter.resize_cq(pair.b.recv_cq, 3));
    CHECK(pair.b.adapter.resize_cq(pair.b.recv_cq, 0).error() == VerbsError::invalid_attribute);
    CHECK(pair.b.adapter.create_cq(kMaxCqe + 1).error() == VerbsError::invalid_attribute);
    std::array<Wc, 2> some;
    CHECK(pair.b.adapter.poll_cq(pair.b.recv_cq, some) == 2);
    CHECK(some[1].wr_id == 1);
    CHECK(pair.b.adapter.poll_cq(pair.b.recv_cq, some) == 1);
    CHECK(some[0].wr_id == 2);
    CHECK(pair.b.adapter.poll_cq(pair.b.recv_cq, some) == 0);
}

TEST_CASE("a shared receive queue feeds several queue pairs, and says when it runs low") {
    VerbsPair pair;
    const Srq srq = *pair.b.adapter.create_srq(pair.b.pd, 16);
    QpInitAttr init = pair.b.init();
    init.srq = srq;
    std::array<dissect::Qpn, 3> theirs{}, ours{};
    for (std::size_t i = 0; i < 3; ++i) {
        theirs[i] = *pair.a.adapter.create_qp(pair.a.init());
        ours[i] = *pair.b.adapter.create_qp(init);
        pair.connect(theirs[i], ours[i]);
    }
    for (std::uint64_t i = 0; i < 6; ++i) {
        const Sge piece = pair.b.piece(0x100 * i, 64);
        REQUIRE(pair.b.adapter.post_srq_recv(srq, {.wr_id = 100 + i, .sg_list = {&piece, 1}}));
    }
    REQUIRE(pair.b.adapter.modify_srq(srq, 3));
    for (std::size_t i = 0; i < 3; ++i) message(pair, theirs[i]);
    CHECK(pair.b.adapter.take_async_events().empty());
    message(pair, theirs[0]);
    const auto events = pair.b.adapter.take_async_events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].type == AsyncEventType::srq_limit_reached);
    CHECK(events[0].srq == srq);
    message(pair, theirs[1]);
    CHECK(pair.b.adapter.take_async_events().empty());  // disarmed
    const auto received = pair.b.received();
    REQUIRE(received.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(received[i].wr_id == 100 + i);
    CHECK(received[3].qp_num == ours[0]);

    CHECK(pair.b.receive(ours[0], 1, 0, 64).error() == VerbsError::unsupported);
    CHECK(pair.b.adapter.destroy_srq(srq).error() == VerbsError::busy);
    REQUIRE(pair.b.adapter.modify_qp(ours[0], {.qp_state = QpState::err}));
    const auto last = pair.b.adapter.take_async_events();
    REQUIRE(last.size() == 1);
    CHECK(last[0].type == AsyncEventType::qp_last_wqe_reached);
    CHECK(pair.b.received().empty());  // what is shared is not flushed
    for (const dissect::Qpn qp : ours) REQUIRE(pair.b.adapter.destroy_qp(qp));
    CHECK(pair.b.adapter.dereg_mr(pair.b.mr.lkey).error() == VerbsError::busy);
    CHECK(pair.b.adapter.destroy_srq(srq));
    CHECK(pair.b.adapter.dereg_mr(pair.b.mr.lkey));
}

TEST_CASE("bounds of objects are kept") {
    VerbsPair pair;
    QpInitAttr init = pair.a.init();
    init.cap.max_send_wr = kMaxQpWr + 1;
    CHECK(pair.a.adapter.create_qp(init).error() == VerbsError::invalid_attribute);
    init = pair.a.init();
    init.cap.max_recv_sge = kMaxSge + 1;
    CHECK(pair.a.adapter.create_qp(init).error() == VerbsError::invalid_attribute);
    init = pair.a.init();
    init.send_cq = Cq{1234};
    CHECK(pair.a.adapter.create_qp(init).error() == VerbsError::unknown_handle);
    CHECK(pair.a.adapter.create_srq(pair.a.pd, 0).error() == VerbsError::invalid_attribute);
    std::size_t made = 0;
    while (pair.a.adapter.alloc_pd()) ++made;
    CHECK(made == kMaxPds - 1);
    CHECK(pair.a.adapter.alloc_pd().error() == VerbsError::too_many);
}
