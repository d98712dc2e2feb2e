#include <dissect/mad/names.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/report/fabric.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/management_words.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kSwitch = 2;
constexpr std::uint8_t kDown = 1;      // state of a port
constexpr std::size_t kMostShown = 8;  // members of a partition or a group in words

std::string lid_text(Lid lid) { return lid == Lid{} ? std::string() : std::to_string(std::to_underlying(lid)); }
std::string guid_text(std::uint64_t guid) { return guid == 0 ? std::string() : fmt::format("0x{:016x}", guid); }

Cell peer_guid(const FabricRow& row) {
    if (row.peer == nullptr) return {};
    return text_cell(guid_text(std::to_underlying(row.peer->node)));
}
Cell optional_text(std::string text) { return text.empty() ? Cell{} : Cell{std::move(text)}; }

constexpr std::array kFabricColumns{
    TableColumn<FabricRow>{
        "node_guid", "node GUID", Side::left,
        [](const FabricRow& row) { return optional_text(guid_text(std::to_underlying(row.node.guid))); }},
    TableColumn<FabricRow>{"node", "node", Side::left,
                           [](const FabricRow& row) { return text_cell(node_text(row.node)); }},
    TableColumn<FabricRow>{"type", "type", Side::left,
                           [](const FabricRow& row) { return text_cell(type_text(row.node)); }},
    TableColumn<FabricRow>{"lid", "LID", Side::right,
                           [](const FabricRow& row) -> Cell {
                               const Lid lid =
                                   row.port.lid != Lid{} || row.node.type != kSwitch ? row.port.lid : row.node.lid();
                               return lid == Lid{} ? Cell{} : number(lid);
                           }},
    TableColumn<FabricRow>{"port", "port", Side::right, [](const FabricRow& row) { return number(row.port.number); }},
    TableColumn<FabricRow>{"state", "state", Side::left,
                           [](const FabricRow& row) { return optional_text(state_text(row.port)); }},
    TableColumn<FabricRow>{"rate", "rate", Side::left,
                           [](const FabricRow& row) { return optional_text(rate_text(row.port)); }},
    TableColumn<FabricRow>{"peer_guid", "", Side::left, peer_guid},
    TableColumn<FabricRow>{"peer", "linked to", Side::left,
                           [](const FabricRow& row) { return optional_text(row.peer_words); }},
    TableColumn<FabricRow>{"errors", "errors", Side::left,
                           [](const FabricRow& row) { return optional_text(row.errors); }},
};

// By the node's GUID, else by its LID, and the port.
using PortKey = std::pair<std::uint64_t, std::uint8_t>;
constexpr std::uint64_t kByLid = std::uint64_t{1} << 63;  // no GUID has it set and the company below
std::uint64_t node_key(NodeGuid guid, Lid lid) {
    return guid != NodeGuid{} ? std::to_underlying(guid) : kByLid | std::to_underlying(lid);
}

std::map<PortKey, const FabricEnd*> peers_of(const FabricMap& map) {
    std::map<PortKey, const FabricEnd*> peers;
    for (const FabricLink& link : map.links) {
        peers[{node_key(link.a.node, link.a.lid), link.a.port}] = &link.b;
        peers[{node_key(link.b.node, link.b.lid), link.b.port}] = &link.a;
    }
    return peers;
}

std::map<PortKey, std::string> errors_of(const ManagementReport& report) {
    std::map<PortKey, std::string> errors;
    std::map<Lid, std::uint64_t> nodes;
    for (const FabricNode& node : report.fabric.nodes)
        for (const auto& [number, port] : node.ports)
            if (port.lid != Lid{}) nodes.emplace(port.lid, node_key(node.guid, port.lid));
    for (const PortCounterHistory& history : report.counters) {
        if (history.port_of.space != AddressSpace::infiniband_lid) continue;
        const auto node = nodes.find(static_cast<Lid>(history.port_of.bits[1]));
        const std::string moved = fmt::format("{}", fmt::join(moved_texts(history, true), ", "));
        if (node == nodes.end() || moved.empty()) continue;
        std::string& all = errors[{node->second, history.port}];
        if (all.empty()) all = moved;
    }
    return errors;
}

