#include <dissect/base/types.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <transport-replay/iwarp/rdmap_messages.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kLayer = named(kRdmapTerminateFields, "iwarp_rdma.term_layer");
constexpr Field kType = named(kRdmapTerminateFields, "iwarp_rdma.term_etype_rdma");
constexpr Field kCode = named(kRdmapTerminateFields, "iwarp_rdma.term_errcode_rdma");

constexpr std::uint8_t kFetchAdd = 0;  // of AtomicRequest::operation; the others swap

void saw_packet(Message& message, const Fpdu& fpdu) {
    ++message.packets;
    message.last_time = fpdu.last_time;
    message.last_frame = fpdu.last_frame;
}

}  // namespace

Message RdmapMessages::begun(const At& at, Verb verb) {
    Message message;
    message.service = Service::iwarp;
    message.verb = verb;
    message.first = message.last = Psn(way(at.from).fpdus);
    message.starts = true;
    message.first_time = at.fpdu.first_time;
    message.first_frame = at.fpdu.first_frame;
    return message;
}

// Another message begins where the end of one was not captured.
void RdmapMessages::leave(const At& at, UnderWay& under_way) {
    if (!under_way.open) return;
    under_way.message.missing = 1;
    end(at.from, under_way.message, Outcome::open, at.listeners, nullptr);
    under_way.open = false;
}

// A segment of a message whose bytes may be wanted.
void RdmapMessages::add(UnderWay& under_way, const At& at) const {
    const DdpSegment& segment = at.segment;
    under_way.message.last = Psn(ways_[static_cast<std::size_t>(at.from)].fpdus);
    under_way.message.bytes += segment.length;
    saw_packet(under_way.message, at.fpdu);
    if (!under_way.keeps || under_way.hole) return;
    const Bytes more = slice(segment.payload, 0, SendAssembler::kMostHeld - under_way.bytes.size());
    under_way.hole = !under_way.bytes.append(at.listeners.ulp.payload(), more) || more.size() < segment.length;
}

void RdmapMessages::tell_payload(const At& at, End requester, const Message& message, std::uint64_t offset) {
    if (at.listeners.payload == nullptr) return;
    const DdpSegment& segment = at.segment;
    (*at.listeners.payload)({requester, message.first, offset, static_cast<std::uint32_t>(segment.length),
                             segment.payload, at.fpdu.last_frame});
}

void RdmapMessages::wait_for_tcp(const At& at, UnderWay& under_way) {
    under_way.open = false;
    under_way.message.ends = true;
    Way& sender = way(at.from);
    sender.sent.push_back({under_way.message, under_way.seq, at.fpdu.end});
    if (sender.sent.size() <= kMaxOpen) return;
    end(at.from, sender.sent.front().message, Outcome::open, at.listeners, nullptr);
    sender.sent.pop_front();
}

void RdmapMessages::take_send(const At& at) {
    UnderWay& send = way(at.from).send;
    const DdpSegment& segment = at.segment;
    const bool wanted = at.listeners.ulp.wants(connection_);
    const bool only = segment.mo == 0 && segment.heading.last;
    if (!send.open || segment.mo == 0 || segment.msn != send.msn || segment.mo < send.next) {
        leave(at, send);
        send.message = begun(at, Verb::send);
        send.message.starts = segment.mo == 0;
        send.keeps = wanted && segment.mo == 0 && !only;
        send.hole = false;
        send.seq = at.fpdu.seq;
        send.msn = segment.msn;
        send.bytes.clear();
        send.open = true;
    } else if (segment.mo != send.next) {
        send.hole = true;
        send.message.missing = 1;
    }
    send.next = std::uint64_t{segment.mo} + segment.length;
    add(send, at);
    tell_payload(at, at.from, send.message, segment.mo);
    if (!segment.heading.last) return;
    send.message.invalidate = segment.invalidate;
    wait_for_tcp(at, send);
    if (!wanted || !send.message.starts) return;
    const Message& message = send.message;
    at.listeners.ulp.deliver({.connection = connection_,
                              .from = at.from,
                              .bytes = only ? segment.payload : send.bytes.bytes(),
                              .length = message.bytes,
                              .begun = message.first_time,
                              .time = message.last_time,
                              .first_frame = message.first_frame,
                              .last_frame = message.last_frame,
                              .psn = message.first,
                              .immediate = {},
                              .invalidate = message.invalidate},
                             at.listeners.tracker, at.listeners.sink);
}

