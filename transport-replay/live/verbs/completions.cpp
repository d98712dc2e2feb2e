// What becomes of work: completions, events, and a queue pair that fails.
#include <transport-replay/live/verbs/adapter_state.hpp>

#include <utility>

namespace qps::transport::verbs {

namespace {

// A send queue's completion; nothing is said of one that succeeded unsignaled.
void complete_send(AdapterState& adapter, QueuePair& qp, const Completion& done) {
    SendRecord& record = qp.sends.front();
    adapter.registrations.release(record.pins);
    const WcStatus status = status_of(done.status);
    const Wc wc{
        .wr_id = record.wr_id, .status = status, .opcode = record.opcode, .byte_len = done.bytes, .qp_num = qp.number};
    const bool visible = status != WcStatus::success || record.signaled || qp.init.sq_sig_all;
    qp.sends.pop_front();
    ++qp.first_send;
    if (visible) complete(adapter, qp, *qp.send_cq, wc);
}

void collect(AdapterState& adapter, QueuePair& qp) {
    while (const auto done = qp.requester->take_completion()) complete_send(adapter, qp, *done);
}

void flush_receives(AdapterState& adapter, QueuePair& qp) {
    const auto flush = [&](const PostedReceive& receive) {
        complete_receive(adapter, qp, receive.id, {.status = WcStatus::wr_flush_err});
    };
    if (qp.responder)
        if (const auto taken = qp.responder->release_receive()) flush(*taken);
    while (const auto receive = qp.own.queue().take()) flush(*receive);
    if (qp.domain != nullptr) leave(qp);
    else if (qp.shared != nullptr) raise(adapter, {.type = AsyncEventType::qp_last_wqe_reached, .qp = qp.number});
}

}  // namespace

void raise(AdapterState& adapter, const AsyncEvent& event) {
    if (adapter.events.size() < kMaxAsyncEvents) adapter.events.push_back(event);
    else ++adapter.counts.events_lost;
}

void complete(AdapterState& adapter, QueuePair& qp, CompletionQueue& queue, const Wc& wc, bool solicited) {
    const bool before = queue.overrun();
    if (!queue.push(wc, solicited)) {
        if (!before) raise(adapter, {.type = AsyncEventType::cq_err, .cq = queue.handle()});
        qp.overrun = true;
        return;
    }
    if (queue.take_notification() && !std::exchange(queue.listed, true))
        adapter.notifications.push_back(queue.handle());
}

void complete_receive(AdapterState& adapter, QueuePair& qp, std::uint64_t id, Wc wc, bool solicited) {
    wc.wr_id = qp.receives().complete(id, adapter.registrations);
    wc.qp_num = qp.number;
    if (wc.opcode != WcOpcode::recv_rdma_with_imm) wc.opcode = WcOpcode::recv;
    complete(adapter, qp, qp.domain != nullptr ? *qp.shared->cq : *qp.recv_cq, wc, solicited);
}

void fail(AdapterState& adapter, QueuePair& qp, std::optional<AsyncEventType> event, LastWords words) {
    if (qp.state == QpState::err || qp.state == QpState::reset) return;
    qp.state = step(kQpMachine, qp.state, QpEvent::fatal).value_or(QpState::err);
    qp.mute = words == LastWords::no;
    qp.cnp.reset();
    if (qp.requester) {
        qp.requester->flush_all();
        collect(adapter, qp);
    }
    flush_receives(adapter, qp);
    if (qp.responder) qp.responder->move_to_error();
    if (event) raise(adapter, {.type = *event, .qp = qp.number});
    refresh(adapter, qp);
}

void settle(AdapterState& adapter, QueuePair& qp) {
    if (qp.requester) {
        collect(adapter, qp);
        const bool failed = qp.requester->state() == RequesterState::error && qp.may_send();
        if (failed && qp.acknowledged()) fail(adapter, qp, std::nullopt, LastWords::no);
        else if (failed) qp.state = step(kQpMachine, qp.state, QpEvent::work_failed).value_or(qp.state);
        if (qp.state == QpState::sqd && !qp.drain_reported && qp.requester->drained()) {
            qp.drain_reported = true;
            if (qp.attr.en_sqd_async_notify.value_or(false))
                raise(adapter, {.type = AsyncEventType::sq_drained, .qp = qp.number});
        }
    }
    if (qp.overrun) fail(adapter, qp, AsyncEventType::qp_fatal, LastWords::no);
    refresh(adapter, qp);
}

}  // namespace qps::transport::verbs
