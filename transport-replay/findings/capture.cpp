// Findings about the capture as a witness: what it lacks, doubles or truncates, so that nobody takes it for what the
// network did. Those about its times and its unreadable packets are in capture_reading.cpp.
#include <dissect/base/types.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/starting_psn.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kUncaptured{"uncaptured", Unit::count,
                              "packets that their receivers acknowledged and the capture lacks"};
constexpr FactRow kReportedDrops{"reported_drops", Unit::count, "packets that the capturing program says it dropped"};
constexpr FactRow kExplainedByDrops{"explained_by_drops", Unit::count,
                                    "other packets that are missing, and are no more than the drops"};
constexpr FactRow kMissingPackets{"missing_packets", Unit::count,
                                  "packets that are missing, lost either by the network or by the capture"};
constexpr FactRow kTaps{"taps", Unit::count, "taps that recorded the same packets"};
constexpr FactRow kAtLeastTaps{"at_least_taps", Unit::flag, "the number of taps is a lower bound"};
constexpr FactRow kTapByFile{"tap_by_file", Unit::flag, "each tap has a file or an interface of its own"};
constexpr FactRow kTapsMixed{"taps_mixed", Unit::flag,
                             "the taps were not told apart, because the capture was read once only"};
constexpr FactRow kHostPairs{"host_pairs", Unit::count, "pairs of hosts of which it is true"};
constexpr FactRow kTapOffset{"tap_offset", Unit::duration,
                             "by how much the times of the second tap differ; nothing where they are the same"};
constexpr FactRow kTapEarlier{"tap_earlier", Unit::flag, "those times are the earlier ones"};
constexpr FactRow kTapTolerance{"tap_tolerance", Unit::duration, "within which the times of the taps are the same"};
constexpr FactRow kTapDrift{"tap_drift", Unit::duration, "by how much that difference changes during the capture"};
constexpr FactRow kCopiesOfOtherTaps{"copies_of_other_taps", Unit::count, "of them, those that another tap recorded"};
constexpr FactRow kCopiesOfSameTap{"copies_of_same_tap", Unit::count, "of them, those that the same tap recorded"};
constexpr FactRow kSameTimes{"same_times", Unit::flag, "the copies have the timestamps of their originals"};
constexpr FactRow kLeastApart{"least_apart", Unit::duration, "the shortest time between a packet and its copy"};
constexpr FactRow kMostApart{"most_apart", Unit::duration, "the longest time between a packet and its copy"};
constexpr FactRow kShortestTruncated{
    "shortest_truncated", Unit::bytes,
    "length on the wire of the shortest truncated packet; nothing where they were cut before they were captured"};
constexpr FactRow kWithoutHeader{"without_header", Unit::count, "of them, packets without their transport header"};
constexpr FactRow kUnreadAnswers{"unread_answers", Unit::count,
                                 "answers that cannot be read, since their AETH or READ length was cut off"};
constexpr std::array kCaptureFacts{
    &kUncaptured,        &kReportedDrops,     &kExplainedByDrops, &kMissingPackets, &kTaps,       &kAtLeastTaps,
    &kTapByFile,         &kTapsMixed,         &kHostPairs,        &kTapOffset,      &kTapEarlier, &kTapTolerance,
    &kTapDrift,          &kCopiesOfOtherTaps, &kCopiesOfSameTap,  &kSameTimes,      &kLeastApart, &kMostApart,
    &kShortestTruncated, &kWithoutHeader,     &kUnreadAnswers,
};

struct Missing {
    std::uint64_t tap = 0;
    std::uint64_t undecided = 0;
    std::uint64_t connections_tap = 0;
    std::uint64_t connections_undecided = 0;
    FindingDraft draft_tap{.party = Party::capture};
    FindingDraft draft_undecided{.party = Party::undecided};
};

