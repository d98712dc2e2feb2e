// Findings about RDMA over TCP: connections that ended or were refused, FPDUs that were spoiled, what TCP had to
// repair.
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/iwarp/iwarp_words.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kTerminateError{"terminate_error", Unit::word,
                                  "the error that the Terminate names: its layer, type and code in words"};
constexpr FactRow kTerminateLayer{"terminate_layer", Unit::number, "layer of that error: 0 RDMAP, 1 DDP, 2 MPA"};
constexpr FactRow kTerminateType{"terminate_type", Unit::number, "its type in that layer"};
constexpr FactRow kTerminateCode{"terminate_code", Unit::number, "its code of that type"};
constexpr FactRow kWrongCrcs{"wrong_crcs", Unit::count, "FPDUs with a wrong CRC"};
constexpr FactRow kFpdus{"fpdus", Unit::count, "FPDUs that were read"};
constexpr FactRow kTcpSegments{"tcp_segments", Unit::count, "TCP segments with data that it sent"};
constexpr FactRow kMissingBytes{"missing_bytes", Unit::bytes, "bytes of the stream that the capture lacks"};
constexpr FactRow kUnreadBytes{"unread_bytes", Unit::bytes, "bytes of the stream that are no FPDUs"};
constexpr FactRow kNonconformity{
    "nonconformity", Unit::word,
    "what it does otherwise than the RFCs: byte_order (of the fields of READ requests), markers_elsewhere, no_markers (although "
    "asked for)"};
constexpr std::array kIwarpFacts{
    &kTerminateError, &kTerminateLayer, &kTerminateType, &kTerminateCode, &kWrongCrcs,
    &kFpdus,          &kTcpSegments,    &kMissingBytes,  &kUnreadBytes,   &kNonconformity,
};

struct Stream {
    const IwarpConversation& iwarp;
    const Connection& connection;
    [[nodiscard]] Fact from(End end) const { return {kSender, connection.end(end)}; }
    [[nodiscard]] Fact to(End end) const { return {kReceiver, connection.end(other(end))}; }
};

template <class See> void each(const Timeline& timeline, See see) {
    for (const IwarpConversation& iwarp : timeline.iwarp.conversations)
        if (const Connection* connection = timeline.find(iwarp.connection); connection != nullptr)
            see(Stream{iwarp, *connection});
}
template <class See> void each_way(const Timeline& timeline, See see) {
    each(timeline, [&](const Stream& place) {
        for (const End end : {End::a, End::b}) see(place, end, place.iwarp.way(end));
    });
}

// Who broke the rule that a Terminate is about, what proves it, and what to do.
struct Blame {
    Party party{};
    std::string_view advice;
    std::vector<FindingEvent> proof{};
};

// Errors of layer MPA (RFC 5044 8, RFC 6581 9.2).
constexpr std::uint8_t kLocalCatastrophic = 0, kMpa = 2, kConnection = 1, kCrc = 2, kMarkers = 3, kBadSetUp = 4,
                       kMpaCatastrophic = 5, kTooFewReads = 6, kNoReady = 7;

// The sender of the Terminate is the sender here.
constexpr std::string_view kCheckLocalLog = "Check the log of {sender:host}, which failed locally.";

// What both ends said before the first FPDU does not fit together.
Blame blame_for_set_up(const Stream& place, const Terminated& terminated) {
    const End culprit = other(terminated.from);
    const auto& request = place.iwarp.way(End::a).set_up;
    const auto& reply = place.iwarp.way(End::b).set_up;
    const bool enhanced = request && reply && request->ird && reply->ird;
    const bool unanswered = enhanced && request->peer_to_peer && !reply->peer_to_peer && culprit == End::b;
    Blame blame{
        .party = culprit == End::a ? Party::requester : Party::responder,
        .advice =
            unanswered
                ? "The MPA reply of {receiver:host} lacks the flag A of its request, which RFC 6581 9.2 demands: check its settings for "
                  "peer-to-peer connections and ready-to-receive messages (RTR)."
                : "Compare IRD, ORD and ready-to-receive messages (RTR) in the MPA request and reply; {receiver:host} did not keep to "
                  "them."};
    for (const auto& said : {request, reply})
        if (said) blame.proof.push_back({said->frame, EventRole::evidence, said->time});
    return blame;
}

Blame blame_of(const Stream& place, const Terminated& terminated) {
    if (terminated.layer != kMpa) {
        if (terminated.type == kLocalCatastrophic) return {Party::responder, kCheckLocalLog};
        return {Party::requester,
                "Check what {receiver:host} sent right before: memory keys, lengths and sequence numbers."};
    }
    switch (terminated.code) {
        case kConnection:
            return {Party::fabric, "Look for what ended the TCP connection between {sender:host} and {receiver:host}."};
        case kCrc:
            return {
                Party::fabric,
                "Look for a device between the hosts that changes payload, and for memory errors on {receiver:host}."};
        case kMarkers:
            return {Party::requester,
                    "Check how {receiver:host} places MPA markers: whether the MPA set-up asks for them."};
        case kMpaCatastrophic: return {Party::responder, kCheckLocalLog};
        case kBadSetUp:
        case kTooFewReads:
        case kNoReady: return blame_for_set_up(place, terminated);
        default: return {Party::undecided, "Check what {receiver:host} sent right before, the MPA set-up too."};
    }
}

