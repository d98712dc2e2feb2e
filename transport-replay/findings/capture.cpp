// Findings about the capture as a witness: what it cannot show, so that nobody takes it for what the network did.
#include <dissect/types.hpp>
#include <transport-replay/findings/draw.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/model/large_blocks.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::draw {

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

}  // namespace

void capture_lost_packets(const Timeline& timeline, const Emit& emit) {
    Missing found = missing(timeline);
    const dissect::Drops& drops = timeline.quality.drops;
    const std::uint64_t reported = drops.dropped + drops.dropped_by_system;
    if (found.tap + reported == 0) return;
    FindingDraft draft = std::move(found.draft_tap);
    draft.count = std::max(found.tap, reported);
    const std::string drops_text = counted(reported, "drop");
    if (found.tap == 0) {
        draft.summary = fmt::format("The capturing program reports {}: packets are missing that the network delivered.", drops_text);
    } else {
        const std::string others = explained_by_drops(timeline, found) && found.undecided != 0
                                       ? fmt::format(", enough for the other {} that {} missing", counted(found.undecided, "packet"),
                                                     found.undecided == 1 ? "is" : "are")
                                       : "";
        draft.summary = fmt::format("The capture lacks {} of {} that their receivers acknowledged{}: the network delivered them.",
                                    counted(found.tap, "packet"), counted(found.connections_tap, "connection"),
                                    reported == 0 ? "" : fmt::format(", and the capturing program reports {}{}", drops_text, others));
    }
    draft.advice =
        "Do not count these as network loss; capture with a larger buffer, a shorter snap length or a filter, or at a port that is "
        "not oversubscribed.";
    emit(std::move(draft));
}

void gaps_unexplained(const Timeline& timeline, const Emit& emit) {
    Missing found = missing(timeline);
    if (found.undecided == 0 || explained_by_drops(timeline, found)) return;
    FindingDraft draft = std::move(found.draft_undecided);
    draft.count = found.undecided;
    draft.summary = fmt::format("{} of {} {} missing; whether the network or the capture lost them is undecided.",
                                counted(found.undecided, "packet"), counted(found.connections_undecided, "connection"),
                                found.undecided == 1 ? "is" : "are");
    draft.advice =
        "Compare with the counters of the receiver (out_of_sequence, packet_seq_err in `rdma statistic`) or capture both directions.";
    emit(std::move(draft));
}

namespace {

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
    const std::string taps = fmt::format("{} taps{} recorded the same packets of {}", vantage.taps,
                                         vantage.by_file ? ", each with a file or an interface of its own," : "",
                                         counted(vantage.hosts, "pair of hosts"));
    if (quality.mixes_taps()) {
        emit({.party = Party::capture,
              .count = vantage.pairs,
              .summary = fmt::format("{}, the second one {}: retransmissions, losses and timeouts cannot be told from copies and are not reported.",
                                     taps, times_text(vantage.offset)),
              .advice = "Write it into a file and analyse that: files are read twice, and one tap of each pair of hosts is followed.",
              .severity = Severity::warning});
        return;
    }
    emit({.party = Party::capture,
          .count = quality.left_out,
          .summary = fmt::format("{}: {} of {} are of the other {}, which recorded them {}. One tap of each pair of hosts is followed.", taps,
                                 grouped(quality.left_out), counted(quality.packets, "packet"), vantage.taps == 2 ? "one" : "ones",
                                 times_text(vantage.offset)),
          .advice = vantage.by_file ? "Analyse each file by itself (`qpscope analyze --host NAME -o NAME.qpp FILE`) and merge them (`qpscope merge`): what one "
                                      "of them lacks was lost between them, or by the recorder."
                                    : "Mirror one direction of each port only; copies are excluded here, but other tools count them twice."});
}

}  // namespace

void capture_duplicates(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.left_out != 0 || quality.mixes_taps()) vantage_points(quality, emit);
    const std::uint64_t same = quality.same_tap_systematic ? quality.copies_of_same_tap : 0;
    const std::uint64_t copies = quality.copies_of_other_taps + same;
    if (copies == 0) return;
    emit({.party = Party::capture,
          .count = copies,
          .summary = fmt::format("{} of {} were recorded more than once ({} by another tap, {} by the same), {} to {} apart.",
                                 grouped(copies), counted(quality.packets, "packet"), grouped(quality.copies_of_other_taps), grouped(same),
                                 duration_text(quality.least_copy_distance), duration_text(quality.most_copy_distance)),
          .advice = "Mirror one direction of each port only; copies are excluded here, but other tools count them twice."});
}

