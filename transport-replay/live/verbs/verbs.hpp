// The words an application speaks with an Adapter: scatter/gather entries, work requests, work completions, events,
// errors.
//
// Names and meanings are those of ibverbs, in our style: IBV_WC_REM_ACCESS_ERR is WcStatus::rem_access_err. Memory is
// addressed as on the wire: by the address a region was registered at (Mr::address) and its key.
//
//   const Sge piece{.address = mr.address, .length = 64, .lkey = mr.lkey};
//   const auto received = adapter.post_recv(qp, {.wr_id = 1, .sg_list = {&piece, 1}});   // a Result: refusals have
//   names const SendWr write{.wr_id = 2, .sg_list = {&piece, 1}, .opcode = WrOpcode::rdma_write, .send_flags =
//   {.signaled = true},
//                      .remote = {.address = theirs.address, .rkey = theirs.rkey}};
//   const auto sent = adapter.post_send(qp, write);
//   std::array<Wc, 8> done;
//   for (const Wc& wc : std::span(done).first(adapter.poll_cq(cq, done))) if (wc.status != WcStatus::success) ...
//
// Ours, not the wire's: what a peer does arrives here as a status. Lists are borrowed for the call; the memory they
// name until the work completes.
#pragma once

#include <transport-replay/live/verbs/queue_pair_attributes.hpp>

#include <expected>
#include <span>

