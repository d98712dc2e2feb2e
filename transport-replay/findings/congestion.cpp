// Findings about congestion: pauses of the link, CE marks and their CNPs, bursts of many senders.
#include <dissect/types.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using dissect::Duration;
using namespace words;

constexpr std::int64_t kFeltPausePart = 100;  // a priority stopped for more than 1 % of the capture is felt
constexpr Duration kFeltPause{1'000'000};     // and for 1 ms at least: short captures begin and end in a pause
constexpr std::uint64_t kFewestMarks = 8;     // CNPs are lossy and paced: fewer marks may go unanswered by chance
constexpr std::uint64_t kFewestSilences = 4;  // however many the marks: a network that loses 5 % loses 4 CNPs in a row once in 160 000
constexpr std::uint64_t kUnansweredPercent = 50;
constexpr std::uint32_t kFewestBursts = 4;      // of CNPs, before the rate after them says anything
constexpr std::uint64_t kNoEffectPercent = 95;  // of the rate before; a cut of DCQCN is felt more than that

// What either kind of pause frame stops. They are told apart: PAUSE has no priorities, and other switches and counters.
enum class PauseKind : std::uint8_t { priority, link };

constexpr std::size_t kMostPausing = 64;  // senders that have a finding of their own

// Those who paused, with a storm or without, the longest first.
std::vector<const PauseSummary*> pauses_of(const Timeline& timeline, PauseKind kind, bool storms) {
    std::vector<const PauseSummary*> found;
    for (const PauseSummary& pause : timeline.congestion.pauses) {
        if ((pause.priority == kWholeLink) != (kind == PauseKind::link) || (pause.periods == 0 && pause.stops == 0)) continue;
        if ((pause.storms != 0) == storms) found.push_back(&pause);
    }
    std::ranges::stable_sort(found, std::greater{}, [storms](const PauseSummary* pause) {
        return storms ? std::tuple(pause->longest, pause->stops) : std::tuple(pause->paused, std::uint64_t{0});
    });
    if (found.size() > kMostPausing) found.resize(kMostPausing);
    return found;
}

std::vector<dissect::FrameIndex> frames_of(const PauseSummary& pause) {
    std::vector<dissect::FrameIndex> frames{pause.longest_frame};
    if (pause.late != 0) frames.push_back(pause.first_late);
    return frames;
}

// "02:00:00:00:00:01 sent PFC for priority 3 on interface 0 (2 XOFF, 1 XON)".
std::string asked(const PauseSummary& pause) {
    const std::string what =
        pause.priority == kWholeLink ? "802.3x PAUSE for the whole link" : fmt::format("PFC for priority {}", pause.priority);
    return fmt::format("{} sent {} on interface {} ({} XOFF, {} XON)", text(pause.sender), what, std::to_underlying(pause.interface),
                       grouped(pause.stops), grouped(pause.resumes));
}

// Whether its link partner stopped, as far as the capture tells.
std::string traffic_text(const PauseSummary& pause) {
    if (pause.late != 0)
        return fmt::format("{} to it followed more than {} into a pause.", counted(pause.late, "packet"), duration_text(kPauseGrace));
    const bool link = pause.priority == kWholeLink;
    if (pause.traffic_stopped)
        return fmt::format("{} was silent from before its first XOFF until after its last, for {}, and went on: traffic stopped.",
                           pause.packets_to_it != 0 ? "who sends to it" : "traffic of the link", duration_text(pause.silence));
    if (pause.packets_to_it == 0)
        return fmt::format("the capture has no packet{} to that address after it: whether traffic stopped is undecided.",
                           link ? "" : " of that priority");
    if (pause.judged != 0) return "nothing was sent to it meanwhile: traffic stopped.";
    return fmt::format("whether traffic stopped is undecided: {}.",
                       pause.unknown_lengths != 0 ? "the speed of the link is not known (--link-speed)"
                                                  : "no pause was longer than the time to react");
}

Duration length_of(const Timeline& timeline) { return timeline.first && timeline.last ? *timeline.last - *timeline.first : Duration{}; }

// How often, of marks whose answer the capture could have held.
std::uint64_t decided(const PairCongestion& pair) { return pair.answered + pair.unanswered; }

