// The catalogue of facts and the templates over it. docs/findings.md is made of the rows of findings, of a finding of
// each and of the catalogue of facts; QPSCOPE_REWRITE_GOLDEN=1 writes it.
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/transport-replay/findings/proven_findings.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/findings/sentence.hpp>
#include <transport-replay/report/findings.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>

using namespace qps::transport;

namespace {

constexpr std::string_view kHead = R"(# Findings

What `qpscope findings` can say, one section each: what it means, an example, what to do about it, what else looks like it, and what it
cannot know. `qpscope findings --explain ID` prints a section, `qpscope findings --list` has a line for each. JSON has the facts of each
finding by the names of the [catalogue](#facts) at the end; names and units are stable.
)";

std::string page_of(const FindingRow& row, const Finding& finding) {
    std::string out =
        fmt::format("\n## {}\n\n{}; {}. {}.\n\n", row.id, severity_name(finding), row.clause, row.meaning);
    out += fmt::format("> {}\n\nTo do: {}\n", finding.summary, finding.advice);
    if (!row.alike.empty()) out += fmt::format("\nLooks like it: {}\n", row.alike);
    if (!row.limits.empty()) out += fmt::format("\nCannot know: {}\n", row.limits);
    std::string facts;
    for (const Fact& fact : finding.facts)
        facts += fmt::format("{}`{}`", facts.empty() ? "" : ", ", json_name(*fact.row));
    if (!facts.empty()) out += fmt::format("\nFacts of the example: {}\n", facts);
    return out;
}

}  // namespace

TEST_CASE("the manual of findings has a section for each row, with a finding of it") {
    std::string text(kHead);
    const auto findings = qps::tests::proven_findings();
    REQUIRE(findings.size() == finding_rows().size());
    for (std::size_t i = 0; i < findings.size(); ++i) text += page_of(finding_rows()[i], findings[i]);
    text += "\n## Facts\n\n| fact | unit | what it is |\n|---|---|---|\n";
    for (const FactRow* fact : fact_rows())
        text += fmt::format("| `{}` | {} | {} |\n", json_name(*fact), kUnitNames[static_cast<std::size_t>(fact->unit)],
                            fact->meaning);
    qps::tests::check_golden("../docs/findings.md", text);
}

TEST_CASE("templates of findings are sound, and name facts of the catalogue") {
    const auto facts = fact_rows();
    std::set<std::string_view> names;
    for (const FactRow* fact : facts) {
        INFO(fact->name);
        CHECK(names.insert(fact->name).second);
        CHECK(std::ranges::all_of(fact->name,
                                  [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9'); }));
        CHECK((fact->meaning.size() > 10 && fact->meaning.back() != '.'));
    }
    for (const FindingRow& row : finding_rows())
        for (const std::string_view text : {row.sentence, row.advice}) {
            INFO(row.id << ": " << text);
            CHECK(fault_of(text, [&](std::string_view name) { return names.contains(name); }) == "");
        }
}

TEST_CASE("facts of findings are of the catalogue") {
    const auto facts = fact_rows();
    for (const Finding& finding : qps::tests::proven_findings())
        for (const Fact& fact : finding.facts) {
            INFO(finding.id << ": " << fact.row->name);
            CHECK(std::ranges::find(facts, fact.row) != facts.end());
        }
}

TEST_CASE("rows of the table of findings have unique kebab-case ids, a clause and a line of meaning") {
    std::set<std::string_view> ids;
    for (const FindingRow& row : finding_rows()) {
        INFO(row.id);
        CHECK(ids.insert(row.id).second);
        CHECK(!row.id.empty());
        CHECK(std::ranges::all_of(row.id, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; }));
        CHECK((row.id.front() != '-' && row.id.back() != '-' && row.id.find("--") == std::string_view::npos));
        CHECK(!row.clause.empty());
        CHECK((row.meaning.size() > 10 && row.meaning.size() < 80 && row.meaning.back() != '.'));
        CHECK(row.draw != nullptr);
    }
}
