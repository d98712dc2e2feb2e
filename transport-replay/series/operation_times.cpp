#include <transport-replay/report/ulp.hpp>
#include <transport-replay/series/operation_times.hpp>

#include <algorithm>

namespace qps::transport::series {

using namespace dissect;

std::optional<OperationTimes> operation_times(const CaptureIndex& index, const Scope& scope, const Stop& stop) {
    OperationTimes times;
    const auto take = [&](const OperationRow& row, std::uint64_t) {
        const FrameIndex frame = row.asked_frame();
        if (!index.has(frame) || !scope.has(index.row(frame), std::to_underlying(frame) - 1)) return;
        const UlpOperation operation = row.restored();
        const auto latency = latency_of(operation);
        if (!latency || *latency < Duration{}) return;
        times.points.push_back(
            {operation.asked, std::to_underlying(*latency), frame, row.bytes(), operation.protocol, operation.code});
        if (const auto parts = parts_of(operation))
            times.parts.push_back({operation.asked,
                                   {std::to_underlying(parts->until_data), std::to_underlying(parts->data),
                                    std::to_underlying(parts->to_answer)}});
    };
    if (!scan(index.operations, 0, index.operations.size(), stop, take)) return std::nullopt;
    std::ranges::stable_sort(times.points, {}, &OperationPoint::time);
    std::ranges::stable_sort(times.parts, {}, &PartSums::time);
    for (std::size_t i = 1; i < times.parts.size(); ++i)
        for (std::size_t part = 0; part < kOperationParts.size(); ++part)
            times.parts[i].sums[part] = saturating::add(times.parts[i].sums[part], times.parts[i - 1].sums[part]);
    return times;
}

OperationTimes::Mean OperationTimes::mean(const Range& range) const {
    const auto at = [&](Instant time) {
        return static_cast<std::size_t>(std::ranges::lower_bound(parts, time, {}, &PartSums::time) - parts.begin());
    };
    const std::size_t first = at(range.from);
    const std::size_t end = at(range.to);
    Mean mean;
    if (first >= end) return mean;
    mean.operations = end - first;
    for (std::size_t part = 0; part < kOperationParts.size(); ++part) {
        const std::int64_t before = first == 0 ? 0 : parts[first - 1].sums[part];
        mean.parts[part] = (parts[end - 1].sums[part] - before) / static_cast<std::int64_t>(mean.operations);
    }
    return mean;
}

}  // namespace qps::transport::series