const FlowCongestion* first_flow(const Timeline& timeline, const PairCongestion& pair) {
    const FlowKey from{pair.source, pair.destination, {}, {}};
    const auto flow = std::ranges::lower_bound(timeline.congestion.flows, from, {}, &FlowCongestion::flow);
    if (flow == timeline.congestion.flows.end() || flow->flow.source != pair.source || flow->flow.destination != pair.destination)
        return nullptr;
    return &*flow;
}

std::vector<dissect::FrameIndex> marks_of(const Timeline& timeline, const PairCongestion& pair) {
    const FlowCongestion* flow = first_flow(timeline, pair);
    if (flow == nullptr) return {};
    return {flow->first_marked, flow->last_marked};
}

// The CNPs to the sender of a pair's data.
template <class Each>
void for_each_stream(const Timeline& timeline, const PairCongestion& pair, Each each) {
    const FlowKey from{pair.destination, pair.source, {}, {}};
    for (auto stream = std::ranges::lower_bound(timeline.congestion.notifications, from, {}, &CnpStream::flow);
         stream != timeline.congestion.notifications.end() && stream->flow.source == pair.destination &&
         stream->flow.destination == pair.source;
         ++stream)
        each(*stream);
}

// "paused for 10 us in 1 period (4.55 % of the capture, 10 us at worst)".
std::string paused_text(const PauseSummary& pause, std::int64_t whole) {
    const bool unknown = pause.unknown_lengths != 0;
    if (unknown && pause.paused == Duration{}) return fmt::format("paused {} for an unknown time", times(pause.periods));
    const std::string part =
        share(static_cast<std::uint64_t>(std::to_underlying(pause.paused)), static_cast<std::uint64_t>(std::max<std::int64_t>(whole, 1)));
    const std::string speed = !unknown ? ""
                                       : fmt::format("; at {}, {}", rate_text(static_cast<double>(std::to_underlying(pause.assumed_speed))),
                                                     pause.speed_shown ? "the slowest link that carries what was sent to it" : "which is assumed");
    return fmt::format("paused for {}{} in {} ({} of the capture, {} at worst{})", unknown ? "at most " : "", duration_text(pause.paused),
                       counted(pause.periods, "period"), part, duration_text(pause.longest), speed);
}

// Without the speed of the link it is no error: the traffic tells that it stopped, not for how long it had to.
void emit_storm(const Timeline& timeline, PauseKind kind, std::string_view advice, const Emit& emit) {
    for (const PauseSummary* pause : pauses_of(timeline, kind, true)) {
        const bool assumed = pause->assumed_speed != dissect::BitsPerSecond{};
        emit({.party = Party::congestion,
              .old_packets = frames_of(*pause),
              .count = pause->storms,
              .old_summary = fmt::format("{}: paused for {} without interruption ({} of at least {}){}; {}", asked(*pause),
                                     duration_text(pause->longest), counted(pause->storms, "storm"), duration_text(kStormTime),
                                     assumed ? ", the speed of the link not being known (--link-speed)" : "", traffic_text(*pause)),
              .old_advice = std::string(advice),
              .severity = assumed ? std::optional(Severity::warning) : std::nullopt});
    }
}

void emit_pause(const Timeline& timeline, PauseKind kind, std::string_view advice, const Emit& emit) {
    for (const PauseSummary* pause : pauses_of(timeline, kind, false)) {
        const auto whole = std::to_underlying(length_of(timeline));
        const Duration least = pause->unknown_lengths == 0 ? pause->paused : pause->least_paused;
        const bool felt = least >= kFeltPause && std::to_underlying(least) >= whole / kFeltPausePart;
        emit({.party = Party::congestion,
              .old_packets = frames_of(*pause),
              .count = pause->periods,
              .old_summary = fmt::format("{}: {}; {}", asked(*pause), paused_text(*pause, whole), traffic_text(*pause)),
              .old_advice = std::string(advice),
              .severity = felt ? Severity::warning : Severity::note});
    }
}

