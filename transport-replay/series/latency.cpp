#include <transport-replay/series/latency.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::series {

using namespace dissect;

std::optional<std::vector<LatencyPoint>> latencies(const CaptureIndex& index, const Scope& scope,
                                                   const std::optional<Range>& range, MessageKinds kinds,
                                                   const Stop& stop) {
    std::vector<LatencyPoint> points;
    if (scope.all_connections() && !range) points.reserve(index.messages.size());  // most will be there
    const auto take = [&](const MessageRow& message, std::uint64_t) {
        const auto answer = message.answer_frame();
        if (message.outcome() != Outcome::completed || !answer || !has(kinds, message.kind())) return;
        if (!scope.has(message)) return;
        const auto from = time_of(index, message.first_frame());
        const auto to = time_of(index, *answer);
        if (!from || !to || *to < *from || (range && !range->contains(*from))) return;
        points.push_back({*from, std::to_underlying(*to - *from), message.first_frame(), message.bytes(),
                          message.connection(), message.requester(), message.kind()});
    };
    if (!scan(index.messages, 0, index.messages.size(), stop, take)) return std::nullopt;
    return points;
}

namespace {

// The value that at least so many of a thousand do not exceed. `values` from `first` on hold all that are no less than
// those before.
Duration at_rank(std::vector<std::int64_t>& values, std::size_t& first, std::size_t per_mille) {
    const std::size_t rank = (values.size() / 1000 * per_mille) + (values.size() % 1000 * per_mille + 999) / 1000;
    const std::size_t at = std::max<std::size_t>(rank, 1) - 1;
    const auto begin = values.begin();
    std::nth_element(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(at), values.end());
    first = at;
    return Duration{values[at]};
}

}  // namespace

Distributed distribution(const std::vector<LatencyPoint>& points) {
    std::vector<std::int64_t> values;
    values.reserve(points.size());
    for (const LatencyPoint& point : points) values.push_back(point.y);
    return distribution(std::move(values));
}

Distributed distribution(std::vector<std::int64_t> nanoseconds) {
    Distributed found;
    found.count = nanoseconds.size();
    if (nanoseconds.empty()) return found;
    double sum = 0;
    for (const std::int64_t value : nanoseconds) {
        sum += static_cast<double>(value);
        ++found.histogram[latency_bin(value)];
    }
    const auto [least, most] = std::ranges::minmax(nanoseconds);
    found.least = Duration{least};
    found.most = Duration{most};
    const double mean = sum / static_cast<double>(nanoseconds.size());
    found.mean = mean >= static_cast<double>(most) ? found.most : Duration{static_cast<std::int64_t>(mean)};
    std::size_t first = 0;  // ascending ranks: each search goes on where the one before ended
    found.median = at_rank(nanoseconds, first, 500);
    found.p90 = at_rank(nanoseconds, first, 900);
    found.p99 = at_rank(nanoseconds, first, 990);
    found.p999 = at_rank(nanoseconds, first, 999);
    return found;
}

}  // namespace qps::transport::series
