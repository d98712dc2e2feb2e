#include <transport-replay/model/finding.hpp>
#include <transport-replay/model/recovery.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>

namespace qps::transport {

std::array<FindingEvent, 4> events_of(const Recovery& episode) {
    const bool asked = episode.kind == RecoveryKind::sequence_nak || episode.kind == RecoveryKind::rnr_nak;
    return {{{episode.original, EventRole::original},
             {episode.trigger, asked ? EventRole::nak : EventRole::retransmission,
              asked                                ? std::optional(episode.time.begin())
              : episode.trigger == episode.resumed ? std::optional(episode.resumed_time)
                                                   : std::nullopt},
             {episode.resumed, EventRole::retransmission, episode.resumed_time},
             {episode.last, EventRole::end, episode.time.end()}}};
}

void tidy(std::vector<FindingEvent>& events) {
    std::erase_if(events, [](const FindingEvent& event) { return event.frame == dissect::FrameIndex{}; });
    std::ranges::stable_sort(events, {}, &FindingEvent::frame);
    const auto repeated = std::ranges::unique(events, {}, &FindingEvent::frame);
    events.erase(repeated.begin(), repeated.end());
}

std::vector<FindingEvent> events_of(const Finding& finding, const Timeline& timeline, std::size_t most) {
    const std::size_t own = std::min(finding.events.size(), most);
    std::vector<FindingEvent> events(finding.events.begin(), finding.events.begin() + static_cast<std::ptrdiff_t>(own));
    for (const std::uint32_t place : finding.episodes) {
        if (events.size() >= most || place >= timeline.recoveries.size()) break;
        const auto more = events_of(timeline.recoveries[place]);
        events.insert(events.end(), more.begin(), more.end());
    }
    tidy(events);
    if (events.size() > most) events.resize(most);
    return events;
}

}  // namespace qps::transport
