#include <dissect/render_value.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/page/collector.hpp>
#include <transport-replay/page/page.hpp>
#include <transport-replay/page/picture.hpp>
#include <transport-replay/page/style.hpp>
#include <transport-replay/page/tables.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/findings.hpp>
#include <transport-replay/report/markup.hpp>
#include <transport-replay/report/page_policy.hpp>
#include <transport-replay/report/page_style.hpp>
#include <transport-replay/report/rdma_packets.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::page {

using namespace dissect;

namespace {

constexpr std::size_t kMostFindings = 200;

std::string_view style_of(Severity severity) {
    return severity == Severity::error ? "fail" : severity == Severity::warning ? "inconclusive" : "none";
}

// Commands in advice stand between backticks.
std::string with_commands(std::string text) {
    bool open = false;
    for (std::size_t at = 0; (at = text.find('`', at)) != std::string::npos; open = !open) {
        if (!open && text.find('`', at + 1) == std::string::npos) break;
        text.replace(at, 1, open ? "</code>" : "<code>");
    }
    return text;
}

void add_fact(std::string& out, std::string_view name, std::string_view value) {
    if (!value.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, markup_text(value));
}

// The worst finding without its particulars: no clause after the first, nothing in parentheses.
std::string headline(const Collector& collected) {
    if (collected.findings().empty() && !saw_anything(collected.timeline())) return "No RDMA packet was captured: nothing was judged";
    if (collected.findings().empty() && !collected.timeline().incomplete.empty()) return "No problems found in what was read";
    if (collected.findings().empty()) return judged_all(collected.timeline()) ? "No problems found" : "No problems found; not everything could be judged";
    std::string line;
    int depth = 0;
    for (const char letter : collected.findings().front()->summary) {
        if (letter == ';') break;
        if (letter == '(') {
            if (depth++ == 0 && line.ends_with(' ')) line.pop_back();
        } else if (letter == ')') {
            depth = std::max(0, depth - 1);
        } else if (depth == 0) {
            line += letter;
        }
    }
    return line;
}

std::string head(const Collector& collected, const Origin& origin) {
    const Timeline& timeline = collected.timeline();
    std::string title = origin.files.empty() ? std::string("capture") : origin.files.front();
    if (origin.files.size() > 1) title += fmt::format(" and {} more", origin.files.size() - 1);
    std::array<std::uint64_t, kSeverityNames.size()> counts{};
    for (const Finding* finding : collected.findings()) ++counts[static_cast<std::size_t>(finding->severity)];
    for (const FindingsLeftOut& each : timeline.left_out.findings) counts[static_cast<std::size_t>(each.severity)] += each.count;
    const std::string style = fmt::format("{}{}", kPageStyle, kPictureStyle);
    std::string out = fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n<meta name=\"generator\" content=\"qpscope {}\">\n<title>qpscope: {}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
        policy_line(style, kSorting), origin.version, markup_text(title), style);
    out += fmt::format("<p class=\"soft\">qpscope report of {}</p>\n<h1>{}</h1>\n<ul class=\"counts\">\n", markup_text(title), markup_text(headline(collected)));
    for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
        const std::uint64_t count = counts[static_cast<std::size_t>(severity)];
        const std::string_view name = kSeverityNames[static_cast<std::size_t>(severity)];
        out += fmt::format("<li class=\"{}\"><b>{}</b>{}</li>\n", count == 0 ? "soft" : style_of(severity), grouped(count), count == 1 ? std::string(name) : plural(name));
    }
    const std::uint64_t connections = timeline.connections.size() + timeline.retired.connections;
    return out + fmt::format("<li><b>{}</b>{}</li>\n<li><b>{}</b>{}</li>\n</ul>\n", grouped(connections), connections == 1 ? "connection" : "connections",
                             grouped(timeline.packets), timeline.packets == 1 ? "packet" : "packets");
}

// What was not seen: what a reader must know before believing the rest.
std::string unseen(const Timeline& timeline) {
    const CaptureQuality& quality = timeline.quality;
    std::string out;
    const auto note = [&](std::uint64_t count, std::string_view what) {
        if (count != 0) out += fmt::format("{}{}", out.empty() ? "" : "; ", counted(count, what));
    };
    note(quality.cut, "truncated packet");
    note(quality.unreadable, "RDMA packet without a whole transport header");
    note(quality.drops.dropped + quality.drops.dropped_by_system, "packet dropped by the recorder");
    note(static_cast<std::uint64_t>(std::ranges::count_if(quality.one_way, &OneWay::reliable)), "pair of hosts captured in one direction only");
    std::uint64_t lost = 0;
    for (const Connection& connection : timeline.connections)
        for (const Way& way : connection.ways) lost += way.incidents->gaps.tap + way.incidents->response_gaps.tap;
    note(lost, "packet that the peers saw and the capture does not have");
    return out.empty() ? "nothing that is known to be missing" : out;
}

