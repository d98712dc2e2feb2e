// Two captures of the same thing, before and after a change: figures of each run, and what became of them. A run is
// values: the capture it was made of need not stay open.
//
// What an attacker could feed: any capture; pairs of hosts are bounded, and those past the bound are counted.
#pragma once

#include <transport-replay/model/latency_sketch.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/scope.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace qps::transport::series {

inline constexpr std::size_t kMostRunPairs = 4096;  // of some 700 bytes

struct RunPair {
    std::uint64_t bytes = 0;          // on the wire
    std::uint64_t retransmitted = 0;  // packets
    LatencySketch latencies;          // of messages that completed
};

struct RunFinding {
    Severity severity{};
    std::uint64_t findings = 0;
    std::uint64_t count = 0;  // how often it happened, in sum
};

struct Run {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    dissect::Duration duration{};
    std::uint64_t connections = 0;
    Totals totals;
    std::uint64_t lost = 0;       // Losses::lost()
    dissect::Duration stalled{};  // time until new data went out, over all connections
    std::uint64_t messages = 0;   // completed, with a latency
    LatencySketch latencies;
    dissect::Duration slowest{};
    std::map<std::string, RunFinding, std::less<>> findings;  // by id
    std::map<std::pair<Address, Address>, RunPair> pairs;     // of hosts, the lesser address first
    std::uint64_t more_pairs = 0;                             // connections of hosts past the bound
    bool judged = true;  // false: bounds left something out, so that figures are too small
};

// Nothing where it was stopped.
[[nodiscard]] std::optional<Run> run_of(const CaptureIndex& index, const Timeline& timeline, const MemoryBudget& memory,
                                        const Stop& stop = {});

enum class Trend : std::uint8_t {
    same,
    better,
    worse,
    other
};  // other: it changed, and neither is good or bad of itself

struct ComparedFigure {
    std::string name;
    std::string before;
    std::string after;
    std::string change;  // "+12 %", "3.4 times", "new", "gone"; empty: the same
    Trend trend = Trend::same;
};

// What the two can be measured by; counts that grow with the length of a run stand beside their rate, which alone is
// judged.
[[nodiscard]] std::vector<ComparedFigure> compare_figures(const Run& before, const Run& after);

struct ComparedFinding {
    std::string id;
    Severity severity{};
    std::uint64_t before = 0;  // how often it happened
    std::uint64_t after = 0;
    std::string change;
    Trend trend = Trend::same;
};
// New and grown ones first.
[[nodiscard]] std::vector<ComparedFinding> compare_findings(const Run& before, const Run& after);

}  // namespace qps::transport::series
