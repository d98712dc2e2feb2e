#include <cli/check_table.hpp>
#include <cli/tone.hpp>
#include <cli/wrapped.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/checks/report/counts.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;
using namespace transport::conformance;

namespace {

constexpr std::size_t kCheckIndent = 8;  // behind "FMT-01  "
constexpr std::size_t kFramesShown = 8;  // machine formats have all of the evidence

struct VerdictLook {
    Verdict verdict;
    std::string_view heading;
    Tone tone;
};
constexpr std::array kLooks{
    VerdictLook{Verdict::fail, "FAILED", Tone::error},
    VerdictLook{Verdict::inconclusive, "INCONCLUSIVE", Tone::warning},
    VerdictLook{Verdict::deviation, "DECLARED DEVIATIONS", Tone::plain},
    VerdictLook{Verdict::pass, "PASSED", Tone::plain},
    VerdictLook{Verdict::not_applicable, "NOT APPLICABLE", Tone::plain},
};

const VerdictLook& look_of(Verdict verdict) { return *std::ranges::find(kLooks, verdict, &VerdictLook::verdict); }

std::string evidence(const CheckResult& result) {
    const CheckRow& check = *result.check;
    std::string text;
    const std::size_t shown = std::min(result.evidence.size(), kFramesShown);
    for (std::size_t i = 0; i < shown; ++i)
        text += fmt::format("{}{}", i == 0 ? (result.evidence.size() == 1 ? "frame " : "frames ") : ", ",
                            std::to_underlying(result.evidence[i]));
    if (shown < result.evidence.size()) text += ", ...";
    if (!text.empty()) text += "; ";
    if (result.verdict != Verdict::inconclusive)
        text += fmt::format("{} severity; ", name(check.severity));  // nothing severe is known
    text += check.basis;
    if (check.marks.only_memory()) text += " (from memory: to be verified)";
    return text;
}

// What passed or does not apply: a line each.
void append_short(std::string& out, const CheckResult& result) {
    const CheckRow& check = *result.check;
    const std::string why = result.verdict == Verdict::pass
                                ? fmt::format("{} ({} examined)", check.stimulus, grouped(result.examined))
                                : fmt::format("{}: {}", check.stimulus, dissect::printable(result.reason));
    append_wrapped(out, fmt::format("{:<{}}", check.id, kCheckIndent), kCheckIndent, why);
}

void append_long(std::string& out, const CheckResult& result, const VerdictLook& look, bool color) {
    append_toned(out, color ? look.tone : Tone::plain, fmt::format("{:<{}}", result.check->id, kCheckIndent));
    std::string rest;
    append_wrapped(rest, std::string(kCheckIndent, ' '), kCheckIndent, dissect::printable(result.reason));
    out += rest.substr(kCheckIndent);
    append_wrapped(out, std::string(kCheckIndent, ' '), kCheckIndent,
                   fmt::format("expected: {}", result.check->expected));
    append_wrapped(out, std::string(kCheckIndent, ' '), kCheckIndent, evidence(result));
    if (result.detail.empty()) return;
    std::string_view lines = result.detail;
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        out += fmt::format("{:{}}{}\n", "", kCheckIndent, dissect::printable(lines.substr(0, end)));
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
}

std::string counts_text(const VerdictCounts& counts) {
    return fmt::format("{}: {} passed, {} failed, {} inconclusive, {} declared, {} not applicable",
                       counted(counts.all(), "check"), counts[Verdict::pass], counts[Verdict::fail],
                       counts[Verdict::inconclusive], counts[Verdict::deviation], counts[Verdict::not_applicable]);
}

}  // namespace

void append_verdicts(std::string& out, const Report& report, bool all, bool color) {
    for (const VerdictLook& look : kLooks) {
        const bool good = look.verdict == Verdict::pass || look.verdict == Verdict::not_applicable;
        const auto has_it = [&](const CheckResult& result) { return result.verdict == look.verdict; };
        if ((good && !all) || std::ranges::none_of(report.results, has_it)) continue;
        out += fmt::format("{}\n", look.heading);
        for (const CheckResult& result : report.results) {
            if (!has_it(result)) continue;
            if (good) append_short(out, result);
            else append_long(out, result, look, color);
        }
        out += '\n';
    }
    for (const ReportFact& fact : report.facts)
        if (fact.name == "incomplete" || fact.name == "nothing judged")
            append_wrapped(out, fmt::format("{}: ", fact.name), kCheckIndent, fact.value);
    out += counts_text(count(report)) + '\n';
}

void append_comparison(std::string& out, const Comparison& comparison, bool color) {
    out += fmt::format("\nSINCE {}\n", dissect::printable(comparison.before));
    const auto word = [](std::optional<Verdict> verdict) {
        return verdict ? name(*verdict) : std::string_view("not checked");
    };
    for (const Change& change : comparison.changes) {
        const Tone tone = change.kind == ChangeKind::broken ? look_of(Verdict::fail).tone : Tone::plain;
        append_toned(out, color ? tone : Tone::plain, fmt::format("{:<{}}", change.check->id, kCheckIndent));
        std::string rest;
        append_wrapped(rest, std::string(kCheckIndent, ' '), kCheckIndent,
                       fmt::format("{} -> {}{}{}", word(change.before), word(change.after),
                                   change.reason.empty() ? "" : ": ", dissect::printable(change.reason)));
        out += rest.substr(kCheckIndent);
    }
    out += fmt::format("{}{} unchanged\n", comparison.changes.empty() ? "no changes; " : "",
                       counted(comparison.same, "verdict"));
}

}  // namespace qps::cli
