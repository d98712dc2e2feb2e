// Findings about who cannot be reached: requests for a MAC address without an answer, ICMP errors about RoCEv2 packets. A host that has no
// MAC address for its peer cannot bring a queue pair to RTR (ibv_modify_qp: errno 110), and sends nothing that a capture could show.
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace words;

bool is_roce(const Connection& connection) {
    return connection.service != dissect::Service::iwarp && connection.service != dissect::Service::uet;
}

// Who was seen to speak RDMA or to be spoken to, and when last.
struct RoceHosts {
    struct Host {
        Address address;
        dissect::Instant spoke{};  // its last packet
        bool sends = false;
        bool roce = false;
    };
    std::vector<Host> hosts;  // by address

    explicit RoceHosts(const Timeline& timeline) {
        for (const Connection& connection : timeline.connections) {
            for (const End end : {End::a, End::b}) add(connection, end);
        }
        std::ranges::sort(hosts, {}, &Host::address);
        std::vector<Host> merged;
        for (const Host& host : hosts) {
            if (merged.empty() || merged.back().address != host.address) {
                merged.push_back(host);
                continue;
            }
            Host& known = merged.back();
            if (host.sends && (!known.sends || host.spoke > known.spoke)) known.spoke = host.spoke;
            known.sends |= host.sends;
            known.roce |= host.roce;
        }
        hosts = std::move(merged);
    }
    [[nodiscard]] const Host* find(const Address& address) const {
        const auto found = std::ranges::lower_bound(hosts, address, {}, &Host::address);
        return found == hosts.end() || found->address != address ? nullptr : &*found;
    }

private:
    void add(const Connection& connection, End end) {
        const Address& address = connection.end(end).address;
        if (address.space != AddressSpace::roce_v2) return;
        const Way& own = connection.way(end);
        hosts.push_back({address, own.last_time, own.packets != 0, is_roce(connection)});
    }
};

// Who sent RoCE to whom, and whether within a VLAN: the way of it is the way of an answer between both, if it is the same network.
class RoceWays {
public:
    explicit RoceWays(const Timeline& timeline) {
        for (const Connection& connection : timeline.connections) {
            if (!is_roce(connection)) continue;
            for (const End end : {End::a, End::b}) {
                const auto& tags = connection.way(end).pcps;
                for (std::size_t i = 0; i < tags.size(); ++i)
                    ways_.emplace_back(connection.end(end).address, connection.end(other(end)).address, tags[i].value != kNoPcp);
            }
        }
        std::ranges::sort(ways_);
    }
    [[nodiscard]] bool has(const Address& from, const Address& to, bool tagged) const { return std::ranges::binary_search(ways_, std::tuple(from, to, tagged)); }

private:
    std::vector<std::tuple<Address, Address, bool>> ways_;
};

std::string_view protocol_of(const Address& address) { return address.bits[0] == 0 && address.bits[1] >> 32U == 0xffff ? "ARP" : "neighbour discovery"; }

// What an ICMP error of a code says; RFC 792 and 1812, RFC 4443.
std::string reason_of(const IcmpError& error) {
    constexpr std::array<std::string_view, 14> kOfIpv4{"network unreachable",
                                                       "host unreachable",
                                                       "protocol unreachable",
                                                       "port unreachable",
                                                       "",
                                                       "source route failed",
                                                       "network unknown",
                                                       "host unknown",
                                                       "source host isolated",
                                                       "network prohibited",
                                                       "host prohibited",
                                                       "network unreachable for this ToS",
                                                       "host unreachable for this ToS",
                                                       "communication prohibited"};
    constexpr std::array<std::string_view, 7> kOfIpv6{"no route",        "prohibited",          "beyond scope", "address unreachable",
                                                      "port unreachable", "source address failed policy", "route rejected"};
    const bool ipv4 = protocol_of(error.source) == "ARP";
    if (ipv4 && error.code < kOfIpv4.size()) return std::string(kOfIpv4[error.code]);
    if (!ipv4 && error.code < kOfIpv6.size()) return std::string(kOfIpv6[error.code]);
    return fmt::format("code {}", error.code);
}

// Pairs of addresses between which the capture has RoCEv2.
class RocePairs {
public:
    explicit RocePairs(const Timeline& timeline) {
        if (timeline.reachability.errors.empty()) return;
        for (const Connection& connection : timeline.connections)
            if (is_roce(connection)) pairs_.push_back(pair_of(connection.end(End::a).address, connection.end(End::b).address));
        std::ranges::sort(pairs_);
    }
    [[nodiscard]] bool has(const IcmpError& error) const { return std::ranges::binary_search(pairs_, pair_of(error.source, error.destination)); }

private:
    using Pair = std::pair<Address, Address>;
    static Pair pair_of(const Address& one, const Address& other) { return one < other ? Pair{one, other} : Pair{other, one}; }
    std::vector<Pair> pairs_;
};

