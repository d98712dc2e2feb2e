// Findings about groups of hosts that work in steps together: whom all wait for, whom many send to at once.
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/collectives.hpp>
#include <transport-replay/report/words.hpp>

#include <array>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

std::string habit(const Collective& collective, const CollectiveStraggler& late) {
    switch (late.delay) {
        case CollectiveDelay::starts: return "was the last to start";
        case CollectiveDelay::ends: return "was the last to finish";
        case CollectiveDelay::sends: break;
    }
    return fmt::format("sent at {}, slower than all others", rate_text(collective.ranks[late.rank].rate));
}

std::string remedy(CollectiveDelay delay, const std::string& rank) {
    if (delay == CollectiveDelay::starts)
        return fmt::format(
            "Check what {} computes before each step: clocks and temperature of its GPUs, its share of the batch, its input "
            "pipeline and other processes; the network waits for it.",
            rank);
    return fmt::format(
        "Check the path out of {}: speed and errors of its port, width of its PCIe link, traffic that shares its uplink, "
        "congestion marks on its packets.",
        rank);
}

void collective_straggler(const Timeline& timeline, const Emit& emit) {
    for (const Collective& collective : timeline.collectives.collectives) {
        if (!collective.straggler) continue;
        const CollectiveStraggler& late = *collective.straggler;
        const std::string rank = rank_text(collective.ranks[late.rank]);
        emit({.party = Party::application,
              .old_packets = late.frames,
              .count = late.steps,
              .old_summary =
                  fmt::format("In {} of {} of a {} (mean step {}) {} {}; the others waited {} for it, {} % of the time of these "
                              "steps (confidence {} %).",
                              grouped(late.steps), steps_text(collective, late.of), group_text(collective), duration_text(collective.step_length.mean()),
                              rank, habit(collective, late), duration_text(late.waited), late.share, late.confidence),
              .old_advice = remedy(late.delay, rank)});
    }
}

void collective_incast(const Timeline& timeline, const Emit& emit) {
    for (const Collective& collective : timeline.collectives.collectives) {
        if (!collective.incast) continue;
        const CollectiveIncast& incast = *collective.incast;
        emit({.party = Party::application,
              .old_packets = incast.frames,
              .count = incast.steps,
              .old_summary = fmt::format("In {} of {} of a {}, up to {} sent to {} at once, {} in total.", grouped(incast.steps),
                                     steps_text(collective, incast.of), group_text(collective), counted(incast.senders, "rank"),
                                     rank_text(collective.ranks[incast.rank]), bytes_text(incast.bytes)),
              .old_advice = "Do nothing while no packet is marked, paused or lost; otherwise let the library exchange in pairs (each rank "
                        "another partner at a time) or use fewer channels, and check that ECN slows senders down before buffers fill."});
    }
}

}  // namespace

Family collectives_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "collective-straggler",
                   .severity = Severity::warning,
                   .clause = kObserved,
                   .meaning = "All ranks of a collective wait for the same rank, step after step",
                   .draw = collective_straggler},
        FindingRow{.id = "collective-incast",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "Many ranks of a collective send to one rank at once, step after step",
                   .draw = collective_incast},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
