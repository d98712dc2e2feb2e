// Reports as JSON and as JUnit XML, in the form that Jenkins and GitLab read: what each reader needs is in
// tests/cli/junit.xsd.
#include <transport-replay/checks/report/counts.hpp>
#include <transport-replay/checks/report/written.hpp>
#include <transport-replay/report/document.hpp>
#include <transport-replay/report/markup.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance {

namespace {

void write_counts(Document& document, const VerdictCounts& counts) {
    document.open("counts");
    for (std::size_t i = 0; i < kVerdictNames.size(); ++i) document.add(kVerdictNames[i], counts.of[i]);
    document.close();
}

void write_result(Document& document, const CheckResult& result) {
    const CheckRow& check = *result.check;
    document.open();
    document.add("id", check.id);
    document.add("family", kFamilies[std::to_underlying(check.family)].name);
    document.add("severity", name(check.severity));
    document.add("verdict", name(result.verdict));
    document.add("reason", result.reason);
    document.add("examined", result.examined);
    document.add("failures", result.failures);
    document.add_numbers("frames", result.evidence);
    document.add("looks_at", check.stimulus);
    document.add("expects", check.expected);
    document.add("basis", check.basis);
    document.add("known_from", words(check.marks));
    document.add("from_memory", check.marks.only_memory());
    if (result.took) document.add("took_ns", std::to_underlying(*result.took));
    if (!result.detail.empty()) document.add("detail", result.detail);
    document.close();
}

void write_comparison(Document& document, const Comparison& comparison) {
    document.open("compared");
    document.add("before", comparison.before);
    document.add("same", comparison.same);
    document.open_list("changes");
    for (const Change& change : comparison.changes) {
        document.open();
        document.add("id", change.check->id);
        document.add("before", change.before ? std::optional(name(*change.before)) : std::nullopt);
        document.add("after", change.after ? std::optional(name(*change.after)) : std::nullopt);
        document.add("reason", change.reason);
        document.close();
    }
    document.close_list();
    document.close();
}

std::string seconds(std::optional<dissect::Duration> took) {
    constexpr double kSecond = 1e9;
    return fmt::format("{:.6f}", took ? static_cast<double>(std::to_underlying(*took)) / kSecond : 0.0);
}
std::string seconds(const Report& report) {
    dissect::Duration sum{};
    for (const CheckResult& result : report.results) sum = sum + result.took.value_or(dissect::Duration{});
    return seconds(std::optional(sum));
}

// What was found, what is expected, and where that is written.
std::string failure_text(const CheckResult& result) {
    std::string text =
        fmt::format("{}\nexpected: {}\nclause: {}\n", result.reason, result.check->expected, result.check->basis);
    if (!result.detail.empty()) text += result.detail + (result.detail.ends_with('\n') ? "" : "\n");
    if (result.evidence.empty()) return text;
    text += "frames";
    for (const dissect::FrameIndex frame : result.evidence) text += fmt::format(" {}", std::to_underlying(frame));
    return text + '\n';
}

// As severe as what decides the exit code: a reader of the file and one of the code learn the same.
bool counts_as_failure(const CheckResult& result, std::optional<CheckSeverity> fail_on) {
    return result.verdict == Verdict::fail && fail_on && result.check->severity >= *fail_on;
}

void append_case(std::string& out, const CheckResult& result, std::optional<CheckSeverity> fail_on) {
    const CheckRow& check = *result.check;
    out += fmt::format("    <testcase classname=\"qpscope.{}\" name=\"{} {}\" time=\"{}\"",
                       kFamilies[std::to_underlying(check.family)].prefix, check.id, markup_text(check.stimulus),
                       seconds(result.took));
    if (result.verdict == Verdict::pass) {
        out += "/>\n";
        return;
    }
    out += ">\n";
    if (counts_as_failure(result, fail_on)) {
        out += fmt::format("      <failure type=\"{}\" message=\"{}; expected: {} ({})\">{}</failure>\n",
                           name(check.severity), markup_text(result.reason), markup_text(check.expected),
                           markup_text(check.basis), markup_text(failure_text(result)));
    } else if (result.verdict == Verdict::fail) {
        out += fmt::format("      <skipped message=\"failed, {} severity, below --fail-on: {}; expected: {} ({})\"/>\n",
                           name(check.severity), markup_text(result.reason), markup_text(check.expected),
                           markup_text(check.basis));
    } else {
        out += fmt::format("      <skipped message=\"{}: {}\"/>\n", name(result.verdict), markup_text(result.reason));
    }
    out += "    </testcase>\n";
}

}  // namespace

std::string json_text(const Report& report, const Comparison* comparison) {
    std::string out;
    Document document(OutputFormat::json, out);
    document.open();
    document.add("schema", kReportSchema);
    document.add("subject", report.subject);
    document.open("facts");
    for (const ReportFact& fact : report.facts) document.add(fact.name, fact.for_programs());
    document.close();
    write_counts(document, count(report));
    document.add("digest", digest_of(report));
    document.open_list("checks");
    for (const CheckResult& result : report.results) write_result(document, result);
    document.close_list();
    if (comparison != nullptr) write_comparison(document, *comparison);
    document.close();
    if (!out.ends_with('\n')) out += '\n';
    return out;
}

std::string junit_text(const Report& report, std::optional<CheckSeverity> fail_on) {
    const VerdictCounts all = count(report);
    const auto failures = [fail_on](const Report& of) {
        return std::ranges::count_if(
            of.results, [fail_on](const CheckResult& result) { return counts_as_failure(result, fail_on); });
    };
    std::string out = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{}\">\n",
        markup_text(report.subject), all.all(), failures(report), seconds(report));
    std::string properties = "    <properties>\n";
    for (const ReportFact& fact : report.facts)
        properties += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", markup_text(fact.name),
                                  markup_text(fact.for_programs()));
    properties += fmt::format("      <property name=\"digest\" value=\"{}\"/>\n    </properties>\n", digest_of(report));
    for (std::size_t family = 0; family < kFamilies.size(); ++family) {
        Report part;
        for (const CheckResult& result : report.results)
            if (std::to_underlying(result.check->family) == family) part.results.push_back(result);
        if (part.results.empty()) continue;
        const VerdictCounts counts = count(part);
        out += fmt::format(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{}\">\n",
            kFamilies[family].name, counts.all(), failures(part),
            counts.all() - static_cast<std::uint64_t>(failures(part)) - counts[Verdict::pass], seconds(part));
        out += properties;
        for (const CheckResult& result : part.results) append_case(out, result, fail_on);
        out += "  </testsuite>\n";
    }
    return out + "</testsuites>\n";
}

}  // namespace qps::transport::conformance
