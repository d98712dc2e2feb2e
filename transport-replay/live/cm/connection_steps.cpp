// The steps that calls, datagrams and timers of a connection manager share.
#include <transport-replay/live/cm/communication_state.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::uint16_t kPermissiveLid = 0xffff;  // what a path that leaves the subnet has for LIDs (12.7.11)
constexpr TimeoutCode kUnknownTimewait{19};       // a requester that never times out: 2.1 s, a peer of Linux 6.1

Duration longest() { return duration_of(kLongestPeerTimeout); }

}  // namespace

Duration answer_time(TimeoutCode response, TimeoutCode way) {
    return Duration{std::to_underlying(duration_of(bounded(response))) +
                    std::to_underlying(duration_of(std::min(way, kLongestPeerTimeout)))};
}

Duration patience(const CmConnection& connection) {
    const std::int64_t all = std::to_underlying(connection.interval) * (connection.max_retries + 1);
    return std::min(Duration{all}, longest());
}

Duration timewait_of(TimeoutCode ack_timeout) {
    const TimeoutCode code = ack_timeout == TimeoutCode{} ? kUnknownTimewait : ack_timeout;
    return duration_of(std::clamp(code, kShortestPeerTimeout, kLongestTimewait));
}

CmPathFields fields_of(const CmPath& path, TimeoutCode ack_delay) {
    const bool local = path.hop_limit <= 1;
    return {.local_lid = local ? path.local_lid : kPermissiveLid,
            .remote_lid = local ? path.remote_lid : kPermissiveLid,
            .local_gid = path.local,
            .remote_gid = path.remote,
            .flow_label = path.flow_label,
            .rate = path.rate,
            .traffic_class = path.traffic_class,
            .hop_limit = path.hop_limit,
            .sl = path.sl,
            .subnet_local = local,
            .ack_timeout = ack_timeout_from(path.packet_lifetime, ack_delay)};
}

CmPath path_of(const CmPathFields& fields) {
    const std::uint8_t twice = std::to_underlying(std::min(fields.ack_timeout, kLongestPeerTimeout));
    return {.local = fields.remote_gid,
            .remote = fields.local_gid,
            .packet_lifetime = TimeoutCode{static_cast<std::uint8_t>(twice > 0 ? twice - 1 : 0)},
            .traffic_class = fields.traffic_class,
            .hop_limit = fields.hop_limit,
            .flow_label = fields.flow_label,
            .sl = fields.sl,
            .rate = fields.rate,
            .local_lid = fields.remote_lid,
            .remote_lid = fields.local_lid};
}

std::uint64_t ConnectionManager::State::new_transaction() { return mix(settings.seed ^ mix(++transactions)); }

ManagementDatagram ConnectionManager::State::addressed(ManagementDatagram datagram, const CmConnection& connection) {
    datagram.remote = connection.remote;
    datagram.local = connection.local;
    datagram.pkey = connection.pkey;
    return datagram;
}

void ConnectionManager::State::send(const ManagementDatagram& datagram) {
    if (outgoing.size() >= kMaxCmAnswers) return refuse(CmRefusal::answers);
    if (const auto written = read_cm(datagram.bytes)) ++counts.sent[static_cast<std::size_t>(written->message)];
    outgoing.push_back(datagram);
}

ConnectionEvent ConnectionManager::State::event_of(const CmConnection& connection, ConnectionEventKind kind) const {
    return {.kind = kind,
            .id = connection.id,
            .local_qpn = connection.local_qpn,
            .service = connection.service,
            .remote = connection.remote,
            .local = connection.local,
            .parameters = connection.parameters,
            .pkey = connection.pkey};
}

void ConnectionManager::State::emit(const CmConnection& connection, const ConnectionEvent& event) {
    if (!connection.silent || event.kind == ConnectionEventKind::released) events.push_back(event);
}

bool ConnectionManager::State::advance(CmConnection& connection, CmEndEvent event) {
    const auto to = step(kCmEndMachine, connection.state, event);
    if (to) table.move(connection, *to);
    return to.has_value();
}

bool ConnectionManager::State::advance(CmConnection& connection, AlternateEvent event) {
    const auto to = step(kAlternateMachine, connection.alternate_state, event);
    if (to) connection.alternate_state = *to;
    return to.has_value();
}

void ConnectionManager::State::say(CmConnection& connection, const ManagementDatagram& datagram) {
    connection.sent = addressed(datagram, connection);
    connection.unsent = true;
    connection.retries_left = connection.max_retries;
    connection.delays = 0;
    table.arm(connection, kCmAtOnce);
}

void ConnectionManager::State::say_alternate(CmConnection& connection, const ManagementDatagram& datagram) {
    connection.alternate_sent = addressed(datagram, connection);
    connection.alternate_unsent = true;
    connection.alternate_retries_left = connection.max_retries;
    connection.delays = 0;
    table.arm_alternate(connection, kCmAtOnce);
}

