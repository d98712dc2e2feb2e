// CopySampler: learns from a whole capture whether several taps recorded the same packets, at which offset of their
// clocks, in whatever order their packets come: merged by time, or one file after the other.
//
// It follows a sample of packets, those whose hash ends in so many zeros: all recordings of a packet are in it or none.
// When there are too many, half of them go and one more zero is asked for; so it is bounded, and a packet that is not
// in it costs one comparison.
//
// What an attacker could feed: packets that are copies of each other at any distance. They are sampled as any others.
#pragma once

#include <transport-replay/model/capture_traits.hpp>
#include <transport-replay/tracking/flow_table.hpp>

#include <array>
#include <span>
#include <vector>

namespace qps::transport {

// A packet that was sampled, with its recordings.
struct SampledPacket {
    struct Recording {
        dissect::Instant time{};
        std::uint64_t order = 0;  // among the packets of the capture
        TapLabel label{};
    };
    static constexpr std::size_t kMostKept = 6;
    std::uint64_t hash = 0;
    HostsHash hosts;
    std::uint32_t recorded = 0;  // times; the first kMostKept are kept
    std::uint64_t flow = 0;      // FlowHash
    std::uint32_t msn = 0;       // of an ACK or NAK
    std::uint16_t ip_id = 0;
    bool answer = false;
    bool acknowledges = false;  // an ACK or NAK
    std::array<Recording, kMostKept> kept{};
    [[nodiscard]] std::span<const Recording> recordings() const {
        return std::span(kept).first(recorded < kMostKept ? recorded : kMostKept);
    }
};

class CopySampler {
public:
    static constexpr std::size_t kMostSampled = 4096;  // of 192 bytes

    // In the order of the capture.
    void observe(const Observation& observation) {
        ++order_;
        if ((observation.packet_hash & mask_) == 0 && observation.has_hosts()) take(observation);
    }
    // For who knows of a packet nothing but its hash: false where observe() wants it, else it was told of it.
    [[nodiscard]] bool passes_over(std::uint64_t hash) {
        if ((hash & mask_) == 0) return false;
        ++order_;
        return true;
    }
    [[nodiscard]] std::span<const SampledPacket> sampled() const { return packets_; }

private:
    void take(const Observation& observation);
    void thin();

    std::vector<SampledPacket> packets_;
    FlowTable index_;
    std::uint64_t mask_ = 0;
    std::uint64_t order_ = 0;
};

// What the sample says of taps; what it says of nothing else is left empty. `tenants`: hosts (HostsHash::both) whose
// packets may be alike although different queue pairs sent them.
[[nodiscard]] CaptureTraits learn_taps(std::span<const SampledPacket> packets,
                                       std::span<const std::uint64_t> tenants = {});

}  // namespace qps::transport
