// Findings about what had to be sent again, and why.
#include <dissect/types.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/lone_naks.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/loss_place.hpp>
#include <transport-replay/model/starting_psn.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>
#include <transport-replay/tracking/recovery_watch.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using dissect::Duration;
using namespace words;
using namespace facts;

constexpr FactRow kTransmissions{"transmissions", Unit::count, "times that the packet was sent"};
constexpr FactRow kNegotiatedRetries{"negotiated_retries", Unit::number, "retries that CM negotiated"};
constexpr FactRow kInterval{"interval", Unit::duration, "the shortest time from a transmission, or progress since, to the next"};
constexpr FactRow kSingleWait{"single_wait", Unit::flag, "there was one such wait"};
constexpr FactRow kExponent{"exponent", Unit::number, "local ACK timeout exponent that the waits fit: 4.096 us * 2^n"};
constexpr FactRow kLongestExponent{"longest_exponent", Unit::number, "the greatest exponent that they fit, where it is another"};
constexpr FactRow kExponentTime{"exponent_time", Unit::duration, "the time of that exponent"};
constexpr FactRow kAgreeingWaits{"agreeing_waits", Unit::count, "waits that agree on it"};
constexpr FactRow kNegotiatedExponent{"negotiated_exponent", Unit::number, "local ACK timeout exponent that CM negotiated"};
constexpr FactRow kNegotiatedTime{"negotiated_time", Unit::duration, "the time of that exponent"};
constexpr FactRow kSilence{"silence", Unit::word,
                           "what was seen of the responder: answered (its answer was captured), fell_silent (it had answered before), cnps (CNPs alone), "
                           "other_start (nothing, and its first request may have the wrong PSN), elsewhere (nothing on this connection, but other traffic), absent (nothing)"};
constexpr FactRow kStartingPsn{"starting_psn", Unit::psn, "PSN of the first request that was captured"};
constexpr FactRow kAnnouncedPsn{"announced_psn", Unit::psn, "Starting PSN that the connection manager announced"};
constexpr FactRow kCnps{"cnps", Unit::count, "CNPs of the responder"};
constexpr FactRow kRnrNaks{"rnr_naks", Unit::count, "RNR NAKs of the responder"};
constexpr FactRow kRnrTimer{"rnr_timer", Unit::duration, "the longest RNR timer that was asked for"};
constexpr FactRow kRnrCode{"rnr_code", Unit::number, "the code of that timer (IBA table 45)"};
constexpr FactRow kRnrWait{"rnr_wait", Unit::duration, "how long the requester waited after an RNR NAK, on average"};
constexpr FactRow kSeveralWaits{"several_waits", Unit::flag, "it is an average of several waits"};
constexpr FactRow kLongestTimer{"longest_timer", Unit::flag, "the code is 0, the longest timer"};
constexpr FactRow kLost{"lost", Unit::count, "packets that the responder did not get"};
constexpr FactRow kLostProven{"lost_proven", Unit::flag, "all of them were lost, and not only late"};
constexpr FactRow kAtLeast{"at_least", Unit::flag, "the number of lost packets is a lower bound"};
constexpr FactRow kLossEvents{"loss_events", Unit::count, "times that the responder asked for packets again"};
constexpr FactRow kOtherTap{"other_tap", Unit::flag, "another file has the same packets as another tap recorded them, which is not looked at"};
constexpr FactRow kCorrupt{"corrupt", Unit::count, "packets of the requester whose ICRC was wrong at the tap"};
constexpr FactRow kRecoveries{"recoveries", Unit::count, "loss events after which the requester sent again what was asked for"};
constexpr FactRow kPartly{"partly", Unit::flag, "these are not all of the events"};
constexpr FactRow kRecoveryMode{"recovery_mode", Unit::word, "how it sent again: selective repeat, go-back-N; nothing where a single packet tells neither"};
constexpr FactRow kEndedInTimeout{"ended_in_timeout", Unit::count, "loss events that ended in an ACK timeout"};
constexpr FactRow kUndecided{"undecided", Unit::count, "loss events of which nothing tells how they ended"};
constexpr FactRow kTimeouts{"timeouts", Unit::count, "ACK timeouts"};
constexpr FactRow kTimeoutCauses{"timeout_causes", Unit::list, "what they waited for, as far as captures of several hosts tell"};
constexpr FactRow kAnswerTook{"answer_took", Unit::duration, "the longest time from a request to its late answer"};
constexpr FactRow kSufficientExponent{"sufficient_exponent", Unit::number, "the least exponent whose timeout is longer than that"};
constexpr FactRow kSufficientTime{"sufficient_time", Unit::duration, "the time of that exponent"};
constexpr FactRow kRetries{"retries", Unit::count, "times that the requester sent again"};
constexpr FactRow kFromMiddle{"from_middle", Unit::count, "of them, requests from the middle of a READ"};
constexpr FactRow kResponsesMissed{"responses_missed", Unit::count, "response packets that had not passed the tap by then"};
constexpr FactRow kResponsesLate{"responses_late", Unit::count, "response packets that passed the tap late"};
constexpr std::array kOwnFacts{
    &kTransmissions, &kNegotiatedRetries, &kInterval, &kSingleWait, &kExponent, &kLongestExponent, &kExponentTime, &kAgreeingWaits, &kNegotiatedExponent,
    &kNegotiatedTime, &kSilence, &kStartingPsn, &kAnnouncedPsn, &kCnps, &kRnrNaks, &kRnrTimer, &kRnrCode, &kRnrWait, &kSeveralWaits, &kLongestTimer, &kLost, &kLostProven, &kAtLeast,
    &kLossEvents, &kOtherTap, &kCorrupt, &kRecoveries, &kPartly, &kRecoveryMode, &kEndedInTimeout, &kUndecided, &kTimeouts, &kTimeoutCauses, &kAnswerTook,
    &kSufficientExponent, &kSufficientTime, &kRetries, &kFromMiddle, &kResponsesMissed, &kResponsesLate,
};