Missing missing(const Timeline& timeline) {
    Missing found;
    const auto refused = refused_starts(timeline);
    for (const Connection& connection : timeline.connections) {
        std::uint64_t tap = 0, undecided = 0;
        // Where answers cannot be read, nobody knows what was due.
        const bool readable =
            connection.ways[0].incidents->unread_answers + connection.ways[1].incidents->unread_answers == 0;
        if (!readable) continue;
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            tap += losses_of(way).by_capture;
            const Incidents& had = *way.incidents;
            // What the responder expects before a first PSN that is another was never sent.
            const bool never_sent = find(refused, connection.uid, end) != nullptr;
            undecided += (never_sent ? 0 : had.gaps.undecided - std::min(had.gaps.undecided, had.gaps.came)) +
                         had.response_gaps.undecided;
        }
        if (connection.clocks_apart())
            undecided += std::exchange(tap, 0);  // answers may have had requests that came later still
        for (const Way& way : connection.ways)
            for (const dissect::FrameIndex frame : way.incidents->frames(Oddity::gap)) {
                if (tap != 0) found.draft_tap.events.push_back({frame});
                if (undecided != 0) found.draft_undecided.events.push_back({frame});
            }
        found.tap += tap;
        found.undecided += undecided;
        found.connections_tap += tap != 0 ? 1 : 0;
        found.connections_undecided += undecided != 0 ? 1 : 0;
    }
    return found;
}

// The recorder says that it lost at least as many: nothing is left to ask for.
bool explained_by_drops(const Timeline& timeline, const Missing& found) {
    const dissect::Drops& drops = timeline.quality.drops;
    return drops.dropped + drops.dropped_by_system >= found.tap + found.undecided;
}

void capture_lost_packets(const Timeline& timeline, const Emit& emit) {
    Missing found = missing(timeline);
    const dissect::Drops& drops = timeline.quality.drops;
    const std::uint64_t reported = drops.dropped + drops.dropped_by_system;
    if (found.tap + reported == 0) return;
    FindingDraft draft = std::move(found.draft_tap);
    draft.count = std::max(found.tap, reported);
    draft.facts = {{kUncaptured, nonzero(found.tap)},
                   {kConnections, nonzero(found.connections_tap)},
                   {kReportedDrops, nonzero(reported)},
                   {kExplainedByDrops, explained_by_drops(timeline, found) ? nonzero(found.undecided) : std::nullopt}};
    emit(std::move(draft));
}

void gaps_unexplained(const Timeline& timeline, const Emit& emit) {
    Missing found = missing(timeline);
    if (found.undecided == 0 || explained_by_drops(timeline, found)) return;
    FindingDraft draft = std::move(found.draft_undecided);
    draft.count = found.undecided;
    draft.facts = {{kMissingPackets, found.undecided}, {kConnections, found.connections_undecided}};
    emit(std::move(draft));
}

// Of several taps that recorded the same packets. By the clock of one or because of the way between them, times cannot
// tell which.
constexpr std::string_view kVantagePoints =
    "[at_least_taps?At least ]{taps} taps[tap_by_file?, each with a file or an interface of its own,] recorded the same packets of {host_pairs:pair of "
    "hosts}[taps_mixed?, the second one|: {packets} of {all_packets:packet} are of the other [at_least_taps?ones|[taps=2?one|ones]], which recorded them] "
    "[tap_offset?{tap_offset} [tap_earlier?earlier|later]|at the same times within {tap_tolerance}][ (drift {tap_drift} during the capture)]"
    "[taps_mixed?: retransmissions, losses and timeouts cannot be told from copies and are not reported|. One tap of each pair of hosts is followed].";
constexpr std::string_view kReadTwice =
    "Write it into a file and analyse that: files are read twice, and one tap of each pair of hosts is followed.";
constexpr std::string_view kMergeFiles =
    "Analyse each file by itself (`qpscope analyze --host NAME -o NAME.qpp FILE`) and merge them (`qpscope merge`): what one of them lacks was lost "
    "between them, or by the recorder.";
constexpr std::string_view kMirrorOneDirection =
    "Mirror one direction of each port only; copies are excluded here, but other tools count them twice.";
constexpr std::string_view kTakeRecordsOnce =
    "Check whether files that overlap were joined, and take each record once (`editcap -d`); copies are excluded here, but other tools count them twice.";

