#include <dissect/mad/names.hpp>
#include <dissect/render_value.hpp>
#include <transport-replay/model/fabric_map.hpp>

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kPortDown = 1;  // 14.2.5.6: nothing runs over a link that is down

// "25.78125 Gb/s (EDR)" -> "EDR"; the name itself where it has none in short.
std::string_view short_speed(std::string_view name) {
    const auto open = name.rfind('(');
    return open == std::string_view::npos || !name.ends_with(')') ? name : name.substr(open + 1, name.size() - open - 2);
}

}  // namespace

Lid FabricNode::lid() const {
    for (const auto& [number, port] : ports)
        if (port.lid != Lid{}) return port.lid;
    return {};
}

const FabricNode* FabricMap::find(Lid lid) const {
    const auto has = [lid](const auto& entry) { return entry.second.lid == lid; };
    const auto found = std::ranges::find_if(nodes, [&](const FabricNode& node) { return std::ranges::any_of(node.ports, has); });
    return found == nodes.end() || lid == Lid{} ? nullptr : &*found;
}

const FabricNode* FabricMap::find(NodeGuid guid) const {
    const auto found = std::ranges::find(nodes, guid, &FabricNode::guid);
    return found == nodes.end() || guid == NodeGuid{} ? nullptr : &*found;
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

std::string end_text(const FabricMap& map, const FabricEnd& end) {
    const FabricNode* node = end.node != NodeGuid{} ? map.find(end.node) : map.find(end.lid);
    const std::string who = node != nullptr          ? node_text(*node)
                            : end.node != NodeGuid{} ? fmt::format("node 0x{:016x}", std::to_underlying(end.node))
                                                     : fmt::format("LID {}", std::to_underlying(end.lid));
    return fmt::format("{} port {}", who, end.port);
}

std::string rate_text(const FabricPort& port) {
    if (!port.described || port.state <= kPortDown) return {};
    const std::string_view width = name_in(kLinkWidths, port.width_active);
    const std::string_view speed = short_speed(port.speed_extended_active != 0 ? name_in(kLinkSpeedsExtActive, port.speed_extended_active)
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
