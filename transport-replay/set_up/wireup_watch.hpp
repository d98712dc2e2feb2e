// WireupWatch: the queue pairs that UCX sets up by datagrams (UD): a request names those of one host, the reply to it those of the other, lane
// by lane. The tracker is told of pairs whose GIDs are those that the datagrams come from: others are of hosts that somebody else may follow.
//
// UCX begins all of them with PSN 0, which proves nothing; the first request of such a connection does, which acknowledges the wire-up and names
// both of its endpoints. What an attacker could feed: requests without end; past the bound all are forgotten.
#pragma once

#include <dissect/ulp/ucx_address.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/peaks.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

class Tracker;

class WireupWatch {
public:
    static constexpr std::size_t kMostRequests = 1024;

    // Only what carries RDMA.
    void observe(const Observation& observation, Tracker& tracker);
    void add_peaks(Peaks& peaks) const;

private:
    // Of a host to another: an endpoint, in place of its queue pair's number the lower half, of the port's the upper half.
    boost::unordered_flat_map<FlowKey, dissect::ucx::WireupMessage, FlowHash> requests_;
    std::size_t most_ = 0;
};

}  // namespace qps::transport
