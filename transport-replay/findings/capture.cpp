// Findings about the capture as a witness: what it cannot show, so that nobody takes it for what the network did.
#include <dissect/types.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/model/large_blocks.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace words;

constexpr dissect::Duration kCoarseClock{100'000};  // 100 us: round trips of RDMA take 1 to 50

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
    for (const Connection& connection : timeline.connections) {
        std::uint64_t tap = 0, undecided = 0;
        // Where answers cannot be read, nobody knows what was due.
        const bool readable = connection.ways[0].incidents->unread_answers + connection.ways[1].incidents->unread_answers == 0;
        if (!readable) continue;
        for (const Way& way : connection.ways) {
            tap += way.incidents->gaps.tap + way.incidents->response_gaps.tap;
            undecided += way.incidents->gaps.undecided + way.incidents->response_gaps.undecided;
        }
        if (connection.clocks_apart()) undecided += std::exchange(tap, 0);  // answers may have had requests that came later still
        for (const Way& way : connection.ways)
            for (const dissect::FrameIndex frame : way.incidents->frames(Oddity::gap)) {
                if (tap != 0) add_evidence(found.draft_tap, frame);
                if (undecided != 0) add_evidence(found.draft_undecided, frame);
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
    const std::string drops_text = counted(reported, "drop");
    if (found.tap == 0) {
        draft.old_summary = fmt::format("The capturing program reports {}: packets are missing that the network delivered.", drops_text);
    } else {
        const std::string others = explained_by_drops(timeline, found) && found.undecided != 0
                                       ? fmt::format(", enough for the other {} that {} missing", counted(found.undecided, "packet"),
                                                     found.undecided == 1 ? "is" : "are")
                                       : "";
        draft.old_summary = fmt::format("The capture lacks {} of {} that their receivers acknowledged{}: the network delivered them.",
                                    counted(found.tap, "packet"), counted(found.connections_tap, "connection"),
                                    reported == 0 ? "" : fmt::format(", and the capturing program reports {}{}", drops_text, others));
    }
    draft.old_advice =
        "Do not count these as network loss; capture with a larger buffer, a shorter snap length or a filter, or at a port that is "
        "not oversubscribed.";
    emit(std::move(draft));
}

void gaps_unexplained(const Timeline& timeline, const Emit& emit) {
    Missing found = missing(timeline);
    if (found.undecided == 0 || explained_by_drops(timeline, found)) return;
    FindingDraft draft = std::move(found.draft_undecided);
    draft.count = found.undecided;
    draft.old_summary = fmt::format("{} of {} {} missing; whether the network or the capture lost them is undecided.",
                                counted(found.undecided, "packet"), counted(found.connections_undecided, "connection"),
                                found.undecided == 1 ? "is" : "are");
    draft.old_advice =
        "Compare with the counters of the receiver (out_of_sequence, packet_seq_err in `rdma statistic`) or capture both directions.";
    emit(std::move(draft));
}

// "2 ms later (drift 20 us during the capture)": by its clock or because of the way between the taps, which times cannot tell apart.
std::string times_text(const ClockOffset& offset) {
    const dissect::Duration middle = offset.middle();
    const dissect::Duration drift = magnitude(offset.drift());
    const std::string apart =
        magnitude(middle) <= offset.tolerance
            ? fmt::format("at the same times within {}", duration_text(offset.tolerance))
            : fmt::format("{} {}", duration_text(magnitude(middle)), middle < dissect::Duration{} ? "earlier" : "later");
    return drift <= offset.tolerance ? apart : fmt::format("{} (drift {} during the capture)", apart, duration_text(drift));
}

// Several taps recorded the same packets.
void vantage_points(const CaptureQuality& quality, const Emit& emit) {
    const VantagePoints& vantage = quality.vantage;
    const bool more = quality.left_out > quality.packets - std::min(quality.left_out, quality.packets);  // than one other would have
    const std::string taps = fmt::format("{}{} taps{} recorded the same packets of {}", more ? "At least " : "", vantage.taps,
                                         vantage.by_file ? ", each with a file or an interface of its own," : "",
                                         counted(vantage.hosts, "pair of hosts"));
    if (quality.mixes_taps()) {
        emit({.party = Party::capture,
              .count = vantage.pairs,
              .old_summary = fmt::format("{}, the second one {}: retransmissions, losses and timeouts cannot be told from copies and are not reported.",
                                     taps, times_text(vantage.offset)),
              .old_advice = "Write it into a file and analyse that: files are read twice, and one tap of each pair of hosts is followed.",
              .severity = Severity::warning});
        return;
    }
    emit({.party = Party::capture,
          .count = quality.left_out,
          .old_summary = fmt::format("{}: {} of {} are of the other {}, which recorded them {}. One tap of each pair of hosts is followed.", taps,
                                 grouped(quality.left_out), counted(quality.packets, "packet"), vantage.taps == 2 && !more ? "one" : "ones",
                                 times_text(vantage.offset)),
          .old_advice = vantage.by_file ? "Analyse each file by itself (`qpscope analyze --host NAME -o NAME.qpp FILE`) and merge them (`qpscope merge`): what one "
                                      "of them lacks was lost between them, or by the recorder."
                                    : "Mirror one direction of each port only; copies are excluded here, but other tools count them twice."});
}

void capture_duplicates(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.left_out != 0 || quality.mixes_taps()) vantage_points(quality, emit);
    const std::uint64_t same = quality.same_tap_systematic ? quality.copies_of_same_tap : 0;
    const std::uint64_t copies = quality.copies_of_other_taps + same;
    if (copies == 0) return;
    const bool same_time = quality.most_copy_distance == dissect::Duration{};
    emit({.party = Party::capture,
          .count = copies,
          .old_summary = fmt::format("{} of {} were recorded more than once ({} by another tap, {} by the same), {}.", grouped(copies),
                                 counted(quality.packets, "packet"), grouped(quality.copies_of_other_taps), grouped(same),
                                 same_time ? "with the same timestamps"
                                           : fmt::format("{} to {} apart", duration_text(quality.least_copy_distance),
                                                         duration_text(quality.most_copy_distance))),
          .old_advice = same_time ? "Check whether files that overlap were joined, and take each record once (`editcap -d`); copies are "
                                "excluded here, but other "
                                "tools count them twice."
                              : "Mirror one direction of each port only; copies are excluded here, but other tools count them twice."});
}

// By a snap length, or before the capture: how long the latter were on the wire is not known.
std::string truncated_by(const CaptureQuality& quality) {
    if (quality.shortest_cut != 0) return fmt::format("by the capture, the shortest {} long on the wire", length(quality.shortest_cut));
    return "before they were captured, as by a mirror that cuts frames (their own lengths say that more was sent)";
}

void capture_truncated(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.cut == 0) return;
    const std::string blind =
        quality.unreadable == 0 ? "" : fmt::format("; {} of them lack the transport header", grouped(quality.unreadable));
    std::uint64_t unread = 0;
    for (const Connection& connection : timeline.connections)
        for (const Way& way : connection.ways) unread += way.incidents->unread_answers;
    const std::string mute =
        unread == 0 ? "" : fmt::format("; {} cannot be read (AETH or READ length cut off), so that losses and timeouts of their connections "
                                       "are not judged",
                                       counted(unread, "answer"));
    emit({.party = Party::capture,
          .count = quality.cut,
          .old_summary = fmt::format("{} of {} {} truncated {}: ICRC and payload cannot be checked{}{}.", grouped(quality.cut),
                                 counted(quality.packets, "packet"), quality.cut == 1 ? "was" : "were", truncated_by(quality), blind, mute),
          .old_advice = quality.shortest_cut != 0
                        ? "Capture whole packets (`tcpdump -s 0`) if ICRC or payload matter; 128 bytes are enough for the headers."
                        : "Let the mirror session pass whole frames if ICRC or payload matter; 128 bytes of what it mirrors are enough for the headers.",
          .severity = quality.unreadable != 0 ? Severity::warning : Severity::note});
}

