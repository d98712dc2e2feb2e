// The states of a queue pair: every way there is, what it must be told on it, what its queues do in each.
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/verbs_pair.hpp>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::verbs;
using namespace qps::tests;

namespace {

// Every attribute, with a value that can be.
QpAttr everything() {
    return {.pkey = dissect::Pkey{0xffff},
            .access = kEveryAccess,
            .qkey = dissect::Qkey{1},
            .address = handle_to(v4(2)),
            .path_mtu = PathMtu::bytes_1024,
            .dest_qp_num = dissect::Qpn{0x33},
            .rq_psn = dissect::Psn(1),
            .sq_psn = dissect::Psn(2),
            .max_dest_rd_atomic = 1,
            .max_rd_atomic = 1,
            .min_rnr_timer = 1,
            .timeout = 1,
            .retry_cnt = 1,
            .rnr_retry = 1,
            .en_sqd_async_notify = true,
            .rate_control = false};
}

// Those attributes of everything() whose bits are set.
QpAttr only(QpAttributes wanted) {
    const QpAttr all = everything();
    QpAttr some;
    const auto pick = [&](QpAttribute which, auto QpAttr::* member) {
        if ((wanted & attributes(which)) != 0) some.*member = all.*member;
    };
    pick(QpAttribute::pkey, &QpAttr::pkey);
    pick(QpAttribute::access, &QpAttr::access);
    pick(QpAttribute::qkey, &QpAttr::qkey);
    pick(QpAttribute::address, &QpAttr::address);
    pick(QpAttribute::path_mtu, &QpAttr::path_mtu);
    pick(QpAttribute::dest_qp_num, &QpAttr::dest_qp_num);
    pick(QpAttribute::rq_psn, &QpAttr::rq_psn);
    pick(QpAttribute::sq_psn, &QpAttr::sq_psn);
    pick(QpAttribute::max_dest_rd_atomic, &QpAttr::max_dest_rd_atomic);
    pick(QpAttribute::max_rd_atomic, &QpAttr::max_rd_atomic);
    pick(QpAttribute::min_rnr_timer, &QpAttr::min_rnr_timer);
    pick(QpAttribute::timeout, &QpAttr::timeout);
    pick(QpAttribute::retry_cnt, &QpAttr::retry_cnt);
    pick(QpAttribute::rnr_retry, &QpAttr::rnr_retry);
    pick(QpAttribute::en_sqd_async_notify, &QpAttr::en_sqd_async_notify);
    pick(QpAttribute::rate_control, &QpAttr::rate_control);
    return some;
}

// What the table requires on that way, and the state to go to.
QpAttr required(QpType type, QpState from, QpState to) {
    QpAttributes wanted = 0;
    for (const QpTransition& row : qp_transitions())
        if (row.type == type && row.from == from && row.to == to) wanted = row.required;
    QpAttr attr = only(wanted);
    attr.qp_state = to;
    return attr;
}

// A queue pair of the type in a state that modify_qp() leads to.
dissect::Qpn qp_in(VerbsEnd& end, QpType type, QpState state) {
    const auto qp = *end.adapter.create_qp(end.init(type));
    QpState now = QpState::reset;
    const auto go = [&](QpState to) {
        REQUIRE(end.adapter.modify_qp(qp, required(type, now, to)));
        now = to;
    };
    if (state == QpState::err) go(QpState::err);
    for (const QpState next : {QpState::init, QpState::rtr, QpState::rts, QpState::sqd})
        if (state <= QpState::sqd && state >= next) go(next);
    REQUIRE(end.state(qp) == state);
    return qp;
}

constexpr std::array kTypes{QpType::rc, QpType::uc, QpType::ud, QpType::xrc_send, QpType::xrc_recv};

// An XRC target has no send queue that could be drained.
bool exists(QpType type, QpState state) { return type != QpType::xrc_recv || state != QpState::sqd; }
constexpr std::array kStates{QpState::reset, QpState::init, QpState::rtr, QpState::rts, QpState::sqd, QpState::err};

}  // namespace

TEST_CASE("the states of a queue pair are as they were") {
    check_golden("transport-replay/golden/verbs_qp.txt", grid(kQpMachine));
}

