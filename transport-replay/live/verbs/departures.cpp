// Packets that go: whose turn it is, and what its queue pair has to say.
//
// Responses and CNPs go before requests, but not for ever (kResponsesInARow), and not before the first after a rest. In
// each lane queue pairs take turns by packets. A queue pair that DCQCN limits stands in no lane while it must wait; its
// time brings it back. One whose priority is held stands in no lane and has no time either, until hold() lets it go.
#include <transport-replay/live/verbs/adapter_state.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::verbs {

using namespace dissect;

namespace {

constexpr std::uint64_t kHeaderBytes = 58;  // Ethernet, IPv4, UDP, BTH, ICRC: what a rate counts besides the payload
constexpr Duration kPatience = microseconds(1);

// Where its next answer and its next request go.
const AddressHandle& answers_to(const QueuePair& qp) { return qp.cnp ? qp.cnp->to : qp.to; }
const AddressHandle& asks(const QueuePair& qp) {
    return qp.connected() || qp.sends.empty() ? qp.to : qp.sends.front().to;
}

bool may_respond(const QueuePair& qp) { return qp.responder && qp.responder->pending() && !qp.mute; }
std::optional<Instant> request_due(const AdapterState& adapter, const QueuePair& qp) {
    return qp.requester && qp.may_send() && may_depart(adapter, asks(qp)) ? qp.requester->poll_at() : std::nullopt;
}

OutgoingPacket depart(AdapterState& adapter, QueuePair& qp, const AddressHandle& to, Instant now) {
    TransportPacket& packet = adapter.departing;
    packet.pkey = qp.attr.pkey.value_or(Pkey{0xffff});  // it may have changed since the machine was told
    const Verb verb = info(packet.opcode).verb;
    const bool bears_data = verb != Verb::acknowledge && verb != Verb::atomic_acknowledge && verb != Verb::notify;
    adapter.departing_to = to;
    ++adapter.counts.departures;
    ++qp.counts.packets_sent;
    qp.counts.bytes_sent += packet.payload.size();
    if (qp.rate && verb != Verb::notify) qp.rate->on_sent(packet.payload.size() + kHeaderBytes, now);
    refresh(adapter, qp);
    return {.packet = adapter.departing,
            .to = adapter.departing_to,
            .from = qp.number,
            .udp_source_port = qp.connected() ? qp.udp_source_port : udp_source_port(to, qp.number, packet.dest_qp),
            .ecn = adapter.settings.ecn_capable && bears_data ? Ecn::capable_0 : Ecn::not_capable};
}

OutgoingPacket depart_cnp(AdapterState& adapter, QueuePair& qp, Instant now) {
    const PendingCnp cnp = *std::exchange(qp.cnp, std::nullopt);
    adapter.departing = {};
    adapter.departing.opcode = Opcode::cnp;
    adapter.departing.dest_qp = cnp.to_qp;
    ++adapter.counts.cnps_sent;
    ++qp.counts.cnps_sent;
    return depart(adapter, qp, cnp.to, now);
}

// Whether the queue pair must wait for its rate; it is then woken in time.
bool waits(AdapterState& adapter, QueuePair& qp, Instant now) {
    if (!qp.rate || !qp.rate->limited()) return false;
    qp.rate->advance(now);
    if (!qp.rate->limited() || qp.rate->next_send() <= now) return false;
    refresh(adapter, qp);
    return true;
}

std::optional<OutgoingPacket> respond(AdapterState& adapter, QueuePair& qp, Instant now) {
    if (qp.cnp) return depart_cnp(adapter, qp, now);
    if (!may_respond(qp) || waits(adapter, qp, now)) return std::nullopt;
    const SharedReceives* served = qp.domain != nullptr ? served_by(adapter, qp, qp.responder->due()) : nullptr;
    const ProtectionDomain* pd = served != nullptr ? served->pd : qp.pd;
    auto packet = qp.responder->poll(pd != nullptr ? pd->memory : adapter.no_memory);
    if (qp.responder->state() == ResponderState::error)
        fail(adapter, qp, AsyncEventType::qp_access_err, LastWords::yes);  // a READ
    if (!packet) return std::nullopt;
    adapter.departing = std::move(*packet);
    return depart(adapter, qp, qp.to, now);
}

// Local invalidates, binds and registrations whose turn has come.
void work_locally(AdapterState& adapter, QueuePair& qp, Instant now) {
    while (const WorkRequest* work = qp.requester->local_due()) {
        CompletionStatus status = CompletionStatus::success;
        if (work->kind == WorkKind::bind_window) {
            if (!work->window || !adapter.registrations.bind(*work->window))
                status = CompletionStatus::window_bind_error;
        } else if (work->kind == WorkKind::register_region) {
            const SendRecord& record = qp.sends[work->id - qp.first_send];
            if (!record.region || !adapter.registrations.register_again(*record.region))
                status = CompletionStatus::local_operation_error;
        } else if (qp.pd->memory.invalidate(work->invalidate, qp.number)) {
            adapter.registrations.invalidated(work->invalidate);
        } else {
            status = CompletionStatus::local_operation_error;
        }
        qp.requester->done_locally(status, now);
    }
}

// It has nothing to send, whatever it says: not to be asked again without end.
void be_patient(AdapterState& adapter, const QueuePair& qp, Instant now) {
    adapter.schedule.remove(qp.slot);
    if ((qp.cnp || may_respond(qp)) && may_depart(adapter, answers_to(qp)))
        adapter.schedule.ready(Lane::responses, qp.slot);
    adapter.schedule.wake_at(qp.slot, now + kPatience);
}

std::optional<OutgoingPacket> request(AdapterState& adapter, QueuePair& qp, Instant now) {
    if (!qp.requester || !qp.may_send() || waits(adapter, qp, now)) return std::nullopt;
    work_locally(adapter, qp, now);
    auto packet = qp.requester->poll(now);
    if (!packet) {
        settle(adapter, qp);
        if (request_due(adapter, qp) == kAtOnce) be_patient(adapter, qp, now);
        return std::nullopt;
    }
    adapter.departing = std::move(*packet);
    const std::uint64_t record = qp.requester->polled() - qp.first_send;
    const AddressHandle to = qp.connected() || record >= qp.sends.size() ? qp.to : qp.sends[record].to;
    settle(adapter, qp);
    return depart(adapter, qp, to, now);
}

std::optional<OutgoingPacket> manage(AdapterState& adapter) {
    if (!adapter.gsi.pending()) return std::nullopt;
    AddressHandle to;
    adapter.departing = adapter.gsi.next(to);
    adapter.departing_to = with_source(to, adapter.settings);
    if (adapter.gsi.pending()) adapter.schedule.ready(Lane::requests, kGsiSlot);
    ++adapter.counts.departures;
    return OutgoingPacket{.packet = adapter.departing,
                          .to = adapter.departing_to,
                          .from = kGsiQpn,
                          .udp_source_port = udp_source_port(adapter.departing_to, kGsiQpn, adapter.departing.dest_qp)};
}

// Whose time has come stands in the lanes again, for what it has by now.
void wake(AdapterState& adapter, Instant now) {
    while (const auto slot = adapter.schedule.due(now)) {
        const QueuePair* qp = adapter.slots[std::to_underlying(*slot)];
        if (qp == nullptr) continue;
        if (may_respond(*qp) && may_depart(adapter, answers_to(*qp))) adapter.schedule.ready(Lane::responses, *slot);
        if (const auto due = request_due(adapter, *qp); due && *due <= now)
            adapter.schedule.ready(Lane::requests, *slot);
        else if (due) adapter.schedule.wake_at(*slot, *due);
    }
}

Lane next_lane(AdapterState& adapter) {
    const bool requests = adapter.schedule.any(Lane::requests);
    const bool responses = adapter.schedule.any(Lane::responses);
    if (responses && (!requests || adapter.responses_in_a_row < kResponsesInARow)) {
        ++adapter.responses_in_a_row;
        return Lane::responses;
    }
    adapter.responses_in_a_row = 0;
    return Lane::requests;
}

}  // namespace

