// Captures of several hosts, each analysed alone, told as one: a connection that two of them captured is one
// connection, and what was lost between the two captures gets its place. Which captures show the same connection is
// told by addresses, queue pair numbers and PSNs alone; clocks are then compared by packets that both have.
//
// Of two hosts that talk, whatever their captures both have is told as the capture with more packets of them has it.
#pragma once

#include <transport-replay/parts/part.hpp>

#include <vector>

namespace qps::transport {

// All of them whole, each with a name of its own.
[[nodiscard]] Timeline conclude_hosts(std::vector<CapturePart> captures, const NcclLog& log,
                                      std::vector<Address> unordered);

}  // namespace qps::transport
