// Findings about who cannot be reached: requests for a MAC address without an answer, ICMP errors about RoCEv2 packets.
// A host that has no MAC address for its peer cannot bring a queue pair to RTR (ibv_modify_qp: errno 110), and sends
// nothing that a capture could show.
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kAskedBy{"asked_by", Unit::word, "how the MAC address was asked for: ARP, or neighbour discovery"};
constexpr FactRow kNeighbourRequests{"neighbour_requests", Unit::count, "requests for the MAC address"};
constexpr FactRow kAskedFor{"asked_for", Unit::duration, "time from the first request to the last"};
constexpr FactRow kFirstMac{"first_mac", Unit::host, "MAC address that answered first"};
constexpr FactRow kSecondMac{"second_mac", Unit::host, "the other MAC address that answered"};
constexpr FactRow kReporter{"reporter", Unit::host, "host that sent the ICMP errors"};
constexpr FactRow kIcmpErrors{"icmp_errors", Unit::count, "ICMP errors"};
constexpr FactRow kIcmpCode{"icmp_code", Unit::number, "their code (RFC 792, RFC 4443)"};
constexpr FactRow kIcmpReason{"icmp_reason", Unit::word, "what the code means, where it is defined"};
constexpr FactRow kRefused{"refused", Unit::flag, "the host to which the packets went reported it itself"};
constexpr FactRow kSmallestMtu{"smallest_mtu", Unit::bytes, "the smallest MTU that an error names"};
constexpr FactRow kAfterErrors{
    "retransmission", Unit::word,
    "whether the sender retransmitted to that host: missed (packets that it missed), refused (after RNR NAKs only), none; nothing "
    "where that is not known"};
constexpr std::array kReachabilityFacts{
    &kAskedBy,    &kNeighbourRequests, &kAskedFor,   &kFirstMac, &kSecondMac,   &kReporter,
    &kIcmpErrors, &kIcmpCode,          &kIcmpReason, &kRefused,  &kSmallestMtu, &kAfterErrors,
};

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

// Who sent RoCE to whom, and whether within a VLAN: the way of it is the way of an answer between both, if it is the
// same network.
class RoceWays {
public:
    explicit RoceWays(const Timeline& timeline) {
        for (const Connection& connection : timeline.connections) {
            if (!is_roce(connection)) continue;
            for (const End end : {End::a, End::b}) {
                const auto& tags = connection.way(end).pcps;
                for (std::size_t i = 0; i < tags.size(); ++i)
                    ways_.emplace_back(connection.end(end).address, connection.end(other(end)).address,
                                       tags[i].value != kNoPcp);
            }
        }
        std::ranges::sort(ways_);
    }
    [[nodiscard]] bool has(const Address& from, const Address& to, bool tagged) const {
        return std::ranges::binary_search(ways_, std::tuple(from, to, tagged));
    }

private:
    std::vector<std::tuple<Address, Address, bool>> ways_;
};

std::string_view protocol_of(const Address& address) {
    return address.bits[0] == 0 && address.bits[1] >> 32U == 0xffff ? "ARP" : "neighbour discovery";
}

// What an ICMP error of a code says; RFC 792 and 1812, RFC 4443. Nothing of a code that they do not define.
std::optional<std::string_view> reason_of(const IcmpError& error) {
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
    constexpr std::array<std::string_view, 7> kOfIpv6{"no route",         "prohibited",
                                                      "beyond scope",     "address unreachable",
                                                      "port unreachable", "source address failed policy",
                                                      "route rejected"};
    const bool ipv4 = protocol_of(error.source) == "ARP";
    if (ipv4 && error.code < kOfIpv4.size()) return kOfIpv4[error.code];
    if (!ipv4 && error.code < kOfIpv6.size()) return kOfIpv6[error.code];
    return std::nullopt;
}

