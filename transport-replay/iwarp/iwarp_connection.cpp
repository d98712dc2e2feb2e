#include <dissect/base/types.hpp>
#include <dissect/headers/internet.hpp>
#include <transport-replay/iwarp/iwarp_connection.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kTcpSequence = named(kTcpFields, "tcp.seq_raw");
constexpr Field kAcknowledgment = named(kTcpFields, "tcp.ack_raw");
constexpr Field kHeaderLength = named(kTcpFields, "tcp.hdr_len");
constexpr Field kAck = named(kTcpFields, "tcp.flags.ack");
constexpr Field kSyn = named(kTcpFields, "tcp.flags.syn");
constexpr Field kFin = named(kTcpFields, "tcp.flags.fin");
constexpr Field kReset = named(kTcpFields, "tcp.flags.reset");

// Repeated acknowledgments make a sender send again (RFC 5681 3.2), one of them when a round trip went by (RFC 8985),
// and so does silence for as long (RFC 6298 2.4, as Linux has it). What fills a gap without any of these came by a
// longer way.
constexpr std::uint8_t kSameAcksToResend = 3;
constexpr Duration kLongerWay{3'000'000};  // more than that makes no other way in one network
constexpr Duration kLeastTimeout{200'000'000};
constexpr std::uint32_t kKeepAlive =
    1;  // a segment of so many old bytes asks whether the other end is there (RFC 9293 3.8.4)

}  // namespace

TcpSegmentView tcp_view(const Observation& observation) {
    const Bytes bytes = observation.payload;
    const auto flag = [&](const Field& field) { return read(bytes, field) != 0; };
    return {.seq = static_cast<std::uint32_t>(read(bytes, kTcpSequence)),
            .ack = static_cast<std::uint32_t>(read(bytes, kAcknowledgment)),
            .has_ack = flag(kAck),
            .syn = flag(kSyn),
            .fin = flag(kFin),
            .reset = flag(kReset),
            .data = slice(bytes, read(bytes, kHeaderLength)),
            .length = observation.payload_length};
}

void IwarpConnection::join(const Framing& framing) {
    summary_.crc = framing.crc;
    for (Direction& one : ways_) one.framer.begin_anywhere(framing);
    for (IwarpWay& one : summary_.ways) one.markers = framing.markers;
}

void IwarpConnection::count(const Observation& observation, const TcpSegmentView& segment, End from,
                            Connection& connection) const {
    transport::Way& sender = connection.way(from);
    if (sender.packets++ == 0) {
        sender.first_time = observation.time;
        sender.first_frame = observation.frame;
    }
    sender.bytes += observation.wire_length;
    sender.last_time = observation.time;
    sender.last_frame = observation.frame;
    sender.dscps.add(observation.dscp);
    sender.pcps.add(observation.pcp);
    if (observation.congestion_experienced) ++sender.incidents.made().congestion_experienced;
    if (segment.length > 0) ++sender.requests;
    else if (segment.has_ack && !segment.syn && !segment.fin) ++sender.acks;
    if (segment.fin || segment.reset) connection.released = true;
}

void IwarpConnection::observe(const Observation& observation, const TcpSegmentView& segment, End from,
                              const IwarpListeners& listeners, PacketRecord& record) {
    Connection& connection = listeners.tracker.stream(uid());
    record.connection = uid();
    record.from = from;
    count(observation, segment, from, connection);
    record.ulp = listeners.ulp.hint(uid(), from);
    if (segment.has_ack) take_ack(observation, segment, from, listeners, record);
    if (segment.length == 0 || over_) return;
    if (may_be_set_up(segment.data)) take_set_up(observation, segment, from, listeners, record);
    take_data(observation, segment, from, listeners, record);
    record.ulp.protocol = listeners.ulp.hint(uid(), from).protocol;
    record.ulp.from_active = listeners.ulp.hint(uid(), from).from_active;
}

// Who asks for markers gets them; CRCs are in use where either end wants them (RFC 5044 7.1.2).
void IwarpConnection::take_set_up(const Observation& observation, const TcpSegmentView& segment, End from,
                                  const IwarpListeners& listeners, PacketRecord& record) {
    const auto frame = set_up_frame(segment.data);
    if (!frame || frame->reply != (from == End::b)) return;
    record.ulp.iwarp = {.what = IwarpPlace::What::set_up};
    if (direction(from).set_up_seen) return;
    direction(from).set_up_seen = true;
    MpaSetUp& said = way(from).set_up.emplace(frame->said);
    said.frame = observation.frame;
    said.time = observation.time;
    take_attempt(said, *frame);
    const std::uint32_t first = segment.seq + static_cast<std::uint32_t>(frame->length);
    direction(from).stream.start(segment.seq);
    summary_.crc = summary_.crc || said.crc;
    way(other(from)).markers = said.markers;
    Framing own = direction(from).framer.framing();
    own.first = first;
    direction(from).framer.begin(own);
    for (const End end : {End::a, End::b}) {
        Framing framing = direction(end).framer.framing();
        framing.crc = summary_.crc;
        framing.markers = way(end).markers;
        direction(end).framer.agree(framing);
    }
    if (!frame->reply) return;
    if (!said.rejected) listeners.ulp.connected(uid(), *summary_.attempt, listeners.tracker, listeners.sink);
}

