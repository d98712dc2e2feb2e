#include <dissect/base/timers.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/giving_up.hpp>
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

bool is_silent_end(RecoveryEnd end) { return end == RecoveryEnd::gave_up || end == RecoveryEnd::stopped; }

// What is answered twice, or too soon for its second sending, was not lost. Of a READ that is one response of many.
bool may_have_lost_responses(const Recovery& episode, const Gaps& responses) {
    return episode.verb == Verb::read_request && responses.network + responses.tap + responses.undecided != 0;
}

Retries negotiated_of(const Timeline& timeline, const Connection& connection) {
    if (!connection.cm_attempt || *connection.cm_attempt >= timeline.cm.attempts.size()) return {};
    return negotiated(timeline.cm.attempts[*connection.cm_attempt]);
}

// A loss in between divides the RNR NAKs of one PSN among episodes: all of them count.
void judge_rnr_end(const Timeline& timeline, const Connection& connection, std::span<Recovery* const> episodes) {
    Recovery* last = nullptr;
    for (Recovery* episode : episodes)
        if (episode->kind == RecoveryKind::rnr_nak && is_silent_end(episode->end)) last = episode;
    if (last == nullptr) return;
    std::uint64_t naks = 0;
    for (const Recovery* episode : episodes)
        if (episode->kind == RecoveryKind::rnr_nak && episode->psn == last->psn) naks += episode->triggers;
    last->end = used_up(*last, naks, negotiated_of(timeline, connection)) ? RecoveryEnd::gave_up : RecoveryEnd::stopped;
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
    judge_rnr_end(timeline, connection, episodes);
    for (Recovery* episode : episodes) {
        if (episode->inferred || (decidable(*episode) && is_by_clocks(*episode, apart))) {
            episode->kind = RecoveryKind::undecided;
            episode->spurious = episode->proven = false;
            if (is_silent_end(episode->end)) episode->end = RecoveryEnd::open;
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

// To a requester whose answers are lost behind the tap one PSN is never answered: what the tap takes for an episode
// each, with an answer at its end, is one to it.
void continue_with(Recovery& episode, const Recovery& next) {
    episode.end = next.end;
    episode.triggers += next.triggers;
    episode.rounds += next.rounds;
    episode.resent += next.resent;
    episode.first_seen += next.first_seen;
    episode.resent_bytes += next.resent_bytes;
    episode.last = next.last;
    episode.time.end_at(next.resumed_time);
    episode.waited = episode.waited + next.waited;
    episode.longest_wait = std::max(episode.longest_wait, next.longest_wait);
    if (next.interval) episode.interval = std::min(episode.interval.value_or(*next.interval), *next.interval);
}

// Whether the way was silent from the last round on for longer than its requester ever waited, and nobody took the
// connection down: who still had retries, or anything else to send, would have gone on.
bool falls_silent(const Timeline& timeline, const Connection& connection, const Recovery& last, Duration waited) {
    if (!timeline.last || connection.released || connection.failed) return false;
    const Instant sent = connection.way(last.requester).last_time;
    return sent - last.resumed_time < waited && timeline.end_of(connection) - sent > waited + waited;
}

// The last episodes of a way that all send one PSN again, each although its answer had passed the tap: as many rounds
// as there are retries, and then silence, mean that no answer arrived. What was continued is left without a connection.
void give_up_unheard(const Timeline& timeline, std::span<Recovery* const> episodes) {
    const Recovery& last = *episodes.back();
    const Connection* connection = timeline.find(last.connection);
    std::size_t first = episodes.size();
    std::uint64_t rounds = 0;
    Duration waited{};
    while (first != 0) {
        const Recovery& episode = *episodes[first - 1];
        if (episode.kind != RecoveryKind::timeout || episode.psn != last.psn || !episode.answered || episode.inferred ||
            episode.rounds == 0)
            break;
        rounds += episode.rounds;
        waited = std::max(waited, episode.longest_wait);
        --first;
    }
    if (connection == nullptr || first + 1 >= episodes.size()) return;
    const std::uint8_t retries = negotiated_of(timeline, *connection).transport.value_or(Retries::kMost);
    if (rounds < std::max<std::uint8_t>(retries, 1) || !falls_silent(timeline, *connection, last, waited)) return;
    for (std::size_t i = first + 1; i < episodes.size(); ++i) {
        continue_with(*episodes[first], *episodes[i]);
        episodes[i]->connection = {};
    }
    episodes[first]->end = RecoveryEnd::gave_up;
    episodes[first]->spurious = episodes[first]->proven = false;
}

// One event that ends several queue pairs, such as a job that is killed, finds each of them in a wait of its own, so
// that all of these waits have a moment in common. Those that stopped after as many transmissions as others of their
// host, in a wait that was over when that of another one began, ended by their own number: it is that of their retries.
void give_up_alike(Timeline& timeline) {
    constexpr std::uint32_t kFewest = 2;  // rounds: one retry is soon interrupted by chance
    std::vector<std::tuple<Address, std::uint32_t, Recovery*>> stopped;
    for (Recovery& episode : timeline.recoveries) {
        const Connection* connection = timeline.find(episode.connection);
        if (connection == nullptr || episode.kind != RecoveryKind::timeout || episode.rounds < kFewest) continue;
        if (episode.end == RecoveryEnd::stopped && !negotiated_of(timeline, *connection).transport)
            stopped.emplace_back(connection->end(episode.requester).address, episode.rounds, &episode);
    }
    std::ranges::sort(stopped);
    const auto alike = [](const auto& one) { return std::tie(std::get<0>(one), std::get<1>(one)); };
    const auto over = [](const Recovery& episode) { return episode.time.end() + episode.longest_wait; };
    for (auto first = stopped.begin(); first != stopped.end();) {
        const auto behind =
            std::find_if(first, stopped.end(), [&](const auto& one) { return alike(one) != alike(*first); });
        Instant first_over = over(*std::get<2>(*first)), last_began = std::get<2>(*first)->time.end();
        for (const auto& [host, rounds, episode] : std::span(first, behind)) {
            first_over = std::min(first_over, over(*episode));
            last_began = std::max(last_began, episode->time.end());
        }
        for (const auto& [host, rounds, episode] : std::span(first, behind))
            if (episode->time.end() > first_over || over(*episode) < last_began) episode->end = RecoveryEnd::gave_up;
        first = behind;
    }
}

using OfWay = std::span<Recovery* const>;
template <class Use> void each_way(std::vector<Recovery>& recoveries, Use use) {
    std::vector<Recovery*> episodes;
    episodes.reserve(recoveries.size());
    for (Recovery& episode : recoveries) episodes.push_back(&episode);
    const auto place = [](const Recovery* episode) { return std::pair(episode->connection, episode->requester); };
    std::ranges::sort(episodes, {}, [&](const Recovery* episode) { return std::pair(place(episode), episode); });
    for (auto first = episodes.begin(); first != episodes.end();) {
        const auto behind = std::ranges::find_if(first, episodes.end(),
                                                 [&](const Recovery* one) { return place(one) != place(*first); });
        use(OfWay(first, behind));
        first = behind;
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
    each_way(timeline.recoveries, [&](OfWay episodes) { give_up_unheard(timeline, episodes); });
    std::erase_if(timeline.recoveries, [](const Recovery& episode) { return episode.connection == ConnectionId{}; });
    give_up_alike(timeline);
    each_way(timeline.recoveries, [&](OfWay episodes) {
        if (Connection* connection = timeline.find(episodes.front()->connection))
            judge_way(timeline, *connection, episodes, apart, lacking);
    });
}

}  // namespace qps::transport
