// How requests are judged and executed. responder_answers.cpp has what is said about them.
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/queue_pair/responder.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// Requests with a response of their own, which takes a resource.
bool is_answered(const OpcodeRow& row) {
    return row.verb == Verb::read_request || row.is_atomic() || row.verb == Verb::atomic_write ||
           row.verb == Verb::flush;
}

std::uint32_t size_of(const TransportPacket& packet) { return static_cast<std::uint32_t>(packet.payload.size()); }
std::uint32_t header_room(Service service) { return service == Service::ud ? kNetworkHeaderBytes : 0; }

// Whether the request takes a posted receive: a SEND where it begins, a WRITE with immediate where it ends.
bool takes_receive(const TransportPacket& request) {
    const OpcodeRow& row = info(request.opcode);
    return (row.verb == Verb::send && row.begins_message()) ||
           (row.verb == Verb::write && row.ends_message() && request.immediate.has_value());
}

// And whether it is the one with which the receive is complete.
bool completes_receive(const TransportPacket& request) {
    const OpcodeRow& row = info(request.opcode);
    return row.ends_message() && (row.verb == Verb::send || takes_receive(request));
}

AccessRights rights_for(const TransportPacket& request) {
    const OpcodeRow& row = info(request.opcode);
    const std::uint8_t placement = request.flush ? request.flush->placement : 0;
    const bool flush = row.verb == Verb::flush;
    return {.read = row.verb == Verb::read_request,
            .write = row.verb == Verb::write || row.verb == Verb::atomic_write,
            .atomic = row.is_atomic(),
            .flush_global = flush && (placement & kGlobalVisibility) != 0,
            .flush_persistent = flush && (placement & kPersistence) != 0};
}

}  // namespace

RequestEvent request_event(Opcode opcode) {
    const OpcodeRow& row = info(opcode);
    const auto place = static_cast<unsigned>(std::to_underlying(row.place));
    if (row.verb == Verb::send) return static_cast<RequestEvent>(std::to_underlying(RequestEvent::send_first) + place);
    if (row.verb == Verb::write)
        return static_cast<RequestEvent>(std::to_underlying(RequestEvent::write_first) + place);
    return RequestEvent::other;
}

// The checks of 9.7.4.1, in its order. Each looks at one thing and says nothing where the request may go on.
struct ResponderChecks {
    using Verdict = std::optional<ResponderVerdict>;
    struct Case {
        const Responder& responder;
        const TransportPacket& request;
        const OpcodeRow& row;
        const Memory& memory;
        const ReceiveQueue& receives;
        bool named;

        // The receive that the message goes into: one it has taken, one that a message given up has left, or the next.
        [[nodiscard]] const PostedReceive* receive() const {
            return responder.receive_ ? &*responder.receive_ : receives.next();
        }
    };

    static Verdict header(const Case& asked) {
        const Responder& responder = asked.responder;
        if (responder.state_ == ResponderState::error) return ResponderVerdict::dropped;
        if (!asked.row.defined || !asked.row.request || asked.row.service != responder.settings_.service)
            return ResponderVerdict::dropped;
        if (asked.row.service == Service::ud &&
            (!asked.request.datagram || asked.request.datagram->key != responder.settings_.qkey))
            return ResponderVerdict::dropped;  // 10.2.5
        return std::nullopt;
    }

    static Verdict sequence_number(const Case& asked) {
        const Responder& responder = asked.responder;
        if (!is_acknowledged(responder.settings_.service)) return std::nullopt;
        const std::int32_t ahead = asked.request.psn - responder.expected_;
        if (ahead == 0) return std::nullopt;
        if (ahead < 0) return ResponderVerdict::duplicate;
        return step(kResponderMachine, responder.state_, ResponderEvent::gap) ? ResponderVerdict::gap
                                                                              : ResponderVerdict::gap_ignored;
    }

    static Verdict opcode_sequence(const Case& asked) {
        if (step(kMessageMachine, asked.responder.current_.state, request_event(asked.request.opcode)))
            return std::nullopt;
        return ResponderVerdict::invalid_request;
    }

    // Of XRC: a shared receive queue that is there, the same for all of a message (A14: an invalid request otherwise).
    static Verdict shared_receives(const Case& asked) {
        if (asked.row.service != Service::xrc) return std::nullopt;
        const bool same = asked.row.begins_message() || asked.request.srq == asked.responder.current_.srq;
        return asked.named && same ? Verdict{} : ResponderVerdict::invalid_request;
    }

    static Verdict opcode_allowed(const Case& asked) {
        const bool known = asked.row.verb == Verb::send || asked.row.verb == Verb::write || is_answered(asked.row);
        if (!known || !covers(asked.responder.settings_.allowed, rights_for(asked.request)))
            return ResponderVerdict::invalid_request;
        return std::nullopt;
    }

