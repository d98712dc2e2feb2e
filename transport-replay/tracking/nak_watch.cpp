#include <dissect/headers/infiniband.hpp>
#include <transport-replay/tracking/nak_watch.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

bool awaits_response(Verb verb) { return verb == Verb::read_request || is_atomic(verb); }

// Whether its requester sent it once more, and it was not overtaken.
bool is_again(const RequestArrival& arrived) {
    if (arrived.arrival == Arrival::repeated)
        return arrived.sending == Sending::unknown || arrived.sending == Sending::newest;
    return arrived.arrival == Arrival::late && arrived.sending == Sending::newest;
}

RoundGaps::Kind kind_in_round(const RequestArrival& arrived) {
    if (is_again(arrived)) return RoundGaps::Kind::again;
    if (arrived.arrival == Arrival::late && arrived.sending == Sending::unknown) return RoundGaps::Kind::perhaps_again;
    const bool older = arrived.arrival == Arrival::late || arrived.arrival == Arrival::repeated;
    return older ? RoundGaps::Kind::overtaken : RoundGaps::Kind::newest;
}

}  // namespace

NakWatch::Index NakWatch::find(Psn psn) const {
    const std::vector<Missing>& missing = losses_->missing;
    for (Index i = missing.size(); i-- > 0;)
        if (missing[i].psn == psn) return i;
    return kNone;
}

// What was discarded has the cause of the last one that was not, before it.
NakCause NakWatch::decided(Index index) const {
    const std::vector<Missing>& missing = losses_->missing;
    if (!missing[index].discarded) return missing[index].cause;
    while (index-- > 0) {
        if (missing[index].discarded) continue;
        const NakCause root = missing[index].cause;
        if (is_of_order(root)) return NakCause::discarded_late;
        return root == NakCause::lost_before_tap || root == NakCause::corrupt ? NakCause::discarded_lost
                                                                              : NakCause::undecided;
    }
    return NakCause::undecided;
}

void NakWatch::remember(const Missing& missing) {
    Losses& losses = losses_.made();
    if (losses.missing.size() == kMaxMissing) {
        if (losses.missing.front().asked) ++losses.forgotten[static_cast<std::size_t>(decided(0))];
        losses.missing.erase(losses.missing.begin());
    }
    losses.missing.push_back(missing);
}

void NakWatch::passed_otherwise(const Observation& request, const RequestArrival& arrived, Psn due,
                                const RequestStream& stream, const SendingOrder& order) {
    last_ = request.time;
    const Psn previous_behind = last_behind_;
    const bool neighbours = last_behind_ == expected_;  // what is missing was due right behind the request before
    const GapSides sides{std::exchange(last_id_, request.ip_id), request.ip_id, request.time};
    const bool newest = arrived.arrival == Arrival::in_order || arrived.arrival == Arrival::ahead;
    const bool in_round = neighbours && last_behind_.before(due) && last_behind_ == again_behind_;
    const bool went_back = in_round && !was_asked(last_psn_);  // sent again because of one before it
    last_psn_ = request.psn;
    const Psn behind = last_behind_ = newest ? stream.next() : arrived.behind;
    if (started_ && (!newest || losses_.there()))
        losses_.made().round.sent({.psn = request.psn,
                                   .behind = behind,
                                   .due = previous_behind,
                                   .newest = newest ? due : stream.next(),
                                   .time = request.time,
                                   .kind = kind_in_round(arrived),
                                   .named = was_asked(request.psn),
                                   .read = info(request.opcode).verb == Verb::read_request},
                                  stream);
    if (is_again(arrived)) again_behind_ = behind;
    if (!started_ || arrived.arrival == Arrival::first || arrived.arrival == Arrival::restart) {
        started_ = true;
        expected_ = stream.next();
        return;
    }
    if (!newest)
        if (const Index index = find(request.psn); index != kNone) {
            Missing& missing = losses_.made().missing[index];
            if (missing.of_round && !missing.resent && missing.cause == NakCause::undecided)
                missing.cause = !order.counts() ? NakCause::undecided  // it may be the missed one
                                : order.is_original(missing.sides, request.ip_id, request.time)
                                    ? NakCause::late
                                    : NakCause::lost_or_late;
            missing.resent = true;
        }
    if (request.psn == expected_ || (arrived.arrival == Arrival::in_order && expected_ == due)) {
        expected_ = behind;
        return;
    }
    if (!expected_.before(request.psn)) return;                 // a duplicate
    if (losses_->keeps && stream.waits_for(expected_)) return;  // it passed before its turn, and the responder has it
    const Index known = find(expected_);
    if (known != kNone && !losses_->missing[known].resent) return;  // asked for already
    Missing missing;
    missing.psn = expected_;
    // A requester that goes back sends every PSN again: one that does not pass between its neighbours is missing once
    // more.
    missing.of_round = (arrived.arrival == Arrival::repeated || went_back) && stream.waits_for(expected_);
    // Likewise where it goes on with new PSNs; unless it repeats selectively.
    missing.discarded = !missing.of_round && !in_round && stream.waits_for(expected_);
    if (neighbours) missing.sides = sides;
    if (losses_->corrupt == expected_) missing.cause = NakCause::corrupt;
    remember(missing);
}

