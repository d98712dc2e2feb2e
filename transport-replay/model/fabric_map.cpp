#include <dissect/mad/names.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/model/fabric_map.hpp>

#include <span>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kPortDown = 1;  // 14.2.5.6: nothing runs over a link that is down

// "25.78125 Gb/s (EDR)" -> "EDR"; the name itself where it has none in short.
std::string_view short_speed(std::string_view name) {
    const auto open = name.rfind('(');
    return open == std::string_view::npos || !name.ends_with(')') ? name
                                                                  : name.substr(open + 1, name.size() - open - 2);
}

}  // namespace

Lid FabricNode::lid() const {
    for (const auto& [number, port] : ports)
        if (port.lid != Lid{}) return port.lid;
    return {};
}

FabricNodes::FabricNodes(const FabricMap& map) {
    for (const FabricNode& node : map.nodes) {
        if (node.guid != NodeGuid{}) by_guid_.emplace(node.guid, &node);
        for (const auto& [number, port] : node.ports)
            if (port.lid != Lid{}) by_lid_.emplace(port.lid, &node);
    }
}

const FabricNode* FabricNodes::find(Lid lid) const {
    const auto found = by_lid_.find(lid);
    return found == by_lid_.end() ? nullptr : found->second;
}

const FabricNode* FabricNodes::find(NodeGuid guid) const {
    const auto found = by_guid_.find(guid);
    return found == by_guid_.end() ? nullptr : found->second;
}

std::string node_text(const FabricNode& node) {
    if (!node.description.empty()) {
        std::string out;
        append_printable(out, node.description);
        return out;
    }
    if (node.guid == NodeGuid{}) return fmt::format("LID {}", std::to_underlying(node.lid()));
    const std::string_view type = name_in(kNodeTypes, node.type);
    return fmt::format("{} 0x{:016x}", type.empty() ? "node" : type, std::to_underlying(node.guid));
}

std::string end_text(const FabricNodes& nodes, const FabricEnd& end) {
    const FabricNode* node = end.node != NodeGuid{} ? nodes.find(end.node) : nodes.find(end.lid);
    const std::string who = node != nullptr          ? node_text(*node)
                            : end.node != NodeGuid{} ? fmt::format("node 0x{:016x}", std::to_underlying(end.node))
                                                     : fmt::format("LID {}", std::to_underlying(end.lid));
    return fmt::format("{} port {}", who, end.port);
}

std::string rate_text(const FabricPort& port) {
    if (!port.described || port.state <= kPortDown) return {};
    const std::string_view width = name_in(kLinkWidths, port.width_active);
    const std::string_view speed =
        short_speed(port.speed_extended_active != 0 ? name_in(kLinkSpeedsExtActive, port.speed_extended_active)
                                                    : name_in(kLinkSpeeds, port.speed_active));
    if (width.empty() || speed.empty()) return {};
    return fmt::format("{} {}", width, speed);
}

std::string state_text(const FabricPort& port) {
    if (!port.described) return {};
    const std::string_view state = name_in(kPortStates, port.state);
    return state.empty() ? fmt::format("state {}", port.state) : std::string(state);
}

}  // namespace qps::transport
