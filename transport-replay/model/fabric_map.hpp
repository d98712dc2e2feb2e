// FabricMap: nodes, ports, links, subnet managers, partitions and multicast groups, as far as management datagrams show
// them.
//
// A map is what was said, not what is: of a capture that begins late it has holes, and a node whose GUID nobody told
// stands there by its LID alone (guid 0).
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/model/address.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qps::transport {

enum class NodeGuid : std::uint64_t {};  // 0: not known

inline constexpr std::size_t kMaxFabricNodes = 1 << 14;  // larger fabrics exist, captures of their sweep hardly
inline constexpr std::size_t kMaxFabricPorts = 1 << 17;  // of all nodes
inline constexpr std::size_t kMaxFabricLinks = 1 << 17;
inline constexpr std::size_t kForwardingBlock = 64;           // LIDs, each with its port (14.2.5.9)
inline constexpr std::size_t kMaxForwardingBlocks = 1 << 16;  // of all switches: 4 MiB
inline constexpr std::size_t kMaxFabricPaths = 1 << 15;       // directed routes whose node is known
inline constexpr std::size_t kMaxSubnetManagers = 256;
inline constexpr std::size_t kMaxPartitionMembers = 1 << 16;
inline constexpr std::size_t kMaxMulticastGroups = 4096;
inline constexpr std::size_t kMaxGroupMembers = 1 << 16;  // of all groups

struct FabricPort {
    std::uint8_t number = 0;
    dissect::Lid lid{};      // 0: not known, or a port of a switch other than 0
    std::uint64_t guid = 0;  // 0: not known
    bool described = false;  // a PortInfo was seen: what follows is known
    std::uint8_t state = 0;
    std::uint8_t physical_state = 0;
    std::uint8_t width_active = 0;
    std::uint8_t speed_active = 0;           // code of SDR to QDR
    std::uint8_t speed_extended_active = 0;  // code of FDR and faster; 0: none
    std::uint8_t mtu = 0;                    // code of what it may send to its neighbour: 1 is 256 bytes, 5 is 4096
    dissect::Lid manager{};                  // LID of the master SM
    std::uint64_t gid_prefix = 0;
    [[nodiscard]] bool operator==(const FabricPort&) const = default;
};

struct FabricNode {
    NodeGuid guid{};
    std::uint8_t type = 0;  // kNodeTypes; 0: not known
    std::uint8_t port_count = 0;
    std::uint64_t system_image = 0;
    std::uint32_t vendor = 0;
    std::uint16_t device = 0;
    std::string description;
    std::map<std::uint8_t, FabricPort> ports;
    std::map<std::uint16_t, std::array<std::uint8_t, kForwardingBlock>>
        forwarding;               // of a switch: blocks of its linear table, as told last
    dissect::FrameIndex first{};  // that told of it

    // Of port 0 of a switch, else of the first port that has one; 0 where none has.
    [[nodiscard]] dissect::Lid lid() const;
};

struct FabricEnd {
    NodeGuid node{};
    dissect::Lid lid{};  // where the node is not known
    std::uint8_t port = 0;
    [[nodiscard]] auto operator<=>(const FabricEnd&) const = default;
};

struct FabricLink {
    FabricEnd a;  // the lesser
    FabricEnd b;
    bool walked = false;  // by a directed route; else from a LinkRecord alone
    dissect::FrameIndex first{};
};

struct SubnetManager {
    std::uint64_t port_guid = 0;
    dissect::Lid lid{};  // 0: not known
    std::uint8_t priority = 0;
    std::uint8_t state = 0;  // kSmStates
    std::uint32_t activity = 0;
    std::uint64_t answers = 0;
    std::uint32_t changes_of_state = 0;
    dissect::FrameIndex first{};
};

struct PartitionMember {
    FabricEnd port;
    bool full = false;
    [[nodiscard]] auto operator<=>(const PartitionMember&) const = default;
};
struct Partition {
    std::uint16_t key = 0;  // 15 bits
    std::vector<PartitionMember> members;
};

struct GroupMember {
    Address port;  // GID
    std::uint8_t join_state = 0;
    bool left = false;
    dissect::FrameIndex first{};
};
struct MulticastGroup {
    Address group;  // MGID
    dissect::Lid lid{};
    dissect::Pkey pkey{};
    dissect::Qkey qkey{};
    std::uint8_t mtu = 0;   // code, as of a port; 0: not told
    std::uint8_t rate = 0;  // code (15.2.5.17); 0: not told
    std::vector<GroupMember> members;
    dissect::FrameIndex first{};
};

struct FabricMap {
    std::vector<FabricNode> nodes;  // by type, switches first, then by GUID
    std::vector<FabricLink> links;
    std::vector<SubnetManager> managers;
    std::vector<Partition> partitions;
    std::vector<MulticastGroup> groups;
    std::uint64_t left_out = 0;  // facts past the bounds above

    [[nodiscard]] bool empty() const { return nodes.empty() && links.empty() && managers.empty() && groups.empty(); }
};

// The nodes of a map by their names; it borrows the map.
class FabricNodes {
public:
    explicit FabricNodes(const FabricMap& map);
    // The first node with that LID, or that GUID; nullptr where there is none.
    [[nodiscard]] const FabricNode* find(dissect::Lid lid) const;
    [[nodiscard]] const FabricNode* find(NodeGuid guid) const;

private:
    std::map<dissect::Lid, const FabricNode*> by_lid_;
    std::map<NodeGuid, const FabricNode*> by_guid_;
};

// "node-17", "switch 0x0002c90300a1b2c3", "LID 4": its description, else what is known.
[[nodiscard]] std::string node_text(const FabricNode& node);
[[nodiscard]] std::string end_text(const FabricNodes& nodes, const FabricEnd& end);  // "node-17 port 1"
// "4x EDR", "1x SDR"; empty where it is not known.
[[nodiscard]] std::string rate_text(const FabricPort& port);
// "Active", "state 9"; empty where it is not known.
[[nodiscard]] std::string state_text(const FabricPort& port);

}  // namespace qps::transport
