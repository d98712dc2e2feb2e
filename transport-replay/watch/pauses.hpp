// PauseTracker: pauses of links, as 802.3 PAUSE frames and PFC ask for them: how long, how often, and who went on
// sending.
//
// A pause of a link whose speed nobody tells lasts as long as its quanta at the slowest speed that the link can have,
// and not beyond the first packet that it should have stopped. A switch has no address that packets go to: there, who
// is silent from the first frame that stops to the last, and goes on then, is who was stopped.
//
// Observations in the order of the capture go in, of pauses and of everything else. What an attacker could feed: any
// number of ends of links, priorities and hosts. Tables have a bound below and a count of what is past it.
#pragma once

#include <transport-replay/model/congestion_report.hpp>
#include <transport-replay/model/observation.hpp>

#include <array>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

inline constexpr std::size_t kMaxPausePeriods = 4096;    // listed; more are counted
inline constexpr std::size_t kMaxPauseTimers = 9 * 512;  // ends of links times priorities and PAUSE
inline constexpr std::size_t kMaxPausedSenders = 16;     // of one class of an interface

class PauseTracker {
public:
    // A pause frame; or another packet: whether it came although its receiver had asked for a pause.
    void observe(const Observation& observation) {
        if (observation.kind == ObservationKind::pause || observation.kind == ObservationKind::pfc) take(observation);
        else if (!timers_.empty()) take_traffic(observation);
    }
    // Whether anybody asked for a pause: before, packets that are no pause frames matter to nobody, but for who sent
    // last.
    [[nodiscard]] bool any() const { return !timers_.empty(); }
    // A packet before anybody asked: whose traffic there was to stop.
    void remember(const Observation& observation) {
        if (any() || !observation.is_numbered()) return;
        const std::uint64_t from = observation.flow.source.bits[1];
        before_[(from ^ from >> 8U ^ observation.link_destination) % before_.size()] = {
            from, observation.link_destination, observation.time, observation.interface, observation.pcp, true};
    }
    // `now`: the latest time of any packet.
    void finish(dissect::Instant now, CongestionReport& report);

private:
    struct Key {
        dissect::InterfaceId interface{};
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
    // When a sender was silent: the longest time with a frame that asked for a pause in it, and the longest without.
    struct Silence {
        std::optional<dissect::Instant> last;
        dissect::Instant from{}, to{};
        dissect::Duration idle{};
        void sent(dissect::Instant now, std::optional<dissect::Instant> asked);
    };
    struct Timer {
        PauseSummary summary;
        PausePeriod period;
        bool running = false;
        bool told = false;           // the speed of the link
        bool exact = true;           // at no speed of the link could a frame have expired before the next
        dissect::Duration least{};   // of this period, at the fastest
        dissect::Duration quanta{};  // of the last frame, at the fastest
        dissect::Instant last_stop{};
        dissect::Instant expiry{};
        PausePeriod longest;      // its end: of the last frame that asked for it, or that ended it
        dissect::Instant over{};  // of the longest
        bool longest_exact = false;
        Silence to_it;
    };
    // Traffic of a priority on an interface, or of all: who sends it.
    struct PausedSender {
        std::uint64_t from = 0;
        Silence silence;
    };
    struct Channel {
        std::vector<PausedSender> senders;
        std::optional<dissect::Instant> asked;
        bool full = false;
    };
    // Bytes to who paused, and how fast they came.
    struct Rate {
        std::optional<dissect::Instant> since;
        std::uint64_t bytes = 0;
        std::uint64_t most = 0;  // bits a second
    };
    struct Before {
        std::uint64_t from = 0, to = 0;
        dissect::Instant time{};
        dissect::InterfaceId interface{};
        std::uint8_t pcp = kNoPcp;
        bool there = false;
    };
    void take(const Observation& observation);
    void take(const Observation& observation, std::uint8_t priority, std::uint16_t quanta);
    void stop(Timer& timer, const Key& key, const Observation& observation, std::uint16_t quanta);
    void take_traffic(const Observation& observation);
    void take_to_pauser(Timer& timer, const Observation& observation);
    void take_sender(const Key& key, std::uint64_t from, dissect::Instant time);
    void take_rate(const Observation& observation);
    void recall(Timer& timer, const Key& key);
    [[nodiscard]] const Channel* channel_of(const Timer& timer) const;
    [[nodiscard]] std::optional<dissect::Instant> gone_on(const Timer& timer) const;
    void end_by_traffic(Timer& timer);
    void expire(Timer& timer, dissect::Instant now);
    void close(Timer& timer, dissect::Instant end, PauseEnd how);
    void judge(Timer& timer) const;

    boost::unordered_flat_map<Key, Timer, KeyHash> timers_;
    boost::unordered_flat_map<Key, Channel, KeyHash> channels_;  // without a sender
    boost::unordered_flat_map<Key, Rate, KeyHash> rates_;        // without a priority
    std::array<Before, 32> before_{};
    std::vector<PausePeriod> periods_;
    std::uint64_t periods_dropped_ = 0;
    std::uint64_t frames_dropped_ = 0;
};

}  // namespace qps::transport
