// LinkWatch: what belongs to no pair of hosts that talk RDMA: pauses of links, management datagrams. Few packets; where there are neither,
// no packet matters to it.
#pragma once

#include <transport-replay/analysis/capture_gate.hpp>
#include <transport-replay/management/management_tracker.hpp>
#include <transport-replay/model/congestion_report.hpp>
#include <transport-replay/tracking/pauses.hpp>

namespace qps::transport {

struct LinkReport {
    CongestionReport pauses;  // of it: pauses, their periods, and what was dropped of either
    ManagementReport management;
    std::uint64_t datagrams = 0;  // of management
};

class LinkWatch {
public:
    // Whether follow() has anything to do with it, or with a packet that is like any other once somebody asked for a pause.
    [[nodiscard]] bool wants(const Observation& observation) const {
        return pauses_.any() || observation.management || observation.kind == ObservationKind::pause || observation.kind == ObservationKind::pfc;
    }
    // The next packet of the capture that it wants.
    void follow(const Observation& observation, const Sight& sight) {
        if (sight.handling == Handling::copy) return;
        pauses_.observe(observation);
        if (!observation.management || sight.handling != Handling::follow) return;
        ++management_;
        datagrams_.observe(observation);
    }
    // The end of the capture. Call it once.
    [[nodiscard]] LinkReport finish(const GateReport& gate);

private:
    PauseTracker pauses_;
    ManagementTracker datagrams_;
    std::uint64_t management_ = 0;
};

}  // namespace qps::transport
