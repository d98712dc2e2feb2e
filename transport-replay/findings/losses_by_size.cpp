// The finding about packets that do not arrive because of their length: what is longer than a bound never does, what
// is shorter does. Each connection alone looks as if its peer had died.
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

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kShortestLost{"shortest_lost", Unit::bytes,
                                "the shortest payload of those that were never acknowledged"};
constexpr FactRow kLongestTaken{"longest_taken", Unit::bytes, "the longest payload of a packet that arrived"};
constexpr FactRow kLongSendings{"long_sendings", Unit::count, "times that these packets were sent, or asked for"};
constexpr FactRow kShortMessages{"short_messages", Unit::count,
                                 "messages that completed on the connections between the two hosts"};
constexpr FactRow kProbeSize{"probe_size", Unit::number,
                             "payload of an ICMP echo request as long as the shortest of those packets over IPv4"};

// RoCEv2 has IPv4, UDP, BTH and ICRC (20 + 8 + 12 + 4) around a payload, ping IPv4 and ICMP (20 + 8).
constexpr std::uint32_t kLongerThanPing = 16;
constexpr double kUnlikely = -9.2;  // once in 10,000 times

double log_choose(std::uint64_t all, std::uint64_t of) {
    const auto log_factorial = [](std::uint64_t n) { return std::lgamma(static_cast<double>(n) + 1); };
    return log_factorial(all) - log_factorial(of) - log_factorial(all - of);
}

// What one host sent to another: what arrived, and what did not.
struct OfPair {
    std::uint32_t longest_taken = 0;
    std::uint32_t shortest_lost = UINT32_MAX;
    std::uint64_t messages = 0;  // that completed, of either host
    std::uint64_t sendings = 0;
    double log_chance = 0;   // that what was lost is what was longest
    bool otherwise = false;  // packets of another length, or of one that is not known, were lost as well
    std::vector<const Recovery*> episodes;
    std::set<ConnectionId> connections;
};
using Pairs = std::map<std::pair<Address, Address>, OfPair>;

OfPair& pair_of(Pairs& pairs, const Connection& connection, End from) {
    return pairs[{connection.end(from).address, connection.end(other(from)).address}];
}

bool is_read(const Recovery& episode) { return episode.verb == dissect::Verb::read_request; }
// The payload of the packets that were not taken; 0: not known. Responses to a READ are as long as its path MTU.
std::uint32_t length_of(const Recovery& episode, const Connection& connection) {
    if (!is_read(episode)) return episode.payload;
    const std::uint32_t path_mtu = std::max<std::uint32_t>(
        {connection.ways[0].path_mtu, connection.ways[1].path_mtu, connection.cm_path_mtu.value_or(0)});
    return std::min<std::uint32_t>(episode.payload, path_mtu);
}

// Whether it was sent again and again, and never arrived.
bool in_vain(const Recovery& episode) {
    constexpr std::uint32_t kFewestRounds = 2;
    return episode.end != RecoveryEnd::recovered && episode.rounds >= kFewestRounds && !episode.inferred;
}

// An episode's part in the chance. A responder that asks for the packet again and again is there: its losses are some
// of all packets. One that says nothing may have gone: it went at that packet, of all that there were.
double log_chance(const Recovery& episode, std::uint64_t taken) {
    const std::uint64_t sent = episode.rounds + 1ULL;
    if (episode.asked() && episode.triggers > 1) return -log_choose(taken + sent, sent);
    return -std::log(static_cast<double>(taken) + 1);
}

void add_ways(Pairs& pairs, const Timeline& timeline) {
    for (const Connection& connection : timeline.connections) {
        if (!connection.reliable()) continue;
        for (const End from : {End::a, End::b}) {
            const Way& way = connection.way(from);
            if (way.longest_taken == 0) continue;
            OfPair& pair = pair_of(pairs, connection, from);
            pair.longest_taken = std::max<std::uint32_t>(pair.longest_taken, way.longest_taken);
            pair.messages += connection.ways[0].completed + connection.ways[1].completed;
        }
    }
}

void add_episode(Pairs& pairs, const Recovery& episode, const Connection& connection) {
    if (episode.kind == RecoveryKind::rnr_nak || episode.spurious()) return;
    OfPair& pair = pair_of(pairs, connection, is_read(episode) ? other(episode.requester) : episode.requester);
    const std::uint32_t length = length_of(episode, connection);
    if (!in_vain(episode) || length <= pair.longest_taken) {
        pair.otherwise = true;
        return;
    }
    pair.shortest_lost = std::min(pair.shortest_lost, length);
    pair.sendings += episode.rounds + 1ULL;
    pair.log_chance += log_chance(episode, connection.way(episode.requester).completed);
    pair.episodes.push_back(&episode);
    pair.connections.insert(connection.uid);
}

// Those between whose packets the length decides.
Pairs pairs_of(const Timeline& timeline) {
    Pairs pairs;
    if (timeline.recoveries.empty() || timeline.left_out.recoveries != 0) return pairs;
    add_ways(pairs, timeline);
    for (const Recovery& episode : timeline.recoveries)
        if (const Connection* connection = timeline.find(episode.connection)) add_episode(pairs, episode, *connection);
    std::erase_if(pairs, [](const auto& entry) {
        const OfPair& pair = entry.second;
        return pair.episodes.empty() || pair.otherwise || pair.longest_taken == 0 || pair.log_chance > kUnlikely;
    });
    return pairs;
}

void losses_by_size(const Timeline& timeline, const Emit& emit) {
    for (auto& [hosts, pair] : pairs_of(timeline))
        emit({.party = Party::undecided,
              .count = pair.episodes.size(),
              .facts = {{kFromHost, hosts.first},
                        {kToHost, hosts.second},
                        {kShortestLost, pair.shortest_lost},
                        {kLongestTaken, pair.longest_taken},
                        {kLongSendings, pair.sendings},
                        {kConnections, pair.connections.size()},
                        {kShortMessages, pair.messages},
                        {kProbeSize, pair.shortest_lost + kLongerThanPing}},
              .episodes = places_of(timeline, pair.episodes)});
}

}  // namespace

std::vector<const Recovery*> lost_by_size(const Timeline& timeline) {
    std::vector<const Recovery*> found;
    for (const auto& [hosts, pair] : pairs_of(timeline))
        found.insert(found.end(), pair.episodes.begin(), pair.episodes.end());
    std::ranges::sort(found);
    return found;
}

Family losses_by_size_family() {
    static constexpr std::array kOwn{&kShortestLost, &kLongestTaken, &kLongSendings, &kShortMessages, &kProbeSize};
    static constexpr std::array kRows{FindingRow{
        .id = "losses-by-size",
        .severity = Severity::warning,
        .clause = kObserved,
        .meaning = "Only packets above a size got no answer: an MTU on the path may be too small",
        .by_order = true,
        .sentence =
            "Packets from {from_host} to {to_host} with {shortest_lost} of payload or more were never acknowledged, although they were sent {long_sendings:times} "
            "({connections:connection}); those of up to {longest_taken} were, {short_messages:message} of the two hosts completed.",
        .advice =
            "Compare the MTU of both ports and of every switch port between {from_host} and {to_host} (`ip link show`, `ping -M do -s {probe_size:plain} "
            "{to_host}`, counters of oversized frames): it must carry the path MTU with its headers.",
        .alike =
            "Queue pairs that were destroyed by the first long message that they received. If sizes had nothing to do with it, losses would be so "
            "distributed less than once in 10,000 times.",
        .limits =
            "Which port it is. Responses of a READ that did not pass this tap are as long as the path MTU, where that is known.",
        .draw = losses_by_size}};
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
