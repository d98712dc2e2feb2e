#include <transport-replay/series/congestion_series.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport::series {

using namespace dissect;

std::optional<CongestionSeries> congestion_series(const CaptureIndex& index, const Scope& scope, const Range& range,
                                                  const Stop& stop) {
    CongestionSeries series;
    boost::unordered_flat_map<std::uint32_t, HitWay> ways;  // by connection and end
    const auto take = [&](const PacketRow& row, std::uint64_t position) {
        const bool notifies = Scope::notifies(row);
        if (!notifies && !row.has(Mark::congestion_experienced)) return;
        if (row.has(Mark::timeless) || row.has(Mark::mirror_copy) || !range.contains(row.time()) ||
            !scope.has(row, position))
            return;
        const FrameIndex frame = frame_at(position);
        if (notifies) series.notifications.push_back({row.time(), 1, frame});
        else series.marks.push_back({row.time(), row.wire_length(), frame});
        const auto connection = row.connection();
        if (!connection) {
            ++series.unnamed;
            return;
        }
        const End from = Scope::way_of(row);
        HitWay& way = ways[std::to_underlying(*connection) << 1 | std::to_underlying(from)];
        if (way.all() == 0) way = {*connection, from, 0, 0, frame};
        ++(notifies ? way.cnps : way.marked);
    };
    if (!scan(index.packets, 0, index.packets.size(), stop, take)) return std::nullopt;
    for (const auto& [key, way] : ways) series.hits.push_back(way);
    std::ranges::sort(series.hits, {},
                      [](const HitWay& way) { return std::tuple(~way.all(), way.connection, way.from); });
    if (series.hits.size() > kMaxHits) {
        series.hits_left_out = series.hits.size() - kMaxHits;
        series.hits.resize(kMaxHits);
    }
    return series;
}

PauseHit hit_by(const PausePeriod& pause, const Way& way) {
    if (way.packets == 0 || way.last_time < pause.start || pause.end < way.first_time) return PauseHit::no;
    if (pause.priority == kWholeLink) return PauseHit::yes;
    bool untold = way.pcps.other_packets() != 0;
    for (std::size_t i = 0; i < way.pcps.size(); ++i) {
        if (way.pcps[i].value == pause.priority) return PauseHit::yes;
        if (way.pcps[i].value == kNoPcp) untold = true;
    }
    return untold ? PauseHit::perhaps : PauseHit::no;
}

}  // namespace qps::transport::series
