// What is said about requests: acknowledgments, NAKs, responses, and the same again to duplicates.
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/queue_pair/responder.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t syndrome(SyndromeType type, std::uint8_t code) {
    return static_cast<std::uint8_t>(std::to_underlying(type) << 5 | (code & 31));
}

consteval Opcode response_opcode(Verb verb, Place place) {
    for (const Operation& row : opcode_rows::kOperations)
        if (row.verb == verb && row.place == place && !row.request) return Opcode{row.code};
    return Opcode::rc_acknowledge;
}
constexpr Opcode kAtomicAcknowledge = response_opcode(Verb::atomic_acknowledge, Place::only);
constexpr std::array kReadResponses{
    response_opcode(Verb::read_response, Place::first), response_opcode(Verb::read_response, Place::middle),
    response_opcode(Verb::read_response, Place::last), response_opcode(Verb::read_response, Place::only)};  // by Place

// The most credits there is a code for that are not more than there are receives (9.7.7.2).
std::uint8_t credit_code(std::size_t receives) {
    const auto above = std::ranges::upper_bound(kCredits, receives);
    return static_cast<std::uint8_t>(above - kCredits.begin() - 1);
}

}  // namespace

// A duplicate changes nothing (9.7.4.1.1): SEND and WRITE are acknowledged again, a READ is read again, an ATOMIC has
// the result that was kept, ATOMIC WRITE and FLUSH are confirmed again.
ResponderVerdict Responder::answer_again(const TransportPacket& request) {
    const OpcodeRow& row = info(request.opcode);
    if (responses_.size() >= kMaxResponses) return ResponderVerdict::duplicate_dropped;
    if (row.verb == Verb::send || row.verb == Verb::write) {
        acknowledge(acknowledgeable_after(request.psn), request.ack_request);
        return ResponderVerdict::duplicate;
    }
    for (std::size_t i = 0; request.access && i < resources_.size(); ++i) {
        const Resource& resource = resources_[i];
        if (!is_again(request, resource)) continue;
        Job job{.kind = JobKind::done,
                .again = true,
                .psn = request.psn,
                .acknowledgment = positive(),
                .original = resource.original};
        if (row.is_atomic()) job.kind = JobKind::atomic;
        if (row.verb == Verb::read_request) {
            job.kind = JobKind::read;
            job.access = *request.access;
            job.srq = request.srq;
        }
        respond(job);
        return ResponderVerdict::duplicate;
    }
    return ResponderVerdict::duplicate_dropped;
}

// Identical in all respects; of a READ the same from a packet on, or less.
bool Responder::is_again(const TransportPacket& request, const Resource& resource) const {
    const OpcodeRow& row = info(request.opcode);
    const std::int32_t index = request.psn - resource.psn;
    if (row.verb != resource.verb || index < 0 || index >= static_cast<std::int32_t>(resource.packets)) return false;
    const RemoteAccess& access = *request.access;
    if (row.verb == Verb::read_request) {
        const std::uint64_t skipped = static_cast<std::uint64_t>(index) * bytes_of(settings_.mtu);
        return access.key == resource.access.key && access.address == resource.access.address + skipped &&
               access.length <= resource.access.length - skipped;
    }
    if (row.is_atomic())
        return request.atomic == resource.atomic && access.key == resource.access.key &&
               access.address == resource.access.address;
    if (row.verb == Verb::flush) return request.flush == resource.flush && access == resource.access;
    if (access != resource.access || request.payload.size() != kAtomicLength) return false;
    return std::memcmp(&resource.original, request.payload.data(), kAtomicLength) == 0;  // ATOMIC WRITE
}

// The most recent request executed, but not past a READ or ATOMIC after `psn`: the requester would take that for an
// implied NAK of it (C9-105).
Psn Responder::acknowledgeable_after(Psn psn) const {
    for (std::size_t i = 0; i < resources_.size(); ++i)
        if (psn.before(resources_[i].psn)) return resources_[i].psn + Psn::kMask;  // the PSN before it
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
    respond({.kind = JobKind::acknowledge, .psn = psn, .acknowledgment = positive()});
}