void NakWatch::filled(const Observation& request, Psn behind, const GapLedger::Filled& gap, GapFilling filling) {
    const Psn psn = request.psn;
    Index index = find(psn);
    Losses& losses = losses_.made();
    if (filling == GapFilling::again_unproven && !gap.corrupt)
        losses.begun = Begun{losses.begun && losses.begun->behind == psn ? losses.begun->first : psn, psn, behind};
    if (index == kNone) {
        if (filling != GapFilling::again || gap.corrupt) return;
        Missing resent;
        resent.psn = psn;
        remember(resent);  // its first sending may still come
        index = losses_->missing.size() - 1;
    }
    Missing& missing = losses.missing[index];
    missing.sides = gap.passing.sides;
    missing.in_gap = true;
    missing.asked_since = false;
    missing.answered.reset();
    losses.filled =
        filling == GapFilling::again_unproven ? std::optional(Filled{psn, last_behind_, request.time}) : std::nullopt;
    missing.discarded = false;
    missing.asked_in_gap = gap.asked_for;
    missing.cause = gap.corrupt                             ? NakCause::corrupt
                    : filling == GapFilling::late           ? NakCause::late
                    : filling == GapFilling::again_unproven ? NakCause::lost_or_late_alone
                    : filling == GapFilling::undecided      ? NakCause::undecided
                                                            : NakCause::lost_before_tap;
}

void NakWatch::was_again(Psn psn) {
    const Index index = find(psn);
    if (index != kNone && losses_->missing[index].cause == NakCause::late)
        losses_.made().missing[index].cause = NakCause::lost_or_late;
}

NakWatch::LateAfterAll NakWatch::late_after_all(const Observation& request, const SendingOrder& order) {
    if (!losses_.there()) return {};
    std::vector<Missing>& missing = losses_.made().missing;
    const auto taken = std::ranges::find_if(missing, [&](const Missing& one) {
        return one.psn == request.psn && one.in_gap && one.cause == NakCause::lost_before_tap;
    });
    if (taken == missing.end() || !order.is_original(taken->sides, request.ip_id, request.time)) return {};
    taken->cause = NakCause::late;
    return {true, taken->in_gap, taken->asked_in_gap, amended_from(static_cast<Index>(taken - missing.begin())),
            episode_with(*taken)};
}

// A NAK names the first PSN of a gap, and asks for those behind it.
std::optional<std::uint32_t> NakWatch::episode_with(const Missing& missing) const {
    if (!missing.asked_in_gap || missing.asked) return std::nullopt;
    std::optional<std::uint32_t> nearest;
    Psn psn;
    for (const Missing& one : losses_->missing) {
        if (!one.asked || one.episode == kNoEpisode || !one.psn.before(missing.psn) || (nearest && one.psn.before(psn)))
            continue;
        nearest = one.episode;
        psn = one.psn;
    }
    return nearest;
}

NakWatch::Amended NakWatch::amended_from(Index index) const {
    Amended episodes;
    const std::vector<Missing>& missing = losses_->missing;
    for (Index i = index; i < missing.size() && (i == index || missing[i].discarded); ++i)
        if (missing[i].episode != kNoEpisode) episodes.emplace_back(missing[i].episode, decided(i));
    return episodes;
}

