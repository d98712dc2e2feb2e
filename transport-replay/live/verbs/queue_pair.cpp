#include <transport-replay/live/verbs/queue_pair.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::verbs {

using namespace dissect;

namespace {

constexpr std::uint8_t kReliable = 1 << 0 | 1 << 5, kConnected = kReliable | 1 << 1,
                       kAll = kConnected | 1 << 3;  // bits of QpType

constexpr std::array kWrKinds{
    WrKind{WrOpcode::rdma_write, WorkKind::write, WcOpcode::rdma_write, false, kConnected, false},
    WrKind{WrOpcode::rdma_write_with_imm, WorkKind::write_with_immediate, WcOpcode::rdma_write, false, kConnected,
           false},
    WrKind{WrOpcode::send, WorkKind::send, WcOpcode::send, false, kAll, false},
    WrKind{WrOpcode::send_with_imm, WorkKind::send_with_immediate, WcOpcode::send, false, kAll, false},
    WrKind{WrOpcode::rdma_read, WorkKind::read, WcOpcode::rdma_read, true, kReliable, false},
    WrKind{WrOpcode::atomic_cmp_and_swp, WorkKind::compare_swap, WcOpcode::comp_swap, true, kReliable, true},
    WrKind{WrOpcode::atomic_fetch_and_add, WorkKind::fetch_add, WcOpcode::fetch_add, true, kReliable, true},
    WrKind{WrOpcode::local_inv, WorkKind::local_invalidate, WcOpcode::local_inv, false, kConnected, false},
    WrKind{WrOpcode::bind_mw, WorkKind::bind_window, WcOpcode::bind_mw, false, kConnected, false},
    WrKind{WrOpcode::send_with_inv, WorkKind::send_with_invalidate, WcOpcode::send, false, kReliable, false},
    WrKind{WrOpcode::flush, WorkKind::flush, WcOpcode::flush, false, kReliable, false},
    WrKind{WrOpcode::atomic_write, WorkKind::atomic_write, WcOpcode::atomic_write, false, kReliable, true},
    WrKind{WrOpcode::reg_mr, WorkKind::register_region, WcOpcode::reg_mr, false, kConnected, false},
};
static_assert([] {
    for (std::size_t i = 0; i < kWrKinds.size(); ++i)
        if (std::to_underlying(kWrKinds[i].opcode) != i) return false;
    return kWrKinds.size() == kWrOpcodeNames.size();
}());

struct StatusRow {
    CompletionStatus machine;
    WcStatus verbs;
};
constexpr std::array kStatuses{
    StatusRow{CompletionStatus::success, WcStatus::success},
    StatusRow{CompletionStatus::local_length_error, WcStatus::loc_len_err},
    StatusRow{CompletionStatus::remote_invalid_request, WcStatus::rem_inv_req_err},
    StatusRow{CompletionStatus::remote_access_error, WcStatus::rem_access_err},
    StatusRow{CompletionStatus::remote_operational_error, WcStatus::rem_op_err},
    StatusRow{CompletionStatus::bad_response, WcStatus::bad_resp_err},
    StatusRow{CompletionStatus::retry_exceeded, WcStatus::retry_exc_err},
    StatusRow{CompletionStatus::rnr_retry_exceeded, WcStatus::rnr_retry_exc_err},
    StatusRow{CompletionStatus::flushed, WcStatus::wr_flush_err},
    StatusRow{CompletionStatus::local_protection_error, WcStatus::loc_prot_err},
    StatusRow{CompletionStatus::local_operation_error, WcStatus::loc_qp_op_err},
    StatusRow{CompletionStatus::window_bind_error, WcStatus::mw_bind_err},
};
static_assert(kStatuses.size() == kCompletionStatusNames.size());

QpEvent event_to(QpState state) {
    switch (state) {
        case QpState::reset: return QpEvent::to_reset;
        case QpState::init: return QpEvent::to_init;
        case QpState::rtr: return QpEvent::to_rtr;
        case QpState::rts: return QpEvent::to_rts;
        case QpState::sqd: return QpEvent::to_sqd;
        case QpState::sqe:
        case QpState::err: break;
    }
    return QpEvent::to_err;
}

template <class T> bool within(const std::optional<T>& value, T least, T most) {
    return !value || (*value >= least && *value <= most);
}

bool in_range(const QpAttr& attr, const AdapterSettings& settings) {
    constexpr std::uint8_t kFiveBits = 31, kThreeBits = 7;
    const bool known_pkey = !attr.pkey || std::ranges::find(settings.pkeys, *attr.pkey) != settings.pkeys.end();
    const bool unicast = !attr.address || (attr.address->destination.space != AddressSpace::none &&
                                           !is_multicast(attr.address->destination));
    return known_pkey && unicast && within(attr.path_mtu, PathMtu::bytes_256, settings.mtu) &&
           within(attr.dest_qp_num, Qpn{2}, Qpn{0xfffffe}) &&
           within(attr.max_dest_rd_atomic, std::uint8_t{0}, kMaxRdAtomic) &&
           within(attr.max_rd_atomic, std::uint8_t{0}, kMaxRdAtomic) &&
           within(attr.min_rnr_timer, std::uint8_t{0}, kFiveBits) && within(attr.timeout, std::uint8_t{0}, kFiveBits) &&
           within(attr.retry_cnt, std::uint8_t{0}, kThreeBits) && within(attr.rnr_retry, std::uint8_t{0}, kThreeBits);
}

template <class T> void take(std::optional<T>& have, const std::optional<T>& given) {
    if (given) have = given;
}

}  // namespace

const WrKind& kind_of(WrOpcode opcode) {
    return kWrKinds[std::min<std::size_t>(std::to_underlying(opcode), kWrKinds.size() - 1)];
}

