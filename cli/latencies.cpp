#include <cli/latencies.hpp>
#include <cli/message.hpp>
#include <transport-replay/model/memory_amount.hpp>
#include <transport-replay/model/memory_beside.hpp>
#include <transport-replay/report/figures.hpp>

namespace qps::cli {

using namespace transport;

ReadingOptions leave_room_for_latencies(const ReadingOptions& options) {
    ReadingOptions left = options;
    const MemoryBudget& memory = options.analysis.memory;
    left.analysis.memory = beside(memory, bytes_beside(memory, Beside::latencies));
    return left;
}

void say_unknown_latencies(const ConnectionTimes& times) {
    if (times.left_out() == 0) return;
    remark("qpscope: latencies of {} of connections that the memory has no room for are not known (--memory)\n",
           counted(times.left_out(), "message"));
}

}  // namespace qps::cli
