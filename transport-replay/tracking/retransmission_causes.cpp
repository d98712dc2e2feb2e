#include <dissect/base/timers.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/evidence_rules.hpp>
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
        waits.add(episode->silence, episode->timer_ran, episode->asked() || episode->partial_read());
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

// What the whole way tells of an episode, beside its timer.
struct AtEnd {
    const Incidents& had;
    WayFacts known{};
    std::optional<Timer> fitted{};  // as its waits show it
    std::optional<Timer> timer{};   // likewise, or as CM announced it
};

// Whether an answer came sooner after its request was sent again than any did after a request: the first sending
// brought it, late. Where answers come in a small part of the timer's time, one that is so late is not late by just as
// much: it was quicker than others.
bool is_too_soon(const Recovery& episode, Duration best) {
    constexpr std::int64_t kSmallPart = 16;
    return episode.kind == RecoveryKind::timeout && episode.answered_after && episode.interval && !episode.answered() &&
           *episode.answered_after < part(best, 2) && part(*episode.interval, kSmallPart) < best;
}

// Its answer had passed before. It was on its way where no answer ever brought the next request so soon.
void add_answer(Recovery& episode, const AtEnd& way) {
    using enum RoundEvidence;
    if (!episode.since_answer) return;
    const Duration since = *episode.since_answer;
    const std::optional<Duration> turn = way.had.shortest_turn;
    // What comes so quickly a NAK may have asked for as well, which the capture lacks.
    const bool other_cause = episode.kind == RecoveryKind::sequence_nak && way.known.has(WayFact::lacks_packets);
    const bool crosses =
        episode.has(once) && episode.has(slow_answer) && !other_cause && turn && since < shortened(*turn);
    episode.evidence.add_if(crosses, under_way);
    // Who sends for the third time did not get any of the answers.
    episode.evidence.add_if(episode.has(again_and_again) || (!crosses && since >= kLongestTurn), answer_arrived);
}

void add_wait_after_nak(Recovery& episode, const std::optional<Timer>& timer) {
    using enum RoundEvidence;
    const bool silent = episode.silence >= kFastestTimeout;
    const bool quick = episode.waited <= kSlowestReaction || !silent,
               runs = timer && episode.timer_ran < part(timer->least, 4);
    episode.evidence.add_if(!quick && !runs, long_silent);
    episode.evidence.add_if(quick && !timer, soon);
    episode.evidence.add_if(runs, not_run_out);
    episode.evidence.add_if(timer && silent && episode.timer_ran >= shortened(timer->most), ran_out);
}

void add_wait(Recovery& episode, const std::optional<Timer>& fitted, bool may_begin) {
    using enum RoundEvidence;
    Set<RoundEvidence>& shown = episode.evidence;
    if (episode.kind == RecoveryKind::sequence_nak)
        return shown.add_if(!episode.answered() && !episode.partial_read(), at_once);
    if (episode.kind != RecoveryKind::timeout || !episode.has(once) || episode.has(under_way)) return;
    if (fitted) return shown.add(episode.timer_ran >= shortened(fitted->least) ? ran_out : not_run_out);
    const bool quick = episode.silence <= kSlowestReaction;
    shown.add_if(episode.partial_read() && quick, soon);
    const bool felt = episode.silence >= kShortestTimer && !(episode.partial_read() && quick);
    shown.add_if(felt && !may_begin && episode.first_seen == 0, long_silent);
}

// Its evidence becomes whole.
void close(Recovery& episode, const Connection& connection, const AtEnd& way, bool is_named) {
    using enum RoundEvidence;
    Set<RoundEvidence>& shown = episode.evidence;
    shown.add_if(!is_named, unnamed);
    shown.add(episode.rounds == 0 ? never_resumed : episode.rounds == 1 ? once : again_and_again);
    shown.add_if(episode.resent != 0 && episode.first_seen == 0 && way.had.corrupt == 0, all_passed);
    shown.add_if(is_too_soon(episode, way.had.shortest_answer), too_soon);
    add_answer(episode, way);
    if (episode.asked() && !episode.has(never_resumed)) add_wait_after_nak(episode, way.timer);
    else if (!episode.asked()) add_wait(episode, way.fitted, begins_with(connection, episode));
}

