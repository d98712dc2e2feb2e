// Findings as rows.
#pragma once

#include <transport-replay/model/finding.hpp>
#include <transport-replay/report/table.hpp>

#include <span>

namespace qps::transport {

[[nodiscard]] std::span<const TableColumn<Finding>> finding_columns();
[[nodiscard]] Tone tone_of(Severity severity);

[[nodiscard]] std::string_view severity_name(const Finding& finding);
[[nodiscard]] std::string_view party_name(const Finding& finding);
// "3,17,18": the packets that prove it.
[[nodiscard]] std::string frames_text(const Finding& finding, std::string_view separator = ",");
// The clause of a specification; nothing where it rests on what was observed alone.
[[nodiscard]] std::string_view clause_text(const Finding& finding);

}  // namespace qps::transport
