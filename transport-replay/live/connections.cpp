#include <transport-replay/live/connections.hpp>
#include <transport-replay/live/host/addresses.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::live {

using namespace dissect;
using verbs::QpState;

namespace {

constexpr std::uint16_t kFirstPort =
    0xc000;  // IANA's dynamic ports (RFC 6335), of which a consumer that names none gets one

std::uint32_t key_of(CmId id) { return static_cast<std::uint32_t>(id); }

// The REQ names its transport; the queue pair must be of the same kind.
CmTransport transport_of(verbs::QpType type) {
    if (verbs::is_xrc(type)) return CmTransport::xrc;
    return type == verbs::QpType::uc ? CmTransport::uc : CmTransport::rc;
}

}  // namespace

Connections::Connections(verbs::Adapter& adapter, ConnectionManager& manager, const ConnectionSettings& settings)
    : adapter_(&adapter),
      manager_(&manager),
      settings_(settings),
      draws_(mix(settings.seed)),
      next_port_(static_cast<std::uint16_t>(kFirstPort | (draws_ & 0x3fff))) {}

Psn Connections::next_psn() {
    draws_ = mix(draws_ + 0x9e3779b97f4a7c15);  // SplitMix64's step
    return Psn{static_cast<std::uint32_t>(draws_)};
}

Address Connections::source_for(const Address& destination) const {
    const auto same_kind = [&](const Address& ours) {
        return ours.space == destination.space && verbs::is_ipv4(ours) == verbs::is_ipv4(destination);
    };
    const auto found = std::ranges::find_if(settings_.addresses, same_kind);
    return found == settings_.addresses.end() ? Address{} : *found;
}

verbs::AddressHandle Connections::path_to(const Address& destination) const {
    const AddressSpace space = settings_.addresses.empty() ? destination.space : settings_.addresses.front().space;
    verbs::AddressHandle to = verbs::handle_to(in_space(destination, space));
    to.source = source_for(to.destination);
    to.dscp = settings_.dscp;
    to.sl = settings_.sl;
    return to;
}

CmResult Connections::listen(PortSpace space, IpPort port) {
    const bool datagrams = space == PortSpace::udp || space == PortSpace::ipoib;
    return manager_->listen(ip_service(space, port), datagrams ? ListenKind::datagrams : ListenKind::connections);
}

verbs::Result<void> Connections::to_init(Qpn qp, const ConnectOptions& options, Pkey pkey) {
    const auto status = adapter_->query_qp(qp);
    if (!status) return std::unexpected(status.error());
    if (status->state == QpState::init) return {};
    return adapter_->modify_qp(qp, {.qp_state = QpState::init, .pkey = pkey, .access = options.access});
}

// INIT to RTR to RTS, with what both sides agreed upon.
// A starting PSN says where the OTHER side is to begin (12.7.31): ours is what our responder expects.
verbs::Result<void> Connections::program(const Ours& ours, const ConnectionParameters& parameters, Psn expected) {
    const auto status = adapter_->query_qp(ours.qp);
    if (!status) return std::unexpected(status.error());
    const verbs::QpType type = status->init.qp_type;
    if (transport_of(type) != parameters.transport) return std::unexpected(verbs::VerbsError::unsupported);
    const bool reliable = type != verbs::QpType::uc;
    verbs::AddressHandle to = verbs::handle_to(parameters.path.remote);
    to.source = parameters.path.local;
    to.dscp = settings_.dscp;
    to.sl = settings_.sl;
    to.hop_limit = std::max<std::uint8_t>(parameters.path.hop_limit, 1);
    verbs::QpAttr rtr{.qp_state = QpState::rtr,
                      .address = to,
                      .path_mtu = std::min(parameters.mtu, settings_.mtu),
                      .dest_qp_num = parameters.remote_qpn,
                      .rq_psn = expected};
    verbs::QpAttr rts{.qp_state = QpState::rts, .sq_psn = parameters.remote_psn};
    if (reliable) rts.timeout = ours.options.ack_timeout.value_or(static_cast<std::uint8_t>(parameters.ack_timeout));
    if (reliable && type != verbs::QpType::xrc_send) {
        rtr.max_dest_rd_atomic = std::min(parameters.responder_resources, verbs::kMaxRdAtomic);
        rtr.min_rnr_timer = ours.options.min_rnr_timer;
    }
    if (reliable && type != verbs::QpType::xrc_recv) {
        rts.max_rd_atomic = std::min(parameters.initiator_depth, verbs::kMaxRdAtomic);
        rts.retry_cnt = parameters.retry_count;
        rts.rnr_retry = parameters.rnr_retry_count;
    }
    if (auto done = adapter_->modify_qp(ours.qp, rtr); !done) return done;
    return adapter_->modify_qp(ours.qp, rts);
}

