// Two virtual networks, VNIs or VLANs, that use the same addresses and queue pair numbers: which connection a packet
// belongs to then.
//
// A packet of another network than that of its flow so far is no proof of another flow: taps on both sides of a router
// see the same packets with either tag, a mirror takes tags off some of them, and a path may lead over several links.
// So what was recorded there before, or goes on where the flow was, belongs to it. What is left is the flow of somebody
// else, and so is all that comes in that network from then on.
#include <dissect/base/types.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

bool is_vni(NetworkId network) { return std::to_underlying(network) >= kIsVni; }

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
    const FlowIndex::Slot* slot = network ? index_.slot(flow, FlowHash{}(flow)) : nullptr;
    const bool other = slot != nullptr && slot->network != FlowIndex::kNotSeen && slot->network != *network;
    return other ? FlowIndex::in_network(flow, *network) : flow;
}

Tracker::WayOf Tracker::in_other_network(const FlowIndex::Slot& slot, const Observation& observation,
                                         Repetition repetition) {
    const FlowKey there = FlowIndex::in_network(observation.flow, observation.network);
    if (const auto known = index_.find(there)) return WayOf(*known);
    const WayOf where(slot.where);
    // What CM told of, in messages that may have gone elsewhere.
    if (slot.network == FlowIndex::kNotSeen || entries_[where.index()].connection.way(where.from()).packets == 0) {
        index_.see_in(observation.flow, observation.network);
        return where;
    }
    if (is_same_flow(slot, observation, repetition)) {
        index_.set(there, slot.where);
        return where;
    }
    Observation apart = observation;
    apart.flow = there;
    apart.flow_hash = FlowHash{}(there);
    const NetworkId here = slot.network;
    const WayOf other_way = begin_or_adopt(apart);
    if (!other_way.known()) return other_way;
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

bool Tracker::is_same_flow(const FlowIndex::Slot& slot, const Observation& observation, Repetition repetition) const {
    constexpr std::int32_t kNear = 16;  // PSNs that another link may be ahead
    const WayOf where(slot.where);
    const Entry& entry = entries_[where.index()];
    if (repetition != Repetition::none) return true;
    if (is_vni(slot.network) && is_vni(observation.network)) return false;  // a tenant has one
    const bool request = info(observation.opcode).request;
    const Direction& requester =
        entry.directions[static_cast<std::size_t>(request ? where.from() : other(where.from()))];
    const std::int32_t ahead = observation.psn - requester.requests.next();
    const bool is_near = !requester.requests.started() || (ahead >= 0 && ahead < kNear);
    if (request) return is_near || requester.log.gap(observation.psn).has_value();
    // Somebody else may have asked for it, in that network.
    for (const WaitingRequests::Asked& asked : askers(observation, where.index()))
        if (const auto place = place_of(ConnectionId{std::to_underlying(asked.id)});
            entries_[*place].connection.ways[0].network == observation.network)
            return false;
    return is_near || was_sent(requester, observation.psn) ||
           requester.requests.may_reach(observation.psn, path_mtu(entry));
}

}  // namespace qps::transport
