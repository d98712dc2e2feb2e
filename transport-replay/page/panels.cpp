#include <dissect/packet/render_value.hpp>
#include <transport-replay/findings/headline.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/page/collector.hpp>
#include <transport-replay/page/panels.hpp>
#include <transport-replay/page/picture.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/fact_text.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/findings.hpp>
#include <transport-replay/report/markup.hpp>
#include <transport-replay/report/rdma_packets.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace qps::transport::page {

using namespace dissect;

namespace {

constexpr std::size_t kMostFindings = 200;  // with their sentence, in all panels
constexpr std::size_t kMostPanels = 100;

// Commands in advice stand between backticks.
std::string with_commands(std::string text) {
    bool open = false;
    for (std::size_t at = 0; (at = text.find('`', at)) != std::string::npos; open = !open) {
        if (!open && text.find('`', at + 1) == std::string::npos) break;
        text.replace(at, 1, open ? "</code>" : "<code>");
    }
    return text;
}

std::string connection_text(const Finding& finding, const Timeline& timeline) {
    if (!finding.connection) return {};
    const Connection* connection = timeline.find(*finding.connection);
    return fmt::format("#{}{}{}", std::to_underlying(*finding.connection), connection == nullptr ? "" : " ",
                       connection == nullptr ? "" : ends_text(*connection));
}

// How many findings may still have their sentence in the page, and how many have none although no group says so.
struct Room {
    std::size_t left = kMostFindings;
    std::uint64_t left_out = 0;
};

void add_list(std::string& out, const FindingGroup& group, const Collector& collected, Room& room) {
    out += "<ul class=\"each\">\n";
    const std::size_t shown = std::min(group.findings.size(), room.left);
    room.left -= shown;
    for (std::size_t i = 0; i < shown; ++i) {
        const Finding& finding = *group.findings[i];
        const std::string place = connection_text(finding, collected.timeline());
        out += fmt::format("<li>{}{} <span class=\"soft\">{} {}</span></li>\n",
                           place.empty() ? "" : "<b>" + markup_text(place) + "</b> ", markup_text(finding.summary),
                           finding.packets.size() == 1 ? "frame" : "frames", frames_text(finding, ", "));
    }
    out += "</ul>\n";
    if (shown < group.findings.size())
        out += fmt::format("<p class=\"soft\">and {} more: see qpscope findings.</p>\n",
                           grouped(group.findings.size() - shown));
}

// What of a group is not in its heading. `began`: when the first packet was that proves it.
void add_group(std::string& out, const FindingGroup& group, const FindingPanel& panel, const Collector& collected,
               Room& room, std::optional<Instant> began = {}) {
    const Finding& first = group.first();
    const bool several = group.findings.size() > 1;
    if (!first.advice.empty())
        out += fmt::format("<p class=\"advice\">{}</p>\n", with_commands(markup_text(advice_of(group))));
    out += "<dl>\n";
    add_fact(out, "who can act", party_name(first));
    if (!several && (&group == &panel.head || first.connection != panel.head.first().connection))
        add_fact(out, "connection", connection_text(first, collected.timeline()));
    if (group.count > group.findings.size()) add_fact(out, "times", grouped(group.count));
    if (began)
        add_fact(
            out, "first",
            fmt::format("{} ({} s)", utc(*began), seconds_text(*began - collected.timeline().first.value_or(*began))));
    if (!several) add_fact(out, "frames", frames_text(first, ", "));
    add_fact(out, "source of the rule", clause_text(first));
    if (!several)
        for (const Fact& fact : first.facts) add_fact(out, fact_label(*fact.row), fact_text(fact));
    out += "</dl>\n";
    if (several) add_list(out, group, collected, room);
    else --room.left;
}

std::string heading_of(const FindingGroup& group, const Collector& collected) {
    const bool several = group.findings.size() > 1;
    const Finding& first = group.first();
    return fmt::format("<span class=\"verdict {}\">{}</span><span class=\"id\">{}</span><span>{}</span>",
                       style_of(first.severity), severity_name(first), first.id,
                       markup_text(several ? headline_of(group, collected.connections()) : first.summary));
}

// PSNs over time and the packets, of the worst case.
void add_pictures(std::string& out, const FindingPanel& panel, const Collector& collected) {
    const Timeline& timeline = collected.timeline();
    const Finding& first = panel.head.first();
    for (const PsnGrid& grid : collected.grids()) {
        const Connection* connection = timeline.find(grid.connection);
        if (connection == nullptr || first.connection != grid.connection || !timeline.first || !timeline.last) continue;
        out += fmt::format("<h3>PSNs that {} sent on connection #{}</h3>\n",
                           markup_text(text(connection->end(grid.requester))), std::to_underlying(grid.connection));
        out += psns(grid, {*timeline.first, *timeline.last - *timeline.first});
    }
    std::vector<LadderStep> steps;
    for (const FrameIndex number : ladder_packets(panel))
        if (const EvidencePacket* packet = collected.evidence(number))
            steps.push_back({number, packet->time - timeline.first.value_or(packet->time), packet});
    if (!steps.empty() && panel.head.findings.size() > 1 && first.connection)
        out += fmt::format("<h3>Packets of {}</h3>\n", markup_text(connection_text(first, timeline)));
    out += ladder(steps);
}

void add_panel(std::string& out, std::size_t at, const Collector& collected, Room& room) {
    const FindingPanel& panel = collected.panels()[at];
    const Finding& first = panel.head.first();
    out += fmt::format("<details{} class=\"finding\"><summary>{}</summary>\n<div>\n",
                       first.severity == Severity::note ? "" : " open", heading_of(panel.head, collected));
    add_group(out, panel.head, panel, collected, room, collected.first_of(at));
    for (const FindingGroup& group : panel.also) {
        if (room.left == 0) {
            room.left_out += group.findings.size();
            continue;
        }
        out += fmt::format("<div class=\"also\"><p class=\"line\">{}</p>\n", heading_of(group, collected));
        add_group(out, group, panel, collected, room);
        out += "</div>\n";
    }
    if (at < kMostLadders) add_pictures(out, panel, collected);
    out += "</div></details>\n";
}

std::uint64_t findings_in(const FindingPanel& panel) {
    std::uint64_t count = panel.head.findings.size();
    for (const FindingGroup& group : panel.also) count += group.findings.size();
    return count;
}

}  // namespace

