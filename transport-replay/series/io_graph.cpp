#include <transport-replay/series/io_graph.hpp>
#include <transport-replay/series/throughput.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace qps::transport::series {

using namespace dissect;

namespace {

// By Measure.
constexpr std::array kMeasureRows{
    MeasureRow{Measure::packets, "packets", "Number of packets", false},
    MeasureRow{Measure::bytes, "bytes", "Bytes on the wire, with headers", false},
    MeasureRow{Measure::bits_per_second, "bits/s", "Bits on the wire a second, with headers", false},
    MeasureRow{Measure::count, "COUNT", "Number of values of the field", true},
    MeasureRow{Measure::sum, "SUM", "Sum of the values of the field", true},
    MeasureRow{Measure::average, "AVG", "Average of the values of the field", true},
    MeasureRow{Measure::minimum, "MIN", "Smallest value of the field", true},
    MeasureRow{Measure::maximum, "MAX", "Greatest value of the field", true},
    MeasureRow{Measure::p99, "p99", "99th percentile of the values of the field, by nearest rank", true},
};

constexpr std::size_t kUsualBins = 500;

double number_of(const Field& field, const Value& value) {
    if (value_type(field.format) != ValueType::fixed_point) return static_cast<double>(value.number);
    return static_cast<double>(static_cast<std::int64_t>(value.number)) / std::pow(10.0, field.digits);
}

// A value that belongs to a bin of a series; of a measure of packets their bytes.
struct Sample {
    std::uint32_t bin = 0;
    std::uint32_t series = 0;
    double value = 0;
};
struct Samples {
    std::vector<Sample> all;
    std::array<std::uint64_t, kMostSeries> packets{};  // by series
};

// What becomes of the samples of a series. Values of percentiles wait until all are there.
class Summing {
public:
    Summing(Measure measure, std::size_t bins) : measure_(measure) { line_.bins.resize(bins); }

    // False: no room for it.
    bool add(const Sample& sample, std::size_t& kept) {
        GraphBin& bin = line_.bins[sample.bin];
        const bool first = bin.count++ == 0;
        ++line_.values;
        switch (measure_) {
            case Measure::packets:
            case Measure::count: bin.value += 1; break;
            case Measure::bytes:
            case Measure::bits_per_second:
            case Measure::sum:
            case Measure::average: bin.value += sample.value; break;
            case Measure::minimum: bin.value = first ? sample.value : std::min(bin.value, sample.value); break;
            case Measure::maximum: bin.value = first ? sample.value : std::max(bin.value, sample.value); break;
            case Measure::p99:
                if (kept == kMostKept) return false;
                ++kept;
                waiting_bins_.push_back(sample.bin);
                waiting_values_.push_back(sample.value);
        }
        return true;
    }
    void give_up() {
        line_.too_many = true;
        waiting_bins_ = {};
        waiting_values_ = {};
    }
    void count_packets(std::uint64_t packets) { line_.packets += packets; }

    GraphLine finish(Duration width) {
        if (measure_ == Measure::p99 && !line_.too_many) take_percentiles();
        for (GraphBin& bin : line_.bins) {
            if (measure_ == Measure::average && bin.count != 0) bin.value /= static_cast<double>(bin.count);
            if (measure_ == Measure::bits_per_second) bin.value *= 8e9 / static_cast<double>(std::to_underlying(width));
        }
        return std::move(line_);
    }

private:
    // Values are put together by their bins: where each bin's begin is the sum of the counts before it.
    void take_percentiles() {
        std::vector<std::size_t> place(line_.bins.size() + 1);
        for (std::size_t bin = 0; bin < line_.bins.size(); ++bin) place[bin + 1] = place[bin] + line_.bins[bin].count;
        std::vector<double> sorted(waiting_values_.size());
        std::vector<std::size_t> next = place;
        for (std::size_t i = 0; i < waiting_values_.size(); ++i) sorted[next[waiting_bins_[i]]++] = waiting_values_[i];
        for (std::size_t bin = 0; bin < line_.bins.size(); ++bin) {
            const std::size_t count = place[bin + 1] - place[bin];
            if (count == 0) continue;
            const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(place[bin]);
            const auto rank = static_cast<std::ptrdiff_t>((count * 99 + 99) / 100 - 1);
            std::nth_element(begin, begin + rank, begin + static_cast<std::ptrdiff_t>(count));
            line_.bins[bin].value = *(begin + rank);
        }
    }

