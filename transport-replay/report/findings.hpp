// Findings as rows.
#pragma once

#include <transport-replay/model/finding.hpp>
#include <transport-replay/report/table.hpp>

#include <span>

namespace qps::transport {

class Document;
struct Timeline;

[[nodiscard]] std::span<const TableColumn<Finding>> finding_columns();
[[nodiscard]] Tone tone_of(Severity severity);

[[nodiscard]] std::string_view severity_name(const Finding& finding);
[[nodiscard]] std::string_view party_name(const Finding& finding);
// "3,17,18": the packets that prove it.
[[nodiscard]] std::string frames_text(const Finding& finding, std::string_view separator = ",");
// The clause of a specification; nothing where it rests on what was observed alone.
[[nodiscard]] std::string_view clause_text(const Finding& finding);

// "01:14:08.985", the time of day in UTC; with the date where `dated`.
[[nodiscard]] std::string clock_text(dissect::Instant time, bool dated = false);
// "first 01:14:08.985, last 01:14:09.734 UTC", "at 01:14:08.985 UTC"; nothing where its events have no time.
[[nodiscard]] std::string when_text(const Finding& finding);
// "stalled_ns", "length_bytes": its name, and its unit where JSON has a bare number.
[[nodiscard]] std::string json_name(const FactRow& row);
// Its value as a cell: numbers in the unit of its name, the rest as text.
[[nodiscard]] Cell fact_cell(const Fact& fact);
// As a member of an object that is open: by its JSON name, numbers in the unit of that name.
void add_fact(Document& document, const Fact& fact);
// As members of an object that is open.
void add_finding(Document& document, const Finding& finding, const Timeline& timeline);

}  // namespace qps::transport
