// The rules by which evidence excludes what may have become of a PSN.
//
// A rule only removes, and only for evidence that is there: so the order of the rules does not matter, and less
// evidence leaves more. What a rule needs not to be known of the path is read at the end, when it cannot become known
// any more.
#pragma once

#include <transport-replay/model/incident.hpp>
#include <transport-replay/model/ordering.hpp>
#include <transport-replay/model/recovery.hpp>

#include <span>
#include <string_view>

namespace qps::transport {

template <class Evidence, class Fact, class Hypothesis> struct Rule {
    std::string_view name;
    std::string_view clause;  // of IBA, "observation" where it is the tap's
    Set<Evidence> needs;
    Set<Fact> known;   // at the end
    Set<Fact> unless;  // known
    Set<Hypothesis> excludes;
};
using EvidenceRule = Rule<Evidence, PathFact, PsnDisposition>;
using ReasonRule = Rule<RoundEvidence, WayFact, Reason>;
using FateRule = Rule<RoundEvidence, WayFact, AnswerFate>;
[[nodiscard]] std::span<const EvidenceRule> evidence_rules();
[[nodiscard]] std::span<const ReasonRule> reason_rules();
[[nodiscard]] std::span<const FateRule> fate_rules();

// What the rules leave of all hypotheses; empty where the evidence contradicts itself.
template <class E, class F, class H>
[[nodiscard]] Set<H> left_by(std::span<const Rule<E, F, H>> rules, Set<E> evidence, Set<F> known) {
    Set<H> left = Set<H>::all();
    for (const Rule<E, F, H>& rule : rules)
        if (rule.needs.within(evidence) && rule.known.within(known) && !known.any(rule.unless))
            left = left.without(rule.excludes);
    return left;
}

struct PsnVerdict {
    PsnDispositions left = kAllDispositions;
    bool discarded = false;      // behind another one, whose dispositions these are
    bool contradiction = false;  // the evidence excludes all of them: nothing is known
};
[[nodiscard]] PsnVerdict judge(const PsnCase& one, PathFacts path);

// Fills in what is left of an episode. How many of its two sets contradict themselves.
[[nodiscard]] std::uint32_t judge(Recovery& episode, WayFacts known);

// Claims.
[[nodiscard]] constexpr bool is_lost_before_tap(const PsnVerdict& verdict) {
    return !verdict.discarded && verdict.left.within({PsnDisposition::lost_before_tap, PsnDisposition::corrupted});
}
[[nodiscard]] constexpr bool is_late(const PsnVerdict& verdict) {
    return !verdict.discarded && verdict.left == PsnDispositions{PsnDisposition::late};
}
[[nodiscard]] constexpr bool is_missed_by_capture(const PsnVerdict& verdict) {
    return !verdict.discarded && verdict.left == PsnDispositions{PsnDisposition::missed_by_capture};
}
[[nodiscard]] NakCause cause_of(const PsnVerdict& verdict);

}  // namespace qps::transport
