// Findings about what several connections have in common that each of them alone does not show: stalls that begin at
// the same moment, losses of some UDP source ports alone.
//
// What an attacker could feed: connections and episodes by the million. The cost is that of sorting them.
#include <dissect/base/types.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/shared_causes.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

namespace qps::transport::families {

namespace {

using dissect::Duration;
using dissect::Instant;
using namespace facts;

constexpr FactRow kStartSpread{"start_spread", Unit::duration, "time within which all of the stalls began"};
constexpr FactRow kShortestStall{"shortest_stall", Unit::duration, "the shortest of the stalls"};
constexpr FactRow kAllConnections{"all_connections", Unit::count, "connections of which they are a part"};
constexpr FactRow kLosingPorts{"losing_ports", Unit::list, "UDP source ports whose packets were lost"};
constexpr FactRow kAllPorts{"all_ports", Unit::count, "UDP source ports that were used"};
constexpr FactRow kPortLosses{"port_losses", Unit::count,
                              "loss events and ACK timeouts of connections with these ports"};
constexpr FactRow kPortPackets{"port_packets", Unit::count, "packets with these ports"};
constexpr FactRow kOtherPackets{"other_packets", Unit::count, "packets with the other ports, none of which was lost"};

// --- stalls ---

struct Stall {
    const Recovery* episode = nullptr;
    const Connection* connection = nullptr;
    [[nodiscard]] Instant begin() const { return episode->time.begin(); }
    [[nodiscard]] Duration length() const { return episode->lost_time(); }
};

constexpr std::int64_t kBeginPart = 16;   // of the shortest stall: as far apart as packets of a busy connection are
constexpr std::size_t kFewestStalls = 3;  // two begin together by chance

bool may_stall(const Recovery& episode) {
    return episode.kind == RecoveryKind::timeout && !episode.inferred && episode.lost_time() > Duration{} &&
           (episode.end == RecoveryEnd::recovered || episode.end == RecoveryEnd::open);
}

// Stalls of the connections of each host, in the order they began.
std::map<Address, std::vector<Stall>> stalls_of_hosts(const Timeline& timeline) {
    std::map<Address, std::vector<Stall>> found;
    for (const Recovery& episode : timeline.recoveries) {
        const Connection* connection = timeline.find(episode.connection);
        if (connection == nullptr || !may_stall(episode)) continue;
        for (const Endpoint& end : connection->ends) found[end.address].push_back({&episode, connection});
    }
    for (auto& [host, stalls] : found)
        std::ranges::stable_sort(stalls, {}, [](const Stall& stall) { return stall.begin(); });
    return found;
}

// Those that began with the first of them, each of another connection. A stall that is much shorter than the time
// between two beginnings has nothing to do with it.
std::span<const Stall> together(std::span<const Stall> stalls) {
    Duration shortest = stalls.front().length();
    std::set<ConnectionId> seen{stalls.front().connection->uid};
    std::size_t count = 1;
    for (; count < stalls.size(); ++count) {
        const Stall& next = stalls[count];
        shortest = std::min(shortest, next.length());
        const Duration most{std::to_underlying(shortest) / kBeginPart};
        if (next.begin() - stalls.front().begin() > most || !seen.insert(next.connection->uid).second) break;
    }
    return stalls.first(count);
}

// Connections of that host that were there before it and after it.
std::size_t present(const Timeline& timeline, const Address& host, std::span<const Stall> stalls) {
    const Instant begin = stalls.front().begin();
    Instant end = begin;
    for (const Stall& stall : stalls) end = std::max(end, stall.episode->time.end());
    return static_cast<std::size_t>(std::ranges::count_if(timeline.connections, [&](const Connection& connection) {
        const bool of_host = connection.ends[0].address == host || connection.ends[1].address == host;
        return of_host && connection.reliable() && !connection.one_way() && connection.first_time() <= begin &&
               connection.last_time() >= end;
    }));
}

struct StallGroup {
    Address host;
    std::size_t there = 0;
    std::vector<Stall> stalls;
};

// Of connections that stall again and again some do so at the same time by chance.
bool by_chance(std::span<const Stall> all, std::span<const Stall> group) {
    std::set<ConnectionId> members;
    for (const Stall& stall : group) members.insert(stall.connection->uid);
    const auto stalls =
        std::ranges::count_if(all, [&](const Stall& stall) { return members.contains(stall.connection->uid); });
    return static_cast<std::size_t>(stalls) > 2 * group.size();
}

std::vector<StallGroup> stall_groups(const Timeline& timeline) {
    constexpr std::size_t kMostLookedAt = 1024;  // groups of one host; each looks at all connections
    std::vector<StallGroup> found;
    for (const auto& [host, all] : stalls_of_hosts(timeline)) {
        std::size_t looked_at = 0;
        for (std::span<const Stall> rest = all; rest.size() >= kFewestStalls && looked_at < kMostLookedAt;) {
            const auto group = together(rest);
            rest = rest.subspan(group.size());
            if (group.size() < kFewestStalls || by_chance(all, group)) continue;
            ++looked_at;
            const std::size_t others = present(timeline, host, group);
            // Three of four: one that was idle meanwhile shows nothing.
            if (group.size() * 4 >= others * 3) found.push_back({host, others, {group.begin(), group.end()}});
        }
    }
    return found;
}

bool same_stalls(const StallGroup& one, const StallGroup& other) {
    return std::ranges::equal(one.stalls, other.stalls, {}, &Stall::episode, &Stall::episode);
}

FindingDraft draft_of(const Timeline& timeline, const StallGroup& group, const Address& peer) {
    const auto by_length = std::ranges::minmax(group.stalls, {}, &Stall::length);
    std::vector<const Recovery*> episodes;
    for (const Stall& stall : group.stalls) episodes.push_back(stall.episode);
    return {.party = Party::undecided,
            .count = group.stalls.size(),
            .facts = {{kHost, group.host},
                      {kPeer, peer == Address{} ? std::nullopt : std::optional(peer)},
                      {kConnections, group.stalls.size()},
                      {kAllConnections, std::max(group.there, group.stalls.size())},
                      {kStartSpread, group.stalls.back().begin() - group.stalls.front().begin()},
                      {kShortestStall, by_length.min.length()},
                      {kLongestStall, by_length.max.length()}},
            .episodes = places_of(timeline, episodes)};
}

void stalled_together(const Timeline& timeline, const Emit& emit) {
    std::vector<StallGroup> all = stall_groups(timeline);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].stalls.empty()) continue;
        // The connections of two hosts are those of either.
        Address peer{};
        for (std::size_t j = i + 1; j < all.size(); ++j)
            if (!all[j].stalls.empty() && same_stalls(all[i], all[j])) {
                peer = all[j].host;
                all[j].stalls.clear();
            }
        emit(draft_of(timeline, all[i], peer));
    }
}

