// The life of a queue pair: made, changed from state to state, destroyed.
#include <transport-replay/live/verbs/adapter_state.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::verbs {

using namespace dissect;

namespace {

constexpr std::uint32_t kLastQpn = 0xfffffe;  // the one behind it is that of multicast

bool valid(const QpCap& cap) {
    return cap.max_send_wr <= kMaxQpWr && cap.max_recv_wr <= kMaxQpWr && cap.max_send_sge <= kMaxSge &&
           cap.max_recv_sge <= kMaxSge && cap.max_inline_data <= kMaxInlineData;
}

Qpn take_number(AdapterState& adapter) {
    for (;;) {  // fewer exist than there are numbers
        const Qpn number = adapter.next_qp;
        const std::uint32_t next = std::to_underlying(number) + 1;
        adapter.next_qp = next > kLastQpn ? std::max(adapter.settings.first_qp, Qpn{2}) : Qpn{next};
        if (adapter.find(number) == nullptr) return number;
    }
}

Slot take_slot(AdapterState& adapter) {
    if (!adapter.free_slots.empty()) {
        const Slot slot = adapter.free_slots.back();
        adapter.free_slots.pop_back();
        return slot;
    }
    const Slot slot{static_cast<std::uint32_t>(adapter.slots.size())};
    adapter.slots.push_back(nullptr);
    adapter.schedule.add(slot);
    return slot;
}

// Everything of the connection goes; what was posted is gone without a completion (10.3.1).
void clear(AdapterState& adapter, QueuePair& qp) {
    for (; !qp.sends.empty(); qp.sends.pop_front(), ++qp.first_send)
        adapter.registrations.release(qp.sends.front().pins);
    if (qp.responder)
        if (const auto taken = qp.responder->release_receive())
            static_cast<void>(qp.receives().complete(taken->id, adapter.registrations));
    while (const auto receive = qp.own.queue().take())
        static_cast<void>(qp.own.complete(receive->id, adapter.registrations));
    if (qp.domain != nullptr) leave(qp);
    qp.requester.reset();
    qp.responder.reset();
    qp.rate.reset();
    qp.cnp.reset();
    qp.cnps = {};
    qp.attr = {};
    qp.mute = qp.communicated = qp.drain_reported = qp.overrun = false;
    qp.state = QpState::reset;
    adapter.schedule.remove(qp.slot);
}

// What a queue pair may have outstanding: its window, or a share of kInFlight where there are many. A peer that is slow
// has room for as much as it has room for, whichever queue pairs it comes from; beyond that all of them run into their
// timers.
std::uint32_t share_of(const AdapterState& adapter) {
    constexpr std::size_t kInFlight = 2048, kLeastShare = 32;  // PSNs
    const std::size_t share = std::max(kInFlight / std::max<std::size_t>(adapter.qps.size(), 1), kLeastShare);
    return std::min(adapter.settings.window, static_cast<std::uint32_t>(share));
}

void begin_sending(AdapterState& adapter, QueuePair& qp) {
    RequesterSettings to = requester_settings(qp, adapter.settings);
    if (qp.connected()) to.window = share_of(adapter);
    if (qp.requester) to.first = qp.requester->next();  // after SQE it goes on where it was
    qp.requester.emplace(to);
}

// That of datagrams remembers nothing between two messages: a new one, with the new Q_Key.
void adjust_responder(AdapterState& adapter, QueuePair& qp) {
    const ResponderSettings to = responder_settings(qp, adapter.settings);
    if (qp.connected()) qp.responder->adjust(to);
    else qp.responder.emplace(to);
}

// What a queue pair is made of; nothing where something that its type needs is not there.
struct Parts {
    ProtectionDomain* pd = nullptr;
    CompletionQueue* send_cq = nullptr;
    CompletionQueue* recv_cq = nullptr;
    SharedReceives* shared = nullptr;
    ExtendedDomain* domain = nullptr;
};
std::optional<Parts> parts_of(const AdapterState& adapter, const QpInitAttr& init) {
    if (init.qp_type == QpType::xrc_recv) {
        ExtendedDomain* domain = init.xrcd ? adapter.xrcds.find(*init.xrcd) : nullptr;
        return domain == nullptr ? std::nullopt : std::optional(Parts{.domain = domain});
    }
    Parts parts{.pd = adapter.pds.find(init.pd), .send_cq = adapter.cqs.find(init.send_cq)};
    if (parts.pd == nullptr || parts.send_cq == nullptr) return std::nullopt;
    if (init.qp_type == QpType::xrc_send) return parts;
    parts.recv_cq = adapter.cqs.find(init.recv_cq);
    if (init.srq) parts.shared = adapter.srqs.find(*init.srq);
    const bool lacks_shared = init.srq && (parts.shared == nullptr || parts.shared->domain != nullptr);
    return parts.recv_cq == nullptr || lacks_shared ? std::nullopt : std::optional(parts);
}

// One user more, or less, of each.
void count_user(const QueuePair& qp, bool more) {
    const auto count = [more](auto* part) {
        if (part != nullptr) more ? ++part->users : --part->users;
    };
    count(qp.pd);
    count(qp.send_cq);
    count(qp.recv_cq);
    count(qp.domain);
    if (qp.domain == nullptr) count(qp.shared);
}

}  // namespace

