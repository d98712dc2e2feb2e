// WireupWatch: the queue pairs that UCX sets up by datagrams (UD): a request names those of one host, the reply to it
// those of the other, lane by lane. The tracker is told of pairs whose GIDs are those that the datagrams come from:
// others are of hosts that somebody else may follow.
//
// UCX begins all of them with PSN 0, which proves nothing; the first request of such a connection has to, which
// acknowledges the wire-up and names both of its endpoints. Their numbers are those of a worker, and each worker has
// its own queue pair for datagrams: a reply is to the request that came the other way between the same two. What an
// attacker could feed: requests without end; past the bound those are forgotten that nobody replied to for long, or
// else all.
#pragma once

#include <dissect/ulp/ucx_address.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/peaks.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

class Tracker;

class WireupWatch {
public:
    static constexpr std::size_t kMostRequests = 8192;
    static constexpr dissect::Duration kLongest{60'000'000'000};  // until a reply comes, where others need the place

    // Only what carries RDMA.
    void observe(const Observation& observation, Tracker& tracker);
    void add_peaks(Peaks& peaks) const;

private:
    struct Key {
        FlowKey flow;  // of the request
        std::uint64_t endpoint = 0;
        std::uint16_t vlan = 0;
        [[nodiscard]] bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const { return FlowHash{}(key.flow) ^ mix(key.endpoint + key.vlan); }
    };
    struct Asked {
        dissect::ucx::WireupMessage message;
        dissect::Instant time{};
    };
    void ask(const Key& key, const Asked& asked);

    boost::unordered_flat_map<Key, Asked, KeyHash> requests_;
    std::size_t most_ = 0;
};

}  // namespace qps::transport
