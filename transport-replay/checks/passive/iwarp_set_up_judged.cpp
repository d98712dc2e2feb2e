// Set-up frames of MPA (RFC 5044 7.1, RFC 6581), and who may send when.
#include <dissect/ulp/iwarp.hpp>
#include <transport-replay/checks/passive/iwarp_exchange.hpp>

#include <algorithm>
#include <string_view>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::string_view kRequestKey = "MPA ID Req Frame", kReplyKey = "MPA ID Rep Frame", kAnyKey = "MPA ID R";
constexpr std::uint8_t kFirstRevision = 1, kLatestRevision = 2;
constexpr std::uint16_t kMostPrivate = 512;
constexpr std::size_t kWords = 4;  // IRD and ORD

constexpr Field kMarkers = named(kMpaRequestFields, "iwarp_mpa.marker_flag");
constexpr Field kCrc = named(kMpaRequestFields, "iwarp_mpa.crc_flag");
constexpr Field kRejected = named(kMpaRequestFields, "iwarp_mpa.rej_flag");
constexpr Field kReservedOfRequest = named(kMpaRequestFields, "iwarp_mpa.res");
constexpr Field kEnhanced = named(kMpaRequestFields, "rdma.iwarp.enhanced");
constexpr Field kRevision = named(kMpaRequestFields, "iwarp_mpa.rev");
constexpr Field kPrivateLength = named(kMpaRequestFields, "iwarp_mpa.pdlength");
constexpr Field kPeerToPeer = named(kMpaEnhancedFields, "rdma.iwarp.peer_to_peer");
constexpr Field kReadySend = named(kMpaEnhancedFields, "rdma.iwarp.rtr_send");
constexpr Field kReadyWrite = named(kMpaEnhancedFields, "rdma.iwarp.rtr_write");
constexpr Field kReadyRead = named(kMpaEnhancedFields, "rdma.iwarp.rtr_read");
constexpr Field kIrd = named(kMpaEnhancedFields, "rdma.iwarp.ird");
constexpr Field kOrd = named(kMpaEnhancedFields, "rdma.iwarp.ord");
constexpr std::uint8_t kReservedBits = 5;  // of kReservedOfRequest, the first of which is kEnhanced

enum ReadyKind : std::uint8_t { ready_send = 1, ready_write = 2, ready_read = 4 };

bool begins_with(Bytes segment, std::string_view key) {
    return std::ranges::equal(slice(segment, 0, key.size()), key, {},
                              [](std::byte byte) { return static_cast<char>(byte); });
}

}  // namespace

bool has_request_key(Bytes segment) { return begins_with(segment, kRequestKey); }
bool has_reply_key(Bytes segment) { return begins_with(segment, kReplyKey); }

FirstSegment first_segment(const TcpSegmentView& segment, FrameIndex frame) {
    FirstSegment first{.seq = segment.seq, .frame = frame};
    const Bytes head = slice(segment.data, 0, kSetUpHead);
    std::ranges::copy(head, first.head.begin());
    first.used = static_cast<std::uint8_t>(head.size());
    return first;
}

