#include <transport-replay/report/finding_groups.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

namespace {

// Advice without what names hosts, queue pairs and amounts: words that are alike are one advice.
std::string kind_of_advice(std::string_view advice) {
    std::string kind;
    for (std::size_t at = 0; at < advice.size();) {
        const std::size_t end = std::min(advice.find(' ', at), advice.size());
        const std::string_view word = advice.substr(at, end - at);
        if (word.find_first_of("0123456789") == std::string_view::npos) kind += std::string(word) + ' ';
        at = end + 1;
    }
    return kind;
}

// A group has one advice, so what different parties can do something about, or what asks for something else, is not in one.
std::vector<FindingGroup> groups_of(std::span<const Finding* const> findings) {
    std::vector<FindingGroup> groups;
    std::map<std::tuple<Severity, std::string_view, Party, std::string>, std::size_t> places;
    for (const Finding* finding : findings) {
        const auto [place, is_new] = places.try_emplace({finding->severity, finding->id, finding->party, kind_of_advice(finding->advice)}, groups.size());
        if (is_new) groups.emplace_back();
        FindingGroup& group = groups[place->second];
        group.findings.push_back(finding);
        group.count += finding->count;
    }
    for (FindingGroup& group : groups)
        std::ranges::stable_sort(group.findings, std::ranges::greater{}, [](const Finding* finding) { return finding->count; });
    return groups;
}

// Which panel a packet is in, as evidence on that connection.
using Places = std::map<std::pair<ConnectionId, dissect::FrameIndex>, std::set<std::size_t>>;

std::set<std::size_t> panels_with(const Finding& finding, const Places& places) {
    std::set<std::size_t> panels;
    if (!finding.connection) return panels;
    for (const dissect::FrameIndex frame : finding.packets)
        if (const auto found = places.find({*finding.connection, frame}); found != places.end()) panels.insert(found->second.begin(), found->second.end());
    return panels;
}

// The first panel that all findings of a group share packets with.
std::optional<std::size_t> panel_for(const FindingGroup& group, const Places& places) {
    std::set<std::size_t> panels = panels_with(group.first(), places);
    for (const Finding* finding : group.findings) {
        if (panels.empty()) return std::nullopt;
        const std::set<std::size_t> own = panels_with(*finding, places);
        std::erase_if(panels, [&](std::size_t panel) { return !own.contains(panel); });
    }
    return panels.empty() ? std::nullopt : std::optional(*panels.begin());
}

}  // namespace

std::string advice_of(const FindingGroup& group) {
    const Finding& first = group.first();
    const bool differs = std::ranges::any_of(group.findings, [&](const Finding* finding) { return finding->advice != first.advice; });
    return differs && first.connection ? fmt::format("For #{}, and alike for the others: {}", std::to_underlying(*first.connection), first.advice) : first.advice;
}

std::vector<FindingPanel> finding_panels(std::span<const Finding* const> findings) {
    std::vector<FindingPanel> panels;
    Places places;
    for (FindingGroup& group : groups_of(findings)) {
        const std::size_t at = panel_for(group, places).value_or(panels.size());
        for (const Finding* finding : group.findings)
            if (finding->connection)
                for (const dissect::FrameIndex frame : finding->packets) places[{*finding->connection, frame}].insert(at);
        if (at == panels.size()) panels.push_back({std::move(group), {}});
        else panels[at].also.push_back(std::move(group));
    }
    return panels;
}

}  // namespace qps::transport
