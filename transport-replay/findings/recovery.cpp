// Findings about what was lost and sent again, what was refused for want of a receive, and requesters that gave up.
#include <dissect/base/types.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/lone_naks.hpp>
#include <transport-replay/findings/loss_place.hpp>
#include <transport-replay/findings/recovery_facts.hpp>
#include <transport-replay/findings/shared_causes.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/starting_psn.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>
#include <transport-replay/tracking/recovery_watch.hpp>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace qps::transport::families {

namespace {

using dissect::Duration;
using namespace facts;

constexpr FactRow kRnrWait{"rnr_wait", Unit::duration, "how long the requester waited after an RNR NAK, on average"};
constexpr FactRow kSeveralWaits{"several_waits", Unit::flag, "it is an average of several waits"};
constexpr FactRow kLongestTimer{"longest_timer", Unit::flag, "the code is 0, the longest timer"};
constexpr FactRow kLost{"lost", Unit::count, "packets that the responder did not get, each time that one was lost"};
constexpr FactRow kLostProven{"lost_proven", Unit::flag, "all of them were lost, and not only late"};
constexpr FactRow kAtLeast{"at_least", Unit::flag, "the number of lost packets is a lower bound"};
constexpr FactRow kLossEvents{"loss_events", Unit::count, "times that the responder asked for packets again"};
constexpr FactRow kOtherTap{"other_tap", Unit::flag,
                            "another file has the same packets as another tap recorded them, which is not looked at"};
constexpr FactRow kCorrupt{"corrupt", Unit::count, "packets of the requester whose ICRC was wrong at the tap"};
constexpr FactRow kRecoveries{"recoveries", Unit::count,
                              "loss events after which the requester sent again what was asked for"};
constexpr FactRow kPartly{"partly", Unit::flag, "these are not all of the events"};
constexpr FactRow kRecoveryMode{
    "recovery_mode", Unit::word,
    "how it sent again: selective repeat, go-back-N; nothing where a single packet tells neither"};
constexpr FactRow kEndedInTimeout{"ended_in_timeout", Unit::count, "loss events that ended in an ACK timeout"};
constexpr FactRow kUndecided{"undecided", Unit::count, "loss events of which nothing tells how they ended"};

// RNR waits are the flow control of receives, and a few of them are healthy: more than a percent of a connection's
// time is felt, and so is 10 ms at once, the patience of a storage stack or a step of a collective.
constexpr std::int64_t kFeltPart = 100;
constexpr Duration kFeltStall{10'000'000};

Duration life(const Connection& connection) { return connection.last_time() - connection.first_time(); }
// Who has an answer to everything did not give up, however a episode looks.
bool all_answered(const Way& way) { return way.open + way.incidents->failed + way.incidents->abandoned == 0; }

// Where episodes of RNR ended: a responder may send a sequence NAK of the very PSN that it put off, for packets that
// were under way behind it (soft-RoCE does). Nothing was lost then.
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

constexpr std::string_view kFindCorruption =
    "Find the cable, transceiver or port that corrupts packets between {requester:host} and {responder:host}: compare symbol and FCS errors (`ethtool -S`, "
    "`mlxlink`) hop by hop.";

constexpr std::string_view kMaybeGaveUp =
    "{requester:host} sent PSN {psn} ({operation}) {transmissions:times} to {responder} within {stalled}[{>timer}], then nothing more: {>silence}; whether it gave up "
    "(completion status 12) or its queue pair was destroyed is undecided, the number of its retries not being known.";
constexpr std::string_view kMaybeGaveUpOfReceives =
    "{responder} answered PSN {psn} ({operation}) from {requester:host} with {rnr_naks:RNR NAK} (no receive posted), and then {requester:host} sent nothing more: "
    "whether it gave up (completion status 13) or its queue pair was destroyed is undecided, the number of its RNR retries not being known.";

void retries_exceeded(const Timeline& timeline, const Emit& emit) {
    const Ends ends(timeline);
    const auto over = [&](const Recovery& episode) { return ends.gave_up_or_may(episode); };
    std::optional<Heard> heard;
    const auto too_long = lost_by_size(timeline);
    for (const RecoveryKind kind : {RecoveryKind::timeout, RecoveryKind::read_retry})
        for (const Case& found : cases(timeline, kind)) {
            const auto episodes = kept(found, over);
            // Answers that the tap has may all have been lost behind it.
            if (episodes.empty() || (all_answered(found.way()) && !episodes.back()->answered())) continue;
            if (!heard) heard.emplace(timeline);
            const Recovery& episode = *episodes.back();
            const CmAttempt* attempt = attempt_of(timeline, found.connection);
            Facts facts{{kRequester, found.from()},
                        {kResponder, found.to()},
                        {kPsn, episode.psn},
                        {kOperation, words::verb(episode.verb)},
                        {kTransmissions, episode.rounds + 1ULL},
                        {kStalled, episode.lost_time()},
                        {kNegotiatedRetries, attempt == nullptr ? std::nullopt : attempt->retry_count}};
            const Silence& why = add_silence(facts, timeline, found, episode.answered(), *heard);
            add_timer(facts, found.way(), {&episode}, attempt);
            const bool proven = gave_up(episode);
            emit({.party = why.party,
                  .connection = found.connection.uid,
                  .count = episodes.size(),
                  .severity = proven               ? Severity::error
                              : episode.rounds > 1 ? Severity::warning
                                                   : Severity::note,  // one repetition and silence: any end looks so
                  .sentence = proven ? std::string_view{} : kMaybeGaveUp,
                  .advice = std::ranges::binary_search(too_long, &episode) ? kTooLong : why.advice,
                  .facts = std::move(facts),
                  .episodes = places_of(timeline, episodes)});
        }
}

void rnr_retries_exceeded(const Timeline& timeline, const Emit& emit) {
    const Ends ends(timeline);
    for (const Case& found : cases(timeline, RecoveryKind::rnr_nak)) {
        const auto episodes = kept(found, [&](const Recovery& episode) { return ends.gave_up_or_may(episode); });
        if (episodes.empty() || all_answered(found.way())) continue;
        const Recovery& episode = *episodes.back();
        std::uint64_t naks = 0;  // a loss in between divides them among episodes
        for (const Recovery* one : kept(found, [&](const Recovery& other) { return other.psn == episode.psn; }))
            naks += one->triggers;
        emit({.party = Party::responder,
              .connection = found.connection.uid,
              .count = episodes.size(),
              .severity = gave_up(episode) ? Severity::error : Severity::warning,
              .sentence = gave_up(episode) ? std::string_view{} : kMaybeGaveUpOfReceives,
              .facts = {{kRequester, found.from()},
                        {kResponder, found.to()},
                        {kPsn, episode.psn},
                        {kOperation, words::verb(episode.verb)},
                        {kRnrNaks, naks}},
              .episodes = places_of(timeline, episodes)});
    }
}

// Of a gap that nothing filled: a READ that is missing takes several PSNs, and is one packet.
bool may_be_fewer(const Way& way, const Recovery& episode) {
    return episode.end == RecoveryEnd::open && episode.lost > 1 &&
           way.messages[static_cast<std::size_t>(MessageKind::read)] != 0;
}

// What the way lost, and at least one packet for each event: where nothing tells that it was lost, it was missed.
std::uint64_t lost_packets(const Way& way, const std::vector<const Recovery*>& episodes, bool at_least) {
    const auto events = static_cast<std::uint64_t>(std::ranges::count_if(
        episodes, [](const Recovery* episode) { return episode->cause != NakCause::discarded_lost; }));
    const Losses losses = losses_of(way);
    return at_least ? events : std::max(events, losses.requests_before_tap + losses.requests_behind_tap);
}

constexpr std::string_view kSequenceLoss =
    "{responder} [lost_proven?lost|missed] [at_least?at least ]{lost:packet} from {requester:host} ({loss_events:event}{>place}[, {corrupt:packet} with a wrong "
    "ICRC]); [recoveries?[partly?after {recoveries} of them ][retransmitted?[{recovery_mode} ]retransmitted {>resent}; stalled {>stall}|recovery took {>stall}]"
    "|{requester:host} acted on none of the NAKs in time][; {ended_in_timeout} ended in an ACK timeout][; {undecided} undecided].";

// Sequence NAKs of packets that were lost, or may have been, of requesters that repeat selectively or do not. A NAK
// proves the loss, whether or not the requester heeded it: the NAKs that it did not are other findings' too.
void sequence_losses(const Timeline& timeline, bool selective, const Emit& emit) {
    const auto rnr = ends_of_rnr(timeline);
    const auto counts = [&](const Recovery& episode) {
        return asked_for(episode) && !is_of_order(episode.cause) &&
               !std::ranges::binary_search(rnr, end_of_rnr(episode, episode.time.begin()));
    };
    const auto is_sequence = [](const Recovery& episode) { return episode.kind == RecoveryKind::sequence_nak; };
    const auto refused = refused_starts(timeline);
    for (const Episodes& all : all_episodes(timeline)) {
        if (find(refused, all.connection.uid, all.requester) != nullptr) continue;  // starting-psn-differs
        const Episodes found{all.connection, all.requester, kept(all, is_sequence)};
        const RecoverySum sum = without(found, found.way().incidents->recovery(RecoveryKind::sequence_nak),
                                        kept(found, [&](const Recovery& episode) { return !counts(episode); }));
        const std::uint64_t heeded = kept(found, counts).size();
        const auto episodes = kept(all, counts);
        const std::uint64_t unkept = sum.episodes - std::min<std::uint64_t>(sum.episodes, heeded);
        const std::uint64_t events = episodes.size() + unkept;
        if (events == 0 || is_selective(found.way(), episodes) != selective) continue;
        const bool unfilled =
            std::ranges::any_of(episodes, [&](const Recovery* episode) { return may_be_fewer(found.way(), *episode); });
        const std::uint64_t lost = unkept + lost_packets(found.way(), episodes, unfilled);
        const auto ignored = static_cast<std::uint64_t>(std::ranges::count_if(episodes, &Recovery::ignored_nak));
        const std::uint64_t undecided = events - sum.episodes - ignored;
        const LossPlace place(found, episodes, timeline.hosts);
        const std::uint64_t corrupt = found.way().incidents->corrupt;
        Facts facts{{kRequester, found.from()},
                    {kResponder, found.to()},
                    {kLost, lost},
                    {kLostProven, place.proven()},
                    {kAtLeast, unfilled || !place.proven()},
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
    const Ends ends(timeline);
    for (const Case& found : cases(timeline, RecoveryKind::rnr_nak)) {
        const auto over = [&](const Recovery& episode) { return ends.gave_up_or_may(episode); };
        const RecoverySum sum = without(found, found.sum, kept(found, over));
        if (sum.episodes == 0) continue;
        const auto episodes = kept(found, [&](const Recovery& episode) { return !over(episode); });
        std::optional<std::uint8_t> code;
        for (const Recovery* episode : episodes)
            if (episode->rnr_timer && (!code || rnr_wait(*episode->rnr_timer) > rnr_wait(*code)))
                code = episode->rnr_timer;
        const bool longest = code == std::uint8_t{0};
        const bool felt = longest || sum.most_lost >= kFeltStall ||
                          std::to_underlying(sum.lost) >= std::to_underlying(life(found.connection)) / kFeltPart;
        std::uint64_t waits = sum.triggers;  // that ended: one that has not is in no average
        for (const Recovery* episode : episodes)
            waits -= std::min<std::uint64_t>(waits, episode->triggers - std::min(episode->rounds, episode->triggers));
        const Duration wait =
            waits == 0 ? Duration{} : Duration{std::to_underlying(sum.waited) / static_cast<std::int64_t>(waits)};
        Facts facts{{kRequester, found.from()}, {kResponder, found.to()},
                    {kRnrNaks, sum.triggers},   {kRnrTimer, code ? std::optional(rnr_wait(*code)) : std::nullopt},
                    {kRnrCode, code},           {kLongestTimer, longest},
                    {kRnrWait, nonzero(wait)},  {kSeveralWaits, waits > 1}};
        add_stall(facts, sum.episodes, sum.lost, sum.most_lost);
        add_stop(facts, timeline, found, episodes);
        emit({.party = Party::responder,
              .connection = found.connection.uid,
              .count = sum.triggers,
              .severity = felt || std::ranges::any_of(episodes, [](const Recovery* one) { return stopped(*one); })
                              ? Severity::warning
                              : Severity::note,
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

}  // namespace

Family recovery_family() {
    static constexpr std::array kOwn{
        &kRnrWait,  &kSeveralWaits, &kLongestTimer, &kLost,   &kLostProven,   &kAtLeast,        &kLossEvents,
        &kOtherTap, &kCorrupt,      &kRecoveries,   &kPartly, &kRecoveryMode, &kEndedInTimeout, &kUndecided,
    };
    static constexpr std::array kRows{
        FindingRow{
            .id = "transport-retries-exceeded",
            .severity = Severity::error,
            .clause = "IBA 9.7.6.1.3, C9-142",
            .meaning = "A requester exhausted its transport retries and gave up",
            .predicate = "gave up after their transport retries",
            .by_order = true,
            .sentence =
                "{requester:host} sent PSN {psn} ({operation}) {transmissions:times} to {responder} within {stalled}[{>timer}], then gave "
                "up (completion status 12[, {negotiated_retries} retries negotiated]): {>silence}.",
            .advice = kSilences.back().advice,
            .alike =
                "A requester whose process died or whose queue pair was destroyed stops retransmitting as well. A capture that ends, "
                "or a tap that lacks the answers, looks alike: who has an answer to everything did not give up.",
            .limits =
                "The completion status is inferred, not seen: nothing followed the last retry, and the PSN was sent as often as CM negotiated, "
                "8 times, or as often as on another queue pair of the host. Where neither is known it is a warning. Why the responder "
                "did not answer is known as far as other packets of it tell. Retries before the first frame of the capture are "
                "not counted.",
            .draw = retries_exceeded},
        FindingRow{
            .id = "rnr-retries-exceeded",
            .severity = Severity::error,
            .clause = "IBA 9.7.5.2.8",
            .meaning = "A requester exhausted its RNR retries: the responder had no receive posted",
            .predicate = "gave up after their RNR retries",
            .sentence =
                "{responder} answered PSN {psn} ({operation}) from {requester:host} with {rnr_naks:RNR NAK} (no receive posted), and "
                "{requester:host} gave up (completion status 13).",
            .advice =
                "Make the application on {responder:host} post receives before its peer may send, or set rnr_retry to 7 (infinite) on "
                "{requester:host}.",
            .alike =
                "A responder whose receive queue is empty for good, and one that is only slow, send the same NAKs. With rnr_retry 7 a "
                "requester never gives up, so that what ends such a connection is something else.",
            .limits =
                "How many receives are posted, and the rnr_retry of the requester where CM was not captured. The completion status is "
                "inferred from the silence after the last NAK. RNR NAKs before the first frame of the capture are not counted.",
            .draw = rnr_retries_exceeded},
        FindingRow{
            .id = "go-back-n-loss",
            .severity = Severity::warning,
            .clause = "IBA 9.7.5.1.2",
            .meaning = "Packets were lost, and the responder requested them with a sequence NAK",
            .predicate = "lost packets",
            .by_order = true,
            .sentence = kSequenceLoss,
            .advice = kFindCorruption,
            .alike =
                "A packet that was only late (reordered-not-lost), corrupted (icrc-wrong), or dropped by the responder itself makes "
                "it send the same NAK. A packet that the tap missed does not: the responder asks for nothing then.",
            .limits =
                "A NAK names the first PSN that is missing, so that how many packets behind it were lost is a bound where the tap did "
                "not see them. Behind the tap, loss and reordering cannot be told apart.",
            .draw = go_back_n},
        FindingRow{
            .id = "selective-repeat",
            .severity = Severity::warning,
            .clause = kObserved,
            .meaning = "Each NAK was answered with the missing packets alone (selective repeat)",
            .predicate = "lost packets",
            .by_order = true,
            .sentence = kSequenceLoss,
            .advice = kFindCorruption,
            .alike =
                "A go-back-N requester that had sent nothing behind the lost packet, so that it had nothing else to send again. So "
                "one packet sent again alone is no proof of selective repeat.",
            .limits =
                "Whether the NICs were configured so: it is inferred from what was sent again, and what was not. Behind the tap, loss "
                "and reordering cannot be told apart.",
            .draw = selective_repeat},
        FindingRow{
            .id = "rnr-stall",
            .severity = Severity::warning,
            .clause = "IBA 9.7.5.2.8",
            .meaning = "A requester stalled because the responder had no receive posted",
            .predicate = "stalled without a posted receive",
            .sentence =
                "{responder} had no receive posted for {requester:host}: {rnr_naks:RNR NAK}[ with a timer of {rnr_timer} (code "
                "{rnr_code})]; stalled {>stall}[; {requester:host} waited {rnr_wait}[several_waits? on average]]{>stopped}.",
            .advice =
                "[longest_timer?Set min_rnr_timer of the queue pair on {responder:host} to 12 (0.64 ms): its 0, which rdma_cm leaves in "
                "place, means 655.36 ms, the longest.|Post more receives on {responder:host} (deeper receive queue, SRQ with a limit "
                "event): its application drains them more slowly than {requester:host} sends.]",
            .alike =
                "RNR NAKs are the flow control of receives: a few of them, waited out within a small part of the time, are healthy "
                "and a note. A requester that does nothing for reasons of its own looks stalled as well.",
            .limits =
                "How deep the receive queue is, and what kept the application from posting. Where the requests were not captured, "
                "what the NAKs cost cannot be judged.",
            .draw = rnr_stall},
        FindingRow{
            .id = "rnr-wait-too-short",
            .severity = Severity::note,
            .clause = "IBA 9.7.5.2.8, C9-130",
            .meaning = "A requester retransmitted before the RNR timer of the NAK had expired",
            .by_order = true,
            .sentence =
                "{requester:host} retransmitted {waited} after an RNR NAK from {responder} with a timer of {rnr_timer} (code {rnr_code}).",
            .advice =
                "Report it to the NIC vendor of {requester:host}: a requester must wait until the RNR timer has expired.",
            .alike =
                "A tap that saw the NAK late, or clocks that are coarse: so only less than half of the timer counts. A retransmission "
                "for another reason, such as an ACK timeout, may fall into the wait.",
            .limits =
                "When the NAK reached the requester: the tap sees it before that, so that the real wait was even shorter than the one "
                "that is told.",
            .draw = rnr_wait_too_short},
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
