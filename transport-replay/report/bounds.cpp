#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/rdma_packets.hpp>
#include <transport-replay/report/ultra_ethernet.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport {

namespace {

using T = const Timeline&;
constexpr bool kUnjudged = true;

std::uint64_t findings_left_out(T timeline) {
    std::uint64_t sum = 0;
    for (const FindingsLeftOut& kind : timeline.left_out.findings) sum += kind.count;
    return sum;
}

constexpr std::array kBounds{
    Bound{"packets_of_connections", "packet", "of further connections, not followed", kUnjudged,
          [](T t) { return t.left_out.packets_of_connections; }},
    Bound{"connections_with_problems", "connection", "with problems, in sums alone", kUnjudged,
          [](T t) { return t.retired.with_problems; }},
    Bound{"connections", "connection", "without problems, in sums alone", false,
          [](T t) { return t.retired.connections - t.retired.with_problems; }},
    Bound{"messages", "message", "given up while open", kUnjudged, [](T t) { return t.left_out.messages; }},
    Bound{"recoveries", "retransmission episode", "in sums alone", false, [](T t) { return t.left_out.recoveries; }},
    Bound{"fatalities", "fatal NAK", "not listed", kUnjudged, [](T t) { return t.left_out.fatalities; }},
    Bound{"contradictions", "PSN", "of which the evidence contradicts itself, a defect of this program", kUnjudged,
          [](T t) { return t.left_out.contradictions; }},
    Bound{"findings", "finding", "not listed", false, findings_left_out},
    Bound{"host_pairs", "packet", "of further pairs of hosts, their capture quality not judged", kUnjudged,
          [](T t) { return t.quality.pairs_dropped; }},
    Bound{"cm_messages", "CM message", "of further connection attempts, not followed", kUnjudged,
          [](T t) { return t.cm.messages_dropped; }},
    Bound{"multicast_joins", "multicast join", "not followed", kUnjudged, [](T t) { return t.cm.joins_dropped; }},
    Bound{"cm_unexpected_messages", "unexpected CM message", "not listed", kUnjudged,
          [](T t) { return t.cm.refusals_dropped; }},
    Bound{"congestion_packets", "packet", "of further flows, congestion not judged", kUnjudged,
          [](T t) { return t.congestion.packets_dropped; }},
    Bound{"rates", "time", "that a sender was not watched for what its rate follows", kUnjudged,
          [](T t) { return t.congestion.rates_left_out; }},
    Bound{"bridging", "LLDP frame", "of further links and their ends, not followed", kUnjudged,
          [](T t) { return t.bridging.left_out; }},
    Bound{"neighbours", "request", "or ICMP error of further hosts, not followed", kUnjudged,
          [](T t) { return t.reachability.left_out; }},
    Bound{"link_credits", "packet", "of further links of InfiniBand and their lanes, credits not followed", kUnjudged,
          [](T t) { return t.credits.left_out; }},
    Bound{"pause_periods", "pause period", "in sums alone", false, [](T t) { return t.congestion.periods_dropped; }},
    Bound{"incasts", "incast burst", "in sums alone", false, [](T t) { return t.congestion.incasts_dropped; }},
    Bound{"conversations", "connection", "whose upper protocol was not followed", kUnjudged,
          [](T t) { return t.ulp.conversations_left_out; }},
    Bound{"iwarp_connections", "iWARP connection", "with problems, not listed", kUnjudged,
          [](T t) { return t.iwarp.left_out; }},
    Bound{"uet_contexts", "packet delivery context", "with problems, not listed", kUnjudged,
          [](T t) { return t.uet.left_out; }},
    Bound{"uet_packets", "time", "that packets and messages under way of Ultra Ethernet were given up", kUnjudged,
          [](T t) { return t.uet.packets_left_out; }},
    Bound{"operations", "operation", "given up while open", kUnjudged, [](T t) { return t.ulp.operations_left_out; }},
    Bound{"operation_failures", "failed operation", "not listed", kUnjudged,
          [](T t) { return t.ulp.failures_left_out; }},
    Bound{"payload", "piece", "of messages of upper protocols, not kept", kUnjudged,
          [](T t) { return t.ulp.payload_left_out; }},
    Bound{"upper_events", "event", "of upper protocols, not listed", kUnjudged,
          [](T t) { return t.ulp.events_left_out; }},
    Bound{"collective_packets", "packet", "of further hosts, not looked at for collectives", kUnjudged,
          [](T t) { return t.collectives.packets_left_out; }},
    Bound{"collectives", "group", "of ranks, not listed", kUnjudged, [](T t) { return t.collectives.left_out; }},
    Bound{"exchanges", "management exchange", "in sums alone", kUnjudged,
          [](T t) { return t.management.exchanges_dropped; }},
    Bound{"management_events", "management event", "not listed", kUnjudged,
          [](T t) { return t.management.events_dropped; }},
    Bound{"counter_ports", "reading", "of counters of further ports, not followed", kUnjudged,
          [](T t) { return t.management.counter_ports_dropped; }},
    Bound{"rmpp", "segment", "of long management transfers, not put together", kUnjudged,
          [](T t) { return t.management.rmpp_dropped; }},
    Bound{"fabric_facts", "fact", "of further nodes and links of the fabric, not kept", kUnjudged,
          [](T t) { return t.management.fabric.left_out; }},
};

// "3 errors go-back-n-loss, 1 note clock-coarse"
std::string kinds_left_out(const Timeline& timeline) {
    std::string text;
    for (const FindingsLeftOut& kind : timeline.left_out.findings)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                            counted(kind.count, kSeverityNames[static_cast<std::size_t>(kind.severity)]), kind.id);
    return text;
}

}  // namespace

std::span<const Bound> bounds() { return kBounds; }

bool judged_all(const Timeline& timeline) {
    return std::ranges::none_of(kBounds,
                                [&](const Bound& bound) { return bound.unjudged && bound.count(timeline) != 0; });
}

bool saw_anything(const Timeline& timeline) {
    const auto of_more = [](const Finding& finding) { return finding.party != Party::capture; };
    const bool was_read = timeline.packets > timeline.undecoded || timeline.incomplete.empty();
    return !was_read || rdma_packets(timeline) != 0 || !timeline.connections.empty() ||
           has_ultra_ethernet(timeline.uet) || !timeline.congestion.pauses.empty() ||
           !timeline.bridging.links.empty() || timeline.management.datagrams != 0 || timeline.cm.messages != 0 ||
           std::ranges::any_of(timeline.findings, of_more);
}

std::vector<std::string> left_out_parts(const Timeline& timeline) {
    std::vector<std::string> parts;
    for (const Bound& bound : kBounds) {
        const std::uint64_t count = bound.count(timeline);
        if (count == 0) continue;
        std::string& part = parts.emplace_back(fmt::format("{} {}", counted(count, bound.noun), bound.what));
        if (bound.id == "findings") part += " (" + kinds_left_out(timeline) + ")";
    }
    return parts;
}

std::string left_out_text(const Timeline& timeline) {
    return fmt::format("{}", fmt::join(left_out_parts(timeline), "; "));
}

}  // namespace qps::transport