    static Verdict resources(const Case& asked) {
        if (asked.responder.responses_.size() >= kMaxResponses) return ResponderVerdict::dropped;
        if (takes_receive(asked.request) && asked.receive() == nullptr) return ResponderVerdict::not_ready;
        if (is_answered(asked.row) && asked.responder.open_ >= asked.responder.settings_.resources)
            return ResponderVerdict::invalid_request;
        return std::nullopt;
    }

    static Verdict length(const Case& asked) {
        const std::uint32_t size = size_of(asked.request);
        const bool needs_access =
            is_answered(asked.row) || (asked.row.verb == Verb::write && asked.row.begins_message());
        bool right =
            size <= bytes_of(asked.responder.settings_.mtu) && (!needs_access || asked.request.access.has_value());
        if (asked.row.place == Place::first || asked.row.place == Place::middle)
            right = right && size == bytes_of(asked.responder.settings_.mtu);
        if (asked.row.place == Place::last) right = right && size > 0;
        return right && fits(asked, size) ? Verdict{} : ResponderVerdict::invalid_request;
    }

    // The length by the rules of each operation (9.7.4.1.6; A19 for the last two).
    static bool fits(const Case& asked, std::uint32_t size) {
        const TransportPacket& request = asked.request;
        switch (asked.row.verb) {
            case Verb::send: {
                const std::uint64_t before =
                    asked.row.begins_message() ? header_room(asked.row.service) : asked.responder.current_.length;
                const PostedReceive* receive = asked.receive();
                return receive == nullptr || !receive->usable ||
                       before + size <= std::min<std::uint64_t>(length_of(receive->segments), kMaxDmaLength);
            }
            case Verb::write: {
                const std::uint32_t left =
                    asked.row.begins_message() ? request.access->length : asked.responder.current_.target.length;
                return left <= kMaxDmaLength && (asked.row.ends_message() ? size == left : size < left);
            }
            case Verb::read_request: return request.access->length <= kMaxDmaLength && size == 0;
            case Verb::compare_swap:
            case Verb::fetch_add: return request.atomic && request.access->address % kAtomicLength == 0 && size == 0;
            case Verb::atomic_write:
                return request.access->length == kAtomicLength && size == kAtomicLength &&
                       request.access->address % kAtomicLength == 0;
            case Verb::flush: {
                constexpr std::uint8_t kReserved = 0xff & ~(kGlobalVisibility | kPersistence);
                return request.flush && request.flush->placement != 0 && (request.flush->placement & kReserved) == 0 &&
                       size == 0 && request.flush->selectivity <= FlushSelectivity::memory_region &&
                       request.access->length <= kMaxDmaLength;
            }
            default: return false;
        }
    }

    static Verdict receive_usable(const Case& asked) {
        if (!takes_receive(asked.request) || asked.receive()->usable) return std::nullopt;
        return ResponderVerdict::remote_operational_error;
    }

    // The key of a zero-length READ or WRITE is not looked at (C9-88), that of a FLUSH is.
    static Verdict remote_key(const Case& asked) {
        if (asked.row.verb == Verb::send) return std::nullopt;
        const Qpn local = asked.responder.settings_.local;
        RemoteAccess wanted = asked.row.begins_message() ? *asked.request.access : asked.responder.current_.target;
        if (asked.row.is_atomic()) wanted.length = kAtomicLength;
        const AccessRights rights = rights_for(asked.request);
        const bool all =
            asked.row.verb == Verb::flush && asked.request.flush->selectivity == FlushSelectivity::memory_region;
        if (all)
            return asked.memory.reach_all(wanted.key, rights, local) ? Verdict{}
                                                                     : ResponderVerdict::remote_access_error;
        if (wanted.length == 0 && asked.row.verb != Verb::flush) return std::nullopt;
        return asked.memory.reach(wanted, rights, local) ? Verdict{} : ResponderVerdict::remote_access_error;
    }
};

namespace {

constexpr std::array kChecks{
    ResponderChecks::header,         ResponderChecks::sequence_number, ResponderChecks::opcode_sequence,
    ResponderChecks::opcode_allowed, ResponderChecks::shared_receives, ResponderChecks::resources,
    ResponderChecks::length,         ResponderChecks::receive_usable,  ResponderChecks::remote_key,
};

}  // namespace

Responder::Responder(const ResponderSettings& settings)
    : settings_(settings), expected_(settings.expected), credits_(kUnlimitedCredits) {
    settings_.resources = std::min(settings_.resources, kMaxResources);
}

void Responder::adjust(const ResponderSettings& settings) {
    settings_.allowed = settings.allowed;
    settings_.rnr_timer = settings.rnr_timer;
    settings_.resources = std::min(settings.resources, kMaxResources);
}

void Responder::move_to_error() { move(ResponderEvent::fatal); }