// RNR waits are the flow control of receives, and a few of them are healthy: more than a percent of a connection's
// time is felt, and so is 10 ms at once, the patience of a storage stack or a step of a collective.
constexpr std::int64_t kFeltPart = 100;
constexpr Duration kFeltStall{10'000'000};

constexpr std::int64_t kAckTimeoutUnit = 4096;           // ns (9.7.6.1.3)

Duration ack_timeout_of(std::uint8_t exponent) { return Duration{kAckTimeoutUnit << (exponent & 31U)}; }
Duration life(const Connection& connection) { return connection.last_time() - connection.first_time(); }

template <class Keep>
std::vector<const Recovery*> kept(const Episodes& found, Keep keep) {
    std::vector<const Recovery*> episodes;
    std::ranges::copy_if(found.episodes, std::back_inserter(episodes), [&](const Recovery* episode) { return keep(*episode); });
    return episodes;
}

// What is left of a sum without some of its episodes.
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
        if (std::ranges::find(others, episode) == others.end()) sum.most_lost = std::max(sum.most_lost, episode->lost_time());
    return sum;
}

bool asked_for(const Recovery& episode) { return episode.nak || episode.kind == RecoveryKind::sequence_nak; }
bool gave_up(const Recovery& episode) { return episode.end == RecoveryEnd::gave_up; }
// Who has an answer to everything did not give up, however a episode looks.
bool all_answered(const Way& way) { return way.open + way.incidents->failed + way.incidents->abandoned == 0; }

std::optional<Duration> shortest(const std::vector<const Recovery*>& episodes) {
    std::optional<Duration> least;
    for (const Recovery* episode : episodes)
        if (episode->interval && (!least || *episode->interval < *least)) least = episode->interval;
    return least;
}

// How many intervals are about as long as the shortest, half of it more for timers that tick coarsely: one alone may be anything.
std::uint64_t agreeing(const std::vector<const Recovery*>& episodes, Duration interval) {
    const Duration most = interval + Duration{std::to_underlying(interval) / 2};
    std::uint64_t count = 0;
    for (const Recovery* episode : episodes)
        if (episode->interval && *episode->interval <= most) count += episode->longest_wait <= most ? std::max(episode->rounds, 1U) : 1;
    return count;
}

// What the waits of episodes say of the timer, beside what CM negotiated.
void add_timer(Facts& facts, const Way& way, const std::vector<const Recovery*>& episodes, const CmAttempt* attempt) {
    const auto interval = shortest(episodes);
    if (!interval) return;
    facts.emplace_back(kInterval, *interval);
    facts.emplace_back(kSingleWait, episodes.size() == 1 && episodes.front()->triggers == 1);
    if (const auto& timer = way.incidents->ack_timer) {
        facts.emplace_back(kExponent, timer->exponent);
        facts.emplace_back(kExponentTime, ack_timeout_of(timer->exponent));
        facts.emplace_back(kAgreeingWaits, timer->waits);
    } else if (const auto exponents = timeout_exponents(*interval); exponents && agreeing(episodes, *interval) >= 2) {
        facts.emplace_back(kExponent, exponents->least);
        if (exponents->most != exponents->least) facts.emplace_back(kLongestExponent, exponents->most);
    }
    if (attempt == nullptr || !attempt->local_ack_timeout) return;
    facts.emplace_back(kNegotiatedExponent, *attempt->local_ack_timeout);
    facts.emplace_back(kNegotiatedTime, ack_timeout_of(*attempt->local_ack_timeout));
}

