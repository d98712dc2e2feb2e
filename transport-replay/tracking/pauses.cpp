#include <dissect/types.hpp>
#include <transport-replay/tracking/pauses.hpp>

#include <algorithm>
#include <array>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kSecond = kNanosecondsPerSecond;  // in nanoseconds
constexpr std::uint64_t kBitsPerQuantum = 512;  // IEEE 802.3, annex 31B
constexpr std::size_t kPriorities = 8;

bool lasts_at_most(Instant from, Instant to, Duration time) { return to - from <= time; }

// As the frame says: PFC has all eight timers and which of them count, PAUSE has one.
struct PauseTimes {
    std::uint8_t enabled = 0;  // bit n: the timer of priority n counts
    std::array<std::uint16_t, kPriorities> quanta{};
};

PauseTimes pause_times(Bytes parameters) {
    PauseTimes times;
    times.enabled = read_be<std::uint8_t>(parameters, 1);
    for (std::size_t priority = 0; priority < kPriorities; ++priority)
        times.quanta[priority] = read_be<std::uint16_t>(parameters, 2 + 2 * priority);
    return times;
}

}  // namespace

void PauseTracker::take(const Observation& observation) {
    if (observation.kind == ObservationKind::pause) take(observation, kWholeLink, read_be<std::uint16_t>(observation.payload, 0));
    if (observation.kind != ObservationKind::pfc) return;
    const PauseTimes times = pause_times(observation.payload);
    for (std::size_t priority = 0; priority < kPriorities; ++priority)
        if ((times.enabled >> priority & 1) != 0) take(observation, static_cast<std::uint8_t>(priority), times.quanta[priority]);
}

void PauseTracker::take(const Observation& observation, std::uint8_t priority, std::uint16_t quanta) {
    const Key key{observation.interface, priority, observation.flow.source.bits[1]};
    if (!timers_.contains(key) && timers_.size() >= kMaxPauseTimers) {
        ++frames_dropped_;
        return;
    }
    Timer& timer = timers_[key];
    timer.summary.interface = observation.interface;
    timer.summary.priority = priority;
    timer.summary.sender = observation.flow.source;
    expire(timer, observation.time);
    if (quanta == 0) {
        ++timer.summary.resumes;
        if (timer.running) close(timer, observation.time, PauseEnd::resumed);
        return;
    }
    ++timer.summary.stops;
    if (timer.running) ++timer.period.refreshes;
    else
        timer.period = {.interface = observation.interface,
                        .priority = priority,
                        .sender = observation.flow.source,
                        .frame = observation.frame,
                        .start = observation.time,
                        .end = observation.time};
    timer.running = true;
    timer.last_stop = observation.time;
    timer.expiry.reset();
    const std::uint64_t speed = std::to_underlying(observation.link_speed);
    if (speed != 0) timer.expiry = observation.time + Duration{static_cast<std::int64_t>(quanta * kBitsPerQuantum * kSecond / speed)};
}

// PAUSE stops every packet to who sends it, PFC those of its priority.
void PauseTracker::take_traffic(const Observation& observation) {
    for (const std::uint8_t priority : {kWholeLink, observation.pcp}) {
        const auto found = timers_.find({observation.interface, priority, observation.link_destination});
        if (found == timers_.end()) continue;
        Timer& timer = found->second;
        expire(timer, observation.time);
        ++timer.summary.packets_to_it;
        if (!timer.running || !timer.expiry || lasts_at_most(timer.period.start, observation.time, kPauseGrace)) continue;
        if (timer.summary.late++ == 0) timer.summary.first_late = observation.frame;
    }
}

// Ends a pause that nobody renewed in time.
void PauseTracker::expire(Timer& timer, Instant now) {
    if (!timer.running) return;
    if (timer.expiry && *timer.expiry < now) close(timer, *timer.expiry, PauseEnd::expired);
    else if (!timer.expiry && !lasts_at_most(timer.last_stop, now, kLongestPause)) close(timer, timer.last_stop, PauseEnd::unknown);
}

void PauseTracker::close(Timer& timer, Instant end, PauseEnd how) {
    timer.running = false;
    PausePeriod& period = timer.period;
    PauseSummary& summary = timer.summary;
    period.end = std::max(end, period.start);
    period.ended = how;
    const Duration length = period.end - period.start;
    ++summary.periods;
    if (how == PauseEnd::unknown) ++summary.unknown_lengths;
    else if (timer.expiry && length > kPauseGrace) ++summary.judged;
    if (length >= kStormTime) ++summary.storms;
    summary.paused = summary.paused + length;
    if (length > summary.longest || summary.periods == 1) {
        summary.longest = length;
        summary.longest_frame = period.frame;
    }
    if (periods_.size() < kMaxPausePeriods) periods_.push_back(period);
    else ++periods_dropped_;
}

void PauseTracker::finish(Instant now, CongestionReport& report) {
    std::vector<Key> keys;
    for (const auto& [key, timer] : timers_) keys.push_back(key);
    std::ranges::sort(keys);
    for (const Key& key : keys) {
        Timer& timer = timers_[key];
        expire(timer, now);
        if (timer.running && timer.expiry) close(timer, now, PauseEnd::capture_end);
        if (timer.running) close(timer, timer.last_stop, PauseEnd::unknown);
        report.pauses.push_back(timer.summary);
    }
    report.periods = std::move(periods_);
    report.periods_dropped = periods_dropped_;
    report.packets_dropped += frames_dropped_;
}

}  // namespace qps::transport
