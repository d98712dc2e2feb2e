// Routes by forwarding tables: from LID to LID, and what is wrong in them.
#include <tests/support/catch.hpp>
#include <transport-replay/report/fabric_route.hpp>

#include <random>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

constexpr std::uint8_t kAdapter = 1, kSwitch = 2;

FabricNode node(std::uint64_t guid, std::uint8_t type, std::uint16_t lid, std::string description) {
    FabricNode made;
    made.guid = NodeGuid{guid};
    made.type = type;
    made.description = std::move(description);
    const std::uint8_t number = type == kSwitch ? 0 : 1;
    made.ports[number] = {.number = number, .lid = Lid{lid}};
    return made;
}
// host 1 - switch 11 - switch 12 - host 2, all by ports 1 and 2.
FabricMap line() {
    FabricMap map;
    map.nodes = {node(11, kSwitch, 11, "s11"), node(12, kSwitch, 12, "s12"), node(1, kAdapter, 1, "h1"),
                 node(2, kAdapter, 2, "h2")};
    const auto link = [&](std::uint64_t a, std::uint8_t port_a, std::uint64_t b, std::uint8_t port_b) {
        map.links.push_back({{NodeGuid{a}, {}, port_a}, {NodeGuid{b}, {}, port_b}, true, {}});
    };
    link(1, 1, 11, 1);
    link(11, 2, 12, 1);
    link(2, 1, 12, 2);
    for (FabricNode& one : map.nodes)
        if (one.type == kSwitch) one.forwarding[0].fill(0xff);
    map.nodes[0].forwarding[0][1] = 1;
    map.nodes[0].forwarding[0][2] = map.nodes[0].forwarding[0][12] = 2;
    map.nodes[0].forwarding[0][11] = map.nodes[1].forwarding[0][12] = 0;
    map.nodes[1].forwarding[0][1] = map.nodes[1].forwarding[0][11] = 1;
    map.nodes[1].forwarding[0][2] = 2;
    return map;
}

}  // namespace

TEST_CASE("a route goes by forwarding tables from port to port") {
    const FabricMap map = line();
    const FabricRoutes routes(map);
    CHECK(routes.tables() == 2);
    const FabricRoute route = routes.route(Lid{1}, Lid{2});
    CHECK(route.end == RouteEnd::arrived);
    CHECK(route_lines(route) == std::vector<std::string>{"h1, out of port 1", "s11, port 1 to port 2",
                                                         "s12, port 1 to port 2", "h2, into port 1"});
    CHECK(route_text(route) == "LID 1 to LID 2: 2 switches");
    CHECK(routes.route(Lid{2}, Lid{11}).end == RouteEnd::arrived);
    CHECK(routes.route(Lid{11}, Lid{2}).hops.size() == 3);
    CHECK(routes.route(Lid{1}, Lid{1}).hops.size() == 1);
    CHECK(routes.troubles().list.empty());
}

