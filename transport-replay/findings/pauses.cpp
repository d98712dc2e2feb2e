// Findings about pauses of links: PFC of a priority, 802.3x PAUSE of a whole link.
#include <dissect/base/types.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace qps::transport::families {

namespace {

using dissect::Duration;
using namespace facts;

constexpr FactRow kPauser{"pauser", Unit::host, "MAC address of who asked for the pauses"};
constexpr FactRow kPausedPriority{"paused_priority", Unit::number,
                                  "priority that was paused; nothing where the whole link was"};
constexpr FactRow kXoffFrames{"xoff_frames", Unit::count, "frames that asked for a pause"};
constexpr FactRow kXonFrames{"xon_frames", Unit::count, "frames that ended one"};
constexpr FactRow kLongestPause{"longest_pause", Unit::duration, "the longest pause without interruption"};
constexpr FactRow kStorms{"storms", Unit::count, "pauses that were as long as a storm"};
constexpr FactRow kStormLength{"storm_length", Unit::duration, "how long a pause is a storm"};
constexpr FactRow kPausedTime{"paused", Unit::duration, "time of all pauses; where some lengths are unknown, at most"};
constexpr FactRow kPausePeriods{"pauses", Unit::count, "pauses, each from its first XOFF until it ended"};
constexpr FactRow kPausedShare{"paused_share", Unit::share, "that time, as a part of the capture"};
constexpr FactRow kUnknownLengths{"unknown_lengths", Unit::count,
                                  "pauses of which only the speed of the link would tell the length"};
constexpr FactRow kAssumedSpeed{"assumed_speed", Unit::bits_per_second,
                                "speed of the link with which quanta are counted, where nothing tells it"};
constexpr FactRow kSpeedShown{"speed_shown", Unit::flag,
                              "packets to the pauser came so fast that the link is no slower"};
constexpr FactRow kPausedTraffic{
    "paused_traffic", Unit::word,
    "what became of the traffic: went_on (packets came too late), silent (it stopped and went on), none (no packet to that address "
    "was captured), stopped (none came meanwhile), speed_unknown and too_short (undecided)"};
constexpr FactRow kLatePackets{"late_packets", Unit::count,
                               "packets to it that came during a pause, later than its link partner may react"};
constexpr FactRow kReactionTime{"reaction_time", Unit::duration, "how long its link partner may take to react"};
constexpr FactRow kSilenceLength{"traffic_silence", Unit::duration, "how long traffic was silent"};
constexpr FactRow kPacketsToPauser{"packets_to_pauser", Unit::flag, "packets to that address were captured"};
constexpr std::array kPauseFacts{
    &kPauser,      &kPausedPriority, &kXoffFrames,   &kXonFrames,    &kLongestPause,   &kStorms,
    &kStormLength, &kPausedTime,     &kPausePeriods, &kPausedShare,  &kUnknownLengths, &kAssumedSpeed,
    &kSpeedShown,  &kPausedTraffic,  &kLatePackets,  &kReactionTime, &kSilenceLength,  &kPacketsToPauser,
};

constexpr std::int64_t kFeltPausePart = 100;  // a priority stopped for more than 1 % of the capture is felt
constexpr Duration kFeltPause{1'000'000};     // and for 1 ms at least: short captures begin and end in a pause

// What either kind of pause frame stops. They are told apart: PAUSE has no priorities, and other switches and counters.
enum class PauseKind : std::uint8_t { priority, link };

constexpr std::size_t kMostPausing = 64;  // senders that have a finding of their own

// Those who paused, with a storm or without, the longest first.
std::vector<const PauseSummary*> pauses_of(const Timeline& timeline, PauseKind kind, bool storms) {
    std::vector<const PauseSummary*> found;
    for (const PauseSummary& pause : timeline.congestion.pauses) {
        if ((pause.priority == kWholeLink) != (kind == PauseKind::link) || (pause.periods == 0 && pause.stops == 0))
            continue;
        if ((pause.storms != 0) == storms) found.push_back(&pause);
    }
    std::ranges::stable_sort(found, std::greater{}, [storms](const PauseSummary* pause) {
        return storms ? std::tuple(pause->longest, pause->stops) : std::tuple(pause->paused, std::uint64_t{0});
    });
    if (found.size() > kMostPausing) found.resize(kMostPausing);
    return found;
}

// XOFF frames, as many as are kept; the first of each pause; the first packet that came too late.
std::vector<FindingEvent> events_of(const Timeline& timeline, const PauseSummary& pause) {
    std::vector<FindingEvent> events;
    add_kept(events, pause.stop_frames);
    for (const PausePeriod& period : timeline.congestion.periods)
        if (period.interface == pause.interface && period.priority == pause.priority && period.sender == pause.sender)
            events.push_back({period.frame, EventRole::evidence, period.start});
    events.push_back({pause.longest_frame, EventRole::evidence, pause.longest_start});
    if (pause.late != 0) events.push_back({pause.first_late, EventRole::evidence, pause.first_late_time});
    return events;
}

// Whether its link partner stopped, as far as the capture tells.
std::string_view traffic_of(const PauseSummary& pause) {
    if (pause.late != 0) return "went_on";
    if (pause.traffic_stopped) return "silent";
    if (pause.packets_to_it == 0) return "none";
    if (pause.judged != 0) return "stopped";
    return pause.unknown_lengths != 0 ? "speed_unknown" : "too_short";
}

Facts facts_of(const PauseSummary& pause) {
    const bool silent = traffic_of(pause) == "silent";
    return {{kPauser, pause.sender},
            {kPausedPriority, pause.priority == kWholeLink ? std::nullopt : std::optional(pause.priority)},
            {kInterface, pause.interface},
            {kXoffFrames, pause.stops},
            {kXonFrames, pause.resumes},
            {kPausedTraffic, traffic_of(pause)},
            {kLatePackets, nonzero(pause.late)},
            {kReactionTime, pause.late != 0 ? std::optional(kPauseGrace) : std::nullopt},
            {kSilenceLength, silent ? std::optional(pause.silence) : std::nullopt},
            {kPacketsToPauser, pause.packets_to_it != 0}};
}

std::optional<double> speed_of(const PauseSummary& pause) {
    return nonzero(static_cast<double>(std::to_underlying(pause.assumed_speed)));
}

Duration length_of(const Timeline& timeline) {
    return timeline.first && timeline.last ? *timeline.last - *timeline.first : Duration{};
}

// Without the speed of the link it is no error: the traffic tells that it stopped, not for how long it had to.
void emit_storm(const Timeline& timeline, PauseKind kind, const Emit& emit) {
    for (const PauseSummary* pause : pauses_of(timeline, kind, true)) {
        Facts facts = facts_of(*pause);
        facts.insert(facts.end(), {{kLongestPause, pause->longest},
                                   {kStorms, pause->storms},
                                   {kStormLength, kStormTime},
                                   {kAssumedSpeed, speed_of(*pause)},
                                   {kSpeedShown, speed_of(*pause) && pause->speed_shown}});
        emit({.party = Party::congestion,
              .count = pause->storms,
              .severity = speed_of(*pause) ? std::optional(Severity::warning) : std::nullopt,
              .facts = std::move(facts),
              .events = events_of(timeline, *pause)});
    }
}

void emit_pause(const Timeline& timeline, PauseKind kind, const Emit& emit) {
    for (const PauseSummary* pause : pauses_of(timeline, kind, false)) {
        const auto whole = std::to_underlying(length_of(timeline));
        const bool unknown = pause->unknown_lengths != 0;
        const Duration least = unknown ? pause->least_paused : pause->paused;
        const bool felt = least >= kFeltPause && std::to_underlying(least) >= whole / kFeltPausePart;
        const bool told = !unknown || pause->paused != Duration{};
        Facts facts = facts_of(*pause);
        facts.insert(
            facts.end(),
            {{kPausePeriods, pause->periods},
             {kLongestPause, told ? std::optional(pause->longest) : std::nullopt},
             {kPausedTime, told ? std::optional(pause->paused) : std::nullopt},
             {kPausedShare, told ? std::optional(part_of(static_cast<std::uint64_t>(std::to_underlying(pause->paused)),
                                                         static_cast<std::uint64_t>(std::max<std::int64_t>(whole, 1))))
                                 : std::nullopt},
             {kUnknownLengths, nonzero(pause->unknown_lengths)},
             {kAssumedSpeed, unknown && told ? speed_of(*pause) : std::nullopt},
             {kSpeedShown, unknown && told && pause->speed_shown}});
        emit({.party = Party::congestion,
              .count = pause->periods,
              .severity = felt ? Severity::warning : Severity::note,
              .facts = std::move(facts),
              .events = events_of(timeline, *pause)});
    }
}

void pfc_storm(const Timeline& timeline, const Emit& emit) { emit_storm(timeline, PauseKind::priority, emit); }
void pfc_pause(const Timeline& timeline, const Emit& emit) { emit_pause(timeline, PauseKind::priority, emit); }
void link_pause_storm(const Timeline& timeline, const Emit& emit) { emit_storm(timeline, PauseKind::link, emit); }
void link_pause(const Timeline& timeline, const Emit& emit) { emit_pause(timeline, PauseKind::link, emit); }

constexpr std::string_view kStormSentence =
    "{>asked_to_pause}: paused for {longest_pause} without interruption ({storms:storm} of at least {storm_length})[assumed_speed?, the speed of the link "
    "not being known (--link-speed)]; {>paused_traffic}.";
constexpr std::string_view kPauseSentence =
    "{>asked_to_pause}: [paused?paused for [unknown_lengths?at most ]{paused} in {pauses:period} ({paused_share} of the capture, {longest_pause} at "
    "worst[assumed_speed?; at {assumed_speed}, [speed_shown?the slowest link that carries what was sent to it|which is assumed]])|paused {pauses:times} for "
    "an unknown time]; {>paused_traffic}.";

constexpr std::string_view kPauseAlike =
    "A host that stopped for itself, with nothing to send, looks as if the pause stopped it: only traffic that goes on right behind the pause tells.";
constexpr std::string_view kPauseLimits =
    "Pause frames end at the next port, so only those of the link that was captured are seen. How long a pause lasts depends on the speed of the link, "
    "which the capture may not tell.";

}  // namespace

