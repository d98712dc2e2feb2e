// Findings about Data Center Bridging: what switch and NIC of a link announce by LLDP, and RoCE packets that do not fit
// to it.
//
// LLDP to the nearest bridge never leaves its link, so two stations heard on one interface are its ends, if one of them
// is a bridge and no third one is heard. A willing end takes the configuration of the other end, and announces it from
// then on (IEEE 802.1Q 38.4.2): it has time for that. CEE announces what is wished for, not what is in force: only
// where nobody is willing, a difference stays one.
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/link_priorities.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>

namespace qps::transport::families {

namespace {

using dissect::Duration;
using dissect::Instant;
using namespace facts;

constexpr FactRow kAnnouncer{"announcer", Unit::host, "MAC address of an end of the link"};
constexpr FactRow kAnnouncerName{"announcer_name", Unit::text, "what it calls itself"};
constexpr FactRow kPartner{"partner", Unit::host, "MAC address of its link partner"};
constexpr FactRow kPartnerName{"partner_name", Unit::text, "what that calls itself"};
constexpr FactRow kAnnouncerPriorities{"announcer_priorities", Unit::list, "priorities that the end announces"};
constexpr FactRow kPartnerPriorities{"partner_priorities", Unit::list, "priorities that its link partner announces"};
constexpr FactRow kWillingEnd{
    "willing_end", Unit::host,
    "the end that is willing to take the configuration of the other, and did not; nothing: neither is"};
constexpr FactRow kRepeatedOwn{"repeated", Unit::count, "how often it announced its own again"};
constexpr FactRow kRepeatedWithin{"repeated_within", Unit::duration,
                                  "time from what the other end announced to the last of these"};
constexpr FactRow kPriority{"priority", Unit::number, "the priority that it is about"};
constexpr FactRow kDifferingPriorities{"differing_priorities", Unit::count,
                                       "priorities that are shared out differently"};
constexpr FactRow kRecommended{"recommended", Unit::flag,
                               "the first end recommends it to its link partner, and does not announce it of itself"};
constexpr FactRow kAnnouncerSelection{
    "announcer_selection", Unit::word,
    "how the end selects frames of the priority, where it is no share of the bandwidth"};
constexpr FactRow kAnnouncerPercent{"announcer_percent", Unit::number,
                                    "percent of the bandwidth that it gives to the priority and those of its class"};
constexpr FactRow kAnnouncerClass{"announcer_class", Unit::list, "priorities of its class, where they are several"};
constexpr FactRow kPartnerSelection{"partner_selection", Unit::word,
                                    "how its link partner selects frames of the priority, likewise"};
constexpr FactRow kPartnerPercent{"partner_percent", Unit::number,
                                  "percent of the bandwidth that its link partner gives to them"};
constexpr FactRow kPartnerClass{"partner_class", Unit::list, "priorities of the class there, where they are several"};
constexpr FactRow kOutsidePackets{"outside_packets", Unit::count, "RoCE packets of that priority and DSCP"};
constexpr FactRow kOtherOutside{"other_outside", Unit::count,
                                "RoCE packets of other priorities and DSCPs for which the same holds"};
constexpr FactRow kTagged{"tagged", Unit::flag,
                          "the priority is that of the VLAN tag; else the end maps the DSCP to it"};
constexpr FactRow kStation{"station", Unit::host, "MAC address of the NIC, where the announcing end is the switch"};
constexpr FactRow kEarlierToo{"earlier_too", Unit::flag,
                              "some of the packets passed before the end changed what it announces"};
constexpr FactRow kNoLonger{"no_longer", Unit::flag,
                            "what the end announced last no longer leaves these packets without PFC"};
constexpr FactRow kLifetime{"lifetime", Unit::duration,
                            "how long an announcement holds; nothing where the last one says that the end stops"};
constexpr FactRow kLldpSilence{"lldp_silence", Unit::duration,
                               "time from its last announcement to the last packet of the link"};
constexpr std::array kBridgingFacts{
    &kAnnouncer,
    &kAnnouncerName,
    &kPartner,
    &kPartnerName,
    &kAnnouncerPriorities,
    &kPartnerPriorities,
    &kWillingEnd,
    &kRepeatedOwn,
    &kRepeatedWithin,
    &kPriority,
    &kDifferingPriorities,
    &kRecommended,
    &kAnnouncerSelection,
    &kAnnouncerPercent,
    &kAnnouncerClass,
    &kPartnerSelection,
    &kPartnerPercent,
    &kPartnerClass,
    &kOutsidePackets,
    &kOtherOutside,
    &kTagged,
    &kStation,
    &kEarlierToo,
    &kNoLonger,
    &kLifetime,
    &kLldpSilence,
};

constexpr Duration kTimeToTake{10'000'000'000};  // 10 s; a change is announced within one (802.1AB 9.2.5.7)
constexpr std::uint64_t kRepeatedOften = 2;      // after the other end announced its own

struct LinkEnds {
    const BridgingLink& link;
    const BridgingEnd& bridge;
    const BridgingEnd& station;

    [[nodiscard]] const BridgingEnd& other(const BridgingEnd& end) const { return &end == &bridge ? station : bridge; }
};

bool holds_at(const BridgingEnd& end, Instant time) {
    return end.lifetime != Duration{} && time <= end.last_time + end.lifetime;
}

// Links whose two ends announced something that held at the same time.
template <class Each> void each_link(const Timeline& timeline, Each each) {
    for (const BridgingLink& link : timeline.bridging.links) {
        if (link.ends.size() != 2 || link.ends[0].sender == link.ends[1].sender) continue;
        const BridgingEnd &a = link.ends[0], &b = link.ends[1];
        if (!a.announced.whole || !b.announced.whole || a.announced.bridge == b.announced.bridge ||
            a.announced.cee != b.announced.cee)
            continue;
        if (!holds_at(a, b.last_time) || !holds_at(b, a.last_time)) continue;
        each(a.announced.bridge ? LinkEnds{link, a, b} : LinkEnds{link, b, a});
    }
}

// What is left of its name between parentheses; nothing where it has none.
std::optional<std::string> name_of(const BridgingEnd& end) {
    constexpr std::size_t kMost = 32;
    std::string name = end.name.substr(0, kMost);
    for (char& c : name)
        if (c <= ' ' || c > '~' || c == '(' || c == ')') c = '_';
    while (name.ends_with('.')) name.pop_back();
    return nonzero(std::move(name));
}

std::vector<std::string> list_of(PriorityBits priorities) {
    std::vector<std::string> list;
    for (unsigned priority = 0; priority < kLinkPriorities; ++priority)
        if ((priorities >> priority & 1U) != 0) list.push_back(std::to_string(priority));
    return list;
}

Facts facts_of(const LinkEnds& ends, const BridgingEnd& announcer) {
    const BridgingEnd& partner = ends.other(announcer);
    return {{kAnnouncer, announcer.sender},
            {kAnnouncerName, name_of(announcer)},
            {kPartner, partner.sender},
            {kPartnerName, name_of(partner)},
            {kInterface, ends.link.interface}};
}

// Nothing of a share of the bandwidth.
std::optional<std::string_view> selection_of(const PriorityShares::Share& share) {
    switch (share.selection) {
        case TransmissionSelection::strict: return "strict priority";
        case TransmissionSelection::credit_based: return "a credit-based shaper";
        case TransmissionSelection::vendor: return "an algorithm of its vendor";
        case TransmissionSelection::enhanced: break;
    }
    return std::nullopt;
}
std::optional<std::uint64_t> percent_of(const PriorityShares::Share& share) {
    return selection_of(share) ? std::nullopt : std::optional<std::uint64_t>(share.percent);
}
std::optional<std::vector<std::string>> class_of(const PriorityShares::Share& share) {
    return selection_of(share) || std::has_single_bit(share.with) ? std::nullopt : std::optional(list_of(share.with));
}

FindingEvent since_event(const BridgingEnd& end) { return {end.since, EventRole::evidence, end.since_time}; }
FindingEvent last_event(const BridgingEnd& end) { return {end.last, EventRole::evidence, end.last_time}; }
std::vector<FindingEvent> events_of(const LinkEnds& ends) {
    return {since_event(ends.bridge), last_event(ends.bridge), since_event(ends.station), last_event(ends.station)};
}

// How a difference stays one: of who is willing to take the other's, how often it repeated its own; no facts where
// neither is. Nothing where it may pass. `taker` would take the other's; nobody where it is null.
std::optional<Facts> lasting(const LinkEnds& ends, const BridgingEnd* taker) {
    if (taker == nullptr) return Facts{};
    const Duration since = taker->last_time - ends.other(*taker).since_time;
    if (ends.bridge.announced.cee || taker->repeated < kRepeatedOften || since < kTimeToTake) return std::nullopt;
    return Facts{{kWillingEnd, taker->sender}, {kRepeatedOwn, taker->repeated}, {kRepeatedWithin, since}};
}

void append(Facts& facts, const Facts& more) { facts.insert(facts.end(), more.begin(), more.end()); }

// Who takes the configuration of the other end: of two that are willing the one with the higher address (38.4.2).
const BridgingEnd* taker_of(const LinkEnds& ends, bool bridge_willing, bool station_willing) {
    if (bridge_willing && station_willing)
        return ends.bridge.sender > ends.station.sender ? &ends.bridge : &ends.station;
    return bridge_willing ? &ends.bridge : station_willing ? &ends.station : nullptr;
}

// The same station by another name of its port, or in another file.
bool announces_after(const Timeline& timeline, const BridgingEnd& end) {
    return std::ranges::any_of(timeline.bridging.links, [&](const BridgingLink& link) {
        return std::ranges::any_of(link.ends, [&](const BridgingEnd& one) {
            return one.sender == end.sender && one.last_time > end.last_time;
        });
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

void emit_shares(const LinkEnds& ends, const BridgingEnd& said, const PriorityShares& theirs, bool recommended,
                 const Facts& lasts, const Emit& emit) {
    const PriorityShares& own = *ends.other(said).announced.shares;
    const SharesDiffer differ = compare(theirs, own);
    const PriorityShares::Share &there = theirs.of[differ.priority], &here = own.of[differ.priority];
    Facts facts = facts_of(ends, said);
    append(facts, {{kPriority, differ.priority},
                   {kDifferingPriorities, differ.count},
                   {kRecommended, recommended},
                   {kAnnouncerSelection, selection_of(there)},
                   {kAnnouncerPercent, percent_of(there)},
                   {kAnnouncerClass, class_of(there)},
                   {kPartnerSelection, selection_of(here)},
                   {kPartnerPercent, percent_of(here)},
                   {kPartnerClass, class_of(here)}});
    append(facts, lasts);
    emit({.party = Party::fabric, .facts = std::move(facts), .events = events_of(ends)});
}

void pfc_differs(const Timeline& timeline, const Emit& emit) {
    each_link(timeline, [&](const LinkEnds& ends) {
        const BridgingAnnouncement &bridge = ends.bridge.announced, &station = ends.station.announced;
        if (!bridge.pfc || !station.pfc || bridge.pfc == station.pfc) return;
        const auto lasts = lasting(ends, taker_of(ends, bridge.pfc_willing, station.pfc_willing));
        if (!lasts) return;
        Facts facts = facts_of(ends, ends.bridge);
        append(facts, {{kAnnouncerPriorities, list_of(*bridge.pfc)}, {kPartnerPriorities, list_of(*station.pfc)}});
        append(facts, *lasts);
        emit({.party = Party::fabric, .facts = std::move(facts), .events = events_of(ends)});
    });
}

void ets_differs(const Timeline& timeline, const Emit& emit) {
    each_link(timeline, [&](const LinkEnds& ends) {
        for (const BridgingEnd* end : {&ends.station, &ends.bridge}) {
            const BridgingEnd& partner = ends.other(*end);
            const BridgingAnnouncement &own = end->announced, &theirs = partner.announced;
            if (!own.shares || !own.shares_willing || !theirs.recommended || *own.shares == *theirs.recommended)
                continue;
            if (const auto lasts = lasting(ends, end))
                emit_shares(ends, partner, *theirs.recommended, true, *lasts, emit);
        }
        const BridgingAnnouncement &bridge = ends.bridge.announced, &station = ends.station.announced;
        if (!bridge.shares || !station.shares || bridge.shares == station.shares || bridge.shares_willing ||
            station.shares_willing)
            return;
        if (const auto lasts = lasting(ends, nullptr))
            emit_shares(ends, ends.bridge, *bridge.shares, false, *lasts, emit);
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
        Facts facts = facts_of(ends, ends.bridge);
        append(facts, {{kAnnouncerPriorities, list_of(bridge.roce)}, {kPartnerPriorities, list_of(station.roce)}});
        if (willing) append(facts, {{kRepeatedOwn, ends.station.repeated}, {kRepeatedWithin, since}});
        emit({.party = Party::fabric, .facts = std::move(facts), .events = events_of(ends)});
    });
}

// Packets of an end that the tracker counted under what was announced when they passed, as one sentence tells them.
struct OutsideRows {
    const OutsidePfc* most = nullptr;
    std::uint64_t all = 0;
    std::vector<FindingEvent> events;

    void add(const OutsidePfc& one) {
        if (most == nullptr || one.packets > most->packets) most = &one;
        all += one.packets;
        events.push_back({one.first, EventRole::evidence, one.first_time});
    }
};

// Whether they would still be outside by what the end announced last; else it announced something else when they
// passed.
bool still_outside(const BridgingAnnouncement& last, const OutsidePfc& packets) {
    if (!last.whole || last.pfc.value_or(0) == 0) return false;
    const auto tag = packets.tagged ? std::optional<unsigned>(packets.priority) : std::nullopt;
    const PriorityBits possible = possible_priorities(last, tag, packets.dscp);
    return possible != 0 && (possible & *last.pfc) == 0;
}

FindingDraft draft_of(const BridgingLink& link, const BridgingEnd& end, const BridgingEnd& station,
                      OutsideRows&& rows) {
    rows.events.push_back({end.first, EventRole::evidence, end.first_time});
    rows.events.push_back(since_event(end));
    return {.party = Party::application,
            .count = rows.all,
            .facts = {{kAnnouncer, end.sender},
                      {kAnnouncerName, name_of(end)},
                      {kStation, &end == &station ? std::nullopt : std::optional(station.sender)},
                      {kInterface, link.interface},
                      {kOutsidePackets, rows.most->packets},
                      {kPriority, rows.most->priority},
                      {kDscp, rows.most->dscp},
                      {kTagged, rows.most->tagged},
                      {kOtherOutside, nonzero(rows.all - rows.most->packets)}},
            .events = std::move(rows.events)};
}

void emit_outside(const BridgingLink& link, const BridgingEnd& end, const BridgingEnd& station, OutsideRows rows,
                  const Emit& emit) {
    const bool older = std::ranges::any_of(
        end.outside, [&](const OutsidePfc& one) { return one.first < end.since && still_outside(end.announced, one); });
    FindingDraft draft = draft_of(link, end, station, std::move(rows));
    append(draft.facts, {{kAnnouncerPriorities, list_of(end.announced.pfc.value_or(0))}, {kEarlierToo, older}});
    emit(std::move(draft));
}

// It may be mended: packets of before say nothing of what is announced now.
constexpr std::string_view kOnceOutside =
    "{outside_packets:RoCE packet} to [station?{station}|{announcer}] on interface {interface} [outside_packets=1?was|were] of priority {priority} ([tagged?by "
    "PCP, with DSCP {dscp}|by DSCP {dscp}, as mapped then])[, and {other_outside} of others], for which {>announcer} announced no PFC then"
    "[announcer_priorities?; its last announcement has PFC for {announcer_priorities:priority}].";

void emit_once_outside(const BridgingLink& link, const BridgingEnd& end, const BridgingEnd& station, OutsideRows rows,
                       const Emit& emit) {
    FindingDraft draft = draft_of(link, end, station, std::move(rows));
    draft.severity = Severity::note;
    draft.sentence = kOnceOutside;
    draft.advice = "Look who changed PFC or the map of DSCPs, and whether losses on this link ended with it.";
    draft.facts.emplace_back(kNoLonger, true);
    if (end.announced.whole) draft.facts.emplace_back(kAnnouncerPriorities, list_of(end.announced.pfc.value_or(0)));
    emit(std::move(draft));
}

void roce_outside_pfc(const Timeline& timeline, const Emit& emit) {
    for (const BridgingLink& link : timeline.bridging.links) {
        if (link.ends.size() != 2 || link.ends[0].announced.bridge == link.ends[1].announced.bridge)
            continue;  // of which link, nobody knows
        const BridgingEnd& station = link.ends[0].announced.bridge ? link.ends[1] : link.ends[0];
        for (const BridgingEnd& end : link.ends) {
            OutsideRows now, once;
            for (const OutsidePfc& one : end.outside) (still_outside(end.announced, one) ? now : once).add(one);
            if (end.first == end.since) now.all += end.outside_left_out;  // else nobody knows what was announced then
            if (now.most != nullptr) emit_outside(link, end, station, std::move(now), emit);
            if (once.most != nullptr) emit_once_outside(link, end, station, std::move(once), emit);
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
            if (told && (end.frames < 2 || seen < kTimeToTake))
                continue;  // it announced nothing before, or may only begin anew
            emit({.party = Party::fabric,
                  .facts = {{kAnnouncer, end.sender},
                            {kAnnouncerName, name_of(end)},
                            {kInterface, link.interface},
                            {kLifetime, nonzero(end.lifetime)},
                            {kLldpSilence, since}},
                  .events = {{end.first, EventRole::evidence, end.first_time},
                             since_event(end),
                             last_event(end),
                             {link.last, EventRole::end, link.last_time}}});
        }
    }
}

}  // namespace

Family bridging_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "pfc-differs",
            .severity = Severity::warning,
            .clause = "IEEE 802.1Q 38.4.2, D.2.11",
            .meaning = "Switch and NIC of a link announce different lossless priorities (PFC)",
            .sentence =
                "{>announcer} announces PFC for {announcer_priorities:priority}, and its link partner {>partner} for {partner_priorities:priority}, on "
                "interface {interface}; {>lasting}.",
            .advice =
                "Enable PFC for the same priorities at both (`mlnx_qos -i DEV --pfc` or `dcb pfc set dev DEV`, the PFC profile of the port): where one "
                "lacks it, that priority loses packets.",
            .alike =
                "An end that takes the configuration of the other a moment later; so one that is willing must have repeated its own for 10 s.",
            .limits =
                "What an end announces need not be what it does: a NIC may pause by a setting that its LLDP agent does not know.",
            .draw = pfc_differs},
        FindingRow{
            .id = "ets-differs",
            .severity = Severity::note,
            .clause = "IEEE 802.1Q 38.4.1, D.2.9",
            .meaning = "Switch and NIC of a link share out the bandwidth differently (ETS)",
            .sentence =
                "For priority {priority} {>announcer} [recommended?recommends|announces] "
                "[announcer_percent?{announcer_percent} % of the bandwidth[announcer_class? for {announcer_class:priority} together]|"
                "{announcer_selection}], and its link partner "
                "{>partner} announces "
                "[partner_percent?{partner_percent} % of the bandwidth[partner_class? for {partner_class:priority} together]|"
                "{partner_selection}], on interface {interface}; "
                "{differing_priorities:priority} differ[differing_priorities=1?s]; {>lasting}.",
            .advice =
                "Compare ETS of both (`mlnx_qos -i DEV` or `dcb ets show dev DEV`, the QoS policy of the port), or let the NIC be willing.",
            .alike = "Ends that share out each direction of the link differently on purpose.",
            .limits =
                "Shares matter only where a direction is full, which they do not tell. Of several priorities that differ one is named.",
            .draw = ets_differs},
        FindingRow{
            .id = "application-priority-differs",
            .severity = Severity::warning,
            .clause = "IEEE 802.1Q 38.4.3, D.2.12",
            .meaning = "Switch and NIC of a link announce different priorities for RoCEv2",
            .sentence =
                "{>announcer} announces {announcer_priorities:priority} for RoCEv2 (UDP port 4791), and its link partner {>partner} "
                "{partner_priorities:priority}, on interface {interface}; [repeated?the latter repeated it {repeated:times} within {repeated_within}|"
                "neither is willing to take the other's].",
            .advice =
                "Map RoCEv2 to one priority at both (`dcb app show dev DEV`, the QoS map of the port), and give it PFC if it is to be lossless.",
            .alike =
                "An end that is about to take the priority of the other; so it must have repeated its own for 10 s.",
            .limits =
                "Which priority the packets get is decided by queue pair, VLAN tag and DSCP, whatever is announced.",
            .draw = application_priority_differs},
        FindingRow{
            .id = "roce-outside-pfc",
            .severity = Severity::warning,
            .clause = "IEEE 802.1Q 36, D.2.11",
            .meaning = "RoCE packets have a priority that the link does not make lossless",
            .sentence =
                "{>announcer} announces PFC for {announcer_priorities:priority} on interface {interface}, but {outside_packets:RoCE packet} to "
                "[station?{station}|it] there [outside_packets=1?is|are] of priority {priority} ([tagged?by PCP, with DSCP {dscp}|by DSCP {dscp}, as it "
                "maps it])[, and {other_outside} of others][earlier_too?; some passed before it changed what it announces, and had no PFC then either].",
            .advice =
                "Let the senders use a lossless priority (traffic class or ToS of the queue pairs, `cma_roce_tos`, the egress map of the VLAN), or give "
                "theirs PFC at both ends.",
            .alike = "RoCE that is meant to be lossy, with selective repeat or over a network without PFC.",
            .limits =
                "Whether a switch goes by VLAN tags or by DSCPs is not announced: only packets that are outside either way count. CNPs and management "
                "datagrams do not.",
            .draw = roce_outside_pfc},
        FindingRow{
            .id = "lldp-stopped",
            .severity = Severity::note,
            .clause = "IEEE 802.1AB 9.1.2",
            .meaning = "An end of a link stopped announcing its configuration",
            .sentence =
                "{>announcer} announced on interface {interface} [lifetime?its configuration for {lifetime} at a time|that it stops (time to live 0)], "
                "and nothing more in the {lldp_silence} that the capture goes on there.",
            .advice =
                "Look whether its LLDP agent still runs (`systemctl status lldpad`, `mlnx_qos -i DEV`, LLDP of the port): a NIC that took PFC and ETS of "
                "the switch falls back to its own.",
            .alike =
                "A filter or a break of the recording that leaves LLDP out: time in which nothing at all was recorded does not count.",
            .limits =
                "Whether the other end still has a use for what was announced, and what the NIC falls back to, is not known.",
            .draw = lldp_stopped},
    };
    return {kRows, kBridgingFacts};
}

}  // namespace qps::transport::families