// Time without progress; of several stalls also the longest.
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

// Whether it was sent again before the time that CM agreed on. The tap may see packets closer together than they were sent: half of
// the time leaves room for that. What comes quicker than anybody notices may have been asked for by what the tap did not see.
bool before_its_time(const Recovery& episode, const CmAttempt* attempt) {
    if (!episode.interval || attempt == nullptr || attempt->local_ack_timeout.value_or(0) == 0) return false;
    return *episode.interval > kSlowestReaction &&
           *episode.interval < Duration{std::to_underlying(ack_timeout_of(*attempt->local_ack_timeout)) / 2};
}

// What was seen of the other end, which tells where to look.
struct Silence {
    std::string_view word;  // of kSilence
    Party party{};
    std::string_view advice;
};
constexpr std::array kSilences{
    Silence{"answered", Party::fabric,
            "Look for dropped answers on the way to {requester:host}: counters of its port and of the last switch, and a DSCP or priority of ACKs that PFC "
            "does not protect."},
    Silence{"fell_silent", Party::undecided,
            "Look for a process that died on {responder:host}, a link that flapped or a switch that drops this flow (`rdma statistic`, `ethtool -S`); raise "
            "NCCL_IB_TIMEOUT or the queue pair's timeout only to survive short outages."},
    Silence{"cnps", Party::undecided,
            "Check that the tap sees the ACKs of {responder:host} (they may take another path), then that the queue pair on it is in RTR or RTS and expects "
            "this peer (`rdma resource show qp`)."},
    Silence{"other_start", Party::undecided,
            "Compare the send PSN of the queue pair on {requester:host} (sq_psn) with {announced_psn}, which {responder:host} announced as Starting PSN: it takes no "
            "packet ahead of what it expects."},
    Silence{"elsewhere", Party::responder,
            "Check on {responder:host} that the queue pair exists, is in RTR or RTS and expects this peer (`rdma resource show qp`), and that the exchanged QP "
            "number, GID and P_Key are those of the live process."},
    Silence{"absent", Party::undecided,
            "Check on {responder:host} that the queue pair exists and is in RTR (`rdma resource show qp`) and that it is reachable at this GID (`rping`), then "
            "routes and firewalls for UDP port 4791 both ways, and whether the tap sees both directions."},
};
// Where the first request that was captured lies ahead of what CM announced, and nobody knows whether there were others before.
std::optional<StartingPsn> doubtful_start(const Timeline& timeline, const Case& found) {
    const CmAttempt* const attempt = attempt_of(timeline, found.connection);
    const auto start = attempt == nullptr ? std::nullopt : starting_psn(found.connection, *attempt, found.requester);
    return start && start->may_be_missing ? start : std::nullopt;
}

// Adds what the word is about.
const Silence& silence(const Timeline& timeline, const Case& found, bool answered, const Heard& heard, Facts& facts) {
    if (answered) return kSilences[0];
    if (answers_of(found.answers()) != 0) return kSilences[1];
    if (found.answers().incidents->cnps != 0) return kSilences[2];
    if (const auto start = doubtful_start(timeline, found)) {
        facts.emplace_back(kStartingPsn, start->seen);
        facts.emplace_back(kAnnouncedPsn, start->announced);
        return kSilences[3];
    }
    return kSilences[heard.any(found.to().address, found.from().address) ? 4 : 5];
}

// Where episodes of RNR ended: a responder may send a sequence NAK of the very PSN that it put off, for packets that were
// under way behind it (soft-RoCE does). Nothing was lost then.
using RnrEnd = std::tuple<ConnectionId, End, std::uint32_t, dissect::Instant>;
RnrEnd end_of_rnr(const Recovery& episode, dissect::Instant time) {
    return {episode.connection, episode.requester, episode.psn.value(), time};
}
std::vector<RnrEnd> ends_of_rnr(const Timeline& timeline) {
    std::vector<RnrEnd> ends;
    for (const Recovery& episode : timeline.recoveries)
        if (episode.kind == RecoveryKind::rnr_nak) ends.push_back(end_of_rnr(episode, episode.time.end()));
    std::ranges::sort(ends);
    return ends;
}

// PSNs that a responder said it missed: a timeout that sends one of them again is not spurious, however fast the answer.
using Missed = std::tuple<ConnectionId, End, std::uint32_t>;
Missed missed(const Recovery& episode) { return {episode.connection, episode.requester, episode.psn.value()}; }
std::vector<Missed> missed(const Timeline& timeline) {
    std::vector<Missed> all;
    for (const Recovery& episode : timeline.recoveries)
        if (asked_for(episode)) all.push_back(missed(episode));
    std::ranges::sort(all);
    return all;
}
bool spurious(const Recovery& episode, const std::vector<Missed>& all) {
    return episode.spurious && !std::ranges::binary_search(all, missed(episode));
}

