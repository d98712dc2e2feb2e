// docs/findings.md is made of the rows of findings, of a finding of each and of the catalogue of facts; QPSCOPE_REWRITE_GOLDEN=1 writes it.
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/transport-replay/findings/proven_findings.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/report/findings.hpp>

#include <fmt/format.h>

using namespace qps::transport;

namespace {

constexpr std::string_view kHead = R"(# Findings

What `qpscope findings` can say, one section each: what it means, an example, what to do about it, what else looks like it, and what it
cannot know. `qpscope findings --explain ID` prints a section, `qpscope findings --list` has a line for each. JSON has the facts of each
finding by the names of the [catalogue](#facts) at the end; names and units are stable.
)";

std::string page_of(const FindingRow& row, const Finding& finding) {
    std::string out = fmt::format("\n## {}\n\n{}; {}. {}.\n\n", row.id, severity_name(finding), row.clause, row.meaning);
    out += fmt::format("> {}\n\nTo do: {}\n", finding.summary, finding.advice);
    if (!row.alike.empty()) out += fmt::format("\nLooks like it: {}\n", row.alike);
    if (!row.limits.empty()) out += fmt::format("\nCannot know: {}\n", row.limits);
    std::string facts;
    for (const Fact& fact : finding.facts) facts += fmt::format("{}`{}`", facts.empty() ? "" : ", ", json_name(*fact.row));
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
        text += fmt::format("| `{}` | {} | {} |\n", json_name(*fact), kUnitNames[static_cast<std::size_t>(fact->unit)], fact->meaning);
    qps::tests::check_golden("../docs/findings.md", text);
}
