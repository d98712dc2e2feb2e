#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/findings/loss_place.hpp>
#include <transport-replay/findings/sentence.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <variant>

namespace qps::transport {

namespace {

// In the order of reports.
constexpr std::array kFamilies{
    families::recovery_family,       families::timeouts_family,
    families::reordering_family,     families::shared_causes_family,
    families::losses_by_size_family, families::naks_family,
    families::order_family,          families::icrc_family,
    families::refusal_family,        families::path_family,
    families::classes_family,        families::pauses_family,
    families::congestion_family,     families::links_family,
    families::bridging_family,       families::reachability_family,
    families::security_family,       families::collectives_family,
    families::management_family,     families::ulp_events_family,
    families::ulp_operations_family, families::fabric_family,
    families::iwarp_family,          families::ultra_ethernet_family,
    families::capture_family,        families::capture_reading_family,
};

struct Drawn {
    std::size_t row;
    Finding finding;
};

// The total order in which findings are reported: no two drafts are equal in it unless they are the same text.
bool worse(const Drawn& one, const Drawn& other) {
    const auto rank = [](const Drawn& drawn) {
        const Finding& finding = drawn.finding;
        const dissect::FrameIndex first =
            finding.packets.empty() ? dissect::FrameIndex{UINT64_MAX} : finding.packets.front();
        return std::tuple{~std::to_underlying(finding.severity) & 0xff,
                          ~finding.count,
                          first,
                          drawn.row,
                          finding.connection,
                          std::string_view(finding.summary)};
    };
    return rank(one) < rank(other);
}

// From the first of its events that has a time to the last.
void date(Finding& finding, const Timeline& timeline) {
    const auto add = [&](dissect::Instant time) {
        finding.first = std::min(finding.first.value_or(time), time);
        finding.last = std::max(finding.last.value_or(time), time);
    };
    for (const FindingEvent& event : finding.events)
        if (event.time) add(*event.time);
    for (const std::uint32_t place : finding.episodes) {
        add(timeline.recoveries[place].time.begin());
        add(timeline.recoveries[place].time.end());
    }
}

using CountOfKind = std::map<std::pair<std::size_t, Severity>, std::uint64_t>;

// Keeps the worst kMaxFindings in their order, and counts those that went.
void keep_worst(std::vector<Drawn>& drawn, CountOfKind& gone) {
    std::ranges::sort(drawn, worse);
    if (drawn.size() <= kMaxFindings) return;
    for (std::size_t i = kMaxFindings; i < drawn.size(); ++i) ++gone[{drawn[i].row, drawn[i].finding.severity}];
    drawn.erase(drawn.begin() + kMaxFindings, drawn.end());
}

// Where the clocks of the two directions of a connection differ, the order of its packets proves nothing.
void doubt_order(const Timeline& timeline, const FindingRow& row, Finding& finding) {
    if (!finding.connection || !row.by_order) return;
    const Connection* const connection = timeline.find(*finding.connection);
    if (connection == nullptr || !connection->clocks_apart()) return;
    finding.severity = Severity::note;
    finding.party = Party::undecided;
    finding.facts.emplace_back(facts::kClocksDiffer, true);
    if (finding.summary.ends_with('.')) finding.summary.pop_back();
    finding.summary += "; undecided, because the clocks of the two directions differ.";
}

Finding finding_of(const Timeline& timeline, const FindingRow& row, FindingDraft&& draft) {
    const auto is_unknown = [](const Fact& fact) {
        const bool* flag = std::get_if<bool>(&fact.value);
        return std::holds_alternative<std::monostate>(fact.value) || (flag != nullptr && !*flag);
    };
    std::erase_if(draft.facts, is_unknown);
    tidy(draft.events);
    Finding finding{.id = row.id,
                    .severity = draft.severity.value_or(row.severity),
                    .party = draft.party,
                    .connection = draft.connection,
                    .packets = {},
                    .count = draft.count,
                    .summary = sentence(draft.sentence.empty() ? row.sentence : draft.sentence, draft.facts),
                    .advice = sentence(draft.advice.empty() ? row.advice : draft.advice, draft.facts),
                    .clause = row.clause,
                    .facts = std::move(draft.facts),
                    .events = std::move(draft.events),
                    .episodes = std::move(draft.episodes),
                    .marked = draft.marked};
    for (const FindingEvent& event : events_of(finding, timeline, kMaxEvidence)) finding.packets.push_back(event.frame);
    date(finding, timeline);
    doubt_order(timeline, row, finding);
    return finding;
}

}  // namespace

std::span<const FindingRow> finding_rows() {
    static const std::vector<FindingRow> rows = [] {
        std::vector<FindingRow> all;
        for (const auto family : kFamilies) all.insert(all.end(), family().rows.begin(), family().rows.end());
        return all;
    }();
    return rows;
}

const FindingRow* finding_row(std::string_view id) {
    const auto row = std::ranges::find(finding_rows(), id, &FindingRow::id);
    return row == finding_rows().end() ? nullptr : &*row;
}

std::span<const FactRow* const> fact_rows() {
    static const std::vector<const FactRow*> rows = [] {
        std::vector<const FactRow*> all(facts::kShared.begin(), facts::kShared.end());
        for (const auto family : kFamilies) all.insert(all.end(), family().facts.begin(), family().facts.end());
        all.insert(all.end(), loss_place_facts().begin(), loss_place_facts().end());
        std::ranges::sort(all, {}, &FactRow::name);
        return all;
    }();
    return rows;
}

void draw_findings(Timeline& timeline) {
    const std::span<const FindingRow> rows = finding_rows();
    std::vector<Drawn> drawn;
    CountOfKind gone;
    const auto draw = [&](std::size_t row) {
        rows[row].draw(timeline, [&](FindingDraft&& draft) {
            drawn.push_back({row, finding_of(timeline, rows[row], std::move(draft))});
            if (drawn.size() == 2 * kMaxFindings) keep_worst(drawn, gone);
        });
    };
    const std::size_t bounded = rows.size() - 1;  // analysis-bounded: it tells what the others could not
    for (std::size_t row = 0; row < bounded; ++row)
        if (!timeline.quality.mixes_taps() || !rows[row].by_order) draw(row);
    keep_worst(drawn, gone);
    timeline.left_out.findings.clear();
    for (const auto& [kind, count] : gone)
        timeline.left_out.findings.push_back({rows[kind.first].id, kind.second, count});
    draw(bounded);  // no other takes its place
    std::ranges::sort(drawn, worse);
    timeline.findings.clear();
    for (Drawn& one : drawn) timeline.findings.push_back(std::move(one.finding));
}

}  // namespace qps::transport
