#include <transport-replay/parts/host_clocks.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <tuple>

namespace qps::transport {

using namespace dissect;

namespace {

// Of the first packet of each way of a connection: how much later the other capture's clock says that it passed than
// that of the told one. Nothing unless both captures have the connection from its beginning.
std::optional<std::array<Duration, 2>> first_packets(const SharedConnection& shared) {
    std::array<Duration, 2> later{};
    bool compared = false;
    for (const End end : {End::a, End::b}) {
        const Way &told = shared.followed->way(end), &other_one = shared.view->way(shared.end_of(end));
        if (told.packets == 0 || other_one.packets == 0) return {};
        if ((told.requests != 0) != (other_one.requests != 0)) return {};
        if (told.requests != 0 && told.first_psn != other_one.first_psn) return {};
        compared |= told.requests != 0;
        later[static_cast<std::size_t>(end)] = other_one.first_time - told.first_time;
    }
    if (!compared) return {};
    return later;
}

// Where a difference of clocks lies.
struct Between {
    Duration least{INT64_MIN};
    Duration most{INT64_MAX};
    [[nodiscard]] bool empty() const { return least > most; }
    // The middle, and how far it may be off. Bounds that contradict each other, because clocks drift, are off by what
    // they contradict.
    [[nodiscard]] std::pair<Duration, Duration> middle() const {
        const auto low = std::to_underlying(least), high = std::to_underlying(most);
        return {Duration{low + (high - low) / 2}, magnitude(Duration{(high - low) / 2})};
    }
};

// What both ways take adds to the difference of one and is taken from that of the other.
using Captures = std::pair<std::uint32_t, std::uint32_t>;
std::map<Captures, Between> differences(const SharedConnections& shared) {
    std::map<Captures, Between> found;
    for (const SharedConnection& one : shared.all) {
        const auto later = first_packets(one);
        if (!later) continue;
        const auto [low, high] = std::minmax((*later)[0], (*later)[1]);
        const bool swapped = one.capture < one.followed_capture;
        const Duration least = swapped ? Duration{} - high : low, most = swapped ? Duration{} - low : high;
        Between& between = found[std::minmax(one.capture, one.followed_capture)];
        between.least = std::max(between.least, least);
        between.most = std::min(between.most, most);
    }
    return found;
}

}  // namespace

std::vector<HostClock> compare_clocks(std::size_t captures, const SharedConnections& shared) {
    struct Edge {
        std::uint32_t to = 0;
        Duration ahead{};  // of the clock of `to`
        Duration within{};
    };
    std::vector<std::vector<Edge>> edges(captures);
    for (const auto& [pair, between] : differences(shared)) {
        const auto [ahead, within] = between.middle();
        edges[pair.first].push_back({pair.second, ahead, within});
        edges[pair.second].push_back({pair.first, Duration{} - ahead, within});
    }
    std::vector<std::optional<HostClock>> clocks(captures);
    // The surest first (Dijkstra): what is off adds up.
    using Next = std::tuple<Duration, std::uint32_t, Duration>;  // within, capture, ahead
    for (std::uint32_t root = 0; root < captures; ++root) {
        if (clocks[root]) continue;
        std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
        next.emplace(Duration{}, root, Duration{});
        while (!next.empty()) {
            const auto [within, capture, ahead] = next.top();
            next.pop();
            if (clocks[capture]) continue;
            clocks[capture] = HostClock{root, ahead, within};
            for (const Edge& edge : edges[capture])
                if (!clocks[edge.to]) next.emplace(within + edge.within, edge.to, ahead + edge.ahead);
        }
    }
    std::vector<HostClock> all;
    for (const auto& clock : clocks) all.push_back(*clock);
    return all;
}

std::optional<bool> passes_told_first(const SharedConnection& shared, End sender) {
    if (const auto later = first_packets(shared)) {
        const Duration own = (*later)[static_cast<std::size_t>(sender)],
                       back = (*later)[static_cast<std::size_t>(other(sender))];
        if (own != back) return own > back;
    }
    // Who is nearer to the requester waits longer for the same answers.
    for (const End end : {sender, other(sender)}) {
        const DurationSummary &told = shared.followed->way(end).latency,
                              &other_one = shared.view->way(shared.end_of(end)).latency;
        if (told.count == 0 || told.count != other_one.count || told.sum == other_one.sum) continue;
        return (told.sum > other_one.sum) == (end == sender);
    }
    return {};
}

}  // namespace qps::transport
