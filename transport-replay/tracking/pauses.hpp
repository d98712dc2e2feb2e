// PauseTracker: pauses of links, as 802.3 PAUSE frames and PFC ask for them: how long, how often, and who went on sending.
//
// Observations in the order of the capture go in, of pauses and of everything else. What an attacker could feed: any number of ends of
// links and priorities. Tables have a bound below and a count of what is past it.
#pragma once

#include <transport-replay/model/congestion_report.hpp>
#include <transport-replay/model/observation.hpp>

#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

inline constexpr std::size_t kMaxPausePeriods = 4096;          // listed; more are counted
inline constexpr std::size_t kMaxPauseTimers = 9 * 512;        // ends of links times priorities and PAUSE
inline constexpr dissect::Duration kLongestPause{33'600'000};  // 65535 quanta of 512 bits at 1 Gbit/s

class PauseTracker {
public:
    // A pause frame; or another packet: whether it came although its receiver had asked for a pause.
    void observe(const Observation& observation) {
        if (observation.kind == ObservationKind::pause || observation.kind == ObservationKind::pfc) take(observation);
        else if (!timers_.empty()) take_traffic(observation);
    }
    // Whether anybody asked for a pause: before, packets that are no pause frames matter to nobody.
    [[nodiscard]] bool any() const { return !timers_.empty(); }
    // `now`: the latest time of any packet.
    void finish(dissect::Instant now, CongestionReport& report);

private:
    struct Key {
        dissect::InterfaceId interface {};
        std::uint8_t priority = 0;
        std::uint64_t sender = 0;  // MAC address
        [[nodiscard]] auto operator<=>(const Key&) const = default;
    };
    struct KeyHash {
        using is_avalanching = void;
        std::size_t operator()(const Key& key) const {
            return mix(mix(std::uint64_t{std::to_underlying(key.interface)} << 8 | key.priority) + key.sender);
        }
    };
    struct Timer {
        PauseSummary summary;
        PausePeriod period;
        bool running = false;
        dissect::Instant last_stop{};
        std::optional<dissect::Instant> expiry;  // where the link speed is known
    };
    void take(const Observation& observation);
    void take(const Observation& observation, std::uint8_t priority, std::uint16_t quanta);
    void take_traffic(const Observation& observation);
    void expire(Timer& timer, dissect::Instant now);
    void close(Timer& timer, dissect::Instant end, PauseEnd how);

    boost::unordered_flat_map<Key, Timer, KeyHash> timers_;
    std::vector<PausePeriod> periods_;
    std::uint64_t periods_dropped_ = 0;
    std::uint64_t frames_dropped_ = 0;
};

}  // namespace qps::transport
