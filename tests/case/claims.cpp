// The table of claims: every row has a page, and a case that it is drawn from with its evidence; every claim has a row.
// docs/case-findings.md is made of the rows and of a claim of each; QPSCOPE_REWRITE_GOLDEN=1 writes it.
#include <tests/case/case_folder.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <transport-replay/casework/case_report.hpp>
#include <transport-replay/casework/claim_rows.hpp>
#include <transport-replay/findings/findings.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

using namespace qps;
using namespace qps::casework;
using namespace qps::testing;

namespace {

constexpr std::string_view kHead = R"(# Findings of a case

What `qpscope case` can say of logs, counters, settings and dumps, one section each: what it means, an example, what else looks like it, and
what it cannot know. Captures of a case add their own findings ([findings.md](findings.md)). `qpscope findings --explain ID` prints a
section, `qpscope findings --list` has a line for each.
)";

// An example of each row: of the project's cases, and of those below.
struct Proof {
    std::string case_name;
    Claim claim;
};
std::map<std::string_view, Proof> proofs() {
    std::map<std::string_view, Proof> found;
    for (const CaseFolder& folder : all_material()) {
        const Verdict verdict = verdict_of(folder.files);
        for (const Claim& claim : verdict.claims)
            if (claim_row(claim.id) != nullptr) found.try_emplace(claim.id, folder.name, claim);
    }
    return found;
}

}  // namespace

TEST_CASE("every row of claims is drawn from a case, and names its evidence") {
    const auto found = proofs();
    for (const ClaimRow& row : claim_rows()) {
        INFO(row.id);
        const auto proof = found.find(row.id);
        REQUIRE(proof != found.end());
        CHECK_FALSE(proof->second.claim.evidence.empty());
        CHECK(proof->second.claim.text.size() > 20);
        CHECK(severity_of(proof->second.claim.weight) <= row.severity);
    }
}

TEST_CASE("every claim of every case has a row or is a finding of a capture, and names its evidence") {
    for (const CaseFolder& folder : all_material()) {
        const Verdict verdict = verdict_of(folder.files);
        for (const Claim& claim : verdict.claims) {
            INFO(folder.name << ": " << claim.id << ": " << claim.text);
            CHECK((claim_row(claim.id) != nullptr || transport::finding_row(claim.id) != nullptr));
            CHECK_FALSE(claim.evidence.empty());
        }
    }
}

TEST_CASE("rows of claims have ids, words and facts of their own") {
    std::set<std::string_view> ids;
    for (const ClaimRow& row : claim_rows()) {
        INFO(row.id);
        CHECK(ids.insert(row.id).second);
        CHECK(row.id.starts_with("case-"));
        CHECK(transport::finding_row(row.id) == nullptr);
        CHECK(std::ranges::all_of(row.id, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; }));
        CHECK((row.meaning.size() > 10 && row.meaning.size() < 80 && row.meaning.back() != '.'));
        CHECK_FALSE(row.rests_on.empty());
        CHECK_FALSE(row.limits.empty());
    }
    std::set<std::string_view> names;
    for (const transport::FactRow* fact : transport::fact_rows()) names.insert(fact->name);
    for (const transport::FactRow* fact : claim_facts()) {
        INFO(fact->name);
        CHECK(names.insert(fact->name).second);
    }
}

TEST_CASE("the manual of claims has a section for each row, with a claim of it") {
    std::string text(kHead);
    const auto found = proofs();
    for (const ClaimRow& row : claim_rows()) {
        const auto proof = found.find(row.id);
        text +=
            fmt::format("\n## {}\n\n{}; {}. {}.\n", row.id,
                        transport::kSeverityNames[static_cast<std::size_t>(row.severity)], row.rests_on, row.meaning);
        if (proof != found.end()) text += fmt::format("\n> {}\n", proof->second.claim.text);
        if (!row.alike.empty()) text += fmt::format("\nLooks like it: {}.\n", row.alike);
        text += fmt::format("\nCannot know: {}\n", row.limits);
    }
    qps::tests::check_golden("../docs/case-findings.md", text);
}
