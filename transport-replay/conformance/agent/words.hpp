// The words of the agent's protocol that stand for values: kinds of queue pairs, states, rights, operations, statuses,
// events.
//
// Each list is in the order of its enumeration, so that a word's place in the list is the value. Words are those of
// ibverbs and rdma_cm in our style. Like protocol.hpp and line.hpp this needs nothing but the standard library of
// C++20: the program on a device's host is built from these headers alone.
//
// Constants: nothing comes from outside.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace qps::transport::conformance::agent {

// Of XRC each half is a queue pair of its own: xrc_send asks, xrc_recv serves.
enum class QpKind : std::uint8_t { rc, uc, ud, xrc_send, xrc_recv };
inline constexpr std::array<std::string_view, 5> kQpKindWords{"rc", "uc", "ud", "xrc_send", "xrc_recv"};

enum class QpStateWord : std::uint8_t { reset, init, rtr, rts, sqd, sqe, err };
inline constexpr std::array<std::string_view, 7> kQpStateWords{"reset", "init", "rtr", "rts", "sqd", "sqe", "err"};

// Rights, as bits. `write` and `atomic` of a region have `local` with them, as verbs demand.
enum class Right : std::uint8_t { local, write, read, atomic, bind, flush_global, flush_persistent };
inline constexpr std::array<std::string_view, 7> kRightWords{
    "local", "write", "read", "atomic", "bind", "flush_global", "flush_persistent"};

enum class MtuWord : std::uint8_t { bytes_256, bytes_512, bytes_1024, bytes_2048, bytes_4096 };
inline constexpr std::array<std::string_view, 5> kMtuWords{"256", "512", "1024", "2048", "4096"};

enum class Operation : std::uint8_t {
    send,
    send_imm,
    send_inv,
    write,
    write_imm,
    read,
    fetch_add,
    cmp_swap,
    local_inv,
    flush,
    atomic_write,
};
inline constexpr std::array<std::string_view, 11> kOperationWords{"send",      "send_imm", "send_inv",    "write",
                                                                  "write_imm", "read",     "fetch_add",   "cmp_swap",
                                                                  "local_inv", "flush",    "atomic_write"};

// Of a work request, as bits.
enum class PostFlag : std::uint8_t { signaled, fence, solicited, inline_data };
inline constexpr std::array<std::string_view, 4> kPostFlagWords{"signaled", "fence", "solicited", "inline"};

// With the numbers of ibverbs, which are 0 to 22 without a gap.
inline constexpr std::array<std::string_view, 23> kStatusWords{"success",
                                                               "loc_len_err",
                                                               "loc_qp_op_err",
                                                               "loc_eec_op_err",
                                                               "loc_prot_err",
                                                               "wr_flush_err",
                                                               "mw_bind_err",
                                                               "bad_resp_err",
                                                               "loc_access_err",
                                                               "rem_inv_req_err",
                                                               "rem_access_err",
                                                               "rem_op_err",
                                                               "retry_exc_err",
                                                               "rnr_retry_exc_err",
                                                               "loc_rdd_viol_err",
                                                               "rem_inv_rd_req_err",
                                                               "rem_abort_err",
                                                               "inv_eecn_err",
                                                               "inv_eec_state_err",
                                                               "fatal_err",
                                                               "resp_timeout_err",
                                                               "general_err",
                                                               "tm_err"};
inline constexpr std::size_t kSuccess = 0;

enum class DoneWord : std::uint8_t {
    send,
    write,
    read,
    cmp_swap,
    fetch_add,
    bind_mw,
    local_inv,
    flush,
    atomic_write,
    recv,
    recv_imm,
    other,
};
inline constexpr std::array<std::string_view, 12> kDoneWords{"send",         "write",   "read",      "cmp_swap",
                                                             "fetch_add",    "bind_mw", "local_inv", "flush",
                                                             "atomic_write", "recv",    "recv_imm",  "other"};

// Of a completion, as bits; csum: the device says that the IP checksum is right.
enum class DoneFlag : std::uint8_t { grh, imm, inv, csum };
inline constexpr std::array<std::string_view, 4> kDoneFlagWords{"grh", "imm", "inv", "csum"};

// What happened to the device's objects; `none`: nothing did.
enum class AsyncWord : std::uint8_t {
    none,
    cq_err,
    qp_fatal,
    qp_req_err,
    qp_access_err,
    comm_est,
    sq_drained,
    srq_limit_reached,
    qp_last_wqe_reached,
    device_fatal,
    port_active,
    port_err,
    gid_change,
    other,
};
inline constexpr std::array<std::string_view, 14> kAsyncWords{"none",
                                                              "cq_err",
                                                              "qp_fatal",
                                                              "qp_req_err",
                                                              "qp_access_err",
                                                              "comm_est",
                                                              "sq_drained",
                                                              "srq_limit_reached",
                                                              "qp_last_wqe_reached",
                                                              "device_fatal",
                                                              "port_active",
                                                              "port_err",
                                                              "gid_change",
                                                              "other"};

enum class SpaceWord : std::uint8_t { tcp, udp, ib, ipoib };
inline constexpr std::array<std::string_view, 4> kSpaceWords{"tcp", "udp", "ib", "ipoib"};

// What rdma_cm said; `none`: nothing.
enum class CmWord : std::uint8_t {
    none,
    addr_error,
    route_error,
    connect_request,
    connect_error,
    unreachable,
    rejected,
    established,
    disconnected,
    timewait_exit,
    other,
};
inline constexpr std::array<std::string_view, 11> kCmWords{
    "none",     "addr_error",  "route_error",  "connect_request", "connect_error", "unreachable",
    "rejected", "established", "disconnected", "timewait_exit",   "other"};

// What a device and its agent can do, as bits.
enum class Feature : std::uint8_t {
    atomic,
    mw_1,
    mw_2,
    flush,
    atomic_write,
    srq,
    multicast,
    cm,
    counters,
    kernel_log,
    xrc
};
inline constexpr std::array<std::string_view, 11> kFeatureWords{
    "atomic", "mw_1", "mw_2", "flush", "atomic_write", "srq", "multicast", "cm", "counters", "kernel_log", "xrc"};

// Which of the protocol's own reasons refused a request; a device's refusal has the name of an errno.
enum class Fault : std::uint8_t { none, line, sequence, verb, key, value, missing, twice };
inline constexpr std::array<std::string_view, 8> kFaultWords{"none", "line",  "sequence", "verb",
                                                             "key",  "value", "missing",  "twice"};

}  // namespace qps::transport::conformance::agent
