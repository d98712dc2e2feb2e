#include <transport-replay/live/link_pauses.hpp>

#include <algorithm>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::size_t kWhole = kPriorities;

}  // namespace

void LinkPauses::take(Bytes frame, std::uint64_t mac, Instant now) {
    const auto demand = read_pause(frame, mac);
    if (!demand) {
        ++ignored_;
        return;
    }
    ++frames_;
    expire(now);
    if (demand->whole_link) return set(kWhole, demand->quanta[0], demand->source, now);
    for (std::size_t priority = 0; priority < kPriorities; ++priority)
        if ((demand->priorities >> priority & 1) != 0) set(priority, demand->quanta[priority], demand->source, now);
}

void LinkPauses::set(std::size_t which, std::uint16_t quanta, std::uint64_t source, Instant now) {
    PauseTimer& timer = timers_[which];
    timer.source = source;
    if (quanta == 0) {
        ++timer.resumes;
        if (timer.running) close(which, now);
        return;
    }
    ++timer.stops;
    if (!timer.running) {
        timer.running = true;
        timer.since = now;
        ++timer.periods;
        running_ = static_cast<std::uint16_t>(running_ | 1U << which);
    }
    timer.until = now + pause_time(quanta, speed_);
}

void LinkPauses::close(std::size_t which, Instant end) {
    PauseTimer& timer = timers_[which];
    const Duration length = end - timer.since;
    timer.running = false;
    timer.paused += length;
    timer.longest = std::max(timer.longest, length);
    running_ = static_cast<std::uint16_t>(running_ & ~(1U << which));
}

void LinkPauses::expire(Instant now) {
    if (running_ == 0) return;
    for (std::size_t which = 0; which < kPauseTimers; ++which)
        if (timers_[which].running && timers_[which].until <= now) close(which, timers_[which].until);
}

std::uint8_t LinkPauses::stopped(Instant now) {
    expire(now);
    constexpr std::uint8_t kAll = 0xff;
    return (running_ >> kWhole & 1) != 0 ? kAll : static_cast<std::uint8_t>(running_);
}

std::optional<Instant> LinkPauses::ends_at() const {
    std::optional<Instant> first;
    for (const PauseTimer& timer : timers_)
        if (timer.running && (!first || timer.until < *first)) first = timer.until;
    return first;
}

Duration LinkPauses::paused(Instant now) const {
    Duration all{};
    for (const PauseTimer& timer : timers_) all += timer.paused + running_for(timer, now);
    return all;
}

}  // namespace qps::transport::live
