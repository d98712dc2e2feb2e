#include <transport-replay/model/timeline.hpp>
#include <transport-replay/page/collector.hpp>
#include <transport-replay/page/tables.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/markup.hpp>
#include <transport-replay/report/ulp.hpp>

#include <algorithm>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace qps::transport::page {

using namespace dissect;

namespace {

constexpr std::size_t kMostConnections = 400, kMostOperations = 100;  // rows

// A cell of a number: what sorts, and what is read; 0 is left empty.
void add_number(std::string& out, std::uint64_t number, const std::string& text) {
    out += fmt::format("<td class=\"n\" data-n=\"{}\">{}</td>", number, number == 0 ? std::string() : text);
}

void add_head(std::string& out, std::initializer_list<std::pair<std::string_view, bool>> heads) {
    out += "<thead><tr>";
    for (const auto& [head, number] : heads) out += fmt::format("<th{}>{}</th>", number ? " class=\"n\"" : "", head);
    out += "</tr></thead>\n<tbody>\n";
}

struct Troubles {
    std::uint64_t retransmitted = 0;
    std::uint64_t naks = 0;
};

Troubles troubles_of(const Connection& connection) {
    Troubles all;
    for (const Way& way : connection.ways) {
        all.retransmitted += way.incidents->retransmitted;
        all.naks += way.incidents->sequence_naks + way.incidents->rnr_naks + way.incidents->fatal_naks;
    }
    return all;
}

void add_connection(std::string& out, const Connection& connection, bool gave_up) {
    const Troubles troubles = troubles_of(connection);
    const DurationSummary& latency =
        std::max(connection.ways[0].latency, connection.ways[1].latency,
                 [](const DurationSummary& a, const DurationSummary& b) { return a.count < b.count; });
    const auto mean = static_cast<std::uint64_t>(std::max<std::int64_t>(std::to_underlying(latency.mean()), 0));
    const ConnectionRow row{connection, gave_up};
    const std::string_view tone = tone_of(row) == Tone::error     ? "fail"
                                  : tone_of(row) == Tone::warning ? "inconclusive"
                                                                  : "";
    out += fmt::format("<tr><td class=\"n\" data-n=\"{0}\">{0}</td><td>{1}</td><td>{2}</td>",
                       std::to_underlying(connection.uid), service_name(connection.service),
                       markup_text(ends_text(connection)));
    add_number(out, connection.all_packets(), grouped(connection.all_packets()));
    add_number(out, connection.all_bytes(), bytes_text(connection.all_bytes()));
    add_number(out, troubles.retransmitted, grouped(troubles.retransmitted));
    add_number(out, troubles.naks, grouped(troubles.naks));
    add_number(out, mean, duration_text(latency.mean()));
    out += fmt::format("<td class=\"{}\">{}</td></tr>\n", tone, state_of(row));
}

}  // namespace

std::string connections(const Collector& collected) {
    const Timeline& timeline = collected.timeline();
    std::vector<std::pair<Troubles, const Connection*>> rows;
    rows.reserve(timeline.connections.size());
    for (const Connection& connection : timeline.connections)
        if (collected.wants(connection.uid)) rows.emplace_back(troubles_of(connection), &connection);
    if (rows.empty()) return {};
    const std::size_t shown = std::min(rows.size(), kMostConnections);
    std::ranges::partial_sort(
        rows, rows.begin() + static_cast<std::ptrdiff_t>(shown), [](const auto& a, const auto& b) {
            const auto worth = [](const auto& row) {
                return std::tuple(row.first.retransmitted + row.first.naks, row.second->all_bytes());
            };
            return worth(a) != worth(b) ? worth(a) > worth(b) : a.second->uid < b.second->uid;
        });
    const auto gave_up = given_up(timeline);
    std::string out = "<h2>Connections</h2>\n<div class=\"scroll\"><table class=\"sortable\">\n";
    add_head(out, {{"#", true},
                   {"Service", false},
                   {"Ends", false},
                   {"Packets", true},
                   {"Bytes", true},
                   {"Retransmitted", true},
                   {"NAKs", true},
                   {"Mean latency", true},
                   {"State", false}});
    for (std::size_t i = 0; i < shown; ++i) add_connection(out, *rows[i].second, gave_up.contains(rows[i].second->uid));
    out += "</tbody></table></div>\n";
    if (rows.size() > shown)
        out +=
            fmt::format("<p class=\"soft\">and {} more: see qpscope connections.</p>\n", grouped(rows.size() - shown));
    return out;
}

std::string operations(const Timeline& timeline) {
    const auto& sums = timeline.ulp.sums;
    if (sums.empty()) return {};
    std::string out = "<h2>Operations of upper protocols</h2>\n<div class=\"scroll\"><table class=\"sortable\">\n";
    add_head(out, {{"Protocol", false},
                   {"Operation", false},
                   {"Count", true},
                   {"Failed", true},
                   {"Unanswered", true},
                   {"Bytes", true},
                   {"Median", true},
                   {"99 %", true}});
    constexpr double kMedian = 50, kSlow = 99;
    for (std::size_t i = 0; i < std::min(sums.size(), kMostOperations); ++i) {
        const OperationSum& sum = sums[i];
        out += fmt::format("<tr><td>{}</td><td>{}</td>", info(sum.protocol).name,
                           markup_text(operation_name(sum.protocol, sum.code)));
        add_number(out, sum.count, grouped(sum.count));
        add_number(out, sum.failed, fmt::format("<span class=\"fail\">{}</span>", grouped(sum.failed)));
        add_number(out, sum.unanswered, grouped(sum.unanswered));
        add_number(out, sum.bytes, bytes_text(sum.bytes));
        for (const double percent : {kMedian, kSlow}) {
            const auto took = sum.latency.count == 0 ? Duration{} : sum.percentile(percent);
            add_number(out, static_cast<std::uint64_t>(std::max<std::int64_t>(std::to_underlying(took), 0)),
                       duration_text(took));
        }
        out += "</tr>\n";
    }
    out += "</tbody></table></div>\n";
    if (sums.size() > kMostOperations)
        out += fmt::format("<p class=\"soft\">and {} more: see qpscope operations.</p>\n",
                           grouped(sums.size() - kMostOperations));
    return out;
}

}  // namespace qps::transport::page