TEST_CASE("modify_qp follows the edges and no others") {
    VerbsPair pair;
    for (const QpType type : kTypes)
        for (const QpState from : kStates) {
            if (!exists(type, from)) continue;
            for (const QpState to : {QpState::reset, QpState::init, QpState::rtr, QpState::rts, QpState::sqd,
                                     QpState::sqe, QpState::err}) {
                const bool edge = [&] {
                    for (const auto& row : kQpMachine.edges)
                        if (row.from == from && row.to == to && row.event <= QpEvent::to_err) return exists(type, to);
                    return false;
                }();
                INFO(kQpStateNames[static_cast<std::size_t>(from)] << " -> "
                                                                   << kQpStateNames[static_cast<std::size_t>(to)]);
                const auto qp = qp_in(pair.a, type, from);
                const auto done = pair.a.adapter.modify_qp(qp, required(type, from, to));
                CHECK(done.has_value() == edge);
                CHECK(pair.a.state(qp) == (edge ? to : from));
                if (!edge) CHECK(done.error() == VerbsError::wrong_state);
                CHECK(pair.a.adapter.destroy_qp(qp));
            }
        }
}

TEST_CASE("every attribute that a way requires is missed, every other one is too much") {
    VerbsPair pair;
    for (const QpTransition& row : qp_transitions()) {
        if (row.from == QpState::sqe) continue;  // reached by failing alone
        for (std::size_t bit = 0; bit < kQpAttributeNames.size(); ++bit) {
            INFO(kQpStateNames[static_cast<std::size_t>(row.from)]
                 << " -> " << kQpStateNames[static_cast<std::size_t>(row.to)] << ' ' << kQpAttributeNames[bit]);
            const QpAttributes one = QpAttributes{1} << bit;
            const auto qp = qp_in(pair.a, row.type, row.from);
            const bool needed = (row.required & one) != 0;
            QpAttr attr = only(needed ? row.required & ~one : row.required | one);
            attr.qp_state = row.to;
            const auto done = pair.a.adapter.modify_qp(qp, attr);
            const bool fits = (row.optional & one) != 0 || static_cast<QpAttribute>(bit) == QpAttribute::rate_control;
            if (needed) CHECK(done.error() == VerbsError::missing_attribute);
            else if (!fits) CHECK(done.error() == VerbsError::excess_attribute);
            else CHECK(done);
            CHECK(pair.a.state(qp) == (done ? row.to : row.from));
            CHECK(pair.a.adapter.destroy_qp(qp));
        }
    }
}

TEST_CASE("attributes out of their range are refused") {
    VerbsPair pair;
    const auto refused = [&](QpState from, QpState to, auto change) {
        const auto qp = qp_in(pair.a, QpType::rc, from);
        QpAttr attr = required(QpType::rc, from, to);
        change(attr);
        const auto done = pair.a.adapter.modify_qp(qp, attr);
        return !done && done.error() == VerbsError::invalid_attribute && pair.a.state(qp) == from;
    };
    CHECK(refused(QpState::reset, QpState::init,
                  [](QpAttr& attr) { attr.pkey = dissect::Pkey{0x8123}; }));  // not the adapter's
    CHECK(refused(QpState::init, QpState::rtr, [](QpAttr& attr) { attr.path_mtu = PathMtu{6}; }));
    CHECK(refused(QpState::init, QpState::rtr, [](QpAttr& attr) { attr.path_mtu = PathMtu{0}; }));
    CHECK(refused(QpState::init, QpState::rtr, [](QpAttr& attr) { attr.dest_qp_num = dissect::kMulticastQpn; }));
    CHECK(refused(QpState::init, QpState::rtr, [](QpAttr& attr) { attr.dest_qp_num = dissect::kGsiQpn; }));
    CHECK(refused(QpState::init, QpState::rtr, [](QpAttr& attr) { attr.address = handle_to(kGroup); }));
    CHECK(refused(QpState::init, QpState::rtr, [](QpAttr& attr) { attr.address = AddressHandle{}; }));
    CHECK(refused(QpState::init, QpState::rtr, [](QpAttr& attr) { attr.min_rnr_timer = 32; }));
    CHECK(refused(QpState::init, QpState::rtr, [](QpAttr& attr) { attr.max_dest_rd_atomic = 129; }));
    CHECK(refused(QpState::rtr, QpState::rts, [](QpAttr& attr) { attr.timeout = 32; }));
    CHECK(refused(QpState::rtr, QpState::rts, [](QpAttr& attr) { attr.retry_cnt = 8; }));
    CHECK(refused(QpState::rtr, QpState::rts, [](QpAttr& attr) { attr.rnr_retry = 8; }));
}

