// What a connection manager does with a REQ, a REP and SIDR: whether it can be, whether it was there before, what is
// wrong with it.
#include <transport-replay/live/cm/communication_state.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::live {

using namespace dissect;

namespace {

Bytes request_body(const ManagementDatagram& datagram) { return Bytes(datagram.bytes).subspan(kMadHeaderLength); }

bool possible_queue_pair(Qpn qpn) { return qpn > kGsiQpn && qpn < kMulticastQpn; }

std::optional<CmTransport> transport_of(const CmReq& req, const ManagerSettings& settings) {
    constexpr std::uint8_t kExtended = 3;
    constexpr std::uint8_t kXrc = 1;
    if (req.transport == std::to_underlying(CmTransport::rc)) return CmTransport::rc;
    if (req.transport == std::to_underlying(CmTransport::uc)) return CmTransport::uc;
    if (req.transport == kExtended && req.extended_transport == kXrc && settings.xrc) return CmTransport::xrc;
    return {};
}

// LIDs say nothing of GIDs; an address that is not known says nothing at all.
bool is_gid(const Address& address) {
    return address.space != AddressSpace::infiniband_lid && address.space != AddressSpace::none;
}

RejectInformation as_information(const Address& gid) {
    std::array<std::byte, 16> bytes{};
    write_bits(bytes, 0, 64, gid.bits[0]);
    write_bits(bytes, 64, 64, gid.bits[1]);
    return RejectInformation(bytes);
}
RejectInformation as_information(PathMtu mtu) {  // a code of 4 bits, where a REQ has it in its byte
    const std::array byte{static_cast<std::byte>(std::to_underlying(mtu) << 4)};
    return RejectInformation(byte);
}

struct Asked {
    const CmReq& req;
    const ManagementDatagram& datagram;
    const ManagerSettings& settings;
};

// What a REQ can be wrong in, the gravest first, and what the REJ then says besides (12.6.7.2).
struct Check {
    RejectReason reason;
    bool (*wrong)(const Asked&);
    RejectInformation (*information)(const Asked&) = [](const Asked&) { return RejectInformation{}; };
};
constexpr std::array kChecks{
    Check{RejectReason::invalid_transport, [](const Asked& asked) { return !transport_of(asked.req, asked.settings); }},
    Check{RejectReason::no_qp, [](const Asked& asked) { return !possible_queue_pair(asked.req.qpn); }},
    Check{RejectReason::invalid_mtu,
          [](const Asked& asked) {
              return asked.req.mtu < std::to_underlying(PathMtu::bytes_256) ||
                     asked.req.mtu > std::to_underlying(asked.settings.mtu);
          },
          [](const Asked& asked) { return as_information(asked.settings.mtu); }},
    Check{RejectReason::primary_gid,
          [](const Asked& asked) {
              return is_gid(asked.datagram.local) && asked.req.primary.remote_gid != asked.datagram.local;
          },
          [](const Asked& asked) { return as_information(asked.datagram.local); }},
    // A connection for somebody else would make our packets go where the asker wants them.
    Check{RejectReason::unsupported,
          [](const Asked& asked) {
              return is_gid(asked.datagram.remote) && asked.req.primary.local_gid != asked.datagram.remote;
          }},
    Check{RejectReason::unsupported,
          [](const Asked& asked) {
              return std::ranges::none_of(asked.settings.pkeys, [&](Pkey ours) {
                  return ((std::to_underlying(ours) ^ std::to_underlying(asked.req.pkey)) & ~kFullMembership) == 0;
              });
          }},
    Check{RejectReason::primary_hop_limit,
          [](const Asked& asked) { return asked.req.primary.hop_limit == 0 && !asked.req.primary.subnet_local; }},
};

}  // namespace

bool ConnectionManager::State::listens(ServiceId service, ListenKind kind) const {
    return std::ranges::any_of(listeners, [&](const auto& entry) {
        const auto& [id, listener] = entry;
        return listener.kind == kind && ServiceId{static_cast<std::uint64_t>(service) & listener.mask} == id;
    });
}

