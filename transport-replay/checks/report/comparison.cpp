#include <transport-replay/checks/report/comparison.hpp>

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

namespace qps::transport::conformance {

namespace {

std::optional<Verdict> verdict_named(std::string_view text) {
    const auto* found = std::ranges::find(kVerdictNames, text);
    if (found == kVerdictNames.end()) return {};
    return static_cast<Verdict>(found - kVerdictNames.begin());
}

// Takes from JSON, as it is read, what is known of a report: {"subject": ..., "checks": [{"id": ..., "verdict": ...},
// ...]}. Nothing else is kept, and reading ends where it is nested deeper than any report.
class ReportReader final : public nlohmann::json_sax<nlohmann::json> {
public:
    EarlierReport report;
    bool has_checks = false;

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t number) override {
        if (in_result() && key_ == "failures") result_.failures = number;
        return true;
    }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t& text) override {
        if (depth_ == 1 && key_ == "subject") {
            report.subject = std::move(text);
            return true;
        }
        if (!in_result()) return true;
        if (key_ == "id") result_.check = find_check(text);
        else if (key_ == "verdict") verdict_ = verdict_named(text);
        else if (key_ == "reason") result_.reason = std::move(text);
        return true;
    }
    bool binary(binary_t&) override { return true; }
    bool key(string_t& name) override {
        if (depth_ == 1 || in_result()) key_ = std::move(name);
        return true;
    }
    bool start_object(std::size_t) override {
        if (in_checks_ && depth_ == kChecksDepth) {
            result_ = {};
            verdict_.reset();
        }
        return ++depth_ <= kDeepest;
    }
    bool end_object() override {
        --depth_;
        if (!in_checks_ || depth_ != kChecksDepth || result_.check == nullptr || !verdict_) return true;
        result_.verdict = *verdict_;
        if (report.results.size() < kCheckCount) report.results.push_back(std::move(result_));
        return true;
    }
    bool start_array(std::size_t) override {
        if (depth_ == 0) return false;
        if (depth_ == 1) in_checks_ = key_ == "checks";
        has_checks = has_checks || in_checks_;
        return ++depth_ <= kDeepest;
    }
    bool end_array() override {
        if (--depth_ == 1) in_checks_ = false;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

private:
    static constexpr std::size_t kDeepest = 32;     // reports have 4 levels
    static constexpr std::size_t kChecksDepth = 2;  // in the list of the outermost object
    [[nodiscard]] bool in_result() const { return in_checks_ && depth_ == kChecksDepth + 1; }

    std::size_t depth_ = 0;
    bool in_checks_ = false;
    std::string key_;  // the last one in the outermost object, or in a result
    EarlierResult result_;
    std::optional<Verdict> verdict_;
};

ChangeKind kind_of(std::optional<Verdict> before, std::optional<Verdict> after) {
    if (after == Verdict::fail) return ChangeKind::broken;
    if (before == Verdict::fail && (after == Verdict::pass || after == Verdict::deviation)) return ChangeKind::mended;
    return ChangeKind::other;
}

}  // namespace

std::expected<EarlierReport, std::string> read_report(std::string_view json) {
    if (json.size() > kLongestReport) return std::unexpected("too long for a report");
    ReportReader reader;
    if (!nlohmann::json::sax_parse(json, &reader) || !reader.has_checks)
        return std::unexpected("not a JSON report of checks");
    return std::move(reader.report);
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
