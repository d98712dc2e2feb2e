// LinkWatch: what belongs to no pair of hosts that talk RDMA: pauses of links, their credits, what their ends announce
// by LLDP, who is asked for by ARP without an answer, GIDs of two ports, TCP and UDP beside RDMA, management datagrams.
// Few packets; where there are none of them, no packet matters to it.
#pragma once

#include <transport-replay/analysis/capture_gate.hpp>
#include <transport-replay/management/management_tracker.hpp>
#include <transport-replay/model/congestion_report.hpp>
#include <transport-replay/model/credit_report.hpp>
#include <transport-replay/tracking/gids.hpp>
#include <transport-replay/watch/beside.hpp>
#include <transport-replay/watch/bridging.hpp>
#include <transport-replay/watch/link_credits.hpp>
#include <transport-replay/watch/pauses.hpp>
#include <transport-replay/watch/reachability.hpp>

namespace qps::transport {

struct LinkReport {
    CongestionReport pauses;  // of it: pauses, their periods, and what was dropped of either
    ManagementReport management;
    std::uint64_t datagrams = 0;  // of management
    BridgingReport bridging;
    ReachabilityReport reachability;
    std::vector<LossyBeside> beside;
    CreditReport credits;
};

class LinkWatch {
public:
    // Whether follow() has anything to do with it, or with a packet that is like any other once somebody asked for a
    // pause or announced anything.
    [[nodiscard]] bool wants(const Observation& observation) const {
        const bool plain = observation.kind == ObservationKind::transport &&
                           observation.encapsulation == dissect::Encapsulation::roce_v2 && !observation.management &&
                           !observation.about_hosts;
        if (plain && !awake_) [[likely]]
            return false;
        const bool answers = reachability_.any() && !observation.is_numbered();
        return answers || beside_.any() || BesideTracker::is_bulk(observation) || pauses_.any() || bridging_.any() ||
               credits_.any() || observation.management || observation.about_hosts ||
               observation.kind == ObservationKind::pause || observation.kind == ObservationKind::pfc ||
               observation.kind == ObservationKind::bridging || observation.kind == ObservationKind::credits ||
               GidTracker::has_gid(observation);
    }
    // Any packet, before it is asked whether it wants it.
    void glimpse(const Observation& observation) { pauses_.remember(observation); }
    // The next packet of the capture that it wants.
    void follow(const Observation& observation, const Sight& sight) {
        if (sight.handling == Handling::copy) return;
        observe(observation, sight);
        awake_ = reachability_.any() || beside_.any() || pauses_.any() || bridging_.any() || credits_.any();
    }
    // Blocks that the last flow control packet leaves to the other end.
    [[nodiscard]] std::optional<std::uint16_t> link_credits() const { return credits_.left(); }
    // The end of the capture. Call it once.
    [[nodiscard]] LinkReport finish(const GateReport& gate);

private:
    void observe(const Observation& observation, const Sight& sight) {
        pauses_.observe(observation);
        // A packet that may be another recording of one is not counted again.
        if (sight.repetition == Repetition::none || observation.kind == ObservationKind::bridging)
            bridging_.observe(observation);
        // A broadcast is in the recordings of several taps.
        const bool in_turn = sight.handling == Handling::follow && sight.now - observation.time < kNeighbourTime;
        if (observation.about_hosts || reachability_.any()) reachability_.observe(observation, in_turn);
        if (sight.handling == Handling::follow && sight.repetition != Repetition::perhaps_other_tap)
            beside_.observe(observation);
        if (sight.handling == Handling::follow && sight.repetition == Repetition::none) {
            credits_.observe(observation);
            gids_.observe(observation);
        }
        if (!observation.management || sight.handling != Handling::follow) return;
        ++management_;
        datagrams_.observe(observation);
    }

    PauseTracker pauses_;
    BridgingTracker bridging_;
    ReachabilityTracker reachability_;
    BesideTracker beside_;
    LinkCreditTracker credits_;
    GidTracker gids_;
    ManagementTracker datagrams_;
    std::uint64_t management_ = 0;
    bool awake_ = false;  // somebody asked for a pause or announced anything: it wants packets like any other
};

}  // namespace qps::transport
