// LadderEntries: what stands in the ladder of a connection: its messages, and every packet that is of none, in the
// order in which they began. Each packet of the connection that has a time is of one entry, so that a packet that is
// selected anywhere is found in the ladder.
//
// What an attacker could feed: a connection of as many packets as the capture has, messages that overlap without end.
// Past kMostPackets only those are kept that begin a message or are of none, and no more than kMostEntries of these;
// the others are counted, and found at what began before them. kMostLookedAt bounds the search for the message of a
// packet: what is past it stands as a packet of its own.
#pragma once

#include <transport-replay/series/scope.hpp>

namespace qps::transport::series {

class LadderEntries {
public:
    static constexpr std::size_t kMostPackets = std::size_t{1} << 22;  // 8 bytes each
    static constexpr std::size_t kMostEntries = std::size_t{1} << 22;  // 12 bytes each
    static constexpr std::size_t kMostLookedAt = 512;                  // messages under way at a time

    LadderEntries() = default;
    // Nothing where it was stopped.
    [[nodiscard]] static std::optional<LadderEntries> of(const CaptureIndex& index, ConnectionId connection,
                                                         const Stop& stop = {});

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] ConnectionId connection() const { return connection_; }
    // Packets past the bounds.
    [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

    // Where among the messages of the index it stands; nothing where it is a packet that is of none.
    [[nodiscard]] std::optional<std::uint64_t> message(std::size_t entry) const {
        const std::uint32_t number = entries_[entry].message;
        return number == 0 ? std::nullopt : std::optional(std::uint64_t{number} - 1);
    }
    [[nodiscard]] dissect::FrameIndex first_frame(std::size_t entry) const {
        return dissect::FrameIndex{frames_[entries_[entry].first]};
    }
    // The last one that began no later than a packet; 0 where none did.
    [[nodiscard]] std::size_t position_of(dissect::FrameIndex frame) const;
    // That of a packet of the connection that has a time.
    [[nodiscard]] std::optional<std::size_t> entry_of(const CaptureIndex& index, dissect::FrameIndex frame) const;

    // The packets of entries first .. end - 1, in order, as visit(frame, entry). False: stopped before the end.
    template <class Visit> bool visit_packets(std::size_t first, std::size_t end, const Stop& stop, Visit visit) const {
        if (first >= end || end > size()) return true;
        std::uint32_t last = 0;
        for (std::size_t entry = first; entry < end; ++entry) last = std::max(last, entries_[entry].last);
        for (std::uint32_t at = entries_[first].first; at <= last; ++at) {
            if (at % kBetweenStops == 0 && stopped(stop)) return false;
            if (first <= owners_[at] && owners_[at] < end) visit(dissect::FrameIndex{frames_[at]}, owners_[at]);
        }
        return true;
    }

private:
    friend class LadderGathering;
    static constexpr std::uint32_t kBetweenStops = 1U << 16;
    struct Entry {
        std::uint32_t first = 0;  // of its packets: where it stands in frames_
        std::uint32_t last = 0;
        std::uint32_t message = 0;  // its place among the messages of the index and 1; 0: a packet of none
    };

    ConnectionId connection_{};
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> frames_;  // packets of the connection, in order
    std::vector<std::uint32_t> owners_;  // and the entry of each
    std::uint64_t left_out_ = 0;
};

}  // namespace qps::transport::series
