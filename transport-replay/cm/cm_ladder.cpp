#include <dissect/base/timers.hpp>
#include <dissect/base/types.hpp>
#include <dissect/mad/administration.hpp>
#include <dissect/mad/attributes.hpp>
#include <dissect/mad/cm.hpp>
#include <transport-replay/cm/cm_ladder.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint16_t kReasonTimeout = 4;
constexpr std::uint64_t kMapped = 0xffff'0000'0000;  // ::ffff:0:0/96

// A field of a message, where the capture has it.
template <class T> void take_field(Bytes body, const Field& field, std::optional<T>& out) {
    if ((field.bit + field.width + 7U) / 8 > body.size()) return;
    if constexpr (sizeof(T) == sizeof(std::uint64_t)) out = static_cast<T>(read(body, field));
    else out = static_cast<T>(static_cast<std::uint32_t>(read(body, field)));
}

template <class T> T field_or_zero(Bytes body, const Field& field) { return static_cast<T>(read(body, field)); }

PrivateData private_data(Bytes body, const Field& field, std::size_t skip = 0) {
    PrivateData data;
    const std::size_t room = field.width / 8U - skip;
    const Bytes bytes = slice(body, field.bit / 8U + skip, room);
    std::size_t used = bytes.size();
    while (used > 0 && bytes[used - 1] == std::byte{0}) --used;
    data.room = static_cast<std::uint16_t>(room);
    data.used = static_cast<std::uint16_t>(used);
    std::ranges::copy(slice(bytes, 0, kPrivateBytesKept), data.first.begin());
    return data;
}

Address ip_address(Bytes header, const Field& version_4, const Field& version_6, bool is_v4) {
    if (is_v4) return {{0, kMapped | read(header, version_4)}, AddressSpace::none};
    return {{read_bits(header, version_6.bit, 64), read_bits(header, version_6.bit + 64U, 64)}, AddressSpace::none};
}

Address gid_at(Bytes record, const Field& field, AddressSpace space) {
    return {{read_bits(record, field.bit, 64), read_bits(record, field.bit + 64U, 64)}, space};
}

// A11: the service id's prefix says that the private data begins with the IP header of the service.
std::optional<CmIpService> ip_service(std::uint64_t service_id, Bytes body, const Field& private_field) {
    constexpr Field kVersion = named(kCmIpPrivateFields, "infiniband.cm.req.ip_cm.ipv");
    constexpr Field kPort = named(kCmIpPrivateFields, "infiniband.cm.req.ip_cm.sport");
    constexpr Field kSource4 = named(kCmIpPrivateFields, "infiniband.cm.req.ip_cm.sip4");
    constexpr Field kSource6 = named(kCmIpPrivateFields, "infiniband.cm.req.ip_cm.sip6");
    constexpr Field kDestination4 = named(kCmIpPrivateFields, "infiniband.cm.req.ip_cm.dip4");
    constexpr Field kDestination6 = named(kCmIpPrivateFields, "infiniband.cm.req.ip_cm.dip6");
    if (service_id >> 24 != kIpCmServicePrefix) return {};
    CmIpService service;
    service.protocol = static_cast<std::uint8_t>(service_id >> 16);
    service.port = static_cast<std::uint16_t>(service_id);
    const Bytes header = slice(body, private_field.bit / 8U, kIpCmHeaderLength);
    const std::uint64_t version = read(header, kVersion);
    if (header.size() < kIpCmHeaderLength || (version != 4 && version != 6)) return service;
    service.addressed = true;
    service.source_port = field_or_zero<std::uint16_t>(header, kPort);
    service.source = ip_address(header, kSource4, kSource6, version == 4);
    service.destination = ip_address(header, kDestination4, kDestination6, version == 4);
    return service;
}

CmService service_of(std::uint64_t type, std::uint64_t extended) {
    constexpr std::uint64_t kExtended = 3;
    if (type == kExtended) return extended == 1 ? CmService::xrc : CmService::other;
    return type == 0 ? CmService::rc : type == 1 ? CmService::uc : CmService::rd;
}

