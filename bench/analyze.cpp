// The whole analysis in one thread and in process:  bench_analyze FILE [ROUNDS]
//
// Decodes, observes and analyses a batch at a time, as `qpscope analyze -j 1` does, and prints packets, best and median
// seconds, and what was found, so that it can be held against what bench_generate says it wrote.
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "in_process.hpp"
#include <fmt/format.h>

namespace bench = qps::bench;
namespace transport = qps::transport;

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    std::size_t rounds = 1;
    if (argc == 3) {
        const std::string_view text = arguments[2];
        std::from_chars(text.begin(), text.end(), rounds);
    }
    if (argc < 2 || argc > 3 || rounds == 0) {
        fmt::print(stderr, "usage: bench_analyze FILE [ROUNDS]\n");
        return 2;
    }
    std::vector<double> seconds;
    std::optional<transport::Timeline> timeline;
    for (std::size_t i = 0; i < rounds; ++i) {
        const auto start = std::chrono::steady_clock::now();
        timeline = bench::analyse(arguments[1]);
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        if (!timeline) {
            fmt::print(stderr, "bench_analyze: cannot read {}\n", arguments[1]);
            return 1;
        }
    }
    std::ranges::sort(seconds);
    const transport::Totals& totals = timeline->totals;
    fmt::print("packets={} best={:.6f} median={:.6f} connections={} retransmitted={} acks={} naks={} timeouts={}\n",
               timeline->packets, seconds.front(), seconds[seconds.size() / 2], timeline->connections.size(),
               totals.retransmitted_packets, totals.acks, totals.sequence_naks, totals.timeouts);
    return 0;
}
