// A report for programs: JSON, JUnit XML, and HTML that stands alone.
//
// What an attacker could feed: names of files, reasons, details of peers. All of it is escaped; what is no text is
// replaced.
#pragma once

#include <transport-replay/checks/report/comparison.hpp>

#include <optional>
#include <string>

namespace qps::transport::conformance {

inline constexpr int kReportSchema = 1;  // of the JSON; raised when a name goes or changes its meaning

[[nodiscard]] std::string json_text(const Report& report, const Comparison* comparison = nullptr);
// What failed and is less severe than `fail_on` is skipped there, as it does not decide the exit code; nothing: all of
// it is.
[[nodiscard]] std::string junit_text(const Report& report, std::optional<CheckSeverity> fail_on = CheckSeverity::low);
[[nodiscard]] std::string html_text(const Report& report, const Comparison* comparison = nullptr);

}  // namespace qps::transport::conformance
