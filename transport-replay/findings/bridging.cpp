// Findings about Data Center Bridging: what switch and NIC of a link announce by LLDP, and RoCE packets that do not fit to it.
//
// LLDP to the nearest bridge never leaves its link, so two stations heard on one interface are its ends, if one of them is a bridge and no
// third one is heard. A willing end takes the configuration of the other end, and announces it from then on (IEEE 802.1Q 38.4.2): it
// has time for that. CEE announces what is wished for, not what is in force: only where nobody is willing, a difference stays one.
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/link_priorities.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using dissect::Duration;
using dissect::Instant;
using namespace words;

constexpr Duration kTimeToTake{10'000'000'000};  // 10 s; a change is announced within one (802.1AB 9.2.5.7)
constexpr std::uint64_t kRepeatedOften = 2;      // after the other end announced its own

struct LinkEnds {
    const BridgingLink& link;
    const BridgingEnd& bridge;
    const BridgingEnd& station;

    [[nodiscard]] const BridgingEnd& other(const BridgingEnd& end) const { return &end == &bridge ? station : bridge; }
};

bool holds_at(const BridgingEnd& end, Instant time) { return end.lifetime != Duration{} && time <= end.last_time + end.lifetime; }

// Links whose two ends announced something that held at the same time.
template <class Each>
void each_link(const Timeline& timeline, Each each) {
    for (const BridgingLink& link : timeline.bridging.links) {
        if (link.ends.size() != 2 || link.ends[0].sender == link.ends[1].sender) continue;
        const BridgingEnd &a = link.ends[0], &b = link.ends[1];
        if (!a.announced.whole || !b.announced.whole || a.announced.bridge == b.announced.bridge || a.announced.cee != b.announced.cee) continue;
        if (!holds_at(a, b.last_time) || !holds_at(b, a.last_time)) continue;
        each(a.announced.bridge ? LinkEnds{link, a, b} : LinkEnds{link, b, a});
    }
}

// "02:00:00:00:00:f1 (leaf-1)".
std::string end_text(const BridgingEnd& end) {
    constexpr std::size_t kMost = 32;
    std::string name = end.name.substr(0, kMost);
    for (char& c : name)
        if (c <= ' ' || c > '~' || c == '(' || c == ')') c = '_';
    while (name.ends_with('.')) name.pop_back();
    return name.empty() ? text(end.sender) : fmt::format("{} ({})", text(end.sender), name);
}

// "priority 3", "priorities 3, 4 and 6", "no priority".
std::string priorities_text(PriorityBits priorities) {
    if (priorities == 0) return "no priority";
    std::string list;
    int left = std::popcount(priorities);
    const std::string_view noun = left == 1 ? "priority" : "priorities";
    for (unsigned priority = 0; priority < kLinkPriorities; ++priority) {
        if ((priorities >> priority & 1U) == 0) continue;
        list += fmt::format("{}{}", priority, left > 2 ? ", " : left == 2 ? " and " : "");
        --left;
    }
    return fmt::format("{} {}", noun, list);
}

std::string share_text(const PriorityShares::Share& share) {
    switch (share.selection) {
        case TransmissionSelection::strict: return "strict priority";
        case TransmissionSelection::credit_based: return "a credit-based shaper";
        case TransmissionSelection::vendor: return "an algorithm of its vendor";
        case TransmissionSelection::enhanced: break;
    }
    const bool alone = std::has_single_bit(share.with);
    return fmt::format("{} %{}", share.percent, alone ? " of the bandwidth" : fmt::format(" of the bandwidth for {} together", priorities_text(share.with)));
}

std::vector<dissect::FrameIndex> evidence_of(const LinkEnds& ends) {
    return {ends.bridge.since, ends.bridge.last, ends.station.since, ends.station.last};
}

// How a difference stays one: "neither is willing to take the other's", "... is willing to take it, and repeated its own twice within 60 s";
// nothing where it may pass. `taker` would take the other's; nobody where it is null.
std::optional<std::string> lasting(const LinkEnds& ends, const BridgingEnd* taker) {
    if (taker == nullptr) return "neither is willing to take the other's";
    const Duration since = taker->last_time - ends.other(*taker).since_time;
    if (ends.bridge.announced.cee || taker->repeated < kRepeatedOften || since < kTimeToTake) return std::nullopt;
    return fmt::format("{} is willing to take the other's, but repeated its own {} within {}", text(taker->sender), times(taker->repeated),
                       duration_text(since));
}

// Who takes the configuration of the other end: of two that are willing the one with the higher address (38.4.2).
const BridgingEnd* taker_of(const LinkEnds& ends, bool bridge_willing, bool station_willing) {
    if (bridge_willing && station_willing) return ends.bridge.sender > ends.station.sender ? &ends.bridge : &ends.station;
    return bridge_willing ? &ends.bridge : station_willing ? &ends.station : nullptr;
}

std::string on_interface(const LinkEnds& ends) { return fmt::format("on interface {}", std::to_underlying(ends.link.interface)); }

// The same station by another name of its port, or in another file.
bool announces_after(const Timeline& timeline, const BridgingEnd& end) {
    return std::ranges::any_of(timeline.bridging.links, [&](const BridgingLink& link) {
        return std::ranges::any_of(link.ends, [&](const BridgingEnd& one) { return one.sender == end.sender && one.last_time > end.last_time; });
    });
}

// What both ends share out differently: of how many priorities, and of which one that shares with the fewest others.
struct SharesDiffer {
    unsigned priority = 0;
    unsigned count = 0;
};
SharesDiffer compare(const PriorityShares& one, const PriorityShares& other) {
    SharesDiffer found;
    int fewest = 0;
    for (unsigned priority = 0; priority < kLinkPriorities; ++priority) {
        if (one.of[priority] == other.of[priority]) continue;
        const int sharing = std::popcount(one.of[priority].with) + std::popcount(other.of[priority].with);
        if (found.count++ != 0 && sharing >= fewest) continue;
        found.priority = priority;
        fewest = sharing;
    }
    return found;
}

void emit_shares(const LinkEnds& ends, const BridgingEnd& said, const PriorityShares& theirs, std::string_view verb, const BridgingEnd& end,
                 const std::string& lasts, const Emit& emit) {
    const SharesDiffer differ = compare(theirs, *end.announced.shares);
    emit({.party = Party::fabric,
          .old_packets = evidence_of(ends),
          .old_summary = fmt::format("For priority {} {} {} {}, and its link partner {} announces {}, {}; {} differ{}; {}.", differ.priority, end_text(said),
                                 verb, share_text(theirs.of[differ.priority]), end_text(end), share_text(end.announced.shares->of[differ.priority]),
                                 on_interface(ends), counted(differ.count, "priority"), differ.count == 1 ? "s" : "", lasts),
          .old_advice = "Compare ETS of both (`mlnx_qos -i DEV` or `dcb ets show dev DEV`, the QoS policy of the port), or let the NIC be willing."});
}

void pfc_differs(const Timeline& timeline, const Emit& emit) {
    each_link(timeline, [&](const LinkEnds& ends) {
        const BridgingAnnouncement &bridge = ends.bridge.announced, &station = ends.station.announced;
        if (!bridge.pfc || !station.pfc || bridge.pfc == station.pfc) return;
        const auto lasts = lasting(ends, taker_of(ends, bridge.pfc_willing, station.pfc_willing));
        if (!lasts) return;
        emit({.party = Party::fabric,
              .old_packets = evidence_of(ends),
              .old_summary = fmt::format("{} announces PFC for {}, and its link partner {} for {}, {}; {}.", end_text(ends.bridge),
                                     priorities_text(*bridge.pfc), end_text(ends.station), priorities_text(*station.pfc), on_interface(ends), *lasts),
              .old_advice = "Enable PFC for the same priorities at both (`mlnx_qos -i DEV --pfc` or `dcb pfc set dev DEV`, the PFC profile of the port): "
                        "where one lacks it, that priority loses packets."});
    });
}

void ets_differs(const Timeline& timeline, const Emit& emit) {
    each_link(timeline, [&](const LinkEnds& ends) {
        for (const BridgingEnd* end : {&ends.station, &ends.bridge}) {
            const BridgingEnd& partner = ends.other(*end);
            const BridgingAnnouncement &own = end->announced, &theirs = partner.announced;
            if (!own.shares || !own.shares_willing || !theirs.recommended || *own.shares == *theirs.recommended) continue;
            if (const auto lasts = lasting(ends, end)) emit_shares(ends, partner, *theirs.recommended, "recommends", *end, *lasts, emit);
        }
        const BridgingAnnouncement &bridge = ends.bridge.announced, &station = ends.station.announced;
        if (!bridge.shares || !station.shares || bridge.shares == station.shares || bridge.shares_willing || station.shares_willing) return;
        if (const auto lasts = lasting(ends, nullptr)) emit_shares(ends, ends.bridge, *bridge.shares, "announces", ends.station, *lasts, emit);
    });
}

void application_priority_differs(const Timeline& timeline, const Emit& emit) {
    each_link(timeline, [&](const LinkEnds& ends) {
        const BridgingAnnouncement &bridge = ends.bridge.announced, &station = ends.station.announced;
        if (bridge.roce == 0 || station.roce == 0 || (bridge.roce & station.roce) != 0) return;
        // IEEE has no willing bit here: either may take that of the other.
        const bool willing = !bridge.cee || station.applications_willing || bridge.applications_willing;
        const Duration since = ends.station.last_time - ends.bridge.since_time;
        if (willing && (bridge.cee || ends.station.repeated < kRepeatedOften || since < kTimeToTake)) return;
        const std::string lasts = willing ? fmt::format("the latter repeated it {} within {}", times(ends.station.repeated), duration_text(since))
                                          : std::string("neither is willing to take the other's");
        emit({.party = Party::fabric,
              .old_packets = evidence_of(ends),
              .old_summary = fmt::format("{} announces {} for RoCEv2 (UDP port 4791), and its link partner {} {}, {}; {}.", end_text(ends.bridge),
                                     priorities_text(bridge.roce), end_text(ends.station), priorities_text(station.roce), on_interface(ends), lasts),
              .old_advice = "Map RoCEv2 to one priority at both (`dcb app show dev DEV`, the QoS map of the port), and give it PFC if it is to be lossless."});
    });
}

// Packets of an end that the tracker counted under what was announced when they passed, as one sentence tells them.
struct OutsideRows {
    const OutsidePfc* most = nullptr;
    std::uint64_t all = 0;
    std::vector<dissect::FrameIndex> packets;

    void add(const OutsidePfc& one) {
        if (most == nullptr || one.packets > most->packets) most = &one;
        all += one.packets;
        if (packets.size() < kMaxEvidence) packets.push_back(one.first);
    }
    [[nodiscard]] std::string how(bool now) const {
        if (most->tagged) return fmt::format("by PCP, with DSCP {}", most->dscp);
        return fmt::format("by DSCP {}, as {}", most->dscp, now ? "it maps it" : "mapped then");
    }
    [[nodiscard]] std::string rest() const { return all == most->packets ? "" : fmt::format(", and {} of others", grouped(all - most->packets)); }
};

// Whether they would still be outside by what the end announced last; else it announced something else when they passed.
bool still_outside(const BridgingAnnouncement& last, const OutsidePfc& packets) {
    if (!last.whole || last.pfc.value_or(0) == 0) return false;
    const auto tag = packets.tagged ? std::optional<unsigned>(packets.priority) : std::nullopt;
    const PriorityBits possible = possible_priorities(last, tag, packets.dscp);
    return possible != 0 && (possible & *last.pfc) == 0;
}

void emit_outside(const BridgingLink& link, const BridgingEnd& end, const std::string& to, OutsideRows rows, const Emit& emit) {
    const bool older = std::ranges::any_of(end.outside, [&](const OutsidePfc& one) { return one.first < end.since && still_outside(end.announced, one); });
    rows.packets.insert(rows.packets.begin(), {end.first, end.since});
    emit({.party = Party::application,
          .old_packets = std::move(rows.packets),
          .count = rows.all,
          .old_summary = fmt::format("{} announces PFC for {} on interface {}, but {} to {} there {} of priority {} ({}){}{}.", end_text(end),
                                 priorities_text(end.announced.pfc.value_or(0)), std::to_underlying(link.interface),
                                 counted(rows.most->packets, "RoCE packet"), to, rows.most->packets == 1 ? "is" : "are", rows.most->priority, rows.how(true),
                                 rows.rest(), older ? "; some passed before it changed what it announces, and had no PFC then either" : ""),
          .old_advice = "Let the senders use a lossless priority (traffic class or ToS of the queue pairs, `cma_roce_tos`, the egress map of the VLAN), or "
                    "give theirs PFC at both ends."});
}

// It may be mended: packets of before say nothing of what is announced now.
void emit_once_outside(const BridgingLink& link, const BridgingEnd& end, const std::string& to, OutsideRows rows, const Emit& emit) {
    const std::string last = end.announced.whole ? fmt::format("; its last announcement has PFC for {}", priorities_text(end.announced.pfc.value_or(0))) : "";
    rows.packets.insert(rows.packets.begin(), {end.first, end.since});
    emit({.party = Party::application,
          .old_packets = std::move(rows.packets),
          .count = rows.all,
          .old_summary = fmt::format("{} to {} on interface {} {} of priority {} ({}){}, for which {} announced no PFC then{}.",
                                 counted(rows.most->packets, "RoCE packet"), to, std::to_underlying(link.interface), rows.most->packets == 1 ? "was" : "were",
                                 rows.most->priority, rows.how(false), rows.rest(), end_text(end), last),
          .old_advice = "Look who changed PFC or the map of DSCPs, and whether losses on this link ended with it.",
          .severity = Severity::note});
}

void roce_outside_pfc(const Timeline& timeline, const Emit& emit) {
    for (const BridgingLink& link : timeline.bridging.links) {
        if (link.ends.size() != 2 || link.ends[0].announced.bridge == link.ends[1].announced.bridge) continue;  // of which link, nobody knows
        const BridgingEnd& station = link.ends[0].announced.bridge ? link.ends[1] : link.ends[0];
        for (const BridgingEnd& end : link.ends) {
            OutsideRows now, once;
            for (const OutsidePfc& one : end.outside) (still_outside(end.announced, one) ? now : once).add(one);
            if (end.first == end.since) now.all += end.outside_left_out;  // else nobody knows what was announced then
            const std::string to = &end == &station ? "it" : text(station.sender);
            if (now.most != nullptr) emit_outside(link, end, to, std::move(now), emit);
            if (once.most != nullptr) emit_once_outside(link, end, text(station.sender), std::move(once), emit);
        }
    }
}

void lldp_stopped(const Timeline& timeline, const Emit& emit) {
    if (timeline.bridging.left_out != 0) return;  // perhaps of it
    for (const BridgingLink& link : timeline.bridging.links) {
        if (link.unreadable != 0) continue;  // perhaps from it
        for (const BridgingEnd& end : link.ends) {
            const Duration since = link.last_time - end.last_time;
            const bool told = end.lifetime == Duration{};
            const Duration seen = since - end.unseen;
            if (!told && seen <= end.lifetime) continue;
            if (announces_after(timeline, end)) continue;
            if (told && (end.frames < 2 || seen < kTimeToTake)) continue;  // it announced nothing before, or may only begin anew
            const std::string how = told ? std::string("that it stops (time to live 0)")
                                         : fmt::format("its configuration for {} at a time", duration_text(end.lifetime));
            emit({.party = Party::fabric,
                  .old_packets = {end.first, end.since, end.last, link.last},
                  .old_summary = fmt::format("{} announced on interface {} {}, and nothing more in the {} that the capture goes on there.", end_text(end),
                                         std::to_underlying(link.interface), how, duration_text(since)),
                  .old_advice = "Look whether its LLDP agent still runs (`systemctl status lldpad`, `mlnx_qos -i DEV`, LLDP of the port): a NIC that took "
                            "PFC and ETS of the switch falls back to its own."});
        }
    }
}

}  // namespace