void pfc_storm(const Timeline& timeline, const Emit& emit) {
    emit_storm(timeline, PauseKind::priority,
               "Find the source of the pauses (a NIC whose PCIe or CPU does not keep up, or a switch below it; rx_prioN_pause_duration "
               "in `ethtool -S`), and enable the PFC watchdog in every switch.",
               emit);
}

void pfc_pause(const Timeline& timeline, const Emit& emit) {
    emit_pause(timeline, PauseKind::priority,
               "Let ECN act before PFC (marking thresholds below the pause thresholds of the same queue), and watch "
               "rx_prioN_pause_duration on the ports along the path.",
               emit);
}

void link_pause_storm(const Timeline& timeline, const Emit& emit) {
    emit_storm(timeline, PauseKind::link,
               "Find out why that port does not keep up (PCIe, CPU, a switch behind it), and disable 802.3x PAUSE on RoCE links "
               "(`ethtool -A DEV rx off tx off`, flow control off at the switch): it stops every priority; PFC stops one.",
               emit);
}

void link_pause(const Timeline& timeline, const Emit& emit) {
    emit_pause(timeline, PauseKind::link,
               "Disable 802.3x PAUSE on RoCE links (`ethtool -A DEV rx off tx off`, flow control off at the switch) and use PFC for the "
               "lossless priority; `ethtool -S` counts both apart (rx_pause_ctrl_phy, rx_prioN_pause).",
               emit);
}

void ecn_congestion(const Timeline& timeline, const Emit& emit) {
    for (const PairCongestion& pair : timeline.congestion.pairs) {
        if (pair.marked == 0) continue;  // cnp-without-mark has the others
        std::vector<dissect::FrameIndex> packets = marks_of(timeline, pair);
        std::optional<Duration> delay, gap;
        for_each_stream(timeline, pair, [&](const CnpStream& stream) {
            if (packets.size() < kMaxEvidence) packets.push_back(stream.first_frame);
            if (!delay) delay = stream.delays.median();
            if (stream.gaps.count() != 0 && (!gap || stream.gaps.least() < *gap)) gap = stream.gaps.least();
        });
        const std::string pace = fmt::format("{}{}", delay ? fmt::format(", {} after the mark (median)", duration_text(*delay)) : "",
                                             gap ? fmt::format(", at least {} apart", duration_text(*gap)) : "");
        // ACKs, MADs and multicast trigger none (A17.9.3)
        const std::string kind = pair.ce_marked == pair.marked ? "" : fmt::format(", {} of them of a kind that triggers CNPs", grouped(pair.marked));
        emit({.party = Party::congestion,
              .old_packets = std::move(packets),
              .count = pair.marked + pair.notifications,
              .old_summary = fmt::format("{} of {} from {} to {} {} CE-marked ({}){}; {} returned{}.", grouped(pair.ce_marked),
                                     counted(pair.packets, "packet"), text(pair.source), text(pair.destination),
                                     pair.ce_marked == 1 ? "was" : "were", share(pair.ce_marked, pair.packets), kind,
                                     counted(pair.notifications, "CNP"), pace),
              .old_advice =
                  "Do nothing if throughput is as expected; otherwise check the queue that marks (ECN thresholds, incast), and np_cnp_sent "
                  "and rp_cnp_handled of both NICs (`rdma statistic`)."});
    }
}

// Who sends any CNP notices marks: those it leaves unanswered were lost on the way, or held back.
void ecn_not_answered(const Timeline& timeline, const Emit& emit) {
    for (const PairCongestion& pair : timeline.congestion.pairs) {
        if (!pair.other_way_seen || decided(pair) < kFewestMarks || pair.silences < kFewestSilences) continue;
        if (pair.unanswered * 100 < decided(pair) * kUnansweredPercent) continue;
        const bool never = pair.notifications == 0;
        const std::string to = text(pair.destination);
        const std::string missing = fmt::format("{} of {} from {} to {} triggered no CNP from {} within {}", grouped(pair.unanswered),
                                                counted(decided(pair), "CE mark"), text(pair.source), to, to, duration_text(kCnpDeadline));
        emit({.party = never ? Party::responder : Party::undecided,
              .old_packets = marks_of(timeline, pair),
              .count = pair.unanswered,
              .old_summary = never ? fmt::format("{}, so the sender does not slow down.", missing)
                               : fmt::format("{}, although it sent {}: the others were lost or held back.", missing,
                                             counted(pair.notifications, "CNP")),
              .old_advice =
                  never ? fmt::format("Enable the notification point on {} for this priority (`mlnx_qos`, ecn/roce_np/enable), compare "
                                      "np_ecn_marked_roce_packets with np_cnp_sent, and check the traffic class of CNPs.",
                                      to)
                        : fmt::format("Compare np_cnp_sent on {} with rp_cnp_handled on {} (`rdma statistic`): if they differ, CNPs are "
                                      "dropped and need a class of their own; otherwise check the CNP rate limit on {}.",
                                      to, text(pair.source), to)});
    }
}

