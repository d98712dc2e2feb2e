// Queue pairs, and what they complete and receive from, of AgentOverVerbs.
#include <dissect/base/bytes.hpp>
#include <dissect/base/parse_value.hpp>
#include <transport-replay/conformance/agent/agent_state.hpp>
#include <transport-replay/live/host/addresses.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance::agent {

using namespace dissect;
using State = AgentState;
using verbs::QpAttr;
using verbs::QpState;

namespace {

constexpr std::uint32_t kSends = 128;
constexpr std::uint32_t kReceives = 128;
constexpr std::uint32_t kDepthMargin = 16;  // of a queue pair's own completion queue

// One attribute of modify_qp() that is a number.
struct AttributeRow {
    Key key;
    verbs::QpAttribute attribute;
    void (*write)(QpAttr&, std::uint64_t);
};
constexpr std::array kAttributeRows{
    AttributeRow{Key::qpn, verbs::QpAttribute::dest_qp_num,
                 [](QpAttr& attr, std::uint64_t value) { attr.dest_qp_num = Qpn{static_cast<std::uint32_t>(value)}; }},
    AttributeRow{Key::rq_psn, verbs::QpAttribute::rq_psn,
                 [](QpAttr& attr, std::uint64_t value) { attr.rq_psn = Psn{static_cast<std::uint32_t>(value)}; }},
    AttributeRow{Key::sq_psn, verbs::QpAttribute::sq_psn,
                 [](QpAttr& attr, std::uint64_t value) { attr.sq_psn = Psn{static_cast<std::uint32_t>(value)}; }},
    AttributeRow{Key::mtu, verbs::QpAttribute::path_mtu,
                 [](QpAttr& attr, std::uint64_t value) { attr.path_mtu = static_cast<PathMtu>(value + 1); }},
    AttributeRow{Key::timeout, verbs::QpAttribute::timeout,
                 [](QpAttr& attr, std::uint64_t value) { attr.timeout = static_cast<std::uint8_t>(value); }},
    AttributeRow{Key::retry, verbs::QpAttribute::retry_cnt,
                 [](QpAttr& attr, std::uint64_t value) { attr.retry_cnt = static_cast<std::uint8_t>(value); }},
    AttributeRow{Key::rnr_retry, verbs::QpAttribute::rnr_retry,
                 [](QpAttr& attr, std::uint64_t value) { attr.rnr_retry = static_cast<std::uint8_t>(value); }},
    AttributeRow{Key::min_rnr, verbs::QpAttribute::min_rnr_timer,
                 [](QpAttr& attr, std::uint64_t value) { attr.min_rnr_timer = static_cast<std::uint8_t>(value); }},
    AttributeRow{Key::rd_atomic, verbs::QpAttribute::max_rd_atomic,
                 [](QpAttr& attr, std::uint64_t value) { attr.max_rd_atomic = static_cast<std::uint8_t>(value); }},
    AttributeRow{Key::dest_rd_atomic, verbs::QpAttribute::max_dest_rd_atomic,
                 [](QpAttr& attr, std::uint64_t value) { attr.max_dest_rd_atomic = static_cast<std::uint8_t>(value); }},
    AttributeRow{Key::access, verbs::QpAttribute::access,
                 [](QpAttr& attr, std::uint64_t value) { attr.access = access_of(value); }},
    AttributeRow{Key::qkey, verbs::QpAttribute::qkey,
                 [](QpAttr& attr, std::uint64_t value) { attr.qkey = Qkey{static_cast<std::uint32_t>(value)}; }},
};

constexpr std::array kTypes{verbs::QpType::rc, verbs::QpType::uc, verbs::QpType::ud, verbs::QpType::xrc_send,
                            verbs::QpType::xrc_recv};
static_assert(kTypes.size() == kQpKindWords.size());
static_assert(kQpStateWords == verbs::kQpStateNames);

std::optional<std::uint64_t> default_of(Key key) {
    const auto* found = std::ranges::find(kConnectDefaults, key, &AttributeDefault::key);
    return found == kConnectDefaults.end() ? std::nullopt : std::optional(found->value);
}

// A P_Key of the adapter's by its place.
std::expected<Pkey, Refused> pkey_at(std::uint64_t index, const verbs::Adapter& adapter) {
    const auto& all = adapter.settings().pkeys;
    if (index >= all.size()) return refused("EINVAL", "pkey_index");
    return all[index];
}

std::expected<verbs::AddressHandle, Refused> handle_of(const Fields& ask, const Turn& turn) {
    const auto destination = address_of(ask.text(Key::to));
    if (!destination) return refused("EINVAL", "to");
    verbs::AddressHandle handle = turn.endpoint.connections().path_to(*destination);
    const auto& addresses = turn.adapter().settings().addresses;
    if (const auto index = ask.number(Key::gid_index)) {
        if (*index >= addresses.size()) return refused("EINVAL", "gid_index");
        handle.source = addresses[*index];
    }
    handle.hop_limit = static_cast<std::uint8_t>(ask.number_or(Key::hops, 64));
    if (const auto traffic_class = ask.number(Key::traffic_class))
        handle.dscp = static_cast<std::uint8_t>(*traffic_class >> 2);
    handle.flow_label = static_cast<std::uint32_t>(ask.number_or(Key::flow, 0));
    if (const auto sl = ask.number(Key::sl)) handle.sl = static_cast<std::uint8_t>(*sl & 7);
    return handle;
}

// What of a request one change of state is told: everything it must be, with defaults, and of what it may be what was
// said.
std::expected<QpAttr, Refused> attributes_of(const Fields& ask, verbs::QpAttributes required,
                                             verbs::QpAttributes optional, const Turn& turn) {
    QpAttr attr;
    const auto wanted = [&](verbs::QpAttribute attribute, Key key) {
        const verbs::QpAttributes which = verbs::attributes(attribute);
        return (required & which) != 0 || ((optional & which) != 0 && ask.has(key));
    };
    for (const AttributeRow& row : kAttributeRows) {
        if (!wanted(row.attribute, row.key)) continue;
        const auto value = ask.has(row.key) ? ask.number(row.key) : default_of(row.key);
        if (!value) return refused("missing", row_of(row.key).name);
        row.write(attr, *value);
    }
    if (wanted(verbs::QpAttribute::pkey, Key::pkey_index)) {
        const auto pkey = pkey_at(ask.number_or(Key::pkey_index, 0), turn.adapter());
        if (!pkey) return std::unexpected(pkey.error());
        attr.pkey = *pkey;
    }
    if (wanted(verbs::QpAttribute::address, Key::to)) {
        if (!ask.has(Key::to)) return refused("missing", "to");
        const auto handle = handle_of(ask, turn);
        if (!handle) return std::unexpected(handle.error());
        attr.address = *handle;
    }
    return attr;
}

std::string modify_to(QpState state) {
    return fmt::format("modify_qp to {}", kQpStateWords[static_cast<std::size_t>(state)]);
}

}  // namespace