constexpr std::string_view kFindCorruption =
    "Find the cable, transceiver or port that corrupts packets between {requester:host} and {responder:host}: compare symbol and FCS errors (`ethtool -S`, "
    "`mlxlink`) hop by hop.";

void retries_exceeded(const Timeline& timeline, const Emit& emit) {
    std::optional<Heard> heard;
    for (const RecoveryKind kind : {RecoveryKind::timeout, RecoveryKind::read_retry})
        for (const Case& found : cases(timeline, kind)) {
            const auto episodes = kept(found, gave_up);
            if (episodes.empty() || all_answered(found.way())) continue;
            if (!heard) heard.emplace(timeline);
            const Recovery& episode = *episodes.back();
            const CmAttempt* attempt = attempt_of(timeline, found.connection);
            Facts facts;
            const Silence& why = silence(timeline, found, episode.answered, *heard, facts);
            facts.insert(facts.end(), {{kRequester, found.from()},
                        {kResponder, found.to()},
                        {kPsn, episode.psn},
                        {kOperation, verb(episode.verb)},
                        {kTransmissions, episode.rounds + 1ULL},
                        {kStalled, episode.lost_time()},
                        {kNegotiatedRetries, attempt == nullptr ? std::nullopt : attempt->retry_count},
                        {kSilence, why.word},
                        {kCnps, nonzero(found.answers().incidents->cnps)}});
            add_timer(facts, found.way(), {&episode}, attempt);
            emit({.party = why.party,
                  .connection = found.connection.uid,
                  .count = episodes.size(),
                  .advice = why.advice,
                  .facts = std::move(facts),
                  .episodes = places_of(timeline, episodes)});
        }
}

void rnr_retries_exceeded(const Timeline& timeline, const Emit& emit) {
    for (const Case& found : cases(timeline, RecoveryKind::rnr_nak)) {
        const auto episodes = kept(found, gave_up);
        if (episodes.empty() || all_answered(found.way())) continue;
        const Recovery& episode = *episodes.back();
        std::uint64_t naks = 0;  // a loss in between divides them among episodes
        for (const Recovery* one : kept(found, [&](const Recovery& other) { return other.psn == episode.psn; })) naks += one->triggers;
        emit({.party = Party::responder,
              .connection = found.connection.uid,
              .count = episodes.size(),
              .facts = {{kRequester, found.from()}, {kResponder, found.to()}, {kPsn, episode.psn}, {kOperation, verb(episode.verb)}, {kRnrNaks, naks}},
              .episodes = places_of(timeline, episodes)});
    }
}

// Of a gap that nothing filled: a READ that is missing takes several PSNs, and is one packet.
bool may_be_fewer(const Way& way, const Recovery& episode) {
    return episode.end == RecoveryEnd::open && episode.lost > 1 && way.messages[static_cast<std::size_t>(MessageKind::read)] != 0;
}

// With selective repeat every packet of a gap is asked for by a NAK of its own: one that none asked for was only late. So what a gap
// has from the next PSN on that was asked for counts there.
std::uint64_t lost_packets(const Way& way, const std::vector<const Recovery*>& episodes, bool selective) {
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < episodes.size(); ++i) {
        const Recovery& episode = *episodes[i];
        if (episode.cause == NakCause::discarded_lost) continue;
        std::uint32_t most = selective || may_be_fewer(way, episode) ? 1 : std::max(episode.lost, 1U);
        if (i + 1 < episodes.size())
            if (const std::int32_t next = episodes[i + 1]->psn - episode.psn; next > 0) most = std::min(most, static_cast<std::uint32_t>(next));
        lost += most;
    }
    return lost;
}

constexpr std::string_view kSequenceLoss =
    "{responder} [lost_proven?lost|missed] [at_least?at least ]{lost:packet} from {requester:host} ({loss_events:event}{>place}[, {corrupt:packet} with a wrong "
    "ICRC]); [recoveries?[partly?after {recoveries} of them ][retransmitted?[{recovery_mode} ]retransmitted {>resent}; stalled {>stall}|recovery took {>stall}]"
    "|{requester:host} acted on none of the NAKs in time][; {ended_in_timeout} ended in an ACK timeout][; {undecided} undecided].";