void ConnectionManager::State::enter_timewait(CmConnection& connection, Instant now) {
    connection.unsent = false;
    connection.alternate_state = AlternateState::none;
    table.arm_alternate(connection, {});
    table.arm(connection, now + connection.timewait);
}

void ConnectionManager::State::part(CmConnection& connection, Parting parting, Bytes private_data) {
    if (std::exchange(connection.parted, true)) return;
    ConnectionEvent event = event_of(connection, ConnectionEventKind::disconnected);
    event.parting = parting;
    event.private_data = CmPrivateBytes(private_data);
    emit(connection, event);
}

void ConnectionManager::State::refuse_peer(CmConnection& connection, const Rejection& rejection, CmAbout about,
                                           Instant now) {
    // Of a REQ that was not even MRAed the peer knows no id of ours (12.6.7).
    const bool known = about != CmAbout::req || connection.service_timeout != TimeoutCode{};
    const CmRej rej{.local_id = known ? wire(connection.id) : 0,
                    .remote_id = connection.remote_id.value_or(0),
                    .about = about,
                    .reason = rejection.reason,
                    .information = rejection.information,
                    .private_data = rejection.private_data};
    if (const auto datagram = write_message(rej, connection.transaction)) {
        connection.sent = addressed(*datagram, connection);
        connection.unsent = false;
        send(connection.sent);
    }
    if (connection.state == CmEndState::rejected) remember(connection, now);
    if (connection.state == CmEndState::timewait) enter_timewait(connection, now);
}

void ConnectionManager::State::remember(CmConnection& connection, Instant now) {
    connection.silent = true;
    table.arm(connection, now + patience(connection));
    while (table.remembered() > kMaxRemembered) close(*table.oldest_remembered());
}

void ConnectionManager::State::begin_stale(CmConnection& connection) {
    if (connection.state != CmEndState::established) return;  // half open ones end by themselves
    const CmDreq dreq{.local_id = wire(connection.id),
                      .remote_id = connection.remote_id.value_or(0),
                      .remote_qpn = connection.parameters.remote_qpn,
                      .private_data = {}};
    const auto datagram = write_message(dreq, new_transaction());
    if (!datagram || !advance(connection, CmEndEvent::stale)) return;
    part(connection, Parting::stale, {});
    connection.alternate_state = AlternateState::none;
    table.arm_alternate(connection, {});
    say(connection, *datagram);
}

void ConnectionManager::State::send_delay(CmConnection& connection, CmAbout about, TimeoutCode service_timeout,
                                          Bytes private_data, std::uint64_t transaction) {
    const CmMra mra{.local_id = wire(connection.id),
                    .remote_id = connection.remote_id.value_or(0),
                    .about = about,
                    .service_timeout = service_timeout,
                    .private_data = CmPrivateBytes(private_data)};
    if (const auto datagram = write_message(mra, transaction)) {
        connection.delay_sent = addressed(*datagram, connection);
        send(connection.delay_sent);
    }
}

bool ConnectionManager::State::make_room() {
    if (table.size() < kMaxCmIds) return true;
    CmConnection* oldest = table.oldest_remembered();
    if (oldest == nullptr) return false;
    close(*oldest);
    return true;
}

Rejection ConnectionManager::State::timeout_rejection() const {
    std::array<std::byte, 8> guid{};  // 12.6.7.2: who timed out
    write_bits(guid, 0, 64, static_cast<std::uint64_t>(settings.guid));
    return {.reason = RejectReason::timeout, .information = RejectInformation(guid), .private_data = {}};
}

void ConnectionManager::State::crowd_out(CmConnection& connection, Instant now) {
    refuse(CmRefusal::half_open);
    const bool waiting = waits_for_rtu(connection.state);
    if (!advance(connection, CmEndEvent::crowded)) return;
    ConnectionEvent event = event_of(connection, ConnectionEventKind::rejected);
    event.rejection.reason = RejectReason::no_resources;
    event.last = !waiting;
    emit(connection, event);
    if (connection.datagram) {
        send(connection,
             CmSidrRep{.request_id = connection.remote_id.value_or(0),
                       .status = SidrStatus::no_qp,
                       .service = connection.service,
                       .private_data = {}},
             connection.transaction);
        return close(connection);
    }
    connection.silent = true;
    refuse_peer(connection, event.rejection, waiting ? CmAbout::other : CmAbout::req, now);
}

std::expected<CmConnection*, CmError> ConnectionManager::State::use(CmId id) {
    CmConnection* connection = table.find(id);
    if (connection == nullptr || connection->silent) return std::unexpected(CmError::unknown_id);
    return connection;
}

std::expected<CmConnection*, CmError> ConnectionManager::State::use(CmId id, CmEndEvent event, CmMessage message,
                                                                    Bytes private_data) {
    const auto connection = use(id);
    if (!connection) return connection;
    if (!step(kCmEndMachine, (*connection)->state, event)) return std::unexpected(CmError::wrong_state);
    if (private_data.size() > private_room(message)) return std::unexpected(CmError::private_data_long);
    return connection;
}

}  // namespace qps::transport::live
