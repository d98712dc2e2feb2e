#include <dissect/base/types.hpp>
#include <transport-replay/watch/pauses.hpp>

#include <algorithm>
#include <array>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kSecond = kNanosecondsPerSecond;  // in nanoseconds
constexpr std::uint64_t kBitsPerQuantum = 512;            // IEEE 802.3, annex 31B
constexpr std::size_t kPriorities = 8;
constexpr std::uint64_t kGigabit = 1'000'000'000;
constexpr Duration kRateWindow{
    100'000};  // long enough that times which a recorder gave to several packets at once matter little
// Speeds of links, in tenths of a gigabit; a link is as fast as the next of them above what it carried.
constexpr std::array<std::uint64_t, 11> kSpeeds{10, 25, 50, 100, 250, 400, 500, 1000, 2000, 4000, 8000};
constexpr Duration kPromptly{
    1'000'000};  // behind a pause, or before it: what its edges may be apart from those of a silence
constexpr std::int64_t kPromptPart = 10;  // and that part of its length

bool lasts_at_most(Instant from, Instant to, Duration time) { return to - from <= time; }

Duration time_of(std::uint16_t quanta, std::uint64_t speed) {
    return Duration{static_cast<std::int64_t>(quanta * kBitsPerQuantum * kSecond / speed)};
}

// The slowest speed of a link that carried so many bits a second, give or take a fifth.
std::uint64_t slowest_of(std::uint64_t carried) {
    for (const std::uint64_t tenths : kSpeeds)
        if (tenths * (kGigabit / 10) >= carried / 5 * 4) return tenths * (kGigabit / 10);
    return std::to_underlying(kFastestLink);
}

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
    if (observation.kind == ObservationKind::pause)
        take(observation, kWholeLink, read_be<std::uint16_t>(observation.payload, 0));
    if (observation.kind != ObservationKind::pfc) return;
    const PauseTimes times = pause_times(observation.payload);
    for (std::size_t priority = 0; priority < kPriorities; ++priority)
        if ((times.enabled >> priority & 1) != 0)
            take(observation, static_cast<std::uint8_t>(priority), times.quanta[priority]);
}

void PauseTracker::take(const Observation& observation, std::uint8_t priority, std::uint16_t quanta) {
    const Key key{observation.interface, priority, observation.flow.source.bits[1]};
    if (!timers_.contains(key) && timers_.size() >= kMaxPauseTimers) {
        ++frames_dropped_;
        return;
    }
    const bool first = timers_.empty();
    Timer& timer = timers_[key];
    timer.summary.interface = observation.interface;
    timer.summary.priority = priority;
    timer.summary.sender = observation.flow.source;
    if (first) recall(timer, key);
    expire(timer, observation.time);
    if (timer.running && !timer.told) end_by_traffic(timer);
    if (quanta != 0) return stop(timer, key, observation, quanta);
    ++timer.summary.resumes;
    if (!timer.running) return;
    timer.exact = timer.exact && lasts_at_most(timer.last_stop, observation.time, timer.quanta);
    timer.least = timer.least + std::clamp(observation.time - timer.last_stop, Duration{}, timer.quanta);
    close(timer, observation.time, PauseEnd::resumed);
}

void PauseTracker::stop(Timer& timer, const Key& key, const Observation& observation, std::uint16_t quanta) {
    ++timer.summary.stops;
    timer.summary.stop_frames.add({observation.frame, observation.time});
    if (timer.running) {
        ++timer.period.refreshes;
        timer.exact = timer.exact && lasts_at_most(timer.last_stop, observation.time, timer.quanta);
        timer.least = timer.least + std::clamp(observation.time - timer.last_stop, Duration{}, timer.quanta);
    } else {
        timer.period = {.interface = observation.interface,
                        .priority = key.priority,
                        .sender = observation.flow.source,
                        .frame = observation.frame,
                        .start = observation.time,
                        .end = observation.time};
        timer.exact = true;
        timer.least = {};
    }
    timer.running = true;
    timer.last_stop = observation.time;
    std::uint64_t speed = std::to_underlying(observation.link_speed);
    timer.told = speed != 0;
    if (!timer.told) {
        const auto rate = rates_.find({key.interface, 0, key.sender});
        const std::uint64_t carried = rate == rates_.end() ? 0 : rate->second.most;
        speed = slowest_of(carried);
        timer.summary.assumed_speed = BitsPerSecond{speed};
        timer.summary.speed_shown = BitsPerSecond{speed} != kSlowestLink;
    }
    timer.quanta = time_of(quanta, timer.told ? speed : std::to_underlying(kFastestLink));
    timer.expiry = observation.time + time_of(quanta, speed);
    for (const std::uint8_t pcp : {key.priority, kNoPcp})
        if (const auto channel = channels_.find({key.interface, pcp, 0}); channel != channels_.end())
            channel->second.asked = observation.time;
}