void take_req(Bytes body, CmAttempt& attempt) {
    constexpr Field kExtended = named(kCmReqFields, "infiniband.cm.req.ext_transport");
    constexpr Field kType = named(kCmReqFields, "infiniband.cm.req.transpsvctype");
    constexpr Field kPrivate = named(kCmReqFields, "infiniband.cm.req.private");
    take_field(body, named(kCmReqFields, "infiniband.cm.req.serviceid"), attempt.service_id);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.localqpn"), attempt.active.qpn);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.responderres"), attempt.active.responder_resources);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.initdepth"), attempt.active.initiator_depth);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.remoteresptout"), attempt.remote_response_timeout);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.e2eflowctrl"), attempt.active.flow_control);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.startpsn"), attempt.active.starting_psn);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.localresptout"), attempt.local_response_timeout);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.retrcount"), attempt.retry_count);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.pkey"), attempt.pkey);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.rnrretrcount"), attempt.active.rnr_retry_count);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.maxcmretr"), attempt.max_cm_retries);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.srq"), attempt.active.shared_receive_queue);
    take_field(body, named(kCmReqFields, "infiniband.cm.req.prim_localacktout"), attempt.local_ack_timeout);
    std::optional<std::uint32_t> mtu_code;
    take_field(body, named(kCmReqFields, "infiniband.cm.req.pppmtu"), mtu_code);
    if (mtu_code && *mtu_code >= 1 && *mtu_code <= kMtuCodes.size()) attempt.path_mtu = 128U << *mtu_code;
    if (body.size() > kExtended.bit / 8U) attempt.service = service_of(read(body, kType), read(body, kExtended));
    if (attempt.service_id) attempt.ip = ip_service(*attempt.service_id, body, kPrivate);
    const bool with_header = attempt.ip && attempt.ip->addressed;
    attempt.active.private_data = private_data(body, kPrivate, with_header ? kIpCmHeaderLength : 0);
}

void take_rep(Bytes body, CmAttempt& attempt) {
    // A14: an XRC target has its queue pair number where others have an EE context.
    const bool xrc = attempt.service == CmService::xrc;
    take_field(
        body,
        xrc ? named(kCmRepFields, "infiniband.cm.rep.localeecn") : named(kCmRepFields, "infiniband.cm.rep.localqpn"),
        attempt.passive.qpn);
    take_field(body, named(kCmRepFields, "infiniband.cm.rep.startpsn"), attempt.passive.starting_psn);
    take_field(body, named(kCmRepFields, "infiniband.cm.rep.respres"), attempt.passive.responder_resources);
    take_field(body, named(kCmRepFields, "infiniband.cm.rep.initdepth"), attempt.passive.initiator_depth);
    take_field(body, named(kCmRepFields, "infiniband.cm.rep.tgtackdelay"), attempt.target_ack_delay);
    take_field(body, named(kCmRepFields, "infiniband.cm.rep.e2eflowctrl"), attempt.passive.flow_control);
    take_field(body, named(kCmRepFields, "infiniband.cm.rep.rnrretrcount"), attempt.passive.rnr_retry_count);
    take_field(body, named(kCmRepFields, "infiniband.cm.rep.srq"), attempt.passive.shared_receive_queue);
    attempt.passive.private_data = private_data(body, named(kCmRepFields, "infiniband.cm.rep.private"));
}

void take_rej(Bytes body, bool from_active, CmAttempt& attempt) {
    std::optional<std::uint16_t> reason;
    take_field(body, named(kCmRejFields, "infiniband.cm.rej.reason"), reason);
    if (!reason) return;
    attempt.rejection = CmRejection{*reason, from_active,
                                    field_or_zero<std::uint8_t>(body, named(kCmRejFields, "infiniband.cm.rej.msgrej")),
                                    private_data(body, named(kCmRejFields, "infiniband.cm.rej.private"))};
}

void take_sidr_req(Bytes body, CmAttempt& attempt) {
    constexpr Field kPrivate = named(kCmSidrReqFields, "infiniband.cm.sidr_req.private");
    take_field(body, named(kCmSidrReqFields, "infiniband.cm.sidr_req.serviceid"), attempt.service_id);
    take_field(body, named(kCmSidrReqFields, "infiniband.cm.sidr_req.pkey"), attempt.pkey);
    if (attempt.service_id) attempt.ip = ip_service(*attempt.service_id, body, kPrivate);
    const bool with_header = attempt.ip && attempt.ip->addressed;
    attempt.active.private_data = private_data(body, kPrivate, with_header ? kIpCmHeaderLength : 0);
}

