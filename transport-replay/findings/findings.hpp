// Findings: what the reconstruction of a capture tells a person who wants to know what went wrong, drawn from one
// table.
//
// A row owns the id, the severity, the clause and the words; its function looks at the finished Timeline and emits a
// draft, facts and events, for every connection, host or capture that it is true of: one event, one finding, with a
// count. Drawing changes nothing but Timeline::findings, needs no order among the rows and gives the same findings for
// the same Timeline.
//
// What an attacker could feed: connections and episodes by the million. Evidence is bounded (kMaxEvidence) and so is
// the number of findings: the worst kMaxFindings stay, LeftOut::findings counts the rest by kind, and one more finding
// says so.
#pragma once

#include <transport-replay/model/finding.hpp>

#include <functional>
#include <span>
#include <string_view>

namespace qps::transport {

struct Timeline;

inline constexpr std::size_t kMaxFindings = 4096;  // of some 2 KiB; nobody reads more

// What a function of the table found. The row adds id and clause, the severity where the function has no other, and
// sentence and advice, which the facts fill.
struct FindingDraft {
    Party party{};
    std::optional<ConnectionId> connection{};
    std::uint64_t count = 1;
    std::optional<Severity> severity{};
    std::string_view sentence{};  // in place of the row's, likewise the advice
    std::string_view advice{};
    Facts facts{};                          // what is not known (nothing, false) is dropped
    std::vector<FindingEvent> events{};     // in any order, 0 (not captured) and more than once allowed
    std::vector<std::uint32_t> episodes{};  // places in Timeline::recoveries
    std::optional<MarkedPackets> marked{};
};
using Emit = std::function<void(FindingDraft&&)>;

// Clauses are those of volume 1 of the InfiniBand specification, A17 its annex of RoCEv2; 10.9.3 and 15.2.5.17 are from
// memory.
struct FindingRow {
    std::string_view id;       // kebab-case; scripts depend on it
    Severity severity{};       // of most of them; a draft may say otherwise
    std::string_view clause;   // of the specification, or what else it rests on
    std::string_view meaning;  // one line for a catalogue of findings
    std::string_view
        predicate{};  // what several connections have in common that have it: "16 of 16 connections" goes before it
    bool by_order = false;  // it rests on the order of packets: copies look so where taps cannot be told apart, and two
                            // directions whose clocks differ
    std::string_view sentence{};  // templates (sentence.hpp)
    std::string_view advice{};
    std::string_view alike{};   // for its page: what else looks like it
    std::string_view limits{};  // and what it cannot know
    void (*draw)(const Timeline& timeline, const Emit& emit) = nullptr;
};

// All of them, by family.
[[nodiscard]] std::span<const FindingRow> finding_rows();
// nullptr: no finding has that id.
[[nodiscard]] const FindingRow* finding_row(std::string_view id);
// Every fact that a finding may have, by name.
[[nodiscard]] std::span<const FactRow* const> fact_rows();

// Fills timeline.findings and timeline.left_out.findings: worst severity first, then the greater count, then the
// earlier packet, then the order of the table.
void draw_findings(Timeline& timeline);

}  // namespace qps::transport
