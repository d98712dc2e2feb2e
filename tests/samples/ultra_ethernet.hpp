// Two endpoints of Ultra Ethernet: a context is opened, written and read through, a packet is trimmed and sent again;
// every type of packet once, secured packets, and a datagram to its port that is none of it.
#pragma once

#include <tests/samples/samples.hpp>

namespace qps::tests {

[[nodiscard]] std::vector<SamplePacket> ultra_ethernet();

}  // namespace qps::tests