std::optional<Address> address_of(std::string_view text) {
    const auto ip = dissect::parse_ip(text);
    if (!ip) return std::nullopt;
    if (ip->ipv4) return live::ipv4_address(dissect::read_be<std::uint32_t>(ip->bytes, 0));
    return live::ipv6_address(dissect::read_be<std::uint64_t>(ip->bytes, 0),
                              dissect::read_be<std::uint64_t>(ip->bytes, 8));
}

State::Later State::cq(const Fields& ask, const Turn& turn) {
    if (cqs.full()) return refused("ENOSPC", "cq");
    const auto made = turn.adapter().create_cq(static_cast<std::uint32_t>(ask.number_or(Key::depth, 1)));
    if (!made) return refused(made.error(), "create_cq");
    return Fields{}.add(Key::cq, cqs.add(*made));
}

State::Later State::cq_free(const Fields& ask, const Turn& turn) {
    const std::uint64_t number = ask.number_or(Key::cq, 0);
    const verbs::Cq* found = cqs.find(number);
    if (found == nullptr) return unknown("cq");
    Answer answer = answer_of(turn.adapter().destroy_cq(*found), "destroy_cq");
    if (answer) cqs.erase(number);
    return answer;
}

State::Later State::srq(const Fields& ask, const Turn& turn) {
    if (srqs.full()) return refused("ENOSPC", "srq");
    const auto pd = pd_of(ask, turn);
    if (!pd) return std::unexpected(pd.error());
    const auto receives = static_cast<std::uint32_t>(ask.number_or(Key::receives, kReceives));
    if (ask.has(Key::xrcd)) {
        const verbs::Xrcd* domain = xrcds.find(ask.number_or(Key::xrcd, 0));
        if (domain == nullptr) return unknown("xrcd");
        if (!ask.has(Key::cq)) return refused("missing", "cq");
        const verbs::Cq* queue = cqs.find(ask.number_or(Key::cq, 0));
        if (queue == nullptr) return unknown("cq");
        const auto extended = turn.adapter().create_xrc_srq(*pd, *domain, *queue, receives);
        if (!extended) return refused(extended.error(), "create_xrc_srq");
        return Fields{}
            .add(Key::srq, srqs.add(extended->handle))
            .add(Key::srqn, std::uint64_t{std::to_underlying(extended->number)});
    }
    const auto made = turn.adapter().create_srq(*pd, receives);
    if (!made) return refused(made.error(), "create_srq");
    return Fields{}.add(Key::srq, srqs.add(*made));
}

