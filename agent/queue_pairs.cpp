// Queue pairs and what they complete and receive from.
#include <algorithm>

#include <agent/agent.hpp>
#include <fcntl.h>

namespace qps::agent {

namespace {

constexpr std::uint32_t kSends = 128;
constexpr std::uint32_t kReceives = 128;
constexpr int kDepthMargin = 16;  // of a queue pair's own completion queue

// One attribute of ibv_modify_qp(): which bit says it, how it is written.
struct AttributeRow {
    Key key;
    int mask;
    void (*write)(ibv_qp_attr&, std::uint64_t);
};
constexpr std::array kAttributeRows{
    AttributeRow{Key::qpn, IBV_QP_DEST_QPN,
                 [](ibv_qp_attr& attr, std::uint64_t value) { attr.dest_qp_num = static_cast<std::uint32_t>(value); }},
    AttributeRow{Key::rq_psn, IBV_QP_RQ_PSN,
                 [](ibv_qp_attr& attr, std::uint64_t value) { attr.rq_psn = static_cast<std::uint32_t>(value); }},
    AttributeRow{Key::sq_psn, IBV_QP_SQ_PSN,
                 [](ibv_qp_attr& attr, std::uint64_t value) { attr.sq_psn = static_cast<std::uint32_t>(value); }},
    AttributeRow{
        Key::mtu, IBV_QP_PATH_MTU,
        [](ibv_qp_attr& attr, std::uint64_t value) { attr.path_mtu = static_cast<ibv_mtu>(value + IBV_MTU_256); }},
    AttributeRow{Key::timeout, IBV_QP_TIMEOUT,
                 [](ibv_qp_attr& attr, std::uint64_t value) { attr.timeout = static_cast<std::uint8_t>(value); }},
    AttributeRow{Key::retry, IBV_QP_RETRY_CNT,
                 [](ibv_qp_attr& attr, std::uint64_t value) { attr.retry_cnt = static_cast<std::uint8_t>(value); }},
    AttributeRow{Key::rnr_retry, IBV_QP_RNR_RETRY,
                 [](ibv_qp_attr& attr, std::uint64_t value) { attr.rnr_retry = static_cast<std::uint8_t>(value); }},
    AttributeRow{Key::min_rnr, IBV_QP_MIN_RNR_TIMER,
                 [](ibv_qp_attr& attr, std::uint64_t value) { attr.min_rnr_timer = static_cast<std::uint8_t>(value); }},
    AttributeRow{Key::rd_atomic, IBV_QP_MAX_QP_RD_ATOMIC,
                 [](ibv_qp_attr& attr, std::uint64_t value) { attr.max_rd_atomic = static_cast<std::uint8_t>(value); }},
    AttributeRow{
        Key::dest_rd_atomic, IBV_QP_MAX_DEST_RD_ATOMIC,
        [](ibv_qp_attr& attr, std::uint64_t value) { attr.max_dest_rd_atomic = static_cast<std::uint8_t>(value); }},
    AttributeRow{Key::access, IBV_QP_ACCESS_FLAGS,
                 [](ibv_qp_attr& attr, std::uint64_t value) { attr.qp_access_flags = access_of(value); }},
    AttributeRow{Key::qkey, IBV_QP_QKEY,
                 [](ibv_qp_attr& attr, std::uint64_t value) { attr.qkey = static_cast<std::uint32_t>(value); }},
    AttributeRow{Key::pkey_index, IBV_QP_PKEY_INDEX,
                 [](ibv_qp_attr& attr, std::uint64_t value) { attr.pkey_index = static_cast<std::uint16_t>(value); }},
};

struct StatePair {
    QpStateWord word;
    ibv_qp_state state;
};
constexpr std::array kStates{StatePair{QpStateWord::reset, IBV_QPS_RESET}, StatePair{QpStateWord::init, IBV_QPS_INIT},
                             StatePair{QpStateWord::rtr, IBV_QPS_RTR},     StatePair{QpStateWord::rts, IBV_QPS_RTS},
                             StatePair{QpStateWord::sqd, IBV_QPS_SQD},     StatePair{QpStateWord::sqe, IBV_QPS_SQE},
                             StatePair{QpStateWord::err, IBV_QPS_ERR}};

// Each step of `connect` takes these attributes (11.2.5.2), by kind: rc, uc, ud, xrc_send, xrc_recv (of these as
// qp_state_table of the kernel's drivers/infiniband/core/verbs.c has it).
struct Step {
    QpStateWord to;
    std::array<int, 5> mask;
};
constexpr int kInitMask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
constexpr int kRtrMask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
constexpr int kConnectedInitMask = kInitMask | IBV_QP_ACCESS_FLAGS;
constexpr int kServingMask = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kAskingMask =
    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
constexpr std::array kSteps{
    Step{QpStateWord::init,
         {kConnectedInitMask, kConnectedInitMask, kInitMask | IBV_QP_QKEY, kConnectedInitMask, kConnectedInitMask}},
    Step{QpStateWord::rtr, {kRtrMask | kServingMask, kRtrMask, IBV_QP_STATE, kRtrMask, kRtrMask | kServingMask}},
    Step{QpStateWord::rts,
         {kAskingMask, IBV_QP_STATE | IBV_QP_SQ_PSN, IBV_QP_STATE | IBV_QP_SQ_PSN, kAskingMask,
          IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT}},
};

std::string modify_to(QpStateWord state) {
    return "ibv_modify_qp to " + std::string(kQpStateWords[static_cast<std::size_t>(state)]);
}

}  // namespace

std::optional<Attributes> attributes_of(const Fields& ask, const Device& device) {
    Attributes found;
    for (const AttributeRow& row : kAttributeRows) {
        const auto value = ask.number(row.key);
        if (!value) continue;
        row.write(found.attr, *value);
        found.mask |= row.mask;
    }
    if (const auto state = ask.number(Key::state)) {
        found.attr.qp_state = kStates[*state].state;
        found.mask |= IBV_QP_STATE;
    }
    found.attr.port_num = device.port();
    if (!ask.has(Key::to)) return found;
    const auto destination = gid_of(ask.text(Key::to));
    if (!destination) return std::nullopt;
    ibv_ah_attr& path = found.attr.ah_attr;
    path.is_global = 1;
    path.port_num = device.port();
    path.sl = static_cast<std::uint8_t>(ask.number_or(Key::sl, 0));
    path.grh.dgid = *destination;
    path.grh.sgid_index = static_cast<std::uint8_t>(ask.number_or(Key::gid_index, device.gid_index_for(*destination)));
    path.grh.hop_limit = static_cast<std::uint8_t>(ask.number_or(Key::hops, 64));
    path.grh.traffic_class = static_cast<std::uint8_t>(ask.number_or(Key::traffic_class, 0));
    path.grh.flow_label = static_cast<std::uint32_t>(ask.number_or(Key::flow, 0));
    found.mask |= IBV_QP_AV;
    return found;
}

Answer Agent::cq(const Fields& ask) {
    if (objects_.cqs.full()) return refused(ENOSPC, "cq");
    OwnedCq made(ibv_create_cq(device_.context(), static_cast<int>(ask.number_or(Key::depth, 1)), nullptr, nullptr, 0));
    if (!made) return refused(errno, "ibv_create_cq");
    Answer answer;
    answer.fields.add(Key::cq, objects_.cqs.add(std::move(made)));
    return answer;
}

Answer Agent::cq_free(const Fields& ask) {
    const std::uint64_t number = ask.number_or(Key::cq, 0);
    OwnedCq* found = objects_.cqs.find(number);
    if (found == nullptr) return unknown("cq");
    if (const int error = ibv_destroy_cq(found->get()); error != 0) return refused(error, "ibv_destroy_cq");
    static_cast<void>(found->release());
    objects_.cqs.erase(number);
    return {};
}

Answer Agent::srq(const Fields& ask) {
    if (objects_.srqs.full()) return refused(ENOSPC, "srq");
    ibv_pd* const pd = objects_.pd(ask.number_or(Key::pd, 0));
    if (pd == nullptr) return unknown("pd");
    if (ask.has(Key::xrcd)) return extended_srq(ask, pd);
    ibv_srq_init_attr attr{};
    attr.attr.max_wr = static_cast<std::uint32_t>(ask.number_or(Key::receives, kReceives));
    attr.attr.max_sge = 1;
    OwnedSrq made(ibv_create_srq(pd, &attr));
    if (!made) return refused(errno, "ibv_create_srq");
    Answer answer;
    answer.fields.add(Key::srq, objects_.srqs.add(std::move(made)));
    return answer;
}

// Of a domain of XRC: requests name it by its number, and what they bring completes in its own queue.
Answer Agent::extended_srq(const Fields& ask, ibv_pd* pd) {
    const OwnedXrcd* domain = objects_.xrcds.find(ask.number_or(Key::xrcd, 0));
    if (domain == nullptr) return unknown("xrcd");
    if (!ask.has(Key::cq)) return missing("cq");
    const OwnedCq* cq = objects_.cqs.find(ask.number_or(Key::cq, 0));
    if (cq == nullptr) return unknown("cq");
    ibv_srq_init_attr_ex attr{};
    attr.attr.max_wr = static_cast<std::uint32_t>(ask.number_or(Key::receives, kReceives));
    attr.attr.max_sge = 1;
    attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
    attr.srq_type = IBV_SRQT_XRC;
    attr.pd = pd;
    attr.xrcd = domain->get();
    attr.cq = cq->get();
    OwnedSrq made(ibv_create_srq_ex(device_.context(), &attr));
    if (!made) return refused(errno, "ibv_create_srq_ex");
    std::uint32_t number = 0;
    if (const int error = ibv_get_srq_num(made.get(), &number); error != 0) return refused(error, "ibv_get_srq_num");
    Answer answer;
    answer.fields.add(Key::srq, objects_.srqs.add(std::move(made))).add(Key::srqn, std::uint64_t{number & 0xffffff});
    return answer;
}

// One that no file names: it ends with this client.
Answer Agent::xrcd(const Fields&) {
    if (objects_.xrcds.full()) return refused(ENOSPC, "xrcd");
    ibv_xrcd_init_attr attr{};
    attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    attr.fd = -1;
    attr.oflags = O_CREAT;
    OwnedXrcd made(ibv_open_xrcd(device_.context(), &attr));
    if (!made) return refused(errno, "ibv_open_xrcd");
    Answer answer;
    answer.fields.add(Key::xrcd, objects_.xrcds.add(std::move(made)));
    return answer;
}

Answer Agent::xrcd_free(const Fields& ask) {
    const std::uint64_t number = ask.number_or(Key::xrcd, 0);
    OwnedXrcd* found = objects_.xrcds.find(number);
    if (found == nullptr) return unknown("xrcd");
    if (const int error = ibv_close_xrcd(found->get()); error != 0) return refused(error, "ibv_close_xrcd");
    static_cast<void>(found->release());
    objects_.xrcds.erase(number);
    return {};
}

// A half of XRC. The one that serves completes nothing itself.
Answer Agent::extended_qp(const Fields& ask, ibv_pd* pd, QpKind kind) {
    const bool serves = kind == QpKind::xrc_recv;
    if (ask.has(Key::srq)) return refused(EINVAL, "srq");
    QueuePair pair{.kind = kind, .own_cq = !serves && !ask.has(Key::cq)};
    ibv_qp_init_attr_ex attr{};
    OwnedCq own;
    if (serves) {
        if (ask.has(Key::cq)) return refused(EINVAL, "cq");
        const OwnedXrcd* domain = objects_.xrcds.find(ask.number_or(Key::xrcd, 0));
        if (domain == nullptr) return unknown("xrcd");
        attr.qp_type = IBV_QPT_XRC_RECV;
        attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
        attr.xrcd = domain->get();
    } else {
        attr.qp_type = IBV_QPT_XRC_SEND;
        attr.comp_mask = IBV_QP_INIT_ATTR_PD;
        attr.pd = pd;
        attr.cap.max_send_wr = static_cast<std::uint32_t>(ask.number_or(Key::sends, kSends));
        attr.cap.max_send_sge = 1;
        attr.cap.max_inline_data = static_cast<std::uint32_t>(ask.number_or(Key::inline_room, 0));
        const OwnedCq* queue = objects_.cqs.find(ask.number_or(Key::cq, 0));
        if (!pair.own_cq && queue == nullptr) return unknown("cq");
        if (pair.own_cq)
            own.reset(ibv_create_cq(device_.context(), static_cast<int>(attr.cap.max_send_wr) + kDepthMargin, nullptr,
                                    nullptr, 0));
        if (pair.own_cq && !own) return refused(errno, "ibv_create_cq");
        pair.cq = ask.number_or(Key::cq, 0);
        attr.send_cq = pair.own_cq ? own.get() : queue->get();
    }
    pair.qp.reset(ibv_create_qp_ex(device_.context(), &attr));
    if (!pair.qp) return refused(errno, "ibv_create_qp_ex");
    if (own) pair.cq = objects_.cqs.add(std::move(own));
    const std::uint64_t qpn = pair.qp->qp_num, cq = pair.cq;
    Answer answer;
    answer.fields.add(Key::qp, objects_.qps.add(std::move(pair))).add(Key::qpn, qpn);
    if (!serves) answer.fields.add(Key::cq, cq);
    return answer;
}

Answer Agent::srq_limit(const Fields& ask) {
    const OwnedSrq* found = objects_.srqs.find(ask.number_or(Key::srq, 0));
    if (found == nullptr) return unknown("srq");
    ibv_srq_attr attr{.max_wr = 0, .max_sge = 0, .srq_limit = static_cast<std::uint32_t>(ask.number_or(Key::limit, 0))};
    const int error = ibv_modify_srq(found->get(), &attr, IBV_SRQ_LIMIT);
    return error == 0 ? Answer{} : refused(error, "ibv_modify_srq");
}

Answer Agent::srq_free(const Fields& ask) {
    const std::uint64_t number = ask.number_or(Key::srq, 0);
    OwnedSrq* found = objects_.srqs.find(number);
    if (found == nullptr) return unknown("srq");
    if (const int error = ibv_destroy_srq(found->get()); error != 0) return refused(error, "ibv_destroy_srq");
    static_cast<void>(found->release());
    objects_.srqs.erase(number);
    return {};
}

Answer Agent::qp(const Fields& ask) {
    if (objects_.qps.full() || objects_.cqs.full()) return refused(ENOSPC, "qp");
    ibv_pd* const pd = objects_.pd(ask.number_or(Key::pd, 0));
    if (pd == nullptr) return unknown("pd");
    const auto kind = static_cast<QpKind>(ask.number_or(Key::kind, 0));
    if (ask.has(Key::xrcd) != (kind == QpKind::xrc_recv))
        return ask.has(Key::xrcd) ? refused(EINVAL, "xrcd") : missing("xrcd");
    if (kind == QpKind::xrc_send || kind == QpKind::xrc_recv) return extended_qp(ask, pd, kind);
    constexpr std::array kTypes{IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
    QueuePair pair{.kind = kind, .own_cq = !ask.has(Key::cq)};
    ibv_qp_init_attr attr{};
    attr.qp_type = kTypes[static_cast<std::size_t>(pair.kind)];
    attr.cap = {.max_send_wr = static_cast<std::uint32_t>(ask.number_or(Key::sends, kSends)),
                .max_recv_wr = static_cast<std::uint32_t>(ask.number_or(Key::receives, kReceives)),
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = static_cast<std::uint32_t>(ask.number_or(Key::inline_room, 0))};
    if (const auto srq = ask.number(Key::srq)) {
        const OwnedSrq* shared = objects_.srqs.find(*srq);
        if (shared == nullptr) return unknown("srq");
        attr.srq = shared->get();
        pair.srq = *srq;
    }
    OwnedCq own;
    if (const auto cq = ask.number(Key::cq)) {
        const OwnedCq* shared = objects_.cqs.find(*cq);
        if (shared == nullptr) return unknown("cq");
        attr.send_cq = attr.recv_cq = shared->get();
        pair.cq = *cq;
    } else {
        const int depth = static_cast<int>(attr.cap.max_send_wr + attr.cap.max_recv_wr) + kDepthMargin;
        own.reset(ibv_create_cq(device_.context(), depth, nullptr, nullptr, 0));
        if (!own) return refused(errno, "ibv_create_cq");
        attr.send_cq = attr.recv_cq = own.get();
    }
    pair.qp.reset(ibv_create_qp(pd, &attr));
    if (!pair.qp) return refused(errno, "ibv_create_qp");
    if (own) pair.cq = objects_.cqs.add(std::move(own));
    const std::uint64_t qpn = pair.qp->qp_num;
    const std::uint64_t cq = pair.cq;
    Answer answer;
    answer.fields.add(Key::qp, objects_.qps.add(std::move(pair))).add(Key::qpn, qpn).add(Key::cq, cq);
    return answer;
}

// INIT is said again to a queue pair that is there already (that is no change, and sets its rights): receives posted
// before stay.
Answer Agent::connect(const Fields& ask) {
    QueuePair* pair = objects_.qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    Fields whole;
    for (const Field& each : ask.all()) whole.add(each);
    for (const AttributeDefault& each : kConnectDefaults)
        if (!whole.has(each.key)) whole.add(each.key, each.value);
    const auto last = static_cast<QpStateWord>(ask.number_or(Key::state, static_cast<std::uint64_t>(QpStateWord::rts)));
    if (last < QpStateWord::init || last > QpStateWord::rts) return refused(EINVAL, "connect ends in init, rtr or rts");
    auto attributes = attributes_of(whole, device_);
    if (!attributes) return refused(EINVAL, "to");
    for (const Step& step : kSteps) {
        if (step.to > last) break;
        const int mask = step.mask[static_cast<std::size_t>(pair->kind)];
        if ((mask & IBV_QP_AV) != 0 && !ask.has(Key::to)) return missing("to");
        if ((mask & IBV_QP_DEST_QPN) != 0 && !ask.has(Key::qpn)) return missing("qpn");
        attributes->attr.qp_state = kStates[static_cast<std::size_t>(step.to)].state;
        if (const int error = ibv_modify_qp(pair->qp.get(), &attributes->attr, mask); error != 0)
            return refused(error, modify_to(step.to));
    }
    return {};
}

Answer Agent::qp_set(const Fields& ask) {
    QueuePair* pair = objects_.qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    auto attributes = attributes_of(ask, device_);
    if (!attributes) return refused(EINVAL, "to");
    // Nobody wants to say which port of the device this agent serves.
    if ((attributes->mask & IBV_QP_STATE) != 0 && attributes->attr.qp_state == IBV_QPS_INIT)
        attributes->mask |= IBV_QP_PORT;
    const int error = ibv_modify_qp(pair->qp.get(), &attributes->attr, attributes->mask);
    return error == 0 ? Answer{} : refused(error, "ibv_modify_qp");
}

Answer Agent::qp_state(const Fields& ask) {
    QueuePair* pair = objects_.qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    const int mask = IBV_QP_STATE | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT |
                     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC |
                     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS | IBV_QP_QKEY;
    if (const int error = ibv_query_qp(pair->qp.get(), &attr, mask, &init); error != 0)
        return refused(error, "ibv_query_qp");
    const auto* state = std::ranges::find(kStates, attr.qp_state, &StatePair::state);
    Answer answer;
    Fields& fields = answer.fields;
    fields.add(Key::state, state == kStates.end() ? QpStateWord::err : state->word);
    if (attr.qp_state == IBV_QPS_SQD) fields.add(Key::sq_drained, std::uint64_t{attr.sq_draining != 0});
    fields.add(Key::rq_psn, std::uint64_t{attr.rq_psn & 0xffffff})
        .add(Key::sq_psn, std::uint64_t{attr.sq_psn & 0xffffff});
    if (pair->kind == QpKind::ud) {
        fields.add(Key::qkey, std::uint64_t{attr.qkey});
        return answer;
    }
    fields.add(Key::qpn, std::uint64_t{attr.dest_qp_num & 0xffffff});
    if (attr.path_mtu >= IBV_MTU_256 && attr.path_mtu <= IBV_MTU_4096)
        fields.add(Key::mtu, static_cast<std::uint64_t>(attr.path_mtu - IBV_MTU_256));
    fields.add(Key::access, rights_of(attr.qp_access_flags));
    if (pair->kind == QpKind::uc) return answer;
    fields.add(Key::timeout, std::uint64_t{attr.timeout & 31U}).add(Key::retry, std::uint64_t{attr.retry_cnt & 7U});
    fields.add(Key::rnr_retry, std::uint64_t{attr.rnr_retry & 7U})
        .add(Key::min_rnr, std::uint64_t{attr.min_rnr_timer & 31U});
    fields.add(Key::rd_atomic, std::uint64_t{attr.max_rd_atomic})
        .add(Key::dest_rd_atomic, std::uint64_t{attr.max_dest_rd_atomic});
    return answer;
}

Answer Agent::qp_free(const Fields& ask) {
    const std::uint64_t number = ask.number_or(Key::qp, 0);
    QueuePair* pair = objects_.qps.find(number);
    if (pair == nullptr) return unknown("qp");
    pair->handles.clear();
    if (const int error = ibv_destroy_qp(pair->qp.get()); error != 0) return refused(error, "ibv_destroy_qp");
    static_cast<void>(pair->qp.release());
    // Others may have come to use its completion queue; then that stays until `cq_free` or the end.
    if (OwnedCq* cq = objects_.cqs.find(pair->cq); pair->own_cq && cq != nullptr && ibv_destroy_cq(cq->get()) == 0) {
        static_cast<void>(cq->release());
        objects_.cqs.erase(pair->cq);
    }
    objects_.qps.erase(number);
    return {};
}

Answer Agent::attach(const Fields& ask) {
    QueuePair* pair = objects_.qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    const auto group = gid_of(ask.text(Key::group));
    if (!group) return refused(EINVAL, "group");
    if (pair->groups.size() >= kMostObjects) return refused(ENOSPC, "groups of one queue pair");
    if (const int error = ibv_attach_mcast(pair->qp.get(), &*group, 0); error != 0)
        return refused(error, "ibv_attach_mcast");
    int socket = -1;
    const int error = device_.join(*group, socket);
    pair->groups.emplace(ask.text(Key::group), Membership(socket));
    return error == 0 ? Answer{} : refused(error, "MCAST_JOIN_GROUP");
}

Answer Agent::detach(const Fields& ask) {
    QueuePair* pair = objects_.qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    const auto group = gid_of(ask.text(Key::group));
    if (!group) return refused(EINVAL, "group");
    pair->groups.erase(std::string(ask.text(Key::group)));
    const int error = ibv_detach_mcast(pair->qp.get(), &*group, 0);
    return error == 0 ? Answer{} : refused(error, "ibv_detach_mcast");
}

}  // namespace qps::agent