    Measure measure_;
    GraphLine line_;
    std::vector<std::uint32_t> waiting_bins_;
    std::vector<double> waiting_values_;
};

bool of_field(const GraphSeries& series) { return kMeasureRows[std::to_underlying(series.measure)].of_field; }

// One packet asked of all series. It is decoded once at most, and only if a row does not tell enough.
void take(const CaptureIndex& index, FrameIndex frame, std::uint32_t bin, std::span<const GraphSeries> series,
          std::span<const RowFilter> filters, PacketReader& reader, Samples& out) {
    const PacketRow& row = index.row(frame);
    for (std::uint32_t i = 0; i < series.size(); ++i) {
        if (!filters[i].matches(frame, reader)) continue;
        ++out.packets[i];
        if (!of_field(series[i])) {
            out.all.push_back({bin, i, static_cast<double>(row.wire_length())});
            continue;
        }
        const Packet* packet = reader.read(frame);
        if (packet == nullptr) continue;
        for_each_value(*packet, *series[i].field, [&](const Layer&, const Field& field, const Value& value) {
            out.all.push_back({bin, i, number_of(field, value)});
        });
    }
}

}  // namespace

std::span<const MeasureRow> measure_rows() { return kMeasureRows; }

bool is_numeric(const Column& field) {
    return std::ranges::all_of(field.places, [](const FieldPlace& place) {
        const ValueType type = value_type(place.field->format);
        return type == ValueType::unsigned_integer || type == ValueType::fixed_point || type == ValueType::boolean;
    });
}

Instant IoGraph::begin_of(std::size_t bin) const {
    return range.from + Duration{static_cast<std::int64_t>(bin) * std::to_underlying(width)};
}

Duration graph_width(Duration range, Duration wanted) {
    Duration width = wanted == Duration{} ? bin_width(range, kUsualBins) : wanted;
    const auto bins = [&] { return std::to_underlying(range) / std::max<std::int64_t>(1, std::to_underlying(width)); };
    while (bins() >= static_cast<std::int64_t>(kMostGraphBins)) width = wider(width);
    return width;
}

std::optional<IoGraph> io_graph(const std::shared_ptr<const CaptureIndex>& index, std::uint64_t packets,
                                std::span<const GraphSeries> series, const Range& range, Duration wanted,
                                const PassWatch& watch) {
    series = series.first(std::min(series.size(), kMostSeries));
    IoGraph graph{range, graph_width(range.length(), wanted), {}};
    const std::int64_t width = std::to_underlying(graph.width);
    const auto bins =
        range.empty() ? 0 : static_cast<std::size_t>((std::to_underlying(range.length()) - 1) / width + 1);
    std::vector<RowFilter> filters;
    std::vector<Summing> sums;
    for (const GraphSeries& one : series) {
        filters.emplace_back(index, one.filter, std::nullopt);
        sums.emplace_back(one.measure, bins);
    }
    const auto begin = [&] {
        return [&, reader = PacketReader(index)](std::uint64_t piece) mutable {
            Samples part;
            const std::uint64_t end = std::min(packets, (piece + 1) * RowSet::kPieceRows);
            for (std::uint64_t at = piece * RowSet::kPieceRows; at < end; ++at) {
                if ((at & 0xffU) == 0 && watch.stop()) break;
                const PacketRow& row = index->packets[at];
                if (row.has(Mark::timeless) || !range.contains(row.time())) continue;
                const auto bin = static_cast<std::uint32_t>(std::to_underlying(row.time() - range.from) / width);
                take(*index, frame_at(at), bin, series, filters, reader, part);
            }
            return part;
        };
    };
    std::size_t kept = 0;
    const auto add = [&](Samples&& part) {
        for (std::size_t i = 0; i < series.size(); ++i) sums[i].count_packets(part.packets[i]);
        for (const Sample& sample : part.all)
            if (!sums[sample.series].add(sample, kept)) sums[sample.series].give_up();
    };
    if (!pass_pieces<Samples>(pieces_of(packets), watch, begin, add)) return std::nullopt;
    for (Summing& sum : sums) graph.lines.push_back(sum.finish(graph.width));
    return graph;
}

}  // namespace qps::transport::series
