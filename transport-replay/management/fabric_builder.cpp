#include <dissect/mad/administration.hpp>
#include <dissect/mad/forwarding.hpp>
#include <dissect/mad/subnet.hpp>
#include <transport-replay/management/fabric_builder.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Lid kFirstMulticast{0xc000};  // 4.1.3: from here on LIDs are of groups

constexpr Field kNodeType = named(kNodeInfoFields, "infiniband.nodeinfo.nodetype");
constexpr Field kPortCount = named(kNodeInfoFields, "infiniband.nodeinfo.numports");
constexpr Field kImage = named(kNodeInfoFields, "infiniband.nodeinfo.systemimageguid");
constexpr Field kNodeGuid = named(kNodeInfoFields, "infiniband.nodeinfo.nodeguid");
constexpr Field kPortGuid = named(kNodeInfoFields, "infiniband.nodeinfo.portguid");
constexpr Field kDevice = named(kNodeInfoFields, "infiniband.nodeinfo.deviceid");
constexpr Field kVendor = named(kNodeInfoFields, "infiniband.nodeinfo.vendorid");
constexpr Field kArrivedBy = named(kNodeInfoFields, "infiniband.nodeinfo.localportnum");
constexpr Field kPortLid = named(kPortInfoFields, "infiniband.portinfo.lid");
constexpr Field kPrefix = named(kPortInfoFields, "infiniband.portinfo.guid");
constexpr Field kMasterLid = named(kPortInfoFields, "infiniband.portinfo.mastersmlid");
constexpr Field kLocalPort = named(kPortInfoFields, "infiniband.portinfo.localportnum");
constexpr Field kState = named(kPortInfoFields, "infiniband.portinfo.portstate");
constexpr Field kPhysical = named(kPortInfoFields, "infiniband.portinfo.portphysicalstate");
constexpr Field kWidth = named(kPortInfoFields, "infiniband.portinfo.linkwidthactive");
constexpr Field kSpeed = named(kPortInfoFields, "infiniband.portinfo.linkspeedactive");
constexpr Field kSpeedExtended = named(kPortInfoFields, "infiniband.portinfo.linkspeedextactive");
constexpr Field kNeighbourMtu = named(kPortInfoFields, "infiniband.portinfo.neighbormtu");
constexpr Field kManagerGuid = named(kSmInfoFields, "infiniband.sminfo.guid");
constexpr Field kManagerActivity = named(kSmInfoFields, "infiniband.sminfo.actcount");
constexpr Field kManagerPriority = named(kSmInfoFields, "infiniband.sminfo.priority");
constexpr Field kManagerState = named(kSmInfoFields, "infiniband.sminfo.smstate");

constexpr std::uint8_t kSwitch = 2;
constexpr std::uint32_t kPortOfModifier = 0xff;  // PortInfo (14.2.5.6)

template <class T> T value(Bytes bytes, const Field& field) { return static_cast<T>(read(bytes, field)); }

bool is_unicast(Lid lid) { return lid != Lid{} && lid < kFirstMulticast; }

Lid lid_of(const Address& address) {
    return address.space == AddressSpace::infiniband_lid ? static_cast<Lid>(address.bits[1]) : Lid{};
}

}  // namespace

void FabricBuilder::observe(const ManagementDatagram& datagram, const RmppStep& rmpp, const Observation& observation) {
    if (!datagram.response || datagram.status != 0 || !datagram.whole() || datagram.known == nullptr) return;
    switch (group_of(datagram.management_class)) {
        case MadGroup::subnet: return take_smp(datagram, observation);
        case MadGroup::administration: break;
        default: return;
    }
    if (!rmpp.rmpp) return take_record(datagram, datagram.data(), observation);
    if (rmpp.record_size == 0) return;
    for (std::size_t at = 0; at + rmpp.record_size <= rmpp.records.size(); at += rmpp.record_size)
        take_record(datagram, slice(rmpp.records, at, rmpp.record_size), observation);
}

