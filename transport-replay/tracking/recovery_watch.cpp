#include <dissect/headers/infiniband.hpp>
#include <transport-replay/model/instant.hpp>
#include <transport-replay/tracking/recovery_watch.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kMostRetries = 7;  // 3 bits (C9-142 of the compliance tests)

Duration rnr_wait(std::uint8_t code) {
    constexpr std::int64_t kUnit = 10'000;  // hundredths of a millisecond
    return Duration{kRnrTimer[code & 31] * kUnit};
}

// Whether an answer came sooner after its request was sent again than any did after a request: the first sending brought it, late.
// Where answers come in a small part of the timer's time, one that is so late is not late by just as much: it was quicker than others.
bool is_too_soon(Duration since, Duration best, std::optional<Duration> timer) {
    constexpr std::int64_t kSmallPart = 16;
    return timer && since < Duration{std::to_underlying(best) / 2} && std::to_underlying(*timer) / kSmallPart < std::to_underlying(best);
}

}  // namespace

// Every event is asked for where the machine has an edge for it.
void RecoveryWatch::move(RecoveryEvent event) { phase_ = step(kRecoveryMachine, phase_, event).value_or(phase_); }

void RecoveryWatch::begin(RecoveryKind kind, Psn psn, const Observation& packet, const RequestStream& stream) {
    Open& open = open_.emplace_back();
    open.story.kind = kind;
    open.story.psn = psn;
    open.story.began = packet.time;
    open.story.last = packet.frame;
    open.until = stream.next();
    open.trigger_time = packet.time;
    if (const Message* message = stream.covering(psn)) {
        open.story.verb = message->verb;
        open.story.original = message->first_frame;
    }
}

void RecoveryWatch::close(RecoveryEnd end, std::vector<Recovery>& told) {
    Open& open = open_.front();
    open.story.end = end;
    told.push_back(open.story);
    open_.clear();
    move(RecoveryEvent::told);
}

void RecoveryWatch::asked(RecoveryKind kind, const Observation& answer, const RequestStream& stream, std::uint32_t lost,
                          std::vector<Recovery>& told) {
    if (!open_.empty()) {
        Open& open = open_.front();
        const bool here = open.story.psn == answer.psn && phase_ != RecoveryPhase::settled;
        // What came behind the request that found no receive is out of sequence; nothing is lost.
        if (here && kind == RecoveryKind::sequence_nak && open.story.kind == RecoveryKind::rnr_nak && phase_ == RecoveryPhase::waiting)
            return;
        if (!here || open.story.kind != kind) {
            if (open.story.ended == Instant{}) open.story.ended = answer.time;
            close(RecoveryEnd::recovered, told);
        }
    }
    if (open_.empty()) {
        begin(kind, answer.psn, answer, stream);
        open_.front().story.trigger = answer.frame;
    }
    Open& open = open_.front();
    ++open.story.triggers;
    open.story.lost = std::max(open.story.lost, lost);
    open.story.last = answer.frame;
    move(RecoveryEvent::asked);
    open.trigger_time = answer.time;
    if (kind == RecoveryKind::rnr_nak && answer.acknowledgment) open.story.rnr_timer = answer.acknowledgment->code();
}

void RecoveryWatch::overtaken(const Observation& answer) { overtaken_ = answer.time; }

void RecoveryWatch::resend(const Observation& request, const Arrived& arrived) {
    Open& open = open_.front();
    ++open.story.resent;
    open.story.resent_bytes += request.wire_length;
    open.story.last = request.frame;
    open.resend_next = arrived.behind;
    if (arrived.partial_read) open.story.partial_read = true;
    open.story.lost = std::max(open.story.lost, arrived.holes);
}

// Sending begins again from this packet.
void RecoveryWatch::begin_round(const Observation& request, const Arrived& arrived, Duration wait) {
    Open& open = open_.front();
    Recovery& story = open.story;
    if (story.rounds == 0) {
        story.resumed = request.frame;
        story.resumed_time = request.time;
        if (story.original == FrameIndex{}) story.original = arrived.original;
    }
    ++story.rounds;
    story.waited = sum(story.waited, wait);
    story.longest_wait = std::max(story.longest_wait, wait);
    if (story.kind == RecoveryKind::timeout) {
        ++story.triggers;
        // From sending to sending: the timer may have begun before the last sign of life, with the oldest request.
        const Instant sent_before = story.rounds > 1 ? open.round_time : arrived.first_time.value_or(story.began);
        const Duration interval = std::max(wait, elapsed(sent_before, request.time));
        story.interval = std::min(story.interval.value_or(interval), interval);
    }
    if (arrived.answered) story.answered = true;
    move(RecoveryEvent::sent_again);
    open.round_time = request.time;
    open.last_wait = wait;
    resend(request, arrived);
}

// Sent again, and no NAK asks for it.
void RecoveryWatch::begin_unasked(const Observation& request, const Arrived& arrived, const RequestStream& stream, Duration silent) {
    const bool is_read = info(request.opcode).verb == Verb::read_request;
    RecoveryKind kind = RecoveryKind::timeout;
    if (is_read && silent < (overtaken_ ? kSlowestReaction : kFastestTimeout)) kind = RecoveryKind::read_retry;
    else if (silent < kFastestTimeout) kind = RecoveryKind::sequence_nak;  // which the capture does not have
    begin(kind, request.psn, request, stream);
    Open& open = open_.front();
    open.story.began = kind == RecoveryKind::read_retry && overtaken_ ? *overtaken_ : last_sign_;
    if (kind == RecoveryKind::timeout) open.story.trigger = request.frame;
    if (kind == RecoveryKind::read_retry) open.story.triggers = 1;
    begin_round(request, arrived, elapsed(open.story.began, request.time));
}

