// How far the clocks of captures are apart, by the first packets of connections that two of them have; and which
// capture is nearer to the sender of a packet. Neither needs a clock that is right.
#pragma once

#include <transport-replay/parts/shared_connections.hpp>

#include <optional>
#include <span>
#include <vector>

namespace qps::transport {

// The clock of a capture beside that of the first capture that it can be compared with, over others or directly.
struct HostClock {
    std::uint32_t root = 0;      // that capture; it may be itself
    dissect::Duration ahead{};   // of the root's
    dissect::Duration within{};  // either way
};
// By capture.
[[nodiscard]] std::vector<HostClock> compare_clocks(std::size_t captures, const SharedConnections& shared);

// Whether the capture that is told has what `sender` of the told connection sends before the other capture: packets of
// both ways take time from one to the other. Nothing where too little is known of it.
[[nodiscard]] std::optional<bool> passes_told_first(const SharedConnection& shared, End sender);

}  // namespace qps::transport