void FabricBuilder::take_smp(const ManagementDatagram& datagram, const Observation& observation) {
    const Bytes data = slice(datagram.data(), 0, kSmpDataLength);
    const FrameIndex frame = observation.frame;
    if (datagram.is(LayerKind::node_info)) walk_to(datagram, data, observation);
    NodeKey key{{}, lid_of(observation.flow.source)};
    if (datagram.route) {
        const auto found = by_route_.find({observation.flow.destination, datagram.route->path});
        if (found == by_route_.end()) {
            if (datagram.is(LayerKind::sm_info)) take_manager(data, {}, frame);
            return;
        }
        key = {found->second, {}};
    } else if (!is_unicast(key.lid)) {
        return;
    }
    if (datagram.is(LayerKind::node_info)) return take_node_info(data, key, frame);
    if (datagram.is(LayerKind::node_description)) return take_description(data, key, frame);
    if (datagram.is(LayerKind::sm_info)) return take_manager(data, key.lid, frame);
    if (datagram.is(kind::linear_forwarding_table))
        return take_forwarding(data, key, static_cast<std::uint16_t>(datagram.modifier), frame);
    if (datagram.is(LayerKind::p_key_table))
        return take_keys(data, key, port_of_keys(key, static_cast<std::uint8_t>(datagram.modifier >> 16)));
    if (!datagram.is(LayerKind::port_info)) return;
    const FabricNode* known = node(key, frame);
    const auto number = static_cast<std::uint8_t>(datagram.modifier & kPortOfModifier);
    const bool is_switch = known != nullptr && known->type == kSwitch;
    take_port_info(data, key, number == 0 && !is_switch ? value<std::uint8_t>(data, kLocalPort) : number, frame);
}

// Only a switch is asked by port; others answer for the port that was asked, which is known where they have one only.
std::uint8_t FabricBuilder::port_of_keys(NodeKey key, std::uint8_t asked) const {
    const auto found = nodes_.find(resolved(key));
    if (asked != 0 || found == nodes_.end() || found->second.type == kSwitch || found->second.ports.size() != 1)
        return asked;
    return found->second.ports.begin()->first;
}

// A NodeInfo of a directed route: the node at its end, and the link by which the SMP came to it.
void FabricBuilder::walk_to(const ManagementDatagram& datagram, Bytes info, const Observation& observation) {
    if (!datagram.route) return;
    const PortPath& path = datagram.route->path;
    const auto guid = value<NodeGuid>(info, kNodeGuid);
    const Address& manager = observation.flow.destination;
    const auto known = by_route_.find({manager, path});
    if (known != by_route_.end()) known->second = guid;
    else if (by_route_.size() < kMaxFabricPaths) by_route_.emplace(RouteKey{manager, path}, guid);
    else ++left_out_;
    if (path.length == 0) return;
    const auto above = by_route_.find({manager, path.parent()});
    if (above == by_route_.end()) return;
    add_link({above->second, {}, path.hops().back()}, {guid, {}, value<std::uint8_t>(info, kArrivedBy)}, true,
             observation.frame);
}

void FabricBuilder::take_record(const ManagementDatagram& datagram, Bytes record, const Observation& observation) {
    const FrameIndex frame = observation.frame;
    const Bytes inner = slice(record, header(datagram.known->data).length);
    const Lid lid =
        read_be<std::uint16_t>(record, 0) != 0 ? static_cast<Lid>(read_be<std::uint16_t>(record, 0)) : Lid{};
    const NodeKey key{{}, lid};
    switch (datagram.known->inner.front()) {
        case LayerKind::node_info:
            if (!is_unicast(lid)) return;
            learn_lid(lid, value<NodeGuid>(inner, kNodeGuid));
            take_node_info(inner, key, frame);
            return take_description(slice(inner, header(LayerKind::node_info).length), key, frame);
        case LayerKind::port_info:
            if (is_unicast(lid)) take_port_info(inner, key, read_be<std::uint8_t>(record, 2), frame);
            return;
        case LayerKind::sm_info: return take_manager(inner, lid, frame);
        case LayerKind::p_key_table:
            if (is_unicast(lid)) take_keys(inner, key, read_be<std::uint8_t>(record, 4));
            return;
        default: break;
    }
    if (datagram.known->inner.front() == kind::linear_forwarding_table) {
        if (is_unicast(lid)) take_forwarding(inner, key, read_be<std::uint16_t>(record, 2), frame);
        return;
    }
    if (datagram.is(kind::link_record))
        return add_link({{},
                         value<Lid>(record, named(kLinkRecordFields, "infiniband.linkrecord.fromlid")),
                         value<std::uint8_t>(record, named(kLinkRecordFields, "infiniband.linkrecord.fromport"))},
                        {{},
                         value<Lid>(record, named(kLinkRecordFields, "infiniband.linkrecord.tolid")),
                         value<std::uint8_t>(record, named(kLinkRecordFields, "infiniband.linkrecord.toport"))},
                        false, frame);
    if (datagram.is(LayerKind::mc_member_record)) take_group(datagram, record, observation);
}

