// Packets that come: whose they are, whether they may be, and what their queue pair makes of them.
//
// The checks of 9.6.1 in their order, each with a name of its own; only what passes all of them reaches a machine.
// Every member of an Arrival is the sender's word.
#include <transport-replay/live/verbs/adapter_state.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::verbs {

using namespace dissect;

namespace {

constexpr std::uint16_t kFullMember = 0x8000;

bool match(Pkey ours, Pkey theirs) {  // 10.9.3
    const auto a = std::to_underlying(ours), b = std::to_underlying(theirs);
    constexpr std::uint16_t kKey = kFullMember - 1;
    return (a & kKey) == (b & kKey) && (a & kKey) != 0 && ((a | b) & kFullMember) != 0;
}

void refuse(AdapterState& adapter, Refusal why) { ++adapter.counts.refused[std::to_underlying(why)]; }

bool is_cnp(const TransportPacket& packet) { return info(packet.opcode).verb == Verb::notify; }

// What does not depend on a queue pair.
std::optional<Refusal> check_packet(const AdapterState& adapter, const IncomingPacket& arrival) {
    const TransportPacket& packet = arrival.packet;
    if (arrival.transport_version != 0) return Refusal::transport_version;
    if (!info(packet.opcode).defined) return Refusal::undefined_opcode;
    if (packet.dest_qp == kSmiQpn) return Refusal::management_qp;
    if (packet.dest_qp == kMulticastQpn) {
        const bool right = service_of(packet.opcode) == Service::ud && is_multicast(arrival.destination);
        return right ? std::nullopt : std::optional(Refusal::multicast_service);
    }
    const auto& own = adapter.settings.addresses;
    const bool ours = own.empty() || std::ranges::find(own, arrival.destination) != own.end();
    return ours ? std::nullopt : std::optional(Refusal::destination);
}

// What does; the same for a packet of its own and a copy of a group's.
std::optional<Refusal> check_queue_pair(const QueuePair& qp, const IncomingPacket& arrival) {
    const TransportPacket& packet = arrival.packet;
    const OpcodeRow& row = info(packet.opcode);
    const bool cnp = is_cnp(packet);
    const bool response = !row.request && !cnp;
    if (response ? !qp.may_send() : !qp.may_receive()) return Refusal::qp_state;
    if (!cnp && row.service != qp.service()) return Refusal::service;
    if (row.service == Service::xrc && row.request != (qp.init.qp_type == QpType::xrc_recv))
        return Refusal::service;  // the other half
    if (!match(qp.attr.pkey.value_or(Pkey{}), packet.pkey)) return Refusal::pkey;
    if (qp.connected()) {
        const bool from_peer = arrival.source == qp.to.destination;
        const bool to_us = qp.to.source.space == AddressSpace::none || arrival.destination == qp.to.source;
        return from_peer && to_us ? std::nullopt : std::optional(Refusal::source);
    }
    if (cnp) return std::nullopt;
    if (!packet.datagram || packet.datagram->key != qp.attr.qkey.value_or(Qkey{})) return Refusal::qkey;
    return std::nullopt;
}

// Why the responder of an unreliable service said nothing, for the count.
Refusal reason(QueuePair& qp, const TransportPacket& packet) {
    if (qp.connected()) return Refusal::unusable;
    const PostedReceive* next = qp.receives().queue().next();
    if (next == nullptr) return Refusal::no_receive;
    return transport::length_of(next->segments) < packet.payload.size() + kNetworkHeaderBytes ? Refusal::datagram_length
                                                                                              : Refusal::unusable;
}

struct Failure {
    ResponderVerdict verdict;
    WcStatus of_receive;   // of the receive that the message had taken
    AsyncEventType event;  // where it had taken none
};
constexpr std::array kFailures{
    Failure{ResponderVerdict::invalid_request, WcStatus::loc_len_err, AsyncEventType::qp_req_err},
    Failure{ResponderVerdict::remote_access_error, WcStatus::loc_access_err, AsyncEventType::qp_access_err},
    Failure{ResponderVerdict::remote_operational_error, WcStatus::loc_prot_err, AsyncEventType::qp_fatal},
    Failure{ResponderVerdict::invalidate_failed, WcStatus::loc_qp_op_err, AsyncEventType::qp_access_err},
};

void deliver_message(AdapterState& adapter, QueuePair& qp, const ReceivedMessage& message,
                     const IncomingPacket& arrival) {
    Wc wc{.opcode = message.verb == Verb::send ? WcOpcode::recv : WcOpcode::recv_rdma_with_imm,
          .byte_len = message.length};
    wc.flags = {.grh = message.has_network_header,
                .with_imm = message.immediate.has_value(),
                .with_inv = message.invalidated.has_value()};
    wc.imm_data = message.immediate.value_or(0);
    wc.invalidated_rkey = message.invalidated.value_or(Rkey{});
    if (message.source_qp) {
        wc.src_qp = *message.source_qp;
        wc.source = arrival.source;
    }
    if (message.invalidated) adapter.registrations.invalidated(*message.invalidated);
    complete_receive(adapter, qp, message.id, wc, message.solicited);
}

void watch_limit(AdapterState& adapter, QueuePair& qp) {
    if (qp.shared == nullptr || qp.shared->limit == 0 || qp.shared->receives.queue().size() >= qp.shared->limit) return;
    qp.shared->limit = 0;
    raise(adapter, {.type = AsyncEventType::srq_limit_reached, .srq = qp.shared->handle});
}

// An XRC target turns to the shared receive queue that the request names; in a message it stays where it is. False: it
// names none.
bool turn_to(const AdapterState& adapter, QueuePair& target, const TransportPacket& packet) {
    SharedReceives* const named = served_by(adapter, target, packet.srq);
    if (target.responder->may_turn()) {
        leave(target);
        target.shared = named;
        if (named != nullptr) ++named->users;
    }
    return named != nullptr;
}

ResponderActions execute(AdapterState& adapter, QueuePair& qp, const TransportPacket& packet) {
    if (qp.domain == nullptr) return qp.responder->process(packet, qp.pd->memory, qp.receives().queue());
    const bool named = turn_to(adapter, qp, packet);
    if (qp.shared == nullptr) return qp.responder->process(packet, adapter.no_memory, adapter.no_receives, named);
    return qp.responder->process(packet, qp.shared->pd->memory, qp.shared->receives.queue(), named);
}

// False: an unreliable service had no use for it.
bool process_request(AdapterState& adapter, QueuePair& qp, const IncomingPacket& arrival) {
    if (qp.state == QpState::rtr && qp.connected() && !std::exchange(qp.communicated, true))
        raise(adapter, {.type = AsyncEventType::comm_est, .qp = qp.number});
    const ResponderActions actions = execute(adapter, qp, arrival.packet);
    const OpcodeRow& asked = info(arrival.packet.opcode);
    if (actions.verdict == ResponderVerdict::accept && ends_message(asked.place))
        ++qp.counts.served[std::to_underlying(asked.verb)];
    if (actions.received) deliver_message(adapter, qp, *actions.received, arrival);
    const bool useless = actions.verdict == ResponderVerdict::dropped && !qp.acknowledged();
    if (useless) refuse(adapter, reason(qp, arrival.packet));
    const auto failure = std::ranges::find(kFailures, actions.verdict, &Failure::verdict);
    const bool fatal = failure != kFailures.end();
    if (actions.consumed_with_error) {
        const WcStatus status = fatal ? failure->of_receive : WcStatus::loc_prot_err;
        complete_receive(adapter, qp, *actions.consumed_with_error, {.status = status});
    }
    watch_limit(adapter, qp);
    if (fatal)
        fail(adapter, qp, actions.consumed_with_error ? std::nullopt : std::optional(failure->event), LastWords::yes);
    else settle(adapter, qp);
    if (qp.domain != nullptr && qp.responder->may_turn()) leave(qp);
    return !useless;
}

void on_cnp(AdapterState& adapter, QueuePair& qp, Instant now) {
    ++adapter.counts.cnps_received;
    ++qp.counts.cnps_received;
    if (qp.rate) qp.rate->on_cnp(now);
}

// Data that arrived marked is answered by a CNP (A17.9.3); ACKs bear no data, and nobody could slow down their sender.
void on_mark(AdapterState& adapter, QueuePair& qp, const IncomingPacket& arrival, Instant now) {
    const TransportPacket& packet = arrival.packet;
    const Verb verb = info(packet.opcode).verb;
    if (verb == Verb::acknowledge || verb == Verb::atomic_acknowledge || !qp.cnps.allow(now)) return;
    if (qp.connected()) qp.cnp = PendingCnp{.to_qp = qp.attr.dest_qp_num.value_or(Qpn{}), .to = qp.to};
    else if (packet.datagram) {
        AddressHandle back = handle_to(arrival.source);
        back.source = arrival.destination;
        qp.cnp = PendingCnp{.to_qp = packet.datagram->source_qp, .to = back};
    }
    refresh(adapter, qp);
}

// False: refused, and counted.
bool deliver(AdapterState& adapter, QueuePair& qp, const IncomingPacket& arrival, Instant now) {
    const TransportPacket& packet = arrival.packet;
    if (const auto why = check_queue_pair(qp, arrival)) {
        refuse(adapter, *why);
        return false;
    }
    ++qp.counts.packets_received;
    qp.counts.bytes_received += packet.payload.size();
    if (is_cnp(packet)) {
        on_cnp(adapter, qp, now);
        return true;
    }
    if (arrival.ecn == Ecn::congestion_experienced && packet.dest_qp != kMulticastQpn)
        on_mark(adapter, qp, arrival, now);
    if (info(packet.opcode).request) return process_request(adapter, qp, arrival);
    const std::uint64_t losses = qp.requester->counts().sequence_naks;
    qp.requester->process(packet, now);
    if (qp.rate && qp.requester->counts().sequence_naks != losses) qp.rate->on_loss(now);
    const auto round_trip = qp.requester->take_round_trip();
    if (qp.rate && round_trip) qp.rate->on_round_trip(*round_trip, now);
    settle(adapter, qp);
    return true;
}

void deliver_to_group(AdapterState& adapter, const IncomingPacket& arrival, Instant now) {
    const auto members = adapter.groups.members(arrival.destination);
    if (members.empty()) return refuse(adapter, Refusal::multicast_group);
    adapter.counts.copies += members.size() - 1;
    for (const Qpn member : members)  // each exists: what is attached is not destroyed
        if (QueuePair* qp = adapter.find(member); qp != nullptr && deliver(adapter, *qp, arrival, now))
            ++adapter.counts.accepted;
}

}  // namespace

void process(AdapterState& adapter, const IncomingPacket& arrival, Instant now) {
    ++adapter.counts.arrivals;
    if (arrival.ecn == Ecn::congestion_experienced) ++adapter.counts.marked;
    const TransportPacket& packet = arrival.packet;
    if (const auto why = check_packet(adapter, arrival)) return refuse(adapter, *why);
    if (packet.dest_qp == kMulticastQpn) return deliver_to_group(adapter, arrival, now);
    if (packet.dest_qp == kGsiQpn) {
        const bool known =
            std::ranges::any_of(adapter.settings.pkeys, [&](Pkey own) { return match(own, packet.pkey); });  // C9-42
        const auto why = known ? adapter.gsi.accept(arrival) : std::optional(Refusal::pkey);
        if (why) refuse(adapter, *why);
        else ++adapter.counts.accepted;
        return;
    }
    QueuePair* qp = adapter.find(packet.dest_qp);
    if (qp == nullptr) return refuse(adapter, Refusal::unknown_qp);
    if (deliver(adapter, *qp, arrival, now)) ++adapter.counts.accepted;
}

}  // namespace qps::transport::verbs
