// What views of an open capture keep beside its rows and its analysis, in bounds that do not depend on the memory, and
// what each of them takes at most. A test drives each to its bound.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace qps::transport::series {

struct ViewRow {
    std::string_view name;
    std::uint32_t megabytes = 0;  // of 2^20
};

inline constexpr std::array kViewRows{
    ViewRow{"statistics", 128},  // parts that threads count included
    ViewRow{"fabric map", 48},
    ViewRow{"two runs compared", 8},
    ViewRow{"payload of messages", 48},
    ViewRow{"pairs of hosts", 8},
    ViewRow{"figures of connections", 16},
    ViewRow{"sorted packets", 128},  // while they are sorted; 48 afterwards. The window has an eighth of the budget for
                                     // it, where that is more
    ViewRow{"throughput", 32},
    ViewRow{"bins of an I/O graph", 48},  // of kMostSeries series; values of percentiles are bounded by kMostKept
    ViewRow{"ladder of a message", 8},
    ViewRow{"ladder of a connection", 112},
};

}  // namespace qps::transport::series
