#include <dissect/headers/infiniband.hpp>
#include <transport-replay/responder.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint32_t kAtomicLength = 8;
constexpr std::uint32_t kMaxReceives = 1U << 20;  // a counter that saturates; no queue of a device is longer

// NAK codes (9.7.5.2.1)
constexpr std::uint8_t kSequenceError = 0, kInvalidRequest = 1, kRemoteAccessError = 2, kRemoteOperationalError = 3;

constexpr std::uint8_t syndrome(SyndromeType type, std::uint8_t code) {
    return static_cast<std::uint8_t>(std::to_underlying(type) << 5 | (code & 31));
}

constexpr Opcode opcode_of(Verb verb, Place place) {
    for (const Operation& row : opcode_rows::kOperations)
        if (row.verb == verb && row.place == place && !row.request) return Opcode{row.code};
    return Opcode::rc_acknowledge;
}

bool begins(const OpcodeRow& row) { return row.place == Place::first || row.place == Place::only; }
bool ends(const OpcodeRow& row) { return row.place == Place::last || row.place == Place::only; }
bool is_atomic(const OpcodeRow& row) { return row.verb == Verb::compare_swap || row.verb == Verb::fetch_add; }

std::uint32_t size_of(const TransportPacket& packet) { return static_cast<std::uint32_t>(packet.payload.size()); }

// Whether the request takes a posted receive: a SEND where it begins, a WRITE with immediate where it ends.
bool takes_receive(const TransportPacket& request) {
    const OpcodeRow& row = info(request.opcode);
    return (row.verb == Verb::send && begins(row)) || (row.verb == Verb::write && request.immediate.has_value());
}

AccessRights rights_for(const OpcodeRow& row) {
    return {.read = row.verb == Verb::read_request, .write = row.verb == Verb::write, .atomic = is_atomic(row)};
}

bool covers(AccessRights granted, AccessRights wanted) {
    return (granted.read || !wanted.read) && (granted.write || !wanted.write) && (granted.atomic || !wanted.atomic);
}

}  // namespace

RequestEvent request_event(Opcode opcode) {
    const OpcodeRow& row = info(opcode);
    const auto place = static_cast<unsigned>(std::to_underlying(row.place));
    if (row.verb == Verb::send) return static_cast<RequestEvent>(std::to_underlying(RequestEvent::send_first) + place);
    if (row.verb == Verb::write) return static_cast<RequestEvent>(std::to_underlying(RequestEvent::write_first) + place);
    return RequestEvent::other;
}

MemoryRegion* Memory::find(Rkey key) {
    const auto region = std::ranges::find_if(regions, [&](const MemoryRegion& row) { return row.valid && row.key == key; });
    return region == regions.end() ? nullptr : &*region;
}

std::optional<MutableBytes> Memory::reach(const RemoteAccess& access, AccessRights wanted) {
    MemoryRegion* region = find(access.key);
    if (region == nullptr || !covers(region->rights, wanted) || access.address < region->base) return std::nullopt;
    const std::uint64_t offset = access.address - region->base;
    if (offset > region->bytes.size() || access.length > region->bytes.size() - offset) return std::nullopt;
    return MutableBytes(region->bytes).subspan(offset, access.length);
}

// The checks of 9.7.4.1, in its order. Each looks at one thing and says nothing where the request may go on.
struct ResponderChecks {
    using Verdict = std::optional<ResponderVerdict>;

    static Verdict header(const Responder& responder, const TransportPacket& request, Memory&) {
        const OpcodeRow& row = info(request.opcode);
        if (responder.state_ == ResponderState::error) return ResponderVerdict::dropped;
        if (!row.defined || !row.request || row.service != responder.settings_.service) return ResponderVerdict::dropped;
        if (row.service == Service::ud && (!request.datagram || request.datagram->key != responder.settings_.qkey))
            return ResponderVerdict::dropped;  // 10.2.5
        return std::nullopt;
    }

