#include <transport-replay/collectives/collective_shape.hpp>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

namespace qps::transport {

namespace {

struct Degrees {
    std::vector<std::uint32_t> out, in, neighbours;
    std::size_t pairs = 0;  // of ranks, whichever way

    [[nodiscard]] bool all(const std::vector<std::uint32_t>& degrees, std::uint32_t value) const {
        return std::ranges::all_of(degrees, [&](std::uint32_t degree) { return degree == value; });
    }
};

Degrees degrees_of(std::uint32_t ranks, std::span<const CollectiveEdge> edges) {
    Degrees degrees{.out = std::vector<std::uint32_t>(ranks),
                    .in = std::vector<std::uint32_t>(ranks),
                    .neighbours = std::vector<std::uint32_t>(ranks)};
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const CollectiveEdge& edge : edges) {
        ++degrees.out[edge.source];
        ++degrees.in[edge.destination];
        pairs.insert(std::minmax({edge.source, edge.destination}));
    }
    for (const auto& [one, two] : pairs) {
        ++degrees.neighbours[one];
        ++degrees.neighbours[two];
    }
    degrees.pairs = pairs.size();
    return degrees;
}

// With branches, and no rank that all others hang on.
bool is_tree(std::uint32_t ranks, std::size_t edges, const Degrees& degrees) {
    constexpr std::uint32_t kFewestOfTree = 4,
                            kMostOfTwoTrees = 6;  // two binary trees: a parent and two children in each
    if (ranks < kFewestOfTree || edges < ranks - 1) return false;
    const std::uint32_t most = std::ranges::max(degrees.neighbours);
    if (degrees.pairs == ranks - 1) return most < ranks - 1;
    return degrees.pairs <= 2 * std::size_t{ranks - 1} && edges == 2 * degrees.pairs && most <= kMostOfTwoTrees &&
           most + 2 < ranks && std::ranges::min(degrees.neighbours) < most;
}

}  // namespace

std::optional<CollectivePattern> shape_of(std::uint32_t ranks, std::span<const CollectiveEdge> edges) {
    if (ranks < 2 || edges.empty()) return std::nullopt;
    if (ranks == 2) return CollectivePattern::pair;
    const Degrees degrees = degrees_of(ranks, edges);
    const std::size_t full = std::size_t{ranks} * (ranks - 1);
    constexpr std::uint32_t kFewestBothWays = 4, kFewestDoubling = 8;  // with fewer they are the same as others
    if (edges.size() == ranks && degrees.all(degrees.out, 1) && degrees.all(degrees.in, 1))
        return CollectivePattern::ring;
    if (edges.size() * 10 >= full * 9) return CollectivePattern::all_to_all;
    if (ranks >= kFewestBothWays && edges.size() == 2 * std::size_t{ranks} && degrees.all(degrees.neighbours, 2))
        return CollectivePattern::ring_both_ways;
    const auto doublings = static_cast<std::uint32_t>(std::bit_width(ranks) - 1);
    if (ranks >= kFewestDoubling && std::has_single_bit(ranks) && degrees.all(degrees.neighbours, doublings) &&
        edges.size() == std::size_t{ranks} * doublings)
        return CollectivePattern::recursive_doubling;
    if (is_tree(ranks, edges.size(), degrees)) return CollectivePattern::tree;
    return std::nullopt;
}

std::vector<std::uint32_t> groups_of(std::uint32_t ranks, std::span<const CollectiveEdge> edges) {
    std::vector<std::uint32_t> group(ranks);
    std::iota(group.begin(), group.end(), 0U);
    const auto find = [&](std::uint32_t rank) {
        while (group[rank] != rank) rank = group[rank] = group[group[rank]];
        return rank;
    };
    for (const CollectiveEdge& edge : edges) {
        const auto [least, most] = std::minmax({find(edge.source), find(edge.destination)});
        group[most] = least;
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) group[rank] = find(rank);
    return group;
}

}  // namespace qps::transport