void take_sidr_rep(Bytes body, CmAttempt& attempt) {
    take_field(body, named(kCmSidrRepFields, "infiniband.cm.sidr_rep.status"), attempt.sidr_status);
    attempt.passive.private_data = private_data(body, named(kCmSidrRepFields, "infiniband.cm.sidr_rep.private"));
    if (!attempt.service_id)
        take_field(body, named(kCmSidrRepFields, "infiniband.cm.sidr_rep.serviceid"), attempt.service_id);
    if (attempt.sidr_status != 0) return;  // the rest is valid with status 0 only (12.11.2)
    take_field(body, named(kCmSidrRepFields, "infiniband.cm.sidr_rep.qpn"), attempt.passive.qpn);
    take_field(body, named(kCmSidrRepFields, "infiniband.cm.sidr_rep.qkey"), attempt.sidr_qkey);
}

// What a message says, into the attempt; `first` of its kind.
void take_parameters(const CmDatagram& datagram, bool from_active, bool first, CmAttempt& attempt) {
    CmSide& receiver = from_active ? attempt.passive : attempt.active;
    if (datagram.message == CmMessage::mra)
        take_field(datagram.body, named(kCmMraFields, "infiniband.cm.mra.servicetimeout"), attempt.mra_service_timeout);
    if (datagram.message == CmMessage::apr)
        take_field(datagram.body, named(kCmAprFields, "infiniband.cm.apr.status"), attempt.alternate_path_status);
    if (!first) return;
    switch (datagram.message) {
        case CmMessage::req: take_req(datagram.body, attempt); break;
        case CmMessage::rep: take_rep(datagram.body, attempt); break;
        case CmMessage::rej: take_rej(datagram.body, from_active, attempt); break;
        case CmMessage::sidr_req: take_sidr_req(datagram.body, attempt); break;
        case CmMessage::sidr_rep: take_sidr_rep(datagram.body, attempt); break;
        case CmMessage::dreq:
            if (!receiver.qpn)
                take_field(datagram.body, named(kCmDreqFields, "infiniband.cm.req.remoteqpneecn"), receiver.qpn);
            break;
        case CmMessage::lap:
            if (!receiver.qpn)
                take_field(datagram.body, named(kCmLapFields, "infiniband.cm.lap.remoteqpneecn"), receiver.qpn);
            break;
        default: break;
    }
}

void take_times(CmEvent event, Instant time, CmAttempt& attempt) {
    switch (event) {
        case CmEvent::req:
        case CmEvent::sidr_req:
            if (!attempt.requested) attempt.requested = time;
            break;
        case CmEvent::rep:
        case CmEvent::rej_by_passive:
        case CmEvent::sidr_rep:
            if (!attempt.answered) attempt.answered = time;
            break;
        case CmEvent::rtu: attempt.data_without_rtu.reset(); [[fallthrough]];
        case CmEvent::data:
            if (!attempt.confirmed) attempt.confirmed = time;
            break;
        default: break;
    }
}

// FNV-1a: repetitions of a REQ are the same bytes; anybody may forge them, and would only repeat.
std::uint64_t digest(Bytes bytes) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
    return hash | 1;  // 0 stands for none
}

bool is_request(CmMessage message) { return message == CmMessage::req || message == CmMessage::sidr_req; }

// ClassPortInfo, Notice, InformInfo: every class has them (13.4.8), no connection is meant.
bool is_about_the_class(Bytes datagram) {
    constexpr std::uint64_t kFirstOfTheClass = 0x10;
    return datagram.size() >= kMadHeaderLength &&
           read(datagram, named(kMadFields, "infiniband.mad.attributeid")) < kFirstOfTheClass;
}

// Whose message it is where nothing else is known of the attempt.
struct Role {
    bool sender_is_active;
    bool guessed;
};

Role role_of(const CmDatagram& datagram) {
    switch (datagram.message) {
        case CmMessage::req:
        case CmMessage::rtu:
        case CmMessage::lap:
        case CmMessage::sidr_req: return {true, false};
        case CmMessage::rep:
        case CmMessage::apr:
        case CmMessage::sidr_rep: return {false, false};
        case CmMessage::mra: return {datagram.about == 1, false};
        case CmMessage::rej: return {datagram.about == 1, datagram.about > 1};
        case CmMessage::dreq: return {true, true};
        case CmMessage::drep: break;
    }
    return {false, true};
}

