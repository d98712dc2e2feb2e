#include <transport-replay/series/connection_figures.hpp>

#include <algorithm>
#include <limits>

namespace qps::transport::series {

std::optional<ConnectionTimes> connection_times(const CaptureIndex& index, const MemoryBudget& memory,
                                                const Stop& stop) {
    ConnectionTimes times(memory);
    const auto add = [&](const MessageRow& row, std::uint64_t) {
        const auto first = time_of(index, row.first_frame());
        const auto answer = row.answer_frame() ? time_of(index, *row.answer_frame()) : std::nullopt;
        if (first && answer) times.add(row.connection(), row.requester(), row.outcome(), *first, *answer);
    };
    if (!scan(index.messages, 0, index.messages.size(), stop, add)) return std::nullopt;
    return times;
}

std::optional<ActivityLines> activity_lines(const CaptureIndex& index, const Range& range, std::size_t connections,
                                            const Stop& stop) {
    constexpr std::size_t kBars = ActivityLines::kBars;
    const std::size_t lines = std::min(connections + 1, ActivityLines::kMostLines);  // they count from 1
    std::vector<std::uint32_t> sums(lines * kBars);
    const auto length = static_cast<double>(std::max<std::int64_t>(1, std::to_underlying(range.length())));
    const auto add = [&](const PacketRow& row, std::uint64_t) {
        const auto connection = row.connection();
        if (!connection || static_cast<std::size_t>(*connection) >= lines || row.has(Mark::timeless) ||
            !range.contains(row.time()))
            return;
        const double share = static_cast<double>(std::to_underlying(row.time() - range.from)) / length;
        const auto bar = std::min(static_cast<std::size_t>(share * kBars), kBars - 1);
        std::uint32_t& sum = sums[static_cast<std::size_t>(*connection) * kBars + bar];
        sum += std::min(row.wire_length(), std::numeric_limits<std::uint32_t>::max() - sum);
    };
    if (!scan(index.packets, 0, index.packets.size(), stop, add)) return std::nullopt;
    std::vector<std::uint8_t> heights(sums.size());
    for (std::size_t line = 0; line < lines; ++line) {
        const std::span bars = std::span(sums).subspan(line * kBars, kBars);
        const std::uint64_t most = std::max<std::uint64_t>(1, *std::ranges::max_element(bars));
        // What is there can be seen, however little it is.
        for (std::size_t bar = 0; bar < kBars; ++bar)
            heights[line * kBars + bar] = static_cast<std::uint8_t>((bars[bar] * std::uint64_t{255} + most - 1) / most);
    }
    return ActivityLines(std::move(heights));
}

}  // namespace qps::transport::series
