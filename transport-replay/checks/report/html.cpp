// A report as one HTML file: nothing in it is fetched from elsewhere, nothing runs. Folds are the browser's own.
#include <transport-replay/checks/report/counts.hpp>
#include <transport-replay/checks/report/written.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/ladder_picture.hpp>
#include <transport-replay/report/markup.hpp>
#include <transport-replay/report/page_policy.hpp>
#include <transport-replay/report/page_style.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance {

namespace {

std::string_view style_of(Verdict verdict) {
    constexpr std::array<std::string_view, kVerdictNames.size()> kStyles{"pass", "fail", "inconclusive", "none",
                                                                         "deviation"};
    return kStyles[std::to_underlying(verdict)];
}

constexpr std::array kOrder{Verdict::fail, Verdict::inconclusive, Verdict::deviation, Verdict::pass,
                            Verdict::not_applicable};

void append_head(std::string& out, const Report& report) {
    const std::string style = fmt::format("{}{}", kPageStyle, kLadderStyle);
    out += fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n<title>Conformance: {}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
        policy_line(style), markup_text(report.subject), style);
    out += fmt::format("<p class=\"soft\">qpscope conformance report</p>\n<h1>{}</h1>\n", markup_text(report.subject));
    const VerdictCounts counts = count(report);
    out += "<ul class=\"counts\">\n";
    for (const Verdict verdict : kOrder)
        out += fmt::format("<li class=\"{}\"><b>{}</b>{}</li>\n", style_of(verdict), counts[verdict], name(verdict));
    out += "</ul>\n";
    out += "<dl>\n";
    for (const ReportFact& fact : report.facts)
        out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", markup_text(fact.name), markup_text(fact.value));
    out += fmt::format("<dt>digest of verdicts</dt><dd>{}</dd>\n</dl>\n", digest_of(report));
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

// What went to and fro before a failure, and what did not come.
void append_exchange(std::string& out, const std::vector<ExchangeStep>& exchange) {
    if (exchange.empty()) return;
    std::vector<LadderRow> rows;
    for (const ExchangeStep& step : exchange)
        rows.push_back({.when = duration_text(step.at),
                        .number = {},
                        .way = step.way == ExchangeWay::to_device ? LadderWay::forth : LadderWay::back,
                        .style = step.way == ExchangeWay::missing ? "missing"
                                 : step.wrong                     ? "wrong"
                                                                  : "",
                        .text = step.text});
    out += fmt::format("<figure>{}<figcaption>Since the script began; <b class=\"wrong\">what is wrong</b>, "
                       "<b class=\"missing\">what was expected</b>.</figcaption></figure>\n",
                       ladder_picture("tester", "device", rows, "packets before the failure"));
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
    append_fact(
        out, "basis",
        fmt::format("{} ({}{})", check.basis, words(check.marks), check.marks.only_memory() ? ": to be verified" : ""));
    if (result.examined != 0) append_fact(out, "examined", grouped(result.examined));
    if (result.failures != 0) append_fact(out, "failures", grouped(result.failures));
    append_fact(out, "frames", frames_text(result));
    if (result.took) append_fact(out, "took", duration_text(*result.took));
    out += "</dl>\n";
    append_exchange(out, result.exchange);
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
        out += fmt::format("<tr><td class=\"id\">{}</td>{}{}<td>{}</td></tr>\n", change.check->id, cell(change.before),
                           cell(change.after), markup_text(change.reason));
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
