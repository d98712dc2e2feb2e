// The straight path: from the bytes of a frame to its observation, with known offsets, no list of layers and no second
// walk over it. Nearly every packet of RDMA goes it; any other is decode()d and observe()d, which gives of those the
// same (docs/dev/packet_path.md).
#pragma once

#include <transport-replay/model/observation.hpp>

#include <cstddef>
#include <optional>

namespace qps::transport {

// Where the headers of such a frame lie: bytes from its start.
struct StraightPlaces {
    std::size_t network = 0;  // IPv4 or IPv6
    std::size_t bth = 0;
    std::size_t behind = 0;  // the payload
    bool version_6 = false;
};

// Ethernet, at most one VLAN tag, IPv4 without options or IPv6 without extension headers, UDP to port 4791 and a
// transport packet, no management, whose headers are whole and whose lengths agree. Nothing where it is another, or
// something is wrong with it: `observation` is then as it was.
[[nodiscard]] std::optional<StraightPlaces> observe_straight(const dissect::Frame& frame, Observation& observation);

}  // namespace qps::transport
