// Findings about NAKs that were not heeded, about NAKs whose requests were not captured, and about retransmissions whose cause
// is not known. A NAK is evidence by itself; silence is none where only one direction was captured.
#include <dissect/headers/infiniband.hpp>
#include <dissect/types.hpp>
#include <transport-replay/findings/draw.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::draw {

namespace {

using dissect::Duration;
using namespace words;

constexpr std::int64_t kRnrUnit = 10'000;  // ns of kRnrTimer

// A NAK lost behind the tap looks like one that was ignored, where the tap also lacks the first packets that the timer sent again:
// that happens by chance, but hardly twice on a connection.
constexpr std::size_t kRepeated = 2;

// Of durations: "68.2 ms", "21.8 ms to 43.9 ms".
std::string span_text(const std::vector<const Recovery*>& episodes, Duration Recovery::*of) {
    const auto [least, most] = std::ranges::minmax(episodes, {}, [&](const Recovery* episode) { return episode->*of; });
    if (least->*of == most->*of) return duration_text(least->*of);
    return fmt::format("{} to {}", duration_text(least->*of), duration_text(most->*of));
}

// Answers of one end to requests that were not captured, or could not be assigned.
struct Lone {
    const Connection& connection;
    End responder{};
    [[nodiscard]] const Way& way() const { return connection.way(responder); }
    [[nodiscard]] const Endpoint& from() const { return connection.end(responder); }
    [[nodiscard]] const Endpoint& to() const { return connection.end(other(responder)); }
};
// Requests of another flow may be those, and of several it is not known which.
std::string_view lacking(const Lone& lone) { return lone.connection.ambiguous ? "told apart from those of other queue pairs with the same PSNs" : "captured"; }
std::vector<Lone> lone_answers(const Timeline& timeline) {
    std::vector<Lone> found;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b})
            if (connection.reliable() && connection.way(other(end)).requests == 0 && connection.way(end).packets != 0)
                found.push_back({connection, end});
    return found;
}

}  // namespace

void nak_ignored(const Timeline& timeline, const Emit& emit) {
    for (const Episodes& all : all_episodes(timeline)) {
        std::vector<const Recovery*> episodes;
        // Where nothing proves that the NAK arrived, it may have been lost behind the tap.
        std::ranges::copy_if(all.episodes, std::back_inserter(episodes),
                             [](const Recovery* episode) { return episode->ignored_nak() && episode->proven; });
        if (episodes.size() < kRepeated) continue;
        Duration waited{}, most{};
        for (const Recovery* episode : episodes) {
            waited = waited + episode->waited;
            most = std::max(most, episode->waited);
        }
        const auto naks = static_cast<std::uint64_t>(std::ranges::count_if(all.episodes, &Recovery::nak));
        emit({.party = Party::requester,
              .connection = all.connection.uid,
              .packets = evidence(episodes),
              .count = episodes.size(),
              .summary = fmt::format("{} ignored {} of {} from {} and went back only at its ACK timeout, {} after the NAK; waited {}.",
                                     host(all.from()), grouped(episodes.size()), counted(naks, "sequence NAK"), who(all.to()),
                                     span_text(episodes, &Recovery::waited), cost(episodes.size(), waited, most)),
              .advice = fmt::format("Find the loss first, since a requester that is still retransmitting may drop the NAK of another loss (soft-RoCE "
                                    "does); lower the ACK timeout on {} (ibv_qp_attr.timeout, NCCL_IB_TIMEOUT, UCX_RC_TIMEOUT) to wait less.",
                                    host(all.from()))});
    }
}