// --- UDP source ports ---

struct OfPort {
    std::uint64_t packets = 0;
    std::uint64_t losses = 0;
    std::size_t connections = 0;
    std::vector<const Recovery*> episodes;
};
using OfPair = std::map<std::uint16_t, OfPort>;

// Of pairs of hosts that had losses.
std::map<std::pair<Address, Address>, OfPair> ports_of_pairs(const Timeline& timeline) {
    std::map<std::pair<Address, Address>, OfPair> found;
    boost::unordered_flat_set<FlowKey, FlowHash> lossy;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Incidents& had = *connection.way(end).incidents;
            if (had.recovery(RecoveryKind::sequence_nak).episodes + had.recovery(RecoveryKind::timeout).episodes != 0)
                lossy.insert(hosts_key(connection.end(end).address, connection.end(other(end)).address));
        }
    if (lossy.empty()) return found;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            if (!lossy.contains(hosts_key(connection.end(end).address, connection.end(other(end)).address))) continue;
            if (!connection.reliable() || way.requests == 0 || way.udp_ports.size() != 1 || !way.udp_ports.one())
                continue;
            OfPort& port =
                found[{connection.end(end).address, connection.end(other(end)).address}][way.udp_ports[0].value];
            port.packets += way.requests;
            port.connections += 1;
            for (const RecoveryKind kind : {RecoveryKind::sequence_nak, RecoveryKind::timeout})
                port.losses += way.incidents->recovery(kind).episodes;
        }
    for (const Recovery& episode : timeline.recoveries) {
        if (episode.kind != RecoveryKind::sequence_nak && episode.kind != RecoveryKind::timeout) continue;
        const Connection* connection = timeline.find(episode.connection);
        if (connection == nullptr || !connection->way(episode.requester).udp_ports.one()) continue;
        const auto pair =
            found.find({connection->end(episode.requester).address, connection->end(other(episode.requester)).address});
        if (pair == found.end() || connection->way(episode.requester).udp_ports.size() == 0) continue;
        const auto port = pair->second.find(connection->way(episode.requester).udp_ports[0].value);
        if (port != pair->second.end()) port->second.episodes.push_back(&episode);
    }
    return found;
}