void vantage_points(const CaptureQuality& quality, const Emit& emit) {
    const VantagePoints& vantage = quality.vantage;
    const ClockOffset& offset = vantage.offset;
    const dissect::Duration apart = magnitude(offset.middle()), drift = magnitude(offset.drift());
    const bool mixed = quality.mixes_taps(), same_times = apart <= offset.tolerance;
    const auto where = [](bool holds, auto value) { return holds ? std::optional(value) : std::nullopt; };
    emit({.party = Party::capture,
          .count = mixed ? vantage.pairs : quality.left_out,
          .severity = where(mixed, Severity::warning),
          .sentence = kVantagePoints,
          .advice = mixed             ? kReadTwice
                    : vantage.by_file ? kMergeFiles
                                      : kMirrorOneDirection,
          .facts = {{kTaps, vantage.taps},
                    {kAtLeastTaps,
                     quality.left_out >
                         quality.packets - std::min(quality.left_out, quality.packets)},  // than one other would have
                    {kTapByFile, vantage.by_file},
                    {kTapsMixed, mixed},
                    {kHostPairs, vantage.hosts},
                    {kPackets, where(!mixed, quality.left_out)},
                    {kAllPackets, where(!mixed, quality.packets)},
                    {kTapOffset, where(!same_times, apart)},
                    {kTapEarlier, !same_times && offset.middle() < dissect::Duration{}},
                    {kTapTolerance, where(same_times, offset.tolerance)},
                    {kTapDrift, where(drift > offset.tolerance, drift)}}});
}

void capture_duplicates(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.left_out != 0 || quality.mixes_taps()) vantage_points(quality, emit);
    const std::uint64_t same = quality.same_tap_systematic ? quality.copies_of_same_tap : 0;
    const std::uint64_t copies = quality.copies_of_other_taps + same;
    if (copies == 0) return;
    const bool same_times = quality.most_copy_distance == dissect::Duration{};
    FindingDraft draft{.party = Party::capture,
                       .count = copies,
                       .advice = same_times ? kTakeRecordsOnce : kMirrorOneDirection,
                       .facts = {{kPackets, copies},
                                 {kAllPackets, quality.packets},
                                 {kCopiesOfOtherTaps, quality.copies_of_other_taps},
                                 {kCopiesOfSameTap, same},
                                 {kSameTimes, same_times}}};
    if (!same_times)
        draft.facts.insert(draft.facts.end(),
                           {{kLeastApart, quality.least_copy_distance}, {kMostApart, quality.most_copy_distance}});
    // What the same tap recorded twice may be a retransmission, and the packets of a tap that is not followed have the
    // mark too.
    if (quality.copies_of_same_tap == 0 && quality.left_out == 0)
        draft.marked = MarkedPackets{.mark = PacketMark::copy, .from = {}};
    emit(std::move(draft));
}

// By a snap length, or before the capture: how long the latter were on the wire is not known.
void capture_truncated(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.cut == 0) return;
    std::uint64_t unread = 0;
    for (const Connection& connection : timeline.connections)
        for (const Way& way : connection.ways) unread += way.incidents->unread_answers;
    emit({.party = Party::capture,
          .count = quality.cut,
          .severity = quality.unreadable != 0 ? Severity::warning : Severity::note,
          .facts = {{kPackets, quality.cut},
                    {kAllPackets, quality.packets},
                    {kShortestTruncated, nonzero(quality.shortest_cut)},
                    {kWithoutHeader, nonzero(quality.unreadable)},
                    {kUnreadAnswers, nonzero(unread)}}});
}

struct OneWayPairs {
    FindingDraft draft;
    const OneWay* first = nullptr;
};

constexpr std::string_view kUnansweredDirection =
    "Only one direction of {host_pairs:pair of hosts} is in this capture, such as {from_host} to {to_host} ({packets:packet}), and all that was sent was "
    "retransmitted: {to_host} was not captured, or sends nothing.";
constexpr std::string_view kCheckBothDirections =
    "Check that the tap sees both directions of the port (rx and tx), then on {to_host} that the queue pair exists and that P_Key and GID are those it "
    "expects (`rdma resource show qp`, counters in `rdma statistic`).";

// Who sends to whom and goes on: less than all of it is retransmitted, so that it was answered, whatever the capture
// has.
boost::unordered_flat_set<FlowKey, FlowHash> went_on(const Timeline& timeline) {
    boost::unordered_flat_set<FlowKey, FlowHash> found;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            if (connection.reliable() && way.packets > 2 * way.incidents->retransmitted)
                found.insert(hosts_key(connection.end(end).address, connection.end(other(end)).address));
        }
    return found;
}