void cnp_without_mark(const Timeline& timeline, const Emit& emit) {
    std::uint64_t without = 0, all = 0;
    FindingDraft draft{.party = Party::undecided};
    for (const CnpStream& stream : timeline.congestion.notifications) {
        all += stream.count;
        without += stream.without_mark;
        if (stream.without_mark != 0 && draft.old_packets.size() < kMaxEvidence) draft.old_packets.push_back(stream.first_frame);
    }
    if (without == 0) return;
    all = std::max(all, timeline.congestion.cnps);  // of streams that were not followed, too
    draft.count = without;
    draft.old_summary = fmt::format("{} of {} followed no CE mark in this capture.", grouped(without), counted(all, "CNP"));
    draft.old_advice =
        "Ignore this if the tap is before the switch that marks; capture at the receiver's port to see marks and CNPs together.";
    emit(std::move(draft));
}

void cnp_without_effect(const Timeline& timeline, const Emit& emit) {
    for (const FlowCongestion& flow : timeline.congestion.flows) {
        const Reaction& reaction = flow.reaction;
        if (reaction.bursts < kFewestBursts || reaction.bins_before == 0 || reaction.bins_after == 0 || flow.marked == 0) continue;
        const double before = static_cast<double>(reaction.bytes_before) / reaction.bins_before;
        const double after = static_cast<double>(reaction.bytes_after) / reaction.bins_after;
        if (before == 0 || after * 100 < before * static_cast<double>(kNoEffectPercent)) continue;
        emit({.party = Party::requester,
              .old_packets = {flow.first_marked, flow.last_marked},
              .count = reaction.bursts,
              .old_summary = fmt::format("{} sent to {} QP {} at {:.3g} % of its previous rate after {}.", text(flow.flow.source),
                                     text(flow.flow.destination), std::to_underlying(flow.flow.destination_qp), 100 * after / before,
                                     counted(reaction.bursts, "burst of CNPs")),
              .old_advice =
                  fmt::format("Check that the reaction point is enabled on {} for this priority (ecn/roce_rp/enable, rp_cnp_handled and "
                              "rp_cnp_ignored in `rdma statistic`) before changing DCQCN parameters.",
                              text(flow.flow.source))});
    }
}

void incast(const Timeline& timeline, const Emit& emit) {
    const auto& incasts = timeline.congestion.incasts;
    if (incasts.empty()) return;
    const auto worst =
        std::ranges::max_element(incasts, {}, [](const IncastBurst& burst) { return std::pair{burst.senders, burst.bytes}; });
    FindingDraft draft{.party = Party::application, .count = incasts.size() + timeline.congestion.incasts_dropped};
    std::uint64_t marked = 0;
    for (const IncastBurst& burst : incasts) {
        if (draft.old_packets.size() < kMaxEvidence) draft.old_packets.push_back(burst.frame);
        marked += burst.marked;
    }
    draft.old_summary = fmt::format("{} sent {} to {} within {}, the largest of {} with {} in total.",
                                counted(worst->senders, "host"), bytes_text(worst->bytes), text(worst->destination),
                                duration_text(worst->length), counted(draft.count, "incast burst"), counted(marked, "CE-marked packet"));
    draft.old_advice =
        "Do nothing while no packet is marked, paused or lost; otherwise stagger the senders, or let the collective use trees or "
        "fewer channels.";
    emit(std::move(draft));
}

