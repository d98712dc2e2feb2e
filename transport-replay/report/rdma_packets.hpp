// Counts the packets of a capture that are RDMA: those with a transport header of InfiniBand, segments of RDMA over
// TCP, packets of contexts of Ultra Ethernet.
#pragma once

#include <transport-replay/model/timeline.hpp>

namespace qps::transport {

[[nodiscard]] inline std::uint64_t rdma_packets(const Timeline& timeline) {
    std::uint64_t packets = timeline.quality.rdma_packets;
    for (const Connection& connection : timeline.connections)
        if (connection.service == dissect::Service::iwarp)
            packets += connection.ways[0].requests + connection.ways[1].requests;
        else if (connection.service == dissect::Service::uet) packets += connection.packets();
    return packets;
}

}  // namespace qps::transport