State::Later State::srq_limit(const Fields& ask, const Turn& turn) {
    const verbs::Srq* found = srqs.find(ask.number_or(Key::srq, 0));
    if (found == nullptr) return unknown("srq");
    return answer_of(turn.adapter().modify_srq(*found, static_cast<std::uint32_t>(ask.number_or(Key::limit, 0))),
                     "modify_srq");
}

State::Later State::srq_free(const Fields& ask, const Turn& turn) {
    const std::uint64_t number = ask.number_or(Key::srq, 0);
    const verbs::Srq* found = srqs.find(number);
    if (found == nullptr) return unknown("srq");
    Answer answer = answer_of(turn.adapter().destroy_srq(*found), "destroy_srq");
    if (answer) srqs.erase(number);
    return answer;
}

State::Later State::xrcd(const Fields&, const Turn& turn) {
    if (xrcds.full()) return refused("ENOSPC", "xrcd");
    const auto made = turn.adapter().open_xrcd();
    if (!made) return refused(made.error(), "open_xrcd");
    return Fields{}.add(Key::xrcd, xrcds.add(*made));
}

State::Later State::xrcd_free(const Fields& ask, const Turn& turn) {
    const std::uint64_t number = ask.number_or(Key::xrcd, 0);
    const verbs::Xrcd* found = xrcds.find(number);
    if (found == nullptr) return unknown("xrcd");
    Answer answer = answer_of(turn.adapter().close_xrcd(*found), "close_xrcd");
    if (answer) xrcds.erase(number);
    return answer;
}