TEST_CASE("what may be posted in which state") {
    VerbsPair pair;
    for (const QpState state : kStates) {
        INFO(kQpStateNames[static_cast<std::size_t>(state)]);
        const auto qp = qp_in(pair.a, QpType::rc, state);
        const auto receive = pair.a.receive(qp, 1, 0, 64);
        const auto send = pair.a.send(qp, 0, 8, {.wr_id = 2});
        CHECK(receive.has_value() == (state != QpState::reset));
        CHECK(send.has_value() == (state >= QpState::rts));
        const bool flushed = state == QpState::err;
        CHECK(pair.a.received().size() == (flushed ? 1 : 0));
        CHECK(pair.a.sent().size() == (flushed ? 1 : 0));
    }
}

TEST_CASE("to ERR both queues are flushed, in order, and what is posted later at once") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    for (std::uint64_t i = 0; i < 3; ++i) {
        REQUIRE(pair.a.receive(qa, 10 + i, 0, 64));
        REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 20 + i}));
    }
    REQUIRE(pair.a.adapter.poll(pair.now));  // one is under way
    REQUIRE(pair.a.adapter.modify_qp(qa, {.qp_state = QpState::err}));
    REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 23}));
    REQUIRE(pair.a.receive(qa, 13, 0, 64));
    const auto sent = pair.a.sent(), received = pair.a.received();
    REQUIRE(sent.size() == 4);
    REQUIRE(received.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(sent[i].wr_id == 20 + i);
        CHECK(sent[i].status == WcStatus::wr_flush_err);
        CHECK(received[i].wr_id == 10 + i);
        CHECK(received[i].status == WcStatus::wr_flush_err);
    }
    CHECK_FALSE(pair.a.adapter.poll(pair.now));
    CHECK_FALSE(pair.a.adapter.poll_at());
    CHECK(pair.a.adapter.dereg_mr(pair.a.mr.lkey));  // nothing borrows any more
    CHECK(pair.a.adapter.take_async_events().empty());
}

TEST_CASE("to RESET everything goes in silence, and the queue pair can be used again") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.a.receive(qa, 1, 0, 64));
    REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 2}));
    REQUIRE(pair.a.adapter.modify_qp(qa, {.qp_state = QpState::reset}));
    CHECK(pair.a.sent().empty());
    CHECK(pair.a.received().empty());
    CHECK_FALSE(pair.a.adapter.poll(pair.now));
    REQUIRE(pair.b.adapter.modify_qp(qb, {.qp_state = QpState::reset}));
    pair.connect(qa, qb);
    REQUIRE(pair.b.receive(qb, 3, 0, 64));
    REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 4}));
    pair.converse();
    CHECK(pair.a.sent().size() == 1);
    CHECK(pair.b.received().size() == 1);
}

TEST_CASE("SQD: what was begun ends, an event says so, the rest goes on in RTS") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    for (std::uint64_t i = 0; i < 2; ++i) REQUIRE(pair.b.receive(qb, i, 0, 1024));
    REQUIRE(pair.a.send(qa, 0, 600, {.wr_id = 1}));
    REQUIRE(pair.a.send(qa, 0, 600, {.wr_id = 2}));
    {
        const auto out = pair.a.adapter.poll(pair.now);
        REQUIRE(out);
        pair.carry(flying(*out), true);
    }
    REQUIRE(pair.a.adapter.modify_qp(qa, {.qp_state = QpState::sqd, .en_sqd_async_notify = true}));
    CHECK(pair.a.adapter.take_async_events().empty());
    pair.converse();
    CHECK(pair.a.sent().size() == 1);
    const auto events = pair.a.adapter.take_async_events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].type == AsyncEventType::sq_drained);
    CHECK(events[0].qp == qa);
    CHECK(pair.a.adapter.modify_qp(qa, {.address = handle_to(v4(2)), .timeout = 10}));  // in SQD it can be told this
    CHECK(pair.a.adapter.query_qp(qa)->attr.timeout == 10);
    REQUIRE(pair.a.adapter.modify_qp(qa, {.qp_state = QpState::rts}));
    pair.converse();
    CHECK(pair.a.sent().size() == 1);
    CHECK(pair.b.received().size() == 2);
}