    static Verdict sequence_number(const Responder& responder, const TransportPacket& request, Memory&) {
        if (responder.settings_.service != Service::rc) return std::nullopt;
        const std::int32_t ahead = request.psn - responder.expected_;
        if (ahead == 0) return std::nullopt;
        if (ahead < 0) return ResponderVerdict::duplicate;
        return step(kResponderMachine, responder.state_, ResponderEvent::gap) ? ResponderVerdict::gap : ResponderVerdict::gap_ignored;
    }

    static Verdict opcode_sequence(const Responder& responder, const TransportPacket& request, Memory&) {
        if (step(kMessageMachine, responder.current_.state, request_event(request.opcode))) return std::nullopt;
        return ResponderVerdict::invalid_request;
    }

    static Verdict opcode_allowed(const Responder& responder, const TransportPacket& request, Memory&) {
        const OpcodeRow& row = info(request.opcode);
        const bool known = row.verb == Verb::send || row.verb == Verb::write || row.verb == Verb::read_request || is_atomic(row);
        if (!known || !covers(responder.settings_.allowed, rights_for(row))) return ResponderVerdict::invalid_request;
        return std::nullopt;
    }

    static Verdict resources(const Responder& responder, const TransportPacket& request, Memory&) {
        const OpcodeRow& row = info(request.opcode);
        if (responder.responses_.size() >= kMaxResponses) return ResponderVerdict::dropped;
        if (takes_receive(request) && responder.receives_ == 0) return ResponderVerdict::not_ready;
        if (row.verb != Verb::read_request && !is_atomic(row)) return std::nullopt;
        const auto open = std::ranges::count_if(responder.responses_, [](const Responder::Job& job) {
            return !job.again && (job.kind == Responder::JobKind::read || job.kind == Responder::JobKind::atomic);
        });
        if (open >= responder.settings_.resources) return ResponderVerdict::invalid_request;
        return std::nullopt;
    }

    static Verdict length(const Responder& responder, const TransportPacket& request, Memory&) {
        const OpcodeRow& row = info(request.opcode);
        const std::uint32_t mtu = bytes_of(responder.settings_.mtu);
        const std::uint32_t size = size_of(request);
        const bool needs_access = row.verb == Verb::read_request || is_atomic(row) || (row.verb == Verb::write && begins(row));
        bool right = size <= mtu && (!needs_access || request.access.has_value());
        if (row.place == Place::first || row.place == Place::middle) right = right && size == mtu;
        if (row.place == Place::last) right = right && size > 0;
        if (right && row.verb == Verb::send) right = size <= responder.settings_.receive_bytes - responder.current_.length;
        if (right && row.verb == Verb::write) {
            const std::uint32_t left = begins(row) ? request.access->length : responder.current_.target.length;
            right = left <= kMaxDmaLength && (ends(row) ? size == left : size < left);
        }
        if (right && row.verb == Verb::read_request) right = request.access->length <= kMaxDmaLength && size == 0;
        if (right && is_atomic(row)) right = request.atomic.has_value() && request.access->address % kAtomicLength == 0 && size == 0;
        return right ? Verdict{} : ResponderVerdict::invalid_request;
    }

    // The key of a zero-length READ or WRITE is not looked at (C9-88).
    static Verdict remote_key(const Responder& responder, const TransportPacket& request, Memory& memory) {
        const OpcodeRow& row = info(request.opcode);
        if (row.verb == Verb::send) return std::nullopt;
        const RemoteAccess wanted = begins(row) ? *request.access : responder.current_.target;
        if (wanted.length == 0 || memory.reach(wanted, rights_for(row))) return std::nullopt;
        return ResponderVerdict::remote_access_error;
    }
};

namespace {

constexpr std::array kChecks{
    ResponderChecks::header,    ResponderChecks::sequence_number, ResponderChecks::opcode_sequence, ResponderChecks::opcode_allowed,
    ResponderChecks::resources, ResponderChecks::length,          ResponderChecks::remote_key,
};

}  // namespace

