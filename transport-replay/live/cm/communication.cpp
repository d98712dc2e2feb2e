// What a consumer asks a connection manager for.
#include <transport-replay/live/cm/communication_state.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::live {

using namespace dissect;

namespace {

// 12.6.5: the transport service type, and for what came later the extended one (A14).
struct TransportCode {
    std::uint8_t service;
    std::uint8_t extended;
};
constexpr std::array<TransportCode, 4> kTransportCodes{{{0, 0}, {1, 0}, {2, 0}, {3, 1}}};  // by CmTransport

// 12.6.8: no alternate path is in use.
constexpr std::uint8_t kFailoverUnsupported = 1;

CmReq req_of(const ConnectRequest& request, const CmConnection& connection, const ManagerSettings& settings) {
    const TransportCode transport = kTransportCodes[static_cast<std::size_t>(request.transport)];
    return {.local_id = wire(connection.id),
            .vendor = request.vendor,
            .service = request.service,
            .guid = settings.guid,
            .qkey = request.qkey,
            .qpn = request.local_qpn,
            .responder_resources = request.responder_resources,
            .initiator_depth = request.initiator_depth,
            .remote_response_timeout = request.remote_response_timeout,
            .local_response_timeout = request.local_response_timeout,
            .transport = transport.service,
            .extended_transport = transport.extended,
            .flow_control = request.flow_control,
            .starting_psn = request.starting_psn,
            .retry_count = request.retry_count,
            .rnr_retry_count = request.rnr_retry_count,
            .pkey = request.pkey,
            .mtu = std::to_underlying(request.mtu),
            .max_retries = request.max_retries,
            .shared_receive_queue = request.shared_receive_queue,
            .primary = fields_of(request.path, settings.ack_delay),
            .alternate = request.alternate ? fields_of(*request.alternate, settings.ack_delay) : CmPathFields{},
            .private_data = CmPrivateBytes(request.private_data)};
}

bool addressed(const CmPath& path) {
    return path.local.space != AddressSpace::none && path.remote.space != AddressSpace::none;
}

std::uint8_t least(std::uint8_t a, std::uint8_t b) { return std::min(a, b); }

}  // namespace

ConnectionManager::ConnectionManager(const ManagerSettings& settings) : state_(std::make_unique<State>(settings)) {}
ConnectionManager::ConnectionManager(ConnectionManager&&) noexcept = default;
ConnectionManager& ConnectionManager::operator=(ConnectionManager&&) noexcept = default;
ConnectionManager::~ConnectionManager() = default;

CmResult ConnectionManager::listen(ServiceId service, ListenKind kind, std::uint64_t mask) {
    if (state_->listeners.size() >= kMaxCmListeners) return std::unexpected(CmError::too_many);
    const ServiceId masked{static_cast<std::uint64_t>(service) & mask};
    if (!state_->listeners.try_emplace(masked, State::Listener{kind, mask}).second)
        return std::unexpected(CmError::invalid_parameter);
    return {};
}

CmResult ConnectionManager::stop_listening(ServiceId service) {
    if (state_->listeners.erase(service) == 0) return std::unexpected(CmError::unknown_id);
    return {};
}

std::expected<CmId, CmError> ConnectionManager::connect(const ConnectRequest& request, Instant) {
    State& state = *state_;
    if (request.private_data.size() > private_room(CmMessage::req)) return std::unexpected(CmError::private_data_long);
    if (!addressed(request.path) || request.local_qpn == Qpn{} || request.transport == CmTransport::rd)
        return std::unexpected(CmError::invalid_parameter);
    if (!state.make_room()) return std::unexpected(CmError::too_many);
    CmConnection& connection = state.table.add();
    connection.active = true;
    connection.remote = request.path.remote;
    connection.local = request.path.local;
    connection.pkey = request.pkey;
    connection.service = request.service;
    connection.local_qpn = request.local_qpn;
    // The low half is the communication ID, as Linux has it: who reads a capture finds them together.
    connection.transaction = state.new_transaction() << 32 | wire(connection.id);
    connection.parameters = {.transport = request.transport,
                             .local_psn = request.starting_psn,
                             .mtu = request.mtu,
                             .responder_resources = request.responder_resources,
                             .initiator_depth = request.initiator_depth,
                             .retry_count = request.retry_count,
                             .pkey = request.pkey,
                             .path = request.path,
                             .alternate = request.alternate};
    const TimeoutCode round_trip{static_cast<std::uint8_t>(std::to_underlying(request.path.packet_lifetime) + 1)};
    connection.interval = answer_time(request.remote_response_timeout, round_trip);
    connection.max_retries = request.max_retries;
    const CmId id = connection.id;
    const auto datagram = write_message(req_of(request, connection, state.settings), connection.transaction);
    if (!datagram || !state.advance(connection, CmEndEvent::connect)) {
        state.close(connection);
        return std::unexpected(CmError::invalid_parameter);
    }
    state.say(connection, *datagram);
    return id;
}

