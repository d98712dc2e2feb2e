// LaneReport: all that a lane found out, as a value. Reports of lanes merge into one that does not depend on how many
// they were.
#pragma once

#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/congestion_report.hpp>
#include <transport-replay/model/iwarp_report.hpp>
#include <transport-replay/model/peaks.hpp>
#include <transport-replay/model/uet_report.hpp>
#include <transport-replay/model/ulp_report.hpp>
#include <transport-replay/tracking/tracker.hpp>
#include <transport-replay/watch/incasts.hpp>

#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

namespace qps::transport {

// Pairs of hosts, each way, of which something else than RDMA was heard: TCP beside it, say.
using HostPairs = boost::unordered_flat_set<FlowKey, FlowHash>;
[[nodiscard]] inline FlowKey heard_pair(const Address& source, const Address& destination, std::uint16_t recording) {
    return {source, destination, dissect::Qpn{recording}, {}};
}
inline constexpr std::size_t kMaxHeard = 1 << 14;

struct LaneReport {
    Tracked tracked;
    CmReport cm;
    CongestionReport congestion;
    std::vector<EndedIncast> incasts;
    UlpReport ulp;
    CollectiveTracker collectives;  // settled
    IwarpReport iwarp;
    UetReport uet;
    HostPairs heard;
    Peaks peaks;
};

// Gives every connection another number: `numbers` has them by the lane's own, which count from 1.
void renumber(LaneReport& report, std::span<const std::uint32_t> numbers);

// Whether it names no connection past the last of so many, nor an attempt that it has not: as any lane's does, unless
// it was read from a file.
[[nodiscard]] bool names_nothing_else(const LaneReport& report, std::size_t connections);

// Joins the reports of lanes whose connections were numbered across them, in the capture's order. At least one.
[[nodiscard]] LaneReport merge(std::vector<LaneReport> lanes);

}  // namespace qps::transport