Responder::Responder(const ResponderSettings& settings) : settings_(settings), expected_(settings.expected) {
    settings_.resources = std::min(settings_.resources, kMaxResources);
}

void Responder::post_receives(std::uint32_t count) { receives_ = std::min(kMaxReceives, receives_ + std::min(count, kMaxReceives)); }

void Responder::move_to_error() { move(ResponderEvent::fatal); }

void Responder::move(ResponderEvent event) { state_ = step(kResponderMachine, state_, event).value_or(state_); }

ResponderActions Responder::process(const TransportPacket& request, Memory& memory) {
    ResponderActions actions;
    if (settings_.service == Service::uc && request.psn != expected_) {  // a gap discards the message it is in (9.8.2.2.2)
        current_ = {};
        expected_ = request.psn;
    }
    actions.verdict = ResponderVerdict::accept;
    for (const auto check : kChecks) {
        const auto verdict = check(*this, request, memory);
        if (!verdict) continue;
        actions.verdict = *verdict;
        break;
    }
    if (actions.verdict == ResponderVerdict::accept) actions.verdict = execute(request, memory, actions);
    if (actions.verdict == ResponderVerdict::duplicate) actions.verdict = answer_again(request);
    if (actions.verdict != ResponderVerdict::accept) refuse(request, actions.verdict);
    if (settings_.service != Service::rc && actions.verdict != ResponderVerdict::accept) actions.verdict = ResponderVerdict::dropped;
    return actions;
}

// What a refusal means for the queue pair: a NAK and another state, or nothing.
void Responder::refuse(const TransportPacket& request, ResponderVerdict verdict) {
    if (settings_.service != Service::rc) {
        if (settings_.service == Service::uc) expected_ = request.psn + 1;
        current_ = {};
        return;
    }
    const auto negative = [&](SyndromeType type, std::uint8_t code, Psn psn) {
        respond({.kind = JobKind::negative, .psn = psn, .acknowledgment = {syndrome(type, code), msn()}, .access = {}});
        unacknowledged_ = 0;
    };
    switch (verdict) {
        case ResponderVerdict::gap: negative(SyndromeType::nak, kSequenceError, expected_); return move(ResponderEvent::gap);
        case ResponderVerdict::not_ready:
            negative(SyndromeType::rnr_nak, settings_.rnr_timer, request.psn);
            return move(ResponderEvent::not_ready);
        case ResponderVerdict::invalid_request: negative(SyndromeType::nak, kInvalidRequest, request.psn); break;
        case ResponderVerdict::remote_access_error: negative(SyndromeType::nak, kRemoteAccessError, request.psn); break;
        case ResponderVerdict::remote_operational_error: negative(SyndromeType::nak, kRemoteOperationalError, request.psn); break;
        case ResponderVerdict::invalidate_failed: break;
        default: return;
    }
    move(ResponderEvent::fatal);
}

ResponderVerdict Responder::execute(const TransportPacket& request, Memory& memory, ResponderActions& actions) {
    const OpcodeRow& row = info(request.opcode);
    const bool explicit_response = row.verb == Verb::read_request || is_atomic(row);
    const Psn psn = request.psn;
    if (takes_receive(request)) --receives_;
    if (explicit_response || ends(row)) msn_ = (msn_ + 1) & Psn::kMask;  // C9-148
    if (row.verb == Verb::read_request) execute_read(request);
    else if (is_atomic(row)) execute_atomic(request, memory);
    else place_payload(request, memory);
    expected_ = psn + (row.verb == Verb::read_request ? packets_of(request.access->length, settings_.mtu) : 1);
    current_.state = step(kMessageMachine, current_.state, request_event(request.opcode)).value_or(MessageState::between);
    move(ResponderEvent::accept);
    actions.message_done = ends(row);
    if (ends(row) && (row.verb == Verb::send || request.immediate)) {
        actions.received = ReceivedMessage{
            row.verb,          current_.length,    std::move(current_.bytes),
            request.immediate, request.invalidate, request.datagram ? std::optional(request.datagram->source_qp) : std::nullopt,
            request.solicited};
    }
    if (ends(row)) current_ = {};
    if (request.invalidate) {
        MemoryRegion* region = memory.find(*request.invalidate);
        if (region == nullptr) return ResponderVerdict::invalidate_failed;
        region->valid = false;
    }
    if (settings_.service == Service::rc && !explicit_response) acknowledge(psn, request.ack_request);
    return ResponderVerdict::accept;
}

