// Routes by linear forwarding tables (14.2.5.9), as far as a map of the fabric has them: from LID to LID, and what is
// wrong of them all.
//
// Tables are those that were told last: a manager that was about to write them may have told half. What an attacker
// could feed: tables in circles, any number of switches; a route ends at the first switch that it meets again, and
// troubles at kMaxRouteTroubles.
#pragma once

#include <transport-replay/model/fabric_map.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport {

class Document;

inline constexpr std::size_t kMaxRouteTroubles = 64;       // that are listed
inline constexpr std::size_t kMaxRouteSteps = 20'000'000;  // of all routes of all LIDs that are looked at

// How a route ends.
enum class RouteEnd : std::uint8_t {
    arrived,
    unknown_source,  // no port with that LID
    no_link,         // where that port leads to the map does not tell
    no_table,        // nor what the switch does with that LID
    no_port,         // the switch has no way to that LID: a hole
    loop,
    astray,     // at a port of another node or number than the one that has that LID
    undecided,  // at a port with another LID, while nobody is known to have that one: one port may have several
                // (LMC, 14.2.5.6)
};
inline constexpr std::array<std::string_view, 8> kRouteEndNames{"arrived", "unknown_source", "no_link",    "no_table",
                                                                "no_port", "loop",           "wrong_port", "undecided"};

struct FabricHop {
    const FabricNode* node = nullptr;
    std::uint8_t in = 0;   // port by which packets come; 0: they begin here, or it is not known
    std::uint8_t out = 0;  // 0: they end here
};
struct FabricRoute {
    dissect::Lid from{}, to{};
    std::vector<FabricHop> hops;
    RouteEnd end{};
};

// Something wrong in the tables of all LIDs that ports have.
enum class RouteTroubleKind : std::uint8_t { hole, loop, astray };
inline constexpr std::array<std::string_view, 3> kRouteTroubleNames{"hole", "loop", "wrong_port"};
struct RouteTrouble {
    dissect::Lid to{};
    RouteTroubleKind kind{};
    std::vector<const FabricNode*>
        nodes;  // of the loop, in turn; the switch without a way; the switch that leads astray, and whereto
};
struct RouteTroubles {
    std::vector<RouteTrouble> list;
    bool whole = true;  // else there may be more
};

// It borrows the map.
class FabricRoutes {
public:
    explicit FabricRoutes(const FabricMap& map);
    [[nodiscard]] FabricRoute route(dissect::Lid from, dissect::Lid to) const;
    [[nodiscard]] RouteTroubles troubles() const;
    [[nodiscard]] std::size_t tables() const { return tables_; }  // switches with any

private:
    struct Next {
        const FabricNode* node = nullptr;  // nullptr: none
        std::uint8_t out = 0, in = 0;
        RouteEnd end = RouteEnd::arrived;
    };
    struct Holder {
        const FabricNode* node = nullptr;
        std::uint8_t port = 0;
        [[nodiscard]] bool operator==(const Holder&) const = default;
    };
    [[nodiscard]] Holder holder(dissect::Lid lid) const;
    [[nodiscard]] RouteEnd end_at(const FabricNode& node, std::uint8_t in, dissect::Lid to) const;
    [[nodiscard]] Next next(const FabricNode& node, dissect::Lid to) const;
    [[nodiscard]] Next behind(const FabricNode& node, std::uint8_t port) const;

    const FabricMap& map_;
    FabricNodes nodes_;
    std::map<FabricEnd, FabricEnd> links_;    // both ways
    std::map<dissect::Lid, Holder> holders_;  // the first of each
    std::set<dissect::Lid>
        several_;  // LIDs that several ports have, of several subnets perhaps: of these nothing is wrong for sure
    std::size_t tables_ = 0;
};

// "node-1 port 1, switch-1 port 1 to 3, node-3 port 1", a line for each.
[[nodiscard]] std::vector<std::string> route_lines(const FabricRoute& route);
// "LID 5 arrives after 2 switches", "LID 5: switch-1 has no port for it".
[[nodiscard]] std::string route_text(const FabricRoute& route);
[[nodiscard]] std::string trouble_text(const RouteTrouble& trouble);
void add_route(Document& document, const FabricRoute& route);
void add_trouble(Document& document, const RouteTrouble& trouble);

}  // namespace qps::transport