// "DSCP 26", "VLAN priority 3, DSCP 26"
std::string class_text(const LossyBeside& one) {
    const std::string dscp = fmt::format("DSCP {}", one.dscp);
    return one.pcp == kNoPcp ? dscp : fmt::format("VLAN priority {}, {}", one.pcp, dscp);
}

// "12 CE marks, 3 pauses".
std::string events_text(const LossyBeside& one) {
    std::string all;
    const auto add = [&](std::uint64_t number, std::string_view noun) {
        if (number == 0) return;
        if (!all.empty()) all += ", ";
        all += counted(number, noun);
    };
    add(one.marks, "CE mark");
    add(one.pauses, "pause frame");
    add(one.naks, "sequence NAK");
    return all;
}

// One in ten of the bytes, one in four of the intervals: less is not what fills a queue.
void shared_traffic_class(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint64_t kLeastPart = 10, kLeastIntervals = 4;
    for (const LossyBeside& one : timeline.beside) {
        if (one.lossy_bytes() * kLeastPart < one.bytes() || one.shared * kLeastIntervals < one.intervals || one.rdma_bytes == 0) continue;
        const std::string to = text(one.destination);
        emit({.party = Party::congestion,
              .old_packets = {one.frames.begin(), one.frames.end()},
              .count = one.shared,
              .old_summary = fmt::format("TCP and UDP took {} of the bytes to {} ({} and {}, beside {} of RDMA) with {}, in the {} of {} in which that class had {}.",
                                     share(one.lossy_bytes(), one.bytes()), to, bytes_text(one.tcp_bytes), bytes_text(one.udp_bytes),
                                     bytes_text(one.rdma_bytes), class_text(one), counted(one.intervals, "interval"), duration_text(kBesideInterval),
                                     events_text(one)),
              .old_advice = fmt::format("Give RDMA a class of its own at every sender and switch (`ethtool`, `mlnx_qos`, cma_roce_tos): CNPs slow RDMA to {} down, and "
                                    "neither TCP nor UDP.",
                                    to)});
    }
}

}  // namespace

Family congestion_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "pfc-storm",
                   .severity = Severity::error,
                   .clause = "IEEE 802.1Q 36",
                   .meaning = "PFC paused a priority for so long that its traffic stopped",
                   .draw = pfc_storm},
        FindingRow{.id = "pfc-pause",
                   .severity = Severity::note,
                   .clause = "IEEE 802.1Q 36",
                   .meaning = "PFC paused a priority of a link",
                   .draw = pfc_pause},
        FindingRow{.id = "link-pause-storm",
                   .severity = Severity::error,
                   .clause = "IEEE 802.3 31B",
                   .meaning = "802.3x PAUSE stopped a whole link for long",
                   .draw = link_pause_storm},
        FindingRow{.id = "link-pause",
                   .severity = Severity::note,
                   .clause = "IEEE 802.3 31B",
                   .meaning = "802.3x PAUSE stopped a whole link",
                   .draw = link_pause},
        FindingRow{.id = "ecn-congestion",
                   .severity = Severity::note,
                   .clause = "IBA A17.9.3",
                   .meaning = "Packets were marked for congestion (CE)",
                   .draw = ecn_congestion},
        FindingRow{.id = "ecn-not-answered",
                   .severity = Severity::warning,
                   .clause = "IBA A17.9.3",
                   .meaning = "CE-marked packets triggered no CNP",
                   .draw = ecn_not_answered},
        FindingRow{.id = "cnp-without-mark",
                   .severity = Severity::note,
                   .clause = "IBA A17.9.3",
                   .meaning = "CNPs follow no CE mark in the capture",
                   .draw = cnp_without_mark},
        FindingRow{.id = "cnp-without-effect",
                   .severity = Severity::note,
                   .clause = "IBA A17.9.3",
                   .meaning = "A sender did not slow down after CNPs",
                   .draw = cnp_without_effect},
        FindingRow{.id = "incast",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "Many hosts sent to one host at the same time",
                   .draw = incast},
        FindingRow{.id = "shared-traffic-class",
                   .severity = Severity::warning,
                   .clause = "IEEE 802.1Q 36",
                   .meaning = "TCP and UDP shared the class of RDMA while that was marked, paused or lost",
                   .draw = shared_traffic_class},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