void Responder::place_payload(const TransportPacket& request, Memory& memory) {
    const OpcodeRow& row = info(request.opcode);
    if (begins(row)) current_ = {};
    if (row.verb == Verb::send) {
        current_.bytes.insert(current_.bytes.end(), request.payload.begin(), request.payload.end());
    } else {
        if (begins(row)) current_.target = *request.access;
        const std::uint32_t size = size_of(request);
        const RemoteAccess here{current_.target.address, current_.target.key, size};
        if (const auto place = memory.reach(here, {.write = true}); size > 0 && place) std::ranges::copy(request.payload, place->begin());
        current_.target.address += size;
        current_.target.length -= size;
    }
    current_.length += size_of(request);
}

void Responder::execute_read(const TransportPacket& request) {
    remember({request.psn, packets_of(request.access->length, settings_.mtu), *request.access, std::nullopt});
    respond({.kind = JobKind::read, .psn = request.psn, .acknowledgment = positive(), .access = *request.access});
}

void Responder::execute_atomic(const TransportPacket& request, Memory& memory) {
    const RemoteAccess target{request.access->address, request.access->key, kAtomicLength};
    const auto place = memory.reach(target, {.atomic = true});
    const std::uint64_t original = place ? read_be<std::uint64_t>(*place, 0) : 0;
    std::uint64_t next = original;
    if (info(request.opcode).verb == Verb::fetch_add) next = original + request.atomic->swap_or_add;
    else if (original == request.atomic->compare) next = request.atomic->swap_or_add;
    if (place) write_bits(*place, 0, 64, next);
    remember({request.psn, 1, *request.access, request.atomic, original});
    respond({.kind = JobKind::atomic, .psn = request.psn, .acknowledgment = positive(), .access = {}, .original = original});
}

void Responder::remember(Resource resource) {
    resources_.push_back(std::move(resource));
    while (resources_.size() > settings_.resources) resources_.pop_front();
}

// A duplicate changes nothing (9.7.4.1.1): SEND and WRITE are acknowledged again, a READ is read again, an ATOMIC has the
// result that was kept.
ResponderVerdict Responder::answer_again(const TransportPacket& request) {
    const OpcodeRow& row = info(request.opcode);
    if (responses_.size() >= kMaxResponses) return ResponderVerdict::duplicate_dropped;
    if (row.verb == Verb::send || row.verb == Verb::write) {
        acknowledge(acknowledgeable_after(request.psn), request.ack_request);
        return ResponderVerdict::duplicate;
    }
    if (!request.access) return ResponderVerdict::duplicate_dropped;
    for (const Resource& resource : resources_) {
        const std::int32_t index = request.psn - resource.psn;
        if (index < 0 || index >= static_cast<std::int32_t>(resource.packets) || request.access->key != resource.access.key) continue;
        if (is_atomic(row)) {
            if (!resource.atomic || !request.atomic || request.access->address != resource.access.address ||
                request.atomic->swap_or_add != resource.atomic->swap_or_add || request.atomic->compare != resource.atomic->compare)
                continue;
            respond({.kind = JobKind::atomic,
                     .again = true,
                     .psn = request.psn,
                     .acknowledgment = positive(),
                     .access = {},
                     .original = resource.original});
            return ResponderVerdict::duplicate;
        }
        const std::uint64_t skipped = static_cast<std::uint64_t>(index) * bytes_of(settings_.mtu);
        if (resource.atomic || request.access->address != resource.access.address + skipped ||
            request.access->length > resource.access.length - skipped)
            continue;
        respond({.kind = JobKind::read, .again = true, .psn = request.psn, .acknowledgment = positive(), .access = *request.access});
        return ResponderVerdict::duplicate;
    }
    return ResponderVerdict::duplicate_dropped;
}