struct OneWayPairs {
    FindingDraft draft;
    const OneWay* first = nullptr;
};

// Who sends to whom and goes on: less than all of it is retransmitted, so that it was answered, whatever the capture has.
std::vector<std::pair<Address, Address>> went_on(const Timeline& timeline) {
    std::vector<std::pair<Address, Address>> found;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            if (connection.reliable() && way.packets > 2 * way.incidents->retransmitted)
                found.emplace_back(connection.end(end).address, connection.end(other(end)).address);
        }
    std::ranges::sort(found);
    return found;
}

void one_way_capture(const Timeline& timeline, const Emit& emit) {
    // Who sent again and again had no answer: there silence is what happened, not what the capture lacks.
    std::vector<std::pair<Address, Address>> silent;
    for (const Recovery& record : timeline.recoveries) {
        if (record.kind != RecoveryKind::timeout || record.end == RecoveryEnd::recovered) continue;
        if (const Connection* connection = timeline.find(record.connection))
            silent.emplace_back(connection->end(record.requester).address, connection->end(other(record.requester)).address);
    }
    std::ranges::sort(silent);
    const auto answered = went_on(timeline);
    std::optional<Heard> heard;
    OneWayPairs missing{.draft = {.party = Party::capture, .count = 0}}, unsure{.draft = {.party = Party::undecided, .count = 0}};
    for (const OneWay& way : timeline.quality.one_way) {
        const std::pair hosts{way.source, way.destination};
        if (!way.reliable || std::ranges::binary_search(silent, hosts)) continue;
        if (!heard) heard.emplace(timeline);
        if (heard->any(way.destination, way.source)) continue;
        OneWayPairs& pairs = std::ranges::binary_search(answered, hosts) ? missing : unsure;
        if (pairs.draft.count++ == 0) pairs.first = &way;
        add_evidence(pairs.draft, heard->first(way.source, way.destination));
    }
    for (OneWayPairs* pairs : {&missing, &unsure}) {
        if (pairs->first == nullptr) continue;
        const std::string from = text(pairs->first->source), to = text(pairs->first->destination);
        pairs->draft.old_summary =
            pairs == &missing ? fmt::format(
                                    "Only one direction of {} was captured, such as {} to {} ({}): losses, latencies and answers of the "
                                    "other side cannot be judged.",
                                    counted(pairs->draft.count, "pair of hosts"), from, to, counted(pairs->first->packets, "packet"))
                              : fmt::format(
                                    "Only one direction of {} is in this capture, such as {} to {} ({}), and all that was sent was "
                                    "retransmitted: {} was not captured, or "
                                    "sends nothing.",
                                    counted(pairs->draft.count, "pair of hosts"), from, to, counted(pairs->first->packets, "packet"), to);
        pairs->draft.old_advice =
            pairs == &missing
                ? "Mirror both directions of the port (rx and tx), or capture on both hosts and merge the files."
                : fmt::format(
                      "Check that the tap sees both directions of the port (rx and tx), then on {} that the queue pair exists and that "
                      "P_Key and GID are those it expects (`rdma resource show qp`, counters in `rdma statistic`).",
                      to);
        emit(std::move(pairs->draft));
    }
}