// Pairs of addresses between which the capture has RoCEv2.
class RocePairs {
public:
    explicit RocePairs(const Timeline& timeline) {
        if (timeline.reachability.errors.empty()) return;
        for (const Connection& connection : timeline.connections)
            if (is_roce(connection))
                pairs_.push_back(pair_of(connection.end(End::a).address, connection.end(End::b).address));
        std::ranges::sort(pairs_);
    }
    [[nodiscard]] bool has(const IcmpError& error) const {
        return std::ranges::binary_search(pairs_, pair_of(error.source, error.destination));
    }

private:
    using Pair = std::pair<Address, Address>;
    static Pair pair_of(const Address& one, const Address& other) {
        return one < other ? Pair{one, other} : Pair{other, one};
    }
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
        const std::uint64_t again =
            std::min(incidents.retransmitted, not_ready.resent - std::min(not_ready.resent, not_ready.first_seen));
        add(incidents.retransmitted - again);
        refused += again;
    }
};

// An ICMP error alone does not prove that a packet was lost (it may be about one that the capture lacks, or be wrong);
// one that was retransmitted was missed by somebody, unless its receiver was not ready for it.
Retransmissions retransmitted_to(const Timeline& timeline, const IcmpError& error) {
    Retransmissions found;
    for (const Connection& connection : timeline.connections) {
        if (!is_roce(connection) || !connection.reliable()) continue;
        for (const End end : {End::a, End::b}) {
            if (connection.end(end).address != error.source || connection.end(other(end)).address != error.destination)
                continue;
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
    return timeline.retired.connections != 0 || timeline.left_out.packets_of_connections != 0 ||
           timeline.cm.messages_dropped != 0;
}

// A warning where packets were retransmitted, else a note.
void tell_retransmitted(const Timeline& timeline, const IcmpError& error, FindingDraft& draft) {
    const Retransmissions again = retransmitted_to(timeline, error);
    if (again.missed == 0) draft.severity = Severity::note;
    if (!again.known || (again.missed == 0 && some_untold(timeline))) return;
    draft.facts.emplace_back(kAfterErrors, again.missed != 0 ? "missed" : again.refused != 0 ? "refused" : "none");
    draft.facts.emplace_back(kRetransmitted, nonzero(again.missed));
}

std::vector<FindingEvent> events_of(const IcmpError& error) {
    return {{error.first, EventRole::evidence, error.first_time}, {error.last, EventRole::evidence, error.last_time}};
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
              .count = one.requests,
              .facts = {{kHost, one.asker},
                        {kPeer, one.target},
                        {kNeighbourRequests, one.requests},
                        {kAskedBy, protocol_of(one.target)},
                        {kAskedFor, one.last_time - one.first_time}},
              .events = {{one.first, EventRole::evidence, one.first_time},
                         {one.last, EventRole::evidence, one.last_time}}});
    }
}

void icmp_unreachable(const Timeline& timeline, const Emit& emit) {
    const RocePairs pairs(timeline);
    for (const IcmpError& error : timeline.reachability.errors) {
        if (error.too_big || !pairs.has(error)) continue;
        const bool itself = error.reporter == error.destination;
        // No RDMA there, or a filter, where it says so itself.
        FindingDraft draft{.party = itself ? Party::responder : Party::fabric,
                           .count = error.count,
                           .facts = {{kReporter, error.reporter},
                                     {kFromHost, error.source},
                                     {kToHost, error.destination},
                                     {kIcmpErrors, error.count},
                                     {kIcmpCode, error.code},
                                     {kIcmpReason, reason_of(error)},
                                     {kRefused, itself}},
                           .events = events_of(error)};
        tell_retransmitted(timeline, error, draft);
        emit(std::move(draft));
    }
}

void path_mtu_exceeded(const Timeline& timeline, const Emit& emit) {
    const RocePairs pairs(timeline);
    for (const IcmpError& error : timeline.reachability.errors) {
        if (!error.too_big || !pairs.has(error)) continue;
        FindingDraft draft{.party = Party::fabric,
                           .count = error.count,
                           .facts = {{kReporter, error.reporter},
                                     {kFromHost, error.source},
                                     {kToHost, error.destination},
                                     {kIcmpErrors, error.count},
                                     {kSmallestMtu, nonzero(error.mtu)}},
                           .events = events_of(error)};
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
              .count = one.requests,
              .facts = {{kHost, one.host},
                        {kFirstMac, one.macs[0]},
                        {kSecondMac, one.macs[1]},
                        {kNeighbourRequests, one.requests},
                        {kAskedBy, protocol_of(one.host)}},
              .events = {{one.first[0], EventRole::evidence, one.first_time[0]},
                         {one.first[1], EventRole::evidence, one.first_time[1]},
                         {one.last, EventRole::evidence, one.last_time}}});
    }
}

}  // namespace

