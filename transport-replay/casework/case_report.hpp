// The report of a case as a document: JSON, or rows of names and values (docs/schema/case.schema.json).
#pragma once

#include <transport-replay/casework/verdict.hpp>
#include <transport-replay/report/format.hpp>

#include <string>

namespace qps::casework {

// How much of a list is shown: a page for people, 12,000 characters for programs; the rest is counted.
inline constexpr std::size_t kShownClaims = 6;
inline constexpr std::size_t kShownFollowing = 4;
inline constexpr std::size_t kShownSteps = 4;
inline constexpr std::size_t kShownFiles = 24;

void append_document(std::string& out, transport::OutputFormat format, const Case& read, const Verdict& verdict);

// "node-a.dmesg:12", "tap.pcap, frame 17"
[[nodiscard]] std::string place_text(const Case& read, const Place& place);
// The line, without blanks around it; empty where it is too long to be quoted whole.
[[nodiscard]] std::string_view quote(const Case& read, const Place& place);
// "NCCL log (12 lines), error CQE (4)"; "capture"
[[nodiscard]] std::string kinds_text(const CaseFile& file);
// The first claims of a verdict in one sentence for its head.
[[nodiscard]] std::string head_text(const Verdict& verdict);

}  // namespace qps::casework
