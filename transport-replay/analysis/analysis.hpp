// Analysis: observations in the order of the capture go in, one Timeline comes out. It is a value: so_far()
// finishes a copy while the original goes on, which is how a live view shows what is known.
#pragma once

#include <transport-replay/cm/cm_ladder.hpp>
#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/management/management_tracker.hpp>
#include <transport-replay/iwarp/iwarp_tracker.hpp>
#include <transport-replay/model/packet_story.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/congestion.hpp>
#include <transport-replay/tracking/quality.hpp>
#include <transport-replay/tracking/tracker.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <functional>
#include <optional>

#include <boost/unordered/unordered_flat_set.hpp>

namespace qps::transport {

// Pairs of hosts, each way, of which something else than RDMA was heard: TCP beside it, say.
using HostPairs = boost::unordered_flat_set<FlowKey, FlowHash>;
inline constexpr std::size_t kMaxHeard = 1 << 14;

struct AnalysisSettings {
    // Called with each message when nothing more can happen to it, in that order.
    std::function<void(ConnectionId, End requester, const Message&)> message{};
    // Called with each operation of an upper protocol when it ended.
    OperationSink operation{};
    // What the user, or an earlier pass, says of connections; it outweighs what their traffic says.
    UlpHints hints{};
};

class Analysis {
public:
    explicit Analysis(AnalysisSettings settings = {});

    // The next packet of the capture. What it was to its connection, from the past alone.
    PacketStory observe(const Observation& observation);

    // Says what comes: packets some places ahead, so that their lines are there when it is their turn. Changes nothing.
    static constexpr std::size_t kAhead = 8;  // packets from one to the next
    void prefetch(const Observation& far, const Observation& nearer, const Observation& near) const {
        quality_.prefetch(near);
        congestion_.prefetch_index(nearer);
        congestion_.prefetch(near);
        tracker_.prefetch(far, nearer, near);
    }

    // What is known so far, as if the capture ended here; the analysis goes on, and nobody hears of messages or operations by it.
    [[nodiscard]] Timeline so_far(const dissect::Drops& drops = {}) const;
    // The end of the capture: everything that is open is decided or called open. Call it once.
    [[nodiscard]] Timeline finish(const dissect::Drops& drops = {});

private:
    void take_cm(const CmNews& news, PacketStory& story);
    void drain();

    AnalysisSettings settings_;
    QualityTracker quality_;
    CmTracker cm_;
    CongestionTracker congestion_;
    Tracker tracker_;
    UlpTracker ulp_;
    CollectiveTracker collectives_;
    ManagementTracker datagrams_;
    IwarpTracker iwarp_;
    HostPairs heard_;
    std::uint64_t packets_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t management_ = 0;
    std::optional<dissect::Instant> first_;
    std::optional<dissect::Instant> last_;
};

}  // namespace qps::transport