// Who sent before the first frame of all that asked for a pause.
void PauseTracker::recall(Timer& timer, const Key& key) {
    std::ranges::sort(before_, {}, &Before::time);
    for (const Before& one : before_) {
        if (!one.there) continue;
        const bool of_class = key.priority == kWholeLink || one.pcp == key.priority || one.pcp == kNoPcp;
        if (of_class && one.interface == key.interface && one.to == key.sender) timer.to_it.sent(one.time, {});
        for (const std::uint8_t pcp : {kWholeLink, one.pcp}) take_sender({one.interface, pcp, 0}, one.from, one.time);
    }
    // Only the last packet of each is remembered: what lies between two of them is no silence.
    timer.to_it.idle = {};
    for (auto& [_, channel] : channels_)
        for (PausedSender& sender : channel.senders) sender.silence.idle = {};
}

// PAUSE stops every packet to who sends it, PFC those of its priority. Of a packet without a tag only the ends know the
// priority.
void PauseTracker::take_traffic(const Observation& observation) {
    if (observation.link_destination != 0) {
        for (const std::uint8_t priority : {kWholeLink, observation.pcp}) {
            const auto found = timers_.find({observation.interface, priority, observation.link_destination});
            if (found != timers_.end()) take_to_pauser(found->second, observation);
        }
        if (observation.pcp == kNoPcp && observation.is_numbered())
            for (std::uint8_t priority = 0; priority < kPriorities; ++priority) {
                const auto found = timers_.find({observation.interface, priority, observation.link_destination});
                if (found == timers_.end()) continue;
                expire(found->second, observation.time);
                if (found->second.running && !found->second.told)
                    close(found->second, observation.time, PauseEnd::unknown);
            }
        if (observation.link_speed == BitsPerSecond{}) take_rate(observation);
    }
    if (!observation.is_numbered()) return;
    for (const std::uint8_t pcp : {kWholeLink, observation.pcp})
        take_sender({observation.interface, pcp, 0}, observation.flow.source.bits[1], observation.time);
}

void PauseTracker::take_to_pauser(Timer& timer, const Observation& observation) {
    expire(timer, observation.time);
    ++timer.summary.packets_to_it;
    const bool asked = timer.summary.stops != 0;
    timer.to_it.sent(observation.time, asked ? std::optional(timer.last_stop) : std::nullopt);
    if (!timer.running) return;
    if (!timer.told) return close(timer, observation.time, PauseEnd::unknown);
    if (lasts_at_most(timer.period.start, observation.time, kPauseGrace)) return;
    if (timer.summary.late++ != 0) return;
    timer.summary.first_late = observation.frame;
    timer.summary.first_late_time = observation.time;
}

void PauseTracker::take_sender(const Key& key, std::uint64_t from, Instant time) {
    const auto found = channels_.find(key);
    if (found == channels_.end() && channels_.size() >= kMaxPauseTimers) return;
    Channel& channel = found == channels_.end() ? channels_[key] : found->second;
    auto sender = std::ranges::find(channel.senders, from, &PausedSender::from);
    if (sender == channel.senders.end()) {
        channel.full = channel.full || channel.senders.size() == kMaxPausedSenders;
        if (channel.full) return;
        channel.senders.push_back({from, {}});
        sender = std::prev(channel.senders.end());
    }
    sender->silence.sent(time, channel.asked);
}

void PauseTracker::take_rate(const Observation& observation) {
    const Key key{observation.interface, 0, observation.link_destination};
    const auto found = rates_.find(key);
    if (found == rates_.end() && rates_.size() >= kMaxPauseTimers) return;
    Rate& rate = found == rates_.end() ? rates_[key] : found->second;
    if (!rate.since || observation.time < *rate.since) {
        rate = {observation.time, 0, rate.most};
        return;
    }
    rate.bytes += observation.wire_length;
    const Duration time = observation.time - *rate.since;
    if (time < kRateWindow) return;
    constexpr double kBits = 8;
    const double seconds = static_cast<double>(std::to_underlying(time)) / static_cast<double>(kSecond);
    const double carried = std::min(static_cast<double>(rate.bytes) * kBits / seconds,
                                    static_cast<double>(std::to_underlying(kFastestLink)));
    rate = {observation.time, 0, std::max(rate.most, static_cast<std::uint64_t>(carried))};
}

void PauseTracker::Silence::sent(Instant now, std::optional<Instant> asked) {
    if (last && now > *last) {
        const bool in_pause = asked && *asked > *last;
        if (!in_pause) idle = std::max(idle, now - *last);
        else if (now - *last > to - from) from = *last, to = now;
    }
    last = last ? std::max(*last, now) : now;
}

