// The streams of an iWARP connection, their FPDUs and their ends.
#include <transport-replay/checks/passive/iwarp_exchange.hpp>

namespace qps::transport::conformance {

using namespace dissect;

void IwarpExchange::join(const Framing& framing) {
    joined_ = true;
    for (Way& one : ways_) one.cutter.join(framing);
}

void IwarpExchange::lose(End from) {
    way(from).whole = false;
    segments_.forget(from);
}

// Whether the capture has all of `sender` that the other end's TCP had when it sent what was seen of it.
bool IwarpExchange::has_all_of(End sender, const Way& receiver) {
    return receiver.acknowledges && way(sender).stream.started() &&
           !is_before(way(sender).stream.next_seq(), receiver.acknowledged);
}

void IwarpExchange::observe(const Observation& observation, const TcpSegmentView& segment, HostTallies& host_tallies) {
    const EndTallies tallies{host_tallies, flow_};
    const End from =
        observation.flow.source == flow_.source && observation.flow.source_qp == flow_.source_qp ? End::a : End::b;
    Way& sender = way(from);
    if (segment.reset) reset_ = true;
    if (segment.has_ack) {
        if (!sender.acknowledges || is_before(sender.acknowledged, segment.ack)) sender.acknowledged = segment.ack;
        sender.acknowledges = true;
        if (way(other(from)).stream.started()) way(other(from)).stream.acknowledged(segment.ack);
    }
    if (segment.length > 0 && !segment.syn) {
        if (!joined_ && !sender.set_up.seen && !sender.strange) {
            // Of an initiator, the capture may lack the request: its first segment is taken for one by IwarpWatch
            // alone.
            if (from == End::b || has_request_key(segment.data))
                take_set_up(from, first_segment(segment, observation.frame), tallies);
            else sender.strange = true;
        }
        take_first_data(segment, from, observation.frame);
        judge_rejected(segment, from, observation.frame, tallies);
        (void)sender.stream.add({.seq = segment.seq,
                                 .length = segment.length,
                                 .bytes = segment.data,
                                 .frame = observation.frame,
                                 .time = observation.time});
        read_on(from, tallies);
        judge_order(tallies);
    }
    if (segment.has_ack && way(other(from)).stream.held_bytes() > 0) read_on(other(from), tallies);
    if (segment.fin && !sender.fin) {
        sender.fin = segment.seq + segment.length;
        sender.fin_frame = observation.frame;
    }
    for (const End end : {End::a, End::b}) take_end(end, tallies);
}

void IwarpExchange::read_on(End from, const EndTallies& tallies) {
    Way& sender = way(from);
    while (const auto piece = sender.stream.next()) {
        if (!sender.cutter.begun()) {  // before the ends agreed: whatever it is, nobody can tell how it is framed
            if (sender.set_up.seen && is_before(sender.set_up.end, piece->end())) ++sender.unchecked;
            sender.unchecked_frame = piece->frame;
            continue;
        }
        if (piece->missing > 0) lose(from);
        const bool aligned = sender.cutter.aligned();
        sender.cutter.take(*piece);
        while (const auto fpdu = sender.cutter.next()) take_fpdu(from, *fpdu, tallies);
        if (aligned && !sender.cutter.aligned()) lose(from);
        if (!sender.cutter.aligned()) {
            ++sender.unchecked;
            sender.unchecked_frame = piece->frame;
        }
    }
}

// Whether what the FPDU says is what its sender said.
bool IwarpExchange::is_trusted(End from, const CutFpdu& fpdu, const EndTallies& tallies) {
    Way& sender = way(from);
    if (!fpdu.whole) {
        ++sender.unchecked;
        sender.unchecked_frame = fpdu.last_frame;
    } else if (fpdu.crc != CrcStatus::not_applicable) {
        tallies.look(from, Passive::mpa_13);
        if (fpdu.crc == CrcStatus::good) {
            ++sender.good;
            return true;
        }
        if (sender.bad < sender.bad_frames.size()) sender.bad_frames[sender.bad] = fpdu.last_frame;
        ++sender.bad;
        if (!mpa::heading(fpdu.ulpdu, fpdu.length) || sender.markers)
            sender.cutter.lose();  // its length may be wrong too
    } else {
        return true;
    }
    lose(from);
    return false;
}

void IwarpExchange::take_fpdu(End from, const CutFpdu& fpdu, const EndTallies& tallies) {
    Way& sender = way(from);
    const bool first = sender.whole && !sender.first_fpdu;
    if (first) sender.first_fpdu = fpdu.end;
    const auto heading = mpa::heading(fpdu.ulpdu, fpdu.length);
    const bool trusted = is_trusted(from, fpdu, tallies);
    // A responder need not take for an FPDU what is none, and may refuse one before it has all of it.
    const bool refuses = from == End::b && heading && heading->opcode == std::to_underlying(RdmapOpcode::terminate);
    if (first && (!trusted || refuses)) way(End::b).order_judged = true;
    if (!trusted) return;
    if (fpdu.has_markers) {
        tallies.judge(from, Passive::mpa_11, fpdu.marker_wrong, fpdu.last_frame);
        if (!fpdu.marker_wrong) tallies.judge(from, Passive::mpa_12, fpdu.marker_reserved, fpdu.last_frame);
        if (fpdu.marker_wrong &&
            fpdu.crc != CrcStatus::good) {  // there may be none at all: nothing says where FPDUs begin
            sender.cutter.lose();
            return lose(from);
        }
    }
    judge_length(from, fpdu, tallies);
    if (fpdu.has_pad) tallies.judge(from, Passive::mpa_14, fpdu.pad_wrong, fpdu.last_frame);
    if (first && from == End::a) judge_ready(fpdu, tallies);
    const bool whole = way(End::a).whole && way(End::b).whole && has_all_of(other(from), sender);
    segments_.take(from, fpdu.ulpdu, fpdu.first_frame, fpdu.last_frame, whole, tallies);
}

// A FIN behind everything that its end sent. Who broke off because of an error, or was told to, may do so anywhere.
void IwarpExchange::take_end(End from, const EndTallies& tallies) {
    Way& sender = way(from);
    if (sender.ended || !sender.fin) return;
    if (!sender.stream.started() || sender.stream.next_seq() != *sender.fin) return;
    sender.ended = true;
    if (sender.cutter.aligned() && sender.whole && !reset_ && !segments_.terminated())
        tallies.judge(from, Passive::mpa_17, sender.cutter.inside(), sender.fin_frame);
}

void IwarpExchange::finish(HostTallies& host_tallies) {
    const EndTallies tallies{host_tallies, flow_};
    for (const End end : {End::a, End::b}) {
        way(end).stream.no_more();
        read_on(end, tallies);
    }
    judge_order(tallies);
    const SetUp& reply = way(End::b).set_up;
    if (reply.rejected) tallies.look(End::b, Passive::mpa_10);
    const Way& initiator = way(End::a);
    Way& responder = way(End::b);
    // It answered an initiator that never sent an FPDU.
    const bool silent =
        initiator.whole && !initiator.first_fpdu && !initiator.cutter.inside() && initiator.stream.unseen() == 0;
    if (responder.data && responder.first_fpdu && !responder.order_judged && silent) {
        responder.order_judged = true;
        tallies.judge(End::b, Passive::mpa_09, true, responder.data->frame);
    }
    // RFC 5044 7.1.1: where neither end asked for CRCs there are none to check, whatever was captured of the FPDUs.
    const SetUp& request = initiator.set_up;
    const bool no_crcs = request.seen && reply.seen && !request.crc && !reply.crc;
    for (const End end : {End::a, End::b}) {
        const Way& sender = way(end);
        // All that a sender made: it does not know how. Where it has markers, these may be what is wrong.
        const bool computed_wrongly = sender.good == 0 && sender.bad > 1 && !sender.markers;
        for (std::size_t i = 0; i < sender.bad; ++i) {
            const FrameIndex frame = i < sender.bad_frames.size() ? sender.bad_frames[i] : FrameIndex{};
            if (computed_wrongly) tallies.fail(end, Passive::mpa_13, frame);
            else tallies.doubt(end, Passive::mpa_13, frame);
        }
        for (std::uint64_t i = 0; i < sender.unchecked && !reply.rejected && !no_crcs; ++i) {
            tallies.look(end, Passive::mpa_13);
            host_tallies.fpdu_unchecked();
            tallies.doubt(end, Passive::mpa_13, i == 0 ? sender.unchecked_frame : FrameIndex{});
        }
    }
}

}  // namespace qps::transport::conformance