void retransmission_undecided(const Timeline& timeline, const Emit& emit) {
    for (const Case& found : cases(timeline, RecoveryKind::undecided)) {
        const auto& episodes = found.episodes;
        const std::string again = fmt::format("{} retransmitted {} to {} in {}", host(found.from()), resent(found.sum, rests_of_reads(episodes)), who(found.to()),
                                              counted(found.sum.episodes, "episode"));
        FindingDraft draft{
            .party = Party::undecided, .connection = found.connection.uid, .packets = evidence(episodes), .count = found.sum.episodes};
        std::vector<const Recovery*> between;
        std::ranges::copy_if(episodes, std::back_inserter(between), &Recovery::nak);
        if (found.connection.ambiguous) {
            draft.summary = fmt::format("{}; answers from {} may be for it or for another queue pair with the same PSNs, so whether NAKs or ACK "
                                        "timeouts caused it, and whether it gave up in the end, cannot be judged.",
                                        again, host(found.to()));
            draft.advice = "Capture from before the connection is set up: CM names both queue pairs.";
        } else if (!episodes.empty() && std::ranges::all_of(episodes, &Recovery::inferred)) {
            draft.summary = fmt::format("{}; answers were not captured, so whether NAKs or ACK timeouts caused it, and whether it gave up in the "
                                        "end, cannot be judged.",
                                        again);
            draft.advice = "Capture both directions to see what was lost.";
        } else if (!between.empty() && between.size() == episodes.size()) {
            draft.summary = fmt::format("{}, {} after a sequence NAK: too late for an answer to it, too early for the ACK timeout.", again,
                                        span_text(between, &Recovery::waited));
            draft.advice = fmt::format("Compare local_ack_timeout_err and packet_seq_err of {} (`rdma statistic`).", host(found.from()));
        } else {
            draft.summary = fmt::format("{}; the capture shows neither a NAK nor a silence as long as its ACK timeout.", again);
            draft.advice = "Check whether the capture lacks packets, such as the NAK (drops of the capturing host).";
        }
        emit(std::move(draft));
    }
}

void lone_sequence_naks(const Timeline& timeline, const Emit& emit) {
    for (const Lone& lone : lone_answers(timeline)) {
        const Way& way = lone.way();
        auto naks = way.incidents->frames(Oddity::sequence_nak);
        if (naks.empty()) continue;  // none, or only behind RNR NAKs
        emit({.party = Party::fabric,
              .connection = lone.connection.uid,
              .packets = std::move(naks),
              .count = way.incidents->sequence_naks,
              .summary = fmt::format("{} sent {} to {}: requests did not arrive, or not in order; they were not {}, so what that "
                                     "cost cannot be judged.",
                                     host(lone.from()), counted(way.incidents->sequence_naks, "sequence NAK"), who(lone.to()), lacking(lone)),
              .advice = fmt::format("Find the drops or the reordering on the way from {} to {} (out_of_sequence in `rdma statistic`, switch "
                                    "drop counters), and capture both directions.",
                                    host(lone.to()), host(lone.from()))});
    }
}

void lone_rnr_naks(const Timeline& timeline, const Emit& emit) {
    for (const Lone& lone : lone_answers(timeline)) {
        const Way& way = lone.way();
        if (way.incidents->rnr_naks == 0) continue;
        const std::uint8_t code = way.incidents->rnr.timer.value_or(0) & 31U;
        const Duration longest = way.incidents->rnr.longest;
        const std::string refused = longest == Duration{} ? "" : fmt::format("; one PSN was refused for {}", duration_text(longest));
        emit({.party = Party::responder,
              .connection = lone.connection.uid,
              .packets = way.incidents->frames(Oddity::rnr_nak),
              .count = way.incidents->rnr_naks,
              .summary = fmt::format("{} had no receive posted for {}: {} with a timer of {} (code {}){}; the requests were not {}.",
                                     host(lone.from()), who(lone.to()), counted(way.incidents->rnr_naks, "RNR NAK"),
                                     duration_text(Duration{dissect::kRnrTimer[code] * kRnrUnit}), code, refused, lacking(lone)),
              .advice = fmt::format("Post more receives on {} (deeper receive queue, SRQ with a limit event).", host(lone.from())),
              .severity = Severity::note});  // what it cost, or ended, the requests would show
    }
}

}  // namespace qps::transport::draw
