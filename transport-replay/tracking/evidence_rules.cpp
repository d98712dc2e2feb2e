#include <transport-replay/tracking/evidence_rules.hpp>

namespace qps::transport {

namespace {

using D = PsnDisposition;
using E = Evidence;
using P = PathFact;

constexpr PsnDispositions kAllButCorrupted = kAllDispositions.without({D::corrupted, D::missed_by_capture});

constexpr std::array kRules{
    // What did not pass when it was due was not lost behind the tap.
    EvidenceRule{
        "not-passed", "observation", {E::skipped}, {}, {}, {D::lost_behind_tap, D::late_behind_tap, D::corrupted}},
    EvidenceRule{"passed-corrupt", "9.6.1", {E::corrupt}, {}, {}, kAllButCorrupted},
    // The responder has it: the ICRC was right where it arrived.
    EvidenceRule{
        "acknowledged-unseen", "9.7.5.1.1", {E::taken}, {}, {}, kAllDispositions.without({D::missed_by_capture})},
    // A responder asks for what it has not, and for what lies behind in the same gap it would not have asked itself.
    EvidenceRule{"asked-for", "9.7.5.1.2", {E::in_named_gap}, {}, {P::lacks_a_part}, {D::missed_by_capture}},
    EvidenceRule{"named", "9.7.5.1.2", {E::named, E::corrupt}, {}, {}, {D::missed_by_capture}},
    EvidenceRule{"corrupt-sent-again", "9.7.5.1.2", {E::corrupt, E::came}, {}, {}, {D::missed_by_capture}},
    EvidenceRule{"corrupt-unanswered", "observation", {E::corrupt, E::unseen_to_end}, {}, {}, {D::missed_by_capture}},
    // What was asked for and arrived, though it did not pass again: the capture lacks that it was sent again.
    EvidenceRule{"acknowledged-after-nak", "9.7.5.1.2", {E::taken_later}, {}, {P::reorders}, {D::late}},
    // The first sending of a PSN was not lost where it passes late, and the tap has it.
    EvidenceRule{
        "first-sending-came", "observation", {E::first_came}, {}, {}, {D::lost_before_tap, D::missed_by_capture}},
    EvidenceRule{"came-unasked", "9.7.5.1.2", {E::unasked_came}, {}, {}, {D::lost_before_tap, D::missed_by_capture}},
    // A retransmission passed, and the first sending never did.
    EvidenceRule{"sent-again", "observation", {E::again_came}, {}, {}, {D::late}},
    EvidenceRule{
        "sent-again-of-whole-capture", "observation", {E::again_came}, {}, {P::lacks_packets}, {D::missed_by_capture}},
    // Likewise by time alone, on a path that keeps the order. One packet that was late, and whose NAK was lost, looks
    // as
    // one that was lost and sent again alone.
    EvidenceRule{"sent-again-in-order", "9.7.5.1.2", {E::recovery_came, E::rest_came}, {}, {P::reorders}, {D::late}},
    EvidenceRule{
        "single-sent-again-in-order", "9.7.5.1.2", {E::recovery_came}, {P::asks_for_single}, {P::reorders}, {D::late}},
    EvidenceRule{"recovered-of-whole-capture",
                 "observation",
                 {E::recovery_came},
                 {},
                 {P::lacks_packets, P::reorders},
                 {D::missed_by_capture}},
    // What passed in its turn, or was kept out of turn, and is asked for all the same, did not arrive.
    EvidenceRule{"passed-in-turn",
                 "9.7.5.1.2",
                 {E::named, E::in_turn},
                 {},
                 {},
                 kAllDispositions.without({D::lost_behind_tap, D::late_behind_tap})},
    EvidenceRule{"passed-and-not-kept",
                 "9.7.5.1.2",
                 {E::named, E::early_once},
                 {P::keeps_early},
                 {},
                 kAllDispositions.without({D::lost_behind_tap, D::late_behind_tap})},
    EvidenceRule{"acknowledged-before-sent-again", "9.7.5.1.1", {E::acknowledged_first}, {}, {}, {D::lost_behind_tap}},
};

}  // namespace

std::span<const EvidenceRule> evidence_rules() { return kRules; }

PsnDispositions left_by(std::span<const EvidenceRule> rules, Set<Evidence> evidence, PathFacts path) {
    PsnDispositions left = kAllDispositions;
    for (const EvidenceRule& rule : rules)
        if (rule.needs.within(evidence) && rule.path.within(path) && !path.any(rule.unless))
            left = left.without(rule.excludes);
    return left;
}

PsnVerdict judge(const PsnCase& one, PathFacts path) {
    PsnVerdict verdict{left_by(kRules, one.evidence, path), one.discarded, false};
    if (!verdict.left.empty()) return verdict;
    verdict.left = kAllDispositions;
    verdict.contradiction = true;
    return verdict;
}

NakCause cause_of(const PsnVerdict& verdict) {
    const PsnDispositions left = verdict.left;
    if (verdict.discarded)
        return left.within({D::late, D::late_behind_tap})        ? NakCause::discarded_late
               : left.within({D::lost_before_tap, D::corrupted}) ? NakCause::discarded_lost
                                                                 : NakCause::undecided;
    if (left == PsnDispositions{D::lost_before_tap}) return NakCause::lost_before_tap;
    if (left == PsnDispositions{D::corrupted}) return NakCause::corrupt;
    if (left == PsnDispositions{D::late}) return NakCause::late;
    if (left == PsnDispositions{D::late_behind_tap}) return NakCause::late_behind_tap;
    // An answer to a NAK of it tells that it did not arrive in its turn; where it stayed only the receiver knows.
    return left.within({D::lost_behind_tap, D::late_behind_tap}) ? NakCause::lost_behind_tap : NakCause::undecided;
}

}  // namespace qps::transport