std::expected<CmId, CmError> Connections::connect(Qpn qp, const Target& target, const ConnectOptions& options,
                                                  Instant now) {
    const Address source = source_for(target.address);
    const auto status = adapter_->query_qp(qp);
    if (source.space == AddressSpace::none || !status) return std::unexpected(CmError::invalid_parameter);
    if (!to_init(qp, options, kDefaultPkey)) return std::unexpected(CmError::wrong_state);
    const IpEnds ends{.source = source,
                      .destination = target.address,
                      .source_port = IpPort{next_port_},
                      .destination_port = target.port};
    next_port_ = static_cast<std::uint16_t>(next_port_ + 1) | kFirstPort;
    ConnectRequest request = ip_connect_request(target.space, ends);
    request.transport = transport_of(status->init.qp_type);
    request.local_qpn = qp;
    request.starting_psn = next_psn();
    request.mtu = settings_.mtu;
    request.responder_resources = options.responder_resources;
    request.initiator_depth = options.initiator_depth;
    if (options.ack_timeout)
        request.path.packet_lifetime = TimeoutCode{static_cast<std::uint8_t>(*options.ack_timeout - 1)};  // 12.7.34
    request.retry_count = options.retry_count;
    request.rnr_retry_count = options.rnr_retry_count;
    request.shared_receive_queue = options.shared_receive_queue;
    auto id = ip_connect(*manager_, ends, request, options.private_data, now);
    if (!id) return id;
    ours_[key_of(*id)] = {.qp = qp, .options = options};
    ours_[key_of(*id)].options.private_data = {};
    return id;
}

CmResult Connections::accept(CmId id, Qpn qp, const ConnectOptions& options, Instant now) {
    const auto asked = requested_.find(key_of(id));
    if (asked == requested_.end()) return std::unexpected(CmError::unknown_id);
    ConnectionParameters parameters = asked->second;
    parameters.responder_resources = std::min(parameters.responder_resources, options.responder_resources);
    parameters.initiator_depth = std::min(parameters.initiator_depth, options.initiator_depth);
    Ours ours{.qp = qp, .options = options};
    ours.options.private_data = {};
    const Psn expected = next_psn();
    if (!to_init(qp, options, parameters.pkey) || !program(ours, parameters, expected))
        return std::unexpected(CmError::invalid_parameter);
    const AcceptParameters granted{.local_qpn = qp,
                                   .starting_psn = expected,
                                   .responder_resources = parameters.responder_resources,
                                   .initiator_depth = parameters.initiator_depth,
                                   .rnr_retry_count = options.rnr_retry_count,
                                   .shared_receive_queue = options.shared_receive_queue,
                                   .private_data = options.private_data};
    if (auto done = manager_->accept(id, granted, now); !done) return done;
    requested_.erase(asked);
    ours_[key_of(id)] = std::move(ours);
    return {};
}

CmResult Connections::reject(CmId id, Bytes private_data, Instant now) {
    requested_.erase(key_of(id));
    return manager_->reject(id, RejectReason::consumer, {}, private_data, now);
}

CmResult Connections::disconnect(CmId id, Instant now) {
    if (const auto ours = ours_.find(key_of(id)); ours != ours_.end())
        static_cast<void>(adapter_->modify_qp(ours->second.qp, {.qp_state = QpState::err}));
    return manager_->disconnect(id, {}, now);
}

