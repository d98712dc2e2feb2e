// Judges of what several connections have in common: stalls from the same moment on, losses of some UDP source ports.
#include <tests/court/judges.hpp>
#include <tests/court/recovery_proof.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace qps::court {

namespace {

// Requests from one host to a queue pair of another: both directions of a connection are two of them.
using Flow = std::tuple<std::string, std::string, std::uint32_t>;
Flow flow_of(const Wire& wire) { return {wire.from, wire.to, wire.to_qp}; }

// Frames of requests whose PSN had been on the wire before.
std::set<std::size_t> repeated_frames(const Hearing& hearing) {
    std::set<std::tuple<Flow, std::uint32_t>> seen;
    std::set<std::size_t> frames;
    for (const Wire& wire : hearing.wires())
        if (wire.request() && !seen.emplace(flow_of(wire), wire.psn).second) frames.insert(wire.frame);
    return frames;
}

void stalled_together(Hearing& hearing) {
    const std::string host = hearing.word("host").value_or("");
    const auto of_host = [&](const Wire& wire) { return wire.from == host || wire.to == host; };
    const auto repeated = repeated_frames(hearing);
    std::set<Flow> all, stalled;
    std::map<Flow, std::pair<std::int64_t, std::int64_t>> life;
    for (const Wire& wire : hearing.wires()) {
        if (!wire.request() || wire.management() || !of_host(wire)) continue;
        all.insert(flow_of(wire));
        life.try_emplace(flow_of(wire), wire.time, wire.time).first->second.second = wire.time;
    }
    for (const std::size_t frame : hearing.claim().frames)
        if (const Wire* wire = hearing.wire(frame); wire != nullptr && repeated.contains(frame) && of_host(*wire))
            stalled.insert(flow_of(*wire));
    std::int64_t longest = 0;
    for (const Flow& flow : stalled) longest = std::max(longest, life[flow].second - life[flow].first);
    hearing.equal_fact("connections", static_cast<double>(stalled.size()));
    hearing.at_most_fact("all_connections", static_cast<double>(all.size()));
    const double most = hearing.number("longest_stall_ns").value_or(0);
    hearing.at_most_fact("longest_stall_ns", static_cast<double>(longest));
    hearing.at_most_fact("shortest_stall_ns", most);
    hearing.at_most_fact("start_spread_ns", hearing.number("shortest_stall_ns").value_or(0) / 8);
    const std::string peer = hearing.word("peer").value_or("");
    for (const Flow& flow : stalled)
        hearing.expect(peer.empty() || std::get<0>(flow) == peer || std::get<1>(flow) == peer,
                       "a connection that stalled is not between the two hosts");
}

void losses_by_udp_port(Hearing& hearing) {
    const std::string from = hearing.word("from_host").value_or(""), to = hearing.word("to_host").value_or("");
    std::set<std::uint32_t> losing;
    for (const std::string& port : hearing.list("losing_ports"))
        losing.insert(static_cast<std::uint32_t>(std::stoul(port)));
    const auto repeated = repeated_frames(hearing);
    std::set<std::uint32_t> ports, pairs, losing_pairs;
    std::uint64_t lost = 0, others = 0, naks = 0, backs = 0, again = 0;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from == to && wire.to == from && wire.nak(0)) ++naks;
        if (wire.from != from || wire.to != to || !wire.request() || wire.management()) continue;
        ports.insert(wire.port);
        const bool loses = losing.contains(wire.port);
        (loses ? lost : others) += 1;
        if (loses) losing_pairs.insert(wire.to_qp);
        if (repeated.contains(wire.frame)) (loses ? backs : again) += 1;
    }
    hearing.equal_fact("all_ports", static_cast<double>(ports.size()));
    hearing.equal_fact("connections", static_cast<double>(losing_pairs.size()));
    hearing.equal_fact("port_packets", static_cast<double>(lost));
    hearing.equal_fact("other_packets", static_cast<double>(others));
    hearing.at_most_fact("port_losses", static_cast<double>(naks + backs));
    hearing.expect(!losing.empty() && std::ranges::includes(ports, losing), "no packet has one of these ports");
    hearing.expect(again == 0, "packets with other ports were sent again too");
}

// Requests alone: what a READ asks for is not on the wire where it is lost.
void losses_by_size(Hearing& hearing) {
    const std::string from = hearing.word("from_host").value_or(""), to = hearing.word("to_host").value_or("");
    const auto shortest = static_cast<std::uint32_t>(hearing.number("shortest_lost_bytes").value_or(0));
    std::uint64_t long_sendings = 0, messages = 0;
    std::uint32_t longest_short = 0;
    std::set<std::uint32_t> pairs;
    std::set<std::pair<std::uint32_t, std::uint32_t>> again, lost;
    for (const Wire& wire : hearing.wires()) {
        messages += wire.request() && wire.begins() ? 1U : 0U;
        if (wire.from != from || wire.to != to || !wire.request() || wire.management()) continue;
        if (wire.payload < shortest) {
            longest_short = std::max(longest_short, wire.payload);
            continue;
        }
        ++long_sendings;
        pairs.insert(wire.to_qp);
        (lost.emplace(wire.to_qp, wire.psn).second ? lost : again).emplace(wire.to_qp, wire.psn);
    }
    hearing.equal_fact("connections", static_cast<double>(pairs.size()));
    hearing.equal_fact("longest_taken_bytes", static_cast<double>(longest_short));
    hearing.equal_fact("probe_size", shortest + 16.0);  // IPv4, UDP, BTH and ICRC, without IPv4 and ICMP
    hearing.at_most_fact("short_messages", static_cast<double>(messages));
    hearing.at_most_fact("long_sendings", static_cast<double>(long_sendings));
    hearing.expect(!again.empty(), "no packet of that length was sent again");
}

constexpr std::array kCommonJudges{
    Judge{"stalled-together", stalled_together},
    Judge{"losses-by-udp-port", losses_by_udp_port},
    Judge{"losses-by-size", losses_by_size},
};

}  // namespace

std::span<const Judge> common_judges() { return kCommonJudges; }

}  // namespace qps::court
