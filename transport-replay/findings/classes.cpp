// Findings about traffic classes (DSCP, VLAN priority) and about how traffic spreads over equal paths.
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/large_blocks.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kFirstDscp{"first_dscp", Unit::number, "DSCP of most packets of the first end"};
constexpr FactRow kSecondDscp{"second_dscp", Unit::number, "DSCP of most packets of the second end"};
constexpr FactRow kFirstPriority{"first_priority", Unit::number, "VLAN priority of most packets of the first end"};
constexpr FactRow kSecondPriority{"second_priority", Unit::number, "VLAN priority of most packets of the second end"};
constexpr FactRow kMostDscp{"most_dscp", Unit::number, "the DSCP of most packets"};
constexpr FactRow kPacketsOfDscps{"packets_of_dscps", Unit::list, "each DSCP, with how many packets have it"};
constexpr FactRow kOtherDscpPackets{"other_dscp_packets", Unit::count, "packets that have another DSCP than most"};
constexpr FactRow kConnectionsOfDscps{"connections_of_dscps", Unit::list,
                                      "each DSCP, with how many connections use it"};
constexpr FactRow kFewestDscp{"fewest_dscp", Unit::number, "the DSCP of the fewest connections"};
constexpr FactRow kFewestConnectionsOfDscp{"fewest_connections", Unit::count, "connections that use it"};
constexpr FactRow kUdpPorts{"udp_ports", Unit::count, "UDP source ports of these connections"};
constexpr FactRow kPortEntropy{"port_entropy", Unit::number, "bits of entropy of the UDP source ports, by bytes"};
constexpr FactRow kPossibleEntropy{"possible_entropy", Unit::number,
                                   "bits that a port of its own for each connection would give"};
constexpr FactRow kOtherHostPairs{"other_host_pairs", Unit::count, "further pairs of hosts of which the same holds"};
constexpr std::array kClassesFacts{
    &kFirstDscp,      &kSecondDscp,       &kFirstPriority,      &kSecondPriority, &kMostDscp,
    &kPacketsOfDscps, &kOtherDscpPackets, &kConnectionsOfDscps, &kFewestDscp,     &kFewestConnectionsOfDscp,
    &kUdpPorts,       &kPortEntropy,      &kPossibleEntropy,    &kOtherHostPairs,
};

constexpr std::uint64_t kFewestPackets = 4;      // of a way; below, one packet of another class decides
constexpr std::uint64_t kFewestConnections = 8;  // between two hosts, before their ports should spread
constexpr double kLeastPossible = 2;             // bits: the connections' bytes could fill four paths
constexpr double kSpreadPart = 0.5;        // of the possible bits; random ports of 8 connections lose a few percent
constexpr std::uint8_t kDefaultClass = 0;  // best effort: switches give it no lossless queue

using HostPair = std::pair<Address, Address>;
HostPair hosts_of(const Connection& connection) {
    return std::minmax({connection.ends[0].address, connection.ends[1].address});
}

// Entropy in bits of a distribution of bytes.
template <class Key> double bits_of(const std::map<Key, double>& bytes) {
    double all = 0;
    for (const auto& [key, own] : bytes) all += own;
    double bits = 0;
    for (const auto& [key, own] : bytes)
        if (own > 0) bits -= own / all * std::log2(own / all);
    return bits;
}

// One way of a connection, as what lies between its hosts sees it.
struct Sent {
    HostPair hosts;
    std::uint16_t value = 0;  // UDP source port, or DSCP
    const Connection* connection = nullptr;
    const Way* way = nullptr;
};

using Rows = std::vector<Sent, LargeBlocks<Sent>>;

// Calls each(rows) for the rows of each pair of hosts, in each recording, in their order; the rows, which come in the
// order of connections, by value. Pairs are few: they are sorted, rows are dealt out to them.
template <class Each> void for_each_pair(const Rows& rows, Each each) {
    struct Pair {
        const Sent* first = nullptr;
        std::vector<std::uint32_t> rows;
    };
    std::vector<Pair> pairs;
    boost::unordered_flat_map<FlowKey, std::size_t, FlowHash> places;  // in pairs
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        const auto& [first, second] = rows[i].hosts;
        const auto [place, is_new] =
            places.try_emplace(hosts_key(first, second, rows[i].connection->recording), pairs.size());
        if (is_new) pairs.push_back({&rows[i], {}});
        pairs[place->second].rows.push_back(i);
    }
    std::ranges::sort(
        pairs, {}, [](const Pair& pair) { return std::tuple{pair.first->connection->recording, pair.first->hosts}; });
    std::vector<Sent> own;
    for (const Pair& pair : pairs) {
        own.clear();
        for (const std::uint32_t row : pair.rows) own.push_back(rows[row]);
        if (!std::ranges::is_sorted(own, {}, &Sent::value)) std::ranges::stable_sort(own, {}, &Sent::value);
        each(std::span<const Sent>(own));
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
        Facts facts{{kFirstEnd, connection.ends[0]}, {kSecondEnd, connection.ends[1]}};
        if (dscp) facts.insert(facts.end(), {{kFirstDscp, *dscp_a}, {kSecondDscp, *dscp_b}});
        else facts.insert(facts.end(), {{kFirstPriority, *pcp_a}, {kSecondPriority, *pcp_b}});
        // A device between them may have changed either: the packets do not tell whose setting differs.
        emit({.party = Party::undecided,
              .connection = connection.uid,
              .facts = std::move(facts),
              .events = first_events(connection)});
    }
}