void Responder::move(ResponderEvent event) { state_ = step(kResponderMachine, state_, event).value_or(state_); }

ResponderActions Responder::process(const TransportPacket& request, Memory& memory, ReceiveQueue& receives,
                                    bool named) {
    ResponderActions actions;
    if (settings_.service == Service::uc &&
        request.psn != expected_) {  // a gap discards the message it is in (9.8.2.2.2)
        current_ = {};
        expected_ = request.psn;
    }
    count_credits(receives);
    actions.verdict = ResponderVerdict::accept;
    const ResponderChecks::Case asked{*this, request, info(request.opcode), memory, receives, named};
    for (const auto check : kChecks) {
        const auto verdict = check(asked);
        if (!verdict) continue;
        actions.verdict = *verdict;
        break;
    }
    if (actions.verdict == ResponderVerdict::accept) actions.verdict = execute(request, memory, receives, actions);
    if (actions.verdict == ResponderVerdict::duplicate) actions.verdict = answer_again(request);
    if (actions.verdict != ResponderVerdict::accept) refuse(request, actions.verdict);
    const bool fatal = state_ == ResponderState::error && actions.verdict != ResponderVerdict::dropped;
    if (fatal || actions.verdict == ResponderVerdict::remote_operational_error)
        fail_receive(request, receives, actions);
    if (!is_acknowledged(settings_.service) && actions.verdict != ResponderVerdict::accept)
        actions.verdict = ResponderVerdict::dropped;
    return actions;
}

// A message that failed for good has used up the receive it had begun to fill, or the one it did not fit into.
void Responder::fail_receive(const TransportPacket& request, ReceiveQueue& receives, ResponderActions& actions) {
    const bool its_receive =
        actions.verdict == ResponderVerdict::remote_operational_error ||
        (actions.verdict == ResponderVerdict::invalid_request && info(request.opcode).verb == Verb::send);
    if (!receive_ && its_receive && takes_receive(request)) receive_ = receives.take();
    if (!receive_) return;
    actions.consumed_with_error = receive_->id;
    receive_.reset();
}

std::optional<PostedReceive> Responder::release_receive() {
    current_ = {};
    return std::exchange(receive_, std::nullopt);
}

// What a refusal means for the queue pair: a NAK and another state, or nothing.
void Responder::refuse(const TransportPacket& request, ResponderVerdict verdict) {
    if (!is_acknowledged(settings_.service)) {
        if (settings_.service == Service::uc) expected_ = request.psn + 1;
        current_ = {};
        return;
    }
    const auto negative = [&](Acknowledgment acknowledgment, Psn psn) {
        respond({.kind = JobKind::negative, .psn = psn, .acknowledgment = acknowledgment});
        unacknowledged_ = 0;
    };
    switch (verdict) {
        case ResponderVerdict::gap: negative(nak(NakCode::sequence_error), expected_); return move(ResponderEvent::gap);
        case ResponderVerdict::not_ready: negative(rnr_nak(), request.psn); return move(ResponderEvent::not_ready);
        case ResponderVerdict::invalid_request: negative(nak(NakCode::invalid_request), request.psn); break;
        case ResponderVerdict::remote_access_error: negative(nak(NakCode::remote_access_error), request.psn); break;
        case ResponderVerdict::remote_operational_error:
            negative(nak(NakCode::remote_operational_error), request.psn);
            break;
        case ResponderVerdict::invalidate_failed: break;
        default: return;
    }
    move(ResponderEvent::fatal);
}

ResponderVerdict Responder::execute(const TransportPacket& request, Memory& memory, ReceiveQueue& receives,
                                    ResponderActions& actions) {
    const OpcodeRow& row = info(request.opcode);
    const Psn psn = request.psn;
    if (takes_receive(request) && !receive_) {
        receive_ = receives.take();
        count_credits(receives);
    }
    if (is_answered(row) || row.ends_message()) msn_ = (msn_ + 1) & Psn::kMask;  // C9-148
    if (row.verb == Verb::read_request) execute_read(request);
    else if (row.is_atomic()) execute_atomic(request, memory);
    else if (row.verb == Verb::atomic_write) execute_atomic_write(request, memory);
    else if (row.verb == Verb::flush) execute_flush(request, memory, actions);
    else place_payload(request, memory);
    expected_ = psn + (row.verb == Verb::read_request ? packets_of(request.access->length, settings_.mtu) : 1);
    current_.state =
        step(kMessageMachine, current_.state, request_event(request.opcode)).value_or(MessageState::between);
    move(ResponderEvent::accept);
    if (request.invalidate && !memory.invalidate(*request.invalidate, settings_.local))
        return ResponderVerdict::invalidate_failed;
    actions.message_done = row.ends_message();
    if (row.ends_message()) {
        if (completes_receive(request)) actions.received = received_by(request);
        current_ = {};
    }
    if (is_acknowledged(settings_.service) && !is_answered(row)) acknowledge(psn, request.ack_request);
    return ResponderVerdict::accept;
}

