// What following an upper protocol costs, in one thread and in process:  bench_ulp FILE PROTOCOL [ROUNDS]
//
// It analyses the capture in turns: once with the hint that no connection carries anything known, once with the hint
// that all carry PROTOCOL. It prints both medians, the median of their ratios, and how many operations were found, so
// that it can be held against what was written.
#include <dissect/ulp/ulp.hpp>
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

namespace {

using namespace qps;

constexpr std::uint32_t kMostConnections = 20'000;  // of what bench_generate_nvme writes

// Every connection carries that, or nothing known.
transport::AnalysisSettings settings_for(dissect::UlpProtocol protocol) {
    transport::AnalysisSettings settings;
    for (std::uint32_t uid = 1; uid <= kMostConnections; ++uid) settings.hints.emplace(uid, protocol);
    return settings;
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    std::size_t rounds = 5;
    if (argc == 4) {
        const std::string_view text = arguments[3];
        std::from_chars(text.begin(), text.end(), rounds);
    }
    const auto protocol = argc < 3 ? std::nullopt : dissect::ulp_protocol(arguments[2]);
    if (!protocol || argc > 4 || rounds == 0) {
        fmt::print(stderr, "usage: bench_ulp FILE PROTOCOL [ROUNDS]\n");
        return 2;
    }
    std::vector<double> without;
    std::vector<double> with;
    std::vector<double> ratios;
    std::uint64_t operations = 0;
    std::uint64_t packets = 0;
    const auto timed = [&](dissect::UlpProtocol carried, std::vector<double>& seconds) {
        const auto start = std::chrono::steady_clock::now();
        const auto timeline = bench::analyse(arguments[1], settings_for(carried));
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        if (!timeline) return false;
        packets = timeline->packets;
        operations = 0;
        for (const transport::OperationSum& sum : timeline->ulp.sums) operations += sum.count;
        return true;
    };
    for (std::size_t i = 0; i < rounds; ++i) {
        if (!timed(dissect::UlpProtocol::none, without) || !timed(*protocol, with)) {
            fmt::print(stderr, "bench_ulp: cannot read {}\n", arguments[1]);
            return 1;
        }
        ratios.push_back(with.back() / without.back());
    }
    fmt::print("packets={} operations={} median={:.6f} without={:.6f} ratio={:.4f}\n", packets, operations,
               median(with), median(without), median(ratios));
    return 0;
}