// How likely losses that hit every packet alike hit those of any so many ports alone: the logarithm of the number of
// ways to choose them, and of their part of the packets for each loss.
double log_chance(std::size_t all, std::size_t losing, double part, std::uint64_t losses) {
    const auto log_factorial = [](std::size_t n) { return std::lgamma(static_cast<double>(n) + 1); };
    return log_factorial(all) - log_factorial(losing) - log_factorial(all - losing) +
           static_cast<double>(losses) * std::log(part);
}

void losses_by_udp_port(const Timeline& timeline, const Emit& emit) {
    constexpr std::size_t kFewestPorts = 4, kFewestLosing = 2;
    constexpr double kUnlikely = -9.2;  // once in 10,000 times
    for (const auto& [hosts, ports] : ports_of_pairs(timeline)) {
        OfPort losing, others;
        std::vector<std::string> names;
        std::vector<const Recovery*> episodes;
        for (const auto& [port, of_port] : ports) {
            OfPort& sum = of_port.losses != 0 ? losing : others;
            sum.packets += of_port.packets;
            sum.losses += of_port.losses;
            sum.connections += of_port.connections;
            if (of_port.losses == 0) continue;
            names.push_back(std::to_string(port));
            episodes.insert(episodes.end(), of_port.episodes.begin(), of_port.episodes.end());
        }
        if (ports.size() < kFewestPorts || names.size() < kFewestLosing || names.size() * 2 > ports.size()) continue;
        const double part = part_of(losing.packets, losing.packets + others.packets);
        if (log_chance(ports.size(), names.size(), part, losing.losses) > kUnlikely) continue;
        std::ranges::sort(episodes);
        emit({.party = Party::fabric,
              .count = losing.losses,
              .facts = {{kFromHost, hosts.first},
                        {kToHost, hosts.second},
                        {kLosingPorts, std::move(names)},
                        {kAllPorts, ports.size()},
                        {kConnections, losing.connections},
                        {kPortLosses, losing.losses},
                        {kPortPackets, losing.packets},
                        {kOtherPackets, others.packets}},
              .episodes = places_of(timeline, episodes)});
    }
}

}  // namespace

std::vector<const Recovery*> stalled_with_others(const Timeline& timeline) {
    std::vector<const Recovery*> found;
    for (const StallGroup& group : stall_groups(timeline))
        for (const Stall& stall : group.stalls) found.push_back(stall.episode);
    std::ranges::sort(found);
    return found;
}

Family shared_causes_family() {
    static constexpr std::array kOwn{&kStartSpread, &kShortestStall, &kAllConnections, &kLosingPorts,
                                     &kAllPorts,    &kPortLosses,    &kPortPackets,    &kOtherPackets};
    static constexpr std::array kRows{
        FindingRow{
            .id = "stalled-together",
            .severity = Severity::warning,
            .clause = kObserved,
            .meaning = "Several connections of a host stalled from the same moment on",
            .by_order = true,
            .sentence =
                "{connections} of {all_connections:connection} [peer?between {host} and {peer}|of {host}] stalled from the same moment on "
                "(within {start_spread}), for {shortest_stall} to {longest_stall}, and went on: one cause for all of them.",
            .advice =
                "Look for what [peer?{host} and {peer} have|the connections of {host} have] in common at that time: a link that flapped (`ip -s link`, "
                "carrier_changes, log of the switch port), a pause of the whole priority, a host that stood still.",
            .alike =
                "Connections that lose packets again and again stall at the same time by chance: they count only where their stalls are few.",
            .limits =
                "Which of the things in common it was: link, switch or host. Connections that had nothing to send meanwhile show nothing.",
            .draw = stalled_together},
        FindingRow{
            .id = "losses-by-udp-port",
            .severity = Severity::warning,
            .clause = kObserved,
            .meaning = "Only packets with some of the UDP source ports were lost: one path of several",
            .by_order = true,
            .sentence =
                "Packets from {from_host} to {to_host} were lost on UDP source ports {losing_ports:each} alone, of {all_ports:port} ({connections:connection}): "
                "{port_losses:loss event} in {port_packets:packet}, none in the {other_packets:packet} with the other ports.",
            .advice =
                "Find the path that these UDP source ports take (ECMP and LAG hash them): compare drops and errors of the parallel links between "
                "{from_host} and {to_host}, hop by hop.",
            .alike =
                "Connections of one application that sends in bursts, and so fills a queue, where others do not. Losses that hit every packet "
                "alike would be so distributed less than once in 10,000 times.",
            .limits =
                "How switches hash is not on the wire. Losses that neither a NAK nor an ACK timeout shows are not counted.",
            .draw = losses_by_udp_port},
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
