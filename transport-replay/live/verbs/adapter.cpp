#include <transport-replay/live/verbs/adapter_state.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::verbs {

using namespace dissect;

namespace {

std::unexpected<VerbsError> refused(VerbsError why) { return std::unexpected(why); }

}  // namespace

Adapter::Adapter(const AdapterSettings& settings) : state_(std::make_unique<AdapterState>(settings)) {
    state_->settings.first_qp = std::clamp(settings.first_qp, Qpn{2}, Qpn{0xfffffe});
    state_->next_qp = state_->settings.first_qp;
}
Adapter::Adapter(Adapter&&) noexcept = default;
Adapter& Adapter::operator=(Adapter&&) noexcept = default;
Adapter::~Adapter() = default;

Result<Pd> Adapter::alloc_pd() {
    const auto pd = state_->pds.add(kMaxPds, [](Pd) { return ProtectionDomain{}; });
    return pd ? Result<Pd>(*pd) : refused(VerbsError::too_many);
}

Result<void> Adapter::dealloc_pd(Pd pd) {
    const ProtectionDomain* found = state_->pds.find(pd);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    if (found->users > 0) return refused(VerbsError::busy);
    state_->pds.erase(pd);
    return {};
}

Result<Mr> Adapter::reg_mr(Pd pd, MutableBytes bytes, Access access, std::optional<std::uint64_t> iova) {
    ProtectionDomain* found = state_->pds.find(pd);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    return state_->registrations.add(*found, bytes, access, iova);
}

Result<Mr> Adapter::alloc_mr(Pd pd, std::uint64_t max_length) {
    ProtectionDomain* found = state_->pds.find(pd);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    return state_->registrations.allocate(*found, max_length);
}

Result<void> Adapter::dereg_mr(Rkey lkey) { return state_->registrations.remove(lkey); }

Result<Window> Adapter::alloc_mw(Pd pd, MwType type) {
    ProtectionDomain* found = state_->pds.find(pd);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    return state_->registrations.add_window(*found, type);
}

Result<Rkey> Adapter::bind_mw(Qpn qp, std::uint64_t wr_id, const MwBind& bind, SendFlags flags) {
    QueuePair* found = state_->find(qp);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    const SendWr wr{.wr_id = wr_id, .opcode = WrOpcode::bind_mw, .send_flags = flags, .bind = bind};
    return post_bind(*state_, *found, wr, MwType::type_1);
}

Result<void> Adapter::dealloc_mw(Mw mw) { return state_->registrations.remove_window(mw); }

Result<Cq> Adapter::create_cq(std::uint32_t depth) {
    if (depth == 0 || depth > kMaxCqe) return refused(VerbsError::invalid_attribute);
    const auto cq = state_->cqs.add(kMaxCqs, [&](Cq handle) { return CompletionQueue(handle, depth); });
    return cq ? Result<Cq>(*cq) : refused(VerbsError::too_many);
}

Result<void> Adapter::resize_cq(Cq cq, std::uint32_t depth) {
    CompletionQueue* found = state_->cqs.find(cq);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    if (depth == 0 || depth > kMaxCqe) return refused(VerbsError::invalid_attribute);
    return found->resize(depth) ? Result<void>{} : refused(VerbsError::busy);
}

Result<void> Adapter::destroy_cq(Cq cq) {
    const CompletionQueue* found = state_->cqs.find(cq);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    if (found->users > 0) return refused(VerbsError::busy);
    std::erase(state_->notifications, cq);
    state_->cqs.erase(cq);
    return {};
}

std::size_t Adapter::poll_cq(Cq cq, std::span<Wc> into) {
    CompletionQueue* found = state_->cqs.find(cq);
    return found == nullptr ? 0 : found->poll(into);
}

Result<void> Adapter::req_notify_cq(Cq cq, bool solicited_only) {
    CompletionQueue* found = state_->cqs.find(cq);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    found->notify(solicited_only ? CompletionQueue::Notify::solicited : CompletionQueue::Notify::next);
    return {};
}

std::vector<Cq> Adapter::take_notifications() {
    for (const Cq cq : state_->notifications)
        if (CompletionQueue* found = state_->cqs.find(cq); found != nullptr) found->listed = false;
    return std::exchange(state_->notifications, {});
}

Result<Srq> Adapter::create_srq(Pd pd, std::uint32_t max_wr, std::uint32_t max_sge) {
    return verbs::create_srq(*state_, state_->pds.find(pd), max_wr, max_sge);
}

Result<Xrcd> Adapter::open_xrcd() {
    const auto xrcd = state_->xrcds.add(kMaxXrcds, [](Xrcd) { return ExtendedDomain{}; });
    return xrcd ? Result<Xrcd>(*xrcd) : refused(VerbsError::too_many);
}

Result<void> Adapter::close_xrcd(Xrcd xrcd) {
    const ExtendedDomain* found = state_->xrcds.find(xrcd);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    if (found->users > 0) return refused(VerbsError::busy);
    state_->xrcds.erase(xrcd);
    return {};
}

