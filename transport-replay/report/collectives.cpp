#include <transport-replay/report/collectives.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace qps::transport {

std::string rank_text(const CollectiveRank& rank) {
    return rank.number ? fmt::format("{} (rank {})", text(rank.address), *rank.number) : text(rank.address);
}

std::string group_text(const Collective& collective) {
    std::string words;
    if (collective.made_by != CollectiveLibrary::unknown) words = fmt::format("{} ", name(collective.made_by));
    words += name(collective.pattern);
    const std::size_t seen = collective.ranks.size();
    if (collective.members > seen)
        return words + fmt::format(" ({} of {} seen)", grouped(seen), counted(collective.members, "rank"));
    return words + fmt::format(" of {}", counted(seen, "rank"));
}

std::string steps_text(const Collective& collective, std::uint64_t count) {
    return counted(count, collective.operation == CollectiveOperation::all_reduce ? "all-reduce" : "step");
}

std::string step_size_text(const Collective& collective) {
    const auto senders =
        std::ranges::count_if(collective.ranks, [](const CollectiveRank& rank) { return rank.sent != 0; });
    if (collective.operation != CollectiveOperation::all_reduce || collective.algorithm_rate <= 0 || senders == 0)
        return bytes_text(collective.step_bytes);
    // As much of what a rank sends as the rate of the result is of its own.
    const double part = collective.algorithm_rate / collective.bus_rate / static_cast<double>(senders);
    const auto result_of = [&](const CollectiveStep& step) {
        return bytes_text(static_cast<std::uint64_t>(std::ceil(static_cast<double>(step.bytes) * part - 0.5)));
    };
    const auto [least, most] = std::ranges::minmax_element(collective.steps, {}, &CollectiveStep::bytes);
    return least->bytes == most->bytes ? result_of(*most)
                                       : fmt::format("{} to {}", result_of(*least), result_of(*most));
}

std::string chain_text(const Collective& collective) {
    constexpr std::size_t kShown = 16;
    if (collective.chain.size() < 2) return {};
    std::string words;
    bool numbered = false;
    const std::size_t shown = std::min(collective.chain.size(), kShown);
    const auto add = [&](std::uint32_t place) {
        const CollectiveRank& rank = collective.ranks[place];
        numbered = numbered || rank.number.has_value();
        words += fmt::format("{}{}", words.empty() ? "" : " -> ",
                             rank.number ? std::to_string(*rank.number) : text(rank.address));
    };
    for (std::size_t i = 0; i < shown; ++i) add(collective.chain[i]);
    if (shown < collective.chain.size()) words += " -> ...";
    if (collective.pattern == CollectivePattern::ring) add(collective.chain.front());
    return numbered ? "ranks " + words : words;
}

}  // namespace qps::transport
