// Findings about traffic classes (DSCP, VLAN priority) and about how traffic spreads over equal paths.
#include <transport-replay/findings/draw.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/words.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace qps::transport::draw {

namespace {

using namespace words;

constexpr std::uint64_t kFewestPackets = 4;      // of a way; below, one packet of another class decides
constexpr std::uint64_t kFewestConnections = 8;  // between two hosts, before their ports should spread
constexpr double kLeastPossible = 2;             // bits: the connections' bytes could fill four paths
constexpr double kSpreadPart = 0.5;              // of the possible bits; random ports of 8 connections lose a few percent
constexpr std::uint8_t kDefaultClass = 0;        // best effort: switches give it no lossless queue

// Who sends in the default class what the other end does not; nobody where neither or both do.
Party party_of(const Connection& connection, unsigned a, unsigned b) {
    if ((a == kDefaultClass) == (b == kDefaultClass)) return Party::undecided;
    const End poor = a == kDefaultClass ? End::a : End::b;
    return connection.way(poor).requests > connection.way(other(poor)).requests ? Party::requester : Party::responder;
}

using HostPair = std::pair<Address, Address>;
HostPair hosts_of(const Connection& connection) { return std::minmax({connection.ends[0].address, connection.ends[1].address}); }

// Entropy in bits of a distribution of bytes.
template <class Key>
double bits_of(const std::map<Key, double>& bytes) {
    double all = 0;
    for (const auto& [key, own] : bytes) all += own;
    double bits = 0;
    for (const auto& [key, own] : bytes)
        if (own > 0) bits -= own / all * std::log2(own / all);
    return bits;
}

// What one host sends to another, by connection and by UDP source port.
struct Spread {
    std::map<ConnectionId, double> connections;
    std::map<std::uint16_t, double> ports;
    std::vector<dissect::FrameIndex> packets;
};

std::map<HostPair, Spread> spreads(const Timeline& timeline) {
    std::map<HostPair, Spread> found;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            const auto port = most_of(way.udp_ports);
            if (!port || connection.end(end).address.space != AddressSpace::roce_v2) continue;
            Spread& spread = found[{connection.end(end).address, connection.end(other(end)).address}];
            const auto bytes = static_cast<double>(way.bytes);
            spread.connections[connection.uid] += bytes;
            spread.ports[*port] += bytes;
            if (spread.packets.size() < kMaxEvidence) spread.packets.push_back(way.first_frame);
        }
    return found;
}

}  // namespace

void dscp_differs(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections) {
        if (connection.ways[0].packets < kFewestPackets || connection.ways[1].packets < kFewestPackets) continue;
        const auto dscp_a = most_of(connection.ways[0].dscps);
        const auto dscp_b = most_of(connection.ways[1].dscps);
        const auto pcp_a = most_of(connection.ways[0].pcps);
        const auto pcp_b = most_of(connection.ways[1].pcps);
        const bool dscp = dscp_a && dscp_b && *dscp_a != *dscp_b;
        // Without a tag there is no priority to compare: ports tag in one direction only.
        const bool pcp = pcp_a && pcp_b && *pcp_a != kNoPcp && *pcp_b != kNoPcp && *pcp_a != *pcp_b;
        if (!dscp && !pcp) continue;
        const unsigned a = dscp ? *dscp_a : *pcp_a;
        const unsigned b = dscp ? *dscp_b : *pcp_b;
        emit({.party = party_of(connection, a, b),
              .connection = connection.uid,
              .packets = first_frames(connection),
              .summary = fmt::format("{} sends with {} {} and {} with {}: the two directions ride in different classes.",
                                     host(connection.ends[0]), dscp ? "DSCP" : "VLAN priority", a, who(connection.ends[1]), b),
              .advice =
                  "Set the same traffic class at both ends (NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS, `cma_roce_tos`, `mlnx_qos`) and check that "
                  "no switch on the way remarks it: ACKs on a lossy class lose the loss-free class its point."});
    }
}

