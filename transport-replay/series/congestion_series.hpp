// CongestionSeries: what a picture of congestion shows beside the throughput: marks, notifications and pauses on the
// axis of time, and which connections they hit. How many marks and notifications fall into a bin, Throughput says.
//
// What an attacker could feed: pauses of any length, connections without number; kMaxHits bounds those that are listed.
#pragma once

#include <transport-replay/model/congestion_report.hpp>
#include <transport-replay/model/connection.hpp>
#include <transport-replay/series/scope.hpp>

namespace qps::transport::series {

inline constexpr std::size_t kMaxHits = 1024;  // the ones hit hardest; nobody looks at more

// What one end of a connection sent, and how congestion met it.
struct HitWay {
    ConnectionId connection{};
    End from{};
    std::uint64_t marked = 0;     // packets that it sent and a switch marked
    std::uint64_t cnps = 0;       // that told it to slow down
    dissect::FrameIndex first{};  // of either
    [[nodiscard]] std::uint64_t all() const { return marked + cnps; }
};

struct CongestionSeries {
    std::vector<Point> marks;          // y: bytes on the wire
    std::vector<Point> notifications;  // y: 1
    std::vector<HitWay> hits;          // hardest first
    std::uint64_t hits_left_out = 0;   // past kMaxHits
    std::uint64_t unnamed = 0;         // marks and CNPs of packets of no known connection
};
// Of the packets of a scope in a range, which has a time. Nothing where it was stopped.
[[nodiscard]] std::optional<CongestionSeries> congestion_series(const CaptureIndex& index, const Scope& scope,
                                                                const Range& range, const Stop& stop = {});

// Whether a pause can have held up what an end sent: it was active then, and sent with that priority. Packets without a
// VLAN tag do not say their priority (switches take it from the DSCP, by a table nobody tells us).
enum class PauseHit : std::uint8_t { no, perhaps, yes };
[[nodiscard]] PauseHit hit_by(const PausePeriod& pause, const Way& way);

}  // namespace qps::transport::series
