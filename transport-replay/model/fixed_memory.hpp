// What an analysis keeps in bounds that do not depend on its memory, and what each of them takes at most. All of it is
// within MemoryBudget::kFixed; a test drives each to its bound.
#pragma once

#include <transport-replay/model/memory_budget.hpp>

namespace qps::transport {

struct FixedRow {
    std::string_view name;
    std::uint32_t megabytes = 0;  // of 2^20
};

inline constexpr std::array kFixedRows{
    FixedRow{"management exchanges", 36},
    FixedRow{"management events", 4},
    FixedRow{"port counters", 8},
    FixedRow{"long management transfers", 18},
    FixedRow{"fabric map", 60},
    FixedRow{"retransmission episodes", 16},
    FixedRow{"answers without requests", 12},
    FixedRow{"collectives", 66},
    FixedRow{"copies of packets", 36},
};

}  // namespace qps::transport
