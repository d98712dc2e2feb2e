// Findings about what had to be sent again, and why.
#include <dissect/types.hpp>
#include <transport-replay/findings/draw.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/loss_place.hpp>
#include <transport-replay/model/starting_psn.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>
#include <transport-replay/tracking/recovery_watch.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::draw {

namespace {

using dissect::Duration;
using namespace words;

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

// "local ACK timeout exponent 14, 67.11 ms: 4 waits agree on it", "local ACK timeout exponent 15 to 17".
std::string exponent_text(const Way& way, const std::vector<const Recovery*>& episodes, Duration interval) {
    if (way.incidents->ack_timer)
        return fmt::format("local ACK timeout exponent {}, {}: {} waits agree on it", way.incidents->ack_timer->exponent,
                           duration_text(ack_timeout_of(way.incidents->ack_timer->exponent)), way.incidents->ack_timer->waits);
    const auto exponents = timeout_exponents(interval);
    if (!exponents || agreeing(episodes, interval) < 2) return {};
    const auto [least, most] = *exponents;
    return least == most ? fmt::format("local ACK timeout exponent {}", most)
                         : fmt::format("local ACK timeout exponent {} to {}", least, most);
}

// ", at intervals of at least 537 ms (local ACK timeout exponent 15 to 17, CM negotiated 17, 537 ms)"; of one timeout ", after at least 537 ms".
std::string fitted(const Way& way, const std::vector<const Recovery*>& episodes, const CmAttempt* attempt) {
    const auto interval = shortest(episodes);
    if (!interval) return {};
    const bool once = episodes.size() == 1 && episodes.front()->triggers == 1;
    std::string out = fmt::format(", {} at least {}", once ? "after" : "at intervals of", duration_text(*interval));
    std::string fit = exponent_text(way, episodes, *interval);
    if (attempt != nullptr && attempt->local_ack_timeout) {
        const std::uint8_t agreed = *attempt->local_ack_timeout;
        fit += fmt::format("{}CM negotiated {}, {}", fit.empty() ? "" : ", ", agreed, duration_text(ack_timeout_of(agreed)));
    }
    return fit.empty() ? out : fmt::format("{} ({})", out, fit);
}

// Whether it was sent again before the time that CM agreed on. The tap may see packets closer together than they were sent: half of
// the time leaves room for that. What comes quicker than anybody notices may have been asked for by what the tap did not see.
bool before_its_time(const Recovery& episode, const CmAttempt* attempt) {
    if (!episode.interval || attempt == nullptr || attempt->local_ack_timeout.value_or(0) == 0) return false;
    return *episode.interval > kSlowestReaction &&
           *episode.interval < Duration{std::to_underlying(ack_timeout_of(*attempt->local_ack_timeout)) / 2};
}

struct Silence {
    Party party;
    std::string peer;
    std::string advice;
};

// Where the first request that was captured lies ahead of what CM announced, and nobody knows whether there were others before.
std::optional<StartingPsn> doubtful_start(const Timeline& timeline, const Case& found) {
    const CmAttempt* const attempt = attempt_of(timeline, found.connection);
    const auto start = attempt == nullptr ? std::nullopt : starting_psn(found.connection, *attempt, found.requester);
    return start && start->may_be_missing ? start : std::nullopt;
}

// Whether the other end ever answered, which tells where to look.
Silence silence(const Timeline& timeline, const Case& found, bool answered, const Heard& heard) {
    const std::string from = host(found.from()), to = host(found.to());
    if (answered)
        return {Party::fabric, fmt::format("an answer from {} was captured, so it was lost between the tap and {}", to, from),
                fmt::format("Look for dropped answers on the way to {}: counters of its port and of the last switch, and a DSCP or "
                            "priority of ACKs that PFC does not protect.",
                            from)};
    if (answers_of(found.answers()) != 0)
        return {Party::undecided, fmt::format("{} had answered on this connection before", to),
                fmt::format("Look for a process that died on {}, a link that flapped or a switch that drops this flow (`rdma statistic`, "
                            "`ethtool -S`); raise NCCL_IB_TIMEOUT or the queue pair's timeout only to survive short outages.",
                            to)};
    if (found.answers().incidents->cnps != 0)
        return {Party::undecided, fmt::format("{} answered with {} alone: requests reached it", to, counted(found.answers().incidents->cnps, "CNP")),
                fmt::format("Check that the tap sees the ACKs of {} (they may take another path), then that the queue pair on it is in RTR or "
                            "RTS and expects this peer (`rdma resource show qp`).",
                            to)};
    if (const auto start = doubtful_start(timeline, found))
        return {Party::undecided,
                fmt::format("{} never answered on this connection, whose first captured request has PSN {}, where CM announced {}", to, start->seen.value(),
                            start->announced.value()),
                fmt::format("Compare the send PSN of the queue pair on {} (sq_psn) with {}, which {} announced as Starting PSN: it takes no packet ahead of what it "
                            "expects.",
                            from, start->announced.value(), to)};
    if (heard.any(found.to().address, found.from().address))
        return {Party::responder, fmt::format("{} never answered on this connection but sends other traffic to {}", to, from),
                fmt::format("Check on {} that the queue pair exists, is in RTR or RTS and expects this peer (`rdma resource show qp`), and "
                            "that the exchanged QP number, GID and P_Key are those of the live process.",
                            to)};
    return {
        Party::undecided, fmt::format("no RDMA packet from {} to {} was captured", to, from),
        fmt::format("Check on {} that the queue pair exists and is in RTR (`rdma resource show qp`) and that it is reachable at this GID "
                    "(`rping`), then routes and firewalls for UDP port 4791 both ways, and whether the tap sees both directions.",
                    to)};
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

std::string loss_advice(const Episodes& found, const LossPlace& place, bool corrupt) {
    if (!corrupt) return place.advice();
    return fmt::format(
        "Find the cable, transceiver or port that corrupts packets between {} and {}: compare symbol and FCS errors (`ethtool -S`, `mlxlink`) "
        "hop by hop.",
        host(found.from()), host(found.to()));
}

}  // namespace

void retries_exceeded(const Timeline& timeline, const Emit& emit) {
    std::optional<Heard> heard;
    for (const RecoveryKind kind : {RecoveryKind::timeout, RecoveryKind::read_retry})
        for (const Case& found : cases(timeline, kind)) {
            const auto episodes = kept(found, gave_up);
            if (episodes.empty() || all_answered(found.way())) continue;
            if (!heard) heard.emplace(timeline);
            const Recovery& episode = *episodes.back();
            const CmAttempt* attempt = attempt_of(timeline, found.connection);
            const std::string agreed =
                attempt != nullptr && attempt->retry_count ? fmt::format(", {} retries negotiated", *attempt->retry_count) : std::string();
            Silence why = silence(timeline, found, episode.answered, *heard);
            emit({.party = why.party,
                  .connection = found.connection.uid,
                  .packets = evidence(episodes),
                  .count = episodes.size(),
                  .summary = fmt::format("{} sent PSN {} ({}) {} to {} within {}{}, then gave up (completion status 12{}): {}.",
                                         host(found.from()), episode.psn.value(), verb(episode.verb), times(episode.rounds + 1ULL),
                                         who(found.to()), duration_text(episode.lost_time()),
                                         fitted(found.way(), {&episode}, attempt), agreed, why.peer),
                  .advice = std::move(why.advice)});
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
              .packets = evidence(episodes),
              .count = episodes.size(),
              .summary = fmt::format("{} answered PSN {} ({}) from {} with {} (no receive posted), and {} gave up (completion status 13).",
                                     who(found.to()), episode.psn.value(), verb(episode.verb), host(found.from()),
                                     counted(naks, "RNR NAK"), host(found.from())),
              .advice = fmt::format("Make the application on {} post receives before its peer may send, or set rnr_retry to 7 (infinite) "
                                    "on {}.",
                                    host(found.to()), host(found.from()))});
    }
}

