// Sixteen hosts that write to one at once, over a switch whose port to it has too little room: queues, marks, pauses
// and losses at 100 Gbit/s, as taps at the receiver's link and at the one of a sender see them.
#pragma once

#include <tests/samples/samples.hpp>

namespace qps::tests {

// The times of both are of their own clocks.
[[nodiscard]] std::vector<SamplePacket> incast_at_receiver();
[[nodiscard]] std::vector<SamplePacket> incast_at_sender();

}  // namespace qps::tests