WcStatus status_of(CompletionStatus status) {
    const auto row = std::ranges::find(kStatuses, status, &StatusRow::machine);
    return row == kStatuses.end() ? WcStatus::general_err : row->verbs;
}

Result<QpState> judge(const QueuePair& qp, const QpAttr& attr, const AdapterSettings& settings) {
    const QpState to = attr.qp_state.value_or(qp.state);
    const bool has_queue = to != QpState::sqe && (to != QpState::sqd || qp.init.qp_type != QpType::xrc_recv);
    const bool edge = has_queue && step(kQpMachine, qp.state, event_to(to)) == to;
    if (!edge) return std::unexpected(VerbsError::wrong_state);
    const auto transitions = qp_transitions();
    const auto row = std::ranges::find_if(transitions, [&](const QpTransition& transition) {
        return transition.type == qp.init.qp_type && transition.from == qp.state && transition.to == to;
    });
    const QpAttributes required = row == transitions.end() ? 0 : row->required;
    const QpAttributes optional =
        (row == transitions.end() ? 0 : row->optional) | attributes(QpAttribute::rate_control);
    const QpAttributes given = attributes_of(attr);
    const bool ends = to == QpState::reset || to == QpState::err;  // these take anything, and heed nothing
    if ((given & required) != required) return std::unexpected(VerbsError::missing_attribute);
    if (!ends && (given & ~(required | optional)) != 0) return std::unexpected(VerbsError::excess_attribute);
    if (!in_range(attr, settings)) return std::unexpected(VerbsError::invalid_attribute);
    return to;
}

AddressHandle with_source(const AddressHandle& to, const AdapterSettings& settings) {
    AddressHandle result = to;
    if (result.source.space != AddressSpace::none) return result;
    const auto own = std::ranges::find_if(settings.addresses, [&](const Address& address) {
        return !is_multicast(address) && network_of(address) == network_of(to.destination);
    });
    if (own != settings.addresses.end()) result.source = *own;
    return result;
}

void take_over(QueuePair& qp, const QpAttr& attr, const AdapterSettings& settings) {
    take(qp.attr.pkey, attr.pkey);
    take(qp.attr.access, attr.access);
    take(qp.attr.qkey, attr.qkey);
    take(qp.attr.address, attr.address);
    take(qp.attr.path_mtu, attr.path_mtu);
    take(qp.attr.dest_qp_num, attr.dest_qp_num);
    take(qp.attr.rq_psn, attr.rq_psn);
    take(qp.attr.sq_psn, attr.sq_psn);
    take(qp.attr.max_dest_rd_atomic, attr.max_dest_rd_atomic);
    take(qp.attr.max_rd_atomic, attr.max_rd_atomic);
    take(qp.attr.min_rnr_timer, attr.min_rnr_timer);
    take(qp.attr.timeout, attr.timeout);
    take(qp.attr.retry_cnt, attr.retry_cnt);
    take(qp.attr.rnr_retry, attr.rnr_retry);
    take(qp.attr.en_sqd_async_notify, attr.en_sqd_async_notify);
    take(qp.attr.rate_control, attr.rate_control);
    if (qp.attr.address) {
        qp.to = with_source(*qp.attr.address, settings);
        qp.to.network = network_of(qp.to.destination);
        qp.udp_source_port = udp_source_port(qp.to, qp.number, qp.attr.dest_qp_num.value_or(Qpn{}));
    }
    const bool paced = qp.attr.rate_control.value_or(settings.dcqcn || settings.timely);
    if (!paced) qp.rate.reset();
    else if (!qp.rate && settings.timely) qp.rate.emplace(*settings.timely);
    else if (!qp.rate) qp.rate.emplace(settings.dcqcn.value_or(DcqcnSettings{}));
}

RequesterSettings requester_settings(const QueuePair& qp, const AdapterSettings& settings) {
    RequesterSettings to{.service = qp.service(),
                         .peer = qp.attr.dest_qp_num.value_or(Qpn{}),
                         .first = qp.attr.sq_psn.value_or(Psn{}),
                         .mtu = qp.attr.path_mtu.value_or(settings.mtu),
                         .window = settings.window,
                         .initiator_depth = qp.attr.max_rd_atomic.value_or(0),
                         .ack_timeout = qp.attr.timeout.value_or(0),
                         .retries = qp.attr.retry_cnt.value_or(0),
                         .rnr_retries = qp.attr.rnr_retry.value_or(0),
                         .pkey = qp.attr.pkey.value_or(Pkey{0xffff}),
                         .end_to_end_credits = settings.end_to_end_credits && qp.init.qp_type == QpType::rc};
    if (!qp.connected()) to.datagram = Datagram{.key = qp.attr.qkey.value_or(Qkey{}), .source_qp = qp.number};
    return to;
}

ResponderSettings responder_settings(const QueuePair& qp, const AdapterSettings& settings) {
    return {.service = qp.service(),
            .peer = qp.attr.dest_qp_num.value_or(Qpn{}),
            .expected = qp.attr.rq_psn.value_or(Psn{}),
            .mtu = qp.attr.path_mtu.value_or(settings.mtu),
            .ack_every = settings.ack_every,
            .resources = qp.attr.max_dest_rd_atomic.value_or(0),
            .rnr_timer = qp.attr.min_rnr_timer.value_or(0),
            .allowed = rights_of(qp.attr.access.value_or(Access{})),
            .qkey = qp.attr.qkey.value_or(Qkey{}),
            .local = qp.number,
            .pkey = qp.attr.pkey.value_or(Pkey{0xffff}),
            .credits = settings.end_to_end_credits};
}

}  // namespace qps::transport::verbs
