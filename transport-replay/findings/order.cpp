// Findings about what the network did to the order and the number of packets, and about NAKs of those that were late.
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/recovery_facts.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kRequestedRetransmissions{"requested_retransmissions", Unit::count,
                                            "times that the receiver asked for such packets again"};
constexpr FactRow kSentOnce{"sent_once", Unit::flag, "the sender counts its packets, and sent each of them once"};

constexpr std::string_view kLateCosts =
    "Disable adaptive routing, packet spraying or round-robin bonding for this traffic, or enable out-of-order support on both NICs (`mlxreg --reg_name "
    "ROCE_ACCL`): each late packet costs a retransmission.";

void out_of_order(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            const Way& back = connection.way(other(end));
            if (back.incidents->unread_answers + way.incidents->unread_answers != 0)
                continue;  // a NAK may have asked for them
            const Ordering& order = *way.incidents->ordering;
            const bool reported =
                order.naks_of(NakCause::late) + order.naks_of(NakCause::discarded_late) != 0;  // as reordered-not-lost
            const Incidents& had = *way.incidents;
            const std::uint64_t late =
                (reported ? 0 : std::max(had.gaps.reordered, order.overtaken)) + had.response_gaps.reordered;
            if (late == 0) continue;
            // Without a complaint the receiver bears it (adaptive routing with out-of-order placement), or only the tap
            // saw them so.
            const std::uint64_t complaints = way.incidents->response_gaps.reordered == 0
                                                 ? 0
                                                 : back.incidents->recovery(RecoveryKind::read_retry).triggers;
            const bool expected = accepts_any_order(timeline, connection.end(other(end)).address);
            if (expected && complaints == 0) continue;  // as the user says
            FindingDraft draft{.party = complaints != 0 ? Party::fabric : Party::undecided,
                               .connection = connection.uid,
                               .count = late,
                               .severity = complaints != 0 ? Severity::warning : Severity::note,
                               .advice = expected          ? kAnyOrderAdvice
                                         : complaints != 0 ? kLateCosts
                                                           : std::string_view{},
                               .facts = {{kSender, connection.end(end)},
                                         {kReceiver, connection.end(other(end))},
                                         {kRequestedRetransmissions, complaints}}};
            add_part(draft.facts, late, way.packets);
            add_events(draft, way, Oddity::late, EventRole::evidence);
            if (!reported) draft.marked = MarkedPackets{PacketMark::late, end};
            emit(std::move(draft));
        }
}

// Whether the network made the copies: the sender counts its packets, so that it did not; and some came twice here and
// there among many that came once, so that no second tap recorded a part of the capture.
bool is_by_network(const Way& way) {
    constexpr std::uint64_t kMostPart = 4, kAlonePart = 2;
    const Doubled& doubled = way.incidents->doubled;
    return doubled.identified != 0 && doubled.identified * kMostPart <= way.requests &&
           doubled.alone * kAlonePart >= doubled.identified;
}

constexpr std::string_view kCopiesUndecided =
    "{packets} of {all_packets:request packet} from {sender:host} to {receiver} ({share}) [packets=1?repeats an earlier one|repeat earlier ones]: whether "
    "[sent_once?the network doubled [packets=1?it|them] or a second tap recorded [packets=1?it|them]|the network or the capture doubled [packets=1?it|them] or "
    "{sender:host} retransmitted [packets=1?it|them]] is undecided.";
constexpr std::string_view kCopiesUndecidedAdvice =
    "Compare with duplicate_request of {receiver:host} (`rdma statistic`): it counts what arrived there twice, not what was recorded twice.";