SharedReceives* served_by(const AdapterState& adapter, const QueuePair& target, std::optional<Srqn> number) {
    SharedReceives* const found = number ? adapter.srqs.find(Srq{std::to_underlying(*number)}) : nullptr;
    return found != nullptr && found->domain == target.domain ? found : nullptr;
}

void leave(QueuePair& target) {
    if (SharedReceives* const left = std::exchange(target.shared, nullptr); left != nullptr) --left->users;
}

Result<Srq> create_srq(AdapterState& adapter, ProtectionDomain* pd, std::uint32_t max_wr, std::uint32_t max_sge) {
    if (pd == nullptr) return std::unexpected(VerbsError::unknown_handle);
    if (max_wr == 0 || max_wr > kMaxQpWr || max_sge > kMaxSge) return std::unexpected(VerbsError::invalid_attribute);
    const auto srq = adapter.srqs.add(kMaxSrqs, [&](Srq handle) {
        return SharedReceives{.handle = handle, .pd = pd, .receives = PostedReceives(max_wr, max_sge, true)};
    });
    if (!srq) return std::unexpected(VerbsError::too_many);
    ++pd->users;
    return *srq;
}

Result<Qpn> create_qp(AdapterState& adapter, const QpInitAttr& init) {
    const auto parts = parts_of(adapter, init);
    if (!parts) return std::unexpected(VerbsError::unknown_handle);
    if (!valid(init.cap)) return std::unexpected(VerbsError::invalid_attribute);
    if (adapter.qps.size() >= kMaxQps) return std::unexpected(VerbsError::too_many);
    const Qpn number = take_number(adapter);
    const Slot slot = take_slot(adapter);
    const std::uint32_t depth = parts->shared != nullptr || is_xrc(init.qp_type) ? 0 : init.cap.max_recv_wr;
    auto made = std::make_unique<QueuePair>(QueuePair{.number = number,
                                                      .slot = slot,
                                                      .init = init,
                                                      .pd = parts->pd,
                                                      .send_cq = parts->send_cq,
                                                      .recv_cq = parts->recv_cq,
                                                      .shared = parts->shared,
                                                      .domain = parts->domain,
                                                      .own = PostedReceives(depth, init.cap.max_recv_sge, false)});
    adapter.slots[std::to_underlying(slot)] = made.get();
    count_user(*made, true);
    adapter.qps.emplace(std::to_underlying(number), std::move(made));
    return number;
}

Result<void> modify_qp(AdapterState& adapter, QueuePair& qp, const QpAttr& attr) {
    const auto to = judge(qp, attr, adapter.settings);
    if (!to) return std::unexpected(to.error());
    const QpState from = qp.state;
    if (*to == QpState::reset) {
        clear(adapter, qp);
        return {};
    }
    if (*to == QpState::err) {
        if (from == QpState::reset) qp.state = QpState::err;  // nothing there to be flushed
        // What was executed before is still acknowledged: the peer waits for it, and its completion was reported
        // already.
        fail(adapter, qp, std::nullopt, LastWords::yes);
        return {};
    }
    take_over(qp, attr, adapter.settings);
    qp.state = *to;
    const bool asks = qp.init.qp_type != QpType::xrc_recv, serves = qp.init.qp_type != QpType::xrc_send;
    if (*to == QpState::rtr && serves) qp.responder.emplace(responder_settings(qp, adapter.settings));
    if (asks && *to == QpState::rts && from != QpState::rts && from != QpState::sqd) begin_sending(adapter, qp);
    if (from == QpState::sqd || from == *to) {
        if (qp.requester) qp.requester->adjust(requester_settings(qp, adapter.settings));
    }
    if (from != QpState::init && qp.responder) adjust_responder(adapter, qp);
    if (*to == QpState::sqd && from != QpState::sqd) qp.drain_reported = false;
    if (qp.requester) qp.requester->drain(*to == QpState::sqd);
    settle(adapter, qp);
    return {};
}

Result<void> destroy_qp(AdapterState& adapter, QueuePair& qp) {
    if (adapter.groups.attached(qp.number)) return std::unexpected(VerbsError::busy);
    clear(adapter, qp);
    count_user(qp, false);
    adapter.slots[std::to_underlying(qp.slot)] = nullptr;
    adapter.free_slots.push_back(qp.slot);
    adapter.qps.erase(std::to_underlying(qp.number));
    return {};
}

QpStatus status_of(const QueuePair& qp) {
    QpStatus status{.state = qp.state, .init = qp.init, .attr = qp.attr, .counts = qp.counts};
    status.attr.qp_state = qp.state;
    status.sends = static_cast<std::uint32_t>(qp.sends.size());
    status.receives = qp.own.in_use();
    if (qp.requester) {
        const RequesterCounts& counts = qp.requester->counts();
        status.counts.retransmitted = counts.retransmitted;
        status.counts.sequence_naks = counts.sequence_naks;
        status.counts.rnr_naks = counts.rnr_naks;
        status.counts.timeouts = counts.timeouts;
        status.counts.ghosts = counts.ghosts;
    }
    if (qp.rate && qp.rate->limited()) status.rate = qp.rate->rate();
    return status;
}

}  // namespace qps::transport::verbs
