// The rules by which evidence excludes what may have become of a PSN.
//
// A rule only removes, and only for evidence that is there: so the order of the rules does not matter, and less
// evidence leaves more. What a rule needs not to be known of the path is read at the end, when it cannot become known
// any more.
#pragma once

#include <transport-replay/model/incident.hpp>
#include <transport-replay/model/ordering.hpp>

#include <span>
#include <string_view>

namespace qps::transport {

struct EvidenceRule {
    std::string_view name;
    std::string_view clause;  // of IBA, "observation" where it is the tap's
    Set<Evidence> needs;
    PathFacts path;    // known of the path
    PathFacts unless;  // not known of it
    PsnDispositions excludes;
};
[[nodiscard]] std::span<const EvidenceRule> evidence_rules();

// What the rules leave of all dispositions; empty where the evidence contradicts itself.
[[nodiscard]] PsnDispositions left_by(std::span<const EvidenceRule> rules, Set<Evidence> evidence, PathFacts path);

struct PsnVerdict {
    PsnDispositions left = kAllDispositions;
    bool discarded = false;      // behind another one, whose dispositions these are
    bool contradiction = false;  // the evidence excludes all of them: nothing is known
};
[[nodiscard]] PsnVerdict judge(const PsnCase& one, PathFacts path);

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