FindingDraft draft_of_copies(const Connection& connection, End end) {
    const Way& way = connection.way(end);
    const std::uint64_t duplicated = way.incidents->duplicated, identified = way.incidents->doubled.identified;
    const bool by_network = is_by_network(way);
    FindingDraft draft{.party = by_network ? Party::fabric : Party::undecided,
                       .connection = connection.uid,
                       .count = by_network ? identified : duplicated,
                       .severity = by_network ? Severity::warning : Severity::note,
                       .sentence = by_network ? std::string_view{} : kCopiesUndecided,
                       .advice = by_network ? std::string_view{} : kCopiesUndecidedAdvice,
                       .facts = {{kSender, connection.end(end)},
                                 {kReceiver, connection.end(other(end))},
                                 {kSentOnce, identified == duplicated}}};
    // Of copies among all that arrived: how many packets they are copies of is not known, as each may have come more
    // than twice.
    add_part(draft.facts, draft.count, way.requests);
    add_events(draft, way, Oddity::duplicated, EventRole::evidence);
    if (draft.count == duplicated) draft.marked = MarkedPackets{PacketMark::duplicated, end};
    return draft;
}

void duplicated(const Timeline& timeline, const Emit& emit) {
    if (timeline.quality.same_tap_systematic) return;  // a mirror doubles, and hides what the network doubles
    for (const Connection& connection : timeline.connections) {
        if (connection.service == dissect::Service::uet) continue;  // who doubled its packets nothing tells
        for (const End end : {End::a, End::b})
            if (connection.way(end).incidents->duplicated != 0) emit(draft_of_copies(connection, end));
    }
}

// --- NAKs of packets that were not lost, only late ---

constexpr FactRow kOvertaken{"overtaken", Unit::count, "requests that passed the tap after some that were sent later"};
constexpr FactRow kRequests{"requests", Unit::count, "request packets of which they are a part"};
constexpr FactRow kFarthest{"farthest", Unit::count, "by how many requests one was overtaken, at most"};
constexpr FactRow kLatest{"latest", Unit::duration, "by what time, at most"};
constexpr FactRow kDiscardedBehindLate{"discarded_behind_late", Unit::flag,
                                       "some of the NAKs are of packets that were discarded behind late ones"};

std::uint64_t naks_of_order(const Ordering& ordering) {
    return ordering.naks_of(NakCause::late) + ordering.naks_of(NakCause::late_behind_tap) +
           ordering.naks_of(NakCause::discarded_late);
}

void reordered_not_lost(const Timeline& timeline, const Emit& emit) {
    for (const Episodes& found : all_episodes(timeline)) {
        const Ordering& ordering = *found.way().incidents->ordering;
        const std::uint64_t naks = naks_of_order(ordering);
        if (naks == 0) continue;
        const auto late = kept(found, [](const Recovery& episode) { return is_of_order(episode.cause); });
        RecoverySum cost;  // of the episodes that were kept
        for (const Recovery* episode : late) cost.add(*episode);
        const bool here = ordering.overtaken != 0;
        // What was sent again sooner than two taps can be told apart by their times may have been taken for the other
        // one's copy.
        const VantagePoints& taps = timeline.quality.vantage;
        if (!here && cost.resent == 0 && taps.taps > 1 && cost.most_lost <= taps.offset.tolerance) continue;
        FindingDraft draft{
            .party = Party::fabric,
            .connection = found.connection.uid,
            .count = naks,
            .advice = accepts_any_order(timeline, found.to().address) ? kAnyOrderAdvice : std::string_view{},
            .facts = {{kRequester, found.from()},
                      {kResponder, found.to()},
                      {kOvertaken, nonzero(ordering.overtaken)},
                      {kSequenceNaks, naks},
                      {kDiscardedBehindLate, ordering.naks_of(NakCause::discarded_late) != 0},
                      {kRetransmitted, nonzero(cost.resent)}},
            .episodes = places_of(timeline, late)};
        if (here) draft.facts.emplace_back(kRequests, found.way().requests);
        if (here && ordering.farthest != 0) {
            draft.facts.emplace_back(kFarthest, ordering.farthest);
            draft.facts.emplace_back(kLatest, ordering.longest);
        }
        if (cost.resent != 0) draft.facts.emplace_back(kRetransmittedBytes, cost.resent_bytes);
        add_stall(draft.facts, cost.episodes, cost.lost, cost.most_lost);
        add_events(draft, found.way(), Oddity::late, EventRole::evidence);
        emit(std::move(draft));
    }
}

}  // namespace

