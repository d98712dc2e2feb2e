#include <transport-replay/series/connection_heat.hpp>
#include <transport-replay/series/latency.hpp>
#include <transport-replay/series/throughput.hpp>

#include <algorithm>
#include <tuple>

namespace qps::transport::series {

using namespace dissect;

namespace {

// Something that a connection had: how much of it, and when.
struct HeatEvent {
    ConnectionId connection{};
    Instant time{};
    FrameIndex frame{};
    std::uint64_t value = 0;
};

std::uint64_t value_of(const PacketRow& row, HeatOf of) {
    const Amount amount = amount_of(row);
    switch (of) {
        case HeatOf::retransmissions: return amount.retransmitted != 0 ? 1 : 0;
        case HeatOf::naks: return amount.naks + amount.rnr_naks;
        case HeatOf::congestion: return amount.marked + amount.cnps;
        case HeatOf::bytes: return amount.bytes;
        case HeatOf::latency: break;  // of messages
    }
    return 0;
}

void add(std::uint64_t& sum, std::uint64_t value, HeatOf of) {
    if (of == HeatOf::latency) sum = std::max(sum, value);
    else sum += value;
}

// Every event of a range, as visit(event). False where it was stopped.
template <class Visit>
bool each_event(const CaptureIndex& index, HeatOf of, const Range& range, const Stop& stop, Visit visit) {
    if (of == HeatOf::latency) {
        const auto points = latencies(index, Scope(), range, kAllMessageKinds, stop);
        if (!points) return false;
        for (const LatencyPoint& point : *points)
            visit(HeatEvent{point.connection, point.time, point.frame, static_cast<std::uint64_t>(point.y)});
        return true;
    }
    return scan(index.packets, 0, index.packets.size(), stop, [&](const PacketRow& row, std::uint64_t at) {
        const auto connection = row.connection();
        if (!connection || row.has(Mark::timeless) || row.has(Mark::mirror_copy) || !range.contains(row.time())) return;
        if (const std::uint64_t value = value_of(row, of); value != 0)
            visit(HeatEvent{*connection, row.time(), frame_at(at), value});
    });
}

// The connections with most of it, and where each stands, by its number: 0 of those that have no row, else row + 1.
std::vector<std::uint32_t> choose_rows(ConnectionHeat& heat, const std::vector<std::uint64_t>& sums) {
    for (std::size_t at = 0; at < sums.size(); ++at)
        if (sums[at] != 0) heat.rows.push_back({static_cast<ConnectionId>(at), sums[at]});
    std::ranges::stable_sort(heat.rows, std::greater{}, &HeatRow::value);
    if (heat.rows.size() > kMostHeatRows) {
        heat.left_out = heat.rows.size() - kMostHeatRows;
        heat.rows.resize(kMostHeatRows);
    }
    std::vector<std::uint32_t> places(sums.size());
    for (std::size_t row = 0; row < heat.rows.size(); ++row)
        places[static_cast<std::size_t>(heat.rows[row].connection)] = static_cast<std::uint32_t>(row + 1);
    return places;
}

// Sums of a row are dense while they are made: a row has no more cells than there are bins.
void collect(std::vector<HeatCell>& cells, const std::vector<HeatCell>& dense) {
    for (const HeatCell& cell : dense)
        if (cell.value != 0) cells.push_back(cell);
}

}  // namespace

std::vector<HeatCell> ConnectionHeat::folded(std::uint32_t fold, HeatOf of) const {
    std::vector<HeatCell> coarse;
    for (const HeatCell& cell : cells) {
        const std::uint32_t bin = cell.bin / std::max(fold, 1U);
        if (coarse.empty() || coarse.back().row != cell.row || coarse.back().bin != bin)
            coarse.push_back({cell.row, bin, 0, cell.frame});
        if (of == HeatOf::latency && cell.value > coarse.back().value) coarse.back().frame = cell.frame;
        add(coarse.back().value, cell.value, of);
    }
    return coarse;
}

std::optional<ConnectionHeat> connection_heat(const CaptureIndex& index, HeatOf of, const Range& range, Duration width,
                                              const Stop& stop) {
    ConnectionHeat heat;
    heat.range = range;
    if (range.empty()) return heat;
    heat.width = std::max(width, bin_width(range.length(), kMostHeatBins));
    const auto bins =
        static_cast<std::size_t>(std::to_underlying(range.length() - Duration{1}) / std::to_underlying(heat.width)) + 1;
    std::vector<std::uint64_t> sums;
    const bool summed = each_event(index, of, range, stop, [&](const HeatEvent& event) {
        const auto at = static_cast<std::size_t>(event.connection);
        if (at >= sums.size()) sums.resize(at + 1);
        add(sums[at], event.value, of);
    });
    if (!summed) return std::nullopt;
    const auto places = choose_rows(heat, sums);
    std::vector<HeatCell> dense(heat.rows.size() * bins);
    const bool filled = each_event(index, of, range, stop, [&](const HeatEvent& event) {
        const std::uint32_t place = places[static_cast<std::size_t>(event.connection)];
        if (place == 0) return;
        const auto bin =
            static_cast<std::uint32_t>(std::to_underlying(event.time - range.from) / std::to_underlying(heat.width));
        HeatCell& cell = dense[(place - 1) * bins + bin];
        const bool leads = cell.value == 0 || (of == HeatOf::latency && event.value > cell.value);
        cell = {place - 1, bin, cell.value, leads ? event.frame : cell.frame};
        add(cell.value, event.value, of);
    });
    if (!filled) return std::nullopt;
    collect(heat.cells, dense);
    return heat;
}

}  // namespace qps::transport::series
