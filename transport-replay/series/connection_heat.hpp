// ConnectionHeat: what connections had of one thing over time, a row for each and a cell for each piece of time:
// packets sent again, NAKs, congestion, the longest latency, bytes. It shows among thousands of connections which ones
// suffered, and whether they did so at the same moment.
//
// What an attacker could feed: millions of connections and a range of centuries: the kMostHeatRows with most of it
// stand by themselves, and the pieces of time are bounded by kMostHeatBins.
#pragma once

#include <transport-replay/series/scope.hpp>

#include <array>
#include <limits>
#include <string_view>

namespace qps::transport::series {

enum class HeatOf : std::uint8_t {
    retransmissions,  // packets whose PSN had been there, those that the network doubled left out
    naks,             // sequence errors, fatal ones and RNR NAKs, from either end
    congestion,       // packets with congestion experienced, and CNPs
    latency,          // ns, of the slowest message that began there
    bytes,            // on the wire, both directions
};
inline constexpr std::array<std::string_view, 5> kHeatNames{"retransmissions", "naks", "congestion", "latency",
                                                            "bytes"};
static_assert(kHeatNames.size() == static_cast<std::size_t>(HeatOf::bytes) + 1);

inline constexpr std::size_t kMostHeatRows = 512;
inline constexpr std::size_t kMostHeatBins = 2048;

struct HeatCell {
    std::uint32_t row = 0;
    std::uint32_t bin = 0;
    std::uint64_t value = 0;      // a count, bytes or ns; never 0
    dissect::FrameIndex frame{};  // of the first packet that added to it; of a latency, the message's first
    [[nodiscard]] bool operator==(const HeatCell&) const = default;
};

struct HeatRow {
    ConnectionId connection{};
    std::uint64_t value = 0;  // of all its time: a sum; of latencies, the longest
};

struct ConnectionHeat {
    Range range;
    dissect::Duration width{1};   // of a bin; bins begin at the range's
    std::vector<HeatRow> rows;    // those with most first
    std::vector<HeatCell> cells;  // by row, then bin; pieces of time without any have none
    std::size_t left_out = 0;     // connections with some of it, past kMostHeatRows
    [[nodiscard]] dissect::Instant begin_of(std::uint32_t bin) const {
        return range.from + dissect::Duration{std::to_underlying(width) * bin};
    }
    // The cells with each `fold` bins as one, in whose numbers they then are.
    [[nodiscard]] std::vector<HeatCell> folded(std::uint32_t fold, HeatOf of) const;
};

// Packets and messages without a time are left out. `width`: of a bin; where the range would have more than
// kMostHeatBins of them, they are as wide as bin_width() says. Nothing where it was stopped.
[[nodiscard]] std::optional<ConnectionHeat> connection_heat(const CaptureIndex& index, HeatOf of, const Range& range,
                                                            dissect::Duration width, const Stop& stop = {});

}  // namespace qps::transport::series
