#include <transport-replay/report/document.hpp>
#include <transport-replay/report/fabric_route.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::transport {

using dissect::Lid;

namespace {

constexpr std::uint8_t kSwitchType = 2, kNoWay = 0xff;

FabricEnd end_of(const FabricNode& node, std::uint8_t port) {
    return {node.guid, node.guid == NodeGuid{} ? node.lid() : Lid{}, port};
}

std::string hop_text(const FabricHop& hop) {
    std::string name = node_text(*hop.node);
    if (hop.in == 0 && hop.out == 0) return name;
    if (hop.in == 0) return fmt::format("{}, out of port {}", name, hop.out);
    if (hop.out == 0) return fmt::format("{}, into port {}", name, hop.in);
    return fmt::format("{}, port {} to port {}", name, hop.in, hop.out);
}

}  // namespace

FabricRoutes::FabricRoutes(const FabricMap& map) : map_(map), nodes_(map) {
    for (const FabricLink& link : map.links) {
        links_.emplace(link.a, link.b);
        links_.emplace(link.b, link.a);
    }
    for (const FabricNode& node : map.nodes) {
        tables_ += node.forwarding.empty() ? 0U : 1U;
        for (const auto& [number, port] : node.ports)
            if (port.lid != Lid{} && !holders_.emplace(port.lid, Holder{&node, number}).second)
                several_.insert(port.lid);
    }
}

FabricRoutes::Holder FabricRoutes::holder(Lid lid) const {
    const auto found = holders_.find(lid);
    return found == holders_.end() ? Holder{} : found->second;
}

// A route that enters an adapter or router by that port ends, or was meant for another.
RouteEnd FabricRoutes::end_at(const FabricNode& node, std::uint8_t in, Lid to) const {
    const Holder wanted = holder(to);
    const auto own = node.ports.find(in);
    if (own != node.ports.end() && own->second.lid == to) return RouteEnd::arrived;
    if (several_.contains(to)) return RouteEnd::undecided;
    if (wanted.node == &node && in == 0) return node.port_count == 1 ? RouteEnd::arrived : RouteEnd::undecided;
    return wanted.node == nullptr ? RouteEnd::undecided : RouteEnd::astray;
}

FabricRoutes::Next FabricRoutes::behind(const FabricNode& node, std::uint8_t port) const {
    const auto link = links_.find(end_of(node, port));
    if (link == links_.end()) return {.out = port, .end = RouteEnd::no_link};
    const FabricEnd& far = link->second;
    const FabricNode* const there = far.node != NodeGuid{} ? nodes_.find(far.node) : nodes_.find(far.lid);
    if (there == nullptr) return {.out = port, .end = RouteEnd::no_link};
    return {.node = there, .out = port, .in = far.port};
}

FabricRoutes::Next FabricRoutes::next(const FabricNode& node, Lid to) const {
    const auto number = std::to_underlying(to);
    const auto block = node.forwarding.find(static_cast<std::uint16_t>(number / kForwardingBlock));
    if (block == node.forwarding.end()) return {.end = RouteEnd::no_table};
    const std::uint8_t port = block->second[number % kForwardingBlock];
    if (port == kNoWay || port == 0) return {.end = RouteEnd::no_port};  // 0: to itself, which has not that LID
    return behind(node, port);
}

FabricRoute FabricRoutes::route(Lid from, Lid to) const {
    FabricRoute route{.from = from, .to = to, .hops = {}, .end = RouteEnd::unknown_source};
    const FabricNode* node = holder(from).node;
    if (node == nullptr) return route;
    std::set<const FabricNode*> met;
    route.hops.push_back({.node = node});
    bool first = true;
    while (true) {
        const bool is_switch = node->type == kSwitchType;
        if (!first && !is_switch) {
            route.end = end_at(*node, route.hops.back().in, to);
            return route;
        }
        if ((is_switch && holder(to).node == node) || from == to) {
            route.end = RouteEnd::arrived;
            return route;
        }
        if (!met.insert(node).second) {
            route.end = RouteEnd::loop;
            return route;
        }
        Next step;
        if (is_switch) {
            step = next(*node, to);
        } else {
            const auto own =
                std::ranges::find_if(node->ports, [&](const auto& port) { return port.second.lid == from; });
            step = behind(*node, own->first);
        }
        route.hops.back().out = step.out;
        if (step.node == nullptr) {
            route.end = step.end;
            return route;
        }
        node = step.node;
        route.hops.push_back({.node = node, .in = step.in});
        first = false;
    }
}