CmResult ConnectionManager::accept(CmId id, const AcceptParameters& parameters, Instant) {
    State& state = *state_;
    const auto used = state.use(id, CmEndEvent::accept, CmMessage::rep, parameters.private_data);
    if (!used) return std::unexpected(used.error());
    CmConnection& connection = **used;
    ConnectionParameters granted = connection.parameters;
    granted.local_psn = parameters.starting_psn;
    granted.responder_resources = least(parameters.responder_resources, granted.responder_resources);
    granted.initiator_depth = least(parameters.initiator_depth, granted.initiator_depth);
    const bool xrc = granted.transport == CmTransport::xrc;
    const CmRep rep{.local_id = wire(id),
                    .remote_id = connection.remote_id.value_or(0),
                    .qkey = parameters.qkey,
                    .qpn = xrc ? Qpn{} : parameters.local_qpn,
                    .context = xrc ? parameters.local_qpn : Qpn{},
                    .starting_psn = parameters.starting_psn,
                    .responder_resources = granted.responder_resources,
                    .initiator_depth = granted.initiator_depth,
                    .target_ack_delay = state.settings.ack_delay,
                    .failover_accepted = connection.alternate_refused ? kFailoverUnsupported : std::uint8_t{},
                    .flow_control = parameters.flow_control,
                    .rnr_retry_count = parameters.rnr_retry_count,
                    .shared_receive_queue = parameters.shared_receive_queue,
                    .guid = state.settings.guid,
                    .private_data = CmPrivateBytes(parameters.private_data)};
    const auto datagram = write_message(rep, connection.transaction);
    if (!datagram || parameters.local_qpn == Qpn{}) return std::unexpected(CmError::invalid_parameter);
    connection.parameters = granted;
    connection.local_qpn = parameters.local_qpn;
    connection.in_use = true;
    (void)state.advance(connection, CmEndEvent::accept);
    state.say(connection, *datagram);
    return {};
}

CmResult ConnectionManager::ready(CmId id, Bytes private_data, Instant) {
    const auto used = state_->use(id, CmEndEvent::ready, CmMessage::rtu, private_data);
    if (!used) return std::unexpected(used.error());
    CmConnection& connection = **used;
    const CmRtu rtu{.local_id = wire(id),
                    .remote_id = connection.remote_id.value_or(0),
                    .private_data = CmPrivateBytes(private_data)};
    const auto datagram = write_message(rtu, connection.transaction);
    if (!datagram) return std::unexpected(CmError::invalid_parameter);
    (void)state_->advance(connection, CmEndEvent::ready);
    connection.in_use = true;
    connection.sent = State::addressed(*datagram, connection);
    state_->table.arm(connection, {});
    state_->send(connection.sent);
    return {};
}

CmResult ConnectionManager::reject(CmId id, RejectReason reason, Bytes information, Bytes private_data, Instant now) {
    const auto used = state_->use(id, CmEndEvent::reject, CmMessage::rej, private_data);
    if (!used) return std::unexpected(used.error());
    if (information.size() > kMostReasonBytes) return std::unexpected(CmError::invalid_parameter);
    CmConnection& connection = **used;
    (void)state_->advance(connection, CmEndEvent::reject);
    const Rejection rejection{
        .reason = reason, .information = RejectInformation(information), .private_data = CmPrivateBytes(private_data)};
    state_->refuse_peer(connection, rejection, connection.active ? CmAbout::rep : CmAbout::req, now);
    return {};
}

