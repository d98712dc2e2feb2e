// Two reports compared: what changed from an earlier one, of the same device with another firmware, say.
//
// What an attacker could feed: any file as the earlier report. It is read by a reader of JSON with bounds on length and
// depth, and only what is known is taken from it.
#pragma once

#include <transport-replay/checks/catalogue.hpp>

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::conformance {

inline constexpr std::size_t kLongestReport = 64 << 20;  // bytes; of all checks with all their details some hundred KiB

// What is kept of an earlier report.
struct EarlierResult {
    const CheckRow* check = nullptr;
    Verdict verdict = Verdict::not_applicable;
    std::uint64_t failures = 0;
    std::string reason;
};
struct EarlierReport {
    std::string subject;
    std::vector<EarlierResult> results;
};
// From the JSON of a report; a sentence where it is none.
[[nodiscard]] std::expected<EarlierReport, std::string> read_report(std::string_view json);

enum class ChangeKind : std::uint8_t { broken, mended, other };
struct Change {
    const CheckRow* check = nullptr;
    ChangeKind kind{};
    std::optional<Verdict> before;  // nothing: the earlier report has no such check
    std::optional<Verdict> after;
    std::string reason;  // of what is not well: as it is now, or as it was
};
struct Comparison {
    std::string before;  // the subjects
    std::string after;
    std::vector<Change> changes;  // broken first, then mended, then the rest; in the order of the catalogue
    std::uint64_t same = 0;
};
[[nodiscard]] Comparison compare(const EarlierReport& before, const Report& after);

}  // namespace qps::transport::conformance
