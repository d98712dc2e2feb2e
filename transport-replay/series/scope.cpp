#include <transport-replay/series/scope.hpp>

#include <utility>

namespace qps::transport::series {

using namespace dissect;

std::optional<Range> whole(const CaptureIndex& index, const Stop& stop) {
    Instant first{kLongestTime};
    Instant last{-kLongestTime};
    const auto visit = [&](const PacketRow& row, std::uint64_t) {
        if (row.has(Mark::timeless)) return;
        first = std::min(first, row.time());
        last = std::max(last, row.time());
    };
    if (!scan(index.packets, 0, index.packets.size(), stop, visit) || last < first) return std::nullopt;
    return Range{first, last + Duration{1}};
}

void Scope::add(ConnectionId connection) {
    add(connection, End::a);
    add(connection, End::b);
}

void Scope::add(ConnectionId connection, End from) {
    const auto at = std::min<std::size_t>(std::to_underlying(connection), PacketRow::kMaxConnection);
    if (at >= ways_.size()) ways_.resize(at + 1);
    ways_[at] = static_cast<std::uint8_t>(ways_[at] | bit(from));
}

}  // namespace qps::transport::series