namespace qps::transport::verbs {

// Memory of a protection domain, as register said. lkey and rkey have one value; rkey is 0 where nothing is granted to
// peers.
struct Mr {
    dissect::Rkey lkey{};
    dissect::Rkey rkey{};
    std::uint64_t address = 0;  // where the region begins for Sge and for peers (iova)
    std::uint64_t length = 0;
};

struct Sge {
    std::uint64_t address = 0;
    std::uint32_t length = 0;
    dissect::Rkey lkey{};
};

enum class WrOpcode : std::uint8_t {
    rdma_write,
    rdma_write_with_imm,
    send,
    send_with_imm,
    rdma_read,
    atomic_cmp_and_swp,
    atomic_fetch_and_add,
    local_inv,
    bind_mw,
    send_with_inv,
    flush,
    atomic_write,
    reg_mr,
};
inline constexpr std::array<std::string_view, 13> kWrOpcodeNames{"rdma_write",
                                                                 "rdma_write_with_imm",
                                                                 "send",
                                                                 "send_with_imm",
                                                                 "rdma_read",
                                                                 "atomic_cmp_and_swp",
                                                                 "atomic_fetch_and_add",
                                                                 "local_inv",
                                                                 "bind_mw",
                                                                 "send_with_inv",
                                                                 "flush",
                                                                 "atomic_write",
                                                                 "reg_mr"};

struct SendFlags {
    bool fence = false;        // waits for every READ and ATOMIC before it
    bool signaled = false;     // has a completion, where the queue pair does not signal all
    bool solicited = false;    // the peer's completion is a solicited event
    bool inline_data = false;  // the pieces are copied now; their memory is free at once
};

struct Remote {
    std::uint64_t address = 0;
    dissect::Rkey rkey{};
};

struct AtomicValues {               // in host byte order
    std::uint64_t compare_add = 0;  // what to compare with, or to add
    std::uint64_t swap = 0;
};

struct UdTarget {
    AddressHandle ah{};
    dissect::Qpn remote_qpn{};
    dissect::Qkey remote_qkey{};  // with its highest bit set: the queue pair's own key is used (10.2.5)
};

struct FlushRange {  // the range is remote and `length` long
    std::uint32_t length = 0;
    bool global_visibility = false;
    bool persistent = false;
    bool whole_region = false;  // selectivity: the memory region, not the range
};

// What a window shows: part of a region, with rights of its own. Length 0 unbinds.
struct MwBind {
    Mw mw{};
    dissect::Rkey rkey{};  // type 2: the new key, next_rkey() of the old; type 1: ignored, the adapter makes it
    dissect::Rkey lkey{};  // of the region
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    Access access{};
};

// Fast registration: what an allocated region (alloc_mr) is from when the work request has its turn, until it is
// invalidated: by local_inv or by a peer's SEND with invalidate. What is posted behind it can offer the new key at
// once; as a local key it can be used by what is posted once this has completed.
struct MrRegistration {
    dissect::Rkey lkey{};  // of the region: the key it has, valid or not
    dissect::Rkey key{};   // the new one: the same but for its lowest eight bits, such as next_rkey() of the old
    dissect::MutableBytes bytes{};  // the caller's, and must stay until it is invalidated or deregistered
    std::uint64_t address = 0;      // where they begin for Sge and for peers (iova)
    Access access{};
};

struct SendWr {
    std::uint64_t wr_id = 0;
    std::span<const Sge> sg_list{};
    WrOpcode opcode = WrOpcode::send;
    SendFlags send_flags{};
    std::uint32_t imm_data = 0;
    dissect::Rkey invalidate_rkey{};  // send_with_inv: the peer's; local_inv: ours
    Remote remote{};                  // RDMA, ATOMIC and FLUSH
    AtomicValues atomic{};
    UdTarget ud{};
    FlushRange flush{};
    MwBind bind{};
    MrRegistration reg{};
    Srqn remote_srq{};  // XRC: the peer's shared receive queue, whatever the operation
};

struct RecvWr {
    std::uint64_t wr_id = 0;
    std::span<const Sge> sg_list{};
};

// With the numbers of ibverbs, which people look up.
enum class WcStatus : std::uint8_t {
    success = 0,
    loc_len_err = 1,
    loc_qp_op_err = 2,
    loc_prot_err = 4,
    wr_flush_err = 5,
    mw_bind_err = 6,
    bad_resp_err = 7,
    loc_access_err = 8,
    rem_inv_req_err = 9,
    rem_access_err = 10,
    rem_op_err = 11,
    retry_exc_err = 12,
    rnr_retry_exc_err = 13,
    general_err = 21,
};
struct WcStatusName {
    WcStatus status;
    std::string_view name;
};
inline constexpr std::array kWcStatusNames{
    WcStatusName{WcStatus::success, "success"},
    WcStatusName{WcStatus::loc_len_err, "loc_len_err"},
    WcStatusName{WcStatus::loc_qp_op_err, "loc_qp_op_err"},
    WcStatusName{WcStatus::loc_prot_err, "loc_prot_err"},
    WcStatusName{WcStatus::wr_flush_err, "wr_flush_err"},
    WcStatusName{WcStatus::mw_bind_err, "mw_bind_err"},
    WcStatusName{WcStatus::bad_resp_err, "bad_resp_err"},
    WcStatusName{WcStatus::loc_access_err, "loc_access_err"},
    WcStatusName{WcStatus::rem_inv_req_err, "rem_inv_req_err"},
    WcStatusName{WcStatus::rem_access_err, "rem_access_err"},
    WcStatusName{WcStatus::rem_op_err, "rem_op_err"},
    WcStatusName{WcStatus::retry_exc_err, "retry_exc_err"},
    WcStatusName{WcStatus::rnr_retry_exc_err, "rnr_retry_exc_err"},
    WcStatusName{WcStatus::general_err, "general_err"},
};
[[nodiscard]] constexpr std::string_view name(WcStatus status) {
    for (const WcStatusName& row : kWcStatusNames)
        if (row.status == status) return row.name;
    return {};
}

enum class WcOpcode : std::uint8_t {
    send,
    rdma_write,
    rdma_read,
    comp_swap,
    fetch_add,
    bind_mw,
    local_inv,
    flush,
    atomic_write,
    recv,
    recv_rdma_with_imm,
    reg_mr,
};
inline constexpr std::array<std::string_view, 12> kWcOpcodeNames{
    "send",      "rdma_write", "rdma_read",    "comp_swap", "fetch_add",          "bind_mw",
    "local_inv", "flush",      "atomic_write", "recv",      "recv_rdma_with_imm", "reg_mr"};

struct WcFlags {
    bool grh = false;  // the first 40 bytes of the receive are the network header (UD)
    bool with_imm = false;
    bool with_inv = false;
};

// Where the status is not success, only wr_id, status, qp_num and vendor_err mean something.
struct Wc {
    std::uint64_t wr_id = 0;
    WcStatus status = WcStatus::success;
    WcOpcode opcode = WcOpcode::send;
    WcFlags flags{};
    std::uint32_t vendor_err = 0;  // 0
    std::uint32_t byte_len = 0;    // of a receive (UD: with the 40 bytes of the header), a READ, an ATOMIC
    std::uint32_t imm_data = 0;
    dissect::Rkey invalidated_rkey{};
    dissect::Qpn qp_num{};
    dissect::Qpn src_qp{};  // UD
    Address source{};       // UD: whom to answer
};

// What happens to the adapter's objects besides completions.
enum class AsyncEventType : std::uint8_t {
    cq_err,               // a completion found the queue full
    qp_fatal,             // the queue pair failed for a reason of ours
    qp_req_err,           // a peer's request was invalid
    qp_access_err,        // a peer asked for memory that is not its
    comm_est,             // the first packet of the peer came while in RTR
    sq_drained,           // SQD, and nothing is outstanding any more
    srq_limit_reached,    // fewer receives than the limit; it is disarmed
    qp_last_wqe_reached,  // in error, and takes nothing from its shared receive queue any more
};
inline constexpr std::array<std::string_view, 8> kAsyncEventNames{
    "cq_err",   "qp_fatal",   "qp_req_err",        "qp_access_err",
    "comm_est", "sq_drained", "srq_limit_reached", "qp_last_wqe_reached"};

struct AsyncEvent {
    AsyncEventType type = AsyncEventType::qp_fatal;
    dissect::Qpn qp{};
    Cq cq{};
    Srq srq{};
};

// Why a call is refused.
enum class VerbsError : std::uint8_t {
    unknown_handle,     // there is no such object, or it is another protection domain's
    too_many,           // a bound of the adapter or of the object is reached
    queue_full,         // no room for another work request
    wrong_state,        // the state of the queue pair does not allow it
    missing_attribute,  // the change of state needs more
    excess_attribute,   // the change of state does not take that
    invalid_attribute,  // a value out of its range
    unsupported,        // the service does not have the operation
    invalid_request,    // lengths, counts of pieces or rights that cannot be
    busy,               // something still uses the object
};
inline constexpr std::array<std::string_view, 10> kVerbsErrorNames{
    "unknown_handle",   "too_many",          "queue_full",  "wrong_state",     "missing_attribute",
    "excess_attribute", "invalid_attribute", "unsupported", "invalid_request", "busy"};
template <class T> using Result = std::expected<T, VerbsError>;

// The key for the next bind of a type 2 window: the consumer's eight bits count (10.6.3.3).
[[nodiscard]] constexpr dissect::Rkey next_rkey(dissect::Rkey key) {
    const auto value = static_cast<std::uint32_t>(key);
    return dissect::Rkey{(value & ~0xffU) | ((value + 1) & 0xffU)};
}

}  // namespace qps::transport::verbs