void one_way_capture(const Timeline& timeline, const Emit& emit) {
    // Who sent again and again had no answer: there silence is what happened, not what the capture lacks.
    std::vector<std::pair<Address, Address>> silent;
    for (const Recovery& record : timeline.recoveries) {
        if (record.kind != RecoveryKind::timeout || record.end == RecoveryEnd::recovered) continue;
        if (const Connection* connection = timeline.find(record.connection))
            silent.emplace_back(connection->end(record.requester).address,
                                connection->end(other(record.requester)).address);
    }
    std::ranges::sort(silent);
    const auto answered = went_on(timeline);
    std::optional<Heard> heard;
    OneWayPairs missing{.draft = {.party = Party::capture, .count = 0}},
        unsure{.draft = {.party = Party::undecided, .count = 0}};
    for (const OneWay& way : timeline.quality.one_way) {
        const std::pair hosts{way.source, way.destination};
        if (!way.reliable || std::ranges::binary_search(silent, hosts)) continue;
        if (!heard) heard.emplace(timeline);
        if (heard->any(way.destination, way.source)) continue;
        OneWayPairs& pairs = answered.contains(hosts_key(way.source, way.destination)) ? missing : unsure;
        if (pairs.draft.count++ == 0) pairs.first = &way;
        pairs.draft.events.push_back({heard->first(way.source, way.destination)});
    }
    for (OneWayPairs* pairs : {&missing, &unsure}) {
        if (pairs->first == nullptr) continue;
        if (pairs == &unsure) {
            pairs->draft.sentence = kUnansweredDirection;
            pairs->draft.advice = kCheckBothDirections;
        }
        pairs->draft.facts = {{kHostPairs, pairs->draft.count},
                              {kFromHost, pairs->first->source},
                              {kToHost, pairs->first->destination},
                              {kPackets, pairs->first->packets}};
        emit(std::move(pairs->draft));
    }
}

void pairing_uncertain(const Timeline& timeline, const Emit& emit) {
    // Where two hosts have one connection only, there is nothing to confuse it with.
    const auto hosts_of = [](const Connection& one) {
        const auto [first, second] = std::minmax({one.ends[0].address, one.ends[1].address});
        return hosts_key(first, second, one.recording);
    };
    boost::unordered_flat_map<FlowKey, std::size_t, FlowHash> reliable;  // connections
    for (const Connection& connection : timeline.connections)
        if (connection.reliable()) ++reliable[hosts_of(connection)];
    const auto only_one = [&](const Connection& one) { return reliable[hosts_of(one)] == 1; };
    // Ways that nothing answers, where the other host has such ways too: some of them belong together.
    boost::unordered_flat_set<FlowKey, FlowHash> alone;
    for (const Connection& connection : timeline.connections)
        if (connection.reliable() && connection.one_way()) {
            const End from = connection.ways[0].packets != 0 ? End::a : End::b;
            alone.insert(
                hosts_key(connection.end(from).address, connection.end(other(from)).address, connection.recording));
        }
    FindingDraft draft{.party = Party::capture, .count = 0};
    for (const Connection& connection : timeline.connections) {
        if (!connection.reliable()) continue;
        bool unsure = connection.confidence < Confidence::strong && !only_one(connection);
        if (connection.one_way()) {
            const End from = connection.ways[0].packets != 0 ? End::a : End::b;
            unsure = alone.contains(
                hosts_key(connection.end(other(from)).address, connection.end(from).address, connection.recording));
        }
        if (!unsure) continue;
        ++draft.count;
        for (const Way& way : connection.ways)
            if (way.packets != 0 && way.first_frame == connection.first_frame())
                draft.events.push_back({way.first_frame, EventRole::evidence, way.first_time});
    }
    if (draft.count == 0) return;
    draft.facts = {{kConnections, draft.count}};
    emit(std::move(draft));
}

}  // namespace