// Of an attempt that has begun. A host that talks to itself is told apart by the ids.
bool is_from_active(const CmAttempt& attempt, const CmDatagram& datagram, const Address& source) {
    if (attempt.active.address != attempt.passive.address) return source == attempt.active.address;
    if (datagram.local_id == datagram.remote_id) return role_of(datagram).sender_is_active;
    if (datagram.local_id != 0 && attempt.active.communication_id)
        return datagram.local_id == *attempt.active.communication_id;
    return datagram.remote_id == 0 || datagram.remote_id != attempt.active.communication_id;
}

Duration cm_time(std::optional<std::uint8_t> code) { return dissect::timeout_of(code.value_or(kDefaultCmTimeout)); }

CmOutcome outcome_of(const CmAttempt& attempt, Instant now) {
    const Duration silent = now - attempt.last_time;
    const bool timeout_said = attempt.rejection && attempt.rejection->reason == kReasonTimeout;
    switch (attempt.state) {
        case CmState::unseen: return CmOutcome::open;
        case CmState::req_sent:
        case CmState::sidr_req_sent:
            return silent > cm_time(attempt.remote_response_timeout) ? CmOutcome::no_answer : CmOutcome::open;
        case CmState::mra_req_sent:
            return silent > cm_time(attempt.mra_service_timeout) ? CmOutcome::no_answer : CmOutcome::open;
        // A REP that is repeated was not confirmed in time: the wait is that for the first.
        case CmState::rep_sent:
            return now - attempt.answered.value_or(attempt.last_time) > cm_time(attempt.local_response_timeout)
                       ? CmOutcome::half_open
                       : CmOutcome::open;
        case CmState::mra_rep_sent:
            return silent > cm_time(attempt.mra_service_timeout) ? CmOutcome::half_open : CmOutcome::open;
        case CmState::established:
        case CmState::lap_sent: return CmOutcome::established;
        case CmState::rejected: return timeout_said ? CmOutcome::half_open : CmOutcome::rejected;
        case CmState::withdrawn: return timeout_said && !attempt.answered ? CmOutcome::no_answer : CmOutcome::rejected;
        case CmState::dreq_sent:
            return attempt.repeats_of(CmMessage::dreq) == 0 ? CmOutcome::disconnected
                                                            : CmOutcome::disconnect_unanswered;
        case CmState::timewait: return CmOutcome::disconnected;
        case CmState::sidr_answered: break;
    }
    if (!attempt.sidr_status) return CmOutcome::open;
    return *attempt.sidr_status == 0 ? CmOutcome::resolved : CmOutcome::unresolved;
}

constexpr std::array<std::string_view, 7> kServiceNames{"RC", "UC", "RD", "XRC", "other", "UD", "iWARP"};
constexpr std::array<std::string_view, 9> kOutcomeNames{"open",      "established", "rejected",
                                                        "no-answer", "half-open",   "disconnected",
                                                        "resolved",  "unresolved",  "disconnect-unanswered"};

constexpr std::uint32_t bit_of(CmEvent event) { return 1U << std::to_underlying(event); }

std::optional<CmStep> possible(const CmAttempt& attempt, CmEvent event, bool from_active) {
    return may_come_from(event, from_active) ? step(attempt.state, event) : std::nullopt;
}

}  // namespace

std::string_view name(CmService service) { return kServiceNames[std::to_underlying(service)]; }
std::string_view name(CmOutcome outcome) { return kOutcomeNames[std::to_underlying(outcome)]; }

std::string_view reject_reason(std::uint16_t reason) {
    const auto found = std::ranges::find(kCmRejectReasons, reason, &ValueName::value);
    return found == kCmRejectReasons.end() ? std::string_view{} : found->name;
}

std::optional<Duration> CmAttempt::setup_time() const {
    const auto end = confirmed ? confirmed : answered;
    if (!requested || !end) return {};
    return *end - *requested;
}

std::size_t CmTracker::IdHash::operator()(const IdKey& key) const {
    return mix(FlowHash{}({key.host, key.peer, {}}) + key.id);
}

