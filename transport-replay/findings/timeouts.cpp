// Findings about timeouts: those that were hit, those that fired for nothing, and READs that were asked for again.
#include <dissect/base/timers.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/loss_place.hpp>
#include <transport-replay/findings/recovery_facts.hpp>
#include <transport-replay/findings/shared_causes.hpp>
#include <transport-replay/model/starting_psn.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/recovery_watch.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::transport::families {

namespace {

using dissect::Duration;
using namespace facts;

constexpr FactRow kTimeouts{"timeouts", Unit::count, "ACK timeouts"};
constexpr FactRow kTimeoutCauses{"timeout_causes", Unit::list,
                                 "what they waited for, as far as captures of several hosts tell"};
constexpr FactRow kBehindRead{"behind_open_read", Unit::flag,
                              "each time it went back to a PSN behind a READ or ATOMIC that had no response"};
constexpr FactRow kAnswerTook{"answer_took", Unit::duration, "the longest time from a request to its late answer"};
constexpr FactRow kSufficientExponent{"sufficient_exponent", Unit::number,
                                      "the least exponent whose timeout is longer than that"};
constexpr FactRow kSufficientTime{"sufficient_time", Unit::duration, "the time of that exponent"};
constexpr FactRow kRetries{"retries", Unit::count, "times that the requester sent again"};
constexpr FactRow kFromMiddle{"from_middle", Unit::count, "of them, requests from the middle of a READ"};
constexpr FactRow kAfterTimer{"after_timer", Unit::count, "of them, requests after an ACK timeout"};
constexpr FactRow kResponsesMissed{"responses_missed", Unit::count,
                                   "response packets that had not passed the tap by then"};
constexpr FactRow kResponsesLate{"responses_late", Unit::count, "response packets that passed the tap late"};

// Whether it was sent again before the time that CM agreed on. The tap may see packets closer together than they were
// sent: half of the time leaves room for that. What comes quicker than anybody notices may have been asked for by what
// the tap did not see.
bool before_its_time(const Recovery& episode, const CmAttempt* attempt) {
    if (!episode.interval || attempt == nullptr || attempt->local_ack_timeout.value_or(0) == 0) return false;
    return *episode.interval > kSlowestReaction &&
           *episode.interval < Duration{std::to_underlying(dissect::timeout_of(*attempt->local_ack_timeout)) / 2};
}

constexpr std::string_view kFindLossesOfNaks =
    "Find the losses that the NAKs of {responder:host} report, which {requester:host} ignored (nak-ignored); no ACK needs to have been lost.";

constexpr std::string_view kSendsTheWrongAgain =
    "Report it to the NIC vendor of {requester:host}: a READ or ATOMIC without a response is what a requester has to send again, not what was acknowledged behind "
    "it; and find where that response is dropped on the way from {responder:host} (switch drop counters).";

constexpr std::string_view kCommonStall =
    "Find what stopped several connections at the same moment (stalled-together): a link that flapped, a switch, or one of the two hosts.";

void ack_timeout(const Timeline& timeline, const Emit& emit) {
    std::optional<Heard> heard;
    const bool lacking = recorder_lost_packets(timeline);
    const auto refused = refused_starts(timeline);
    const Ends ends(timeline);
    const auto together = stalled_with_others(timeline);
    for (const Case& found : cases(timeline, RecoveryKind::timeout)) {
        if (find(refused, found.connection.uid, found.requester) != nullptr) continue;  // starting-psn-differs
        const auto other = [&](const Recovery& episode) {
            return ends.gave_up_or_may(episode) || episode.spurious() ||
                   episode.lacked_response();  // read-response-lost
        };
        const RecoverySum sum = without(found, found.sum, kept(found, other));
        if (sum.episodes == 0) continue;
        const auto episodes = kept(found, [&](const Recovery& episode) { return !other(episode); });
        const bool answered = !episodes.empty() && std::ranges::all_of(episodes, [](const Recovery* episode) {
            return episode->fates == AnswerFates{AnswerFate::answer_lost_behind_tap};
        });
        const bool lost = found.way().incidents->gaps.network != 0 ||
                          found.answers().incidents->response_gaps.network != 0 || answered;
        Facts facts{{kRequester, found.from()}, {kResponder, found.to()}, {kTimeouts, sum.triggers}};
        const Silence* why = nullptr;
        const bool naks_ignored = !episodes.empty() && std::ranges::all_of(episodes, [](const Recovery* episode) {
            return episode->ignored_nak() && episode->has(RoundEvidence::only_nak_tells);
        });
        if (answered || answers_of(found.answers()) == 0) {
            if (!heard) heard.emplace(timeline);
            why = &add_silence(facts, timeline, found, answered, *heard);
        }
        auto placed = timeouts_placed(episodes, timeline.hosts);
        add_resent(facts, sum, rests_of_reads(episodes));
        add_timer(facts, found.way(), episodes, attempt_of(timeline, found.connection));
        add_stall(facts, sum.episodes, sum.lost, sum.most_lost);
        add_stop(facts, timeline, found, episodes);
        // Once, the capture may lack that response, and the answer behind it have been lost, whatever became of its
        // peer then. An answer that passed anew before each time shows that the peer lives, and that it goes on so.
        const bool behind_read =
            !lacking && episodes.size() > 1 && std::ranges::all_of(episodes, [](const Recovery* episode) {
                return episode->has(RoundEvidence::unasked) && episode->answered() &&
                       !episode->has(RoundEvidence::oldest);
            });
        facts.emplace_back(kBehindRead, behind_read);
        const Party party = behind_read      ? Party::requester
                            : why != nullptr ? why->party
                            : lost           ? Party::fabric
                                             : Party::undecided;
        const bool is_placed = !placed.empty();
        const bool common = !episodes.empty() && std::ranges::all_of(episodes, [&](const Recovery* episode) {
            return std::ranges::binary_search(together, episode);
        });
        if (is_placed) facts.emplace_back(kTimeoutCauses, std::move(placed));
        emit({.party = is_placed ? Party::fabric
                       : common  ? Party::undecided
                                 : party,
              .connection = found.connection.uid,
              .count = sum.episodes,
              .advice = common           ? kCommonStall
                        : behind_read    ? kSendsTheWrongAgain
                        : why != nullptr ? why->advice
                        : naks_ignored   ? kFindLossesOfNaks
                                         : std::string_view{},
              .facts = std::move(facts),
              .episodes = places_of(timeline, episodes)});
    }
}

// The smallest timeout that is longer than an answer took.
std::uint8_t longer_exponent(Duration took) {
    constexpr std::uint8_t kMost = 31;
    std::uint8_t exponent = 1;
    while (exponent < kMost && dissect::timeout_of(exponent) <= took) ++exponent;
    return exponent;
}

constexpr std::string_view kSpuriousUndecided =
    "{requester:host} retransmitted {retries:times} and received more than one answer from {responder}[{>timer}]: the first was late, or the network lost or "
    "duplicated some.";
constexpr std::string_view kSpuriousUndecidedAdvice =
    "Look for dropped answers on the way to {requester:host} (counters of its port and of the last switch), then for what delays {responder:host}; if there "
    "is neither, raise the ACK timeout on {requester:host}.";

void spurious_retransmission(const Timeline& timeline, const Emit& emit) {
    for (const Case& found : cases(timeline, RecoveryKind::timeout)) {
        const auto episodes = kept(found, [&](const Recovery& episode) { return episode.spurious(); });
        if (episodes.empty()) continue;
        const CmAttempt* attempt = attempt_of(timeline, found.connection);
        const auto early = static_cast<std::uint64_t>(std::ranges::count_if(episodes, [&](const Recovery* episode) {
            return episode->lost_nothing() || before_its_time(*episode, attempt);
        }));
        std::optional<Duration> took;
        for (const Recovery* episode : episodes)
            if (episode->has(RoundEvidence::too_soon) && episode->answer_took)
                took = std::max(took.value_or(Duration{}), *episode->answer_took);
        std::uint64_t retries = 0;
        for (const Recovery* episode : episodes) retries += std::max(episode->rounds, 1U);
        Facts facts{{kRequester, found.from()}, {kResponder, found.to()}, {kRetries, retries}};
        add_timer(facts, found.way(), episodes, attempt);
        if (early != 0 && took) {
            facts.emplace_back(kAnswerTook, *took);
            facts.emplace_back(kSufficientExponent, longer_exponent(*took));
            facts.emplace_back(kSufficientTime, dissect::timeout_of(longer_exponent(*took)));
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
    const Ends ends(timeline);
    for (Episodes& found : all_episodes(timeline)) {
        RecoverySum sum = found.way().incidents->recovery(RecoveryKind::read_retry);
        std::uint64_t after_timer = 0;
        std::erase_if(found.episodes, [&](const Recovery* episode) {
            if (episode->kind == RecoveryKind::read_retry) return false;
            if (!episode->lacked_response() || episode->spurious() || ends.gave_up_or_may(*episode)) return true;
            sum.add(*episode);
            after_timer += episode->triggers;
            return false;
        });
        if (sum.episodes == 0) continue;
        const std::uint64_t partial = rests_of_reads(found.episodes);
        const Gaps& gaps = found.answers().incidents->response_gaps;
        const bool missed = gaps.network + gaps.reordered != 0;
        // Where the tap missed packets of this connection, a READ of its own can look like the rest of one before it.
        const Gaps& requests = found.way().incidents->gaps;
        const bool unsure = (!missed && gaps.tap + gaps.undecided + requests.tap + requests.undecided != 0) ||
                            (lacking && partial == 0);
        Facts facts{{kRequester, found.from()},
                    {kResponder, found.to()},
                    {kRetries, sum.episodes},
                    {kFromMiddle, partial},
                    {kAfterTimer, nonzero(after_timer)},
                    {kResponsesMissed, nonzero(gaps.network)},
                    {kResponsesLate, nonzero(gaps.reordered)}};
        add_resent(facts, sum, partial);
        add_stall(facts, sum.episodes, sum.lost, sum.most_lost);
        emit({.party = unsure ? Party::undecided : Party::fabric,
              .connection = found.connection.uid,
              .count =
                  lacking && partial != 0 ? partial : sum.episodes,  // those that nothing but a lost response explains
              .severity = unsure ? Severity::note : Severity::warning,
              .facts = std::move(facts),
              .episodes = places_of(timeline, found.episodes)});
    }
}

}  // namespace

Family timeouts_family() {
    static constexpr std::array kOwn{&kTimeouts,           &kTimeoutCauses,   &kBehindRead,   &kAnswerTook,
                                     &kSufficientExponent, &kSufficientTime,  &kRetries,      &kFromMiddle,
                                     &kAfterTimer,         &kResponsesMissed, &kResponsesLate};
    static constexpr std::array kRows{
        FindingRow{
            .id = "ack-timeout",
            .severity = Severity::warning,
            .clause = "IBA 9.7.6.1.3",
            .meaning = "A requester hit its ACK timeout and retransmitted",
            .predicate = "hit the ACK timeout",
            .by_order = true,
            .sentence =
                "{requester:host} hit the ACK timeout {timeouts:times} waiting for {responder} and retransmitted {>resent}[{>timer}]; "
                "stalled {>stall}[silence?; {>silence}][; {timeout_causes:clauses}]"
                "[behind_open_read?; it went back behind a READ or ATOMIC whose response had not passed this tap]{>stopped}.",
            .advice =
                "Look for dropped ACKs and tail losses between {requester:host} and {responder:host} (local_ack_timeout_err in `rdma "
                "statistic`, switch drop counters); lower the queue pair's timeout if recovery takes too long.",
            .alike =
                "A lost request, a lost answer and a responder that did not answer in time look alike from the requester. A sequence "
                "NAK that the tap missed, or that the requester ignored (nak-ignored), ends in a retransmission as well.",
            .limits =
                "The timer itself is not on the wire: its exponent is what several waits agree on, or what CM negotiated. Which "
                "packet was lost, and where, only captures of both hosts tell.",
            .draw = ack_timeout},
        FindingRow{
            .id = "spurious-retransmission",
            .severity = Severity::warning,
            .clause = "IBA 9.7.6.1.3",
            .meaning = "A requester retransmitted although nothing was lost",
            .predicate = "retransmitted although nothing was lost",
            .by_order = true,
            .sentence =
                "{requester:host} retransmitted {retries:times} although nothing was lost[{>timer}]: [retries=1?the answer|answers] from "
                "{responder} came [answer_took?[retries=1?{answer_took} after the request|up to {answer_took} after their "
                "requests]|late].",
            .advice =
                "Raise the ACK timeout on {requester:host}[ to at least exponent {sufficient_exponent}, {sufficient_time}] "
                "(NCCL_IB_TIMEOUT, UCX_RC_TIMEOUT, ibv_qp_attr.timeout) or turn adaptive retransmission off, and find out what delays "
                "{responder:host}.",
            .alike =
                "A network that doubles packets gives two answers for one request, and a lost answer is answered again. It counts as "
                "premature only where the answer can belong to the first sending alone, or where it came before the negotiated "
                "timeout.",
            .limits =
                "What delayed the responder. Where nothing proves that the first answer was late, whether one was lost or doubled is "
                "undecided.",
            .draw = spurious_retransmission},
        FindingRow{
            .id = "read-response-lost",
            .severity = Severity::warning,
            .clause = "IBA 9.7.5.1",
            .meaning = "READ or ATOMIC responses were lost and requested again",
            .predicate = "lost READ or ATOMIC responses",
            .by_order = true,
            .sentence =
                "{requester:host} requested READ or ATOMIC data from {responder} again {retries:times}"
                "[from_middle=0?[, {after_timer} after an ACK timeout,]|, {from_middle} of them from the middle of a READ[, {after_timer} "
                "after an ACK timeout],] and retransmitted {>resent}; stalled {>stall}[; {responses_missed:response packet} had not passed this tap by then][; {responses_late:response packet} passed it late].",
            .advice =
                "Find where READ responses are dropped or reordered on the way from {responder:host} to {requester:host} (switch drop "
                "counters, implied_nak_seq_err in `rdma statistic`): they need the same lossless priority as requests.",
            .alike =
                "A new READ of the rest of the same memory looks like the rest of an earlier one. Where the tap missed packets of "
                "this connection such a READ proves nothing, and the finding is a note.",
            .limits =
                "Whether responses were lost or late behind the tap: a requester asks again for either. Where they were lost is known "
                "only as far as they had not passed this tap.",
            .draw = read_response_lost},
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
