// Makes the table: a tree of the words, then for each byte that the tree lacks the step of the longest suffix that has
// it.
#include <transport-replay/casework/word_finder.hpp>

#include <algorithm>
#include <numeric>

namespace qps::casework {

namespace {

constexpr std::uint32_t kMissing = 0xffffffff;

struct Node {
    std::vector<std::uint32_t> steps;
    std::uint32_t suffix = 0;
    std::vector<WordFinder::Id> ends;
};

std::vector<Node> tree_of(std::span<const std::string_view> words, std::span<const std::uint8_t> classes,
                          std::uint32_t width) {
    std::vector<Node> nodes(1, Node{std::vector<std::uint32_t>(width, kMissing), 0, {}});
    for (std::size_t id = 0; id < words.size(); ++id) {
        std::uint32_t at = 0;
        for (const char byte : words[id]) {
            const std::uint8_t step = classes[static_cast<unsigned char>(byte)];
            if (nodes[at].steps[step] == kMissing) {
                nodes[at].steps[step] = static_cast<std::uint32_t>(nodes.size());
                nodes.push_back({std::vector<std::uint32_t>(width, kMissing), 0, {}});
            }
            at = nodes[at].steps[step];
        }
        nodes[at].ends.push_back(static_cast<WordFinder::Id>(id));
    }
    return nodes;
}

// Breadth first: what is above a node is complete when its turn comes.
void complete(std::vector<Node>& nodes) {
    std::vector<std::uint32_t> order{0};
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::uint32_t at = order[i];
        for (std::size_t step = 0; step < nodes[at].steps.size(); ++step) {
            std::uint32_t& to = nodes[at].steps[step];
            const std::uint32_t beside = at == 0 ? 0 : nodes[nodes[at].suffix].steps[step];
            if (to == kMissing) {
                to = beside;
                continue;
            }
            nodes[to].suffix = beside;
            const auto& more = nodes[beside].ends;
            nodes[to].ends.insert(nodes[to].ends.end(), more.begin(), more.end());
            order.push_back(to);
        }
    }
}

}  // namespace

WordFinder::WordFinder(std::span<const std::string_view> words) {
    std::uint8_t used = 0;
    for (const std::string_view word : words)
        for (const char byte : word)
            if (std::uint8_t& its = classes_[static_cast<unsigned char>(byte)]; its == 0) its = ++used;
    width_ = used + 1U;
    std::vector<Node> nodes = tree_of(words, classes_, width_);
    complete(nodes);
    std::vector<std::uint32_t> order(nodes.size());  // the root stays first
    std::iota(order.begin(), order.end(), 0U);
    const auto behind =
        std::stable_partition(order.begin(), order.end(), [&](std::uint32_t node) { return nodes[node].ends.empty(); });
    first_end_ = static_cast<State>(behind - order.begin()) * width_;
    std::vector<State> number(nodes.size());
    for (std::size_t i = 0; i < order.size(); ++i) number[order[i]] = static_cast<State>(i) * width_;
    for (const std::uint32_t node : order) {
        for (const std::uint32_t to : nodes[node].steps) steps_.push_back(number[to]);
        ends_at_.push_back(static_cast<std::uint32_t>(ends_.size()));
        ends_.insert(ends_.end(), nodes[node].ends.begin(), nodes[node].ends.end());
        ends_.push_back(kNone);
    }
}

}  // namespace qps::casework