CmResult ConnectionManager::delay(CmId id, TimeoutCode service_timeout, Bytes private_data, Instant now) {
    const auto used = state_->use(id);
    if (!used) return std::unexpected(used.error());
    if (private_data.size() > private_room(CmMessage::mra)) return std::unexpected(CmError::private_data_long);
    if (service_timeout > TimeoutCode{31} || service_timeout == TimeoutCode{})
        return std::unexpected(CmError::invalid_parameter);
    CmConnection& connection = **used;
    if (state_->advance(connection, AlternateEvent::delay)) {
        state_->send_delay(connection, CmAbout::other, service_timeout, private_data, connection.loading);
        return {};
    }
    if (!state_->advance(connection, CmEndEvent::delay)) return std::unexpected(CmError::wrong_state);
    connection.service_timeout = service_timeout;
    state_->send_delay(connection, connection.active ? CmAbout::rep : CmAbout::req, service_timeout, private_data,
                       connection.transaction);
    state_->table.arm(connection, now + duration_of(service_timeout));
    return {};
}

CmResult ConnectionManager::disconnect(CmId id, Bytes private_data, Instant) {
    const auto used = state_->use(id, CmEndEvent::disconnect, CmMessage::dreq, private_data);
    if (!used) return std::unexpected(used.error());
    CmConnection& connection = **used;
    const CmDreq dreq{.local_id = wire(id),
                      .remote_id = connection.remote_id.value_or(0),
                      .remote_qpn = connection.parameters.remote_qpn,
                      .private_data = CmPrivateBytes(private_data)};
    const auto datagram = write_message(dreq, state_->new_transaction());
    if (!datagram) return std::unexpected(CmError::invalid_parameter);
    (void)state_->advance(connection, CmEndEvent::disconnect);
    connection.parting = Parting::by_us;
    connection.alternate_state = AlternateState::none;
    state_->table.arm_alternate(connection, {});
    state_->say(connection, *datagram);
    return {};
}

CmResult ConnectionManager::abandon(CmId id, Instant now) {
    State& state = *state_;
    const auto used = state.use(id);
    if (!used) return std::unexpected(used.error());
    CmConnection& connection = **used;
    const CmEndState before = connection.state;
    if (!state.advance(connection, CmEndEvent::abandon)) return std::unexpected(CmError::wrong_state);
    connection.silent = true;
    if (before == CmEndState::established) {
        const CmDreq dreq{.local_id = wire(id),
                          .remote_id = connection.remote_id.value_or(0),
                          .remote_qpn = connection.parameters.remote_qpn,
                          .private_data = {}};
        state.send(connection, dreq, state.new_transaction());
    }
    if (connection.state == CmEndState::rejected)
        state.refuse_peer(connection, {}, connection.active ? CmAbout::rep : CmAbout::req, now);
    else if (waits_for_rtu(before)) state.refuse_peer(connection, {}, CmAbout::other, now);
    else if (connection.state == CmEndState::timewait) state.enter_timewait(connection, now);
    if (connection.state != CmEndState::closed) return {};
    if (before == CmEndState::sidr_req_rcvd) {
        const CmSidrRep answer{.request_id = connection.remote_id.value_or(0),
                               .status = SidrStatus::rejected,
                               .service = connection.service,
                               .private_data = {}};
        state.send(connection, answer, connection.transaction);
    } else if (!connection.datagram && !connection.unsent) {
        state.refuse_peer(connection, state.timeout_rejection(), CmAbout::other, now);
    }
    state.close(connection);
    return {};
}

void ConnectionManager::communication_established(Qpn local, Instant) {
    CmConnection* connection = state_->table.find_waiting(local);
    if (connection == nullptr || !state_->advance(*connection, CmEndEvent::data)) return;
    state_->table.arm(*connection, {});
    connection->unsent = false;
    state_->emit(*connection, state_->event_of(*connection, ConnectionEventKind::established));
}

CmResult ConnectionManager::load_alternate(CmId id, const CmPath& path, Bytes private_data, Instant) {
    State& state = *state_;
    const auto used = state.use(id);
    if (!used) return std::unexpected(used.error());
    CmConnection& connection = **used;
    if (private_data.size() > private_room(CmMessage::lap)) return std::unexpected(CmError::private_data_long);
    if (!addressed(path)) return std::unexpected(CmError::invalid_parameter);
    if (!connection.active || connection.state != CmEndState::established ||
        connection.alternate_state != AlternateState::none)
        return std::unexpected(CmError::wrong_state);
    const CmLap lap{.local_id = wire(id),
                    .remote_id = connection.remote_id.value_or(0),
                    .remote_qpn = connection.parameters.remote_qpn,
                    .remote_response_timeout = TimeoutCode{20},
                    .path = fields_of(path, state.settings.ack_delay),
                    .private_data = CmPrivateBytes(private_data)};
    connection.loading = state.new_transaction();
    const auto datagram = write_message(lap, connection.loading);
    if (!datagram) return std::unexpected(CmError::invalid_parameter);
    connection.proposed = path;
    (void)state.advance(connection, AlternateEvent::load);
    state.say_alternate(connection, *datagram);
    return {};
}