// Sequence NAKs of packets that were lost, or may have been, of requesters that repeat selectively or do not. A NAK proves the loss,
// whether or not the requester heeded it: the NAKs that it did not are other findings' too.
void sequence_losses(const Timeline& timeline, bool selective, const Emit& emit) {
    const auto rnr = ends_of_rnr(timeline);
    const auto counts = [&](const Recovery& episode) {
        return asked_for(episode) && !is_of_order(episode.cause) && !std::ranges::binary_search(rnr, end_of_rnr(episode, episode.time.begin()));
    };
    const auto is_sequence = [](const Recovery& episode) { return episode.kind == RecoveryKind::sequence_nak; };
    for (const Episodes& all : all_episodes(timeline)) {
        const Episodes found{all.connection, all.requester, kept(all, is_sequence)};
        const RecoverySum sum = without(found, found.way().incidents->recovery(RecoveryKind::sequence_nak),
                                        kept(found, [&](const Recovery& episode) { return !counts(episode); }));
        const std::uint64_t heeded = kept(found, counts).size();
        const auto episodes = kept(all, counts);
        const std::uint64_t unkept = sum.episodes - std::min<std::uint64_t>(sum.episodes, heeded);
        const std::uint64_t events = episodes.size() + unkept;
        if (events == 0 || is_selective(episodes) != selective) continue;
        const std::uint64_t lost = unkept + lost_packets(found.way(), episodes, selective);
        const bool at_least = std::ranges::any_of(episodes, [&](const Recovery* episode) { return may_be_fewer(found.way(), *episode); });
        const auto ignored = static_cast<std::uint64_t>(std::ranges::count_if(episodes, &Recovery::ignored_nak));
        const std::uint64_t undecided = events - sum.episodes - ignored;
        const LossPlace place(found, episodes, timeline.hosts);
        const std::uint64_t corrupt = found.way().incidents->corrupt;
        Facts facts{{kRequester, found.from()},
                    {kResponder, found.to()},
                    {kLost, lost},
                    {kLostProven, place.proven()},
                    {kAtLeast, at_least},
                    {kLossEvents, events},
                    {kOtherTap, timeline.quality.vantage.by_file && timeline.quality.left_out != 0},
                    {kCorrupt, nonzero(corrupt)},
                    {kRecoveries, nonzero(sum.episodes)},
                    {kPartly, sum.episodes != events},
                    {kEndedInTimeout, nonzero(ignored)},
                    {kUndecided, nonzero(undecided)}};
        std::ranges::copy(place.facts(), std::back_inserter(facts));
        if (sum.episodes != 0) add_stall(facts, sum.episodes, sum.lost, sum.most_lost);
        if (sum.resent != 0) add_resent(facts, sum, rests_of_reads(kept(found, counts)));
        if (selective) facts.emplace_back(kRecoveryMode, "selective repeat");
        else if (sum.resent > sum.episodes) facts.emplace_back(kRecoveryMode, "go-back-N");
        emit({.party = Party::fabric,
              .connection = found.connection.uid,
              .count = events,
              .sentence = kSequenceLoss,
              .advice = corrupt != 0 ? kFindCorruption : place.advice(),
              .facts = std::move(facts),
              .episodes = places_of(timeline, episodes)});
    }
}

void go_back_n(const Timeline& timeline, const Emit& emit) {
    sequence_losses(timeline, false, emit);
    lone_sequence_naks(timeline, emit);
}
void selective_repeat(const Timeline& timeline, const Emit& emit) { sequence_losses(timeline, true, emit); }

void rnr_stall(const Timeline& timeline, const Emit& emit) {
    for (const Case& found : cases(timeline, RecoveryKind::rnr_nak)) {
        const RecoverySum sum = without(found, found.sum, kept(found, gave_up));
        if (sum.episodes == 0) continue;
        const auto episodes = kept(found, [](const Recovery& episode) { return !gave_up(episode); });
        std::optional<std::uint8_t> code;
        for (const Recovery* episode : episodes)
            if (episode->rnr_timer && (!code || rnr_wait(*episode->rnr_timer) > rnr_wait(*code))) code = episode->rnr_timer;
        const bool longest = code == std::uint8_t{0};
        const bool felt = longest || sum.most_lost >= kFeltStall ||
                          std::to_underlying(sum.lost) >= std::to_underlying(life(found.connection)) / kFeltPart;
        std::uint64_t waits = sum.triggers;  // that ended: one that has not is in no average
        for (const Recovery* episode : episodes) waits -= std::min<std::uint64_t>(waits, episode->triggers - std::min(episode->rounds, episode->triggers));
        const Duration wait = waits == 0 ? Duration{} : Duration{std::to_underlying(sum.waited) / static_cast<std::int64_t>(waits)};
        Facts facts{{kRequester, found.from()},
                    {kResponder, found.to()},
                    {kRnrNaks, sum.triggers},
                    {kRnrTimer, code ? std::optional(rnr_wait(*code)) : std::nullopt},
                    {kRnrCode, code},
                    {kLongestTimer, longest},
                    {kRnrWait, nonzero(wait)},
                    {kSeveralWaits, waits > 1}};
        add_stall(facts, sum.episodes, sum.lost, sum.most_lost);
        emit({.party = Party::responder,
              .connection = found.connection.uid,
              .count = sum.triggers,
              .severity = felt ? Severity::warning : Severity::note,
              .facts = std::move(facts),
              .episodes = places_of(timeline, episodes)});
    }
    lone_rnr_naks(timeline, emit);
}