State::Later State::qp(const Fields& ask, const Turn& turn) {
    if (qps.full() || cqs.full()) return refused("ENOSPC", "qp");
    const auto pd = pd_of(ask, turn);
    if (!pd) return std::unexpected(pd.error());
    QueuePair pair{.kind = static_cast<QpKind>(ask.number_or(Key::kind, 0)), .own_cq = !ask.has(Key::cq)};
    verbs::QpInitAttr init{.pd = *pd, .qp_type = kTypes[std::to_underlying(pair.kind)]};
    init.cap.max_send_wr = static_cast<std::uint32_t>(ask.number_or(Key::sends, kSends));
    init.cap.max_recv_wr = static_cast<std::uint32_t>(ask.number_or(Key::receives, kReceives));
    init.cap.max_inline_data = static_cast<std::uint32_t>(ask.number_or(Key::inline_room, 0));
    if (ask.has(Key::xrcd) != (pair.kind == QpKind::xrc_recv))
        return refused(ask.has(Key::xrcd) ? "EINVAL" : "missing", "xrcd");
    if (pair.kind == QpKind::xrc_recv) return target(ask, pair, init, turn);
    if (ask.has(Key::srq) && pair.kind == QpKind::xrc_send) return refused("EINVAL", "srq");
    if (const auto srq = ask.number(Key::srq)) {
        const verbs::Srq* shared = srqs.find(*srq);
        if (shared == nullptr) return unknown("srq");
        init.srq = *shared;
        pair.srq = *srq;
    }
    if (const auto cq = ask.number(Key::cq)) {
        const verbs::Cq* shared = cqs.find(*cq);
        if (shared == nullptr) return unknown("cq");
        init.send_cq = init.recv_cq = *shared;
        pair.cq = *cq;
    } else {
        const auto made = turn.adapter().create_cq(init.cap.max_send_wr + init.cap.max_recv_wr + kDepthMargin);
        if (!made) return refused(made.error(), "create_cq");
        init.send_cq = init.recv_cq = *made;
    }
    const auto qpn = turn.adapter().create_qp(init);
    if (!qpn) {
        if (pair.own_cq) static_cast<void>(turn.adapter().destroy_cq(init.send_cq));
        return refused(qpn.error(), "create_qp");
    }
    if (pair.own_cq) pair.cq = cqs.add(init.send_cq);
    pair.qpn = *qpn;
    return Fields{}
        .add(Key::qp, qps.add(pair))
        .add(Key::qpn, std::uint64_t{std::to_underlying(pair.qpn)})
        .add(Key::cq, pair.cq);
}

// Of XRC: it completes nothing and receives nothing itself.
Answer State::target(const Fields& ask, QueuePair pair, verbs::QpInitAttr init, const Turn& turn) {
    if (ask.has(Key::cq) || ask.has(Key::srq)) return refused("EINVAL", "cq and srq are those of its domain");
    const verbs::Xrcd* domain = xrcds.find(ask.number_or(Key::xrcd, 0));
    if (domain == nullptr) return unknown("xrcd");
    pair.own_cq = false;
    init.xrcd = *domain;
    const auto qpn = turn.adapter().create_qp(init);
    if (!qpn) return refused(qpn.error(), "create_qp");
    pair.qpn = *qpn;
    return Fields{}.add(Key::qp, qps.add(pair)).add(Key::qpn, std::uint64_t{std::to_underlying(pair.qpn)});
}

// INIT is said again to a queue pair that is there already (that is no change, and sets its rights): receives posted
// before stay.
State::Later State::connect(const Fields& ask, const Turn& turn) {
    const QueuePair* pair = qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    const auto last = static_cast<QpState>(ask.number_or(Key::state, std::to_underlying(QpState::rts)));
    if (last < QpState::init || last > QpState::rts) return refused("EINVAL", "connect ends in init, rtr or rts");
    for (const QpState next : {QpState::init, QpState::rtr, QpState::rts}) {
        if (next > last) break;
        const auto status = turn.adapter().query_qp(pair->qpn);
        if (!status) return refused(status.error(), "query_qp");
        const auto row = std::ranges::find_if(verbs::qp_transitions(), [&](const verbs::QpTransition& each) {
            return each.type == status->init.qp_type && each.from == status->state && each.to == next;
        });
        if (row == verbs::qp_transitions().end()) return refused(verbs::VerbsError::wrong_state, modify_to(next));
        auto attr = attributes_of(ask, row->required, row->optional, turn);
        if (!attr) return std::unexpected(attr.error());
        attr->qp_state = next;
        if (const auto done = turn.adapter().modify_qp(pair->qpn, *attr); !done)
            return refused(done.error(), modify_to(next));
    }
    return Fields{};
}