CmNews CmTracker::take(const Observation& observation) {
    if (observation.kind != ObservationKind::transport) return {};
    now_ = std::max(now_, observation.time);
    if (observation.icrc == CrcStatus::bad) return {};  // nobody took it, and its fields may be others
    if (!observation.management) {
        if (!awaiting_data_.empty()) take_data(observation);
        return half_known_.empty() ? CmNews{} : match(observation);
    }
    const auto management_class = read(observation.payload, named(kMadFields, "infiniband.mad.mgmtclass"));
    if (management_class == std::to_underlying(ManagementClass::subnet_administration)) take_join(observation);
    if (management_class != std::to_underlying(ManagementClass::communication)) return {};
    const auto datagram = read_cm(observation.payload);
    if (!datagram) {
        if (!is_about_the_class(observation.payload)) ++report_.messages_unreadable;
        return {};
    }
    ++report_.messages;
    auto index = is_request(datagram->message) ? find_request(*datagram, observation) : find(*datagram, observation);
    const bool begins = !index;
    if (begins) index = begin(*datagram, observation);
    if (!index) {
        ++report_.messages_dropped;
        return {};
    }
    const CmAttempt& attempt = report_.attempts[*index];
    return take(
        *index, *datagram,
        begins ? role_of(*datagram).sender_is_active : is_from_active(attempt, *datagram, observation.flow.source),
        observation);
}

bool CmTracker::continues(const Observation& observation) const {
    if (!observation.management || observation.icrc == CrcStatus::bad) return false;
    const auto management_class = read(observation.payload, named(kMadFields, "infiniband.mad.mgmtclass"));
    if (management_class != std::to_underlying(ManagementClass::communication)) return false;
    const auto datagram = read_cm(observation.payload);
    return datagram &&
           (is_request(datagram->message) ? find_request(*datagram, observation) : find(*datagram, observation))
               .has_value();
}

std::optional<CmTracker::Index> CmTracker::find_request(const CmDatagram& datagram,
                                                        const Observation& observation) const {
    const auto found = by_id_.find(IdKey{observation.flow.source, observation.flow.destination, datagram.local_id});
    if (found == by_id_.end()) return {};
    const CmAttempt& attempt = report_.attempts[found->second];
    const std::uint64_t known = memories_[found->second].digests[std::to_underlying(event_of(datagram, true))];
    if (attempt.active.address != observation.flow.source || attempt.active.communication_id != datagram.local_id)
        return {};
    if (attempt.passive.address != observation.flow.destination || attempt.transaction != datagram.transaction)
        return {};
    const Duration since = observation.time - attempt.last_time;
    const bool same = known != 0 ? known == digest(datagram.body) : since <= kCmReordering;
    return same ? std::optional(found->second) : std::nullopt;
}

std::optional<CmTracker::Index> CmTracker::find(const CmDatagram& datagram, const Observation& observation) const {
    const auto fitting = [&](const Address& host, std::uint32_t id, const Address& peer,
                             std::uint32_t peer_id) -> std::optional<Index> {
        if (id == 0) return {};
        const auto found = by_id_.find(IdKey{host, peer, id});
        if (found == by_id_.end()) return {};
        const CmAttempt& attempt = report_.attempts[found->second];
        const bool is_active = attempt.active.address == host && attempt.active.communication_id == id;
        const CmSide& other = is_active ? attempt.passive : attempt.active;
        const bool ids_agree = peer_id == 0 || !other.communication_id || *other.communication_id == peer_id;
        return other.address == peer && ids_agree ? std::optional(found->second) : std::nullopt;
    };
    const FlowKey& flow = observation.flow;
    if (const auto index = fitting(flow.destination, datagram.remote_id, flow.source, datagram.local_id)) return index;
    return fitting(flow.source, datagram.local_id, flow.destination, datagram.remote_id);
}