Family bridging_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "pfc-differs",
                   .severity = Severity::warning,
                   .clause = "IEEE 802.1Q 38.4.2, D.2.11",
                   .meaning = "Switch and NIC of a link announce different lossless priorities (PFC)",
                   .draw = pfc_differs},
        FindingRow{.id = "ets-differs",
                   .severity = Severity::note,
                   .clause = "IEEE 802.1Q 38.4.1, D.2.9",
                   .meaning = "Switch and NIC of a link share out the bandwidth differently (ETS)",
                   .draw = ets_differs},
        FindingRow{.id = "application-priority-differs",
                   .severity = Severity::warning,
                   .clause = "IEEE 802.1Q 38.4.3, D.2.12",
                   .meaning = "Switch and NIC of a link announce different priorities for RoCEv2",
                   .draw = application_priority_differs},
        FindingRow{.id = "roce-outside-pfc",
                   .severity = Severity::warning,
                   .clause = "IEEE 802.1Q 36, D.2.11",
                   .meaning = "RoCE packets have a priority that the link does not make lossless",
                   .draw = roce_outside_pfc},
        FindingRow{.id = "lldp-stopped",
                   .severity = Severity::note,
                   .clause = "IEEE 802.1AB 9.1.2",
                   .meaning = "An end of a link stopped announcing its configuration",
                   .draw = lldp_stopped},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
