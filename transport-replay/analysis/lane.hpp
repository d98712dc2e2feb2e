// Lane: what is followed of the traffic of some pairs of hosts: connections, their set-up, what they are used for,
// marks and CNPs, bursts of collectives; and of some receivers the bursts of many senders. It is a value, and knows of
// no other lane.
#pragma once

#include <transport-replay/analysis/analysis_settings.hpp>
#include <transport-replay/analysis/capture_gate.hpp>
#include <transport-replay/analysis/lane_report.hpp>
#include <transport-replay/analysis/tcp_tails.hpp>
#include <transport-replay/cm/cm_ladder.hpp>
#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/iwarp/iwarp_tracker.hpp>
#include <transport-replay/set_up/exchange_watch.hpp>
#include <transport-replay/set_up/wireup_watch.hpp>
#include <transport-replay/tracking/tracker.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>
#include <transport-replay/ultra_ethernet/uet_tracker.hpp>
#include <transport-replay/watch/congestion.hpp>
#include <transport-replay/watch/incasts.hpp>
#include <transport-replay/watch/rate_watch.hpp>

namespace qps::transport {

class Lane {
public:
    // `recording`: that it follows; `numbered`: connections of those before it.
    explicit Lane(AnalysisSettings settings, std::uint16_t recording = 0, std::uint32_t numbered = 0);

    // A packet of its hosts, in the order of the capture; `sight`: what the gate decided. What it was to its
    // connection.
    PacketRecord follow(const Observation& observation, const Sight& sight);
    // A packet to one of its receivers that is to be followed: number `packet` of the capture.
    void receive(const Observation& observation, std::uint64_t packet) {
        if (carries_data(observation)) incasts_.observe(observation, packet);
    }
    // Asks for what follow() will read of packets that come soon: far ahead, nearer, near.
    void prefetch(const Observation& far, const Observation& nearer, const Observation& near) {
        congestion_.prefetch_index(nearer);
        congestion_.prefetch(near);
        tracker_.prefetch(far, nearer, near);
    }
    // For an incast: a message, or a part of one.
    [[nodiscard]] static bool carries_data(const Observation& observation);

    [[nodiscard]] std::uint32_t numbered() const { return tracker_.numbered(); }  // connections
    [[nodiscard]] Peaks peaks() const;
    void listen(AnalysisSettings&& listeners);  // to others than before

    // Whether the packet goes on with what was there: another recording, of the same hosts and queue pairs, would begin
    // anew.
    [[nodiscard]] bool continues(const Observation& observation) const {
        return observation.kind == ObservationKind::stream
                   ? tails_.continues(observation)
                   : tracker_.continues(observation) || cm_.continues(observation);
    }
    // The end of the recording: everything that is open is decided or called open. Call it once.
    [[nodiscard]] LaneReport finish(const GateReport& gate);

private:
    PacketRecord leave_out_copy(const Observation& observation) const;
    PacketRecord follow_stream(const Observation& observation);
    PacketRecord follow_context(const Observation& observation, const Sight& sight);
    PacketRecord follow_believed(const Observation& observation, const Sight& sight);
    void take_match(std::uint32_t uid, const Observation& observation);
    void take_cm(const CmNews& news, PacketRecord& record);
    void drain();
    [[nodiscard]] Tracked finish_tracker();

    AnalysisSettings settings_;
    std::uint16_t recording_ = 0;
    Observation believed_;  // what is followed of a packet whose ICRC says nothing
    CmTracker cm_;
    CongestionTracker congestion_;
    RateWatch rates_;
    IncastTracker incasts_;
    Tracker tracker_;
    UlpTracker ulp_;
    CollectiveTracker collectives_;
    IwarpTracker iwarp_;
    ExchangeWatch exchanges_;
    WireupWatch wireups_;
    UetTracker uet_;
    HostPairs heard_;
    TcpTails tails_;
};

}  // namespace qps::transport