// For each LID all switches once: a switch that leads to one that is known already is known, too.
RouteTroubles FabricRoutes::troubles() const {
    RouteTroubles found;
    std::size_t steps = 0;
    for (const auto& [to, at] : holders_) {
        if (several_.contains(to)) continue;
        std::set<const FabricNode*> done;
        for (const FabricNode& start : map_.nodes) {
            if (start.forwarding.empty() || done.contains(&start)) continue;
            std::vector<const FabricNode*> path;
            const FabricNode* node = &start;
            while (node != nullptr && node != at.node && node->type == kSwitchType && !done.contains(node)) {
                if (found.list.size() >= kMaxRouteTroubles || ++steps > kMaxRouteSteps) {
                    found.whole = false;
                    return found;
                }
                done.insert(node);
                path.push_back(node);
                const Next step = next(*node, to);
                const bool outside = step.node != nullptr && step.node->type != kSwitchType;
                if (step.end == RouteEnd::no_port) found.list.push_back({to, RouteTroubleKind::hole, {node}});
                if (outside && end_at(*step.node, step.in, to) == RouteEnd::astray)
                    found.list.push_back({to, RouteTroubleKind::astray, {node, step.node}});
                node = step.node;
            }
            const auto again = std::ranges::find(path, node);
            if (node != nullptr && again != path.end())
                found.list.push_back({to, RouteTroubleKind::loop, {again, path.end()}});
        }
    }
    return found;
}

std::vector<std::string> route_lines(const FabricRoute& route) {
    std::vector<std::string> lines;
    for (const FabricHop& hop : route.hops) lines.push_back(hop_text(hop));
    return lines;
}

std::string route_text(const FabricRoute& route) {
    const auto from = std::to_underlying(route.from), to = std::to_underlying(route.to);
    const std::string last = route.hops.empty() ? "" : node_text(*route.hops.back().node);
    const std::size_t switches = static_cast<std::size_t>(
        std::ranges::count(route.hops, kSwitchType, [](const FabricHop& hop) { return hop.node->type; }));
    switch (route.end) {
        case RouteEnd::arrived: return fmt::format("LID {} to LID {}: {}", from, to, counted(switches, "switch"));
        case RouteEnd::unknown_source:
            return fmt::format("LID {} to LID {}: no port with LID {} is in this capture", from, to, from);
        case RouteEnd::no_link:
            return fmt::format("LID {} to LID {}: where port {} of {} leads to is not in this capture", from, to,
                               route.hops.back().out, last);
        case RouteEnd::no_table:
            return fmt::format("LID {} to LID {}: the forwarding table of {} for it is not in this capture", from, to,
                               last);
        case RouteEnd::no_port: return fmt::format("LID {} to LID {}: {} has no port for it", from, to, last);
        case RouteEnd::loop: return fmt::format("LID {} to LID {}: a loop, at {} again", from, to, last);
        case RouteEnd::astray:
            return fmt::format("LID {} to LID {}: astray, to {}, which has another LID", from, to, last);
        case RouteEnd::undecided:
            return fmt::format("LID {} to LID {}: to {}; whether it has that LID, too, is not in this capture", from,
                               to, last);
    }
    return {};
}

std::string trouble_text(const RouteTrouble& trouble) {
    std::vector<std::string> names;
    for (const FabricNode* node : trouble.nodes) names.push_back(node_text(*node));
    const auto to = std::to_underlying(trouble.to);
    switch (trouble.kind) {
        case RouteTroubleKind::hole: return fmt::format("LID {}: {} has no port for it", to, names.front());
        case RouteTroubleKind::loop: return fmt::format("LID {}: a loop of {}", to, fmt::join(names, ", "));
        case RouteTroubleKind::astray:
            return fmt::format("LID {}: astray, {} sends it to {}", to, names.front(), names.back());
    }
    return {};
}

void add_route(Document& document, const FabricRoute& route) {
    document.add("from", std::uint64_t{std::to_underlying(route.from)});
    document.add("to", std::uint64_t{std::to_underlying(route.to)});
    document.add("end", kRouteEndNames[static_cast<std::size_t>(route.end)]);
    document.open_list("hops");
    for (const FabricHop& hop : route.hops) {
        document.open();
        document.add("node", node_text(*hop.node));
        document.add("in", std::uint64_t{hop.in});
        document.add("out", std::uint64_t{hop.out});
        document.close();
    }
    document.close_list();
}

void add_trouble(Document& document, const RouteTrouble& trouble) {
    document.add("to", std::uint64_t{std::to_underlying(trouble.to)});
    document.add("problem", kRouteTroubleNames[static_cast<std::size_t>(trouble.kind)]);
    std::vector<std::string> names;
    for (const FabricNode* node : trouble.nodes) names.push_back(node_text(*node));
    document.add_texts("nodes", names);
}

}  // namespace qps::transport
