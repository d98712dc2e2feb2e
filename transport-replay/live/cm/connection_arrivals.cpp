// What a peer says to a connection manager: head and ids are checked here, messages about requests elsewhere.
#include <transport-replay/live/cm/communication_state.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr Field head(std::string_view name) { return *std::ranges::find(kMadFields, name, &Field::name); }
constexpr Field kBaseVersion = head("infiniband.mad.baseversion");
constexpr Field kClass = head("infiniband.mad.mgmtclass");
constexpr Field kClassVersion = head("infiniband.mad.classversion");
constexpr Field kMethod = head("infiniband.mad.method");
constexpr Field kStatus = head("infiniband.mad.status");
constexpr Field kTransaction = head("infiniband.mad.transactionid");
constexpr Field kAttribute = head("infiniband.mad.attributeid");
constexpr std::uint64_t kSendMethod = 0x03;
constexpr std::uint64_t kFirstCmAttribute = 0x10;

// 12.6.6: more than a message's repetitions could have asked for.
bool one_more_delay(CmConnection& connection) { return connection.delays++ <= connection.max_retries; }

Bytes body_of(const ManagementDatagram& datagram) { return Bytes(datagram.bytes).subspan(kMadHeaderLength); }

bool in_partition(Pkey ours, Pkey theirs) {  // 10.9.3
    const std::uint16_t a = std::to_underlying(ours);
    const std::uint16_t b = std::to_underlying(theirs);
    return ((a ^ b) & ~kFullMembership) == 0 && (a & ~kFullMembership) != 0 && ((a | b) & kFullMembership) != 0;
}

// What is wrong with the head of a datagram, the version of the class apart.
std::optional<CmRefusal> refusal_of(const ManagementDatagram& datagram, const ManagerSettings& settings) {
    const Bytes bytes = datagram.bytes;
    if (datagram.remote_qp != kGsiQpn) return CmRefusal::source_qp;
    if (std::ranges::none_of(settings.pkeys, [&](Pkey ours) { return in_partition(ours, datagram.pkey); }))
        return CmRefusal::pkey;
    if (read(bytes, kBaseVersion) != kMadBaseVersion) return CmRefusal::base_version;
    if (read(bytes, kClass) != std::to_underlying(ManagementClass::communication)) return CmRefusal::management_class;
    if (read(bytes, kMethod) != kSendMethod || read(bytes, kStatus) != 0) return CmRefusal::method;
    const std::uint64_t attribute = read(bytes, kAttribute);
    if (attribute < kFirstCmAttribute || attribute >= kFirstCmAttribute + kCmMessages) return CmRefusal::attribute;
    return {};
}

}  // namespace

void ConnectionManager::process(const ManagementDatagram& datagram, Instant now) {
    State& state = *state_;
    if (const auto refusal = refusal_of(datagram, state.settings)) return state.refuse(*refusal);
    const std::uint64_t transaction = read(Bytes(datagram.bytes), kTransaction);
    const auto message = static_cast<CmMessage>(read(Bytes(datagram.bytes), kAttribute) - kFirstCmAttribute);
    if (read(Bytes(datagram.bytes), kClassVersion) != kCmClassVersion) {
        state.refuse(CmRefusal::class_version);
        if (message != CmMessage::req) return;
        const auto req = read_message<CmReq>(body_of(datagram), datagram.remote.space);
        const std::array known{std::byte{kCmClassVersion}};
        return state.answer(datagram,
                            CmRej{.remote_id = req.local_id,
                                  .reason = RejectReason::class_version,
                                  .information = RejectInformation(known),
                                  .private_data = {}},
                            transaction);
    }
    ++state.counts.received[static_cast<std::size_t>(message)];
    switch (message) {
        case CmMessage::req: return state.on_req(datagram, transaction, now);
        case CmMessage::mra: return state.on_mra(datagram, now);
        case CmMessage::rej: return state.on_rej(datagram, now);
        case CmMessage::rep: return state.on_rep(datagram, transaction, now);
        case CmMessage::rtu: return state.on_rtu(datagram);
        case CmMessage::dreq: return state.on_dreq(datagram, transaction, now);
        case CmMessage::drep: return state.on_drep(datagram, now);
        case CmMessage::sidr_req: return state.on_sidr_req(datagram, transaction, now);
        case CmMessage::sidr_rep: return state.on_sidr_rep(datagram);
        case CmMessage::lap: return state.on_lap(datagram, transaction);
        case CmMessage::apr: return state.on_apr(datagram, transaction);
    }
}

