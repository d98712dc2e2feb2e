// GateSummary: what a batch is for the gate, counted by any thread before its turn, so that the one thread that all
// packets pass has to do what depends on those before them and nothing else.
#pragma once

#include <transport-replay/model/observation.hpp>
#include <transport-replay/tracking/quality.hpp>

#include <optional>
#include <vector>

namespace qps::transport {

class GateSummary {
public:
    struct Entry {
        Recorded packet;
        bool plain = false;     // RDMA that nothing is wrong with
        bool numbered = false;  // RDMA: the window of repetitions has it
    };
    void clear();
    void add(const Observation& observation);
    // Whether it has all there is to say of so many packets.
    [[nodiscard]] bool is_of(std::size_t packets) const { return whole_ && entries_.size() == packets; }

    [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
    [[nodiscard]] const ContentSums& contents() const { return contents_; }
    [[nodiscard]] const ClockSums& clock() const { return clock_; }
    [[nodiscard]] const HeardPairs& pairs() const { return pairs_; }
    [[nodiscard]] dissect::FrameIndex start() const { return start_; }  // its first frame
    // That all its packets have; nothing where they have several.
    [[nodiscard]] std::optional<NetworkId> network() const {
        return several_networks_ ? std::nullopt : std::optional(network_);
    }
    // Times of packets that have one.
    [[nodiscard]] const std::optional<dissect::Instant>& earliest() const { return earliest_; }
    [[nodiscard]] const std::optional<dissect::Instant>& latest() const { return latest_; }

private:
    std::vector<Entry> entries_;
    ContentSums contents_;
    ClockSums clock_;
    HeardPairs pairs_;
    dissect::FrameIndex start_{};
    std::optional<dissect::Instant> earliest_, latest_;
    NetworkId network_{};
    bool several_networks_ = false;
    bool whole_ = true;
};

}  // namespace qps::transport