void ConnectionManager::State::on_repeated_req(CmConnection& connection, const ManagementDatagram& datagram,
                                               Instant now) {
    refuse(CmRefusal::repetition);
    const bool undecided = connection.state == CmEndState::req_rcvd || connection.state == CmEndState::mra_req_sent;
    if (undecided && !settings.automatic_mra && connection.state == CmEndState::req_rcvd) return;
    if (!advance(connection, CmEndEvent::req)) return;
    if (undecided && connection.service_timeout == TimeoutCode{}) {
        connection.service_timeout = settings.service_timeout;
        send_delay(connection, CmAbout::req, settings.service_timeout, {}, connection.transaction);
        table.arm(connection, now + duration_of(bounded(settings.service_timeout)));
    } else if (undecided) {
        send(connection.delay_sent);
    } else if (connection.state == CmEndState::timewait) {
        answer(datagram,
               CmRej{.local_id = wire(connection.id),
                     .remote_id = connection.remote_id.value_or(0),
                     .reason = RejectReason::stale_connection,
                     .information = {},
                     .private_data = {}},
               connection.transaction);
    } else if (connection.state != CmEndState::established && !connection.unsent) {
        send(connection.sent);  // the REP or the REJ
    }
}

void ConnectionManager::State::on_req(const ManagementDatagram& datagram, std::uint64_t transaction, Instant now) {
    const auto req = read_message<CmReq>(request_body(datagram), datagram.remote.space);
    const auto reject = [&](RejectReason reason, const RejectInformation& information = {}) {
        answer(datagram,
               CmRej{.remote_id = req.local_id,
                     .about = CmAbout::req,
                     .reason = reason,
                     .information = information,
                     .private_data = {}},
               transaction);
    };
    if (CmConnection* known = table.find_request(datagram.remote, req.local_id, false)) {
        const bool same = known->transaction == transaction && known->parameters.remote_qpn == req.qpn &&
                          known->service == req.service;
        if (same) return on_repeated_req(*known, datagram, now);
        if (known->state != CmEndState::rejected) {
            refuse(CmRefusal::wrong_peer);
            return reject(RejectReason::duplicate_communication_id);
        }
        close(*known);  // refused, and asked anew under the old id
    }
    if (CmConnection* stale = table.find_remote_qp(datagram.remote, req.qpn)) {
        reject(RejectReason::stale_connection);
        return begin_stale(*stale);
    }
    if (!listens(req.service, ListenKind::connections)) return reject(RejectReason::invalid_service_id);
    const Asked asked{req, datagram, settings};
    for (const Check& check : kChecks) {
        if (!check.wrong(asked)) continue;
        refuse(CmRefusal::malformed);
        return reject(check.reason, check.information(asked));
    }
    if (events.size() >= kMaxCmEvents) return refuse(CmRefusal::full);  // it asks again
    while (table.half_open() >= kMaxHalfOpen) crowd_out(*table.oldest_half_open(), now);
    if (!make_room()) {
        refuse(CmRefusal::full);
        return reject(RejectReason::no_resources);
    }
    begin_passive(req, datagram, transaction, now);
}

