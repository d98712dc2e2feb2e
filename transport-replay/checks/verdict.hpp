// Verdicts of conformance checks: what was asked of a capture or of a device, and what came of it. Values only.
//
// A check that had nothing to look at is `not_applicable`, never passed; what a gap in the evidence leaves open is
// `inconclusive`, never failed. Their producers bound the lists in here: kMostEvidence frames a check, a result for a
// row of the catalogue.
#pragma once

#include <dissect/base/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qps::transport::conformance {

struct CheckRow;  // of catalogue.hpp

enum class Verdict : std::uint8_t { pass, fail, inconclusive, not_applicable, deviation };
inline constexpr std::array<std::string_view, 5> kVerdictNames{"pass", "fail", "inconclusive", "not applicable",
                                                               "declared deviation"};
[[nodiscard]] constexpr std::string_view name(Verdict verdict) { return kVerdictNames[std::to_underlying(verdict)]; }

inline constexpr std::size_t kMostEvidence = 16;  // frames a check lists; more prove no more

// A packet of the exchange in which an active check failed, or one that was expected and did not come.
enum class ExchangeWay : std::uint8_t { to_device, from_device, missing };
struct ExchangeStep {
    dissect::Duration at{};  // since the script began
    ExchangeWay way{};
    bool wrong = false;  // it is what failed
    std::string text;
};
inline constexpr std::size_t kMostExchange = 24;  // a failure shows; the last of them

struct CheckResult {
    const CheckRow* check = nullptr;  // of the catalogue, which outlives everything; never null in a Report
    Verdict verdict = Verdict::not_applicable;
    std::string reason;                         // one sentence, with numbers; empty where a pass needs none
    std::uint64_t examined = 0;                 // packets, messages, connections: what the check looks at
    std::uint64_t failures = 0;                 // of these
    std::vector<dissect::FrameIndex> evidence;  // the first of them, in order, at most kMostEvidence
    std::string detail;  // several lines: what was expected, what came, the difference; passive checks have none
    std::optional<dissect::Duration> took;  // of an active check
    std::vector<ExchangeStep> exchange;     // of a failed active check: the last packets, at most kMostExchange
};

struct ReportFact {  // of the subject: kernel, firmware, profile
    std::string name;
    std::string value;
    std::string plain{};  // for programs, where that is another: digits alone, seconds as a number
    [[nodiscard]] const std::string& for_programs() const { return plain.empty() ? value : plain; }
};

struct Report {
    std::string subject;  // file names, or a device
    std::vector<ReportFact> facts;
    std::vector<CheckResult> results;  // in the order of the catalogue
};

}  // namespace qps::transport::conformance