void FabricBuilder::take_group(const ManagementDatagram& datagram, Bytes record, const Observation& observation) {
    const auto gid_at = [&](std::size_t at) {
        return Address{{read_be<std::uint64_t>(record, at), read_be<std::uint64_t>(record, at + 8)},
                       AddressSpace::infiniband_gid};
    };
    const Address id = gid_at(named(kMcMemberRecordFields, "infiniband.mcmemberrecord.mgid").bit / 8U);
    const Address member = gid_at(named(kMcMemberRecordFields, "infiniband.mcmemberrecord.portgid").bit / 8U);
    auto found = groups_.find(id);
    if (found == groups_.end()) {
        if (groups_.size() >= kMaxMulticastGroups) {
            ++left_out_;
            return;
        }
        found = groups_.emplace(id, MulticastGroup{}).first;
        found->second.group = id;
        found->second.first = observation.frame;
    }
    MulticastGroup& group = found->second;
    const bool left = datagram.method == ManagementMethod::remove;
    if (!left) {
        group.lid = value<Lid>(record, named(kMcMemberRecordFields, "infiniband.mcmemberrecord.mlid"));
        group.pkey = value<Pkey>(record, named(kMcMemberRecordFields, "infiniband.mcmemberrecord.p_key"));
        group.qkey = value<Qkey>(record, named(kMcMemberRecordFields, "infiniband.mcmemberrecord.q_key"));
        group.mtu = value<std::uint8_t>(record, named(kMcMemberRecordFields, "infiniband.mcmemberrecord.mtu"));
        group.rate = value<std::uint8_t>(record, named(kMcMemberRecordFields, "infiniband.mcmemberrecord.rate"));
    }
    if (member.bits == std::array<std::uint64_t, 2>{}) return;  // the group alone
    auto place = group_members_.find({id, member});
    if (place == group_members_.end()) {
        if (group_members_.size() >= kMaxGroupMembers) {
            ++left_out_;
            return;
        }
        place = group_members_.emplace(std::pair{id, member}, group.members.size()).first;
        group.members.push_back({member, 0, false, observation.frame});
    }
    GroupMember& at = group.members[place->second];
    at.left = left;
    if (!left)
        at.join_state =
            value<std::uint8_t>(record, named(kMcMemberRecordFields, "infiniband.mcmemberrecord.joinstate"));
}

void FabricBuilder::take_node_info(Bytes info, NodeKey key, FrameIndex frame) {
    const auto guid = value<NodeGuid>(info, kNodeGuid);
    if (is_unicast(key.lid)) learn_lid(key.lid, guid);
    FabricNode* at = node({guid, {}}, frame);
    if (at == nullptr) return;
    at->type = value<std::uint8_t>(info, kNodeType);
    at->port_count = value<std::uint8_t>(info, kPortCount);
    at->system_image = value<std::uint64_t>(info, kImage);
    at->device = value<std::uint16_t>(info, kDevice);
    at->vendor = value<std::uint32_t>(info, kVendor);
    // A switch has one port GUID, that of its port 0.
    const std::uint8_t number = at->type == kSwitch ? std::uint8_t{0} : value<std::uint8_t>(info, kArrivedBy);
    FabricPort* on = port({guid, {}}, number, frame);
    if (on == nullptr) return;
    on->guid = value<std::uint64_t>(info, kPortGuid);
    if (is_unicast(key.lid)) on->lid = key.lid;
}

