// Findings about what had to be sent again, and why.
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/findings/draw.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/words.hpp>
#include <transport-replay/model/instant.hpp>
#include <transport-replay/tracking/recovery_watch.hpp>

#include <algorithm>
#include <tuple>

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
constexpr std::int64_t kRnrTimerUnit = 10'000;           // ns of kRnrTimer
constexpr std::size_t kStoriesShown = kMaxEvidence / 4;  // each is four frames

Duration rnr_time(std::uint8_t code) { return Duration{dissect::kRnrTimer[code & 31U] * kRnrTimerUnit}; }
Duration ack_timeout_of(std::uint8_t exponent) { return Duration{kAckTimeoutUnit << (exponent & 31U)}; }
Duration life(const Connection& connection) { return elapsed(connection.first_time(), connection.last_time()); }

template <class Keep>
std::vector<const Recovery*> kept(const Case& found, Keep keep) {
    std::vector<const Recovery*> stories;
    std::ranges::copy_if(found.stories, std::back_inserter(stories), [&](const Recovery* story) { return keep(*story); });
    return stories;
}

std::vector<dissect::FrameIndex> evidence(const std::vector<const Recovery*>& stories) {
    std::vector<dissect::FrameIndex> packets;
    for (std::size_t i = 0; i < std::min(stories.size(), kStoriesShown); ++i) append_evidence(packets, *stories[i]);
    return packets;
}

// What is left of a sum without some of its stories.
RecoverySum without(const Case& found, const std::vector<const Recovery*>& others) {
    RecoverySum sum = found.sum;
    for (const Recovery* story : others) {
        sum.stories -= std::min<std::uint64_t>(sum.stories, 1);
        sum.triggers -= std::min<std::uint64_t>(sum.triggers, story->triggers);
        sum.resent -= std::min<std::uint64_t>(sum.resent, story->resent);
        sum.resent_bytes -= std::min(sum.resent_bytes, story->resent_bytes);
        sum.lost = Duration{saturating::subtract(std::to_underlying(sum.lost), std::to_underlying(story->lost_time()))};
        sum.waited = Duration{saturating::subtract(std::to_underlying(sum.waited), std::to_underlying(story->waited))};
    }
    if (others.empty()) return sum;
    sum.most_lost = {};
    for (const Recovery* story : found.stories)
        if (std::ranges::find(others, story) == others.end()) sum.most_lost = std::max(sum.most_lost, story->lost_time());
    return sum;
}

bool gave_up(const Recovery& story) { return story.end == RecoveryEnd::gave_up; }
// Who has an answer to everything did not give up, however a story looks.
bool all_answered(const Way& way) { return way.open + way.failed + way.abandoned == 0; }

// ", at intervals of at least 537 ms (local ACK timeout exponent 15 to 17, CM negotiated 17, 537 ms)".
std::string fitted(std::optional<Duration> interval, const CmAttempt* attempt) {
    if (!interval) return {};
    std::string out = fmt::format(", at intervals of at least {}", duration_text(*interval));
    std::string fit;
    if (const auto exponents = timeout_exponents(*interval)) {
        const auto [least, most] = *exponents;
        fit = least == most ? fmt::format("local ACK timeout exponent {}", most)
                            : fmt::format("local ACK timeout exponent {} to {}", least, most);
    }
    if (attempt != nullptr && attempt->local_ack_timeout) {
        const std::uint8_t agreed = *attempt->local_ack_timeout;
        const bool early = agreed != 0 && *interval < ack_timeout_of(agreed);
        fit += fmt::format("{}CM negotiated {}, {}", fit.empty() ? "" : ", ", agreed, duration_text(ack_timeout_of(agreed)));
        if (early) fit += ", so it retransmits adaptively";
    }
    return fit.empty() ? out : fmt::format("{} ({})", out, fit);
}