std::expected<CmId, CmError> Connections::resolve(const Target& target, Bytes private_data, Instant now) {
    const Address source = source_for(target.address);
    if (source.space == AddressSpace::none) return std::unexpected(CmError::invalid_parameter);
    const IpEnds ends{.source = source,
                      .destination = target.address,
                      .source_port = IpPort{next_port_},
                      .destination_port = target.port};
    next_port_ = static_cast<std::uint16_t>(next_port_ + 1) | kFirstPort;
    return ip_resolve(*manager_, target.space, ends, private_data, now);
}

CmResult Connections::answer(CmId id, Qpn qp, Qkey qkey, Bytes private_data, Instant now) {
    return manager_->sidr_reply(id, {.status = SidrStatus::valid, .qpn = qp, .qkey = qkey}, private_data, now);
}

verbs::Result<void> Connections::activate_datagrams(Qpn qp, Qkey qkey) {
    if (auto done = adapter_->modify_qp(qp, {.qp_state = QpState::init, .pkey = kDefaultPkey, .qkey = qkey}); !done)
        return done;
    if (auto done = adapter_->modify_qp(qp, {.qp_state = QpState::rtr}); !done) return done;
    return adapter_->modify_qp(qp, {.qp_state = QpState::rts, .sq_psn = next_psn()});
}

void Connections::poll(Instant now) {
    for (const verbs::AsyncEvent& event : adapter_->take_async_events()) {
        if (event.type == verbs::AsyncEventType::comm_est) manager_->communication_established(event.qp, now);
        if (async_.size() < verbs::kMaxAsyncEvents) async_.push_back(event);
    }
    for (ConnectionEvent& event : manager_->take_events()) take(std::move(event), now);
}

void Connections::take(ConnectionEvent event, Instant now) {
    const auto ours = ours_.find(key_of(event.id));
    if (ours != ours_.end()) event.local_qpn = ours->second.qp;
    if (refuse_unreadable(event, now)) return;
    switch (event.kind) {
        case ConnectionEventKind::request: requested_[key_of(event.id)] = event.parameters; break;
        case ConnectionEventKind::reply: finish_active(event, now); break;
        case ConnectionEventKind::rejected:
        case ConnectionEventKind::unreachable:
        case ConnectionEventKind::disconnected:
            if (ours != ours_.end())
                static_cast<void>(adapter_->modify_qp(ours->second.qp, {.qp_state = QpState::err}));
            break;
        default: break;
    }
    if (event.last) {
        requested_.erase(key_of(event.id));
        ours_.erase(key_of(event.id));
    }
    events_.push_back(std::move(event));
}

// Who asks for a service of the RDMA IP CM says which IP addresses it means (A11.6): of a REQ or SIDR_REQ where nobody
// can read them the application does not hear.
bool Connections::refuse_unreadable(const ConnectionEvent& event, Instant now) {
    const bool datagrams = event.kind == ConnectionEventKind::sidr_request;
    if (!datagrams && event.kind != ConnectionEventKind::request) return false;
    if (!ip_service_of(event.service) || read_ip_cm(event.private_data.bytes())) return false;
    if (datagrams) static_cast<void>(manager_->sidr_reply(event.id, {.status = SidrStatus::rejected}, {}, now));
    else static_cast<void>(reject(event.id, {}, now));
    return true;
}

// A REP came: the queue pair goes to RTS, the RTU says so. What cannot be programmed is refused.
void Connections::finish_active(ConnectionEvent& event, Instant now) {
    const auto ours = ours_.find(key_of(event.id));
    event.kind = ConnectionEventKind::rejected;
    if (ours == ours_.end()) return;
    if (program(ours->second, event.parameters, event.parameters.local_psn)) {
        if (manager_->ready(event.id, {}, now)) event.kind = ConnectionEventKind::established;
        return;
    }
    event.rejection.reason = RejectReason::unsupported;
    event.last = true;  // of an attempt that the consumer refuses the connection manager says no more
    static_cast<void>(manager_->reject(event.id, RejectReason::unsupported, {}, {}, now));
    static_cast<void>(adapter_->modify_qp(ours->second.qp, {.qp_state = QpState::err}));
}

std::vector<ConnectionEvent> Connections::take_events() { return std::exchange(events_, {}); }

std::vector<verbs::AsyncEvent> Connections::take_async_events() { return std::exchange(async_, {}); }

}  // namespace qps::transport::live