void RecoveryWatch::go_on(const Observation& request, const Arrived& arrived, const RequestStream& stream, Duration silent,
                          std::vector<Recovery>& told) {
    Open& open = open_.front();
    const bool back = request.psn.before(open.resend_next);
    switch (phase_) {
        case RecoveryPhase::waiting: return begin_round(request, arrived, elapsed(open.trigger_time, request.time));
        case RecoveryPhase::resending:
            if (!back || silent < kFastestTimeout) return resend(request, arrived);
            if (open.story.kind == RecoveryKind::timeout) return begin_round(request, arrived, silent);
            if (open.story.kind == RecoveryKind::rnr_nak) return begin_round(request, arrived, silent);  // still no receive posted
            break;
        case RecoveryPhase::none:
        case RecoveryPhase::settled: break;
    }
    // What was sent again was not answered either, and now time has run out: another story.
    if (open.story.ended == Instant{}) open.story.ended = last_sign_;
    close(RecoveryEnd::recovered, told);
    begin_unasked(request, arrived, stream, silent);
}

RecoveryWatch::Sent RecoveryWatch::sent(const Observation& request, const Arrived& arrived, const RequestStream& stream,
                                        std::vector<Recovery>& told) {
    const Duration silent = elapsed(last_sign_, request.time);
    const auto late_before = std::exchange(late_, std::nullopt);
    Sent result;
    if (arrived.arrival == Arrival::repeated || arrived.arrival == Arrival::late) {
        if (!open_.empty()) {
            go_on(request, arrived, stream, silent, told);
            result.again = true;
        } else if (arrived.arrival == Arrival::late && silent < kFastestTimeout) {
            late_ = Late{request.psn, arrived.behind, request.frame, request.time, silent, request.wire_length};
        } else {
            begin_unasked(request, arrived, stream, late_before ? late_before->silent : silent);
            result.again = true;
            if (late_before && late_before->behind == request.psn) {  // the story began with that one
                Recovery& story = open_.front().story;
                story.psn = late_before->psn;
                story.resumed = late_before->frame;
                story.resumed_time = late_before->time;
                ++story.resent;
                story.resent_bytes += late_before->wire_length;
                result.late_was_again = true;
            }
        }
    } else if (!open_.empty()) {
        Open& open = open_.front();
        if (phase_ == RecoveryPhase::waiting) open.until = stream.next();  // what was under way before the NAK came to the requester
        if (phase_ == RecoveryPhase::resending) {
            open.story.ended = request.time;
            open.story.last = request.frame;
        }
        move(RecoveryEvent::new_data);
    } else {
        overtaken_.reset();
    }
    last_sign_ = request.time;
    return result;
}

void RecoveryWatch::answered(const Observation& answer, const RequestStream& stream, bool again, Duration best,
                             std::vector<Recovery>& told) {
    last_sign_ = answer.time;
    if (open_.empty()) return;
    Open& open = open_.front();
    Recovery& story = open.story;
    const bool reached = story.psn.before(stream.answered());
    if (phase_ == RecoveryPhase::settled) {
        // A second answer to the same: one for the first sending, one for the one after it. Or the network doubled it, or it answers
        // what was sent twice again.
        if (again && story.kind == RecoveryKind::timeout && !story.answered) story.spurious = true;
        if (again || open.until.before(stream.answered())) close(RecoveryEnd::recovered, told);
        return;
    }
    if (!reached) return;
    if (phase_ == RecoveryPhase::waiting && again) return;  // of something before the NAK
    if (phase_ == RecoveryPhase::resending && story.kind == RecoveryKind::timeout && !story.answered &&
        is_too_soon(elapsed(open.round_time, answer.time), best, story.interval))
        story.spurious = story.proven = true;
    if (phase_ == RecoveryPhase::waiting || !stream.answered().before(open.until)) {
        story.ended = answer.time;
        story.last = answer.frame;
        move(RecoveryEvent::answered);
        if (story.kind != RecoveryKind::timeout || story.spurious) close(RecoveryEnd::recovered, told);
    }
}

void RecoveryWatch::failed(const Observation& answer, std::vector<Recovery>& told) {
    if (open_.empty()) return;
    if (phase_ == RecoveryPhase::settled) return close(RecoveryEnd::recovered, told);
    open_.front().story.ended = answer.time;
    close(RecoveryEnd::failed, told);
}

void RecoveryWatch::finish(Instant now, bool released, std::uint8_t retries, std::vector<Recovery>& told) {
    if (open_.empty()) return;
    Open& open = open_.front();
    Recovery& story = open.story;
    if (phase_ == RecoveryPhase::settled) return close(RecoveryEnd::recovered, told);
    const Instant last = std::max(open.trigger_time, open.round_time);
    story.ended = last;
    // Who asks for patience, gets twice of it: the timer of an RNR NAK, or as long as the requester took before.
    Duration patience = phase_ == RecoveryPhase::waiting ? std::max(story.longest_wait, kFastestTimeout) : open.last_wait;
    if (phase_ == RecoveryPhase::waiting && story.rnr_timer) patience = std::max(patience, rnr_wait(*story.rnr_timer));
    const bool silent = elapsed(last, now) > sum(patience, patience);
    const bool exhausted = story.kind == RecoveryKind::timeout && story.rounds >= std::min(retries, kMostRetries);
    const bool sequence = story.kind == RecoveryKind::sequence_nak && story.rounds == 0;  // nobody gives up for one NAK
    close(!sequence && (released || silent || exhausted) ? RecoveryEnd::gave_up : RecoveryEnd::open, told);
}

}  // namespace qps::transport