CmResult ConnectionManager::answer_alternate(CmId id, AlternateStatus status, Bytes private_data, Instant) {
    const auto used = state_->use(id);
    if (!used) return std::unexpected(used.error());
    CmConnection& connection = **used;
    if (private_data.size() > private_room(CmMessage::apr)) return std::unexpected(CmError::private_data_long);
    if (!state_->advance(connection, AlternateEvent::answer)) return std::unexpected(CmError::wrong_state);
    const CmApr apr{.local_id = wire(id),
                    .remote_id = connection.remote_id.value_or(0),
                    .status = status,
                    .private_data = CmPrivateBytes(private_data)};
    connection.loaded = connection.loading;
    if (status == AlternateStatus::loaded) connection.parameters.alternate = connection.proposed;
    if (const auto datagram = write_message(apr, connection.loading)) {
        connection.alternate_sent = State::addressed(*datagram, connection);
        state_->send(connection.alternate_sent);
    }
    return {};
}

std::expected<CmId, CmError> ConnectionManager::sidr_request(const SidrRequest& request, Instant) {
    State& state = *state_;
    if (request.private_data.size() > private_room(CmMessage::sidr_req))
        return std::unexpected(CmError::private_data_long);
    if (!addressed(request.path) || request.max_retries > 15) return std::unexpected(CmError::invalid_parameter);
    if (!state.make_room()) return std::unexpected(CmError::too_many);
    CmConnection& connection = state.table.add();
    connection.active = true;
    connection.datagram = true;
    connection.remote = request.path.remote;
    connection.local = request.path.local;
    connection.pkey = request.pkey;
    connection.service = request.service;
    connection.parameters.path = request.path;
    connection.parameters.pkey = request.pkey;
    connection.transaction = state.new_transaction() << 32 | wire(connection.id);
    const TimeoutCode round_trip{static_cast<std::uint8_t>(std::to_underlying(request.path.packet_lifetime) + 1)};
    connection.interval = answer_time(request.response_timeout, round_trip);
    connection.max_retries = request.max_retries;
    const CmId id = connection.id;
    const CmSidrReq message{.request_id = wire(id),
                            .pkey = request.pkey,
                            .service = request.service,
                            .private_data = CmPrivateBytes(request.private_data)};
    const auto datagram = write_message(message, connection.transaction);
    if (!datagram || !state.advance(connection, CmEndEvent::sidr_request)) {
        state.close(connection);
        return std::unexpected(CmError::invalid_parameter);
    }
    state.say(connection, *datagram);
    return id;
}

CmResult ConnectionManager::sidr_reply(CmId id, const SidrAnswer& answer, Bytes private_data, Instant now) {
    const auto used = state_->use(id, CmEndEvent::sidr_reply, CmMessage::sidr_rep, private_data);
    if (!used) return std::unexpected(used.error());
    CmConnection& connection = **used;
    const CmSidrRep message{.request_id = connection.remote_id.value_or(0),
                            .status = answer.status,
                            .qpn = answer.qpn,
                            .service = connection.service,
                            .qkey = answer.qkey,
                            .private_data = CmPrivateBytes(private_data)};
    const auto datagram = write_message(message, connection.transaction);
    if (!datagram) return std::unexpected(CmError::invalid_parameter);
    (void)state_->advance(connection, CmEndEvent::sidr_reply);
    connection.sent = State::addressed(*datagram, connection);
    state_->send(connection.sent);
    state_->remember(connection, now);
    return {};
}

std::vector<ConnectionEvent> ConnectionManager::take_events() { return std::exchange(state_->events, {}); }
const ManagerCounts& ConnectionManager::counts() const { return state_->counts; }
std::size_t ConnectionManager::size() const { return state_->table.size(); }
std::size_t ConnectionManager::half_open() const { return state_->table.half_open(); }

}  // namespace qps::transport::live
