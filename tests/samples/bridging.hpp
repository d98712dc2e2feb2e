// A NIC and a switch that announce themselves and what they do for lossless traffic, by LLDP with DCBX of IEEE and of
// CEE; a congestion notification message of a bridge.
#pragma once

#include <tests/samples/samples.hpp>

namespace qps::tests {

[[nodiscard]] std::vector<SamplePacket> bridging();
// A switch and a NIC of one link that announce other priorities, and RoCE packets of one that the switch may drop.
[[nodiscard]] std::vector<SamplePacket> bridging_differs();

}  // namespace qps::tests
