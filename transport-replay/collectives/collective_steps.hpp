// Steps of a group of hosts: its bursts divided by pauses that come again and again. What is no step, because bytes and
// ways differ from one to the next, gives none.
#pragma once

#include <transport-replay/collectives/burst_list.hpp>
#include <transport-replay/collectives/collective_shape.hpp>
#include <transport-replay/model/collective_report.hpp>

#include <span>
#include <vector>

namespace qps::transport {

// The traffic of a group: an edge and its bursts.
struct CollectiveFlow {
    CollectiveEdge edge;
    const BurstList* list = nullptr;
};

// When each rank first and last sent data in a step; nothing where it sent none.
struct RankTimes {
    std::vector<std::optional<dissect::Instant>> first, last;  // by rank
    std::vector<std::optional<dissect::Instant>> last_burst;   // when that began
};

// Empty, or at least kFewestSteps that are alike: most ways are used in most steps, and most steps have the same bytes.
inline constexpr std::size_t kFewestSteps = 3;
[[nodiscard]] std::vector<CollectiveStep> steps_of(std::span<const CollectiveFlow> flows, std::uint32_t ranks);

// By step.
[[nodiscard]] std::vector<RankTimes> times_of(std::span<const CollectiveFlow> flows,
                                              std::span<const CollectiveStep> steps, std::uint32_t ranks);

// The step that a burst is of, by when it begins; nothing between and behind them.
[[nodiscard]] std::optional<std::size_t> step_at(std::span<const CollectiveStep> steps, dissect::Instant time);

}  // namespace qps::transport
