// A small fabric under management: a switch and three hosts, swept, asked, changed and measured, as a tap at the port
// of the first host sees it, which runs the subnet manager.
#pragma once

#include <tests/samples/samples.hpp>

namespace qps::tests {

[[nodiscard]] std::vector<SamplePacket> fabric_sweep();

}  // namespace qps::tests