void rnr_wait_too_short(const Timeline& timeline, const Emit& emit) {
    for (const Case& found : cases(timeline, RecoveryKind::rnr_nak)) {
        // The tap sees the NAK before the requester does and the next packet after it left: the wait it sees is never
        // shorter than the real one. Half of what was asked for leaves room for coarse clocks.
        const auto episodes = kept(found, [](const Recovery& episode) {
            return episode.rnr_timer && episode.resumed != dissect::FrameIndex{} &&
                   std::to_underlying(episode.longest_wait) < std::to_underlying(rnr_wait(*episode.rnr_timer)) / 2;
        });
        if (episodes.empty()) continue;
        const Recovery& episode = *episodes.front();
        emit({.party = Party::requester,
              .connection = found.connection.uid,
              .count = episodes.size(),
              .facts = {{kRequester, found.from()},
                        {kResponder, found.to()},
                        {kWaited, episode.longest_wait},
                        {kRnrTimer, rnr_wait(*episode.rnr_timer)},
                        {kRnrCode, *episode.rnr_timer}},
              .episodes = places_of(timeline, episodes)});
    }
}

constexpr std::string_view kFindLossesOfNaks =
    "Find the losses that the NAKs of {responder:host} report, which {requester:host} ignored (nak-ignored); no ACK needs to have been lost.";

void ack_timeout(const Timeline& timeline, const Emit& emit) {
    std::optional<Heard> heard;
    const auto all = missed(timeline);
    for (const Case& found : cases(timeline, RecoveryKind::timeout)) {
        const auto other = [&](const Recovery& episode) { return gave_up(episode) || spurious(episode, all); };
        const RecoverySum sum = without(found, found.sum, kept(found, other));
        if (sum.episodes == 0) continue;
        const auto episodes = kept(found, [&](const Recovery& episode) { return !other(episode); });
        const bool answered = !episodes.empty() && std::ranges::all_of(episodes, &Recovery::answered);
        const bool lost = found.way().incidents->gaps.network != 0 || found.answers().incidents->response_gaps.network != 0 || answered;
        Facts facts;
        const Silence* why = nullptr;
        const bool naks_ignored =
            !episodes.empty() && std::ranges::all_of(episodes, [](const Recovery* episode) { return episode->ignored_nak() && episode->proven; });
        if (answered || answers_of(found.answers()) == 0) {
            if (!heard) heard.emplace(timeline);
            why = &silence(timeline, found, answered, *heard, facts);
        }
        auto placed = timeouts_placed(episodes, timeline.hosts);
        facts.insert(facts.end(), {{kRequester, found.from()},
                    {kResponder, found.to()},
                    {kTimeouts, sum.triggers},
                    {kSilence, why == nullptr ? std::optional<std::string_view>{} : why->word},
                    {kCnps, nonzero(found.answers().incidents->cnps)}});
        add_resent(facts, sum, rests_of_reads(episodes));
        add_timer(facts, found.way(), episodes, attempt_of(timeline, found.connection));
        add_stall(facts, sum.episodes, sum.lost, sum.most_lost);
        const Party party = why != nullptr ? why->party : lost ? Party::fabric : Party::undecided;
        const bool is_placed = !placed.empty();
        if (is_placed) facts.emplace_back(kTimeoutCauses, std::move(placed));
        emit({.party = is_placed ? Party::fabric : party,
              .connection = found.connection.uid,
              .count = sum.episodes,
              .advice = why != nullptr ? why->advice : naks_ignored ? kFindLossesOfNaks : std::string_view{},
              .facts = std::move(facts),
              .episodes = places_of(timeline, episodes)});
    }
}

// The smallest timeout that is longer than an answer took.
std::uint8_t longer_exponent(Duration took) {
    constexpr std::uint8_t kMost = 31;
    std::uint8_t exponent = 1;
    while (exponent < kMost && ack_timeout_of(exponent) <= took) ++exponent;
    return exponent;
}

constexpr std::string_view kSpuriousUndecided =
    "{requester:host} retransmitted {retries:times} and received more than one answer from {responder}[{>timer}]: the first was late, or the network lost or "
    "duplicated some.";
