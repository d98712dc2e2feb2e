// The whole analysis in one thread and in process:  bench_analyze FILE [ROUNDS]
//
// Decodes, observes and analyses a batch at a time, as `qpscope analyze -j 1` does, and prints packets, best and median seconds, and
// what was found, so that it can be held against what bench_generate says it wrote.
#include <dissect/capture/capture_file.hpp>
#include <dissect/packet.hpp>
#include <transport-replay/analysis.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace qps;

std::optional<transport::Timeline> analyse(const char* path) {
    auto capture = dissect::CaptureFile::open(path);
    if (!capture) return {};
    transport::Analysis analysis;
    dissect::Batch batch;
    dissect::Packet packet;
    std::vector<transport::Observation> seen;
    while (capture->read(batch)) {
        const std::size_t count = batch.frames.size();
        seen.resize(std::max(seen.size(), count));
        for (std::size_t i = 0; i < count; ++i) {
            dissect::decode(batch.frames[i], packet);
            transport::observe(packet, seen[i]);
        }
        const auto ahead = [&](std::size_t i, std::size_t places) -> const transport::Observation& {
            return seen[std::min(i + places * transport::Analysis::kAhead, count - 1)];
        };
        for (std::size_t i = 0; i < count; ++i) {
            analysis.prefetch(ahead(i, 3), ahead(i, 2), ahead(i, 1));
            static_cast<void>(analysis.observe(seen[i]));
        }
    }
    return analysis.finish(capture->drops());
}

}  // namespace

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
        timeline = analyse(arguments[1]);
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        if (!timeline) {
            fmt::print(stderr, "bench_analyze: cannot read {}\n", arguments[1]);
            return 1;
        }
    }
    std::ranges::sort(seconds);
    const transport::Totals& totals = timeline->totals;
    fmt::print("packets={} best={:.6f} median={:.6f} connections={} retransmitted={} acks={} naks={} timeouts={}\n", timeline->packets,
               seconds.front(), seconds[seconds.size() / 2], timeline->connections.size(), totals.retransmitted_packets, totals.acks,
               totals.sequence_naks, totals.timeouts);
    return 0;
}