CmConnection* ConnectionManager::State::match(const ManagementDatagram& datagram, std::uint32_t ours,
                                              std::uint32_t theirs) {
    CmConnection* connection = table.find(CmId{ours});
    if (connection == nullptr || connection->datagram) {
        refuse(CmRefusal::unknown_id);
        return nullptr;
    }
    const bool other = connection->remote_id && *connection->remote_id != theirs;
    if (connection->remote != datagram.remote || other) {
        refuse(CmRefusal::wrong_peer);
        return nullptr;
    }
    return connection;
}

void ConnectionManager::State::on_mra(const ManagementDatagram& datagram, Instant now) {
    const auto mra = read_message<CmMra>(body_of(datagram), datagram.remote.space);
    if (mra.about > CmAbout::other) return refuse(CmRefusal::malformed);
    CmConnection* connection = match(datagram, mra.remote_id, mra.local_id);
    if (connection == nullptr) return;
    const bool loading = mra.about == CmAbout::other;
    const bool fits = loading
                          ? step(kAlternateMachine, connection->alternate_state, AlternateEvent::mra_of_lap).has_value()
                          : step(kCmEndMachine, connection->state,
                                 mra.about == CmAbout::req ? CmEndEvent::mra_of_req : CmEndEvent::mra_of_rep)
                                .has_value();
    if (!fits) return refuse(CmRefusal::wrong_state);
    if (!one_more_delay(*connection)) return refuse(CmRefusal::mra);
    const Instant until = now + duration_of(bounded(mra.service_timeout)) + connection->interval;
    if (loading) {
        (void)advance(*connection, AlternateEvent::mra_of_lap);
        table.arm_alternate(*connection, until);
    } else {
        (void)advance(*connection, mra.about == CmAbout::req ? CmEndEvent::mra_of_req : CmEndEvent::mra_of_rep);
        table.arm(*connection, until);
    }
    ConnectionEvent event = event_of(*connection, ConnectionEventKind::delayed);
    event.private_data = mra.private_data;
    emit(*connection, event);
}

void ConnectionManager::State::on_rej(const ManagementDatagram& datagram, Instant now) {
    const auto rej = read_message<CmRej>(body_of(datagram), datagram.remote.space);
    CmConnection* connection = nullptr;
    if (rej.remote_id == 0) {  // the active side gives up and never learnt our id
        connection = table.find_request(datagram.remote, rej.local_id, false);
        if (connection == nullptr) return refuse(CmRefusal::unknown_id);
    } else {
        connection = match(datagram, rej.remote_id, rej.local_id);
        if (connection == nullptr) return;
    }
    const CmEndState before = connection->state;
    if (!advance(*connection, CmEndEvent::rej)) return refuse(CmRefusal::wrong_state);
    const bool over = connection->state == CmEndState::closed;
    if (before == CmEndState::established || before == CmEndState::dreq_sent) {
        part(*connection, Parting::rejected, rej.private_data.bytes());
    } else {
        ConnectionEvent event = event_of(*connection, ConnectionEventKind::rejected);
        event.rejection = {
            .reason = rej.reason, .information = rej.information, .private_data = rej.private_data, .by_peer = true};
        event.private_data = rej.private_data;
        event.last = over;
        emit(*connection, event);
    }
    if (over) return close(*connection);
    enter_timewait(*connection, now);
}

void ConnectionManager::State::on_rtu(const ManagementDatagram& datagram) {
    const auto rtu = read_message<CmRtu>(body_of(datagram), datagram.remote.space);
    CmConnection* connection = match(datagram, rtu.remote_id, rtu.local_id);
    if (connection == nullptr) return;
    const bool waited = waits_for_rtu(connection->state);
    if (connection->active || !advance(*connection, CmEndEvent::rtu)) return refuse(CmRefusal::wrong_state);
    if (!waited) return refuse(CmRefusal::repetition);
    table.arm(*connection, {});
    connection->unsent = false;
    ConnectionEvent event = event_of(*connection, ConnectionEventKind::established);
    event.private_data = rtu.private_data;
    emit(*connection, event);
}

