// Findings about NAKs of packets that were not lost, only late.
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace words;

std::uint64_t naks_of_order(const Ordering& ordering) {
    return ordering.naks_of(NakCause::late) + ordering.naks_of(NakCause::late_behind_tap) + ordering.naks_of(NakCause::discarded_late);
}

// What the requester did for it, in those of its episodes that were kept.
struct Cost {
    std::uint64_t resent = 0;
    std::uint64_t bytes = 0;
    dissect::Duration lost{};
    dissect::Duration most{};
    std::uint64_t episodes = 0;
    std::vector<dissect::FrameIndex> packets;
};

Cost cost_of(const std::vector<const Recovery*>& episodes) {
    Cost cost;
    std::vector<const Recovery*> late;
    for (const Recovery* episode : episodes) {
        if (!is_of_order(episode->cause)) continue;
        cost.resent += episode->resent;
        cost.bytes += episode->resent_bytes;
        cost.lost = cost.lost + episode->lost_time();
        cost.most = std::max(cost.most, episode->lost_time());
        ++cost.episodes;
        late.push_back(episode);
    }
    cost.packets = evidence(late);
    return cost;
}

void reordered_not_lost(const Timeline& timeline, const Emit& emit) {
    for (const Episodes& found : all_episodes(timeline)) {
        const Ordering& ordering = *found.way().incidents->ordering;
        const std::uint64_t naks = naks_of_order(ordering);
        if (naks == 0) continue;
        const std::string from = host(found.from()), to = who(found.to());
        const Cost cost = cost_of(found.episodes);
        const bool here = ordering.overtaken != 0;
        // What was sent again sooner than two taps can be told apart by their times may have been taken for the other one's copy.
        const VantagePoints& taps = timeline.quality.vantage;
        if (!here && cost.resent == 0 && taps.taps > 1 && cost.most <= taps.offset.tolerance) continue;
        const std::string far = ordering.farthest == 0 ? ""
                                                       : fmt::format(", by up to {} and {}", counted(ordering.farthest, "packet"),
                                                                     duration_text(ordering.longest));
        const std::string order =
            here ? fmt::format("{} of {} from {} to {} passed this tap after requests sent later{}", grouped(ordering.overtaken),
                               counted(found.way().requests, "request"), from, to, far)
                 : fmt::format("requests from {} to {} were reordered between this tap and {}", from, to, host(found.to()));
        const std::string price = cost.resent == 0 ? fmt::format("{} was retransmitted for them", "nothing")
                                                   : fmt::format("{} ({}) {} retransmitted for them", counted(cost.resent, "packet"),
                                                                 bytes_text(cost.bytes), cost.resent == 1 ? "was" : "were");
        FindingDraft draft{.party = Party::fabric, .connection = found.connection.uid, .old_packets = cost.packets, .count = naks};
        for (const dissect::FrameIndex frame : found.way().incidents->frames(Oddity::late)) add_evidence(draft, frame);
        const bool discarded = ordering.naks_of(NakCause::discarded_late) != 0;
        draft.old_summary = fmt::format("{}; {} sent {} of packets that were late{} and not lost; {}, which stalled {}.", order, host(found.to()),
                                    counted(naks, "sequence NAK"), discarded ? ", or discarded behind late ones," : "", price,
                                    words::cost(cost.episodes, cost.lost, cost.most));
        if (accepts_any_order(timeline, found.to().address)) draft.old_advice = any_order_advice(host(found.to()));
        else draft.old_advice = fmt::format(
            "Disable adaptive routing, packet spraying or round-robin bonding for this traffic between {} and {}, or enable out-of-order "
            "support on both NICs (`mlxreg --reg_name ROCE_ACCL`): a go-back-N responder requests every packet that is overtaken.",
            here ? from : "this tap", here ? "this tap" : host(found.to()));
        emit(std::move(draft));
    }
}

}  // namespace

Family reordering_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "reordered-not-lost",
                   .severity = Severity::warning,
                   .clause = "IBA 9.7.5.1.2",
                   .meaning = "A responder requested packets that were reordered and not lost",
                   .by_order = true,
                   .draw = reordered_not_lost},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
