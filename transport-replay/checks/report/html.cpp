// A report as one HTML file: nothing in it is fetched from elsewhere, nothing runs. Folds are the browser's own.
#include <transport-replay/checks/report/counts.hpp>
#include <transport-replay/checks/report/written.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance {

namespace {

// Colours by what they mean, in a light and a dark palette; contrast of text to ground is 4.5 and more in both.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ground: #ffffff; --text: #1c2329; --soft: #5a6670; --line: #dde2e6; --raised: #f5f7f8;
  --fail: #b3261e; --inconclusive: #8a5a00; --deviation: #5b4bb0; --pass: #1a7f4b; --none: #6a747c; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181b; --text: #e4e8eb; --soft: #9aa5ad; --line: #2d353b; --raised: #1c2226;
  --fail: #ff8a80; --inconclusive: #f0b94d; --deviation: #b3a8ff; --pass: #5fd39a; --none: #8d979e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
p { margin: .25rem 0; } .soft { color: var(--soft); } code, .id, pre { font-family: ui-monospace, monospace; }
.counts { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0; padding: 0; list-style: none; }
.counts li { flex: 1 1 8rem; padding: .6rem .9rem; background: var(--raised); border: 1px solid var(--line); border-radius: 8px; }
.counts b { display: block; font-size: 1.6rem; line-height: 1.2; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0; } dt { color: var(--soft); } dd { margin: 0; }
details { border: 1px solid var(--line); border-radius: 8px; margin: .4rem 0; background: var(--raised); }
summary { display: grid; grid-template-columns: 4.5rem 11rem 1fr; gap: .75rem; padding: .5rem .9rem; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
details > div { padding: .1rem .9rem .7rem; border-top: 1px solid var(--line); }
pre { overflow-x: auto; padding: .6rem; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; }
.id { white-space: nowrap; } h1, h2, dd { overflow-wrap: anywhere; }
.verdict { font-weight: 600; } .fail { color: var(--fail); } .inconclusive { color: var(--inconclusive); }
.deviation { color: var(--deviation); } .pass { color: var(--pass); } .none { color: var(--none); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .3rem .6rem;
  border-bottom: 1px solid var(--line); vertical-align: top; } th { color: var(--soft); font-weight: 500; }
@media (max-width: 40rem) { summary { grid-template-columns: 1fr; gap: 0; } }
@media print { details { break-inside: avoid; } }
)";

std::string_view style_of(Verdict verdict) {
    constexpr std::array<std::string_view, kVerdictNames.size()> kStyles{"pass", "fail", "inconclusive", "none", "deviation"};
    return kStyles[std::to_underlying(verdict)];
}

constexpr std::array kOrder{Verdict::fail, Verdict::inconclusive, Verdict::deviation, Verdict::pass, Verdict::not_applicable};

void append_head(std::string& out, const Report& report) {
    out += fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n<title>Conformance: {}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
        markup_text(report.subject), kStyle);
    out += fmt::format("<p class=\"soft\">qpscope conformance report</p>\n<h1>{}</h1>\n", markup_text(report.subject));
    const VerdictCounts counts = count(report);
    out += "<ul class=\"counts\">\n";
    for (const Verdict verdict : kOrder)
        out += fmt::format("<li class=\"{}\"><b>{}</b>{}</li>\n", style_of(verdict), counts[verdict], name(verdict));
    out += "</ul>\n";
    if (report.facts.empty()) return;
    out += "<dl>\n";
    for (const ReportFact& fact : report.facts)
        out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", markup_text(fact.name), markup_text(fact.value));
    out += "</dl>\n";
}

std::string frames_text(const CheckResult& result) {
    std::string text;
    for (const dissect::FrameIndex frame : result.evidence)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", std::to_underlying(frame));
    return text;
}

void append_fact(std::string& out, std::string_view fact, std::string_view value) {
    if (!value.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", fact, markup_text(value));
}

void append_result(std::string& out, const CheckResult& result) {
    const CheckRow& check = *result.check;
    const bool open = result.verdict == Verdict::fail;
    out += fmt::format(
        "<details{}><summary><span class=\"id\">{}</span><span class=\"verdict {}\">{}</span><span>{}</span></summary>\n<div>\n<dl>\n",
        open ? " open" : "", check.id, style_of(result.verdict), name(result.verdict),
        markup_text(result.reason.empty() ? fmt::format("{}: {}", check.stimulus, check.expected) : result.reason));
    append_fact(out, "examines", check.stimulus);
    append_fact(out, "expects", check.expected);
    append_fact(out, "severity", name(check.severity));
    append_fact(out, "basis",
                fmt::format("{} ({}{})", check.basis, words(check.marks), check.marks.only_memory() ? ": to be verified" : ""));
    if (result.examined != 0) append_fact(out, "examined", grouped(result.examined));
    if (result.failures != 0) append_fact(out, "failures", grouped(result.failures));
    append_fact(out, "frames", frames_text(result));
    if (result.took) append_fact(out, "took", duration_text(*result.took));
    out += "</dl>\n";
    if (!result.detail.empty()) out += fmt::format("<pre>{}</pre>\n", markup_text(result.detail));
    out += "</div></details>\n";
}

void append_comparison(std::string& out, const Comparison& comparison) {
    out += fmt::format("<h2>Changed since {}</h2>\n", markup_text(comparison.before));
    if (comparison.changes.empty()) out += "<p>Nothing.</p>\n";
    else out += "<div class=\"scroll\"><table>\n<tr><th>check</th><th>before</th><th>now</th><th>why</th></tr>\n";
    const auto cell = [](std::optional<Verdict> verdict) {
        return verdict ? fmt::format("<td class=\"{}\">{}</td>", style_of(*verdict), name(*verdict))
                       : "<td class=\"none\">not checked</td>";
    };
    for (const Change& change : comparison.changes)
        out += fmt::format("<tr><td class=\"id\">{}</td>{}{}<td>{}</td></tr>\n", change.check->id, cell(change.before), cell(change.after),
                           markup_text(change.reason));
    if (!comparison.changes.empty()) out += "</table></div>\n";
    out += fmt::format("<p class=\"soft\">{} unchanged.</p>\n", counted(comparison.same, "verdict"));
}

}  // namespace

std::string html_text(const Report& report, const Comparison* comparison) {
    std::string out;
    append_head(out, report);
    if (comparison != nullptr) append_comparison(out, *comparison);
    for (const Verdict verdict : kOrder) {
        const auto has_it = [&](const CheckResult& result) { return result.verdict == verdict; };
        if (std::ranges::none_of(report.results, has_it)) continue;
        std::string heading(name(verdict));
        heading.front() = static_cast<char>(heading.front() - 'a' + 'A');
        out += fmt::format("<h2>{}</h2>\n", heading);
        for (const CheckResult& result : report.results)
            if (has_it(result)) append_result(out, result);
    }
    return out + "</main>\n</body>\n</html>\n";
}

}  // namespace qps::transport::conformance
