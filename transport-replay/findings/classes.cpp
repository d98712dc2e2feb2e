// Findings about traffic classes (DSCP, VLAN priority) and about how traffic spreads over equal paths.
#include <transport-replay/findings/draw.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/model/large_blocks.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include <fmt/format.h>

namespace qps::transport::draw {

namespace {

using namespace words;

constexpr std::uint64_t kFewestPackets = 4;      // of a way; below, one packet of another class decides
constexpr std::uint64_t kFewestConnections = 8;  // between two hosts, before their ports should spread
constexpr double kLeastPossible = 2;             // bits: the connections' bytes could fill four paths
constexpr double kSpreadPart = 0.5;              // of the possible bits; random ports of 8 connections lose a few percent
constexpr std::uint8_t kDefaultClass = 0;        // best effort: switches give it no lossless queue

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

// One way of a connection, as what lies between its hosts sees it. Sorted, those of the same hosts are neighbours: no table
// of host pairs is needed, however many there are.
struct Sent {
    HostPair hosts;
    std::uint16_t value = 0;  // UDP source port, or DSCP
    const Connection* connection = nullptr;
    const Way* way = nullptr;
};

using Rows = std::vector<Sent, LargeBlocks<Sent>>;

// Calls each(rows) for the rows of each pair of hosts, in each recording.
template <class Each>
void for_each_pair(Rows& rows, Each each) {
    std::ranges::sort(rows, {}, [](const Sent& row) { return std::tuple{row.connection->recording, row.hosts, row.value, row.connection->uid}; });
    for (auto from = rows.begin(); from != rows.end();) {
        const auto to = std::find_if(from, rows.end(), [&](const Sent& row) {
            return row.hosts != from->hosts || row.connection->recording != from->connection->recording;
        });
        each(std::span(from, to));
        from = to;
    }
}

struct Spread {
    std::map<ConnectionId, double> connections;  // bytes
    std::map<std::uint16_t, double> ports;
    explicit Spread(std::span<const Sent> rows) {
        for (const Sent& row : rows) {
            connections[row.connection->uid] += static_cast<double>(row.way->bytes);
            ports[row.value] += static_cast<double>(row.way->bytes);
        }
    }
};

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
        // A device between them may have changed either: the packets do not tell whose setting differs.
        emit({.party = Party::undecided,
              .connection = connection.uid,
              .packets = first_frames(connection),
              .summary = fmt::format("{} sends with {} {} and {} with {}: the two directions use different traffic classes.",
                                     host(connection.ends[0]), dscp ? "DSCP" : "VLAN priority", a, who(connection.ends[1]), b),
              .advice =
                  "Set the same traffic class at both ends (NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS, `cma_roce_tos`, `mlnx_qos`) and check that "
                  "no switch on the way remarks it: ACKs lost on a lossy class stall the lossless one."});
    }
}

void dscp_changes(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const auto& dscps = connection.way(end).dscps;
            if (dscps.one()) continue;
            std::string values;
            std::uint64_t count = dscps.other_packets();
            const auto most = most_of(dscps);
            for (std::size_t i = 0; i < dscps.size(); ++i) {
                values += fmt::format("{}{} ({})", i == 0 ? "" : ", ", dscps[i].value, counted(dscps[i].packets, "packet"));
                if (dscps[i].value != *most) count += dscps[i].packets;
            }
            emit({.party = Party::undecided,
                  .connection = connection.uid,
                  .packets = {connection.way(end).first_frame},
                  .count = count,
                  .summary = fmt::format("{} sends to {} with several DSCPs: {}.", host(connection.end(end)),
                                         who(connection.end(other(end))), values),
                  .advice = "Check whether ACKs are meant to have a class of their own, and whether a switch remarks packets: packets of "
                            "different classes can overtake each other."});
        }
}

void dscp_differs_between_connections(const Timeline& timeline, const Emit& emit) {
    Rows rows;
    rows.reserve(timeline.connections.size());
    for (const Connection& connection : timeline.connections) {
        if (!connection.reliable() && connection.service != dissect::Service::uc) continue;
        const Way& way = connection.ways[connection.ways[0].bytes >= connection.ways[1].bytes ? 0 : 1];
        const auto dscp = most_of(way.dscps);
        if (dscp && way.packets >= kFewestPackets) rows.push_back({hosts_of(connection), *dscp, &connection, &way});
    }
    for_each_pair(rows, [&](std::span<const Sent> pair) {
        if (pair.front().value == pair.back().value) return;
        std::map<std::uint16_t, std::vector<const Connection*>> classes;
        for (const Sent& row : pair) classes[row.value].push_back(row.connection);
        const auto fewest = std::ranges::min_element(classes, {}, [](const auto& row) { return row.second.size(); });
        std::string values;
        FindingDraft draft{.party = Party::application, .connection = fewest->second.front()->uid, .count = fewest->second.size()};
        for (const auto& [dscp, connections] : classes)
            values += fmt::format("{}{} on DSCP {}", values.empty() ? "" : ", ", counted(connections.size(), "connection"), dscp);
        for (const Connection* connection : fewest->second) add_evidence(draft, connection->first_frame());
        draft.severity = classes.contains(kDefaultClass) ? Severity::warning : Severity::note;
        draft.summary = fmt::format("Connections between {} and {} use different traffic classes: {}.", text(pair.front().hosts.first),
                                    text(pair.front().hosts.second), values);
        draft.advice =
            "Check that the few are meant to differ: queue pairs created by another library or by the GPU ignore NCCL_IB_TC and "
            "UCX_IB_TRAFFIC_CLASS, and DSCP 0 has no lossless queue.";
        emit(std::move(draft));
    });
}

void udp_port_entropy(const Timeline& timeline, const Emit& emit) {
    Rows rows;
    rows.reserve(2 * timeline.connections.size());
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Address &from = connection.end(end).address, &to = connection.end(other(end)).address;
            const auto port = most_of(connection.way(end).udp_ports);
            if (port && from.space == AddressSpace::roce_v2) rows.push_back({{from, to}, *port, &connection, &connection.way(end)});
        }
    std::uint64_t poor = 0;
    double worst = 0;
    FindingDraft draft{.party = Party::application};
    for_each_pair(rows, [&](std::span<const Sent> pair) {
        if (pair.size() < kFewestConnections) return;
        const Spread spread(pair);
        const double possible = bits_of(spread.connections), real = bits_of(spread.ports);
        if (possible < kLeastPossible || real > possible * kSpreadPart) return;
        ++poor;
        if (possible - real <= worst) return;
        worst = possible - real;
        draft.packets.clear();
        for (const Sent& row : pair) add_evidence(draft, row.way->first_frame);
        draft.summary =
            fmt::format("{} sends to {} over {} with {}: {:.1f} of {:.1f} possible bits of entropy, so equal-cost paths stay unused",
                        text(pair.front().hosts.first), text(pair.front().hosts.second), counted(spread.connections.size(), "connection"),
                        counted(spread.ports.size(), "UDP source port"), real, possible);
    });
    if (poor == 0) return;
    draft.count = poor;
    draft.summary += poor == 1 ? "." : fmt::format("; the same holds for {}.", counted(poor - 1, "other pair of hosts"));
    draft.advice =
        "Give each queue pair its own flow label or source port (mlx5dv_modify_qp_udp_sport, grh.flow_label, NCCL_IB_QPS_PER_CONNECTION "
        "with NCCL_IB_SPLIT_DATA_ON_QPS) so that ECMP and LAG can spread them.";
    emit(std::move(draft));
}

}  // namespace qps::transport::draw