TEST_CASE("where a route ends before it arrives") {
    FabricMap map = line();
    SECTION("a hole") {
        map.nodes[1].forwarding[0][2] = 0xff;
        const FabricRoutes routes(map);
        CHECK(routes.route(Lid{1}, Lid{2}).end == RouteEnd::no_port);
        CHECK(route_text(routes.route(Lid{1}, Lid{2})) == "LID 1 to LID 2: s12 has no port for it");
        const auto troubles = routes.troubles().list;
        REQUIRE(troubles.size() == 1);
        CHECK(trouble_text(troubles[0]) == "LID 2: s12 has no port for it");
    }
    SECTION("a loop") {
        map.nodes[1].forwarding[0][2] = 1;
        const FabricRoutes routes(map);
        CHECK(routes.route(Lid{1}, Lid{2}).end == RouteEnd::loop);
        const auto troubles = routes.troubles().list;
        REQUIRE(troubles.size() == 1);
        CHECK(trouble_text(troubles[0]) == "LID 2: a loop of s11, s12");
    }
    SECTION("a table that was not told") {
        map.nodes[1].forwarding.clear();
        CHECK(FabricRoutes(map).route(Lid{1}, Lid{2}).end == RouteEnd::no_table);
        CHECK(FabricRoutes(map).troubles().list.empty());
    }
    SECTION("a link that was not told") {
        map.links.pop_back();
        CHECK(FabricRoutes(map).route(Lid{1}, Lid{2}).end == RouteEnd::no_link);
        CHECK(FabricRoutes(map).troubles().list.empty());
    }
    SECTION("a LID that nobody has") {
        CHECK(FabricRoutes(map).route(Lid{9}, Lid{2}).end == RouteEnd::unknown_source);
        CHECK(FabricRoutes(map).route(Lid{1}, Lid{9}).end == RouteEnd::no_port);
        CHECK(FabricRoutes(map).troubles().list.empty());
    }
    SECTION("a LID that its port has beside the first") {
        for (const int at : {0, 1}) map.nodes[static_cast<std::size_t>(at)].forwarding[0][3] = 2;
        const FabricRoutes routes(map);
        CHECK(routes.route(Lid{1}, Lid{3}).end == RouteEnd::undecided);
        CHECK(route_text(routes.route(Lid{1}, Lid{3})) ==
              "LID 1 to LID 3: to h2; whether it has that LID, too, is not in this capture");
        CHECK(routes.troubles().list.empty());
    }
    SECTION("another's port") {
        map.nodes[1].forwarding[0][1] = 2;
        const FabricRoutes routes(map);
        CHECK(routes.route(Lid{12}, Lid{1}).end == RouteEnd::astray);
        CHECK(route_text(routes.route(Lid{12}, Lid{1})) == "LID 12 to LID 1: astray, to h2, which has another LID");
        const auto troubles = routes.troubles().list;
        REQUIRE(troubles.size() == 1);
        CHECK(trouble_text(troubles[0]) == "LID 1: astray, s12 sends it to h2");
    }
    SECTION("a LID that ports of two subnets have") {
        map.nodes[1].forwarding[0][1] = 2;
        map.nodes.push_back(node(3, kAdapter, 1, "h3"));
        const FabricRoutes routes(map);
        CHECK(routes.route(Lid{12}, Lid{1}).end == RouteEnd::undecided);
        CHECK(routes.troubles().list.empty());
    }
    SECTION("another port of the same adapter") {
        map.nodes[3].ports[2] = {.number = 2, .lid = Lid{3}};
        for (const int at : {0, 1}) map.nodes[static_cast<std::size_t>(at)].forwarding[0][3] = 2;
        CHECK(FabricRoutes(map).route(Lid{1}, Lid{3}).end == RouteEnd::astray);
        CHECK(FabricRoutes(map).route(Lid{1}, Lid{2}).end == RouteEnd::arrived);
        CHECK(FabricRoutes(map).troubles().list.size() == 1);
    }
}

TEST_CASE("routes end, whatever tables and links say") {
    std::mt19937 draw(5);
    for (int round = 0; round < 200; ++round) {
        FabricMap map;
        for (std::uint16_t i = 1; i <= 20; ++i) {
            map.nodes.push_back(node(i, i % 3 == 0 ? kAdapter : kSwitch, i, ""));
            if (i % 3 != 0)
                for (std::uint8_t& port : map.nodes.back().forwarding[0]) port = static_cast<std::uint8_t>(draw() % 6);
        }
        for (int i = 0; i < 60; ++i)
            map.links.push_back({{NodeGuid{1 + draw() % 21}, {}, static_cast<std::uint8_t>(draw() % 6)},
                                 {NodeGuid{1 + draw() % 21}, {}, static_cast<std::uint8_t>(draw() % 6)},
                                 true,
                                 {}});
        const FabricRoutes routes(map);
        for (std::uint16_t from = 0; from <= 21; ++from)
            for (std::uint16_t to = 0; to <= 21; ++to) {
                const FabricRoute route = routes.route(Lid{from}, Lid{to});
                CHECK(route.hops.size() <= map.nodes.size() + 1);
                CHECK(!route_text(route).empty());
            }
        for (const RouteTrouble& trouble : routes.troubles().list) CHECK(!trouble.nodes.empty());
        CHECK(routes.troubles().list.size() <= kMaxRouteTroubles + 2);
    }
}