void ConnectionManager::State::on_dreq(const ManagementDatagram& datagram, std::uint64_t transaction, Instant now) {
    const auto dreq = read_message<CmDreq>(body_of(datagram), datagram.remote.space);
    const CmDrep drep{.local_id = dreq.remote_id, .remote_id = dreq.local_id, .private_data = {}};
    CmConnection* connection = match(datagram, dreq.remote_id, dreq.local_id);
    if (connection == nullptr) {
        // Who asks for the release of what is not there is told that it is released, and stops asking. An id of
        // somebody else's is not theirs to hear about.
        if (table.find(CmId{dreq.remote_id}) == nullptr) answer(datagram, drep, transaction);
        return;
    }
    if (dreq.remote_qpn != connection->local_qpn) return refuse(CmRefusal::wrong_qpn);
    const bool again = connection->state == CmEndState::timewait;
    if (!advance(*connection, CmEndEvent::dreq)) return refuse(CmRefusal::wrong_state);
    send(*connection, drep, transaction);
    if (again) return refuse(CmRefusal::repetition);
    part(*connection, Parting::by_peer, dreq.private_data.bytes());
    enter_timewait(*connection, now);
}

void ConnectionManager::State::on_drep(const ManagementDatagram& datagram, Instant now) {
    const auto drep = read_message<CmDrep>(body_of(datagram), datagram.remote.space);
    CmConnection* connection = match(datagram, drep.remote_id, drep.local_id);
    if (connection == nullptr) return;
    const bool waited = connection->state == CmEndState::dreq_sent;
    if (!advance(*connection, CmEndEvent::drep)) return refuse(CmRefusal::wrong_state);
    if (!waited) return refuse(CmRefusal::repetition);
    part(*connection, connection->parting, drep.private_data.bytes());
    enter_timewait(*connection, now);
}

void ConnectionManager::State::on_lap(const ManagementDatagram& datagram, std::uint64_t transaction) {
    const auto lap = read_message<CmLap>(body_of(datagram), datagram.remote.space);
    const auto refused = [&](AlternateStatus status) {
        answer(datagram,
               CmApr{.local_id = lap.remote_id, .remote_id = lap.local_id, .status = status, .private_data = {}},
               transaction);
    };
    CmConnection* connection = match(datagram, lap.remote_id, lap.local_id);
    if (connection == nullptr) {
        if (table.find(CmId{lap.remote_id}) == nullptr) refused(AlternateStatus::invalid_id);
        return;
    }
    if (connection->active || connection->state != CmEndState::established) return refuse(CmRefusal::wrong_state);
    if (lap.remote_qpn != connection->local_qpn) {
        refuse(CmRefusal::wrong_qpn);
        return refused(AlternateStatus::qpn);
    }
    if (!settings.alternate_paths) return refused(AlternateStatus::unsupported);
    if (connection->alternate_state != AlternateState::none) {  // the consumer has not decided
        refuse(CmRefusal::repetition);
        if (!settings.automatic_mra || transaction != connection->loading || !advance(*connection, AlternateEvent::lap))
            return;
        return send_delay(*connection, CmAbout::other, settings.service_timeout, {}, transaction);
    }
    if (connection->loaded == transaction) {
        refuse(CmRefusal::repetition);
        return send(connection->alternate_sent);
    }
    if (lap.path.remote_gid == connection->local && lap.path.local_gid == connection->remote)
        return refused(AlternateStatus::is_current);
    if (events.size() >= kMaxCmEvents) return refuse(CmRefusal::full);
    (void)advance(*connection, AlternateEvent::lap);
    connection->loading = transaction;
    connection->proposed = path_of(lap.path);
    ConnectionEvent event = event_of(*connection, ConnectionEventKind::alternate_request);
    event.alternate = connection->proposed;
    event.private_data = lap.private_data;
    emit(*connection, event);
}

void ConnectionManager::State::on_apr(const ManagementDatagram& datagram, std::uint64_t transaction) {
    const auto apr = read_message<CmApr>(body_of(datagram), datagram.remote.space);
    CmConnection* connection = match(datagram, apr.remote_id, apr.local_id);
    if (connection == nullptr) return;
    if (transaction != connection->loading || !advance(*connection, AlternateEvent::apr))
        return refuse(CmRefusal::wrong_state);
    table.arm_alternate(*connection, {});
    connection->alternate_unsent = false;
    if (apr.status == AlternateStatus::loaded) connection->parameters.alternate = connection->proposed;
    ConnectionEvent event = event_of(*connection, ConnectionEventKind::alternate_response);
    event.alternate = connection->proposed;
    event.alternate_status = apr.status;
    event.private_data = apr.private_data;
    emit(*connection, event);
}

}  // namespace qps::transport::live
