#include <cli/latencies.hpp>
#include <cli/message.hpp>
#include <transport-replay/model/memory_amount.hpp>
#include <transport-replay/model/memory_beside.hpp>
#include <transport-replay/report/figures.hpp>

namespace qps::cli {

using namespace transport;

Options leave_room_for_latencies(const Options& options) {
    Options left = options;
    left.memory = beside(options.memory, bytes_beside(options.memory, Beside::latencies));
    return left;
}

void say_unknown_latencies(const Options& options, const ConnectionTimes& times) {
    if (times.left_out() == 0 || options.quiet) return;
    say("qpscope: latencies of {} of connections that the memory has no room for are not known (--memory)\n",
        counted(times.left_out(), "message"));
}

}  // namespace qps::cli
