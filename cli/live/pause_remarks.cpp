#include <cli/live/pause_remarks.hpp>
#include <cli/message.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;
using namespace transport::live;
using dissect::Duration;
using dissect::Instant;

namespace {

constexpr Duration kBetweenRemarks{1'000'000'000};

std::string sender_of(const PauseTimer& timer) {
    return text(Address{.bits = {0, timer.source}, .space = AddressSpace::ethernet});
}

}  // namespace

std::string pause_name(std::size_t timer) {
    return timer < kPriorities ? fmt::format("PFC for priority {}", timer) : "PAUSE";
}

std::vector<std::string> PauseRemarks::take(const live::Endpoint& endpoint, Instant now) {
    if (!any_ && !endpoint.pauses().running()) return {};
    std::vector<std::string> lines;
    any_ = false;
    const auto timers = endpoint.pauses().timers();
    for (std::size_t i = 0; i < timers.size(); ++i) {
        const PauseTimer& timer = timers[i];
        Told& told = told_[i];
        const bool same = timer.running && told.since == timer.since;
        if (told.told && !same)
            lines.push_back(fmt::format("{} ended after {}", pause_name(i), duration_text(now - told.since)));
        if (!same) told = {.since = timer.since, .next = timer.since + kLongPause};
        if (!timer.running) continue;
        if (now >= told.next) {
            lines.push_back(fmt::format("paused for {} by {} from {} ({}): nothing{} is sent",
                                        duration_text(now - timer.since), pause_name(i), sender_of(timer),
                                        counted(timer.stops, "frame"), i < kPriorities ? " of that priority" : ""));
            told.told = true;
            told.next = now + kBetweenRemarks;
        }
        any_ = true;
    }
    return lines;
}

void PauseRemarks::say_new(const live::Endpoint& endpoint, Instant now) {
    for (const std::string& line : take(endpoint, now)) say("qpscope: {}\n", line);
}

std::vector<std::string> pause_sums(const LinkPauses& pauses, Instant now) {
    std::vector<std::string> lines;
    const auto timers = pauses.timers();
    for (std::size_t i = 0; i < timers.size(); ++i) {
        const PauseTimer& timer = timers[i];
        if (timer.stops + timer.resumes == 0) continue;
        const Duration running = running_for(timer, now);
        lines.push_back(fmt::format("{}: {}, paused for {} in {}, {} at worst", pause_name(i),
                                    counted(timer.stops + timer.resumes, "frame"),
                                    duration_text(timer.paused + running), counted(timer.periods, "period"),
                                    duration_text(std::max(timer.longest, running))));
    }
    return lines;
}

}  // namespace qps::cli
