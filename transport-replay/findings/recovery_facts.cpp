#include <dissect/base/timers.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/findings/recovery_facts.hpp>
#include <transport-replay/model/starting_psn.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/giving_up.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>

#include <utility>

namespace qps::transport::families {

namespace {

using dissect::Duration;
using namespace facts;

std::optional<Duration> shortest(const std::vector<const Recovery*>& episodes) {
    std::optional<Duration> least;
    for (const Recovery* episode : episodes)
        if (episode->interval && (!least || *episode->interval < *least)) least = episode->interval;
    return least;
}

// How many intervals are about as long as the shortest, half of it more for timers that tick coarsely: one alone may be
// anything.
std::uint64_t agreeing(const std::vector<const Recovery*>& episodes, Duration interval) {
    const Duration most = interval + Duration{std::to_underlying(interval) / 2};
    std::uint64_t count = 0;
    for (const Recovery* episode : episodes)
        if (episode->interval && *episode->interval <= most)
            count += episode->longest_wait <= most ? std::max(episode->rounds, 1U) : 1;
    return count;
}

}  // namespace

RecoverySum without(const Episodes& found, RecoverySum sum, const std::vector<const Recovery*>& others) {
    for (const Recovery* episode : others) {
        sum.episodes -= std::min<std::uint64_t>(sum.episodes, 1);
        sum.triggers -= std::min<std::uint64_t>(sum.triggers, episode->triggers);
        sum.resent -= std::min<std::uint64_t>(sum.resent, episode->resent);
        sum.first_seen -= std::min<std::uint64_t>(sum.first_seen, episode->first_seen);
        sum.resent_bytes -= std::min(sum.resent_bytes, episode->resent_bytes);
        sum.lost -= episode->lost_time();
        sum.waited -= episode->waited;
    }
    if (others.empty()) return sum;
    sum.most_lost = {};
    for (const Recovery* episode : found.episodes)
        if (std::ranges::find(others, episode) == others.end())
            sum.most_lost = std::max(sum.most_lost, episode->lost_time());
    return sum;
}

namespace {

// A timer that was negotiated explains a wait that it takes for one: it runs out between 1 and 4 times its time
// (9.7.6.1.3), of kernels that count in ticks a little before.
bool explains(std::uint8_t negotiated, Duration interval) {
    constexpr std::int64_t kLongest = 4, kSlack = 16;
    const std::int64_t timer = std::to_underlying(dissect::timeout_of(negotiated)),
                       waited = std::to_underlying(interval);
    return negotiated != 0 && waited >= timer - timer / kSlack && waited <= kLongest * timer;
}

// The exponent that waits agree on. No timer of hardware runs out before its time: where the waits were shorter, they
// are those of a smaller exponent, or of a kernel that counts in ticks.
void add_exponent(Facts& facts, const AckTimer& timer, Duration interval) {
    constexpr std::uint8_t kLongest = 2;  // 4 times the time of the exponent that is less by so much
    const bool early = interval < dissect::timeout_of(timer.exponent) && timer.exponent > kLongest;
    if (early) {
        facts.emplace_back(kExponent, timer.exponent - kLongest);
        facts.emplace_back(kLongestExponent, timer.exponent);
        return;
    }
    facts.emplace_back(kExponent, timer.exponent);
    facts.emplace_back(kExponentTime, dissect::timeout_of(timer.exponent));
    facts.emplace_back(kAgreeingWaits, timer.waits);
}

}  // namespace

void add_timer(Facts& facts, const Way& way, const std::vector<const Recovery*>& episodes, const CmAttempt* attempt) {
    const auto interval = shortest(episodes);
    if (!interval) return;
    facts.emplace_back(kInterval, *interval);
    facts.emplace_back(kSingleWait, episodes.size() == 1 && episodes.front()->triggers == 1);
    const auto& timer = way.incidents->ack_timer;
    const auto negotiated = attempt == nullptr ? std::nullopt : attempt->local_ack_timeout;
    const bool explained = negotiated && explains(*negotiated, *interval);
    if (timer && (!explained || timer->exponent == *negotiated)) {
        if (explained) {
            facts.emplace_back(kExponent, timer->exponent);
            facts.emplace_back(kExponentTime, dissect::timeout_of(timer->exponent));
            facts.emplace_back(kAgreeingWaits, timer->waits);
        } else {
            add_exponent(facts, *timer, *interval);
        }
    } else if (explained) {
        // CM's own is known better than what the waits allow.
    } else if (const auto exponents = timeout_exponents(*interval); exponents && agreeing(episodes, *interval) >= 2) {
        facts.emplace_back(kExponent, exponents->least);
        if (exponents->most != exponents->least) facts.emplace_back(kLongestExponent, exponents->most);
    }
    if (!negotiated) return;
    facts.emplace_back(kNegotiatedExponent, *negotiated);
    facts.emplace_back(kNegotiatedTime, dissect::timeout_of(*negotiated));
}

Ends::Ends(const Timeline& timeline) : timeline_(timeline), lacking_(recorder_lost_packets(timeline)) {}

namespace {

// A recorder that loses packets may have lost some transmissions, but hardly the last ones all, and one among the
// others leaves a wait that is twice as long.
bool may_lack_some(const Recovery& episode, std::uint32_t retries) {
    constexpr std::uint32_t kUnlikely = 3;
    const bool even = episode.interval && episode.longest_wait < *episode.interval + *episode.interval;
    return !even || episode.rounds + kUnlikely > retries;
}

}  // namespace

bool Ends::may_have_given_up(const Recovery& episode) const {
    if (!stopped(episode)) return false;
    const Connection* connection = timeline_.find(episode.connection);
    const CmAttempt* attempt = connection == nullptr ? nullptr : attempt_of(timeline_, *connection);
    if (attempt == nullptr) return true;
    if (episode.kind != RecoveryKind::rnr_nak)
        return !attempt->retry_count || (lacking_ && may_lack_some(episode, *attempt->retry_count));
    const Retries retries = negotiated(*attempt);
    return !retries.rnr || (lacking_ && !retries.is_endless_rnr());
}

void add_stop(Facts& facts, const Timeline& timeline, const Episodes& found,
              const std::vector<const Recovery*>& episodes) {
    const auto last = std::ranges::find_if(episodes, [](const Recovery* episode) { return stopped(*episode); });
    if (last == episodes.end()) return;
    const CmAttempt* attempt = attempt_of(timeline, found.connection);
    if (attempt == nullptr) return;
    if ((*last)->kind != RecoveryKind::rnr_nak) {
        facts.emplace_back(kStoppedAfter, (*last)->rounds + 1ULL);
        facts.emplace_back(kAllowedTransmissions, attempt->retry_count.value_or(Retries::kMost) + 1ULL);
        return;
    }
    std::uint64_t naks = 0;  // a loss in between divides them among episodes
    for (const Recovery* episode : episodes) naks += episode->psn == (*last)->psn ? episode->triggers : 0U;
    const Retries retries = negotiated(*attempt);
    facts.emplace_back(kStoppedAfter, naks);
    if (retries.is_endless_rnr()) facts.emplace_back(kEndlessRetries, retries.rnr.has_value());
    else facts.emplace_back(kAllowedTransmissions, *retries.rnr + 1ULL);
}

void add_stall(Facts& facts, std::uint64_t stalls, Duration all, Duration longest) {
    facts.emplace_back(kStalled, all);
    if (stalls > 1 && longest < all) facts.emplace_back(kLongestStall, longest);
}

void add_resent(Facts& facts, const RecoverySum& sum, std::uint64_t rests_of_reads) {
    facts.emplace_back(kRetransmitted, sum.resent);
    facts.emplace_back(kRetransmittedBytes, sum.resent_bytes);
    facts.emplace_back(kNewToTap, nonzero(sum.first_seen));
    facts.emplace_back(kRestsOfReads, nonzero(rests_of_reads));
}

namespace {

// Where the first request that was captured lies ahead of what CM announced, and nobody knows whether there were others
// before.
std::optional<StartingPsn> doubtful_start(const Timeline& timeline, const Case& found) {
    const CmAttempt* const attempt = attempt_of(timeline, found.connection);
    const auto start = attempt == nullptr ? std::nullopt : starting_psn(found.connection, *attempt, found.requester);
    return start && start->may_be_missing ? start : std::nullopt;
}

// Whether another connection of the two hosts waited for its timer at the same time.
bool others_stalled(const Timeline& timeline, const Case& found) {
    constexpr std::size_t kMostLookedAt = 4096;
    if (found.episodes.empty()) return false;
    const dissect::Instant begin = found.episodes.front()->time.begin(), end = found.episodes.back()->time.end();
    const auto is_other = [&](const Recovery& episode) {
        const bool waits = episode.kind == RecoveryKind::timeout || episode.kind == RecoveryKind::undecided;
        if (!waits || episode.connection == found.connection.uid || episode.time.end() < begin) return false;
        const Connection* connection = timeline.find(episode.connection);
        return connection != nullptr && connection->end(episode.requester).address == found.from().address &&
               connection->end(other(episode.requester)).address == found.to().address;
    };
    const auto behind = std::ranges::upper_bound(timeline.recoveries, end, {},
                                                 [](const Recovery& episode) { return episode.time.begin(); });
    const auto looked_at =
        std::min<std::size_t>(kMostLookedAt, static_cast<std::size_t>(behind - timeline.recoveries.begin()));
    return std::any_of(behind - static_cast<std::ptrdiff_t>(looked_at), behind, is_other);
}

const Silence& silence(const std::optional<StartingPsn>& start, const Timeline& timeline, const Case& found,
                       bool answered, const Heard& heard) {
    if (answered) return kSilences[0];
    if (answers_of(found.answers()) != 0) return kSilences[1];
    if (found.answers().incidents->cnps != 0) return kSilences[2];
    if (start) return kSilences[3];
    if (!heard.any(found.to().address, found.from().address)) return kSilences.back();
    return kSilences[others_stalled(timeline, found) ? 5 : 4];
}

}  // namespace

const Silence& add_silence(Facts& facts, const Timeline& timeline, const Case& found, bool answered,
                           const Heard& heard) {
    const auto start = doubtful_start(timeline, found);
    const Silence& seen = silence(start, timeline, found, answered, heard);
    facts.emplace_back(kSilence, seen.word);
    facts.emplace_back(kCnps, nonzero(found.answers().incidents->cnps));
    if (&seen == &kSilences[3]) {
        facts.emplace_back(kStartingPsn, start->seen);
        facts.emplace_back(kAnnouncedPsn, start->announced);
    }
    return seen;
}

}  // namespace qps::transport::families