void dscp_changes(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const auto& dscps = connection.way(end).dscps;
            if (dscps.one()) continue;
            std::vector<std::string> values;
            std::uint64_t count = dscps.other_packets();
            const auto most = most_of(dscps);
            for (std::size_t i = 0; i < dscps.size(); ++i) {
                values.push_back(fmt::format("{} ({})", dscps[i].value, counted(dscps[i].packets, "packet")));
                if (dscps[i].value != *most) count += dscps[i].packets;
            }
            emit({.party = Party::undecided,
                  .connection = connection.uid,
                  .count = count,
                  .facts = {{kSender, connection.end(end)},
                            {kReceiver, connection.end(other(end))},
                            {kPacketsOfDscps, std::move(values)},
                            {kMostDscp, most},
                            {kOtherDscpPackets, count}},
                  .events = {first_event(connection.way(end))}});
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
        std::vector<std::string> values;
        FindingDraft draft{
            .party = Party::application, .connection = fewest->second.front()->uid, .count = fewest->second.size()};
        for (const auto& [dscp, connections] : classes)
            values.push_back(fmt::format("{} on DSCP {}", counted(connections.size(), "connection"), dscp));
        for (const Connection* connection : fewest->second) draft.events.push_back(first_event(*connection));
        draft.severity = classes.contains(kDefaultClass) ? Severity::warning : Severity::note;
        draft.facts = {{kHost, pair.front().hosts.first},
                       {kPeer, pair.front().hosts.second},
                       {kConnectionsOfDscps, std::move(values)},
                       {kFewestDscp, fewest->first},
                       {kFewestConnectionsOfDscp, fewest->second.size()}};
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
            if (port && from.space == AddressSpace::roce_v2)
                rows.push_back({{from, to}, *port, &connection, &connection.way(end)});
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
        draft.events.clear();
        for (const Sent& row : pair) draft.events.push_back(first_event(*row.way));
        draft.facts = {{kHost, pair.front().hosts.first},
                       {kPeer, pair.front().hosts.second},
                       {kConnections, spread.connections.size()},
                       {kUdpPorts, spread.ports.size()},
                       {kPortEntropy, real},
                       {kPossibleEntropy, possible}};
    });
    if (poor == 0) return;
    draft.count = poor;
    draft.facts.emplace_back(kOtherHostPairs, nonzero(poor - 1));
    emit(std::move(draft));
}

}  // namespace

Family classes_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "dscp-differs",
            .severity = Severity::warning,
            .clause = "RFC 2474",
            .meaning = "The two directions of a connection use different traffic classes",
            .sentence =
                "{first_end:host} sends with [first_dscp?DSCP {first_dscp} and {second_end} with {second_dscp}|VLAN priority {first_priority} "
                "and {second_end} with {second_priority}]: the two directions use different traffic classes.",
            .advice =
                "Set the same traffic class at both ends (NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS, `cma_roce_tos`, `mlnx_qos`) and check that no switch "
                "on the way remarks it: ACKs lost on a lossy class stall the lossless one.",
            .alike =
                "A switch between tap and host that remarks one direction, or ACKs that are given a class of their own on purpose.",
            .limits =
                "The class is that of most packets of each direction, as they passed the tap: how they left their host is not known.",
            .draw = dscp_differs},
        FindingRow{
            .id = "dscp-changes",
            .severity = Severity::note,
            .clause = "RFC 2474",
            .meaning = "One direction of a connection uses several traffic classes",
            .sentence = "{sender:host} sends to {receiver} with several DSCPs: {packets_of_dscps:each}.",
            .advice =
                "Check whether ACKs are meant to have a class of their own, and whether a switch remarks packets: packets of different classes "
                "can overtake each other.",
            .alike =
                "ACKs and READ responses with a class of their own, as some NICs send them; a queue pair that was modified while it was in use.",
            .limits =
                "Of more DSCPs than a few only their packets are counted. Which packets have which one the list of packets shows, not this finding.",
            .draw = dscp_changes},
        FindingRow{
            .id = "dscp-differs-between-connections",
            .severity = Severity::note,
            .clause = "RFC 2474",
            .meaning = "Connections between the same hosts use different traffic classes",
            .sentence =
                "Connections between {host} and {peer} use different traffic classes: {connections_of_dscps:each}.",
            .advice =
                "Check that the few are meant to differ: queue pairs created by another library or by the GPU ignore NCCL_IB_TC and "
                "UCX_IB_TRAFFIC_CLASS, and DSCP 0 has no lossless queue.",
            .alike =
                "Applications of their own, such as storage and a collective, that are meant to have different classes.",
            .limits =
                "Each connection counts with the direction that has more bytes, and with the DSCP of most of its packets. Which class is the "
                "lossless one only the switches know.",
            .draw = dscp_differs_between_connections},
        FindingRow{
            .id = "udp-port-entropy",
            .severity = Severity::warning,
            .clause = "IBA A17",
            .meaning = "UDP source ports do not spread connections over equal-cost paths",
            .sentence =
                "{host} sends to {peer} over {connections:connection} with {udp_ports:UDP source port}: {port_entropy} of {possible_entropy} "
                "possible bits of entropy, so equal-cost paths stay unused[; the same holds for {other_host_pairs:other pair of hosts}].",
            .advice =
                "Give each queue pair its own flow label or source port (mlx5dv_modify_qp_udp_sport, grh.flow_label, NCCL_IB_QPS_PER_CONNECTION "
                "with NCCL_IB_SPLIT_DATA_ON_QPS) so that ECMP and LAG can spread them.",
            .alike =
                "A network that has one path only, or whose switches hash queue pairs or spray packets, loses nothing by it.",
            .limits =
                "Which paths there are, and what the switches hash, the packets do not tell. Bytes are those of the capture, so a sample of short "
                "time may look worse than a day.",
            .draw = udp_port_entropy},
    };
    return {kRows, kClassesFacts};
}

}  // namespace qps::transport::families
