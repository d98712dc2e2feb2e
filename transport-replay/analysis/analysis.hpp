// Analysis: observations in the order of the capture go in, one Timeline comes out. It is a value: so_far()
// finishes a copy while the original goes on, which is how a live view shows what is known.
#pragma once

#include <dissect/capture/drops.hpp>
#include <transport-replay/analysis/analysis_settings.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/packet_record.hpp>

#include <memory>

namespace qps::transport {

struct Timeline;

class Analysis {
public:
    explicit Analysis(AnalysisSettings settings = {});
    Analysis(const Analysis&);
    Analysis& operator=(const Analysis&);
    Analysis(Analysis&&) noexcept;
    Analysis& operator=(Analysis&&) noexcept;
    ~Analysis();

    // The next packet of the capture. What it was to its connection, from the past alone.
    PacketRecord observe(const Observation& observation);

    // The next packet does not continue what was followed: it is of another recording, judged apart. Whether a packet
    // continues it; when the last one was recorded.
    void end_recording();
    [[nodiscard]] bool continues(const Observation& observation) const;
    [[nodiscard]] std::optional<dissect::Instant> last() const;

    // Says what comes: packets some places ahead, so that their lines are there when it is their turn. Changes nothing.
    static constexpr std::size_t kAhead = 8;  // packets from one to the next
    void prefetch(const Observation& far, const Observation& nearer, const Observation& near) const;

    // The timeline so far, as if the capture ended here; the analysis goes on, and nobody hears of messages or
    // operations by it.
    [[nodiscard]] Timeline so_far(const dissect::Drops& drops = {}) const;
    // The end of the capture: everything that is open is decided or called open. Call it once.
    [[nodiscard]] Timeline finish(const dissect::Drops& drops = {});

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace qps::transport