std::optional<CmTracker::Index> CmTracker::begin(const CmDatagram& datagram, const Observation& observation) {
    if (report_.attempts.size() >= most_attempts_) return {};
    const auto index = static_cast<Index>(report_.attempts.size());
    const Role role = role_of(datagram);
    CmAttempt& attempt = report_.attempts.emplace_back();
    memories_.emplace_back();
    attempt.uid = index;
    attempt.roles_guessed = role.guessed;
    attempt.active.address = role.sender_is_active ? observation.flow.source : observation.flow.destination;
    attempt.passive.address = role.sender_is_active ? observation.flow.destination : observation.flow.source;
    attempt.transaction = datagram.transaction;
    attempt.first_frame = observation.frame;
    attempt.last_time = observation.time;
    if (datagram.message == CmMessage::sidr_req || datagram.message == CmMessage::sidr_rep)
        attempt.service = CmService::datagram;
    learn_ids(index, datagram, role.sender_is_active);
    return index;
}

void CmTracker::learn_ids(Index index, const CmDatagram& datagram, bool from_active) {
    CmAttempt& attempt = report_.attempts[index];
    const auto learn = [&](CmSide& side, const CmSide& peer, std::uint32_t id) {
        if (id == 0 || side.communication_id) return;
        side.communication_id = id;
        by_id_[IdKey{side.address, peer.address, id}] = index;
    };
    CmSide& sender = from_active ? attempt.active : attempt.passive;
    CmSide& receiver = from_active ? attempt.passive : attempt.active;
    learn(sender, receiver, datagram.local_id);
    learn(receiver, sender, datagram.remote_id);
}

CmNews CmTracker::take(Index index, const CmDatagram& datagram, bool from_active, const Observation& observation) {
    CmAttempt& attempt = report_.attempts[index];
    Memory& memory = memories_[index];
    const CmEvent event = event_of(datagram, from_active);
    if (event == CmEvent::lap && memory.lap_transaction != datagram.transaction) {  // another alternate path
        memory.lap_transaction = datagram.transaction;
        for (std::uint32_t& seen : memory.seen)
            seen &= ~(bit_of(CmEvent::lap) | bit_of(CmEvent::mra_of_lap) | bit_of(CmEvent::apr));
    }
    CmSide& sender = from_active ? attempt.active : attempt.passive;
    if (!sender.network) sender.network = observation.network;
    std::uint32_t& seen = memory.seen[from_active ? 1 : 0];
    const bool first = (seen & bit_of(event)) == 0;
    const std::uint64_t said = digest(datagram.body);
    std::uint64_t& said_before = memory.digests[std::to_underlying(event)];
    const bool came_late = !first && said == said_before && !possible(attempt, event, from_active);
    const bool refused = !came_late && !advance(attempt, event, from_active, observation.frame);
    auto& repeats = attempt.repeats[std::to_underlying(datagram.message)];
    if (!first && !refused && repeats < UINT16_MAX) ++repeats;
    if (!refused && !came_late) {
        seen |= bit_of(event);
        if (first) said_before = said;
        learn_ids(index, datagram, from_active);
        take_parameters(datagram, from_active, first, attempt);
        take_times(event, observation.time, attempt);
        watch_for_data(index);
        if (event == CmEvent::rtu) watch_for_answers(index);
    }
    attempt.last_frame = observation.frame;
    attempt.last_time = observation.time;
    if (attempt.ladder.size() < kMaxCmRungs)
        attempt.ladder.push_back(
            {observation.frame, observation.time, datagram.message, from_active, !first, refused, attempt.state});
    else ++attempt.rungs_dropped;
    CmNews news{CmNews::Kind::message, attempt.uid, from_active};
    if (refused || !first) return news;
    const bool both_known = attempt.active.qpn && attempt.passive.qpn;
    if ((event == CmEvent::rep || event == CmEvent::req) && both_known) {
        news.kind = CmNews::Kind::paired;
        return news;
    }
    const bool ends = event == CmEvent::dreq || event == CmEvent::drep || event == CmEvent::rej_by_active ||
                      event == CmEvent::rej_by_passive;
    if (ends) news.kind = CmNews::Kind::released;
    return news;
}

bool CmTracker::advance(CmAttempt& attempt, CmEvent event, bool from_active, FrameIndex frame) {
    if (const auto next = possible(attempt, event, from_active)) {
        attempt.state = next->to;
        attempt.incomplete |= next->gap;
        return true;
    }
    ++attempt.refused;
    if (report_.refusals.size() < kMaxCmRefusals)
        report_.refusals.push_back({attempt.uid, attempt.state, event, from_active, frame});
    else ++report_.refusals_dropped;
    return false;
}

