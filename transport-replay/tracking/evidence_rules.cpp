#include <transport-replay/tracking/evidence_rules.hpp>

#include <array>
#include <type_traits>

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
    EvidenceRule{"longer-than-any-path", "observation", {E::long_unseen}, {}, {}, {D::late}},
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

using R = RoundEvidence;
using W = WayFact;

constexpr Reasons all_but(Reason one) { return Reasons::all().without({one}); }

// A queue pair has one timer, of at least 4.096 us * 2^n and at most four times that (9.7.6.1.3). It may run from the
// first packet sent after the last progress, or anew from each packet.
constexpr std::array kReasonRules{
    ReasonRule{"put-off", "9.7.5.2.8", {R::put_off}, {}, {}, all_but(Reason::rnr_nak)},
    ReasonRule{"asked-for-again", "9.7.5.1.2", {R::asked}, {}, {}, {Reason::rnr_nak, Reason::implied_nak}},
    ReasonRule{"never-went-back", "observation", {R::asked, R::never_resumed}, {}, {}, {Reason::ack_timer}},
    // The timer was not known, and the answer to the NAK came as quickly as software notices.
    ReasonRule{"answered-the-nak", "observation", {R::asked, R::soon}, {}, {}, {Reason::ack_timer}},
    // A NAK acknowledges all before its PSN: who goes back farther did not have it.
    ReasonRule{
        "nak-did-not-arrive", "9.7.5.1.2", {R::asked, R::farther_back, R::long_silent}, {}, {}, {Reason::sequence_nak}},
    ReasonRule{"timer-still-ran", "9.7.6.1.3", {R::not_run_out}, {}, {}, {Reason::ack_timer}},
    // A NAK that was heeded makes nobody wait for his timer.
    ReasonRule{"timer-ran-out", "9.7.6.1.3", {R::ran_out}, {}, {}, all_but(Reason::ack_timer)},
    ReasonRule{"sooner-than-any-timer", "observation", {R::unasked, R::at_once}, {}, {}, {Reason::ack_timer}},
    ReasonRule{"again-and-again", "9.7.6.1.3", {R::unasked, R::again_and_again}, {}, {}, all_but(Reason::ack_timer)},
    // Nothing else sends again what was answered.
    ReasonRule{"answer-under-way", "observation", {R::unasked, R::under_way}, {}, {}, all_but(Reason::ack_timer)},
    // Who asks for the rest of a READ may have seen a response behind the one that it lacks; a NAK names no response.
    ReasonRule{
        "rest-of-read", "9.7.5.1.1", {R::unasked, R::from_middle}, {}, {}, {Reason::sequence_nak, Reason::rnr_nak}},
    ReasonRule{"rest-of-read-soon", "9.7.5.1.1", {R::unasked, R::from_middle, R::soon}, {}, {}, {Reason::ack_timer}},
    ReasonRule{"read-at-once", "9.7.5.1.1", {R::unasked, R::read_at_once}, {}, {}, all_but(Reason::implied_nak)},
    // What is new to the tap it may have missed, and with it the NAK.
    ReasonRule{
        "long-silent", "observation", {R::unasked, R::long_silent}, {}, {W::lacks_packets}, all_but(Reason::ack_timer)},
};

using A = AnswerFate;
constexpr AnswerFates kRequestLost{A::request_lost_before_tap, A::request_lost_behind_tap};
constexpr AnswerFates kAllButLate = AnswerFates::all().without({A::late});

constexpr std::array kFateRules{
    FateRule{"passed-before", "observation", {R::all_passed}, {}, {}, {A::request_lost_before_tap}},
    // Who is answered had the request.
    FateRule{"answer-passed",
             "observation",
             {R::answer_passed, R::oldest},
             {},
             {},
             {A::request_lost_before_tap, A::request_lost_behind_tap, A::answer_lost_before_tap}},
    FateRule{
        "answer-did-not-arrive", "observation", {R::answer_passed, R::oldest, R::answer_arrived}, {}, {}, {A::late}},
    FateRule{
        "answer-on-its-way", "observation", {R::under_way, R::once, R::unnamed}, {}, {W::lacks_responses}, kAllButLate},
    // The first sending brought the answer; one of a READ is one response of many.
    FateRule{"answered-too-soon", "observation", {R::too_soon, R::unnamed}, {}, {W::lacks_responses}, kAllButLate},
    FateRule{"answered-twice", "9.7.5.1.1", {R::answered_twice, R::unnamed}, {}, {W::lacks_responses}, kRequestLost},
    // A responder answers in order: an answer to what was sent behind it shows that its own had been sent.
    FateRule{"response-passed-over", "9.7.5.1.1", {R::passed_over}, {}, {}, kRequestLost},
    FateRule{"response-did-not-pass",
             "observation",
             {R::passed_over, R::once},
             {},
             {W::lacks_packets},
             {A::answer_lost_behind_tap}},
};

}  // namespace

std::span<const EvidenceRule> evidence_rules() { return kRules; }
std::span<const ReasonRule> reason_rules() { return kReasonRules; }
std::span<const FateRule> fate_rules() { return kFateRules; }

std::uint32_t judge(Recovery& episode, WayFacts known) {
    std::uint32_t contradictions = 0;
    const auto left = [&](auto rules) {
        const auto all = left_by(rules, episode.evidence, known);
        if (!all.empty()) return all;
        ++contradictions;
        return std::decay_t<decltype(all)>::all();
    };
    episode.reasons = left(reason_rules());
    episode.fates = left(fate_rules());
    return contradictions;
}

PsnVerdict judge(const PsnCase& one, PathFacts path) {
    PsnVerdict verdict{left_by(evidence_rules(), one.evidence, path), one.discarded, false};
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