State::Later State::qp_set(const Fields& ask, const Turn& turn) {
    const QueuePair* pair = qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    auto attr = attributes_of(ask, 0, ~verbs::QpAttributes{0}, turn);
    if (!attr) return std::unexpected(attr.error());
    if (const auto state = ask.number(Key::state)) attr->qp_state = static_cast<QpState>(*state);
    return answer_of(turn.adapter().modify_qp(pair->qpn, *attr), "modify_qp");
}

State::Later State::qp_state(const Fields& ask, const Turn& turn) {
    const QueuePair* pair = qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    const auto status = turn.adapter().query_qp(pair->qpn);
    if (!status) return refused(status.error(), "query_qp");
    const QpAttr& attr = status->attr;
    Fields fields;
    fields.add(Key::state, status->state);
    if (status->state == QpState::sqd) fields.add(Key::sq_drained, std::uint64_t{status->sends > 0 ? 1U : 0U});
    const auto add_field = [&](Key key, const auto& value) {
        if (!value) return;
        if constexpr (std::is_enum_v<std::decay_t<decltype(*value)>>)
            fields.add(key, std::uint64_t{std::to_underlying(*value)});
        else fields.add(key, std::uint64_t{*value});
    };
    add_field(Key::qpn, attr.dest_qp_num);
    if (attr.rq_psn) fields.add(Key::rq_psn, std::uint64_t{attr.rq_psn->value()});
    if (attr.sq_psn) fields.add(Key::sq_psn, std::uint64_t{attr.sq_psn->value()});
    if (attr.path_mtu) fields.add(Key::mtu, std::uint64_t{std::to_underlying(*attr.path_mtu)} - 1);
    add_field(Key::timeout, attr.timeout);
    add_field(Key::retry, attr.retry_cnt);
    add_field(Key::rnr_retry, attr.rnr_retry);
    add_field(Key::min_rnr, attr.min_rnr_timer);
    add_field(Key::rd_atomic, attr.max_rd_atomic);
    add_field(Key::dest_rd_atomic, attr.max_dest_rd_atomic);
    if (attr.access) fields.add(Key::access, rights_of(*attr.access));
    add_field(Key::qkey, attr.qkey);
    return fields;
}

State::Later State::qp_free(const Fields& ask, const Turn& turn) {
    const std::uint64_t number = ask.number_or(Key::qp, 0);
    const QueuePair* pair = qps.find(number);
    if (pair == nullptr) return unknown("qp");
    const auto status = turn.adapter().query_qp(pair->qpn);
    if (const auto ended = turn.adapter().destroy_qp(pair->qpn); !ended) return refused(ended.error(), "destroy_qp");
    if (status) {
        gone.sequence_naks += status->counts.sequence_naks;
        gone.rnr_naks += status->counts.rnr_naks;
        gone.timeouts += status->counts.timeouts;
        gone.retransmitted += status->counts.retransmitted;
        gone.ghosts += status->counts.ghosts;
    }
    // Others may have come to use its completion queue; then that stays until `cq_free` or the end.
    if (const verbs::Cq* cq = cqs.find(pair->cq); pair->own_cq && cq != nullptr && turn.adapter().destroy_cq(*cq))
        cqs.erase(pair->cq);
    qps.erase(number);
    return Fields{};
}

State::Later State::attach(const Fields& ask, const Turn& turn) {
    const QueuePair* pair = qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    const auto group = address_of(ask.text(Key::group));
    if (!group) return refused("EINVAL", "group");
    joins = true;
    return answer_of(turn.adapter().attach_mcast(pair->qpn, *group), "attach_mcast");
}

State::Later State::detach(const Fields& ask, const Turn& turn) {
    const QueuePair* pair = qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    const auto group = address_of(ask.text(Key::group));
    if (!group) return refused("EINVAL", "group");
    joins = true;
    return answer_of(turn.adapter().detach_mcast(pair->qpn, *group), "detach_mcast");
}

}  // namespace qps::transport::conformance::agent