Family capture_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "capture-lost-packets",
            .severity = Severity::warning,
            .clause = "IBA 9.7.5.1.2",
            .meaning = "The capture lacks packets that the network delivered",
            .predicate = "have packets that the capture lacks",
            .by_order = true,
            .sentence =
                "[uncaptured?The capture lacks {uncaptured:packet} of {connections:connection} that their receivers acknowledged[, and the "
                "capturing program reports {reported_drops:drop}[, enough for the other {explained_by_drops:packet} that "
                "[explained_by_drops=1?is|are] missing]]: the network delivered them|The capturing program reports {reported_drops:drop}: packets "
                "are missing that the network delivered].",
            .advice =
                "Do not count these as network loss; capture with a larger buffer, a shorter snap length or a filter, or at a port that is "
                "not oversubscribed.",
            .alike =
                "Packets that took a path that the tap does not see, as another link of a bond, were delivered and are missing, too.",
            .limits =
                "An acknowledgement tells that a packet arrived, not why the capture lacks it. Drops that the capturing program reports "
                "need not have been RDMA.",
            .draw = capture_lost_packets},
        FindingRow{
            .id = "gaps-unexplained",
            .severity = Severity::note,
            .clause = "IBA 9.7.3",
            .meaning = "Packets are missing, lost either by the network or by the capture",
            .by_order = true,
            .sentence =
                "{missing_packets:packet} of {connections:connection} [missing_packets=1?is|are] missing; whether the network or the "
                "capture lost them is undecided.",
            .advice =
                "Compare with the counters of the receiver (out_of_sequence, packet_seq_err in `rdma statistic`) or capture both directions.",
            .alike = "Packets that took a path that the tap does not see, as another link of a bond.",
            .limits =
                "What was captured of these connections tells neither that the packets arrived nor that they were requested again. Where "
                "the clocks of two directions differ, an acknowledgement does not tell it either.",
            .draw = gaps_unexplained},
        FindingRow{
            .id = "capture-duplicates",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "The capture contains copies of packets",
            .sentence =
                "{packets} of {all_packets:packet} were recorded more than once ({copies_of_other_taps} by another tap, {copies_of_same_tap} "
                "by the same), [same_times?with the same timestamps|{least_apart} to {most_apart} apart].",
            .advice = kMirrorOneDirection,
            .alike =
                "A network that doubles packets (duplicated-by-network), and a sender that retransmits everything.",
            .limits =
                "Which tap is nearer to the sender is not in the packets. Whether times differ by the clocks of two taps or by the way "
                "between them cannot be told.",
            .draw = capture_duplicates},
        FindingRow{
            .id = "capture-truncated",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "The capture truncated packets",
            .sentence =
                "{packets} of {all_packets:packet} [packets=1?was|were] truncated [shortest_truncated?by the capture, the shortest "
                "{shortest_truncated:length} long on the wire|before they were captured, as by a mirror that cuts frames (their own lengths say that "
                "more was sent)]: ICRC and payload cannot be checked[; {without_header} of them lack the transport header][; "
                "{unread_answers:answer} cannot be read (AETH or READ length cut off), so that losses and timeouts of their connections are not "
                "judged].",
            .advice =
                "[shortest_truncated?Capture whole packets (`tcpdump -s 0`) if ICRC or payload matter; 128 bytes are enough for the headers.|Let "
                "the mirror session pass whole frames if ICRC or payload matter; 128 bytes of what it mirrors are enough for the headers.]",
            .alike =
                "A packet that was sent with a wrong length of its own, greater than what it has, looks as if a mirror had cut it.",
            .limits =
                "What was cut off is gone: corruption of these packets goes unnoticed, and so does what upper-layer protocols say in them.",
            .draw = capture_truncated},
        FindingRow{
            .id = "one-way-capture",
            .severity = Severity::note,
            .clause = "IBA o9-30",
            .meaning = "The capture contains one direction only",
            .sentence =
                "Only one direction of {host_pairs:pair of hosts} was captured, such as {from_host} to {to_host} ({packets:packet}): losses, "
                "latencies and answers of the other side cannot be judged.",
            .advice = "Mirror both directions of the port (rx and tx), or capture on both hosts and merge the files.",
            .alike =
                "A host that sends no answers looks like one whose answers were not captured. Where everything was retransmitted, either may be "
                "the case, and the finding says so.",
            .limits = "A sender that goes on was answered; when, and with what, the capture does not show.",
            .draw = one_way_capture},
        FindingRow{
            .id = "pairing-uncertain",
            .severity = Severity::note,
            .clause = "IBA 9.7.3",
            .meaning = "Queue pairs could not be paired with certainty",
            .sentence =
                "Which queue pairs belong together is uncertain for {connections:connection}: too few answers matched requests.",
            .advice =
                "Capture the CM handshake or more of the traffic before trusting the figures of these connections.",
            .alike = "Connections of which a few packets were captured, or whose answers took another path.",
            .limits =
                "A packet names the queue pair that it goes to and not the one that it comes from: which two belong together is concluded "
                "from PSNs and times, and may be wrong here.",
            .draw = pairing_uncertain},
    };
    return {kRows, kCaptureFacts};
}

}  // namespace qps::transport::families