NakWatch::Doubted NakWatch::doubted(Index index) {
    losses_.made().missing[index].cause = NakCause::undecided;
    return {true, losses_->missing[index].asked_in_gap, amended_from(index)};
}

bool NakWatch::is_doubtful(Index index) const {
    if (index == kNone) return false;
    const Missing& missing = losses_->missing[index];
    const bool by_time = missing.cause == NakCause::lost_or_late || missing.cause == NakCause::lost_or_late_alone;
    return missing.in_gap && by_time && !missing.asked_since;
}

// Whether what is sent again goes on behind what filled the gap: then a go-back began there.
void NakWatch::goes_on(const Observation* request, bool repeated) {
    Losses& losses = losses_.made();
    const Begun begun = *std::exchange(losses.begun, std::nullopt);
    if (request == nullptr || request->psn != begun.behind || !repeated) return;
    for (Missing& missing : losses.missing)
        if (missing.cause == NakCause::lost_or_late_alone && !missing.psn.before(begun.first) &&
            missing.psn.before(begun.behind))
            missing.cause = NakCause::lost_or_late;
}

NakWatch::Doubted NakWatch::doubt(const Observation* request, bool repeated) {
    if (!losses_.there()) return {};  // nothing is doubtful of which nothing was missing
    Losses& losses = losses_.made();
    if (losses.begun && (request == nullptr || request->psn != losses.begun->last)) goes_on(request, repeated);
    if (losses.filled && (request == nullptr || request->psn != losses.filled->psn)) {
        const Filled filled = *std::exchange(losses.filled, std::nullopt);
        const Index index = find(filled.psn);
        if (repeated && is_doubtful(index) && request->time - last_ < kFastestTimeout) {
            const Missing& missing = losses.missing[index];
            // The requester can have known of that answer, if what filled the gap came because of the NAK.
            const bool knew = missing.answered && request->time - *missing.answered >= filled.time - missing.asked_at;
            if (request->psn == filled.due || (knew && filled.psn.before(request->psn))) return doubted(index);
        }
    }
    if (!repeated && !losses.twice) return {};
    if (const auto alone = std::exchange(losses.twice, std::nullopt)) {
        const bool goes_on = repeated && request->psn == last_behind_ && request->time - last_ < kFastestTimeout;
        if (const Index index = find(*alone); !goes_on && is_doubtful(index)) return doubted(index);
    }
    if (!repeated || request->time - last_ >= kFastestTimeout) return {};
    const Index index = find(request->psn);
    if (!is_doubtful(index)) return {};
    // Nobody sends a packet twice in a row; a READ may be asked for again when a response is missing.
    if (last_psn_ == request->psn && !awaits_response(info(request->opcode).verb)) return doubted(index);
    losses.twice = request->psn;
    return {};
}

bool NakWatch::may_be_late(const Observation& request) const {
    return std::ranges::any_of(losses_->missing, [&](const Missing& one) {
        return one.psn == request.psn && one.in_gap && SendingOrder::is_between(one.sides, request.ip_id, request.time);
    });
}

bool NakWatch::was_asked(Psn psn) const {
    const Index index = find(psn);
    return index != kNone && losses_->missing[index].asked;
}

void NakWatch::note_episode(Psn psn, std::uint32_t episode) {
    if (const Index index = find(psn); index != kNone) losses_.made().missing[index].episode = episode;
}

void NakWatch::perhaps_again(Psn psn) {
    if (!losses_.there()) return;
    if (const Index index = find(psn); index != kNone) losses_.made().missing[index].sent_twice = true;
}

// The responder acknowledged what came before its turn: it keeps that. So what it asked for and had passed was lost
// behind the tap, not discarded.
NakWatch::Amended NakWatch::note_keeps() {
    Losses& losses = losses_.made();
    losses.keeps = true;
    Amended episodes;
    for (Index i = 0; i < losses.missing.size(); ++i) {
        Missing& missing = losses.missing[i];
        if (!missing.passed_once || missing.cause != NakCause::undecided) continue;
        missing.cause = NakCause::lost_behind_tap;
        missing.sent_twice = true;  // what came since does not tell whether it was only late
        missing.discarded = false;
        if (missing.episode != kNoEpisode) episodes.emplace_back(missing.episode, missing.cause);
    }
    return episodes;
}