Family pauses_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "pfc-storm",
            .severity = Severity::error,
            .clause = "IEEE 802.1Q 36",
            .meaning = "PFC paused a priority for so long that its traffic stopped",
            .sentence = kStormSentence,
            .advice =
                "Find the source of the pauses (a NIC whose PCIe or CPU does not keep up, or a switch below it; rx_prioN_pause_duration in "
                "`ethtool -S`), and enable the PFC watchdog in every switch.",
            .alike = kPauseAlike,
            .limits = kPauseLimits,
            .draw = pfc_storm},
        FindingRow{
            .id = "pfc-pause",
            .severity = Severity::note,
            .clause = "IEEE 802.1Q 36",
            .meaning = "PFC paused a priority of a link",
            .sentence = kPauseSentence,
            .advice =
                "Let ECN act before PFC (marking thresholds below the pause thresholds of the same queue), and watch rx_prioN_pause_duration on "
                "the ports along the path.",
            .alike = kPauseAlike,
            .limits = kPauseLimits,
            .draw = pfc_pause},
        FindingRow{
            .id = "link-pause-storm",
            .severity = Severity::error,
            .clause = "IEEE 802.3 31B",
            .meaning = "802.3x PAUSE stopped a whole link for long",
            .sentence = kStormSentence,
            .advice =
                "Find out why that port does not keep up (PCIe, CPU, a switch behind it), and disable 802.3x PAUSE on RoCE links "
                "(`ethtool -A DEV rx off tx off`, flow control off at the switch): it stops every priority; PFC stops one.",
            .alike = kPauseAlike,
            .limits = kPauseLimits,
            .draw = link_pause_storm},
        FindingRow{
            .id = "link-pause",
            .severity = Severity::note,
            .clause = "IEEE 802.3 31B",
            .meaning = "802.3x PAUSE stopped a whole link",
            .sentence = kPauseSentence,
            .advice =
                "Disable 802.3x PAUSE on RoCE links (`ethtool -A DEV rx off tx off`, flow control off at the switch) and use PFC for the "
                "lossless priority; `ethtool -S` counts both apart (rx_pause_ctrl_phy, rx_prioN_pause).",
            .alike = kPauseAlike,
            .limits = kPauseLimits,
            .draw = link_pause},
    };
    return {kRows, kPauseFacts};
}

}  // namespace qps::transport::families
