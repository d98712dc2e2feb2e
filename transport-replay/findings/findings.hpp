// Findings: what the reconstruction of a capture tells a person who wants to know what went wrong, drawn from one table.
//
// A row of kFindings owns the id, the severity and the clause; its function looks at the finished Timeline and emits a
// draft for every connection, host or capture that it is true of: one event, one finding, with a count. Drawing changes
// nothing but Timeline::findings, needs no order among the rows and gives the same findings for the same Timeline.
//
// What an attacker could feed: connections and episodes by the million. Evidence is bounded (kMaxEvidence) and so is the
// number of findings: the worst kMaxFindings stay, LeftOut::findings counts the rest by kind, and one more finding says so.
#pragma once

#include <transport-replay/model/finding.hpp>

#include <functional>
#include <span>

namespace qps::transport {

struct Timeline;

inline constexpr std::size_t kMaxFindings = 4096;  // of some 600 bytes; nobody reads more

// What a function of the table found. The row adds id and clause, and the severity where the function has no other.
struct FindingDraft {
    Party party{};
    std::optional<ConnectionId> connection{};
    std::vector<dissect::FrameIndex> packets{};  // in any order, 0 (not captured) and more than once allowed
    std::uint64_t count = 1;
    std::string summary{};
    std::string advice{};
    std::optional<Severity> severity{};
};
using Emit = std::function<void(FindingDraft&&)>;

struct FindingRow {
    std::string_view id;       // kebab-case; scripts depend on it
    Severity severity{};       // of most of them; a draft may say otherwise
    std::string_view clause;   // of the specification, or what else it rests on
    std::string_view meaning;  // one line for a catalogue of findings
    void (*draw)(const Timeline& timeline, const Emit& emit);
};

// All of them, by family.
[[nodiscard]] std::span<const FindingRow> finding_rows();

// Fills timeline.findings and timeline.left_out.findings: worst severity first, then the greater count, then the earlier
// packet, then the order of the table.
void draw_findings(Timeline& timeline);

}  // namespace qps::transport