void ConnectionManager::State::begin_passive(const CmReq& req, const ManagementDatagram& datagram,
                                             std::uint64_t transaction, Instant now) {
    CmConnection& connection = table.add();
    connection.remote = datagram.remote;
    connection.local = datagram.local.space == AddressSpace::none ? req.primary.remote_gid : datagram.local;
    connection.pkey = datagram.pkey;
    connection.service = req.service;
    connection.remote_id = req.local_id;
    connection.transaction = transaction;
    connection.max_retries = req.max_retries;
    connection.interval = answer_time(req.local_response_timeout, req.primary.ack_timeout);
    connection.timewait = timewait_of(req.primary.ack_timeout);
    const bool alternate =
        req.alternate.remote_gid != Address{{}, req.alternate.remote_gid.space} || req.alternate.remote_lid != 0;
    connection.alternate_refused = alternate && !settings.alternate_paths;
    connection.parameters = {
        .transport = transport_of(req, settings).value_or(CmTransport::rc),
        .remote_qpn = req.qpn,
        .remote_psn = req.starting_psn,
        .mtu = PathMtu{req.mtu},
        .responder_resources = std::min(req.initiator_depth, settings.responder_resources),
        .initiator_depth = std::min(req.responder_resources, settings.initiator_depth),
        .ack_timeout = std::min(req.primary.ack_timeout, kLongestPeerTimeout),
        .retry_count = req.retry_count,
        .rnr_retry_count = req.rnr_retry_count,
        .flow_control = req.flow_control,
        .remote_shared_receive_queue = req.shared_receive_queue,
        .pkey = req.pkey,
        .remote_qkey = req.qkey,
        .path = path_of(req.primary),
        .alternate = alternate && settings.alternate_paths ? std::optional(path_of(req.alternate)) : std::nullopt,
    };
    (void)advance(connection, CmEndEvent::req);
    table.index_request(connection);
    table.index_remote_qp(connection);
    // As long as the peer goes on asking; an MRA makes it longer.
    const Duration asking{std::to_underlying(answer_time(req.remote_response_timeout, req.primary.ack_timeout)) *
                          (req.max_retries + 1)};
    table.arm(connection, now + std::min(asking, duration_of(kLongestPeerTimeout)));
    ConnectionEvent event = event_of(connection, ConnectionEventKind::request);
    event.private_data = req.private_data;
    emit(connection, event);
}

void ConnectionManager::State::on_repeated_rep(CmConnection& connection, Instant now) {
    const bool undecided = connection.state == CmEndState::rep_rcvd || connection.state == CmEndState::mra_rep_sent;
    if (connection.state == CmEndState::rep_rcvd && !settings.automatic_mra) return refuse(CmRefusal::repetition);
    if (!advance(connection, CmEndEvent::rep)) return refuse(CmRefusal::wrong_state);
    refuse(CmRefusal::repetition);
    if (!undecided) return send(connection.sent);  // the RTU or the REJ
    if (connection.service_timeout != TimeoutCode{}) return send(connection.delay_sent);
    connection.service_timeout = settings.service_timeout;
    send_delay(connection, CmAbout::rep, settings.service_timeout, {}, connection.transaction);
    table.arm(connection, now + duration_of(bounded(settings.service_timeout)));
}

void ConnectionManager::State::on_rep(const ManagementDatagram& datagram, std::uint64_t transaction, Instant now) {
    const auto rep = read_message<CmRep>(request_body(datagram), datagram.remote.space);
    CmConnection* connection = match(datagram, rep.remote_id, rep.local_id);
    if (connection == nullptr) {
        if (table.find(CmId{rep.remote_id}) != nullptr) return;
        const CmRej rej{.local_id = rep.remote_id,
                        .remote_id = rep.local_id,
                        .about = CmAbout::rep,
                        .reason = RejectReason::invalid_communication_id,
                        .information = {},
                        .private_data = {}};
        return answer(datagram, rej, transaction);
    }
    if (!connection->active) return refuse(CmRefusal::wrong_state);
    if (connection->remote_id) return on_repeated_rep(*connection, now);
    const bool xrc = connection->parameters.transport == CmTransport::xrc;
    const Qpn qpn = xrc ? rep.context : rep.qpn;
    if (transaction != connection->transaction || !possible_queue_pair(qpn)) return refuse(CmRefusal::malformed);
    CmConnection* stale = table.find_remote_qp(datagram.remote, qpn);
    if (!advance(*connection, stale != nullptr ? CmEndEvent::stale : CmEndEvent::rep))
        return refuse(CmRefusal::wrong_state);
    connection->remote_id = rep.local_id;
    connection->unsent = false;
    if (stale != nullptr) {
        ConnectionEvent event = event_of(*connection, ConnectionEventKind::rejected);
        event.rejection.reason = RejectReason::stale_connection;
        event.last = true;
        emit(*connection, event);
        refuse_peer(*connection, event.rejection, CmAbout::rep, now);
        return begin_stale(*stale);
    }
    ConnectionParameters& parameters = connection->parameters;
    parameters.remote_qpn = qpn;
    parameters.remote_psn = rep.starting_psn;
    parameters.initiator_depth =
        std::min({parameters.initiator_depth, rep.responder_resources, settings.initiator_depth});
    // A peer may want to ask for more at a time than we offered. What we can answer, we do.
    parameters.responder_resources = std::min(rep.initiator_depth, settings.responder_resources);
    parameters.ack_timeout = ack_timeout_from(parameters.path.packet_lifetime, rep.target_ack_delay);
    parameters.rnr_retry_count = rep.rnr_retry_count;
    parameters.flow_control = rep.flow_control;
    parameters.remote_shared_receive_queue = rep.shared_receive_queue;
    parameters.remote_qkey = rep.qkey;
    if (rep.failover_accepted != 0) parameters.alternate.reset();
    connection->timewait = timewait_of(parameters.ack_timeout);
    table.index_remote_qp(*connection);
    table.arm(*connection, now + patience(*connection));
    ConnectionEvent event = event_of(*connection, ConnectionEventKind::reply);
    event.private_data = rep.private_data;
    emit(*connection, event);
}

