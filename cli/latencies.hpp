// Latencies of each connection, gathered while the capture is analysed: which part of the memory they have, and what
// there was no room for.
#pragma once

#include <cli/options/reading_options.hpp>
#include <transport-replay/report/connection_times.hpp>

namespace qps::cli {

// What the analysis is to be given beside them.
[[nodiscard]] ReadingOptions leave_room_for_latencies(const ReadingOptions& options);

void say_unknown_latencies(const transport::ConnectionTimes& times);

}  // namespace qps::cli