std::string join_state_text(std::uint8_t state) {
    constexpr std::array<std::pair<std::uint8_t, std::string_view>, 4> kBits{
        {{1, "full member"}, {2, "non-member"}, {4, "send-only non-member"}, {8, "send-only full member"}}};
    std::string out;
    for (const auto& [bit, name] : kBits)
        if ((state & bit) != 0) out += fmt::format("{}{}", out.empty() ? "" : " and ", name);
    return out.empty() ? "not joined" : out;
}

std::string and_more(std::size_t all) {
    return all > kMostShown ? fmt::format(", and {} more", grouped(all - kMostShown)) : std::string();
}

}  // namespace

std::span<const TableColumn<FabricRow>> fabric_columns() { return kFabricColumns; }

std::vector<FabricRow> fabric_rows(const ManagementReport& report) {
    const FabricMap& map = report.fabric;
    const FabricNodes nodes(map);
    const auto peers = peers_of(map);
    const auto errors = errors_of(report);
    std::vector<FabricRow> rows;
    static constexpr FabricPort kNothingKnown{};
    for (const FabricNode& node : map.nodes) {
        const std::uint64_t key = node_key(node.guid, node.lid());
        for (const auto& [number, port] : node.ports) {
            const auto peer = peers.find({key, number});
            const auto moved = errors.find({key, number});
            const FabricEnd* end = peer == peers.end() ? nullptr : peer->second;
            rows.push_back({node, port, end, end != nullptr ? end_text(nodes, *end) : "",
                            moved == errors.end() ? "" : moved->second});
        }
        if (node.ports.empty()) rows.push_back({node, kNothingKnown, nullptr, "", ""});
    }
    return rows;
}

Tone tone_of(const FabricRow& row) {
    if (!row.errors.empty()) return Tone::warning;
    return row.port.described && row.port.state <= kDown && row.peer != nullptr ? Tone::warning : Tone::plain;
}

std::string type_text(const FabricNode& node) {
    constexpr std::array<std::string_view, 4> kTypes{"node", "channel adapter", "switch", "router"};
    return std::string(node.type < kTypes.size() ? kTypes[node.type] : kTypes.front());
}

std::string owner_node_text(const FabricNodes& nodes, const PortCounterHistory& history) {
    const FabricNode* node = history.port_of.space == AddressSpace::infiniband_lid
                                 ? nodes.find(static_cast<Lid>(history.port_of.bits[1]))
                                 : nullptr;
    return node != nullptr ? node_text(*node) : text(history.port_of);
}

std::string owner_text(const FabricNodes& nodes, const PortCounterHistory& history) {
    return fmt::format("{} port {}", owner_node_text(nodes, history), history.port);
}

std::vector<std::string> moved_texts(const PortCounterHistory& history, bool errors) {
    const std::vector<const Field*> fields = counter_fields(history.attribute);
    std::vector<std::string> moved;
    for (std::size_t i = 0; i < fields.size() && i < history.counters.size(); ++i) {
        const CounterHistory& counter = history.counters[i];
        if (counter.increments == 0 || (errors && !counts_errors(*fields[i]))) continue;
        moved.push_back(
            fmt::format("{} +{} to {}{}{}", counter_name(*fields[i]), grouped(counter.increments),
                        grouped(counter.last), counter.saturated ? " (saturated)" : "",
                        counter.resets != 0 ? fmt::format(", cleared {}", counted(counter.resets, "time")) : ""));
    }
    return moved;
}

std::string sum_text(const ExchangeSum& sum) {
    std::string out = fmt::format("{}: {}, {} answered", request_text(sum.management_class, sum.method, sum.attribute),
                                  counted(sum.requests, "request"), grouped(sum.answered));
    if (sum.refused != 0) out += fmt::format(", {} refused", grouped(sum.refused));
    if (sum.unanswered != 0) out += fmt::format(", {} unanswered", grouped(sum.unanswered));
    if (sum.retries != 0) out += fmt::format(", {}", counted(sum.retries, "retry"));
    if (sum.timed == 0) return out;
    const auto mean = Duration{std::to_underlying(sum.latency_sum) / static_cast<std::int64_t>(sum.timed)};
    if (sum.fastest == sum.slowest) return out + fmt::format("; latency {}", duration_text(mean));
    return out + fmt::format("; latency {} to {}, mean {}", duration_text(sum.fastest), duration_text(sum.slowest),
                             duration_text(mean));
}

