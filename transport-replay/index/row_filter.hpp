// RowFilter: which packets of an index a display filter and a time range let through, a piece at a time.
//
// What the rows tell decides first; only packets of which they do not tell enough are decoded again. Immutable: threads
// share one, each with a reader of its own.
#pragma once

#include <dissect/filter/indexed.hpp>
#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/index/row_set.hpp>

#include <atomic>
#include <memory>
#include <optional>

namespace qps::transport {

// Both ends belong to it.
struct TimeRange {
    dissect::Instant from{};
    dissect::Instant to{};
    [[nodiscard]] bool operator==(const TimeRange&) const = default;
    [[nodiscard]] bool contains(dissect::Instant time) const { return from <= time && time <= to; }
};

class RowFilter {
public:
    // Packets without a time are in no range.
    RowFilter(std::shared_ptr<const CaptureIndex> index, dissect::Filter filter, std::optional<TimeRange> range);

    // The answer for the packets of a piece that have come so far; `reader` is one of the same index. Once `stop` is
    // true the rest of the piece is not asked.
    [[nodiscard]] RowSet::Piece piece(std::uint64_t number, PacketReader& reader, const std::atomic<bool>& stop) const;
    [[nodiscard]] bool matches(dissect::FrameIndex frame, PacketReader& reader) const;
    // What the row alone says.
    [[nodiscard]] dissect::Verdict judge(dissect::FrameIndex frame) const;

private:
    std::shared_ptr<const CaptureIndex> index_;
    dissect::Filter filter_;
    dissect::IndexedFilter indexed_;
    std::optional<TimeRange> range_;
};

}  // namespace qps::transport