std::string_view style_of(Severity severity) {
    return severity == Severity::error ? "fail" : severity == Severity::warning ? "inconclusive" : "none";
}

void add_fact(std::string& out, std::string_view name, std::string_view value) {
    if (!value.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, markup_text(value));
}

std::string headline(const Collector& collected) {
    if (collected.findings().empty() && !saw_anything(collected.timeline()))
        return "No RDMA packet was captured: nothing was judged";
    if (collected.findings().empty() && !collected.timeline().incomplete.empty())
        return "No problems found in what was read";
    if (collected.findings().empty())
        return judged_all(collected.timeline()) ? "No problems found"
                                                : "No problems found; not everything could be judged";
    const FindingGroup& worst = collected.panels().front().head;
    return headline_of(worst, collected.connections());
}

std::string panels(const Collector& collected) {
    std::string out = "<h2>Findings</h2>\n";
    if (collected.findings().empty()) out += "<p class=\"soft\">None.</p>\n";
    Room room;
    std::size_t at = 0;
    for (; at < std::min(collected.panels().size(), kMostPanels) && room.left != 0; ++at)
        add_panel(out, at, collected, room);
    std::uint64_t more = room.left_out;
    for (; at < collected.panels().size(); ++at) more += findings_in(collected.panels()[at]);
    for (const FindingsLeftOut& each : collected.timeline().left_out.findings) more += each.count;
    if (more != 0) out += fmt::format("<p class=\"soft\">and {} more: see qpscope findings.</p>\n", grouped(more));
    return out;
}

}  // namespace qps::transport::page
