// Findings about links of InfiniBand: packets that waited for credits, GIDs with which two ports send.
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>
#include <transport-replay/tracking/gids.hpp>
#include <transport-replay/tracking/link_credits.hpp>

#include <array>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace words;

void credit_starvation(const Timeline& timeline, const Emit& emit) {
    for (const CreditStarvation& one : timeline.credits.starved) {
        if (one.waits == 0 || one.longest < kCreditWait || one.credits >= one.needed) continue;
        const std::string others = one.waits > 1 ? fmt::format(", {} in total", duration_text(one.total)) : "";
        emit({.party = Party::fabric,
              .old_packets = {one.first, one.last, one.released, one.packet},
              .count = one.waits,
              .old_summary = fmt::format("Packets of virtual lane {} on capture port {} waited {} for credits{}; the longest wait was {}: the flow control packets "
                                     "on port {} left at most {} of 64 bytes, and a packet of {} followed {} after the first that left enough.",
                                     one.lane, one.port, times(one.waits), others, duration_text(one.longest),
                                     one.granter, counted(one.credits, "block"), one.needed, duration_text(one.followed)),
              .old_advice = "Find out why the end that grants the credits does not empty its buffers: a slow host or a congested link behind it "
                        "(PortXmitWait of the ports on the way, `perfquery -x`), or few buffers for this lane (OperationalVLs)."});
    }
}

void gid_conflict(const Timeline& timeline, const Emit& emit) {
    for (const GidConflict& one : timeline.reachability.gids) {
        if (one.changes < kGidChanges) continue;
        emit({.party = Party::undecided,
              .old_packets = {one.frames[0], one.frames[1], one.frames[2], one.frames[3], one.last},
              .count = one.changes,
              .old_summary = fmt::format("LIDs {} and {} sent with the same GID {} in turn, and changed {}: no LMC gives both to one port.",
                                     one.lids[0].bits[1], one.lids[1].bits[1], text(one.gid), times(one.changes)),
              .old_advice = "Find the port of each (`ibaddr`, `saquery -p`): two ports have one GUID where a firmware image or a virtual function was "
                        "copied, or where two hosts were given the same alias GUID; packets for the GID go where the last path record led."});
    }
}

}  // namespace

Family links_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "credit-starvation",
                   .severity = Severity::warning,
                   .clause = "IBA 7.9.4.4",
                   .meaning = "Packets waited for credits of an InfiniBand link",
                   .draw = credit_starvation},
        FindingRow{.id = "gid-conflict",
                   .severity = Severity::warning,
                   .clause = "IBA 4.1.1, 4.1.3",
                   .meaning = "Two LIDs of InfiniBand sent with the same GID in turn",
                   .draw = gid_conflict},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
