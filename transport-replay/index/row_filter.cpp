#include <transport-replay/index/row_fields.hpp>
#include <transport-replay/index/row_filter.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

RowFilter::RowFilter(std::shared_ptr<const CaptureIndex> index, Filter filter, std::optional<TimeRange> range)
    : index_(std::move(index)), filter_(std::move(filter)), indexed_(filter_, row_fields()), range_(range) {}

Verdict RowFilter::judge(FrameIndex frame) const {
    const PacketRow& row = index_->row(frame);
    if (range_ && (row.has(Mark::timeless) || !range_->contains(row.time()))) return Verdict::no;
    const RowView view{*index_, frame, row};
    return indexed_.judge(&view);
}

bool RowFilter::matches(FrameIndex frame, PacketReader& reader) const {
    const Verdict verdict = judge(frame);
    if (verdict != Verdict::unknown) return verdict == Verdict::yes;
    const Packet* packet = reader.read(frame);
    return packet != nullptr && filter_.matches(*packet);
}

RowSet::Piece RowFilter::piece(std::uint64_t number, PacketReader& reader, const std::atomic<bool>& stop) const {
    RowSet::Piece piece{number, std::vector<std::uint64_t>(RowSet::kPieceWords)};
    const std::uint64_t first = number * RowSet::kPieceRows;
    const std::uint64_t end = std::min(first + RowSet::kPieceRows, index_->packets.size());
    for (std::uint64_t row = first; row < end && !stop.load(std::memory_order_relaxed); ++row)
        if (matches(FrameIndex{row + 1}, reader))
            piece.bits[(row - first) / 64] |= std::uint64_t{1} << (row - first) % 64;
    return piece;
}

}  // namespace qps::transport
