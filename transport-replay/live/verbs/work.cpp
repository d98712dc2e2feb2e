// Work requests that are posted: what cannot be is refused at once; what is only wrong in its memory fails when its
// turn comes.
#include <transport-replay/live/verbs/adapter_state.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::verbs {

using namespace dissect;

namespace {

constexpr std::uint64_t kMaxMessage = std::uint64_t{1} << 31;  // 9.7.4.1.6
constexpr std::uint64_t kEightBytes = 8;
constexpr Qkey kOwnQkeyBit{0x8000'0000};  // 10.2.5

std::uint64_t length_of(std::span<const Sge> pieces) {
    std::uint64_t sum = 0;
    for (const Sge& piece : pieces) sum += piece.length;
    return sum;
}

std::optional<VerbsError> judge_lengths(const QueuePair& qp, const WrKind& kind, const SendWr& wr,
                                        const AdapterSettings& settings) {
    const std::uint64_t length = length_of(wr.sg_list);
    if (wr.sg_list.size() > qp.init.cap.max_send_sge || length > kMaxMessage) return VerbsError::invalid_request;
    if (!qp.connected() && length > bytes_of(settings.mtu)) return VerbsError::invalid_request;
    if (kind.eight_bytes && length != kEightBytes && !(kind.writes_locally && length == 0))
        return VerbsError::invalid_request;
    if (wr.send_flags.inline_data && (kind.writes_locally || length > qp.init.cap.max_inline_data))
        return VerbsError::invalid_request;
    if (wr.opcode == WrOpcode::flush &&
        (wr.flush.length > kMaxMessage || (!wr.flush.global_visibility && !wr.flush.persistent)))
        return VerbsError::invalid_request;
    return std::nullopt;
}

std::optional<VerbsError> judge(const QueuePair& qp, const WrKind& kind, const SendWr& wr,
                                const AdapterSettings& settings) {
    if ((kind.services >> std::to_underlying(qp.init.qp_type) & 1) == 0) return VerbsError::unsupported;
    if (qp.state == QpState::reset || qp.state == QpState::init || qp.state == QpState::rtr)
        return VerbsError::wrong_state;
    if (const auto wrong = judge_lengths(qp, kind, wr, settings)) return wrong;
    const bool answered = kind.writes_locally || wr.opcode == WrOpcode::flush || wr.opcode == WrOpcode::atomic_write;
    if (answered && qp.attr.max_rd_atomic.value_or(0) == 0) return VerbsError::invalid_request;
    const Address& group = wr.ud.ah.destination;
    const bool multicast = wr.ud.remote_qpn == kMulticastQpn;
    if (!qp.connected() && (group.space == AddressSpace::none || is_multicast(group) != multicast))
        return VerbsError::invalid_request;
    return qp.sends.size() >= qp.init.cap.max_send_wr ? std::optional(VerbsError::queue_full) : std::nullopt;
}

WorkRequest work_of(const WrKind& kind, const SendWr& wr) {
    WorkRequest work;
    work.kind = kind.kind;
    work.remote = {.address = wr.remote.address, .key = wr.remote.rkey, .length = wr.flush.length};
    if (wr.opcode == WrOpcode::rdma_read) work.remote.length = 0;
    work.atomic = wr.opcode == WrOpcode::atomic_cmp_and_swp ? AtomicOperands{wr.atomic.swap, wr.atomic.compare_add}
                                                            : AtomicOperands{wr.atomic.compare_add, 0};
    work.flush.placement = static_cast<std::uint8_t>((wr.flush.global_visibility ? kGlobalVisibility : 0) |
                                                     (wr.flush.persistent ? kPersistence : 0));
    work.flush.selectivity = wr.flush.whole_region ? FlushSelectivity::memory_region : FlushSelectivity::memory_range;
    work.immediate = wr.imm_data;
    work.invalidate = wr.invalidate_rkey;
    work.solicited = wr.send_flags.solicited;
    work.fence = wr.send_flags.fence;
    return work;
}

// Finds the pieces; what is sent inline is copied, and nothing stays borrowed.
Pins take_pieces(AdapterState& adapter, const QueuePair& qp, const WrKind& kind, const SendWr& wr, WorkRequest& work) {
    Resolved found = adapter.registrations.resolve(*qp.pd, wr.sg_list, kind.writes_locally);
    work.unusable = !found.usable;
    if (!wr.send_flags.inline_data) {
        work.segments = std::move(found.segments);
        return std::move(found.pins);
    }
    for (const MutableBytes& piece : found.segments)
        work.inlined.insert(work.inlined.end(), piece.begin(), piece.end());
    adapter.registrations.release(found.pins);
    return {};
}

Result<void> post(AdapterState& adapter, QueuePair& qp, const SendWr& wr, WorkRequest work,
                  std::unique_ptr<MemoryRegion> region = {}) {
    const WrKind& kind = kind_of(wr.opcode);
    SendRecord record{.wr_id = wr.wr_id, .opcode = kind.completion, .signaled = wr.send_flags.signaled};
    if (!qp.may_send()) {  // SQE, ERR
        complete(adapter, qp, *qp.send_cq,
                 {.wr_id = wr.wr_id, .status = WcStatus::wr_flush_err, .opcode = record.opcode, .qp_num = qp.number});
        return {};
    }
    if (!qp.connected()) {
        const bool own = (std::to_underlying(wr.ud.remote_qkey) & std::to_underlying(kOwnQkeyBit)) != 0;
        work.datagram =
            DatagramPeer{.qp = wr.ud.remote_qpn, .key = own ? qp.attr.qkey.value_or(Qkey{}) : wr.ud.remote_qkey};
        record.to = with_source(wr.ud.ah, adapter.settings);
        record.to.network = network_of(record.to.destination);
    }
    if (is_xrc(qp.init.qp_type)) work.srq = wr.remote_srq;
    record.pins = take_pieces(adapter, qp, kind, wr, work);
    if (work.window) adapter.registrations.pin(*work.window, record.pins);
    if (region) adapter.registrations.pin(*region, record.pins);
    record.region = std::move(region);
    work.id = qp.first_send + qp.sends.size();
    if (!qp.requester->post(std::move(work))) {  // too many PSNs outstanding
        adapter.registrations.release(record.pins);
        return std::unexpected(VerbsError::queue_full);
    }
    qp.sends.push_back(std::move(record));
    refresh(adapter, qp);
    return {};
}

}  // namespace

Result<void> post_send(AdapterState& adapter, QueuePair& qp, const SendWr& wr) {
    if (wr.opcode == WrOpcode::bind_mw) {
        const auto bound = post_bind(adapter, qp, wr, MwType::type_2);
        return bound ? Result<void>{} : std::unexpected(bound.error());
    }
    const WrKind& kind = kind_of(wr.opcode);
    if (const auto wrong = judge(qp, kind, wr, adapter.settings)) return std::unexpected(*wrong);
    if (wr.opcode != WrOpcode::reg_mr) return post(adapter, qp, wr, work_of(kind, wr));
    const auto region = adapter.registrations.prepare(*qp.pd, wr.reg);
    if (!region) return std::unexpected(region.error());
    return post(adapter, qp, wr, work_of(kind, wr), std::make_unique<MemoryRegion>(*region));
}

Result<Rkey> post_bind(AdapterState& adapter, QueuePair& qp, const SendWr& wr, MwType type) {
    const WrKind& kind = kind_of(wr.opcode);
    if (const auto wrong = judge(qp, kind, wr, adapter.settings)) return std::unexpected(*wrong);
    const auto window = adapter.registrations.prepare(*qp.pd, wr.bind, qp.number, type);
    if (!window) return std::unexpected(window.error());
    WorkRequest work = work_of(kind, wr);
    work.window = *window;
    if (const auto posted = post(adapter, qp, wr, std::move(work)); !posted) return std::unexpected(posted.error());
    return window->key;
}

Result<void> post_recv(AdapterState& adapter, QueuePair& qp, const RecvWr& wr) {
    if (qp.shared != nullptr || is_xrc(qp.init.qp_type)) return std::unexpected(VerbsError::unsupported);
    if (qp.state == QpState::reset) return std::unexpected(VerbsError::wrong_state);
    if (qp.state == QpState::err) {
        complete(adapter, qp, *qp.recv_cq,
                 {.wr_id = wr.wr_id, .status = WcStatus::wr_flush_err, .opcode = WcOpcode::recv, .qp_num = qp.number});
        return {};
    }
    if (const auto posted = qp.own.post(wr, *qp.pd, adapter.registrations); !posted) return posted;
    if (qp.responder) {
        qp.responder->advertise(qp.own.queue());
        refresh(adapter, qp);
    }
    return {};
}

}  // namespace qps::transport::verbs
