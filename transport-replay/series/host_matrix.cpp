#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/host_matrix.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace qps::transport::series {

namespace {

// Hosts are told apart by what they are called; GIDs of RoCEv1 and addresses of RoCEv2 have the same bits and are the
// same host.
auto key_of(const Address& address) { return std::tuple(address.space == AddressSpace::infiniband_lid, address.bits); }

struct WayOfPair {
    std::uint32_t from = 0;  // by their places among the hosts
    std::uint32_t to = 0;
    End requester{};
    const Connection* connection = nullptr;
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> pair() const { return {from, to}; }
};

struct PairSum {
    HostPair pair;
    LatencySketch latencies;
    dissect::Duration most{};
};

void add_way(PairSum& sum, const Connection& connection, End requester, const std::array<WayTimes, 2>* times) {
    const Way& asks = connection.way(requester);
    ++sum.pair.connections;
    sum.pair.bytes += asks.all_bytes();
    sum.pair.lost += losses_of(asks).lost();
    for (const RecoverySum& recovery : asks.incidents->recoveries) sum.pair.stalled += recovery.lost;
    if (times == nullptr) return;
    const WayTimes& own = (*times)[static_cast<std::size_t>(requester)];
    sum.latencies.add(own.latencies);
    sum.most = std::max(sum.most, own.most);
}

}  // namespace

HostMatrix::HostMatrix(const Timeline& timeline, const ConnectionTimes& times) {
    std::map<decltype(key_of({})), std::pair<Address, std::uint64_t>> hosts;  // with their bytes
    for (const Connection& connection : timeline.connections)
        for (const Endpoint& end : connection.ends) {
            auto& host = hosts.try_emplace(key_of(end.address), end.address, 0).first->second;
            host.second += connection.all_bytes();
        }
    if (hosts.size() > kMostHosts) {
        left_out_ = hosts.size() - kMostHosts;
        std::vector<std::uint64_t> bytes;
        for (const auto& [key, host] : hosts) bytes.push_back(host.second);
        std::ranges::nth_element(bytes, bytes.begin() + kMostHosts - 1, std::greater{});
        const std::uint64_t least = bytes[kMostHosts - 1];
        std::erase_if(hosts, [least](const auto& host) { return host.second.second < least; });
        std::erase_if(hosts, [&, over = hosts.size() - kMostHosts](const auto& host) mutable {
            if (over == 0 || host.second.second != least) return false;
            --over;
            return true;
        });
    }
    std::map<decltype(key_of({})), std::uint32_t> places;
    for (const auto& [key, host] : hosts) {
        places[key] = static_cast<std::uint32_t>(hosts_.size());
        hosts_.push_back(host.first);
    }
    // One pair after the other, so that the bins of one alone are there.
    std::vector<WayOfPair> ways;
    for (const Connection& connection : timeline.connections)
        for (const End requester : {End::a, End::b}) {
            const auto from = places.find(key_of(connection.end(requester).address));
            const auto to = places.find(key_of(connection.end(other(requester)).address));
            if (from == places.end() || to == places.end() || connection.way(requester).all_packets() == 0) continue;
            ways.push_back({from->second, to->second, requester, &connection});
        }
    std::ranges::stable_sort(ways, {}, &WayOfPair::pair);
    for (std::size_t i = 0; i < ways.size();) {
        PairSum sum;
        sum.pair.from = ways[i].from;
        sum.pair.to = ways[i].to;
        for (const auto pair = ways[i].pair(); i < ways.size() && ways[i].pair() == pair; ++i)
            add_way(sum, *ways[i].connection, ways[i].requester, times.find(ways[i].connection->uid));
        sum.pair.p99 = std::min(sum.latencies.percentile(99), sum.most);
        pairs_.push_back(sum.pair);
    }
}

const HostPair* HostMatrix::find(std::uint32_t from, std::uint32_t to) const {
    const auto key = [](const HostPair& pair) { return std::pair(pair.from, pair.to); };
    const auto found = std::ranges::lower_bound(pairs_, std::pair(from, to), {}, key);
    return found != pairs_.end() && key(*found) == std::pair(from, to) ? &*found : nullptr;
}

}  // namespace qps::transport::series
