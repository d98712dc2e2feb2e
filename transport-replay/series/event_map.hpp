// Where in a capture something happened, at a glance: its packets in a number of equal slots, by time or by their place
// in a list, each slot with the worst that happened in it.
#pragma once

#include <transport-replay/series/scope.hpp>

#include <array>
#include <string_view>
#include <vector>

namespace qps::transport::series {

// What a packet tells of, the worst last.
enum class EventKind : std::uint8_t { none, cnp, congestion_mark, gap, retransmission, rnr_nak, nak, corrupt };
inline constexpr std::array<std::string_view, 8> kEventKindTitles{
    "no event", "CNP", "congestion mark (CE)", "PSN gap", "retransmission", "RNR NAK", "NAK", "wrong ICRC"};
[[nodiscard]] EventKind event_of(const PacketRow& row);

struct EventSlot {
    EventKind worst = EventKind::none;
    std::uint32_t events = 0;     // of any kind
    dissect::FrameIndex first{};  // of the worst kind; without an event the first packet; 0: no packet
    std::uint64_t bytes = 0;      // on the wire, of all packets
    [[nodiscard]] bool operator==(const EventSlot&) const = default;
};

// Nothing where it was stopped. `hits` borrowed; nullptr: all packets.
[[nodiscard]] std::optional<std::vector<EventSlot>> events_by_time(const CaptureIndex& index, const Range& range,
                                                                   const RowSet* hits, std::size_t slots,
                                                                   const Stop& stop = {});
[[nodiscard]] std::optional<std::vector<EventSlot>> events_by_place(const CaptureIndex& index, const RowSet* hits,
                                                                    std::size_t slots, const Stop& stop = {});

}  // namespace qps::transport::series