// Whether it was sent again before the time that CM agreed on. The tap may see packets closer together than they were sent: half of
// the time leaves room for that. What comes quicker than anybody notices may have been asked for by what the tap did not see.
bool before_its_time(const Recovery& story, const CmAttempt* attempt) {
    if (!story.interval || attempt == nullptr || attempt->local_ack_timeout.value_or(0) == 0) return false;
    return *story.interval > kSlowestReaction &&
           *story.interval < Duration{std::to_underlying(ack_timeout_of(*attempt->local_ack_timeout)) / 2};
}

std::optional<Duration> shortest(const std::vector<const Recovery*>& stories) {
    std::optional<Duration> least;
    for (const Recovery* story : stories)
        if (story->interval && (!least || *story->interval < *least)) least = story->interval;
    return least;
}

struct Silence {
    Party party;
    std::string peer;
    std::string advice;
};

// Whether the other end ever answered, which tells where to look.
Silence silence(const Case& found, bool answered, const Heard& heard) {
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

// Where stories of RNR ended: a responder may send a sequence NAK of the very PSN that it put off, for packets that were
// under way behind it (soft-RoCE does). Nothing was lost then.
using RnrEnd = std::tuple<ConnectionId, End, std::uint32_t, dissect::Instant>;
RnrEnd end_of_rnr(const Recovery& story, dissect::Instant time) { return {story.connection, story.requester, story.psn.value(), time}; }
std::vector<RnrEnd> ends_of_rnr(const Timeline& timeline) {
    std::vector<RnrEnd> ends;
    for (const Recovery& story : timeline.recoveries)
        if (story.kind == RecoveryKind::rnr_nak) ends.push_back(end_of_rnr(story, story.ended));
    std::ranges::sort(ends);
    return ends;
}

// PSNs that a responder said it missed: a timeout that sends one of them again is not spurious, however fast the answer.
using Missed = std::tuple<ConnectionId, End, std::uint32_t>;
Missed missed(const Recovery& story) { return {story.connection, story.requester, story.psn.value()}; }
std::vector<Missed> missed(const Timeline& timeline) {
    std::vector<Missed> all;
    for (const Recovery& story : timeline.recoveries)
        if (story.kind == RecoveryKind::sequence_nak) all.push_back(missed(story));
    std::ranges::sort(all);
    return all;
}
bool spurious(const Recovery& story, const std::vector<Missed>& all) {
    return story.spurious && !std::ranges::binary_search(all, missed(story));
}

std::string loss_advice(const Case& found, bool corrupt) {
    if (corrupt)
        return fmt::format(
            "Find the cable, transceiver or port that corrupts packets between {} and {}: compare symbol and FCS errors (`ethtool -S`, `mlxlink`) "
            "hop by hop.",
            host(found.from()), host(found.to()));
    return fmt::format(
        "Find the drops on the way from {} to {}: switch buffer and PFC drop counters of this priority, out_of_sequence and "
        "rx_discards on the receiver (`rdma statistic`, `ethtool -S`), lossless class and ECN on every hop.",
        host(found.from()), host(found.to()));
}

}  // namespace

void retries_exceeded(const Timeline& timeline, const Emit& emit) {
    std::optional<Heard> heard;
    for (const RecoveryKind kind : {RecoveryKind::timeout, RecoveryKind::read_retry})
        for (const Case& found : cases(timeline, kind)) {
            const auto stories = kept(found, gave_up);
            if (stories.empty() || all_answered(found.way())) continue;
            if (!heard) heard.emplace(timeline);
            const Recovery& story = *stories.back();
            const CmAttempt* attempt = attempt_of(timeline, found.connection);
            const std::string agreed =
                attempt != nullptr && attempt->retry_count ? fmt::format(", {} retries negotiated", *attempt->retry_count) : std::string();
            Silence why = silence(found, story.answered, *heard);
            emit({.party = why.party,
                  .connection = found.connection.uid,
                  .packets = evidence(stories),
                  .count = stories.size(),
                  .summary = fmt::format("{} sent PSN {} ({}) {} to {} within {}{}, then gave up (completion status 12{}): {}.",
                                         host(found.from()), story.psn.value(), verb(story.verb), times(story.rounds + 1ULL),
                                         who(found.to()), duration_text(elapsed(story.began, std::max(story.began, story.ended))),
                                         fitted(story.interval, attempt), agreed, why.peer),
                  .advice = std::move(why.advice)});
        }
}