// A Terminate is sent by who received something wrong: it is about what the other end sent (RFC 5040 4.8), or about
// what it promised in the set-up (RFC 6581 9.2).
void iwarp_terminated(const Timeline& timeline, const Emit& emit) {
    each(timeline, [&](const Stream& place) {
        if (!place.iwarp.terminated) return;
        const Terminated& terminated = *place.iwarp.terminated;
        Blame blame = blame_of(place, terminated);
        blame.proof.push_back({terminated.frame, EventRole::end, terminated.time});
        emit({.party = blame.party,
              .connection = place.connection.uid,
              .advice = blame.advice,
              .facts = {place.from(terminated.from),
                        place.to(terminated.from),
                        {kTerminateError, terminate_text(terminated)},
                        {kTerminateLayer, terminated.layer},
                        {kTerminateType, terminated.type},
                        {kTerminateCode, terminated.code}},
              .events = std::move(blame.proof)});
    });
}

void iwarp_refused(const Timeline& timeline, const Emit& emit) {
    each(timeline, [&](const Stream& place) {
        const auto& reply = place.iwarp.way(End::b).set_up;
        if (!reply || !reply->rejected) return;
        emit({.party = Party::application,
              .connection = place.connection.uid,
              .facts = {{kActiveSide, place.connection.end(End::a)}, {kPassiveSide, place.connection.end(End::b)}},
              .events = {{reply->frame, EventRole::evidence, reply->time}}});
    });
}

void iwarp_crc_wrong(const Timeline& timeline, const Emit& emit) {
    each_way(timeline, [&](const Stream& place, End end, const IwarpWay& way) {
        if (way.crc_bad == 0) return;
        FindingDraft draft{.party = Party::fabric,
                           .connection = place.connection.uid,
                           .count = way.crc_bad,
                           .facts = {place.from(end), place.to(end), {kWrongCrcs, way.crc_bad}, {kFpdus, way.fpdus}}};
        for (const dissect::FrameIndex frame : way.crc_bad_frames) draft.events.push_back({frame});
        emit(std::move(draft));
    });
}

void iwarp_retransmission(const Timeline& timeline, const Emit& emit) {
    each(timeline, [&](const Stream& place) {
        for (const End end : {End::a, End::b}) {
            const Way& way = place.connection.way(end);
            if (way.incidents->retransmitted == 0) continue;
            emit({.party = Party::fabric,
                  .connection = place.connection.uid,
                  .count = way.incidents->retransmitted,
                  .facts = {place.from(end),
                            place.to(end),
                            {kRetransmitted, way.incidents->retransmitted},
                            {kTcpSegments, way.requests}},
                  .marked = MarkedPackets{PacketMark::retransmission, end}});
        }
    });
}

void iwarp_stream_holes(const Timeline& timeline, const Emit& emit) {
    each_way(timeline, [&](const Stream& place, End end, const IwarpWay& way) {
        if (way.missing_bytes == 0) return;
        emit({.party = Party::capture,
              .connection = place.connection.uid,
              .count = way.lost_alignment == 0 ? 1 : way.lost_alignment,
              .facts = {place.from(end), place.to(end), {kMissingBytes, way.missing_bytes}}});
    });
}

// What the analysis reads all the same, and other readers may not.
void iwarp_nonconforming(const Timeline& timeline, const Emit& emit) {
    each_way(timeline, [&](const Stream& place, End end, const IwarpWay& way) {
        const auto say = [&](dissect::FrameIndex proof, std::string_view what) {
            if (proof == dissect::FrameIndex{}) return;
            emit({.party = Party::requester,
                  .connection = place.connection.uid,
                  .facts = {place.from(end), place.to(end), {kNonconformity, what}},
                  .events = {{proof}}});
        };
        say(way.turned_read, "byte_order");
        say(way.odd_markers, way.markers ? "markers_elsewhere" : "no_markers");
    });
}

void iwarp_unreadable(const Timeline& timeline, const Emit& emit) {
    each_way(timeline, [&](const Stream& place, End end, const IwarpWay& way) {
        if (way.unread_bytes == 0 || way.missing_bytes != 0) return;
        emit({.party = Party::undecided,
              .connection = place.connection.uid,
              .count = std::max<std::uint64_t>(1, way.lost_alignment),
              .facts = {place.from(end), place.to(end), {kUnreadBytes, way.unread_bytes}}});
    });
}

}  // namespace