// As CM tells of a connection.
void IwarpConnection::take_attempt(const MpaSetUp& said, const SetUpFrame& frame) {
    if (!summary_.attempt) {
        summary_.attempt.emplace();
        CmAttempt& attempt = *summary_.attempt;
        attempt.service = CmService::iwarp;
        attempt.active.address = flow_.source;
        attempt.active.qpn = flow_.source_qp;
        attempt.passive.address = flow_.destination;
        attempt.passive.qpn = flow_.destination_qp;
        constexpr std::uint8_t kTcp = 6;
        attempt.ip =
            CmIpService{.protocol = kTcp, .port = static_cast<std::uint16_t>(std::to_underlying(flow_.destination_qp))};
        attempt.first_frame = said.frame;
        attempt.incomplete = frame.reply;
    }
    CmAttempt& attempt = *summary_.attempt;
    CmSide& side = frame.reply ? attempt.passive : attempt.active;
    side.mpa = said;
    const Bytes some = slice(frame.private_data, 0, kPrivateBytesKept);
    std::ranges::copy(some, side.private_data.first.begin());
    side.private_data.room = said.private_data_bytes;
    side.private_data.used = static_cast<std::uint16_t>(some.size());
    (frame.reply ? attempt.answered : attempt.requested) = said.time;
    if (frame.reply) attempt.outcome = said.rejected ? CmOutcome::rejected : CmOutcome::established;
    attempt.state = !frame.reply ? CmState::req_sent : said.rejected ? CmState::rejected : CmState::established;
    attempt.last_frame = said.frame;
    attempt.last_time = said.time;
    attempt.ladder.push_back({.frame = said.frame,
                              .time = said.time,
                              .message = frame.reply ? CmMessage::rep : CmMessage::req,
                              .from_active = !frame.reply,
                              .state = attempt.state});
}

void IwarpConnection::note_arrival(TcpArrival arrival, const Observation& observation, const TcpSegmentView& segment,
                                   End from, Connection& connection, PacketRecord& record) {
    transport::Way& sender = connection.way(from);
    const Direction& receiver = direction(other(from));
    const auto since = direction(from).stream.gap_since();
    const Duration waited = since ? observation.time - *since : Duration{};
    const bool asked = receiver.same_acks >= kSameAcksToResend || waited >= kLeastTimeout ||
                       (receiver.same_acks > 0 && waited >= kLongerWay);
    SegmentOrder& order = direction(from).order;
    const bool behind = arrival == TcpArrival::late || arrival == TcpArrival::repeated;
    const bool overtaken = behind && order.is_overtaken(segment.seq, observation.ip_id);
    order.take(segment.seq, observation.ip_id);
    switch (arrival) {
        case TcpArrival::in_order: record.arrival = Arrival::in_order; return;
        case TcpArrival::ahead: record.arrival = Arrival::ahead; return;
        case TcpArrival::late:
            record.arrival = Arrival::late;
            if (asked && !overtaken) break;
            sender.incidents.made().note(Oddity::late, observation.frame);
            return;
        case TcpArrival::repeated:
            if (segment.length <= kKeepAlive) return;
            record.arrival = Arrival::repeated;
            if (!overtaken) break;
            sender.incidents.made().note(Oddity::late, observation.frame);  // what was sent again for it came first
            return;
    }
    record.retransmission = true;
    ++sender.incidents.made().retransmitted;
    sender.incidents.made().retransmitted_bytes += observation.wire_length;
    messages_.resent(from, segment.seq, segment.length);
}