namespace {

// By a snap length, or before the capture: how long the latter were on the wire is not known.
std::string truncated_by(const CaptureQuality& quality) {
    if (quality.shortest_cut != 0) return fmt::format("by the capture, the shortest {} long on the wire", length(quality.shortest_cut));
    return "before they were captured, as by a mirror that cuts frames (their own lengths say that more was sent)";
}

}  // namespace

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
          .summary = fmt::format("{} of {} {} truncated {}: ICRC and payload cannot be checked{}{}.", grouped(quality.cut),
                                 counted(quality.packets, "packet"), quality.cut == 1 ? "was" : "were", truncated_by(quality), blind, mute),
          .advice = quality.shortest_cut != 0
                        ? "Capture whole packets (`tcpdump -s 0`) if ICRC or payload matter; 128 bytes are enough for the headers."
                        : "Let the mirror session pass whole frames if ICRC or payload matter; 128 bytes of what it mirrors are enough for the headers.",
          .severity = quality.unreadable != 0 ? Severity::warning : Severity::note});
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
    std::optional<Heard> heard;
    FindingDraft draft{.party = Party::capture, .count = 0};
    const OneWay* first = nullptr;
    for (const OneWay& way : timeline.quality.one_way) {
        if (!way.reliable || std::ranges::binary_search(silent, std::pair{way.source, way.destination})) continue;
        if (!heard) heard.emplace(timeline);
        if (heard->any(way.destination, way.source)) continue;
        if (draft.count++ == 0) first = &way;
        add_evidence(draft, heard->first(way.source, way.destination));
    }
    if (first == nullptr) return;
    draft.summary = fmt::format(
        "Only one direction of {} was captured, such as {} to {} ({}): losses, latencies and answers of the other "
        "side cannot be judged.",
        counted(draft.count, "pair of hosts"), text(first->source), text(first->destination), counted(first->packets, "packet"));
    draft.advice = "Mirror both directions of the port (rx and tx), or capture on both hosts and merge the files.";
    emit(std::move(draft));
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
    draft.summary = fmt::format("Which queue pairs belong together is uncertain for {}: too few answers matched requests.",
                                counted(draft.count, "connection"));
    draft.advice = "Capture the CM handshake or more of the traffic before trusting the figures of these connections.";
    emit(std::move(draft));
}

void clock_backwards(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.backwards == 0) return;
    emit({.party = Party::capture,
          .packets = {quality.largest_step_frame},
          .count = quality.backwards,
          .summary = fmt::format("Timestamps go backwards {}, by up to {}.", times(quality.backwards),
                                 duration_text(magnitude(quality.largest_step_back))),
          .advice =
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
    draft.summary = fmt::format("{} of {} {} captured before {}, by up to {}: the two directions were captured by different clocks or queues, and "
                                "latencies shorter than that are wrong.",
                                counted(draft.count, "answer"), counted(connections, "connection"), draft.count == 1 ? "was" : "were",
                                draft.count == 1 ? "its request" : "their requests", duration_text(longest));
    draft.advice = "Synchronise the clocks of both ports or hosts (PTP, one capture card), or correct one file (`--offset`); answers that wait for their "
                   "requests for more than 5 ms are taken for answers to packets that the capture lacks.";
    emit(std::move(draft));
}

void clock_coarse(const Timeline& timeline, const Emit& emit) {
    const auto resolution = timeline.quality.clock_resolution;
    if (!resolution || *resolution < kCoarseClock) return;
    emit({.party = Party::capture,
          .count = timeline.quality.packets,
          .summary =
              fmt::format("Timestamps have a resolution of {}, coarser than most round trips.", duration_text(*resolution)),
          .advice = "Capture with nanosecond or hardware timestamps (`tcpdump -j adapter_unsynced --time-stamp-precision=nano`) to see "
                    "latencies."});
}

void malformed_packets(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.faulty == 0) return;
    const std::uint64_t different = quality.faulty - quality.faulty_again;
    const std::string again = quality.faulty_again == 0 ? "" : fmt::format(", {} of them different: the others repeat these", grouped(different));
    emit({.party = Party::undecided,
          .count = different,
          .summary = fmt::format("{} of {} {} malformed{}{} a header breaks a rule of its format, or IP took the packet apart (fragments).", grouped(quality.faulty),
                                 counted(quality.rdma_packets, "RDMA packet"), quality.faulty == 1 ? "is" : "are", again, again.empty() ? ":" : ";"),
          .advice = "List them (`qpscope packets -Y rdma.frame.fault`) and check whether one sender or one device on the path produces them."});
}

void analysis_bounded(const Timeline& timeline, const Emit& emit) {
    std::uint64_t most = 0;  // one packet may be past several bounds
    for (const Bound& bound : bounds()) most = std::max(most, bound.count(timeline));
    if (most == 0) return;
    emit({.party = Party::capture,
          .count = most,
          .summary = fmt::format("The analysis reached its limits: {}{}.", left_out_text(timeline),
                                 judged_all(timeline) ? "" : "; problems there may have gone unnoticed"),
          .advice = "Give the analysis more memory (`--memory`), or split the capture by host or by time (`editcap -i`, a capture filter)."});
}

}  // namespace qps::transport::draw