Family iwarp_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "iwarp-terminated",
            .severity = Severity::error,
            .clause = "RFC 5040 4.8",
            .meaning = "An iWARP connection was terminated because of an error",
            .sentence =
                "{sender:host} terminated the connection with {receiver} because of an error ({terminate_error}).",
            .advice = kCheckLocalLog,
            .alike =
                "A program that puts its queue pair into the error state while operations are under way: the connection may end "
                "with a Terminate, too.",
            .limits =
                "A Terminate names what its sender took for wrong. Whether it was, the capture shows only as far as it has what "
                "was sent before.",
            .draw = iwarp_terminated},
        FindingRow{
            .id = "iwarp-refused",
            .severity = Severity::error,
            .clause = "RFC 5044 7.1",
            .meaning = "The passive side rejected an iWARP connection",
            .sentence = "{passive_side} rejected the connection from {active_side:host} in its MPA reply.",
            .advice = "Check the log of the program that listens on {passive_side} for the reason.",
            .alike = "A program that rejects on purpose, as one that has as many clients as it takes.",
            .limits = "The reason may be in the private data of the reply, which that program alone understands.",
            .draw = iwarp_refused},
        FindingRow{
            .id = "iwarp-crc-wrong",
            .severity = Severity::warning,
            .clause = "RFC 5044 4.4",
            .meaning = "FPDUs of iWARP have a wrong CRC",
            .sentence =
                "{wrong_crcs:plain} of {fpdus:FPDU} from {sender:host} to {receiver} [wrong_crcs=1?has|have] a wrong CRC.",
            .advice =
                "Look for a device between the hosts that changes payload, and for memory errors on {sender:host}.",
            .alike = "A sender that computes its CRCs wrongly, and a capture whose payload a tool rewrote.",
            .limits =
                "Whether the bytes were wrong at the sender or changed on the way to the tap is not known. FPDUs that the "
                "capture has in part are not checked.",
            .draw = iwarp_crc_wrong},
        FindingRow{
            .id = "iwarp-retransmission",
            .severity = Severity::warning,
            .clause = "RFC 5681 3.2",
            .meaning = "TCP retransmitted segments of an iWARP connection",
            .by_order = true,
            .sentence = "{sender:host} retransmitted {retransmitted:plain} of {tcp_segments:segment} to {receiver}.",
            .advice = "Look for drops between {sender:host} and {receiver:host}: RDMA over TCP stalls on each of them.",
            .alike = "TCP retransmits segments that were only late, too, and those of which the ACKs alone were lost.",
            .limits =
                "Which segments were lost, and on which side of the tap, is not said: TCP may retransmit more than what was "
                "lost.",
            .draw = iwarp_retransmission},
        FindingRow{
            .id = "iwarp-nonconforming",
            .severity = Severity::note,
            .clause = "RFC 5040 4.4; RFC 5044 4.3",
            .meaning = "An iWARP sender does not follow the RFCs",
            .sentence =
                "{sender:host} [nonconformity=byte_order?writes the fields of its READ requests least significant byte first, "
                "against RFC 5040][nonconformity=markers_elsewhere?has no MPA markers where RFC 5044 has "
                "them][nonconformity=no_markers?sends no MPA markers, although the other end asked for them]; it is read so.",
            .advice =
                "Update the RDMA stack of {sender:host}: implementations that follow the RFC do not understand it.",
            .alike = "An implementation of its own kind among peers of the same, which understand each other.",
            .limits =
                "It is concluded from what fits: CRCs that are right without markers or with markers elsewhere, responses to "
                "READs that go where the turned fields say.",
            .draw = iwarp_nonconforming},
        FindingRow{
            .id = "iwarp-unreadable",
            .severity = Severity::note,
            .clause = "RFC 5044 4",
            .meaning = "Bytes of an iWARP stream are not FPDUs",
            .sentence =
                "{unread_bytes:byte} that {sender:host} sent to {receiver} could not be read as FPDUs, although the capture has "
                "all of the stream.",
            .advice = "Check whether {sender:host} is an implementation with markers or lengths of its own.",
            .alike = "A program that goes on with plain TCP after the set-up, and a stream whose bytes were damaged.",
            .limits = "What the unread bytes carry is not known; operations in them are not followed.",
            .draw = iwarp_unreadable},
        FindingRow{
            .id = "iwarp-stream-holes",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "The capture lacks bytes of an iWARP stream",
            .sentence =
                "The capture lacks {missing_bytes:byte} that {sender:host} sent to {receiver}, so some messages are incomplete.",
            .advice = "Capture closer to one of the hosts, or with larger buffers.",
            .alike = "Segments that took a path that the tap does not see, and packets that were truncated.",
            .limits = "Where FPDUs begin behind such a hole is searched for: what lies between is not followed.",
            .draw = iwarp_stream_holes},
    };
    return {kRows, kIwarpFacts};
}

}  // namespace qps::transport::families
