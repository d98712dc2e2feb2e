// Latency: how long messages took, from the first request packet to what completed them: each one as a point, and of
// many the distribution. Percentiles are exact, by nearest rank; the histogram's bins grow with the value, 8 to each
// doubling.
#pragma once

#include <transport-replay/series/scope.hpp>

#include <array>
#include <bit>

namespace qps::transport::series {

struct LatencyPoint {
    dissect::Instant time{};  // of the first request packet
    std::int64_t y = 0;       // ns, never negative
    dissect::FrameIndex frame{};
    std::uint32_t bytes = 0;
    ConnectionId connection{};
    End requester{};
    MessageKind kind{};
};

using MessageKinds = std::uint8_t;  // bit n: MessageKind n
[[nodiscard]] constexpr MessageKinds only(MessageKind kind) {
    return static_cast<MessageKinds>(1U << std::to_underlying(kind));
}
[[nodiscard]] constexpr bool has(MessageKinds kinds, MessageKind kind) { return (kinds & only(kind)) != 0; }
inline constexpr MessageKinds kAllMessageKinds = (1U << kMessageKindNames.size()) - 1;

// Completed messages of these kinds whose first packet lies in the range, in the order in which they ended. Those that
// the clock says ended before they began are left out. Nothing where it was stopped.
[[nodiscard]] std::optional<std::vector<LatencyPoint>> latencies(const CaptureIndex& index, const Scope& scope,
                                                                 const std::optional<Range>& range = {},
                                                                 MessageKinds kinds = kAllMessageKinds,
                                                                 const Stop& stop = {});

// Of a duration, the bin: 0 to 15 ns have one each, then every doubling has 8.
inline constexpr unsigned kBinsPerDoubling = 8;
inline constexpr std::size_t kLatencyBins = 8 * 61;  // up to 2^63 - 1
[[nodiscard]] constexpr std::size_t latency_bin(std::int64_t nanoseconds) {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0));
    if (value < 2 * kBinsPerDoubling) return value;
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 4;  // leaves 8 to 15
    return shift * kBinsPerDoubling + (value >> shift);
}
// The least duration of a bin; of kLatencyBins: 2^63 - 1.
[[nodiscard]] constexpr std::int64_t latency_bin_begin(std::size_t bin) {
    if (bin < 2 * kBinsPerDoubling) return static_cast<std::int64_t>(bin);
    const std::size_t shift = bin / kBinsPerDoubling - 1;
    if (bin >= kLatencyBins) return dissect::kLongestTime;
    return static_cast<std::int64_t>((bin % kBinsPerDoubling + kBinsPerDoubling) << shift);
}

struct Distributed {
    std::uint64_t count = 0;
    dissect::Duration least{};
    dissect::Duration mean{};
    dissect::Duration median{};
    dissect::Duration p90{};
    dissect::Duration p99{};
    dissect::Duration p999{};  // 99.9 %
    dissect::Duration most{};
    std::array<std::uint64_t, kLatencyBins> histogram{};
};
[[nodiscard]] Distributed distribution(const std::vector<LatencyPoint>& points);
[[nodiscard]] Distributed distribution(std::vector<std::int64_t> nanoseconds);

}  // namespace qps::transport::series
