// `fabric`: the fabric's map as far as management datagrams show it: nodes, ports and links, managers, partitions,
// groups, counters that moved, events, and what was asked and answered.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/sheet.hpp>
#include <cli/shown.hpp>
#include <cli/wrapped.hpp>
#include <dissect/base/parse_value.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/fabric.hpp>
#include <transport-replay/report/fabric_route.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/json.hpp>

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::cli {

using namespace transport;

namespace {

// A LID of one port (4.1.3).
std::string check_lid(const std::string& text) {
    constexpr std::uint64_t kLast = 0xbfff;
    const auto lid = dissect::parse_number(text, kLast);
    return lid && *lid != 0 ? std::string() : fmt::format("Value {} not in range 1 to {}", text, kLast);
}

struct FabricOptions {
    ListingOptions listing;
    bool dot = false;                  // a picture for Graphviz
    std::vector<std::uint16_t> route;  // from that LID to that one; or none

    void add(OptionTable& table) {
        listing.reading.add_captures(table, listing.output);
        listing.reading.add_known(table);
        listing.output.add_format(table);
        table.flag("--dot", dot, "Print nodes and links as a Graphviz graph").not_with("--format");
        table.add("--route", "LID LID", route, "Print the way from a LID to a LID by the forwarding tables")
            .exactly(2)
            .checked(check_lid)
            .not_with("--dot");
        listing.reading.analysis.add_fail_on(table);
        listing.end(table);
    }
};

constexpr std::size_t kFabricIndent = 4;
constexpr std::size_t kMostTroubles = 50;  // requests without a good answer that a terminal shows

void append_fabric_line(std::string& out, std::string_view words) {
    append_wrapped(out, std::string(kFabricIndent, ' '), kFabricIndent, words);
}

// A heading and a line for each, where there are any.
template <class Range, class Words>
void append_section(std::string& out, std::string_view heading, const Range& range, Words words) {
    bool first = true;
    for (const auto& each : range) {
        const std::string line = words(each);
        if (line.empty()) continue;
        if (first) out += fmt::format("\n{}\n", heading);
        first = false;
        append_fabric_line(out, line);
    }
}

std::string counters_text(const FabricNodes& nodes, const PortCounterHistory& history) {
    const std::vector<std::string> moved = moved_texts(history, false);
    if (moved.empty()) return {};
    return fmt::format("{}, {} in {}: {}", owner_text(nodes, history), counted(history.answers, "answer"),
                       duration_text(history.last_time - history.first_time), fmt::join(moved, ", "));
}

std::string event_line(const ManagementEvent& event, dissect::Instant start) {
    return fmt::format("{:>8}  {:>12}  {} {} {}{}", std::to_underlying(event.first), seconds_text(event.time - start),
                       text(event.from), event.reported ? "reports" : "sends", event_text(event),
                       event.count > 1 ? fmt::format(", {}", counted(event.count, "time")) : "");
}

void append_requests(std::string& out, const ManagementReport& report) {
    append_section(out, "requests", report.sums, [](const ExchangeSum& sum) { return sum_text(sum); });
    std::size_t troubles = 0;
    append_section(out, "failed and unanswered requests", report.exchanges, [&](const Exchange& exchange) {
        const bool well = exchange.outcome == ExchangeOutcome::answered || exchange.outcome == ExchangeOutcome::open;
        if (well || ++troubles > kMostTroubles) return std::string();
        return fmt::format("{:>8}  {}", std::to_underlying(exchange.request), exchange_text(exchange));
    });
    if (troubles > kMostTroubles)
        append_fabric_line(out, fmt::format("and {} more", grouped(troubles - kMostTroubles)));
}

void write_table(const OutputOptions& options, const transport::Timeline& timeline, Output& output) {
    const ManagementReport& report = timeline.management;
    const FabricMap& map = report.fabric;
    if (report.datagrams == 0) return report_none(options.format, "management datagrams of the fabric");
    if (!map.nodes.empty()) {
        output.write(fmt::format("{}, {}, {}\n\n", counted(map.nodes.size(), "node"), counted(map.links.size(), "link"),
                                 counted(report.datagrams, "datagram")));
        Sheet sheet(options, output, "ports", fabric_columns());
        for (const FabricRow& row : fabric_rows(report)) sheet.add(fabric_columns(), row, tone_of(row));
        sheet.end();
    }
    const FabricNodes nodes(map);
    std::string out;
    append_section(out, "subnet managers", map.managers,
                   [](const SubnetManager& manager) { return manager_text(manager); });
    append_section(out, "partitions", map.partitions,
                   [&](const Partition& partition) { return partition_text(nodes, partition); });
    const MemberPorts member_ports(map);
    append_section(out, "multicast groups", map.groups,
                   [&](const MulticastGroup& group) { return group_text(group, member_ports); });
    const RouteTroubles wrong = FabricRoutes(map).troubles();
    append_section(out, "what is wrong in forwarding tables", wrong.list, trouble_text);
    if (!wrong.whole)
        append_fabric_line(out, fmt::format("and perhaps more: the first {} are listed", wrong.list.size()));
    append_section(out, "counters that increased", report.counters,
                   [&](const PortCounterHistory& history) { return counters_text(nodes, history); });
    const dissect::Instant start = timeline.first.value_or(dissect::Instant{});
    append_section(out, "events", report.events,
                   [&](const ManagementEvent& event) { return event_line(event, start); });
    append_requests(out, report);
    if (map.left_out != 0)
        out += fmt::format("\n{} left out: beyond the limits of the map\n", counted(map.left_out, "item"));
    output.write(map.nodes.empty() && out.starts_with('\n') ? std::string_view(out).substr(1) : std::string_view(out));
}

void write_json(const OutputOptions& options, const transport::Timeline& timeline, Output& output) {
    const ManagementReport& report = timeline.management;
    const bool lines = options.format == OutputFormat::ndjson;
    std::string out;
    Document document(options.format, out);
    const auto write_list = [&](std::string_view plural, std::string_view type, const auto& range, auto add) {
        if (!lines) document.open_list(plural);
        for (const auto& each : range) {
            document.open();
            if (lines) document.add("type", type);
            add(document, each);
            document.close();
            if (lines) out += '\n';
            output.write(out);
            out.clear();
        }
        if (!lines) document.close_list();
    };
    if (!lines) {
        document.open();
        document.add("schema", kSchema);
        document.add("datagrams", report.datagrams);
    }
    write_list("nodes", "node", report.fabric.nodes, add_node);
    write_list("links", "link", report.fabric.links, add_link);
    write_list("managers", "manager", report.fabric.managers, add_manager);
    write_list("partitions", "partition", report.fabric.partitions, add_partition);
    const MemberPorts member_ports(report.fabric);
    write_list("groups", "group", report.fabric.groups,
               [&](Document& list, const MulticastGroup& group) { add_group(list, group, member_ports); });
    write_list("routing", "routing", FabricRoutes(report.fabric).troubles().list, add_trouble);
    write_list("counters", "counters", report.counters, add_counters);
    write_list("events", "event", report.events, add_event);
    write_list("requests", "requests", report.sums, add_sum);
    write_list("exchanges", "exchange", report.exchanges, add_exchange);
    if (!lines) {
        document.close();
        out += '\n';
    }
    output.write(out);
}

void write_picture(const transport::Timeline& timeline, Output& output) {
    std::string out;
    append_dot(out, timeline.management.fabric);
    output.write(out);
}

// A line for each node on the way, and one that says how it ends.
void write_route(const FabricOptions& asked, const transport::Timeline& timeline, Output& output) {
    const OutputOptions& options = asked.listing.output;
    const FabricRoutes routes(timeline.management.fabric);
    const FabricRoute route = routes.route(dissect::Lid{asked.route[0]}, dissect::Lid{asked.route[1]});
    std::string out;
    if (options.format == OutputFormat::table) {
        out = route_text(route) + '\n';
        for (const std::string& line : route_lines(route)) append_fabric_line(out, line);
    } else {
        Document document(options.format, out);
        document.open();
        if (options.format == OutputFormat::json) document.add("schema", kSchema);
        add_route(document, route);
        document.close();
        if (options.format == OutputFormat::json || options.format == OutputFormat::ndjson) out += '\n';
    }
    output.write(out);
}

}  // namespace

void show_fabric(const ListingOptions& asked, const transport::Timeline& timeline, Output& output) {
    const OutputOptions& options = asked.output;
    switch (options.format) {
        case OutputFormat::table: write_table(options, timeline, output); break;
        case OutputFormat::json:
        case OutputFormat::ndjson: write_json(options, timeline, output); break;
        case OutputFormat::csv:
        case OutputFormat::tsv: {
            Sheet sheet(options, output, "ports", fabric_columns());
            for (const FabricRow& row : fabric_rows(timeline.management)) sheet.add(fabric_columns(), row);
            sheet.end();
        }
    }
}

namespace {

ExitCode run_fabric(const FabricOptions& options) {
    const auto& [reading, shown] = options.listing;
    const auto filter = compile_filter(reading.filter, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(shown.path, reading.input.files);
    if (!output.ok()) return finish(output);
    const Analyzed analyzed = analyze(reading, *filter, output, {});
    if (!analyzed.any) return finish(reading.analysis, analyzed, output);
    if (options.dot) write_picture(analyzed.timeline, output);
    else if (!options.route.empty()) write_route(options, analyzed.timeline, output);
    else show_fabric(options.listing, analyzed.timeline, output);
    return finish(reading.analysis, analyzed, output);
}

}  // namespace

const Command kFabricCommand{"fabric", kAnalyse,
                             "Map the fabric from management datagrams: nodes, links, managers, counters, traps",
                             "  qpscope fabric sweep.pcap\n"
                             "  qpscope fabric -f csv sweep.pcap > ports.csv\n"
                             "  qpscope fabric --route 1 3 sweep.pcap\n"
                             "  qpscope fabric --dot sweep.pcap | dot -Tsvg > fabric.svg",
                             prepared<FabricOptions, run_fabric>};

}  // namespace qps::cli
