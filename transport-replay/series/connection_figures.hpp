// ConnectionFigures: what only the rows of an index tell of connections: how long their messages took, and how much
// they carried over the time of the capture, as a line of small bars each.
//
// What an attacker could feed: a range of centuries, any number of connections: past kMostLines they have no bars.
#pragma once

#include <transport-replay/report/connection_times.hpp>
#include <transport-replay/series/scope.hpp>

#include <span>

namespace qps::transport::series {

// Bytes on the wire of each connection in equal parts of a range, each against the greatest of its connection.
class ActivityLines {
public:
    static constexpr std::size_t kBars = 48;
    static constexpr std::size_t kMostLines = std::size_t{1} << 16;  // 3 MB, and 13 while they are summed up

    ActivityLines() = default;
    explicit ActivityLines(std::vector<std::uint8_t> heights) : heights_(std::move(heights)) {}
    // kBars heights from 0 to 255; none of one that has no line.
    [[nodiscard]] std::span<const std::uint8_t> of(ConnectionId connection) const {
        const std::size_t begin = static_cast<std::size_t>(connection) * kBars;
        return begin + kBars <= heights_.size() ? std::span(heights_).subspan(begin, kBars)
                                                : std::span<const std::uint8_t>{};
    }

private:
    std::vector<std::uint8_t> heights_;  // by connection
};

struct ConnectionFigures {
    ConnectionTimes times;
    ActivityLines lines;
};

// Nothing where it was stopped.
[[nodiscard]] std::optional<ConnectionTimes> connection_times(const CaptureIndex& index, const MemoryBudget& memory,
                                                              const Stop& stop = {});
[[nodiscard]] std::optional<ActivityLines> activity_lines(const CaptureIndex& index, const Range& range,
                                                          std::size_t connections, const Stop& stop = {});

}  // namespace qps::transport::series
