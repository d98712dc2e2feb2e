// CaptureGate: what the capture as a whole decides of each packet, before anybody follows it: whether it is a copy that
// another tap or a mirror recorded, whether its ICRC says anything, what time it is. In the order of the capture, in
// one thread; all that it leaves to others can be shared out.
#pragma once

#include <dissect/capture/drops.hpp>
#include <transport-replay/analysis/analysis_settings.hpp>
#include <transport-replay/model/capture_quality.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/peaks.hpp>
#include <transport-replay/tracking/copy_filter.hpp>
#include <transport-replay/tracking/copy_sampler.hpp>
#include <transport-replay/tracking/quality.hpp>
#include <transport-replay/tracking/tenant_watch.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <optional>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

namespace qps::transport {

class GateSummary;

enum class Handling : std::uint8_t {
    follow,
    copy,      // another recording of a packet that the capture has
    no_hosts,  // of two taps, what names no hosts may be from either: its time means nothing beside that of the others
};

// The gate's decision on a packet.
struct Sight {
    dissect::Instant now{};        // the latest time of what was followed, it included
    dissect::Duration distance{};  // after the packet that it repeats
    Handling handling = Handling::follow;
    Repetition repetition = Repetition::none;
    bool icrc_not_judged = false;  // its ICRC is wrong, and that says nothing
};

// The gate's results at the end.
struct GateReport {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::optional<dissect::Instant> first;
    std::optional<dissect::Instant> last;
    std::vector<dissect::Instant> recordings;  // when each but the last ended
    dissect::Instant now{};                    // of what was followed
    dissect::Instant now_transport{};          // of these, RDMA alone
    dissect::Instant now_link{};               // also of what names no hosts
    std::uint64_t packets_on_links = 0;        // of these
    CaptureQuality quality;
    CaptureTraits learned;  // of taps: what a second reading can do better; empty where this one knew it
    dissect::Duration
        clocks_apart{};  // how far the clocks of taps may be apart whose packets are followed side by side
};

// A packet of a batch of which the window of repetitions had anything to say.
struct MetAt {
    std::uint32_t place = 0;
    Met met;
};

class CaptureGate {
public:
    explicit CaptureGate(const AnalysisSettings& settings);
    // The next packet of the capture.
    [[nodiscard]] Sight pass(const Observation& observation);
    // Asks for the lines that it will want of a packet that comes soon.
    void prefetch(const Observation& near) const { quality_.prefetch(near); }
    // Whether every RDMA packet is looked up in the window of repetitions, so that somebody else may do so before.
    [[nodiscard]] bool looks_up_all() const {
        return copies_.knows_nothing() && !copies_.active() && !quality_.expects_clocks_by_file() &&
               traits_.tenants.empty();
    }
    // The same of a batch, of which `summary` has all or nothing. `met`: what a window said of its packets, in order,
    // where it looks_up_all().
    void pass(const GateSummary& summary, std::span<const Observation> batch, std::span<const MetAt> met,
              std::span<Sight> sights);
    // The packets that come do not continue those before them.
    void end_recording() { report_.recordings.push_back(report_.last.value_or(report_.now)); }
    [[nodiscard]] const GateReport& so_far() const { return report_; }
    // Hands out what it counted. Call it once.
    [[nodiscard]] GateReport finish(const dissect::Drops& drops);

private:
    [[nodiscard]] Sight pass(const Observation& observation, const Met& met);
    void take_time(const Observation& observation);
    [[nodiscard]] Sight decide(const Observation& observation, Repetition repetition, CopyFilter::Copy copy);
    void learn_taps();
    void pass_link(dissect::Instant time);
    [[nodiscard]] bool believes(const Observation& observation) const;
    [[nodiscard]] bool was_corrupt(const Observation& observation, Repetition repetition);

    CaptureTraits traits_;
    IcrcPolicy icrc_;
    CopySampler sampler_;
    CopyFilter copies_;
    TenantWatch tenants_;
    QualityTracker quality_;
    std::uint64_t icrc_not_judged_ = 0;
    std::uint64_t icrc_zero_ = 0;                       // of those
    boost::unordered_flat_set<std::uint64_t> corrupt_;  // hashes of packets
    GateReport report_;
};

}  // namespace qps::transport