// What the source of such an error retransmitted to the destination: requests, and messages of CM.
struct Retransmissions {
    bool known = false;         // it sent something that would be
    std::uint64_t missed = 0;   // packets that somebody missed
    std::uint64_t refused = 0;  // packets that arrived, and met an RNR NAK

    void add(std::uint64_t packets) {
        known = true;
        missed += packets;
    }
    void add(const Incidents& incidents) {
        const RecoverySum& not_ready = incidents.recovery(RecoveryKind::rnr_nak);
        const std::uint64_t again = std::min(incidents.retransmitted, not_ready.resent - std::min(not_ready.resent, not_ready.first_seen));
        add(incidents.retransmitted - again);
        refused += again;
    }
};

// An ICMP error alone does not prove that a packet was lost (it may be about one that the capture lacks, or be wrong); one that was
// retransmitted was missed by somebody, unless its receiver was not ready for it.
Retransmissions retransmitted_to(const Timeline& timeline, const IcmpError& error) {
    Retransmissions found;
    for (const Connection& connection : timeline.connections) {
        if (!is_roce(connection) || !connection.reliable()) continue;
        for (const End end : {End::a, End::b}) {
            if (connection.end(end).address != error.source || connection.end(other(end)).address != error.destination) continue;
            if (connection.way(end).packets != 0) found.add(*connection.way(end).incidents);
        }
    }
    for (const CmAttempt& attempt : timeline.cm.attempts) {
        const Address &active = attempt.active.address, &passive = attempt.passive.address;
        if (active == error.source && passive == error.destination) found.add(attempt.repeats_of(CmMessage::req));
        if (passive == error.source && active == error.destination) found.add(attempt.repeats_of(CmMessage::rep));
    }
    return found;
}

// Whether there are packets of which that is not known.
bool some_untold(const Timeline& timeline) {
    return timeline.retired.connections != 0 || timeline.left_out.packets_of_connections != 0 || timeline.cm.messages_dropped != 0;
}

// A warning where packets were retransmitted, else a note.
void tell_retransmitted(const Timeline& timeline, const IcmpError& error, FindingDraft& draft) {
    const Retransmissions again = retransmitted_to(timeline, error);
    if (again.missed == 0) draft.severity = Severity::note;
    if (!again.known || (again.missed == 0 && some_untold(timeline))) return;
    draft.old_summary.pop_back();
    if (again.missed != 0) draft.old_summary += fmt::format("; {} retransmitted {} to it.", text(error.source), counted(again.missed, "packet"));
    else if (again.refused != 0) draft.old_summary += fmt::format("; {} retransmitted packets to it after RNR NAKs only.", text(error.source));
    else draft.old_summary += "; no captured packet was retransmitted.";
}

// What became of the packets, as it is told.
std::string fate_of(const IcmpError& error) {
    if (error.reporter == error.destination) return "it refused its RoCEv2 packets";  // no RDMA there, or a filter
    return fmt::format("its RoCEv2 packets did not reach {}", text(error.destination));
}

void neighbour_unanswered(const Timeline& timeline, const Emit& emit) {
    if (timeline.reachability.neighbours.empty()) return;
    const RoceHosts hosts(timeline);
    const RoceWays ways(timeline);
    for (const UnansweredNeighbour& one : timeline.reachability.neighbours) {
        const RoceHosts::Host* const target = hosts.find(one.target);
        const RoceHosts::Host* const asker = hosts.find(one.asker);
        if ((target == nullptr || !target->roce) && (asker == nullptr || !asker->roce)) continue;
        // It is there after all, or the tap may not hear what goes to who asks.
        if (target != nullptr && target->sends && target->spoke >= one.first_time) continue;
        if (!one.answers_are_heard && !ways.has(one.target, one.asker, one.tagged)) continue;
        emit({.party = Party::undecided,
              .old_packets = {one.first, one.last},
              .count = one.requests,
              .old_summary = fmt::format("{} asked {} for the MAC address of {} by {}, within {}, and no answer is in the capture.", text(one.asker),
                                     times(one.requests), text(one.target), protocol_of(one.target), duration_text(one.last_time - one.first_time)),
              .old_advice = fmt::format("Look whether {} is up, in the same VLAN and subnet (`ip neigh`, `ping` from the interface of the GID): without its MAC "
                                    "address ibv_modify_qp to RTR fails with errno 110 (ETIMEDOUT).",
                                    text(one.target))});
    }
}

