#include <transport-replay/series/event_map.hpp>

#include <algorithm>

namespace qps::transport::series {

EventKind event_of(const PacketRow& row) {
    if (row.icrc() == dissect::CrcStatus::bad) return EventKind::corrupt;
    if (const auto syndrome = row.syndrome()) {
        constexpr unsigned kRnr = 1;
        constexpr unsigned kNak = 3;
        const unsigned opcode = *syndrome >> 5U & 3U;
        if (opcode == kNak) return EventKind::nak;
        if (opcode == kRnr) return EventKind::rnr_nak;
    }
    if (row.has(Mark::retransmission)) return EventKind::retransmission;
    if (row.has(Mark::gap)) return EventKind::gap;
    if (row.has(Mark::congestion_experienced)) return EventKind::congestion_mark;
    return Scope::notifies(row) ? EventKind::cnp : EventKind::none;
}

namespace {

void add_event(EventSlot& slot, const PacketRow& row, std::uint64_t position) {
    const EventKind kind = event_of(row);
    slot.bytes += row.wire_length();
    if (kind != EventKind::none) ++slot.events;
    if (slot.first != dissect::FrameIndex{} && kind <= slot.worst) return;
    slot.worst = kind;
    slot.first = frame_at(position);
}

}  // namespace

std::optional<std::vector<EventSlot>> events_by_time(const CaptureIndex& index, const Range& range, const RowSet* hits,
                                                     std::size_t slots, const Stop& stop) {
    std::vector<EventSlot> all(slots);
    const auto length = static_cast<double>(std::max<std::int64_t>(1, std::to_underlying(range.length())));
    const auto add = [&](const PacketRow& row, std::uint64_t position) {
        if (row.has(Mark::timeless) || !range.contains(row.time()) ||
            (hits != nullptr && !hits->contains(frame_at(position))))
            return;
        const double share = static_cast<double>(std::to_underlying(row.time() - range.from)) / length;
        add_event(all[std::min(static_cast<std::size_t>(share * static_cast<double>(slots)), slots - 1)], row,
                  position);
    };
    if (slots == 0 || !scan(index.packets, 0, index.packets.size(), stop, add)) return std::nullopt;
    return all;
}

std::optional<std::vector<EventSlot>> events_by_place(const CaptureIndex& index, const RowSet* hits, std::size_t slots,
                                                      const Stop& stop) {
    std::vector<EventSlot> all(slots);
    const std::uint64_t packets = index.packets.size();
    const std::uint64_t shown = std::max<std::uint64_t>(1, hits == nullptr ? packets : hits->size());
    std::uint64_t place = 0;
    const auto add = [&](const PacketRow& row, std::uint64_t position) {
        if (hits != nullptr && !hits->contains(frame_at(position))) return;
        const std::uint64_t slot = std::min<std::uint64_t>(place++ * slots / shown, slots - 1);
        add_event(all[slot], row, position);
    };
    if (slots == 0 || !scan(index.packets, 0, packets, stop, add)) return std::nullopt;
    return all;
}

}  // namespace qps::transport::series