Acknowledgment Responder::positive() const { return {syndrome(SyndromeType::ack, credits_), msn()}; }
Acknowledgment Responder::nak(NakCode code) const {
    return {syndrome(SyndromeType::nak, std::to_underlying(code)), msn()};
}
Acknowledgment Responder::rnr_nak() const { return {syndrome(SyndromeType::rnr_nak, settings_.rnr_timer), msn()}; }

void Responder::count_credits(const ReceiveQueue& receives) {
    if (settings_.credits && !receives.shared()) credits_ = credit_code(receives.size());
}

void Responder::advertise(const ReceiveQueue& receives) {
    if (credits_ != 0 || receives.size() == 0 || !is_acknowledged(settings_.service) || state_ == ResponderState::error)
        return;
    if (responses_.size() >= kMaxResponses) return;
    count_credits(receives);
    acknowledge(expected_ + Psn::kMask, true);
}

void Responder::respond(const Job& job) {
    if (!job.again && job.kind >= JobKind::read) ++open_;
    responses_.push_back(job);
}

// A READ that was asked for again after its region or window went: the copy came late, and the requester has what it
// read. Not a reason to end the connection; who really still waits for it gives up.
void Responder::forget_stale(const Memory& memory) {
    while (!responses_.empty()) {
        const Job& job = responses_.front();
        const std::uint32_t size = std::min(job.access.length, bytes_of(settings_.mtu));
        const bool stale = job.kind == JobKind::read && job.again && size > 0 &&
                           !memory.reach({job.access.address, job.access.key, size}, {.read = true}, settings_.local);
        if (!stale) return;
        responses_.pop_front();
    }
}

std::optional<TransportPacket> Responder::poll(const Memory& memory) {
    forget_stale(memory);
    if (responses_.empty()) return std::nullopt;
    Job& job = responses_.front();
    TransportPacket packet;
    bool done = true;
    if (job.kind == JobKind::read) {
        done = job.access.length <= bytes_of(settings_.mtu);
        packet = read_response(job, memory);
    } else {
        packet.opcode = job.kind == JobKind::atomic ? kAtomicAcknowledge
                        : job.kind == JobKind::done ? kReadResponses[static_cast<std::size_t>(Place::only)]
                                                    : Opcode::rc_acknowledge;
        packet.psn = job.psn;
        packet.acknowledgment = job.acknowledgment;
        if (job.kind == JobKind::atomic) packet.atomic_result = job.original;
    }
    packet.dest_qp = settings_.peer;
    packet.pkey = settings_.pkey;
    if (packet.opcode == Opcode::rc_acknowledge &&
        job.kind == JobKind::read) {  // the region is gone: nothing after it is answered
        responses_.clear();
        open_ = 0;
    } else if (done) {
        if (!job.again && job.kind >= JobKind::read) --open_;
        responses_.pop_front();
    }
    packet.opcode = of_service(packet.opcode);
    return packet;
}

// The opcodes above are those of RC: the service is in their upper three bits.
Opcode Responder::of_service(Opcode opcode) const {
    return static_cast<Opcode>(std::to_underlying(opcode) | std::to_underlying(settings_.service) << 5);
}

// The next packet of a READ; where its region is gone, the NAK with the PSN that the response would have had.
TransportPacket Responder::read_response(Job& job, const Memory& memory) {
    const std::uint32_t size = std::min(job.access.length, bytes_of(settings_.mtu));
    const bool last = size == job.access.length;
    const RemoteAccess here{job.access.address, job.access.key, size};
    TransportPacket packet;
    packet.psn = job.psn;
    const auto place = size > 0 ? memory.reach(here, {.read = true}, settings_.local) : MutableBytes{};
    if (!place) {
        packet.opcode = Opcode::rc_acknowledge;
        packet.acknowledgment = nak(NakCode::remote_access_error);
        move(ResponderEvent::fatal);
        return packet;
    }
    packet.payload = *place;
    const Place where = job.begun ? (last ? Place::last : Place::middle) : (last ? Place::only : Place::first);
    packet.opcode = kReadResponses[static_cast<std::size_t>(where)];
    if (where != Place::middle) packet.acknowledgment = job.acknowledgment;
    job.begun = true;
    job.psn = job.psn + 1;
    job.access.address += size;
    job.access.length -= size;
    return packet;
}

}  // namespace qps::transport
