#include <dissect/base/timers.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::int64_t kSlack =
    16;  // timers of kernels tick some milliseconds early, and clocks differ: a 16th of the time
constexpr std::uint32_t kAgreeing = 2;  // waits that make an exponent

Duration part(Duration time, std::int64_t divisor) { return Duration{std::to_underlying(time) / divisor}; }
Duration shortened(Duration timer) { return timer - part(timer, kSlack); }

bool decidable(const Recovery& episode) {
    return episode.kind == RecoveryKind::sequence_nak || episode.kind == RecoveryKind::timeout;
}

// How many waits are those of a timer.
struct Support {
    std::uint32_t near = 0;       // as long as the timer
    std::uint32_t around = 0;     // within half of it, too
    std::uint32_t too_short = 0;  // that only a timer explains, and this one had not run out
};

class Waits {
public:
    // A timer that ran as long as the silence at least, and at most so long; `explained` by a NAK, or a response that
    // did not come.
    void add(Duration silence, Duration most, bool explained, std::uint32_t times = 1) {
        longest_silence_ = std::max(longest_silence_, silence);
        if (silence >= kFastestTimeout) waits_.push_back({silence, most, times, explained});
    }

    // The exponent that most of them agree on.
    [[nodiscard]] std::optional<AckTimer> timer() const {
        std::optional<AckTimer> best;
        for (std::uint8_t exponent = 1; exponent <= dissect::kMostTimeoutCode; ++exponent) {
            const Duration timer = dissect::timeout_of(exponent);
            if (part(longest_silence_, 4) > timer + part(timer, kSlack)) continue;
            const Support support = support_of(timer);
            const bool agreed =
                support.near >= kAgreeing && 2 * support.near >= support.around && support.near > support.too_short;
            if (agreed && (!best || support.near >= best->waits)) best = AckTimer{exponent, support.near};
        }
        return best;
    }

private:
    struct Wait {
        Duration least{};
        Duration most{};
        std::uint32_t times = 1;
        bool explained = false;
    };
    [[nodiscard]] Support support_of(Duration timer) const {
        Support support;
        for (const Wait& wait : waits_) {
            if (wait.explained && timer < kSlowestReaction) continue;
            const auto within = [&](Duration time, std::int64_t below, std::int64_t above) {
                return time < timer ? timer - time <= part(timer, below) : time - timer <= part(timer, above);
            };
            if (within(wait.least, kSlack, kSlack) || within(wait.most, kSlack, kSlack)) support.near += wait.times;
            if (within(wait.least, 4, 2) || within(wait.most, 4, 2)) support.around += wait.times;
            if (!wait.explained && wait.most < shortened(timer)) support.too_short += wait.times;
        }
        return support;
    }
    std::vector<Wait> waits_;
    Duration longest_silence_{};
};

// A silence about as long as the clocks of two taps are apart: what the tap with the slower clock alone recorded comes
// so late.
bool is_by_clocks(const Recovery& episode, Duration apart) {
    if (apart == Duration{}) return false;
    const Duration wait = std::max(episode.silence, episode.timer_ran), half = part(apart, 2);
    return half <= wait && wait <= apart + half;
}

Waits waits_of(std::span<Recovery* const> episodes, Duration apart) {
    Waits waits;
    for (const Recovery* episode : episodes) {
        if (!decidable(*episode) || episode->rounds == 0 || episode->inferred || is_by_clocks(*episode, apart))
            continue;
        waits.add(episode->silence, episode->timer_ran, episode->nak || episode->partial_read);
        if (episode->kind == RecoveryKind::timeout && episode->rounds > 1 && episode->interval)
            waits.add(*episode->interval, *episode->interval, false, episode->rounds - 1);
    }
    return waits;
}

// The shortest and the longest time that the timer of a requester is set to.
struct Timer {
    Duration least{};
    Duration most{};
};

std::optional<Timer> announced(const Timeline& timeline, const Connection& connection) {
    if (!connection.cm_attempt || *connection.cm_attempt >= timeline.cm.attempts.size()) return {};
    const CmAttempt& attempt = timeline.cm.attempts[*connection.cm_attempt];
    const std::uint8_t exponent = std::min(attempt.local_ack_timeout.value_or(0), dissect::kMostTimeoutCode);
    if (exponent == 0) return {};
    // The lifetime of packets in it is rounded up, or the delay of the other end was added (12.7.34): one less or more.
    return Timer{dissect::timeout_of(static_cast<std::uint8_t>(exponent - 1)), dissect::timeout_of(exponent)};
}

// Whether it was sent again so soon after the capture has the first packet of the connection that a NAK from before may
// have asked for it.
bool begins_with(const Connection& connection, const Recovery& episode) {
    const Duration since = episode.resumed_time - connection.first_time();
    return !connection.cm_attempt && since >= episode.silence && since <= kSlowestReaction;
}