TEST_CASE("SQE: a UD queue pair whose work failed still receives, and sends again in RTS") {
    VerbsPair pair;
    const dissect::Qkey key{5};
    const auto qa = VerbsPair::datagram_qp(pair.a, key), qb = VerbsPair::datagram_qp(pair.b, key);
    const UdTarget to_b{.ah = handle_to(v4(2)), .remote_qpn = qb, .remote_qkey = key};
    const Sge wrong{.address = 1, .length = 8, .lkey = dissect::Rkey{0x4711}};
    REQUIRE(pair.a.adapter.post_send(qa, {.wr_id = 1, .sg_list = {&wrong, 1}, .ud = to_b}));
    REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 2, .ud = to_b}));
    pair.converse();
    CHECK(pair.a.state(qa) == QpState::sqe);
    REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 3, .ud = to_b}));
    const auto sent = pair.a.sent();
    REQUIRE(sent.size() == 3);
    CHECK(sent[0].status == WcStatus::loc_prot_err);
    CHECK(sent[1].status == WcStatus::wr_flush_err);
    CHECK(sent[2].status == WcStatus::wr_flush_err);
    REQUIRE(pair.a.receive(qa, 4, 0, 100));
    REQUIRE(pair.b.send(qb, 0, 8, {.ud = {.ah = handle_to(v4(1)), .remote_qpn = qa, .remote_qkey = key}}));
    pair.converse();
    CHECK(pair.a.received().size() == 1);

    REQUIRE(pair.a.adapter.modify_qp(qa, {.qp_state = QpState::rts}));
    REQUIRE(pair.b.receive(qb, 5, 0, 100));
    REQUIRE(pair.a.send(qa, 0, 8, {.wr_id = 6, .ud = to_b}));
    pair.converse();
    CHECK(pair.b.received().size() == 1);
    CHECK(pair.a.sent().size() == 1);
}

TEST_CASE("attributes of a living queue pair: rights, and the Q_Key of datagrams") {
    VerbsPair pair;
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.b.adapter.modify_qp(qb, {.access = Access{.remote_read = true}}));
    REQUIRE(pair.a.send(
        qa, 0, 8, {.opcode = WrOpcode::rdma_write, .remote = {.address = pair.b.mr.address, .rkey = pair.b.mr.rkey}}));
    pair.converse();
    const auto sent = pair.a.sent();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].status == WcStatus::rem_inv_req_err);

    const auto ua = VerbsPair::datagram_qp(pair.a, dissect::Qkey{1}),
               ub = VerbsPair::datagram_qp(pair.b, dissect::Qkey{1});
    REQUIRE(pair.b.adapter.modify_qp(ub, {.qkey = dissect::Qkey{2}}));
    REQUIRE(pair.b.receive(ub, 1, 0, 100));
    for (const std::uint32_t key : {1U, 2U})
        REQUIRE(pair.a.send(ua, 0, 8,
                            {.ud = {.ah = handle_to(v4(2)), .remote_qpn = ub, .remote_qkey = dissect::Qkey{key}}}));
    pair.converse();
    CHECK(pair.b.received().size() == 1);
    CHECK(pair.b.refused(Refusal::qkey) == 1);
}

TEST_CASE("the first packet in RTR is an event, once") {
    VerbsPair pair;
    const auto qa = *pair.a.adapter.create_qp(pair.a.init()), qb = *pair.b.adapter.create_qp(pair.b.init());
    pair.connect(qa, qb);
    REQUIRE(pair.b.adapter.modify_qp(qb, {.qp_state = QpState::reset}));
    REQUIRE(pair.b.adapter.modify_qp(
        qb, {.qp_state = QpState::init, .pkey = dissect::Pkey{0xffff}, .access = kEveryAccess}));
    REQUIRE(pair.b.adapter.modify_qp(qb, {.qp_state = QpState::rtr,
                                          .address = handle_to(v4(1)),
                                          .path_mtu = PathMtu::bytes_256,
                                          .dest_qp_num = qa,
                                          .rq_psn = dissect::Psn(100),
                                          .max_dest_rd_atomic = 1,
                                          .min_rnr_timer = 1}));
    for (std::uint64_t i = 0; i < 2; ++i) {
        REQUIRE(pair.b.receive(qb, i, 0, 64));
        REQUIRE(pair.a.send(qa, 0, 8, {}));
    }
    pair.converse();
    const auto events = pair.b.adapter.take_async_events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].type == AsyncEventType::comm_est);
    CHECK(events[0].qp == qb);
    CHECK(pair.a.sent().size() == 2);
}