void IwarpExchange::take_set_up(End from, const FirstSegment& first, const EndTallies& tallies) {
    const bool reply = from == End::b;
    const Bytes head = first.bytes();
    const bool right = reply ? has_reply_key(head) : has_request_key(head);
    // An initiator's wrong key is one where its peer took it for a request. What answers with anything else is no
    // responder of MPA.
    const bool wrong = !right && (!reply || begins_with(head, kAnyKey));
    tallies.judge(from, Passive::mpa_01, wrong, first.frame);
    if (!right && !wrong) tallies.doubt(from, Passive::mpa_01, first.frame);
    if ((!right && !wrong) || head.size() < kMpaSetUpLength) {
        way(from).strange = true;
        return;
    }
    SetUp& set_up = way(from).set_up;
    const auto length = static_cast<std::uint16_t>(read(head, kPrivateLength));
    set_up = {.seen = true,
              .frame = first.frame,
              .end = first.seq + static_cast<std::uint32_t>(kMpaSetUpLength) + length,
              .revision = static_cast<std::uint8_t>(read(head, kRevision)),
              .markers = read(head, kMarkers) != 0,
              .crc = read(head, kCrc) != 0,
              .rejected = reply && read(head, kRejected) != 0};
    const SetUp& request = way(End::a).set_up;
    const bool revised = set_up.revision >= kLatestRevision;
    const bool later = reply && request.seen && set_up.revision > request.revision;
    tallies.judge(from, Passive::mpa_02, set_up.revision < kFirstRevision || set_up.revision > kLatestRevision || later,
                  set_up.frame, later ? request.frame : FrameIndex{});
    tallies.judge(from, Passive::mpa_03, length > kMostPrivate, set_up.frame);
    const std::uint64_t enhanced_bit = std::uint64_t{1} << (kReservedBits - 1);
    const std::uint64_t reserved = read(head, kReservedOfRequest);
    tallies.judge(from, Passive::mpa_04, (revised ? reserved & ~enhanced_bit : reserved) != 0, set_up.frame);
    if (!reply) tallies.judge(from, Passive::mpa_05, read(head, kRejected) != 0, set_up.frame);
    const bool enhanced = revised && read(head, kEnhanced) != 0;
    const Bytes words = slice(head, kMpaSetUpLength, kWords);
    const bool room = length >= kWords;
    set_up.enhanced = enhanced && room && words.size() == kWords;
    if (set_up.enhanced) {
        set_up.ird = static_cast<std::uint16_t>(read(words, kIrd));
        set_up.ord = static_cast<std::uint16_t>(read(words, kOrd));
        set_up.peer_to_peer = read(words, kPeerToPeer) != 0;
        set_up.ready = static_cast<std::uint8_t>((read(words, kReadySend) != 0 ? ready_send : 0) |
                                                 (read(words, kReadyWrite) != 0 ? ready_write : 0) |
                                                 (read(words, kReadyRead) != 0 ? ready_read : 0));
    }
    if (enhanced) judge_enhanced(from, set_up, room, tallies);
    way(from).stream.start(first.seq);
    if (way(other(from)).set_up.seen) agree();
}

// RFC 6581 6, 9.1, 9.2. A rejection promises no READs, and nothing else.
void IwarpExchange::judge_enhanced(End from, const SetUp& set_up, bool room, const EndTallies& tallies) const {
    const SetUp& request = ways_[0].set_up;
    const bool unasked = from == End::b && request.seen && !request.enhanced;
    tallies.judge(from, Passive::mpa_06, !room || unasked, set_up.frame, unasked ? request.frame : FrameIndex{});
    if (from == End::a || !request.enhanced || !set_up.enhanced || set_up.rejected) return;
    const bool open = set_up.ord == IwarpSegments::kOpenDepth || request.ird == IwarpSegments::kOpenDepth;
    if (request.peer_to_peer) tallies.judge(from, Passive::mpa_27, !set_up.peer_to_peer, set_up.frame, request.frame);
    tallies.judge(from, Passive::mpa_07, !open && set_up.ord > request.ird, set_up.frame, request.frame);
}

// Who asks for markers gets them; CRCs are in use where either end wants them (RFC 5044 7.1.1).
void IwarpExchange::agree() {
    const SetUp& request = way(End::a).set_up;
    const SetUp& reply = way(End::b).set_up;
    if (reply.rejected) return;
    for (const End end : {End::a, End::b}) {
        Way& sender = way(end);
        const SetUp& peer = way(other(end)).set_up;
        const Framing framing{.crc = request.crc || reply.crc, .markers = peer.markers, .first = sender.set_up.end};
        sender.markers = framing.markers;
        const bool passed = sender.stream.started() && is_before(framing.first, sender.stream.next_seq());
        if (passed) {
            sender.cutter.join(framing);
            continue;
        }
        sender.cutter.begin(framing);
        sender.whole = true;
        segments_.start(end);
        if (request.enhanced && reply.enhanced) segments_.limit(end, peer.ird);
    }
}

