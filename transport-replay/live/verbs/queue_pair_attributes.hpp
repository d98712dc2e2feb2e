// What a queue pair is told by its owner: types, states, attributes, and which of them a change of state needs.
//
// The names are those of ibverbs; a QpAttr says by what it holds which attributes are meant (there is no mask to
// forget).
//
//   QpAttr attr{.qp_state = QpState::rtr, .address = handle_to(peer), .path_mtu = PathMtu::bytes_1024, .dest_qp_num =
//   remote,
//               .rq_psn = Psn(7), .max_dest_rd_atomic = 1, .min_rnr_timer = 12};
//   adapter.modify_qp(qp, attr);
//
//   reset --> init --> rtr --> rts <--> sqd        any --> err, any --> reset
//                              rts --> sqe --> rts (UC and UD: a work request failed)
//
// Everything here is ours: nothing comes from a wire.
#pragma once

#include <transport-replay/live/verbs/address_handle.hpp>
#include <transport-replay/model/edges.hpp>

#include <optional>
#include <span>

namespace qps::transport::verbs {

// The objects of an adapter, by handles that cannot be passed for one another.
enum class Pd : std::uint32_t {};
enum class Cq : std::uint32_t {};
enum class Srq : std::uint32_t {};
enum class Mw : std::uint32_t {};
enum class Xrcd : std::uint32_t {};  // XRC domain (A14): what an XRC target may serve

// The service, by its opcode bits; the GSI is a UD queue pair. Those of XRC have one half each (A14): an initiator asks
// and cannot be asked, a target serves every XRC shared receive queue of its domain.
enum class QpType : std::uint8_t { rc = 0, uc = 1, ud = 3, xrc_send = 5, xrc_recv = 6 };
[[nodiscard]] constexpr bool is_xrc(QpType type) { return type == QpType::xrc_send || type == QpType::xrc_recv; }

enum class QpState : std::uint8_t { reset, init, rtr, rts, sqd, sqe, err };
inline constexpr std::array<std::string_view, 7> kQpStateNames{"reset", "init", "rtr", "rts", "sqd", "sqe", "err"};

// modify_qp() asks for a state; the last two happen by themselves.
enum class QpEvent : std::uint8_t { to_reset, to_init, to_rtr, to_rts, to_sqd, to_err, work_failed, fatal };

inline constexpr Machine kQpMachine{
    kQpStateNames,
    std::array<std::string_view, 8>{"to_reset", "to_init", "to_rtr", "to_rts", "to_sqd", "to_err", "work_failed",
                                    "fatal"},
    std::array{
        Edge{QpState::reset, QpEvent::to_reset, QpState::reset}, Edge{QpState::reset, QpEvent::to_init, QpState::init},
        Edge{QpState::reset, QpEvent::to_err, QpState::err},     Edge{QpState::init, QpEvent::to_reset, QpState::reset},
        Edge{QpState::init, QpEvent::to_init, QpState::init},    Edge{QpState::init, QpEvent::to_rtr, QpState::rtr},
        Edge{QpState::init, QpEvent::to_err, QpState::err},      Edge{QpState::init, QpEvent::fatal, QpState::err},
        Edge{QpState::rtr, QpEvent::to_reset, QpState::reset},   Edge{QpState::rtr, QpEvent::to_rts, QpState::rts},
        Edge{QpState::rtr, QpEvent::to_err, QpState::err},       Edge{QpState::rtr, QpEvent::fatal, QpState::err},
        Edge{QpState::rts, QpEvent::to_reset, QpState::reset},   Edge{QpState::rts, QpEvent::to_rts, QpState::rts},
        Edge{QpState::rts, QpEvent::to_sqd, QpState::sqd},       Edge{QpState::rts, QpEvent::to_err, QpState::err},
        Edge{QpState::rts, QpEvent::work_failed, QpState::sqe},  Edge{QpState::rts, QpEvent::fatal, QpState::err},
        Edge{QpState::sqd, QpEvent::to_reset, QpState::reset},   Edge{QpState::sqd, QpEvent::to_rts, QpState::rts},
        Edge{QpState::sqd, QpEvent::to_sqd, QpState::sqd},       Edge{QpState::sqd, QpEvent::to_err, QpState::err},
        Edge{QpState::sqd, QpEvent::work_failed, QpState::sqe},  Edge{QpState::sqd, QpEvent::fatal, QpState::err},
        Edge{QpState::sqe, QpEvent::to_reset, QpState::reset},   Edge{QpState::sqe, QpEvent::to_rts, QpState::rts},
        Edge{QpState::sqe, QpEvent::to_err, QpState::err},       Edge{QpState::sqe, QpEvent::fatal, QpState::err},
        Edge{QpState::err, QpEvent::to_reset, QpState::reset},   Edge{QpState::err, QpEvent::to_err, QpState::err},
    },
};
static_assert(sound(kQpMachine));

// What remote peers may do through a queue pair, a region or a window; local_write is of regions, mw_bind of what may
// be bound.
struct Access {
    bool local_write = false;
    bool remote_write = false;
    bool remote_read = false;
    bool remote_atomic = false;
    bool mw_bind = false;
    bool flush_global = false;
    bool flush_persistent = false;
    [[nodiscard]] bool operator==(const Access&) const = default;
};
inline constexpr Access kLocalWrite{.local_write = true};
inline constexpr Access kEveryAccess{true, true, true, true, true, true, true};

struct QpCap {
    std::uint32_t max_send_wr = 128;
    std::uint32_t max_recv_wr = 128;
    std::uint32_t max_send_sge = 4;
    std::uint32_t max_recv_sge = 4;
    std::uint32_t max_inline_data = 64;
};

// An XRC initiator has no recv_cq and no srq; an XRC target has a domain and nothing else.
struct QpInitAttr {
    Pd pd{};
    Cq send_cq{};
    Cq recv_cq{};
    std::optional<Srq> srq{};
    std::optional<Xrcd> xrcd{};
    QpCap cap{};
    QpType qp_type = QpType::rc;
    bool sq_sig_all = false;  // every work request completes visibly; else those with send_flags.signaled
};

// What modify_qp() is to change. Ranges: pkey as on the wire; min_rnr_timer 5 bits; timeout 5 bits (4.096 us * 2^n, 0:
// none); retry_cnt and rnr_retry 3 bits (rnr_retry 7: for ever); rd_atomic up to kMaxRdAtomic.
struct QpAttr {
    std::optional<QpState> qp_state{};
    std::optional<dissect::Pkey> pkey{};  // one of the adapter's
    std::optional<Access> access{};       // remote_write, remote_read, remote_atomic, flush_*
    std::optional<dissect::Qkey> qkey{};
    std::optional<AddressHandle> address{};
    std::optional<PathMtu> path_mtu{};
    std::optional<dissect::Qpn> dest_qp_num{};
    std::optional<dissect::Psn> rq_psn{};
    std::optional<dissect::Psn> sq_psn{};
    std::optional<std::uint8_t> max_dest_rd_atomic{};  // as responder
    std::optional<std::uint8_t> max_rd_atomic{};       // as initiator
    std::optional<std::uint8_t> min_rnr_timer{};
    std::optional<std::uint8_t> timeout{};
    std::optional<std::uint8_t> retry_cnt{};
    std::optional<std::uint8_t> rnr_retry{};
    std::optional<bool> en_sqd_async_notify{};
    std::optional<bool>
        rate_control{};  // besides what the adapter says for all, and as it says: DCQCN where it says nothing
};

// The members of QpAttr by name, for the table below and for refusals in words.
enum class QpAttribute : std::uint8_t {
    pkey,
    access,
    qkey,
    address,
    path_mtu,
    dest_qp_num,
    rq_psn,
    sq_psn,
    max_dest_rd_atomic,
    max_rd_atomic,
    min_rnr_timer,
    timeout,
    retry_cnt,
    rnr_retry,
    en_sqd_async_notify,
    rate_control,
};
inline constexpr std::array<std::string_view, 16> kQpAttributeNames{
    "pkey",          "access",        "qkey",
    "address",       "path_mtu",      "dest_qp_num",
    "rq_psn",        "sq_psn",        "max_dest_rd_atomic",
    "max_rd_atomic", "min_rnr_timer", "timeout",
    "retry_cnt",     "rnr_retry",     "en_sqd_async_notify",
    "rate_control"};

// Bit n: the attribute n.
using QpAttributes = std::uint32_t;
template <class... Attribute> [[nodiscard]] constexpr QpAttributes attributes(Attribute... attribute) {
    return (QpAttributes{0} | ... | (QpAttributes{1} << static_cast<unsigned>(attribute)));
}
[[nodiscard]] QpAttributes attributes_of(const QpAttr& attr);

// One row of "Modify QP" (11.2.5.2): what a type of queue pair must be told, and may be told, on one way from state to
// state. A way that has no row here asks for nothing and takes nothing (but rate_control, always taken).
struct QpTransition {
    QpType type;
    QpState from;
    QpState to;
    QpAttributes required;
    QpAttributes optional;
};
[[nodiscard]] std::span<const QpTransition> qp_transitions();

}  // namespace qps::transport::verbs