std::string capture(const Timeline& timeline) {
    const CaptureQuality& quality = timeline.quality;
    std::string out = "<h2>Capture</h2>\n<dl>\n";
    if (timeline.first && timeline.last) add_fact(out, "time", fmt::format("{}, {}", utc(*timeline.first), duration_text(*timeline.last - *timeline.first)));
    add_fact(out, "packets", fmt::format("{}, {} of them RDMA, {} on the wire", grouped(timeline.packets), grouped(rdma_packets(timeline)), bytes_text(timeline.bytes)));
    if (quality.icrc_good + quality.icrc_bad + quality.icrc_not_checkable != 0)
        add_fact(out, "ICRC", fmt::format("{} good, {} bad{}, {} not checkable", grouped(quality.icrc_good), grouped(quality.icrc_bad - quality.icrc_not_judged),
                                              quality.icrc_not_judged == 0 ? "" : fmt::format(", {} wrong and not judged", grouped(quality.icrc_not_judged)),
                                              grouped(quality.icrc_not_checkable)));
    for (const std::string& each : timeline.incomplete) add_fact(out, "incomplete", each);
    if (!saw_anything(timeline)) add_fact(out, "nothing judged", kNothingSeen);
    add_fact(out, "not seen", unseen(timeline));
    add_fact(out, "not judged", left_out_text(timeline));
    return out + "</dl>\n";
}

std::string evidence(const Finding& finding, const Collector& collected) {
    const std::optional<Instant> first = collected.timeline().first;
    std::vector<LadderStep> steps;
    for (const FrameIndex number : finding.packets) {
        const EvidencePacket* packet = collected.evidence(number);
        if (packet == nullptr || steps.size() == kMostLadderPackets) continue;
        steps.push_back({number, packet->time - first.value_or(packet->time), packet});
    }
    return ladder(steps);
}

void add_finding(std::string& out, const Finding& finding, const Collector& collected, bool with_ladder) {
    const Connection* connection = finding.connection ? collected.timeline().find(*finding.connection) : nullptr;
    out += fmt::format("<details{} class=\"finding\"><summary><span class=\"verdict {}\">{}</span><span class=\"id\">{}</span><span>{}</span></summary>\n<div>\n",
                       finding.severity == Severity::note ? "" : " open", style_of(finding.severity), severity_name(finding), finding.id, markup_text(finding.summary));
    if (!finding.advice.empty()) out += fmt::format("<p class=\"advice\">{}</p>\n", with_commands(markup_text(finding.advice)));
    out += "<dl>\n";
    add_fact(out, "who can act", party_name(finding));
    if (connection != nullptr) add_fact(out, "connection", fmt::format("#{} {}", std::to_underlying(connection->uid), ends_text(*connection)));
    if (finding.count > 1) add_fact(out, "times", grouped(finding.count));
    add_fact(out, "frames", frames_text(finding, ", "));
    add_fact(out, "source of the rule", clause_text(finding));
    out += "</dl>\n";
    if (with_ladder) out += evidence(finding, collected);
    out += "</div></details>\n";
}

std::string findings(const Collector& collected) {
    const auto& all = collected.findings();
    const std::size_t shown = std::min(all.size(), kMostFindings);
    std::string out = "<h2>Findings</h2>\n";
    if (all.empty()) out += "<p class=\"soft\">None.</p>\n";
    for (std::size_t i = 0; i < shown; ++i) add_finding(out, *all[i], collected, i < kMostLadders);
    std::uint64_t more = all.size() - shown;
    for (const FindingsLeftOut& each : collected.timeline().left_out.findings) more += each.count;
    if (more != 0) out += fmt::format("<p class=\"soft\">and {} more: see qpscope findings.</p>\n", grouped(more));
    return out;
}

std::string pictures(const Collector& collected) {
    const Timeline& timeline = collected.timeline();
    if (!timeline.first || !timeline.last || *timeline.last <= *timeline.first) return {};
    const Duration length = *timeline.last - *timeline.first;
    std::string out = "<h2>Over time</h2>\n" + throughput(collected.amounts(), length) + latency(collected.latencies(), length);
    for (const PsnGrid& grid : collected.grids()) {
        const Connection* connection = timeline.find(grid.connection);
        if (connection == nullptr) continue;
        out += fmt::format("<h3>PSNs that {} sent on connection #{}</h3>\n", markup_text(text(connection->end(grid.requester))), std::to_underlying(grid.connection));
        out += psns(grid, length);
    }
    return out;
}

}  // namespace

void write_page(const Collector& collected, const Origin& origin, const std::function<void(std::string_view)>& write) {
    write(head(collected, origin));
    write(capture(collected.timeline()));
    write(findings(collected));
    write(pictures(collected));
    write(operations(collected.timeline()));
    write(connections(collected));
    write(fmt::format("<script>{}</script>\n", kSorting));
    write("</main>\n</body>\n</html>\n");
}

}  // namespace qps::transport::page