Family reachability_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "neighbour-unanswered",
            .severity = Severity::note,
            .clause = "RFC 826; RFC 4861 7.2",
            .meaning = "A RoCE host asked for a MAC address, and no answer is in the capture",
            .sentence =
                "{host} asked {neighbour_requests:times} for the MAC address of {peer} by {asked_by}, within {asked_for}, and no answer is in the "
                "capture.",
            .advice =
                "Look whether {peer} is up, in the same VLAN and subnet (`ip neigh`, `ping` from the interface of the GID): without its MAC address "
                "ibv_modify_qp to RTR fails with errno 110 (ETIMEDOUT).",
            .alike =
                "A tap that sees broadcasts but not the answers, which go to the asking host alone; so it must have seen answers of others to it.",
            .limits =
                "An answer may have been lost by the recorder. What the host wanted of its neighbour, RDMA or something else, is not known.",
            .draw = neighbour_unanswered},
        FindingRow{
            .id = "icmp-unreachable",
            .severity = Severity::warning,
            .clause = "RFC 792; RFC 4443 3.1",
            .meaning = "ICMP says that RoCEv2 packets were not delivered",
            .sentence =
                "{reporter} reported to {from_host} in {icmp_errors:ICMP error} that [refused?it refused its RoCEv2 packets|its RoCEv2 packets did "
                "not reach {to_host}]: [icmp_reason?{icmp_reason}|code {icmp_code}]{>after_errors}.",
            .advice =
                "[refused?Look whether RDMA was up on that address of {to_host} (`rdma link`, `show_gids`, a firewall that rejects UDP port 4791).|"
                "Check routes and filters of {reporter} for {to_host} (`ip route get`, ACLs for UDP port 4791).]",
            .alike =
                "A host whose kernel answers for its NIC: RDMA works, and the kernel, which sees a copy, says that nobody listens on the port.",
            .limits =
                "Routers and hosts limit how many ICMP errors they send, so the packets that were not delivered may be more. An ICMP error is not "
                "signed: anybody may have sent it.",
            .draw = icmp_unreachable},
        FindingRow{
            .id = "path-mtu-exceeded",
            .severity = Severity::warning,
            .clause = "RFC 1191; RFC 8201",
            .meaning = "ICMP says that RoCEv2 packets exceeded the MTU of their path",
            .sentence =
                "{reporter} reported to {from_host} in {icmp_errors:ICMP error} that its RoCEv2 packets to {to_host} exceeded an MTU[ of "
                "{smallest_mtu:length}] on their path and were dropped{>after_errors}.",
            .advice =
                "Use a smaller path MTU of RDMA (rdma_cm takes it from the interface: `ip link set DEV mtu`; perftest -m), or larger frames at every "
                "hop: RoCE does not react to ICMP, and only its large packets are lost.",
            .alike =
                "Errors about packets of another program that uses UDP port 4791; those that cannot be RoCE are left out.",
            .limits =
                "Switches that only bridge drop frames that are too long without an ICMP error. How many packets were dropped is not known.",
            .draw = path_mtu_exceeded},
        FindingRow{
            .id = "address-conflict",
            .severity = Severity::warning,
            .clause = "RFC 5227; RFC 4861 7.2.7",
            .meaning = "Two MAC addresses answer for the IP address of a RoCE peer",
            .sentence =
                "Two MAC addresses, {first_mac} and {second_mac}, answered {neighbour_requests:times} for {host} to the same request ({asked_by}).",
            .advice =
                "Find the host of each: two ports of one host in the same subnet answer for each other unless arp_ignore=1 and arp_announce=2 (`sysctl "
                "net.ipv4.conf`), and two hosts must not both have {host}: RoCE packets go to the one that answered last.",
            .alike =
                "An address that moves from one port to another, such as with failover, is answered by both for a moment; so it must happen twice.",
            .limits = "Whether the two MAC addresses are of one host or of two the packets do not tell.",
            .draw = address_conflict},
    };
    return {kRows, kReachabilityFacts};
}

}  // namespace qps::transport::families