RecoveryKind kind_of(Reasons left) {
    if (left == Reasons{Reason::sequence_nak}) return RecoveryKind::sequence_nak;
    if (left == Reasons{Reason::rnr_nak}) return RecoveryKind::rnr_nak;
    if (left == Reasons{Reason::ack_timer}) return RecoveryKind::timeout;
    return left == Reasons{Reason::implied_nak} ? RecoveryKind::read_retry : RecoveryKind::undecided;
}

bool is_silent_end(RecoveryEnd end) { return end == RecoveryEnd::gave_up || end == RecoveryEnd::stopped; }

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

void judge_way(Timeline& timeline, Connection& connection, std::span<Recovery* const> episodes, Duration apart,
               bool lacking) {
    constexpr std::uint64_t kMany = 8;  // answers that were recorded before their requests: their clocks are apart
    const Incidents& answers = *connection.way(other(episodes.front()->requester)).incidents;
    if (answers.early_answers >= kMany) apart = std::max(apart, answers.earliest_answer);
    Incidents& had = connection.way(episodes.front()->requester).incidents.made();
    had.ack_timer = waits_of(episodes, apart).timer();
    AtEnd way{.had = had};
    if (had.ack_timer) way.fitted = Timer{timeout_of(had.ack_timer->exponent), timeout_of(had.ack_timer->exponent)};
    way.timer = way.fitted ? way.fitted : announced(timeline, connection);
    way.known.add_if(lacking, WayFact::lacks_packets);
    const Gaps& responses = answers.response_gaps;
    const bool lacks_responses = responses.network + responses.tap + responses.undecided != 0;
    judge_rnr_end(timeline, connection, episodes);
    std::vector<std::uint32_t> named;
    for (const Recovery* episode : episodes)
        if (episode->asked()) named.push_back(episode->psn.value());
    std::ranges::sort(named);
    for (Recovery* episode : episodes) {
        if (episode->inferred || (decidable(*episode) && is_by_clocks(*episode, apart))) {
            if (is_silent_end(episode->end)) episode->end = RecoveryEnd::open;
        } else {
            close(*episode, connection, way, std::ranges::binary_search(named, episode->psn.value()));
            WayFacts known = way.known;
            known.add_if(lacks_responses && episode->verb == Verb::read_request, WayFact::lacks_responses);
            timeline.left_out.contradictions += judge(*episode, known);
        }
        episode->kind = kind_of(episode->reasons);
        if (episode->asked() && episode->kind != RecoveryKind::sequence_nak) {
            episode->triggers = 1;  // the requester saw one reason
            if (episode->ignored_nak() && episode->rounds == 1) episode->interval = episode->timer_ran;
        }
        if (episode->kind == RecoveryKind::undecided || (episode->kind == RecoveryKind::timeout && !episode->asked()))
            episode->triggers = std::max(episode->rounds, 1U);
        if (episode->spurious()) ++had.spurious;
        had.recovery(episode->kind).add(*episode);
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
        if (episode.kind != RecoveryKind::timeout || episode.psn != last.psn || !episode.answered() ||
            episode.inferred || episode.rounds == 0)
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

template <class Use> void each_way(std::vector<Recovery>& recoveries, Use use) {
    std::vector<Recovery*> episodes;
    episodes.reserve(recoveries.size());
    for (Recovery& episode : recoveries) episodes.push_back(&episode);
    const auto place = [](const Recovery* episode) { return std::pair(episode->connection, episode->requester); };
    std::ranges::sort(episodes, {}, [&](const Recovery* episode) { return std::pair(place(episode), episode); });
    for (auto first = episodes.begin(); first != episodes.end();) {
        const auto behind = std::ranges::find_if(first, episodes.end(),
                                                 [&](const Recovery* one) { return place(one) != place(*first); });
        use(std::span<Recovery* const>(first, behind));
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
    each_way(timeline.recoveries, [&](std::span<Recovery* const> episodes) { give_up_unheard(timeline, episodes); });
    std::erase_if(timeline.recoveries, [](const Recovery& episode) { return episode.connection == ConnectionId{}; });
    give_up_alike(timeline);
    each_way(timeline.recoveries, [&](std::span<Recovery* const> episodes) {
        if (Connection* connection = timeline.find(episodes.front()->connection))
            judge_way(timeline, *connection, episodes, apart, lacking);
    });
}

}  // namespace qps::transport