void pairing_uncertain(const Timeline& timeline, const Emit& emit) {
    // Where two hosts have one connection only, there is nothing to confuse it with.
    using Hosts = std::tuple<std::uint16_t, Address, Address>;  // of a recording
    const auto hosts_of = [](const Connection& one) {
        const auto [first, second] = std::minmax({one.ends[0].address, one.ends[1].address});
        return Hosts(one.recording, first, second);
    };
    std::vector<Hosts, LargeBlocks<Hosts>> reliable;
    reliable.reserve(timeline.connections.size());
    for (const Connection& connection : timeline.connections)
        if (connection.reliable()) reliable.emplace_back(hosts_of(connection));
    std::ranges::sort(reliable);
    const auto only_one = [&](const Connection& one) {
        return std::ranges::equal_range(reliable, hosts_of(one)).size() == 1;
    };
    // Ways that nothing answers, where the other host has such ways too: some of them belong together.
    std::vector<Hosts> alone;
    for (const Connection& connection : timeline.connections)
        if (connection.reliable() && connection.one_way()) {
            const End from = connection.ways[0].packets != 0 ? End::a : End::b;
            alone.emplace_back(connection.recording, connection.end(from).address, connection.end(other(from)).address);
        }
    std::ranges::sort(alone);
    FindingDraft draft{.party = Party::capture, .count = 0};
    for (const Connection& connection : timeline.connections) {
        if (!connection.reliable()) continue;
        bool unsure = connection.confidence < Confidence::strong && !only_one(connection);
        if (connection.one_way()) {
            const End from = connection.ways[0].packets != 0 ? End::a : End::b;
            unsure = std::ranges::binary_search(alone, Hosts(connection.recording, connection.end(other(from)).address, connection.end(from).address));
        }
        if (!unsure) continue;
        ++draft.count;
        add_evidence(draft, connection.first_frame());
    }
    if (draft.count == 0) return;
    draft.old_summary = fmt::format("Which queue pairs belong together is uncertain for {}: too few answers matched requests.",
                                counted(draft.count, "connection"));
    draft.old_advice = "Capture the CM handshake or more of the traffic before trusting the figures of these connections.";
    emit(std::move(draft));
}

