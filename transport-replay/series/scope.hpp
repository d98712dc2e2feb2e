// Scope: which packets a picture shows, and the one pass over the rows of a capture that all series make.
//
// What an attacker could feed: times that run backwards or lie centuries apart. A range that is asked for bounds the
// work; code that divides one into bins bounds their number.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/index/row_set.hpp>

#include <algorithm>
#include <functional>
#include <vector>

namespace qps::transport::series {

// Asked now and then; true: the answer is no longer wanted. An empty one never stops.
using Stop = std::function<bool()>;
[[nodiscard]] inline bool stopped(const Stop& stop) { return stop && stop(); }

// Visits rows first .. end - 1 of a store, in order, as visit(row, position). False: stopped before the end.
template <class Row, class Visit>
bool scan(const GrowingStore<Row>& rows, std::uint64_t first, std::uint64_t end, const Stop& stop, Visit visit) {
    for (std::uint64_t at = first; at < end;) {
        if (stopped(stop)) return false;
        const std::uint64_t run_end = std::min<std::uint64_t>(end, (at | (GrowingStore<Row>::kRun - 1)) + 1);
        for (const Row* row = &rows[at]; at < run_end; ++at, ++row) visit(*row, at);
    }
    return true;
}

[[nodiscard]] constexpr dissect::FrameIndex frame_at(std::uint64_t position) {
    return dissect::FrameIndex{position + 1};
}

// From an instant up to, not including, another.
struct Range {
    dissect::Instant from{};
    dissect::Instant to{};
    [[nodiscard]] constexpr bool contains(dissect::Instant time) const { return from <= time && time < to; }
    [[nodiscard]] constexpr bool empty() const { return to <= from; }
    [[nodiscard]] constexpr dissect::Duration length() const { return empty() ? dissect::Duration{} : to - from; }
    [[nodiscard]] bool operator==(const Range&) const = default;
};

// The times of all packets that have one; nothing where none has, or where it was stopped.
[[nodiscard]] std::optional<Range> whole(const CaptureIndex& index, const Stop& stop = {});

// All packets, or those of some connections, or of a way of theirs; of these, those that a set has.
class Scope {
public:
    void add(ConnectionId connection);
    void add(ConnectionId connection, End from);     // a CNP belongs to the way that it slows down
    void only(const RowSet* hits) { hits_ = hits; }  // borrowed; nullptr: all

    [[nodiscard]] bool all_connections() const { return ways_.empty(); }
    [[nodiscard]] bool has(ConnectionId connection, End from) const {
        const auto at = static_cast<std::size_t>(connection);
        return ways_.empty() || (at < ways_.size() && (ways_[at] & bit(from)) != 0);
    }
    [[nodiscard]] bool has(const PacketRow& row, std::uint64_t position) const {
        if (hits_ != nullptr && !hits_->contains(frame_at(position))) return false;
        if (ways_.empty()) return true;
        const auto connection = row.connection();
        return connection && has(*connection, way_of(row));
    }
    // Messages count with their first packet.
    [[nodiscard]] bool has(const MessageRow& message) const {
        return has(message.connection(), message.requester()) &&
               (hits_ == nullptr || hits_->contains(message.first_frame()));
    }
    // Whether it is a congestion notification; these go against the way that they are about.
    [[nodiscard]] static bool notifies(const PacketRow& row) {
        return row.kind() == ObservationKind::transport && dissect::info(row.opcode()).verb == dissect::Verb::notify;
    }
    [[nodiscard]] static End way_of(const PacketRow& row) { return notifies(row) ? other(row.from()) : row.from(); }

private:
    static constexpr std::uint8_t bit(End from) { return from == End::a ? 1 : 2; }
    std::vector<std::uint8_t> ways_;  // by connection; ids in rows end at PacketRow::kMaxConnection
    const RowSet* hits_ = nullptr;
};

// When a packet was; nothing where it has no time, or is not there.
[[nodiscard]] inline std::optional<dissect::Instant> time_of(const CaptureIndex& index, dissect::FrameIndex frame) {
    if (!index.has(frame) || index.row(frame).has(Mark::timeless)) return std::nullopt;
    return index.row(frame).time();
}

// A point of a picture over time.
struct Point {
    dissect::Instant time{};
    std::int64_t y = 0;
    dissect::FrameIndex frame{};
    [[nodiscard]] bool operator==(const Point&) const = default;
};

}  // namespace qps::transport::series