void FabricBuilder::take_port_info(Bytes info, NodeKey key, std::uint8_t number, FrameIndex frame) {
    FabricPort* on = port(key, number, frame);
    if (on == nullptr) return;
    const auto lid = value<Lid>(info, kPortLid);
    on->described = true;
    on->state = value<std::uint8_t>(info, kState);
    on->physical_state = value<std::uint8_t>(info, kPhysical);
    on->width_active = value<std::uint8_t>(info, kWidth);
    on->speed_active = value<std::uint8_t>(info, kSpeed);
    on->speed_extended_active = value<std::uint8_t>(info, kSpeedExtended);
    on->mtu = value<std::uint8_t>(info, kNeighbourMtu);
    on->manager = value<Lid>(info, kMasterLid);
    on->gid_prefix = value<std::uint64_t>(info, kPrefix);
    if (!is_unicast(lid)) return;
    on->lid = lid;
    if (key.guid != NodeGuid{}) learn_lid(lid, key.guid);
}

void FabricBuilder::take_description(Bytes description, NodeKey key, FrameIndex frame) {
    FabricNode* at = node(key, frame);
    if (at == nullptr) return;
    const Bytes text = slice(description, 0, header(LayerKind::node_description).length);
    const auto end = std::ranges::find(text, std::byte{0});
    at->description.assign(reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(end - text.begin()));
}

void FabricBuilder::take_keys(Bytes table, NodeKey key, std::uint8_t number) {
    constexpr std::uint16_t kFull = 0x8000;
    const NodeKey at = resolved(key);
    for (std::size_t i = 0; i < kPKeysOfBlock; ++i) {
        const auto entry = read_be<std::uint16_t>(table, 2 * i);
        const std::uint16_t base = entry & static_cast<std::uint16_t>(~kFull);
        if (base == 0) continue;
        const PartitionMember member{{at.guid, at.lid, number}, (entry & kFull) != 0};
        std::set<PartitionMember>& members = partitions_[base];
        if (members.contains(member)) continue;
        if (partition_members_ >= kMaxPartitionMembers) {
            ++left_out_;
            if (members.empty()) partitions_.erase(base);
            continue;
        }
        ++partition_members_;
        members.insert(member);
    }
}

// A block of a switch's linear table, as it was told last; of LIDs that are no groups (4.1.3).
void FabricBuilder::take_forwarding(Bytes table, NodeKey key, std::uint16_t block, FrameIndex frame) {
    static_assert(kForwardingBlock == kPortsOfBlock);
    if (table.size() < kForwardingBlock || block >= std::to_underlying(kFirstMulticast) / kForwardingBlock) return;
    FabricNode* at = node(key, frame);
    if (at == nullptr) return;
    if (!at->forwarding.contains(block) && forwarding_blocks_++ >= kMaxForwardingBlocks) {
        --forwarding_blocks_;
        ++left_out_;
        return;
    }
    std::array<std::uint8_t, kForwardingBlock>& ports = at->forwarding[block];
    for (std::size_t i = 0; i < ports.size(); ++i) ports[i] = std::to_integer<std::uint8_t>(table[i]);
}

void FabricBuilder::take_manager(Bytes info, Lid lid, FrameIndex frame) {
    const auto guid = value<std::uint64_t>(info, kManagerGuid);
    auto found = managers_.find(guid);
    if (found == managers_.end()) {
        if (managers_.size() >= kMaxSubnetManagers) {
            ++left_out_;
            return;
        }
        found = managers_.emplace(guid, SubnetManager{}).first;
        found->second.port_guid = guid;
        found->second.first = frame;
    }
    SubnetManager& manager = found->second;
    const auto state = value<std::uint8_t>(info, kManagerState);
    if (manager.answers != 0 && manager.state != state) ++manager.changes_of_state;
    manager.state = state;
    manager.priority = value<std::uint8_t>(info, kManagerPriority);
    manager.activity = value<std::uint32_t>(info, kManagerActivity);
    if (is_unicast(lid)) manager.lid = lid;
    ++manager.answers;
}

void FabricBuilder::add_link(FabricEnd one, FabricEnd other, bool walked, FrameIndex frame) {
    if (other < one) std::swap(one, other);
    const auto found = links_.find({one, other});
    if (found != links_.end()) {
        found->second.walked |= walked;
        return;
    }
    if (links_.size() >= kMaxFabricLinks) {
        ++left_out_;
        return;
    }
    links_.emplace(std::pair{one, other}, FabricLink{one, other, walked, frame});
}