void dscp_changes(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const auto& dscps = connection.way(end).dscps;
            if (dscps.one()) continue;
            std::string values;
            std::uint64_t count = dscps.other_packets;
            const auto most = most_of(dscps);
            for (std::size_t i = 0; i < dscps.count; ++i) {
                values += fmt::format("{}{} ({})", i == 0 ? "" : ", ", dscps.seen[i].value, counted(dscps.seen[i].packets, "packet"));
                if (dscps.seen[i].value != *most) count += dscps.seen[i].packets;
            }
            emit({.party = Party::undecided,
                  .connection = connection.uid,
                  .packets = {connection.way(end).first_frame},
                  .count = count,
                  .summary = fmt::format("{} sends to {} with several DSCPs: {}.", host(connection.end(end)),
                                         who(connection.end(other(end))), values),
                  .advice = "Check whether ACKs have a class of their own by intent, and whether a switch remarks some packets; packets of "
                            "different classes overtake each other."});
        }
}

void dscp_differs_between_connections(const Timeline& timeline, const Emit& emit) {
    struct Classes {
        std::map<std::uint8_t, std::vector<const Connection*>> by_dscp;
    };
    std::map<HostPair, Classes> pairs;
    for (const Connection& connection : timeline.connections) {
        if (!connection.reliable() && connection.service != dissect::Service::uc) continue;
        const Way& way = connection.ways[connection.ways[0].bytes >= connection.ways[1].bytes ? 0 : 1];
        const auto dscp = most_of(way.dscps);
        if (!dscp || way.packets < kFewestPackets) continue;
        pairs[hosts_of(connection)].by_dscp[*dscp].push_back(&connection);
    }
    for (const auto& [hosts, classes] : pairs) {
        if (classes.by_dscp.size() < 2) continue;
        const auto fewest = std::ranges::min_element(classes.by_dscp, {}, [](const auto& row) { return row.second.size(); });
        std::string values;
        FindingDraft draft{.party = Party::application, .connection = fewest->second.front()->uid, .count = fewest->second.size()};
        for (const auto& [dscp, connections] : classes.by_dscp)
            values += fmt::format("{}{} on DSCP {}", values.empty() ? "" : ", ", counted(connections.size(), "connection"), dscp);
        for (const Connection* connection : fewest->second) add_evidence(draft, connection->first_frame());
        draft.severity = classes.by_dscp.contains(kDefaultClass) ? Severity::warning : Severity::note;
        draft.summary =
            fmt::format("Between {} and {} traffic rides in different classes: {}.", text(hosts.first), text(hosts.second), values);
        draft.advice =
            "Check that the few are meant to differ: queue pairs made by another library or by the GPU do not take NCCL_IB_TC or "
            "UCX_IB_TRAFFIC_CLASS, and DSCP 0 has no lossless queue.";
        emit(std::move(draft));
    }
}

void udp_port_entropy(const Timeline& timeline, const Emit& emit) {
    std::uint64_t poor = 0;
    double worst = 0;
    FindingDraft draft{.party = Party::application};
    for (const auto& [hosts, spread] : spreads(timeline)) {
        if (spread.connections.size() < kFewestConnections) continue;
        const double possible = bits_of(spread.connections), real = bits_of(spread.ports);
        if (possible < kLeastPossible || real > possible * kSpreadPart) continue;
        ++poor;
        if (possible - real <= worst) continue;
        worst = possible - real;
        draft.packets = spread.packets;
        draft.summary = fmt::format(
            "{} sends to {} over {} with {}: {:.1f} bits of entropy where {:.1f} were possible, so equal paths stay "
            "unused",
            text(hosts.first), text(hosts.second), counted(spread.connections.size(), "connection"),
            counted(spread.ports.size(), "UDP source port"), real, possible);
    }
    if (poor == 0) return;
    draft.count = poor;
    draft.summary += poor == 1 ? "." : fmt::format(", as between {} more pairs of hosts.", poor - 1);
    draft.advice =
        "Give each queue pair its own flow label or source port (ibv_modify_qp_udp_sport, grh.flow_label, NCCL_IB_QPS_PER_CONNECTION "
        "with NCCL_IB_SPLIT_DATA_ON_QPS) so that ECMP and LAG can spread them.";
    emit(std::move(draft));
}

}  // namespace qps::transport::draw