void Responder::place_payload(const TransportPacket& request, Memory& memory) {
    const OpcodeRow& row = info(request.opcode);
    if (row.begins_message()) {
        current_ = {};
        current_.srq = request.srq;
    }
    if (row.verb == Verb::send) {
        if (settings_.service == Service::ud) place_network_header(request);
        scatter(receive_->segments, current_.length, request.payload);
    } else {
        if (row.begins_message()) current_.target = *request.access;
        const std::uint32_t size = size_of(request);
        const RemoteAccess here{current_.target.address, current_.target.key, size};
        if (const auto place = memory.reach(here, {.write = true}, settings_.local); size > 0 && place)
            std::memcpy(place->data(), request.payload.data(), size);
        current_.target.address += size;
        current_.target.length -= size;
    }
    current_.length += size_of(request);
}

// An IPv6 header or GRH fills the 40 bytes, an IPv4 header the last 20 of them (A17.4.5.2).
void Responder::place_network_header(const TransportPacket& request) {
    constexpr std::size_t kIpv4Bytes = 20;
    std::array<std::byte, kNetworkHeaderBytes> room{};
    const Bytes header = request.network_header;
    if (header.size() == room.size()) std::ranges::copy(header, room.begin());
    else std::ranges::copy(slice(header, 0, kIpv4Bytes), room.begin() + (kNetworkHeaderBytes - kIpv4Bytes));
    scatter(receive_->segments, 0, room);
    current_.length = kNetworkHeaderBytes;
}

ReceivedMessage Responder::received_by(const TransportPacket& request) {
    ReceivedMessage message{.verb = info(request.opcode).verb,
                            .id = receive_->id,
                            .length = current_.length,
                            .immediate = request.immediate,
                            .invalidated = request.invalidate,
                            .solicited = request.solicited};
    if (request.datagram) message.source_qp = request.datagram->source_qp;
    message.has_network_header = settings_.service == Service::ud && !request.network_header.empty();
    receive_.reset();
    return message;
}

void Responder::execute_read(const TransportPacket& request) {
    remember(
        {.psn = request.psn, .packets = packets_of(request.access->length, settings_.mtu), .access = *request.access});
    respond({.kind = JobKind::read,
             .psn = request.psn,
             .acknowledgment = positive(),
             .access = *request.access,
             .srq = request.srq});
}

void Responder::execute_atomic(const TransportPacket& request, Memory& memory) {
    const Verb verb = info(request.opcode).verb;
    const RemoteAccess target{request.access->address, request.access->key, kAtomicLength};
    const auto place = memory.reach(target, {.atomic = true}, settings_.local);
    std::uint64_t original = 0;
    if (place) std::memcpy(&original, place->data(), kAtomicLength);
    std::uint64_t next = original;
    if (verb == Verb::fetch_add) next = original + request.atomic->swap_or_add;
    else if (original == request.atomic->compare) next = request.atomic->swap_or_add;
    if (place) std::memcpy(place->data(), &next, kAtomicLength);
    remember({.verb = verb, .psn = request.psn, .access = target, .atomic = *request.atomic, .original = original});
    respond({.kind = JobKind::atomic, .psn = request.psn, .acknowledgment = positive(), .original = original});
}

void Responder::execute_atomic_write(const TransportPacket& request, Memory& memory) {
    const auto place = memory.reach(*request.access, {.write = true}, settings_.local);
    std::uint64_t value = 0;
    std::memcpy(&value, request.payload.data(), kAtomicLength);
    if (place) std::memcpy(place->data(), &value, kAtomicLength);
    remember({.verb = Verb::atomic_write, .psn = request.psn, .access = *request.access, .original = value});
    respond({.kind = JobKind::done, .psn = request.psn, .acknowledgment = positive()});
}

// Requests are executed one after the other, so what was written before is in memory; what is left is to show it to
// others.
void Responder::execute_flush(const TransportPacket& request, Memory& memory, ResponderActions& actions) {
    const AccessRights rights = rights_for(request);
    const bool all = request.flush->selectivity == FlushSelectivity::memory_region;
    const auto place = all ? memory.reach_all(request.access->key, rights, settings_.local)
                           : memory.reach(*request.access, rights, settings_.local);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (place) actions.flushed = FlushedMemory{*request.flush, *place};
    remember({.verb = Verb::flush, .psn = request.psn, .access = *request.access, .flush = *request.flush});
    respond({.kind = JobKind::done, .psn = request.psn, .acknowledgment = positive()});
}

void Responder::remember(const Resource& resource) {
    resources_.push_back(resource);
    while (resources_.size() > settings_.resources) resources_.pop_front();
}

}  // namespace qps::transport