void rnr_retries_exceeded(const Timeline& timeline, const Emit& emit) {
    for (const Case& found : cases(timeline, RecoveryKind::rnr_nak)) {
        const auto stories = kept(found, gave_up);
        if (stories.empty() || all_answered(found.way())) continue;
        const Recovery& story = *stories.back();
        emit(
            {.party = Party::responder,
             .connection = found.connection.uid,
             .packets = evidence(stories),
             .count = stories.size(),
             .summary = fmt::format("{} answered PSN {} ({}) from {} with {} (no receive posted), and {} gave up (completion status 13).",
                                    who(found.to()), story.psn.value(), verb(story.verb), host(found.from()),
                                    counted(story.triggers, "RNR NAK"), host(found.from())),
             .advice = fmt::format("Make the application on {} post receives before its peer may send, or set rnr_retry to 7 (infinite) "
                                   "on {}.",
                                   host(found.to()), host(found.from()))});
    }
}

void go_back_n(const Timeline& timeline, const Emit& emit) {
    const auto rnr = ends_of_rnr(timeline);
    const auto is_rnr = [&](const Recovery& story) { return std::ranges::binary_search(rnr, end_of_rnr(story, story.began)); };
    for (const Case& found : cases(timeline, RecoveryKind::sequence_nak)) {
        const RecoverySum sum = without(found, kept(found, is_rnr));
        if (sum.stories == 0) continue;
        const auto stories = kept(found, [&](const Recovery& story) { return !is_rnr(story); });
        std::uint64_t lost = sum.stories - std::min<std::uint64_t>(sum.stories, stories.size());
        for (const Recovery* story : stories) lost += std::max(story->lost, 1U);
        const std::string took = cost(sum.stories, sum.lost, sum.most_lost);
        const std::string price = sum.resent == 0 ? fmt::format("recovery took {}", took)
                                                  : fmt::format("{} {} ({}); stalled {}", sum.resent > lost ? "go-back-N retransmitted" : "retransmitted",
                                                                counted(sum.resent, "packet"), bytes_text(sum.resent_bytes), took);
        FindingDraft draft{.party = Party::fabric, .connection = found.connection.uid, .packets = evidence(stories), .count = sum.stories};
        const std::uint64_t corrupt = found.way().corrupt;
        if (!stories.empty() && std::ranges::all_of(stories, &Recovery::inferred)) {
            draft.party = Party::undecided;
            draft.severity = Severity::note;
            draft.summary = fmt::format("{} went back to an earlier PSN to {} {} as after a NAK, but answers were not captured; {}.", host(found.from()),
                                        who(found.to()), times(sum.stories), price);
            draft.advice = "Capture both directions to see whether the receiver lost packets.";
        } else {
            const std::string bad = corrupt == 0 ? "" : fmt::format(", {} with a wrong ICRC", counted(corrupt, "packet"));
            draft.summary = fmt::format("{} lost {} from {} ({}{}); {}.", who(found.to()), counted(lost, "packet"), host(found.from()),
                                        counted(sum.stories, "event"), bad, price);
            draft.advice = loss_advice(found, corrupt != 0);
        }
        emit(std::move(draft));
    }
}

