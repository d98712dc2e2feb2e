// Two virtual networks, VNIs or VLANs, that use the same addresses and queue pair numbers: which connection a packet
// belongs to then.
//
// A packet of another network than that of its flow so far is no proof of another flow: taps on both sides of a router
// see the same packets with either tag, a mirror takes tags off some of them, and a path may lead over several links.
// So what was recorded there before, or goes on where the flow was, belongs to it; of a flow that is known to take
// turns over several VLANs, what it sends again, too. What is left is the flow of somebody else, and so is all that
// comes in that network from then on. Tenants may begin with the same bytes: a network whose first packets are copies
// is tied to the flow for good when there are some of them, and until then by what is said above.
#include <dissect/base/types.hpp>
#include <transport-replay/tracking/tenant_watch.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

bool is_vni(NetworkId network) { return std::to_underlying(network) >= kIsVni; }

// What the index has beside a flow as another network has it: how many of its packets, copies all of them, tie it to
// the flow; nothing once that is certain. And the network of a flow that takes turns, which is none.
constexpr std::uint32_t kFewCopies = 8;
constexpr NetworkId kTiedByOne{std::to_underlying(FlowIndex::kNotSeen) - kFewCopies};
constexpr NetworkId kTakesTurns{std::to_underlying(FlowIndex::kNotSeen) - kFewCopies - 1};

bool is_tied_by_few(NetworkId mark) { return mark >= kTiedByOne && mark < FlowIndex::kNotSeen; }
NetworkId one_more(NetworkId mark) { return NetworkId{std::to_underlying(mark) + 1}; }
std::uint64_t packets_of(NetworkId mark) { return std::to_underlying(mark) - std::to_underlying(kTiedByOne) + 1; }

// So many packets that seemed to be doubled were another flow's.
void take_back_doubled(Incidents& incidents, std::uint64_t packets) {
    packets = std::min(packets, incidents.duplicated);
    const std::uint64_t identified = std::min(packets, incidents.doubled.identified);
    incidents.duplicated -= packets;
    incidents.doubled.identified -= identified;
    incidents.doubled.alone -= std::min(identified, incidents.doubled.alone);
    const std::uint64_t counted = std::min(packets - identified, incidents.retransmitted);
    if (counted == 0) return;
    incidents.retransmitted_bytes -= incidents.retransmitted_bytes / incidents.retransmitted * counted;
    incidents.retransmitted -= counted;
}

}  // namespace

std::optional<Tracker::WayOf> Tracker::find(const Observation& observation) const {
    const FlowIndex::Slot* slot = index_.slot(observation.flow, observation.flow_hash);
    if (slot == nullptr) return std::nullopt;
    if (slot->network != observation.network && !observation.datagram)
        if (const auto there = index_.find(FlowIndex::in_network(observation.flow, observation.network)))
            return WayOf(*there);
    return WayOf(slot->where);
}

// The flow as the index has it, of that network where it is known.
FlowKey Tracker::keyed(FlowKey flow, std::optional<NetworkId> network) const {
    if (network && are_tenants(tenants_, flow)) return FlowIndex::in_network(flow, *network);
    const FlowIndex::Slot* slot = network ? index_.slot(flow, FlowHash{}(flow)) : nullptr;
    const bool other = slot != nullptr && slot->network != FlowIndex::kNotSeen && slot->network != *network;
    return other ? FlowIndex::in_network(flow, *network) : flow;
}

Tracker::WayOf Tracker::in_other_network(const FlowIndex::Slot& slot, const Observation& observation,
                                         Repetition repetition) {
    const FlowKey there = FlowIndex::in_network(observation.flow, observation.network);
    const FlowIndex::Slot* known = index_.slot(there, FlowHash{}(there));
    if (known != nullptr && !is_tied_by_few(known->network)) return WayOf(known->where);
    if (known != nullptr && repetition != Repetition::none) {
        index_.see_in(there, one_more(known->network));
        return WayOf(known->where);
    }
    const WayOf where(slot.where);
    // What CM told of, in messages that may have gone elsewhere.
    if (slot.network == FlowIndex::kNotSeen || entries_[where.index()].connection.way(where.from()).packets == 0) {
        index_.see_in(observation.flow, observation.network);
        return where;
    }
    if (is_same_flow(slot, observation, repetition)) {
        if (known != nullptr) return where;
        index_.set(there, where.word());
        const bool copy = repetition != Repetition::none;
        index_.see_in(there, copy ? kTiedByOne : FlowIndex::kNotSeen);
        if (!copy) index_.set(FlowIndex::in_network(observation.flow, kTakesTurns), where.word());
        return where;
    }
    if (Way& way = entries_[where.index()].connection.way(where.from()); known != nullptr && way.incidents->duplicated)
        take_back_doubled(way.incidents.made(), packets_of(known->network));
    Observation apart = observation;
    apart.flow = there;
    apart.flow_hash = FlowHash{}(there);
    const NetworkId here = slot.network;
    const WayOf other_way = begin_or_adopt(apart);
    if (!other_way.known()) return other_way;
    index_.see_in(there, FlowIndex::kNotSeen);
    const auto name = [&](WayOf way, NetworkId network) {
        entries_[way.index()].connection.ends[static_cast<std::size_t>(other(way.from()))].network = network;
    };
    name(where, here);
    name(other_way, observation.network);
    return other_way;
}

Tracker::WayOf Tracker::begin_or_adopt(const Observation& observation) {
    if (const WayOf adopted = adopt(observation); adopted.known()) return adopted;
    return begin(observation);
}

// Whether somebody else may have asked for it, in that network.
bool Tracker::others_asked(const Observation& answer, Index index) const {
    return std::ranges::any_of(askers(answer, index), [&](const WaitingRequests::Asked& asked) {
        const auto place = place_of(ConnectionId{std::to_underlying(asked.id)});
        return entries_[*place].connection.ways[0].network == answer.network;
    });
}

bool Tracker::is_same_flow(const FlowIndex::Slot& slot, const Observation& observation, Repetition repetition) const {
    constexpr std::int32_t kNear = 16;  // PSNs that another link may be ahead
    const WayOf where(slot.where);
    const Entry& entry = entries_[where.index()];
    const bool request = info(observation.opcode).request;
    if (!request && others_asked(observation, where.index())) return false;
    if (repetition != Repetition::none) return true;
    if (is_vni(slot.network) && is_vni(observation.network)) return false;  // a tenant has one
    const Direction& requester =
        entry.directions[static_cast<std::size_t>(request ? where.from() : other(where.from()))];
    const std::int32_t ahead = observation.psn - requester.requests.next();
    const bool is_near = !requester.requests.started() || (ahead >= 0 && ahead < kNear);
    if (request) {
        const auto turns = index_.find(FlowIndex::in_network(observation.flow, kTakesTurns));
        const bool takes_turns = turns && WayOf(*turns).index() == where.index();
        return is_near || requester.log.gap(observation.psn).has_value() ||
               (takes_turns && was_sent(requester, observation.psn));
    }
    return is_near || was_sent(requester, observation.psn) || requester.log.gap(observation.psn).has_value() ||
           requester.requests.may_reach(observation.psn, path_mtu(entry));
}

}  // namespace qps::transport