void refresh(AdapterState& adapter, QueuePair& qp) {
    Schedule& schedule = adapter.schedule;
    const bool free = may_depart(adapter, answers_to(qp));
    const bool responses = free && may_respond(qp);
    const auto due = request_due(adapter, qp);
    const bool requests = due == kAtOnce;
    std::optional<Instant> time = requests ? std::nullopt : due;
    if (adapter.held != 0 && !(free && may_depart(adapter, asks(qp))))
        schedule.remove(qp.slot);  // what may go stands there again below
    if (qp.cnp && free) schedule.ready(Lane::responses, qp.slot);
    if (qp.rate &&
        qp.rate->limited()) {  // nothing leaves before the rate allows it; what a timer sends again does not either
        const Instant next = qp.rate->next_send();
        if (responses || requests) time = next;
        else if (time) time = std::max(*time, next);
    } else {
        if (responses) schedule.ready(Lane::responses, qp.slot);
        if (requests) schedule.ready(Lane::requests, qp.slot);
    }
    if (time) schedule.wake_at(qp.slot, *time);
    else schedule.wake_never(qp.slot);
}

void hold(AdapterState& adapter, std::uint8_t priorities) {
    if (adapter.held == priorities) return;
    adapter.held = priorities;
    for (QueuePair* qp : adapter.slots)
        if (qp != nullptr) refresh(adapter, *qp);
    if (!adapter.gsi.pending()) return;
    if (may_depart(adapter, {})) adapter.schedule.ready(Lane::requests, kGsiSlot);
    else adapter.schedule.remove(kGsiSlot);
}

std::optional<OutgoingPacket> poll(AdapterState& adapter, Instant now) {
    wake(adapter, now);
    for (;;) {
        const Lane lane = next_lane(adapter);
        const auto slot = adapter.schedule.take(lane);
        if (!slot) {
            // After a rest a request goes first: who answers a message at once has the answer out before the
            // acknowledgment.
            adapter.responses_in_a_row = kResponsesInARow;
            return std::nullopt;
        }
        if (*slot == kGsiSlot) {
            if (auto out = manage(adapter)) return out;
            continue;
        }
        QueuePair* qp = adapter.slots[std::to_underlying(*slot)];
        if (qp == nullptr) continue;
        if (auto out = lane == Lane::responses ? respond(adapter, *qp, now) : request(adapter, *qp, now)) return out;
    }
}

std::optional<Instant> poll_at(const AdapterState& adapter) {
    if (adapter.schedule.any(Lane::responses) || adapter.schedule.any(Lane::requests)) return kAtOnce;
    return adapter.schedule.next_time();
}

}  // namespace qps::transport::verbs
