// BridgingTracker: what both ends of a link announce of Data Center Bridging by LLDP, for how long, and which RoCE
// packets have a priority that an end does not treat as lossless.
//
// Observations in the order of the capture go in, of LLDP and of everything else. What an attacker could feed: any
// number of links, ends, announcements. Tables have a bound below and a count of what is past it.
#pragma once

#include <transport-replay/model/bridging_report.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/watch/lldp_announcement.hpp>

#include <vector>

namespace qps::transport {

inline constexpr std::size_t kMaxBridgingLinks = 64;
inline constexpr std::size_t kMaxBridgingEnds = 8;  // of a link, which has two: more are no link
inline constexpr std::size_t kMaxOutsidePfc = 8;    // priorities and DSCPs of an end
inline constexpr dissect::Duration kLinkBreak{
    30'000'000'000};  // 30 s without any packet, the interval of LLDP: perhaps nobody recorded
inline constexpr dissect::Duration kSameAnnouncement{
    900'000'000};  // sooner it is another recording: agents send one a second at most

class BridgingTracker {
public:
    // Whether anybody announced anything: before, other packets matter to nobody.
    [[nodiscard]] bool any() const { return !links_.empty(); }
    void observe(const Observation& observation) {
        if (observation.kind == ObservationKind::bridging || any()) take(observation);
    }
    [[nodiscard]] BridgingReport finish();

private:
    // RoCE packets to the station by PCP (behind the last one: none) and DSCP, since what the ends announce is as it
    // is.
    struct Cell {
        std::uint64_t packets = 0;
        dissect::FrameIndex first{};
        dissect::Instant first_time{};
    };
    static constexpr std::size_t kCodePoints = 64;
    struct Link {
        BridgingLink report;
        std::vector<Cell> cells;    // kCodePoints for each PCP, while an end announces PFC; else empty
        std::uint64_t station = 0;  // MAC address of the one beside the one bridge; 0: there are others
        dissect::Instant expiry{};  // the next one
    };
    [[nodiscard]] Link* link_of(const Observation& observation);
    void take(const Observation& observation);
    void take_announcement(Link& link, const Observation& observation);
    void say(Link& link, BridgingEnd& end, LldpAnnouncement&& said, const Observation& observation);
    static void take_packet(Link& link, const Observation& observation);
    static void judge_packets(Link& link);
    static void await(Link& link, dissect::Instant now);

    std::vector<Link> links_;
    std::uint64_t left_out_ = 0;
};

}  // namespace qps::transport