// Of the first segment of a way with bytes behind its set-up frame: what its sender's TCP had.
void IwarpExchange::take_first_data(const TcpSegmentView& segment, End from, FrameIndex frame) {
    Way& sender = way(from);
    if (sender.data || !sender.set_up.seen || !segment.has_ack ||
        !is_before(sender.set_up.end, segment.seq + segment.length))
        return;
    if (is_before(sender.set_up.end, segment.seq)) {  // not the first one: that is not captured, or comes late
        sender.order_judged = true;
        return;
    }
    sender.data = FirstData{segment.ack, frame};
}

// RFC 5044 7.1.2.
void IwarpExchange::judge_order(const EndTallies& tallies) {
    Way& initiator = way(End::a);
    Way& responder = way(End::b);
    if (!initiator.order_judged && initiator.data && responder.set_up.seen) {
        initiator.order_judged = true;
        tallies.judge(End::a, Passive::mpa_08, is_before(initiator.data->acknowledged, responder.set_up.end),
                      initiator.data->frame, responder.set_up.frame);
    }
    if (!responder.order_judged && responder.data && responder.first_fpdu && initiator.first_fpdu) {
        responder.order_judged = true;
        tallies.judge(End::b, Passive::mpa_09, is_before(responder.data->acknowledged, *initiator.first_fpdu),
                      responder.data->frame);
    }
}

// RFC 5044 7.1.2: what an end sends that knows of the rejection.
void IwarpExchange::judge_rejected(const TcpSegmentView& segment, End from, FrameIndex frame,
                                   const EndTallies& tallies) {
    const SetUp& reply = way(End::b).set_up;
    Way& sender = way(from);
    if (!reply.rejected || sender.went_on || !sender.set_up.seen || !segment.has_ack) return;
    if (!is_before(sender.set_up.end, segment.seq + segment.length)) return;
    if (from == End::a && is_before(segment.ack, reply.end)) return;
    sender.went_on = true;
    tallies.fail(from, Passive::mpa_10, frame, reply.frame);
}

// RFC 5044 4.5: an FPDU fits into a segment, which its receiver's MSS bounds. Markers, and options of TCP, would leave
// less: that is not held against it. However short segments are, an FPDU may have 128 bytes for DDP.
void IwarpExchange::judge_length(End from, const CutFpdu& fpdu, const EndTallies& tallies) {
    constexpr std::uint32_t kHeadAndCrc = 6, kAligned = 4, kLeast = 128;
    const std::uint16_t mss = way(other(from)).mss;
    if (mss == 0) return;
    const std::uint32_t length = (kHeadAndCrc + fpdu.length + kAligned - 1) / kAligned * kAligned;
    tallies.judge(from, Passive::mpa_28, length > mss && fpdu.length > kLeast, fpdu.last_frame);
}

// RFC 6581 5: the first FPDU of the initiator.
void IwarpExchange::judge_ready(const CutFpdu& fpdu, const EndTallies& tallies) const {
    const SetUp& request = ways_[0].set_up;
    const SetUp& reply = ways_[1].set_up;
    const auto both = static_cast<std::uint8_t>(request.ready & reply.ready);
    if (!request.peer_to_peer || !reply.peer_to_peer || both == 0) return;
    const auto heading = mpa::heading(fpdu.ulpdu, fpdu.length);
    std::uint8_t is = 0;
    if (heading && fpdu.length >= heading->length()) {
        const std::size_t payload = fpdu.length - heading->length();
        constexpr Field kReadLength = named(kRdmapReadRequestFields, "iwarp_rdma.rdmardsz");
        const auto opcode = static_cast<RdmapOpcode>(heading->opcode);
        if (opcode == RdmapOpcode::send && payload == 0) is = ready_send;
        if (opcode == RdmapOpcode::write && payload == 0) is = ready_write;
        if (opcode == RdmapOpcode::read_request && read(fpdu.ulpdu.subspan(heading->length()), kReadLength) == 0)
            is = ready_read;
    }
    tallies.judge(End::a, Passive::mpa_16, (is & both) == 0, fpdu.last_frame, reply.frame);
}

}  // namespace qps::transport::conformance
