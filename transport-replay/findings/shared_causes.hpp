// Finds episodes that share their cause with those of other connections: what one of them alone suggests misleads.
#pragma once

#include <transport-replay/model/recovery.hpp>

#include <string_view>
#include <vector>

namespace qps::transport {

struct Timeline;

namespace families {

// Those of finding stalled-together, sorted.
[[nodiscard]] std::vector<const Recovery*> stalled_with_others(const Timeline& timeline);

// Those of finding losses-by-size, sorted.
[[nodiscard]] std::vector<const Recovery*> lost_by_size(const Timeline& timeline);
inline constexpr std::string_view kTooLong =
    "Find the MTU that is too small on the path to {responder:host} (losses-by-size): only long packets do not arrive.";

}  // namespace families

}  // namespace qps::transport