void clock_backwards(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.backwards == 0) return;
    emit({.party = Party::capture,
          .old_packets = {quality.largest_step_frame},
          .count = quality.backwards,
          .old_summary = fmt::format("Timestamps go backwards {}, by up to {}.", times(quality.backwards),
                                 duration_text(magnitude(quality.largest_step_back))),
          .old_advice =
              "Sort the file by time (`reordercap`) if it was merged, and do not trust durations below that step: clocks of several "
              "ports or hosts differ by it."});
}

// Nothing is answered before it is asked for.
void clock_offset(const Timeline& timeline, const Emit& emit) {
    std::uint64_t connections = 0;
    dissect::Duration longest{};
    FindingDraft draft{.party = Party::capture, .count = 0};
    for (const Connection& connection : timeline.connections) {
        std::uint64_t answers = 0;
        for (const Way& way : connection.ways) {
            if (way.incidents->earliest_answer <= dissect::Duration{}) continue;
            answers += way.incidents->early_answers;
            longest = std::max(longest, way.incidents->earliest_answer);
            for (const dissect::FrameIndex frame : way.incidents->frames(Oddity::early)) add_evidence(draft, frame);
        }
        draft.count += answers;
        connections += answers != 0 ? 1 : 0;
    }
    if (draft.count == 0) return;
    draft.old_summary = fmt::format("{} of {} {} captured before {}, by up to {}: the two directions were captured by different clocks or queues, and "
                                "latencies shorter than that are wrong.",
                                counted(draft.count, "answer"), counted(connections, "connection"), draft.count == 1 ? "was" : "were",
                                draft.count == 1 ? "its request" : "their requests", duration_text(longest));
    draft.old_advice = "Synchronise the clocks of both ports or hosts (PTP, one capture card), or correct one file (`--offset`); answers that wait for their "
                   "requests for more than 5 ms are taken for answers to packets that the capture lacks.";
    emit(std::move(draft));
}

void clock_coarse(const Timeline& timeline, const Emit& emit) {
    const auto resolution = timeline.quality.clock_resolution;
    if (!resolution || *resolution < kCoarseClock) return;
    emit({.party = Party::capture,
          .count = timeline.quality.packets,
          .old_summary =
              fmt::format("Timestamps have a resolution of {}, coarser than most round trips.", duration_text(*resolution)),
          .old_advice = "Capture with nanosecond or hardware timestamps (`tcpdump -j adapter_unsynced --time-stamp-precision=nano`) to see "
                    "latencies."});
}

void malformed_packets(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.faulty == 0) return;
    const std::uint64_t different = quality.faulty - quality.faulty_again;
    const std::string again = quality.faulty_again == 0 ? "" : fmt::format(", {} of them different: the others repeat these", grouped(different));
    emit({.party = Party::undecided,
          .count = different,
          .old_summary = fmt::format("{} of {} {} malformed{}{} a header breaks a rule of its format.", grouped(quality.faulty),
                                 counted(quality.rdma_packets, "RDMA packet"), quality.faulty == 1 ? "is" : "are", again, again.empty() ? ":" : ";"),
          .old_advice = "List them (`qpscope packets -Y rdma.frame.fault`) and check whether one sender or one device on the path produces them."});
}