namespace {

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
        const std::string took = cost(sum.episodes, sum.lost, sum.most_lost);
        const std::string_view how = selective                     ? "selective repeat retransmitted"
                                     : sum.resent > sum.episodes ? "go-back-N retransmitted"
                                                                   : "retransmitted";
        std::string price = sum.resent == 0 ? fmt::format("recovery took {}", took) : fmt::format("{} {}; stalled {}", how, resent(sum, rests_of_reads(kept(found, counts))), took);
        if (sum.episodes == 0) price = fmt::format("{} acted on none of the NAKs in time", host(found.from()));
        else if (sum.episodes != events) price = fmt::format("after {} of them {}", sum.episodes, price);
        if (ignored != 0) price += fmt::format("; {} ended in an ACK timeout", ignored);
        if (undecided != 0) price += fmt::format("; {} undecided", undecided);
        const std::uint64_t corrupt = found.way().incidents->corrupt;
        const std::string bad = corrupt == 0 ? "" : fmt::format(", {} with a wrong ICRC", counted(corrupt, "packet"));
        emit({.party = Party::fabric,
              .connection = found.connection.uid,
              .packets = evidence(episodes),
              .count = events,
              .summary = fmt::format("{} {} {}{} from {} ({}{}{}); {}.", who(found.to()), place.proven() ? "lost" : "missed",
                                     at_least ? "at least " : "", counted(lost, "packet"), host(found.from()), counted(events, "event"), place.text(), bad, price),
              .advice = loss_advice(found, place, corrupt != 0)});
    }
}

}  // namespace

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
        const std::string asked =
            code ? fmt::format(" with a timer of {} (code {})", duration_text(rnr_wait(*code)), *code) : std::string();
        emit({.party = Party::responder,
              .connection = found.connection.uid,
              .packets = evidence(episodes),
              .count = sum.triggers,
              .summary =
                  fmt::format("{} had no receive posted for {}: {}{}; stalled {}{}.", who(found.to()), host(found.from()),
                              counted(sum.triggers, "RNR NAK"), asked, cost(sum.episodes, sum.lost, sum.most_lost),
                              wait == Duration{}  ? ""
                              : waits == 1        ? fmt::format("; {} waited {}", host(found.from()), duration_text(wait))
                                                  : fmt::format("; {} waited {} on average", host(found.from()), duration_text(wait))),
              .advice = longest
                            ? fmt::format(
                                  "Set min_rnr_timer of the queue pair on {} to 12 (0.64 ms): its 0, which rdma_cm leaves in place, means "
                                  "655.36 ms, the longest.",
                                  host(found.to()))
                            : fmt::format("Post more receives on {} (deeper receive queue, SRQ with a limit event): its application drains "
                                          "them more slowly than {} sends.",
                                          host(found.to()), host(found.from())),
              .severity = felt ? Severity::warning : Severity::note});
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
              .packets = evidence(episodes),
              .count = episodes.size(),
              .summary = fmt::format("{} retransmitted {} after an RNR NAK from {} with a timer of {} (code {}).", host(found.from()),
                                     duration_text(episode.longest_wait), who(found.to()), duration_text(rnr_wait(*episode.rnr_timer)),
                                     *episode.rnr_timer),
              .advice = fmt::format("Report it to the NIC vendor of {}: a requester must wait until the RNR timer has expired.",
                                    host(found.from()))});
    }
}

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
        Silence why{
            lost ? Party::fabric : Party::undecided,
            {},
            fmt::format("Look for dropped ACKs and tail losses between {} and {} (local_ack_timeout_err in `rdma statistic`, switch drop "
                        "counters); lower the queue pair's timeout if recovery takes too long.",
                        host(found.from()), host(found.to()))};
        if (answered || answers_of(found.answers()) == 0) {
            if (!heard) heard.emplace(timeline);
            why = silence(timeline, found, answered, *heard);
        } else if (!episodes.empty() &&
                   std::ranges::all_of(episodes, [](const Recovery* episode) { return episode->ignored_nak() && episode->proven; })) {
            why.advice = fmt::format("Find the losses that the NAKs of {} report, which {} ignored (nak-ignored); no ACK needs to have been lost.",
                                     host(found.to()), host(found.from()));
        }
        const std::string placed = timeouts_placed(episodes, timeline.hosts);
        emit({.party = placed.empty() ? why.party : Party::fabric,
              .connection = found.connection.uid,
              .packets = evidence(episodes),
              .count = sum.episodes,
              .summary = fmt::format("{} hit the ACK timeout {} waiting for {} and retransmitted {}{}; stalled {}{}{}.",
                                     host(found.from()), times(sum.triggers), who(found.to()), resent(sum, rests_of_reads(episodes)),
                                     fitted(found.way(), episodes, attempt_of(timeline, found.connection)),
                                     cost(sum.episodes, sum.lost, sum.most_lost), why.peer.empty() ? "" : "; ", why.peer + placed),
              .advice = std::move(why.advice)});
    }
}

