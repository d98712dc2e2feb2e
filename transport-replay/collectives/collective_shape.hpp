// CollectiveShape: who sends data to whom in a group of hosts, and which pattern that is. A star (one host with all
// others) is what storage looks like and has no pattern here.
#pragma once

#include <transport-replay/model/collective_report.hpp>

#include <optional>
#include <span>
#include <vector>

namespace qps::transport {

// From one rank to another: places in a list of ranks.
struct CollectiveEdge {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
};

// Of ranks 0 .. ranks-1 that are all connected somehow; each edge once. Nothing: no pattern that is known.
[[nodiscard]] std::optional<CollectivePattern> shape_of(std::uint32_t ranks, std::span<const CollectiveEdge> edges);

// The group that each rank belongs to, by the least rank of it.
[[nodiscard]] std::vector<std::uint32_t> groups_of(std::uint32_t ranks, std::span<const CollectiveEdge> edges);

}  // namespace qps::transport