Result<XrcSrq> Adapter::create_xrc_srq(Pd pd, Xrcd xrcd, Cq cq, std::uint32_t max_wr, std::uint32_t max_sge) {
    ExtendedDomain* domain = state_->xrcds.find(xrcd);
    CompletionQueue* queue = state_->cqs.find(cq);
    if (domain == nullptr || queue == nullptr) return refused(VerbsError::unknown_handle);
    const auto made = verbs::create_srq(*state_, state_->pds.find(pd), max_wr, max_sge);
    if (!made) return refused(made.error());
    const Srqn number{std::to_underlying(*made)};
    if (std::to_underlying(number) > Psn::kMask) {  // handles are not used again, and 24 bits are told
        static_cast<void>(destroy_srq(*made));
        return refused(VerbsError::too_many);
    }
    SharedReceives& srq = *state_->srqs.find(*made);
    srq.domain = domain;
    srq.cq = queue;
    ++domain->users;
    ++queue->users;
    return XrcSrq{.handle = *made, .number = number};
}

Result<void> Adapter::modify_srq(Srq srq, std::uint32_t limit) {
    SharedReceives* found = state_->srqs.find(srq);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    if (limit > found->receives.queue().depth()) return refused(VerbsError::invalid_attribute);
    found->limit = limit;
    return {};
}

Result<void> Adapter::destroy_srq(Srq srq) {
    SharedReceives* found = state_->srqs.find(srq);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    if (found->users > 0) return refused(VerbsError::busy);
    while (const auto receive = found->receives.queue().take())
        static_cast<void>(found->receives.complete(receive->id, state_->registrations));
    --found->pd->users;
    if (found->domain != nullptr) --found->domain->users;
    if (found->cq != nullptr) --found->cq->users;
    state_->srqs.erase(srq);
    return {};
}

Result<void> Adapter::post_srq_recv(Srq srq, const RecvWr& wr) {
    SharedReceives* found = state_->srqs.find(srq);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    return found->receives.post(wr, *found->pd, state_->registrations);
}

Result<Qpn> Adapter::create_qp(const QpInitAttr& init) { return verbs::create_qp(*state_, init); }

Result<void> Adapter::modify_qp(Qpn qp, const QpAttr& attr) {
    QueuePair* found = state_->find(qp);
    return found == nullptr ? refused(VerbsError::unknown_handle) : verbs::modify_qp(*state_, *found, attr);
}

Result<QpStatus> Adapter::query_qp(Qpn qp) const {
    const QueuePair* found = state_->find(qp);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    return status_of(*found);
}

Result<void> Adapter::destroy_qp(Qpn qp) {
    QueuePair* found = state_->find(qp);
    return found == nullptr ? refused(VerbsError::unknown_handle) : verbs::destroy_qp(*state_, *found);
}

Result<void> Adapter::post_send(Qpn qp, const SendWr& wr) {
    QueuePair* found = state_->find(qp);
    return found == nullptr ? refused(VerbsError::unknown_handle) : verbs::post_send(*state_, *found, wr);
}

Result<void> Adapter::post_recv(Qpn qp, const RecvWr& wr) {
    QueuePair* found = state_->find(qp);
    return found == nullptr ? refused(VerbsError::unknown_handle) : verbs::post_recv(*state_, *found, wr);
}

Result<void> Adapter::attach_mcast(Qpn qp, const Address& group) {
    const QueuePair* found = state_->find(qp);
    if (found == nullptr) return refused(VerbsError::unknown_handle);
    if (found->connected()) return refused(VerbsError::unsupported);
    return state_->groups.attach(qp, group);
}

Result<void> Adapter::detach_mcast(Qpn qp, const Address& group) { return state_->groups.detach(qp, group); }
std::vector<Address> Adapter::groups() const { return state_->groups.groups(); }
std::vector<AsyncEvent> Adapter::take_async_events() { return std::exchange(state_->events, {}); }

Result<void> Adapter::send_datagram(const live::ManagementDatagram& datagram) {
    const auto sent = state_->gsi.send(datagram);
    if (sent && may_depart(*state_, {})) state_->schedule.ready(Lane::requests, kGsiSlot);
    return sent;
}

std::vector<live::ManagementDatagram> Adapter::take_datagrams() { return state_->gsi.take(); }

void Adapter::process(const IncomingPacket& arrival, Instant now) { verbs::process(*state_, arrival, now); }
std::optional<OutgoingPacket> Adapter::poll(Instant now) { return verbs::poll(*state_, now); }
void Adapter::hold(std::uint8_t priorities) { verbs::hold(*state_, priorities); }
std::optional<Instant> Adapter::poll_at() const { return verbs::poll_at(*state_); }
const AdapterCounts& Adapter::counts() const { return state_->counts; }
const AdapterSettings& Adapter::settings() const { return state_->settings; }

Route route_of(const OutgoingPacket& departure) {
    const AddressHandle& to = departure.to;
    Route route;
    route.network = network_of(to.destination);
    route.source = to.source;
    route.destination = to.destination;
    route.udp_source_port = departure.udp_source_port;
    route.hops = to.hop_limit;
    route.ecn = departure.ecn;
    route.dscp = to.dscp & 0x3fU;
    route.flow_label = to.flow_label & kFlowLabelMask;
    return route;
}

}  // namespace qps::transport::verbs