void FabricBuilder::learn_lid(Lid lid, NodeGuid guid) {
    if (is_unicast(lid)) by_lid_[lid] = guid;  // 16 bits bound it
}

FabricBuilder::NodeKey FabricBuilder::resolved(NodeKey key) const {
    if (key.guid != NodeGuid{}) return {key.guid, {}};
    const auto found = by_lid_.find(key.lid);
    return found == by_lid_.end() ? key : NodeKey{found->second, {}};
}

FabricEnd FabricBuilder::resolved(FabricEnd end) const {
    const NodeKey key = resolved(NodeKey{end.node, end.lid});
    return {key.guid, key.lid, end.port};
}

FabricNode* FabricBuilder::node(NodeKey key, FrameIndex frame) {
    const NodeKey at = resolved(key);
    if (const auto found = nodes_.find(at); found != nodes_.end()) return &found->second;
    if (nodes_.size() >= kMaxFabricNodes) {
        ++left_out_;
        return nullptr;
    }
    FabricNode& fresh = nodes_[at];
    fresh.guid = at.guid;
    fresh.first = frame;
    return &fresh;
}

FabricPort* FabricBuilder::port(NodeKey key, std::uint8_t number, FrameIndex frame) {
    FabricNode* at = node(key, frame);
    if (at == nullptr) return nullptr;
    if (const auto found = at->ports.find(number); found != at->ports.end()) return &found->second;
    if (ports_ >= kMaxFabricPorts) {
        ++left_out_;
        return nullptr;
    }
    ++ports_;
    FabricPort& fresh = at->ports[number];
    fresh.number = number;
    return &fresh;
}

// What was told of LIDs goes to the nodes that had them.
void FabricBuilder::merge_by_lid() {
    for (auto at = nodes_.begin(); at != nodes_.end();) {
        const NodeKey key = resolved(at->first);
        if (key == at->first) {
            ++at;
            continue;
        }
        FabricNode& whole = nodes_[key];
        whole.guid = key.guid;
        FabricNode& part = at->second;
        if (whole.description.empty()) whole.description = std::move(part.description);
        whole.forwarding.merge(part.forwarding);
        if (whole.first == FrameIndex{} || part.first < whole.first) whole.first = part.first;
        for (const auto& [number, port] : part.ports) {
            FabricPort& into = whole.ports[number];
            const FabricPort was = into;
            if (!into.described) into = port;
            if (into.guid == 0) into.guid = was.guid;
            if (into.lid == Lid{}) into.lid = was.lid;
        }
        at = nodes_.erase(at);
    }
}

FabricMap FabricBuilder::finish() {
    merge_by_lid();
    FabricMap map;
    for (auto& [key, node] : nodes_) {
        if (key.guid == NodeGuid{} && node.ports.empty()) {  // by its LID alone: a port holds it
            FabricPort& port = node.ports[0];
            port.lid = key.lid;
        } else if (key.guid == NodeGuid{} && node.lid() == Lid{}) {
            node.ports.begin()->second.lid = key.lid;
        }
        map.nodes.push_back(std::move(node));
    }
    std::ranges::stable_sort(map.nodes, [](const FabricNode& a, const FabricNode& b) {
        return std::pair(a.type != kSwitch, a.guid) < std::pair(b.type != kSwitch, b.guid);
    });
    std::map<std::pair<FabricEnd, FabricEnd>, FabricLink> links;
    for (auto& [ends, link] : links_) {
        FabricEnd one = resolved(link.a), other = resolved(link.b);
        if (other < one) std::swap(one, other);
        FabricLink& same = links.try_emplace({one, other}, FabricLink{one, other, false, link.first}).first->second;
        same.walked |= link.walked;
        same.first = std::min(same.first, link.first);
    }
    for (auto& [ends, link] : links) map.links.push_back(link);
    for (auto& [guid, manager] : managers_) map.managers.push_back(manager);
    for (auto& [key, members] : partitions_) {
        std::set<PartitionMember> known;
        for (const PartitionMember& member : members) known.insert({resolved(member.port), member.full});
        map.partitions.push_back({key, {known.begin(), known.end()}});
    }
    for (auto& [id, group] : groups_) map.groups.push_back(std::move(group));
    map.left_out = left_out_;
    return map;
}

}  // namespace qps::transport
