#include <dissect/headers/internet.hpp>
#include <transport-replay/model/instant.hpp>
#include <transport-replay/iwarp/iwarp_connection.hpp>

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

// Repeated acknowledgments make a sender send again (RFC 5681 3.2), one of them when a round trip went by (RFC 8985), and so does
// silence for as long (RFC 6298 2.4, as Linux has it). What fills a gap without any of these came by a longer way.
constexpr std::uint8_t kSameAcksToResend = 3;
constexpr Duration kLongerWay{3'000'000};  // more than that makes no other way in one network
constexpr Duration kLeastTimeout{200'000'000};
constexpr std::uint32_t kKeepAlive = 1;  // a segment of so many old bytes asks whether the other end is there (RFC 9293 3.8.4)

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
    told_.crc = framing.crc;
    for (Half& one : ways_) one.framer.begin_anywhere(framing);
    for (IwarpWay& one : told_.ways) one.markers = framing.markers;
}

void IwarpConnection::count(const Observation& observation, const TcpSegmentView& segment, End from, Connection& connection) const {
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
    if (observation.congestion_experienced) ++sender.congestion_experienced;
    if (segment.length > 0) ++sender.requests;
    else if (segment.has_ack && !segment.syn && !segment.fin) ++sender.acks;
    if (segment.fin || segment.reset) connection.released = true;
}

void IwarpConnection::observe(const Observation& observation, const TcpSegmentView& segment, End from, const IwarpListeners& listeners,
                              PacketStory& story) {
    Connection& connection = listeners.tracker.stream(uid());
    story.connection = uid();
    story.from = from;
    count(observation, segment, from, connection);
    story.ulp = listeners.ulp.hint(uid(), from);
    if (segment.has_ack) take_ack(observation, segment, from, listeners, story);
    if (segment.length == 0 || over_) return;
    if (may_be_set_up(segment.data)) take_set_up(observation, segment, from, listeners, story);
    take_data(observation, segment, from, listeners, story);
    story.ulp.protocol = listeners.ulp.hint(uid(), from).protocol;
    story.ulp.from_active = listeners.ulp.hint(uid(), from).from_active;
}

// Who asks for markers gets them; CRCs are in use where either end wants them (RFC 5044 7.1.2).
void IwarpConnection::take_set_up(const Observation& observation, const TcpSegmentView& segment, End from, const IwarpListeners& listeners,
                                  PacketStory& story) {
    const auto frame = set_up_frame(segment.data);
    if (!frame || frame->reply != (from == End::b)) return;
    story.ulp.iwarp = {.what = IwarpPlace::What::set_up};
    if (half(from).set_up_seen) return;
    half(from).set_up_seen = true;
    MpaSetUp& said = way(from).set_up.emplace(frame->said);
    said.frame = observation.frame;
    said.time = observation.time;
    private_data_[static_cast<std::size_t>(from)].assign(frame->private_data.begin(), frame->private_data.end());
    const std::uint32_t first = segment.seq + static_cast<std::uint32_t>(frame->length);
    half(from).stream.start(segment.seq);
    told_.crc = told_.crc || said.crc;
    way(other(from)).markers = said.markers;
    Framing own = half(from).framer.framing();
    own.first = first;
    half(from).framer.begin(own);
    for (const End end : {End::a, End::b}) {
        Framing framing = half(end).framer.framing();
        framing.crc = told_.crc;
        framing.markers = way(end).markers;
        half(end).framer.agree(framing);
    }
    if (!frame->reply) return;
    set_up_ = true;
    tell_ulp(listeners);
}

// Upper-layer protocols are told of a connection as CM tells of one.
void IwarpConnection::tell_ulp(const IwarpListeners& listeners) {
    const auto kept = [](Bytes bytes) {
        PrivateData data;
        const Bytes some = slice(bytes, 0, kPrivateBytesKept);
        std::ranges::copy(some, data.first.begin());
        data.room = data.used = static_cast<std::uint16_t>(some.size());
        return data;
    };
    const MpaSetUp& reply = *told_.ways[1].set_up;
    CmAttempt attempt;
    attempt.active.address = flow_.source;
    attempt.active.qpn = flow_.source_qp;
    attempt.active.private_data = kept(private_data_[0]);
    attempt.passive.address = flow_.destination;
    attempt.passive.qpn = flow_.destination_qp;
    attempt.passive.private_data = kept(private_data_[1]);
    attempt.outcome = reply.rejected ? CmOutcome::rejected : CmOutcome::established;
    if (reply.rejected) attempt.rejection.emplace().private_data = attempt.passive.private_data;
    constexpr std::uint8_t kTcp = 6;
    attempt.ip = CmIpService{.protocol = kTcp, .port = static_cast<std::uint16_t>(std::to_underlying(flow_.destination_qp))};
    attempt.requested = told_.ways[0].set_up ? std::optional(told_.ways[0].set_up->time) : std::nullopt;
    attempt.answered = reply.time;
    attempt.first_frame = told_.ways[0].set_up ? told_.ways[0].set_up->frame : reply.frame;
    attempt.last_frame = reply.frame;
    attempt.last_time = reply.time;
    for (auto& data : private_data_) data = {};
    if (!reply.rejected) listeners.ulp.connected(uid(), attempt, listeners.tracker, listeners.sink);
}

