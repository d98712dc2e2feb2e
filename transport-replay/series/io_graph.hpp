// An I/O graph: what some packets come to in each bin of time: how many, how many bytes, or the sum, average, extremes
// or 99th percentile of a field of theirs. Several series are counted in one pass.
//
// What an attacker could feed: a range of centuries: there are never more than kMostGraphBins; values anywhere in 64
// bits: sums are those of doubles. Percentiles keep their values: past kMostKept it says so instead of guessing.
#pragma once

#include <dissect/filter/filter.hpp>
#include <transport-replay/index/packet_pass.hpp>
#include <transport-replay/index/row_filter.hpp>
#include <transport-replay/series/scope.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace qps::transport::series {

inline constexpr std::size_t kMostSeries = 8;
inline constexpr std::size_t kMostGraphBins = std::size_t{1} << 16;  // a minute in milliseconds; 3 MB a series
inline constexpr std::size_t kMostKept = std::size_t{1} << 24;       // values of percentiles, over all series: 192 MB

enum class Measure : std::uint8_t { packets, bytes, bits_per_second, count, sum, average, minimum, maximum, p99 };

struct MeasureRow {
    Measure measure;
    std::string_view name;     // "p99"
    std::string_view meaning;  // a line
    bool of_field;             // of the values of a field; else of packets
};
[[nodiscard]] std::span<const MeasureRow> measure_rows();  // by their numbers

struct GraphSeries {
    dissect::Filter filter;
    Measure measure = Measure::packets;
    std::optional<dissect::Column> field;  // of those of a field: one whose values are numbers
};

// Whether measures can be of it. Of a field of fixed-point numbers values are in its unit.
[[nodiscard]] bool is_numeric(const dissect::Column& field);

struct GraphBin {
    std::uint64_t count = 0;  // of packets, or of values
    double value = 0;         // nothing is said where the count is 0, but by sums and counts, which are 0 there
};

struct GraphLine {
    std::vector<GraphBin> bins;
    std::uint64_t packets = 0;  // that the filter let through
    std::uint64_t values = 0;   // of the field that they have
    bool too_many = false;      // no percentiles: past kMostKept
};

struct IoGraph {
    Range range;
    dissect::Duration width{1};
    std::vector<GraphLine> lines;
    [[nodiscard]] std::size_t bins() const { return lines.empty() ? 0 : lines.front().bins.size(); }
    [[nodiscard]] dissect::Instant begin_of(std::size_t bin) const;
};

// The least width of 1-2-5 from `wanted` up with which the range has at most kMostGraphBins; where none is wanted (0),
// one with which it has some hundreds.
[[nodiscard]] dissect::Duration graph_width(dissect::Duration range, dissect::Duration wanted);

// Of the first `packets`; those without a time, or out of the range, are left out. Nothing where it was stopped.
[[nodiscard]] std::optional<IoGraph> io_graph(const std::shared_ptr<const CaptureIndex>& index, std::uint64_t packets,
                                              std::span<const GraphSeries> series, const Range& range,
                                              dissect::Duration wanted, const PassWatch& watch = {});

}  // namespace qps::transport::series
