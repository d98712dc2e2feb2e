// Findings about RDMA over TCP: connections that ended or were refused, FPDUs that were spoiled, what TCP had to repair.
#include <transport-replay/findings/families.hpp>
#include <transport-replay/iwarp/iwarp_words.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace words;

struct Stream {
    const IwarpConversation& iwarp;
    const Connection& connection;
    [[nodiscard]] std::string from(End end) const { return host(connection.end(end)); }
    [[nodiscard]] std::string to(End end) const { return who(connection.end(other(end))); }
};

template <class See>
void each(const Timeline& timeline, See see) {
    for (const IwarpConversation& iwarp : timeline.iwarp.conversations)
        if (const Connection* connection = timeline.find(iwarp.connection); connection != nullptr) see(Stream{iwarp, *connection});
}
template <class See>
void each_way(const Timeline& timeline, See see) {
    each(timeline, [&](const Stream& place) {
        for (const End end : {End::a, End::b}) see(place, end, place.iwarp.way(end));
    });
}

std::string bytes(std::uint64_t count) { return counted(count, "byte"); }

// Who broke the rule that a Terminate is about, what proves it, and what to do.
struct Blame {
    Party party{};
    std::string advice;
    std::vector<dissect::FrameIndex> proof{};
};

// Errors of layer MPA (RFC 5044 8, RFC 6581 9.2).
constexpr std::uint8_t kLocalCatastrophic = 0, kMpa = 2, kConnection = 1, kCrc = 2, kMarkers = 3, kBadSetUp = 4, kMpaCatastrophic = 5, kTooFewReads = 6, kNoReady = 7;

// What both ends said before the first FPDU does not fit together.
Blame blame_for_set_up(const Stream& place, const Terminated& terminated) {
    const End culprit = other(terminated.from);
    const auto& request = place.iwarp.way(End::a).set_up;
    const auto& reply = place.iwarp.way(End::b).set_up;
    Blame blame{.party = culprit == End::a ? Party::requester : Party::responder, .advice = {}};
    for (const auto& said : {request, reply})
        if (said && said->frame != dissect::FrameIndex{}) blame.proof.push_back(said->frame);
    const bool enhanced = request && reply && request->ird && reply->ird;
    const bool unanswered = enhanced && request->peer_to_peer && !reply->peer_to_peer && culprit == End::b;
    blame.advice = unanswered
                       ? fmt::format("The MPA reply of {} lacks the flag A of its request, which RFC 6581 9.2 demands: check its settings for peer-to-peer "
                                     "connections and ready-to-receive messages (RTR).", place.from(culprit))
                       : fmt::format("Compare IRD, ORD and ready-to-receive messages (RTR) in the MPA request and reply; {} did not keep to them.",
                                     place.from(culprit));
    return blame;
}

Blame blame_of(const Stream& place, const Terminated& terminated) {
    const std::string culprit = place.from(other(terminated.from));
    const std::string local = fmt::format("Check the log of {}, which failed locally.", place.from(terminated.from));
    if (terminated.layer != kMpa) {
        if (terminated.type == kLocalCatastrophic) return {Party::responder, local};
        return {Party::requester, fmt::format("Check what {} sent right before: memory keys, lengths and sequence numbers.", culprit)};
    }
    switch (terminated.code) {
        case kConnection: return {Party::fabric, fmt::format("Look for what ended the TCP connection between {} and {}.", place.from(terminated.from), culprit)};
        case kCrc:
            return {Party::fabric, fmt::format("Look for a device between the hosts that changes payload, and for memory errors on {}.", culprit)};
        case kMarkers: return {Party::requester, fmt::format("Check how {} places MPA markers: whether the MPA set-up asks for them.", culprit)};
        case kMpaCatastrophic: return {Party::responder, local};
        case kBadSetUp:
        case kTooFewReads:
        case kNoReady: return blame_for_set_up(place, terminated);
        default: return {Party::undecided, fmt::format("Check what {} sent right before, the MPA set-up too.", culprit)};
    }
}

// A Terminate is sent by who received something wrong: it is about what the other end sent (RFC 5040 4.8), or about what it promised in
// the set-up (RFC 6581 9.2).
void iwarp_terminated(const Timeline& timeline, const Emit& emit) {
    each(timeline, [&](const Stream& place) {
        if (!place.iwarp.terminated) return;
        const Terminated& terminated = *place.iwarp.terminated;
        Blame blame = blame_of(place, terminated);
        blame.proof.push_back(terminated.frame);
        emit({.party = blame.party,
              .connection = place.connection.uid,
              .old_packets = blame.proof,
              .old_summary = fmt::format("{} terminated the connection with {} because of an error ({}).", place.from(terminated.from),
                                     place.to(terminated.from), terminate_text(terminated)),
              .old_advice = blame.advice});
    });
}

void iwarp_refused(const Timeline& timeline, const Emit& emit) {
    each(timeline, [&](const Stream& place) {
        const auto& reply = place.iwarp.way(End::b).set_up;
        if (!reply || !reply->rejected) return;
        emit({.party = Party::application,
              .connection = place.connection.uid,
              .old_packets = {reply->frame},
              .old_summary =
                  fmt::format("{} rejected the connection from {} in its MPA reply.", who(place.connection.end(End::b)), place.from(End::a)),
              .old_advice = fmt::format("Check the log of the program that listens on {} for the reason.", who(place.connection.end(End::b)))});
    });
}

