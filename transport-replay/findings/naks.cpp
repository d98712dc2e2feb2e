// Findings about NAKs that were not heeded, about NAKs whose requests were not captured, and about retransmissions
// whose cause is not known. A NAK is evidence by itself; silence is none where only one direction was captured.
#include <dissect/base/types.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/lone_naks.hpp>
#include <transport-replay/findings/recovery_facts.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/recovery_watch.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::transport::families {

namespace {

using dissect::Duration;
using namespace facts;

constexpr FactRow kIgnoredNaks{"ignored_naks", Unit::count,
                               "sequence NAKs that the requester received and did not act on"};
constexpr FactRow kShortestWait{"shortest_wait", Unit::duration,
                                "the shortest time from a NAK until the requester went back, where they differ"};
constexpr FactRow kLongestWait{"longest_wait", Unit::duration, "the longest of these waits"};
constexpr FactRow kEpisodes{"episodes", Unit::count, "times that the requester went back"};
constexpr FactRow kTimerKnown{"timer_known", Unit::flag, "the ACK timer is known, of CM or of waits that agree on it"};
constexpr FactRow kAnswersMissing{"answers_missing", Unit::flag, "none of the answers was captured"};
constexpr FactRow kRefusedFor{"refused_for", Unit::duration,
                              "the longest time from the first RNR NAK of a PSN to its last"};

// A NAK lost behind the tap looks like one that was ignored, where the tap also lacks the first packets that the timer
// sent again: that happens by chance, but hardly twice on a connection.
constexpr std::size_t kRepeated = 2;

// The waits of episodes, of which there is at least one.
void add_waits(Facts& facts, const std::vector<const Recovery*>& episodes) {
    const auto [least, most] = std::ranges::minmax(episodes, {}, &Recovery::waited);
    if (least->waited != most->waited) facts.emplace_back(kShortestWait, least->waited);
    facts.emplace_back(kLongestWait, most->waited);
}

// Answers of one end to requests that were not captured, or could not be assigned.
struct Lone {
    const Connection& connection;
    End responder{};
    [[nodiscard]] const Way& way() const { return connection.way(responder); }
    [[nodiscard]] const Endpoint& from() const { return connection.end(responder); }
    [[nodiscard]] const Endpoint& to() const { return connection.end(other(responder)); }
};
std::vector<Lone> lone_answers(const Timeline& timeline) {
    std::vector<Lone> found;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b})
            if (connection.reliable() && connection.way(other(end)).requests == 0 && connection.way(end).packets != 0)
                found.push_back({connection, end});
    return found;
}

void nak_ignored(const Timeline& timeline, const Emit& emit) {
    for (const Episodes& all : all_episodes(timeline)) {
        // Where nothing proves that the NAK arrived, it may have been lost behind the tap.
        const auto episodes = kept(all, [](const Recovery& episode) {
            return episode.ignored_nak() && episode.has(RoundEvidence::only_nak_tells);
        });
        if (episodes.size() < kRepeated) continue;
        Duration waited{};
        for (const Recovery* episode : episodes) waited = waited + episode->waited;
        Facts facts{{kRequester, all.from()},
                    {kResponder, all.to()},
                    {kIgnoredNaks, episodes.size()},
                    {kSequenceNaks, std::ranges::count_if(all.episodes, &Recovery::asked)},
                    {kTotalWait, waited}};
        add_waits(facts, episodes);
        emit({.party = Party::requester,
              .connection = all.connection.uid,
              .count = episodes.size(),
              .facts = std::move(facts),
              .episodes = places_of(timeline, episodes)});
    }
}

void retransmission_undecided(const Timeline& timeline, const Emit& emit) {
    for (const Case& found : cases(timeline, RecoveryKind::undecided)) {
        const auto& episodes = found.episodes;
        const CmAttempt* attempt = attempt_of(timeline, found.connection);
        const bool inferred = !episodes.empty() && std::ranges::all_of(episodes, &Recovery::inferred);
        Facts facts{{kRequester, found.from()},
                    {kResponder, found.to()},
                    {kEpisodes, found.sum.episodes},
                    {kAnswersMissing, inferred},
                    {kTimerKnown, found.way().incidents->ack_timer.has_value() ||
                                      (attempt != nullptr && attempt->local_ack_timeout.value_or(0) != 0)},
                    {kAmbiguous, found.connection.ambiguous}};
        add_resent(facts, found.sum, rests_of_reads(episodes));
        if (!inferred && !episodes.empty() && std::ranges::all_of(episodes, &Recovery::asked))
            add_waits(facts, episodes);
        emit({.party = Party::undecided,
              .connection = found.connection.uid,
              .count = found.sum.episodes,
              .facts = std::move(facts),
              .episodes = places_of(timeline, episodes)});
    }
}

constexpr std::string_view kLoneSequenceNaks =
    "{responder:host} sent {sequence_naks:sequence NAK} to {requester}: requests did not arrive, or not in order; they were not [ambiguous?told apart from those "
    "of other queue pairs with the same PSNs|captured], so what that cost cannot be judged.";
constexpr std::string_view kLoneSequenceNaksAdvice =
    "Find the drops or the reordering on the way from {requester:host} to {responder:host} (out_of_sequence in `rdma statistic`, switch drop counters), and "
    "capture both directions.";
constexpr std::string_view kLoneRnrNaks =
    "{responder:host} had no receive posted for {requester}: {rnr_naks:RNR NAK} with a timer of {rnr_timer} (code {rnr_code})[; one PSN was refused for "
    "{refused_for}]; the requests were not [ambiguous?told apart from those of other queue pairs with the same PSNs|captured].";
