// Findings about links of InfiniBand: packets that waited for credits, GIDs with which two ports send.
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/gids.hpp>
#include <transport-replay/watch/link_credits.hpp>

#include <array>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kVirtualLane{"virtual_lane", Unit::number, "virtual lane of the packets"};
constexpr FactRow kCapturePort{"capture_port", Unit::number, "capture port that has the packets"};
constexpr FactRow kGranterPort{"granter_port", Unit::number,
                               "capture port that has the flow control packets of the other end, which grants credits"};
constexpr FactRow kCreditWaits{"credit_waits", Unit::count, "packets that waited for credits"};
constexpr FactRow kCreditWaitTotal{"credit_wait_total", Unit::duration, "time of all waits, where there are several"};
constexpr FactRow kLongestCreditWait{"longest_credit_wait", Unit::duration, "the longest wait"};
constexpr FactRow kCreditBlocks{"credit_blocks", Unit::count,
                                "blocks of 64 bytes that flow control packets left at most while it lasted"};
constexpr FactRow kNeededBlocks{"needed_blocks", Unit::count, "blocks that the packet needed which followed"};
constexpr FactRow kFollowedAfter{"followed_after", Unit::duration,
                                 "time from the flow control packet that left enough to that packet"};
constexpr FactRow kGid{"gid", Unit::host, "the GID with which both sent"};
constexpr FactRow kFirstLid{"first_lid", Unit::number, "LID that sent with it first"};
constexpr FactRow kSecondLid{"second_lid", Unit::number, "the other LID that did"};
constexpr FactRow kLidChanges{"lid_changes", Unit::count, "changes from either LID to the other"};
constexpr std::array kLinksFacts{
    &kVirtualLane,       &kCapturePort,  &kGranterPort,  &kCreditWaits,   &kCreditWaitTotal,
    &kLongestCreditWait, &kCreditBlocks, &kNeededBlocks, &kFollowedAfter, &kGid,
    &kFirstLid,          &kSecondLid,    &kLidChanges,
};

void credit_starvation(const Timeline& timeline, const Emit& emit) {
    for (const CreditStarvation& one : timeline.credits.starved) {
        if (one.waits == 0 || one.longest < kCreditWait || one.credits >= one.needed) continue;
        const auto& times = one.times;
        emit({.party = Party::fabric,
              .count = one.waits,
              .facts = {{kVirtualLane, one.lane},
                        {kCapturePort, one.port},
                        {kGranterPort, one.granter},
                        {kCreditWaits, one.waits},
                        {kCreditWaitTotal, one.waits > 1 ? std::optional(one.total) : std::nullopt},
                        {kLongestCreditWait, one.longest},
                        {kCreditBlocks, one.credits},
                        {kNeededBlocks, one.needed},
                        {kFollowedAfter, one.followed}},
              .events = {{one.first, EventRole::evidence, times[0]},
                         {one.last, EventRole::evidence, times[1]},
                         {one.released, EventRole::evidence, times[2]},
                         {one.packet, EventRole::end, times[3]}}});
    }
}

void gid_conflict(const Timeline& timeline, const Emit& emit) {
    for (const GidConflict& one : timeline.reachability.gids) {
        if (one.changes < kGidChanges) continue;
        std::vector<FindingEvent> events{{one.last, EventRole::evidence, one.last_time}};
        for (std::size_t i = 0; i < one.frames.size(); ++i)
            events.push_back({one.frames[i], EventRole::evidence, one.times[i]});
        emit({.party = Party::undecided,
              .count = one.changes,
              .facts = {{kGid, one.gid},
                        {kFirstLid, one.lids[0].bits[1]},
                        {kSecondLid, one.lids[1].bits[1]},
                        {kLidChanges, one.changes}},
              .events = std::move(events)});
    }
}

}  // namespace

Family links_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "credit-starvation",
            .severity = Severity::warning,
            .clause = "IBA 7.9.4.4",
            .meaning = "Packets waited for credits of an InfiniBand link",
            .sentence =
                "Packets of virtual lane {virtual_lane} on capture port {capture_port} waited {credit_waits:times} for credits[, "
                "{credit_wait_total} in total]; the longest wait was {longest_credit_wait}: the flow control packets on port {granter_port} left at "
                "most {credit_blocks:block} of 64 bytes, and a packet of {needed_blocks:plain} followed {followed_after} after the first that left "
                "enough.",
            .advice =
                "Find out why the end that grants the credits does not empty its buffers: a slow host or a congested link behind it (PortXmitWait "
                "of the ports on the way, `perfquery -x`), or few buffers for this lane (OperationalVLs).",
            .alike =
                "A sender that had nothing to send until then: that counts only where a packet followed at once when there were credits.",
            .limits =
                "Only waits of a millisecond and more are counted, of a link whose two directions were captured whole. Why the buffers were full is not "
                "in the packets of this link.",
            .draw = credit_starvation},
        FindingRow{
            .id = "gid-conflict",
            .severity = Severity::warning,
            .clause = "IBA 4.1.1, 4.1.3",
            .meaning = "Two LIDs of InfiniBand sent with the same GID in turn",
            .sentence =
                "LIDs {first_lid} and {second_lid} sent with the same GID {gid} in turn, and changed {lid_changes:times}: no LMC gives both to one "
                "port.",
            .advice =
                "Find the port of each (`ibaddr`, `saquery -p`): two ports have one GUID where a firmware image or a virtual function was copied, or "
                "where two hosts were given the same alias GUID; packets for the GID go where the last path record led.",
            .alike = "A port to which the subnet manager gives a new LID changes once, and does not change back.",
            .limits =
                "Only GIDs that stay within their subnet are judged: what a router forwards has its LID. Which of the two ports has the GID rightly is "
                "not known.",
            .draw = gid_conflict},
    };
    return {kRows, kLinksFacts};
}

}  // namespace qps::transport::families