void rnr_stall(const Timeline& timeline, const Emit& emit) {
    for (const Case& found : cases(timeline, RecoveryKind::rnr_nak)) {
        const RecoverySum sum = without(found, kept(found, gave_up));
        if (sum.stories == 0) continue;
        const auto stories = kept(found, [](const Recovery& story) { return !gave_up(story); });
        std::optional<std::uint8_t> code;
        for (const Recovery* story : stories)
            if (story->rnr_timer && (!code || rnr_time(*story->rnr_timer) > rnr_time(*code))) code = story->rnr_timer;
        const bool longest = code == std::uint8_t{0};
        const bool felt = longest || sum.most_lost >= kFeltStall ||
                          std::to_underlying(sum.lost) >= std::to_underlying(life(found.connection)) / kFeltPart;
        const Duration wait{std::to_underlying(sum.waited) / static_cast<std::int64_t>(std::max<std::uint64_t>(sum.triggers, 1))};
        const std::string asked =
            code ? fmt::format(" with a timer of {} (code {})", duration_text(rnr_time(*code)), *code) : std::string();
        emit({.party = Party::responder,
              .connection = found.connection.uid,
              .packets = evidence(stories),
              .count = sum.stories,
              .summary =
                  fmt::format("{} had no receive posted for {} {}: {}{}; stalled {}{}.", who(found.to()), host(found.from()),
                              times(sum.stories), counted(sum.triggers, "RNR NAK"), asked, cost(sum.stories, sum.lost, sum.most_lost),
                              wait == Duration{}  ? ""
                              : sum.triggers == 1 ? fmt::format("; {} waited {}", host(found.from()), duration_text(wait))
                                                  : fmt::format("; {} waited {} on average", host(found.from()), duration_text(wait))),
              .advice = longest
                            ? fmt::format("Set min_rnr_timer of the queue pair on {} to 12 (0.64 ms): its 0, which rdma_cm leaves in place, means "
                                          "655.36 ms, the longest.",
                                          host(found.to()))
                            : fmt::format("Post more receives on {} (deeper receive queue, SRQ with a limit event): its application drains "
                                          "them more slowly than {} sends.",
                                          host(found.to()), host(found.from())),
              .severity = felt ? Severity::warning : Severity::note});
    }
}

void rnr_wait_too_short(const Timeline& timeline, const Emit& emit) {
    for (const Case& found : cases(timeline, RecoveryKind::rnr_nak)) {
        // The tap sees the NAK before the requester does and the next packet after it left: the wait it sees is never
        // shorter than the real one. Half of what was asked for leaves room for coarse clocks.
        const auto stories = kept(found, [](const Recovery& story) {
            return story.rnr_timer && story.resumed != dissect::FrameIndex{} &&
                   std::to_underlying(story.longest_wait) < std::to_underlying(rnr_time(*story.rnr_timer)) / 2;
        });
        if (stories.empty()) continue;
        const Recovery& story = *stories.front();
        emit({.party = Party::requester,
              .connection = found.connection.uid,
              .packets = evidence(stories),
              .count = stories.size(),
              .summary = fmt::format("{} retransmitted {} after an RNR NAK from {} with a timer of {} (code {}).", host(found.from()),
                                     duration_text(story.longest_wait), who(found.to()), duration_text(rnr_time(*story.rnr_timer)),
                                     *story.rnr_timer),
              .advice = fmt::format("Report it to the NIC vendor of {}: a requester must wait until the RNR timer has expired.",
                                    host(found.from()))});
    }
}

void ack_timeout(const Timeline& timeline, const Emit& emit) {
    std::optional<Heard> heard;
    const auto all = missed(timeline);
    for (const Case& found : cases(timeline, RecoveryKind::timeout)) {
        const auto other = [&](const Recovery& story) { return gave_up(story) || spurious(story, all); };
        const RecoverySum sum = without(found, kept(found, other));
        if (sum.stories == 0) continue;
        const auto stories = kept(found, [&](const Recovery& story) { return !other(story); });
        const bool answered = !stories.empty() && std::ranges::all_of(stories, &Recovery::answered);
        const bool lost = found.way().gaps.network != 0 || found.answers().response_gaps.network != 0 || answered;
        Silence why{
            lost ? Party::fabric : Party::undecided,
            {},
            fmt::format("Look for dropped ACKs and tail losses between {} and {} (local_ack_timeout_err in `rdma statistic`, switch drop "
                        "counters); lower the queue pair's timeout if recovery takes too long.",
                        host(found.from()), host(found.to()))};
        if (answered || answers_of(found.answers()) == 0) {
            if (!heard) heard.emplace(timeline);
            why = silence(found, answered, *heard);
        }
        emit({.party = why.party,
              .connection = found.connection.uid,
              .packets = evidence(stories),
              .count = sum.stories,
              .summary = fmt::format("{} hit the ACK timeout {} waiting for {} and retransmitted {} ({}){}; stalled {}{}{}.", host(found.from()),
                                     times(sum.triggers), who(found.to()), counted(sum.resent, "packet"), bytes_text(sum.resent_bytes),
                                     fitted(shortest(stories), attempt_of(timeline, found.connection)),
                                     cost(sum.stories, sum.lost, sum.most_lost), why.peer.empty() ? "" : "; ", why.peer),
              .advice = std::move(why.advice)});
    }
}

