#include <transport-replay/live/verbs/queue_pair_attributes.hpp>

namespace qps::transport::verbs {

namespace {

using enum QpAttribute;

// Table of 11.2.5.2, by type (of XRC as ib_modify_qp_is_ok() of Linux has it); the numbers of ports and the alternate
// path are not ours (one port, one path).
constexpr std::array kTransitions{
    QpTransition{QpType::rc, QpState::reset, QpState::init, attributes(pkey, access), 0},
    QpTransition{QpType::uc, QpState::reset, QpState::init, attributes(pkey, access), 0},
    QpTransition{QpType::ud, QpState::reset, QpState::init, attributes(pkey, qkey), 0},
    QpTransition{QpType::xrc_send, QpState::reset, QpState::init, attributes(pkey, access), 0},
    QpTransition{QpType::xrc_recv, QpState::reset, QpState::init, attributes(pkey, access), 0},

    QpTransition{QpType::rc, QpState::init, QpState::init, 0, attributes(pkey, access)},
    QpTransition{QpType::uc, QpState::init, QpState::init, 0, attributes(pkey, access)},
    QpTransition{QpType::ud, QpState::init, QpState::init, 0, attributes(pkey, qkey)},
    QpTransition{QpType::xrc_send, QpState::init, QpState::init, 0, attributes(pkey, access)},
    QpTransition{QpType::xrc_recv, QpState::init, QpState::init, 0, attributes(pkey, access)},

    QpTransition{QpType::rc, QpState::init, QpState::rtr,
                 attributes(address, path_mtu, dest_qp_num, rq_psn, max_dest_rd_atomic, min_rnr_timer),
                 attributes(pkey, access)},
    QpTransition{QpType::uc, QpState::init, QpState::rtr, attributes(address, path_mtu, dest_qp_num, rq_psn),
                 attributes(pkey, access)},
    QpTransition{QpType::ud, QpState::init, QpState::rtr, 0, attributes(pkey, qkey)},
    QpTransition{QpType::xrc_send, QpState::init, QpState::rtr, attributes(address, path_mtu, dest_qp_num, rq_psn),
                 attributes(pkey, access)},
    QpTransition{QpType::xrc_recv, QpState::init, QpState::rtr,
                 attributes(address, path_mtu, dest_qp_num, rq_psn, max_dest_rd_atomic, min_rnr_timer),
                 attributes(pkey, access)},

    QpTransition{QpType::rc, QpState::rtr, QpState::rts,
                 attributes(timeout, retry_cnt, rnr_retry, max_rd_atomic, sq_psn), attributes(access, min_rnr_timer)},
    QpTransition{QpType::uc, QpState::rtr, QpState::rts, attributes(sq_psn), attributes(access)},
    QpTransition{QpType::ud, QpState::rtr, QpState::rts, attributes(sq_psn), attributes(qkey)},
    QpTransition{QpType::xrc_send, QpState::rtr, QpState::rts,
                 attributes(timeout, retry_cnt, rnr_retry, max_rd_atomic, sq_psn), attributes(access)},
    QpTransition{QpType::xrc_recv, QpState::rtr, QpState::rts, attributes(timeout, sq_psn),
                 attributes(access, min_rnr_timer)},

    QpTransition{QpType::rc, QpState::rts, QpState::rts, 0, attributes(access, min_rnr_timer)},
    QpTransition{QpType::uc, QpState::rts, QpState::rts, 0, attributes(access)},
    QpTransition{QpType::ud, QpState::rts, QpState::rts, 0, attributes(qkey)},
    QpTransition{QpType::xrc_send, QpState::rts, QpState::rts, 0, attributes(access)},
    QpTransition{QpType::xrc_recv, QpState::rts, QpState::rts, 0, attributes(access, min_rnr_timer)},

    QpTransition{QpType::rc, QpState::rts, QpState::sqd, 0, attributes(en_sqd_async_notify)},
    QpTransition{QpType::uc, QpState::rts, QpState::sqd, 0, attributes(en_sqd_async_notify)},
    QpTransition{QpType::ud, QpState::rts, QpState::sqd, 0, attributes(en_sqd_async_notify)},
    QpTransition{QpType::xrc_send, QpState::rts, QpState::sqd, 0, attributes(en_sqd_async_notify)},

    QpTransition{QpType::rc, QpState::sqd, QpState::sqd, 0,
                 attributes(pkey, access, address, timeout, retry_cnt, rnr_retry, max_rd_atomic, max_dest_rd_atomic,
                            min_rnr_timer)},
    QpTransition{QpType::uc, QpState::sqd, QpState::sqd, 0, attributes(pkey, access, address)},
    QpTransition{QpType::ud, QpState::sqd, QpState::sqd, 0, attributes(pkey, qkey)},
    QpTransition{QpType::xrc_send, QpState::sqd, QpState::sqd, 0,
                 attributes(pkey, access, address, timeout, retry_cnt, rnr_retry, max_rd_atomic)},

    QpTransition{QpType::rc, QpState::sqd, QpState::rts, 0, attributes(access, min_rnr_timer)},
    QpTransition{QpType::uc, QpState::sqd, QpState::rts, 0, attributes(access)},
    QpTransition{QpType::ud, QpState::sqd, QpState::rts, 0, attributes(qkey)},
    QpTransition{QpType::xrc_send, QpState::sqd, QpState::rts, 0, attributes(access)},

    QpTransition{QpType::uc, QpState::sqe, QpState::rts, 0, attributes(access)},
    QpTransition{QpType::ud, QpState::sqe, QpState::rts, 0, attributes(qkey)},
};

}  // namespace

std::span<const QpTransition> qp_transitions() { return kTransitions; }

QpAttributes attributes_of(const QpAttr& attr) {
    const auto bit = [](bool set, QpAttribute which) { return set ? attributes(which) : QpAttributes{0}; };
    return bit(attr.pkey.has_value(), pkey) | bit(attr.access.has_value(), access) | bit(attr.qkey.has_value(), qkey) |
           bit(attr.address.has_value(), address) | bit(attr.path_mtu.has_value(), path_mtu) |
           bit(attr.dest_qp_num.has_value(), dest_qp_num) | bit(attr.rq_psn.has_value(), rq_psn) |
           bit(attr.sq_psn.has_value(), sq_psn) | bit(attr.max_dest_rd_atomic.has_value(), max_dest_rd_atomic) |
           bit(attr.max_rd_atomic.has_value(), max_rd_atomic) | bit(attr.min_rnr_timer.has_value(), min_rnr_timer) |
           bit(attr.timeout.has_value(), timeout) | bit(attr.retry_cnt.has_value(), retry_cnt) |
           bit(attr.rnr_retry.has_value(), rnr_retry) | bit(attr.en_sqd_async_notify.has_value(), en_sqd_async_notify) |
           bit(attr.rate_control.has_value(), rate_control);
}

}  // namespace qps::transport::verbs