void CmTracker::watch_for_data(Index index) {
    const CmAttempt& attempt = report_.attempts[index];
    if (!attempt.passive.qpn) return;
    const FlowKey flow{attempt.active.address, attempt.passive.address, *attempt.passive.qpn};
    if (attempt.state == CmState::rep_sent || attempt.state == CmState::mra_rep_sent) {
        awaiting_data_[flow] = index;
    } else if (const auto found = awaiting_data_.find(flow); found != awaiting_data_.end() && found->second == index) {
        awaiting_data_.erase(found);
    }
}

void CmTracker::take_data(const Observation& observation) {
    const auto found = awaiting_data_.find(observation.flow);
    if (found == awaiting_data_.end()) return;
    CmAttempt& attempt = report_.attempts[found->second];
    awaiting_data_.erase(found);
    if (!advance(attempt, CmEvent::data, true, observation.frame)) return;
    attempt.data_without_rtu = observation.frame;
    take_times(CmEvent::data, observation.time, attempt);
}

void CmTracker::take_join(const Observation& observation) {
    constexpr std::uint64_t kGet = 0x01, kSet = 0x02, kDelete = 0x15, kGetResponse = 0x81, kDeleteResponse = 0x95;
    constexpr auto kRecord = std::ranges::find(kMadAttributes, LayerKind::mc_member_record, &MadAttribute::data);
    const Bytes datagram = observation.payload;
    if (read(datagram, named(kMadFields, "infiniband.mad.attributeid")) != kRecord->id) return;
    const std::uint64_t method = read(datagram, named(kMadFields, "infiniband.mad.method"));
    const std::uint64_t transaction = read(datagram, named(kMadFields, "infiniband.mad.transactionid"));
    const Bytes record = slice(datagram, kRecord->offset);
    if (method == kGetResponse || method == kDeleteResponse) {
        const auto open = open_joins_.find(IdKey{observation.flow.destination, observation.flow.source, transaction});
        if (open == open_joins_.end()) return;
        MulticastJoin& join = report_.joins[open->second];
        open_joins_.erase(open);
        join.status = field_or_zero<std::uint16_t>(datagram, named(kMadFields, "infiniband.mad.status"));
        join.answered_after = observation.time - join.time;
        if (*join.status != 0) return;
        take_field(record, named(kMcMemberRecordFields, "infiniband.mcmemberrecord.mlid"), join.mlid);
        take_field(record, named(kMcMemberRecordFields, "infiniband.mcmemberrecord.q_key"), join.qkey);
        return;
    }
    const IdKey key{observation.flow.source, observation.flow.destination, transaction};
    if ((method != kGet && method != kSet && method != kDelete) || open_joins_.contains(key)) return;
    if (report_.joins.size() >= kMaxMulticastJoins) {
        ++report_.joins_dropped;
        return;
    }
    open_joins_[key] = static_cast<Index>(report_.joins.size());
    MulticastJoin join;
    join.frame = observation.frame;
    join.time = observation.time;
    join.member = observation.flow.source;
    join.group =
        gid_at(record, named(kMcMemberRecordFields, "infiniband.mcmemberrecord.mgid"), AddressSpace::infiniband_gid);
    join.port =
        gid_at(record, named(kMcMemberRecordFields, "infiniband.mcmemberrecord.portgid"), AddressSpace::infiniband_gid);
    join.method = static_cast<std::uint8_t>(method);
    join.join_state =
        field_or_zero<std::uint8_t>(record, named(kMcMemberRecordFields, "infiniband.mcmemberrecord.joinstate"));
    report_.joins.push_back(join);
}

void CmTracker::add_peaks(Peaks& peaks) const {
    peaks.add(Need::attempts, report_.attempts.size(), most_attempts_);
    peaks.add(Need::joins, report_.joins.size(), kMaxMulticastJoins);
    peaks.add(Need::refusals, report_.refusals.size(), kMaxCmRefusals);
}

CmReport CmTracker::finish() {
    for (CmAttempt& attempt : report_.attempts) attempt.outcome = outcome_of(attempt, now_);
    return std::exchange(*this, CmTracker{}).report_;
}

}  // namespace qps::transport
