// PauseRows: who paused whom on a link: for each sender of pause frames, each priority and interface, its XOFF and XON
// frames, its pauses, and the ways of connections whose packets its frames can stop.
//
// A pause frame asks who is at the other end of the link to send nothing (of that priority). Which packets those are
// the capture tells where some of that interface go to the sender's own MAC address: these and no others. Where none
// does, as where a switch pauses a NIC, packets of that priority may be in either direction: then it is undecided.
//
// What an attacker could feed: senders, frames and connections without number; kMostPauseRows, kMostPauseFrames and
// kMostPausedWays bound them, and what is past them is counted.
#pragma once

#include <transport-replay/model/congestion_report.hpp>
#include <transport-replay/series/congestion_series.hpp>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::transport::series {

inline constexpr std::size_t kMostPauseRows = 64;
inline constexpr std::size_t kMostPauseFrames = 1U << 16;  // that are read again
inline constexpr std::size_t kMostPausedWays = 4096;       // whose first packet is read again

struct PausedWay {
    ConnectionId connection{};
    End from{};
    PauseHit hit{};           // never no
    std::uint64_t bytes = 0;  // on the wire
};

struct PauseRow {
    PauseSummary summary;  // as findings and JSON have it
    std::vector<PausePeriod> periods;
    std::vector<Point> stops;     // XOFF; y: quanta
    std::vector<Point> resumes;   // XON; y: 0
    std::vector<PausedWay> ways;  // that overlap its pauses; the surest, then the busiest first
};

struct PauseRows {
    std::vector<PauseRow> rows;       // by interface, priority and sender
    std::uint64_t rows_left_out = 0;  // past kMostPauseRows
    std::uint64_t frames_unread = 0;  // pause frames past kMostPauseFrames, or gone
    std::uint64_t ways_unread = 0;    // ways past kMostPausedWays, or whose first packet is gone
};

// Nothing where it was stopped.
[[nodiscard]] std::optional<PauseRows> pause_rows(const CaptureIndex& index, const Timeline& timeline,
                                                  const Stop& stop = {});

}  // namespace qps::transport::series