void ip_fragments(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.fragments == 0) return;
    const bool one = quality.fragments == 1;
    emit({.party = Party::undecided,
          .count = quality.fragments,
          .old_summary = fmt::format("{} of {} {} the first fragment of an IP datagram: what {} is in fragments that are not put together, so that payload and ICRC are "
                                 "not judged.",
                                 grouped(quality.fragments), counted(quality.rdma_packets, "RDMA packet"), one ? "is" : "are each",
                                 one ? "it carries further" : "they carry further"),
          .old_advice = "Find who takes them apart (`qpscope packets -Y 'rdma.frame.fault == fragment'`), the sender or a router: RoCEv2 sets DF, and adapters may drop "
                    "fragments; use a path MTU of RDMA that fits into the MTU of every link, headers included."});
}

void analysis_bounded(const Timeline& timeline, const Emit& emit) {
    std::uint64_t most = 0;  // one packet may be past several bounds
    for (const Bound& bound : bounds()) most = std::max(most, bound.count(timeline));
    if (most == 0) return;
    emit({.party = Party::capture,
          .count = most,
          .old_summary = fmt::format("The analysis reached its limits: {}{}.", left_out_text(timeline),
                                 judged_all(timeline) ? "" : "; problems there may have gone unnoticed"),
          .old_advice = "Give the analysis more memory (`--memory`), or split the capture by host or by time (`editcap -i`, a capture filter)."});
}

}  // namespace

Family capture_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "capture-lost-packets",
                   .severity = Severity::warning,
                   .clause = "IBA 9.7.5.1.2",
                   .meaning = "The capture lacks packets that the network delivered",
                   .predicate = "have packets that the capture lacks",
                   .by_order = true,
                   .draw = capture_lost_packets},
        FindingRow{.id = "gaps-unexplained",
                   .severity = Severity::note,
                   .clause = "IBA 9.7.3",
                   .meaning = "Packets are missing, lost either by the network or by the capture",
                   .by_order = true,
                   .draw = gaps_unexplained},
        FindingRow{.id = "capture-duplicates",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "The capture contains copies of packets",
                   .draw = capture_duplicates},
        FindingRow{.id = "capture-truncated",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "The capture truncated packets",
                   .draw = capture_truncated},
        FindingRow{.id = "one-way-capture",
                   .severity = Severity::note,
                   .clause = "IBA o9-30",
                   .meaning = "The capture contains one direction only",
                   .draw = one_way_capture},
        FindingRow{.id = "pairing-uncertain",
                   .severity = Severity::note,
                   .clause = "IBA 9.7.3",
                   .meaning = "Queue pairs could not be paired with certainty",
                   .draw = pairing_uncertain},
        FindingRow{.id = "clock-backwards",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "Timestamps go backwards",
                   .draw = clock_backwards},
        FindingRow{.id = "clock-offset",
                   .severity = Severity::note,
                   .clause = "IBA 9.7.5",
                   .meaning = "ACKs and responses were captured before their requests",
                   .by_order = true,
                   .draw = clock_offset},
        FindingRow{.id = "clock-coarse",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "Timestamps are too coarse to measure latencies",
                   .draw = clock_coarse},
        FindingRow{.id = "malformed-packets",
                   .severity = Severity::warning,
                   .clause = "IBA 9.2",
                   .meaning = "Packets have malformed headers",
                   .draw = malformed_packets},
        FindingRow{.id = "ip-fragments",
                   .severity = Severity::warning,
                   .clause = "IBA A17.3.1.2",
                   .meaning = "IP took packets apart",
                   .draw = ip_fragments},
        FindingRow{.id = "analysis-bounded",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "The capture exceeds the limits of the analysis",
                   .draw = analysis_bounded},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