void IwarpConnection::take_data(const Observation& observation, const TcpSegmentView& segment, End from,
                                const IwarpListeners& listeners, PacketRecord& record) {
    Direction& sender = direction(from);
    const TcpPiece piece{.seq = segment.seq,
                         .length = segment.length,
                         .bytes = segment.data,
                         .frame = observation.frame,
                         .time = observation.time};
    const TcpArrival arrival = sender.stream.add(piece);
    note_arrival(arrival, observation, segment, from, listeners.tracker.stream(uid()), record);
    IwarpPlace& place = record.ulp.iwarp;
    if (place.what == IwarpPlace::What::none) {
        const Framing& framing = sender.framer.framing();
        place.crc = framing.crc;
        place.markers = framing.markers;
        place.to_marker = static_cast<std::uint16_t>(framing.to_marker(segment.seq).value_or(0));
    }
    const Observed observed{observation.frame, segment.seq};
    read_on(from, &observed, listeners, record);
    if (place.what == IwarpPlace::What::fpdus) {  // its own bytes may have told where markers are
        place.markers = sender.framer.framing().markers;
        place.to_marker = static_cast<std::uint16_t>(sender.framer.framing().to_marker(segment.seq).value_or(0));
    }
    // One that is not in order says itself whether it begins with an FPDU: senders of MPA begin segments so.
    if (place.what == IwarpPlace::What::none && arrival != TcpArrival::in_order &&
        begins_fpdu(segment.data, segment.length, sender.framer.framing(), segment.seq))
        place.what = IwarpPlace::What::fpdus;
}

// What is in order now. Of the segment that is observed, if any, its place is told.
void IwarpConnection::read_on(End from, const Observed* observed, const IwarpListeners& listeners,
                              PacketRecord& record) {
    Direction& sender = direction(from);
    IwarpWay& sums = way(from);
    while (const auto piece = sender.stream.next()) {
        sums.missing_bytes += piece->missing;
        IwarpPlace& place = record.ulp.iwarp;
        if (observed != nullptr && piece->frame == observed->frame && place.what == IwarpPlace::What::none) {
            if (const auto first = sender.framer.first_in(*piece)) {
                place.what = IwarpPlace::What::fpdus;
                place.first = static_cast<std::uint16_t>(
                    std::min<std::uint32_t>(*first + (piece->seq - observed->seq), UINT16_MAX));
            }
        }
        const std::uint64_t lost = sender.framer.lost_alignment();
        sender.framer.take(*piece);
        while (const auto fpdu = sender.framer.next()) {
            ++sums.fpdus;
            if (fpdu->crc == CrcStatus::good) ++sums.crc_good;
            if (fpdu->crc == CrcStatus::bad) {
                ++sums.crc_bad;
                record.corrupt = true;
                if (sums.crc_bad_frames.size() < kIwarpFramesKept) sums.crc_bad_frames.push_back(fpdu->last_frame);
            }
            messages_.take(from, *fpdu, listeners, record);
        }
        if (sender.framer.lost_alignment() != lost) messages_.interrupted(from);
    }
}

void IwarpConnection::take_ack(const Observation& observation, const TcpSegmentView& segment, End from,
                               const IwarpListeners& listeners, PacketRecord& record) {
    Direction& acknowledging = direction(from);
    const End sender = other(from);
    const bool again = segment.length == 0 && !segment.syn && !segment.fin && segment.ack == acknowledging.last_ack;
    if (!again) acknowledging.same_acks = 0;
    else if (acknowledging.same_acks < kSameAcksToResend) ++acknowledging.same_acks;
    acknowledging.last_ack = segment.ack;
    if (!direction(sender).stream.started()) return;
    direction(sender).stream.acknowledged(segment.ack);
    if (direction(sender).stream.held_bytes() > 0) {
        PacketRecord aside;  // these are other packets than the one that is observed
        read_on(sender, nullptr, listeners, aside);
        record.completed += aside.completed;
        if (aside.latency) record.latency = aside.latency;
    }
    messages_.acknowledged(sender, segment.ack, observation, listeners, record);
}

void IwarpConnection::give_up_gaps() {
    for (Direction& one : ways_) one.stream.give_up_gap();
}

IwarpConversation IwarpConnection::finish(const IwarpListeners& listeners) {
    PacketRecord aside;
    for (const End end : {End::a, End::b}) {
        direction(end).stream.no_more();
        read_on(end, nullptr, listeners, aside);
        way(end).missing_bytes += direction(end).stream.unseen();
    }
    const Connection& connection = listeners.tracker.stream(uid());
    messages_.finish(connection.released || connection.failed ? Outcome::abandoned : Outcome::open, listeners);
    summary_.terminated = messages_.terminated();
    if (summary_.attempt && summary_.attempt->outcome == CmOutcome::established && connection.released)
        summary_.attempt->outcome = CmOutcome::disconnected;
    for (const End end : {End::a, End::b}) {
        way(end).turned_read = messages_.turned_read(end);
        way(end).odd_markers = direction(end).framer.odd_markers();
        way(end).markers = direction(end).framer.framing().markers;
        way(end).lost_alignment = direction(end).framer.lost_alignment();
        way(end).unread_bytes = direction(end).framer.unread_bytes();
    }
    over_ = true;
    ways_ = {};
    return std::move(summary_);
}

}  // namespace qps::transport
