// Traffic of a cluster: simulated runs between 2 to 40 hosts, merged by time, as observations; or of a capture.
#pragma once

#include <transport-replay/model/observation.hpp>

#include <cstdint>
#include <deque>
#include <vector>

namespace qps::transport {

// Observations with the bytes that they borrow.
struct ClusterTraffic {
    std::deque<std::vector<std::byte>> bytes;
    std::vector<Observation> observations;

    void add(const dissect::Packet& packet);
};

// Host `number` of a cluster, and an observation of a simulated run as if it had been between two of them: end a is
// host `a`.
[[nodiscard]] Address cluster_host(std::uint64_t number);
void send_between(Observation& observation, std::uint64_t a, std::uint64_t b);

// Of that seed.
[[nodiscard]] ClusterTraffic cluster_of(std::uint64_t seed);

}  // namespace qps::transport
