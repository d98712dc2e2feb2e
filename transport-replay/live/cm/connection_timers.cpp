// What time does to a connection manager: sends what is due, repeats what nobody answered, gives up, forgets.
#include <transport-replay/live/cm/communication_state.hpp>

namespace qps::transport::live {

using namespace dissect;

std::optional<ManagementDatagram> ConnectionManager::poll(Instant now) {
    State& state = *state_;
    for (;;) {
        if (!state.outgoing.empty()) {
            const ManagementDatagram datagram = state.outgoing.front();
            state.outgoing.pop_front();
            return datagram;
        }
        const auto timer = state.table.next_timer();
        if (!timer || timer->time > now) return {};
        CmConnection* connection = state.table.find(timer->id);
        if (connection == nullptr) return {};  // timers end with their records
        if (timer->alternate) state.on_alternate_timer(*connection, now);
        else state.on_timer(*connection, now);
    }
}

std::optional<Instant> ConnectionManager::poll_at() const {
    if (!state_->outgoing.empty()) return kCmAtOnce;
    const auto timer = state_->table.next_timer();
    return timer ? std::optional(timer->time) : std::nullopt;
}

void ConnectionManager::State::on_timer(CmConnection& connection, Instant now) {
    table.arm(connection, {});
    if (connection.unsent) {
        connection.unsent = false;
        send(connection.sent);
        return table.arm(connection, now + connection.interval);
    }
    if (advance(connection, CmEndEvent::elapsed)) {
        if (connection.in_use) {
            ConnectionEvent event = event_of(connection, ConnectionEventKind::released);
            event.last = true;
            emit(connection, event);
        }
        return close(connection);
    }
    if (connection.retries_left > 0 && advance(connection, CmEndEvent::retry)) {
        --connection.retries_left;
        ++counts.retries;
        send(connection.sent);
        return table.arm(connection, now + connection.interval);
    }
    give_up(connection, now);
}

void ConnectionManager::State::give_up(CmConnection& connection, Instant now) {
    const CmEndState before = connection.state;
    if (!advance(connection, CmEndEvent::gave_up)) return;
    ++counts.timeouts;
    if (before == CmEndState::dreq_sent) {
        part(connection, Parting::unanswered, {});
        return enter_timewait(connection, now);
    }
    ConnectionEvent event = event_of(connection, ConnectionEventKind::unreachable);
    event.last = connection.state != CmEndState::timewait;
    emit(connection, event);
    const bool undecided_req = before == CmEndState::req_rcvd || before == CmEndState::mra_req_sent;
    const bool undecided_rep = before == CmEndState::rep_rcvd || before == CmEndState::mra_rep_sent;
    const CmAbout about = undecided_req ? CmAbout::req : undecided_rep ? CmAbout::rep : CmAbout::other;
    // A consumer that does not decide on a REQ has said no: Linux finds no attempt of its own for a REJ "timeout" of a
    // REQ, since it looks for an id of ours that it never heard of.
    const Rejection rejection = undecided_req ? Rejection{} : timeout_rejection();
    if (!connection.datagram) refuse_peer(connection, rejection, about, now);
    if (connection.state == CmEndState::closed) close(connection);
}

void ConnectionManager::State::on_alternate_timer(CmConnection& connection, Instant now) {
    table.arm_alternate(connection, {});
    const bool first = connection.alternate_unsent;
    if (!first && connection.alternate_retries_left == 0) {
        if (!advance(connection, AlternateEvent::gave_up)) return;
        ++counts.timeouts;
        ConnectionEvent event = event_of(connection, ConnectionEventKind::alternate_response);
        event.alternate = connection.proposed;
        return emit(connection, event);
    }
    connection.alternate_unsent = false;
    if (!first) {
        if (!advance(connection, AlternateEvent::retry)) return;
        --connection.alternate_retries_left;
        ++counts.retries;
    }
    send(connection.alternate_sent);
    table.arm_alternate(connection, now + connection.interval);
}

}  // namespace qps::transport::live
