// Collector: what the pictures of a report show, gathered while a capture is read once more, in the order of its
// packets. All that it keeps has a bound that does not depend on the capture, some 2 MiB, so that a report of any
// capture can be made.
#pragma once

#include <transport-replay/index/packet_row.hpp>
#include <transport-replay/report/finding_groups.hpp>
#include <transport-replay/series/latency.hpp>
#include <transport-replay/series/psn_series.hpp>
#include <transport-replay/series/throughput.hpp>

#include <map>
#include <string>
#include <vector>

namespace qps::transport {

struct Message;
struct Timeline;

namespace page {

inline constexpr std::size_t kColumns = 260;           // of a picture, each an equal part of the time of the capture
inline constexpr std::size_t kPsnRows = 64;            // of a picture of PSNs
inline constexpr std::size_t kMostPsnPictures = 4;     // requesters
inline constexpr std::size_t kMostLadders = 24;        // panels
inline constexpr std::size_t kMostLadderPackets = 24;  // of one panel

// How long messages took that ended in a column.
struct LatencyColumn {
    std::uint64_t count = 0;
    std::int64_t most = 0;  // ns
    std::array<std::uint32_t, series::kLatencyBins> bins{};
    // The least duration of the bin below whose end this share of them lies; 0 where there are none.
    [[nodiscard]] std::int64_t percentile(double percent) const;
};

// PSNs of one requester over time.
struct PsnGrid {
    ConnectionId connection{};
    End requester{};
    std::int64_t first = 0;           // PSN of the lowest row, counted on past 24 bits
    std::int64_t range = 1;           // PSNs that all rows have together
    std::vector<std::uint8_t> cells;  // kColumns * kPsnRows, row by row: bit 0 sent, bit 1 retransmitted, bit 2 NAKed
    std::vector<std::int64_t> acknowledged;  // by column, the greatest above `first`; -1: none
    series::PsnCounter requests;
};

// The packets of a panel's ladder: those of the most frequent finding, then what the panel has of the same connection
// beside it; sorted.
[[nodiscard]] std::vector<dissect::FrameIndex> ladder_packets(const FindingPanel& panel);

// A packet that proves a finding, as the list of packets shows it.
struct EvidencePacket {
    std::string source;
    std::string destination;
    std::string line;
    dissect::Instant time{};
    bool timeless = true;
    bool retransmission = false;
};

class Collector {
public:
    // Of these connections, or of all where none is named. The timeline must outlive it.
    explicit Collector(const Timeline& timeline, std::vector<ConnectionId> connections = {});

    // Whether a packet is shown as text: its words are wanted as well.
    [[nodiscard]] bool wants_text(dissect::FrameIndex frame) const;
    void take(dissect::FrameIndex frame, const PacketRow& row);
    void take_text(dissect::FrameIndex frame, EvidencePacket packet);  // its words alone
    // One that ended.
    void take(ConnectionId connection, const Message& message);

    [[nodiscard]] const Timeline& timeline() const { return timeline_; }
    [[nodiscard]] bool wants(std::optional<ConnectionId> connection) const;
    [[nodiscard]] std::uint64_t connections() const;  // how many there are
    [[nodiscard]] const std::vector<const Finding*>& findings() const {
        return findings_;
    }  // in the order of the timeline
    [[nodiscard]] const std::vector<FindingPanel>& panels() const { return panels_; }
    // When the first packet was that proves a finding of a panel, of those that are listed; nothing where none has a
    // time.
    [[nodiscard]] std::optional<dissect::Instant> first_of(std::size_t panel) const { return first_[panel]; }
    [[nodiscard]] const std::vector<series::Amount>& amounts() const { return amounts_; }     // by column
    [[nodiscard]] const std::vector<LatencyColumn>& latencies() const { return latencies_; }  // by column
    [[nodiscard]] const std::vector<PsnGrid>& grids() const { return grids_; }
    [[nodiscard]] const EvidencePacket* evidence(dissect::FrameIndex frame) const;

private:
    struct Event {
        dissect::FrameIndex frame{};
        std::size_t panel = 0;
    };
    [[nodiscard]] std::size_t column_of(dissect::Instant time) const;
    void choose_grids();
    void take(PsnGrid& grid, const PacketRow& row) const;

    const Timeline& timeline_;
    std::vector<ConnectionId> connections_;
    std::vector<const Finding*> findings_;
    std::vector<FindingPanel> panels_;
    std::vector<Event> events_;                           // the first packet of every finding, sorted
    std::vector<std::optional<dissect::Instant>> first_;  // by panel
    std::vector<series::Amount> amounts_;
    std::vector<LatencyColumn> latencies_;
    std::vector<PsnGrid> grids_;
    std::vector<dissect::FrameIndex> wanted_;  // sorted
    std::map<dissect::FrameIndex, EvidencePacket> evidence_;
};

}  // namespace page
}  // namespace qps::transport