constexpr std::string_view kSpuriousUndecidedAdvice =
    "Look for dropped answers on the way to {requester:host} (counters of its port and of the last switch), then for what delays {responder:host}; if there "
    "is neither, raise the ACK timeout on {requester:host}.";

void spurious_retransmission(const Timeline& timeline, const Emit& emit) {
    const auto all = missed(timeline);
    for (const Case& found : cases(timeline, RecoveryKind::timeout)) {
        const auto episodes = kept(found, [&](const Recovery& episode) { return spurious(episode, all); });
        if (episodes.empty()) continue;
        const CmAttempt* attempt = attempt_of(timeline, found.connection);
        const auto early = static_cast<std::uint64_t>(std::ranges::count_if(
            episodes, [&](const Recovery* episode) { return episode->proven || before_its_time(*episode, attempt); }));
        std::optional<Duration> took;
        for (const Recovery* episode : episodes)
            if (episode->answer_took) took = std::max(took.value_or(Duration{}), *episode->answer_took);
        Facts facts{{kRequester, found.from()},
                    {kResponder, found.to()},
                    {kRetries, episodes.size()}};
        add_timer(facts, found.way(), episodes, attempt);
        if (early != 0 && took) {
            facts.emplace_back(kAnswerTook, *took);
            facts.emplace_back(kSufficientExponent, longer_exponent(*took));
            facts.emplace_back(kSufficientTime, ack_timeout_of(longer_exponent(*took)));
        }
        emit({.party = early != 0 ? Party::requester : Party::undecided,
              .connection = found.connection.uid,
              .count = episodes.size(),
              .sentence = early != 0 ? std::string_view{} : kSpuriousUndecided,
              .advice = early != 0 ? std::string_view{} : kSpuriousUndecidedAdvice,
              .facts = std::move(facts),
              .episodes = places_of(timeline, episodes)});
    }
}

void read_response_lost(const Timeline& timeline, const Emit& emit) {
    const bool lacking = recorder_lost_packets(timeline);
    for (const Case& found : cases(timeline, RecoveryKind::read_retry)) {
        const std::uint64_t partial = rests_of_reads(found.episodes);
        const Gaps& gaps = found.answers().incidents->response_gaps;
        const bool missed = gaps.network + gaps.reordered != 0;
        // Where the tap missed packets of this connection, a READ of its own can look like the rest of one before it.
        const Gaps& requests = found.way().incidents->gaps;
        const bool unsure = (!missed && gaps.tap + gaps.undecided + requests.tap + requests.undecided != 0) || (lacking && partial == 0);
        Facts facts{{kRequester, found.from()},
                    {kResponder, found.to()},
                    {kRetries, found.sum.episodes},
                    {kFromMiddle, partial},
                    {kResponsesMissed, nonzero(gaps.network)},
                    {kResponsesLate, nonzero(gaps.reordered)}};
        add_resent(facts, found.sum, partial);
        add_stall(facts, found.sum.episodes, found.sum.lost, found.sum.most_lost);
        emit({.party = unsure ? Party::undecided : Party::fabric,
              .connection = found.connection.uid,
              .count = lacking && partial != 0 ? partial : found.sum.episodes,  // those that nothing but a lost response explains
              .severity = unsure ? Severity::note : Severity::warning,
              .facts = std::move(facts),
              .episodes = places_of(timeline, found.episodes)});
    }
}

}  // namespace

