#include <transport-replay/parts/shared_connections.hpp>

#include <algorithm>
#include <optional>
#include <tuple>

namespace qps::transport {

using namespace dissect;

namespace {

// What both captures say alike of a connection.
using Ends = std::tuple<Service, Address, std::optional<Qpn>, Address, std::optional<Qpn>>;
bool is_turned(const Connection& connection) {
    const auto key = [](const Endpoint& end) { return std::tie(end.address, end.qpn); };
    return key(connection.ends[1]) < key(connection.ends[0]);
}
Ends ends_of(const Connection& connection) {
    const bool turned = is_turned(connection);
    const Endpoint &first = connection.ends[turned ? 1 : 0], &second = connection.ends[turned ? 0 : 1];
    return {connection.service, first.address, first.qpn, second.address, second.qpn};
}

// How many PSNs a way's requests took, at most: each response of a READ takes one.
std::uint64_t span_of(const Connection& connection, End end) {
    return connection.way(end).requests + connection.way(other(end)).read_responses;
}

// Numbers of queue pairs are used again: of the same connection one capture begins among the PSNs that the other has.
bool overlap(const Connection& one, End end, const Connection& two, End end_of_two) {
    const Psn first(one.way(end).first_psn), second(two.way(end_of_two).first_psn);
    const auto ahead = [](Psn from, Psn to) { return (to.value() - from.value()) & Psn::kMask; };
    return ahead(first, second) <= span_of(one, end) || ahead(second, first) <= span_of(two, end_of_two);
}

bool is_same(const Connection& one, const Connection& two, bool turned) {
    if (one.service == Service::iwarp) return true;  // its numbers are ports of TCP
    for (const End end : {End::a, End::b}) {
        const End in_two = turned ? other(end) : end;
        if (one.way(end).requests != 0 && two.way(in_two).requests != 0 && !overlap(one, end, two, in_two))
            return false;
    }
    return true;
}

// A connection that is told, and which captures have another view of it already.
struct Told {
    std::uint32_t capture = 0;
    const Connection* connection = nullptr;
    std::vector<std::uint32_t> seen_by;
};

// What captures have of two hosts.
struct View {
    std::uint64_t packets = 0;
    std::vector<const Connection*> connections;
};
using Views = std::map<std::uint32_t, View>;  // by capture

void match(const Views& views, const TalkingHosts& hosts, SharedConnections& shared) {
    std::vector<std::uint32_t> order;
    for (const auto& [capture, view] : views) order.push_back(capture);
    std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t capture) { return views.at(capture).packets; });
    std::map<Ends, std::vector<Told>> told;
    bool any = false;
    const auto known = [&](std::uint32_t capture, const Connection& connection) {
        std::vector<Told>& candidates = told[ends_of(connection)];
        for (Told& candidate : candidates) {
            const bool turned = is_turned(connection) != is_turned(*candidate.connection);
            if (candidate.capture == capture ||
                std::ranges::find(candidate.seen_by, capture) != candidate.seen_by.end() ||
                !is_same(*candidate.connection, connection, turned))
                continue;
            candidate.seen_by.push_back(capture);
            shared.all.push_back({capture, &connection, candidate.capture, candidate.connection, turned});
            return true;
        }
        candidates.push_back({capture, &connection, {}});
        return false;
    };
    for (const std::uint32_t capture : order)
        for (const Connection* connection : views.at(capture).connections) any |= known(capture, *connection);
    if (any) shared.followed.emplace(hosts, order.front());
}

}  // namespace

SharedConnections find_shared(std::span<const CapturePart> captures) {
    std::map<TalkingHosts, Views> pairs;
    for (std::uint32_t capture = 0; capture < captures.size(); ++capture)
        for (const Connection& connection : captures[capture].report.lanes.tracked.connections) {
            View& view = pairs[talking(connection.ends[0].address, connection.ends[1].address)][capture];
            view.packets += connection.packets();
            view.connections.push_back(&connection);
        }
    SharedConnections shared;
    for (const auto& [hosts, views] : pairs)
        if (views.size() > 1) match(views, hosts, shared);
    std::ranges::sort(shared.all, {},
                      [](const SharedConnection& one) { return std::pair(one.capture, one.view->uid); });
    return shared;
}

}  // namespace qps::transport
