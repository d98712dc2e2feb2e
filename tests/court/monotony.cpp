// Monotony: who sees less may say less, and never accuses where the whole capture does not.
//
// A derived capture may lose findings or say them as a note. It has no error and no warning that the whole has not: of
// the same kind, at least as severe, of the same queue pairs, and as often.
#include <tests/court/derive.hpp>
#include <tests/court/exhibits.hpp>
#include <tests/court/violation.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::court {

namespace {

bool same_end(const ClaimedEnd& one, const ClaimedEnd& other) {
    return one.address == other.address && (!one.qp || !other.qp || one.qp == other.qp);
}
// A half of a connection may know one of its two numbers only.
bool same_ends(const Claim& derived, const Claim& whole) {
    if (!derived.ends || !whole.ends) return true;
    const auto& [a, b] = *derived.ends;
    const auto& [c, d] = *whole.ends;
    return (same_end(a, c) && same_end(b, d)) || (same_end(a, d) && same_end(b, c));
}

// Whether the derived finding is the whole's, or says less of the same: without what tells them apart, packets were
// only missed.
bool same_kind(const Claim& derived, const Claim& whole) {
    if (derived.id == whole.id) return true;
    if (derived.id != "go-back-n-loss") return false;
    return whole.id == "selective-repeat" ||
           (whole.id == "reordered-not-lost" && !derived.facts.contains("lost_proven"));
}

// "" where the whole has it too.
std::string why_false(const Claim& derived, const std::vector<Claim>& whole) {
    bool same_id = false, same_pair = false, as_severe = false;
    std::uint64_t most = 0;
    for (const Claim& claim : whole) {
        if (!same_kind(derived, claim)) continue;
        same_id = true;
        if (!same_ends(derived, claim)) continue;
        same_pair = true;
        if (claim.severity < derived.severity) continue;
        as_severe = true;
        most = std::max(most, claim.count);
    }
    if (!same_id) return "the whole capture has none";
    if (!same_pair) return "the whole capture has it of other queue pairs only";
    if (!as_severe) return "the whole capture has it as a note or warning only";
    return most < derived.count ? fmt::format("counts {} where the whole capture has {}", derived.count, most) : "";
}

std::vector<Violation> compare(const Exhibit& exhibit, const Derivation& derivation, const Testimony& derived,
                               const Testimony& whole) {
    std::vector<Violation> out;
    if (!derived.trouble.empty()) out.push_back({exhibit.name, derivation.name, "no-answer", derived.trouble, ""});
    for (const Claim& claim : derived.claims) {
        if (claim.severity == Severity::note || std::ranges::count(derivation.true_of_it, claim.id) != 0) continue;
        if (std::string why = why_false(claim, whole.claims); !why.empty())
            out.push_back({exhibit.name, derivation.name, claim.id, std::move(why), claim.sentence});
    }
    return out;
}

}  // namespace

TEST_CASE("a capture that shows less accuses nobody whom the whole does not accuse") {
    const std::vector<Exhibit> all = exhibits();
    const std::vector<Derivation> ways = derivations(everything_is_wanted());
    REQUIRE(ways.front().name == "whole");
    const auto answers = ask(
        all.size() * ways.size(),
        [&](std::size_t i) { return ways[i % ways.size()].derive(all[i / ways.size()].recording); },
        [&](std::size_t i) { return all[i / ways.size()].name + "-" + ways[i % ways.size()].name; });
    std::vector<Violation> violations;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const std::size_t exhibit = i / ways.size();
        for (Violation& violation :
             compare(all[exhibit], ways[i % ways.size()], answers[i], answers[exhibit * ways.size()]))
            violations.push_back(std::move(violation));
    }
    const std::string wrong = against_known("monotony", violations);
    fmt::print("{} captures, {} derivations, {} violations\n{}", all.size(), ways.size(), violations.size(), wrong);
    CHECK(wrong.empty());
}

}  // namespace qps::court
