// FabricBuilder: the fabric's map from answers of subnet management (nodes along directed routes, ports, keys) and of
// subnet administration (records, those of several segments too).
//
// Directed routes are told apart by who sends them and by their path: a second manager on the same link would walk the
// same paths, so the last NodeInfo of a path counts. What an attacker could feed: nodes, ports and keys without end,
// routes in circles. Everything is bounded by the constants of fabric_map.hpp, and nothing follows a route.
#pragma once

#include <transport-replay/management/management_datagram.hpp>
#include <transport-replay/management/rmpp.hpp>

#include <map>
#include <set>
#include <tuple>

namespace qps::transport {

class FabricBuilder {
public:
    void observe(const ManagementDatagram& datagram, const RmppStep& rmpp, const Observation& observation);
    [[nodiscard]] FabricMap finish();

private:
    // A node by its GUID; by its LID where nobody told the GUID.
    struct NodeKey {
        NodeGuid guid{};
        dissect::Lid lid{};
        [[nodiscard]] auto operator<=>(const NodeKey&) const = default;
    };
    using RouteKey = std::pair<Address, PortPath>;

    void take_smp(const ManagementDatagram& datagram, const Observation& observation);
    void take_record(const ManagementDatagram& datagram, dissect::Bytes record, const Observation& observation);
    void take_group(const ManagementDatagram& datagram, dissect::Bytes record, const Observation& observation);

    void take_node_info(dissect::Bytes info, NodeKey key, dissect::FrameIndex frame);
    void take_port_info(dissect::Bytes info, NodeKey key, std::uint8_t number, dissect::FrameIndex frame);
    void take_description(dissect::Bytes description, NodeKey key, dissect::FrameIndex frame);
    void take_keys(dissect::Bytes table, NodeKey key, std::uint8_t number);
    void take_forwarding(dissect::Bytes table, NodeKey key, std::uint16_t block, dissect::FrameIndex frame);
    void take_manager(dissect::Bytes info, dissect::Lid lid, dissect::FrameIndex frame);
    void walk_to(const ManagementDatagram& datagram, dissect::Bytes info, const Observation& observation);
    void add_link(FabricEnd one, FabricEnd other, bool walked, dissect::FrameIndex frame);
    void learn_lid(dissect::Lid lid, NodeGuid guid);
    FabricNode* node(NodeKey key, dissect::FrameIndex frame);
    FabricPort* port(NodeKey key, std::uint8_t number, dissect::FrameIndex frame);
    [[nodiscard]] std::uint8_t port_of_keys(NodeKey key, std::uint8_t asked) const;
    [[nodiscard]] NodeKey resolved(NodeKey key) const;
    [[nodiscard]] FabricEnd resolved(FabricEnd end) const;
    void merge_by_lid();

    std::map<NodeKey, FabricNode> nodes_;
    std::map<dissect::Lid, NodeGuid> by_lid_;
    std::map<RouteKey, NodeGuid> by_route_;
    std::map<std::pair<FabricEnd, FabricEnd>, FabricLink> links_;
    std::map<std::uint64_t, SubnetManager> managers_;  // by port GUID
    std::map<std::uint16_t, std::set<PartitionMember>> partitions_;
    std::map<Address, MulticastGroup> groups_;
    std::size_t ports_ = 0;
    std::size_t forwarding_blocks_ = 0;
    std::size_t partition_members_ = 0;
    std::map<std::pair<Address, Address>, std::size_t>
        group_members_;  // by group and port: where it is in the group's list
    std::uint64_t left_out_ = 0;
};

}  // namespace qps::transport
