// Which episodes share their cause with those of other connections: what each of them alone suggests is misleading.
#pragma once

#include <transport-replay/model/recovery.hpp>

#include <vector>

namespace qps::transport {

struct Timeline;

namespace families {

// Those of finding stalled-together, sorted.
[[nodiscard]] std::vector<const Recovery*> stalled_with_others(const Timeline& timeline);

}  // namespace families

}  // namespace qps::transport
