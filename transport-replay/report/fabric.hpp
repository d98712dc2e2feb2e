// The fabric in words, as rows of its ports, as a report for programs and as a picture for Graphviz.
#pragma once

#include <transport-replay/model/management_report.hpp>
#include <transport-replay/report/document.hpp>
#include <transport-replay/report/table.hpp>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace qps::transport {

// A port and what is behind its link; peer is nullptr where nothing told of one.
struct FabricRow {
    const FabricNode& node;
    const FabricPort& port;
    const FabricEnd* peer;
    std::string peer_words;  // "node-17 port 1"
    std::string errors;      // counters that moved
};
[[nodiscard]] std::span<const TableColumn<FabricRow>> fabric_columns();
// All ports that a map knows, of PortInfos or of links, in the order of its nodes.
[[nodiscard]] std::vector<FabricRow> fabric_rows(const ManagementReport& report);
[[nodiscard]] Tone tone_of(const FabricRow& row);

// "switch", "channel adapter"; "node" where nobody told.
[[nodiscard]] std::string type_text(const FabricNode& node);
// "switch-1 port 3", "lid 4 port 1": whose counters they are.
[[nodiscard]] std::string owner_text(const FabricNodes& nodes, const PortCounterHistory& history);
// "switch-1", "lid 4": its node alone.
[[nodiscard]] std::string owner_node_text(const FabricNodes& nodes, const PortCounterHistory& history);
// "Symbol errors +5 to 12"; empty where none of them moved. `errors`: only of those that count errors.
[[nodiscard]] std::vector<std::string> moved_texts(const PortCounterHistory& history, bool errors);
// "SubnAdm GetTable NodeRecord: 12 asked, 11 answered, 1 not; answers after 0.1 to 2 ms"
[[nodiscard]] std::string sum_text(const ExchangeSum& sum);
// "SubnAdm Get PathRecord of lid 4 to lid 1: refused, No records (0x0300)"
[[nodiscard]] std::string exchange_text(const Exchange& exchange);
// "port GUID 0x..., LID 1, priority 14, Master"
[[nodiscard]] std::string manager_text(const SubnetManager& manager);
[[nodiscard]] std::string partition_text(const FabricNodes& nodes, const Partition& partition);
[[nodiscard]] std::string mtu_text(std::uint8_t code);  // "4096"; empty for a code that there is not
// Ports of a map by the GUID that is in the GID of a member. It borrows the map.
class MemberPorts {
public:
    explicit MemberPorts(const FabricMap& map);
    [[nodiscard]] const FabricPort* find(const GroupMember& member) const;
    // Whether packets as large as the group allows are too large for it.
    [[nodiscard]] bool is_too_small(const MulticastGroup& group, const GroupMember& member) const;

private:
    std::map<std::uint64_t, const FabricPort*> by_guid_;
};
[[nodiscard]] std::string group_text(const MulticastGroup& group, const MemberPorts& ports);

// Parts of the report, each an object that the caller has opened.
void add_node(Document& document, const FabricNode& node);
void add_link(Document& document, const FabricLink& link);
void add_manager(Document& document, const SubnetManager& manager);
void add_partition(Document& document, const Partition& partition);
void add_group(Document& document, const MulticastGroup& group, const MemberPorts& ports);
void add_counters(Document& document, const PortCounterHistory& history);
void add_event(Document& document, const ManagementEvent& event);
void add_sum(Document& document, const ExchangeSum& sum);
void add_exchange(Document& document, const Exchange& exchange);

// Graphviz dot: nodes and links.
void append_dot(std::string& out, const FabricMap& map);

}  // namespace qps::transport