void spurious_retransmission(const Timeline& timeline, const Emit& emit) {
    const auto all = missed(timeline);
    for (const Case& found : cases(timeline, RecoveryKind::timeout)) {
        const auto stories = kept(found, [&](const Recovery& story) { return spurious(story, all); });
        if (stories.empty()) continue;
        const CmAttempt* attempt = attempt_of(timeline, found.connection);
        const auto early = static_cast<std::uint64_t>(
            std::ranges::count_if(stories, [&](const Recovery* story) { return story->proven || before_its_time(*story, attempt); }));
        const std::string from = host(found.from()), again = times(stories.size()), timer = fitted(shortest(stories), attempt);
        emit({.party = early != 0 ? Party::requester : Party::undecided,
              .connection = found.connection.uid,
              .packets = evidence(stories),
              .count = stories.size(),
              .summary = early != 0
                             ? fmt::format("{} retransmitted {} although nothing was lost{}: the answer from {} was only late.", from, again,
                                           timer, who(found.to()))
                             : fmt::format("{} retransmitted {} and received more than one answer from {}{}: the first was late, or the network "
                                           "lost or duplicated some.",
                                           from, again, who(found.to()), timer),
              .advice = early != 0
                            ? fmt::format("Raise the ACK timeout on {} (NCCL_IB_TIMEOUT, UCX_RC_TIMEOUT, ibv_qp_attr.timeout) or turn "
                                          "adaptive retransmission off, and find out what delays {}.",
                                          from, host(found.to()))
                            : fmt::format("Look for dropped answers on the way to {} (counters of its port and of the last switch), "
                                          "then for what delays {}; if there is neither, raise the ACK timeout on {}.",
                                          from, host(found.to()), from)});
    }
}

void read_response_lost(const Timeline& timeline, const Emit& emit) {
    for (const Case& found : cases(timeline, RecoveryKind::read_retry)) {
        const auto partial = kept(found, [](const Recovery& story) { return story.partial_read; }).size();
        const Gaps& gaps = found.answers().response_gaps;
        const bool missed = gaps.network + gaps.reordered != 0;
        // Where the tap missed packets of this connection, a READ of its own can look like the rest of one before it.
        const Gaps& requests = found.way().gaps;
        const bool unsure = !missed && gaps.tap + gaps.undecided + requests.tap + requests.undecided != 0;
        std::string seen =
            missed ? fmt::format("; lost {} from {}", counted(gaps.network, "response packet"), host(found.to())) : "";
        if (missed && gaps.reordered != 0) seen += fmt::format(", {} late", grouped(gaps.reordered));
        emit({.party = unsure ? Party::undecided : Party::fabric,
              .connection = found.connection.uid,
              .packets = evidence(found.stories),
              .count = found.sum.stories,
              .summary =
                  fmt::format("{} requested READ or ATOMIC data from {} again {}, {} of them from the middle of a READ; stalled {}{}.",
                              host(found.from()), who(found.to()), times(found.sum.stories), partial, duration_text(found.sum.lost), seen),
              .advice = fmt::format("Find where READ responses are dropped or reordered on the way from {} to {} (switch drop counters, "
                                    "implied_nak_seq_err in `rdma statistic`): they need the same lossless priority as requests.",
                                    host(found.to()), host(found.from())),
              .severity = unsure ? Severity::note : Severity::warning});
    }
}

}  // namespace qps::transport::draw