Family recovery_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "transport-retries-exceeded",
                   .severity = Severity::error,
                   .clause = "IBA 9.7.6.1.3, C9-142",
                   .meaning = "A requester exhausted its transport retries and gave up",
                   .by_order = true,
                   .sentence =
                       "{requester:host} sent PSN {psn} ({operation}) {transmissions:times} to {responder} within {stalled}[{>timer}], then gave "
                       "up (completion status 12[, {negotiated_retries} retries negotiated]): {>silence}.",
                   .advice =
                       kSilences.back().advice,
                   .draw = retries_exceeded},
        FindingRow{.id = "rnr-retries-exceeded",
                   .severity = Severity::error,
                   .clause = "IBA 9.7.5.2.8",
                   .meaning = "A requester exhausted its RNR retries: the responder had no receive posted",
                   .sentence =
                       "{responder} answered PSN {psn} ({operation}) from {requester:host} with {rnr_naks:RNR NAK} (no receive posted), and "
                       "{requester:host} gave up (completion status 13).",
                   .advice =
                       "Make the application on {responder:host} post receives before its peer may send, or set rnr_retry to 7 (infinite) on "
                       "{requester:host}.",
                   .draw = rnr_retries_exceeded},
        FindingRow{.id = "go-back-n-loss",
                   .severity = Severity::warning,
                   .clause = "IBA 9.7.5.1.2",
                   .meaning = "Packets were lost, and the responder requested them with a sequence NAK",
                   .by_order = true,
                   .sentence =
                       kSequenceLoss,
                   .advice =
                       kFindCorruption,
                   .draw = go_back_n},
        FindingRow{.id = "selective-repeat",
                   .severity = Severity::warning,
                   .clause = kObserved,
                   .meaning = "Each NAK was answered with the missing packets alone (selective repeat)",
                   .by_order = true,
                   .sentence =
                       kSequenceLoss,
                   .advice =
                       kFindCorruption,
                   .draw = selective_repeat},
        FindingRow{.id = "rnr-stall",
                   .severity = Severity::warning,
                   .clause = "IBA 9.7.5.2.8",
                   .meaning = "A requester stalled because the responder had no receive posted",
                   .sentence =
                       "{responder} had no receive posted for {requester:host}: {rnr_naks:RNR NAK}[ with a timer of {rnr_timer} (code "
                       "{rnr_code})]; stalled {>stall}[; {requester:host} waited {rnr_wait}[several_waits? on average]].",
                   .advice =
                       "[longest_timer?Set min_rnr_timer of the queue pair on {responder:host} to 12 (0.64 ms): its 0, which rdma_cm leaves in "
                       "place, means 655.36 ms, the longest.|Post more receives on {responder:host} (deeper receive queue, SRQ with a limit "
                       "event): its application drains them more slowly than {requester:host} sends.]",
                   .draw = rnr_stall},
        FindingRow{.id = "rnr-wait-too-short",
                   .severity = Severity::note,
                   .clause = "IBA 9.7.5.2.8, C9-130",
                   .meaning = "A requester retransmitted before the RNR timer of the NAK had expired",
                   .by_order = true,
                   .sentence =
                       "{requester:host} retransmitted {waited} after an RNR NAK from {responder} with a timer of {rnr_timer} (code {rnr_code}).",
                   .advice =
                       "Report it to the NIC vendor of {requester:host}: a requester must wait until the RNR timer has expired.",
                   .draw = rnr_wait_too_short},
        FindingRow{.id = "ack-timeout",
                   .severity = Severity::warning,
                   .clause = "IBA 9.7.6.1.3",
                   .meaning = "A requester hit its ACK timeout and retransmitted",
                   .by_order = true,
                   .sentence =
                       "{requester:host} hit the ACK timeout {timeouts:times} waiting for {responder} and retransmitted {>resent}[{>timer}]; "
                       "stalled {>stall}[silence?; {>silence}][; {timeout_causes:clauses}].",
                   .advice =
                       "Look for dropped ACKs and tail losses between {requester:host} and {responder:host} (local_ack_timeout_err in `rdma "
                       "statistic`, switch drop counters); lower the queue pair's timeout if recovery takes too long.",
                   .draw = ack_timeout},
        FindingRow{.id = "spurious-retransmission",
                   .severity = Severity::warning,
                   .clause = "IBA 9.7.6.1.3",
                   .meaning = "A requester retransmitted although nothing was lost",
                   .by_order = true,
                   .sentence =
                       "{requester:host} retransmitted {retries:times} although nothing was lost[{>timer}]: [retries=1?the answer|answers] from "
                       "{responder} came [answer_took?[retries=1?{answer_took} after the request|up to {answer_took} after their "
                       "requests]|late].",
                   .advice =
                       "Raise the ACK timeout on {requester:host}[ to at least exponent {sufficient_exponent}, {sufficient_time}] "
                       "(NCCL_IB_TIMEOUT, UCX_RC_TIMEOUT, ibv_qp_attr.timeout) or turn adaptive retransmission off, and find out what delays "
                       "{responder:host}.",
                   .draw = spurious_retransmission},
        FindingRow{.id = "read-response-lost",
                   .severity = Severity::warning,
                   .clause = "IBA 9.7.5.1",
                   .meaning = "READ or ATOMIC responses were lost and requested again",
                   .by_order = true,
                   .sentence =
                       "{requester:host} requested READ or ATOMIC data from {responder} again {retries:times}, {from_middle} of them from the "
                       "middle of a READ, and retransmitted {>resent}; stalled {>stall}[; {responses_missed:response packet} had not passed this "
                       "tap by then][; {responses_late:response packet} passed it late].",
                   .advice =
                       "Find where READ responses are dropped or reordered on the way from {responder:host} to {requester:host} (switch drop "
                       "counters, implied_nak_seq_err in `rdma statistic`): they need the same lossless priority as requests.",
                   .draw = read_response_lost},
    };
    return {kRows, kOwnFacts};
}

}  // namespace qps::transport::families
