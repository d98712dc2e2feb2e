// A packet delivery context of Ultra Ethernet sprayed over four paths, seen behind the first switch: packets overtake
// each other, that switch trims two, one path loses a third of its packets behind the tap, one is slow, one packet
// finds no buffer; the context is closed.
#pragma once

#include <tests/samples/samples.hpp>

namespace qps::tests {

[[nodiscard]] std::vector<SamplePacket> ultra_ethernet_paths();

}  // namespace qps::tests
