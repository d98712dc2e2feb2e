#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/finding_groups.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
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

// A group has one advice, so what different parties can do something about, or what asks for something else, is not in
// one.
std::vector<FindingGroup> groups_of(std::span<const Finding* const> findings) {
    std::vector<FindingGroup> groups;
    std::map<std::tuple<Severity, std::string_view, Party, std::string>, std::size_t> places;
    for (const Finding* finding : findings) {
        const auto [place, is_new] = places.try_emplace(
            {finding->severity, finding->id, finding->party, kind_of_advice(finding->advice)}, groups.size());
        if (is_new) groups.emplace_back();
        FindingGroup& group = groups[place->second];
        group.findings.push_back(finding);
        group.count += finding->count;
    }
    for (FindingGroup& group : groups)
        std::ranges::stable_sort(group.findings, std::ranges::greater{},
                                 [](const Finding* finding) { return finding->count; });
    return groups;
}

constexpr std::size_t kNamedOfMany = 12;  // hosts of other findings of a group

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        std::string_view word = text.substr(at, end - at);
        while (word.size() > 1 && std::string_view(".,;:").contains(word.back())) word.remove_suffix(1);
        words.push_back(word);
        at = end + 1;
    }
    return words;
}

// Which panel a packet is in, as evidence on that connection.
using Places = std::map<std::pair<ConnectionId, dissect::FrameIndex>, std::set<std::size_t>>;

std::set<std::size_t> panels_with(const Finding& finding, const Places& places) {
    std::set<std::size_t> panels;
    if (!finding.connection) return panels;
    for (const dissect::FrameIndex frame : finding.packets)
        if (const auto found = places.find({*finding.connection, frame}); found != places.end())
            panels.insert(found->second.begin(), found->second.end());
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

// A group has the advice of its first finding: whom that of the others names, "(likewise for 10.1.0.3 and 10.1.0.4)",
// where one host differs alone; else how many of them differ.
std::string also_named(const FindingGroup& group) {
    const auto first = words_of(group.first().advice);
    std::vector<std::string_view> others;
    std::optional<std::size_t> place;
    std::size_t differing = 0;
    bool one_place = true;
    for (const Finding* finding : group.findings) {
        if (finding->advice == group.first().advice) continue;
        ++differing;
        const auto words = words_of(finding->advice);
        one_place = one_place && words.size() == first.size();
        for (std::size_t i = 0; one_place && i < words.size(); ++i) {
            if (words[i] == first[i]) continue;
            if (place && *place != i) one_place = false;
            place = i;
            if (std::ranges::find(others, words[i]) == others.end()) others.push_back(words[i]);
        }
    }
    if (differing == 0) return {};
    const bool hosts = std::ranges::all_of(
        others, [](std::string_view word) { return word.find_first_of(".:") != std::string_view::npos; });
    if (!one_place || !hosts || others.empty())
        return fmt::format("(likewise for {}, with their hosts and numbers)", counted(differing, "more finding"));
    const std::size_t shown = std::min(others.size(), kNamedOfMany);
    std::string text;
    for (std::size_t i = 0; i < shown; ++i)
        text += fmt::format("{}{}", i == 0 ? "" : i + 1 == others.size() ? " and " : ", ", others[i]);
    return fmt::format("(likewise for {}{})", text,
                       shown == others.size() ? "" : fmt::format(" and {} more", grouped(others.size() - shown)));
}

std::string advice_of(const FindingGroup& group) {
    const std::string also = also_named(group);
    return also.empty() ? group.first().advice : fmt::format("{} {}", group.first().advice, also);
}

std::vector<FindingPanel> finding_panels(std::span<const Finding* const> findings) {
    std::vector<FindingPanel> panels;
    Places places;
    for (FindingGroup& group : groups_of(findings)) {
        const std::size_t at = panel_for(group, places).value_or(panels.size());
        for (const Finding* finding : group.findings)
            if (finding->connection)
                for (const dissect::FrameIndex frame : finding->packets)
                    places[{*finding->connection, frame}].insert(at);
        if (at == panels.size()) panels.push_back({std::move(group), {}});
        else panels[at].also.push_back(std::move(group));
    }
    return panels;
}

}  // namespace qps::transport