std::string exchange_text(const Exchange& exchange) {
    std::string out = request_text(exchange.management_class, exchange.method, exchange.attribute);
    if (exchange.path) out += fmt::format(" along {}", text(*exchange.path));
    else out += fmt::format(" from {} to {}", text(exchange.requester), text(exchange.responder));
    out += fmt::format(": {}", name(exchange.outcome));
    if (exchange.status != 0) out += fmt::format(", {}", status_text(exchange.management_class, exchange.status));
    if (exchange.retries != 0) out += fmt::format(", sent {}", counted(exchange.retries + 1U, "time"));
    if (exchange.rmpp && exchange.rmpp->stopped)
        out += fmt::format(", {} by RMPP", exchange.rmpp->aborted ? "aborted" : "stopped");
    return out;
}

std::string manager_text(const SubnetManager& manager) {
    const auto state = std::ranges::find(kSmStates, manager.state, &ValueName::value);
    std::string out = fmt::format("port GUID 0x{:016x}", manager.port_guid);
    if (manager.lid != Lid{}) out += fmt::format(", LID {}", lid_text(manager.lid));
    out += fmt::format(", {}, priority {}, activity {}", state == kSmStates.end() ? "unknown state" : state->name,
                       manager.priority, grouped(manager.activity));
    if (manager.changes_of_state != 0)
        out += fmt::format(", changed its state {}", counted(manager.changes_of_state, "time"));
    return out;
}

std::string partition_text(const FabricNodes& nodes, const Partition& partition) {
    std::vector<std::string> members;
    for (const PartitionMember& member : partition.members)
        if (members.size() < kMostShown)
            members.push_back(fmt::format("{}{}", end_text(nodes, member.port), member.full ? "" : " (limited)"));
    return fmt::format("0x{:04x}: {}{}", partition.key, fmt::join(members, ", "), and_more(partition.members.size()));
}

std::string mtu_text(std::uint8_t code) {
    constexpr std::uint8_t kLargest = 5;
    return code == 0 || code > kLargest ? "" : std::to_string(128U << code);
}

const FabricPort* MemberPorts::find(const GroupMember& member) const {
    const auto found = by_guid_.find(member.port.bits[1]);
    return found == by_guid_.end() ? nullptr : found->second;
}

MemberPorts::MemberPorts(const FabricMap& map) {
    for (const FabricNode& node : map.nodes)
        for (const auto& [number, port] : node.ports)
            if (port.guid != 0) by_guid_.emplace(port.guid, &port);
}

bool MemberPorts::is_too_small(const MulticastGroup& group, const GroupMember& member) const {
    const FabricPort* const port = find(member);
    return !member.left && port != nullptr && !mtu_text(port->mtu).empty() && !mtu_text(group.mtu).empty() &&
           port->mtu < group.mtu;
}

std::string group_text(const MulticastGroup& group, const MemberPorts& ports) {
    std::vector<std::string> members;
    for (const GroupMember& member : group.members)
        if (members.size() < kMostShown) {
            const std::string small =
                ports.is_too_small(group, member)
                    ? fmt::format(", whose MTU of {} does not suffice", mtu_text(ports.find(member)->mtu))
                    : "";
            members.push_back(fmt::format("{} ({}{})", text(member.port),
                                          member.left ? "left" : join_state_text(member.join_state), small));
        }
    const std::string mtu = mtu_text(group.mtu).empty() ? "" : fmt::format(", MTU {}", mtu_text(group.mtu));
    const std::string_view rate_name = dissect::name_in(dissect::kRates, group.rate);
    const std::string rate = group.rate == 0 || rate_name.empty() ? "" : fmt::format(", {}", rate_name);
    return fmt::format("{}, LID 0x{:04x}, P_Key 0x{:04x}{}{}: {}{}", text(group.group), std::to_underlying(group.lid),
                       std::to_underlying(group.pkey), mtu, rate,
                       members.empty() ? "no members seen" : fmt::format("{}", fmt::join(members, ", ")),
                       and_more(group.members.size()));
}

}  // namespace qps::transport