void IwarpConnection::note_arrival(TcpArrival arrival, const Observation& observation, const TcpSegmentView& segment, End from,
                                   Connection& connection, PacketStory& story) {
    transport::Way& sender = connection.way(from);
    const Half& receiver = half(other(from));
    const auto since = half(from).stream.gap_since();
    const Duration waited = since ? elapsed(*since, observation.time) : Duration{};
    const bool asked =
        receiver.same_acks >= kSameAcksToResend || waited >= kLeastTimeout || (receiver.same_acks > 0 && waited >= kLongerWay);
    switch (arrival) {
        case TcpArrival::in_order: story.arrival = Arrival::in_order; return;
        case TcpArrival::ahead: story.arrival = Arrival::ahead; return;
        case TcpArrival::late:
            story.arrival = Arrival::late;
            if (asked) break;
            sender.note(Oddity::late, observation.frame);
            return;
        case TcpArrival::repeated:
            if (segment.length <= kKeepAlive) return;
            story.arrival = Arrival::repeated;
            break;
    }
    story.retransmission = true;
    ++sender.retransmitted;
    sender.retransmitted_bytes += observation.wire_length;
    messages_.resent(from, segment.seq, segment.length);
}

void IwarpConnection::take_data(const Observation& observation, const TcpSegmentView& segment, End from, const IwarpListeners& listeners,
                                PacketStory& story) {
    Half& sender = half(from);
    const TcpPiece piece{
        .seq = segment.seq, .length = segment.length, .bytes = segment.data, .frame = observation.frame, .time = observation.time};
    const TcpArrival arrival = sender.stream.add(piece);
    note_arrival(arrival, observation, segment, from, listeners.tracker.stream(uid()), story);
    IwarpPlace& place = story.ulp.iwarp;
    if (place.what == IwarpPlace::What::none) {
        const Framing& framing = sender.framer.framing();
        place.crc = framing.crc;
        place.markers = framing.markers;
        place.to_marker = static_cast<std::uint16_t>(framing.to_marker(segment.seq).value_or(0));
    }
    const Observed observed{observation.frame, segment.seq};
    read_on(from, &observed, listeners, story);
    // One that is not in order says itself whether it begins with an FPDU: senders of MPA begin segments so.
    if (place.what == IwarpPlace::What::none && arrival != TcpArrival::in_order &&
        begins_fpdu(segment.data, segment.length, sender.framer.framing(), segment.seq))
        place.what = IwarpPlace::What::fpdus;
}

// What is in order now. Of the segment that is observed, if any, its place is told.
void IwarpConnection::read_on(End from, const Observed* observed, const IwarpListeners& listeners, PacketStory& story) {
    Half& sender = half(from);
    IwarpWay& told = way(from);
    while (const auto piece = sender.stream.next()) {
        told.missing_bytes += piece->missing;
        IwarpPlace& place = story.ulp.iwarp;
        if (observed != nullptr && piece->frame == observed->frame && place.what == IwarpPlace::What::none) {
            if (const auto first = sender.framer.first_in(*piece)) {
                place.what = IwarpPlace::What::fpdus;
                place.first = static_cast<std::uint16_t>(std::min<std::uint32_t>(*first + (piece->seq - observed->seq), UINT16_MAX));
            }
        }
        const std::uint64_t lost = sender.framer.lost_alignment();
        sender.framer.take(*piece);
        while (const auto fpdu = sender.framer.next()) {
            ++told.fpdus;
            if (fpdu->crc == CrcStatus::good) ++told.crc_good;
            if (fpdu->crc == CrcStatus::bad) {
                ++told.crc_bad;
                story.corrupt = true;
                if (told.crc_bad_frames.size() < kIwarpFramesKept) told.crc_bad_frames.push_back(fpdu->last_frame);
            }
            messages_.take(from, *fpdu, listeners, story);
        }
        if (sender.framer.lost_alignment() != lost) messages_.interrupted(from);
    }
}

void IwarpConnection::take_ack(const Observation& observation, const TcpSegmentView& segment, End from, const IwarpListeners& listeners,
                               PacketStory& story) {
    Half& acknowledging = half(from);
    const End sender = other(from);
    const bool again = segment.length == 0 && !segment.syn && !segment.fin && segment.ack == acknowledging.last_ack;
    if (!again) acknowledging.same_acks = 0;
    else if (acknowledging.same_acks < kSameAcksToResend) ++acknowledging.same_acks;
    acknowledging.last_ack = segment.ack;
    if (!half(sender).stream.started()) return;
    half(sender).stream.acknowledged(segment.ack);
    if (half(sender).stream.held_bytes() > 0) {
        PacketStory aside;  // these are other packets than the one that is observed
        read_on(sender, nullptr, listeners, aside);
        story.completed += aside.completed;
        if (aside.latency) story.latency = aside.latency;
    }
    messages_.acknowledged(sender, segment.ack, observation, listeners, story);
}

void IwarpConnection::give_up_gaps() {
    for (Half& one : ways_) one.stream.give_up_gap();
}

IwarpConversation IwarpConnection::finish(const IwarpListeners& listeners) {
    PacketStory aside;
    for (const End end : {End::a, End::b}) {
        half(end).stream.no_more();
        read_on(end, nullptr, listeners, aside);
        way(end).missing_bytes += half(end).stream.unseen();
    }
    const Connection& connection = listeners.tracker.stream(uid());
    messages_.finish(connection.released || connection.failed ? Outcome::abandoned : Outcome::open, listeners);
    told_.terminated = messages_.terminated();
    for (const End end : {End::a, End::b}) {
        way(end).lost_alignment = half(end).framer.lost_alignment();
        way(end).unread_bytes = half(end).framer.unread_bytes();
    }
    over_ = true;
    ways_ = {};
    return std::move(told_);
}

}  // namespace qps::transport