void icmp_unreachable(const Timeline& timeline, const Emit& emit) {
    const RocePairs pairs(timeline);
    for (const IcmpError& error : timeline.reachability.errors) {
        if (error.too_big || !pairs.has(error)) continue;
        const bool itself = error.reporter == error.destination;
        FindingDraft draft{.party = itself ? Party::responder : Party::fabric,
                           .old_packets = {error.first, error.last},
                           .count = error.count,
                           .old_summary = fmt::format("{} reported to {} in {} that {}: {}.", text(error.reporter), text(error.source), counted(error.count, "ICMP error"),
                                                  fate_of(error), reason_of(error)),
                           .old_advice = itself ? fmt::format("Look whether RDMA was up on that address of {} (`rdma link`, `show_gids`, a firewall that rejects UDP "
                                                          "port 4791).",
                                                          text(error.destination))
                                            : fmt::format("Check routes and filters of {} for {} (`ip route get`, ACLs for UDP port 4791).",
                                                          text(error.reporter), text(error.destination))};
        tell_retransmitted(timeline, error, draft);
        emit(std::move(draft));
    }
}

void path_mtu_exceeded(const Timeline& timeline, const Emit& emit) {
    const RocePairs pairs(timeline);
    for (const IcmpError& error : timeline.reachability.errors) {
        if (!error.too_big || !pairs.has(error)) continue;
        const std::string mtu = error.mtu == 0 ? "" : fmt::format(" of {}", length(error.mtu));
        FindingDraft draft{.party = Party::fabric,
                           .old_packets = {error.first, error.last},
                           .count = error.count,
                           .old_summary = fmt::format("{} reported to {} in {} that its RoCEv2 packets to {} exceeded an MTU{} on their path and were dropped.",
                                                  text(error.reporter), text(error.source), counted(error.count, "ICMP error"), text(error.destination), mtu),
                           .old_advice = "Use a smaller path MTU of RDMA (rdma_cm takes it from the interface: `ip link set DEV mtu`; perftest -m), or larger frames at "
                                     "every hop: RoCE does not react to ICMP, and only its large packets are lost."};
        tell_retransmitted(timeline, error, draft);
        emit(std::move(draft));
    }
}

void address_conflict(const Timeline& timeline, const Emit& emit) {
    if (timeline.reachability.conflicts.empty()) return;
    const RoceHosts hosts(timeline);
    for (const AddressConflict& one : timeline.reachability.conflicts) {
        const RoceHosts::Host* const peer = hosts.find(one.host);
        if (peer == nullptr || !peer->roce) continue;
        emit({.party = Party::undecided,
              .old_packets = {one.first[0], one.first[1], one.last},
              .count = one.requests,
              .old_summary = fmt::format("Two MAC addresses, {} and {}, answered {} for {} to the same request ({}).", text(one.macs[0]), text(one.macs[1]),
                                     times(one.requests), text(one.host), protocol_of(one.host)),
              .old_advice = fmt::format("Find the host of each: two ports of one host in the same subnet answer for each other unless arp_ignore=1 and arp_announce=2 "
                                    "(`sysctl net.ipv4.conf`), and two hosts must not both have {}: RoCE packets go to the one that answered last.",
                                    text(one.host))});
    }
}

}  // namespace

Family reachability_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "neighbour-unanswered",
                   .severity = Severity::note,
                   .clause = "RFC 826; RFC 4861 7.2",
                   .meaning = "A RoCE host asked for a MAC address, and no answer is in the capture",
                   .draw = neighbour_unanswered},
        FindingRow{.id = "icmp-unreachable",
                   .severity = Severity::warning,
                   .clause = "RFC 792; RFC 4443 3.1",
                   .meaning = "ICMP says that RoCEv2 packets were not delivered",
                   .draw = icmp_unreachable},
        FindingRow{.id = "path-mtu-exceeded",
                   .severity = Severity::warning,
                   .clause = "RFC 1191; RFC 8201",
                   .meaning = "ICMP says that RoCEv2 packets exceeded the MTU of their path",
                   .draw = path_mtu_exceeded},
        FindingRow{.id = "address-conflict",
                   .severity = Severity::warning,
                   .clause = "RFC 5227; RFC 4861 7.2.7",
                   .meaning = "Two MAC addresses answer for the IP address of a RoCE peer",
                   .draw = address_conflict},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
