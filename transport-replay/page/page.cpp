#include <dissect/packet/render_value.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/page/collector.hpp>
#include <transport-replay/page/page.hpp>
#include <transport-replay/page/panels.hpp>
#include <transport-replay/page/picture.hpp>
#include <transport-replay/page/style.hpp>
#include <transport-replay/page/tables.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/figures.hpp>
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

std::string head(const Collector& collected, const Origin& origin) {
    const Timeline& timeline = collected.timeline();
    std::string title = origin.files.empty() ? std::string("capture") : origin.files.front().name;
    if (origin.files.size() > 1) title += fmt::format(" and {} more", origin.files.size() - 1);
    std::array<std::uint64_t, kSeverityNames.size()> counts{};
    for (const Finding* finding : collected.findings()) ++counts[static_cast<std::size_t>(finding->severity)];
    for (const FindingsLeftOut& each : timeline.left_out.findings)
        counts[static_cast<std::size_t>(each.severity)] += each.count;
    const std::string style = fmt::format("{}{}", kPageStyle, kPictureStyle);
    std::string out = fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n<meta name=\"generator\" content=\"qpscope {}\">\n<title>qpscope: {}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
        policy_line(style, kSorting), origin.version, markup_text(title), style);
    out += fmt::format("<p class=\"soft\">qpscope report of {}</p>\n<h1>{}</h1>\n", markup_text(title),
                       markup_text(headline(collected)));
    for (const std::string& each : timeline.incomplete)
        out += fmt::format("<p class=\"inconclusive\">{}</p>\n", markup_text(each));
    out += "<ul class=\"counts\">\n";
    for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
        const std::uint64_t count = counts[static_cast<std::size_t>(severity)];
        const std::string_view name = kSeverityNames[static_cast<std::size_t>(severity)];
        out += fmt::format("<li class=\"{}\"><b>{}</b>{}</li>\n", count == 0 ? "soft" : style_of(severity),
                           grouped(count), count == 1 ? std::string(name) : plural(name));
    }
    const std::uint64_t connections = collected.connections();
    return out + fmt::format("<li><b>{}</b>{}</li>\n<li><b>{}</b>{}</li>\n</ul>\n", grouped(connections),
                             connections == 1 ? "connection" : "connections", grouped(timeline.packets),
                             timeline.packets == 1 ? "packet" : "packets");
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
    note(static_cast<std::uint64_t>(std::ranges::count_if(quality.one_way, &OneWay::reliable)),
         "pair of hosts captured in one direction only");
    std::uint64_t lost = 0;
    for (const Connection& connection : timeline.connections)
        for (const Way& way : connection.ways) lost += losses_of(way).by_capture;
    note(lost, "packet that the peers saw and the capture does not have");
    return out.empty() ? "none known" : out;
}

std::string capture(const Timeline& timeline) {
    const CaptureQuality& quality = timeline.quality;
    std::string out = "<h2>Capture</h2>\n<dl>\n";
    if (timeline.first && timeline.last)
        add_fact(out, "time",
                 fmt::format("{}, {}", utc(*timeline.first), duration_text(*timeline.last - *timeline.first)));
    add_fact(out, "packets",
             fmt::format("{}, {} of them RDMA, {} on the wire", grouped(timeline.packets),
                         grouped(rdma_packets(timeline)), bytes_text(timeline.bytes)));
    if (quality.icrc_good + quality.icrc_bad + quality.icrc_not_checkable != 0)
        add_fact(out, "ICRC",
                 fmt::format("{} good, {} bad{}, {} not checkable", grouped(quality.icrc_good),
                             grouped(quality.icrc_bad - quality.icrc_not_judged),
                             quality.icrc_not_judged == 0
                                 ? ""
                                 : fmt::format(", {} wrong and not judged", grouped(quality.icrc_not_judged)),
                             grouped(quality.icrc_not_checkable)));
    for (const std::string& each : timeline.incomplete) add_fact(out, "incomplete", each);
    if (!saw_anything(timeline)) add_fact(out, "nothing judged", kNothingSeen);
    add_fact(out, "defects", unseen(timeline));
    add_fact(out, "not judged", left_out_text(timeline));
    return out + "</dl>\n";
}

// Where the report is from: what a reader needs to make it again, and to know that it is of the same capture.
std::string provenance(const Origin& origin) {
    std::string out = "<h2>Report</h2>\n<dl>\n";
    add_fact(out, "program", fmt::format("qpscope {}", origin.version));
    add_fact(out, "command", origin.command);
    if (origin.made) add_fact(out, "made", utc(*origin.made));
    for (std::size_t i = 0; i < std::min(origin.files.size(), kMostFiles); ++i) {
        const InputFile& file = origin.files[i];
        add_fact(out, i == 0 ? "files" : " ",
                 fmt::format("{}{}{}{}", file.name, file.bytes ? fmt::format(", {} bytes", grouped(*file.bytes)) : "",
                             file.sha256.empty() ? "" : ", SHA-256 ", file.sha256));
    }
    if (origin.files.size() > kMostFiles)
        add_fact(out, " ", fmt::format("and {} more", grouped(origin.files.size() - kMostFiles)));
    return out + "</dl>\n";
}

std::string pictures(const Collector& collected) {
    const Timeline& timeline = collected.timeline();
    if (!timeline.first || !timeline.last || *timeline.last <= *timeline.first) return {};
    const Span all{*timeline.first, *timeline.last - *timeline.first};
    return "<h2>Over time</h2>\n" + throughput(collected.amounts(), all) + latency(collected.latencies(), all);
}

}  // namespace

void write_page(const Collector& collected, const Origin& origin, const std::function<void(std::string_view)>& write) {
    write(head(collected, origin));
    write(pictures(collected));
    write(panels(collected));
    write(capture(collected.timeline()));
    write(provenance(origin));
    write(operations(collected.timeline()));
    write(connections(collected));
    write(fmt::format("<script>{}</script>\n", kSorting));
    write("</main>\n</body>\n</html>\n");
}

}  // namespace qps::transport::page