Family reordering_family() {
    static constexpr std::array kOwn{&kOvertaken, &kRequests, &kFarthest, &kLatest, &kDiscardedBehindLate};
    static constexpr std::array kRows{
        FindingRow{
            .id = "reordered-not-lost",
            .severity = Severity::warning,
            .clause = "IBA 9.7.5.1.2",
            .meaning = "A responder requested packets that were reordered and not lost",
            .by_order = true,
            .sentence =
                "[overtaken?{overtaken} of {requests:request} from {requester:host} to {responder} passed this tap after requests sent "
                "later[, by up to {farthest:packet} and {latest}]|requests from {requester:host} to {responder} were reordered between this "
                "tap and {responder:host}]; {responder:host} sent {sequence_naks:sequence NAK} of packets that were "
                "late[discarded_behind_late?, or discarded behind late ones,] and not lost; [retransmitted?{retransmitted:packet} "
                "({retransmitted_bytes}) [retransmitted=1?was|were]|nothing was] retransmitted for them, which stalled {>stall}.",
            .advice =
                "Disable adaptive routing, packet spraying or round-robin bonding for this traffic between [overtaken?{requester:host} and "
                "this tap|this tap and {responder:host}], or enable out-of-order support on both NICs (`mlxreg --reg_name ROCE_ACCL`): a "
                "go-back-N responder requests every packet that is overtaken.",
            .alike =
                "A loss whose retransmission follows at once looks alike (go-back-n-loss): IPv4 identifications that count up, or an "
                "acknowledgment before anything was sent again, tell a late packet from a repeated one. A mirror port or a capturing host that "
                "reorders packets does not, by itself, make a responder send NAKs.",
            .limits =
                "Which hop reordered cannot be told, only on which side of the tap it is. Packets that were late and that no NAK asked for are "
                "not counted; of retransmissions and stalls only the episodes that were kept are.",
            .draw = reordered_not_lost},
    };
    return {kRows, kOwn};
}

Family order_family() {
    static constexpr std::array kOwn{&kRequestedRetransmissions, &kSentOnce};
    static constexpr std::array kRows{
        FindingRow{
            .id = "out-of-order-delivery",
            .severity = Severity::warning,
            .clause = "IBA 9.7.3",
            .meaning = "Packets arrived out of order",
            .predicate = "received packets out of order",
            .by_order = true,
            .sentence =
                "{packets} of {all_packets:packet} from {sender:host} to {receiver} arrived after packets sent later ({share}), as seen at the "
                "tap; {receiver:host} requested retransmission {requested_retransmissions:times}.",
            .advice =
                "Do nothing if adaptive routing is enabled on purpose; otherwise check that the mirror port keeps the order, then check LAG "
                "hashing.",
            .alike =
                "A mirror port, a capturing host with several receive queues or a merge of captures changes the order in the file alone; then no "
                "receiver asks for anything. A loss and its retransmission look alike where nothing tells a first sending from a second.",
            .limits =
                "The order is that of the tap: whether packets arrived so at the receiver only its requests for retransmission show. Which hop "
                "reordered is not known.",
            .draw = out_of_order},
        FindingRow{
            .id = "duplicated-by-network",
            .severity = Severity::warning,
            .clause = "IBA C9-105",
            .meaning = "The network duplicated packets",
            .by_order = true,
            .sentence =
                "{packets} of {all_packets:request packet} from {sender:host} to {receiver} ({share}) [packets=1?repeats an earlier one|repeat "
                "earlier ones] with identical bytes: not {sender:host} but a device on the path duplicated [packets=1?it|them].",
            .advice =
                "List them (`qpscope packets -Y rdma.duplicated`) and look for a layer-2 loop, flooding of an unknown MAC or a mirror session "
                "that copies only some of the packets; receivers drop duplicates, so only bandwidth is lost.",
            .alike =
                "A second tap or a mirror session that recorded a part of the traffic twice, and a requester that retransmits very soon. The "
                "network is named only where the sender's IPv4 identification counts on, and where copies stand alone among many that came once.",
            .limits =
                "Without an identification that counts, a copy and a retransmission are the same bytes. Which device made the copies is not "
                "known, and doubled answers are not counted.",
            .draw = duplicated},
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
