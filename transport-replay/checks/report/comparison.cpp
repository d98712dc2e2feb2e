#include <transport-replay/checks/report/comparison.hpp>
#include <transport-replay/checks/report/json_reader.hpp>

#include <algorithm>
#include <optional>

namespace qps::transport::conformance {

namespace {

std::optional<Verdict> verdict_named(std::string_view text) {
    const auto* found = std::ranges::find(kVerdictNames, text);
    if (found == kVerdictNames.end()) return {};
    return static_cast<Verdict>(found - kVerdictNames.begin());
}

std::optional<EarlierResult> result_of(JsonReader& reader) {
    EarlierResult result;
    std::optional<Verdict> verdict;
    reader.each_member([&](std::string_view name) {
        if (name == "id") result.check = find_check(reader.text());
        else if (name == "verdict") verdict = verdict_named(reader.text());
        else if (name == "failures") result.failures = reader.number();
        else if (name == "reason") result.reason = reader.text();
        else reader.skip();
    });
    if (result.check == nullptr || !verdict) return {};
    result.verdict = *verdict;
    return result;
}

ChangeKind kind_of(std::optional<Verdict> before, std::optional<Verdict> after) {
    if (after == Verdict::fail) return ChangeKind::broken;
    if (before == Verdict::fail && (after == Verdict::pass || after == Verdict::deviation)) return ChangeKind::mended;
    return ChangeKind::other;
}

}  // namespace

std::expected<EarlierReport, std::string> read_report(std::string_view json) {
    if (json.size() > kLongestReport) return std::unexpected("too long for a report");
    EarlierReport report;
    bool has_checks = false;
    JsonReader reader(json);
    reader.each_member([&](std::string_view name) {
        if (name == "subject") {
            report.subject = reader.text();
        } else if (name == "checks") {
            has_checks = true;
            reader.each_element([&] {
                auto result = result_of(reader);
                if (result && report.results.size() < kCheckCount) report.results.push_back(std::move(*result));
            });
        } else {
            reader.skip();
        }
    });
    if (!reader.whole() || !has_checks) return std::unexpected("not a JSON report of checks");
    return report;
}

Comparison compare(const EarlierReport& before, const Report& after) {
    Comparison comparison;
    comparison.before = before.subject;
    comparison.after = after.subject;
    for (const CheckRow& check : checks()) {
        const auto old = std::ranges::find(before.results, &check, &EarlierResult::check);
        const auto now = std::ranges::find(after.results, &check, &CheckResult::check);
        Change change;
        change.check = &check;
        if (old != before.results.end()) change.before = old->verdict;
        if (now != after.results.end()) change.after = now->verdict;
        if (!change.before && !change.after) continue;
        if (change.before == change.after) {
            ++comparison.same;
            continue;
        }
        change.kind = kind_of(change.before, change.after);
        change.reason = now != after.results.end() && !now->reason.empty() ? now->reason
                        : old != before.results.end()                      ? old->reason
                                                                           : std::string{};
        comparison.changes.push_back(std::move(change));
    }
    std::ranges::stable_sort(comparison.changes, {}, &Change::kind);
    return comparison;
}

}  // namespace qps::transport::conformance