void ConnectionManager::State::on_sidr_req(const ManagementDatagram& datagram, std::uint64_t transaction, Instant now) {
    const auto req = read_message<CmSidrReq>(request_body(datagram), datagram.remote.space);
    const auto refused = [&](SidrStatus status) {
        answer(datagram,
               CmSidrRep{.request_id = req.request_id, .status = status, .service = req.service, .private_data = {}},
               transaction);
    };
    if (CmConnection* known = table.find_request(datagram.remote, req.request_id, true)) {
        if (known->transaction == transaction && known->service == req.service) {
            refuse(CmRefusal::repetition);
            (void)advance(*known, CmEndEvent::sidr_req);
            if (known->state == CmEndState::sidr_answered) send(known->sent);
            return;
        }
        if (known->state != CmEndState::sidr_answered) return refuse(CmRefusal::wrong_peer);
        close(*known);
    }
    if (!listens(req.service, ListenKind::datagrams)) return refused(SidrStatus::no_service);
    if (events.size() >= kMaxCmEvents) return refuse(CmRefusal::full);
    while (table.half_open() >= kMaxHalfOpen) crowd_out(*table.oldest_half_open(), now);
    if (!make_room()) {
        refuse(CmRefusal::full);
        return refused(SidrStatus::no_qp);
    }
    // A SIDR_REQ does not say how long and how often it asks; this is what Linux does.
    constexpr TimeoutCode kUsualTimeout{20};
    constexpr std::uint8_t kUsualRetries = 15;
    CmConnection& connection = table.add();
    connection.datagram = true;
    connection.remote = datagram.remote;
    connection.local = datagram.local;
    connection.pkey = datagram.pkey;
    connection.service = req.service;
    connection.remote_id = req.request_id;
    connection.transaction = transaction;
    connection.interval = duration_of(kUsualTimeout);
    connection.max_retries = kUsualRetries;
    connection.parameters.pkey = req.pkey;
    (void)advance(connection, CmEndEvent::sidr_req);
    table.index_request(connection);
    table.arm(connection, now + patience(connection));
    ConnectionEvent event = event_of(connection, ConnectionEventKind::sidr_request);
    event.pkey = req.pkey;
    event.private_data = req.private_data;
    emit(connection, event);
}

void ConnectionManager::State::on_sidr_rep(const ManagementDatagram& datagram) {
    const auto rep = read_message<CmSidrRep>(request_body(datagram), datagram.remote.space);
    CmConnection* connection = table.find(CmId{rep.request_id});
    if (connection == nullptr || !connection->datagram) return refuse(CmRefusal::unknown_id);
    if (connection->remote != datagram.remote) return refuse(CmRefusal::wrong_peer);
    if (!advance(*connection, CmEndEvent::sidr_rep)) return refuse(CmRefusal::wrong_state);
    ConnectionEvent event = event_of(*connection, ConnectionEventKind::sidr_response);
    event.sidr = {.status = rep.status, .qpn = rep.qpn, .qkey = rep.qkey, .service = rep.service};
    event.private_data = rep.private_data;
    event.last = true;
    emit(*connection, event);
    close(*connection);
}

}  // namespace qps::transport::live