// A message of its own, of eight bytes (RFC 7306 6): the last four of them are where those of InfiniBand are.
void RdmapMessages::take_immediate(const At& at) {
    UnderWay alone;
    alone.message = begun(at, Verb::send);
    alone.message.immediate = read_be<std::uint32_t>(at.segment.payload, 4);
    alone.seq = at.fpdu.seq;
    add(alone, at);
    tell_payload(at, at.from, alone.message, 0);
    wait_for_tcp(at, alone);
}

void RdmapMessages::take_write(const At& at) {
    UnderWay& write = way(at.from).write;
    const DdpSegment& segment = at.segment;
    const auto key = static_cast<Rkey>(segment.stag);
    if (!write.open || write.message.access->key != key || segment.offset < write.next) {
        leave(at, write);
        write.message = begun(at, Verb::write);
        write.message.access = {segment.offset, key, 0};
        write.keeps =
            at.listeners.ulp.wants_payload(connection_, other(at.from), {segment.offset, key, segment.length});
        write.hole = false;
        write.seq = at.fpdu.seq;
        write.bytes.clear();
        write.open = true;
    } else if (segment.offset != write.next) {
        write.hole = true;
        write.message.missing = 1;
    }
    write.next = segment.offset + segment.length;
    add(write, at);
    tell_payload(at, at.from, write.message, segment.offset - write.message.access->address);
    Message& message = write.message;
    message.access->length = static_cast<std::uint32_t>(std::min<std::uint64_t>(message.bytes, UINT32_MAX));
    if (!segment.heading.last) return;
    wait_for_tcp(at, write);
    at.listeners.ulp.transferred({.connection = connection_,
                                  .requester = at.from,
                                  .read = false,
                                  .access = *message.access,
                                  .bytes = message.bytes,
                                  .begun = message.first_time,
                                  .time = message.last_time,
                                  .first_frame = message.first_frame,
                                  .last_frame = message.last_frame,
                                  .immediate = {},
                                  .payload = write.hole ? Bytes{} : write.bytes.bytes()},
                                 message.first);
}

void RdmapMessages::ask(const At& at, Asked asked) {
    Way& asker = way(at.from);
    asked.sent.seq = at.fpdu.seq;
    asked.sent.end = at.fpdu.end;
    asked.sent.message.ends = true;
    asked.sent.message.last_time = at.fpdu.last_time;
    asked.sent.message.last_frame = at.fpdu.last_frame;
    asker.asked.push_back(std::move(asked));
    transport::Way& totals = at.listeners.tracker.stream(connection_).way(at.from);
    const auto open = static_cast<std::uint32_t>(asker.asked.size());
    if (open > totals.most_reads) {
        totals.most_reads = open;
        totals.reads_at_most = 0;
    }
    if (open == totals.most_reads) ++totals.reads_at_most;
    if (asker.asked.size() > kMaxOpen) give_up_before(at.from, 1, at.listeners);
}

void RdmapMessages::take_read_request(const At& at) {
    auto request = read_request(at.segment.payload);
    if (!request) return;
    if (way(at.from).turns_reads()) request = turned(*request);
    Asked asked{
        .sent = {.message = begun(at, Verb::read_request)}, .sink = request->sink, .sink_offset = request->sink_offset};
    asked.sent.message.access = request->source;
    ask(at, std::move(asked));
}

void RdmapMessages::take_atomic_request(const At& at) {
    const auto request = atomic_request(at.segment.payload);
    if (!request) return;
    Asked asked{.sent = {.message = begun(at, request->operation == kFetchAdd ? Verb::fetch_add : Verb::compare_swap)},
                .identifier = request->identifier};
    asked.sent.message.access = request->target;
    asked.sent.message.atomic = request->operands;
    ask(at, std::move(asked));
}