NakWatch::Amended NakWatch::acknowledged(Psn end, Instant time, const GapLedger& gaps, const RequestStream& stream) {
    if (!started_) return {};
    Amended episodes;
    if (expected_.before(end)) {
        // A go-back-N responder would have discarded what passed before the PSN that was sent again just before. READs
        // that are asked for again it answers, though.
        if (stream.reads_open() == 0 && losses_.there() && !losses_->keeps &&
            losses_->round.behind_again() == expected_ && !gaps.gap(expected_))
            episodes = note_keeps();
        expected_ = end;
    }
    if (!losses_.there()) return episodes;
    std::vector<Missing>& all = losses_.made().missing;
    for (Missing& missing : all) {
        if (missing.in_gap && !missing.answered && missing.psn.before(end)) missing.answered = time;
        if (missing.cause == NakCause::lost_behind_tap && !missing.resent && !missing.sent_twice && !missing.crossed &&
            missing.psn.before(end))
            missing.cause = NakCause::late_behind_tap;
    }
    std::erase_if(all,
                  [&](const Missing& missing) { return !missing.asked && !missing.in_gap && missing.psn.before(end); });
    return episodes;
}

void NakWatch::put_off(Psn psn) {
    if (losses_.there()) losses_.made().filled.reset();
    if (started_ && psn.before(expected_)) expected_ = psn;
}

void NakWatch::asked(const Observation& nak, const GapLedger& gaps, const RequestStream& stream, Duration best) {
    const Psn psn = nak.psn;
    static_cast<void>(acknowledged(psn, nak.time, gaps, stream));  // told before
    Losses& losses = losses_.made();
    losses.filled.reset();
    losses.round.asked();
    for (Missing& missing : losses.missing)
        if (missing.in_gap && !missing.psn.before(psn)) missing.asked_since = true;
    const bool in_gap = gaps.gap(psn).has_value();
    const Message* asked_for = stream.covering(psn);
    const bool was_due = nak.time >= last_ && !in_gap && started_ && psn.before(stream.next());
    const bool crossed = asked_for != nullptr && (best == Duration{} || nak.time - asked_for->last_time < best);
    // The second one may be behind the tap already.
    const bool sent_twice = asked_for == nullptr || asked_for->retransmissions != 0;
    if (const Index index = find(psn); index != kNone) {
        Missing& known = losses.missing[index];
        const bool first = !std::exchange(known.asked, true);
        known.asked_at = nak.time;
        known.passed_once = first && was_due && asked_for != nullptr && !known.of_round && !known.resent;
        known.sent_twice = true;  // what comes does not tell whether it was only late
        if (known.passed_once && losses.keeps && known.cause == NakCause::undecided)
            known.cause = NakCause::lost_behind_tap;
        if (psn.before(expected_)) expected_ = psn;
        return;
    }
    Missing missing;
    missing.psn = psn;
    missing.asked = true;
    missing.asked_at = nak.time;
    missing.passed_once = was_due && asked_for != nullptr;
    // It had passed in its turn; or before it, and the responder keeps what does.
    if (was_due && (psn.before(expected_) || (losses.keeps && missing.passed_once)))
        missing.cause = NakCause::lost_behind_tap;
    missing.crossed = crossed;
    missing.sent_twice = sent_twice;
    if (psn.before(expected_)) expected_ = psn;
    remember(missing);
}

NakCause NakWatch::cause_of(Psn psn) const {
    const Index index = find(psn);
    return index != kNone && losses_->missing[index].asked ? decided(index) : NakCause::undecided;
}

std::array<std::uint64_t, kNakCauseNames.size()> NakWatch::causes() const {
    std::array<std::uint64_t, kNakCauseNames.size()> counts{};
    const Losses& losses = *losses_;
    std::ranges::copy(losses.forgotten, counts.begin());
    for (Index i = 0; i < losses.missing.size(); ++i)
        if (losses.missing[i].asked) ++counts[static_cast<std::size_t>(decided(i))];
    return counts;
}

}  // namespace qps::transport
