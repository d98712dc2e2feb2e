// Findings about NAKs of packets that were not lost, only late.
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/recovery_facts.hpp>
#include <transport-replay/model/timeline.hpp>

#include <array>
#include <utility>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kOvertaken{"overtaken", Unit::count, "requests that passed the tap after some that were sent later"};
constexpr FactRow kRequests{"requests", Unit::count, "request packets of which they are a part"};
constexpr FactRow kFarthest{"farthest", Unit::count, "by how many requests one was overtaken, at most"};
constexpr FactRow kLatest{"latest", Unit::duration, "by what time, at most"};
constexpr FactRow kDiscardedBehindLate{"discarded_behind_late", Unit::flag,
                                       "some of the NAKs are of packets that were discarded behind late ones"};

std::uint64_t naks_of_order(const Ordering& ordering) {
    return ordering.naks_of(NakCause::late) + ordering.naks_of(NakCause::late_behind_tap) +
           ordering.naks_of(NakCause::discarded_late);
}

void reordered_not_lost(const Timeline& timeline, const Emit& emit) {
    for (const Episodes& found : all_episodes(timeline)) {
        const Ordering& ordering = *found.way().incidents->ordering;
        const std::uint64_t naks = naks_of_order(ordering);
        if (naks == 0) continue;
        const auto late = kept(found, [](const Recovery& episode) { return is_of_order(episode.cause); });
        RecoverySum cost;  // of the episodes that were kept
        for (const Recovery* episode : late) cost.add(*episode);
        const bool here = ordering.overtaken != 0;
        // What was sent again sooner than two taps can be told apart by their times may have been taken for the other
        // one's copy.
        const VantagePoints& taps = timeline.quality.vantage;
        if (!here && cost.resent == 0 && taps.taps > 1 && cost.most_lost <= taps.offset.tolerance) continue;
        FindingDraft draft{
            .party = Party::fabric,
            .connection = found.connection.uid,
            .count = naks,
            .advice = accepts_any_order(timeline, found.to().address) ? kAnyOrderAdvice : std::string_view{},
            .facts = {{kRequester, found.from()},
                      {kResponder, found.to()},
                      {kOvertaken, nonzero(ordering.overtaken)},
                      {kSequenceNaks, naks},
                      {kDiscardedBehindLate, ordering.naks_of(NakCause::discarded_late) != 0},
                      {kRetransmitted, nonzero(cost.resent)}},
            .episodes = places_of(timeline, late)};
        if (here) draft.facts.emplace_back(kRequests, found.way().requests);
        if (here && ordering.farthest != 0) {
            draft.facts.emplace_back(kFarthest, ordering.farthest);
            draft.facts.emplace_back(kLatest, ordering.longest);
        }
        if (cost.resent != 0) draft.facts.emplace_back(kRetransmittedBytes, cost.resent_bytes);
        add_stall(draft.facts, cost.episodes, cost.lost, cost.most_lost);
        add_events(draft, found.way(), Oddity::late, EventRole::evidence);
        emit(std::move(draft));
    }
}

}  // namespace

Family reordering_family() {
    static constexpr std::array kOwn{&kOvertaken, &kRequests, &kFarthest, &kLatest, &kDiscardedBehindLate};
    static constexpr std::array kRows{
        FindingRow{
            .id = "reordered-not-lost",
            .severity = Severity::warning,
            .clause = "IBA 9.7.5.1.2",
            .meaning = "A responder requested packets that were reordered and not lost",
            .by_order = true,
            .sentence =
                "[overtaken?{overtaken} of {requests:request} from {requester:host} to {responder} passed this tap after requests sent "
                "later[, by up to {farthest:packet} and {latest}]|requests from {requester:host} to {responder} were reordered between this "
                "tap and {responder:host}]; {responder:host} sent {sequence_naks:sequence NAK} of packets that were "
                "late[discarded_behind_late?, or discarded behind late ones,] and not lost; [retransmitted?{retransmitted:packet} "
                "({retransmitted_bytes}) [retransmitted=1?was|were]|nothing was] retransmitted for them, which stalled {>stall}.",
            .advice =
                "Disable adaptive routing, packet spraying or round-robin bonding for this traffic between [overtaken?{requester:host} and "
                "this tap|this tap and {responder:host}], or enable out-of-order support on both NICs (`mlxreg --reg_name ROCE_ACCL`): a "
                "go-back-N responder requests every packet that is overtaken.",
            .alike =
                "A loss whose retransmission follows at once looks alike (go-back-n-loss): IPv4 identifications that count up, or an "
                "acknowledgment before anything was sent again, tell a late packet from a repeated one. A mirror port or a capturing host that "
                "reorders packets does not, by itself, make a responder send NAKs.",
            .limits =
                "Which hop reordered cannot be told, only on which side of the tap it is. Packets that were late and that no NAK asked for are "
                "not counted; of retransmissions and stalls only the episodes that were kept are.",
            .draw = reordered_not_lost},
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