// Responses come in the order of the requests (RFC 5040 5.5): those before were answered where the capture did not see
// it.
void RdmapMessages::give_up_before(End requester, std::size_t which, const IwarpListeners& listeners) {
    auto& asked = way(requester).asked;
    for (; which > 0 && !asked.empty(); --which) {
        asked.front().sent.message.missing = 1;
        end(requester, asked.front().sent.message, Outcome::open, listeners, nullptr);
        asked.pop_front();
    }
}

void RdmapMessages::answered(const At& at, std::size_t which) {
    const End requester = other(at.from);
    give_up_before(requester, which, at.listeners);
    auto& asked = way(requester).asked;
    Message message = std::move(asked.front().sent.message);
    asked.pop_front();
    message.answer_time = at.fpdu.last_time;
    message.answer_frame = at.fpdu.last_frame;
    end(requester, message, Outcome::completed, at.listeners, &at.record);
}

// The READ that a response is for. A sender of the wrong byte order is known by a response that fits only what it says
// backwards.
std::deque<RdmapMessages::Asked>::iterator RdmapMessages::find_read(End requester, const DdpSegment& response,
                                                                    FrameIndex frame) {
    const auto fits = [&](const ReadRequest& request) {
        const std::uint64_t into = response.offset - request.sink_offset;
        const std::uint64_t length = request.source.length;
        return (request.sink == static_cast<Rkey>(response.stag) && into <= length &&
                response.length <= length - into) ||
               (length == 0 && response.length == 0);
    };
    const auto said = [](const Asked& one) { return ReadRequest{*one.sent.message.access, one.sink, one.sink_offset}; };
    const auto is_read = [](const Asked& one) { return one.sent.message.verb == Verb::read_request; };
    Way& asker = way(requester);
    const auto found =
        std::ranges::find_if(asker.asked, [&](const Asked& one) { return is_read(one) && fits(said(one)); });
    if (found != asker.asked.end() || asker.turns_reads() || response.length == 0) return found;
    const auto backwards =
        std::ranges::find_if(asker.asked, [&](const Asked& one) { return is_read(one) && fits(turned(said(one))); });
    if (backwards != asker.asked.end()) turn_reads(requester, frame);
    return backwards;
}

void RdmapMessages::turn_reads(End requester, FrameIndex proof) {
    way(requester).turned_read = proof;
    for (Asked& one : way(requester).asked) {
        if (one.sent.message.verb != Verb::read_request) continue;
        const ReadRequest right = turned({*one.sent.message.access, one.sink, one.sink_offset});
        one.sent.message.access = right.source;
        one.sink = right.sink;
        one.sink_offset = right.sink_offset;
    }
}

void RdmapMessages::take_read_response(const At& at) {
    const End requester = other(at.from);
    auto& asked = way(requester).asked;
    transport::Way& totals = at.listeners.tracker.stream(connection_).way(at.from);
    ++totals.read_responses;
    const DdpSegment& segment = at.segment;
    const auto found = find_read(requester, segment, at.fpdu.last_frame);
    if (found == asked.end()) {
        ++totals.incidents.made().unmatched;
        at.record.unmatched = true;
        return;
    }
    Message& message = found->sent.message;
    message.bytes += segment.length;
    ++message.packets;
    tell_payload(at, requester, message, segment.offset - found->sink_offset);
    if (!segment.heading.last) return;
    if (message.bytes < message.access->length) message.missing = 1;
    ++at.listeners.tracker.stream(connection_).matches;
    answered(at, static_cast<std::size_t>(found - asked.begin()));
}

void RdmapMessages::take_atomic_response(const At& at) {
    const auto response = atomic_response(at.segment.payload);
    if (!response) return;
    transport::Way& totals = at.listeners.tracker.stream(connection_).way(at.from);
    ++totals.atomic_responses;
    auto& asked = way(other(at.from)).asked;
    const auto waits = [&](const Asked& one) {
        return one.sent.message.atomic && one.identifier == response->identifier;
    };
    const auto found = std::ranges::find_if(asked, waits);
    if (found == asked.end()) {
        ++totals.incidents.made().unmatched;
        at.record.unmatched = true;
        return;
    }
    found->sent.message.atomic_result = response->original;
    found->sent.message.packets = 1;
    ++at.listeners.tracker.stream(connection_).matches;
    answered(at, static_cast<std::size_t>(found - asked.begin()));
}