constexpr std::string_view kLoneRnrNaksAdvice =
    "Post more receives on {responder:host} (deeper receive queue, SRQ with a limit event).";

}  // namespace

void lone_sequence_naks(const Timeline& timeline, const Emit& emit) {
    for (const Lone& lone : lone_answers(timeline)) {
        const Way& way = lone.way();
        FindingDraft draft{.party = Party::fabric,
                           .connection = lone.connection.uid,
                           .count = way.incidents->sequence_naks,
                           .sentence = kLoneSequenceNaks,
                           .advice = kLoneSequenceNaksAdvice,
                           .facts = {{kRequester, lone.to()},
                                     {kResponder, lone.from()},
                                     {kSequenceNaks, way.incidents->sequence_naks},
                                     {kAmbiguous, lone.connection.ambiguous}}};
        add_events(draft, way, Oddity::sequence_nak, EventRole::nak);
        if (!draft.events.empty()) emit(std::move(draft));  // none, or only behind RNR NAKs
    }
}

void lone_rnr_naks(const Timeline& timeline, const Emit& emit) {
    for (const Lone& lone : lone_answers(timeline)) {
        const Way& way = lone.way();
        const RnrNaks& rnr = way.incidents->rnr;
        if (way.incidents->rnr_naks == 0) continue;
        const std::uint8_t code = rnr.timer.value_or(0) & 31U;
        FindingDraft draft{.party = Party::responder,
                           .connection = lone.connection.uid,
                           .count = way.incidents->rnr_naks,
                           .severity = Severity::note,  // what it cost, or ended, the requests would show
                           .sentence = kLoneRnrNaks,
                           .advice = kLoneRnrNaksAdvice,
                           .facts = {{kRequester, lone.to()},
                                     {kResponder, lone.from()},
                                     {kAmbiguous, lone.connection.ambiguous},
                                     {kRnrNaks, way.incidents->rnr_naks},
                                     {kRnrTimer, rnr_wait(code)},
                                     {kRnrCode, code},
                                     {kRefusedFor, nonzero(rnr.longest)}}};
        add_events(draft, way, Oddity::rnr_nak, EventRole::nak);
        emit(std::move(draft));
    }
}

Family naks_family() {
    static constexpr std::array kOwn{&kIgnoredNaks,    &kShortestWait, &kLongestWait, &kEpisodes,
                                     &kAnswersMissing, &kRefusedFor,   &kTimerKnown};
    static constexpr std::array kRows{
        FindingRow{
            .id = "nak-ignored",
            .severity = Severity::warning,
            .clause = "IBA 9.7.5.1.2",
            .meaning = "A requester ignored a sequence NAK and waited for its ACK timeout",
            .predicate = "ignored sequence NAKs",
            .by_order = true,
            .sentence =
                "{requester:host} ignored {ignored_naks} of {sequence_naks:sequence NAK} from {responder} and went back only at its ACK "
                "timeout, [shortest_wait?{shortest_wait} to ]{longest_wait} after the NAK; waited {total_wait} in total, {longest_wait} at "
                "worst.",
            .advice =
                "Find the loss first, since a requester that is still retransmitting may drop the NAK of another loss (soft-RoCE does); lower "
                "the ACK timeout on {requester:host} (ibv_qp_attr.timeout, NCCL_IB_TIMEOUT, UCX_RC_TIMEOUT) to wait less.",
            .alike =
                "A NAK that was lost behind the tap looks the same where the first packets that the timer sent again were lost as well. So it "
                "counts only where the requester went back to just that PSN although nothing else acknowledged what was before it, and only "
                "from the second time on a connection.",
            .limits =
                "Why the requester did not act on the NAK is not on the wire, and a NAK whose arrival nothing proves is left out: the count is "
                "a lower bound.",
            .draw = nak_ignored},
        FindingRow{
            .id = "retransmission-undecided",
            .severity = Severity::note,
            .clause = "IBA 9.7.6.1.3",
            .meaning = "A requester retransmitted for a reason that the capture does not show",
            .predicate = "retransmitted for a reason that the capture does not show",
            .by_order = true,
            .sentence =
                "{requester:host} retransmitted {>resent} to {responder} in {episodes:episode}[ambiguous?; answers from {responder:host} may be for it or for another queue pair with the same PSNs, "
                "so whether NAKs or ACK timeouts caused it, and whether it gave up in the end, cannot be judged|[answers_missing?; answers were not captured, so "
                "whether NAKs or ACK timeouts caused it, and whether it gave up in the end, cannot be judged|[longest_wait?, "
                "[shortest_wait?{shortest_wait} to ]{longest_wait} after a sequence NAK: too late for an answer to it, [timer_known?too early for the ACK "
                "timeout|and whether it was the ACK timeout is undecided]|; the capture shows neither a NAK nor a silence as long as its ACK timeout]]].",
            .advice =
                "[ambiguous?Capture from before the connection is set up: CM names both queue pairs.|[answers_missing?Capture both directions to see what was lost.|[longest_wait?Compare local_ack_timeout_err and packet_seq_err "
                "of {requester:host} (`rdma statistic`).|Check whether the capture lacks packets, such as the NAK (drops of the capturing "
                "host).]]]",
            .alike =
                "Every cause of a retransmission: a loss that a NAK reported (go-back-n-loss, selective-repeat), an ACK timeout (ack-timeout), a "
                "NAK that was ignored (nak-ignored), or packets that a device on the path doubled.",
            .limits =
                "What the capture does not have decides it: the NAK, the answers, or enough waits to know the timer. Counters of the requester "
                "tell the causes apart.",
            .draw = retransmission_undecided},
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