RecoveryKind cause_after_nak(const Recovery& episode, const std::optional<Timer>& timer) {
    if (episode.rounds == 0) return RecoveryKind::sequence_nak;  // the requester never went back
    const bool silent = episode.silence >= kFastestTimeout;
    if (!timer)
        return episode.waited <= kSlowestReaction || !silent ? RecoveryKind::sequence_nak : RecoveryKind::undecided;
    if (episode.timer_ran < part(timer->least, 4)) return RecoveryKind::sequence_nak;
    return silent && episode.timer_ran >= shortened(timer->most) ? RecoveryKind::timeout : RecoveryKind::undecided;
}

RecoveryKind cause_unasked(const Recovery& episode, const std::optional<Timer>& fitted, bool lacking) {
    if (episode.kind == RecoveryKind::sequence_nak)
        return RecoveryKind::undecided;  // quick, and the NAK was not captured
    if (episode.rounds > 1) return RecoveryKind::timeout;
    if (episode.crossed && episode.proven) return RecoveryKind::timeout;  // nothing else sends again what was answered
    if (fitted && episode.timer_ran >= shortened(fitted->least)) return RecoveryKind::timeout;
    if (fitted) return episode.partial_read ? RecoveryKind::read_retry : RecoveryKind::undecided;
    // Who asks for the rest of a READ may have seen a response behind the one that it lacks: an implied NAK
    // (9.7.5.1.1).
    if (episode.partial_read && episode.silence <= kSlowestReaction) return RecoveryKind::read_retry;
    // What is new to the tap it may have missed, and with it the NAK.
    return lacking || episode.silence < kShortestTimer || episode.first_seen != 0 ? RecoveryKind::undecided
                                                                                  : RecoveryKind::timeout;
}

// What is answered twice, or too soon for its second sending, was not lost. Of a READ that is one response of many.
bool may_have_lost_responses(const Recovery& episode, const Gaps& responses) {
    return episode.verb == Verb::read_request && responses.network + responses.tap + responses.undecided != 0;
}

void judge_way(const Timeline& timeline, Connection& connection, std::span<Recovery* const> episodes, Duration apart,
               bool lacking) {
    Way& way = connection.way(episodes.front()->requester);
    way.incidents.made().ack_timer = waits_of(episodes, apart).timer();
    std::optional<Timer> fitted;
    if (way.incidents->ack_timer)
        fitted = Timer{dissect::timeout_of(way.incidents->ack_timer->exponent),
                       dissect::timeout_of(way.incidents->ack_timer->exponent)};
    const std::optional<Timer> timer = fitted ? fitted : announced(timeline, connection);
    const Gaps& responses = connection.way(other(episodes.front()->requester)).incidents->response_gaps;
    for (Recovery* episode : episodes) {
        if (episode->inferred || (decidable(*episode) && is_by_clocks(*episode, apart))) {
            episode->kind = RecoveryKind::undecided;
            episode->spurious = episode->proven = false;
            if (episode->end == RecoveryEnd::gave_up) episode->end = RecoveryEnd::open;
        } else if (decidable(*episode)) {
            episode->kind = episode->nak
                                ? cause_after_nak(*episode, timer)
                                : cause_unasked(*episode, fitted, lacking || begins_with(connection, *episode));
            if (episode->kind != RecoveryKind::sequence_nak && episode->nak)
                episode->triggers = 1;  // the requester saw one reason
            if (episode->ignored_nak() && episode->rounds == 1) episode->interval = episode->timer_ran;
        }
        if (may_have_lost_responses(*episode, responses)) episode->spurious = episode->proven = false;
        if (episode->kind == RecoveryKind::undecided) episode->triggers = std::max(episode->rounds, 1U);
        if (episode->spurious) ++way.incidents.made().spurious;
        way.incidents.made().recovery(episode->kind).add(*episode);
    }
}

}  // namespace

bool recorder_lost_packets(const Timeline& timeline) {
    if (timeline.quality.drops.dropped + timeline.quality.drops.dropped_by_system != 0) return true;
    return std::ranges::any_of(timeline.connections, [](const Connection& connection) {
        return std::ranges::any_of(connection.ways, [](const Way& way) { return losses_of(way).by_capture != 0; });
    });
}

void judge_causes(Timeline& timeline, Duration apart) {
    const bool lacking = recorder_lost_packets(timeline);
    std::vector<Recovery*> episodes;
    episodes.reserve(timeline.recoveries.size());
    for (Recovery& episode : timeline.recoveries) episodes.push_back(&episode);
    const auto place = [](const Recovery* episode) { return std::pair(episode->connection, episode->requester); };
    std::ranges::sort(episodes, {}, [&](const Recovery* episode) { return std::pair(place(episode), episode); });
    for (auto first = episodes.begin(); first != episodes.end();) {
        const auto behind = std::ranges::find_if(first, episodes.end(),
                                                 [&](const Recovery* one) { return place(one) != place(*first); });
        if (Connection* connection = timeline.find((*first)->connection))
            judge_way(timeline, *connection, std::span(first, behind), apart, lacking);
        first = behind;
    }
}

}  // namespace qps::transport