// Those whose traffic a switch stops: of that priority, or without a tag.
const PauseTracker::Channel* PauseTracker::channel_of(const Timer& timer) const {
    for (const std::uint8_t pcp : {timer.summary.priority, kNoPcp}) {
        const auto found = channels_.find({timer.summary.interface, pcp, 0});
        if (found != channels_.end() && !found->second.senders.empty()) return &found->second;
    }
    return nullptr;
}

// If all who sent shortly before sent on since the last frame that asked for a pause: until when it can have lasted.
std::optional<Instant> PauseTracker::gone_on(const Timer& timer) const {
    const Channel* channel = timer.summary.packets_to_it == 0 ? channel_of(timer) : nullptr;
    if (channel == nullptr) return std::nullopt;
    std::optional<Instant> latest;
    for (const PausedSender& sender : channel->senders) {
        const Instant last = sender.silence.last.value_or(timer.period.start);
        if (last <= timer.last_stop) {
            if (timer.period.start - last <= kStormTime) return std::nullopt;
            continue;
        }
        latest = latest ? std::max(*latest, last) : last;
    }
    return latest;
}

void PauseTracker::end_by_traffic(Timer& timer) {
    if (const auto until = gone_on(timer)) close(timer, std::min(*until, timer.expiry), PauseEnd::unknown);
}

// Ends a pause that nobody renewed in time.
void PauseTracker::expire(Timer& timer, Instant now) {
    if (!timer.running || !(timer.expiry < now)) return;
    if (!timer.told) end_by_traffic(timer);
    if (timer.running) close(timer, timer.expiry, timer.told ? PauseEnd::expired : PauseEnd::unknown);
}

void PauseTracker::close(Timer& timer, Instant end, PauseEnd how) {
    timer.running = false;
    PausePeriod& period = timer.period;
    PauseSummary& summary = timer.summary;
    const Instant over = std::max(end, period.start);
    const Duration length = over - period.start;
    period.end = how == PauseEnd::unknown ? std::max(timer.last_stop, period.start) : over;
    period.ended = how;
    if (how == PauseEnd::unknown) {
        timer.exact = false;
        timer.least = timer.least + std::clamp(end - timer.last_stop, Duration{}, timer.quanta);
    }
    ++summary.periods;
    if (!timer.told && !timer.exact) ++summary.unknown_lengths;
    else if (timer.told && length > kPauseGrace) ++summary.judged;
    if (length >= kStormTime && (timer.told || timer.exact)) ++summary.storms;
    summary.paused = summary.paused + length;
    summary.least_paused = summary.least_paused + (timer.told ? length : std::min(length, timer.least));
    if (length > summary.longest || summary.periods == 1) {
        summary.longest = length;
        summary.longest_frame = period.frame;
        summary.longest_start = period.start;
        timer.longest = period;
        timer.over = over;
        timer.longest_exact = timer.told || timer.exact;
    }
    if (periods_.size() < kMaxPausePeriods) periods_.push_back(period);
    else ++periods_dropped_;
}

// Whether traffic was silent for the longest of its pauses and went on behind it, as it never was else.
void PauseTracker::judge(Timer& timer) const {
    const PausePeriod& longest = timer.longest;
    PauseSummary& summary = timer.summary;
    if (summary.periods == 0) return;
    const auto proves = [&](const Silence& silence) {
        const Duration length = longest.end - longest.start;
        const Duration edge = std::max(kPromptly, Duration{std::to_underlying(length) / kPromptPart});
        return length > kPauseGrace && silence.from <= longest.start + kPauseGrace && silence.to >= longest.end &&
               longest.start <= silence.from + edge && silence.to <= timer.over + edge &&
               silence.idle + silence.idle <= silence.to - silence.from;
    };
    const auto take = [&](const Silence& silence) {
        if (!proves(silence)) return;
        summary.traffic_stopped = true;
        summary.silence = std::max(summary.silence, silence.to - silence.from);
    };
    if (summary.packets_to_it != 0) take(timer.to_it);
    else if (const Channel* channel = channel_of(timer); channel != nullptr && !channel->full)
        for (const PausedSender& sender : channel->senders) take(sender.silence);
    if (summary.traffic_stopped && !timer.longest_exact && longest.end - longest.start >= kStormTime) ++summary.storms;
}

void PauseTracker::finish(Instant now, CongestionReport& report) {
    std::vector<Key> keys;
    for (const auto& [key, timer] : timers_) keys.push_back(key);
    std::ranges::sort(keys);
    for (const Key& key : keys) {
        Timer& timer = timers_[key];
        expire(timer, now);
        if (timer.running && !timer.told) end_by_traffic(timer);
        if (timer.running) close(timer, now, timer.told ? PauseEnd::capture_end : PauseEnd::unknown);
        judge(timer);
        report.pauses.push_back(timer.summary);
    }
    report.periods = std::move(periods_);
    report.periods_dropped = periods_dropped_;
    report.packets_dropped += frames_dropped_;
}

}  // namespace qps::transport
