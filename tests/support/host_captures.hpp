// Captures of several hosts, each recorded at its host by a clock of its own: simulated runs between them, seen at both
// ends.
#pragma once

#include <tests/support/cluster_traffic.hpp>

#include <cstdint>
#include <deque>
#include <set>
#include <tuple>
#include <vector>

namespace qps::transport {

struct HostCapture {
    std::uint64_t host = 0;     // cluster_host()
    dissect::Duration clock{};  // ahead of the true time
    ClusterTraffic traffic;     // frames from 1 on
};

// A packet by its sender, the queue pair that it is for, and its PSN.
using SentRequest = std::tuple<Address, dissect::Qpn, std::uint32_t>;

struct HostCaptures {
    std::deque<HostCapture> captures;    // no copy is ever made: observations borrow bytes
    std::set<SentRequest> lost;          // of which the network lost one sending or more
    std::set<SentRequest> lost_answers;  // by the requests that they answer
    std::uint64_t connections = 0;       // in any capture
    std::uint64_t at_both_ends = 0;      // of these
    std::uint64_t requests = 0;          // packets that all of them sent
};

// Of that seed: 2 to 40 hosts, of which all record. The network loses packets and damages them, but keeps their order.
[[nodiscard]] HostCaptures captures_of_hosts(std::uint64_t seed);

}  // namespace qps::transport
