// conclude(): what only the whole capture tells: who was silent and why, what caused retransmissions, whose ICRCs say
// nothing; findings.
#pragma once

#include <transport-replay/analysis/analysis_settings.hpp>
#include <transport-replay/analysis/capture_gate.hpp>
#include <transport-replay/analysis/lane_report.hpp>
#include <transport-replay/analysis/link_watch.hpp>
#include <transport-replay/model/captured_host.hpp>
#include <transport-replay/model/numbering.hpp>

#include <vector>

namespace qps::transport {

struct Timeline;

// Of captures of several hosts that were joined: collectives of those whose clocks were compared, and how far the
// clocks may be apart all the same, which are not those of the lanes then; the hosts.
struct OfHosts {
    struct OfClock {
        CollectiveTracker collectives;
        dissect::Duration within{};
    };
    std::vector<OfClock> clocks;
    std::vector<CapturedHost> hosts;
};

// Reads the gate's and the links' results and the lanes' reports. `numbering`: of connections.
[[nodiscard]] Timeline conclude(const AnalysisSettings& settings, GateReport&& gate, LinkReport&& links,
                                LaneReport&& lanes, OfHosts of_hosts = {}, Numbering numbering = Numbering::dense);

}  // namespace qps::transport
