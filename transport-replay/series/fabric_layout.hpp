// The map of a fabric laid out for a picture: nodes in rows, channel adapters at the bottom, above each the switches
// that lead to it; within a row so that links cross little. Values only, in units of a node's room.
//
// What an attacker could feed: any map: links to nodes that nobody described, loops, several between the same two. The
// map is bounded (fabric_map.hpp); the work is that of a few passes over its links.
#pragma once

#include <transport-replay/model/management_report.hpp>

#include <string>
#include <vector>

namespace qps::transport::series {

struct FabricPlace {
    std::size_t node = 0;  // of the map
    std::size_t row = 0;   // from the top
    double x = 0;          // of its middle, from the left
};

struct FabricWire {
    std::size_t link = 0;  // of the map
    std::size_t a = 0;     // nodes of the map
    std::size_t b = 0;
    std::size_t beside = 0;  // how many links between these two were before it
    std::string words;       // "node-1 port 1 to switch-1 port 3, 4x EDR; Symbol errors +5 to 12"
    bool errors = false;     // counters of errors moved at one of its ends
    bool down = false;       // a port of it is not up
};

struct FabricLayout {
    std::vector<FabricPlace> places;  // by node of the map
    std::vector<FabricWire> wires;    // of links whose ends are both nodes of the map
    std::size_t rows = 0;
    double width = 0;
    std::size_t without_nodes = 0;  // links that have no place
};

[[nodiscard]] FabricLayout lay_out(const ManagementReport& report);

}  // namespace qps::transport::series