void RdmapMessages::take_terminate(const At& at) {
    at.listeners.tracker.stream(connection_).failed = true;
    if (terminated_ || at.segment.payload.size() < header(kind::rdmap_terminate).length) return;
    const Bytes said = at.segment.payload;
    const auto byte = [&](const Field& field) { return static_cast<std::uint8_t>(read(said, field)); };
    terminated_ = {at.from, at.fpdu.last_frame, at.fpdu.last_time, byte(kLayer), byte(kType), byte(kCode)};
}

void RdmapMessages::take(End from, const Fpdu& fpdu, const IwarpListeners& listeners, PacketRecord& record) {
    Way& sender = way(from);
    const auto segment = ddp_segment(fpdu.ulpdu, fpdu.length);
    if (!segment || fpdu.crc == CrcStatus::bad) {  // nobody takes what has a wrong CRC
        interrupted(from);
        ++sender.fpdus;
        return;
    }
    const At at{from, fpdu, *segment, listeners, record};
    switch (static_cast<RdmapOpcode>(segment->heading.opcode)) {
        case RdmapOpcode::write: take_write(at); break;
        case RdmapOpcode::read_request: take_read_request(at); break;
        case RdmapOpcode::read_response: take_read_response(at); break;
        case RdmapOpcode::terminate: take_terminate(at); break;
        case RdmapOpcode::immediate:
        case RdmapOpcode::immediate_solicited: take_immediate(at); break;
        case RdmapOpcode::atomic_request: take_atomic_request(at); break;
        case RdmapOpcode::atomic_response: take_atomic_response(at); break;
        default: take_send(at);
    }
    ++sender.fpdus;
}

// What its sender goes on with has lost its beginning.
void RdmapMessages::interrupted(End from) {
    for (UnderWay* under_way : {&way(from).send, &way(from).write}) {
        if (!under_way->open) continue;
        under_way->hole = true;
        under_way->message.missing = 1;
    }
}

void RdmapMessages::acknowledged(End from, std::uint32_t seq, const Observation& observation,
                                 const IwarpListeners& listeners, PacketRecord& record) {
    auto& sent = way(from).sent;
    while (!sent.empty() && !is_before(seq, sent.front().end)) {
        Message& message = sent.front().message;
        message.answer_time = observation.time;
        message.answer_frame = observation.frame;
        end(from, message, Outcome::completed, listeners, &record);
        sent.pop_front();
    }
}

void RdmapMessages::resent(End from, std::uint32_t seq, std::uint32_t length) {
    const auto touches = [&](std::uint32_t first, std::uint32_t end) {
        return is_before(first, seq + length) && is_before(seq, end);
    };
    Way& sender = way(from);
    for (Sent& one : sender.sent)
        if (touches(one.seq, one.end)) ++one.message.retransmissions;
    for (Asked& one : sender.asked)
        if (touches(one.sent.seq, one.sent.end)) ++one.sent.message.retransmissions;
    for (UnderWay* under_way : {&sender.send, &sender.write})
        if (under_way->open && is_before(under_way->seq, seq + length)) ++under_way->message.retransmissions;
}

void RdmapMessages::end(End requester, Message& message, Outcome outcome, const IwarpListeners& listeners,
                        PacketRecord* record) {
    message.outcome = outcome;
    listeners.tracker.end_stream_message(connection_, requester, message);
    if (record == nullptr || outcome != Outcome::completed) return;
    ++record->completed;
    record->latency = message.answer_time - message.first_time;
}

void RdmapMessages::finish(Outcome outcome, const IwarpListeners& listeners) {
    for (const End requester : {End::a, End::b}) {
        Way& sender = way(requester);
        for (Sent& one : sender.sent) end(requester, one.message, outcome, listeners, nullptr);
        for (UnderWay* under_way : {&sender.send, &sender.write})
            if (under_way->open) end(requester, under_way->message, outcome, listeners, nullptr);
        for (Asked& one : sender.asked) end(requester, one.sent.message, outcome, listeners, nullptr);
        sender.sent.clear();
        sender.asked.clear();
        sender.send.open = sender.write.open = false;
    }
}

}  // namespace qps::transport