void iwarp_crc_wrong(const Timeline& timeline, const Emit& emit) {
    each_way(timeline, [&](const Stream& place, End end, const IwarpWay& way) {
        if (way.crc_bad == 0) return;
        emit({.party = Party::fabric,
              .connection = place.connection.uid,
              .old_packets = way.crc_bad_frames,
              .count = way.crc_bad,
              .old_summary = fmt::format("{} of {} from {} to {} {} a wrong CRC.", way.crc_bad,
                                     counted(way.fpdus, "FPDU"), place.from(end), place.to(end), way.crc_bad == 1 ? "has" : "have"),
              .old_advice = fmt::format("Look for a device between the hosts that changes payload, and for memory errors on {}.", place.from(end))});
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
                  .old_summary = fmt::format("{} retransmitted {} of {} to {}.", place.from(end), way.incidents->retransmitted,
                                         counted(way.requests, "segment"), place.to(end)),
                  .old_advice = fmt::format("Look for drops between {} and {}: RDMA over TCP stalls on each of them.", place.from(end),
                                        place.from(other(end)))});
        }
    });
}

void iwarp_stream_holes(const Timeline& timeline, const Emit& emit) {
    each_way(timeline, [&](const Stream& place, End end, const IwarpWay& way) {
        if (way.missing_bytes == 0) return;
        emit({.party = Party::capture,
              .connection = place.connection.uid,
              .count = way.lost_alignment == 0 ? 1 : way.lost_alignment,
              .old_summary = fmt::format("The capture lacks {} that {} sent to {}, so some messages are incomplete.",
                                     bytes(way.missing_bytes), place.from(end), place.to(end)),
              .old_advice = "Capture closer to one of the hosts, or with larger buffers."});
    });
}

// What the analysis reads all the same, and other readers may not.
void iwarp_nonconforming(const Timeline& timeline, const Emit& emit) {
    each_way(timeline, [&](const Stream& place, End end, const IwarpWay& way) {
        const auto say = [&](dissect::FrameIndex proof, std::string_view what) {
            if (proof == dissect::FrameIndex{}) return;
            emit({.party = Party::requester,
                  .connection = place.connection.uid,
                  .old_packets = {proof},
                  .old_summary = fmt::format("{} {}; it is read so.", place.from(end), what),
                  .old_advice = fmt::format("Update the RDMA stack of {}: implementations that follow the RFC do not understand it.",
                                        place.from(end))});
        };
        say(way.turned_read, "writes the fields of its READ requests least significant byte first, against RFC 5040");
        say(way.odd_markers, way.markers ? "has no MPA markers where RFC 5044 has them"
                                         : "sends no MPA markers, although the other end asked for them");
    });
}

void iwarp_unreadable(const Timeline& timeline, const Emit& emit) {
    each_way(timeline, [&](const Stream& place, End end, const IwarpWay& way) {
        if (way.unread_bytes == 0 || way.missing_bytes != 0) return;
        emit({.party = Party::undecided,
              .connection = place.connection.uid,
              .count = std::max<std::uint64_t>(1, way.lost_alignment),
              .old_summary = fmt::format("{} that {} sent to {} could not be read as FPDUs, although the capture has all of the stream.",
                                     bytes(way.unread_bytes), place.from(end), place.to(end)),
              .old_advice = fmt::format("Check whether {} is an implementation with markers or lengths of its own.", place.from(end))});
    });
}

}  // namespace

Family iwarp_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "iwarp-terminated",
                   .severity = Severity::error,
                   .clause = "RFC 5040 4.8",
                   .meaning = "An iWARP connection was terminated because of an error",
                   .draw = iwarp_terminated},
        FindingRow{.id = "iwarp-refused",
                   .severity = Severity::error,
                   .clause = "RFC 5044 7.1",
                   .meaning = "The passive side rejected an iWARP connection",
                   .draw = iwarp_refused},
        FindingRow{.id = "iwarp-crc-wrong",
                   .severity = Severity::warning,
                   .clause = "RFC 5044 4.4",
                   .meaning = "FPDUs of iWARP have a wrong CRC",
                   .draw = iwarp_crc_wrong},
        FindingRow{.id = "iwarp-retransmission",
                   .severity = Severity::warning,
                   .clause = "RFC 5681 3.2",
                   .meaning = "TCP retransmitted segments of an iWARP connection",
                   .by_order = true,
                   .draw = iwarp_retransmission},
        FindingRow{.id = "iwarp-nonconforming",
                   .severity = Severity::note,
                   .clause = "RFC 5040 4.4; RFC 5044 4.3",
                   .meaning = "An iWARP sender does not follow the RFCs",
                   .draw = iwarp_nonconforming},
        FindingRow{.id = "iwarp-unreadable",
                   .severity = Severity::note,
                   .clause = "RFC 5044 4",
                   .meaning = "Bytes of an iWARP stream are not FPDUs",
                   .draw = iwarp_unreadable},
        FindingRow{.id = "iwarp-stream-holes",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "The capture lacks bytes of an iWARP stream",
                   .draw = iwarp_stream_holes},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