// How long answers took that came too late: "27 ms after the request".
std::string answers_took(const std::vector<const Recovery*>& episodes, Duration most) {
    return episodes.size() == 1 ? fmt::format("{} after the request", duration_text(most))
                                : fmt::format("up to {} after their requests", duration_text(most));
}

// The smallest timeout that is longer than an answer took: "exponent 13, 33.55 ms".
std::string longer_timeout(Duration took) {
    constexpr std::uint8_t kMost = 31;
    std::uint8_t exponent = 1;
    while (exponent < kMost && ack_timeout_of(exponent) <= took) ++exponent;
    return fmt::format("exponent {}, {}", exponent, duration_text(ack_timeout_of(exponent)));
}

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
        const std::string from = host(found.from()), again = times(episodes.size()), timer = fitted(found.way(), episodes, attempt);
        emit({.party = early != 0 ? Party::requester : Party::undecided,
              .connection = found.connection.uid,
              .packets = evidence(episodes),
              .count = episodes.size(),
              .summary =
                  early != 0
                      ? fmt::format("{} retransmitted {} although nothing was lost{}: {} from {} came {}.", from, again, timer,
                                    episodes.size() == 1 ? "the answer" : "answers", who(found.to()),
                                    took ? answers_took(episodes, *took) : "late")
                      : fmt::format("{} retransmitted {} and received more than one answer from {}{}: the first was late, or the network "
                                    "lost or duplicated some.",
                                    from, again, who(found.to()), timer),
              .advice = early != 0
                            ? fmt::format("Raise the ACK timeout on {}{} (NCCL_IB_TIMEOUT, UCX_RC_TIMEOUT, ibv_qp_attr.timeout) or turn "
                                          "adaptive retransmission off, and find out what delays {}.",
                                          from, took ? fmt::format(" to at least {}", longer_timeout(*took)) : "", host(found.to()))
                            : fmt::format("Look for dropped answers on the way to {} (counters of its port and of the last switch), "
                                          "then for what delays {}; if there is neither, raise the ACK timeout on {}.",
                                          from, host(found.to()), from)});
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
        std::string seen = gaps.network != 0 ? fmt::format("; {} had not passed this tap by then", counted(gaps.network, "response packet")) : "";
        if (gaps.reordered != 0) seen += fmt::format("; {} passed it late", counted(gaps.reordered, "response packet"));
        emit({.party = unsure ? Party::undecided : Party::fabric,
              .connection = found.connection.uid,
              .packets = evidence(found.episodes),
              .count = lacking && partial != 0 ? partial : found.sum.episodes,  // those that nothing but a lost response explains
              .summary =
                  fmt::format("{} requested READ or ATOMIC data from {} again {}, {} of them from the middle of a READ, and retransmitted {}; "
                              "stalled {}{}.",
                              host(found.from()), who(found.to()), times(found.sum.episodes), partial, resent(found.sum, partial),
                              cost(found.sum.episodes, found.sum.lost, found.sum.most_lost), seen),
              .advice = fmt::format("Find where READ responses are dropped or reordered on the way from {} to {} (switch drop counters, "
                                    "implied_nak_seq_err in `rdma statistic`): they need the same lossless priority as requests.",
                                    host(found.to()), host(found.from())),
              .severity = unsure ? Severity::note : Severity::warning});
    }
}

}  // namespace qps::transport::draw