// The most recent request executed, but not past a READ or ATOMIC after `psn`: the requester would take that for an implied
// NAK of it (C9-105).
Psn Responder::acknowledgeable_after(Psn psn) const {
    for (const Resource& resource : resources_)
        if (psn.before(resource.psn)) return resource.psn + Psn::kMask;  // the PSN before it
    return expected_ + Psn::kMask;
}

// Acknowledges now, or counts until enough is there. An ACK still queued last is replaced by one that says more.
void Responder::acknowledge(Psn psn, bool requested) {
    ++unacknowledged_;
    if (!requested && (settings_.ack_every == 0 || unacknowledged_ < settings_.ack_every)) return;
    unacknowledged_ = 0;
    if (!responses_.empty() && responses_.back().kind == JobKind::acknowledge) {
        Job& last = responses_.back();
        last.acknowledgment = positive();
        if (last.psn.before(psn)) last.psn = psn;
        return;
    }
    respond({.kind = JobKind::acknowledge, .psn = psn, .acknowledgment = positive(), .access = {}});
}

Acknowledgment Responder::positive() const { return {syndrome(SyndromeType::ack, kUnlimitedCredits), msn()}; }

void Responder::respond(Job job) { responses_.push_back(std::move(job)); }

std::optional<TransportPacket> Responder::poll(Memory& memory) {
    if (responses_.empty()) return std::nullopt;
    Job& job = responses_.front();
    TransportPacket packet;
    bool done = true;
    if (job.kind == JobKind::read) {
        const std::uint32_t before = job.access.length;
        packet = read_response(job, memory);
        if (packet.opcode == Opcode::rc_acknowledge) {  // the region is gone: the NAK has the PSN the response would have had
            responses_.clear();
            return packet;
        }
        done = before <= bytes_of(settings_.mtu);
    } else {
        const bool atomic = job.kind == JobKind::atomic;
        packet.opcode = atomic ? opcode_of(Verb::atomic_acknowledge, Place::only) : Opcode::rc_acknowledge;
        packet.psn = job.psn;
        packet.acknowledgment = job.acknowledgment;
        if (atomic) packet.atomic_result = job.original;
    }
    packet.dest_qp = settings_.peer;
    if (done) responses_.pop_front();
    return packet;
}

TransportPacket Responder::read_response(Job& job, Memory& memory) {
    const std::uint32_t size = std::min(job.access.length, bytes_of(settings_.mtu));
    const bool last = size == job.access.length;
    const RemoteAccess here{job.access.address, job.access.key, size};
    TransportPacket packet;
    packet.dest_qp = settings_.peer;
    packet.psn = job.psn;
    const auto place = memory.reach(here, {.read = true});
    if (size > 0 && !place) {
        packet.opcode = Opcode::rc_acknowledge;
        packet.acknowledgment = Acknowledgment{syndrome(SyndromeType::nak, kRemoteAccessError), msn()};
        move(ResponderEvent::fatal);
        return packet;
    }
    if (place) packet.payload.assign(place->begin(), place->end());
    const Place where = job.begun ? (last ? Place::last : Place::middle) : (last ? Place::only : Place::first);
    packet.opcode = opcode_of(Verb::read_response, where);
    if (where != Place::middle) packet.acknowledgment = job.acknowledgment;
    job.begun = true;
    job.psn = job.psn + 1;
    job.access.address += size;
    job.access.length -= size;
    return packet;
}

}  // namespace qps::transport
