// Counts of a report, its digest, and what of it is worth an alarm.
#pragma once

#include <transport-replay/checks/catalogue.hpp>

#include <array>
#include <string>

namespace qps::transport::conformance {

struct VerdictCounts {
    std::array<std::uint64_t, kVerdictNames.size()> of{};
    [[nodiscard]] std::uint64_t operator[](Verdict verdict) const { return of[std::to_underlying(verdict)]; }
    [[nodiscard]] std::uint64_t all() const {
        std::uint64_t sum = 0;
        for (const std::uint64_t count : of) sum += count;
        return sum;
    }
};

[[nodiscard]] inline VerdictCounts count(const Report& report) {
    VerdictCounts counts;
    for (const CheckResult& result : report.results) ++counts.of[std::to_underlying(result.verdict)];
    return counts;
}

// Whether two reports say the same: SHA-256, in hexadecimal, of a line "ID verdict" for each check, in the order of the
// catalogue.
[[nodiscard]] std::string digest_of(const Report& report);

// Whether a check failed that is as severe.
[[nodiscard]] inline bool fails_at(const Report& report, CheckSeverity least) {
    for (const CheckResult& result : report.results)
        if (result.verdict == Verdict::fail && result.check->severity >= least) return true;
    return false;
}

}  // namespace qps::transport::conformance
